//! [`Listing`]: all names in a directory, as a table or as JSON.

use std::fmt;
use std::fs;

use annulus::shm::{Directory, Entry, NameError, PeerState, ProcessId, RingInfo};
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

use crate::text::{counted, grouped, printable};

/// It grows if a key of the JSON changes its meaning.
const SCHEMA: u64 = 1;

/// What is in a directory. Programs rely on the keys.
#[derive(Serialize)]
pub(super) struct Listing {
    schema: u64,
    directory: String,
    rings: Vec<Ring>,
}

/// A name, and the ring that has it.
#[derive(Serialize)]
struct Ring {
    name: String,
    state: String,
    pid: Option<u32>,
    /// What the process calls itself.
    command: Option<String>,
    kind: Option<String>,
    capacity: Option<usize>,
    payload_bytes: Option<usize>,
    fingerprint: Option<String>,
    /// Why its header is not known.
    error: Option<String>,
}

impl Listing {
    pub(super) fn of(directory: &Directory) -> Result<Self, NameError> {
        let rings = directory.list()?.into_iter().map(|entry| Ring::of(directory, entry)).collect();
        Ok(Self { schema: SCHEMA, directory: directory.path().display().to_string(), rings })
    }

    /// One object on one line.
    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("numbers, names and lists have a form in JSON") + "\n"
    }
}

impl Ring {
    fn of(directory: &Directory, entry: Entry) -> Self {
        // The header of a ring that is gone is gone, too.
        let (info, error) = match (entry.state, info(directory, &entry.name)) {
            (PeerState::Alive, Err(error)) => (None, Some(error)),
            (_, info) => (info.ok(), None),
        };
        let pid = entry.process.map(ProcessId::pid);
        Self {
            command: pid.filter(|_| entry.state == PeerState::Alive).and_then(command),
            state: entry.state.to_string(),
            pid,
            kind: info.map(|info| info.kind().to_string()),
            capacity: info.map(|info| info.capacity()),
            payload_bytes: info.map(|info| info.payload_bytes()),
            fingerprint: entry.fingerprint.map(|fingerprint| fingerprint.to_string()),
            error,
            name: entry.name,
        }
    }
}

/// What the header of the ring says.
fn info(directory: &Directory, name: &str) -> Result<RingInfo, String> {
    let ring = directory.find(name).map_err(|error| error.to_string())?;
    let fd = ring.open_read_only().map_err(|error| error.to_string())?;
    RingInfo::of(fd).map_err(|error| error.to_string())
}

/// What a process calls itself.
pub(super) fn command(pid: u32) -> Option<String> {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(printable(name.trim_end()))
}

/// For people.
impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rings.is_empty() {
            return writeln!(f, "There is no ring in {}.", printable(&self.directory));
        }
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        table.set_header(["NAME", "STATE", "PID", "COMMAND", "KIND", "SLOTS", "BYTES"]);
        for column in [2, 5, 6] {
            table.column_mut(column).expect("there are seven").set_cell_alignment(CellAlignment::Right);
        }
        let unknown = || String::from("–");
        for ring in &self.rings {
            let number = |number: Option<usize>| number.map_or_else(unknown, |number| grouped(number as u64));
            table.add_row([
                printable(&ring.name),
                ring.state.clone(),
                ring.pid.map_or_else(unknown, |pid| pid.to_string()),
                ring.command.clone().unwrap_or_else(unknown),
                ring.kind.clone().unwrap_or_else(unknown),
                number(ring.capacity),
                number(ring.payload_bytes),
            ]);
        }
        for line in table.lines() {
            writeln!(f, "{}", line.trim_end())?;
        }
        for ring in &self.rings {
            if let Some(error) = &ring.error {
                writeln!(f, "{}: {}", printable(&ring.name), printable(error))?;
            }
        }
        let of = |state: &str| self.rings.iter().filter(|ring| ring.state == state).count() as u64;
        let (all, dead) = (self.rings.len() as u64, of("dead"));
        writeln!(f, "{} in {}, {dead} dead", counted(all, "ring"), printable(&self.directory))
    }
}

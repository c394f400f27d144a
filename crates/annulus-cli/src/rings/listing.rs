//! [`Listing`]: all names in a directory, as a table or as JSON.

use std::fs;

use annulus::shm::{Directory, Entry, NameError, PeerState, ProcessId, RingInfo};
use serde::Serialize;

use crate::page::{BAD, Page};
use crate::table::{Cell, Column, Table};
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

impl Listing {
    /// For people, in lines that are no wider than `room`.
    pub(super) fn to_text(&self, room: usize) -> String {
        let mut page = Page::new(room);
        if self.rings.is_empty() {
            page.say(format!("There is no ring in {}.", printable(&self.directory)));
            return page.into_text();
        }
        let mut table = Table::plain(&[
            Column::text("NAME"),
            Column::text("STATE"),
            Column::number("PID").spared(3),
            Column::text("COMMAND").spared(2),
            Column::text("KIND").spared(1),
            Column::number("SLOTS").spared(4),
            Column::number("BYTES").spared(5),
        ]);
        let unknown = || String::from("–");
        for ring in &self.rings {
            let number = |number: Option<usize>| number.map_or_else(unknown, |number| grouped(number as u64));
            table.row([
                printable(&ring.name).into(),
                state(&ring.state),
                ring.pid.map_or_else(unknown, |pid| pid.to_string()).into(),
                ring.command.clone().unwrap_or_else(unknown).into(),
                ring.kind.clone().unwrap_or_else(unknown).into(),
                number(ring.capacity).into(),
                number(ring.payload_bytes).into(),
            ]);
        }
        page.table(&table);
        for ring in &self.rings {
            if let Some(error) = &ring.error {
                page.say(format!("{}: {}", printable(&ring.name), printable(error)));
            }
        }
        let of = |state: &str| self.rings.iter().filter(|ring| ring.state == state).count() as u64;
        let (all, dead) = (self.rings.len() as u64, of("dead"));
        page.say(format!("{} in {}, {dead} dead", counted(all, "ring"), printable(&self.directory)));
        page.into_text()
    }
}

/// The dead are seen at once.
fn state(state: &str) -> Cell {
    if state == "dead" { Cell::styled(state, BAD) } else { state.into() }
}

//! `annulus get`: the newest values that a process keeps for others (Linux).

mod arguments;

use std::io::{self, Write};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use annulus::shm::blocks::MessageType;
use annulus::shm::dynamic::watch::{AcceptedWatch, Changes};
use annulus::shm::watch::GetError;
use annulus::shm::{Invitation, PeerState, RingInfo, ShmKind};
use annulus::{RecvTimeoutError, WaitStrategy};
use serde::Serialize;
use serde_json::Value;

pub(crate) use arguments::Arguments;

use crate::count::Count;
use crate::messages::{Decoder, fields_to_text};
use crate::outcome::{Failure, Outcome};
use crate::output::{ended, say};
use crate::rings;
use crate::signals::first_signal;
use crate::text::{TITLE, counted, painted, printable, quoted};
use crate::values::decode;

/// How long it waits for a change without a look whether it is to stop.
const STOP_INTERVAL: Duration = Duration::from_millis(100);

/// Prints the values, and with `--changes` what follows.
///
/// # Errors
///
/// There is no such table, or no such cell.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let count = Arc::new(Count::printed());
    let unread = Arc::clone(&count);
    let stopped = first_signal(move || unread.tell_unread())?;
    count.are("value");
    let name = &arguments.name;
    let named = rings::find(&rings::open(&arguments.directory)?, name)?;
    let invitation = Invitation::find(&named).map_err(|error| rings::unusable(name, &error))?;
    let unusable = |error: &dyn std::fmt::Display| {
        let name = quoted(name);
        Failure::new(format!("{name} can't be used: {error}"))
    };
    let info = invitation.info().map_err(|error| unusable(&error))?;
    is_table(name, &info)?;
    let decoder = Decoder::of(&info).map_err(|error| unusable(&error))?.ok_or_else(|| {
        let (name, bytes) = (quoted(name), info.payload_bytes());
        Failure::new(format!("{name} has no schema: nobody knows what is in its values of {bytes} bytes"))
    })?;
    let of = MessageType::described(decoder.schema().clone(), info.payload_alignment());
    let table = AcceptedWatch::accept(&invitation, &of, WaitStrategy::default());
    let table = table.map_err(|error| unusable(&error))?;
    let cell = arguments.cell.as_deref().map(|text| cell_of(&table, name, text)).transpose()?;
    let mut printer = Printer {
        output: anstream::AutoStream::auto(io::stdout().lock()),
        value: vec![0; table.message_bytes()],
        as_json: arguments.json,
        printed: 0,
        count,
        unshown: 0,
        decoder,
        table,
    };
    let printed = if arguments.changes {
        printer.print_changes(arguments, cell, &stopped)
    } else {
        printer.print_all(name, cell)
    };
    printed.or_else(|error| ended(&error))
}

/// Whether there are newest values; if not, which subcommand is for it.
fn is_table(name: &str, info: &RingInfo) -> Result<(), Failure> {
    let kind = info.kind();
    if kind == ShmKind::Watch {
        return Ok(());
    }
    let (name, verb) = (quoted(name), rings::verb_for(kind));
    Err(Failure::new(format!("{name} is a {kind}, and has no newest values: {verb}")))
}

/// The cell that the user names: by its key, or by its number, if that is no key.
fn cell_of(table: &AcceptedWatch, name: &str, text: &str) -> Result<usize, Failure> {
    let cell = table.cell(text).or_else(|| text.parse().ok().filter(|&cell| cell < table.cells()));
    cell.ok_or_else(|| {
        let (cells, keys) = (table.cells() as u64, table.keys().count() as u64);
        Failure::new(format!(
            "{} has no cell {}: it has {}, from 0 on, and {}",
            quoted(name),
            quoted(text),
            counted(cells, "cell"),
            if keys == 0 { "no keys".into() } else { counted(keys, "key") },
        ))
    })
}

/// A value, as JSON.
#[derive(Serialize)]
struct Object<'a> {
    cell: usize,
    key: Option<&'a str>,
    value: Value,
}

/// Prints values.
struct Printer<O> {
    table: AcceptedWatch,
    decoder: Decoder,
    /// The last one that was read.
    value: Vec<u8>,
    as_json: bool,
    output: O,
    printed: u64,
    /// The same, for the end by a signal.
    count: Arc<Count>,
    /// So many were there, and could not be shown.
    unshown: u64,
}

impl<O: Write> Printer<O> {
    /// Prints the value of this cell, or of all that have one.
    fn print_all(&mut self, name: &str, cell: Option<usize>) -> io::Result<Outcome> {
        let cells = cell.map_or(0..self.table.cells(), |cell| cell..cell + 1);
        for cell in cells {
            match self.table.get(cell, &mut self.value) {
                Ok(()) => self.print(cell)?,
                Err(GetError::Empty) => {}
                Err(error) => {
                    self.unshown += 1;
                    say(format_args!("cell {}: {error}", self.called(cell)));
                }
            }
        }
        self.output.flush()?;
        if self.printed > 0 && self.unshown == 0 {
            return Ok(Outcome::Passed);
        }
        if self.unshown == 0 {
            let cell = cell.map(|cell| format!("cell {} of ", self.called(cell))).unwrap_or_default();
            say(format_args!("nothing was sent to {cell}{} yet", quoted(name)));
        }
        Ok(Outcome::Failed)
    }

    /// Prints the values that are there, and each change, until the table ends, there were enough, or a
    /// signal comes.
    fn print_changes(
        &mut self,
        arguments: &Arguments,
        cell: Option<usize>,
        stopped: &OnceLock<Outcome>,
    ) -> io::Result<Outcome> {
        let mut changes = match cell {
            Some(cell) => self.table.changes_of(cell).expect("there is such a cell"),
            None => self.table.changes(),
        };
        while self.printed < arguments.count {
            if let Some(&outcome) = stopped.get() {
                self.output.flush()?;
                self.count.tell();
                return Ok(outcome);
            }
            match self.receive(&mut changes)? {
                Ok(cell) => self.print(cell)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(_) => {
                    self.output.flush()?;
                    if self.table.state() != PeerState::Dead {
                        return Ok(Outcome::Passed);
                    }
                    say(format_args!("the sender of {} has died", quoted(&arguments.name)));
                    return Ok(Outcome::Failed);
                }
            }
        }
        self.output.flush()?;
        Ok(Outcome::Passed)
    }

    /// Receives the next change. Where none is there, the user sees what was printed, before it waits.
    fn receive(&mut self, changes: &mut Changes) -> io::Result<Result<usize, RecvTimeoutError>> {
        if let Ok(cell) = changes.try_recv(&mut self.value) {
            return Ok(Ok(cell));
        }
        self.output.flush()?;
        Ok(changes.recv_timeout(&mut self.value, STOP_INTERVAL))
    }

    /// How texts call a cell.
    fn called(&self, cell: usize) -> String {
        self.table.key(cell).map_or_else(|| cell.to_string(), |key| quoted(&key))
    }

    /// Prints the value that was read of this cell, or says why it is none.
    fn print(&mut self, cell: usize) -> io::Result<()> {
        let key = self.table.key(cell);
        let line = if self.as_json {
            decode(self.decoder.schema(), &self.value).map(|value| {
                let object = Object { cell, key: key.as_deref(), value };
                serde_json::to_string(&object).expect("a value has a form in JSON")
            })
        } else {
            self.decoder.decode(&self.value).map(|fields| {
                let key = key.as_deref().map_or_else(|| cell.to_string(), printable);
                format!("{}  {}", painted(TITLE, &key), fields_to_text(&fields))
            })
        };
        match line {
            Ok(line) => {
                writeln!(self.output, "{line}")?;
                self.printed += 1;
                self.count.set(self.printed, 0);
                Ok(())
            }
            Err(what) => {
                self.unshown += 1;
                say(format_args!("cell {}: corrupt: {}", self.called(cell), printable(&what)));
                Ok(())
            }
        }
    }
}

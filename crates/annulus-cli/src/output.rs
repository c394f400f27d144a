//! Standard output and standard error.
//!
//! `println!` panics when the reader of a pipe is gone. These do not: a reader that has seen enough
//! (`annulus … | head`) is no error.

use std::env;
use std::fmt;
use std::io::{self, IsTerminal, Write};

use crate::outcome::{Failure, Outcome};
use crate::text::{BAD, painted};

/// Of a terminal that does not say how wide it is.
const USUAL_WIDTH: usize = 80;

/// How wide lines on standard output may be: as `COLUMNS` says, or else the terminal. No limit where it is
/// neither said nor a terminal.
pub(crate) fn room() -> usize {
    let width = || terminal_size::terminal_size().map_or(USUAL_WIDTH, |(width, _)| width.0.into());
    let terminal = || io::stdout().is_terminal().then(width);
    room_of(env::var("COLUMNS").ok().as_deref(), terminal)
}

fn room_of(columns: Option<&str>, terminal: impl FnOnce() -> Option<usize>) -> usize {
    let asked = columns.and_then(|columns| columns.parse().ok()).filter(|&columns| columns > 0);
    asked.or_else(terminal).unwrap_or(usize::MAX)
}

/// Writes `text` to standard output, at once. A pipe that nobody reads any more ends it quietly. Its colours
/// are left out where the terminal has none, in a pipe or a file, and with `NO_COLOR`.
///
/// # Errors
///
/// Anything else that keeps the text from being written, such as a full disk.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    write_to(&mut anstream::stdout().lock(), text)
}

/// As [`print()`], to any writer.
fn write_to(writer: &mut impl Write, text: &str) -> Result<(), Failure> {
    let written = writer.write_all(text.as_bytes()).and_then(|()| writer.flush());
    written.or_else(|error| ended(&error).map(drop))
}

/// How a subcommand ends that could not write: a pipe that nobody reads any more is a quiet end.
///
/// # Errors
///
/// Anything else that keeps text from being written.
pub(crate) fn ended(error: &io::Error) -> Result<Outcome, Failure> {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Ok(Outcome::Passed);
    }
    Err(Failure::new(format!("standard output cannot be written: {error}; give it a place with room")))
}

/// Writes `error: …` to standard error. Where that is closed there is nobody to tell.
pub(crate) fn complain(what: impl fmt::Display) {
    let _ = writeln!(anstream::stderr().lock(), "{} {what}", painted(BAD, "error:"));
}

/// Writes `annulus: …` to standard error.
pub(crate) fn say(what: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr().lock(), "annulus: {what}");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A writer that fails in one way.
    struct Failing(io::ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn pipe_without_a_reader_is_a_quiet_end() {
        assert_eq!(write_to(&mut Failing(io::ErrorKind::BrokenPipe), "text"), Ok(()));
    }

    #[test]
    fn room_is_as_the_user_says_or_else_the_terminal() {
        for (columns, terminal, room) in [
            (None, None, usize::MAX),
            (None, Some(120), 120),
            (Some("80"), Some(120), 80),
            (Some("80"), None, 80),
            (Some("0"), Some(120), 120),
            (Some("wide"), None, usize::MAX),
        ] {
            assert_eq!(room_of(columns, || terminal), room, "{columns:?}, {terminal:?}");
        }
    }

    #[test]
    fn full_disk_is_a_failure() {
        let failure = write_to(&mut Failing(io::ErrorKind::StorageFull), "text").unwrap_err();
        assert!(failure.to_string().starts_with("standard output cannot be written: "), "{failure}");
    }
}

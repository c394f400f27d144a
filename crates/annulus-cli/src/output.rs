//! Standard output and standard error.
//!
//! `println!` panics when the reader of a pipe is gone. These do not: a reader that has seen enough
//! (`annulus … | head`) is no error.

use std::fmt;
use std::io::{self, Write};

use crate::outcome::Failure;

/// Writes `text` to standard output, at once. A pipe that nobody reads any more ends it quietly.
///
/// # Errors
///
/// Anything else that keeps the text from being written, such as a full disk.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    write_to(&mut io::stdout().lock(), text)
}

/// As [`print()`], to any writer.
fn write_to(writer: &mut impl Write, text: &str) -> Result<(), Failure> {
    match writer.write_all(text.as_bytes()).and_then(|()| writer.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::new(format!(
            "standard output cannot be written: {error}; give it a place with room"
        ))),
        _ => Ok(()),
    }
}

/// Writes `error: …` to standard error. Where that is closed there is nobody to tell.
pub(crate) fn complain(what: impl fmt::Display) {
    let _ = writeln!(io::stderr().lock(), "error: {what}");
}

/// Writes `annulus: …` to standard error, for people who watch.
#[cfg(target_os = "linux")]
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
    fn a_pipe_without_a_reader_is_a_quiet_end() {
        assert_eq!(write_to(&mut Failing(io::ErrorKind::BrokenPipe), "text"), Ok(()));
    }

    #[test]
    fn a_full_disk_is_a_failure() {
        let failure = write_to(&mut Failing(io::ErrorKind::StorageFull), "text").unwrap_err();
        assert!(failure.to_string().starts_with("standard output cannot be written: "), "{failure}");
    }
}

//! An error of the system, with the step at which it came, and what to change (Linux).

use core::error::Error;
use core::fmt;
use std::io;
use std::string::{String, ToString};

use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

/// The error, and what this process was doing: a path, or a call and its values. Its kind stays; the system's
/// number is in its [source](Error::source).
pub(crate) fn at(step: impl fmt::Display, error: impl Into<io::Error>) -> io::Error {
    let error = error.into();
    let kind = error.kind();
    // (What has its step already needs no second one.)
    match error.raw_os_error() {
        Some(_) => io::Error::new(kind, AtStep { step: step.to_string(), error }),
        None => error,
    }
}

/// That this process may write a file of so many bytes. Otherwise a write would end the process by a signal
/// (`SIGXFSZ`).
pub(crate) fn check_file_length(bytes: u64) -> io::Result<()> {
    match getrlimit(Resource::Fsize).current {
        Some(longest) if bytes > longest => Err(Errno::FBIG.into()),
        _ => Ok(()),
    }
}

/// What a step begins with at which a thread is made.
const THREAD: &str = "the thread ";

#[derive(Debug)]
struct AtStep {
    step: String,
    error: io::Error,
}

impl fmt::Display for AtStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.step, Detail(&self.error))?;
        let code = self.error.raw_os_error().map(Errno::from_raw_os_error);
        match code {
            // The C library says this also of a thread for whose stack there is no memory, or no address.
            Some(Errno::AGAIN) if self.step.starts_with(THREAD) => f.write_str(
                ": no thread, or no memory for its stack, is left: look at the limits of the user (ulimit -u), \
                 of the process (ulimit -v, ulimit -l), and of its control group (pids.max)",
            ),
            // Of a process that locks all that it maps (`mlockall`).
            Some(Errno::AGAIN) => {
                f.write_str(": this process may lock no more memory: raise its limit (ulimit -l)")
            }
            Some(Errno::NOENT | Errno::NOTDIR) if self.step.starts_with("/proc/") => {
                f.write_str(": mount /proc, which rings between processes need")
            }
            _ => Ok(()),
        }
    }
}

/// An error of the system, and what helps against it wherever it comes.
pub(crate) struct Detail<'error>(pub(crate) &'error io::Error);

impl fmt::Display for Detail<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)?;
        f.write_str(match self.0.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::MFILE) => ": this process may open no more files: raise its limit (ulimit -n)",
            Some(Errno::NFILE) => ": the system has no more files: raise its limit (sysctl fs.file-max)",
            Some(Errno::FBIG) => ": this process may write no longer file: raise its limit (ulimit -f)",
            Some(Errno::NOMEM) => {
                ": no memory, or no address, is left: look at the limits of the process (ulimit -v) and of its \
                 control group"
            }
            Some(Errno::NOSPC | Errno::DQUOT) => ": this file system has no room left",
            _ => "",
        })
    }
}

impl Error for AtStep {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn error_has_its_step_its_kind_and_its_number() {
        let of_thread = ["ulimit -u", "ulimit -v", "ulimit -l", "pids.max"];
        for (errno, step, words) in
            of_thread.map(|words| (Errno::AGAIN, "the thread `a`", words)).into_iter().chain([
                (Errno::MFILE, "fcntl", "ulimit -n"),
                (Errno::NFILE, "fcntl", "fs.file-max"),
                (Errno::FBIG, "/tmp/names/a.ring", "ulimit -f"),
                (Errno::NOMEM, "mmap", "ulimit -v"),
                (Errno::AGAIN, "memory of 8 bytes (`a`)", "no more memory: raise its limit (ulimit -l)"),
                (Errno::NOSPC, "/tmp/names", "no room"),
                (Errno::NOENT, "/proc/self/stat", "mount /proc"),
                (Errno::NOENT, "/tmp/names", "os error 2"),
                (Errno::PERM, "kcmp", "os error 1"),
            ])
        {
            let error = at("outer", at(step, errno));
            let text = error.to_string();
            assert!(text.starts_with(&std::format!("{step}: ")) && text.contains(words), "{text}");
            assert_eq!(error.kind(), io::Error::from(errno).kind());
            let source = error.source().and_then(|source| source.downcast_ref::<io::Error>()).unwrap();
            assert_eq!(source.raw_os_error(), Some(errno.raw_os_error()));
        }
    }
}

//! [`NameError`], [`DirectoryError`]: why processes do not meet by a name.

use core::error::Error;
use core::fmt;
use std::io;
use std::path::PathBuf;
use std::string::String;

use super::name::BadName;
use super::process::ProcessId;
use crate::os::error::Detail;

/// Why a directory is not used for names.
#[derive(Debug)]
#[non_exhaustive]
pub enum DirectoryError {
    /// There is something else of this name: a file, or a symbolic link.
    NotADirectory {
        /// Where.
        path: PathBuf,
    },
    /// It belongs to another user, who could change what is in it.
    Owner {
        /// Where.
        path: PathBuf,
        /// The number of the user to whom it belongs.
        owner: u32,
        /// The number of the user of this process.
        user: u32,
    },
    /// Others may do more in it than they should.
    Mode {
        /// Where.
        path: PathBuf,
        /// What they may do.
        mode: u32,
        /// What they should.
        allowed: u32,
    },
    /// A call to the system failed.
    System {
        /// Where.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
}

impl fmt::Display for DirectoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotADirectory { path } => {
                write!(f, "{}: no directory, or a symbolic link to one", path.display())
            }
            Self::Owner { path, owner, user } => {
                write!(f, "{}: it belongs to the user {owner}, not to the user {user}", path.display())
            }
            Self::Mode { path, mode, allowed } => {
                write!(f, "{}: its mode is {mode:o}, and may be {allowed:o} at most", path.display())
            }
            Self::System { path, error } => write!(f, "{}: {}", path.display(), Detail(error)),
        }
    }
}

impl Error for DirectoryError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::System { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// Why processes do not meet by a name.
#[derive(Debug)]
#[non_exhaustive]
pub enum NameError {
    /// No ring can have this name.
    Bad {
        /// The name.
        name: String,
        /// Why not.
        why: BadName,
    },
    /// There is no ring of this name.
    NotFound {
        /// The name.
        name: String,
    },
    /// Another process, or this one, has a ring of this name.
    Taken {
        /// The name.
        name: String,
        /// The process; `None` if its file does not say.
        process: Option<ProcessId>,
    },
    /// The process that had the ring has ended.
    Dead {
        /// The name.
        name: String,
        /// The process; `None` if its file does not say.
        process: Option<ProcessId>,
    },
    /// What has this name is no file, and nothing of ours: a directory, a symbolic link.
    InTheWay {
        /// The name.
        name: String,
    },
    /// The file of this name belongs to another user, and the directory is this user's alone.
    Owner {
        /// The name.
        name: String,
        /// The number of the user to whom it belongs.
        owner: u32,
    },
    /// The process numbers of the ring's process are not those of this one: they are in two containers, and
    /// the directory is one user's alone. Let the containers share the numbers (`--pid` of docker and
    /// podman), or let both use a directory [with a mode](super::Directory::with_mode) for others, or pass
    /// the descriptor by [`send_fd`](super::send_fd).
    OtherNamespace {
        /// The name.
        name: String,
        /// The process, by its own numbers.
        process: ProcessId,
    },
    /// The kernel does not let this process open what that one has, and that one has no socket for it: it
    /// belongs to another user, or to another group of the same user, or became protected after it gave the
    /// name, or `/proc` hides it (`hidepid`). Run both as one user and group, or let both use a directory
    /// [with a mode](super::Directory::with_mode) for others, or pass the descriptor by
    /// [`send_fd`](super::send_fd).
    NotPermitted {
        /// The name.
        name: String,
        /// The process.
        process: ProcessId,
    },
    /// The process of the ring, which belongs to another user or is in another container, was asked for its
    /// descriptors, and did not answer for two seconds: it is stopped (`SIGSTOP`), or has no time.
    NoAnswer {
        /// The name.
        name: String,
        /// The process, by its own numbers.
        process: ProcessId,
    },
    /// Somebody has been changing names in the directory for two seconds.
    Busy,
    /// No ring of this name came in time.
    TimedOut {
        /// The name.
        name: String,
    },
    /// A call to the system failed.
    System {
        /// The name; empty where it is about all.
        name: String,
        /// What the system says.
        error: io::Error,
    },
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bad { name, why } => write!(f, "no ring can have the name {name:?}: {why}"),
            Self::NotFound { name } => write!(f, "there is no ring {name:?}"),
            Self::Taken { name, process: Some(process) } => {
                write!(f, "the name {name:?} is taken by {process}")
            }
            Self::Taken { name, process: None } => write!(f, "the name {name:?} is taken"),
            Self::Dead { name, process: Some(process) } => {
                write!(f, "the ring {name:?} is dead: {process} has ended")
            }
            Self::Dead { name, process: None } => write!(f, "the ring {name:?} is dead"),
            Self::InTheWay { name } => {
                write!(
                    f,
                    "something else is in the way of the name {name:?}: a directory, or a symbolic link"
                )
            }
            Self::Owner { name, owner } => {
                write!(f, "the file of the name {name:?} belongs to the user {owner}")
            }
            Self::OtherNamespace { name, process } => write!(
                f,
                "the ring {name:?} is that of {process} in another container: share process numbers (--pid), \
                 or use a directory that others may use (mode 770, say), or pass the descriptor through a socket"
            ),
            Self::NotPermitted { name, process } => write!(
                f,
                "the ring {name:?} is that of {process}, whose descriptors this process may not open: that one is of \
                 another user or group, is protected, or is hidden in /proc. Run both as one user and group, or let \
                 both use a directory that others may use (mode 770, say), or pass the descriptor through a socket"
            ),
            Self::NoAnswer { name, process } => write!(
                f,
                "the ring {name:?} is that of {process}, which was asked for it, and has not answered for two \
                 seconds: is it stopped?"
            ),
            Self::Busy => f.write_str("another process has been changing the names for two seconds"),
            Self::TimedOut { name } => write!(f, "no ring {name:?} came in time"),
            Self::System { name, error } if name.is_empty() => {
                write!(f, "the system says: {}", Detail(error))
            }
            Self::System { name, error } => {
                write!(f, "the ring {name:?}: the system says: {}", Detail(error))
            }
        }
    }
}

impl Error for NameError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Bad { why, .. } => Some(why),
            Self::System { error, .. } => Some(error),
            _ => None,
        }
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn each_error_says_what_it_is_about() {
        let name = || String::from("quotes");
        let process = ProcessId::new(77, 88);
        let system = || io::Error::from(io::ErrorKind::PermissionDenied);
        for (error, words) in [
            (NameError::Bad { name: name(), why: BadName::TooLong }, "200 bytes"),
            (NameError::Bad { name: name(), why: BadName::Empty }, "it is empty"),
            (NameError::Bad { name: name(), why: BadName::LeadingDot }, "begins with a dot"),
            (NameError::Bad { name: name(), why: BadName::Character('\0') }, r"'\0'"),
            (NameError::NotFound { name: name() }, "there is no ring"),
            (NameError::Taken { name: name(), process: Some(process) }, "taken by process 77"),
            (NameError::Taken { name: name(), process: None }, "is taken"),
            (NameError::Dead { name: name(), process: Some(process) }, "process 77 has ended"),
            (NameError::Dead { name: name(), process: None }, "is dead"),
            (NameError::InTheWay { name: name() }, "in the way"),
            (NameError::Owner { name: name(), owner: 99 }, "the user 99"),
            (NameError::OtherNamespace { name: name(), process }, "--pid"),
            (NameError::NotPermitted { name: name(), process }, "process 77, whose descriptors"),
            (NameError::NoAnswer { name: name(), process }, "process 77, which was asked"),
            (NameError::TimedOut { name: name() }, "in time"),
            (NameError::System { name: name(), error: system() }, "the system says"),
        ] {
            let text = error.to_string();
            assert!(text.contains("\"quotes\"") && text.contains(words), "{error:?}: {text}");
            let is_of_another = matches!(error, NameError::Bad { .. } | NameError::System { .. });
            assert_eq!(error.source().is_some(), is_of_another);
        }
        assert!(NameError::Busy.to_string().contains("two seconds"));
        let all = NameError::System { name: String::new(), error: system() };
        assert!(all.to_string().starts_with("the system says"));
    }

    #[test]
    fn each_error_of_a_directory_has_its_path() {
        let path = || PathBuf::from("/there");
        let system = || io::Error::from(io::ErrorKind::PermissionDenied);
        for (error, words) in [
            (DirectoryError::NotADirectory { path: path() }, "no directory"),
            (DirectoryError::Owner { path: path(), owner: 77, user: 88 }, "the user 77, not to the user 88"),
            (DirectoryError::Mode { path: path(), mode: 0o755, allowed: 0o700 }, "755, and may be 700"),
            (DirectoryError::System { path: path(), error: system() }, "permission"),
        ] {
            let text = error.to_string();
            assert!(text.starts_with("/there: ") && text.contains(words), "{error:?}: {text}");
            assert_eq!(error.source().is_some(), matches!(error, DirectoryError::System { .. }));
        }
    }
}

//! Names of a ring that look like those of a process in another container: it has other numbers, and is asked
//! at a socket for its descriptors.

use std::fs::{self, File};
use std::os::unix::net::UnixListener;

use annulus::shm::{Directory, Invitation};
use rustix::fs::{FlockOperation, flock};

use crate::names::Names;

/// A name as a process of another container gives it. Nobody answers at its socket until the test does.
pub(crate) struct Foreign {
    pub(crate) socket: UnixListener,
    _lock: File,
}

impl Foreign {
    /// The name of a ring of this process, which has the number `pid` in that container.
    pub(crate) fn new(names: &Names, invitation: &Invitation, name: &str, pid: u32) -> Self {
        let directory = Directory::with_mode(&names.path, 0o750).unwrap();
        let published = invitation.publish(&directory, name).unwrap();
        let path = names.path.join(format!("{name}.ring"));
        let text = fs::read_to_string(&path).unwrap();
        drop(published);
        let line = |line: &str| match line.split_once(' ') {
            Some(("pid", _)) => format!("pid {pid}\n"),
            Some(("namespace", _)) => "namespace 1\n".into(),
            _ => format!("{line}\n"),
        };
        fs::write(&path, text.lines().map(line).collect::<String>()).unwrap();
        let lock = File::open(path).unwrap();
        flock(&lock, FlockOperation::LockExclusive).unwrap();
        let socket = UnixListener::bind(names.path.join(format!(".{name}.socket"))).unwrap();
        Self { socket, _lock: lock }
    }
}

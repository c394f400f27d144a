//! [`NameSocket`]: how a process of another user, or of another container, gets the descriptors of a ring
//! that has a name: from a socket beside the file of the name.
//!
//! The kernel shows the descriptors of a process to its own user, and by its own process numbers. In a
//! directory that others may use, too, the process of the ring has a thread that sends them to whoever
//! connects. Who may connect is a matter of the socket's mode, which goes by that of the directory.

use core::panic::AssertUnwindSafe;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{Shutdown, shutdown};

use super::fd::{recv_fd, send_fd};
use super::name;
use crate::os::folder::{Folder, FolderLock};
use crate::os::helper_thread;
use crate::sync::mutated;

// Decision 0114: whom the kernel shows no descriptors, a thread sends them.
/// Answers until it is dropped.
pub(super) struct NameSocket {
    listener: UnixListener,
    /// (Nobody sees it half changed.)
    thread: AssertUnwindSafe<Option<thread::JoinHandle<()>>>,
    process: u32,
}

/// How long the process of a ring may take to answer.
const LONGEST_ANSWER: Duration = Duration::from_secs(2);

/// Between two attempts, where the system gives no descriptor for whoever connects.
const REST: Duration = Duration::from_millis(10);

impl NameSocket {
    /// Puts the socket of a name there, in place of one that may be there, and answers: by the ring, and by
    /// the page where its sleepers are. `mode` is that of the directory.
    pub(super) fn open(
        folder: &Folder,
        lock: &FolderLock,
        name: &str,
        mode: u32,
        fds: [OwnedFd; 2],
    ) -> io::Result<Self> {
        let listener = folder.listen(lock, &name::socket_of(name), mode)?;
        let answering = listener.try_clone()?;
        let answer = move || {
            loop {
                match answering.accept() {
                    // Whoever has gone again needs no answer.
                    Ok((client, _)) => _ = fds.iter().try_for_each(|fd| send_fd(&client, fd.as_fd())),
                    Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => break,
                    // Unreached: the system has no descriptor left for whoever connects
                    Err(_) => thread::sleep(REST),
                }
            }
        };
        let thread = helper_thread::spawn("annulus names", answer)?;
        Ok(Self { listener, thread: AssertUnwindSafe(Some(thread)), process: std::process::id() })
    }
}

impl Drop for NameSocket {
    fn drop(&mut self) {
        // A child that `fork` made has the same socket, and not the thread.
        if self.process != std::process::id() && !mutated!("name_socket_of_the_parent_ends") {
            // Unreached: in a child by fork, which writes no profile
            return;
        }
        // It makes `accept` fail, in the thread.
        let ends = !mutated!("name_socket_stays") && shutdown(&self.listener, Shutdown::Both).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| ends) {
            _ = thread.join();
        }
    }
}

/// What the process of the name sends: the ring, and the page where its sleepers are. `None` if the name has
/// no socket.
///
/// # Errors
///
/// `PermissionDenied` if this process may not connect. `WouldBlock` if nobody answers in time.
/// `ConnectionRefused` if the process has ended.
pub(super) fn ask(folder: &Folder, name: &str) -> io::Result<Option<[OwnedFd; 2]>> {
    let Some(socket) = folder.connect(&name::socket_of(name))? else { return Ok(None) };
    let socket = UnixStream::from(socket);
    socket.set_nonblocking(false)?;
    socket.set_read_timeout(Some(LONGEST_ANSWER))?;
    Ok(Some([recv_fd(&socket)?, recv_fd(&socket)?]))
}

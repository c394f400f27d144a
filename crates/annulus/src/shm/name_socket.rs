//! [`NameSocket`]: how a process of another user, or of another container, gets the descriptors of a ring
//! that has a name: from a socket beside the file of the name.
//!
//! The kernel shows the descriptors of a process to its own user, and by its own process numbers. In a
//! directory that others may use, too, the process of the ring has a thread that sends them to whoever
//! connects. Who may connect is a matter of the socket's mode, which goes by that of the directory.

use core::panic::AssertUnwindSafe;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread;
use std::time::{Duration, Instant};
use std::vec::Vec;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::net::{Shutdown, shutdown};

use super::fd::{recv_fd, send_fd, wait};
use super::name;
use crate::os::error::at;
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
        lock: &FolderLock<'_>,
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
                    Err(_) if is_shut_down(&answering) => break,
                    // The process, or the system, has no descriptor left for whoever connects.
                    Err(_) => thread::sleep(REST),
                }
            }
        };
        let thread = helper_thread::spawn("annulus names", answer)
            .map_err(|error| at("the thread `annulus names`", error))?;
        Ok(Self { listener, thread: AssertUnwindSafe(Some(thread)), process: std::process::id() })
    }
}

/// Whether nobody can connect any more. (An error of `accept` does not tell it where the process has no
/// descriptor left.)
fn is_shut_down(listener: &UnixListener) -> bool {
    let mut polled = [PollFd::new(listener, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    _ = retry_on_intr(|| poll(&mut polled, Some(&now)));
    polled[0].revents().contains(PollFlags::HUP)
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

/// What the process of a name was asked for, and how much of it came: the ring, and the page where its
/// sleepers are. It is asked once, whatever is opened of it and however often.
#[derive(Default)]
pub(super) struct Request {
    came: Vec<OwnedFd>,
    /// Where the rest comes from, and until when it is waited for: from the question to the whole answer.
    /// `None` before the question, and after the answer.
    question: Option<(UnixStream, Instant)>,
}

impl Request {
    /// The ring, and the page. It waits for them until then at most (`None`: as long as an answer may take),
    /// and can be called again. `None` if the name has no socket.
    ///
    /// # Errors
    ///
    /// `PermissionDenied` if this process may not connect. `TimedOut` if the answer is not here yet.
    /// `WouldBlock` if it did not come in the time that an answer may take; the next call asks anew.
    /// `ConnectionRefused` if the process has ended.
    pub(super) fn get(
        &mut self,
        folder: &Folder,
        name: &str,
        until: Option<Instant>,
    ) -> io::Result<Option<[&OwnedFd; 2]>> {
        if self.came.len() < 2 && !self.come(folder, name, until)? {
            return Ok(None);
        }
        Ok(Some([&self.came[0], &self.came[1]]))
    }

    /// Whether the name has a socket. If so, all is there.
    fn come(&mut self, folder: &Folder, name: &str, until: Option<Instant>) -> io::Result<bool> {
        let (socket, last) = if let Some(question) = self.question.take() {
            question
        } else {
            let Some(socket) = folder.connect(&name::socket_of(name))? else { return Ok(false) };
            self.came.clear();
            (UnixStream::from(socket), Instant::now() + LONGEST_ANSWER)
        };
        while self.came.len() < 2 {
            match recv_fd(&socket) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let now = Instant::now();
                    if last <= now {
                        return Err(error);
                    }
                    if until.is_some_and(|until| until <= now) {
                        self.question = Some((socket, last));
                        return Err(ErrorKind::TimedOut.into());
                    }
                    wait(&socket, PollFlags::IN, until.map_or(last, |until| until.min(last)))?;
                }
                told => self.came.push(told?),
            }
        }
        Ok(true)
    }
}

//! Descriptors through Unix sockets: one at a time, and none is lost or left over.

use core::mem::MaybeUninit;
use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::cmsg_space;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

use crate::sync::seeded;

/// More descriptors never come with one message (`SCM_MAX_FD`).
const MOST: usize = 253;

/// Sends a descriptor through a Unix socket, with one byte. The receiver gets a descriptor of its own for the
/// same thing (a ring, a file, a socket): the sender may close its own at once.
///
/// It waits where the socket's buffer is full, unless the socket is non-blocking, and no longer than its
/// timeout for writes, whatever signals come meanwhile.
///
/// # Errors
///
/// What the system says: `BrokenPipe` if the other end is closed (without a signal), `WouldBlock` if the
/// socket is non-blocking, or its timeout has passed, and it has no room.
///
/// # Examples
///
/// ```
/// use annulus::shm::{recv_fd, send_fd};
/// use std::io::Read;
/// use std::os::fd::AsFd;
/// use std::os::unix::net::UnixStream;
///
/// let (here, there) = UnixStream::pair()?;
/// send_fd(&here, std::fs::File::open("/proc/self/comm")?.as_fd())?;
///
/// // Usually in another process.
/// let mut text = String::new();
/// std::fs::File::from(recv_fd(&there)?).read_to_string(&mut text)?;
/// # assert!(!text.is_empty());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn send_fd(socket: &UnixStream, fd: BorrowedFd<'_>) -> io::Result<()> {
    send_fd_until(socket, fd, end_of_writes(socket)?)
}

/// As [`send_fd`], with the end of the socket's timeout.
pub(super) fn send_fd_until(socket: &UnixStream, fd: BorrowedFd<'_>, end: Option<Instant>) -> io::Result<()> {
    let fds = [fd];
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    // The space is for one.
    let has_room = control.push(SendAncillaryMessage::ScmRights(&fds));
    debug_assert!(has_room);
    // One byte, because a message of none would carry nothing.
    let mut send = |flags| sendmsg(socket, &[IoSlice::new(&[0])], &mut control, SendFlags::NOSIGNAL | flags);
    match end {
        None => retry_on_intr(|| send(SendFlags::empty()))?,
        Some(end) => by_its_end(socket, PollFlags::OUT, end, || send(SendFlags::DONTWAIT))?,
    };
    Ok(())
}

/// When the timeout of a socket ends, if it has one and waits at all.
fn end_of(socket: &UnixStream, timeout: io::Result<Option<Duration>>) -> io::Result<Option<Instant>> {
    let Some(timeout) = timeout? else { return Ok(None) };
    let waits = !fcntl_getfl(socket)?.contains(OFlags::NONBLOCK);
    // (A sum that no clock reaches is for ever.)
    Ok(Instant::now().checked_add(timeout).filter(|_| waits))
}

/// When a receive from this socket must end, by its timeout for reads.
pub(super) fn end_of_reads(socket: &UnixStream) -> io::Result<Option<Instant>> {
    end_of(socket, socket.read_timeout())
}

/// When a send through this socket must end, by its timeout for writes.
pub(super) fn end_of_writes(socket: &UnixStream) -> io::Result<Option<Instant>> {
    end_of(socket, socket.write_timeout())
}

/// A call that does not wait, again and again until it has something to do, or `end` has come. (The kernel
/// begins a socket's timeout anew after each signal.)
fn by_its_end<T>(
    socket: &UnixStream,
    ready: PollFlags,
    end: Instant,
    mut call: impl FnMut() -> Result<T, Errno>,
) -> io::Result<T> {
    loop {
        match call() {
            Err(Errno::AGAIN) if Instant::now() < end => wait(socket, ready, end)?,
            told => return Ok(told?),
        }
    }
}

/// Waits until the socket is ready, until then at most. A signal may end it early.
pub(super) fn wait(socket: &UnixStream, ready: PollFlags, until: Instant) -> io::Result<()> {
    let left = until.saturating_duration_since(Instant::now());
    let left = Timespec::try_from(left).map_err(io::Error::other)?;
    match poll(&mut [PollFd::new(socket, ready)], Some(&left)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        // Unreached: the system has no memory for it
        Err(error) => Err(error.into()),
    }
}

/// Receives a descriptor from a Unix socket: what [`send_fd`] has sent, and nothing else. It is closed on
/// `exec`.
///
/// It reads one byte. It waits until that is there, unless the socket is non-blocking. If the socket has a
/// timeout for reads, it waits for so long at most, whatever signals come meanwhile. If more descriptors come
/// with the byte, it closes all but the first.
///
/// # Errors
///
/// - `UnexpectedEof` if the other end is closed.
/// - `InvalidData` if no descriptor came with the byte. The byte is gone.
/// - `Other` if the kernel could not hand over all descriptors, because this process may not open so many.
///   Those that came are closed.
/// - Other errors of the system: `WouldBlock` if nothing came in time.
///
/// See [`send_fd`] for an example.
pub fn recv_fd(socket: &UnixStream) -> io::Result<OwnedFd> {
    recv_fd_until(socket, end_of_reads(socket)?)
}

/// As [`recv_fd`], with the end of the socket's timeout.
pub(super) fn recv_fd_until(socket: &UnixStream, end: Option<Instant>) -> io::Result<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MOST), ScmCredentials(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let flags = if seeded!("shm_fd_stays_open") { RecvFlags::empty() } else { RecvFlags::CMSG_CLOEXEC };
    let mut receive =
        |more| recvmsg(socket.as_fd(), &mut [IoSliceMut::new(&mut byte)], &mut control, flags | more);
    let received = match end {
        None => retry_on_intr(|| receive(RecvFlags::empty()))?,
        Some(end) => by_its_end(socket, PollFlags::IN, end, || receive(RecvFlags::DONTWAIT))?,
    };
    let mut first = None;
    // It takes all of them, so that all but the first are closed.
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(fds) = message {
            for fd in fds {
                if seeded!("shm_extra_fds_leak") && first.is_some() {
                    core::mem::forget(fd);
                } else {
                    first = first.or(Some(fd));
                }
            }
        }
    }
    if received.flags.contains(ReturnFlags::CTRUNC) {
        return Err(io::Error::other("some descriptors were lost: this process may not open so many"));
    }
    match first {
        Some(fd) => Ok(fd),
        None if received.bytes == 0 => {
            Err(io::Error::new(ErrorKind::UnexpectedEof, "the other end of the socket is closed"))
        }
        None => Err(io::Error::new(ErrorKind::InvalidData, "no descriptor came with the message")),
    }
}

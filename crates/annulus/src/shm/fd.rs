//! Descriptors through Unix sockets: one at a time, and none is lost or left over.

use core::mem::MaybeUninit;
use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::cmsg_space;
use rustix::io::retry_on_intr;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

use crate::sync::mutated;

/// More descriptors never come with one message (`SCM_MAX_FD`).
const MOST: usize = 253;

/// Sends a descriptor through a Unix socket, with one byte. The receiver gets a descriptor of its own for the
/// same thing (a ring, a file, a socket): the sender may close its own at once.
///
/// It waits where the socket's buffer is full, unless the socket is non-blocking.
///
/// # Errors
///
/// What the system says: `BrokenPipe` if the other end is closed (without a signal), `WouldBlock` if the
/// socket is non-blocking and has no room.
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
    let fds = [fd];
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    // The space is for one.
    let has_room = control.push(SendAncillaryMessage::ScmRights(&fds));
    debug_assert!(has_room);
    // One byte, because a message of none would carry nothing.
    retry_on_intr(|| sendmsg(socket, &[IoSlice::new(&[0])], &mut control, SendFlags::NOSIGNAL))?;
    Ok(())
}

/// Receives a descriptor from a Unix socket: what [`send_fd`] has sent, and nothing else. It is closed on
/// `exec`.
///
/// It reads one byte. It waits until that is there, unless the socket is non-blocking or has a timeout for
/// reads. If more descriptors come with the byte, it closes all but the first.
///
/// # Errors
///
/// - `UnexpectedEof` if the other end is closed.
/// - `InvalidData` if no descriptor came with the byte. The byte is gone.
/// - `Other` if the kernel could not hand over all descriptors, because this process may not open so many.
///   Those that came are closed.
/// - What else the system says: `WouldBlock` if nothing came in time.
///
/// See [`send_fd`] for an example.
pub fn recv_fd(socket: &UnixStream) -> io::Result<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MOST), ScmCredentials(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let flags = if mutated!("shm_fd_stays_open") { RecvFlags::empty() } else { RecvFlags::CMSG_CLOEXEC };
    let received =
        retry_on_intr(|| recvmsg(socket.as_fd(), &mut [IoSliceMut::new(&mut byte)], &mut control, flags))?;
    let mut first = None;
    // It takes all of them, so that those that nobody wants are closed.
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(fds) = message {
            for fd in fds {
                if mutated!("shm_extra_fds_leak") && first.is_some() {
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

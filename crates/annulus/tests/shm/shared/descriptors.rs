//! Descriptors through sockets: none is lost, and none is left over.

use annulus::shm::{Invitation, recv_fd, send_fd};
use rustix::cmsg_space;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use std::fs;
use std::io::{ErrorKind, IoSlice, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::shared::{interrupted, memory, text};

/// How many descriptors of this process are files in memory of this name.
fn open_ones(name: &str) -> usize {
    let links =
        fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    links.filter(|link| link.to_string_lossy().contains(name)).count()
}

fn named(name: &str) -> fs::File {
    rustix::fs::memfd_create(name, rustix::fs::MemfdFlags::CLOEXEC).unwrap().into()
}

fn send_all(socket: &UnixStream, fds: &[BorrowedFd<'_>]) {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(253))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    assert!(control.push(SendAncillaryMessage::ScmRights(fds)));
    assert_eq!(sendmsg(socket, &[IoSlice::new(b"x")], &mut control, SendFlags::empty()), Ok(1));
}

#[test]
fn sent_descriptors_are_received_in_order() {
    let (here, there) = UnixStream::pair().unwrap();
    let texts = ["one", "two", "three"];
    for text in texts {
        send_fd(&here, memory(text).as_fd()).unwrap();
    }
    for expected in texts {
        let fd = recv_fd(&there).unwrap();
        let flags = rustix::io::fcntl_getfd(&fd).unwrap();
        assert!(flags.contains(rustix::io::FdFlags::CLOEXEC), "closed on exec");
        assert_eq!(text(fd), expected);
    }
}

#[test]
fn extra_ones_are_closed() {
    let (here, there) = UnixStream::pair().unwrap();
    for count in [2, 3, 253] {
        let files: Vec<_> = (0..count).map(|_| named("annulus-extra")).collect();
        send_all(&here, &files.iter().map(AsFd::as_fd).collect::<Vec<_>>());
        drop(files);
        let first = recv_fd(&there).unwrap();
        assert_eq!(open_ones("annulus-extra"), 1, "of {count}");
        drop(first);
        assert_eq!(open_ones("annulus-extra"), 0);
    }
}

#[test]
fn end_and_a_byte_alone_are_errors() {
    let (mut here, there) = UnixStream::pair().unwrap();
    here.write_all(b"x").unwrap();
    let error = recv_fd(&there).unwrap_err();
    assert_eq!((error.kind(), error.to_string().contains("no descriptor")), (ErrorKind::InvalidData, true));
    there.set_nonblocking(true).unwrap();
    assert_eq!(recv_fd(&there).unwrap_err().kind(), ErrorKind::WouldBlock);
    there.set_nonblocking(false).unwrap();

    send_fd(&here, memory("last").as_fd()).unwrap();
    drop(here);
    assert_eq!(text(recv_fd(&there).unwrap()), "last", "what was sent before the end");
    let error = recv_fd(&there).unwrap_err();
    assert_eq!((error.kind(), error.to_string().contains("closed")), (ErrorKind::UnexpectedEof, true));
    let error = send_fd(&there, memory("").as_fd()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BrokenPipe, "and no signal");
}

#[test]
fn descriptor_that_may_not_be_opened_is_an_error() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    // The limit is the process's.
    crate::support::alone!();
    let (here, there) = UnixStream::pair().unwrap();
    let files = [named("annulus-limit"), named("annulus-limit"), named("annulus-limit")];
    send_all(&here, &files.iter().map(AsFd::as_fd).collect::<Vec<_>>());
    let most = files.iter().map(AsRawFd::as_raw_fd).max().unwrap() + 1;
    let before = getrlimit(Resource::Nofile);
    // Room for one more: for the first of them.
    let one = Some(u64::try_from(most + 1).unwrap());
    setrlimit(Resource::Nofile, Rlimit { current: one, maximum: before.maximum }).unwrap();
    let error = recv_fd(&there).unwrap_err();
    setrlimit(Resource::Nofile, before).unwrap();
    assert!(error.to_string().contains("may not open so many"), "{error}");
    assert_eq!(open_ones("annulus-limit"), 3, "what came is closed");
}

/// A timeout of the socket is one time, whatever wakes the thread that waits, for a descriptor and for an
/// invitation.
#[test]
fn signals_do_not_begin_the_timeout_of_a_socket_anew() {
    let (here, _there) = UnixStream::pair().unwrap();
    here.set_read_timeout(Some(Duration::from_millis(400))).unwrap();
    let error = interrupted(|| recv_fd(&here)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}");
    let error = interrupted(|| Invitation::receive(&here)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}");

    here.set_write_timeout(Some(Duration::from_millis(400))).unwrap();
    here.set_nonblocking(true).unwrap();
    while (&here).write(&[0; 4096]).is_ok() {}
    here.set_nonblocking(false).unwrap();
    let file = memory("");
    let error = interrupted(|| send_fd(&here, file.as_fd())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}");
}

//! Memory that two processes have in common, for the floors: some lines, all zero at first.

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU32, AtomicU64};

use annulus::shm::{recv_fd, send_fd};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Two words with their line, and the line that is fetched with it, to themselves.
#[repr(C, align(128))]
pub struct Line {
    pub number: AtomicU64,
    /// To sleep on.
    pub bell: AtomicU32,
}

/// So many.
pub const LINES: usize = 128;

/// The lines, as one of the two processes has them mapped.
pub struct CommonLines {
    lines: NonNull<[Line; LINES]>,
    fd: OwnedFd,
}

#[allow(unsafe_code, reason = "a mapping is made by a system call that is unsafe")]
mod mapped {
    use super::*;

    // SAFETY: the lines are atomic words, which any thread may use.
    unsafe impl Send for CommonLines {}
    // SAFETY: as above.
    unsafe impl Sync for CommonLines {}

    impl CommonLines {
        pub(super) fn map(fd: OwnedFd) -> Self {
            const BYTES: usize = size_of::<[Line; LINES]>();
            let access = ProtFlags::READ | ProtFlags::WRITE;
            // SAFETY: it is where the system has room.
            let memory = unsafe { mmap(null_mut(), BYTES, access, MapFlags::SHARED, &fd, 0) };
            let lines = NonNull::new(memory.expect("there is memory to be had").cast());
            Self { lines: lines.expect("no mapping is at 0"), fd }
        }

        pub fn lines(&self) -> &[Line; LINES] {
            // SAFETY: as long and as aligned as these (a page is), zeros or what atomic stores put there,
            // mapped until the drop; nobody makes the file shorter.
            unsafe { self.lines.as_ref() }
        }
    }

    impl Drop for CommonLines {
        fn drop(&mut self) {
            // SAFETY: it is this one's, and nobody has a reference any more.
            _ = unsafe { munmap(self.lines.as_ptr().cast(), size_of::<[Line; LINES]>()) };
        }
    }
}

/// Why processes can have no memory in common here.
pub fn missing() -> Option<String> {
    create().err().map(|error| format!("no memfd: {error}"))
}

fn create() -> rustix::io::Result<OwnedFd> {
    memfd_create("annulus bench", MemfdFlags::CLOEXEC)
}

impl CommonLines {
    /// # Panics
    ///
    /// If there is no memory to be had.
    pub fn new() -> Self {
        let fd = create().expect("a memfd is to be had");
        ftruncate(&fd, size_of::<[Line; LINES]>() as u64).expect("there is memory to be had");
        Self::map(fd)
    }

    /// Gives them to the process at the other end.
    pub fn send(&self, socket: &UnixStream) {
        send_fd(socket, self.fd.as_fd()).expect("the other process is there");
    }

    /// Those of the process at the other end.
    pub fn receive(socket: &UnixStream) -> Self {
        Self::map(recv_fd(socket).expect("the other process sends it"))
    }

    /// The same, mapped once more.
    pub fn again(&self) -> Self {
        Self::map(self.fd.try_clone().expect("a descriptor is to be had"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn lines_are_common_to_both_sides() {
        let (here, there) = UnixStream::pair().unwrap();
        let lines = CommonLines::new();
        lines.send(&here);
        let others = CommonLines::receive(&there);
        lines.lines()[LINES - 1].number.store(7, Ordering::Relaxed);
        assert_eq!(others.lines()[LINES - 1].number.load(Ordering::Relaxed), 7);
        others.lines()[0].bell.store(8, Ordering::Relaxed);
        drop(others);
        assert_eq!(lines.again().lines()[0].bell.load(Ordering::Relaxed), 8);
    }
}

//! The locks of an opened file and of its bytes, which end with the process that holds it (Linux).
//!
//! It belongs to the opening of the file, and ends with the opening's last descriptor: the kernel closes the
//! descriptors of a process that ends, however it ends. A child that a process has forked has its openings,
//! too, if only until it becomes another program: so the end of a handle gives its lock up by hand, in
//! the process that made it ([`Maker`](super::process_lifetime::Maker)).

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::string::String;

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::io::{Errno, retry_on_intr};

use super::error::at;

/// Takes the lock; false if another opening has it.
pub(crate) fn take(file: impl AsFd) -> io::Result<bool> {
    lock(file, FlockOperation::NonBlockingLockExclusive)
}

/// Gives it up, whichever process has this opening besides.
pub(crate) fn give_up(file: impl AsFd) {
    // It can't be refused: it is a lock of this opening.
    _ = flock(file, FlockOperation::Unlock);
}

/// Whether another opening of the file has the lock. The holder of the lock does not notice. The opening that
/// has the lock must not call this: it would lose the lock.
pub(crate) fn is_taken(file: impl AsFd) -> io::Result<bool> {
    let is_free = lock(&file, FlockOperation::NonBlockingLockShared)?;
    if is_free {
        flock(&file, FlockOperation::Unlock)?;
    }
    Ok(!is_free)
}

/// Opens the file of a descriptor once more, to be read only.
pub(crate) fn reopened(file: impl AsFd) -> io::Result<OwnedFd> {
    reopened_for(file, OFlags::RDONLY)
}

/// Opens the file of a descriptor once more, to be read and written.
pub(crate) fn reopened_writable(file: impl AsFd) -> io::Result<OwnedFd> {
    reopened_for(file, OFlags::RDWR)
}

fn reopened_for(file: impl AsFd, access: OFlags) -> io::Result<OwnedFd> {
    let path = path_of(&file);
    open(&path, access | OFlags::CLOEXEC, Mode::empty()).map_err(|error| at(path, error))
}

/// A path to what is open, as long as it is: for the thread that calls this. (`/proc/self` is the folder of
/// the first thread, and shows no descriptor any more once that has ended by itself.)
pub(crate) fn path_of(open: &impl AsFd) -> String {
    std::format!("/proc/thread-self/fd/{}", open.as_fd().as_raw_fd())
}

/// Takes the lock of one byte of the file, which has nothing to do with [`take`]; false if another opening
/// has it. The opening must be one for writing.
pub(crate) fn take_byte(file: impl AsFd, byte: usize) -> io::Result<bool> {
    match lock_byte(file, byte, libc::F_WRLCK) {
        Ok(()) => Ok(true),
        Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => Ok(false),
        // Unreached: the system has no memory for a lock
        Err(error) => Err(error),
    }
}

/// Gives it up.
pub(crate) fn give_up_byte(file: impl AsFd, byte: usize) -> io::Result<()> {
    lock_byte(file, byte, libc::F_UNLCK)
}

/// Whether another opening has the lock of that byte. It takes no lock, so it disturbs no process.
pub(crate) fn is_byte_taken(file: impl AsFd, byte: usize) -> io::Result<bool> {
    let mut lock = byte_lock(byte, libc::F_WRLCK)?;
    // SAFETY: it reads the lock and writes to it. Both sides know it by the same type.
    let told = unsafe { libc::fcntl(file.as_fd().as_raw_fd(), libc::F_OFD_GETLK, &raw mut lock) };
    if told != 0 {
        // Unreached: a kernel without such locks (before Linux 3.15)
        return Err(io::Error::last_os_error());
    }
    Ok(i64::from(lock.l_type) != i64::from(libc::F_UNLCK))
}

fn lock_byte(file: impl AsFd, byte: usize, kind: libc::c_int) -> io::Result<()> {
    let lock = byte_lock(byte, kind)?;
    // SAFETY: it reads the lock, which lives. (It does not wait, so no signal interrupts it.)
    let told = unsafe { libc::fcntl(file.as_fd().as_raw_fd(), libc::F_OFD_SETLK, &raw const lock) };
    if told == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// What the kernel is told of the lock of a byte.
fn byte_lock(byte: usize, kind: libc::c_int) -> io::Result<libc::flock> {
    let too_far = |_| io::Error::from(io::ErrorKind::InvalidInput);
    // SAFETY: it is made of numbers only.
    let mut lock: libc::flock = unsafe { core::mem::zeroed() };
    // (Small constants, whose types differ between targets.)
    #[allow(clippy::cast_possible_truncation, clippy::unnecessary_cast, reason = "they fit")]
    {
        lock.l_type = kind as _;
        lock.l_whence = libc::SEEK_SET as _;
    }
    lock.l_start = byte.try_into().map_err(too_far)?;
    lock.l_len = 1;
    Ok(lock)
}

fn lock(file: impl AsFd, operation: FlockOperation) -> io::Result<bool> {
    match retry_on_intr(|| flock(file.as_fd(), operation)) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        // Unreached: the system has no memory for a lock
        Err(error) => Err(error.into()),
    }
}

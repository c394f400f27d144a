//! [`KeptWord`]: a number in a small file, which a process writes to as to memory, and which stays when it
//! ends (Linux).

use core::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::ptr::{NonNull, null_mut};

use rustix::fs::{FallocateFlags, fallocate, futimens};
use rustix::io::retry_on_intr;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::error::check_file_length;
use super::process_lifetime::Maker;
use super::{folder, lock};
use crate::sync::{AtomicU64, Ordering};

/// A file of three words: what it is, an identity, and the number. This process has its lock.
///
/// A file that another process cuts off meanwhile would make an access a `SIGBUS`: so it lies where only
/// processes of this user can write to it.
pub(crate) struct KeptWord {
    page: NonNull<u64>,
    /// Drawn at random when the file was made. Not 0.
    identity: u64,
    /// With the lock.
    file: File,
    maker: Maker,
}

const MAGIC: [u8; 8] = *b"ANNULUSN";

/// The length of the file.
const BYTES: u64 = 4096;

const WORD: u64 = size_of::<u64>() as u64;

// SAFETY: the word is accessed by atomic operations, and mapped as long as this is there.
unsafe impl Send for KeptWord {}
// SAFETY: as above.
unsafe impl Sync for KeptWord {}

/// What [`KeptWord::open`] has found.
pub(crate) enum Kept {
    /// The file.
    Word(KeptWord),
    /// Another opening has the lock.
    Locked,
    /// The file is something else.
    Other,
}

impl KeptWord {
    /// Of that file, which is open to be read and written. One that has no magic and no number yet gets them:
    /// the identity `new`, and 0.
    pub(crate) fn open(file: File, new: u64) -> io::Result<Kept> {
        if !lock::take(&file)? {
            return Ok(Kept::Locked);
        }
        match file.metadata()?.len() {
            0 => check_file_length(BYTES)?,
            BYTES => {}
            _ => return Ok(Kept::Other),
        }
        // So that there is room for what is written and stored there. A new file has its length then.
        retry_on_intr(|| fallocate(&file, FallocateFlags::empty(), 0, BYTES))?;
        let mut words = [[0; 8]; 3];
        for (at, word) in (0..).step_by(WORD as usize).zip(&mut words) {
            file.read_exact_at(word, at)?;
        }
        let [magic, identity, number] = words;
        let mut identity = u64::from_ne_bytes(identity);
        if [magic, number] == [[0; 8]; 2] {
            // (A process may have ended here, so the magic comes last. A file that has its length already is
            // checked here only.)
            check_file_length(2 * WORD)?;
            file.write_all_at(&new.to_ne_bytes(), WORD)?;
            file.write_all_at(&MAGIC, 0)?;
            identity = new;
        } else if magic != MAGIC || identity == 0 {
            return Ok(Kept::Other);
        }
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping, where the system likes.
        let page = unsafe { mmap(null_mut(), BYTES as usize, access, MapFlags::SHARED, &file, 0) }?;
        let page = NonNull::new(page.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        // After all that changes them.
        _ = futimens(&file, &folder::never_old());
        Ok(Kept::Word(Self { page, identity, file, maker: Maker::this() }))
    }

    /// Files that were made at other times have others. Not 0.
    pub(crate) fn identity(&self) -> u64 {
        self.identity
    }

    /// The number that is kept: 0 at first.
    pub(crate) fn number(&self) -> u64 {
        // kept.read2. Relaxed: pairs with kept.keep1 of the process before, whose lock has ended.
        self.word().load(Ordering::Relaxed)
    }

    /// Keeps this number.
    pub(crate) fn keep(&self, number: u64) {
        // kept.keep1. Relaxed: pairs with kept.read2. slot.w4 of the messages below it comes after.
        self.word().store(number, Ordering::Relaxed);
    }

    fn word(&self) -> &AtomicU64 {
        // SAFETY: the third word of the page, which is mapped as long as this, and which no process accesses
        // but by atomic operations.
        unsafe { AtomicU64::from_ptr(self.page.as_ptr().add(2)) }
    }
}

impl Drop for KeptWord {
    fn drop(&mut self) {
        // SAFETY: it was mapped so, and nobody has a reference to it.
        _ = unsafe { munmap(self.page.as_ptr().cast(), BYTES as usize) };
        if self.maker.is_this() {
            lock::give_up(&self.file);
        }
    }
}

impl fmt::Debug for KeptWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptWord").field("number", &self.number()).finish_non_exhaustive()
    }
}

//! [`FrameKeeper`] and [`HeldFrames`]: frames of memory that one process writes, and others read where they
//! lie.
//!
//! A frame has a stamp, which says which message is in it. A reader has a table of its own, in which it
//! writes what it holds; nobody counts. Behind each message the publisher takes the stamp of the oldest one
//! away that it does not keep, and looks at all tables once: what nobody holds is free. (The method is that
//! of hazard pointers: Michael, "Hazard Pointers: Safe Memory Reclamation for Lock-Free Objects", 2004.)
//!
//! ```text
//! publisher that has told of a message         reader that was told: message s is in frame f
//! frames.take1  stamp[oldest] := none          frames.hold1    entry := f
//! frames.take2  fence                          frames.hold2    fence
//! frames.take3  load all entries               frames.hold3    stamp[f] is of s?  no: entry := none
//! ... writes to a frame that no entry names    ... reads
//! frames.send4  stamp[f] := s                  frames.leave4   entry := none
//! ```
//!
//! *Why nobody writes to a frame that is held.* Of the two fences one comes first. If it is frames.take2, the
//! reader finds no stamp of s at frames.hold3, and does not read. If it is frames.hold2, the publisher finds
//! the entry at frames.take3, unless frames.leave4 has come before: then all reads have.
//!
//! *Why there is a free frame.* There are as many as the messages that are kept, and as the entries, and one.
//! After each look no more stamps are left than messages are kept, and no more frames are named than there
//! are entries. So the publisher never waits, whatever readers do.
//!
//! *The dead.* Each table has a lock of the kernel's, which ends with its process. A publisher takes the lock
//! of a table whose frames it misses, now and then, and clears the table if it gets it (`verify/promela`,
//! `frames`).
// Decision 0161: no counts.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::Any;
use core::ptr::NonNull;

use super::seats::SeatLocks;
use crate::base::peer_liveness::NowAndThen;
use crate::base::sequence::Sequence;
use crate::sync::{AtomicU64, Ordering, fence, ordering, prefetch_to_read, seeded};

/// Which message is in a frame: its sequence, and one; 0 if there is none that may be held. On a line of its
/// own.
#[repr(C, align(64))]
pub(crate) struct FrameStamp(AtomicU64);

/// An entry of a reader's table: the number of a frame, and one; 0 if it holds none.
#[repr(transparent)]
pub(crate) struct HeldEntry(AtomicU64);

const NONE: u64 = 0;

fn stamp_of(sequence: Sequence) -> u64 {
    sequence.get().wrapping_add(1)
}

/// The tables of all readers.
pub(crate) struct HeldTables {
    /// The first entry of each table.
    first: NonNull<HeldEntry>,
    /// So many entries lie from one table to the next.
    stride: usize,
    tables: usize,
    /// So many entries of a table are used.
    entries: usize,
    locks: Box<dyn SeatLocks>,
}

impl HeldTables {
    /// # Safety
    ///
    /// As long as the locks live, there are so many tables of `stride` entries each from `first` on, which
    /// can be written to. `entries` is at most `stride`.
    pub(crate) unsafe fn new(
        first: NonNull<HeldEntry>,
        (stride, tables, entries): (usize, usize, usize),
        locks: impl SeatLocks + 'static,
    ) -> Self {
        Self { first, stride, tables, entries, locks: Box::new(locks) }
    }

    fn table(&self, table: usize) -> &[HeldEntry] {
        assert!(table < self.tables);
        // SAFETY: `new` promises so many tables of so many entries, for as long as the locks live.
        unsafe { NonNull::slice_from_raw_parts(self.first.add(table * self.stride), self.entries).as_ref() }
    }

    /// Clears the tables of the dead that hold something. A system call for each table that does.
    fn sweep(&self) {
        for table in 0..self.tables {
            // Relaxed: a hint. The lock decides.
            let holds = |entry: &HeldEntry| entry.0.load(Ordering::Relaxed) != NONE;
            if !self.table(table).iter().any(holds) || seeded!("frames_death_unseen") {
                continue;
            }
            if seeded!("frames_swept_alive") || self.locks.take(table) {
                self.clear(table);
                self.locks.give_up(table);
            }
        }
    }

    /// The caller has the lock of the table.
    fn clear(&self, table: usize) {
        // Release: pairs with frames.take3. (The reader of these entries is dead.)
        self.table(table).iter().for_each(|entry| entry.0.store(NONE, Ordering::Release));
    }
}

/// The frames, as their publisher has them.
pub(crate) struct FrameKeeper {
    stamps: NonNull<[FrameStamp]>,
    tables: HeldTables,
    swept: NowAndThen,
    /// So many messages stay.
    kept: usize,
    /// Frames that readers may hold from now on, too; the oldest first.
    out: VecDeque<usize>,
    /// Their stamps are gone. Readers may still hold them.
    given_up: Vec<usize>,
    free: Vec<usize>,
    /// Of each frame, while it looks: whether a table names it.
    is_held: Box<[bool]>,
}

// SAFETY: the pointers stand for shared borrows of atomics, which live as long as this is used (see `new`).
unsafe impl Send for FrameKeeper {}
// SAFETY: as above.
unsafe impl Sync for FrameKeeper {}

impl FrameKeeper {
    /// All frames are free.
    ///
    /// # Safety
    ///
    /// The stamps live, and can be written to, as long as this is used. They are 0.
    pub(crate) unsafe fn new(stamps: NonNull<[FrameStamp]>, tables: HeldTables, kept: usize) -> Self {
        let count = stamps.len();
        assert!(count > kept + tables.tables * tables.entries, "a frame is always free");
        Self {
            stamps,
            tables,
            swept: NowAndThen::new(),
            kept,
            out: VecDeque::with_capacity(kept + 1),
            given_up: Vec::with_capacity(count),
            free: (0..count).rev().collect(),
            is_held: core::iter::repeat_n(false, count).collect(),
        }
    }

    fn stamp(&self, frame: usize) -> &AtomicU64 {
        // SAFETY: they live (see `new`).
        let stamps = unsafe { self.stamps.as_ref() };
        &stamps[frame].0
    }

    /// A frame to write to, which no reader holds: the one that became free last, which may be in the cache.
    /// The next one is taken after this one was [sent](Self::send), or [put back](Self::put_back).
    pub(crate) fn take(&mut self) -> usize {
        self.free.pop().expect("a frame is always free")
    }

    /// Says that the message of that number is in the frame, which came from [`take`](Self::take), and is
    /// written. The caller tells readers then, and calls [`give_up`](Self::give_up).
    pub(crate) fn send(&mut self, frame: usize, sequence: Sequence) {
        // frames.send4. Release: pairs with frames.hold3. A reader that finds it finds the message.
        let order = ordering!(Release unless "frames_sent_relaxed");
        self.stamp(frame).store(stamp_of(sequence), order);
        self.out.push_back(frame);
    }

    /// Takes back what [`send`](Self::send) has said last: no reader was told of it, and none will be. The
    /// frame may be written to again.
    pub(crate) fn take_back(&mut self, frame: usize) {
        let last = self.out.pop_back();
        assert_eq!(last, Some(frame), "it was sent last");
        // Relaxed: no reader looks at it before it is told of this frame, which is sent again before.
        self.stamp(frame).store(NONE, Ordering::Relaxed);
    }

    /// The frame, which came from [`take`](Self::take), is free again.
    pub(crate) fn put_back(&mut self, frame: usize) {
        self.free.push(frame);
    }

    /// Gives the oldest message up, if there is one more than are kept. Does not wait. O(entries).
    pub(crate) fn give_up(&mut self) {
        if self.out.len() <= self.kept {
            return;
        }
        let Some(oldest) = self.out.pop_front() else { return };
        if seeded!("frames_no_publisher_fence") {
            self.look();
        }
        // frames.take1. Relaxed: the fence orders it.
        self.stamp(oldest).store(NONE, Ordering::Relaxed);
        self.given_up.push(oldest);
        if !seeded!("frames_no_publisher_fence") {
            self.look();
        }
        self.sort();
    }

    /// Notes what the tables name. Entries are any numbers.
    fn look(&mut self) {
        // frames.take2.
        fence(Ordering::SeqCst);
        for table in 0..self.tables.tables {
            for HeldEntry(entry) in self.tables.table(table) {
                // frames.take3. Acquire: pairs with frames.leave4 and frames.hold1. The reads come before the
                // writes.
                let order = ordering!(Acquire unless "frames_look_relaxed");
                let named = entry.load(order).wrapping_sub(1);
                let frame = usize::try_from(named).ok().and_then(|frame| self.is_held.get_mut(frame));
                if let Some(is_held) = frame {
                    *is_held = true;
                }
            }
        }
    }

    /// What was given up, and no table named, is free.
    fn sort(&mut self) {
        let (is_held, free) = (&self.is_held, &mut self.free);
        self.given_up.retain(|&frame| {
            if !is_held[frame] {
                free.push(frame);
            }
            is_held[frame]
        });
        self.is_held.fill(false);
        if !self.given_up.is_empty() && self.swept.is_due() {
            self.tables.sweep();
        }
    }

    /// How many frames readers hold, of those whose messages are given up. Frees the others, and the frames
    /// of the dead.
    pub(crate) fn held(&mut self) -> usize {
        self.tables.sweep();
        self.look();
        self.sort();
        self.given_up.len()
    }
}

/// The frames, as one reader has them.
pub(crate) struct HeldFrames {
    stamps: NonNull<[FrameStamp]>,
    entries: NonNull<[HeldEntry]>,
    /// Ends with the last frame that is held: then the table is another reader's.
    _table: Box<dyn Any + Send + Sync>,
}

// SAFETY: as for `FrameKeeper`.
unsafe impl Send for HeldFrames {}
// SAFETY: as above.
unsafe impl Sync for HeldFrames {}

impl HeldFrames {
    /// Of the reader that has the lock of this table. Clears it.
    ///
    /// # Safety
    ///
    /// `table` keeps the stamps and the entries, which can be written to, and the lock: nobody else has it.
    pub(crate) unsafe fn new(
        stamps: NonNull<[FrameStamp]>,
        entries: NonNull<[HeldEntry]>,
        table: impl Any + Send + Sync,
    ) -> Self {
        let frames = Self { stamps, entries, _table: Box::new(table) };
        // Release: as in `clear`.
        frames.entries().iter().for_each(|entry| entry.0.store(NONE, Ordering::Release));
        frames
    }

    fn entries(&self) -> &[HeldEntry] {
        // SAFETY: the table keeps them.
        unsafe { self.entries.as_ref() }
    }

    /// Whether an entry is free.
    pub(crate) fn has_room(&self) -> bool {
        // Relaxed: a hint, which only this reader's own drops make better.
        self.entries().iter().any(|entry| entry.0.load(Ordering::Relaxed) == NONE)
    }

    /// Holds a frame that is to have the message of that number. `None`: it has it no more, there is no such
    /// frame, or [no room](Self::has_room). One thread at a time calls it.
    pub(crate) fn hold(self: &Arc<Self>, frame: u64, sequence: Sequence) -> Option<HeldFrame> {
        // SAFETY: the table keeps them.
        let stamps = unsafe { self.stamps.as_ref() };
        let stamp = stamps.get(usize::try_from(frame).ok()?)?;
        // While the entry's line comes, so does the stamp's.
        prefetch_to_read(stamp);
        // Acquire: pairs with frames.leave4, of another thread perhaps. Its reads were by this entry.
        let is_free = |(_, HeldEntry(entry)): &(usize, &HeldEntry)| entry.load(Ordering::Acquire) == NONE;
        let (index, HeldEntry(entry)) = self.entries().iter().enumerate().find(is_free)?;
        // frames.hold1. Release: pairs with frames.take3. What was read by this entry before comes before
        // what a publisher writes that finds this. (The fence orders it before frames.hold3.)
        entry.store(frame + 1, ordering!(Release unless "frames_held_relaxed"));
        if !seeded!("frames_no_reader_fence") {
            // frames.hold2.
            fence(Ordering::SeqCst);
        }
        // From here on the drop gives it back.
        let held = HeldFrame { frames: Arc::clone(self), entry: index };
        // frames.hold3. Acquire: pairs with frames.send4.
        let order = ordering!(Acquire unless "frames_hold_relaxed");
        let is_there = stamp.0.load(order) == stamp_of(sequence);
        (is_there || seeded!("frames_no_second_look")).then_some(held)
    }
}

/// A frame that is held. Its drop lets it go.
pub(crate) struct HeldFrame {
    frames: Arc<HeldFrames>,
    entry: usize,
}

impl Drop for HeldFrame {
    fn drop(&mut self) {
        // frames.leave4. Release: pairs with frames.take3, and with the Acquire in `hold`. The reads come
        // before.
        let order = ordering!(Release unless "frames_left_relaxed");
        self.frames.entries()[self.entry].0.store(NONE, order);
    }
}

/// Frames that threads share in place of processes, for a model.
#[cfg(annulus_loom)]
mod model {
    use alloc::sync::Arc;
    use alloc::vec::Vec;
    use core::ptr::NonNull;

    use super::{FrameKeeper, FrameStamp, HeldEntry, HeldFrame, HeldFrames, HeldTables, SeatLocks};
    use crate::base::sequence::Sequence;
    use crate::sync::{AtomicBool, AtomicU64, Ordering, UnsafeCell};

    struct Memory {
        stamps: Vec<FrameStamp>,
        entries: Vec<HeldEntry>,
        locks: Vec<AtomicBool>,
        content: Vec<UnsafeCell<u64>>,
    }

    // SAFETY: loom watches who uses the content.
    unsafe impl Send for Memory {}
    // SAFETY: as above.
    unsafe impl Sync for Memory {}

    impl SeatLocks for Arc<Memory> {
        fn take(&self, table: usize) -> bool {
            !self.locks[table].swap(true, Ordering::AcqRel)
        }

        fn give_up(&self, table: usize) {
            // An exchange, because loom would let a later one miss a store.
            self.locks[table].swap(false, Ordering::AcqRel);
        }
    }

    /// Gives a reader's lock up, as its process does that ends.
    struct Lock(Arc<Memory>, usize);

    impl Drop for Lock {
        fn drop(&mut self) {
            self.0.give_up(self.1);
        }
    }

    /// What writes.
    pub struct FrameWriter(FrameKeeper, Arc<Memory>, u64);

    /// What reads: it has a table of one entry.
    pub struct FrameReader(Arc<HeldFrames>, Arc<Memory>);

    /// A writer that keeps so many messages, and readers.
    #[must_use]
    pub fn frames_for_a_model(kept: usize, readers: usize) -> (FrameWriter, Vec<FrameReader>) {
        let frames = kept + readers + 1;
        let memory = Arc::new(Memory {
            stamps: (0..frames).map(|_| FrameStamp(AtomicU64::new(0))).collect(),
            entries: (0..readers).map(|_| HeldEntry(AtomicU64::new(0))).collect(),
            locks: (0..readers).map(|_| AtomicBool::new(true)).collect(),
            content: (0..frames).map(|_| UnsafeCell::new(0)).collect(),
        });
        let stamps = NonNull::from(&*memory.stamps);
        let first = NonNull::from(&memory.entries[0]);
        let of_table = |table: usize| {
            let entry = NonNull::from(&memory.entries[table..=table]);
            let lock = Lock(Arc::clone(&memory), table);
            // SAFETY: the lock keeps the memory.
            let frames = unsafe { HeldFrames::new(stamps, entry, lock) };
            FrameReader(Arc::new(frames), Arc::clone(&memory))
        };
        let all = (0..readers).map(of_table).collect();
        // SAFETY: the locks are the memory.
        let keeper = unsafe {
            FrameKeeper::new(stamps, HeldTables::new(first, (1, readers, 1), Arc::clone(&memory)), kept)
        };
        (FrameWriter(keeper, memory, 0), all)
    }

    impl FrameWriter {
        /// Writes the next message, whose content is its number, and tells its frame.
        pub fn write(&mut self, tell: impl FnOnce(u64)) {
            let (frame, number) = (self.0.take(), self.2);
            // SAFETY: loom watches it.
            self.1.content[frame].with_mut(|content| unsafe { *content = number });
            self.0.send(frame, Sequence::new(number));
            tell(frame as u64);
            self.0.give_up();
            self.2 += 1;
        }

        /// Takes a frame, says what it is to be, and gives it back.
        pub fn changes_its_mind(&mut self) {
            let frame = self.0.take();
            self.0.send(frame, Sequence::new(self.2));
            self.0.take_back(frame);
            self.0.put_back(frame);
        }

        /// How many frames are held that were given up.
        pub fn held(&mut self) -> usize {
            self.0.held()
        }
    }

    impl FrameReader {
        /// What is in the frame, if it is that message still.
        ///
        /// # Panics
        ///
        /// If there is no room, though nothing is held.
        #[must_use]
        pub fn read(&self, frame: u64, number: u64) -> Option<u64> {
            assert!(self.0.has_room());
            let held = self.0.hold(frame, Sequence::new(number))?;
            // SAFETY: loom watches it.
            let found = self.1.content[frame as usize].with(|content| unsafe { *content });
            drop::<HeldFrame>(held);
            Some(found)
        }

        /// Holds the frame, and dies. False: its message is gone.
        #[must_use]
        pub fn dies_with(self, frame: u64, number: u64) -> bool {
            let held = self.0.hold(frame, Sequence::new(number));
            let is_held = held.is_some();
            core::mem::forget(held);
            self.1.give_up(0);
            core::mem::forget(self);
            is_held
        }
    }
}

#[cfg(annulus_loom)]
pub use model::{FrameReader, FrameWriter, frames_for_a_model};

//! [`ControlBlock`]: the control block of a lane, which has the numbers that both sides use. And [`Peer`]:
//! what one side knows of the process that has the other one.
//!
//! It is where lane.send3 stores and lane.take5 looks (the tail), and lane.take7 and lane.send1 (the head).
//!
//! In one process it lies [in the lane](Own). In a lane between processes it lies in the memory that both map
//! ([`Across`](super::Across)), and each process has a lane of its own around it. The algorithm is the same.
//! The control block is a type parameter, so that a lane in one process pays nothing for it.

#[cfg(not(annulus_loom))]
use core::mem::offset_of;

use super::Number;
use crate::base::in_place::written;
use crate::stats::Handles;
use crate::sync::{AtomicU64, UnsafeCell};

/// The control block of a lane.
pub(crate) trait ControlBlock: Sized {
    /// Whether its queue has no other lane, so that consumers always look at this one.
    const LONE: bool;
    /// Whether another process has the other side. Then any of the numbers may be one that can't be.
    const ACROSS: bool;
    /// What is known of that process.
    type Peer: Peer;

    /// The next message to be sent. Written by the writer.
    fn tail(&self) -> &AtomicU64;

    /// The next message to be taken. Written by the reader.
    fn head(&self) -> &AtomicU64;

    /// 0 while the lane is open. Later, the number of its messages plus one.
    fn end(&self) -> &AtomicU64;

    /// The slots before this message are known to be free. It is kept here and not in the handle, which has
    /// only what each message needs. The writer's alone.
    fn cached_limit(&self) -> &UnsafeCell<Number>;

    /// The number that stands for `number` of the tail, the head or the end. Another one only where a message
    /// takes several slots (`lane/blocks_across.rs`).
    #[inline(always)]
    fn of_memory(&self, number: u64) -> Number {
        Number::new(number)
    }

    /// The way back.
    #[inline(always)]
    fn in_memory(&self, number: Number) -> u64 {
        number.get()
    }
}

/// What one side of a queue knows of the process that has the other side. `()`, where that is the same
/// process: there is nothing to know.
pub(crate) trait Peer: Send + Sync {
    /// Whether either process has closed the queue: a hint, by one load.
    fn may_have_closed(&self) -> bool;

    /// Whether either process has closed the queue, or the other one is gone, which also closes it. Whoever
    /// sees true also sees what the closing thread did before. It asks the kernel now and then.
    fn has_closed(&self) -> bool;

    /// This process closes the queue.
    fn close(&self);

    /// The last producer of this process goes. Whether the queue ends with it: not if others may have
    /// producers, too.
    fn ends_with_producer(&self) -> bool;

    /// How many producers there are, and how many there have been, where other processes may have some.
    fn producers(&self) -> Option<Handles>;

    /// How many lanes producers of other processes have used so far, where it is for them to use one: any
    /// number.
    fn lanes(&self) -> Option<usize>;
}

impl Peer for () {
    #[inline(always)]
    fn may_have_closed(&self) -> bool {
        false
    }

    #[inline(always)]
    fn has_closed(&self) -> bool {
        false
    }

    #[inline(always)]
    fn close(&self) {}

    #[inline(always)]
    fn ends_with_producer(&self) -> bool {
        true
    }

    fn producers(&self) -> Option<Handles> {
        None
    }

    #[inline(always)]
    fn lanes(&self) -> Option<usize> {
        None
    }
}

/// The first line has what the writer writes and a waiting reader looks at, and nothing else. Behind it lies
/// what only the writer uses, until the close.
#[repr(C, align(128))]
// Decision 0053: no message lies in the tail's line, and what else was tried with it.
struct ProducerLines {
    tail: AtomicU64,
    writer: WriterLine,
}

#[repr(C, align(64))]
struct WriterLine {
    cached_limit: UnsafeCell<Number>,
    end: AtomicU64,
}

impl ProducerLines {
    /// As [`Own::write_at`].
    #[inline(always)]
    unsafe fn write_at(place: *mut Self, first: Number) {
        let (cached_limit, end) = (UnsafeCell::new(first), AtomicU64::new(0));
        // SAFETY: the caller's promise.
        unsafe {
            written!(
                place,
                Self { tail: AtomicU64::new(first.get()), writer: WriterLine { cached_limit, end } }
            );
        }
    }
}

/// What the reader writes, and nothing else.
#[repr(C, align(128))]
struct ConsumerLines {
    head: AtomicU64,
}

/// In the lane, on lines of its own. `LONE`: [`ControlBlock::LONE`].
#[repr(C)]
pub(crate) struct Own<const LONE: bool = false> {
    front: ProducerLines,
    back: ConsumerLines,
}

/// That of the only lane of a queue.
pub(crate) type Lone = Own<true>;

// Which lines they are on (docs/LAYOUT.md). A number that slips to another line slows the lane down, and no
// test fails. (Under loom an atomic is larger.)
#[cfg(not(annulus_loom))]
const _: () = {
    assert!(offset_of!(ProducerLines, tail) == 0, "a reader looks at this line");
    assert!(offset_of!(ProducerLines, writer) == 64, "no reader looks at this line");
    assert!(offset_of!(Own, back) == 128, "the reader's lines");
    assert!(size_of::<Own>() == 256, "nobody else is on the reader's lines");
};

// SAFETY: only the writer looks at what it knows of free slots, as `OneToOne::cached_limit` and
// `OneToOne::cache_limit` demand.
unsafe impl<const LONE: bool> Sync for Own<LONE> {}

impl<const LONE: bool> Own<LONE> {
    /// Writes that of a lane whose first message is `first`.
    ///
    /// # Safety
    ///
    /// There is room for it, which nobody else uses.
    #[inline(always)]
    pub(super) unsafe fn write_at(place: *mut Self, first: Number) {
        // SAFETY: the caller's promise. These are all the fields.
        unsafe {
            ProducerLines::write_at(&raw mut (*place).front, first);
            (&raw mut (*place).back).write(ConsumerLines { head: AtomicU64::new(first.get()) });
        }
    }
}

impl<const LONE: bool> ControlBlock for Own<LONE> {
    const LONE: bool = LONE;
    const ACROSS: bool = false;
    type Peer = ();

    #[inline(always)]
    fn tail(&self) -> &AtomicU64 {
        &self.front.tail
    }

    #[inline(always)]
    fn head(&self) -> &AtomicU64 {
        &self.back.head
    }

    #[inline(always)]
    fn end(&self) -> &AtomicU64 {
        &self.front.writer.end
    }

    #[inline(always)]
    fn cached_limit(&self) -> &UnsafeCell<Number> {
        &self.front.writer.cached_limit
    }
}

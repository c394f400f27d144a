//! [`Mirror`]: what the ring of one publisher shows to other processes, or sees of another one's: how far the
//! publisher is, and where the ring ends.
//!
//! The slots of such a ring lie in memory that several processes map, and so does what is [`Shown`]. All else
//! that a ring has is private to each process: the publisher's, which shows, and the others, which see. Who
//! sees maps the memory read-only, and takes nothing in it for granted: a number that can't be is taken for
//! the nearest one that can.
// Decision 0086: a ring of each process, over the same slots.

#[cfg(not(annulus_loom))]
use core::mem::offset_of;
use core::ptr::NonNull;

use crate::base::gone::Gone;
use crate::base::sequence::Sequence;
use crate::sync::{AtomicU64, Ordering};

/// What lies in the memory, beside the slots: zero at first.
#[repr(C, align(128))]
pub(crate) struct Shown {
    /// The publisher's next sequence, or an earlier one. Of a small ring it is written with each message.
    bound: AtomicU64,
    /// Of a lossless ring: how many slots stay free. Constant.
    headroom: AtomicU64,
    /// And for how many subscribers the publisher waits. Constant.
    seats: AtomicU64,
    end: ShownEnd,
}

/// On a line of its own, at which each poll in vain looks.
#[repr(C, align(128))]
// Decision 0106: beside the bound, it cost each message of a small ring another transfer of a line.
struct ShownEnd {
    /// 0 while the ring is open. Then one more than the first sequence that will never be.
    word: AtomicU64,
}

/// Where they are, in bytes from the beginning: bound, headroom, seats, end.
#[cfg(not(annulus_loom))]
impl Shown {
    pub(crate) const OFFSETS: [usize; 4] =
        [offset_of!(Self, bound), offset_of!(Self, headroom), offset_of!(Self, seats), offset_of!(Self, end)];
}

impl Shown {
    /// As memory that is all zero.
    #[cfg(annulus_loom)]
    pub(crate) fn zeroed() -> Self {
        let zero = || AtomicU64::new(0);
        Self { bound: zero(), headroom: zero(), seats: zero(), end: ShownEnd { word: zero() } }
    }

    /// Of a lossless ring: how many slots stay free, and how many seats there are. Nobody else has the memory
    /// yet.
    #[cfg(not(annulus_loom))]
    pub(crate) fn begin_lossless(&self, headroom: usize, seats: usize) {
        // Relaxed, here and below: what hands the memory over to another process orders it.
        self.headroom.store(headroom as u64, Ordering::Relaxed);
        self.seats.store(seats as u64, Ordering::Relaxed);
    }

    /// What the creator said with that.
    #[cfg(not(annulus_loom))]
    pub(crate) fn headroom_and_seats(&self) -> (u64, u64) {
        (self.headroom.load(Ordering::Relaxed), self.seats.load(Ordering::Relaxed))
    }

    /// Whether the publisher has said that the ring ends.
    #[cfg(not(annulus_loom))]
    pub(crate) fn is_over(&self) -> bool {
        // Acquire: pairs with the Release in `show_end`.
        self.end.word.load(Ordering::Acquire) != 0
    }
}

/// A ring, and the other processes that have its slots.
pub(crate) enum Mirror {
    /// The publisher is of this process.
    Shows(NonNull<Shown>),
    /// The publisher is of another process.
    Sees(Seen),
}

/// What another process shows, and whether it is still there.
pub(crate) struct Seen {
    shown: NonNull<Shown>,
    /// Whether the publisher's process is gone.
    gone: Gone,
}

// SAFETY: the pointers stand for shared borrows of atomics, which live as long as the ring (see `new`).
unsafe impl Send for Mirror {}
// SAFETY: as above.
unsafe impl Sync for Mirror {}

impl Mirror {
    /// Of the publisher's process.
    ///
    /// # Safety
    ///
    /// `shown` is a [`Shown`] that lives, and can be written to, as long as the ring.
    pub(crate) unsafe fn shows(shown: NonNull<Shown>) -> Self {
        Self::Shows(shown)
    }

    /// Of another process; `is_gone` asks the kernel whether the publisher's is gone.
    ///
    /// # Safety
    ///
    /// `shown` is a [`Shown`] that lives as long as the ring.
    pub(crate) unsafe fn sees(
        shown: NonNull<Shown>,
        is_gone: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Self {
        Self::Sees(Seen { shown, gone: Gone::new(is_gone) })
    }

    /// What another process shows.
    pub(super) fn seen(&self) -> Option<&Seen> {
        match self {
            Self::Shows(_) => None,
            Self::Sees(seen) => Some(seen),
        }
    }

    /// head.pass1, for the other processes.
    #[cold]
    pub(crate) fn show_bound(&self, bound: Sequence) {
        if let Self::Shows(shown) = self {
            // SAFETY: it lives as long as the ring. Release: pairs with the Acquire in `Seen::bound`.
            unsafe { shown.as_ref() }.bound.store(bound.get(), Ordering::Release);
        }
    }

    /// The ring has ended, before `end`.
    pub(super) fn show_end(&self, end: Sequence) {
        if let Self::Shows(shown) = self {
            // SAFETY: it lives as long as the ring.
            let shown = unsafe { shown.as_ref() };
            // Release: pairs with the Acquire in `Seen::end`, so the messages before it are seen.
            shown.end.word.store(end.next().get(), Ordering::Release);
        }
    }
}

impl Seen {
    fn shown(&self) -> &Shown {
        // SAFETY: it lives as long as the ring, and so as this borrow.
        unsafe { self.shown.as_ref() }
    }

    /// A sequence that the publisher has reached.
    pub(super) fn bound(&self) -> Sequence {
        // Acquire: pairs with the Release in `show_bound`. Who sees the bound sees the stamps before it.
        Sequence::new(self.shown().bound.load(Ordering::Acquire)).min(Sequence::LAST_BELIEVED)
    }

    /// The first message that will never be, once the publisher has said so.
    pub(super) fn end(&self) -> Option<Sequence> {
        // Acquire: pairs with the Release in `show_end`.
        let end = self.shown().end.word.load(Ordering::Acquire);
        (end != 0).then(|| Sequence::new(end - 1))
    }

    /// Whether the publisher's process is gone. Asks the kernel now and then.
    pub(super) fn publisher_is_gone(&self) -> bool {
        self.gone.look()
    }
}

//! [`SharedNumbers`]: the numbers of a broadcast ring that lie in memory of several processes; and [`Seen`]:
//! what a process sees of them.

#[cfg(all(feature = "shm", not(annulus_loom)))]
use core::mem::offset_of;
use core::ptr::NonNull;

use crate::base::peer_liveness::Gone;
use crate::base::sequence::Sequence;
use crate::sync::{AtomicU64, Ordering, seeded};

/// What lies in the memory, apart from the slots: zero at first.
#[repr(C, align(128))]
pub(crate) struct SharedNumbers {
    /// The publisher's next sequence, or an earlier one. Of a small ring it is written with each message. Of
    /// a ring that several processes publish to: the next sequence to claim, and whether it is closed.
    pub(super) bound: AtomicU64,
    /// Of a lossless ring: how many slots stay free. Constant.
    headroom: AtomicU64,
    /// And for how many subscribers the publisher waits. Constant.
    seats: AtomicU64,
    /// Of a lossless ring that several processes publish to, in place of the first of these two, because the
    /// policies are there. Constant.
    fellows_headroom: AtomicU64,
    /// Rings with the same one go on with each other's numbers. 0: with nobody's. Constant.
    numbering: AtomicU64,
    pub(super) end: SharedEnd,
}

/// On a line of its own, at which each poll looks that finds nothing.
#[repr(C, align(128))]
// Decision 0133: on the line of the bound, it cost each message of a small ring another transfer of a line.
pub(super) struct SharedEnd {
    /// 0 while the ring is open. Then one more than the first sequence that will never be.
    pub(super) word: AtomicU64,
    /// Of a ring with claims: behind the last message that was passed over, or that a publisher that is gone
    /// had claimed. A hint.
    missed: AtomicU64,
}

/// Where they are, in bytes from the beginning: bound, headroom, seats, headroom of fellows, numbering, end,
/// missed.
#[cfg(all(feature = "shm", not(annulus_loom)))]
impl SharedNumbers {
    pub(crate) const OFFSETS: [usize; 7] = [
        offset_of!(Self, bound),
        offset_of!(Self, headroom),
        offset_of!(Self, seats),
        offset_of!(Self, fellows_headroom),
        offset_of!(Self, numbering),
        offset_of!(Self, end),
        offset_of!(Self, end) + offset_of!(SharedEnd, missed),
    ];
}

impl SharedNumbers {
    /// As memory that is all zero.
    pub(crate) fn zeroed() -> Self {
        let zero = || AtomicU64::new(0);
        Self {
            bound: zero(),
            headroom: zero(),
            seats: zero(),
            fellows_headroom: zero(),
            numbering: zero(),
            end: SharedEnd { word: zero(), missed: zero() },
        }
    }

    /// Of a ring with claims: where it begins. Nobody else has the memory yet.
    pub(crate) fn begin_at(&self, first: Sequence) {
        // Relaxed: as below.
        self.bound.store(first.get(), Ordering::Relaxed);
    }

    /// Of a lossless ring: how many slots stay free, and how many seats there are. Nobody else has the memory
    /// yet.
    #[cfg(all(feature = "shm", not(annulus_loom)))]
    pub(crate) fn begin_lossless(&self, headroom: usize, seats: usize) {
        // Relaxed, here and below: what hands the memory over to another process orders it.
        self.headroom.store(headroom as u64, Ordering::Relaxed);
        self.seats.store(seats as u64, Ordering::Relaxed);
    }

    /// Which numbering it goes on with. Nobody else has the memory yet.
    #[cfg(all(feature = "shm", not(annulus_loom)))]
    pub(crate) fn begin_numbering(&self, identity: u64) {
        // Relaxed: as above.
        self.numbering.store(identity, Ordering::Relaxed);
    }

    /// The same, of a ring that several processes publish to.
    #[cfg(all(feature = "shm", not(annulus_loom)))]
    pub(crate) fn begin_lossless_of_fellows(&self, headroom: usize, seats: usize) {
        // Relaxed, both: as above.
        self.fellows_headroom.store(headroom as u64, Ordering::Relaxed);
        self.seats.store(seats as u64, Ordering::Relaxed);
    }

    /// The next sequence to claim, where several processes publish.
    #[inline]
    pub(super) fn head(&self) -> &AtomicU64 {
        &self.bound
    }

    /// Messages before `end` may never be.
    pub(super) fn tell_of_missed(&self, end: Sequence) {
        if !seeded!("fellow_missed_untold") {
            // Relaxed: a hint. A thread that sees the caller's next message sees it, too.
            self.end.missed.fetch_max(end.get(), Ordering::Relaxed);
        }
    }

    /// Whether a publisher has said that this message may never be.
    #[inline]
    pub(super) fn may_be_missed(&self, sequence: Sequence) -> bool {
        // Relaxed: as above.
        sequence.get() < self.end.missed.load(Ordering::Relaxed)
    }

    /// fellow.end15: the ring ends before `end`, if nobody has decided otherwise. Returns where it ends.
    pub(super) fn decide_end(&self, end: Sequence) -> Sequence {
        // Release: pairs with the Acquire in `Seen::end`. Acquire: the thread that comes second sees what was
        // claimed before the end.
        let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
        match self.end.word.compare_exchange(0, end.next().get(), success, failure) {
            Ok(_) => end,
            Err(decided) => Sequence::new(decided - 1),
        }
    }

    /// What the creator said with that.
    #[cfg(all(feature = "shm", not(annulus_loom)))]
    pub(crate) fn headroom_and_seats(&self) -> (u64, u64) {
        (self.headroom.load(Ordering::Relaxed), self.seats.load(Ordering::Relaxed))
    }

    /// The same, of a ring that several processes publish to.
    #[cfg(all(feature = "shm", not(annulus_loom)))]
    pub(crate) fn headroom_and_seats_of_fellows(&self) -> (u64, u64) {
        (self.fellows_headroom.load(Ordering::Relaxed), self.seats.load(Ordering::Relaxed))
    }

    /// Whether the publisher has said that the ring ends.
    #[cfg(all(feature = "shm", not(annulus_loom)))]
    pub(crate) fn is_over(&self) -> bool {
        // Acquire: pairs with the Release in `show_end`.
        self.end.word.load(Ordering::Acquire) != 0
    }
}

/// What another process shows, and whether it is still there.
pub(crate) struct Seen {
    numbers: NonNull<SharedNumbers>,
    /// Whether the publisher's process is gone; `None` where that is this one.
    gone: Option<Gone>,
}

// SAFETY: the pointer stands for a shared borrow of atomics, which live as long as this (see `new`).
unsafe impl Send for Seen {}
// SAFETY: as above.
unsafe impl Sync for Seen {}

impl Seen {
    /// `numbers` lives as long as this. `is_gone` asks the kernel.
    #[cfg(feature = "shm")]
    pub(super) fn new(
        numbers: NonNull<SharedNumbers>,
        is_gone: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Self {
        Self { numbers, gone: Some(Gone::new(is_gone)) }
    }

    /// Of this process alone. `numbers` lives as long as this.
    pub(super) fn here(numbers: NonNull<SharedNumbers>) -> Self {
        Self { numbers, gone: None }
    }

    /// Whether it is of this process alone.
    pub(super) fn is_here(&self) -> bool {
        self.gone.is_none()
    }

    #[inline]
    pub(super) fn numbers(&self) -> &SharedNumbers {
        // SAFETY: it lives as long as the ring, and so as this borrow.
        unsafe { self.numbers.as_ref() }
    }

    /// A sequence that the publisher has reached.
    pub(super) fn bound(&self) -> Sequence {
        // Acquire: pairs with the Release in `show_bound`. A thread that sees the bound sees the stamps
        // before it.
        Sequence::new(self.numbers().bound.load(Ordering::Acquire)).min(Sequence::LAST_BELIEVED)
    }

    /// The first message that will never be, once the publisher has said so.
    #[inline]
    pub(super) fn end(&self) -> Option<Sequence> {
        // Acquire: pairs with the Release in `show_end`.
        let end = self.numbers().end.word.load(Ordering::Acquire);
        (end != 0).then(|| Sequence::new(end - 1))
    }

    /// Whether the publisher's process is gone, as somebody has found before, and it has not said that the
    /// ring ends.
    #[cold]
    pub(super) fn publisher_has_died(&self) -> bool {
        // In this order: the end is shown before the process is gone.
        self.publisher_is_gone() && self.end().is_none()
    }

    /// Whether the publisher is of another process, and has said that the ring ends, or is gone.
    pub(super) fn publisher_has_ended(&self) -> bool {
        !self.is_here() && (self.end().is_some() || self.publisher_is_gone())
    }

    /// Whether the publisher's process is gone. Asks the kernel now and then.
    #[inline]
    pub(super) fn publisher_is_gone(&self) -> bool {
        self.gone.as_ref().is_some_and(Gone::look)
    }
}

//! [`Across`]: the numbers of a lane whose sides are in two processes.
//!
//! Each process has a lane of its own, and in it what only its side knows. The numbers that both use lie in
//! [`Numbers`], in the memory that both map and write to. The order of all accesses is as in a
//! [lane](super::one_to_one), and so are the partners of each.
//!
//! Nothing there is taken for granted. A tail, a head or an end that can't be is taken for "nothing there"
//! (`OneToOne::believed`), and a position is counted on by this process alone. So whatever another process
//! writes, every access is to a slot.
// Decision 0087: a queue of each process, over the same slots.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::any::Any;
#[cfg(not(annulus_loom))]
use core::mem::offset_of;
use core::ptr::NonNull;

use super::{ControlBlock, Number, OtherSide};
use crate::base::peer_liveness::Gone;
use crate::stats::HandleCount;
use crate::sync::{AtomicU64, Ordering, UnsafeCell, fence, seeded};

/// What lies in the memory, beside the slots: zero at first.
#[repr(C)]
pub(crate) struct Numbers {
    producer: ProducerSection,
    consumer: ConsumerSection,
    both: BothSection,
}

#[repr(C, align(128))]
struct ProducerSection {
    tail: AtomicU64,
    /// What else the creator says of the queue. Constant.
    detail: AtomicU64,
    /// How many producers have had the lane, one after the other, where it is one of several.
    came: AtomicU64,
    /// How many of them have left it. The others are there, or have ended without that.
    left: AtomicU64,
    /// Of a queue: how many of its lanes were ever used. All of these come before the others.
    used: AtomicU64,
}

#[repr(C, align(128))]
struct ConsumerSection {
    head: AtomicU64,
    /// How many consumers have come, one after the other.
    joined: AtomicU64,
}

#[repr(C, align(128))]
struct BothSection {
    /// 0, [`CLOSED`] or [`DIED`].
    closed: AtomicU64,
    end: AtomicU64,
}

/// A process has closed the queue.
const CLOSED: u64 = 1;
/// A process has found the other one gone.
const DIED: u64 = 2;

/// Where they are, in bytes from the beginning: tail, detail, came, left, used, head, joined, closed,
/// end.
#[cfg(not(annulus_loom))]
impl Numbers {
    pub(crate) const OFFSETS: [usize; 9] = [
        offset_of!(Self, producer) + offset_of!(ProducerSection, tail),
        offset_of!(Self, producer) + offset_of!(ProducerSection, detail),
        offset_of!(Self, producer) + offset_of!(ProducerSection, came),
        offset_of!(Self, producer) + offset_of!(ProducerSection, left),
        offset_of!(Self, producer) + offset_of!(ProducerSection, used),
        offset_of!(Self, consumer) + offset_of!(ConsumerSection, head),
        offset_of!(Self, consumer) + offset_of!(ConsumerSection, joined),
        offset_of!(Self, both) + offset_of!(BothSection, closed),
        offset_of!(Self, both) + offset_of!(BothSection, end),
    ];
}

impl Numbers {
    /// As memory that is all zero.
    #[cfg(annulus_loom)]
    pub(crate) fn zeroed() -> Self {
        let zero = || AtomicU64::new(0);
        Self {
            producer: ProducerSection {
                tail: zero(),
                detail: zero(),
                came: zero(),
                left: zero(),
                used: zero(),
            },
            consumer: ConsumerSection { head: zero(), joined: zero() },
            both: BothSection { closed: zero(), end: zero() },
        }
    }

    /// The first message is number `first`. Nobody else has the memory yet.
    pub(crate) fn begin_at(&self, first: Number, detail: u64) {
        // Relaxed: what hands the memory over to another process orders it.
        self.producer.tail.store(first.get(), Ordering::Relaxed);
        self.consumer.head.store(first.get(), Ordering::Relaxed);
        self.producer.detail.store(detail, Ordering::Relaxed);
    }

    /// As [`begin_at`](Self::begin_at), of memory that has no lane.
    #[cfg(not(annulus_loom))]
    pub(crate) fn begin_without_lane(&self, detail: u64) {
        // Relaxed: as above.
        self.producer.detail.store(detail, Ordering::Relaxed);
    }

    /// The word that is the tail of a lane, where there is no lane.
    #[cfg(not(annulus_loom))]
    #[inline]
    pub(crate) fn word(&self) -> &AtomicU64 {
        &self.producer.tail
    }

    /// The tail of a lane.
    #[inline(always)]
    pub(super) fn tail_word(&self) -> &AtomicU64 {
        &self.producer.tail
    }

    /// The head of a lane.
    #[inline(always)]
    pub(super) fn head_word(&self) -> &AtomicU64 {
        &self.consumer.head
    }

    /// Beside the head of a lane of several consumers: how often these were told to look at all slots. (No
    /// lane counts its consumers.)
    #[inline(always)]
    pub(super) fn again_word(&self) -> &AtomicU64 {
        &self.consumer.joined
    }

    /// What the creator said with [`begin_at`](Self::begin_at), if nobody has written there since.
    #[cfg(not(annulus_loom))]
    pub(crate) fn detail(&self) -> u64 {
        // Relaxed: it was stored before this process got the memory.
        self.producer.detail.load(Ordering::Relaxed)
    }

    /// A producer has come, which has the lock of the lane's place.
    pub(crate) fn producer_comes(&self) {
        // Relaxed: a number for statistics. What the lane's last producer did comes before the lock.
        self.producer.came.fetch_add(1, Ordering::Relaxed);
    }

    /// Of a queue: a producer is about to use the lane with this number.
    pub(crate) fn uses(&self, lane: usize) {
        if !seeded!("shm_new_place_unsaid") {
            // Relaxed: pairs with the load in `lanes`. It comes before the lane's first message, so the
            // fences of lane.send4 and of a sleeper decide for both what the consumer sees.
            self.producer.used.fetch_max(lane as u64 + 1, Ordering::Relaxed);
        }
    }

    /// Of a queue: so many of its lanes were ever used. Any number may lie there.
    pub(crate) fn used(&self) -> usize {
        // Relaxed: pairs with the `fetch_max` in `uses`.
        usize::try_from(self.producer.used.load(Ordering::Relaxed)).unwrap_or(usize::MAX)
    }

    /// That producer leaves the lane, and then gives the lock up.
    pub(crate) fn producer_leaves(&self) {
        // Release: pairs with the Acquire in `producers`. A thread that sees that it left sees all that it
        // sent.
        self.producer.left.fetch_add(1, Ordering::Release);
        if !seeded!("places_no_fence") {
            // Of two producers that leave at the same time, one sees that the other one has left.
            fence(Ordering::SeqCst);
        }
    }

    /// How many producers have come to the lane, and how many of them have left it.
    pub(crate) fn producers(&self) -> (u64, u64) {
        // In this order: a producer that has left has come before. Acquire: pairs with the Release in
        // `producer_leaves`.
        let left = self.producer.left.load(Ordering::Acquire);
        // Relaxed: as above.
        (self.producer.came.load(Ordering::Relaxed), left)
    }

    /// A consumer has come.
    #[cfg(not(annulus_loom))]
    pub(crate) fn consumer_comes(&self) {
        // Relaxed: the lock that the consumer holds comes before, and a caller that asks for it is told
        // by the kernel.
        self.consumer.joined.fetch_add(1, Ordering::Relaxed);
    }

    /// Of a queue: how many consumers were there so far. Any number may lie there.
    #[cfg(not(annulus_loom))]
    pub(crate) fn consumers(&self) -> u64 {
        // Relaxed: a hint for a caller that asks the kernel next, and a number for statistics.
        self.consumer.joined.load(Ordering::Relaxed)
    }

    /// Closes the queue; or says that a side of it has died, if `is_death`.
    #[cfg(not(annulus_loom))]
    pub(crate) fn close(&self, is_death: bool) {
        self.close_as(if is_death { DIED } else { CLOSED });
    }

    fn close_as(&self, reason: u64) {
        // Release: pairs with the Acquire in `has_closed`. Relaxed: the first one has said why.
        let _ = self.both.closed.compare_exchange(0, reason, Ordering::Release, Ordering::Relaxed);
    }

    /// Whether the queue may be closed, for a producer behind its fence.
    #[cfg(not(annulus_loom))]
    #[inline(always)]
    pub(crate) fn may_have_ended(&self) -> bool {
        // Relaxed: a hint before a send; behind a send, its fence decides what it sees.
        self.both.closed.load(Ordering::Relaxed) != 0
    }

    /// Whether the queue is closed, for whatever reason.
    #[cfg(not(annulus_loom))]
    pub(crate) fn has_ended(&self) -> bool {
        // Acquire: pairs with the Release in `close_as`.
        self.both.closed.load(Ordering::Acquire) != 0
    }

    /// Whether a process has closed the queue itself.
    #[cfg(not(annulus_loom))]
    pub(crate) fn was_closed(&self) -> bool {
        // Acquire: pairs with the Release in `close`.
        self.both.closed.load(Ordering::Acquire) == CLOSED
    }
}

/// In memory that processes have.
pub(crate) struct Across {
    numbers: NonNull<Numbers>,
    /// Of this process, if it has the writer.
    cached_limit: UnsafeCell<Number>,
}

// SAFETY: the pointer stands for a shared borrow of atomics, which live as long as the lane (see `new`).
unsafe impl Send for Across {}
// SAFETY: as above; only the writer looks at what it knows of free slots, as `OneToOne::cached_limit` and
// `OneToOne::cache_limit` demand.
unsafe impl Sync for Across {}

impl Across {
    /// Over numbers of a lane whose first message is `first`, and whose messages take `size` slots each: one.
    ///
    /// # Safety
    ///
    /// `numbers` live, and can be written to, as long as this.
    pub(crate) unsafe fn over(numbers: NonNull<Numbers>, first: Number, size: usize) -> Self {
        debug_assert_eq!(size, 1, "a slot is a message");
        Self { numbers, cached_limit: UnsafeCell::new(first) }
    }

    #[inline(always)]
    fn numbers(&self) -> &Numbers {
        // SAFETY: they live as long as this.
        unsafe { self.numbers.as_ref() }
    }
}

impl ControlBlock for Across {
    const ACROSS: bool = true;
    const SOLE: bool = false;
    type OtherSide = OtherProcess;

    #[inline(always)]
    fn tail(&self) -> &AtomicU64 {
        &self.numbers().producer.tail
    }

    #[inline(always)]
    fn head(&self) -> &AtomicU64 {
        &self.numbers().consumer.head
    }

    #[inline(always)]
    fn end(&self) -> &AtomicU64 {
        &self.numbers().both.end
    }

    #[inline(always)]
    fn cached_limit(&self) -> &UnsafeCell<Number> {
        &self.cached_limit
    }
}

/// How many handles of one side there are, and how many there have been, in all processes.
pub(crate) type Count = Box<dyn Fn() -> HandleCount + Send + Sync>;

/// The producers of a queue that has several, as one of its processes knows them.
pub(crate) struct Producers {
    pub(crate) count: Count,
    /// Whether any of them has died.
    pub(crate) have_died: Box<dyn Fn() -> bool + Send + Sync>,
    /// The producer of this process leaves its lane. Whether the queue ends with it. `None` where there is
    /// none.
    pub(crate) leave: Option<Box<dyn Fn() -> bool + Send + Sync>>,
}

/// The process on the other side; or, for the consumer of several producers, all of theirs.
pub(crate) struct OtherProcess {
    numbers: NonNull<Numbers>,
    gone: Gone,
    /// Where there may be several.
    producers: Option<Producers>,
    /// Of the sole producer, and of the consumer, where another process has or had one.
    soles: [Option<Count>; 2],
    /// Where the numbers are.
    _memory: Arc<dyn Any + Send + Sync>,
}

// SAFETY: the pointer stands for a shared borrow of atomics, which this keeps alive (see `new`).
unsafe impl Send for OtherProcess {}
// SAFETY: as above.
unsafe impl Sync for OtherProcess {}

impl OtherProcess {
    /// # Safety
    ///
    /// `numbers` live, and can be written to, as long as `memory`.
    pub(crate) unsafe fn new(
        numbers: NonNull<Numbers>,
        gone: Gone,
        producers: Option<Producers>,
        soles: [Option<Count>; 2],
        memory: Arc<dyn Any + Send + Sync>,
    ) -> Self {
        Self { numbers, gone, producers, soles, _memory: memory }
    }

    #[inline(always)]
    fn closed(&self) -> &AtomicU64 {
        // SAFETY: they live as long as this.
        unsafe { &self.numbers.as_ref().both.closed }
    }

    fn close_as(&self, reason: u64) {
        // SAFETY: they live as long as this.
        unsafe { self.numbers.as_ref() }.close_as(reason);
    }
}

impl OtherSide for OtherProcess {
    #[inline(always)]
    fn may_have_closed(&self) -> bool {
        // Relaxed: a hint. After a send, the fences of lane.send4 and of `await_sends` decide what it sees.
        self.closed().load(Ordering::Relaxed) != 0 && !seeded!("across_close_unseen")
    }

    fn has_closed(&self) -> bool {
        // Acquire: pairs with the Release in `close_as`.
        if self.closed().load(Ordering::Acquire) != 0 {
            return true;
        }
        let is_gone = self.gone.look();
        if is_gone {
            self.close_as(DIED);
        }
        is_gone
    }

    #[cold]
    fn producers_have_died(&self) -> bool {
        // Relaxed: the caller has seen that the queue is closed.
        let died = self.closed().load(Ordering::Relaxed) == DIED;
        died && match &self.producers {
            Some(producers) => (producers.have_died)(),
            // (A process may also have found a consumer dead.)
            None => self.gone.is_gone(),
        }
    }

    fn close(&self) {
        if !seeded!("across_close_unsaid") {
            self.close_as(CLOSED);
        }
    }

    fn ends_with_producer(&self) -> bool {
        let leave = self.producers.as_ref().and_then(|producers| producers.leave.as_ref());
        leave.is_none_or(|leave| leave())
    }

    fn producers(&self) -> Option<HandleCount> {
        let several = self.producers.as_ref().map(|producers| &producers.count);
        several.or(self.soles[0].as_ref()).map(|count| count())
    }

    fn consumers(&self) -> Option<HandleCount> {
        self.soles[1].as_ref().map(|count| count())
    }

    fn lanes(&self) -> Option<usize> {
        self.producers.as_ref()?;
        // SAFETY: they live as long as this.
        Some(unsafe { self.numbers.as_ref() }.used())
    }
}

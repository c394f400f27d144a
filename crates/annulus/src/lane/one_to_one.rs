//! A lane: a queue between one writer and one reader.
//!
//! ```text
//! writer                                              reader
//! lane.send1  tail < head + count?      Acquire       lane.take5  head < tail?           Acquire
//! lane.send2  move the message in                     lane.take6  move the message out
//! lane.send3  tail := tail + 1          Release       lane.take7  head := head + 1       Release
//! lane.send4  a sleeper? a close?    (queue/state.rs) lane.take8  a writer that waits for slots?
//! ```
//!
//! After Lamport (1977); each side keeps a copy of the other's number, after Rigtorp's `SPSCQueue`. A writer
//! does lane.send1 only when the slots that it knows to be free are used up, and a reader does lane.take5
//! only when it has taken the messages that it knew of. The writer's copy is in the lane (`cached_limit`),
//! the reader's is in its handle.
//!
//! *Why no slot has two users.* lane.send3 gives a slot to the reader, and lane.take5 takes it (Release,
//! Acquire). lane.take7 and lane.send1 give it back. Numbers only grow, and each has one writer, so an old
//! copy names fewer messages or free slots than there are, never more.
//!
//! *The end.* Any handle may close a queue while a writer is between lane.send2 and lane.send4. The message
//! is then either delivered or given back. The side that writes `end` first decides. A reader that has seen
//! the close writes the tail that it saw (lane.end1). A writer that sees the close after lane.send3 writes
//! its own tail (lane.end2). From then on the reader goes by `end`, and a writer whose message lies behind it
//! takes the message back. lane.end1 and lane.end2 come after a pair of fences: one in lane.send4, and
//! one of the reader before lane.end1. So lane.end1 has seen every message of a writer that does not see the
//! close.
//!
//! A next consumer, of another process, looks at `end` before it begins (lane.end3): a tail behind that may
//! be one that its writer is about to take back.
//!
//! Numbers are 64 bits wide and may wrap.
//!
//! *Where the numbers lie.* The tail, the head and the end are in the lane's [`ControlBlock`]. In one process
//! it lies [in the lane](Own). In a lane between processes it lies in the memory that both map
//! ([`Across`](super::Across)), and each process has a lane of its own around it. The algorithm is the same.
//! The control block is a type parameter, so that a lane in one process pays nothing for it. An [`OtherSide`]
//! is what one side knows of the process that has the other one.

#[cfg(not(annulus_loom))]
use core::mem::offset_of;

use super::{Cells, Number, Position, Span};
use crate::base::common::written;
use crate::base::drop_all::drop_all;
#[cfg(feature = "std")]
use crate::memory::Block;
use crate::stats::HandleCount;
use crate::sync::{AtomicU64, Ordering, UnsafeCell, ordering, seeded};

/// A lane. The queue that makes it decides which handle writes and which one reads.
#[repr(C)]
// Decision 0042: no stamps.
pub(crate) struct OneToOne<T, C: ControlBlock = Own> {
    cells: Cells<T>,
    /// The number of its first message. Constant.
    first: Number,
    /// The numbers that both sides use.
    control: C,
}

// Which lines they are on (docs/LAYOUT.md).
#[cfg(not(annulus_loom))]
const _: () = {
    assert!(offset_of!(OneToOne<u64>, control) == 128, "what does not change is before it");
    assert!(size_of::<OneToOne<u64>>() == 384, "nobody else is on the reader's lines");
};

impl<T, const SOLE: bool> OneToOne<T, Own<SOLE>> {
    /// Writes a lane of these slots, whose first message is number `first`, to where it is to be.
    ///
    /// # Safety
    ///
    /// There is memory for it, which nobody else uses.
    #[inline(always)]
    pub(crate) unsafe fn write_at(dst: *mut Self, slots: Cells<T>, first: Number) {
        // SAFETY: the caller's promise.
        unsafe {
            Own::write_at(&raw mut (*dst).control, first);
            (&raw mut (*dst).cells).write(slots);
            (&raw mut (*dst).first).write(first);
        }
    }

    /// A lane of these slots, whose first message is number `first`.
    #[cfg(test)]
    pub(crate) fn new(slots: Cells<T>, first: Number) -> Self {
        let mut lane = core::mem::MaybeUninit::uninit();
        // SAFETY: it has the memory, and is written as a whole.
        unsafe {
            Self::write_at(lane.as_mut_ptr(), slots, first);
            lane.assume_init()
        }
    }
}

impl<T, C: ControlBlock> OneToOne<T, C> {
    /// A lane whose slots and numbers lie there already.
    #[cfg(feature = "shm")]
    pub(crate) fn over(cells: Cells<T>, first: Number, control: C) -> Self {
        Self { cells, first, control }
    }

    /// The slots. Each may be used by its one user at that time.
    #[inline(always)]
    pub(crate) fn cells(&self) -> &Cells<T> {
        &self.cells
    }

    #[inline(always)]
    pub(crate) fn capacity(&self) -> usize {
        self.cells.count()
    }

    /// Where the slots lie.
    #[cfg(feature = "std")]
    pub(crate) fn block(&self) -> &Block {
        self.cells.block()
    }

    /// The number in memory, which counts messages, of the message that ends before this slot.
    #[cfg(all(feature = "shm", not(annulus_loom)))]
    #[inline(always)]
    pub(crate) fn message_before(&self, slot: Number) -> Number {
        if seeded!("service_number_of_bytes") {
            return slot.back(1);
        }
        Number::new(self.control.in_memory(slot)).back(1)
    }

    /// Where message `number` lies.
    #[inline(always)]
    pub(crate) fn position(&self, number: Number) -> Position<T> {
        let (count, capacity) = (number.since(self.first), self.capacity() as u64);
        // (A division takes long, and a lane that was just made needs none.)
        let slot = if count < capacity { count } else { count % capacity };
        Position::new(number, slot as usize, &self.cells)
    }
}

/// The steps of a message, in the order of the table above.
impl<T, C: ControlBlock> OneToOne<T, C> {
    /// The slots before this message are known to be free; there may be more.
    ///
    /// # Safety
    ///
    /// The caller is the writer, and there is no other one meanwhile.
    #[inline(always)]
    pub(crate) unsafe fn cached_limit(&self) -> Number {
        // SAFETY: the caller's promise.
        self.control.cached_limit().with(|limit| unsafe { *limit })
    }

    /// lane.send1: the slots from message `tail` on, which is the writer's next, are free before this
    /// message. The messages in them were moved out. Those before `known` were found free before.
    #[inline(always)]
    pub(crate) fn read_limit(&self, tail: Number, known: Number) -> Number {
        // Acquire: pairs with lane.take7.
        let head = self.load_head(ordering!(Acquire unless "lane_limit_relaxed"));
        self.believed(tail, known, head.plus(self.capacity() as u64))
    }

    /// Notes that the slots before message `until` are free.
    ///
    /// # Safety
    ///
    /// As of [`cached_limit`](Self::cached_limit).
    #[inline(always)]
    pub(crate) unsafe fn cache_limit(&self, until: Number) {
        // SAFETY: the caller's promise.
        self.control.cached_limit().with_mut(|limit| unsafe { *limit = until });
    }

    /// lane.send3: gives the reader the messages before `tail`.
    #[inline(always)]
    pub(crate) fn publish(&self, tail: Number) {
        // Release: pairs with lane.take5.
        self.control
            .tail()
            .store(self.control.in_memory(tail), ordering!(Release unless "lane_tail_relaxed"));
    }

    /// lane.take5: messages from `head` on, which is the reader's next, are there before this number. Those
    /// before `known` were found before.
    #[inline(always)]
    pub(crate) fn read_tail(&self, head: Number, known: Number) -> Number {
        self.believed(head, known, self.tail())
    }

    /// lane.take5, as it lies there.
    #[inline(always)]
    pub(crate) fn tail(&self) -> Number {
        // Acquire: pairs with lane.send3.
        self.control.of_memory(self.control.tail().load(ordering!(Acquire unless "lane_look_relaxed")))
    }

    /// lane.take7: gives the writer the slots before `head`.
    #[inline(always)]
    pub(crate) fn release(&self, head: Number) {
        // Release: pairs with lane.send1.
        self.control
            .head()
            .store(self.control.in_memory(head), ordering!(Release unless "lane_head_relaxed"));
    }

    /// The next message to be taken. For a thread that is about to become the reader or the writer, or where
    /// there is neither.
    pub(crate) fn head(&self) -> Number {
        // Acquire: pairs with lane.take7.
        self.load_head(Ordering::Acquire)
    }

    #[inline(always)]
    fn load_head(&self, ordering: Ordering) -> Number {
        self.control.of_memory(self.control.head().load(ordering))
    }

    /// `until`, if it lies behind `from` by no more than there are slots, and not before `known`, up to which
    /// an earlier look came. Otherwise another process has written a number that can't be, and `known` is
    /// returned: what was there stays, and nothing more is there.
    #[inline(always)]
    pub(crate) fn believed(&self, from: Number, known: Number, until: Number) -> Number {
        let is_possible = || {
            let count = until.since(from);
            count <= self.capacity() as u64 && (count >= known.since(from) || seeded!("lane_takes_back"))
        };
        if !C::ACROSS || is_possible() || seeded!("lane_believes_all") { until } else { known }
    }

    /// The word of lane.take5, for a reader that watches it.
    pub(crate) fn tail_word(&self) -> &AtomicU64 {
        self.control.tail()
    }

    /// The word of lane.send1, for a writer that watches it.
    pub(crate) fn head_word(&self) -> &AtomicU64 {
        self.control.head()
    }
}

/// The end, and what other threads see.
impl<T, C: ControlBlock> OneToOne<T, C> {
    /// lane.end1, lane.end2: ends the lane before `number`, unless it was ended elsewhere before. Returns
    /// where it ends.
    pub(crate) fn seal(&self, number: Number) -> Number {
        // A count, because any number may be the end, and 0 means open.
        let end = Number::new(self.control.in_memory(number)).next().since(self.first);
        // Mutants: `&& with ||`: only a model sees it: seal_not_atomic.
        // Mutants: `== with !=`: only a seeded bug comes here.
        if seeded!("seal_not_atomic") && self.control.end().load(Ordering::Acquire) == 0 {
            self.control.end().store(end, Ordering::Release);
            return number;
        }
        // Acquire and Release: they pair with each other, so the reader sees the tail of a writer that was
        // first.
        match self.control.end().compare_exchange(0, end, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => number,
            Err(end) => self.end_of(end),
        }
    }

    /// lane.end3: where the lane ends, if that was decided while an earlier consumer of another process was
    /// there.
    pub(crate) fn decided_end(&self) -> Option<Number> {
        if !C::ACROSS || seeded!("across_end_unseen") {
            return None;
        }
        // Acquire: pairs with lane.end1 and lane.end2.
        let end = self.control.end().load(Ordering::Acquire);
        (end != 0).then(|| self.end_of(end))
    }

    /// What `end`, which is not 0, stands for.
    fn end_of(&self, end: u64) -> Number {
        self.control.of_memory(self.first.plus(end).back(1).get())
    }

    /// What lies in it. For any thread.
    pub(crate) fn span(&self) -> Span {
        // Acquire: pairs with lane.take7. The reader that stored the head had seen the messages before it.
        let head = || self.load_head(ordering!(Acquire unless "span_head_relaxed"));
        Span::read(self.capacity(), head, || self.tail())
    }

    /// How many messages lie in it. A snapshot, never above the capacity. One of the two sides calls it, so
    /// one of the numbers does not change.
    pub(crate) fn len(&self) -> usize {
        let (tail, head) = (self.tail(), self.head());
        // The reader may have taken more meanwhile than there had been.
        if tail.is_before(head) { 0 } else { self.believed(head, head, tail).since(head) as usize }
    }
}

impl<T, C: ControlBlock> Drop for OneToOne<T, C> {
    fn drop(&mut self) {
        if C::ACROSS {
            // What lies there is the other process's, too.
            return;
        }
        if self.head() == self.tail() {
            return;
        }
        let mut position = self.position(self.head());
        drop_all(|| {
            let at = position;
            if at.number == self.tail() {
                return false;
            }
            position = at.next(&self.cells);
            // SAFETY: nobody else has the lane, and a message lies in every slot from the head to the tail;
            // each comes once.
            unsafe { self.cells.drop_at(at) };
            true
        });
    }
}

/// The control block of a lane.
pub(crate) trait ControlBlock: Sized {
    /// Whether its queue has no other lane, so that consumers always look at this one.
    const SOLE: bool;
    /// Whether another process has the other side. Then any of the numbers may be one that can't be.
    const ACROSS: bool;
    /// What is known of that process.
    type OtherSide: OtherSide;

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

/// In the lane, on lines of its own. `SOLE`: [`ControlBlock::SOLE`].
#[repr(C)]
pub(crate) struct Own<const SOLE: bool = false> {
    front: ProducerLines,
    back: ConsumerLines,
}

/// The control block of the only lane of a queue.
pub(crate) type Sole = Own<true>;

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

/// What the reader writes, and nothing else.
#[repr(C, align(128))]
struct ConsumerLines {
    head: AtomicU64,
}

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
unsafe impl<const SOLE: bool> Sync for Own<SOLE> {}

impl<const SOLE: bool> Own<SOLE> {
    /// Writes the control block of a lane whose first message is `first`.
    ///
    /// # Safety
    ///
    /// There is memory for it, which nobody else uses.
    #[inline(always)]
    pub(super) unsafe fn write_at(dst: *mut Self, first: Number) {
        // SAFETY: the caller's promise. These are all the fields.
        unsafe {
            ProducerLines::write_at(&raw mut (*dst).front, first);
            (&raw mut (*dst).back).write(ConsumerLines { head: AtomicU64::new(first.get()) });
        }
    }
}

impl ProducerLines {
    /// As [`Own::write_at`].
    #[inline(always)]
    unsafe fn write_at(dst: *mut Self, first: Number) {
        let (cached_limit, end) = (UnsafeCell::new(first), AtomicU64::new(0));
        // SAFETY: the caller's promise.
        unsafe {
            written!(
                dst,
                Self { tail: AtomicU64::new(first.get()), writer: WriterLine { cached_limit, end } }
            );
        }
    }
}

impl<const SOLE: bool> ControlBlock for Own<SOLE> {
    const SOLE: bool = SOLE;
    const ACROSS: bool = false;
    type OtherSide = ();

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

/// What one side of a queue knows of the process that has the other side. `()`, where that is the same
/// process: there is nothing to know.
pub(crate) trait OtherSide: Send + Sync {
    /// Whether either process has closed the queue: a hint, by one load.
    fn may_have_closed(&self) -> bool;

    /// Whether either process has closed the queue, or the other one is gone, which also closes it. A caller
    /// that sees true also sees what the closing thread did before. It asks the kernel now and then.
    fn has_closed(&self) -> bool;

    /// Whether the queue is closed because producers of other processes have died, and for no other reason.
    /// It asks the kernel.
    fn producers_have_died(&self) -> bool;

    /// This process closes the queue.
    fn close(&self);

    /// The last producer of this process goes. Whether the queue ends with it: not if others may have
    /// producers, too.
    fn ends_with_producer(&self) -> bool;

    /// How many producers there are, and how many there have been, where other processes may have some.
    fn producers(&self) -> Option<HandleCount>;

    /// As [`producers`](Self::producers), of consumers.
    fn consumers(&self) -> Option<HandleCount>;

    /// How many lanes producers of other processes have used so far, where it is for them to use one: any
    /// number.
    fn lanes(&self) -> Option<usize>;
}

impl OtherSide for () {
    #[inline(always)]
    fn may_have_closed(&self) -> bool {
        false
    }

    #[inline(always)]
    fn has_closed(&self) -> bool {
        false
    }

    #[inline(always)]
    fn producers_have_died(&self) -> bool {
        false
    }

    #[inline(always)]
    fn close(&self) {}

    #[inline(always)]
    fn ends_with_producer(&self) -> bool {
        true
    }

    fn producers(&self) -> Option<HandleCount> {
        None
    }

    fn consumers(&self) -> Option<HandleCount> {
        None
    }

    #[inline(always)]
    fn lanes(&self) -> Option<usize> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::allocation::Before;
    use crate::memory::Memory;

    #[test]
    fn first_seal_decides_where_a_lane_ends() {
        let first = Number::new(u64::MAX - 1);
        let lane = OneToOne::<u8>::new(Cells::new(2, &Memory::default(), Before::NOTHING).unwrap(), first);
        let end = first.plus(3);
        assert_eq!(lane.seal(end), end);
        assert_eq!(lane.seal(end.next()), end);
        assert_eq!(lane.seal(first), end);
    }

    #[test]
    fn lane_with_a_head_beyond_the_tail_is_empty() {
        let first = Number::new(0);
        let lane = OneToOne::<u8>::new(Cells::new(4, &Memory::default(), Before::NOTHING).unwrap(), first);
        lane.release(first.next());
        assert_eq!(lane.len(), 0);
        lane.release(first);
    }

    #[test]
    fn dropped_lane_drops_its_messages() {
        let message = alloc::sync::Arc::new(());
        let first = Number::new(u64::MAX);
        let lane = OneToOne::<_>::new(Cells::new(4, &Memory::default(), Before::NOTHING).unwrap(), first);
        for number in (0..3).map(|count| first.plus(count)) {
            // SAFETY: the lane is empty, and this thread's.
            unsafe { lane.cells().write_at(lane.position(number), message.clone()) };
        }
        lane.publish(first.plus(3));
        assert_eq!(lane.len(), 3);
        drop(lane);
        assert_eq!(alloc::sync::Arc::strong_count(&message), 1);
    }
}

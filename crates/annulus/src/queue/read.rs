//! The consumer's end of a lane, and the consumer of a queue that has one lane: lane.take5 to lane.take8 of
//! `lane/one_to_one.rs`.
//!
//! A receive, from [`Consumer::recv`](super::Consumer::recv) down:
//!
//! ```text
//! plain path                                             slow path, outlined
//!             take_plainly, take_in_run: in a run?  no ─▶ recv_slow_path: try_take, or wait for a message
//! lane.take6  take_before: move the message out           lane.take5  has_message: refresh (and rest)
//! lane.take7  go_to: store the head                                   take: as on the left, then begin a run
//! lane.take8  is the producer asleep? wake it
//! ```

use core::convert::Infallible;
use core::mem::ManuallyDrop;
use core::ptr::{self, NonNull};

use super::ends::{Read, outlined};
use super::lane_node::LaneNode;
use super::roster::Round;
use super::state::{LaneShare, state_of};
use crate::base::drop_all::{drop_all, drop_each};
use crate::lane::{ControlBlock, Number, OneToOne, Own, Position, Sole};
use crate::sync::{AtomicU64, seeded, unlikely};
use crate::wait::ReaderBackoff;

/// The consumer of a queue that has one lane.
pub(crate) struct SoleReader<T, C: ControlBlock = Sole> {
    pub(super) end: ReadEnd<T, C>,
    backoff: ReaderBackoff,
}

/// The one consumer of a lane.
pub(crate) struct ReadEnd<T, C: ControlBlock = Own> {
    pub(super) node: LaneShare<OneToOne<T, C>>,
    /// The next message.
    pub(super) head: Position<T>,
    /// Messages are there before this one; there may be more.
    limit: Number,
    /// The run ends before this message. It reaches no further than `limit`, and no further than the last
    /// slot. Within a run, a message takes only a step to the next slot, as in
    /// [`WriteEnd`](super::write::WriteEnd).
    stop: Number,
    /// Where the lane ends, once that is decided.
    pub(super) end: Option<Number>,
}

impl<T, C: ControlBlock> Read<T> for SoleReader<T, C> {
    type Lane = OneToOne<T, C>;
    type Corrupt = Infallible;

    #[inline(always)]
    fn node(&self) -> &LaneNode<OneToOne<T, C>> {
        &self.end.node
    }

    // Mutants: `with None`: costs or saves time.
    #[inline(always)]
    fn take_plainly(&mut self) -> Option<T> {
        self.end.take_in_run()
    }

    fn try_take(&mut self) -> Option<T> {
        // SAFETY: something is there.
        self.has_message().then(|| unsafe { self.end.take() })
    }

    #[inline(always)]
    fn has_message(&mut self) -> bool {
        self.end.cached_len() != 0 || self.refresh(true)
    }

    #[inline(always)]
    fn is_plainly_empty(&mut self) -> bool {
        // The tail first: what was sent before the end is found before the end.
        // (Another process may be gone, for which the caller has to look.)
        let is_empty = !C::ACROSS
            && self.end.is_plainly_empty()
            && (!self.state().may_be_closed() || seeded!("empty_though_closed"));
        if is_empty {
            self.backoff.found_nothing();
        }
        is_empty
    }

    fn before_spin(&mut self) {
        self.backoff.skip_next_rest();
        self.end.prefetch();
    }

    fn watched(&self) -> Option<&AtomicU64> {
        Some(self.end.lane().tail_word())
    }

    #[cfg(feature = "shm")]
    fn peek(&mut self) -> Option<T>
    where
        T: Copy,
    {
        self.current().peek()
    }

    #[inline]
    fn take_some(&mut self, most: usize, each: impl FnMut(T)) -> usize {
        // Mutants: `< with <=`: one more look.
        if self.end.cached_len() < most {
            self.refresh_all();
        }
        self.end.take_some(most, each)
    }

    /// There is one lane, and it is looked at once. A second look would take the line of the tail from the
    /// producer, and bring only the few messages that came meanwhile.
    #[inline]
    fn take_up_to(&mut self, most: usize, each: impl FnMut(T)) -> usize {
        // Decision 0047: one look fills a buffer.
        self.take_some(most, each)
    }

    /// One look, as above.
    #[inline]
    fn take_into(&mut self, buffer: &mut [T]) -> usize {
        // Mutants: `< with <=`: one more look.
        if self.end.cached_len() < buffer.len() {
            self.refresh_all();
        }
        self.end.move_some(buffer)
    }

    fn begin_round(&mut self) -> Round {
        self.state().roster.round(0, true)
    }

    fn next_in_round(&mut self, round: &mut Round) -> bool {
        self.state().roster.next(round).is_some()
    }

    fn lane_len(&mut self, most: usize) -> usize {
        // Mutants: `< with <=`: one more look.
        if self.end.cached_len() < most {
            self.refresh_all();
        }
        most.min(self.end.cached_len())
    }

    #[cold]
    fn settle(&mut self) -> bool {
        if self.end.is_sealed() {
            return !self.has_message();
        }
        if self.state().is_closed() {
            self.state().await_sends();
            self.end.seal();
        }
        false
    }

    fn len(&self) -> usize {
        self.end.node.lane.len()
    }
}

/// lane.take5: which messages are there.
impl<T, C: ControlBlock> ReadEnd<T, C> {
    #[inline(always)]
    pub(super) fn lane(&self) -> &OneToOne<T, C> {
        &self.node.lane
    }

    /// How many messages are known to be there, without a look.
    #[inline(always)]
    pub(super) fn cached_len(&self) -> usize {
        self.limit.since(self.head.number) as usize
    }

    /// lane.take5: loads the tail. Then up to `most` messages are known, and none of those that were known
    /// before is gone, whatever another process writes. Returns whether there is any. Ends the run.
    #[inline(always)]
    pub(super) fn refresh(&mut self, most: usize) -> bool {
        let tail = match self.end {
            None => self.lane().read_tail(self.head.number, self.limit),
            Some(end) if seeded!("lane_end_unchecked") => end,
            // (Of another process it may lie before messages that a tail had promised.)
            Some(end) => self.lane().believed(self.head.number, self.limit, end),
        };
        let there = tail.since(self.head.number).min(most as u64);
        self.limit = self.head.number.plus(there);
        self.stop = self.head.number;
        there != 0
    }

    /// The caller is about to take the messages that it knows of: ends the sample of a latency that is among
    /// them. Returns before which message a caller that takes them one by one must look again.
    #[inline(always)]
    pub(super) fn end_sample(&self) -> Number {
        match &self.node.sampler {
            None => self.limit,
            Some(sampler) => sampler.end_sample(self.head.number, self.limit),
        }
    }

    /// The caller is about to take the messages that it knows of, one by one. Where one of them is a sample,
    /// the caller knows only of the messages before it, so it looks again when it comes to the sample.
    // Mutants: `with ()`: a measured message is recorded later, with others that are taken: no test can tell
    // how long it took.
    #[inline(always)]
    pub(super) fn limit_to_sample(&mut self) {
        self.limit = self.end_sample();
    }

    /// [Refreshes](Self::refresh), for a caller that is about to take all messages that it knows of.
    #[inline(always)]
    pub(super) fn refresh_to_take_all(&mut self, most: usize) -> bool {
        let some = self.refresh(most);
        self.end_sample();
        some
    }

    /// lane.take5, without a refresh: whether no message is there, and the end of the lane is not decided.
    #[inline(always)]
    pub(super) fn is_plainly_empty(&self) -> bool {
        self.end.is_none() && self.limit == self.head.number && self.lane().tail() == self.limit
    }

    /// Prefetches the line of the next message.
    #[inline(always)]
    pub(super) fn prefetch(&self) {
        // Decision 0052: with the look at the tail.
        self.head.prefetch_to_read();
    }
}

/// lane.take5, and the rests of a reader that is right behind the writer.
impl<T, C: ControlBlock> SoleReader<T, C> {
    /// lane.take5. Where a rest pays, rests and looks again. Returns whether there is a message.
    #[inline(always)]
    fn refresh(&mut self, one_by_one: bool) -> bool {
        if !self.end.refresh(usize::MAX) {
            self.backoff.found_nothing();
            return false;
        }
        // Mutants: `/ with %`, `/ with *`: when to rest.
        let backlog = BACKLOG.min(self.end.lane().capacity() / 8);
        let end = &mut self.end;
        self.backoff.found(end.cached_len(), backlog, || {
            note_rest(&end.node);
            end.refresh(usize::MAX);
            end.cached_len()
        });
        if one_by_one {
            end.limit_to_sample();
        } else {
            end.end_sample();
        }
        true
    }

    /// [Refreshes](Self::refresh), for a caller that is about to take all messages that it knows of.
    #[inline(always)]
    fn refresh_all(&mut self) {
        self.refresh(false);
    }
}

/// With so many messages, or an eighth of a lane, the reader is not right behind the writer.
const BACKLOG: usize = 512;

/// The consumer of `node` has paused.
#[cold]
#[inline(never)]
pub(super) fn note_rest<T, C: ControlBlock>(node: &LaneNode<OneToOne<T, C>>) {
    if let Some(counters) = &state_of(node).counters {
        counters.rested();
    }
}

/// lane.take6 to lane.take8: a message is moved out, and its slot is given back.
impl<T, C: ControlBlock> ReadEnd<T, C> {
    /// lane.take6 to lane.take8, within a run.
    // Mutants: `with None`: costs or saves time.
    #[inline(always)]
    pub(super) fn take_in_run(&mut self) -> Option<T> {
        if unlikely(self.head.number == self.stop) {
            return None;
        }
        // SAFETY: messages are there up to the end of the run, and this one is before it.
        Some(unsafe { self.take_before(self.head.step()) })
    }

    /// lane.take6 to lane.take8. Begins a run.
    ///
    /// # Safety
    ///
    /// A message is known to be there.
    pub(super) unsafe fn take(&mut self) -> T {
        let after = self.head.next(self.lane().cells());
        // SAFETY: the caller's promise.
        let value = unsafe { self.take_before(after) };
        self.begin_run();
        value
    }

    /// lane.take6 to lane.take8 of the message before `after`.
    ///
    /// # Safety
    ///
    /// It is the next one, and known to be there.
    #[inline(always)]
    unsafe fn take_before(&mut self, after: Position<T>) -> T {
        // SAFETY: it lies before the tail, so the slot is full and this end's (lane.take5).
        let value = unsafe { self.lane().cells().take_at(self.head) };
        self.go_to(after);
        value
    }

    /// lane.take7 and lane.take8: the messages before `head` are moved out.
    #[inline(always)]
    fn go_to(&mut self, head: Position<T>) {
        self.head = head;
        self.lane().release(self.head.number);
        if seeded!("lane_release_wakes_nobody") {
            return;
        }
        #[cfg(feature = "shm")]
        if C::ACROSS {
            return self.node.released.notify_across();
        }
        self.node.released.notify();
    }

    /// Begins a run. It reaches as far as messages are known to be there and slots lie beside each other.
    #[inline(always)]
    fn begin_run(&mut self) {
        let left = self.head.left(self.lane().cells());
        self.stop = self.head.number.plus(self.cached_len().min(left) as u64);
    }

    /// How many messages of the run are left.
    // Mutants: `with 0`: costs or saves time.
    #[inline(always)]
    fn run_len(&self) -> usize {
        self.stop.since(self.head.number) as usize
    }
}

/// Batches.
impl<T, C: ControlBlock> ReadEnd<T, C> {
    /// Hands up to `most` of the known messages to `each`, and gives all their slots back at once.
    #[inline]
    pub(super) fn take_some(&mut self, most: usize, mut each: impl FnMut(T)) -> usize {
        let count = most.min(self.cached_len());
        if count == 0 {
            return 0;
        }
        let ranges = self.head.ranges(count, self.lane().cells());
        let mut taken = TakenRun { end: self, count: 0 };
        for range in ranges {
            for slot in range {
                if !seeded!("consume_counts_late") {
                    // Before the call, so that a message that was handed out is not handed out again.
                    taken.count += 1;
                }
                // SAFETY: it lies before the tail, so the slot is full and this end's; it comes once.
                each(unsafe { taken.end.lane().cells().take(slot) });
                if seeded!("consume_counts_late") {
                    // Mutants: `+= with -=`, `+= with *=`: only a seeded bug comes here.
                    taken.count += 1;
                }
            }
        }
        count
    }

    /// Moves known messages into `buffer`, from the first slot on, until it is full or no more are known;
    /// returns how many. Drops what was there before.
    #[inline]
    pub(super) fn move_some(&mut self, buffer: &mut [T]) -> usize {
        if core::mem::needs_drop::<T>() {
            let mut free = buffer.iter_mut();
            return self.take_some(free.len(), |value| *free.next().expect("no more than asked for") = value);
        }
        // `count` messages are taken, and the slots of `beside` of them lie beside each other.
        let (mut count, mut beside) = (buffer.len(), buffer.len());
        // Mutants: `> with >=`: a run ends where it is used up.
        if unlikely(count > self.run_len()) {
            self.begin_run();
            count = count.min(self.cached_len());
            beside = count.min(self.contiguous_len());
        }
        if count == 0 {
            return 0;
        }
        // Decision 0048: copied whole.
        let (before, behind) = buffer[..count].split_at_mut(beside);
        // SAFETY: the run has so many messages, or `count` and `beside` were just bounded. A `T` needs no
        // drop here, and all are passed below.
        unsafe { self.copy_out(self.head, before) };
        if !behind.is_empty() {
            // SAFETY: these are in the first slots, and known to be there.
            unsafe { self.copy_out(self.head.forward(beside, self.lane().cells()), behind) };
        }
        self.pass(count);
        count
    }

    /// Copies messages from `position` on to all of `buffer`.
    ///
    /// # Safety
    ///
    /// So many messages are known to be there, beside each other. The caller passes them, and what was in
    /// `buffer` needs no destructor.
    #[inline(always)]
    unsafe fn copy_out(&self, position: Position<T>, buffer: &mut [T]) {
        // SAFETY: the caller's promise; they lie before the tail (lane.take5), so they are this end's.
        let there = unsafe { self.lane().cells().values_at(position, buffer.len()) };
        // SAFETY: both are as long.
        unsafe { ptr::copy_nonoverlapping(there.cast().as_ptr(), buffer.as_mut_ptr(), buffer.len()) };
    }

    /// lane.take7 and lane.take8: the next `count` messages are moved out, or need not be. Ends the run where
    /// they reach beyond it.
    #[inline(always)]
    fn pass(&mut self, count: usize) {
        // Mutants: `> with >=`: a run ends where it is used up.
        if unlikely(count > self.run_len()) {
            self.go_to(self.head.forward(count, self.lane().cells()));
            if !seeded!("receive_run_goes_on") {
                self.stop = self.head.number;
            }
        } else {
            self.go_to(self.head.skip(count));
        }
    }
}

/// Messages that are being handed out. On drop all of them are passed at once.
struct TakenRun<'a, T, C: ControlBlock> {
    end: &'a mut ReadEnd<T, C>,
    count: usize,
}

impl<T, C: ControlBlock> Drop for TakenRun<'_, T, C> {
    #[inline]
    fn drop(&mut self) {
        self.end.pass(self.count);
    }
}

/// In place.
impl<T, C: ControlBlock> ReadEnd<T, C> {
    /// Up to `most` of the known messages that lie beside each other. As long as this end is borrowed, no end
    /// of this process takes or changes them.
    // Not a slice: another process may write there. `SharedSlice` says what can be done with them.
    #[inline]
    pub(super) fn readable(&mut self, most: usize) -> NonNull<[T]> {
        let mut count = most;
        // Mutants: `> with >=`: a run ends where it is used up.
        if unlikely(most > self.run_len()) {
            self.begin_run();
            count = most.min(self.contiguous_len());
        }
        // SAFETY: they lie before the tail (lane.take5), and nobody takes them while this end is borrowed.
        unsafe { self.lane().cells().values_at(self.head, count) }
    }

    /// As [`readable`](Self::readable), by shared reference.
    #[inline]
    pub(super) fn cached_slice(&self, most: usize) -> NonNull<[T]> {
        // SAFETY: as in `readable`.
        unsafe { self.lane().cells().values_at(self.head, most.min(self.contiguous_len())) }
    }

    /// How many of the known messages lie beside each other.
    #[inline(always)]
    fn contiguous_len(&self) -> usize {
        self.cached_len().min(self.head.to_storage_end(self.lane().cells()))
    }

    /// A copy of the next message.
    #[cfg(feature = "shm")]
    pub(super) fn peek(&mut self) -> Option<T>
    where
        T: Copy,
    {
        let next = self.readable(1);
        // SAFETY: it was sent, and stays while this end is borrowed.
        (!next.is_empty()).then(|| unsafe { next.cast().read() })
    }

    /// Drops the first `count` of those that lie [beside each other](Self::contiguous_len).
    ///
    /// # Panics
    ///
    /// If there are fewer.
    #[inline(always)]
    pub(super) fn advance(&mut self, count: usize) {
        // Mutants: `> with >=`: a run ends where it is used up.
        if unlikely(count > self.run_len()) && count > self.contiguous_len() {
            refuse_to_advance(count, self.contiguous_len());
        }
        self.drop_some(count);
    }

    /// Drops the next `count` messages, which are known to be there: all of them, also where a destructor
    /// panics. O(1) where `T` needs no drop.
    #[inline(always)]
    pub(super) fn drop_some(&mut self, count: usize) {
        if core::mem::needs_drop::<T>() || cfg!(annulus_loom) {
            outlined(self, |end| {
                let [first, second] = end.head.ranges(count, end.lane().cells());
                let dropped = TakenRun { end, count };
                let cells = dropped.end.lane().cells();
                // SAFETY: they lie before the tail, so each slot is full and this end's; each comes once.
                drop_each(first.chain(second), |slot| unsafe { cells.drop_in_place(slot) });
            });
        } else {
            self.pass(count);
        }
    }
}

/// Outlined, so that a caller of `advance` need not have `count` in memory for the text.
#[cold]
#[inline(never)]
// Decision 0002: `advance` is inlined, this is not.
fn refuse_to_advance(count: usize, there: usize) -> ! {
    panic!("can't advance by {count} messages: {there} are readable");
}

/// For queues whose messages are read in place, as [`FanIn`](super::fan_in::FanIn) has them.
impl<T, C: ControlBlock> SoleReader<T, C> {
    /// Looks for messages that are to be read in place, unless some are known.
    #[inline(always)]
    pub(super) fn refresh_in_place(&mut self) {
        self.has_message();
    }

    /// The end of its lane.
    #[inline(always)]
    pub(super) fn current(&mut self) -> &mut ReadEnd<T, C> {
        &mut self.end
    }

    /// There is no other lane.
    #[inline(always)]
    pub(super) fn end_turn(&mut self) {
        let _ = self;
    }
}

/// The end of the lane.
impl<T, C: ControlBlock> ReadEnd<T, C> {
    /// [Seals](seal) the lane, unless its producer did.
    pub(super) fn seal(&mut self) {
        self.end = Some(seal(self.lane(), self.limit));
    }

    /// Whether it is decided where the lane ends.
    pub(super) fn is_sealed(&self) -> bool {
        self.end.is_some()
    }

    /// Drops all messages that are there.
    pub(super) fn drop_rest(&mut self) {
        drop_all(|| {
            let is_some = self.refresh_to_take_all(usize::MAX);
            if is_some {
                self.drop_some(self.cached_len());
            }
            is_some
        });
    }
}

/// lane.end1: decides where `lane` ends, unless its producer did, and returns where. The caller is its
/// consumer, has seen that the queue is closed, and then called
/// [`EventCount::barrier`](crate::wait::EventCount::barrier). `known` is for a seeded bug.
pub(super) fn seal<T, C: ControlBlock>(lane: &OneToOne<T, C>, known: Number) -> Number {
    lane.seal(if seeded!("seal_at_the_known") { known } else { lane.tail() })
}

/// How the end of a lane begins, and moves on to another lane.
impl<T, C: ControlBlock> ReadEnd<T, C> {
    /// The consumer of a lane that nobody else receives from, whose next message is `next`.
    #[inline(always)]
    pub(super) fn at(node: LaneShare<OneToOne<T, C>>, next: Number) -> Self {
        let lane = &node.lane;
        let head = lane.position(next);
        let end = lane.decided_end();
        Self { node, head, limit: head.number, stop: head.number, end }
    }

    /// The consumer that was there, with the share that it still has.
    ///
    /// # Safety
    ///
    /// Its next message is `head`. It is not used any more, and gives its share up after this.
    pub(super) unsafe fn again(
        node: &LaneNode<OneToOne<T, C>>,
        head: Position<T>,
        end: Option<Number>,
    ) -> ManuallyDrop<Self> {
        // SAFETY: the caller's promise: the share is not given up here.
        let node = unsafe { LaneShare::of(node) };
        ManuallyDrop::new(Self { node, head, limit: head.number, stop: head.number, end })
    }

    /// The consumer has moved on to another lane, from which nobody else receives.
    fn begin_lane(&mut self) {
        let lane = &self.node.lane;
        let head = lane.position(lane.head());
        // (Only where a consumer was there before.)
        let end = lane.decided_end();
        (self.head, self.limit, self.stop, self.end) = (head, head.number, head.number, end);
    }

    /// Moves on to the next lane of `round` that `is_wanted` accepts, and returns its number. `at` is the
    /// number of the lane where it is now.
    #[inline(always)]
    pub(super) fn move_on(
        &mut self,
        round: &mut Round,
        at: usize,
        is_wanted: impl FnMut(&LaneNode<OneToOne<T, C>>) -> bool,
    ) -> Option<usize> {
        let index = self.node.move_on(round, is_wanted)?;
        if index != at {
            self.begin_lane();
        }
        Some(index)
    }

    /// The number of the next message.
    #[inline(always)]
    pub(super) fn next(&self) -> Number {
        self.head.number
    }
}

impl<T, C: ControlBlock> SoleReader<T, C> {
    /// The one consumer of a queue that has this lane, whose next message is `next`.
    #[inline(always)]
    pub(super) fn at(node: LaneShare<OneToOne<T, C>>, next: Number) -> Self {
        Self { end: ReadEnd::at(node, next), backoff: ReaderBackoff::new() }
    }
}

impl<T, C: ControlBlock> Drop for SoleReader<T, C> {
    fn drop(&mut self) {
        // SAFETY: `end` is not used any more, and its share is given up after this.
        unsafe { leave(&self.end.node, self.end.head, self.end.end) };
    }
}

/// Drops what is left in the queue, because its consumer is gone. By values: an end has no address (decision
/// 0002).
///
/// # Safety
///
/// The values come from the end of the lane's consumer, which is not used any more, but has its share.
#[cold]
#[inline(never)]
unsafe fn leave<T, C: ControlBlock>(node: &LaneNode<OneToOne<T, C>>, head: Position<T>, end: Option<Number>) {
    let state = state_of(node);
    state.consumer_goes();
    // SAFETY: the caller's promise.
    let mut end = unsafe { ReadEnd::again(node, head, end) };
    // Where nobody sends any more, the tail is the end.
    if !state.is_without_producers() {
        state.await_sends();
        end.seal();
    }
    end.drop_rest();
}

/// Where other code has taken the steps for this end ([lent](super::lent)).
#[cfg(all(feature = "std", not(annulus_loom)))]
impl<T, C: ControlBlock> ReadEnd<T, C> {
    /// Goes on at the head, which other code has stored for this end ([lent](super::lent)).
    #[inline]
    pub(super) fn take_back(&mut self) {
        let count = self.lane().head().since(self.head.number) as usize;
        self.head = self.head.forward(count, self.lane().cells());
        self.stop = self.head.number;
        // The other code may have known of more.
        if self.limit.is_before(self.head.number) {
            self.limit = self.head.number;
        }
    }

    /// How many messages from the next one on will lie beside each other, for code that does lane.take5
    /// for this end. 0 where that is not all: where the end is decided, or latencies are sampled.
    pub(super) fn lent_beside(&self) -> usize {
        let is_all = self.end.is_none() && self.node.sampler.is_none();
        if is_all { self.head.to_storage_end(self.lane().cells()) } else { 0 }
    }

    /// lane.take8, once more: wakes the producer that waits for slots.
    // Unreached: only the C library reaches it
    pub(super) fn wake_again(&self) {
        self.node.released.notify();
    }
}

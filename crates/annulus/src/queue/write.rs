//! The producer's end of a lane: lane.send1 to lane.send4 of `lane/one_to_one.rs`.
//!
//! A send, from [`Producer::send`](super::Producer::send) down:
//!
//! ```text
//! plain path                                                  slow path, outlined
//!             send_plainly: in a run, and not closed?   no ─▶ send_slow_path
//!             send_in_run:                                    lane.send1  has_free_slot: refresh, or wait
//! lane.send2  move the message into its slot                  send: begin a run, then as on the left
//! lane.send3  store the tail
//! lane.send4  needs_slow_path?                 yes ─▶ publish_one_slow_path: end the lane, activate it, wake
//! ```

use core::mem::MaybeUninit;
use core::ptr::{self, NonNull};

use super::ends::Write;
use super::free_slot::wait_for_free_slot;
use super::lane_node::LaneNode;
use super::latency_sampler::LatencySampler;
use super::state::{LaneShare, QueueState, state_of};
use crate::base::drop_all::drop_values;
use crate::error::{CapacityError, Refusal};
use crate::lane::{ControlBlock, Number, OneToOne, Own, Position};
use crate::sync::{AtomicU64, Ordering, seeded, unlikely};
use crate::wait::{Deadline, SleeperKind, WaitStrategy, preferred_slots};

/// The one producer of a lane.
///
/// Single messages are sent in runs. Within a run, a message has a slot that is known to be free, and the
/// next slot lies beside it. So a send stores the message and the tail, and checks whether there is more to
/// do; that is all. Everything else is done between two runs, [outlined](super::ends::outlined).
///
/// The limit beyond the run is cached in the lane, and the queue state is reached through the node. The fewer
/// numbers a handle has, the more likely all of them are in registers, together with the numbers of the loop
/// that sends. A store to the stack for each message would queue up with the stores to the slots, and half as
/// many of these would be under way at once.
// Decision 0004: no more than four numbers.
pub(crate) struct WriteEnd<T, C: ControlBlock = Own> {
    node: LaneShare<OneToOne<T, C>>,
    /// The next message.
    tail: Position<T>,
    /// The run ends before this message. It reaches no further than the slots known to be free, and no
    /// further than the last slot.
    stop: Number,
}

impl<T, C: ControlBlock> Write<T> for WriteEnd<T, C> {
    type Lane = OneToOne<T, C>;

    #[inline(always)]
    fn node(&self) -> &LaneNode<OneToOne<T, C>> {
        &self.node
    }

    #[inline(always)]
    fn send_plainly(&mut self, value: T) -> Result<(), T> {
        if self.is_run_over() || self.is_refused() {
            return Err(value);
        }
        // SAFETY: just looked.
        unsafe { self.send_in_run(value) }
    }

    fn has_free_slot(&mut self) -> bool {
        if self.cached_free() == 0 {
            self.refresh_for_one();
        }
        self.cached_free() != 0 || seeded!("lane_overwrites")
    }

    fn wait(&mut self, strategy: WaitStrategy, deadline: Deadline) -> Result<(), Refusal> {
        self.wait_for(1, strategy, deadline)
    }

    unsafe fn send(&mut self, value: T) -> Result<(), T> {
        if self.is_refused() {
            return Err(value);
        }
        self.begin_run();
        if !self.is_run_over() {
            // SAFETY: just looked.
            return unsafe { self.send_in_run(value) };
        }
        // The last slot is in no run, because the next one does not lie beside it.
        let at = self.tail;
        // SAFETY: the slot is free, so it is this end's alone.
        unsafe { self.lane().cells().write_at(at, value) };
        if !self.publish(1) {
            // Unreached: a close beside a send into the last slot: two threads have to meet there; loom
            // lane_wake
            // SAFETY: written above, and the lane ends before it.
            return Err(unsafe { self.lane().cells().take_at(at) });
        }
        self.begin_run();
        Ok(())
    }

    #[inline]
    fn send_some(&mut self, values: &[T]) -> usize
    where
        T: Copy,
    {
        // `count` messages are sent, and the slots of `beside` of them lie beside each other.
        let (mut count, mut beside) = (values.len(), values.len());
        // Mutants: `> with >=`: one more look.
        if unlikely(count > self.run_len()) {
            self.refresh_for(count);
            self.begin_run();
            count = count.min(self.cached_free());
            beside = count.min(self.tail.to_storage_end(self.lane().cells()));
        }
        // Mutants: `|| with &&`: where it is closed, the slow path finds that, too.
        if count == 0 || self.is_refused() {
            // Unreached: a close beside a send: two threads have to meet there; loom lane_wake
            return 0;
        }
        let (before, behind) = values[..count].split_at(beside);
        // SAFETY: the run has so many slots, or `count` and `beside` were just bounded.
        unsafe { self.copy_in(self.tail, before) };
        if !behind.is_empty() {
            // Mutants: `&& with ||`: only a model sees it: slice_in_two.
            if seeded!("slice_in_two") && self.publish(beside) {
                // Mutants: `+ with -`, `+ with *`: only a seeded bug comes here.
                return beside + self.send_some(behind);
            }
            // SAFETY: these are the first slots, and all are free.
            unsafe { self.copy_in(self.tail.forward(beside, self.lane().cells()), behind) };
        }
        if self.publish(count) { count } else { 0 }
    }

    fn watched(&self) -> &AtomicU64 {
        self.lane().head_word()
    }
}

/// lane.send1: free slots, and the run that they make.
impl<T, C: ControlBlock> WriteEnd<T, C> {
    /// How many slots are known to be free.
    #[inline(always)]
    fn cached_free(&mut self) -> usize {
        // SAFETY: nobody else sends on this lane.
        let until = unsafe { self.lane().cached_limit() };
        until.since(self.tail.number) as usize
    }

    /// lane.send1: looks for free slots, for a caller that sends one message at a time. With a sampler, such
    /// a caller looks again where the next sample is due, so it learns of the slots up to there only.
    #[inline(always)]
    fn refresh_for_one(&mut self) {
        let limit = self.lane().read_limit(self.tail.number, self.tail.number);
        let limit = self.begin_sample(limit);
        self.cache_limit(limit);
    }

    /// lane.send1: looks for free slots if fewer than `wanted` are known to be free. Those that are known
    /// stay free.
    #[inline(always)]
    fn refresh_for(&mut self, wanted: usize) {
        let free = self.cached_free();
        // Mutants: `< with <=`: one more look.
        if free < wanted {
            let tail = self.tail.number;
            let limit = self.lane().read_limit(tail, tail.plus(free as u64));
            self.begin_sample(limit);
            self.cache_limit(limit);
        }
    }

    /// The slots before message `limit` are free, and are about to be filled. Returns before which message
    /// single sends must look again.
    #[inline(always)]
    fn begin_sample(&self, limit: Number) -> Number {
        match &self.node.sampler {
            None => limit,
            Some(sampler) => begin_sample_slow_path(&self.node, sampler, self.tail.number, limit),
        }
    }

    /// Notes that the slots before message `until` are free.
    #[inline(always)]
    fn cache_limit(&mut self, until: Number) {
        // SAFETY: nobody else sends on this lane.
        unsafe { self.lane().cache_limit(until) };
    }

    /// Waits until `count` slots are free, which are no more than the lane has.
    pub(super) fn wait_for(
        &mut self,
        count: usize,
        strategy: WaitStrategy,
        deadline: Deadline,
    ) -> Result<(), Refusal> {
        let tail = self.tail.number;
        let known = tail.plus(self.cached_free() as u64);
        let preferred = preferred_slots(self.node.state().plan.capacity).max(count as u64);
        // Too few are as good as none: the consumer notifies again when it frees more.
        let count_free = |lane: &OneToOne<T, C>| {
            let free = lane.read_limit(tail, known).since(tail);
            if free < count as u64 && !seeded!("little_room_is_enough") { 0 } else { free }
        };
        let (state, freed) = (self.node.state(), self.lane().head_word());
        let free = wait_for_free_slot(state, &self.node, preferred, count_free, freed, strategy, deadline)?;
        self.cache_limit(tail.plus(free));
        Ok(())
    }

    /// Begins a run. It reaches as far as slots are known to be free and lie beside each other.
    fn begin_run(&mut self) {
        // Decision 0003: single messages go in runs.
        let beside = self.cached_free().min(self.tail.left(self.lane().cells()));
        self.stop = self.tail.number.plus(beside as u64);
    }

    /// Whether there is no run, or it has come to its end.
    // Mutants: `with true`: costs or saves time.
    #[inline(always)]
    fn is_run_over(&self) -> bool {
        unlikely(self.tail.number == self.stop)
    }

    /// How many messages of the run are left.
    // Mutants: `with 0`: costs or saves time.
    #[inline(always)]
    fn run_len(&self) -> usize {
        self.stop.since(self.tail.number) as usize
    }
}

/// The producer of `node` is about to send message `tail`, and may send until `limit`: notes how many
/// messages wait, and begins a sample. Returns before which message it must look again.
#[cold]
#[inline(never)]
fn begin_sample_slow_path<T, C: ControlBlock>(
    node: &LaneNode<OneToOne<T, C>>,
    sampler: &LatencySampler,
    tail: Number,
    limit: Number,
) -> Number {
    if let Some(counters) = &state_of(node).counters {
        counters.saw_waiting((node.lane.capacity() as u64).saturating_sub(limit.since(tail)));
    }
    sampler.begin_sample(tail, limit)
}

/// lane.send2 and lane.send3: messages go into their slots.
impl<T, C: ControlBlock> WriteEnd<T, C> {
    /// Whether the queue is closed, so that nothing may be sent.
    #[inline(always)]
    fn is_refused(&self) -> bool {
        unlikely(self.node.state().may_be_closed()) && !seeded!("close_unsettled")
    }

    /// The plain send: lane.send2 to lane.send4 for a message in a run. It is not
    /// [refused](Self::is_refused). Gives the message back where the queue was closed meanwhile.
    ///
    /// # Safety
    ///
    /// There is a run, and it is not [over](Self::is_run_over).
    #[inline(always)]
    unsafe fn send_in_run(&mut self, value: T) -> Result<(), T> {
        let node = &*self.node;
        // Read before the stores. After them the compiler would have to read it again.
        let state = state_of(node);
        // lane.send2. SAFETY: a slot of the run is free, so it is this end's alone.
        unsafe { node.lane.cells().write_at(self.tail, value) };
        // Before lane.send4, so that nothing is left to do after it. (Where the message is given back, this
        // end sends nothing any more.)
        self.tail = self.tail.step();
        // lane.send3.
        node.lane.publish(self.tail.number);
        // lane.send4.
        if unlikely(needs_slow_path(state, node)) {
            // SAFETY: the message lies a step before the tail.
            return unsafe { publish_one_slow_path(node, self.tail) };
        }
        Ok(())
    }

    /// Copies `values` to the slots from `position` on.
    ///
    /// # Safety
    ///
    /// So many slots lie there beside each other, and are free.
    #[inline(always)]
    unsafe fn copy_in(&self, position: Position<T>, values: &[T])
    where
        T: Copy,
    {
        // Decision 0050: no prefetch ahead.
        // SAFETY: the caller's promise; free slots (lane.send1) belong to this end alone.
        let free = unsafe { self.lane().cells().uninit_at(position, values.len()) };
        // SAFETY: both are as long. A `T` is a `MaybeUninit<T>`.
        unsafe { ptr::copy_nonoverlapping(values.as_ptr(), free.cast().as_ptr(), values.len()) };
    }

    /// lane.send3 and lane.send4 for the next `count` messages, which lie in their slots. Returns false where
    /// the queue was closed meanwhile; then the messages still belong to the caller. Ends the run where they
    /// reach beyond it.
    #[inline(always)]
    fn publish(&mut self, count: usize) -> bool {
        // Mutants: `> with >=`: a run ends where it is used up.
        let goes_beyond = unlikely(count > self.run_len());
        let after =
            if goes_beyond { self.tail.forward(count, self.lane().cells()) } else { self.tail.skip(count) };
        let node = &*self.node;
        node.lane.publish(after.number);
        let is_sent = !unlikely(needs_slow_path(state_of(node), node))
            || publish_slow_path(node, self.tail.number, after.number);
        if is_sent {
            self.tail = after;
            // Mutants: `&& with ||`: a run ends early.
            if goes_beyond && !seeded!("send_run_goes_on") {
                self.stop = after.number;
            }
        }
        is_sent
    }
}

/// lane.send4: whether there is more to do after lane.send3.
// Mutants: `with true`: costs or saves time.
#[inline(always)]
fn needs_slow_path<T, C: ControlBlock>(
    state: &QueueState<OneToOne<T, C>>,
    node: &LaneNode<OneToOne<T, C>>,
) -> bool {
    #[cfg(feature = "shm")]
    if C::ACROSS {
        return state.needs_slow_path_across();
    }
    // The fence in the first look comes before the second look, too.
    // Mutants: `|| with &&`: costs or saves time.
    state.published.needs_slow_path() || !(C::SOLE || node.is_active())
}

/// lane.send4, where there is more to do. Returns whether the messages from `first` to `tail` are sent; if
/// not, the queue was closed before.
#[cold]
#[inline(never)]
fn publish_slow_path<T, C: ControlBlock>(
    node: &LaneNode<OneToOne<T, C>>,
    first: Number,
    tail: Number,
) -> bool {
    is_published(node) || end_or_wake(node, first, tail)
}

/// [`publish_slow_path`] for the one message just before `after`, which comes back if it is not sent. (It
/// gets the position that the sender has in a register anyway.)
///
/// # Safety
///
/// The message lies in its slot, and `after` is a step from there.
#[cold]
#[inline(never)]
unsafe fn publish_one_slow_path<T, C: ControlBlock>(
    node: &LaneNode<OneToOne<T, C>>,
    after: Position<T>,
) -> Result<(), T> {
    if is_published(node) {
        return Ok(());
    }
    // SAFETY: the caller's promise.
    unsafe { end_or_wake_one(node, after) }
}

/// The fence of the slow path. Where only tasks are to be woken, that is all. False where there is more to
/// do.
// Decision 0137: so it is for most messages that come after a wake-up of tasks.
#[inline(always)]
fn is_published<T, C: ControlBlock>(node: &LaneNode<OneToOne<T, C>>) -> bool {
    let published = &state_of(node).published;
    published.fence();
    // (A consumer that is woken finds the message in an active lane.)
    node.is_active() && {
        let sleepers = published.sleepers();
        if sleepers == SleeperKind::Tasks {
            published.wake_tasks();
        }
        sleepers != SleeperKind::More
    }
}

/// What [`publish_one_slow_path`] does behind its fence.
///
/// # Safety
///
/// As of [`publish_one_slow_path`].
#[inline(never)]
unsafe fn end_or_wake_one<T, C: ControlBlock>(
    node: &LaneNode<OneToOne<T, C>>,
    after: Position<T>,
) -> Result<(), T> {
    let at = after.step_back();
    if end_or_wake(node, at.number, after.number) {
        return Ok(());
    }
    // Unreached: a close beside a send: two threads have to meet there; loom lane_wake
    // SAFETY: the caller's promise; the lane ends before the message.
    Err(unsafe { node.lane.cells().take_at(at) })
}

/// What [`publish_slow_path`] and [`publish_one_slow_path`] do behind their fence: end the lane where the
/// queue was closed, activate the lane, wake the consumer. Returns whether the messages are sent.
#[inline(never)]
fn end_or_wake<T, C: ControlBlock>(node: &LaneNode<OneToOne<T, C>>, first: Number, tail: Number) -> bool {
    let state = state_of(node);
    // lane.end2. Messages before the end are the consumer's. The end is behind all of these, or before the
    // first.
    let sent = !state.may_be_closed() || seeded!("close_unsettled") || node.lane.seal(tail) == tail;
    if !node.is_active() && !seeded!("send_activates_nothing") {
        state.roster.activate(node);
        // What a sleeper looks at first, the lane or its bit, is stored only now.
        state.published.fence();
    }
    state.published.notify_fenced();
    if !sent {
        // The consumer does not look at the tail any more, and nobody else relies on it. But the statistics
        // count by it.
        // Unreached: a close beside a send: two threads have to meet there; loom lane_wake
        node.lane.publish(first);
    }
    sent
}

/// In place.
impl<T, C: ControlBlock> WriteEnd<T, C> {
    /// Up to `most` contiguous free slots; empty where there is none.
    #[inline]
    pub(super) fn free_slots(&mut self, most: usize) -> NonNull<[MaybeUninit<T>]> {
        let mut count = most;
        // Mutants: `> with >=`: a run begins where one is.
        if unlikely(most > self.run_len()) {
            self.refresh_for(most);
            self.begin_run();
            count = most.min(self.cached_free()).min(self.tail.to_storage_end(self.lane().cells()));
        }
        // SAFETY: they are behind the tail and free (lane.send1), so they belong to this end alone, as long
        // as it is borrowed. They lie beside each other: the slots of a run do, and the other bound is the
        // last slot.
        unsafe { self.lane().cells().uninit_at(self.tail, count) }
    }

    /// How many slots there are from the slot of the next message to the last one.
    #[inline]
    pub(super) fn to_storage_end(&self) -> usize {
        self.tail.to_storage_end(self.lane().cells())
    }

    /// Whether `count` slots are free. If so, they stay free until this end fills them.
    #[inline]
    pub(super) fn has_free_slots(&mut self, count: usize) -> bool {
        self.refresh_for(count);
        self.cached_free() >= count
    }

    /// `count` free slots behind the next `skip` ones. `None` where fewer than all of these are free.
    ///
    /// # Panics
    ///
    /// If the `count` slots do not lie beside each other.
    #[inline]
    pub(super) fn free_slots_behind(
        &mut self,
        skip: usize,
        count: usize,
    ) -> Option<NonNull<[MaybeUninit<T>]>> {
        if !self.has_free_slots(skip + count) {
            return None;
        }
        let (at, cells) = (self.tail.forward(skip, self.lane().cells()), self.lane().cells());
        assert!(count <= at.to_storage_end(cells), "the storage ends before");
        // SAFETY: they are behind the tail and free (lane.send1), so they belong to this end alone, as long
        // as it is borrowed. They lie beside each other.
        Some(unsafe { cells.uninit_at(at, count) })
    }

    /// Sends the first `count` of the [`free_slots`](Self::free_slots). Returns how many are sent: all, or
    /// none where the queue was closed meanwhile. In that case it drops them.
    ///
    /// # Safety
    ///
    /// They were written, and there were as many.
    #[inline(always)]
    pub(super) unsafe fn publish_slots(&mut self, count: usize) -> usize {
        if count == 0 {
            // Unreached: a close beside a send: two threads have to meet there; loom lane_wake
            return 0;
        }
        if !self.is_refused() && self.publish(count) {
            return count;
        }
        // SAFETY: the caller wrote them; the lane ends before them (`publish`), so nobody else looks at them.
        unsafe { drop_unsent(&self.node, self.tail, count) };
        0
    }

    /// Sends the messages in the next `count` slots, which may reach over the last slot. False where the
    /// queue was closed before: then nothing is sent.
    ///
    /// # Safety
    ///
    /// The slots are [free](Self::has_free_slots), and each holds a value.
    #[inline]
    pub(super) unsafe fn publish_copies(&mut self, count: usize) -> bool {
        const { assert!(!core::mem::needs_drop::<T>(), "what is not sent needs no drop") }
        !self.is_refused() && self.publish(count)
    }
}

/// Drops the `count` messages from `tail` on, which lie beside each other.
///
/// # Safety
///
/// They were written, and nobody else looks at them.
#[cold]
#[inline(never)]
unsafe fn drop_unsent<T, C: ControlBlock>(node: &LaneNode<OneToOne<T, C>>, tail: Position<T>, count: usize) {
    // SAFETY: the caller's promise: they were written, and are this end's alone.
    let unsent = unsafe { node.lane.cells().uninit_at(tail, count) }.as_ptr();
    // SAFETY: as above.
    unsafe { drop_values(unsent.cast::<T>(), count) };
}

/// How an end begins.
impl<T, C: ControlBlock> WriteEnd<T, C> {
    /// The producer of a lane on which nobody else sends, and whose next message is `next`. The queue state
    /// counts it already.
    #[inline(always)]
    pub(super) fn at(node: LaneShare<OneToOne<T, C>>, next: Number) -> Self {
        let tail = node.lane.position(next);
        let mut end = Self { node, tail, stop: tail.number };
        end.cache_limit(tail.number);
        end
    }

    #[inline(always)]
    pub(super) fn lane(&self) -> &OneToOne<T, C> {
        &self.node.lane
    }
}

impl<T> WriteEnd<T> {
    /// Another producer, with a lane of its own. On a closed queue all its sends fail.
    pub(super) fn another(&self) -> Result<Self, CapacityError> {
        let node = self.node.join()?;
        self.node.state().producer_comes();
        // Nobody else writes the tail. The producer that had the lane before gave it up (Release, Acquire).
        let next = node.lane.tail();
        let end = Self::at(node, next);
        end.node.base.store(end.tail.number.get(), Ordering::Relaxed);
        if let Some(sampler) = &end.node.sampler {
            sampler.reset();
        }
        // The consumer that ends the queue visits every lane that it sees. If it did not see this lane, the
        // producer sees the close before it sends.
        if !seeded!("join_unfenced") {
            self.node.state().published.fence();
        }
        Ok(end)
    }
}

impl<T, C: ControlBlock> Drop for WriteEnd<T, C> {
    fn drop(&mut self) {
        leave(&self.node);
    }
}

/// Takes the node and not the end, so that an end has no address (decision 0002).
#[cold]
#[inline(never)]
fn leave<T, C: ControlBlock>(node: &LaneNode<OneToOne<T, C>>) {
    state_of(node).leave(node);
}

/// Where other code has taken the steps for this end ([lent](super::lent)).
#[cfg(all(feature = "std", not(annulus_loom)))]
impl<T, C: ControlBlock> WriteEnd<T, C> {
    /// Continues `back` messages before the tail, which other code has stored for this end
    /// ([lent](super::lent)). Ends the run.
    pub(super) fn take_back(&mut self, back: usize) {
        let count = self.lane().tail().since(self.tail.number) as usize - back;
        self.tail = self.tail.forward(count, self.lane().cells());
        self.stop = self.tail.number;
    }

    /// lane.send4 of the next `count` messages, for which other code has taken lane.send3. Whether they
    /// are sent.
    ///
    /// # Safety
    ///
    /// They were written.
    pub(super) unsafe fn publish_again(&mut self, count: usize) -> bool {
        // The same tail once more, which is no harm.
        self.publish(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::kind::InPlace;
    use crate::queue::{Consumer, Producer, mpsc, spsc};

    /// lane.send1 to lane.send4 of one message, with calls in between. Returns whether the message is sent.
    fn send_around<C: ControlBlock>(
        end: &mut WriteEnd<u8, C>,
        before: impl FnOnce(),
        between: impl FnOnce(),
    ) -> bool {
        let (at, after) = (end.tail, end.tail.next(end.lane().cells()));
        before();
        // SAFETY: nothing is in the queue, so the slot is free.
        unsafe { end.lane().cells().write_at(at, 7) };
        end.lane().publish(after.number);
        between();
        let is_sent = publish_slow_path(&end.node, at.number, after.number);
        if is_sent {
            end.tail = after;
        }
        is_sent
    }

    /// Where a close meets a message that is being sent, the message is either received or given back.
    fn close_meets_send<K: InPlace, C: ControlBlock>(
        make: impl Fn() -> (Producer<u8, K>, Consumer<u8, K>),
        end: impl Fn(&mut Producer<u8, K>) -> &mut WriteEnd<u8, C>,
    ) {
        // The close only: the producer decides.
        let (mut producer, mut consumer) = make();
        assert!(send_around(end(&mut producer), || (), || consumer.close()));
        assert_eq!(consumer.iter().collect::<alloc::vec::Vec<_>>(), [7]);

        // The consumer sees the message when it ends the queue.
        let (mut producer, mut consumer) = make();
        let ends = || {
            consumer.close();
            assert!(!consumer.is_fully_drained());
        };
        assert!(send_around(end(&mut producer), || (), ends));
        assert_eq!(consumer.iter().collect::<alloc::vec::Vec<_>>(), [7]);

        // The consumer says that nothing will come.
        let (mut producer, mut consumer) = make();
        let ends = || {
            consumer.close();
            assert!(consumer.is_fully_drained());
        };
        assert!(!send_around(end(&mut producer), ends, || ()));
        assert!(consumer.recv().is_err());
    }

    #[test]
    fn close_beside_a_send_delivers_or_gives_back() {
        close_meets_send(|| spsc::channel(4), |producer| &mut producer.end);
        close_meets_send(|| mpsc::channel(4), |producer| &mut producer.end);
    }
}

//! The producer's end of a lane: L1 to L4 of `lane/lane.rs`.

use alloc::sync::Arc;
use core::mem::{self, ManuallyDrop, MaybeUninit};
use core::ptr;

use super::ends::Write;
use super::hub::Hub;
use super::member::{Member, MemberRef};
use super::room::wait_for_room;
use crate::error::{CapacityError, Refusal};
use crate::hint::unlikely;
use crate::lane::{Lane, Place};
use crate::sync::{Ordering, mutated};
use crate::wait::{Deadline, WaitStrategy};

/// The one producer of a lane.
///
/// Single messages are sent in runs. Within a run, a send has a slot that is known to be free, and the next one lies beside it: so
/// it stores the message and the tail, looks whether it is to attend to something, and that is all. What else there is to do comes between
/// two runs, [`apart`](super::apart).
///
/// What it knows of the room beyond the run is in the lane, and its hub is reached by the member: the fewer numbers a handle is, the
/// more likely they, and those of the loop that sends, all have registers. A store to the stack for each message would wait in line with those to the
/// slots, half as many of which would then be under way at once.
// Decision 0004: no more than four numbers.
pub(crate) struct WriteEnd<T> {
    /// With a share in its hub.
    member: MemberRef<Lane<T>>,
    /// The next message.
    tail: Place<T>,
    /// The run ends before this one, which is no further than the room that is known of, nor than the last slot.
    stop: u64,
}

// SAFETY: a share in a hub and a member of it, which may go where messages may go.
unsafe impl<T: Send> Send for WriteEnd<T> {}
// SAFETY: what a shared reference allows is atomic.
unsafe impl<T: Send> Sync for WriteEnd<T> {}

impl<T> WriteEnd<T> {
    /// The producer of `member`, a lane that nobody else sends on. It counts as a producer of the hub already.
    pub(super) fn new(hub: Arc<Hub<Lane<T>>>, member: MemberRef<Lane<T>>) -> Self {
        let lane = &member.lane;
        // Nobody else writes it; whoever had it before gave it up (Release, Acquire).
        let tail = lane.place(lane.tail());
        let mut end = Self { member, tail, stop: tail.number };
        end.know_room(tail.number);
        // Given back when this end goes.
        mem::forget(hub);
        end
    }

    /// Another producer, with a lane of its own. On a closed queue all its sends fail.
    pub(super) fn another(&self) -> Result<Self, CapacityError> {
        // SAFETY: this end has a share, which it keeps.
        let hub = ManuallyDrop::new(unsafe { Hub::share(&self.member) });
        let member = hub.join(|plan| Lane::new(plan.capacity, plan.first, plan.node))?;
        hub.producer_comes();
        let end = Self::new(Arc::clone(&hub), member);
        end.member.base.store(end.tail.number, Ordering::Relaxed);
        if let Some(probe) = &end.member.probe {
            probe.forget();
        }
        // The consumer that ends the queue comes by every lane that it sees. If it may not have seen this one, its producer sees the close
        // before it sends.
        if !mutated!("join_unfenced") {
            hub.sent.fence();
        }
        Ok(end)
    }

    #[inline(always)]
    fn hub(&self) -> &Hub<Lane<T>> {
        Hub::of(&self.member)
    }

    #[inline(always)]
    fn lane(&self) -> &Lane<T> {
        &self.member.lane
    }

    /// How many slots are known to be free.
    #[inline(always)]
    fn room(&mut self) -> usize {
        // SAFETY: nobody else sends on this lane.
        let until = unsafe { self.lane().known_room() };
        until.wrapping_sub(self.tail.number) as usize
    }

    /// There is room before message `until`.
    #[inline(always)]
    fn know_room(&mut self, until: u64) {
        // SAFETY: nobody else sends on this lane.
        unsafe { self.lane().know_room(until) };
    }

    /// L1. Returns where who sends one message after the other is to look again.
    #[inline(always)]
    fn look(&mut self) -> u64 {
        let until = self.lane().room_until();
        self.know_room(until);
        match &self.member.probe {
            None => until,
            Some(probe) => probe.begin(self.tail.number, until),
        }
    }

    /// L1, where the known room is less than `wanted`.
    #[inline(always)]
    fn look_for(&mut self, wanted: usize) {
        if self.room() < wanted {
            self.look();
        }
    }

    /// Whether the queue is closed, so that nothing is sent any more.
    #[inline(always)]
    pub(super) fn is_over(&self) -> bool {
        unlikely(self.hub().may_be_closed()) && !mutated!("close_unsettled")
    }

    /// L3 and L4 for the next `count` messages, which lie in their slots; false where the queue was closed meanwhile: they are the caller's then.
    /// Ends the run where they go beyond it.
    #[inline(always)]
    fn publish(&mut self, count: usize) -> bool {
        let goes_beyond = unlikely(count > self.run());
        let after =
            if goes_beyond { self.tail.forward(count, self.lane().cells()) } else { self.tail.skip(count) };
        let is_sent = publish(self.member, self.tail, after);
        if is_sent {
            self.tail = after;
            if goes_beyond && !mutated!("send_run_goes_on") {
                self.stop = after.number;
            }
        }
        is_sent
    }

    /// How many messages of the run are left.
    #[inline(always)]
    fn run(&self) -> usize {
        self.stop.wrapping_sub(self.tail.number) as usize
    }

    /// As [`put`](Write::put), to a queue that is not [over](Self::is_over), and begins a run. `is_lone` where the consumer has no other lane, and so
    /// always looks here.
    ///
    /// # Safety
    ///
    /// There is room.
    #[inline]
    pub(super) unsafe fn put_open(&mut self, value: T, is_lone: bool) -> Result<(), T> {
        let (at, after) = (self.tail, self.tail.next(self.lane().cells()));
        // SAFETY: the caller's promise; the message lies in its slot when it is attended to.
        let sent = unsafe { self.put_before(after, value, is_lone, |member, _| attend_to_one(member, at)) };
        self.begin_run();
        sent
    }

    /// As [`put_plainly`](Write::put_plainly), to a queue that is not [over](Self::is_over).
    ///
    /// # Safety
    ///
    /// There is a run, and it is not [at its end](Self::is_at_stop).
    #[inline(always)]
    pub(super) unsafe fn put_on(&mut self, value: T, is_lone: bool) -> Result<(), T> {
        // SAFETY: the caller's promise: up to the run's end there is room, and the slots lie beside each other. The message lies in its slot when it is
        // attended to.
        unsafe {
            self.put_before(self.tail.step(), value, is_lone, |member, after| attend_behind(member, after))
        }
    }

    /// Sends a message, unless the queue was closed. `after` is the place after its own. Where something is to be done after it, `attend` does that, is
    /// called with this place, and gives back the message if it was not sent.
    ///
    /// # Safety
    ///
    /// There is room.
    #[inline(always)]
    unsafe fn put_before(
        &mut self,
        after: Place<T>,
        value: T,
        is_lone: bool,
        attend: impl FnOnce(MemberRef<Lane<T>>, Place<T>) -> Result<(), T>,
    ) -> Result<(), T> {
        let ring = &*self.member;
        // Read before the stores: after them the compiler would have to read it again.
        let hub = Hub::of(ring);
        // SAFETY: there is room, so the slot is this end's alone.
        unsafe { ring.lane.cells().write_at(self.tail, value) };
        // Before the look: so nothing is left to do after it. (Where the message is given back, this end sends nothing any more.)
        self.tail = after;
        ring.lane.publish(after.number);
        if unlikely(!is_calm(hub, ring, is_lone)) {
            return attend(self.member, after);
        }
        Ok(())
    }

    /// Whether there is no run, or it has come to its end.
    #[inline(always)]
    pub(super) fn is_at_stop(&self) -> bool {
        unlikely(self.tail.number == self.stop)
    }

    /// Begins a run: as far as there is known to be room, and slots lie beside each other.
    fn begin_run(&mut self) {
        // Decision 0003: single messages go in runs.
        let beside = self.room().min(self.tail.left(self.lane().cells()));
        self.stop = self.tail.number.wrapping_add(beside as u64);
    }

    /// A2: whether the consumer waits for the next message, and has asked for it.
    #[inline(always)]
    pub(super) fn is_asked_for(&self) -> bool {
        self.lane().is_asked_for(self.tail.number)
    }

    /// As [`put`](Write::put), beside the tail instead of in its slot, of a lane that is alone.
    ///
    /// # Safety
    ///
    /// There is room, and the message [is asked for](Self::is_asked_for).
    pub(super) unsafe fn hand_over(&mut self, value: T) -> Result<(), T> {
        // SAFETY: the caller's promise.
        unsafe { self.lane().hand_over(self.tail.number, value) };
        if self.publish(1) {
            Ok(())
        } else {
            // SAFETY: handed over above, and the lane ends before it.
            Err(unsafe { self.lane().take_back() })
        }
    }

    /// Copies `values` to the slots from `place` on.
    ///
    /// # Safety
    ///
    /// There are so many slots beside each other, and room for them.
    #[inline(always)]
    unsafe fn copy_in(&self, place: Place<T>, values: &[T])
    where
        T: Copy,
    {
        // Decision 0050: no prefetch ahead.
        // SAFETY: the caller's promise; with room (L1), the slots are this end's alone.
        let free = unsafe { self.lane().cells().uninit_at(place, values.len()) };
        // SAFETY: both are as long. A `T` is a `MaybeUninit<T>`.
        unsafe { ptr::copy_nonoverlapping(values.as_ptr(), free.as_mut_ptr().cast(), values.len()) };
    }

    /// Up to `most` contiguous free slots; empty where there is none.
    #[inline]
    pub(super) fn free_slots(&mut self, most: usize) -> &mut [MaybeUninit<T>] {
        let mut count = most;
        if unlikely(most > self.run()) {
            self.look_for(most);
            self.begin_run();
            count = most.min(self.room()).min(self.tail.to_end(self.lane().cells()));
        }
        // SAFETY: they are behind the tail and there is room for them (L1), so the slots are this end's alone; the borrow of this end keeps it so. They
        // lie beside each other: the run's do, and where there is another bound, it is the last slot.
        unsafe { self.lane().cells().uninit_at(self.tail, count) }
    }

    /// Sends the first `count` of the [`free_slots`](Self::free_slots); returns how many are sent: all, or none where the queue was closed
    /// meanwhile. Then they are dropped.
    ///
    /// # Safety
    ///
    /// They were written, and there were as many.
    #[inline(always)]
    pub(super) unsafe fn publish_slots(&mut self, count: usize) -> usize {
        if count == 0 {
            return 0;
        }
        if !self.is_over() && self.publish(count) {
            return count;
        }
        // SAFETY: the caller wrote them; the lane ends before them (`publish`), so nobody else looks at them.
        unsafe { drop_unsent(self.member, self.tail, count) };
        0
    }
}

/// L4: whether nothing is to be done after L3.
#[inline(always)]
fn is_calm<T>(hub: &Hub<Lane<T>>, member: &Member<Lane<T>>, is_lone: bool) -> bool {
    // Its fence comes before the other look, too.
    hub.sent.is_calm() && (is_lone || member.is_listed())
}

/// L3 and L4 for the messages from `tail` to `after`. Returns whether they are sent; if not, the queue was closed meanwhile.
#[inline(always)]
fn publish<T>(member: MemberRef<Lane<T>>, tail: Place<T>, after: Place<T>) -> bool {
    member.lane.publish(after.number);
    !unlikely(!is_calm(Hub::of(&member), &member, false)) || attend(member, tail.number, after.number)
}

/// L4, where something is to be done. Returns whether the messages from `first` to `tail` are sent; if not, the queue was closed before.
#[cold]
#[inline(never)]
fn attend<T>(member: MemberRef<Lane<T>>, first: u64, tail: u64) -> bool {
    let hub = Hub::of(&member);
    hub.sent.fence();
    // E2. Messages up to the end are the consumer's; the end is behind all of these or before the first.
    let sent = !hub.may_be_closed() || mutated!("close_unsettled") || member.lane.seal(tail) == tail;
    if !mutated!("call_nobody") {
        hub.roster.list(&member);
    }
    hub.sent.notify();
    if !sent {
        // The consumer will not look any more, and nobody else goes by the tail, but it counts.
        member.lane.publish(first);
    }
    sent
}

/// [`attend`] after the message at `at` alone, which comes back if it is not sent.
///
/// # Safety
///
/// The message lies in its slot.
#[cold]
#[inline(never)]
unsafe fn attend_to_one<T>(member: MemberRef<Lane<T>>, at: Place<T>) -> Result<(), T> {
    if attend(member, at.number, at.number.wrapping_add(1)) {
        return Ok(());
    }
    // SAFETY: the caller's promise; the lane ends before the message.
    Err(unsafe { member.lane.cells().take_at(at) })
}

/// [`attend_to_one`] where the message lies just before `after`. So the loop that sends needs a register for one of the two places.
///
/// # Safety
///
/// The message lies in its slot, and `after` is a step from there.
#[cold]
#[inline(never)]
unsafe fn attend_behind<T>(member: MemberRef<Lane<T>>, after: Place<T>) -> Result<(), T> {
    // SAFETY: the caller's promise.
    unsafe { attend_to_one(member, after.back()) }
}

/// Drops the `count` messages from `tail` on, which lie beside each other.
///
/// # Safety
///
/// They were written, and nobody else looks at them.
#[cold]
#[inline(never)]
unsafe fn drop_unsent<T>(member: MemberRef<Lane<T>>, tail: Place<T>, count: usize) {
    // SAFETY: the caller's promise: they were written, and are this end's alone.
    let unsent = ptr::from_mut(unsafe { member.lane.cells().uninit_at(tail, count) });
    // SAFETY: as above. One whose destructor panics does not keep the others from being dropped.
    unsafe { (unsent as *mut [T]).drop_in_place() };
}

impl<T: Send> Write<T> for WriteEnd<T> {
    type Lane = Lane<T>;

    #[inline(always)]
    fn hub(&self) -> &Hub<Lane<T>> {
        self.hub()
    }

    fn has_room(&mut self) -> bool {
        if self.room() == 0 {
            let until = self.look();
            self.know_room(until);
        }
        self.room() != 0 || mutated!("lane_overwrites")
    }

    unsafe fn put(&mut self, value: T) -> Result<(), T> {
        if self.is_over() {
            return Err(value);
        }
        // SAFETY: the caller's promise.
        unsafe { self.put_open(value, false) }
    }

    #[inline(always)]
    fn put_plainly(&mut self, value: T) -> Result<(), T> {
        if self.is_at_stop() || self.is_over() {
            return Err(value);
        }
        // SAFETY: just looked.
        unsafe { self.put_on(value, false) }
    }

    #[inline]
    fn put_some(&mut self, values: &[T]) -> usize
    where
        T: Copy,
    {
        // So many are sent, and so many of them lie beside each other.
        let (mut count, mut beside) = (values.len(), values.len());
        if unlikely(count > self.run()) {
            self.look_for(count);
            self.begin_run();
            count = count.min(self.room());
            beside = count.min(self.tail.to_end(self.lane().cells()));
        }
        if count == 0 || self.is_over() {
            return 0;
        }
        let (before, behind) = values[..count].split_at(beside);
        // SAFETY: the run has as many, or it is just so bounded.
        unsafe { self.copy_in(self.tail, before) };
        if !behind.is_empty() {
            if mutated!("slice_in_two") && self.publish(beside) {
                return beside + self.put_some(behind);
            }
            // SAFETY: these are the first slots, and there is room for all.
            unsafe { self.copy_in(self.tail.forward(beside, self.lane().cells()), behind) };
        }
        if self.publish(count) { count } else { 0 }
    }

    fn wait(&mut self, strategy: WaitStrategy, deadline: Deadline) -> Result<(), Refusal> {
        let tail = self.tail.number;
        let handful = (self.hub().plan.capacity as u64 / 8).max(1);
        let room = |lane: &Lane<T>| lane.room_until().wrapping_sub(tail);
        let room = wait_for_room(self.hub(), &self.member, handful, room, strategy, deadline)?;
        self.know_room(tail.wrapping_add(room));
        Ok(())
    }

    fn len(&self) -> usize {
        self.lane().len()
    }
}

impl<T> Drop for WriteEnd<T> {
    fn drop(&mut self) {
        leave(self.member);
    }
}

/// By value, so that an end has no address (decision 0002).
#[cold]
#[inline(never)]
fn leave<T>(member: MemberRef<Lane<T>>) {
    // SAFETY: the share of `new`, given back once: the end is being dropped.
    let hub = unsafe { Hub::share(&member) };
    hub.leave(&member);
    drop(hub);
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::*;
    use crate::queue::{Consumer, InPlace, Producer, mpsc, spsc};

    /// L1 to L4 of one message, with something in the middle; says whether it is sent.
    fn send_around(end: &mut WriteEnd<u8>, before: impl FnOnce(), between: impl FnOnce()) -> bool {
        let (at, after) = (end.tail, end.tail.next(end.lane().cells()));
        before();
        // SAFETY: nothing is in the queue, so the slot is free.
        unsafe { end.lane().cells().write_at(at, 7) };
        end.lane().publish(after.number);
        between();
        let is_sent = attend(end.member, at.number, after.number);
        if is_sent {
            end.tail = after;
        }
        is_sent
    }

    /// Where a close meets a message that is on its way, it is received or given back, and not both.
    fn who_is_first_decides<K: InPlace>(
        make: impl Fn() -> (Producer<u8, K>, Consumer<u8, K>),
        end: impl Fn(&mut Producer<u8, K>) -> &mut WriteEnd<u8>,
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
    fn who_is_first_decides_where_a_queue_ends() {
        who_is_first_decides(|| spsc::channel(4), |producer| &mut producer.end.end);
        who_is_first_decides(|| mpsc::channel(4), |producer| &mut producer.end);
    }
}

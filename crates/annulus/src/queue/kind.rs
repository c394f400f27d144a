//! What the four kinds of queue have in common, and what tells them apart. The public handles are written once, over these.

use alloc::vec::Vec;

use super::hub::{Hub, Plan};
use super::read::ReadEnd;
use super::roster::Round;
use super::stats::ProducerStats;
use super::write::WriteEnd;
use crate::error::{CapacityError, Refusal};
use crate::wait::{Deadline, Event, WaitStrategy};

/// A kind of queue: who sends and who receives. [`Spsc`](crate::spsc::Spsc), [`Mpsc`](crate::mpsc::Mpsc) and
/// so on are kinds. There are no others, because the trait can't be implemented outside this crate.
#[allow(private_bounds, reason = "this is what seals it")]
pub trait Kind: Parts {}

/// A kind of queue whose messages can be written and read in place, as slices.
#[diagnostic::on_unimplemented(
    message = "messages of a queue of kind `{Self}` cannot be written or read in place: many consumers take them one by one",
    label = "not for queues with many consumers",
    note = "`spsc` and `mpsc` queues have it; here, receive messages by value, one by one or in batches"
)]
#[allow(private_bounds, reason = "this is what seals it")]
pub trait InPlace: Kind + Lanes {}

/// A kind of queue that producers can join while it runs.
#[diagnostic::on_unimplemented(
    message = "a queue of kind `{Self}` has one producer",
    label = "no other producer can join",
    note = "`mpsc` and `mpmc` queues have many: their producers are cloned"
)]
#[allow(private_bounds, reason = "this is what seals it")]
pub trait Joinable: Kind + Join {}

/// A kind of queue that consumers can join while it runs.
#[diagnostic::on_unimplemented(
    message = "a queue of kind `{Self}` has one consumer",
    label = "no other consumer can join",
    note = "`spmc` and `mpmc` queues have many, each message for one of them; where all are to see every message, use a broadcast ring"
)]
#[allow(private_bounds, reason = "this is what seals it")]
pub trait Shared: Kind + Divide {}

/// What a queue of a kind is made of.
pub(crate) trait Parts: Sized + 'static {
    /// A producer's end.
    type Write<T: Send>: Write<T> + Send + Sync;
    /// A consumer's end.
    type Read<T: Send>: Read<T> + Send + Sync;
    /// What its handles are called in debug output.
    const NAME: &'static str;

    /// The ends of a new queue.
    #[allow(clippy::type_complexity, reason = "two ends")]
    fn ends<T: Send>(plan: Plan) -> Result<(Self::Write<T>, Self::Read<T>), CapacityError>;
}

/// The lanes of a kind whose messages lie beside each other.
pub(crate) trait Lanes: Parts {
    fn write_end<T: Send>(write: &mut Self::Write<T>) -> &mut WriteEnd<T>;

    /// The lane to take from next. Where it has no message, no lane has.
    fn read_end<T: Send>(read: &mut Self::Read<T>) -> &mut ReadEnd<T>;

    /// The lane that the last look was at.
    fn current<T: Send>(read: &mut Self::Read<T>) -> &mut ReadEnd<T>;

    /// The lane that the last look was at has had its turn.
    fn end_turn<T: Send>(_read: &mut Self::Read<T>) {}

    /// What each producer has done, in the order of joining.
    fn producers<T: Send>(read: &Self::Read<T>) -> Vec<ProducerStats>;
}

/// How a producer joins.
pub(crate) trait Join: Parts {
    /// Another producer, with a ring of its own.
    fn another<T: Send>(write: &Self::Write<T>) -> Result<Self::Write<T>, CapacityError>;
}

/// How a consumer joins.
pub(crate) trait Divide: Parts {
    /// Another consumer.
    fn another<T: Send>(read: &Self::Read<T>) -> Self::Read<T>;
}

/// A producer's end. `put` and its like never wait.
pub(crate) trait Write<T> {
    /// What the hub has for lanes.
    type Lane;

    fn hub(&self) -> &Hub<Self::Lane>;

    /// Sends `value` if there is nothing else to do; gives it back otherwise, not sent, for the caller to take the long way: by
    /// [`has_room`](Self::has_room) and [`put`](Self::put), [`apart`](super::apart::apart).
    fn put_plainly(&mut self, value: T) -> Result<(), T>;

    /// Whether there is room for a message. If so, nobody else takes it.
    fn has_room(&mut self) -> bool;

    /// Sends `value`, or gives it back where the queue was closed before.
    ///
    /// # Safety
    ///
    /// The last call of this end was [`has_room`](Self::has_room), which said so, or a [`wait`](Self::wait) that succeeded.
    unsafe fn put(&mut self, value: T) -> Result<(), T>;

    /// Sends as many of `values` as there is room for, from the first on; none where the queue is closed.
    fn put_some(&mut self, values: &[T]) -> usize
    where
        T: Copy;

    /// Waits for room for one message.
    fn wait(&mut self, strategy: WaitStrategy, deadline: Deadline) -> Result<(), Refusal>;

    /// How many messages lie in its ring.
    fn len(&self) -> usize;
}

/// A consumer's end.
pub(crate) trait Read<T> {
    /// What the hub has for lanes.
    type Lane;

    fn hub(&self) -> &Hub<Self::Lane>;

    /// Where to wait for a message.
    fn event(&self) -> &Event;

    /// The caller looks for the next message again and again, and wants it as soon as it is there: its line may come beside the look, not after
    /// it, and the look is not followed by a rest.
    fn expect(&mut self) {}

    /// The caller has looked for the next message in vain, and goes on to do so.
    fn ask(&mut self) {}

    /// Takes the next message, if it takes no more than that; where it does not, the caller takes the long way: by [`try_take`](Self::try_take),
    /// [`apart`](super::apart::apart).
    fn take_plainly(&mut self) -> Option<T>;

    /// Takes the next message, if there is one.
    fn try_take(&mut self) -> Option<T>;

    /// Hands up to `most` messages of one ring to `each`, as [`try_take`](Self::try_take) would take them, and says how many that were; 0
    /// means that nothing was there. If `each` panics, the messages it got count as taken, and the others stay.
    fn take_some(&mut self, most: usize, each: impl FnMut(T)) -> usize;

    /// As [`take_some`](Self::take_some), but from the lane that is the next to take from, and from no other.
    #[inline]
    fn take_here(&mut self, most: usize, each: impl FnMut(T)) -> usize {
        self.take_some(most, each)
    }

    /// As [`take_some`](Self::take_some), but from one ring after the other, until there are `most` or nothing is left.
    #[inline]
    fn take_up_to(&mut self, most: usize, mut each: impl FnMut(T)) -> usize {
        take_up_to(most, |left| self.take_some(left, &mut each))
    }

    /// Moves messages into `places`, from the first on, and returns how many; what was there before is dropped.
    fn take_into(&mut self, places: &mut [T]) -> usize;

    /// Begins to visit every lane once.
    fn begin_round(&mut self) -> Round;

    /// Makes the next lane of `round` the next to take from; false where there is no other.
    fn next_in_round(&mut self, round: &mut Round) -> bool;

    /// How many messages lie in the lane that is the next to take from.
    fn here(&mut self) -> usize;

    /// Once the queue is closed: whether nothing is left nor will come, for good. After a first false something may be there.
    fn settle(&mut self) -> bool;

    /// How many messages lie in all its rings.
    fn len(&self) -> usize;
}

/// Calls `take` with how many messages are left of `count`, until it has taken them all, or none.
#[inline]
pub(super) fn take_up_to(count: usize, mut take: impl FnMut(usize) -> usize) -> usize {
    let mut left = count;
    while left > 0 {
        match take(left) {
            0 => break,
            taken => left -= taken,
        }
    }
    count - left
}

/// What the module of each kind has: names for its handles, and short forms of its builder. `holds` says what a capacity is the capacity of.
macro_rules! channels {
    ($kind:ident, holds: $holds:literal) => {
        /// A producer of such a queue.
        pub type Producer<T> = super::Producer<T, $kind>;

        /// A consumer of such a queue.
        pub type Consumer<T> = super::Consumer<T, $kind>;

        /// The builder of such a queue.
        pub type Builder = super::Builder<$kind>;

        #[doc = $holds]
        ///
        /// # Panics
        ///
        /// If `capacity` is 0, or memory has no room for so many slots. [`Builder::build`] returns an error
        /// instead.
        #[doc(alias = "try_channel")]
        #[must_use]
        #[track_caller]
        pub fn channel<T: Send>(capacity: usize) -> (Producer<T>, Consumer<T>) {
            Builder::new(capacity).build_or_panic()
        }
    };
}
pub(super) use channels;

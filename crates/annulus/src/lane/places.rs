//! [`PlaceTable`]: how producers of other processes take the lanes of a queue, and leave them.
//!
//! A place is a lane, and a lock. The producer that has the lock is the lane's producer. The lock is free at
//! the latest when the process ends. The next producer finds the lane as the last one left it: all messages
//! before the tail were sent, and no other was.
//!
//! ```text
//! producer that joins                              producer that leaves
//! places.join1  take the lock of a place           places.leave4  left := left + 1
//! places.join2  came := came + 1                   places.count5  does the queue end? close it
//!               used := place + 1, at least        places.leave6  give the lock up
//! places.join3  go on at the tail
//! ```
//!
//! *Which producers are there*: a place has a producer if more have come than left, and somebody has the
//! lock. If nobody has it, one of them has ended without places.leave4. So nobody has to note a death, or to
//! sweep after it.
//!
//! *When all are gone.* Each producer that leaves looks whether another place has a producer (places.count5),
//! after its places.leave4 and a fence. Of the last two, one sees the other's places.leave4. If it takes the
//! other's lock for a producer's lock, or if the last one has died, nobody closes the queue at places.count5.
//! Then the consumer does, which looks now and then.
//!
//! Any process may write any number there. The queue may then seem to have no producers, and close; and the
//! numbers in the statistics are wrong.
// Decision 0103: a lane goes with a lock of the kernel.

use alloc::boxed::Box;
use alloc::sync::Arc;

use super::{Numbers, Producers};
use crate::stats::HandleCount;
use crate::sync::seeded;

/// The places of a queue, as one of its processes has them.
pub(crate) trait PlaceTable: Send + Sync + 'static {
    /// How many there are.
    fn count(&self) -> usize;

    /// Whether the queue ends when all producers are gone, after one at least was there.
    fn ends(&self) -> bool;

    /// The numbers of the queue.
    fn queue(&self) -> &Numbers;

    /// The numbers of the lane of this place, which is one of the places.
    fn numbers(&self, place: usize) -> &Numbers;

    /// Whether somebody has the lock of this place. (Not to be asked by the process that has it.)
    fn is_held(&self, place: usize) -> bool;

    /// A producer comes, which has the lock of this place.
    fn come(&self, place: usize) {
        // places.join2.
        self.numbers(place).producer_comes();
        self.queue().uses(place);
    }

    /// Whether a producer has the place. (Not for the opening that has its lock.)
    fn has_producer(&self, place: usize) -> bool {
        let (came, left) = self.numbers(place).producers();
        came != left && (self.is_held(place) || seeded!("shm_dead_producers_stay"))
    }

    /// How many have a producer. `own`: the place whose lock this opening has, which it does not see.
    fn taken(&self, own: Option<usize>) -> usize {
        (0..self.count()).filter(|&place| Some(place) == own || self.has_producer(place)).count()
    }

    /// How many producers have come.
    fn came(&self) -> u64 {
        (0..self.count()).map(|place| self.numbers(place).producers().0).fold(0, u64::wrapping_add)
    }

    /// How many producers there are, and how many there have been. `own`: as of [`taken`](Self::taken).
    fn handles(&self, own: Option<usize>) -> HandleCount {
        let now = self.taken(own);
        HandleCount::new(now, self.came().max(now as u64))
    }

    /// How many producers have died: they have come, and not left, and their locks are free.
    fn died(&self) -> u64 {
        let died = |place| {
            // In this order: one that leaves meanwhile has not died.
            let (came, _) = self.numbers(place).producers();
            let is_there = self.has_producer(place);
            let (_, left) = self.numbers(place).producers();
            // (Any number may lie there.)
            came.saturating_sub(left).saturating_sub(is_there.into())
        };
        (0..self.count()).map(died).fold(0, u64::wrapping_add)
    }

    /// Whether the queue has ended: somebody was there, and nobody is.
    fn is_over(&self) -> bool {
        self.ends() && self.came() != 0 && self.taken(None) == 0
    }

    /// The producer of this place leaves. Whether the queue ends with it.
    fn leave(&self, place: usize) -> bool {
        // places.leave4.
        self.numbers(place).producer_leaves();
        // places.count5.
        let is_last = (0..self.count()).all(|other| other == place || !self.has_producer(other));
        self.ends() && is_last || seeded!("shm_who_leaves_closes")
    }

    /// What a queue state of this process knows of the producers. `own`: the place of its own.
    fn producers(self: &Arc<Self>, own: Option<usize>) -> Producers
    where
        Self: Sized,
    {
        let [counted, asked, left] = [(); 3].map(|()| Arc::clone(self));
        Producers {
            count: Box::new(move || counted.handles(own)),
            have_died: Box::new(move || asked.died() != 0),
            leave: own
                .map(|place| -> Box<dyn Fn() -> bool + Send + Sync> { Box::new(move || left.leave(place)) }),
        }
    }
}

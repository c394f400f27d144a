//! What the C library lends to a C program: where the plain paths of a lane find their words, and how a
//! handle takes over what went past it.
//!
//! `annulus_inline.h` has the plain paths of a send (lane.send2 to lane.send4) and of a receive
//! (lane.take5 to lane.take8) once more, for compilers of C. While a handle is lent, only that code sends or
//! receives. Whatever it has done, the number that it stored last lies in the lane, and the handle continues
//! from there. So nothing is believed of the other language but the rules of a lane.

// Decision 0127: what is lent, and why not the handle's own numbers.

use core::ptr::NonNull;

use super::ends::{Read, Write};
use super::spsc;
use crate::wait::EventCount;

/// The words of a lane, as one of its sides uses them. They live as long as the handle.
#[derive(Clone, Copy, Debug)]
pub struct Lent {
    /// The number that this side writes.
    pub own: NonNull<u64>,
    /// The number that the other side writes.
    pub other: NonNull<u64>,
    /// Where the other side sleeps: after each store to `own`, [`Lent::SLOW`] of it tell whether there is
    /// more to do.
    pub wakes: NonNull<u32>,
    /// Has [`Lent::CLOSED`] from the close on.
    pub closes: NonNull<u32>,
    /// Of a consumer: so many messages from the next one on will lie beside each other, as far as a look at
    /// `other` (Acquire) tells that they are there. 0 where only the handle can tell.
    pub beside: usize,
}

impl Lent {
    /// The queue is closed.
    pub const CLOSED: u32 = EventCount::CLOSED;
    /// Somebody sleeps, or the waker needs a fence of its own.
    pub const SLOW: u32 = EventCount::SLOW_BITS;
}

#[doc(hidden)]
impl<T: Send> spsc::Producer<T> {
    /// What a send needs. The slots come from a reservation.
    #[must_use]
    pub fn lend(&self) -> Lent {
        let lane = self.end.lane();
        let (own, other) = (lane.tail_word(), lane.head_word());
        let published = self.end.state().published.word();
        let (own, other) = (NonNull::from(own).cast(), NonNull::from(other).cast());
        let published = NonNull::from(published).cast();
        Lent { own, other, wakes: published, closes: published, beside: 0 }
    }

    /// Continues behind the messages that were sent past this handle. It did all for them that there is to
    /// do.
    ///
    /// # Safety
    ///
    /// The code that sent them had reserved so many slots from this handle, and wrote the message of each
    /// before the number that tells of it (Release).
    pub unsafe fn take_back(&mut self) {
        self.end.take_back(0);
    }

    /// As [`take_back`](Self::take_back), where a look after the last store has found that there is more to
    /// do: does it for the last `count` messages, which were sent at once. Whether these are sent. If not,
    /// the queue was closed before.
    ///
    /// # Safety
    ///
    /// As of [`take_back`](Self::take_back); `count` is not 0, and these are among them.
    pub unsafe fn settle(&mut self, count: usize) -> bool {
        let end = &mut self.end;
        end.take_back(count);
        // SAFETY: the caller's promise.
        unsafe { end.publish_again(count) }
    }
}

#[doc(hidden)]
impl<T: Send> spsc::Consumer<T> {
    /// What a receive needs. The messages come from [`readable`](super::Consumer::readable).
    #[must_use]
    pub fn lend(&self) -> Lent {
        let end = &self.end.end;
        let (own, other) = (end.lane().head_word(), end.lane().tail_word());
        let (released, published) = (end.node.released.word(), self.end.state().published.word());
        let (own, other) = (NonNull::from(own).cast(), NonNull::from(other).cast());
        let (wakes, closes) = (NonNull::from(released).cast(), NonNull::from(published).cast());
        Lent { own, other, wakes, closes, beside: end.lent_beside() }
    }

    /// Continues behind the messages that were taken past this handle. It did all for them that there is to
    /// do.
    ///
    /// # Safety
    ///
    /// The code that took them had seen them through this handle, or as [`Lent::beside`] says, and no longer
    /// looks at them.
    #[inline]
    pub unsafe fn take_back(&mut self) {
        self.end.end.take_back();
    }

    /// As [`take_back`](Self::take_back), where a look after the last store has found that there is more to
    /// do: wakes the producer that waits for the slots.
    ///
    /// # Safety
    ///
    /// As of [`take_back`](Self::take_back).
    // Unreached: only the C library reaches it
    pub unsafe fn settle(&mut self) {
        self.end.end.take_back();
        self.end.end.wake_again();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::{AtomicU32, AtomicU64, Ordering};

    fn add(word: NonNull<u64>, count: u64) {
        // SAFETY: a word of a lane that lives.
        unsafe { AtomicU64::from_ptr(word.as_ptr()) }.fetch_add(count, Ordering::AcqRel);
    }

    fn has(word: NonNull<u32>, bits: u32) -> bool {
        // SAFETY: a word of a queue that lives.
        unsafe { AtomicU32::from_ptr(word.as_ptr()) }.load(Ordering::Relaxed) & bits != 0
    }

    /// Sends past the handle, as C does: up to `most` messages, beside each other.
    fn send_past(producer: &mut spsc::Producer<u64>, first: u64, most: usize) -> usize {
        let mut reservation = producer.try_reserve(most).unwrap();
        let slots = reservation.as_uninit();
        let count = slots.len();
        (first..).zip(slots).for_each(|(number, slot)| _ = slot.write(number));
        add(producer.lend().own, count as u64);
        count
    }

    #[test]
    fn handle_continues_behind_what_went_past_it() {
        let (mut producer, mut consumer) = spsc::channel(5);
        let (mut sent, mut received) = (0, 0);
        for turn in 0..100 {
            if turn % 3 == 0 {
                producer.try_send(sent).unwrap();
                sent += 1;
            } else {
                let count = send_past(&mut producer, sent, 1 + turn % 4);
                // SAFETY: reserved and written.
                unsafe { if turn % 2 == 0 { producer.take_back() } else { assert!(producer.settle(count)) } };
                sent += count as u64;
            }
            while received < sent {
                if received % 2 == 0 {
                    assert_eq!(consumer.peek(), Some(&received));
                    add(consumer.lend().own, 1);
                    // SAFETY: it was seen, and nobody looks at it any more.
                    unsafe { consumer.take_back() };
                } else {
                    assert_eq!(consumer.try_recv(), Ok(received));
                }
                received += 1;
            }
            assert_eq!(producer.len(), 0);
        }
    }

    /// What came after the handle's last look is taken past it, too; what comes then is received.
    #[test]
    fn handle_continues_behind_what_it_has_not_seen() {
        let (mut producer, mut consumer) = spsc::channel::<u64>(8);
        producer.try_send_batch(&[1, 2]).unwrap();
        assert_eq!(consumer.readable(), [1, 2]);
        producer.try_send_batch(&[3, 4, 5]).unwrap();
        assert!(consumer.lend().beside >= 5);
        add(consumer.lend().own, 5);
        // SAFETY: they lie there, beside each other, and nobody looks at them any more.
        unsafe { consumer.take_back() };
        assert_eq!(consumer.lend().beside, 3);
        assert!(consumer.readable().is_empty());
        producer.try_send(6).unwrap();
        assert_eq!(consumer.try_recv(), Ok(6));
        consumer.close();
        assert!(consumer.recv().is_err());
        assert_eq!(consumer.lend().beside, 0, "the end is decided: only the handle knows it");
    }

    /// What was sent past a handle before the close is received; what came after it is not sent.
    #[test]
    fn end_is_where_the_consumer_saw_it() {
        for ends_between in [false, true] {
            let (mut producer, mut consumer) = spsc::channel(8);
            let first = send_past(&mut producer, 0, 2);
            // SAFETY: reserved and written.
            unsafe { producer.take_back() };
            consumer.close();
            assert!(has(producer.lend().closes, Lent::CLOSED));
            if ends_between {
                assert_eq!((consumer.recv(), consumer.recv()), (Ok(0), Ok(1)));
                assert!(consumer.is_fully_drained());
            }
            // Past the check for the close, which comes before.
            let end = &mut producer.end;
            // SAFETY: they are its own.
            unsafe { end.free_slots(2).as_mut() }.fill(core::mem::MaybeUninit::new(2));
            add(producer.lend().own, 2);
            // SAFETY: reserved and written.
            assert_eq!(unsafe { producer.settle(2) }, !ends_between);
            let rest = consumer.iter().count();
            assert_eq!(rest, if ends_between { 0 } else { first + 2 });
            assert_eq!(producer.len(), 0);
        }
    }

    /// A consumer that is dropped while it is lent leaves what was taken past it.
    #[test]
    fn handle_may_be_dropped_when_it_is_lent() {
        let (mut producer, mut consumer) = spsc::channel::<u64>(4);
        producer.try_send_batch(&[1, 2, 3]).unwrap();
        assert_eq!(consumer.readable(), [1, 2, 3]);
        add(consumer.lend().own, 2);
        // SAFETY: seen, and no longer looked at.
        unsafe { consumer.take_back() };
        drop(consumer);
        assert!(producer.is_closed());
    }
}

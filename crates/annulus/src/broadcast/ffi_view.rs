//! What the C library lends to a C program: where the plain paths of a lossy ring of one publisher find their
//! words, and how a handle takes over what went past it.
//!
//! `annulus_inline.h` has the plain path of a publication (slot.w1 to slot.w4, end.send4, head.pass1) and the
//! plain path of a receive (slot.r1 to slot.r4) once more, for compilers of C. While a handle is lent, only
//! that code publishes or receives.

// Decision 0127: what is lent, and why not the handle's own numbers.

use core::ptr::NonNull;

use super::{Publisher, Subscriber};
use crate::base::sequence::Sequence;
use crate::message::Message;
use crate::ring::{LentHead, LentSlots, WithoutSlot};

/// The words of a ring, as its publisher uses them. They live as long as the handle.
#[derive(Clone, Copy, Debug)]
pub struct LentPublisher {
    /// The slots.
    pub slots: LentSlots,
    /// How far the publisher says it is.
    pub head: LentHead,
    /// The message that comes next.
    pub next: u64,
    /// Where subscribers sleep: after each message, [`Lent::SLOW`](crate::queue::Lent::SLOW) of it
    /// tell whether somebody is to be woken.
    pub wakes: NonNull<u32>,
}

/// The words of a ring, as a subscriber uses them. They live as long as the handle.
#[derive(Clone, Copy, Debug)]
pub struct LentSubscriber {
    /// The slots.
    pub slots: LentSlots,
    /// The message that comes next.
    pub next: u64,
    /// Not 0 once nothing comes any more.
    pub over: NonNull<u8>,
}

#[doc(hidden)]
impl<T: Message> Publisher<T> {
    /// What a publication needs.
    #[must_use]
    pub fn lend(&self) -> LentPublisher {
        let shared = &self.sole.shared;
        let wakes = NonNull::from(shared.published.word()).cast();
        let (slots, head) = (shared.slots().lend(shared.capacity()), shared.head.lend());
        LentPublisher { slots, head, next: self.next_sequence(), wakes }
    }

    /// Goes on with message `next`, and wakes the subscribers that wait for the messages before it.
    ///
    /// # Safety
    ///
    /// All before it were published, and it was not.
    pub unsafe fn take_back(&mut self, next: u64) {
        self.sole.next = Sequence::new(next);
        self.sole.shared.published.notify();
    }

    /// Publishes message `next` by the slow path: slot.w1 to slot.w3 are done, and end.send4 has found that
    /// there is more to do. Whether it is published. If not, the ring was closed before.
    ///
    /// # Safety
    ///
    /// All before it were published, and it lies in its slot.
    pub unsafe fn settle(&mut self, next: u64) -> bool {
        let sequence = Sequence::new(next);
        self.sole.next = self.sole.shared.publish_slow_path(WithoutSlot::of(sequence));
        self.sole.next != sequence
    }
}

#[doc(hidden)]
impl<T: Message> Subscriber<T> {
    /// What a receive needs.
    #[must_use]
    pub fn lend(&self) -> LentSubscriber {
        let shared = &self.shared;
        let slots = shared.slots().lend(shared.capacity());
        LentSubscriber { slots, next: self.cursor(), over: shared.over_word() }
    }

    /// Goes on with message `next`.
    ///
    /// # Safety
    ///
    /// All before it, from the cursor on, were received past this handle.
    pub unsafe fn take_back(&mut self, next: u64) {
        self.cursor = Sequence::new(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TryRecvError;
    use crate::broadcast;
    use crate::sync::{AtomicU64, Ordering};

    fn word<'a>(slots: LentSlots, sequence: u64, at: usize) -> &'a AtomicU64 {
        let first = (sequence % slots.capacity as u64) as usize * slots.stride;
        // SAFETY: a word of a ring that lives.
        unsafe { AtomicU64::from_ptr(slots.start.as_ptr().add(first + at)) }
    }

    /// Whether each message takes the slow path: where one side's fence is not enough.
    const ALWAYS: bool = cfg!(miri);

    /// Publishes past the handle, as C does, up to end.send4. Whether that takes the slow path.
    fn write_past(publisher: &Publisher<u64>, next: u64) -> bool {
        let lent = publisher.lend();
        word(lent.slots, next, 0).store(2 * next + 1, Ordering::Relaxed);
        word(lent.slots, next, lent.slots.payload_at).store(next, Ordering::Relaxed);
        // SAFETY: a word of a ring that lives.
        let mask = unsafe { AtomicU64::from_ptr(lent.head.slow_path_mask.as_ptr()) };
        mask.load(Ordering::Relaxed) == 0
    }

    #[test]
    fn handle_goes_on_behind_what_went_past_it() {
        for capacity in [8, 9, 21] {
            let (mut publisher, subscribable) = broadcast::lossy(capacity);
            let mut subscriber = subscribable.subscribe();
            for number in 0..100 {
                if number % 3 == 0 {
                    publisher.publish(number);
                } else {
                    assert_eq!(write_past(&publisher, number), ALWAYS, "the slow path is for the end");
                    let slots = publisher.lend().slots;
                    word(slots, number, 0).store(2 * number + 2, Ordering::Release);
                    // SAFETY: published.
                    unsafe { publisher.take_back(number + 1) };
                }
                assert_eq!(publisher.published(), number + 1);
                if number % 2 == 0 {
                    assert_eq!(subscriber.try_recv(), Ok(number));
                } else {
                    let lent = subscriber.lend();
                    assert_eq!(word(lent.slots, lent.next, 0).load(Ordering::Acquire), 2 * number + 2);
                    // SAFETY: as if it were received.
                    unsafe { subscriber.take_back(number + 1) };
                }
                assert_eq!((subscriber.total_received(), subscriber.total_lagged()), (number + 1, 0));
            }
        }
    }

    #[test]
    fn publisher_publishes_nothing_past_the_end() {
        let (mut publisher, subscribable) = broadcast::lossy(8);
        let mut subscriber = subscribable.subscribe();
        publisher.publish(0);
        assert_eq!(write_past(&publisher, 1), ALWAYS);
        // SAFETY: it lies in its slot.
        assert!(unsafe { publisher.settle(1) }, "it is open");
        publisher.close();
        assert!(write_past(&publisher, 2), "each message takes the slow path");
        // SAFETY: it lies in its slot.
        assert!(!unsafe { publisher.settle(2) });
        assert_eq!(publisher.published(), 2);
        assert_eq!([(); 2].map(|()| subscriber.try_recv()), [Ok(0), Ok(1)]);
        assert_eq!(subscriber.try_recv(), Err(TryRecvError::Closed));
        // SAFETY: a word of a ring that lives.
        assert_ne!(unsafe { subscriber.lend().over.read() }, 0);
    }
}

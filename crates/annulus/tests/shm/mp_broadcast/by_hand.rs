//! A publisher that takes the steps of the page one by one, and dies or stops after each of them.

use std::time::{Duration, Instant};

use annulus::broadcast::{Foreign, Lossless, Lossy, Mode, Subscriber};
use annulus::schema::BadValue;
use annulus::shm::mp_broadcast::{Publisher, lossless_publisher};
use annulus::shm::{Invitation, Shared};
use annulus::{LossyTryRecvError, Transmit, TryRecvError, WaitStrategy};

use crate::mp_broadcast::{Memory, joined, ring};

/// The steps of a publish, of which the last one is not taken: the message is never there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    /// It has said which messages it is about to claim.
    Intended,
    Claimed,
    Writing,
    Written,
}

impl Step {
    pub(crate) const ALL: [Self; 4] = [Self::Intended, Self::Claimed, Self::Writing, Self::Written];
}

/// It has the place of a publisher, whose drop gives up the lock, as its death would.
pub(crate) struct Hand<M: Mode = Lossy> {
    pub(crate) publisher: Publisher<u64, M>,
    memory: Memory,
    /// The one that is not there.
    message: u64,
    /// Behind the last of its batch.
    end: u64,
}

impl Hand {
    /// It has come as far as this in the publish of the next message.
    pub(crate) fn at(step: Step, invitation: &Invitation) -> Self {
        Self::in_batch(0, 1, step, invitation)
    }

    /// The same in a batch of `count`, of which the first `there` are there.
    fn in_batch(there: u64, count: u64, step: Step, invitation: &Invitation) -> Self {
        Self::of(joined::<u64>(invitation), (there, count), step, invitation)
    }
}

impl Hand<Lossless> {
    /// The same in a lossless ring.
    pub(crate) fn at_lossless(step: Step, invitation: &Invitation) -> Self {
        Self::in_lossless_batch(0, 1, step, invitation)
    }

    pub(crate) fn in_lossless_batch(there: u64, count: u64, step: Step, invitation: &Invitation) -> Self {
        Self::of(lossless_publisher::<u64>(invitation).unwrap(), (there, count), step, invitation)
    }
}

impl<M: Mode> Hand<M> {
    fn of(
        publisher: Publisher<u64, M>,
        (there, count): (u64, u64),
        step: Step,
        invitation: &Invitation,
    ) -> Self {
        let memory = Memory::of(invitation);
        let (place, first) = (publisher.place() as u64, memory.word(128));
        let (message, end) = (first + there, first + count);
        memory.put_intent(place, (first, count));
        if step >= Step::Claimed {
            memory.put(128, end);
        }
        (first..message).for_each(|before| memory.write(before, 1000 + before));
        if step >= Step::Writing {
            memory.put(memory.slot(message), 2 * message + 1);
        }
        if step >= Step::Written {
            memory.put(memory.slot(message) + 8, 7_777_777);
        }
        Self { publisher, memory, message, end }
    }

    pub(crate) fn dies(self) -> u64 {
        drop(self.publisher);
        self.message
    }

    /// It is stopped no more.
    pub(crate) fn goes_on(&self, value: u64) {
        (self.message..self.end).for_each(|message| self.memory.write(message, value));
    }
}

impl Memory {
    /// Message `message` is there.
    fn write(&self, message: u64, value: u64) {
        self.put(self.slot(message) + 8, value);
        self.put(self.slot(message), 2 * message + 2);
    }
}

/// The next thing that a subscriber receives, or learns. It waits by looking.
fn next(subscriber: &mut Subscriber<u64, Foreign>) -> Result<u64, LossyTryRecvError<BadValue>> {
    let begun = Instant::now();
    loop {
        match subscriber.try_recv_or_lag() {
            Err(LossyTryRecvError::Empty) => assert!(begun.elapsed() < Duration::from_secs(60), "stuck"),
            other => return other,
        }
        std::thread::yield_now();
    }
}

fn lost<T>(skipped: u64) -> Result<T, LossyTryRecvError<BadValue>> {
    Err(LossyTryRecvError::Lagged { skipped })
}

/// Nobody waits for the message of a dead publisher: the others publish on over its slot, and each subscriber
/// loses that message alone, as far as it was claimed.
#[test]
fn dead_publisher_holds_up_no_other() {
    for step in Step::ALL {
        let Shared { handle: mut publisher, invitation, .. } = ring(4, 3).build::<u64>().unwrap();
        let subscribable = invitation.accept::<u64>().unwrap().subscribable().clone();
        let [mut here, mut blocked, mut behind] = [(); 3].map(|()| subscribable.subscribe());
        publisher.publish(100);
        let dead = Hand::at(step, &invitation).dies();
        assert_eq!(dead, 1);
        publisher.publish(101);
        assert_eq!(next(&mut here), Ok(100));
        let is_claimed = step >= Step::Claimed;
        if is_claimed {
            assert_eq!(next(&mut here), lost(1), "{step:?}");
        }
        assert_eq!(next(&mut here), Ok(101), "{step:?}");
        assert_eq!((here.total_lagged(), here.total_received()), (is_claimed.into(), 2));
        // One that sleeps learns it, too.
        let block = WaitStrategy::block_after(0, 0);
        assert_eq!((blocked.recv_until(block), blocked.recv_until(block)), (Ok(100), Ok(101)), "{step:?}");
        assert_eq!(blocked.total_lagged(), is_claimed.into());
        // Its slot is used in each lap.
        for number in 102..120 {
            publisher.publish(number);
            assert_eq!(next(&mut here), Ok(number), "{step:?}");
        }
        assert_eq!((here.total_lagged(), here.cursor()), (is_claimed.into(), publisher.published()));
        let first = next(&mut behind);
        assert!(matches!(first, Err(LossyTryRecvError::Lagged { .. })), "{step:?}: {first:?}");
        assert_eq!(behind.try_iter().collect::<Vec<_>>(), [116, 117, 118, 119]);
    }
}

/// The next publisher in the place of a dead one says that its message is lost, and is not taken for it.
#[test]
fn the_place_of_the_dead_is_used_again() {
    for step in Step::ALL {
        let Shared { handle: mut publisher, peers: places, invitation, .. } =
            ring(8, 2).build::<u64>().unwrap();
        let mut subscriber = invitation.accept::<u64>().unwrap().subscribable().subscribe();
        let dead = Hand::at(step, &invitation).dies();
        let mut heir = joined::<u64>(&invitation);
        assert_eq!((heir.place(), places.taken()), (1, 2));
        let memory = Memory::of(&invitation);
        let is_claimed = step >= Step::Claimed;
        assert_eq!(memory.intent(1), (0, 0), "{step:?}, {dead}");
        publisher.publish(1);
        heir.publish(2);
        if is_claimed {
            // At once: nobody asks the kernel.
            assert_eq!(subscriber.try_recv_or_lag(), lost(1), "{step:?}");
        }
        assert_eq!((subscriber.try_recv(), subscriber.try_recv()), (Ok(1), Ok(2)));
        assert_eq!(subscriber.try_recv(), Err(TryRecvError::Empty));
        // Nobody begins at a message that is lost.
        let joiner = invitation.accept::<u64>().unwrap().subscribable().subscribe();
        assert_eq!(joiner.cursor(), publisher.published());
        assert_eq!(subscriber.total_lagged(), is_claimed.into());
    }
}

/// Nobody takes the slot of a publisher that is stopped. The others pass over it in each lap, until it goes
/// on.
#[test]
fn stopped_publisher_holds_up_no_other() {
    for step in [Step::Claimed, Step::Writing, Step::Written] {
        let Shared { handle: mut publisher, invitation, .. } = ring(4, 3).build::<u64>().unwrap();
        let subscribable = invitation.accept::<u64>().unwrap().subscribable().clone();
        let [mut here, mut late] = [(); 2].map(|()| subscribable.subscribe());
        let stopped = Hand::at(step, &invitation);
        publisher.publish_batch(&[101, 102, 103]);
        assert_eq!(here.try_recv(), Err(TryRecvError::Empty), "{step:?}: it lives");
        // Message 4 is passed over.
        publisher.publish(105);
        let place = stopped.publisher.place() as u64;
        assert_eq!((stopped.memory.intent(place), publisher.published()), ((0, 1), 6), "{step:?}");
        // With message 1, which was overwritten by 5.
        assert_eq!(here.try_recv_or_lag(), lost(2), "{step:?}");
        assert_eq!((here.try_recv(), here.try_recv()), (Ok(102), Ok(103)));
        assert_eq!((here.try_recv_or_lag(), here.try_recv()), (lost(1), Ok(105)), "{step:?}");
        stopped.goes_on(100);
        // What it has written is of an earlier lap.
        publisher.publish_batch(&[106, 107]);
        assert_eq!(here.try_iter().collect::<Vec<_>>(), [106, 107]);
        publisher.publish(108);
        assert_eq!((here.try_recv(), here.total_lagged()), (Ok(108), 3), "{step:?}");
        assert_eq!(here.cursor(), publisher.published());
        let left = std::iter::from_fn(|| late.recv_timeout(Duration::ZERO).ok()).collect::<Vec<_>>();
        assert_eq!(left, [105, 106, 107, 108]);
        // It is a publisher like any other.
        let mut stopped = stopped.publisher;
        stopped.publish(109);
        assert_eq!(here.try_recv(), Ok(109));
    }
}

/// Of a batch of four, some are there when its publisher dies. The others are lost, for subscribers that poll
/// and that sleep, and their slots are used in the next lap.
#[test]
fn batch_of_the_dead() {
    for (there, step) in (0..4).flat_map(|there| Step::ALL.map(|step| (there, step))) {
        let Shared { handle: mut publisher, invitation, .. } = ring(32, 3).build::<u64>().unwrap();
        let subscribable = invitation.accept::<u64>().unwrap().subscribable().clone();
        let [mut here, mut blocked] = [(); 2].map(|()| subscribable.subscribe());
        // (Of a batch that is not claimed, nothing is there.)
        let there = if step == Step::Intended { 0 } else { there };
        Hand::in_batch(there, 4, step, &invitation).dies();
        let lost_ones = if step == Step::Intended { 0 } else { 4 - there };
        publisher.publish(101);
        for number in (0..there).map(|number| 1000 + number) {
            assert_eq!(next(&mut here), Ok(number), "{there} {step:?}");
        }
        for _ in 0..lost_ones {
            assert_eq!(next(&mut here), lost(1), "{there} {step:?}");
        }
        assert_eq!(next(&mut here), Ok(101), "{there} {step:?}");
        let block = WaitStrategy::block_after(0, 0);
        let received = [(); 5]
            .map(|()| if blocked.cursor() < here.cursor() { blocked.recv_until(block).ok() } else { None });
        assert!(received.contains(&Some(101)) && blocked.total_received() == there + 1, "{received:?}");
        assert_eq!((here.total_lagged(), blocked.total_lagged()), (lost_ones, lost_ones));
        publisher.publish_batch(&[102; 64]);
        assert_eq!((here.try_iter().count(), here.cursor()), (32, publisher.published()));
        // Nobody begins there.
        assert_eq!(subscribable.subscribe().cursor(), publisher.published());
    }
}

/// A publisher is stopped with three of its four messages still to come. The others pass over these slots,
/// and it goes on.
#[test]
fn batch_of_the_stopped() {
    for step in [Step::Claimed, Step::Writing, Step::Written] {
        let Shared { handle: mut publisher, invitation, .. } = ring(32, 3).build::<u64>().unwrap();
        let subscribable = invitation.accept::<u64>().unwrap().subscribable().clone();
        let mut here = subscribable.subscribe();
        let stopped = Hand::in_batch(1, 4, step, &invitation);
        let batch = std::array::from_fn::<u64, 28, _>(|number| number as u64);
        publisher.publish_batch(&batch);
        assert_eq!((here.try_recv(), here.try_recv()), (Ok(1000), Err(TryRecvError::Empty)), "{step:?}");
        // Message 32 has a slot, and 33 to 35 are passed over.
        publisher.publish_batch(&[200, 201]);
        assert_eq!(publisher.published(), 37, "{step:?}");
        assert_eq!(next(&mut here), lost(4), "{step:?}: a ring later nobody waits");
        let mut left = batch[1..].to_vec();
        left.push(200);
        assert_eq!(here.try_iter().collect::<Vec<_>>(), left, "{step:?}");
        assert_eq!([(); 3].map(|()| next(&mut here)), [(); 3].map(|()| lost(1)), "{step:?}");
        assert_eq!(here.try_recv(), Ok(201));
        stopped.goes_on(7);
        publisher.publish_batch(&batch);
        assert_eq!((here.try_iter().collect::<Vec<_>>(), here.total_lagged()), (batch.to_vec(), 7));
        publisher.publish_batch(&batch);
        assert_eq!(publisher.published(), 37 + 56, "{step:?}: nothing is passed over");
    }
}

/// A publisher that is stopped holds a part of a small ring. A batch that goes round the ring many times is
/// published to its last message, and nothing is passed over but what is held.
#[test]
fn batch_beside_the_stopped_is_published_whole() {
    for (capacity, held, messages) in [(2, 1, 64), (3, 1, 200), (8, 1, 64), (8, 1, 1000), (16, 2, 1000)] {
        let Shared { handle: mut publisher, invitation, .. } =
            ring(capacity as usize, 2).build::<u64>().unwrap();
        let subscribable = invitation.accept::<u64>().unwrap().subscribable().clone();
        let stopped = Hand::in_batch(0, held, Step::Claimed, &invitation);
        publisher.publish_batch(&(0..messages).collect::<Vec<u64>>());
        // The number of the last message: of each lap some slots are free, and the first lap has them last.
        let (laps, rest) = ((messages - 1) / (capacity - held), (messages - 1) % (capacity - held));
        let last = laps * capacity + held + rest;
        assert_eq!(publisher.published(), last + 1, "{messages} in {capacity}");
        let mut late = subscribable.subscribe_from_oldest();
        let left = std::iter::from_fn(|| {
            loop {
                match late.try_recv_or_lag() {
                    Ok(message) => break Some(message),
                    Err(LossyTryRecvError::Lagged { .. }) => {}
                    Err(_) => break None,
                }
            }
        });
        let newest = (messages - (capacity - held)..messages).collect::<Vec<u64>>();
        assert!(left.collect::<Vec<_>>().ends_with(&newest), "{messages} in {capacity}");
        drop(stopped);
    }
}

/// Processes that are stopped have all slots. A message is lost then, and has a number: no loss is in no
/// count. The ring is open, and goes on with them.
#[test]
fn message_without_a_slot_counts_as_lagged() {
    for (capacity, held) in [(2, 1), (3, 1), (8, 1), (16, 2)] {
        let hands = capacity / held;
        let builder = ring(capacity as usize, hands as usize + 1);
        let Shared { handle: mut publisher, invitation, .. } = builder.build::<u64>().unwrap();
        let mut subscriber = invitation.accept::<u64>().unwrap().subscribable().subscribe();
        let at = |_| Hand::in_batch(0, held, Step::Claimed, &invitation);
        let stopped: Vec<_> = (0..hands).map(at).collect();
        for batch in [1, 2, capacity + 1, 500] {
            let begun = publisher.published();
            publisher.publish_batch(&vec![7; batch as usize]);
            assert!(publisher.published() - begun >= batch, "{capacity}: {batch}");
        }
        let begun = publisher.published();
        publisher.publish(7);
        assert!(publisher.try_send(7).is_ok() && !publisher.is_closed());
        assert!(publisher.published() - begun >= 2, "{capacity}");
        // Nothing that was claimed is waited for.
        let place = publisher.place() as u64;
        assert_eq!(stopped[0].memory.intent(place).1, 0, "{capacity}");
        for hand in stopped {
            hand.goes_on(9);
        }
        publisher.publish(100);
        let mut received = Vec::new();
        while subscriber.cursor() < publisher.published() {
            received.extend(next(&mut subscriber));
        }
        assert_eq!(received.last(), Some(&100), "{capacity}");
        assert!(!received.contains(&7), "{received:?}");
        let counted = subscriber.total_lagged() + subscriber.total_received();
        assert_eq!(counted, publisher.published(), "{capacity}");
    }
}

/// A publisher dies in the middle of a publish, and somebody closes the ring: the end is the same for all.
#[test]
fn close_beside_the_dead() {
    for step in Step::ALL {
        let Shared { handle: mut publisher, invitation, .. } = ring(4, 3).build::<u64>().unwrap();
        let subscribable = invitation.accept::<u64>().unwrap().subscribable().clone();
        let mut subscriber = subscribable.subscribe();
        publisher.publish(100);
        Hand::at(step, &invitation).dies();
        publisher.close();
        publisher.publish(101);
        assert_eq!(next(&mut subscriber), Ok(100));
        if step >= Step::Claimed {
            assert_eq!(next(&mut subscriber), lost(1), "{step:?}");
        }
        assert_eq!(next(&mut subscriber), Err(LossyTryRecvError::Closed), "{step:?}");
        let end = if step >= Step::Claimed { 2 } else { 1 };
        assert_eq!((subscriber.cursor(), publisher.published()), (end, end), "{step:?}");
    }
}

/// A publisher dies after it has closed the ring, and before it has said where that ends. The next publisher
/// that publishes or leaves says so.
#[test]
fn close_that_is_not_finished() {
    for leaves in [true, false] {
        let Shared { handle: mut publisher, invitation, .. } = ring(4, 3).build::<u64>().unwrap();
        let mut subscriber = invitation.accept::<u64>().unwrap().subscribable().subscribe();
        publisher.publish(100);
        let memory = Memory::of(&invitation);
        memory.put(128, 1 << 63 | 1);
        assert_eq!(subscriber.try_recv(), Ok(100));
        if leaves {
            drop(publisher);
        } else {
            publisher.publish(101);
        }
        assert_eq!(memory.word(256), 2);
        assert_eq!(subscriber.try_recv(), Err(TryRecvError::Closed));
    }
}

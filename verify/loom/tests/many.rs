//! Many publishers of a lossy ring: each claims its own sequences, and passes over one whose slot the writer
//! a lap before has not left. All messages have one order.
#![cfg(annulus_loom)]

use annulus::LossyTryRecvError;
use annulus::broadcast::MpPublisher;
use annulus_loom::{Checked, check, check_up_to, receive};
use loom::thread::{self, JoinHandle};

/// A thread that publishes the messages of `numbers`, one by one, and gives the publisher back.
fn publishing<T: Checked, const N: usize>(
    publisher: &MpPublisher<T>,
    numbers: [u64; N],
) -> JoinHandle<MpPublisher<T>> {
    let mut publisher = publisher.clone();
    thread::spawn(move || {
        for number in numbers {
            publisher.publish(T::of(number));
        }
        publisher
    })
}

/// Asserts that no message came twice, and that those of each publisher (its number over ten) came in its own
/// order.
fn in_order(received: &[(u64, u64)]) {
    for (place, &(_, number)) in received.iter().enumerate() {
        for &(_, later) in &received[place + 1..] {
            assert!(number / 10 != later / 10 || number < later, "{later} after {number}");
        }
    }
}

/// The first publisher publishes twice and the other once, so one of them may find the slot of the lap before
/// in use, and pass over it. The reader, from the beginning, looks twice meanwhile and then for what is left.
fn two_publishers_lap_a_reader<T: Checked>() {
    check(|| {
        let (publisher, subscribable) = annulus::broadcast::mp_lossy::<T>(2);
        let mut subscriber = subscribable.subscribe();
        let first = publishing(&publisher, [10, 11]);
        let second = publishing(&publisher, [20]);
        let mut received = receive(&mut subscriber, 2);
        drop((first.join().unwrap(), second.join().unwrap()));
        received.extend(receive(&mut subscriber, 4));
        in_order(&received);
        // What was passed over has a number, too.
        let end = publisher.published();
        assert!(end >= 3 && subscriber.cursor() == end);
        let standing = receive(&mut subscribable.subscribe_from_oldest(), 4);
        assert!(standing.len() == 2 || end > 3, "{standing:?}");
        in_order(&standing);
    });
}

#[test]
fn one_word_payload() {
    two_publishers_lap_a_reader::<u64>();
}

#[test]
fn two_word_payload() {
    two_publishers_lap_a_reader::<[u64; 2]>();
}

/// Three publishers and two slots.
#[test]
fn three_publishers() {
    check_up_to(2, || {
        let (mut publisher, subscribable) = annulus::broadcast::mp_lossy::<[u64; 2]>(2);
        let mut subscriber = subscribable.subscribe();
        let publishers = [10, 20].map(|number| publishing(&publisher, [number]));
        publisher.publish(Checked::of(30));
        let mut received = receive(&mut subscriber, 2);
        for publisher in publishers {
            drop(publisher.join().unwrap());
        }
        received.extend(receive(&mut subscriber, 8));
        in_order(&received);
        assert!(publisher.published() >= 3 && subscriber.cursor() == publisher.published());
    });
}

/// Two subscribers see the same message at each sequence.
#[test]
fn subscribers_see_one_order() {
    check(|| {
        let (publisher, subscribable) = annulus::broadcast::mp_lossy::<u64>(2);
        let [mut here, mut there] = [(); 2].map(|()| subscribable.subscribe());
        let publishers = [10, 20].map(|number| publishing(&publisher, [number]));
        let reader = thread::spawn(move || receive(&mut there, 2));
        let mut received = receive(&mut here, 2);
        for publisher in publishers {
            drop(publisher.join().unwrap());
        }
        received.extend(receive(&mut here, 2));
        assert_eq!(received.len(), 2);
        for message in reader.join().unwrap() {
            assert!(received.contains(&message), "{message:?} is not in {received:?}");
        }
    });
}

/// A subscriber that joins begins after all that happens before, and everything from there on is received or
/// counted.
#[test]
fn joining_under_publishers() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::mp_lossy::<u64>(2);
        publisher.publish(Checked::of(0));
        let publishers = [10, 20].map(|number| publishing(&publisher, [number]));
        let mut subscriber = subscribable.subscribe();
        let start = subscriber.cursor();
        assert!(start >= 1, "message 0 happens before");
        let mut received = receive(&mut subscriber, 1);
        for publisher in publishers {
            drop(publisher.join().unwrap());
        }
        received.extend(receive(&mut subscriber, 4));
        in_order(&received);
        let passed = publisher.published() - 3;
        assert!(received.len() as u64 + passed >= publisher.published() - start, "{received:?} from {start}");
    });
}

/// `latest` never goes back and never delivers twice, also where a message before the newest is still being
/// written.
#[test]
fn latest_moves_forward() {
    check_up_to(2, || {
        let (publisher, subscribable) = annulus::broadcast::mp_lossy::<u64>(2);
        let mut subscriber = subscribable.subscribe();
        let first = publishing(&publisher, [10, 11]);
        let second = publishing(&publisher, [20]);
        let mut received = Vec::new();
        let before = subscriber.cursor();
        match subscriber.latest() {
            Some(message) => {
                assert!(subscriber.cursor() > before, "delivered twice");
                received.push((subscriber.cursor() - 1, message.number()));
            }
            None => assert_eq!(subscriber.cursor(), before),
        }
        drop((first.join().unwrap(), second.join().unwrap()));
        received.extend(subscriber.latest().map(|message| (subscriber.cursor() - 1, message.number())));
        in_order(&received);
        assert_eq!(subscriber.total_received() + subscriber.total_lagged(), publisher.published());
    });
}

/// A subscriber that joins while a batch is claimed and not yet written begins no later than one that has
/// received everything that is there.
#[test]
fn joiner_begins_before_unwritten_messages() {
    check(|| {
        let (publisher, subscribable) = annulus::broadcast::mp_lossy::<u64>(4);
        let mut early = subscribable.subscribe();
        let mut other = publisher.clone();
        let writer = thread::spawn(move || other.publish_batch(&[10, 11].map(Checked::of)));
        let joiner = subscribable.subscribe();
        while early.try_recv().is_ok() {}
        assert!(joiner.cursor() <= early.cursor(), "{joiner:?} begins behind what {early:?} waits for");
        writer.join().unwrap();
    });
}

/// `latest` finds a message where all slots have been claimed, by two publishers that write one after the
/// other. (Each of them writes three: a reader that sees that the last one is being written sees the first
/// one whole, and not necessarily the second.)
#[test]
fn latest_finds_a_standing_message() {
    check_up_to(2, || {
        let (mut publisher, subscribable) = annulus::broadcast::mp_lossy::<u64>(6);
        let mut subscriber = subscribable.subscribe();
        publisher.publish_batch(&[0, 1, 2].map(Checked::of));
        let writers = [[10, 11, 12], [20, 21, 22]].map(|batch| {
            let mut publisher = publisher.clone();
            thread::spawn(move || publisher.publish_batch(&batch.map(Checked::of)))
        });
        assert!(subscriber.latest().is_some(), "the first three stand until others do");
        for writer in writers {
            writer.join().unwrap();
        }
    });
}

/// A batch is one claim: nothing of another publisher comes between its messages.
#[test]
fn batch_stays_together() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::mp_lossy::<u64>(4);
        let mut subscriber = subscribable.subscribe();
        let other = publishing(&publisher, [20]);
        publisher.publish_batch(&[10, 11].map(Checked::of));
        drop(other.join().unwrap());
        let received = receive(&mut subscriber, 3).into_iter().map(|(_, number)| number).collect::<Vec<_>>();
        assert!(received == [10, 11, 20] || received == [20, 10, 11], "{received:?}");
    });
}

/// The last publisher to leave closes the ring, and what every one of them published comes before that.
#[test]
fn the_last_one_out_closes() {
    check(|| {
        let (publisher, subscribable) = annulus::broadcast::mp_lossy::<u64>(2);
        let mut subscriber = subscribable.subscribe();
        let other = publisher.clone();
        let publishers = [(10, publisher), (20, other)]
            .map(|(number, mut publisher)| thread::spawn(move || publisher.publish(Checked::of(number))));
        let mut received = Vec::new();
        loop {
            match subscriber.try_recv_or_lag() {
                Ok(message) => received.push(message.number()),
                Err(LossyTryRecvError::Empty) => thread::yield_now(),
                Err(LossyTryRecvError::Closed) => break,
                Err(error @ LossyTryRecvError::Lagged { .. }) => panic!("{error}"),
            }
        }
        received.sort_unstable();
        assert_eq!(received, [10, 20]);
        for publisher in publishers {
            publisher.join().unwrap();
        }
    });
}

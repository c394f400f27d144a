//! The ends of a ring: what was published before the close arrives, then everybody is told; and a publisher
//! without receivers is told.

use std::thread;
use std::time::{Duration, Instant};

use annulus::{LossyTryRecvError, RecvError, RecvTimeoutError, SendError, TrySendError};

use super::{STARTS, join, spawn, without_standing_still};
use crate::rings::{Got, Publish, Receive, Ring};

/// After the close each verb drains the ring, and from then on says so, again and again: `Closed`, or nothing
/// from those that end.
pub(crate) fn verbs_receive_messages_before_the_close<R: Ring>() {
    for verb in R::Subscriber::verbs() {
        for left in [0, 1, 5, 8] {
            let (mut publisher, source) = R::new(8);
            let mut subscriber = R::subscribe(&source);
            let mut behind = subscriber.fork();
            (0..left).for_each(|number| publisher.publish(number).unwrap());
            assert!(!subscriber.is_closed() && !R::is_closed(&source));
            drop(publisher);
            assert!(subscriber.is_closed() && R::is_closed(&source));
            let mut received = Vec::new();
            let end = loop {
                match (verb.ask)(&mut subscriber) {
                    Got::Messages(messages) => received.extend(messages),
                    end => break end,
                }
            };
            assert_eq!(received, (0..left).collect::<Vec<_>>(), "{}", verb.name);
            assert!(matches!(end, Got::Closed | Got::Nothing), "{}: {end:?}", verb.name);
            assert_eq!((verb.ask)(&mut subscriber), end, "{}", verb.name);
            assert_eq!(subscriber.try_recv(), Err(LossyTryRecvError::Closed));
            assert_eq!(subscriber.recv(), Err(RecvError::CLOSED));
            assert_eq!(subscriber.recv_timeout(Duration::MAX), Err(RecvTimeoutError::Closed));
            assert_eq!(subscriber.recv_until(Instant::now()), Err(RecvTimeoutError::Closed));
            assert_eq!(subscriber.len(), 0);
            if let Some(behind) = &mut behind {
                (0..left).for_each(|number| assert_eq!(behind.recv(), Ok(number)));
                assert_eq!(behind.recv(), Err(RecvError::CLOSED));
            }
        }
    }
}

/// Nobody is kept waiting by a ring that was closed before they came; what is promised of it is there.
pub(crate) fn joining_a_closed_ring_finds_its_end<R: Ring>() {
    for published in [0, 1, 8, 20] {
        let (mut publisher, source) = R::new(8);
        (0..published).for_each(|number| publisher.publish(number).unwrap());
        drop(publisher);
        let mut late = R::subscribe(&source);
        assert_eq!((late.cursor(), late.len()), (published, 0));
        assert_eq!(late.recv(), Err(RecvError::CLOSED));
        if let Some(mut oldest) = R::from_oldest(&source) {
            let start = oldest.cursor();
            (start..published).for_each(|number| assert_eq!(oldest.recv(), Ok(number)));
            assert_eq!(oldest.recv(), Err(RecvError::CLOSED));
            assert!(published - start >= published.min(4), "half of what stands is promised");
        }
    }
}

/// Each end keeps the ring alive for itself, whichever goes first. (Miri sees what leaks or is used too
/// late.)
pub(crate) fn ends_may_go_in_any_order<R: Ring>() {
    // The publisher first.
    let (mut publisher, source) = R::new(4);
    let mut subscriber = R::subscribe(&source);
    publisher.publish(1).unwrap();
    drop((publisher, source));
    assert_eq!((subscriber.recv(), subscriber.recv()), (Ok(1), Err(RecvError::CLOSED)));

    // The source first, then the subscriber.
    let (mut publisher, source) = R::new(4);
    let subscriber = R::subscribe(&source);
    drop(source);
    assert!(!publisher.is_abandoned());
    publisher.publish(1).unwrap();
    drop(subscriber);
    drop(publisher);

    // A clone of the source is as good as the source.
    let (mut publisher, source) = R::new(4);
    let clone = source.clone();
    drop(source);
    let mut subscriber = R::subscribe(&clone);
    drop(clone);
    publisher.publish(1).unwrap();
    assert_eq!(subscriber.recv(), Ok(1));

    // A clone of the publisher keeps it open.
    let (publisher, source) = R::new(4);
    let mut subscriber = R::subscribe(&source);
    if let Some(mut other) = publisher.another() {
        drop(publisher);
        assert_eq!(subscriber.try_recv(), Err(LossyTryRecvError::Empty));
        other.publish(1).unwrap();
        drop(other);
        assert_eq!((subscriber.recv(), subscriber.recv()), (Ok(1), Err(RecvError::CLOSED)));
    }
}

/// Once no reader can come any more, publishers that would wait are told instead, and get their message back.
pub(crate) fn waiting_publisher_is_told_when_no_reader_can_come<R: Ring>() {
    let (mut publisher, source) = R::new(2);
    let subscriber = R::subscribe(&source);
    (0..2).for_each(|number| publisher.publish(number).unwrap());
    drop(source);
    assert!(!publisher.is_abandoned());
    drop(subscriber);
    // A tap's publisher waits for others, and has nobody either.
    let told = publisher.is_abandoned();
    assert!(told || !R::LOSSLESS || R::BETWEEN_PROCESSES);
    if told {
        assert_eq!(publisher.publish(9), Err(SendError(())));
        assert_eq!(publisher.try_publish(9), Err(TrySendError::Closed(())));
        assert_eq!(publisher.publish_batch(&[7, 8, 9]), Err(SendError(())));
        assert_eq!(publisher.published(), 2);
        if let Some(mut other) = publisher.another() {
            assert_eq!(other.publish(9), Err(SendError(())));
        }
    }
}

/// A waiter without a deadline is woken by the last publisher's end.
pub(crate) fn close_wakes_waiters<R: Ring>() {
    for pause_ms in [0, 5] {
        without_standing_still(move || {
            let (publisher, source) = R::new(8);
            let waiting = [(); 3].map(|()| {
                let mut subscriber = R::subscribe(&source);
                spawn(move || subscriber.recv())
            });
            // Not a synchronisation: it lets them lie down, so that there is somebody to wake.
            thread::sleep(Duration::from_millis(pause_ms));
            drop(publisher);
            assert!(join(waiting).iter().all(|end| *end == Err(RecvError::CLOSED)));
        });
    }
}

/// Where somebody has closed a ring, by the publisher or from elsewhere, what was published before arrives,
/// and nothing comes after it. Closers as such change nothing. (Of a full lossy ring, what is refused takes
/// the place of the oldest message: `verbs/closes.rs`.)
pub(crate) fn closed_ring_refuses_messages<R: Ring>() {
    for &first in STARTS {
        for (published, by_closer) in [(0, true), (1, false), (5, true), (7, false), (7, true)] {
            let (mut publisher, source) = R::begin(8, first);
            let closer = publisher.closer();
            drop(closer.clone());
            assert!(!closer.is_closed());
            let mut subscriber = R::subscribe(&source);
            (0..published).for_each(|number| publisher.publish(number).unwrap());
            if by_closer {
                closer.close();
            } else {
                publisher.close();
            }
            assert!(closer.is_closed() && subscriber.is_closed() && publisher.is_closed());
            for _ in 0..3 {
                // Dropped, where the ring can't say so.
                assert_eq!(publisher.publish(9).is_err(), publisher.publish_batch(&[9; 9]).is_err());
            }
            if let Some(mut other) = publisher.another() {
                _ = other.publish(9);
                drop(other);
            }
            closer.close();
            publisher.close();
            assert_eq!(publisher.published(), published);
            (0..published).for_each(|number| assert_eq!(subscriber.recv(), Ok(number)));
            for _ in 0..2 {
                assert_eq!(subscriber.try_recv(), Err(LossyTryRecvError::Closed));
                assert_eq!(subscriber.recv(), Err(RecvError::CLOSED));
                assert_eq!((subscriber.len(), subscriber.lagged()), (0, 0));
            }
            drop((publisher, source, subscriber));
            closer.close();
            assert!(closer.is_closed());
        }
    }
}

/// A closer keeps nobody's side: each is told when the other is gone, and what is left in the ring goes with
/// its handles.
pub(crate) fn closer_does_not_keep_ring_open<R: Ring>() {
    let (mut publisher, source) = R::new(8);
    let closer = publisher.closer();
    let mut subscriber = R::subscribe(&source);
    publisher.publish(1).unwrap();
    drop(publisher);
    assert_eq!((subscriber.recv(), subscriber.recv()), (Ok(1), Err(RecvError::CLOSED)));
    assert!(closer.is_closed());
}

/// A close beside publishers at full speed: what was accepted is received, by all and to the same end; what
/// was refused, by nobody.
pub(crate) fn close_separates_accepted_from_refused_messages<R: Ring>() {
    close_beside_publishers::<R>(2);
}

/// The same where each message is one receiver's.
pub(crate) fn close_of_a_queue_separates_accepted_from_refused_messages<R: Ring>() {
    close_beside_publishers::<R>(1);
}

fn close_beside_publishers<R: Ring>(readers: usize) {
    let rounds = if cfg!(miri) { 4 } else { 200 };
    for round in 0..rounds {
        let (publisher, source) = R::begin([2, 7, 64, 1024][round % 4], STARTS[round % STARTS.len()]);
        let closer = publisher.closer();
        let mut readers: Vec<_> = (0..readers).map(|_| R::subscribe(&source)).collect();
        let writers: Vec<_> = [publisher.another(), Some(publisher)]
            .into_iter()
            .flatten()
            .map(|mut publisher| {
                spawn(move || {
                    let mut told = 0;
                    while !publisher.is_closed() && publisher.publish(told).is_ok() {
                        told += 1;
                    }
                    let refuses = publisher.publish(told).is_err();
                    (publisher, refuses.then_some(told))
                })
            })
            .collect();
        let receive = |mut subscriber: R::Subscriber| {
            while subscriber.recv().is_ok() {}
            assert_eq!(subscriber.try_recv(), Err(LossyTryRecvError::Closed));
            subscriber
        };
        let last = readers.pop().unwrap();
        let receiving: Vec<_> =
            readers.into_iter().map(|subscriber| spawn(move || receive(subscriber))).collect();
        (0..round * round).for_each(|_| std::hint::spin_loop());
        closer.close();
        assert!(closer.is_closed());
        let mut readers = join(receiving);
        readers.push(receive(last));
        let (publishers, told): (Vec<_>, Vec<_>) = join(writers).into_iter().unzip();
        let accepted = R::Publisher::accepted(&publishers);
        // A waiter that is told of the end is told the truth.
        let told: Option<u64> = told.into_iter().sum();
        assert_eq!(told.unwrap_or(accepted), accepted, "round {round}");
        for subscriber in readers {
            assert_eq!(subscriber.received() + subscriber.lagged(), accepted, "round {round}");
            assert!(subscriber.lagged() == 0 || !R::LOSSLESS);
        }
    }
}

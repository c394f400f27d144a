//! What was lost, to the message, and what there is room for, to the slot.

use annulus::Settings;
use annulus::{LossyTryRecvError, TrySendError};

use super::{CAPACITIES, STARTS};
use crate::rings::{Publish, Receive, Ring};

/// `received + lagged` is how far the cursor came, at every moment and at the end, whatever was lost on the
/// way: nothing is counted twice, nothing left out. A lossless ring has nothing to count.
pub(crate) fn received_plus_lagged_is_the_position<R: Ring>() {
    for &capacity in CAPACITIES {
        for &start in STARTS {
            let (mut publisher, source) = R::begin(capacity, start);
            let mut subscriber = R::subscribe(&source);
            let (mut number, mut told, mut received) = (0, 0, 0);
            // Bursts from nothing to three rings, or to what there is room for, and a few receives after
            // each.
            for burst in (0..).step_by(1 + capacity / 3).take(10) {
                for _ in 0..burst {
                    if R::LOSSLESS && publisher.try_publish(number).is_err() {
                        break;
                    }
                    if !R::LOSSLESS {
                        publisher.publish(number).unwrap();
                    }
                    number += 1;
                }
                for _ in 0..2 {
                    let before = subscriber.cursor() - start;
                    let lost = |skipped| {
                        assert!(!R::LOSSLESS, "a lossless ring lost {skipped}");
                        assert!(number - before > capacity as u64, "nothing was overwritten");
                        skipped
                    };
                    match subscriber.try_recv() {
                        Ok(message) => {
                            // Of a handle that has no verb to report it.
                            told += if message > before { lost(message - before) } else { 0 };
                            assert_eq!(subscriber.cursor() - start, message + 1);
                            received += 1;
                        }
                        Err(LossyTryRecvError::Lagged { skipped }) => {
                            assert!(subscriber.cursor() - start <= number);
                            assert_eq!(subscriber.cursor() - start, before + skipped);
                            told += lost(skipped);
                        }
                        Err(LossyTryRecvError::Empty) => assert_eq!(before, number),
                        Err(LossyTryRecvError::Closed) => panic!("it is open"),
                    }
                    assert_eq!((subscriber.received(), subscriber.lagged()), (received, told));
                    assert_eq!(subscriber.cursor() - start, received + told);
                }
            }
            drop(publisher);
            while subscriber.recv().is_ok() {}
            assert_eq!(subscriber.cursor() - start, number);
            assert_eq!(subscriber.received() + subscriber.lagged(), number);
            assert!(!R::LOSSLESS || subscriber.lagged() == 0);
        }
    }
}

/// A publisher that waits fills `capacity − headroom` slots and not one more, and one that does not wait is
/// never full.
pub(crate) fn waiting_publisher_fills_capacity_less_headroom<R: Ring>() {
    for &capacity in CAPACITIES {
        for headroom in [0, 1, capacity / 2, capacity - 1] {
            let start = STARTS[(capacity + headroom) % STARTS.len()];
            // Where nobody waits, there is nothing to keep free: see `a_lossy_ring_has_no_headroom`.
            let kept = if R::LOSSLESS { headroom } else { 0 };
            let settings = Settings::new(capacity).headroom(kept).first(start);
            let (mut publisher, source) = R::make(settings).unwrap();
            // What came before it joined takes no room.
            (0..headroom as u64).for_each(|number| publisher.publish(number).unwrap());
            let mut subscriber = R::subscribe(&source);
            let room = capacity - headroom;
            let mut number = 0;
            for lap in 0..3 * capacity {
                let before = number;
                while number < before + 2 * room as u64 && publisher.try_publish(number).is_ok() {
                    number += 1;
                }
                let accepted = (number - before) as usize;
                if R::LOSSLESS {
                    // The first time the whole room, then what each receive gave back.
                    let expected = if lap == 0 { room } else { (lap - 1) % room + 1 };
                    assert_eq!(accepted, expected, "capacity {capacity}, headroom {headroom}, turn {lap}");
                    assert_eq!(publisher.try_publish(number), Err(TrySendError::Full(())));
                    assert_eq!(subscriber.len(), room);
                } else {
                    assert_eq!(accepted, 2 * room);
                }
                for _ in 0..=lap % room {
                    let _ = subscriber.try_recv();
                }
            }
        }
    }
}

/// With nobody subscribed a publisher never waits, before the first joins as after the last has left.
pub(crate) fn publisher_without_subscribers_never_waits<R: Ring>() {
    for &capacity in CAPACITIES {
        let (mut publisher, source) = R::new(capacity);
        for _ in 0..3 {
            (0..=3 * capacity as u64).for_each(|number| publisher.try_publish(number).unwrap());
            (0..=3 * capacity as u64).for_each(|number| publisher.publish(number).unwrap());
            let subscribers = [R::subscribe(&source), R::subscribe(&source)];
            (0..capacity as u64).for_each(|number| publisher.publish(number).unwrap());
            assert_eq!(publisher.try_publish(0).is_err(), R::LOSSLESS);
            drop(subscribers);
        }
    }
}

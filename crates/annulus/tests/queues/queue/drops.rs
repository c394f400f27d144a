//! What is dropped, and when: with the queue, and where a destructor panics.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use annulus::spsc;

use super::{Counted, panics};

/// A destructor that panics while a consumer drops what is left: the others are dropped all the same, with
/// the queue.
#[test]
fn destructor_that_panics_keeps_nothing() {
    struct Panics(Counted);
    impl Drop for Panics {
        fn drop(&mut self) {
            assert!(self.0.number != 1, "on purpose");
        }
    }
    let alive = Arc::new(AtomicUsize::new(0));
    let (mut producer, consumer) = spsc::channel(4);
    for number in 0..4 {
        producer.send(Panics(Counted::new(number, &alive))).map_err(drop).unwrap();
    }
    assert!(panics(|| drop(consumer)).is_some());
    assert!(producer.is_closed());
    drop(producer);
    assert_eq!(alive.load(Ordering::Relaxed), 0);

    // Nor what was written to slots and could not be sent.
    let (mut producer, consumer) = spsc::channel(4);
    let reservation = producer.try_reserve(3).unwrap();
    drop(consumer);
    let values = (0..3).map(|number| Panics(Counted::new(number, &alive)));
    let message = panics(|| assert_eq!(reservation.write_iter(values), 0));
    assert!(message.is_some());
    assert_eq!(alive.load(Ordering::Relaxed), 0);
}

/// A destructor that panics while a consumer fills places: the others that it has claimed are dropped, and
/// their slots are free again.
#[test]
fn destructor_that_panics_holds_up_no_producer() {
    struct Panics(Counted);
    impl Drop for Panics {
        fn drop(&mut self) {
            assert!(self.0.number != 99, "on purpose");
        }
    }
    let alive = Arc::new(AtomicUsize::new(0));
    let (mut producer, mut consumer) = annulus::spmc::channel(4);
    for number in 0..4 {
        producer.send(Panics(Counted::new(number, &alive))).map_err(drop).unwrap();
    }
    let mut places = [0, 99, 0].map(|number| Panics(Counted::new(number, &alive)));
    assert!(panics(|| _ = consumer.try_recv_batch(&mut places)).is_some());
    drop(places);
    assert_eq!((alive.load(Ordering::Relaxed), producer.len()), (1, 1));
    for number in 4..7 {
        assert!(producer.try_send(Panics(Counted::new(number, &alive))).is_ok(), "its slot is free");
    }
    assert_eq!(consumer.into_iter().take(2).map(|message| message.0.number).sum::<u64>(), 3 + 4);
}

//! Sending inside a handler that got a message of the same queue.
//!
//! The slots of the messages that a handler gets may be given back after it has returned. So a `send` there
//! may wait for the handler that it runs in, for ever. What only tries is told that the ring is full, what
//! waits for a time ends in time, and nothing is lost, doubled or out of order.

#[path = "support/hang.rs"]
mod hang;

use std::time::{Duration, Instant};

use annulus::queue::{Consumer, Kind, Producer};
use annulus::{SendTimeoutError, TrySendError, mpmc, mpsc, spmc, spsc};

const SHORT: Duration = Duration::from_millis(2);
const LONG: Duration = Duration::from_secs(20);

/// Hands messages that are there to a handler, which may ask for the end; by one verb each.
type Consumes<K> = fn(&mut Consumer<u64, K>, &mut dyn FnMut(u64));

fn consumes<K: Kind>() -> [Consumes<K>; 3] {
    [
        |consumer, handle| _ = consumer.consume(handle),
        |consumer, handle| _ = consumer.consume_up_to(3, handle),
        |consumer, handle| consumer.try_iter().for_each(handle),
    ]
}

/// Each message makes another one, as long as the handler can send it.
fn handlers_may_try<K: Kind>(make: impl Fn(usize) -> (Producer<u64, K>, Consumer<u64, K>)) {
    for capacity in [1, 2, 5] {
        for consume in consumes::<K>() {
            let (mut producer, mut consumer) = make(capacity);
            let (mut sent, mut received) = (0, 0);
            for round in 0..20 {
                while producer.try_send(sent).is_ok() {
                    sent += 1;
                }
                consume(&mut consumer, &mut |number| {
                    assert_eq!(number, received);
                    received += 1;
                    let begun = Instant::now();
                    // Now one, now the other, that does not wait for ever.
                    let full = if round % 2 == 0 {
                        match producer.try_send(sent) {
                            Err(TrySendError::Full(back)) => Some(back),
                            result => {
                                result.unwrap();
                                None
                            }
                        }
                    } else {
                        match producer.send_timeout(sent, SHORT) {
                            Err(SendTimeoutError::Timeout(back)) => Some(back),
                            result => {
                                result.unwrap();
                                None
                            }
                        }
                    };
                    match full {
                        Some(back) => assert_eq!(back, sent),
                        None => sent += 1,
                    }
                    assert!(begun.elapsed() < LONG);
                });
                assert!(received > round, "it got nothing");
            }
            while let Ok(number) = consumer.try_recv() {
                assert_eq!(number, received);
                received += 1;
            }
            assert_eq!(received, sent);
        }
    }
}

#[test]
fn handlers_may_try_to_send() {
    handlers_may_try(spsc::channel);
    handlers_may_try(mpsc::channel);
    handlers_may_try(spmc::channel);
    handlers_may_try(mpmc::channel);
}

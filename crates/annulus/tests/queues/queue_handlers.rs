//! Sending inside a handler that got a message of the same queue.
//!
//! The slots of the messages that a handler gets may be given back after it has returned. So a `send` there
//! may wait for the handler that it runs in, for ever. What only tries is told that the ring is full, what
//! waits for a time ends in time, and nothing is lost, doubled or out of order.

use std::time::{Duration, Instant};

use annulus::queue::kind::QueueKind;
use annulus::queue::{Consumer, Producer, ordered};
use annulus::{SendTimeoutError, TrySendError, mpmc, mpsc, spmc, spsc};

const SHORT: Duration = Duration::from_millis(2);
const LONG: Duration = Duration::from_secs(120);

/// What sends.
trait Sends {
    fn try_send(&mut self, number: u64) -> Result<(), TrySendError<u64>>;
    fn send_timeout(&mut self, number: u64, timeout: Duration) -> Result<(), SendTimeoutError<u64>>;
}

/// Hands messages that are there to a handler.
type Consume<C> = fn(&mut C, &mut dyn FnMut(u64));

/// What receives.
trait Consumes {
    /// By one verb each; the last one hands over all of them.
    const VERBS: [Consume<Self>; 3];
}

macro_rules! handles {
    ($([$($kind:ident)?] $producer:ty, $consumer:ty;)*) => {$(
        impl$(<$kind: QueueKind>)? Sends for $producer {
            fn try_send(&mut self, number: u64) -> Result<(), TrySendError<u64>> {
                <$producer>::try_send(self, number)
            }

            fn send_timeout(&mut self, number: u64, timeout: Duration) -> Result<(), SendTimeoutError<u64>> {
                <$producer>::send_timeout(self, number, timeout)
            }
        }

        impl$(<$kind: QueueKind>)? Consumes for $consumer {
            const VERBS: [Consume<Self>; 3] = [
                |consumer, handle| _ = consumer.consume(usize::MAX, handle),
                |consumer, handle| _ = consumer.consume(3, handle),
                |consumer, handle| consumer.try_iter().for_each(handle),
            ];
        }
    )*};
}

handles! {
    [K] Producer<u64, K>, Consumer<u64, K>;
    [] ordered::Sender<u64>, ordered::Receiver<u64>;
}

/// Each message makes another one, as long as the handler can send it.
fn handlers_may_try<P: Sends, C: Consumes>(make: impl Fn(usize) -> (P, C)) {
    for capacity in [1, 2, 5] {
        for consume in C::VERBS {
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
            C::VERBS[2](&mut consumer, &mut |number| {
                assert_eq!(number, received);
                received += 1;
            });
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
    handlers_may_try(ordered::channel);
}

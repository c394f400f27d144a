//! Publishers that wait for room: at once, in time, in batches, for nobody; one and many alike.

use std::thread;
use std::time::{Duration, Instant};

use annulus::Settings;
use annulus::broadcast::{Lossless, MpPublisher, Publisher, Subscribable};
use annulus::{Message, SendError, SendTimeoutError, Transmit, TrySendError, WaitStrategy};

const SHORT: Duration = Duration::from_millis(5);

/// The same tests for both kinds of publisher, whose verbs have the same names.
macro_rules! room {
    ($($publishers:ident: $publisher:ident, $made:ident;)*) => {$(
        #[allow(unused_mut, reason = "one of many publishers needs no `mut`")]
        mod $publishers {
            use super::*;

            fn channel<T: Message>(
                capacity: usize,
                headroom: usize,
            ) -> ($publisher<T, Lossless>, Subscribable<T, Lossless>) {
                annulus::broadcast::$made(Settings::new(capacity).headroom(headroom)).unwrap()
            }

            /// The whole room, minus the headroom, counted from where the slowest subscriber is.
            #[test]
            fn headroom_keeps_slots_free() {
                for capacity in [2, 3, 8, 100] {
                    for headroom in 0..capacity {
                        let (mut publisher, subscribable) = channel::<u64>(capacity, headroom);
                        let mut slow = subscribable.subscribe();
                        let mut fast = subscribable.subscribe();
                        let room = (capacity - headroom) as u64;
                        for number in 0..room {
                            assert_eq!(publisher.try_publish(number), Ok(()));
                            assert_eq!(fast.try_recv(), Ok(number));
                        }
                        assert_eq!(publisher.try_publish(room), Err(TrySendError::Full(room)));
                        assert_eq!(slow.try_recv(), Ok(0));
                        assert_eq!(publisher.try_publish(room), Ok(()));
                        assert_eq!(publisher.try_publish(0), Err(TrySendError::Full(0)));
                        drop(slow);
                        assert_eq!(fast.try_recv(), Ok(room));
                        (0..room).for_each(|number| publisher.try_publish(number).unwrap());
                        assert!(publisher.try_publish(0).unwrap_err().is_full());
                    }
                }
            }

            #[test]
            fn timeout_gives_the_message_back_in_time_and_not_before() {
                let (mut publisher, subscribable) = channel::<u64>(2, 0);
                let mut subscriber = subscribable.subscribe();
                let begun = Instant::now();
                // What there is room for takes no time, even where there is none left.
                assert_eq!(publisher.publish_timeout(0, Duration::ZERO), Ok(()));
                assert_eq!(publisher.publish_until(1, begun), Ok(()));
                assert_eq!(publisher.publish_timeout(2, SHORT), Err(SendTimeoutError::Timeout(2)));
                assert!(begun.elapsed() >= SHORT);
                let deadline = Instant::now() + SHORT;
                assert_eq!(publisher.publish_until(2, deadline), Err(SendTimeoutError::Timeout(2)));
                assert!(Instant::now() >= deadline);
                assert_eq!(publisher.published(), 2, "nothing was claimed for what was not published");
                assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [0, 1]);
                assert_eq!(publisher.publish_timeout(2, Duration::MAX), Ok(()));
                assert_eq!(subscriber.try_recv(), Ok(2));
                drop((subscriber, subscribable));
                assert!(publisher.is_closed());
                assert_eq!(publisher.publish_timeout(3, SHORT), Err(SendTimeoutError::Closed(3)));
                assert_eq!(publisher.publish_until(3, begun), Err(SendTimeoutError::Closed(3)));
            }

            /// A batch larger than the ring goes through it in parts, in order.
            #[test]
            fn batch_may_be_larger_than_the_ring() {
                for (capacity, headroom) in [(2, 0), (2, 1), (7, 3), (64, 0)] {
                    let (mut publisher, subscribable) = channel::<u64>(capacity, headroom);
                    let mut subscriber = subscribable.subscribe();
                    let batch: Vec<u64> = (0..if cfg!(miri) { 40 } else { 1000 }).collect();
                    let expected = batch.clone();
                    let writer = thread::spawn(move || publisher.publish_batch(&batch).is_ok());
                    assert_eq!(subscriber.iter().collect::<Vec<_>>(), expected);
                    assert!(writer.join().unwrap());
                }
            }

            /// What could not be published comes back: the rest of the batch, from the first message that is
            /// not there.
            #[test]
            fn batch_that_ends_early_gives_the_rest_back() {
                for (capacity, headroom, more) in [(2, 0, 1), (4, 1, 3), (8, 0, 100)] {
                    let (mut publisher, subscribable) = channel::<u64>(capacity, headroom);
                    let mut subscriber = subscribable.subscribe();
                    let room = capacity - headroom;
                    let batch: Vec<u64> = (0..(room + more) as u64).collect();
                    let result = publisher.publish_batch_timeout(&batch, SHORT);
                    let Err(SendTimeoutError::Timeout(rest)) = result else { panic!("{result:?}") };
                    let (there, left) = batch.split_at(batch.len() - rest.len());
                    assert_eq!(rest, left);
                    assert_eq!(there.len(), room);
                    assert_eq!(publisher.published(), there.len() as u64);
                    assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), there);
                    let result = publisher.publish_batch_until(left, Instant::now());
                    assert_eq!(result.is_ok(), left.len() <= room);
                    drop((subscriber, subscribable));
                    assert_eq!(publisher.publish_batch(&[7, 8]), Err(SendError(&[7, 8][..])));
                    let strategy = WaitStrategy::BusySpin;
                    assert_eq!(publisher.publish_batch_until(&[7], strategy), Err(SendTimeoutError::Closed(&[7][..])));
                    let closed = Err(SendTimeoutError::Closed(&[7, 8][..]));
                    assert_eq!(publisher.publish_batch_timeout(&[7, 8], SHORT), closed);
                    assert_eq!(publisher.publish_batch_until(&[7, 8], Instant::now()), closed);
                }
            }

            #[test]
            fn empty_batch_is_nothing() {
                let (mut publisher, subscribable) = channel::<u64>(2, 1);
                let mut subscriber = subscribable.subscribe();
                publisher.publish(1).unwrap();
                assert_eq!(publisher.publish_batch(&[]), Ok(()), "there is room for nothing");
                assert_eq!(publisher.publish_batch_timeout(&[], Duration::ZERO), Ok(()));
                assert_eq!((publisher.published(), subscriber.try_iter().count()), (1, 1));
            }

            /// Every strategy waits at the gate, and goes on when the subscriber does, or leaves.
            #[test]
            fn strategies_wait_for_room() {
                for strategy in [
                    WaitStrategy::BusySpin,
                    WaitStrategy::PauseSpin,
                    WaitStrategy::Monitor,
                    WaitStrategy::BackoffSpin,
                    WaitStrategy::adaptive_after(10, 10),
                    WaitStrategy::block_after(0, 0),
                    WaitStrategy::default(),
                ] {
                    let (mut publisher, subscribable) = channel::<u64>(2, 0);
                    let mut subscriber = subscribable.subscribe();
                    publisher.publish_until(0, strategy).unwrap();
                    publisher.publish_until(1, strategy).unwrap();
                    let writer = thread::spawn(move || {
                        publisher.publish_until(2, strategy).unwrap();
                        publisher.publish_batch_until(&[3, 4, 5], strategy).unwrap();
                        publisher.publish_until(6, strategy).unwrap();
                        publisher
                    });
                    (0..4).for_each(|number| assert_eq!(subscriber.recv(), Ok(number)));
                    drop(subscriber);
                    assert_eq!(writer.join().unwrap().published(), 7, "{strategy:?}");
                }
            }

            /// A waiting publisher is told when the last subscriber goes; which handles are left decides
            /// whether that closes the ring.
            #[test]
            fn waiting_publisher_is_told_when_the_last_reader_goes() {
                let (mut publisher, subscribable) = channel::<u64>(2, 0);
                let subscriber = subscribable.subscribe();
                let mut tap = subscribable.subscribe_lossy();
                publisher.publish_batch(&[0, 1]).unwrap();
                let writer = thread::spawn(move || {
                    let mut number = 2;
                    while publisher.publish(number).is_ok() {
                        number += 1;
                    }
                    number
                });
                drop(subscriber);
                drop(subscribable);
                // It publishes for the tap, which it never waits for.
                while tap.latest().is_none_or(|number| number < 2) {
                    thread::yield_now();
                }
                drop(tap);
                assert!(writer.join().unwrap() > 2);
            }
        }
    )*};
}

room! {
    one: Publisher, lossless_with;
    many: MpPublisher, mp_lossless_with;
}

/// On a lossy ring a publisher among many waits for nobody, and needs nobody.
#[test]
fn lossy_publisher_among_many_is_never_full() {
    let (mut publisher, subscribable) = annulus::broadcast::mp_lossy::<u64>(2);
    let mut subscriber = subscribable.subscribe();
    for number in 0..20 {
        publisher.publish(number);
        publisher.publish_with(|| number);
        assert_eq!(publisher.try_send(number), Ok(()));
    }
    publisher.publish_batch(&[]);
    publisher.publish_batch(&[7, 8, 9]);
    assert_eq!(publisher.published(), 63);
    assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [8, 9]);
    assert_eq!(subscriber.total_lagged(), 61);
    drop((subscriber, subscribable));
    assert_eq!(publisher.try_send(1), Ok(()), "a lossy ring needs nobody");
}

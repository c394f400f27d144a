//! Publishers that wait until somebody listens.

use std::time::Duration;

use annulus::{WaitStrategy, broadcast, event};

use crate::support::{spawn, without_standing_still};

const SOON: Duration = Duration::from_millis(1);

/// Which only a fault takes.
const LONG: Duration = Duration::from_secs(600);

/// What is published after the wait reaches all that it waited for, however late they come; and the wait ends
/// where nobody can come.
macro_rules! listened_to {
    ($($name:ident: $make:expr, |$publisher:ident, $number:ident| $publish:expr;)*) => {$(
        #[test]
        fn $name() {
            without_standing_still(|| {
                #[allow(unused_mut, reason = "some need it")]
                let (mut $publisher, subscribable) = $make;
                assert!($publisher.wait_for_subscribers(0));
                assert!(!$publisher.wait_for_subscribers_timeout(1, SOON));
                let first = subscribable.subscribe();
                assert!($publisher.wait_for_subscribers_timeout(1, SOON));
                assert!(!$publisher.wait_for_subscribers_timeout(2, SOON));
                let thread = spawn(move || {
                    assert!($publisher.wait_for_subscribers(3));
                    for $number in 1..=3 {
                        $publish;
                    }
                    $publisher
                });
                let second = first.clone();
                let third = subscribable.subscribe();
                let all = [first, second, third].map(|mut subscriber| {
                    spawn(move || (0..3).map(|_| subscriber.recv().unwrap()).sum::<u64>())
                });
                let publisher = thread.join().unwrap();
                assert_eq!(all.map(|thread| thread.join().unwrap()), [6; 3]);

                // Nobody comes any more.
                let thread = spawn(move || {
                    assert!(!publisher.wait_for_subscribers(4));
                    publisher
                });
                drop(subscribable);
                assert!(!thread.join().unwrap().wait_for_subscribers(1));

                // Somebody closes the ring.
                #[allow(unused_mut, reason = "some need it")]
                let (mut $publisher, _subscribable) = $make;
                let closer = $publisher.closer();
                let thread = spawn(move || $publisher.wait_for_subscribers(1));
                closer.close();
                assert!(!thread.join().unwrap());
            });
        }
    )*};
}

listened_to! {
    lossy: broadcast::lossy::<u64>(8), |publisher, number| publisher.publish(number);
    lossless: broadcast::lossless::<u64>(8), |publisher, number| publisher.publish(number).unwrap();
    mp_lossy: broadcast::mp_lossy::<u64>(8), |publisher, number| publisher.publish(number);
    mp_lossless: broadcast::mp_lossless::<u64>(8), |publisher, number| publisher.publish(number).unwrap();
    events: event::channel(8, || 0), |publisher, number| publisher.send(number).unwrap();
    mp_events: event::mp_channel(8, || 0), |publisher, number| publisher.send(number).unwrap();
}

/// Each handle that may end the wait wakes the waiter: here a task, which is woken for certain.
#[cfg(feature = "async")]
macro_rules! waiter_is_woken {
    ($($name:ident: $make:expr;)*) => {$(
        #[test]
        fn $name() {
            use crate::support::tasks::Counting;
            use std::task::Poll;

            let (publisher, subscribable) = $make;
            let waker = Counting::new();
            let mut wakes = 0;
            let mut is_woken = || {
                let before = std::mem::replace(&mut wakes, waker.wakes());
                wakes > before
            };
            let mut one = publisher.wait_for_subscribers_async(1);
            assert_eq!(waker.poll(&mut one), Poll::Pending);
            let first = subscribable.subscribe();
            assert!(is_woken(), "by who joins");
            assert_eq!(waker.poll(&mut one), Poll::Ready(true));

            let mut two = publisher.wait_for_subscribers_async(2);
            assert_eq!(waker.poll(&mut two), Poll::Pending);
            let second = first.clone();
            assert!(is_woken(), "by a clone");
            assert_eq!(waker.poll(&mut two), Poll::Ready(true));

            drop(subscribable);
            let mut three = publisher.wait_for_subscribers_async(3);
            assert_eq!(waker.poll(&mut three), Poll::Pending);
            drop((first, second));
            assert!(is_woken(), "by the last that leaves");
            assert_eq!(waker.poll(&mut three), Poll::Ready(false));

            let (publisher, subscribable) = $make;
            let mut one = publisher.wait_for_subscribers_async(1);
            assert_eq!(waker.poll(&mut one), Poll::Pending);
            drop(subscribable);
            assert!(is_woken(), "by the last that could subscribe");
            assert_eq!(waker.poll(&mut one), Poll::Ready(false));

            let (publisher, _subscribable) = $make;
            let mut one = publisher.wait_for_subscribers_async(1);
            assert_eq!(waker.poll(&mut one), Poll::Pending);
            publisher.close();
            assert!(is_woken(), "by the close");
            assert_eq!(waker.poll(&mut one), Poll::Ready(false));
        }
    )*};
}

#[cfg(feature = "async")]
waiter_is_woken! {
    of_a_lossy_ring: broadcast::lossy::<u64>(8);
    of_a_lossless_ring: broadcast::lossless::<u64>(8);
    of_a_ring_of_events: event::channel(8, || 0);
    of_a_lossy_ring_of_many: broadcast::mp_lossy::<u64>(8);
    of_a_lossless_ring_of_many: broadcast::mp_lossless::<u64>(8);
    of_a_ring_of_events_of_many: event::mp_channel(8, || 0);
}

/// As long as there is another publisher, it can make a subscriber, whatever handles that receive are gone.
macro_rules! another_publisher_may_subscribe {
    ($($name:ident: $make:expr;)*) => {$(
        #[test]
        fn $name() {
            without_standing_still(|| {
                let (publisher, subscribable) = $make;
                let other = publisher.clone();
                drop(subscribable);
                let thread = spawn(move || {
                    assert!(publisher.wait_for_subscribers(1));
                    assert!(publisher.wait_for_subscribers_until(1, WaitStrategy::BusySpin));
                    publisher
                });
                let subscriber = other.subscribe();
                let publisher = thread.join().unwrap();
                drop(subscriber);
                // The one that waits is the last one.
                let thread = spawn(move || assert!(!publisher.wait_for_subscribers_timeout(1, LONG)));
                drop(other);
                thread.join().unwrap();
            });
        }
    )*};
}

another_publisher_may_subscribe! {
    another_publisher_of_a_lossy_ring_may_subscribe: broadcast::mp_lossy::<u64>(8);
    another_publisher_of_a_lossless_ring_may_subscribe: broadcast::mp_lossless::<u64>(8);
    another_publisher_of_events_may_subscribe: event::mp_channel(8, || 0);
}

/// The same for one that waits already: here a task, which is woken for certain.
#[cfg(feature = "async")]
macro_rules! waiter_beside_another_publisher {
    ($($name:ident: $make:expr;)*) => {$(
        #[test]
        fn $name() {
            use crate::support::tasks::Counting;
            use std::task::Poll;

            let (publisher, subscribable) = $make;
            let (other, waker) = (publisher.clone(), Counting::new());
            let mut two = publisher.wait_for_subscribers_async(2);
            assert_eq!(waker.poll(&mut two), Poll::Pending);
            drop(subscribable);
            assert_eq!(waker.poll(&mut two), Poll::Pending, "the other publisher is left");
            let first = other.subscribe();
            assert_eq!(waker.poll(&mut two), Poll::Pending);
            let wakes = waker.wakes();
            let second = first.clone();
            assert!(waker.wakes() > wakes, "by one that joins");
            assert_eq!(waker.poll(&mut two), Poll::Ready(true));

            drop((first, second));
            let mut one = publisher.wait_for_subscribers_async(1);
            assert_eq!(waker.poll(&mut one), Poll::Pending);
            let wakes = waker.wakes();
            drop(other);
            assert!(waker.wakes() > wakes, "by the last that could subscribe");
            assert_eq!(waker.poll(&mut one), Poll::Ready(false));
        }
    )*};
}

#[cfg(feature = "async")]
waiter_beside_another_publisher! {
    waiter_beside_another_publisher_of_a_lossy_ring: broadcast::mp_lossy::<u64>(8);
    waiter_beside_another_publisher_of_a_lossless_ring: broadcast::mp_lossless::<u64>(8);
    waiter_beside_another_publisher_of_events: event::mp_channel(8, || 0);
}

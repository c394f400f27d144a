//! Publishers that wait until somebody listens.

use std::time::Duration;

use annulus::{broadcast, event};

use crate::support::{spawn, without_standing_still};

const SOON: Duration = Duration::from_millis(1);

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

/// In a task, the wake-up comes from who joins.
#[cfg(feature = "async")]
#[test]
fn a_task_is_woken_by_who_joins() {
    use crate::support::tasks::Counting;

    let (publisher, subscribable) = broadcast::lossless::<u64>(8);
    let waker = Counting::new();
    let mut future = publisher.wait_for_subscribers_async(1);
    assert!(waker.poll(&mut future).is_pending());
    let before = waker.wakes();
    let _subscriber = subscribable.subscribe();
    assert!(waker.wakes() > before);
    assert_eq!(waker.poll(&mut future), std::task::Poll::Ready(true));
}

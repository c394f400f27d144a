//! Waits: the first wait that sleeps needs memory, and later ones do not.

use std::thread;
use std::time::Duration;

use annulus::{Select, WaitStrategy, select, spsc};

use crate::counting::steady;
use crate::support::sleeping::Sleeper;

/// So short a time that nothing comes in it, and long enough to sleep.
const SHORT: Duration = Duration::from_micros(100);

/// Sleeps at once.
const BLOCK: WaitStrategy = WaitStrategy::block_after(0, 0);

fn of_all(consumers: &mut [spsc::Consumer<u64>]) -> Select<'_> {
    let mut select = Select::new();
    for consumer in consumers {
        select.recv(consumer);
    }
    select
}

#[test]
fn select_that_waits_again_allocates_nothing() {
    let (mut producers, mut consumers): (Vec<_>, Vec<_>) = (0..4).map(|_| spsc::channel::<u64>(4)).unzip();
    for consumer in &mut consumers {
        consumer.set_wait_strategy(BLOCK);
    }
    // The first wait: another thread has seen that it sleeps. (A short one may be over before.)
    let waiter = Sleeper::this();
    thread::scope(|scope| {
        scope.spawn(|| {
            waiter.await_sleep();
            producers[0].send(7).unwrap();
        });
        assert_eq!(of_all(&mut consumers).ready(), 0);
    });
    assert_eq!(consumers[0].try_recv(), Ok(7));
    {
        let mut select = of_all(&mut consumers);
        steady(|_| assert_eq!(select.ready_timeout(SHORT), None));
    }
    let [first, second, ..] = &mut consumers[..] else { unreachable!() };
    steady(|_| {
        select! {
            recv(first) -> _ => unreachable!(),
            recv(second) -> _ => unreachable!(),
            default(SHORT) => {}
        }
    });
}

#[cfg(feature = "async")]
mod tasks {
    use std::task::Poll;

    use annulus::queue::ordered;

    use crate::counting::{bytes, steady};
    use crate::support::tasks::Counting;

    #[test]
    fn task_that_waits_again_allocates_nothing() {
        let (sender, receiver) = ordered::channel(4);
        let count = Counting::new();
        steady(|round| {
            let mut futures = [(); 4].map(|()| receiver.recv_async());
            assert!(futures.each_mut().iter_mut().all(|future| count.poll(*future).is_pending()));
            sender.send(round).unwrap();
            assert_eq!(count.poll(&mut futures[0]), Poll::Ready(Ok(round)));
        });
    }

    /// After a peak, what nobody needs is given back.
    #[test]
    fn memory_of_waiters_is_freed_after_a_peak() {
        const MANY: usize = if cfg!(miri) { 100 } else { 20_000 };
        let (_sender, receiver) = ordered::channel::<u64>(4);
        let count = Counting::new();
        let wait = |tasks: usize| {
            let mut futures: Vec<_> = (0..tasks).map(|_| receiver.recv_async()).collect();
            assert!(futures.iter_mut().all(|future| count.poll(future).is_pending()));
        };
        wait(1);
        let before = bytes();
        wait(MANY);
        let left = bytes().saturating_sub(before);
        assert!(left < 1_000, "{left} bytes are left of {MANY} tasks");
    }
}

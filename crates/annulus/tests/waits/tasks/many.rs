//! Many tasks at one ring: each verb takes a few steps for each of them, however many there are. (Figures are
//! printed. Unit tests in `wait/waiters/mod.rs` count the steps.)

use std::task::Poll;
use std::time::{Duration, Instant};

use annulus::queue::ordered;

use crate::support::tasks::Counting;

const TASKS: usize = if cfg!(miri) { 100 } else { 50_000 };

/// What `work` took, for each of `count`.
fn time(what: &str, count: usize, work: impl FnOnce()) {
    let begun = Instant::now();
    work();
    let each = begun.elapsed() / u32::try_from(count).unwrap();
    println!("{what}: {each:?}");
    assert!(each < Duration::from_secs(60));
}

/// They are woken in turn, one for each message; tasks that go pass nothing on; and the rest learns of the
/// end.
#[test]
fn message_wakes_one_task_of_many() {
    let (sender, receiver) = ordered::channel(TASKS);
    let count = Counting::new();
    let mut waiting = Vec::new();
    time("a registration", TASKS, || {
        for _ in 0..TASKS {
            let mut future = receiver.recv_async();
            assert_eq!(count.poll(&mut future), Poll::Pending);
            waiting.push(future);
        }
    });
    let half = TASKS / 2;
    time("a message for one of them", half, || {
        (0..half).for_each(|number| sender.send(number).unwrap());
    });
    assert_eq!(count.wakes(), half);
    time("a future that is dropped", TASKS / 4, || waiting.truncate(TASKS - TASKS / 4));
    assert_eq!(count.wakes(), half);
    time("a receive", half, || {
        for (number, future) in waiting[..half].iter_mut().enumerate() {
            assert_eq!(count.poll(future), Poll::Ready(Ok(number)));
        }
    });
    drop(sender);
    let left = TASKS - TASKS / 4 - half;
    assert_eq!(count.wakes(), half + left);
    waiting[half..].iter_mut().for_each(|future| assert!(count.poll(future).is_ready()));
    drop(waiting);
    assert_eq!(count.alive(), 0);
}

/// After a peak, a wait costs only as much as the present number of waiters.
#[test]
fn wait_after_a_peak_is_as_before() {
    let (sender, receiver) = ordered::channel(4);
    let count = Counting::new();
    let round_trips = |what| {
        time(what, 1_000, || {
            for number in 0..1_000 {
                let mut future = receiver.recv_async();
                assert_eq!(count.poll(&mut future), Poll::Pending);
                sender.send(number).unwrap();
                assert_eq!(count.poll(&mut future), Poll::Ready(Ok(number)));
            }
        });
    };
    round_trips("a wait before the peak");
    let waiting = (0..TASKS).map(|_| {
        let mut future = receiver.recv_async();
        assert_eq!(count.poll(&mut future), Poll::Pending);
        future
    });
    drop(waiting.collect::<Vec<_>>());
    round_trips("a wait after it");
    assert_eq!(count.alive(), 0);
}

//! Waiting costs nothing, however many wait, and one message wakes them all.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::{join, spawn, time_on_a_core, time_on_a_core_since, without_standing_still};
use crate::rings::{Publish, Receive, Ring};

const SUBSCRIBERS: usize = if cfg!(miri) { 2 } else { 64 };

/// How long they wait.
const IDLE: Duration = Duration::from_millis(if cfg!(miri) { 0 } else { 200 });

/// Sixty-four subscribers that wait use next to nothing of a core each, where spinning would use all of it;
/// and one message wakes each of them.
pub(crate) fn many_who_wait_use_no_core_and_all_wake<R: Ring>() {
    without_standing_still(|| {
        let (mut publisher, source) = R::new(4);
        let (ready, all_ready) = mpsc::channel();
        let waiting: Vec<_> = (0..SUBSCRIBERS)
            .map(|_| {
                let mut subscriber = R::subscribe(&source);
                let ready = ready.clone();
                spawn(move || {
                    let before = time_on_a_core();
                    ready.send(()).unwrap();
                    assert_eq!(subscriber.recv(), Ok(7));
                    time_on_a_core_since(before)
                })
            })
            .collect();
        (0..SUBSCRIBERS).for_each(|_| all_ready.recv().unwrap());
        thread::sleep(IDLE);
        publisher.publish(7).unwrap();
        for used in join(waiting).into_iter().flatten() {
            assert!(used < IDLE / 10, "idle for {IDLE:?}, {used:?} of it on a core");
        }
    });
}

/// The same for one.
pub(crate) fn one_who_waits_uses_no_core_and_wakes<R: Ring>() {
    let (mut publisher, source) = R::new(4);
    let mut subscriber = R::subscribe(&source);
    let waiting = spawn(move || {
        let before = time_on_a_core();
        assert_eq!(subscriber.recv(), Ok(7));
        time_on_a_core_since(before)
    });
    thread::sleep(IDLE);
    publisher.publish(7).unwrap();
    let used = waiting.join().unwrap().unwrap_or_default();
    assert!(used < IDLE / 10, "idle for {IDLE:?}, {used:?} of it on a core");
}

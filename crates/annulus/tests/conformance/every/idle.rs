//! Waiting costs nothing, however many wait, and one message wakes them all.

use super::{join, sleeping, without_standing_still};
use crate::rings::{Publish, Receive, Ring};

const SUBSCRIBERS: usize = if cfg!(miri) { 2 } else { 64 };

/// Sixty-four subscribers that wait sleep, and one message wakes each of them.
pub(crate) fn many_sleepers_use_no_core_and_all_wake<R: Ring>() {
    without_standing_still(|| {
        let (mut publisher, source) = R::new(4);
        let (waiting, sleepers) = sleeping::spawn_all((0..SUBSCRIBERS).map(|_| {
            let mut subscriber = R::subscribe(&source);
            move || assert_eq!(subscriber.recv(), Ok(7))
        }));
        sleeping::await_all(&sleepers);
        publisher.publish(7).unwrap();
        join(waiting);
    });
}

/// The same for one.
pub(crate) fn one_sleeper_uses_no_core_and_wakes<R: Ring>() {
    let (mut publisher, source) = R::new(4);
    let mut subscriber = R::subscribe(&source);
    let (waiting, sleeper) = sleeping::spawn(move || assert_eq!(subscriber.recv(), Ok(7)));
    sleeper.await_sleep();
    publisher.publish(7).unwrap();
    waiting.join().unwrap();
}

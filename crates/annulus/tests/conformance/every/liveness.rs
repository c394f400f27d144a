//! Nobody waits for ever: no call goes on for as long as others come and go, and no message waits for as long
//! as others publish.
#![allow(clippy::disallowed_types, reason = "what the tests count is none of the library's atomics")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::{join, spawn, time_on_a_core, time_on_a_core_since};
use crate::rings::{Got, Publish, Receive, Ring};

/// Threads that come and go.
const COMERS: usize = if cfg!(miri) { 1 } else { 6 };

/// Calls of each verb beside them.
const CALLS: usize = if cfg!(miri) { 1 } else { 20 };

/// More receives than one message waits for beside a publisher that never stops: a turn of each ring, and one
/// more, or a whole ring.
const MANY: usize = 4 * 128;

/// Every verb comes back, with nothing or with a message, while publishers and subscribers join and leave
/// without a break. One that goes on with them never does, which `support/hang.rs` sees. The longest time
/// that a call had a core is printed.
pub(crate) fn calls_end_while_handles_come_and_go<R: Ring>() {
    let (mut publisher, source) = R::new(8);
    let mut subscriber = R::subscribe(&source);
    let joins = R::from_oldest(&source).is_some();
    let over = Arc::new(AtomicBool::new(false));
    let came = Arc::new(AtomicUsize::new(0));
    let comers: Vec<_> = (0..COMERS)
        .map(|_| {
            let (other, source) = (publisher.another(), source.clone());
            let (over, came) = (Arc::clone(&over), Arc::clone(&came));
            spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    drop(other.as_ref().map(Publish::another));
                    drop(joins.then(|| R::subscribe(&source)));
                    came.fetch_add(1, Ordering::Relaxed);
                    if cfg!(miri) {
                        thread::yield_now();
                    }
                }
            })
        })
        .collect();
    while came.load(Ordering::Relaxed) < COMERS {
        thread::yield_now();
    }
    let mut longest = Duration::ZERO;
    for verb in R::Subscriber::verbs() {
        for call in 0..CALLS {
            if verb.waits || call % 2 == 0 {
                publisher.publish(7).unwrap();
            }
            let begun = time_on_a_core();
            let got = (verb.ask)(&mut subscriber);
            let took = time_on_a_core_since(begun).unwrap_or_default();
            longest = longest.max(took);
            assert!(matches!(got, Got::Messages(_) | Got::Nothing), "{}: {got:?}", verb.name);
            // What a verb leaves, such as one that skips.
            while subscriber.try_recv().is_ok() {}
        }
    }
    println!("{longest:?} of a core at most");
    over.store(true, Ordering::Relaxed);
    join(comers);
}

/// A message is received soon by every verb, though another publisher fills its room at each occasion, and
/// others come, publish and go.
pub(crate) fn message_is_received_whatever_others_publish<R: Ring>() {
    const WAITED_FOR: u64 = 1 << 40;
    if !R::LOSSLESS {
        // What is too old is lost and counted: `accounts`.
        return;
    }
    for verb in R::Subscriber::verbs() {
        for turn in 0..if cfg!(miri) { 1 } else { 20 } {
            let (mut busy, source) = R::new(8);
            let Some(mut other) = busy.another() else { return };
            let mut subscriber = R::subscribe(&source);
            let fill = |publisher: &mut R::Publisher| while publisher.try_publish(7).is_ok() {};
            (0..turn).for_each(|_| _ = busy.try_publish(7));
            if other.try_publish(WAITED_FOR).is_err() {
                continue;
            }
            let mut received = 0;
            loop {
                fill(&mut busy);
                if let Some(mut passing) = busy.another() {
                    _ = passing.try_publish(7);
                }
                let Got::Messages(messages) = (verb.ask)(&mut subscriber) else { continue };
                if messages.contains(&WAITED_FOR) {
                    break;
                }
                received += messages.len();
                assert!(received < MANY, "{}: not after {received} receives", verb.name);
            }
        }
    }
}

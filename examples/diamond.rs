//! A graph of stages: an order is journalled and replicated at the same time, and executed once both are
//! done.
//!
//! ```text
//!                ┌─► journal ───┐
//!  publisher ────┤              ├──► execute
//!                └─► replicate ─┘
//! ```
//!
//! `cargo run --release -p annulus --example diamond`
#![expect(clippy::disallowed_types, reason = "no model of the library needs to see these flags")]

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

const ORDERS: usize = 200_000;

fn main() {
    let (mut publisher, subscribable) = annulus::broadcast::lossless::<usize>(1024);
    // The graph is made before the first message: messages from before a stage joined do not concern it.
    let mut journal = subscribable.subscribe_tracked();
    let mut replicate = subscribable.subscribe_tracked();
    let mut execute = subscribable.subscribe().after(&[&journal, &replicate]);
    // Follows nobody: it shows what `after` is for.
    let mut bystander = subscribable.subscribe();

    // One flag for each order. All accesses are relaxed: if the ring did not make a flag visible, nothing
    // would.
    let flags = || (0..ORDERS).map(|_| AtomicBool::new(false)).collect::<Vec<_>>();
    let (journalled, replicated) = (flags(), flags());
    let is_done = |order: usize| journalled[order].load(Relaxed) && replicated[order].load(Relaxed);

    let (executed, ahead) = thread::scope(|scope| {
        scope.spawn(|| {
            for order in &mut journal {
                journalled[order].store(true, Relaxed);
                // The order counts as processed when the loop comes back for the next one.
            }
        });
        scope.spawn(|| replicate.iter().for_each(|order| replicated[order].store(true, Relaxed)));
        let execute = scope.spawn(|| {
            for order in &mut execute {
                assert!(is_done(order), "order {order} was executed before it was journalled and replicated");
            }
            execute.total_received()
        });
        let bystander = scope.spawn(|| bystander.iter().filter(|&order| !is_done(order)).count());
        for order in 0..ORDERS {
            publisher.publish(order).expect("somebody can receive");
        }
        drop(publisher);
        (execute.join().unwrap(), bystander.join().unwrap())
    });
    println!("executed {executed} orders, none before it was journalled and replicated");
    println!("a plain subscriber beside it was too early {ahead} times");
    assert_eq!(executed, ORDERS as u64);
}

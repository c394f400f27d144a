//! A graph of stages: an order is journalled and replicated at the same time, and executed once both are done.
//!
//! ```text
//!                ┌─► journal ───┐
//!  publisher ────┤              ├──► execute
//!                └─► replicate ─┘
//! ```
//!
//! `cargo run --release -p annulus --example diamond`
#![expect(clippy::disallowed_types, reason = "no model of the library needs to see these flags")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

const ORDERS: u64 = 200_000;

/// One flag for each order. All accesses are relaxed: if the ring did not make the flag visible, nothing would.
#[derive(Clone)]
struct Flags(Arc<[AtomicBool]>);

impl Flags {
    fn new() -> Self {
        Self((0..ORDERS).map(|_| AtomicBool::new(false)).collect())
    }

    fn set(&self, order: u64) {
        self.0[order as usize].store(true, Relaxed);
    }

    fn is_set(&self, order: u64) -> bool {
        self.0[order as usize].load(Relaxed)
    }
}

fn main() {
    let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(1024);

    // The graph is made before the first message: what came before a stage joined would not concern it.
    let mut journal = subscribable.subscribe_tracked();
    let mut replicate = subscribable.subscribe_tracked();
    let mut execute = subscribable.subscribe().after(&[&journal, &replicate]);
    // Follows nobody: it shows what `after` is for.
    let mut bystander = subscribable.subscribe();

    let (journalled, replicated) = (Flags::new(), Flags::new());

    let journal = thread::spawn({
        let journalled = journalled.clone();
        move || {
            let mut lines = Vec::new();
            for order in &mut journal {
                lines.push(order);
                journalled.set(order);
                // It counts as processed when the loop comes back for the next one.
            }
            lines.len() as u64
        }
    });
    let replicate = thread::spawn({
        let replicated = replicated.clone();
        move || {
            let mut checksum = 0_u64;
            for order in &mut replicate {
                checksum = checksum.rotate_left(5) ^ order;
                replicated.set(order);
            }
            (replicate.total_received(), checksum)
        }
    });
    let execute = thread::spawn({
        let (journalled, replicated) = (journalled.clone(), replicated.clone());
        move || {
            let mut checksum = 0_u64;
            for order in &mut execute {
                assert!(journalled.is_set(order), "order {order} was executed before it was journalled");
                assert!(replicated.is_set(order), "order {order} was executed before it was replicated");
                checksum = checksum.rotate_left(5) ^ order;
            }
            (execute.total_received(), checksum)
        }
    });
    let bystander = thread::spawn(move || {
        bystander.iter().filter(|&order| !(journalled.is_set(order) && replicated.is_set(order))).count()
    });

    for order in 0..ORDERS {
        publisher.publish(order).expect("somebody can receive");
    }
    drop(publisher);

    let lines = journal.join().unwrap();
    let (copies, copied) = replicate.join().unwrap();
    let (executions, executed) = execute.join().unwrap();
    let ahead = bystander.join().unwrap();
    println!("journalled {lines}, replicated {copies}, executed {executions} orders");
    println!("execute: ahead of journal or replicate at 0 orders (both flags were looked at for each)");
    println!("a plain subscriber beside it: ahead at {ahead}");
    assert_eq!((lines, copies, executions), (ORDERS, ORDERS, ORDERS));
    assert_eq!(copied, executed, "the replica and the executor saw the same orders in the same order");
}

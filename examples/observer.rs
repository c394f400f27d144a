//! A thread that watches rings from outside: it prints their numbers once in a while, holds nothing open, and
//! ends when they are gone.
//!
//! `cargo run --release -p annulus --example observer`

use std::thread;
use std::time::Duration;

use annulus::{Observer, broadcast, mpsc};

/// Prints the numbers of all rings that are left, and returns how often.
fn watch(rings: [Observer; 2]) -> u32 {
    let (mut ticks, mut rings) = (0, rings.map(|ring| (ring, None)).to_vec());
    while !rings.is_empty() {
        rings.retain_mut(|(ring, earlier)| {
            let Some(stats) = ring.stats() else { return false };
            println!("{stats}");
            if let Some(earlier) = earlier {
                let delta = stats.since(earlier);
                println!("  {:.0} messages a second", delta.rate(delta.published));
            }
            *earlier = Some(stats);
            true
        });
        println!();
        ticks += 1;
        thread::sleep(Duration::from_millis(100));
    }
    ticks
}

fn main() {
    let orders = mpsc::Builder::new(256).named("orders").statistics(true);
    let (mut orders, mut worker) = orders.build::<u64>().unwrap();
    let prices = broadcast::Builder::new(64).named("prices").statistics(true);
    let (mut prices, source) = prices.lossless::<u64>().unwrap();
    let (mut fast, mut slow) = (source.subscribe(), source.subscribe());

    let rings = [worker.observer(), source.observer()];
    let watcher = thread::spawn(move || watch(rings));
    drop(source);
    let prices_received = thread::spawn(move || fast.iter().count());
    let slow =
        thread::spawn(move || slow.iter().inspect(|_| thread::sleep(Duration::from_millis(1))).count());
    let orders_received = thread::spawn(move || worker.iter().count());
    for number in 0..500 {
        prices.publish(number).unwrap(); // waits for the slow subscriber
        orders.send(number).unwrap();
    }
    drop((prices, orders));
    assert_eq!((prices_received.join().unwrap(), slow.join().unwrap()), (500, 500));
    assert_eq!(orders_received.join().unwrap(), 500);
    assert!(watcher.join().unwrap() > 1, "it saw the rings, and then that they were gone");
}

//! A thread that watches all rings that have a name: it prints their numbers once in a while, holds nothing
//! open, and ends when they are gone.
//!
//! `cargo run --release -p annulus --example observer`

use std::collections::HashMap;
use std::thread;
use std::time::Duration;

use annulus::Settings;
use annulus::{Observer, broadcast, mpsc};

/// Prints the numbers of all rings that are left, and returns how often.
fn watch() -> u32 {
    let (mut ticks, mut earlier) = (0, HashMap::new());
    loop {
        let rings = Observer::list();
        if rings.is_empty() {
            return ticks;
        }
        for stats in rings.iter().filter_map(Observer::stats) {
            println!("{stats}");
            if let Some(earlier) = earlier.insert(stats.name.clone(), stats.clone()) {
                let delta = stats.since(&earlier);
                println!("  {:.0} messages a second", delta.rate(delta.published));
            }
        }
        println!();
        ticks += 1;
        thread::sleep(Duration::from_millis(100));
    }
}

fn main() {
    let orders = Settings::new(256).name("orders").statistics(true);
    let (mut orders, mut worker) = mpsc::with::<u64>(orders).unwrap();
    let prices = Settings::new(64).name("prices").statistics(true);
    let (mut prices, source) = broadcast::lossless_with::<u64>(prices).unwrap();
    let (mut fast, mut slow) = (source.subscribe(), source.subscribe());

    let watcher = thread::spawn(watch);
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

//! A thread that receives and calls a handler: an audit log that is written at the end of each batch, and
//! that says so if nothing came for a while.
//!
//! `cargo run --release -p annulus --example worker`

use std::error::Error;
use std::thread;
use std::time::Duration;

use annulus::{Worker, mpsc};

const CLIENTS: u64 = 3;
const ORDERS: u64 = 10_000;

/// What the handler works on. The worker gives it back at its end.
#[derive(Default)]
struct Log {
    /// Not written yet.
    lines: Vec<u64>,
    written: u64,
    writes: u64,
    idle: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let (producer, consumer) = mpsc::channel::<u64>(1024);
    let log = Worker::builder(consumer, Log::default())
        .name("audit")
        .on_idle(Duration::from_millis(5), |log| log.idle += 1)
        .spawn(|log, order, end_of_batch| {
            log.lines.push(order);
            // Nothing more is there, or there was much: now is the time for what is slow.
            if end_of_batch {
                log.written += log.lines.drain(..).count() as u64;
                log.writes += 1;
            }
        })?;

    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let mut producer = producer.clone();
            thread::spawn(move || (0..ORDERS).try_for_each(|order| producer.send(client * ORDERS + order)))
        })
        .collect();
    for client in clients {
        client.join().unwrap()?;
    }
    thread::sleep(Duration::from_millis(50)); // the thread sleeps, and calls back now and then

    // Everything that was sent is handled first. `producer` is still there, and could send on.
    log.stop();
    let finished = log.join().expect("the handler does not panic");
    let Log { lines, written, writes, idle } = finished.context;
    println!("{} orders, {writes} writes, idle {idle} times", finished.messages);
    assert_eq!((finished.messages, written), (CLIENTS * ORDERS, CLIENTS * ORDERS));
    assert!(lines.is_empty() && writes <= written && idle > 0);
    drop(producer);
    Ok(())
}

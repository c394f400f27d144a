//! The threads of a run.

use std::io;
use std::panic;
use std::sync::mpsc;
use std::thread;

use annulus::{Publisher, Shutdown, Subscribable};

use super::clock::Clock;
use super::feed::Feed;
use super::gauge::Gauges;
use super::pace::Schedule;
use super::progress;
use super::publisher::{Publication, publish};
use super::quote::Quote;
use super::report::Report;
use super::strategy::{Receipt, follow};
use crate::outcome::Failure;

/// Publishes `feed` to so many `subscribers`, each on a thread of its own, and returns when all have received
/// everything.
///
/// Each subscriber exists before the first message is published and its thread runs by then, so none of them misses the
/// beginning and none is late for it.
///
/// # Errors
///
/// The system gives no more threads. Nothing was published then.
pub(super) fn run(
    feed: &Feed,
    (publisher, subscribable): (Publisher<Quote>, Subscribable<Quote>),
    subscribers: usize,
    schedule: Option<Schedule>,
    shutdown: &Shutdown,
) -> Result<Report, Failure> {
    let (clock, gauges) = (Clock::start(), Gauges::new(subscribers));
    let (clock, gauges) = (&clock, &gauges);
    thread::scope(|scope| {
        // The publisher moves in here: whatever ends this closure drops it, and that ends the subscribers.
        let publisher = publisher;
        // Each thread drops its sender when it runs. A barrier would wait for ever for one that could not be started.
        let (starting, started) = mpsc::channel::<()>();
        let mut handles = Vec::with_capacity(subscribers);
        for (gauge, number) in gauges.passed.iter().zip(1..) {
            let (subscriber, starting) = (subscribable.subscribe(), starting.clone());
            let receipt = Receipt::new(feed.symbols.len());
            let body = move || {
                drop(starting);
                follow(subscriber, receipt, clock, gauge)
            };
            let handle =
                thread::Builder::new().name(format!("subscriber-{number}")).spawn_scoped(scope, body);
            handles.push(handle.map_err(|error| no_thread(number, subscribers, &error))?);
        }
        drop(starting);
        // An error by design: all senders are gone.
        let _ = started.recv();

        let (running, ended) = mpsc::channel::<()>();
        if progress::is_watched() {
            // Where there is no thread for it, the run goes on without a bar.
            let draw = move || progress::draw(gauges, feed.total, &ended);
            let _ = thread::Builder::new().name("progress".into()).spawn_scoped(scope, draw);
        }
        let Publication { published, start_ns } =
            publish(publisher, feed.ticks(), schedule, clock, shutdown, &gauges.published);
        let receipts: Vec<Receipt> = handles
            .into_iter()
            .map(|handle| handle.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked)))
            .collect();
        drop(running);
        let end_ns = receipts.iter().map(|receipt| receipt.end_ns).max().unwrap_or(start_ns);
        Ok(Report { total: feed.total, published, elapsed_ns: end_ns.saturating_sub(start_ns), receipts })
    })
}

/// The failure to start the thread of subscriber `number`, of `subscribers`.
fn no_thread(number: usize, subscribers: usize, error: &io::Error) -> Failure {
    Failure::new(format!(
        "--subscribers {subscribers}: no thread for subscriber {number}: {error}; try at most {}",
        (number - 1).max(1)
    ))
}

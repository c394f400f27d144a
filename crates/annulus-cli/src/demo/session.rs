//! The threads of a run.

use std::io;
use std::panic;
use std::sync::mpsc;
use std::thread::{self, ScopedJoinHandle};

use annulus::Shutdown;

use super::clock::Clock;
use super::feed::Feed;
use super::gateway::{self, Account};
use super::gauge::Gauges;
use super::order::Order;
use super::order_file::OrderFile;
use super::pace::Schedule;
use super::progress;
use super::publisher::{Publication, publish};
use super::report::{Report, Trade};
use super::ring::{Ends, Ring};
use super::strategy::{Strategy, Windows};
use super::subscriber::{Receipt, follow};
use crate::outcome::Failure;

/// Orders that a strategy can be ahead of the gateway. One that is further ahead waits.
const ORDERS_AHEAD: usize = 4_096;

/// What is to be run.
#[derive(Clone, Copy)]
pub(super) struct Plan<'a> {
    /// What is published.
    pub(super) feed: &'a Feed,
    /// How many of its quotes, from the first on.
    pub(super) quotes: u64,
    /// How many subscribers, each on a thread of its own.
    pub(super) subscribers: usize,
    /// The strategies, which are dealt to the subscribers in turn.
    pub(super) strategies: &'a [Windows],
    /// When it is published; as fast as it goes, if not said.
    pub(super) schedule: Option<Schedule>,
}

/// Publishes the plan's feed to its subscribers, whose strategies send their orders to one gateway, which
/// writes them to `file`; and returns when all have received everything.
///
/// Each subscriber exists before the first message is published and its thread runs by then, so none of them
/// misses the beginning and none is late for it. The end goes the same way as the messages: the publisher
/// goes, each subscriber receives what is left and goes with its strategies, and when the last of these is
/// gone, the gateway receives what is left.
///
/// # Errors
///
/// The system gives no more threads. Nothing was published then.
pub(super) fn run<M: Ring>(
    plan: &Plan<'_>,
    (publisher, subscribable): Ends<M>,
    file: Option<&mut OrderFile>,
    shutdown: &Shutdown,
) -> Result<Report, Failure> {
    let &Plan { feed, quotes, subscribers, strategies, schedule } = plan;
    let (clock, gauges) = (Clock::start(), Gauges::new(subscribers));
    let (clock, gauges) = (&clock, &gauges);
    thread::scope(|scope| {
        // The publisher moves in here: whatever ends this closure drops it, and that ends the others.
        let publisher = publisher;
        let (teams, orders) = teams(plan)?;
        let accounts = strategies.iter().map(|_| Account::new()).collect();
        let body = move || gateway::receive(orders, accounts, file, clock, shutdown);
        let gateway =
            thread::Builder::new().name("gateway".into()).spawn_scoped(scope, body).map_err(|error| {
                Failure::new(format!("no thread for the gateway: {error}; try again when fewer threads run"))
            })?;
        // Each thread drops its sender when it runs. A barrier would wait for ever for one that could not be
        // started.
        let (starting, started) = mpsc::channel::<()>();
        let mut handles = Vec::with_capacity(subscribers);
        for ((gauge, number), team) in gauges.passed.iter().zip(1..).zip(teams) {
            let (subscriber, starting) = (M::subscribe(&subscribable), starting.clone());
            let receipt = Receipt::new(feed.symbols.len());
            let body = move || {
                drop(starting);
                follow(subscriber, receipt, team, clock, gauge)
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
            let draw = move || progress::draw(gauges, quotes, &ended);
            let _ = thread::Builder::new().name("progress".into()).spawn_scoped(scope, draw);
        }
        let Publication { published, start_ns } =
            publish(publisher, feed.ticks(quotes), schedule, clock, shutdown, &gauges.published);
        let receipts: Vec<Receipt> = handles.into_iter().map(result).collect();
        let accounts = result(gateway);
        drop(running);
        let end_ns = receipts.iter().map(|receipt| receipt.end_ns).max().unwrap_or(start_ns);
        let trades = trades(strategies, &receipts, accounts);
        Ok(Report {
            lossless: M::LOSSLESS,
            total: quotes,
            published,
            elapsed_ns: end_ns.saturating_sub(start_ns),
            receipts,
            trades,
        })
    })
}

/// The strategies of each subscriber, and what receives their orders.
fn teams(plan: &Plan<'_>) -> Result<(Vec<Vec<Strategy>>, annulus::mpsc::Consumer<Order>), Failure> {
    let no_memory = |error: &dyn std::error::Error| {
        Failure::new(format!("no memory for the orders of {} strategies: {error}", plan.strategies.len()))
    };
    let (producer, orders) =
        annulus::mpsc::Builder::new(ORDERS_AHEAD).build().map_err(|error| no_memory(&error))?;
    let mut teams: Vec<Vec<Strategy>> = (0..plan.subscribers).map(|_| Vec::new()).collect();
    for (index, &windows) in (0..).zip(plan.strategies) {
        let producer = producer.register().map_err(|error| no_memory(&error))?;
        let strategy = Strategy::new(index, windows, plan.feed.symbols.len(), producer);
        teams[usize::from(index) % plan.subscribers].push(strategy);
    }
    Ok((teams, orders))
}

/// What each strategy did, in order: what it placed, and what the gateway received of it.
fn trades(strategies: &[Windows], receipts: &[Receipt], accounts: Vec<Account>) -> Vec<Trade> {
    let mut placed = vec![(0, 0); strategies.len()];
    for (place, receipt) in receipts.iter().enumerate() {
        for &(index, count) in &receipt.placed {
            placed[index] = (place, count);
        }
    }
    let rows = strategies.iter().zip(placed).zip(accounts);
    rows.map(|((&windows, (subscriber, placed)), account)| Trade { windows, subscriber, placed, account })
        .collect()
}

/// What a thread returned.
fn result<T>(handle: ScopedJoinHandle<'_, T>) -> T {
    handle.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked))
}

/// The failure to start the thread of subscriber `number`, of `subscribers`.
fn no_thread(number: usize, subscribers: usize, error: &io::Error) -> Failure {
    Failure::new(format!(
        "--subscribers {subscribers}: no thread for subscriber {number}: {error}; try at most {}",
        (number - 1).max(1)
    ))
}

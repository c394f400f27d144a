//! The threads of a run, made from its graph.

use std::io;
use std::panic;
use std::sync::mpsc;
use std::thread::{self, ScopedJoinHandle};

use annulus::Shutdown;

use super::clock::Clock;
use super::feed::Feed;
use super::gateway::{self, Account};
use super::gauge::Gauges;
use super::graph::{GATEWAY, Graph, Subscriber};
use super::order::Order;
use super::order_file::OrderFile;
use super::pace::Schedule;
use super::progress;
use super::publisher::{Publication, publish};
use super::report::{Report, Trade};
use super::ring::{Ends, Ring};
use super::strategy::Strategy;
use super::subscriber::{Receipt, follow};
use crate::outcome::Failure;

/// What is to be run.
#[derive(Clone, Copy)]
pub(super) struct Plan<'a> {
    /// What is published.
    pub(super) feed: &'a Feed,
    /// How many of its quotes, from the first on.
    pub(super) quotes: u64,
    /// Which threads there are, and which rings between them.
    pub(super) graph: &'a Graph,
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
    let &Plan { feed, quotes, graph, schedule } = plan;
    let (clock, gauges) = (Clock::start(), Gauges::new(graph.subscribers.len()));
    let (clock, gauges) = (&clock, &gauges);
    thread::scope(|scope| {
        // The publisher moves in here: whatever ends this closure drops it, and that ends the others.
        let publisher = publisher;
        let (teams, orders) = teams(plan)?;
        let accounts = graph.strategies.iter().map(|_| Account::new()).collect();
        let body = move || gateway::receive(orders, accounts, file, clock, shutdown);
        let gateway =
            thread::Builder::new().name(GATEWAY.into()).spawn_scoped(scope, body).map_err(|error| {
                Failure::new(format!("no thread for the gateway: {error}; try again when fewer threads run"))
            })?;
        // Each thread drops its sender when it runs. A barrier would wait for ever for one that could not be
        // started.
        let (starting, started) = mpsc::channel::<()>();
        let mut handles = Vec::with_capacity(graph.subscribers.len());
        for ((node, team), gauge) in graph.subscribers.iter().zip(teams).zip(&gauges.passed) {
            let (subscriber, starting) = (M::subscribe(&subscribable), starting.clone());
            let receipt = Receipt::new(feed.symbols.len());
            let body = move || {
                drop(starting);
                follow(subscriber, receipt, team, clock, gauge)
            };
            let handle = thread::Builder::new().name(node.name.clone()).spawn_scoped(scope, body);
            handles.push(handle.map_err(|error| no_thread(handles.len(), graph, &error))?);
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
        let trades = trades(graph, &receipts, accounts);
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
    let &Plan { feed, graph, .. } = plan;
    let no_memory = |error: &dyn std::error::Error| {
        Failure::new(format!("no memory for the orders of {} strategies: {error}", graph.strategies.len()))
    };
    let (producer, orders) =
        annulus::mpsc::Builder::new(graph.orders.slots).build().map_err(|error| no_memory(&error))?;
    let strategy = |index: &u16| {
        let producer = producer.register().map_err(|error| no_memory(&error))?;
        Ok(Strategy::new(*index, graph.windows(*index), feed.symbols.len(), producer))
    };
    let team = |node: &Subscriber| node.strategies.iter().map(strategy).collect();
    let teams: Result<_, Failure> = graph.subscribers.iter().map(team).collect();
    Ok((teams?, orders))
}

/// What each strategy did, in order: what it placed, and what the gateway received of it.
fn trades(graph: &Graph, receipts: &[Receipt], accounts: Vec<Account>) -> Vec<Trade> {
    let mut placed = vec![(0, 0); graph.strategies.len()];
    for (place, receipt) in receipts.iter().enumerate() {
        for &(index, count) in &receipt.placed {
            placed[index] = (place, count);
        }
    }
    let rows = graph.strategies.iter().zip(placed).zip(accounts);
    rows.map(|((&windows, (subscriber, placed)), account)| Trade { windows, subscriber, placed, account })
        .collect()
}

/// What a thread returned.
fn result<T>(handle: ScopedJoinHandle<'_, T>) -> T {
    handle.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked))
}

/// The failure to start the thread of one more subscriber than `started`.
fn no_thread(started: usize, graph: &Graph, error: &io::Error) -> Failure {
    let subscribers = graph.subscribers.len();
    Failure::new(format!(
        "--subscribers {subscribers}: no thread for subscriber {}: {error}; try at most {}",
        started + 1,
        started.max(1)
    ))
}

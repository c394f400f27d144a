//! A run in one process: a thread for each subscriber and for the gateway, made from the graph.

use std::io;
use std::panic;
use std::sync::mpsc;
use std::thread::{self, ScopedJoinHandle};

use annulus::Shutdown;
use annulus::mpsc::Mpsc;

use super::gateway::{self, Books};
use super::graph::{GATEWAY, Graph, Subscriber};
use super::order::Order;
use super::order_file::OrderFile;
use super::publisher::{Ends, Ring, publish};
use super::report::Report;
use super::session::{Accounts, Plan, lead};
use super::strategy::Strategy;
use super::subscriber::{Receipt, follow};
use crate::measure::{Clock, Gauges};
use crate::outcome::Failure;

/// Publishes the plan's feed to its subscribers, whose strategies send their orders to one gateway, which
/// writes them to `file`; and returns when all have received everything.
///
/// Each subscriber exists before the first message is published and its thread runs by then, so none of them
/// misses the beginning and none is late for it.
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
        let books = Books::new(graph.strategies.len());
        let body = move || {
            let file = file.map(OrderFile::writer);
            gateway::receive(orders, books, feed.symbols.len(), file, clock, || shutdown.trigger())
        };
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
        lead(plan, gauges, || {
            let ticks = feed.ticks(quotes);
            let publication = publish(publisher, ticks, schedule, clock, shutdown, &gauges.published);
            let receipts = handles.into_iter().map(|handle| Some(result(handle))).collect();
            Ok((publication, Accounts { receipts, books: Some(result(gateway)), killed: None }))
        })
    })
}

/// The strategies of each subscriber, and what receives their orders.
#[expect(clippy::type_complexity, reason = "the ends of a queue: strategies have one, the gateway the other")]
fn teams(plan: &Plan<'_>) -> Result<(Vec<Vec<Strategy<Mpsc>>>, annulus::mpsc::Consumer<Order>), Failure> {
    let &Plan { feed, graph, .. } = plan;
    let no_memory = |error: &dyn std::error::Error| {
        Failure::new(format!("no memory for the orders of {} strategies: {error}", graph.strategies.len()))
    };
    let (producer, orders) =
        annulus::mpsc::with(annulus::Settings::new(graph.orders.slots)).map_err(|error| no_memory(&error))?;
    let strategy = |index: &u16| {
        let producer = producer.register().map_err(|error| no_memory(&error))?;
        Ok(Strategy::new(*index, graph.windows(*index), feed.symbols.len(), producer))
    };
    let team = |node: &Subscriber| node.strategies.iter().map(strategy).collect();
    let teams: Result<_, Failure> = graph.subscribers.iter().map(team).collect();
    Ok((teams?, orders))
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

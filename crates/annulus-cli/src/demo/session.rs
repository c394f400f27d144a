//! A run, whoever takes part in it: threads, or processes.

use std::sync::mpsc;
use std::thread;

use annulus::Shutdown;
use annulus::broadcast::Publisher;

use super::clock::Clock;
use super::feed::Feed;
use super::gateway::Books;
use super::graph::Graph;
use super::progress;
use super::publisher::{Publication, publish};
use super::quote::Quote;
use super::report::{Report, Trade};
use super::ring::Ring;
use super::subscriber::Receipt;
use crate::measure::{Gauges, Schedule};
use crate::outcome::Failure;

/// What is to be run.
#[derive(Clone, Copy)]
pub(super) struct Plan<'a> {
    /// What is published.
    pub(super) feed: &'a Feed,
    /// How many of its quotes, from the first on.
    pub(super) quotes: u64,
    /// Who takes part, and which rings are between them.
    pub(super) graph: &'a Graph,
    /// When it is published; as fast as it goes, if not said.
    pub(super) schedule: Option<Schedule>,
}

/// What the others have to tell at the end: each subscriber, in order, and the gateway.
pub(super) type Accounts = (Vec<Receipt>, Books);

/// Publishes the plan's feed to subscribers that wait for it, and returns what came of it when all have
/// received everything. `collect` waits for them.
///
/// The end goes the same way as the messages: the publisher goes, each subscriber receives what is left and
/// goes with its strategies, and when the last of these is gone, the gateway receives what is left.
///
/// # Errors
///
/// Those of `collect`.
pub(super) fn lead<M: Ring>(
    plan: &Plan<'_>,
    publisher: Publisher<Quote, M>,
    clock: &Clock,
    gauges: &Gauges,
    shutdown: &Shutdown,
    collect: impl FnOnce() -> Result<Accounts, Failure>,
) -> Result<Report, Failure> {
    let &Plan { feed, quotes, graph, schedule } = plan;
    thread::scope(|scope| {
        let (running, ended) = mpsc::channel::<()>();
        if progress::is_watched() {
            // Where there is no thread for it, the run goes on without a bar.
            let draw = move || progress::draw(gauges, quotes, &ended);
            let _ = thread::Builder::new().name("progress".into()).spawn_scoped(scope, draw);
        }
        let Publication { published, start_ns } =
            publish(publisher, feed.ticks(quotes), schedule, clock, shutdown, &gauges.published);
        let (receipts, books) = collect()?;
        drop(running);
        let end_ns = receipts.iter().map(|receipt| receipt.end_ns).max().unwrap_or(start_ns);
        let strays = books.strays;
        let trades = trades(graph, &receipts, books);
        Ok(Report {
            lossless: M::LOSSLESS,
            total: quotes,
            published,
            elapsed_ns: end_ns.saturating_sub(start_ns),
            receipts,
            trades,
            strays,
        })
    })
}

/// What each strategy did, in order: what it placed, and what the gateway received of it.
fn trades(graph: &Graph, receipts: &[Receipt], books: Books) -> Vec<Trade> {
    let mut placed = vec![(0, 0); graph.strategies.len()];
    for (place, receipt) in receipts.iter().enumerate() {
        for &(index, count) in &receipt.placed {
            placed[index] = (place, count);
        }
    }
    let rows = graph.strategies.iter().zip(placed).zip(books.accounts);
    rows.map(|((&windows, (subscriber, placed)), account)| Trade { windows, subscriber, placed, account })
        .collect()
}

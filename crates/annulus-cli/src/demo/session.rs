//! A run, of threads or of processes.

use std::thread;
use std::time::Duration;

use super::feed::Feed;
use super::gateway::Books;
use super::graph::Graph;
use super::killed::{Killed, Lost};
use super::publisher::Publication;
use super::report::{Report, Trade};
use super::strategy::{Decisions, Windows};
use super::subscriber::Receipt;
use crate::measure::{Gauges, Schedule, show_progress};
use crate::messages::quote::Tick;
use crate::outcome::Failure;
use crate::text::grouped;

/// What is to be run.
#[derive(Clone, Copy)]
pub(super) struct Plan<'a> {
    /// What is published.
    pub(super) feed: &'a Feed,
    /// How many of its quotes, from the first on.
    pub(super) quotes: u64,
    /// The threads or processes that take part, and the rings between them.
    pub(super) graph: &'a Graph,
    /// When it is published; as fast as it goes, if not said.
    pub(super) schedule: Option<Schedule>,
}

/// What the others have to tell at the end, unless one was killed.
pub(super) struct Accounts {
    /// Of each subscriber, in order.
    pub(super) receipts: Vec<Option<Receipt>>,
    /// The gateway's.
    pub(super) books: Option<Books>,
    /// The part that was killed.
    pub(super) killed: Option<Killed>,
}

/// `run` publishes the plan's feed to subscribers that wait for it, and waits until all have received
/// everything. Returns what came of it.
///
/// The end goes the same way as the messages: the publisher goes, each subscriber receives what is left and
/// goes with its strategies, and when the last of these is gone, the gateway receives what is left.
///
/// # Errors
///
/// As of `run`.
pub(super) fn lead(
    plan: &Plan<'_>,
    gauges: &Gauges,
    run: impl FnOnce() -> Result<(Publication, Accounts), Failure>,
) -> Result<Report, Failure> {
    let &Plan { quotes, graph, .. } = plan;
    thread::scope(|scope| {
        let mut before = 0;
        let running = show_progress(scope, quotes, move |interval| {
            let published = gauges.published.get();
            let message = progress(published, quotes, published - before, interval, gauges.lag_max());
            before = published;
            (published, message)
        });
        let (Publication { published, start_ns }, Accounts { receipts, books, mut killed }) = run()?;
        drop(running);
        let end_ns = receipts.iter().flatten().map(|receipt| receipt.end_ns).max().unwrap_or(start_ns);
        let strays = books.as_ref().map_or(0, |books| books.strays);
        let trades = trades(plan, &receipts, books, &mut killed);
        Ok(Report {
            lossless: graph.is_lossless(),
            total: quotes,
            published,
            elapsed_ns: end_ns.saturating_sub(start_ns),
            receipts,
            trades,
            strays,
            killed,
        })
    })
}

/// What stands next to the progress bar, of `recent` messages in the last `interval`.
#[expect(clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "a rate for people, never negative")]
fn progress(published: u64, total: u64, recent: u64, interval: Duration, lag: u64) -> String {
    let rate = (recent as f64 / interval.as_secs_f64()).round() as u64;
    let [published, total, rate, lag] = [published, total, rate, lag].map(grouped);
    format!("{published}/{total}  {rate} messages/s  lag {lag}")
}

/// What each strategy did, in order: what it placed, and what the gateway received of it.
fn trades(
    plan: &Plan<'_>,
    receipts: &[Option<Receipt>],
    books: Option<Books>,
    killed: &mut Option<Killed>,
) -> Vec<Trade> {
    let graph = plan.graph;
    let mut trades: Vec<_> = graph
        .strategies
        .iter()
        .map(|&windows| Trade { windows, subscriber: 0, placed: None, account: None })
        .collect();
    for (place, node) in graph.subscribers.iter().enumerate() {
        for &index in &node.strategies {
            trades[usize::from(index)].subscriber = place;
        }
    }
    for &(index, count) in receipts.iter().flatten().flat_map(|receipt| &receipt.placed) {
        trades[index].placed = Some(count);
    }
    for (trade, account) in trades.iter_mut().zip(books.into_iter().flat_map(|books| books.accounts)) {
        trade.account = Some(account);
    }
    if let Some(Killed { lost, .. }) = killed {
        reckon(plan, &mut trades, lost);
    }
    trades
}

/// Says what the others know of the orders of a process that was killed.
fn reckon(plan: &Plan<'_>, trades: &mut [Trade], lost: &mut Lost) {
    match lost {
        // Where no quote was lost, each order follows from the quotes.
        Lost::Subscriber { place, quotes_taken: Some(taken), orders_unplaced } => {
            let mut unplaced = 0;
            for trade in trades.iter_mut().filter(|trade| trade.subscriber == *place) {
                let Some(account) = &trade.account else { continue };
                // It has answered those that the gateway says, and those before the last one that it took.
                let until = account.next().max(taken.saturating_sub(1));
                let answered = answered(plan, trade.windows);
                trade.placed = Some(answered.iter().filter(|&&number| number < until).count() as u64);
                unplaced += (answered.len() as u64).saturating_sub(account.orders);
            }
            *orders_unplaced = Some(unplaced);
        }
        Lost::Gateway { orders_placed, orders_received, orders_queued, orders_refused } => {
            *orders_placed = trades.iter().filter_map(|trade| trade.placed).sum();
            *orders_refused = orders_placed.saturating_sub(*orders_received + *orders_queued);
        }
        Lost::Feed { .. } | Lost::Subscriber { .. } => {}
    }
}

/// The numbers of the quotes that a strategy answers with an order if it receives all.
fn answered(plan: &Plan<'_>, windows: Windows) -> Vec<u64> {
    let mut decisions = Decisions::new(windows, plan.feed.symbols.len());
    let ticks = (0..).zip(plan.feed.ticks(plan.quotes));
    let is_answered =
        |(number, Tick { symbol, bid, ask, .. })| decisions.next(symbol, bid, ask).map(|_| number);
    ticks.filter_map(is_answered).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::gateway::Account;
    use crate::demo::graph::tests::graph;
    use crate::demo::order::tests::order;

    /// The report's faults of a strategy, if the gateway had these orders when its subscriber was killed,
    /// which had taken so many quotes; and how many orders are lost.
    fn faults(orders: &[u64], taken: u64, plan: &Plan<'_>) -> (bool, Option<u64>) {
        let mut account = Account::new();
        for &number in orders {
            account.enter(&order(0, number, 0), 0);
        }
        let windows = plan.graph.windows(0);
        let mut trades = [Trade { windows, subscriber: 0, placed: None, account: Some(account) }];
        let mut lost = Lost::Subscriber { place: 0, quotes_taken: Some(taken), orders_unplaced: None };
        reckon(plan, &mut trades, &mut lost);
        let Lost::Subscriber { orders_unplaced, .. } = lost else { unreachable!("it was one") };
        (trades[0].placed != Some(orders.len() as u64), orders_unplaced)
    }

    /// Of a killed subscriber the gateway must have each order up to the last that came, and each that was
    /// sent for a quote before the last that the subscriber had taken.
    #[test]
    fn order_that_was_sent_before_a_death_must_have_come() {
        let (feed, graph) = (Feed::walk(1, 2_000), graph(1, None));
        let plan = Plan { feed: &feed, quotes: 2_000, graph: &graph, schedule: None };
        let all = answered(&plan, graph.windows(0));
        let (some, rest) = (&all[..100], all.len() as u64 - 100);
        let last = some[99];
        for taken in [0, last, last + 1, last + 2, all[100] + 1] {
            assert_eq!(faults(some, taken, &plan), (false, Some(rest)), "{taken}");
        }
        // The quote of the next order was taken, and one more.
        assert_eq!(faults(some, all[100] + 2, &plan), (true, Some(rest)));
        // One in the middle is missing.
        assert!(faults(&[&some[..50], &some[51..]].concat(), 0, &plan).0);
        assert_eq!(faults(&[], 0, &plan), (false, Some(all.len() as u64)));
    }

    #[test]
    fn progress_tells_count_rate_and_lag() {
        let shown = progress(5_000, 10_000, 400, Duration::from_millis(100), 12);
        assert_eq!(shown, "5,000/10,000  4,000 messages/s  lag 12");
    }
}

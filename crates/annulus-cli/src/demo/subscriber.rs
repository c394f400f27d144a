//! A subscriber's side of the demo: it follows the market for its strategies.

use annulus::broadcast::{Mode, Subscriber};
use annulus::queue::kind::AnyKind;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use super::statistics::Statistics;
use super::strategy::Strategy;
use crate::measure::{Clock, Gauge, Ledger, counts, latencies};
use crate::messages::quote::Quote;

/// What one subscriber has to tell at the end.
#[derive(Serialize, Deserialize)]
pub(super) struct Receipt {
    /// What came, and whether it came rightly.
    pub(super) ledger: Ledger,
    /// From publication to reception, in nanoseconds, of each message that came whole.
    #[serde(with = "counts")]
    pub(super) latency_ns: Histogram<u64>,
    /// By symbol.
    pub(super) statistics: Vec<Statistics>,
    /// Its strategies, each an index and how many orders it placed.
    pub(super) placed: Vec<(usize, u64)>,
    /// When it had received everything, by the demo's clock.
    pub(super) end_ns: u64,
}

impl Receipt {
    /// Of nothing yet, for a feed with so many `symbols`.
    pub(super) fn new(symbols: usize) -> Self {
        let statistics = vec![Statistics::NONE; symbols];
        Self { ledger: Ledger::from(0), latency_ns: latencies(), statistics, placed: Vec::new(), end_ns: 0 }
    }

    /// Enters `quote`, received at `now_ns`, after which the ring says `lost` in all; and says whether it
    /// came whole.
    #[inline]
    fn enter(&mut self, quote: &Quote, now_ns: u64, lost: u64) -> bool {
        match self.statistics.get_mut(quote.symbol as usize) {
            Some(statistics) if quote.is_intact() => {
                self.ledger.enter(quote.sequence, lost);
                // Clocks of two cores may differ by a few nanoseconds: no message comes before it was sent.
                self.latency_ns.saturating_record(now_ns.saturating_sub(quote.sent_ns));
                statistics.add(quote);
                true
            }
            _ => {
                self.ledger.enter_corrupt(lost);
                false
            }
        }
    }
}

/// Receives quotes into `receipt` and hands them to `strategies` until the publisher is gone, sleeping while
/// there are none.
pub(super) fn follow<M: Mode, K: AnyKind>(
    mut subscriber: Subscriber<Quote, M>,
    mut receipt: Receipt,
    mut strategies: Vec<Strategy<K>>,
    clock: &Clock,
    gauge: &Gauge,
) -> Receipt {
    while let Ok(quote) = subscriber.recv() {
        if receipt.enter(&quote, clock.now_ns(), subscriber.total_lagged()) {
            for strategy in &mut strategies {
                strategy.react(&quote);
            }
        }
        gauge.set(receipt.ledger.passed());
    }
    receipt.ledger.close(subscriber.total_lagged());
    receipt.end_ns = clock.now_ns();
    // Their producers go with them, and the queue closes with the last.
    receipt.placed = strategies.into_iter().map(Strategy::finish).collect();
    receipt
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Fault, LATENCY_NS_MAX};
    use crate::messages::quote::tests::tick;

    /// Nobody.
    const TEAM: Vec<Strategy<annulus::mpsc::Mpsc>> = Vec::new();

    #[test]
    fn subscriber_accounts_for_what_it_received_and_what_it_lost() {
        let (mut publisher, subscribable) = annulus::broadcast::lossy(4);
        let subscriber = subscribable.subscribe();
        let (clock, gauge) = (Clock::start(), Gauge::default());
        for sequence in 0..10 {
            publisher.publish(Quote::new(tick(1, 1.0, 1.5), sequence, clock.now_ns()));
        }
        drop(publisher);
        let receipt = follow(subscriber, Receipt::new(2), TEAM, &clock, &gauge);
        assert_eq!((receipt.ledger.received, receipt.ledger.lost), (4, 6));
        assert_eq!(receipt.ledger.faults(10), []);
        assert_eq!(receipt.latency_ns.len(), 4);
        assert_eq!((receipt.statistics[0].quotes, receipt.statistics[1].quotes), (0, 4));
        assert_eq!(gauge.get(), 10);
    }

    #[test]
    fn check_fails_where_the_publisher_repeats_swaps_or_omits() {
        let clock = Clock::start();
        for (sequences, published, fault) in [
            (&[0, 1, 1, 2][..], 4, Fault::Repeated(1)),
            (&[0, 1, 3, 2], 4, Fault::Disordered(1)),
            (&[0, 1, 3], 3, Fault::Unexplained(1)),
            (&[0, 1], 3, Fault::Count { received: 2, lost: 0, published: 3 }),
        ] {
            let (mut publisher, subscribable) = annulus::broadcast::lossy(4);
            let subscriber = subscribable.subscribe();
            for &sequence in sequences {
                publisher.publish(Quote::new(tick(0, 1.0, 1.5), sequence, clock.now_ns()));
            }
            drop(publisher);
            let receipt = follow(subscriber, Receipt::new(1), TEAM, &clock, &Gauge::default());
            let faults = receipt.ledger.faults(published);
            assert!(faults.contains(&fault), "{sequences:?}: {faults:?}");
        }
    }

    #[test]
    fn corrupt_quote_is_counted_and_left_out_of_the_rest() {
        let mut receipt = Receipt::new(1);
        let quote = Quote::new(tick(0, 1.0, 1.5), 0, 0);
        assert!(!receipt.enter(&Quote { bid: 1.25, ..quote }, 100, 0));
        assert!(!receipt.enter(&Quote { symbol: 9, ..quote }, 100, 0));
        assert_eq!(receipt.ledger.faults(2), [Fault::Corrupt(2)]);
        assert_eq!((receipt.latency_ns.len(), receipt.statistics[0].quotes), (0, 0));
    }

    #[test]
    fn latency_is_never_negative_and_never_too_long() {
        let mut receipt = Receipt::new(1);
        receipt.enter(&Quote::new(tick(0, 1.0, 1.5), 0, 100), 99, 0);
        assert_eq!(receipt.latency_ns.max(), 0);
        receipt.enter(&Quote::new(tick(0, 1.0, 1.5), 1, 0), u64::MAX, 0);
        assert!(receipt.latency_ns.max() >= LATENCY_NS_MAX);
    }
}

//! What a run came to.

use hdrhistogram::Histogram;

use super::gateway::Account;
use super::killed::Killed;
use super::strategy::Windows;
use super::subscriber::Receipt;
use crate::measure::latencies;
use crate::outcome::Outcome;
use crate::text::{counted, grouped};

/// A run that has ended.
pub(super) struct Report {
    /// Whether the publisher waited for the slowest subscriber.
    pub(super) lossless: bool,
    /// How many messages were to be published.
    pub(super) total: u64,
    /// How many were.
    pub(super) published: u64,
    /// From the first message's publication until the last subscriber had received everything.
    pub(super) elapsed_ns: u64,
    /// Of each subscriber that was not killed.
    pub(super) receipts: Vec<Option<Receipt>>,
    /// Of each strategy.
    pub(super) trades: Vec<Trade>,
    /// Orders that came to the gateway and are of no strategy, or for no symbol.
    pub(super) strays: u64,
    /// The part that was killed, because the user wanted to see that.
    pub(super) killed: Option<Killed>,
}

/// What one strategy did.
pub(super) struct Trade {
    /// Which one.
    pub(super) windows: Windows,
    /// The place of its subscriber in [`Report::receipts`].
    pub(super) subscriber: usize,
    /// How many orders it placed. If its subscriber was killed: how many it must have placed, or `None` if
    /// nobody knows.
    pub(super) placed: Option<u64>,
    /// What the gateway received of it, unless that was killed.
    pub(super) account: Option<Account>,
}

impl Trade {
    /// What is wrong with it.
    fn faults(&self) -> impl Iterator<Item = String> {
        let account = self.account.iter();
        account.flat_map(|&Account { orders, disordered, .. }| {
            let missing = self.placed.filter(|&placed| orders != placed).map(|placed| {
                let [orders, placed] = [orders, placed].map(grouped);
                format!("it placed {placed} orders, and the gateway received {orders}")
            });
            let disordered = (disordered > 0).then(|| {
                format!("{} came to the gateway twice or out of order", counted(disordered, "order"))
            });
            missing.into_iter().chain(disordered)
        })
    }
}

impl Report {
    /// All that the check finds: which part it is about, and what is wrong.
    pub(super) fn faults(&self) -> impl Iterator<Item = String> {
        let of_subscribers = (1..).zip(&self.receipts).flat_map(|(number, receipt)| {
            let faults = receipt.iter().flat_map(|receipt| receipt.ledger.faults(self.published));
            faults.map(move |fault| format!("subscriber {number}: {fault}"))
        });
        let of_strategies = self.trades.iter().flat_map(|trade| {
            trade.faults().map(move |fault| format!("strategy {}: {fault}", trade.windows))
        });
        let strays = (self.strays > 0)
            .then(|| format!("{} came to the gateway from nobody", counted(self.strays, "order")));
        let of_killed = self.killed.as_ref().and_then(Killed::fault);
        of_subscribers.chain(of_strategies).chain(strays).chain(of_killed)
    }

    /// How many orders the gateway received, unless it was killed.
    pub(super) fn orders(&self) -> Option<u64> {
        self.trades.iter().map(|trade| trade.account.as_ref().map(|account| account.orders)).sum()
    }

    /// From a quote's publication to the reception of the order that answers it, over all strategies.
    pub(super) fn tick_to_order_ns(&self) -> Histogram<u64> {
        let mut all = latencies();
        for account in self.trades.iter().filter_map(|trade| trade.account.as_ref()) {
            all.add(&account.latency_ns).expect("all histograms have the same bounds");
        }
        all
    }

    /// The verdict.
    pub(super) fn outcome(&self) -> Outcome {
        if self.faults().next().is_some() {
            Outcome::Failed
        } else if self.published < self.total {
            self.killed.as_ref().map_or(Outcome::Interrupted, Killed::outcome)
        } else {
            Outcome::Passed
        }
    }

    /// How long it took, in seconds.
    #[expect(clippy::cast_precision_loss, reason = "exact to a nanosecond for 100 days")]
    pub(super) fn elapsed_s(&self) -> f64 {
        self.elapsed_ns as f64 / 1e9
    }

    /// The throughput; 0 where no time has passed.
    #[expect(clippy::cast_precision_loss, reason = "a rate; it is as exact as the time")]
    pub(super) fn messages_per_s(&self) -> f64 {
        if self.elapsed_ns == 0 { 0.0 } else { self.published as f64 / self.elapsed_s() }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::demo::order::tests::order;
    use crate::demo::strategy::tests::windows;

    /// A report of one subscriber that received each of `published` messages in a microsecond and half of a
    /// microsecond, and whose strategy answered each a microsecond later.
    pub(in crate::demo) fn report(published: u64) -> Report {
        let mut receipt = Receipt::new(1);
        for sequence in 0..published {
            receipt.ledger.enter(sequence, 0);
            receipt.latency_ns.record(1_500).unwrap();
        }
        let mut account = Account::new();
        for sequence in 0..published {
            account.enter(&order(0, sequence, 0), 2_500);
        }
        let trade = Trade {
            windows: windows("5/20"),
            subscriber: 0,
            placed: Some(published),
            account: Some(account),
        };
        Report {
            lossless: false,
            total: published,
            published,
            elapsed_ns: 2_000_000,
            receipts: vec![Some(receipt)],
            trades: vec![trade],
            strays: 0,
            killed: None,
        }
    }

    #[test]
    fn fault_fails_the_run_even_where_it_was_interrupted() {
        assert_eq!(report(10).outcome(), Outcome::Passed);
        assert_eq!(Report { total: 20, ..report(10) }.outcome(), Outcome::Interrupted);

        let failed = Report { total: 20, published: 11, ..report(10) };
        assert_eq!(failed.outcome(), Outcome::Failed);
        let faults: Vec<String> = failed.faults().collect();
        assert_eq!(faults, ["subscriber 1: received 10 + lost 0 is not the 11 that were published"]);
    }

    #[test]
    fn order_that_is_missing_or_comes_twice_is_a_fault() {
        let mut report = report(2_000);
        let trade = &mut report.trades[0];
        trade.placed = Some(2_001);
        (0..2).for_each(|_| trade.account.as_mut().unwrap().enter(&order(0, 5, 0), 0));
        report.strays = 1;
        let faults: Vec<String> = report.faults().collect();
        assert_eq!(
            faults,
            [
                "strategy 5/20: it placed 2,001 orders, and the gateway received 2,002",
                "strategy 5/20: 2 orders came to the gateway twice or out of order",
                "1 order came to the gateway from nobody"
            ]
        );
        assert_eq!(report.outcome(), Outcome::Failed);
    }
}

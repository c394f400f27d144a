//! What a run came to, and its form for programs.

use serde::Serialize;

use super::ledger::Fault;
use super::strategy::Receipt;
use crate::outcome::Outcome;

/// A run that has ended.
pub(super) struct Report {
    /// How many messages were to be published.
    pub(super) total: u64,
    /// How many were.
    pub(super) published: u64,
    /// From the first message's publication until the last subscriber had received everything.
    pub(super) elapsed_ns: u64,
    /// Of each subscriber.
    pub(super) receipts: Vec<Receipt>,
}

impl Report {
    /// All that the check finds: the number of a subscriber, from 1, and what is wrong with its accounts.
    pub(super) fn faults(&self) -> impl Iterator<Item = (usize, Fault)> {
        (1..).zip(&self.receipts).flat_map(|(number, receipt)| {
            receipt.ledger.faults(self.published).into_iter().map(move |fault| (number, fault))
        })
    }

    /// The verdict.
    pub(super) fn outcome(&self) -> Outcome {
        if self.faults().next().is_some() {
            Outcome::Failed
        } else if self.published < self.total {
            Outcome::Interrupted
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

    /// The report for programs: one object on one line.
    pub(super) fn to_json(&self) -> String {
        let object = Object {
            published: self.published,
            elapsed_s: self.elapsed_s(),
            messages_per_s: self.messages_per_s(),
            ok: self.faults().next().is_none(),
            subscribers: self.receipts.iter().map(Subscriber::of).collect(),
        };
        let json = serde_json::to_string(&object).expect("numbers, names and lists have a form in JSON");
        json + "\n"
    }
}

/// The shape of [`Report::to_json`]. Programs rely on its keys.
#[derive(Serialize)]
struct Object {
    published: u64,
    elapsed_s: f64,
    messages_per_s: f64,
    ok: bool,
    subscribers: Vec<Subscriber>,
}

/// A subscriber in [`Object`].
#[derive(Serialize)]
struct Subscriber {
    received: u64,
    lost: u64,
    latency_ns: Latency,
}

impl Subscriber {
    fn of(receipt: &Receipt) -> Self {
        Self {
            received: receipt.ledger.received,
            lost: receipt.ledger.lost,
            latency_ns: Latency::of(receipt),
        }
    }
}

/// The percentiles of one-way latency that are reported, in nanoseconds; all 0 where nothing was received.
#[derive(Serialize)]
pub(super) struct Latency {
    pub(super) p50: u64,
    pub(super) p90: u64,
    pub(super) p99: u64,
    pub(super) p99_9: u64,
    pub(super) max: u64,
}

impl Latency {
    /// Those of one subscriber.
    pub(super) fn of(receipt: &Receipt) -> Self {
        let latency_ns = &receipt.latency_ns;
        Self {
            p50: latency_ns.value_at_quantile(0.5),
            p90: latency_ns.value_at_quantile(0.9),
            p99: latency_ns.value_at_quantile(0.99),
            p99_9: latency_ns.value_at_quantile(0.999),
            max: latency_ns.max(),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A report of one subscriber that received each of `published` messages in a microsecond and half of a
    /// microsecond.
    pub(in crate::demo) fn report(published: u64) -> Report {
        let mut receipt = Receipt::new(1);
        for sequence in 0..published {
            receipt.ledger.enter(sequence, 0);
            receipt.latency_ns.record(1_500).unwrap();
        }
        Report { total: published, published, elapsed_ns: 2_000_000, receipts: vec![receipt] }
    }

    #[test]
    fn json_is_one_line_with_these_keys() {
        let expected = concat!(
            r#"{"published":10,"elapsed_s":0.002,"messages_per_s":5000.0,"ok":true,"subscribers":"#,
            r#"[{"received":10,"lost":0,"latency_ns":{"p50":1500,"p90":1500,"p99":1500,"p99_9":1500,"max":1500}}]}"#,
            "\n"
        );
        assert_eq!(report(10).to_json(), expected);
    }

    #[test]
    fn nothing_published_is_no_division_by_zero() {
        let json = Report { elapsed_ns: 0, ..report(0) }.to_json();
        assert!(
            json.starts_with(r#"{"published":0,"elapsed_s":0.0,"messages_per_s":0.0,"ok":true,"#),
            "{json}"
        );
    }

    #[test]
    fn a_fault_fails_the_run_even_where_it_was_interrupted() {
        assert_eq!(report(10).outcome(), Outcome::Passed);
        assert_eq!(Report { total: 20, ..report(10) }.outcome(), Outcome::Interrupted);

        let failed = Report { total: 20, published: 11, ..report(10) };
        assert_eq!(failed.outcome(), Outcome::Failed);
        let fault = Fault::Count { received: 10, lost: 0, published: 11 };
        assert_eq!(failed.faults().collect::<Vec<_>>(), [(1, fault)]);
        assert!(failed.to_json().contains(r#""ok":false"#));
    }
}

//! What the demo found: how much goes through a flooded ring, and how long a message takes in a calm one;
//! also as JSON.

use serde::Serialize;

use super::killed::Killed;
use super::report::{Report, Trade};
use super::subscriber::Receipt;
use crate::measure::Latency;
use crate::outcome::Outcome;

/// All runs of one demo.
pub(super) struct Findings {
    /// The run that published everything.
    pub(super) run: Report,
    /// Messages a second in that run, if the user asked for a rate. Else the publisher went at full speed,
    /// and the ring was flooded.
    pub(super) rate: Option<f64>,
    /// After a run at full speed: the first quotes once more, at an even pace. None if the first run was
    /// stopped, or its check failed.
    pub(super) calm: Option<Calm>,
}

/// A run whose ring is nearly empty.
pub(super) struct Calm {
    /// What it came to.
    pub(super) report: Report,
    /// Messages a second.
    pub(super) rate: f64,
}

impl Findings {
    /// All that the checks find.
    pub(super) fn faults(&self) -> impl Iterator<Item = String> {
        let calm = self.calm.iter().flat_map(|calm| calm.report.faults());
        self.run.faults().chain(calm.map(|fault| format!("in the calm ring: {fault}")))
    }

    /// The verdict.
    pub(super) fn outcome(&self) -> Outcome {
        let later = self.calm.as_ref().map_or(Outcome::Passed, |calm| calm.report.outcome());
        match self.run.outcome() {
            Outcome::Passed => later,
            first => first,
        }
    }

    /// The run at an even pace and its rate: latencies in it are the ring's, without the wait behind
    /// other messages.
    pub(super) fn paced(&self) -> Option<(&Report, f64)> {
        match (&self.calm, self.rate) {
            (Some(calm), _) => Some((&calm.report, calm.rate)),
            (None, Some(rate)) => Some((&self.run, rate)),
            (None, None) => None,
        }
    }

    /// The report for programs: one object on one line.
    pub(super) fn to_json(&self) -> String {
        let (run, paced) = (&self.run, self.paced());
        let is_flooded = self.rate.is_none();
        let paced_report = paced.map(|(report, _)| report);
        let object = Object {
            published: run.published,
            elapsed_s: run.elapsed_s(),
            messages_per_s: run.messages_per_s(),
            ok: self.faults().next().is_none(),
            subscribers: (0..run.receipts.len())
                .map(|place| {
                    let paced = paced_report.and_then(|run| run.receipts[place].as_ref());
                    Subscriber::of(run.receipts[place].as_ref(), paced, is_flooded)
                })
                .collect(),
            lossless: run.lossless,
            orders: run.orders(),
            paced: paced.map(|(report, rate)| Paced { published: report.published, messages_per_s: rate }),
            tick_to_order_ns: paced_report.map(|report| Latency::of(&report.tick_to_order_ns())),
            flooded_tick_to_order_ns: is_flooded.then(|| Latency::of(&run.tick_to_order_ns())),
            strategies: (0..run.trades.len())
                .map(|place| Strategy::of(run, place, paced_report.map(|run| &run.trades[place]), is_flooded))
                .collect(),
            killed: run.killed.as_ref(),
        };
        let json = serde_json::to_string(&object).expect("numbers, names and lists have a form in JSON");
        json + "\n"
    }
}

/// The shape of [`Findings::to_json`]. Programs rely on its keys.
///
/// A key that begins with `flooded` is of a run at full speed, and left out if there was none. The other
/// latencies are of the run at an even pace, and null if there was none. What a process would have told that
/// was killed is null, too.
#[derive(Serialize)]
struct Object<'a> {
    published: u64,
    elapsed_s: f64,
    messages_per_s: f64,
    ok: bool,
    subscribers: Vec<Subscriber>,
    lossless: bool,
    orders: Option<u64>,
    paced: Option<Paced>,
    tick_to_order_ns: Option<Latency>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flooded_tick_to_order_ns: Option<Latency>,
    strategies: Vec<Strategy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    killed: Option<&'a Killed>,
}

/// What latencies are of, in [`Object`].
#[derive(Serialize)]
struct Paced {
    published: u64,
    messages_per_s: f64,
}

/// A subscriber in [`Object`].
#[derive(Serialize)]
struct Subscriber {
    received: Option<u64>,
    lost: Option<u64>,
    latency_ns: Option<Latency>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flooded_latency_ns: Option<Latency>,
}

impl Subscriber {
    fn of(receipt: Option<&Receipt>, paced: Option<&Receipt>, is_flooded: bool) -> Self {
        let latency = |receipt: &Receipt| Latency::of(&receipt.latency_ns);
        Self {
            received: receipt.map(|receipt| receipt.ledger.received),
            lost: receipt.map(|receipt| receipt.ledger.lost),
            latency_ns: paced.map(latency),
            flooded_latency_ns: receipt.filter(|_| is_flooded).map(latency),
        }
    }
}

/// A strategy in [`Object`].
#[derive(Serialize)]
struct Strategy {
    name: String,
    /// From 1.
    subscriber: usize,
    received: Option<u64>,
    lost: Option<u64>,
    orders: Option<u64>,
    tick_to_order_ns: Option<Latency>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flooded_tick_to_order_ns: Option<Latency>,
}

impl Strategy {
    fn of(run: &Report, place: usize, paced: Option<&Trade>, is_flooded: bool) -> Self {
        let trade = &run.trades[place];
        let ledger = run.receipts[trade.subscriber].as_ref().map(|receipt| &receipt.ledger);
        let latency = |trade: &Trade| trade.account.as_ref().map(|account| Latency::of(&account.latency_ns));
        Self {
            name: trade.windows.to_string(),
            subscriber: trade.subscriber + 1,
            received: ledger.map(|ledger| ledger.received),
            lost: ledger.map(|ledger| ledger.lost),
            orders: trade.account.as_ref().map(|account| account.orders),
            tick_to_order_ns: paced.and_then(latency),
            flooded_tick_to_order_ns: Some(trade).filter(|_| is_flooded).and_then(latency),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::demo::report::tests::report;

    /// What a demo with `rate` found: everything was published, and without a rate, the half of it once more.
    pub(in crate::demo) fn findings(published: u64, rate: Option<f64>) -> Findings {
        let calm = rate.is_none().then(|| Calm { report: report(published / 2), rate: 100_000.0 });
        Findings { run: report(published), rate, calm }
    }

    #[test]
    fn json_is_one_line_with_these_keys() {
        let [latency, to_order] =
            [1500, 2501].map(|ns| format!(r#"{{"p50":{ns},"p90":{ns},"p99":{ns},"p99_9":{ns},"max":{ns}}}"#));
        let expected = |paced: &str, flooded: &str, flooded_to_order: &str| {
            format!(
                "{}{}{}{}\n",
                r#"{"published":10,"elapsed_s":0.002,"messages_per_s":5000.0,"ok":true,"subscribers":"#,
                format_args!(
                    r#"[{{"received":10,"lost":0,"latency_ns":{latency}{flooded}}}],"lossless":false,"orders":10,"#
                ),
                format_args!(
                    r#""paced":{paced},"tick_to_order_ns":{to_order}{flooded_to_order},"strategies":[{{"name":"5/20","#
                ),
                format_args!(
                    r#""subscriber":1,"received":10,"lost":0,"orders":10,"tick_to_order_ns":{to_order}{flooded_to_order}}}]}}"#
                ),
            )
        };
        let both = expected(
            r#"{"published":5,"messages_per_s":100000.0}"#,
            &format!(r#","flooded_latency_ns":{latency}"#),
            &format!(r#","flooded_tick_to_order_ns":{to_order}"#),
        );
        assert_eq!(findings(10, None).to_json(), both);
        let one = expected(r#"{"published":10,"messages_per_s":250.0}"#, "", "");
        assert_eq!(findings(10, Some(250.0)).to_json(), one);
    }

    #[test]
    fn stopped_run_at_full_speed_has_no_latency_of_a_calm_ring() {
        let run = Report { total: 20, ..report(10) };
        let stopped = Findings { run, rate: None, calm: None };
        assert_eq!(stopped.outcome(), Outcome::Interrupted);
        let json = stopped.to_json();
        for part in [
            r#""paced":null,"tick_to_order_ns":null,"flooded_tick"#,
            r#""latency_ns":null,"flooded_latency_ns":{"p50":1500"#,
        ] {
            assert!(json.contains(part), "{part}\nis not in\n{json}");
        }
    }

    #[test]
    fn run_that_published_nothing_divides_by_no_zero() {
        let json = Findings { run: Report { elapsed_ns: 0, ..report(0) }, ..findings(0, None) }.to_json();
        assert!(
            json.starts_with(r#"{"published":0,"elapsed_s":0.0,"messages_per_s":0.0,"ok":true,"#),
            "{json}"
        );
    }

    #[test]
    fn fault_in_either_run_fails_the_demo() {
        let first = Findings { run: Report { total: 11, published: 11, ..report(10) }, ..findings(10, None) };
        assert_eq!(first.outcome(), Outcome::Failed);
        assert!(first.to_json().contains(r#""ok":false"#));

        let calm = Calm { report: Report { published: 6, total: 6, ..report(5) }, rate: 1.0 };
        let second = Findings { calm: Some(calm), ..findings(10, None) };
        assert_eq!(second.outcome(), Outcome::Failed);
        let faults: Vec<String> = second.faults().collect();
        assert_eq!(
            faults,
            ["in the calm ring: subscriber 1: received 5 + lost 0 is not the 6 that were published"]
        );

        let calm = Calm { report: Report { total: 6, ..report(5) }, rate: 1.0 };
        assert_eq!(Findings { calm: Some(calm), ..findings(10, None) }.outcome(), Outcome::Interrupted);
        assert_eq!(findings(10, None).outcome(), Outcome::Passed);
    }
}

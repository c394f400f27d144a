//! How long messages took: what is counted, and the percentiles that are reported.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::table::Column;
use crate::text::duration;

/// The longest latency that is told apart; longer ones count as this. An hour, more than any of them.
pub(crate) const LATENCY_NS_MAX: u64 = 3_600_000_000_000;

/// Significant figures of a latency.
const LATENCY_FIGURES: u8 = 3;

/// So many messages are beyond a percentile that is shown, at least.
const BEYOND_LEAST: u64 = 10;

/// What is not known.
const NONE: &str = "–";

/// A histogram of latencies.
pub(crate) fn latencies() -> Histogram<u64> {
    Histogram::new_with_max(LATENCY_NS_MAX, LATENCY_FIGURES)
        .expect("an hour to three figures is within what a histogram can hold")
}

/// How one process tells another of a histogram: each latency that was recorded, to three figures, and how
/// often.
pub(crate) mod counts {
    use hdrhistogram::Histogram;
    use serde::{Deserialize, Deserializer, Serializer};

    use super::latencies;

    pub(crate) fn serialize<S: Serializer>(
        histogram: &Histogram<u64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let steps = histogram.iter_recorded();
        serializer.collect_seq(steps.map(|step| (step.value_iterated_to(), step.count_at_value())))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Histogram<u64>, D::Error> {
        let mut histogram = latencies();
        for (value, count) in Vec::<(u64, u64)>::deserialize(deserializer)? {
            histogram.saturating_record_n(value, count);
        }
        Ok(histogram)
    }
}

/// The percentiles of latency that are reported, in nanoseconds; all 0 where nothing was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Latency {
    pub(crate) p50: u64,
    pub(crate) p90: u64,
    pub(crate) p99: u64,
    pub(crate) p99_9: u64,
    pub(crate) max: u64,
}

impl Latency {
    /// The percentiles of `latency_ns`.
    pub(crate) fn of(latency_ns: &Histogram<u64>) -> Self {
        Self {
            p50: latency_ns.value_at_quantile(0.5),
            p90: latency_ns.value_at_quantile(0.9),
            p99: latency_ns.value_at_quantile(0.99),
            p99_9: latency_ns.value_at_quantile(0.999),
            max: latency_ns.max(),
        }
    }

    /// Its five cells in a table, if it is of so many messages. A percentile that fewer than ten of them
    /// are beyond says nothing: it is a dash.
    pub(crate) fn cells(&self, messages: u64) -> [String; 5] {
        let percentile = |value: u64, one_in: u64| {
            if messages / one_in >= BEYOND_LEAST { duration(value) } else { NONE.into() }
        };
        [
            percentile(self.p50, 2),
            percentile(self.p90, 10),
            percentile(self.p99, 100),
            percentile(self.p99_9, 1_000),
            if messages == 0 { NONE.into() } else { duration(self.max) },
        ]
    }
}

/// The columns of [`Latency::cells`]. The median and the maximum stay where there is
/// little room.
pub(crate) const LATENCY_COLUMNS: [Column; 5] = [
    Column::number("p50"),
    Column::number("p90").spared(5),
    Column::number("p99").spared(1),
    Column::number("p99.9").spared(3),
    Column::number("max"),
];

/// What a report says if one of the cells is empty.
pub(crate) const TOO_FEW: &str =
    "A percentile is left out (–) where fewer than ten messages took longer than that.";

/// The five cells of a latency.
pub(crate) fn percentiles(latency_ns: &Histogram<u64>) -> [String; 5] {
    Latency::of(latency_ns).cells(latency_ns.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Told(#[serde(with = "counts")] Histogram<u64>);

    #[test]
    fn percentiles_of_a_few_messages_are_not_shown() {
        let latency = Latency { p50: 1, p90: 2, p99: 3, p99_9: 4, max: 5 };
        for (messages, shown) in [
            (0, "–|–|–|–|–"),
            (1, "–|–|–|–|5 ns"),
            (10, "–|–|–|–|5 ns"),
            (20, "1 ns|–|–|–|5 ns"),
            (100, "1 ns|2 ns|–|–|5 ns"),
            (9_999, "1 ns|2 ns|3 ns|–|5 ns"),
            (10_000, "1 ns|2 ns|3 ns|4 ns|5 ns"),
        ] {
            assert_eq!(latency.cells(messages).join("|"), shown, "{messages}");
        }
    }

    #[test]
    fn histogram_that_is_told_is_the_same() {
        let mut told = Told(latencies());
        for latency_ns in [0, 1, 1, 999, 123_456, 123_457, 987_654_321, u64::MAX] {
            told.0.saturating_record(latency_ns);
        }
        let Told(heard) = serde_json::from_str(&serde_json::to_string(&told).unwrap()).unwrap();
        assert_eq!((heard.len(), Latency::of(&heard)), (8, Latency::of(&told.0)));
        assert!(heard.iter_recorded().eq(told.0.iter_recorded()));
        let Told(nothing) = serde_json::from_str("[]").unwrap();
        assert!(nothing.is_empty());
    }
}

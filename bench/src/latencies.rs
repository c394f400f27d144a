//! Latencies as a round passes them on: each with how often it was found.

use hdrhistogram::Histogram;

/// To two digits.
pub fn steps(latencies_ns: impl Iterator<Item = u64>) -> Vec<(u64, u64)> {
    let mut histogram = Histogram::<u64>::new(2).expect("two digits are possible");
    for latency in latencies_ns {
        histogram.record(latency.max(1)).expect("it grows with what is recorded");
    }
    histogram.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())).collect()
}

//! [`Cadence`]: the gaps between messages, from looks at how many there are.

use hdrhistogram::Histogram;

use crate::measure::latencies;

/// What the looks came to so far.
pub(super) struct Cadence {
    /// How many messages there were at the first look.
    first: u64,
    /// How many there were at the last one.
    published: u64,
    /// When the newest message was seen.
    newest_ns: Option<u64>,
    looks: u64,
    gap_ns: Histogram<u64>,
}

impl Cadence {
    /// Of a ring in which so many messages were published until now.
    pub(super) fn new(published: u64) -> Self {
        Self { first: published, published, newest_ns: None, looks: 0, gap_ns: latencies() }
    }

    /// At that time there were so many.
    pub(super) fn see(&mut self, at_ns: u64, published: u64) {
        self.looks += 1;
        // (Another process may have written any number there.)
        let Some(new @ 1..) = published.checked_sub(self.published) else { return };
        self.published = published;
        // The gap before the first of all is not known. Messages of one look share the time before it.
        let (since, gaps) = match self.newest_ns {
            Some(newest_ns) => (at_ns.saturating_sub(newest_ns), new),
            None => (0, new - 1),
        };
        self.gap_ns.saturating_record_n(since / new, gaps);
        self.newest_ns = Some(at_ns);
    }

    /// How many messages came.
    pub(super) fn messages(&self) -> u64 {
        self.published - self.first
    }

    pub(super) fn looks(&self) -> u64 {
        self.looks
    }

    /// The gaps between them; none if fewer than two came.
    pub(super) fn gap_ns(&self) -> &Histogram<u64> {
        &self.gap_ns
    }

    /// How far each gap is from the median one.
    pub(super) fn jitter_ns(&self) -> Histogram<u64> {
        let mut jitter_ns = latencies();
        let median_ns = self.gap_ns.value_at_quantile(0.5);
        for step in self.gap_ns.iter_recorded() {
            jitter_ns
                .saturating_record_n(step.value_iterated_to().abs_diff(median_ns), step.count_at_value());
        }
        jitter_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The gaps, and how often each was there.
    fn of(histogram: &Histogram<u64>) -> Vec<(u64, u64)> {
        histogram.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())).collect()
    }

    fn cadence(looks: &[(u64, u64)]) -> Cadence {
        let mut cadence = Cadence::new(10);
        for &(at_ns, published) in looks {
            cadence.see(at_ns, published);
        }
        cadence
    }

    #[test]
    fn gap_is_the_time_between_two_messages() {
        let cadence = cadence(&[(5, 10), (100, 11), (150, 11), (200, 12), (330, 13)]);
        assert_eq!((cadence.messages(), cadence.looks()), (3, 5));
        assert_eq!(of(cadence.gap_ns()), [(100, 1), (130, 1)]);
    }

    #[test]
    fn messages_of_one_look_share_its_time() {
        assert_eq!(of(cadence(&[(0, 11), (100, 15)]).gap_ns()), [(25, 4)]);
        // Before the first one there is no gap.
        assert_eq!(of(cadence(&[(100, 13)]).gap_ns()), [(0, 2)]);
        assert_eq!(of(cadence(&[(100, 11)]).gap_ns()), []);
    }

    #[test]
    fn jitter_is_the_distance_from_the_median() {
        let cadence = cadence(&[(0, 11), (100, 12), (200, 13), (300, 14), (390, 15), (600, 16)]);
        assert_eq!(of(cadence.gap_ns()), [(90, 1), (100, 3), (210, 1)]);
        assert_eq!(of(&cadence.jitter_ns()), [(0, 3), (10, 1), (110, 1)]);
    }

    #[test]
    fn number_that_shrinks_is_none() {
        let cadence = cadence(&[(0, 11), (100, 3), (200, 12)]);
        assert_eq!((cadence.messages(), of(cadence.gap_ns())), (2, vec![(200, 1)]));
    }
}

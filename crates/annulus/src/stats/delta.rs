//! [`Delta`]: what happened between two snapshots.

#[cfg(feature = "std")]
use core::time::Duration;

use super::snapshot::{Counted, OwnStats, Stats};

/// What has happened in a ring between two snapshots of it; made by [`Stats::since`].
///
/// # Examples
///
/// ```
/// let (mut producer, mut consumer) = annulus::spsc::channel(8);
/// producer.send(1).unwrap();
/// let before = consumer.stats();
/// producer.send_batch(&[2, 3]).unwrap();
/// assert_eq!(consumer.recv(), Ok(1));
///
/// let delta = consumer.stats().since(&before);
/// assert_eq!((delta.published, delta.received), (2, Some(1)));
/// assert!(delta.rate(delta.published) > 0.0); // in one second
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Delta {
    /// How much time lies between the two.
    #[cfg(feature = "std")]
    pub elapsed: Duration,
    /// How many messages were published.
    pub published: u64,
    /// How many messages were received, as [`Stats::received`] says. `None` if one of the two does not know.
    /// (A subscriber that joins at an older message makes [`Stats::received`] smaller. Then this is 0.)
    pub received: Option<u64>,
    /// How many messages the subscriber received whose `stats` both are.
    pub own_received: Option<u64>,
    /// How many messages that subscriber lost.
    pub own_lagged: Option<u64>,
    /// How many writers have joined.
    pub writers_joined: u64,
    /// How many readers have joined.
    pub readers_joined: u64,
    /// What was counted meanwhile. The high-water mark is the later snapshot's.
    pub counted: Option<Counted>,
}

impl Stats {
    /// What has happened since `earlier`, which is an earlier snapshot of the same ring. (For any other
    /// snapshot the differences mean nothing; none is below 0.)
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Delta {
        Delta::between(earlier, self)
    }
}

impl Delta {
    fn between(earlier: &Stats, later: &Stats) -> Self {
        let own = |number: fn(&OwnStats) -> u64| {
            Some(number(later.own.as_ref()?).saturating_sub(number(earlier.own.as_ref()?)))
        };
        Self {
            #[cfg(feature = "std")]
            elapsed: later.at.saturating_duration_since(earlier.at),
            published: later.published.saturating_sub(earlier.published),
            received: earlier.received.and_then(|before| Some(later.received?.saturating_sub(before))),
            own_received: own(|own| own.received),
            own_lagged: own(|own| own.lagged),
            writers_joined: later.writers.joined.saturating_sub(earlier.writers.joined),
            readers_joined: later.readers.joined.saturating_sub(earlier.readers.joined),
            counted: earlier.counted.and_then(|before| {
                let now = later.counted?;
                Some(Counted {
                    lagged: now.lagged.saturating_sub(before.lagged),
                    sleeps: now.sleeps.saturating_sub(before.sleeps),
                    wake_ups: now.wake_ups.saturating_sub(before.wake_ups),
                    rests: now.rests.saturating_sub(before.rests),
                    high_water: now.high_water,
                })
            }),
        }
    }

    /// `count`, one of these numbers, for each second. 0 if no time has passed.
    #[cfg(feature = "std")]
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a rate; counts above 2^53 lose their last digits")]
    pub fn rate(&self, count: u64) -> f64 {
        let seconds = self.elapsed.as_secs_f64();
        if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use crate::stats::HandleCount;

    fn stats(published: u64, own: Option<u64>, counted: Option<Counted>) -> Stats {
        let own =
            own.map(|received| OwnStats { position: received, received, lagged: 1, corrupt: 0, pending: 0 });
        Stats { published, own, counted, writers: HandleCount::new(1, published), ..Stats::new(None, 4) }
    }

    #[test]
    fn a_delta_is_the_difference() {
        let counted = |sleeps| Some(Counted { sleeps, high_water: sleeps, ..Counted::default() });
        let earlier = stats(3, Some(2), counted(5));
        let mut later = stats(10, Some(9), counted(6));
        later.at = earlier.at + Duration::from_millis(500);
        let delta = later.since(&earlier);
        assert_eq!((delta.published, delta.own_received, delta.own_lagged), (7, Some(7), Some(0)));
        assert_eq!((delta.writers_joined, delta.readers_joined, delta.received), (7, 0, None));
        assert_eq!(delta.counted, Some(Counted { sleeps: 1, high_water: 6, ..Counted::default() }));
        assert!((delta.rate(7) - 14.0).abs() < 1e-9);
    }

    #[test]
    fn difference_of_an_unknown_number_is_unknown_and_none_is_negative() {
        let (earlier, later) = (stats(10, None, None), stats(3, Some(1), Some(Counted::default())));
        let delta = later.since(&earlier);
        assert_eq!((delta.published, delta.own_received, delta.counted), (0, None, None));
        let (before, after) = (
            Stats { received: Some(7), ..stats(9, None, None) },
            Stats { received: Some(5), ..stats(9, None, None) },
        );
        assert_eq!((after.since(&before).received, before.since(&after).received), (Some(0), Some(2)));
        let none = earlier.since(&earlier);
        assert!(none.rate(5).abs() < f64::EPSILON, "no time has passed");
    }
}

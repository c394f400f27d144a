//! How [`Stats`] are printed: as a table.

use core::fmt;

use super::snapshot::Stats;

/// A number, or that there is none.
struct Maybe(Option<u64>);

impl fmt::Display for Maybe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(number) => fmt::Display::fmt(&number, f),
            None => f.pad("-"),
        }
    }
}

/// As a table: one line for the ring, one for what was counted, and one for each producer, each subscriber
/// for which publishers wait, and the subscriber whose snapshot it is. The text ends without a line break.
/// Its form may change with each version.
impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, capacity, closed, published, writers, readers, .. } = self;
        let state = if *closed { "closed" } else { "open" };
        write!(f, "{:<12} {state:<6}", name.as_deref().unwrap_or("ring"))?;
        write!(f, " published {published:>12}  received {:>12}", Maybe(self.received))?;
        write!(f, "  pending {:>7} of {capacity}", Maybe(self.pending))?;
        write!(f, "  writers {} ({} joined)", writers.now, writers.joined)?;
        write!(f, "  readers {} ({} joined)", readers.now, readers.joined)?;
        if let Some(counted) = &self.counted {
            write!(f, "\n  counted        high-water {:>7}", counted.high_water)?;
            write!(f, "  lagged {}  sleeps {}", counted.lagged, counted.sleeps)?;
            write!(f, "  wake-ups {}  rests {}", counted.wake_ups, counted.rests)?;
        }
        for producer in &self.producers {
            write!(f, "\n  producer {:>5} sent {:>17}", producer.id, producer.sent)?;
            write!(f, "  received {:>12}  pending {:>7}", producer.received, producer.pending)?;
            if let Some(latency) = &producer.latency {
                write!(f, "  lay {} ns (mean of {} messages)", latency.mean_ns, latency.samples)?;
            }
        }
        for reader in &self.followed {
            write!(f, "\n  reader {:>7} at {:>19}  lag {:>17}", reader.cell, reader.position, reader.lag)?;
        }
        if let Some(own) = &self.own {
            write!(f, "\n  this reader    at {:>19}  received {:>12}", own.position, own.received)?;
            write!(f, "  pending {:>7}  lagged {}", own.pending, own.lagged)?;
            if own.corrupt > 0 {
                write!(f, "  corrupt {}", own.corrupt)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{Counted, FollowedStats, HandleCount, Latency, OwnStats, ProducerStats};
    use alloc::string::ToString;

    #[test]
    fn each_number_is_in_the_table() {
        let latency = Some(Latency { samples: 21, min_ns: 0, mean_ns: 22, max_ns: 0 });
        let stats = Stats {
            closed: true,
            published: 101,
            received: Some(102),
            pending: None,
            writers: HandleCount::new(103, 104),
            readers: HandleCount::new(105, 106),
            producers: [ProducerStats { id: 107, sent: 108, received: 109, pending: 110, latency }].into(),
            followed: [FollowedStats { cell: 111, position: 112, lag: 113 }].into(),
            own: Some(OwnStats { position: 114, received: 115, lagged: 116, corrupt: 23, pending: 117 }),
            counted: Some(Counted { lagged: 118, sleeps: 119, wake_ups: 120, rests: 121, high_water: 122 }),
            ..Stats::new(Some("orders".into()), 100)
        };
        let text = stats.to_string();
        for number in (100..=122).chain(21..=23) {
            assert!(text.contains(&number.to_string()), "{number} is not in:\n{text}");
        }
        assert!(text.starts_with("orders ") && text.contains("closed") && text.contains("      - of 100"));
        assert_eq!(text.lines().count(), 5);
        assert!(Stats::new(None, 1).to_string().starts_with("ring "));
    }
}

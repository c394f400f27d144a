//! Exports the numbers of rings by the facade [`metrics`](https://docs.rs/metrics) (feature `metrics`).
//!
//! A program that has a recorder (for Prometheus, `StatsD` and so on) calls [`export`] once for each ring
//! that is to be seen, and [`refresh`] as often as the numbers are wanted, for example before each scrape. A
//! ring needs a name (`name` of its settings); a ring of a [bus](crate::bus) has the name of its topic.
//! [`Observer::list`](crate::Observer::list) has all rings with a name, for a program that exports all of
//! them. The names of the numbers:
//!
//! | name | kind | from | |
//! | --- | --- | --- | --- |
//! | `annulus_published_total` | counter | [`Stats::published`] | |
//! | `annulus_received_total` | counter | [`Stats::received`] | only where it is known |
//! | `annulus_writers_joined_total`, `annulus_readers_joined_total` | counter | [`HandleCount::joined`](crate::stats::HandleCount::joined) | |
//! | `annulus_lagged_total`, `annulus_sleeps_total`, `annulus_wake_ups_total`, `annulus_rests_total` | counter | [`Counted`] | only with `statistics(true)` |
//! | `annulus_high_water` | gauge | [`Counted::high_water`] | only with `statistics(true)` |
//! | `annulus_pending` | gauge | [`Stats::pending`] | only where it is known |
//! | `annulus_writers`, `annulus_readers` | gauge | [`HandleCount::now`](crate::stats::HandleCount::now) | |
//! | `annulus_rings` | gauge | how many exported rings with this name there are | 0 once the last is gone |
//!
//! Each has one label, `ring`: the name of the ring. If several rings have the same name, their numbers are
//! added up (of the high-water marks, the largest counts). Counters never become smaller: a ring that is gone
//! counts with what the last [`refresh`] saw of it, and `received` counts with its largest value.
//!
//! The version of the facade is 0.24, which needs Rust 1.71. That is older than what this library needs.
//!
//! # Examples
//!
//! ```
//! use annulus::{Settings, metrics, mpsc};
//!
//! let (mut producer, consumer) = mpsc::with::<u64>(Settings::new(64).name("orders").statistics(true))?;
//! metrics::describe();
//! assert!(metrics::export(&consumer.observer()));
//! producer.send(1).unwrap();
//! metrics::refresh(); // annulus_published_total{ring="orders"} is 1
//! # Ok::<(), annulus::CapacityError>(())
//! ```

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ::metrics::{Unit, counter, describe_counter, describe_gauge, gauge};

use crate::observer::Observer;
use crate::stats::{Counted, Stats};
use crate::sync::seeded;

/// All rings that are exported.
static RINGS: Mutex<Rings> = Mutex::new(Rings { rings: Vec::new(), gone: BTreeMap::new() });

struct Rings {
    rings: Vec<MetricsRing>,
    /// What rings have done that are gone, by name.
    gone: BTreeMap<Cow<'static, str>, Totals>,
}

/// A ring that is exported.
struct MetricsRing {
    name: Cow<'static, str>,
    observer: Observer,
    /// What it had done at the last look.
    seen: Totals,
}

/// What rings have done: these only grow.
#[derive(Clone, Copy, Default)]
struct Totals {
    published: u64,
    received: Option<u64>,
    writers_joined: u64,
    readers_joined: u64,
    counted: Option<Counted>,
}

/// What rings are now.
#[derive(Clone, Copy, Default)]
struct Now {
    rings: u32,
    pending: Option<u64>,
    writers: usize,
    readers: usize,
}

/// The sum of two numbers, each of which may be unknown.
fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one + other),
        (one, other) => one.or(other),
    }
}

impl Totals {
    /// After `stats`, where `self` was seen before.
    fn then(self, stats: &Stats) -> Self {
        Self {
            published: self.published.max(stats.published),
            received: self.received.max(stats.received),
            writers_joined: self.writers_joined.max(stats.writers.joined),
            readers_joined: self.readers_joined.max(stats.readers.joined),
            counted: stats.counted,
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            published: self.published + other.published,
            received: sum(self.received, other.received),
            writers_joined: self.writers_joined + other.writers_joined,
            readers_joined: self.readers_joined + other.readers_joined,
            counted: match (self.counted, other.counted) {
                (Some(one), Some(other)) => Some(Counted {
                    lagged: one.lagged + other.lagged,
                    sleeps: one.sleeps + other.sleeps,
                    wake_ups: one.wake_ups + other.wake_ups,
                    rests: one.rests + other.rests,
                    high_water: one.high_water.max(other.high_water),
                }),
                (one, other) => one.or(other),
            },
        }
    }
}

fn rings() -> MutexGuard<'static, Rings> {
    // A panic can't leave the lists half-written.
    RINGS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on, [`refresh`] exports the numbers of the ring that `observer` observes. This keeps nothing
/// open. It ends with the ring. If the ring is exported already, this has no effect.
///
/// Returns false, and does nothing, if the ring has no name, or is gone.
#[allow(clippy::must_use_candidate, reason = "a caller that knows the ring's name need not ask")]
pub fn export(observer: &Observer) -> bool {
    let Some(name) = observer.stats().and_then(|stats| stats.name) else {
        return false;
    };
    let mut rings = rings();
    let is_known = rings.rings.iter().any(|ring| ring.observer.is_of_the_ring_of(observer));
    if !is_known || seeded!("exported_twice") {
        rings.rings.push(MetricsRing { name, observer: observer.clone(), seen: Totals::default() });
    }
    true
}

/// Tells the recorder what the numbers mean. Call it once, when the recorder is installed. No effect without
/// a recorder.
pub fn describe() {
    describe_counter!("annulus_published_total", Unit::Count, "Messages that were published or sent");
    describe_counter!("annulus_received_total", Unit::Count, "Messages that nobody needs any more");
    describe_counter!(
        "annulus_writers_joined_total",
        Unit::Count,
        "Publishers and producers that have joined"
    );
    describe_counter!(
        "annulus_readers_joined_total",
        Unit::Count,
        "Subscribers and consumers that have joined"
    );
    describe_counter!("annulus_lagged_total", Unit::Count, "Messages that lossy subscribers lost or skipped");
    describe_counter!("annulus_sleeps_total", Unit::Count, "Times that a thread went to sleep in the ring");
    describe_counter!("annulus_wake_ups_total", Unit::Count, "Times that somebody woke sleepers");
    describe_counter!("annulus_rests_total", Unit::Count, "Times that a consumer let messages gather");
    describe_gauge!("annulus_high_water", Unit::Count, "The most messages that were seen waiting");
    describe_gauge!("annulus_pending", Unit::Count, "Messages that wait in the ring");
    describe_gauge!("annulus_writers", Unit::Count, "Publishers or producers that there are");
    describe_gauge!("annulus_readers", Unit::Count, "Subscribers or consumers that there are");
    describe_gauge!("annulus_rings", Unit::Count, "Rings of this name that there are");
}

/// Takes a snapshot of each exported ring, and tells the recorder its numbers. The cost is one [`Stats`] for
/// each ring. No effect without a recorder.
///
/// If two threads refresh at the same time, the recorder may get the older numbers last.
pub fn refresh() {
    // The recorder is called without the lock: it may export rings itself.
    for (name, (totals, now)) in look() {
        tell(&name, &totals, &now);
    }
}

/// The numbers of each name.
fn look() -> BTreeMap<Cow<'static, str>, (Totals, Now)> {
    let mut rings = rings();
    let Rings { rings, gone } = &mut *rings;
    let mut by_name: BTreeMap<_, (Totals, Now)> = BTreeMap::new();
    rings.retain_mut(|ring| {
        let Some(stats) = ring.observer.stats() else {
            let before = gone.entry(ring.name.clone()).or_default();
            if !seeded!("gone_rings_forgotten") {
                *before = before.plus(ring.seen);
            }
            return false;
        };
        ring.seen = ring.seen.then(&stats);
        let (totals, now) = by_name.entry(ring.name.clone()).or_default();
        *totals = totals.plus(ring.seen);
        *now = Now {
            rings: now.rings + 1,
            pending: sum(now.pending, stats.pending),
            writers: now.writers + stats.writers.now,
            readers: now.readers + stats.readers.now,
        };
        true
    });
    for (name, done) in gone {
        let (totals, _) = by_name.entry(name.clone()).or_default();
        *totals = totals.plus(*done);
    }
    by_name
}

#[expect(clippy::cast_precision_loss, reason = "a gauge; numbers above 2^53 lose their last digits")]
#[expect(clippy::ptr_arg, reason = "a clone of a static name allocates nothing")]
fn tell(name: &Cow<'static, str>, totals: &Totals, now: &Now) {
    let name = || name.clone();
    counter!("annulus_published_total", "ring" => name()).absolute(totals.published);
    if let Some(received) = totals.received {
        counter!("annulus_received_total", "ring" => name()).absolute(received);
    }
    counter!("annulus_writers_joined_total", "ring" => name()).absolute(totals.writers_joined);
    counter!("annulus_readers_joined_total", "ring" => name()).absolute(totals.readers_joined);
    if let Some(counted) = &totals.counted {
        counter!("annulus_lagged_total", "ring" => name()).absolute(counted.lagged);
        counter!("annulus_sleeps_total", "ring" => name()).absolute(counted.sleeps);
        counter!("annulus_wake_ups_total", "ring" => name()).absolute(counted.wake_ups);
        counter!("annulus_rests_total", "ring" => name()).absolute(counted.rests);
        gauge!("annulus_high_water", "ring" => name()).set(counted.high_water as f64);
    }
    // Where it is not known any more, nothing waits that the ring knows of.
    if totals.received.is_some() {
        gauge!("annulus_pending", "ring" => name()).set(now.pending.unwrap_or(0) as f64);
    }
    gauge!("annulus_writers", "ring" => name()).set(now.writers as f64);
    gauge!("annulus_readers", "ring" => name()).set(now.readers as f64);
    gauge!("annulus_rings", "ring" => name()).set(f64::from(now.rings));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_never_become_smaller() {
        let seen = Totals {
            published: 9,
            received: Some(8),
            writers_joined: 7,
            readers_joined: 6,
            ..Totals::default()
        };
        let (_producer, consumer) = crate::spsc::channel::<u64>(4);
        let then = seen.then(&consumer.stats());
        assert_eq!((then.published, then.received), (9, Some(8)));
        assert_eq!((then.writers_joined, then.readers_joined), (7, 6));
    }
}

//! The publisher's side of the demo.

use annulus::Shutdown;
use annulus::broadcast::Publisher;

use super::clock::Clock;
use super::quote::{Quote, Tick};
use super::ring::Ring;
use crate::measure::{Gauge, Schedule};

/// What was published.
pub(super) struct Publication {
    /// How many messages.
    pub(super) published: u64,
    /// When it began, by the demo's clock.
    pub(super) start_ns: u64,
}

/// Publishes `ticks` in order, each stamped with the time of its publication, until the last of them or
/// `shutdown`. Then it drops `publisher`, which is how subscribers learn of the end.
pub(super) fn publish<M: Ring>(
    mut publisher: Publisher<Quote, M>,
    ticks: impl Iterator<Item = Tick>,
    schedule: Option<Schedule>,
    clock: &Clock,
    shutdown: &Shutdown,
    gauge: &Gauge,
) -> Publication {
    let start_ns = clock.now_ns();
    for tick in ticks {
        let sequence = publisher.published();
        if let Some(schedule) = schedule {
            schedule.wait(sequence, start_ns, || clock.now_ns(), shutdown);
        }
        if shutdown.is_shutdown() {
            break;
        }
        if !M::publish(&mut publisher, Quote::new(tick, sequence, clock.now_ns())) {
            break;
        }
        gauge.set(sequence + 1);
    }
    Publication { published: publisher.published(), start_ns }
}

//! The publisher's side of the demo: the broadcast ring, lossy or lossless, and what is published there.

use annulus::Settings;
use annulus::broadcast;
use annulus::broadcast::{Lossless, Lossy, Mode, Publisher, Subscribable, Subscriber};
use annulus::{CapacityError, Shutdown};

use crate::measure::{Clock, Gauge, Schedule};
use crate::messages::quote::{Quote, Tick};

/// The publisher of a run, and what makes its subscribers.
pub(super) type Ends<M> = (Publisher<Quote, M>, Subscribable<Quote, M>);

/// What the demo does with a ring of either mode.
pub(super) trait Ring: Mode + Sized {
    /// A ring of so many slots.
    ///
    /// # Errors
    ///
    /// There can be none.
    fn make(capacity: usize) -> Result<Ends<Self>, CapacityError>;

    /// A subscriber for what is published from now on.
    fn subscribe(subscribable: &Subscribable<Quote, Self>) -> Subscriber<Quote, Self>;

    /// Publishes `quote`, and says whether anybody can still receive.
    fn publish(publisher: &mut Publisher<Quote, Self>, quote: Quote) -> bool;
}

impl Ring for Lossy {
    fn make(capacity: usize) -> Result<Ends<Self>, CapacityError> {
        broadcast::lossy_with(Settings::new(capacity))
    }

    fn subscribe(subscribable: &Subscribable<Quote>) -> Subscriber<Quote> {
        subscribable.subscribe()
    }

    #[inline]
    fn publish(publisher: &mut Publisher<Quote>, quote: Quote) -> bool {
        publisher.publish(quote);
        true
    }
}

impl Ring for Lossless {
    fn make(capacity: usize) -> Result<Ends<Self>, CapacityError> {
        broadcast::lossless_with(Settings::new(capacity))
    }

    fn subscribe(subscribable: &Subscribable<Quote, Self>) -> Subscriber<Quote, Self> {
        subscribable.subscribe()
    }

    #[inline]
    fn publish(publisher: &mut Publisher<Quote, Self>, quote: Quote) -> bool {
        publisher.publish(quote).is_ok()
    }
}

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

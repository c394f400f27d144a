//! [`annulus_stats`]: the numbers of a ring at one moment.

use annulus::stats::Stats;

use crate::consumer::{Consumer, annulus_consumer};
use crate::handle::{object, place};
use crate::producer::{Producer, annulus_producer};
use crate::publisher::{Publisher, annulus_publisher};
use crate::ring::Ring;
use crate::status::annulus_status::{self, ANNULUS_CLOSED, ANNULUS_INVALID, ANNULUS_UNSUPPORTED};
use crate::status::{Done, guarded};
use crate::subscriber::{Subscriber, annulus_subscriber};

/// The numbers of a ring at one moment, in messages; of a queue of records, in words of 8 bytes. Set `size`
/// to `sizeof(annulus_stats)` before the call.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct annulus_stats {
    /// `sizeof(annulus_stats)`: it tells the library which version of this the program was compiled with.
    pub size: usize,
    /// How many messages were sent since the ring was made.
    pub published: u64,
    /// How many messages nobody needs any more: in a queue, those that were received. 0 on a lossy ring,
    /// where only a subscriber knows how far it is.
    pub received: u64,
    /// How many messages wait, of a lossy ring how many a reader may find.
    pub pending: u64,
    /// How many messages the ring holds; of a queue with a ring for each producer, how many each of them
    /// holds.
    pub capacity: u64,
    /// How many producers or publishers there are.
    pub writers: u64,
    /// How many consumers or subscribers there are.
    pub readers: u64,
    /// With `ANNULUS_STATISTICS`: how many messages subscribers of a lossy ring lost, all together.
    pub lagged: u64,
    /// With `ANNULUS_STATISTICS`: how often a thread went to sleep.
    pub sleeps: u64,
    /// With `ANNULUS_STATISTICS`: how often a thread woke threads that slept.
    pub wake_ups: u64,
    /// With `ANNULUS_STATISTICS`: the largest number of messages that a thread saw waiting.
    pub high_water: u64,
    /// Whether the ring is closed.
    pub closed: bool,
}

impl annulus_stats {
    fn of(stats: &Stats, ring: &Ring) -> Self {
        let counted = stats.counted.unwrap_or_default();
        Self {
            size: size_of::<Self>(),
            published: stats.published / ring.unit,
            received: stats.received.unwrap_or(0) / ring.unit,
            pending: stats.depth() / ring.unit,
            capacity: ring.capacity as u64,
            writers: stats.writers.now as u64,
            readers: stats.readers.now as u64,
            lagged: counted.lagged,
            sleeps: counted.sleeps,
            wake_ups: counted.wake_ups,
            high_water: counted.high_water / ring.unit,
            closed: stats.closed,
        }
    }

    /// # Safety
    ///
    /// `stats` is null, or may be read and written for so many bytes as its `size` says.
    pub(crate) unsafe fn store(stats: *mut Self, ring: impl FnOnce() -> Done<Ring>) -> Done {
        // SAFETY: the caller's promise; `size` is looked at before the rest.
        if stats.is_null() || unsafe { (*stats).size } != size_of::<Self>() {
            return Err(ANNULUS_INVALID);
        }
        let ring = ring()?;
        let found = ring.observer.as_ref().ok_or(ANNULUS_UNSUPPORTED)?.stats().ok_or(ANNULUS_CLOSED)?;
        // SAFETY: the caller's promise.
        unsafe { place(stats) }?.write(Self::of(&found, &ring));
        Ok(())
    }
}

/// Stores the numbers of the queue of this producer. It allocates; the queue continues meanwhile.
///
/// The thread that uses the producer may call this. Returns `ANNULUS_INVALID` (a null pointer, another
/// `size`), `ANNULUS_NOT_A_HANDLE`; `ANNULUS_UNSUPPORTED` of a queue between processes that several consumers
/// share: `annulus_shared_queue` has its numbers. Then `*stats` is as it was.
///
/// # Safety
///
/// `producer` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `stats` is null, or so many bytes as its `size` says may be read and written there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_producer_stats(
    producer: *const annulus_producer,
    stats: *mut annulus_stats,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { annulus_stats::store(stats, || Ok(object::<Producer>(producer)?.ring.clone())) })
}

/// As `annulus_producer_stats`, of the queue of this consumer.
///
/// # Safety
///
/// As for `annulus_producer_stats`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_consumer_stats(
    consumer: *const annulus_consumer,
    stats: *mut annulus_stats,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { annulus_stats::store(stats, || Ok(object::<Consumer>(consumer)?.ring.clone())) })
}

/// As `annulus_producer_stats`, of the ring of this publisher.
///
/// # Safety
///
/// As for `annulus_producer_stats`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_publisher_stats(
    publisher: *const annulus_publisher,
    stats: *mut annulus_stats,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { annulus_stats::store(stats, || Ok(object::<Publisher>(publisher)?.ring.clone())) })
}

/// As `annulus_producer_stats`, of the ring of this subscriber.
///
/// # Safety
///
/// As for `annulus_producer_stats`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_subscriber_stats(
    subscriber: *const annulus_subscriber,
    stats: *mut annulus_stats,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { annulus_stats::store(stats, || Ok(object::<Subscriber>(subscriber)?.ring.clone())) })
}

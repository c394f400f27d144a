//! Queues of records: how they are made. The verbs are in `producer` and `consumer`.

use annulus::Settings;
use annulus::queue::bytes;
use annulus::{Closer, Observer};

use super::consumer::{BytesConsumer, Reading, annulus_bytes_consumer};
use super::producer::{BytesProducer, Writing, annulus_bytes_producer};
use crate::handle::{Handle, handle_place};
use crate::options::annulus_options;
use crate::ring::{AskPeer, Ring};
use crate::status::annulus_status;
use crate::status::{guarded, of_capacity};
use crate::tsan::Order;

/// Makes a queue of records of any length, up to half the capacity, with one producer and one consumer. Both
/// can use records where they lie in the ring.
///
/// `options` come from `ANNULUS_BYTES_OPTIONS(capacity)`: the capacity is in bytes, 2 or more, and the
/// size of a message is 1. A record takes 8 bytes for its length, and its own bytes, rounded up to a multiple
/// of 8. It is never split: where it would run over the end of the ring, the rest of that stays empty. So
/// make the ring several times as large as what is to lie in it. All memory of the ring is allocated here,
/// and freed with the last handle of the queue.
///
/// The caller owns both handles, and frees each with `annulus_bytes_producer_free` or
/// `annulus_bytes_consumer_free`. A handle may move to another thread; one thread at a time uses it. Any
/// thread may call this.
///
/// Returns `ANNULUS_INVALID` (a null pointer, another `size` of the options, a way to wait that is none, a
/// capacity below 2), `ANNULUS_WRONG_SIZE` (messages of another size than 1), `ANNULUS_NO_MEMORY`. Then both
/// handles are null.
///
/// # Safety
///
/// Each pointer is null, or points to an object of its type that this may use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_queue_new(
    options: *const annulus_options,
    producer: *mut *mut annulus_bytes_producer,
    consumer: *mut *mut annulus_bytes_consumer,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let producer_place = unsafe { handle_place(producer) };
        // SAFETY: the caller's promise.
        let (producer, consumer) = (producer_place?, unsafe { handle_place(consumer) }?);
        // SAFETY: the caller's promise.
        let options = unsafe { annulus_options::checked(options) }?.of_bytes()?;
        let settings = Settings::new(options.capacity).wait_strategy(options.strategy);
        let (sends, receives) = bytes::with(settings.statistics(options.statistics)).map_err(of_capacity)?;
        let ring = ring_of(sends.closer(), sends.observer(), None, Order::new());
        *producer = BytesProducer { end: Box::new(Writing::of(sends)), ring: ring.clone() }.hand_out();
        *consumer = BytesConsumer { end: Box::new(Reading::of(receives)), ring }.hand_out();
        Ok(())
    })
}

/// What a handle of a queue of records knows of its ring, whose numbers are words.
pub(crate) fn ring_of(closer: Closer, observer: Observer, peer: Option<AskPeer>, order: Order) -> Ring {
    let capacity = observer.stats().map_or(0, |stats| stats.capacity);
    Ring { capacity, message_size: 1, unit: 1, closer, observer: Some(observer), peer, order }
}

//! Broadcast rings of records: how they are made, and how subscribers join. The verbs are in `publisher` and
//! `subscriber`.

use annulus::Settings;
use annulus::broadcast::bytes::Subscribable;
use annulus::broadcast::{Lossless, bytes};

use super::publisher::{BytesPublisher, annulus_bytes_publisher};
use super::subscriber::{BytesSubscriber, annulus_bytes_subscriber};
use crate::broadcast::{ANNULUS_LOSSLESS, ANNULUS_LOSSY};
use crate::either::{Either, either};
use crate::handle::{Handle, handle, handle_place, shared_object, take};
use crate::notified::Notified;
use crate::options::annulus_options;
use crate::ring::Ring;
use crate::status::annulus_status::{self, ANNULUS_INVALID};
use crate::status::{guarded, of_capacity};

/// What makes subscribers of a broadcast ring of records. Any thread may use it, several at once, too.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Debug)]
pub struct annulus_bytes_subscribable {
    _opaque: [u8; 0],
}

handle!(annulus_bytes_subscribable = 13: BytesSubscribable);

pub(crate) struct BytesSubscribable {
    subscribes: Either<Subscribable, Subscribable<Lossless>>,
    ring: Ring,
}

/// Makes a broadcast ring of records of any length, up to half the capacity, its publisher, and what makes
/// its subscribers. A subscriber receives what is published after it has joined.
///
/// `kind` is `ANNULUS_LOSSY` or `ANNULUS_LOSSLESS`. The publisher of a lossy ring never waits: a subscriber
/// that falls behind loses the oldest records, and is told how many. The one of a lossless ring waits for the
/// slowest subscriber.
///
/// `options` come from `ANNULUS_BYTES_OPTIONS(capacity)`: the capacity is in bytes, and is rounded up to a
/// power of two and to 64; the size of a message is 1. The ring holds the newest records that have together
/// at most 15/16 of the capacity, and are at most a 32nd of it. All memory of the ring, twice the capacity,
/// is allocated here, and freed with the last handle.
///
/// The caller owns both, and frees each with `annulus_bytes_publisher_free` or
/// `annulus_bytes_subscribable_free`. Any thread may call this.
///
/// Returns `ANNULUS_INVALID` (a null pointer, another `size` of the options, a kind or a way to wait that is
/// none, a capacity of 0), `ANNULUS_WRONG_SIZE` (messages of another size than 1), `ANNULUS_NO_MEMORY`. Then
/// both are null.
///
/// # Safety
///
/// Each pointer is null, or points to an object of its type that this may use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_broadcast_new(
    kind: u32,
    options: *const annulus_options,
    publisher: *mut *mut annulus_bytes_publisher,
    subscribable: *mut *mut annulus_bytes_subscribable,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let publisher_place = unsafe { handle_place(publisher) };
        // SAFETY: the caller's promise.
        let (publisher, subscribable) = (publisher_place?, unsafe { handle_place(subscribable) }?);
        // SAFETY: the caller's promise.
        let options = unsafe { annulus_options::checked(options) }?.of_bytes()?;
        let settings = Settings::new(options.capacity).wait_strategy(options.strategy);
        let settings = settings.statistics(options.statistics);
        let (end, subscribes, ring) = match kind {
            ANNULUS_LOSSY => {
                let (end, subscribes) = bytes::lossy_with(settings).map_err(of_capacity)?;
                let ring = Ring::of(options, end.closer(), end.observer());
                (Either::Lossy(end), Either::Lossy(subscribes), ring)
            }
            ANNULUS_LOSSLESS => {
                let (end, subscribes) = bytes::lossless_with(settings).map_err(of_capacity)?;
                let ring = Ring::of(options, end.closer(), end.observer());
                (Either::Lossless(end), Either::Lossless(subscribes), ring)
            }
            _ => return Err(ANNULUS_INVALID),
        };
        let ring = Ring { capacity: either!(&end, end => end.max_records()), ..ring };
        *publisher = BytesPublisher { end, ring: ring.clone() }.hand_out();
        *subscribable = BytesSubscribable { subscribes, ring }.hand_out();
        Ok(())
    })
}

/// Makes a subscriber, which the caller owns. It receives what is published from now on; with `from_oldest`
/// also what the ring still has, from the oldest record on. It allocates a buffer for the longest record.
///
/// Any thread may call this; one thread at a time uses the subscriber. Returns `ANNULUS_INVALID`,
/// `ANNULUS_NOT_A_HANDLE`. Then `*subscriber` is null. (A subscriber of a closed ring receives what is there,
/// and then `ANNULUS_CLOSED`.)
///
/// # Safety
///
/// `subscribable` is null, or a handle that this library made, whether it was freed or not; no other thread
/// frees it. `subscriber` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_subscribable_subscribe(
    subscribable: *const annulus_bytes_subscribable,
    from_oldest: bool,
    subscriber: *mut *mut annulus_bytes_subscriber,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let subscriber = unsafe { handle_place(subscriber) }?;
        // SAFETY: the caller's promise.
        let BytesSubscribable { subscribes, ring } = unsafe { shared_object(subscribable) }?;
        let end = match (subscribes, from_oldest) {
            (Either::Lossy(of), false) => Either::Lossy(Notified::Not(of.subscribe())),
            (Either::Lossy(of), true) => Either::Lossy(Notified::Not(of.subscribe_from_oldest())),
            (Either::Lossless(of), false) => Either::Lossless(Notified::Not(of.subscribe())),
            (Either::Lossless(of), true) => Either::Lossless(Notified::Not(of.subscribe_from_oldest())),
        };
        *subscriber = BytesSubscriber::of(end, ring.clone()).hand_out();
        Ok(())
    })
}

/// Frees it. Nobody joins any more; subscribers stay. Null is no error, and has no effect.
///
/// One thread may call this, when no other one uses it any more. Returns `ANNULUS_NOT_A_HANDLE` if it was
/// freed before, or is a handle of another type.
///
/// # Safety
///
/// `subscribable` is null, or a handle that this library made, whether it was freed or not; no other thread
/// uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_subscribable_free(
    subscribable: *mut annulus_bytes_subscribable,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { take::<BytesSubscribable>(subscribable) }.map(drop))
}

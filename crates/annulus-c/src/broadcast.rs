//! Broadcast rings, each message of which reaches every subscriber: how they are made, and how subscribers
//! join. The verbs are in `publisher` and `subscriber`.

use annulus::Settings;
use annulus::broadcast::{self, Lossless, Lossy};

use crate::handle::{Handle, handle, handle_place, shared_object, take};
use crate::notified::Notified;
use crate::options::{Options, annulus_options};
use crate::publisher::{Publisher, annulus_publisher};
use crate::ring::Ring;
use crate::status::annulus_status::{self, ANNULUS_INVALID};
use crate::status::{Done, guarded, of_capacity};
use crate::subscriber::{Subscriber, annulus_subscriber};
use crate::tsan::Order;
use crate::typed::{Block, Counts, Get, Receiving, Sending, alone, classes};

/// A ring of one publisher, which never waits: a subscriber that falls behind loses the oldest messages, and
/// is told how many.
pub const ANNULUS_LOSSY: u32 = 11;
/// A ring of one publisher, which waits for the slowest subscriber: nobody loses a message.
pub const ANNULUS_LOSSLESS: u32 = 12;
/// As `ANNULUS_LOSSY`, with many publishers and one order for all of them.
pub const ANNULUS_MP_LOSSY: u32 = 13;
/// As `ANNULUS_LOSSLESS`, with many publishers and one order for all of them.
pub const ANNULUS_MP_LOSSLESS: u32 = 14;

/// What makes subscribers of a broadcast ring. Any thread may use it, several at once, too. While there is
/// one, somebody may still join, so a publisher that nobody listens to does not fail.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Debug)]
pub struct annulus_subscribable {
    _opaque: [u8; 0],
}

handle!(annulus_subscribable = 5: Subscribable);

pub(crate) struct Subscribable {
    pub(crate) subscribes: Box<dyn Subscribes>,
    pub(crate) ring: Ring,
}

/// What makes subscribers.
pub(crate) trait Subscribes: Send + Sync {
    fn subscribe(&self, from_oldest: bool) -> Done<Box<dyn Get>>;
}

/// For each mode, because the library says for each what a subscriber is.
macro_rules! subscribes {
    ($Mode:ty, $lends:expr) => {
        impl<const WORDS: usize> Subscribes for (broadcast::Subscribable<Block<WORDS>, $Mode>, usize) {
            fn subscribe(&self, from_oldest: bool) -> Done<Box<dyn Get>> {
                let (subscribable, size) = self;
                let subscriber =
                    if from_oldest { subscribable.subscribe_from_oldest() } else { subscribable.subscribe() };
                let counts = |subscriber: &broadcast::Subscriber<Block<WORDS>, $Mode>| Counts {
                    received: subscriber.total_received(),
                    lagged: subscriber.total_lagged(),
                    corrupt: 0,
                    pending: subscriber.len(),
                    next: subscriber.cursor(),
                };
                let handle = Notified::Not(subscriber);
                Ok(Box::new(Receiving {
                    handle,
                    size: *size,
                    join: alone,
                    counts,
                    lends: $lends,
                    begins_with_last: Some(broadcast::Subscriber::begin_with_last),
                }))
            }
        }
    };
}
subscribes!(Lossy, Some(|subscriber| subscriber));
subscribes!(Lossless, None);

/// The publisher of a ring that the builder makes by this verb, and what makes its subscribers.
macro_rules! ring {
    ($options:expr, $WORDS:ident, $make:ident, $join:expr, $lends:expr) => {
        broadcast::$make::<Block<$WORDS>>(settings($options)).map_err(of_capacity).map(
            |(publisher, subscribable)| {
                let ring = Ring::of($options, publisher.closer(), publisher.observer());
                let size = $options.message_size;
                let sending = Sending { handle: publisher, size, join: $join, lends: $lends };
                let subscribes: Box<dyn Subscribes> = Box::new((subscribable, size));
                let publisher = Publisher { end: Box::new(sending), ring: ring.clone(), is_lent: false };
                (publisher, Subscribable { subscribes, ring })
            },
        )
    };
}

/// Makes a broadcast ring, its publisher, and what makes its subscribers. A subscriber receives what is
/// published after it has joined.
///
/// `kind` is `ANNULUS_LOSSY`, `ANNULUS_LOSSLESS`, `ANNULUS_MP_LOSSY` or `ANNULUS_MP_LOSSLESS`. Messages have
/// at most `ANNULUS_MESSAGE_MAX` bytes. All memory of the ring is allocated here, and freed with the last
/// handle.
///
/// The caller owns both, and frees each with `annulus_publisher_free` or `annulus_subscribable_free`. Any
/// thread may call this.
///
/// Returns `ANNULUS_INVALID` (a null pointer, another `size` of the options, a kind or a way to wait that is
/// none, a capacity that the ring can't have, such as 0 or 1), `ANNULUS_WRONG_SIZE` (messages of 0 bytes, or
/// of too many), `ANNULUS_NO_MEMORY`. Then both are null.
///
/// # Safety
///
/// Each pointer is null, or points to an object of its type that this may use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_broadcast_new(
    kind: u32,
    options: *const annulus_options,
    publisher: *mut *mut annulus_publisher,
    subscribable: *mut *mut annulus_subscribable,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let publisher_place = unsafe { handle_place(publisher) };
        // SAFETY: the caller's promise.
        let (publisher, subscribable) = (publisher_place?, unsafe { handle_place(subscribable) }?);
        // SAFETY: the caller's promise.
        let options = unsafe { annulus_options::checked(options) }?;
        let size = options.message_size;
        let (publishes, subscribes) = match kind {
            ANNULUS_LOSSY => {
                classes!(size, WORDS => ring!(options, WORDS, lossy_with, alone, Some(|publisher| publisher)))
            }
            ANNULUS_LOSSLESS => classes!(size, WORDS => ring!(options, WORDS, lossless_with, alone, None)),
            ANNULUS_MP_LOSSY => {
                classes!(size, WORDS => ring!(options, WORDS, mp_lossy_with, |one| Ok(one.clone()), None))
            }
            ANNULUS_MP_LOSSLESS => {
                classes!(size, WORDS => ring!(options, WORDS, mp_lossless_with, |one| Ok(one.clone()), None))
            }
            _ => Err(ANNULUS_INVALID),
        }?;
        let (mut publishes, mut subscribes) = (publishes, subscribes);
        if let Ok(lends) = publishes.end.lends() {
            let begin = lends.lend().slots.start.as_ptr();
            publishes.ring.order = Order::at(begin, core::ptr::null());
            subscribes.ring.order = publishes.ring.order.clone();
        }
        *publisher = publishes.hand_out();
        *subscribable = subscribes.hand_out();
        Ok(())
    })
}

fn settings(options: Options) -> Settings {
    let settings = Settings::new(options.capacity).wait_strategy(options.strategy);
    settings.statistics(options.statistics)
}

/// Makes a subscriber, which the caller owns. It receives what is published from now on; with `from_oldest`
/// also what the ring still has, from the oldest message on.
///
/// Any thread may call this; one thread at a time uses the subscriber. Returns `ANNULUS_INVALID`,
/// `ANNULUS_NOT_A_HANDLE`; `ANNULUS_OCCUPIED` if all seats of a lossless ring between processes are taken.
/// Then `*subscriber` is null. (A subscriber of a closed ring receives what is there, and then
/// `ANNULUS_CLOSED`.)
///
/// # Safety
///
/// `subscribable` is null, or a handle that this library made, whether it was freed or not; no other thread
/// frees it. `subscriber` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_subscribable_subscribe(
    subscribable: *const annulus_subscribable,
    from_oldest: bool,
    subscriber: *mut *mut annulus_subscriber,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let subscriber = unsafe { handle_place(subscriber) }?;
        // SAFETY: the caller's promise.
        let subscribable = unsafe { shared_object::<Subscribable>(subscribable) }?;
        let end = subscribable.subscribes.subscribe(from_oldest)?;
        *subscriber = Subscriber { end, ring: subscribable.ring.clone(), is_lent: false }.hand_out();
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
pub unsafe extern "C" fn annulus_subscribable_free(
    subscribable: *mut annulus_subscribable,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { take::<Subscribable>(subscribable) }.map(drop))
}

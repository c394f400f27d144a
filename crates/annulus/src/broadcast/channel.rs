//! The short forms of [`Builder`]. They panic instead of returning an error.

use super::builder::Builder;
use super::{Lossless, MpPublisher, Publisher, Subscribable};
use crate::error::CapacityError;
use crate::message::Message;
use crate::ring::Writers;

/// The ends of a ring, or a panic that says who asked for what can't be had.
#[track_caller]
pub(crate) fn ends_of<E>(name: &str, ends: Result<E, CapacityError>) -> E {
    ends.unwrap_or_else(|error| panic!("annulus::{name}: {error}"))
}

/// Makes a lossy broadcast ring of `capacity` slots: one publisher, any number of subscribers, and every
/// subscriber sees every message.
///
/// The publisher never waits. A subscriber that falls more than `capacity` messages behind loses the oldest
/// messages, is told how many, and goes on with the oldest message that is still in the ring. `capacity` may
/// be any number from 2 up, and is not rounded. With a power of two, finding a slot takes one instruction
/// less.
///
/// This function allocates and touches the memory of the whole ring. Messages allocate nothing later. Of the
/// subscribers, only [stages and groups](crate#which-handles-allocate) allocate when they join. A slot takes
/// `size_of::<T>()` + 8 bytes, rounded up to a power of two (up to 64 bytes) or to a multiple of 64 (above).
/// A message of 256 bytes or more begins on a cache line of its own: its slot takes 64 bytes and the message,
/// rounded up to a multiple of 64.
///
/// The ring belongs to this process: see the [front page](crate#what-does-not-hold) on `fork()`. If it is the
/// first one, and the process has more threads, `prepare` says what the first sleeps cost.
///
/// # Panics
///
/// If `capacity` is below 2, or memory has no room for the ring. [`Builder::lossy`] returns an error instead.
///
/// # Examples
///
/// ```
/// use annulus::broadcast;
///
/// let (mut publisher, subscribable) = broadcast::lossy::<u64>(1024);
/// let mut first = subscribable.subscribe();
/// let mut second = subscribable.subscribe();
///
/// publisher.publish(42);
///
/// assert_eq!(first.recv(), Ok(42));
/// assert_eq!(second.recv(), Ok(42));
/// ```
#[doc(alias = "force_push")]
#[doc(alias = "channel")]
#[must_use]
#[track_caller]
pub fn lossy<T: Message>(capacity: usize) -> (Publisher<T>, Subscribable<T>) {
    let builder = Builder::new(capacity);
    let parts = ends_of("broadcast::lossy", builder.lossy_parts(Writers::One));
    let (publisher, subscribable) = builder.made_of(parts, None);
    (Publisher::new(publisher), Subscribable::new(subscribable))
}

/// Makes a lossless broadcast ring of `capacity` slots: one publisher, any number of subscribers, and nobody
/// loses a message.
///
/// The publisher waits while its slowest subscriber is `capacity` messages behind. ([`Builder::headroom`]
/// makes it wait earlier.) Subscribers join and leave at any time. The publisher does not wait for taps
/// ([`subscribe_lossy`](Subscribable::subscribe_lossy)).
///
/// *With no subscriber it never waits*: it takes any number of messages, and nobody receives them. (Half a
/// ring of them stays for [`subscribe_from_oldest`](Subscribable::subscribe_from_oldest).) So subscribe
/// before you publish, or let the publisher wait:
/// [`wait_for_subscribers`](Publisher::wait_for_subscribers).
///
/// The publisher waits for every subscriber that was not dropped. A subscriber that was forgotten
/// (`mem::forget`), or whose thread is not in this process after a `fork()`, holds it up for ever.
///
/// The memory of the ring is allocated as by [`lossy`](fn@lossy). A subscriber that joins also allocates a
/// place for its cursor, unless one is free. Places are used again.
///
/// # Panics
///
/// Like [`lossy`](fn@lossy). [`Builder::lossless`] returns an error instead.
///
/// # Examples
///
/// ```
/// use annulus::broadcast;
///
/// let (mut publisher, subscribable) = broadcast::lossless::<u64>(2);
/// let mut subscriber = subscribable.subscribe();
/// assert!(publisher.try_publish(1).is_ok());
/// assert!(publisher.try_publish(2).is_ok());
/// assert!(publisher.try_publish(3).is_err(), "full");
/// assert_eq!(subscriber.recv(), Ok(1));
/// assert!(publisher.try_publish(3).is_ok());
/// ```
#[doc(alias = "channel_bounded")]
#[must_use]
#[track_caller]
pub fn lossless<T: Message>(capacity: usize) -> (Publisher<T, Lossless>, Subscribable<T, Lossless>) {
    let builder = Builder::new(capacity);
    let parts = ends_of("broadcast::lossless", builder.parts(Writers::One));
    let (publisher, subscribable) = builder.made_of(parts, None);
    (Publisher::new(publisher), Subscribable::new(subscribable))
}

/// Makes a lossy broadcast ring of `capacity` slots for any number of publishers.
///
/// Like [`lossy`](fn@lossy), but the publisher is `Clone`, and all subscribers see all messages in one order.
/// Each message takes one compare-exchange more. No publisher waits for another one, also not for one that is
/// stopped in the middle of a write: see [`MpPublisher`].
///
/// A publisher has a place, in 128 bytes, which is allocated when there are more publishers than ever before.
///
/// # Panics
///
/// Like [`lossy`](fn@lossy). [`Builder::mp_lossy`] returns an error instead.
///
/// # Examples
///
/// ```
/// use annulus::broadcast;
///
/// let (mut publisher, subscribable) = broadcast::mp_lossy::<u64>(64);
/// let mut subscriber = subscribable.subscribe();
/// let mut other = publisher.clone();
/// std::thread::spawn(move || other.publish(1)).join().unwrap();
/// publisher.publish(2);
/// assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [1, 2]);
/// ```
#[doc(alias = "channel_mpmc")]
#[must_use]
#[track_caller]
pub fn mp_lossy<T: Message>(capacity: usize) -> (MpPublisher<T>, Subscribable<T>) {
    let builder = Builder::new(capacity);
    let (parts, claims) = ends_of("broadcast::mp_lossy", builder.fellow_parts());
    let (publisher, subscribable) = builder.made_of(parts, None);
    (MpPublisher::new(publisher, claims), Subscribable::new(subscribable))
}

/// Makes a lossless broadcast ring of `capacity` slots for any number of publishers.
///
/// Like [`lossless`](fn@lossless), but the publisher is `Clone + Send + Sync`, and all subscribers see all
/// messages in one order.
///
/// # Panics
///
/// Like [`lossy`](fn@lossy). [`Builder::mp_lossless`] returns an error instead.
///
/// # Examples
///
/// ```
/// use annulus::broadcast;
///
/// let (publisher, subscribable) = broadcast::mp_lossless::<u64>(2);
/// let mut subscriber = subscribable.subscribe();
/// publisher.publish(1)?;
/// publisher.clone().publish(2)?;
/// assert!(publisher.try_publish(3).is_err(), "full");
/// assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [1, 2]);
/// # Ok::<(), annulus::PublishError<u64>>(())
/// ```
#[doc(alias = "channel_mpmc_bounded")]
#[must_use]
#[track_caller]
pub fn mp_lossless<T: Message>(capacity: usize) -> (MpPublisher<T, Lossless>, Subscribable<T, Lossless>) {
    let builder = Builder::new(capacity);
    let parts = ends_of("broadcast::mp_lossless", builder.parts(Writers::Many));
    let (publisher, subscribable) = builder.made_of(parts, None);
    (MpPublisher::new(publisher, ()), Subscribable::new(subscribable))
}

//! The short forms of [`Builder`], which panic where it returns an error.

use super::builder::Builder;
use super::{Lossless, MpPublisher, Publisher, Subscribable};
use crate::error::CapacityError;
use crate::message::Message;

/// The ends of a ring, or a panic that says who asked for what can't be had.
#[track_caller]
pub(crate) fn ends_of<E>(name: &str, ends: Result<E, CapacityError>) -> E {
    ends.unwrap_or_else(|error| panic!("annulus::{name}: {error}"))
}

/// Makes a lossy broadcast ring of `capacity` slots: one publisher, any number of subscribers, each of which sees every
/// message.
///
/// The publisher never waits. A subscriber that falls more than `capacity` messages behind loses the oldest, is told how
/// many, and goes on with the oldest that still stands. `capacity` may be any number from 2 up and is kept as it is; a
/// power of two finds its slots with one instruction less.
///
/// Memory for the whole ring is taken and touched here; no message allocates anything later, and [stages and groups](crate#who-joins-may-allocate) alone do when they
/// join. A slot takes `size_of::<T>()` + 8
/// bytes, rounded up to a power of two up to 64 and to a multiple of 64 above; messages of 256 bytes and more begin on a line of
/// their own, and their slots take 64 bytes and the message, rounded up to a multiple of 64.
///
/// The ring belongs to this process: see the [front page](crate#what-does-not-hold) on `fork()`. What the first sleep of a process takes more than others,
/// `prepare` takes in advance.
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
#[doc(alias = "channel")]
#[must_use]
#[track_caller]
pub fn lossy<T: Message>(capacity: usize) -> (Publisher<T>, Subscribable<T>) {
    ends_of("broadcast::lossy", Builder::new(capacity).lossy())
}

/// Makes a lossless broadcast ring of `capacity` slots: one publisher, any number of subscribers, and nobody loses a message.
///
/// The publisher waits while its slowest subscriber is `capacity` messages behind ([`Builder::headroom`] lets it wait earlier). With no
/// subscriber it never waits. Subscribers join and leave at any time; taps
/// ([`subscribe_lossy`](Subscribable::subscribe_lossy)) are never waited for.
///
/// It waits for every subscriber there is, whatever became of it: one that was forgotten (`mem::forget`), or whose thread is not in this process after
/// a `fork()`, holds it up for ever.
///
/// Memory is taken as by [`lossy`](fn@lossy); subscribers also allocate places for their cursors where none is free, which later ones use again.
///
/// # Panics
///
/// As [`lossy`](fn@lossy). [`Builder::lossless`] returns an error instead.
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
    ends_of("broadcast::lossless", Builder::new(capacity).lossless())
}

/// Makes a lossy broadcast ring of `capacity` slots for any number of publishers.
///
/// As [`lossy`](fn@lossy), but the publisher is `Clone + Send + Sync`, and all subscribers see all messages in one order. A publisher takes
/// one atomic addition more for each message. One that stops in the middle of a write can hold up others: see [`MpPublisher`].
///
/// # Panics
///
/// As [`lossy`](fn@lossy). [`Builder::mp_lossy`] returns an error instead.
///
/// # Examples
///
/// ```
/// use annulus::broadcast;
///
/// let (publisher, subscribable) = broadcast::mp_lossy::<u64>(64);
/// let mut subscriber = subscribable.subscribe();
/// let other = publisher.clone();
/// std::thread::spawn(move || other.publish(1)).join().unwrap();
/// publisher.publish(2);
/// assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [1, 2]);
/// ```
#[doc(alias = "channel_mpmc")]
#[must_use]
#[track_caller]
pub fn mp_lossy<T: Message>(capacity: usize) -> (MpPublisher<T>, Subscribable<T>) {
    ends_of("broadcast::mp_lossy", Builder::new(capacity).mp_lossy())
}

/// Makes a lossless broadcast ring of `capacity` slots for any number of publishers.
///
/// As [`lossless`](fn@lossless), but the publisher is `Clone + Send + Sync`, and all subscribers see all messages in one order.
///
/// # Panics
///
/// As [`lossy`](fn@lossy). [`Builder::mp_lossless`] returns an error instead.
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
    ends_of("broadcast::mp_lossless", Builder::new(capacity).mp_lossless())
}

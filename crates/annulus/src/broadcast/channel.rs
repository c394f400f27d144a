//! The public constructors, each with a `try_` form that returns an error where it would panic.

use super::builder::Builder;
use super::event::{EventPublisher, EventSubscribable, MpEventPublisher};
use super::{Lossless, MpPublisher, Publisher, Subscribable};
use crate::error::CapacityError;
use crate::message::Message;

/// The ends of a ring, or a panic that says who asked for what can't be had.
#[track_caller]
fn expect<E>(name: &str, ends: Result<E, CapacityError>) -> E {
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
/// [`prepare`](crate::prepare) takes in advance.
///
/// # Panics
///
/// If `capacity` is below 2, or memory has no room for the ring. [`try_channel`] returns an error instead.
///
/// # Examples
///
/// ```
/// let (mut publisher, subscribable) = annulus::channel::<u64>(1024);
/// let mut first = subscribable.subscribe();
/// let mut second = subscribable.subscribe();
///
/// publisher.publish(42);
///
/// assert_eq!(first.recv(), Ok(42));
/// assert_eq!(second.recv(), Ok(42));
/// ```
#[must_use]
#[track_caller]
pub fn channel<T: Message>(capacity: usize) -> (Publisher<T>, Subscribable<T>) {
    expect("channel", try_channel(capacity))
}

/// As [`channel`], but returns an error where that panics.
///
/// # Errors
///
/// [`CapacityError::TooSmall`] below 2, [`CapacityError::TooLarge`] where memory has no room for the ring.
///
/// # Examples
///
/// ```
/// use annulus::CapacityError;
///
/// let error = annulus::try_channel::<u64>(1).unwrap_err();
/// assert_eq!(error, CapacityError::TooSmall { capacity: 1, minimum: 2 });
/// assert_eq!(error.to_string(), "capacity 1 is too small: this ring needs at least 2 slots");
/// ```
pub fn try_channel<T: Message>(capacity: usize) -> Result<(Publisher<T>, Subscribable<T>), CapacityError> {
    Builder::new(capacity).lossy()
}

/// Makes a lossless broadcast ring of `capacity` slots: one publisher, any number of subscribers, and nobody loses a message.
///
/// The publisher waits while its slowest subscriber is `capacity − watermark` messages behind. A watermark of 0 lets it fill the
/// ring; a larger one keeps that many slots free, so that the publisher is held up earlier and a tap finds more of what has been. With no
/// subscriber it never waits. Subscribers join and leave at any time; taps
/// ([`subscribe_lossy`](crate::Subscribable::subscribe_lossy)) are never waited for.
///
/// It waits for every subscriber there is, whatever became of it: one that was forgotten (`mem::forget`), or whose thread is not in this process after
/// a `fork()`, holds it up for ever.
///
/// Memory is taken as by [`channel`]; subscribers also allocate places for their cursors where none is free, which later ones use again.
///
/// # Panics
///
/// If `capacity` is below 2, `watermark` is not below `capacity`, or memory has no room for the ring. [`try_channel_bounded`]
/// returns an error instead.
///
/// # Examples
///
/// ```
/// let (mut publisher, subscribable) = annulus::channel_bounded::<u64>(2, 0);
/// let mut subscriber = subscribable.subscribe();
/// assert!(publisher.try_publish(1).is_ok());
/// assert!(publisher.try_publish(2).is_ok());
/// assert!(publisher.try_publish(3).is_err(), "full");
/// assert_eq!(subscriber.recv(), Ok(1));
/// assert!(publisher.try_publish(3).is_ok());
/// ```
#[must_use]
#[track_caller]
pub fn channel_bounded<T: Message>(
    capacity: usize,
    watermark: usize,
) -> (Publisher<T, Lossless>, Subscribable<T, Lossless>) {
    expect("channel_bounded", try_channel_bounded(capacity, watermark))
}

/// As [`channel_bounded`], but returns an error where that panics.
///
/// # Errors
///
/// [`CapacityError`]: `TooSmall` below 2, `Watermark` where that leaves no slot, `TooLarge` where memory has no room.
///
/// # Examples
///
/// ```
/// use annulus::CapacityError;
///
/// let error = annulus::try_channel_bounded::<u64>(8, 8).unwrap_err();
/// assert_eq!(error, CapacityError::Watermark { watermark: 8, capacity: 8 });
/// ```
#[allow(clippy::type_complexity, reason = "a publisher and what makes subscribers")]
pub fn try_channel_bounded<T: Message>(
    capacity: usize,
    watermark: usize,
) -> Result<(Publisher<T, Lossless>, Subscribable<T, Lossless>), CapacityError> {
    Builder::new(capacity).watermark(watermark).lossless()
}

/// Makes a lossy broadcast ring of `capacity` slots for any number of publishers.
///
/// As [`channel`], but the publisher is `Clone + Send + Sync`, and all subscribers see all messages in one order. A publisher takes
/// one atomic addition more for each message. One that stops in the middle of a write can hold up others: see [`MpPublisher`].
///
/// # Panics
///
/// As [`channel`]. [`try_channel_mpmc`] returns an error instead.
///
/// # Examples
///
/// ```
/// let (publisher, subscribable) = annulus::channel_mpmc::<u64>(64);
/// let mut subscriber = subscribable.subscribe();
/// let other = publisher.clone();
/// std::thread::spawn(move || other.publish(1)).join().unwrap();
/// publisher.publish(2);
/// assert_eq!(subscriber.drain().collect::<Vec<_>>(), [1, 2]);
/// ```
#[must_use]
#[track_caller]
pub fn channel_mpmc<T: Message>(capacity: usize) -> (MpPublisher<T>, Subscribable<T>) {
    expect("channel_mpmc", try_channel_mpmc(capacity))
}

/// As [`channel_mpmc`], but returns an error where that panics.
///
/// # Errors
///
/// As of [`try_channel`].
pub fn try_channel_mpmc<T: Message>(
    capacity: usize,
) -> Result<(MpPublisher<T>, Subscribable<T>), CapacityError> {
    Builder::new(capacity).mpmc()
}

/// Makes a lossless broadcast ring of `capacity` slots for any number of publishers.
///
/// As [`channel_bounded`], but the publisher is `Clone + Send + Sync`, and all subscribers see all messages in one order.
///
/// # Panics
///
/// As [`channel_bounded`]. [`try_channel_mpmc_bounded`] returns an error instead.
///
/// # Examples
///
/// ```
/// let (publisher, subscribable) = annulus::channel_mpmc_bounded::<u64>(2, 0);
/// let mut subscriber = subscribable.subscribe();
/// publisher.publish(1)?;
/// publisher.clone().publish(2)?;
/// assert!(publisher.try_publish(3).is_err(), "full");
/// assert_eq!(subscriber.drain().collect::<Vec<_>>(), [1, 2]);
/// # Ok::<(), annulus::PublishError<u64>>(())
/// ```
#[must_use]
#[track_caller]
pub fn channel_mpmc_bounded<T: Message>(
    capacity: usize,
    watermark: usize,
) -> (MpPublisher<T, Lossless>, Subscribable<T, Lossless>) {
    expect("channel_mpmc_bounded", try_channel_mpmc_bounded(capacity, watermark))
}

/// As [`channel_mpmc_bounded`], but returns an error where that panics.
///
/// # Errors
///
/// As of [`try_channel_bounded`].
#[allow(clippy::type_complexity, reason = "a publisher and what makes subscribers")]
pub fn try_channel_mpmc_bounded<T: Message>(
    capacity: usize,
    watermark: usize,
) -> Result<(MpPublisher<T, Lossless>, Subscribable<T, Lossless>), CapacityError> {
    Builder::new(capacity).watermark(watermark).mpmc_lossless()
}

/// Makes a broadcast ring of `capacity` owned events, each made by `factory`: one publisher changes them in place, any number of
/// subscribers read them by reference. Nothing is copied, moved or allocated on the way, so `T` may be anything: strings, vectors, large
/// structs of which a few fields change.
///
/// It is lossless: the publisher waits for its slowest subscriber before it changes what that one has not processed. An event keeps
/// what was in it a lap before until it is changed, so buffers in it are used again.
///
/// # Panics
///
/// If `capacity` is below 2, or memory has no room for the ring; [`try_event_channel`] returns an error instead. And if `factory`
/// panics.
///
/// # Examples
///
/// ```
/// let (mut publisher, subscribable) = annulus::event_channel(8, String::new);
/// let mut subscriber = subscribable.subscribe();
/// publisher.publish(|text| {
///     text.clear();
///     text.push_str("hello");
/// }).unwrap();
/// assert_eq!(subscriber.process(|text| text.len()), Ok(5));
/// ```
#[must_use]
#[track_caller]
pub fn event_channel<T: Send + Sync>(
    capacity: usize,
    factory: impl FnMut() -> T,
) -> (EventPublisher<T>, EventSubscribable<T>) {
    expect("event_channel", try_event_channel(capacity, factory))
}

/// As [`event_channel`], but returns an error where that panics.
///
/// # Errors
///
/// [`CapacityError::TooSmall`] below 2, [`CapacityError::TooLarge`] where memory has no room for the ring.
pub fn try_event_channel<T: Send + Sync>(
    capacity: usize,
    factory: impl FnMut() -> T,
) -> Result<(EventPublisher<T>, EventSubscribable<T>), CapacityError> {
    Builder::new(capacity).events(factory)
}

/// Makes a broadcast ring of `capacity` owned events for any number of publishers.
///
/// As [`event_channel`], but the publisher is `Clone + Send`. Each has an event of its own, which it changes first and then swaps with the
/// one in the ring: so its closure runs before it claims a place, and whether it panics or takes its time, nobody waits for it. The
/// price is that an event is moved (`size_of::<T>()` bytes, three times) for each message; what it owns is not.
///
/// # Panics
///
/// As [`event_channel`]. [`try_event_channel_mpmc`] returns an error instead.
///
/// # Examples
///
/// ```
/// let (mut publisher, subscribable) = annulus::event_channel_mpmc(8, Vec::new);
/// let mut subscriber = subscribable.subscribe();
/// let mut other = publisher.clone();
/// publisher.publish(|numbers| numbers.push(1)).unwrap();
/// other.publish(|numbers| numbers.push(2)).unwrap();
/// assert_eq!(subscriber.process(|numbers| numbers.clone()), Ok(vec![1]));
/// assert_eq!(subscriber.process(|numbers| numbers.clone()), Ok(vec![2]));
/// ```
#[must_use]
#[track_caller]
pub fn event_channel_mpmc<T: Send + Sync>(
    capacity: usize,
    factory: impl Fn() -> T + Send + Sync + 'static,
) -> (MpEventPublisher<T>, EventSubscribable<T>) {
    expect("event_channel_mpmc", try_event_channel_mpmc(capacity, factory))
}

/// As [`event_channel_mpmc`], but returns an error where that panics.
///
/// # Errors
///
/// As of [`try_event_channel`].
pub fn try_event_channel_mpmc<T: Send + Sync>(
    capacity: usize,
    factory: impl Fn() -> T + Send + Sync + 'static,
) -> Result<(MpEventPublisher<T>, EventSubscribable<T>), CapacityError> {
    Builder::new(capacity).mpmc_events(factory)
}

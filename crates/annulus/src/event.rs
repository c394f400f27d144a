//! Owned events: messages of any type, changed in place by publishers and read by reference, always lossless.
//!
//! Nothing is copied, moved or allocated on the way, so `T` may be anything: strings, vectors, large structs of which a few fields change.
//!
//! ```
//! use annulus::event;
//!
//! let (mut publisher, subscribable) = event::channel(8, String::new);
//! let mut subscriber = subscribable.subscribe();
//! publisher.publish(|text| {
//!     text.clear(); // what the last lap left
//!     text.push_str("hello");
//! }).unwrap();
//! assert_eq!(subscriber.process(|text| text.len()), Ok(5));
//! ```

#[doc(inline)]
pub use crate::broadcast::event::{
    EventPublisher, EventSubscribable, EventSubscriber, MpEventPublisher, Ref,
};

use crate::broadcast::{Builder, ends_of};

/// Makes a broadcast ring of `capacity` owned events, each made by `factory`: one publisher changes them in place, any number of
/// subscribers read them by reference.
///
/// It is lossless: the publisher waits for its slowest subscriber before it changes what that one has not processed. An event keeps
/// what was in it a lap before until it is changed, so buffers in it are used again.
///
/// # Panics
///
/// If `capacity` is below 2, or memory has no room for the ring; [`Builder::events`] returns an error instead. And if `factory`
/// panics.
///
/// # Examples
///
/// ```
/// let (mut publisher, subscribable) = annulus::event::channel(8, Vec::new);
/// let mut subscriber = subscribable.subscribe();
/// publisher.publish(|numbers| numbers.push(1)).unwrap();
/// assert_eq!(subscriber.process(|numbers| numbers.clone()), Ok(vec![1]));
/// ```
#[doc(alias = "event_channel")]
#[must_use]
#[track_caller]
pub fn channel<T: Send + Sync>(
    capacity: usize,
    factory: impl FnMut() -> T,
) -> (EventPublisher<T>, EventSubscribable<T>) {
    ends_of("event::channel", Builder::new(capacity).events(factory))
}

/// Makes a broadcast ring of `capacity` owned events for any number of publishers.
///
/// As [`channel`], but the publisher is `Clone + Send`. Each has an event of its own, which it changes first and then swaps with the
/// one in the ring: so its closure runs before it claims a place, and whether it panics or takes its time, nobody waits for it. The
/// price is that an event is moved (`size_of::<T>()` bytes, three times) for each message; what it owns is not.
///
/// # Panics
///
/// As [`channel`]. [`Builder::mp_events`] returns an error instead.
///
/// # Examples
///
/// ```
/// let (mut publisher, subscribable) = annulus::event::mp_channel(8, Vec::new);
/// let mut subscriber = subscribable.subscribe();
/// let mut other = publisher.clone();
/// publisher.publish(|numbers| numbers.push(1)).unwrap();
/// other.publish(|numbers| numbers.push(2)).unwrap();
/// assert_eq!(subscriber.process(|numbers| numbers.clone()), Ok(vec![1]));
/// assert_eq!(subscriber.process(|numbers| numbers.clone()), Ok(vec![2]));
/// ```
#[doc(alias = "event_channel_mpmc")]
#[must_use]
#[track_caller]
pub fn mp_channel<T: Send + Sync>(
    capacity: usize,
    factory: impl Fn() -> T + Send + Sync + 'static,
) -> (MpEventPublisher<T>, EventSubscribable<T>) {
    ends_of("event::mp_channel", Builder::new(capacity).mp_events(factory))
}

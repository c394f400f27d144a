//! Owned events: messages of any type, changed in place by publishers and read by reference, always lossless.
//!
//! Nothing is copied, moved or allocated on the way, so `T` may be anything: strings, vectors, large structs of which a few fields change.
//!
//! ```
//! use annulus::event;
//!
//! let (mut publisher, subscribable) = event::channel_with_reset(8, String::new, String::clear);
//! let mut subscriber = subscribable.subscribe();
//! publisher.publish(|text| text.push_str("hello")).unwrap();
//! assert_eq!(subscriber.process(|text| text.len()), Ok(5));
//! ```
//!
//! Values that are there already go in whole, and come out as clones, where `T` is `Clone`:
//!
//! ```
//! let (mut publisher, subscribable) = annulus::event::channel(8, String::new);
//! let mut subscriber = subscribable.subscribe();
//! publisher.send("hello".to_owned()).unwrap();
//! assert_eq!(subscriber.recv().unwrap(), "hello");
//! ```
//!
//! | | publisher | subscriber | for each event |
//! | --- | --- | --- | --- |
//! | in place | [`publish`](EventPublisher::publish) | [`process`](EventSubscriber::process), [`peek`](EventSubscriber::peek) | nothing is copied, allocated or freed |
//! | by value | [`send`](EventPublisher::send) | [`recv`](EventSubscriber::recv), [`iter`](EventSubscriber::iter) | a move, a drop of the value a lap before, and a clone for each subscriber |
//!
//! The two go together: one side may work in place and the other by value.
//!
//! # What the last lap left
//!
//! An event in the ring is used again and again, so a closure of [`publish`](EventPublisher::publish) finds what was published there `capacity` events ago. That is how
//! buffers are used again, and a trap for a closure that only adds. [`channel_with_reset`] takes a function, as `String::clear`, that runs before each
//! closure; the publisher then has a type that says so, and publishers without one have no step more. Or the closure clears first.
//!
//! # Frames for many readers
//!
//! Large buffers that many threads read are events: made once, filled in place by `publish`, read by reference by `process`. Each is filled again when the slowest
//! reader is done with it. The example `video_frames` does that. (A [`pool`](crate::pool) is for buffers that have *one* reader at a time.)
//!
//! # Why there is no lossy ring of owned values
//!
//! In a lossy ring the publisher never waits, so it writes while a reader may still read. A copied message survives that: its bytes are read through atomic words, and thrown
//! away where the stamp has changed. Of a value that owns something the reader would follow a pointer that the writer is about to free: a data race, however short. The ways
//! round that give up what the ring is for. A reference count for each reader lets a slow reader pin what the publisher wants to write next, so it must allocate another (or wait, which is
//! lossless); to swap pointers and free what nobody reads any more takes an allocation for each message, and a scheme that knows who still reads. What to use instead:
//!
//! - This ring, with subscribers that do little: they take what they need and leave the rest to a thread of their own. The publisher drops what finds no room
//!   ([`try_publish`](EventPublisher::try_publish), [`try_send`](EventPublisher::try_send)): the newest are lost then, for all.
//! - A lossy ring of what can be copied ([`broadcast::lossy`](crate::broadcast::lossy)): text as an array of bytes and its length, numbers instead of names.
//! - `Arc<T>` as the event, where a subscriber wants to keep values for long: [`recv`](EventSubscriber::recv) then clones the `Arc` alone, and the publisher allocates for each message.

#[doc(inline)]
pub use crate::broadcast::event::{
    EventPublisher, EventSubscribable, EventSubscriber, IntoIter, Iter, MpEventPublisher, Ref, Reset, TryIter,
};

use crate::broadcast::{Builder, ends_of};

/// Makes a broadcast ring of `capacity` owned events, each made by `factory`: one publisher changes them in place, any number of
/// subscribers read them by reference.
///
/// It is lossless: the publisher waits for its slowest subscriber before it changes what that one has not processed. An event keeps
/// what was in it a lap before until it is changed, so buffers in it are used again; [`channel_with_reset`] empties it first.
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

/// Makes a broadcast ring of `capacity` owned events for one publisher, whose closures find each event as `reset` left it.
///
/// As [`channel`], but `reset` runs on the event before each closure of [`publish`](EventPublisher::publish) and its kin, so nobody receives what was in it a
/// lap before. It is to empty the event and keep its memory, as `String::clear` and `Vec::clear` do. [`send`](EventPublisher::send) has no use for it. If it panics,
/// nothing is published.
///
/// # Panics
///
/// As [`channel`]. [`Builder::events_with_reset`] returns an error instead.
///
/// # Examples
///
/// ```
/// use annulus::event;
///
/// let (mut publisher, subscribable) = event::channel_with_reset(2, String::new, String::clear);
/// let mut subscriber = subscribable.subscribe();
/// for word in ["one", "two", "three"] {
///     publisher.publish(|text| text.push_str(word)).unwrap();
///     assert_eq!(subscriber.recv().unwrap(), word); // not "onethree"
/// }
/// ```
#[allow(clippy::type_complexity, reason = "a publisher and what makes subscribers")]
#[must_use]
#[track_caller]
pub fn channel_with_reset<T: Send + Sync>(
    capacity: usize,
    factory: impl FnMut() -> T,
    reset: fn(&mut T),
) -> (EventPublisher<T, fn(&mut T)>, EventSubscribable<T>) {
    ends_of("event::channel_with_reset", Builder::new(capacity).events_with_reset(factory, reset))
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

/// Makes a broadcast ring of `capacity` owned events for any number of publishers, whose closures find each event as `reset` left it.
///
/// [`mp_channel`] and [`channel_with_reset`] together. `reset` runs before the closure, on the publisher's own event.
///
/// # Panics
///
/// As [`channel`]. [`Builder::mp_events_with_reset`] returns an error instead.
///
/// # Examples
///
/// ```
/// use annulus::event;
///
/// let (mut publisher, subscribable) = event::mp_channel_with_reset(2, String::new, String::clear);
/// let mut subscriber = subscribable.subscribe();
/// for word in ["one", "two", "three", "four"] {
///     publisher.publish(|text| text.push_str(word)).unwrap();
///     assert_eq!(subscriber.recv().unwrap(), word);
/// }
/// ```
#[allow(clippy::type_complexity, reason = "a publisher and what makes subscribers")]
#[must_use]
#[track_caller]
pub fn mp_channel_with_reset<T: Send + Sync>(
    capacity: usize,
    factory: impl Fn() -> T + Send + Sync + 'static,
    reset: fn(&mut T),
) -> (MpEventPublisher<T, fn(&mut T)>, EventSubscribable<T>) {
    ends_of("event::mp_channel_with_reset", Builder::new(capacity).mp_events_with_reset(factory, reset))
}

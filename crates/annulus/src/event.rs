//! Owned events: messages of any type that stay in the ring. Publishers change them in place, and subscribers
//! read them by reference. Rings of events are always lossless.
//!
//! In place, nothing is copied, moved or allocated for a message. So an event may be a string, a vector, or a
//! large struct of which a few fields change.
//!
//! ```
//! use annulus::event;
//!
//! let (mut publisher, subscribable) = event::channel(8, String::new);
//! let mut subscriber = subscribable.subscribe();
//! publisher.publish(|text| text.push_str("hello")).unwrap();
//! assert_eq!(subscriber.process(|text| text.len()), Ok(5));
//! ```
//!
//! A value that exists already goes in whole. If `T` is `Clone`, each subscriber can receive a clone:
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
//! | in place | [`publish`](Publisher::publish) | [`process`](Subscriber::process), [`peek`](Subscriber::peek) | nothing is copied, allocated or freed |
//! | by value | [`send`](Publisher::send) | [`recv`](Subscriber::recv), [`iter`](Subscriber::iter) | the value is moved in, the value of one lap before is dropped, and each subscriber makes a clone |
//!
//! One side may work in place and the other by value.
//!
//! # What the last lap left
//!
//! The events of a ring are used again and again. So a closure of [`publish`](Publisher::publish) finds
//! the event that was published in this slot `capacity` events ago. This keeps buffers in use, but it is a
//! trap for a closure that only adds. Either the closure clears the event first, or the publisher does:
//! [`with_reset`](Publisher::with_reset) takes a function, such as `String::clear`, that runs before each
//! closure. That publisher has a type of its own, so publishers without such a function have no extra step.
//!
//! It also means that *values live on*: an event stays in its slot after all subscribers have processed it,
//! until a publisher uses the slot again, or the ring is gone. So a ring keeps the last `capacity` values,
//! also while nobody publishes. If a value holds what others wait for (an `Arc`, a file, a lock), its
//! publisher lets go of it with [`clear_processed`](Publisher::clear_processed), which gets the events
//! that all subscribers have processed: after each publication, or now and then. With many publishers there
//! is no such verb: take a small ring, or put what the value holds behind an index or a `Weak`.
//!
//! # Frames for many readers
//!
//! Large buffers that many threads read are events. Each is made once, filled in place by `publish`, and read
//! by reference by `process`. It is filled again when the slowest reader is done with it. The example
//! `video_frames` does that. (A [`pool`](crate::pool) is for buffers that have *one* reader at a time.)
//!
//! # Why there is no lossy ring of owned values
//!
//! In a lossy ring the publisher never waits, so it writes while a reader may still read. A copied message
//! survives that: its bytes are read through atomic words, and thrown away if the stamp has changed. A value
//! that owns memory does not survive it: the reader would follow a pointer that the writer is about to free,
//! which is a data race, however short. There are ways around that, and each gives up the advantage of the
//! ring:
//!
//! - With a reference count, a slow reader pins the value that the publisher wants to write next. So the
//!   publisher must allocate another value, or wait, which is lossless.
//! - Swapping pointers takes an allocation for each message, and a scheme that knows which thread still reads
//!   the old value.
//!
//! Use one of these instead:
//!
//! - **This ring, with subscribers that do little.** They take what they need, and leave the rest to another
//!   thread. The publisher drops events that find no room ([`try_publish`](Publisher::try_publish),
//!   [`try_send`](Publisher::try_send)). Then the newest events are lost, for all subscribers.
//! - **A lossy ring of copied messages** ([`broadcast::lossy`](fn@crate::broadcast::lossy)), with text as
//!   [`Text`](crate::Text), and numbers instead of names.
//! - **`Arc<T>` as the event**, if a subscriber keeps values for long. [`recv`](Subscriber::recv) then
//!   clones only the `Arc`, and the publisher allocates for each message.

#[doc(inline)]
pub use crate::broadcast::event::{MpPublisher, Publisher, Ref, Reset, Subscribable, Subscriber, TryIter};

use crate::broadcast::ends_of;
use crate::error::CapacityError;
use crate::settings::Settings;

/// Makes a broadcast ring of `capacity` owned events, each made by `factory`. One publisher changes them in
/// place, and any number of subscribers read them by reference.
///
/// The ring is lossless: the publisher does not change an event before the slowest subscriber has processed
/// it. An event keeps its content of one lap before until the publisher changes it, so its buffers are used
/// again. [`with_reset`](Publisher::with_reset) empties it first.
///
/// # Panics
///
/// If `capacity` is below 2, or memory has no room for the ring; [`with`] returns an error
/// instead. Also if `factory` panics.
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
#[doc(alias = "build_single_producer")]
#[must_use]
#[track_caller]
pub fn channel<T: Send + Sync>(
    capacity: usize,
    factory: impl FnMut() -> T,
) -> (Publisher<T>, Subscribable<T>) {
    ends_of("event::channel", with(Settings::new(capacity), factory))
}

/// Makes a broadcast ring of `capacity` owned events for any number of publishers.
///
/// Like [`channel`], but the publisher is `Clone + Send`. Each publisher has an event of its own. It changes
/// that event first and then swaps it with the one in the ring. So its closure runs before it claims a slot:
/// if the closure panics or is slow, nobody waits for it. The price is that each message moves an event
/// (`size_of::<T>()` bytes, three times). The memory that the event owns is not moved.
///
/// # Panics
///
/// Like [`channel`]. [`mp_with`] returns an error instead.
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
#[doc(alias = "build_multi_producer")]
#[must_use]
#[track_caller]
pub fn mp_channel<T: Send + Sync>(
    capacity: usize,
    factory: impl Fn() -> T + Send + Sync + 'static,
) -> (MpPublisher<T>, Subscribable<T>) {
    ends_of("event::mp_channel", mp_with(Settings::new(capacity), factory))
}

/// As [`channel`], with these settings.
///
/// # Errors
///
/// [`CapacityError`]: fewer than 2 slots, a headroom that leaves no slot for events, no memory, or a required
/// option of the memory that can't be met.
#[doc(alias = "Builder")]
#[doc(alias = "try_event_channel")]
pub fn with<T: Send + Sync>(
    settings: Settings,
    factory: impl FnMut() -> T,
) -> Result<(Publisher<T>, Subscribable<T>), CapacityError> {
    settings.events(factory)
}

/// As [`mp_channel`], with these settings.
///
/// # Errors
///
/// Those of [`with`].
#[doc(alias = "try_event_channel_mpmc")]
#[doc(alias = "mpmc_events")]
pub fn mp_with<T: Send + Sync>(
    settings: Settings,
    factory: impl Fn() -> T + Send + Sync + 'static,
) -> Result<(MpPublisher<T>, Subscribable<T>), CapacityError> {
    settings.mp_events(factory)
}

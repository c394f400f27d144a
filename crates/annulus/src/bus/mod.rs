//! Buses: broadcast rings by name. A topic is made by the first look-up of its name.
//!
//! | bus | messages | verbs |
//! | --- | --- | --- |
//! | [`Bus`] | one type for all topics | `bus.subscribe("quotes.EURUSD")` |
//! | [`TypedBus`] | each topic has a type of its own | `bus.subscribe::<Quote>("quotes.EURUSD")` |
//!
//! Each topic is a ring of its own, of the [kind](TopicRing) that was chosen when it was made: lossy or
//! lossless, with one publisher or many. The handles that a bus hands out are the ring's own, with all their
//! verbs, and cost what the ring's handles cost. Only the look-up by name goes through the bus.
//!
//! ```
//! use annulus::bus::Bus;
//!
//! let bus = Bus::<u64>::new(1024);
//! let mut publisher = bus.publisher("prices");
//! let mut subscriber = bus.subscribe("prices");
//! publisher.publish(100);
//! assert_eq!(subscriber.try_recv(), Ok(100));
//! ```
//!
//! One handle can receive from all topics whose names match a pattern: see
//! [`subscribe_matching`](Bus::subscribe_matching).
//!
//! # How long a topic lives
//!
//! | what happens | the topic | its subscribers |
//! | --- | --- | --- |
//! | its publisher is dropped | stays open, for the next `publisher` of that name | wait; the next publisher's messages come next |
//! | its publisher [closes](crate::broadcast::Publisher::close) it, or a [`Closer`](crate::Closer) does | is closed until it is removed: no `publisher`, and a new subscriber gets `Closed` | receive what was published, then `Closed` |
//! | it is [removed](Bus::remove), being closed or without handles | is gone; the next look-up makes a new one | receive what is left, then `Closed` |
//! | the last handle of the bus is dropped | is closed as soon as it has no publisher | receive what was published, then `Closed` |
//!
//! # What a look-up costs
//!
//! A look-up of a topic that is there (a *hit*) takes no lock, and never waits: not for publishers, not for
//! other look-ups, not for threads that make or remove topics. It takes a bounded number of steps, but for
//! two that it repeats if other threads were faster (one if they looked something up, the other if they
//! changed which topics there are). It takes O(log n) steps for n topics. It allocates nothing, with two
//! exceptions: a subscriber of a lossless topic, where that has more of them than ever before (the ring then
//! makes places for it and the next seven), and an error, which names the topic. A look-up that makes a topic
//! allocates the ring, and copies O(log n) nodes of the map. If two threads make the same topic at once, both
//! allocate a ring, and one of the rings is dropped.
//!
//! To make a topic takes O(p) steps more if p subscribers receive from all topics that match a pattern,
//! whether it matches or not. Such a subscriber comes and goes in O(p) steps, and takes O(n) once it is
//! there.
//!
//! Each bus hashes names with a random number of its own. Without `std` there is no such number. Then
//! strangers should not choose names: a look-up visits all names that have one hash.
//!
//! A removed topic leaves nothing behind: its name, its part of the map and its ring are freed when the last
//! look-up that runs at that time, and the last handle, are done with them. So a look-up may free memory of
//! another handle. What stays is one cell of 40 bytes for each thread that ever was in a look-up at the same
//! time as others, in groups of eight, until the bus is gone.

#[expect(clippy::module_inception, reason = "it is the bus")]
mod bus;
mod error;
mod inbox;
mod kind;
mod matching;
mod members;
mod pattern;
mod publisher;
mod topic;
mod topic_builder;
mod topics;
mod trie;
mod versions;

pub use bus::{Bus, TypedBus};
pub use error::{RemoveError, TopicError};
pub use kind::{Many, TopicKind, TopicRing};
pub use matching::MatchingSubscriber;
pub use pattern::PatternError;
pub use publisher::TopicPublisher;
pub use topic::TopicInfo;
pub use topic_builder::TopicBuilder;

#[doc(no_inline)]
pub use crate::broadcast::{Lossless, Lossy};

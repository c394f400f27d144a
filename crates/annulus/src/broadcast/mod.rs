//! Broadcast: every subscriber sees every message.
//!
//! | publishers | lossy | lossless |
//! | --- | --- | --- |
//! | one | [`lossy`](fn@lossy) | [`lossless`](fn@lossless) |
//! | many, in one order | [`mp_lossy`] | [`mp_lossless`] |
//!
//! On a *lossy* ring publishers wait for no subscriber. A subscriber that falls behind loses the oldest
//! messages. It counts them, and its verbs with `or_lag` report how many. On a *lossless* ring publishers
//! wait for the slowest subscriber, and nobody loses a message.
//!
//! These rings copy their messages, which are of any type that is a [`Message`](trait@crate::Message). Values
//! that own memory, or are large, go through a ring of [events](crate::event). Byte strings of any length go
//! through a ring of [records](bytes).
//!
//! ```
//! use annulus::broadcast;
//!
//! let (mut publisher, subscribable) = broadcast::lossless(64);
//! let mut subscriber = subscribable.subscribe();
//! publisher.publish(42).unwrap();
//! assert_eq!(subscriber.recv(), Ok(42));
//! ```

// In the order of a page: rustdoc shows the verbs of a handle in the order of these modules.
mod publisher;
mod subscriber;

mod await_subscribers;
mod batch;
pub mod bytes;
pub(crate) mod event;
#[cfg(all(feature = "std", not(annulus_loom)))]
mod ffi_view;
mod frontier;
mod group;
mod handle;
mod iter;
mod lossy_subscriber;
mod mode;
mod mp_publisher;
mod process;
mod progress;
mod receivers;
mod ring_state;
#[cfg(feature = "shm")]
mod shm_publisher;
#[cfg(feature = "shm")]
mod shm_ring;
mod slot_access;
mod stage;
mod subscribable;

// Last on each page.
#[cfg(feature = "std")]
mod placement;

// For the C library.
#[cfg(all(feature = "std", not(annulus_loom)))]
#[doc(hidden)]
pub use ffi_view::{LentPublisher, LentSubscriber};
pub use group::SubscriberGroup;
pub use iter::TryIter;
#[cfg(feature = "shm")]
pub use mode::{Awaited, Foreign};
pub use mode::{Lossless, Lossy, LossyMode, MayLose, Mode, Unstaged};
pub use mp_publisher::MpPublisher;
pub use progress::{DependencyBarrier, Upstream};
pub use publisher::Publisher;
#[cfg(feature = "shm")]
pub use shm_publisher::FellowPublisher;
#[cfg(annulus_loom)]
#[doc(hidden)]
pub use shm_ring::FellowRing;
#[cfg(all(feature = "shm", not(annulus_loom)))]
pub(crate) use shm_ring::{Across, Awaiting, FellowParts, fellow_of_another, of_another};
pub use stage::Staged;
pub use subscribable::Subscribable;
pub(crate) use subscribable::SubscribableShare;
pub use subscriber::Subscriber;

#[cfg(feature = "shm")]
use crate::base::common::Common;
use crate::base::drop_all::Contained;
use crate::base::sequence::Sequence;
use crate::error::CapacityError;
use crate::message::Message;
use crate::ring::{Copied, MIN_CAPACITY, Mirror, OwnPlace, Owned, Strided, Writers};
use crate::settings::Settings;
use crate::stats::Counters;
use handle::first_two;
#[cfg(feature = "shm")]
use ring_state::Elsewhere;
use ring_state::{RingParts, RingState};

/// A ring's two sides, before they are dressed.
type FirstHandles<S> = (handle::Handle<S, handle::Publishing>, handle::Handle<S, handle::SubscribableRole>);

impl Settings {
    /// A ring of events for one publisher.
    pub(crate) fn events<T: Send + Sync>(
        self,
        factory: impl FnMut() -> T,
    ) -> Result<(event::Publisher<T>, event::Subscribable<T>), CapacityError> {
        let mut factory = Contained::new(factory);
        let parts = self.event_parts(Writers::One, &mut *factory)?;
        let (publisher, subscribable) = self.made_of(parts);
        Ok((event::Publisher::new(publisher), event::Subscribable::new(subscribable)))
    }

    /// A ring of events for many publishers.
    pub(crate) fn mp_events<T: Send + Sync>(
        self,
        factory: impl Fn() -> T + Send + Sync + 'static,
    ) -> Result<(event::MpPublisher<T>, event::Subscribable<T>), CapacityError> {
        let factory = Contained::new(factory);
        let parts = self.event_parts(Writers::Many, &*factory)?;
        let (publisher, subscribable) = self.made_of(parts);
        let factory: alloc::sync::Arc<dyn Fn() -> T + Send + Sync> =
            alloc::sync::Arc::new(factory.into_inner());
        let publisher = event::MpPublisher::new(publisher, Contained::new(factory));
        Ok((publisher, event::Subscribable::new(subscribable)))
    }

    /// A ring whose slots `make` makes, and which other processes have, too. A lossless one, if there is a
    /// gate elsewhere.
    #[cfg(feature = "shm")]
    fn shared_with<S: Strided, const SHARES: usize>(
        self,
        elsewhere: Elsewhere,
        make: impl FnOnce(usize, Sequence) -> Result<RingParts<S>, CapacityError>,
    ) -> Result<[Common<RingState<S>>; SHARES], CapacityError> {
        if elsewhere.gate.is_some() {
            self.check_headroom()?;
        } else {
            self.without_headroom()?;
        }
        let ring = make(self.capacity, self.first_sequence()?)?;
        let counters = Counters::new(self.statistics);
        Ok(RingState::across(ring, self.headroom, elsewhere, self.strategy, counters, self.name))
    }

    /// Some slots are left for messages.
    #[inline(always)]
    fn check_headroom(&self) -> Result<(), CapacityError> {
        let Self { capacity, headroom, .. } = *self;
        // Before the headroom: of a ring that can't be, no headroom is right.
        if capacity < MIN_CAPACITY {
            return Err(CapacityError::TooSmall { capacity, minimum: MIN_CAPACITY });
        }
        if headroom >= capacity {
            return Err(CapacityError::Headroom { headroom, capacity });
        }
        Ok(())
    }

    /// The number of the first message.
    #[inline(always)]
    pub(crate) fn first_sequence(&self) -> Result<Sequence, CapacityError> {
        let (first, largest) = (self.first, Sequence::LAST_FIRST.get());
        if first > largest {
            Err(CapacityError::FirstSequence { first, largest })
        } else {
            Ok(Sequence::new(first))
        }
    }

    /// The parts of a ring of copied messages, where publishers wait for nobody.
    #[inline(always)]
    fn lossy_parts<T: Message>(&self, writers: Writers) -> Result<RingParts<Copied<T>>, CapacityError> {
        self.without_headroom()?;
        self.parts(writers)
    }

    /// The parts of a lossy ring of copied messages for many publishers, and the place of the first of them.
    #[allow(clippy::type_complexity, reason = "the parts of a ring, and a place")]
    fn claimant_parts<T: Message>(&self) -> Result<(RingParts<Copied<T>>, OwnPlace), CapacityError> {
        let parts = self.lossy_parts(Writers::Claimants)?;
        // SAFETY: the slots are of the ring, and only its handles use the claims.
        let first = unsafe { OwnPlace::first_of(parts.words(), parts.first()) };
        let claims = first.shared_claims();
        Ok((parts.mirrored(Mirror::Shares(claims)), first))
    }

    /// The parts of a ring of copied messages.
    #[inline(always)]
    fn parts<T: Message>(&self, writers: Writers) -> Result<RingParts<Copied<T>>, CapacityError> {
        let first = self.checked()?;
        let stride = Copied::<T>::stride(writers);
        let slots = Copied::new(self.capacity, stride, &self.memory, RingState::<Copied<T>>::BEFORE)?;
        Ok(RingParts::new(self.capacity, first, (writers, stride), slots))
    }

    /// The parts of a ring of events.
    fn event_parts<T>(
        &self,
        writers: Writers,
        factory: impl FnMut() -> T,
    ) -> Result<RingParts<Owned<T>>, CapacityError> {
        let first = self.checked()?;
        let slots = Owned::new(self.capacity, &self.memory, RingState::<Owned<T>>::BEFORE, factory)?;
        Ok(RingParts::new(self.capacity, first, (writers, Owned::<T>::stride(writers)), slots))
    }

    /// The number of the first message of a ring that there can be.
    #[inline(always)]
    fn checked(&self) -> Result<Sequence, CapacityError> {
        let first = self.first_sequence()?;
        self.check_headroom()?;
        Ok(first)
    }

    /// The ring of these parts. Nothing can fail here, so all is made where it is to be.
    #[inline(always)]
    fn made_of<S: Strided + Send + Sync>(self, parts: RingParts<S>) -> FirstHandles<S> {
        let counters = Counters::new(self.statistics);
        first_two(RingState::made(parts, self.headroom, self.strategy, counters, self.name))
    }
}

/// The ends of a ring, or a panic that names the constructor.
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
/// subscribers, only [stages and groups](crate::guide::limits#which-handles-allocate) allocate when they
/// join. A slot takes `size_of::<T>()` + 8 bytes, rounded up to a power of two (up to 64 bytes) or to a
/// multiple of 64 (above). A message of 256 bytes or more begins on a cache line of its own: its slot takes
/// 64 bytes and the message, rounded up to a multiple of 64.
///
/// The ring belongs to this process: see the [limits](crate::guide::limits#what-does-not-hold) on `fork()`.
/// If it is the first one, and the process has more threads, `prepare_process` says what the first sleeps
/// cost.
///
/// # Panics
///
/// If `capacity` is below 2, or memory has no room for the ring. [`lossy_with`] returns an error instead.
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
    let settings = Settings::new(capacity);
    let parts = ends_of("broadcast::lossy", settings.lossy_parts(Writers::One));
    let (publisher, subscribable) = settings.made_of(parts);
    (Publisher::new(publisher), Subscribable::new(subscribable))
}

/// Makes a lossless broadcast ring of `capacity` slots: one publisher, any number of subscribers, and nobody
/// loses a message.
///
/// The publisher waits while its slowest subscriber is `capacity` messages behind. ([`Settings::headroom`]
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
/// Like [`lossy`](fn@lossy). [`lossless_with`] returns an error instead.
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
    let settings = Settings::new(capacity);
    let parts = ends_of("broadcast::lossless", settings.parts(Writers::One));
    let (publisher, subscribable) = settings.made_of(parts);
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
/// Like [`lossy`](fn@lossy). [`mp_lossy_with`] returns an error instead.
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
    let settings = Settings::new(capacity);
    let (parts, claims) = ends_of("broadcast::mp_lossy", settings.claimant_parts());
    let (publisher, subscribable) = settings.made_of(parts);
    (MpPublisher::new(publisher, claims), Subscribable::new(subscribable))
}

/// Makes a lossless broadcast ring of `capacity` slots for any number of publishers.
///
/// Like [`lossless`](fn@lossless), but the publisher is `Clone + Send + Sync`, and all subscribers see all
/// messages in one order.
///
/// # Panics
///
/// Like [`lossy`](fn@lossy). [`mp_lossless_with`] returns an error instead.
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
/// # Ok::<(), annulus::SendError<u64>>(())
/// ```
#[doc(alias = "channel_mpmc_bounded")]
#[must_use]
#[track_caller]
pub fn mp_lossless<T: Message>(capacity: usize) -> (MpPublisher<T, Lossless>, Subscribable<T, Lossless>) {
    let settings = Settings::new(capacity);
    let parts = ends_of("broadcast::mp_lossless", settings.parts(Writers::Many));
    let (publisher, subscribable) = settings.made_of(parts);
    (MpPublisher::new(publisher, ()), Subscribable::new(subscribable))
}

/// As [`lossy`](fn@lossy), with these settings.
///
/// # Errors
///
/// [`CapacityError`]: `TooSmall` below 2 slots, `TooLarge` if memory has no room for the ring, `NoHeadroom`
/// if the settings have a headroom, `Memory` if a required option of the memory can't be met.
///
/// # Examples
///
/// ```
/// use annulus::{CapacityError, Settings, broadcast};
///
/// let (mut publisher, subscribable) = broadcast::lossy_with(Settings::new(4).statistics(true))?;
/// let mut subscriber = subscribable.subscribe();
/// publisher.publish_batch(&[1, 2, 3, 4, 5, 6]);
/// assert_eq!(subscriber.recv(), Ok(3));
/// assert_eq!(publisher.stats().counted.unwrap().lagged, 2);
///
/// let error = broadcast::lossy_with::<u64>(Settings::new(1)).unwrap_err();
/// assert_eq!(error, CapacityError::TooSmall { capacity: 1, minimum: 2 });
/// assert_eq!(error.to_string(), "capacity 1 is too small: this ring needs at least 2 slots");
/// # Ok::<(), CapacityError>(())
/// ```
#[doc(alias = "try_channel")]
#[doc(alias = "Builder")]
#[inline]
pub fn lossy_with<T: Message>(settings: Settings) -> Result<(Publisher<T>, Subscribable<T>), CapacityError> {
    let parts = settings.lossy_parts(Writers::One)?;
    let (publisher, subscribable) = settings.made_of(parts);
    Ok((Publisher::new(publisher), Subscribable::<_, Lossy>::new(subscribable)))
}

/// As [`lossless`](fn@lossless), with these settings.
///
/// # Errors
///
/// Those of [`lossy_with`], but for `NoHeadroom`; `Headroom` if the [headroom](Settings::headroom) leaves no
/// slot for messages.
#[doc(alias = "try_channel_bounded")]
#[allow(clippy::type_complexity, reason = "a publisher and what makes subscribers")]
#[inline]
pub fn lossless_with<T: Message>(
    settings: Settings,
) -> Result<(Publisher<T, Lossless>, Subscribable<T, Lossless>), CapacityError> {
    let parts = settings.parts(Writers::One)?;
    let (publisher, subscribable) = settings.made_of(parts);
    Ok((Publisher::new(publisher), Subscribable::new(subscribable)))
}

/// As [`mp_lossy`], with these settings.
///
/// # Errors
///
/// Those of [`lossy_with`].
#[doc(alias = "try_channel_mpmc")]
#[doc(alias = "mpmc")]
pub fn mp_lossy_with<T: Message>(
    settings: Settings,
) -> Result<(MpPublisher<T>, Subscribable<T>), CapacityError> {
    let (parts, claims) = settings.claimant_parts()?;
    let (publisher, subscribable) = settings.made_of(parts);
    Ok((MpPublisher::new(publisher, claims), Subscribable::new(subscribable)))
}

/// As [`mp_lossless`], with these settings.
///
/// # Errors
///
/// Those of [`lossless_with`].
#[doc(alias = "try_channel_mpmc_bounded")]
#[doc(alias = "mpmc_lossless")]
#[allow(clippy::type_complexity, reason = "a publisher and what makes subscribers")]
pub fn mp_lossless_with<T: Message>(
    settings: Settings,
) -> Result<(MpPublisher<T, Lossless>, Subscribable<T, Lossless>), CapacityError> {
    let parts = settings.parts(Writers::Many)?;
    let (publisher, subscribable) = settings.made_of(parts);
    Ok((MpPublisher::new(publisher, ()), Subscribable::new(subscribable)))
}

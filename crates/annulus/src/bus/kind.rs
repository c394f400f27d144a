//! [`Kind`]: what sort of ring a topic has, as a type, so that each topic's handles have the verbs of their
//! ring.

use core::fmt;
use core::marker::PhantomData;

use super::any_subscriber::AnySubscriber;
use super::place::Place;
use crate::broadcast::{
    Builder, Lossless, Lossy, MpPublisher, Publisher, Subscribable, Subscriber, Unstaged,
};
use crate::error::CapacityError;
use crate::message::Message;

/// The kind of ring that a topic has: [`Lossy`], [`Lossless`], [`Many<Lossy>`](Many) or `Many<Lossless>`.
///
/// | kind | ring | its [`TopicPublisher`](super::TopicPublisher) |
/// | --- | --- | --- |
/// | `Lossy` | [`broadcast::lossy`](fn@crate::broadcast::lossy) | one at a time, a [`Publisher`] |
/// | `Lossless` | [`broadcast::lossless`](fn@crate::broadcast::lossless) | one at a time, a [`Publisher`] |
/// | `Many<Lossy>` | [`broadcast::mp_lossy`](crate::broadcast::mp_lossy) | any number, each an [`MpPublisher`] |
/// | `Many<Lossless>` | [`broadcast::mp_lossless`](crate::broadcast::mp_lossless) | any number, each an [`MpPublisher`] |
///
/// There are no other kinds: the trait can't be implemented outside this crate.
#[allow(private_bounds, reason = "this is what seals it")]
pub trait Kind: MakeTopic<MadeMode = Self::Mode> {
    /// Who waits for whom in the ring.
    type Mode: Unstaged + Ring;

    /// The writing end of the ring.
    type Writer<T: Message>: Send;

    /// The writing end of which this is the place; `None` if it is taken.
    #[doc(hidden)]
    #[allow(private_interfaces, reason = "nobody outside has a place")]
    fn take<T: Message>(place: &Self::Place<T>) -> Option<Self::Writer<T>>;

    /// Gives a writing end back, that was taken from this place.
    ///
    /// # Safety
    ///
    /// It is given back for the first time.
    #[doc(hidden)]
    #[allow(private_interfaces, reason = "as above")]
    unsafe fn give_back<T: Message>(place: &Self::Place<T>, writer: Self::Writer<T>);
}

/// The kind of topics with many publishers, which share one order. `M` is [`Lossy`] or [`Lossless`].
pub struct Many<M>(PhantomData<fn() -> M>);

/// The kind of a topic's ring, as a value: see [`Kind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TopicKind {
    /// One publisher, which waits for nobody.
    Lossy,
    /// One publisher, which waits for the slowest subscriber.
    Lossless,
    /// Many publishers, which wait for no subscriber.
    MpLossy,
    /// Many publishers, which wait for the slowest subscriber.
    MpLossless,
}

impl fmt::Display for TopicKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lossy => "lossy, with one publisher",
            Self::Lossless => "lossless, with one publisher",
            Self::MpLossy => "lossy, with many publishers",
            Self::MpLossless => "lossless, with many publishers",
        })
    }
}

/// What a bus does with a kind.
pub(super) trait MakeTopic: Sized + 'static {
    type MadeMode: Ring;
    /// Where a topic keeps its publisher.
    type Place<T: Message>: Send + Sync;

    const KIND: TopicKind;

    /// A ring's publisher, in its place, and what makes subscribers.
    fn make<T: Message>(builder: Builder) -> Result<Ends<T, Self>, CapacityError>;

    /// How many publishers are out of the bus, of `publishers` that there are.
    fn publishers<T: Message>(place: &Self::Place<T>, publishers: usize) -> usize;
}

/// The two ends of a topic's ring that stay in the bus.
pub(super) struct Ends<T: Message, K: MakeTopic> {
    pub(super) place: K::Place<T>,
    pub(super) subscribable: Subscribable<T, K::MadeMode>,
}

/// What a mode makes: a lossy ring, or a lossless one.
#[allow(clippy::type_complexity, reason = "a publisher and what makes subscribers")]
pub(super) trait Ring: Unstaged {
    const ONE: TopicKind;
    const MANY: TopicKind;

    fn one<T: Message>(
        builder: Builder,
    ) -> Result<(Publisher<T, Self>, Subscribable<T, Self>), CapacityError>;

    fn many<T: Message>(
        builder: Builder,
    ) -> Result<(MpPublisher<T, Self>, Subscribable<T, Self>), CapacityError>;

    fn subscribe<T: Message>(subscribable: &Subscribable<T, Self>) -> Subscriber<T, Self>;

    fn any<T: Message>(subscriber: Subscriber<T, Self>) -> AnySubscriber<T>;
}

impl Ring for Lossy {
    const ONE: TopicKind = TopicKind::Lossy;
    const MANY: TopicKind = TopicKind::MpLossy;

    fn one<T: Message>(builder: Builder) -> Result<(Publisher<T>, Subscribable<T>), CapacityError> {
        builder.lossy()
    }

    fn many<T: Message>(builder: Builder) -> Result<(MpPublisher<T>, Subscribable<T>), CapacityError> {
        builder.mp_lossy()
    }

    fn subscribe<T: Message>(subscribable: &Subscribable<T>) -> Subscriber<T> {
        subscribable.subscribe()
    }

    fn any<T: Message>(subscriber: Subscriber<T>) -> AnySubscriber<T> {
        AnySubscriber::Lossy(subscriber)
    }
}

impl Ring for Lossless {
    const ONE: TopicKind = TopicKind::Lossless;
    const MANY: TopicKind = TopicKind::MpLossless;

    fn one<T: Message>(
        builder: Builder,
    ) -> Result<(Publisher<T, Self>, Subscribable<T, Self>), CapacityError> {
        builder.lossless()
    }

    fn many<T: Message>(
        builder: Builder,
    ) -> Result<(MpPublisher<T, Self>, Subscribable<T, Self>), CapacityError> {
        builder.mp_lossless()
    }

    fn subscribe<T: Message>(subscribable: &Subscribable<T, Self>) -> Subscriber<T, Self> {
        subscribable.subscribe()
    }

    fn any<T: Message>(subscriber: Subscriber<T, Self>) -> AnySubscriber<T> {
        AnySubscriber::Lossless(subscriber)
    }
}

impl<M: Ring> Kind for M {
    type Mode = M;
    type Writer<T: Message> = Publisher<T, M>;

    #[allow(private_interfaces, reason = "as above")]
    fn take<T: Message>(place: &Self::Place<T>) -> Option<Publisher<T, M>> {
        place.take()
    }

    #[allow(private_interfaces, reason = "as above")]
    unsafe fn give_back<T: Message>(place: &Self::Place<T>, writer: Publisher<T, M>) {
        // SAFETY: the caller's promise.
        unsafe { place.give_back(writer) };
    }
}

impl<M: Ring> Kind for Many<M> {
    type Mode = M;
    type Writer<T: Message> = MpPublisher<T, M>;

    #[allow(private_interfaces, reason = "as above")]
    fn take<T: Message>(place: &Self::Place<T>) -> Option<MpPublisher<T, M>> {
        Some(place.clone())
    }

    #[allow(private_interfaces, reason = "as above")]
    unsafe fn give_back<T: Message>(_: &Self::Place<T>, writer: MpPublisher<T, M>) {
        drop(writer);
    }
}

impl<M: Ring> MakeTopic for M {
    type MadeMode = M;
    type Place<T: Message> = Place<Publisher<T, M>>;

    const KIND: TopicKind = M::ONE;

    fn make<T: Message>(builder: Builder) -> Result<Ends<T, Self>, CapacityError> {
        let (publisher, subscribable) = M::one(builder)?;
        Ok(Ends { place: Place::new(publisher), subscribable })
    }

    fn publishers<T: Message>(place: &Self::Place<T>, _: usize) -> usize {
        usize::from(!place.is_full())
    }
}

impl<M: Ring> MakeTopic for Many<M> {
    type MadeMode = M;
    type Place<T: Message> = MpPublisher<T, M>;

    const KIND: TopicKind = M::MANY;

    fn make<T: Message>(builder: Builder) -> Result<Ends<T, Self>, CapacityError> {
        let (place, subscribable) = M::many(builder)?;
        Ok(Ends { place, subscribable })
    }

    fn publishers<T: Message>(_: &Self::Place<T>, publishers: usize) -> usize {
        // One is the topic's own.
        publishers - 1
    }
}

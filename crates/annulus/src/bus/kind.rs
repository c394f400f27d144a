//! [`TopicRing`]: what sort of ring a topic has, as a type, so that each topic's handles have the verbs of
//! their ring.

use core::fmt;
use core::marker::PhantomData;

use super::any_subscriber::AnySubscriber;
use super::take_cell::TakeCell;
use crate::broadcast::{
    Builder, Lossless, Lossy, MpPublisher, Publisher, Subscribable, Subscriber, Unstaged,
};
use crate::error::CapacityError;
use crate::message::Message;
use crate::stats::Name;
use crate::sync::seeded;

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
#[doc(alias = "Kind")]
pub trait TopicRing: MakeTopic {
    /// Who waits for whom in the ring.
    type Mode: Unstaged + Ring;

    /// The writing end of the ring.
    type Writer<T: Message>: Send;

    /// The writing end that is kept here; `None` if it is taken.
    #[doc(hidden)]
    #[allow(private_interfaces, reason = "nobody outside has such a cell")]
    fn take<T: Message>(kept: &Self::Kept<T>) -> Option<Self::Writer<T>>;

    /// Gives a writing end back, if it is one of this ring; drops it if it is not.
    ///
    /// # Safety
    ///
    /// The caller has taken one from here, and calls this for the first time since then.
    #[doc(hidden)]
    #[allow(private_interfaces, reason = "as above")]
    unsafe fn give_back<T: Message>(ends: &Ends<T, Self>, writer: Self::Writer<T>);
}

/// The kind of topics with many publishers, which share one order. `M` is [`Lossy`] or [`Lossless`].
pub struct Many<M>(PhantomData<fn() -> M>);

/// The kind of a topic's ring, as a value: see [`TopicRing`].
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
    /// How a topic keeps its publisher.
    type Kept<T: Message>: Send + Sync;

    const KIND: TopicKind;

    /// A ring's publisher, as it is kept, and what makes subscribers. It has the name of the topic, if the
    /// builder gives it no other.
    fn make<T: Message>(builder: Builder, topic: &str) -> Result<Ends<T, Self>, CapacityError>
    where
        Self: TopicRing;

    /// How many publishers are out of the bus, of `publishers` that there are.
    fn publishers<T: Message>(kept: &Self::Kept<T>, publishers: usize) -> usize;
}

/// The two ends of a topic's ring that stay in the bus.
pub(super) struct Ends<T: Message, K: TopicRing> {
    pub(super) kept: K::Kept<T>,
    pub(super) subscribable: Subscribable<T, K::Mode>,
}

/// What a mode makes: a lossy ring, or a lossless one.
#[allow(clippy::type_complexity, reason = "a publisher and what makes subscribers")]
pub(super) trait Ring: Unstaged {
    const ONE: TopicKind;
    const MANY: TopicKind;

    fn one<T: Message>(
        builder: Builder,
        name: Name,
    ) -> Result<(Publisher<T, Self>, Subscribable<T, Self>), CapacityError>;

    fn many<T: Message>(
        builder: Builder,
        name: Name,
    ) -> Result<(MpPublisher<T, Self>, Subscribable<T, Self>), CapacityError>;

    fn subscribe<T: Message>(subscribable: &Subscribable<T, Self>) -> Subscriber<T, Self>;

    fn any<T: Message>(subscriber: Subscriber<T, Self>) -> AnySubscriber<T>;
}

impl Ring for Lossy {
    const ONE: TopicKind = TopicKind::Lossy;
    const MANY: TopicKind = TopicKind::MpLossy;

    fn one<T: Message>(
        builder: Builder,
        name: Name,
    ) -> Result<(Publisher<T>, Subscribable<T>), CapacityError> {
        builder.lossy_called(name)
    }

    fn many<T: Message>(
        builder: Builder,
        name: Name,
    ) -> Result<(MpPublisher<T>, Subscribable<T>), CapacityError> {
        builder.mp_lossy_called(name)
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
        name: Name,
    ) -> Result<(Publisher<T, Self>, Subscribable<T, Self>), CapacityError> {
        builder.lossless_called(name)
    }

    fn many<T: Message>(
        builder: Builder,
        name: Name,
    ) -> Result<(MpPublisher<T, Self>, Subscribable<T, Self>), CapacityError> {
        builder.mp_lossless_called(name)
    }

    fn subscribe<T: Message>(subscribable: &Subscribable<T, Self>) -> Subscriber<T, Self> {
        subscribable.subscribe()
    }

    fn any<T: Message>(subscriber: Subscriber<T, Self>) -> AnySubscriber<T> {
        AnySubscriber::Lossless(subscriber)
    }
}

impl<M: Ring> TopicRing for M {
    type Mode = M;
    type Writer<T: Message> = Publisher<T, M>;

    #[allow(private_interfaces, reason = "as above")]
    fn take<T: Message>(kept: &Self::Kept<T>) -> Option<Publisher<T, M>> {
        kept.take()
    }

    #[allow(private_interfaces, reason = "as above")]
    unsafe fn give_back<T: Message>(ends: &Ends<T, Self>, writer: Publisher<T, M>) {
        if writer.is_of(&ends.subscribable) || seeded!("topic_takes_any_publisher") {
            // SAFETY: the caller's promise.
            unsafe { ends.kept.give_back(writer) };
        }
    }
}

impl<M: Ring> TopicRing for Many<M> {
    type Mode = M;
    type Writer<T: Message> = MpPublisher<T, M>;

    #[allow(private_interfaces, reason = "as above")]
    fn take<T: Message>(kept: &Self::Kept<T>) -> Option<MpPublisher<T, M>> {
        Some(kept.clone())
    }

    #[allow(private_interfaces, reason = "as above")]
    unsafe fn give_back<T: Message>(_: &Ends<T, Self>, writer: MpPublisher<T, M>) {
        drop(writer);
    }
}

impl<M: Ring> MakeTopic for M {
    type Kept<T: Message> = TakeCell<Publisher<T, M>>;

    const KIND: TopicKind = M::ONE;

    fn make<T: Message>(builder: Builder, topic: &str) -> Result<Ends<T, Self>, CapacityError> {
        let (publisher, subscribable) = M::one(builder, builder.name_or(topic))?;
        Ok(Ends { kept: TakeCell::new(publisher), subscribable })
    }

    fn publishers<T: Message>(kept: &Self::Kept<T>, _: usize) -> usize {
        usize::from(!kept.is_full())
    }
}

impl<M: Ring> MakeTopic for Many<M> {
    type Kept<T: Message> = MpPublisher<T, M>;

    const KIND: TopicKind = M::MANY;

    fn make<T: Message>(builder: Builder, topic: &str) -> Result<Ends<T, Self>, CapacityError> {
        let (kept, subscribable) = M::many(builder, builder.name_or(topic))?;
        Ok(Ends { kept, subscribable })
    }

    fn publishers<T: Message>(_: &Self::Kept<T>, publishers: usize) -> usize {
        // One is the topic's own.
        publishers - 1
    }
}

//! [`TopicRing`]: what sort of ring a topic has, as a type, so that each topic's handles have the verbs of
//! their ring. [`TakeCell`]: where a topic keeps its one publisher. [`AnySubscriber`]: a subscriber of a
//! topic, whichever kind the topic is of.

use core::fmt;
use core::marker::PhantomData;

use crate::Transmit;
use crate::broadcast::{self, Lossless, Lossy, MpPublisher, Publisher, Subscribable, Subscriber, Unstaged};
use crate::error::{CapacityError, LossyTryRecvError, TryRecvError};
use crate::message::Message;
use crate::settings::Settings;
use crate::stats::Stats;
use crate::sync::{AtomicBool, AtomicUsize, Ordering, UnsafeCell, ordering, seeded};
#[cfg(any(feature = "std", feature = "async"))]
use crate::wait::{EventCount, Source};

/// The kind of ring that a topic has: [`Lossy`], [`Lossless`], [`Many<Lossy>`](Many) or `Many<Lossless>`.
///
/// | kind | ring | its [`TopicPublisher`](super::TopicPublisher) |
/// | --- | --- | --- |
/// | `Lossy` | [`broadcast::lossy`](fn@crate::broadcast::lossy) | one at a time, a [`Publisher`] |
/// | `Lossless` | [`broadcast::lossless`](fn@crate::broadcast::lossless) | one at a time, a [`Publisher`] |
/// | `Many<Lossy>` | [`broadcast::mp_lossy`] | any number, each an [`MpPublisher`] |
/// | `Many<Lossless>` | [`broadcast::mp_lossless`] | any number, each an [`MpPublisher`] |
///
/// There are no other kinds: the trait can't be implemented outside this crate.
#[allow(private_interfaces, reason = "a type in a method that has no name outside seals the trait")]
#[doc(alias = "Kind")]
pub trait TopicRing: Sized + 'static {
    /// Whether publishers wait for subscribers.
    type Mode: Unstaged;

    /// What a [`TopicPublisher`](super::TopicPublisher) has in it.
    type Publisher<T: Message>: Transmit<Item = T>;

    /// How a topic keeps its writing end.
    #[doc(hidden)]
    type Kept<T: Message>: Send + Sync;

    #[doc(hidden)]
    const KIND: TopicKind;

    /// The ends of a new ring. It has the name of the topic, if the settings give it no other.
    #[doc(hidden)]
    fn make<T: Message>(settings: Settings, topic: &str) -> Result<Ends<T, Self>, CapacityError>;

    /// The writing end that is kept here; `None` if it is taken.
    #[doc(hidden)]
    fn take<T: Message>(kept: &Self::Kept<T>) -> Option<Self::Publisher<T>>;

    /// Gives a writing end back, if it is one of this ring; drops it if it is not.
    ///
    /// # Safety
    ///
    /// The caller has taken one from here, and calls this for the first time since then.
    #[doc(hidden)]
    unsafe fn give_back<T: Message>(ends: &Ends<T, Self>, writer: Self::Publisher<T>);

    /// Closes the topic.
    #[doc(hidden)]
    fn close<T: Message>(writer: &Self::Publisher<T>);

    /// How many publishers are out of the bus, of `publishers` that there are.
    #[doc(hidden)]
    fn publishers<T: Message>(kept: &Self::Kept<T>, publishers: usize) -> usize;

    #[doc(hidden)]
    fn subscribe<T: Message>(subscribable: &Subscribable<T, Self::Mode>) -> Subscriber<T, Self::Mode>;

    #[doc(hidden)]
    fn any<T: Message>(subscriber: Subscriber<T, Self::Mode>) -> AnySubscriber<T>;
}

/// The kind of topics with many publishers, which share one order. `M` is [`Lossy`] or [`Lossless`].
pub struct Many<M>(PhantomData<fn() -> M>);

/// The kind of a topic's ring, as a value: see [`TopicRing`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TopicKind {
    /// One publisher, which never waits.
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

/// The two ends of a topic's ring that stay in the bus.
pub(super) struct Ends<T: Message, K: TopicRing> {
    pub(super) kept: K::Kept<T>,
    pub(super) subscribable: Subscribable<T, K::Mode>,
    /// How many [`TopicPublisher`](super::TopicPublisher)s there are: each has a handle that receives.
    /// (Perhaps there are more publishers: one may be moved out of it, or be cloned.)
    guards: AtomicUsize,
}

impl<T: Message, K: TopicRing> Ends<T, K> {
    fn new(kept: K::Kept<T>, subscribable: Subscribable<T, K::Mode>) -> Self {
        Self { kept, subscribable, guards: AtomicUsize::new(0) }
    }

    pub(super) fn guard_comes(&self) {
        // (No model looks at it.) Relaxed: a number for an error, on which no order depends.
        if !cfg!(annulus_loom) {
            self.guards.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn guard_goes(&self) {
        // Relaxed: as above.
        if !cfg!(annulus_loom) {
            self.guards.fetch_sub(1, Ordering::Relaxed);
        }
    }

    pub(super) fn guards(&self) -> usize {
        // Relaxed: as above.
        self.guards.load(Ordering::Relaxed)
    }
}

/// The kinds of a mode: with one publisher, made by `$one`, and with many, made by `$many`.
macro_rules! kinds {
    ($($Mode:ident: $one:ident, $OneKind:ident, $many:ident, $ManyKind:ident;)*) => {$(
        #[allow(private_interfaces, reason = "as above")]
        impl TopicRing for $Mode {
            type Mode = $Mode;
            type Publisher<T: Message> = Publisher<T, $Mode>;
            type Kept<T: Message> = TakeCell<Publisher<T, $Mode>>;

            const KIND: TopicKind = TopicKind::$OneKind;

            fn make<T: Message>(settings: Settings, topic: &str) -> Result<Ends<T, Self>, CapacityError> {
                let (publisher, subscribable) = broadcast::$one(settings.or_named(topic))?;
                Ok(Ends::new(TakeCell::new(publisher), subscribable))
            }

            fn take<T: Message>(kept: &TakeCell<Publisher<T, $Mode>>) -> Option<Publisher<T, $Mode>> {
                kept.take()
            }

            unsafe fn give_back<T: Message>(ends: &Ends<T, Self>, writer: Publisher<T, $Mode>) {
                if writer.is_of(&ends.subscribable) || seeded!("topic_takes_any_publisher") {
                    // SAFETY: the caller's promise.
                    unsafe { ends.kept.give_back(writer) };
                }
            }

            fn close<T: Message>(writer: &Publisher<T, $Mode>) {
                writer.close();
            }

            fn publishers<T: Message>(kept: &TakeCell<Publisher<T, $Mode>>, _: usize) -> usize {
                usize::from(!kept.is_full())
            }

            fn subscribe<T: Message>(subscribable: &Subscribable<T, $Mode>) -> Subscriber<T, $Mode> {
                subscribable.subscribe()
            }

            fn any<T: Message>(subscriber: Subscriber<T, $Mode>) -> AnySubscriber<T> {
                AnySubscriber::$Mode(subscriber)
            }
        }

        #[allow(private_interfaces, reason = "as above")]
        impl TopicRing for Many<$Mode> {
            type Mode = $Mode;
            type Publisher<T: Message> = MpPublisher<T, $Mode>;
            type Kept<T: Message> = MpPublisher<T, $Mode>;

            const KIND: TopicKind = TopicKind::$ManyKind;

            fn make<T: Message>(settings: Settings, topic: &str) -> Result<Ends<T, Self>, CapacityError> {
                let (kept, subscribable) = broadcast::$many(settings.or_named(topic))?;
                Ok(Ends::new(kept, subscribable))
            }

            fn take<T: Message>(kept: &MpPublisher<T, $Mode>) -> Option<MpPublisher<T, $Mode>> {
                Some(kept.clone())
            }

            unsafe fn give_back<T: Message>(_: &Ends<T, Self>, writer: MpPublisher<T, $Mode>) {
                drop(writer);
            }

            fn close<T: Message>(writer: &MpPublisher<T, $Mode>) {
                writer.close();
            }

            fn publishers<T: Message>(_: &MpPublisher<T, $Mode>, publishers: usize) -> usize {
                // One is the topic's own.
                publishers - 1
            }

            fn subscribe<T: Message>(subscribable: &Subscribable<T, $Mode>) -> Subscriber<T, $Mode> {
                subscribable.subscribe()
            }

            fn any<T: Message>(subscriber: Subscriber<T, $Mode>) -> AnySubscriber<T> {
                AnySubscriber::$Mode(subscriber)
            }
        }
    )*};
}

kinds! {
    Lossy: lossy_with, Lossy, mp_lossy_with, MpLossy;
    Lossless: lossless_with, Lossless, mp_lossless_with, MpLossless;
}

/// A cell in which a topic keeps its one publisher while it is not taken: it is taken and given back.
// Public, as the associated types of a public trait have to be. It has no name outside.
pub struct TakeCell<P> {
    is_full: AtomicBool,
    /// Belongs to the thread that has set `is_full` to false, and to none while it is true.
    value: UnsafeCell<Option<P>>,
}

// SAFETY: the value goes from thread to thread, and only one thread has it at a time.
unsafe impl<P: Send> Sync for TakeCell<P> {}

impl<P> TakeCell<P> {
    /// With a value.
    pub(super) fn new(value: P) -> Self {
        Self { is_full: AtomicBool::new(true), value: UnsafeCell::new(Some(value)) }
    }

    /// Takes the value, if it is there.
    pub(super) fn take(&self) -> Option<P> {
        // Acquire: pairs with the Release in `give_back`, for all that the last owner did with the value.
        let order = ordering!(Acquire unless "topic_take_relaxed");
        let takes = self.is_full.compare_exchange(true, false, order, Ordering::Relaxed).is_ok();
        if !takes && !seeded!("topic_taken_twice") {
            return None;
        }
        // SAFETY: this thread has set `is_full` to false, so the value is its own until it is given back.
        self.value.with_mut(|value| unsafe { (*value).take() })
    }

    /// Gives the value back.
    ///
    /// # Safety
    ///
    /// The caller has taken a value here, and gives one back for the first time since then.
    pub(super) unsafe fn give_back(&self, value: P) {
        // SAFETY: the caller has taken the value, so the cell is its own.
        self.value.with_mut(|there| unsafe { *there = Some(value) });
        // Release: pairs with the Acquire in `take`.
        self.is_full.store(true, ordering!(Release unless "topic_given_relaxed"));
    }

    /// Whether the value is there.
    pub(super) fn is_full(&self) -> bool {
        // Relaxed: nothing is read by it. A thread that has learned of a take sees it.
        self.is_full.load(Ordering::Relaxed)
    }
}

/// A subscriber of a topic of either mode.
pub(super) enum AnySubscriber<T: Message> {
    Lossy(Subscriber<T>),
    Lossless(Subscriber<T, Lossless>),
}

/// The same for a subscriber of either mode.
macro_rules! either {
    ($any:expr, $subscriber:ident => $does:expr) => {
        match $any {
            Self::Lossy($subscriber) => $does,
            Self::Lossless($subscriber) => $does,
        }
    };
}

impl<T: Message> AnySubscriber<T> {
    pub(super) fn try_recv(&mut self) -> Result<T, LossyTryRecvError> {
        match self {
            Self::Lossy(subscriber) => subscriber.try_recv_or_lag(),
            Self::Lossless(subscriber) => subscriber.try_recv().map_err(TryRecvError::into),
        }
    }

    pub(super) fn total_lagged(&self) -> u64 {
        either!(self, subscriber => subscriber.total_lagged())
    }

    pub(super) fn stats(&self) -> Stats {
        either!(self, subscriber => subscriber.stats())
    }
}

/// As one waits for it, and as a worker receives from it.
#[cfg(any(feature = "std", feature = "async"))]
impl<T: Message> AnySubscriber<T> {
    /// Where it waits, in its ring.
    pub(super) fn wait_point(&self) -> &EventCount {
        either!(self, subscriber => Source::wait_point(subscriber))
    }

    /// Whether a receive would return something.
    pub(super) fn is_ready(&mut self) -> bool {
        either!(self, subscriber => subscriber.is_ready())
    }

    /// Whether the topic is closed, and everything was received.
    pub(super) fn is_at_end(&self) -> bool {
        either!(self, subscriber => subscriber.is_at_end())
    }

    /// Whether the topic is closed.
    pub(super) fn is_closed(&self) -> bool {
        either!(self, subscriber => subscriber.is_closed())
    }

    pub(super) fn has_more(&mut self) -> bool {
        either!(self, subscriber => subscriber.has_more())
    }

    /// The number behind the number of the last message that was published.
    pub(super) fn end(&self) -> u64 {
        either!(self, subscriber => subscriber.end()).get()
    }

    /// The number of the message that comes next.
    pub(super) fn cursor(&self) -> u64 {
        either!(self, subscriber => subscriber.cursor())
    }
}

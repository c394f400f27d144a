//! [`Waitable`], [`Receive`], [`ReceiveRef`] and [`Numbered`]: the receiving handles of every ring, for code
//! that takes any of them. [`Iter`]: the iterator over their messages.

use alloc::boxed::Box;
use core::fmt;
#[cfg(feature = "async")]
use core::future::Future;
use core::iter::FusedIterator;
use core::ops::ControlFlow;
#[cfg(feature = "std")]
use std::time::Duration;

#[cfg(feature = "async")]
use futures_core::FusedStream;

use crate::error::{RecvError, RecvTimeoutError, TryRecvError, if_there, in_time};
use crate::sync::AtomicU64;
use crate::wait::{EventCount, Look, Poll, Source, Until, look_now, wait_until};
#[cfg(feature = "async")]
use crate::wait::{Streaming, Waiting};

/// A receiving handle, of whichever ring: something comes at it, and one can wait for that.
///
/// These are the [subscribers](crate::broadcast::Subscriber) of broadcast rings and their
/// [groups](crate::broadcast::SubscriberGroup), the [subscribers of events](crate::event::Subscriber),
/// the [subscribers of records](crate::broadcast::bytes::Subscriber), the
/// [consumers](crate::queue::Consumer) of queues and [of bytes](crate::queue::bytes::Consumer), the
/// [receivers](crate::queue::ordered::Receiver) of ordered queues, stages among them, the
/// [subscribers of a pattern](crate::bus::MatchingSubscriber) of a bus, the
/// [receivers of one value](crate::oneshot::Receiver) and of the [newest one](crate::watch::Receiver),
/// [answers](crate::service::PendingAnswer) that are to come, and `&mut` references to all of these. There
/// are no others: the trait can't be implemented outside this crate.
#[cfg_attr(not(feature = "std"), allow(rustdoc::broken_intra_doc_links, reason = "`watch` needs `std`"))]
#[allow(private_bounds, reason = "this is what seals it")]
pub trait Waitable: Source + Send {
    /// Whether the other side is gone, or somebody closed the ring. Messages may still be left to receive:
    /// only `Closed` from a receive is the end. (A [receiver of one value](crate::oneshot::Receiver) is
    /// closed when no value is there, and none comes any more.)
    fn is_closed(&self) -> bool;
}

/// A receiving handle whose messages are received by value: each [`Waitable`] one, but of the [subscribers of
/// events](crate::event::Subscriber) only those whose events can be cloned. Of rings and queues of bytes
/// a message is a copy of a record, a `Box<[u8]>`. Of a [pattern of a bus](crate::bus::MatchingSubscriber) it
/// is a pair: the topic and the message.
///
/// So a function can take the receiver of any ring. The verbs are those that the handles have themselves,
/// which have more: some report a lag, and some take batches.
///
/// ```
/// use annulus::{Receive, broadcast, mpsc, oneshot};
///
/// /// Whatever is there now.
/// fn drain(receiver: &mut impl Receive<Item = u64>) -> Vec<u64> {
///     std::iter::from_fn(|| receiver.try_recv().ok()).collect()
/// }
///
/// let (mut publisher, subscribable) = broadcast::lossy(8);
/// let mut subscriber = subscribable.subscribe();
/// let (mut producer, mut consumer) = mpsc::channel(8);
/// let (sender, mut answer) = oneshot::channel();
/// publisher.publish_batch(&[1, 2]);
/// producer.send(3).unwrap();
/// sender.send(4).unwrap();
/// assert_eq!(drain(&mut subscriber), [1, 2]);
/// assert_eq!(drain(&mut consumer), [3]);
/// assert_eq!(drain(&mut answer), [4]);
/// ```
///
/// Where the types must be the same, take `Box<dyn Receive<Item = T>>` or `&mut dyn Receive<Item = T>`. Each
/// of them is a receiving handle, too, for [`select!`](crate::select!), a
/// [`Worker`](crate::Worker) and all others that take one. A verb of such a handle costs an indirect
/// call more.
///
/// ```
/// use annulus::{Receive, queue, spsc};
///
/// let (mut first, consumer) = spsc::channel(8);
/// let (second, receiver) = queue::ordered::channel(8);
/// let mut all: [Box<dyn Receive<Item = &str>>; 2] = [Box::new(consumer), Box::new(receiver)];
/// first.send("hello").unwrap();
/// second.send("world").unwrap();
/// let words: Vec<_> = all.iter_mut().map(|receiver| receiver.recv().unwrap()).collect();
/// assert_eq!(words, ["hello", "world"]);
/// ```
///
/// *Lag.* All verbs count what a lossy subscriber loses, and go on, as its own plain verbs do.
///
/// *Stages.* Each verb begins a receive, so what the stage received before counts as processed.
///
/// *Groups.* The verbs of a [`SubscriberGroup`](crate::broadcast::SubscriberGroup) that wait panic if no
/// member is aligned, as its own do.
#[cfg_attr(not(feature = "std"), allow(rustdoc::broken_intra_doc_links, reason = "selects need `std`"))]
#[doc(alias = "Receiver")]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot receive messages by value",
    label = "not a receiving handle, or its messages can only be borrowed",
    note = "subscribers, consumers and receivers can, and subscribers of events that are `Clone`"
)]
#[allow(private_bounds, reason = "this is what seals it")]
pub trait Receive: Waitable {
    /// What comes.
    type Item;

    /// Receives like `recv`, if something is there.
    #[doc(hidden)]
    fn poll_recv(&mut self) -> Look<Result<Self::Item, RecvError>>;

    /// As [`poll_recv`](Self::poll_recv), for a caller that works on what it returns in the place of a user.
    /// In a stage, that is in hand until the next call of this or of [`is_ready`](Source::is_ready), and not
    /// processed before, whatever `recv` counts as processed.
    // Decision 0031: processed is not received.
    #[cfg_attr(
        not(feature = "std"),
        allow(dead_code, reason = "only threads receive in the place of others")
    )]
    #[doc(hidden)]
    #[inline(always)]
    fn poll_in_hand(&mut self) -> Look<Result<Self::Item, RecvError>> {
        self.poll_recv()
    }

    /// Receives, or waits to. `None` once the time has passed.
    #[doc(hidden)]
    fn recv_late(&mut self, until: Until) -> Option<Result<Self::Item, RecvError>> {
        let strategy = until.strategy_or(|| self.strategy());
        wait_until(&mut Next(self), strategy, until.deadline())
    }

    /// Receives the next message. Waits for it with the [`WaitStrategy`](crate::WaitStrategy) of the handle.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the ring is closed and nothing is left.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::Receive;
    ///
    /// fn sum(receiver: &mut impl Receive<Item = u64>) -> u64 {
    ///     let mut sum = 0;
    ///     while let Ok(number) = receiver.recv() {
    ///         sum += number;
    ///     }
    ///     sum
    /// }
    ///
    /// let (mut producer, mut consumer) = annulus::spsc::channel(8);
    /// producer.send_batch(&[1, 2, 3]).unwrap();
    /// drop(producer);
    /// assert_eq!(sum(&mut consumer), 6);
    /// ```
    #[inline]
    fn recv(&mut self) -> Result<Self::Item, RecvError> {
        match self.poll_recv() {
            Look::Found(found) => found,
            // (A wait without a deadline finds something.)
            Look::Nothing | Look::Again => self.recv_late(Until::FOREVER).unwrap_or(Err(RecvError::CLOSED)),
        }
    }

    /// Receives the next message if it is there. Never waits. After a lag it goes on with the oldest message
    /// that is still in the ring. (If publishers are so fast that they lap the subscriber at each of a
    /// thousand looks, it returns `Empty`.)
    ///
    /// # Errors
    ///
    /// [`Empty`](TryRecvError::Empty): nothing is there. [`Closed`](TryRecvError::Closed): the ring is closed
    /// and nothing is left.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::{Receive, TryRecvError};
    ///
    /// fn poll(receiver: &mut impl Receive<Item = u64>) -> Option<u64> {
    ///     receiver.try_recv().ok()
    /// }
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(2);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish_batch(&[1, 2, 3]);
    /// assert_eq!([(); 3].map(|()| poll(&mut subscriber)), [Some(2), Some(3), None]);
    /// assert_eq!(subscriber.total_lagged(), 1);
    /// ```
    #[inline]
    fn try_recv(&mut self) -> Result<Self::Item, TryRecvError> {
        if_there(look_now(|| self.poll_recv()))
    }

    /// As [`recv`](Self::recv), but gives up after `timeout` on the monotonic clock. A timeout that is too
    /// long for the clock means no timeout. A timeout of zero still receives a message that is there.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time. [`Closed`](RecvTimeoutError::Closed): as
    /// [`recv`](Self::recv).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::{Receive, RecvTimeoutError};
    /// use std::time::Duration;
    ///
    /// fn soon<T>(receiver: &mut impl Receive<Item = T>) -> Result<T, RecvTimeoutError> {
    ///     receiver.recv_timeout(Duration::from_millis(1))
    /// }
    ///
    /// let (producer, mut consumer) = annulus::mpsc::channel::<u64>(8);
    /// assert_eq!(soon(&mut consumer), Err(RecvTimeoutError::Timeout));
    /// # drop(producer);
    /// ```
    #[cfg(feature = "std")]
    fn recv_timeout(&mut self, timeout: Duration) -> Result<Self::Item, RecvTimeoutError> {
        in_time(self.recv_late(timeout.into()))
    }

    /// As [`recv`](Self::recv), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time. [`Closed`](RecvTimeoutError::Closed): as
    /// [`recv`](Self::recv).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::{Receive, RecvTimeoutError, WaitStrategy};
    ///
    /// fn spins<T>(receiver: &mut impl Receive<Item = T>) -> Result<T, RecvTimeoutError> {
    ///     receiver.recv_until(WaitStrategy::BusySpin)
    /// }
    ///
    /// let (sender, mut receiver) = annulus::oneshot::channel();
    /// sender.send(7).unwrap();
    /// assert_eq!(spins(&mut receiver), Ok(7));
    /// ```
    fn recv_until(&mut self, until: impl Into<Until>) -> Result<Self::Item, RecvTimeoutError>
    where
        Self: Sized,
    {
        in_time(self.recv_late(until.into()))
    }

    /// An iterator that waits for each message like [`recv`](Self::recv), and ends when the ring is closed
    /// and nothing is left.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::Receive;
    ///
    /// fn sum(receiver: &mut impl Receive<Item = u64>) -> u64 {
    ///     receiver.iter().sum()
    /// }
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless(8);
    /// let mut group = subscribable.subscribe_group::<2>();
    /// publisher.publish_batch(&[1, 2, 3]).unwrap();
    /// drop(publisher);
    /// assert_eq!(sum(&mut group), 6);
    /// ```
    fn iter(&mut self) -> Iter<&mut Self>
    where
        Self: Sized,
    {
        Iter::of(self)
    }

    /// Receives the next message, like [`recv`](Self::recv), in a task: the task waits, not its thread.
    ///
    /// *Cancel safety*: a future that is dropped has received nothing, and loses nothing.
    ///
    /// # Errors
    ///
    /// As [`recv`](Self::recv).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::Receive;
    ///
    /// async fn sum(receiver: &mut impl Receive<Item = u64>) -> u64 {
    ///     let mut sum = 0;
    ///     while let Ok(number) = receiver.recv_async().await {
    ///         sum += number;
    ///     }
    ///     sum
    /// }
    ///
    /// let (mut producer, consumer) = annulus::spsc::channel(8);
    /// producer.send_batch(&[1, 2, 3]).unwrap();
    /// drop(producer);
    /// let mut boxed: Box<dyn Receive<Item = u64>> = Box::new(consumer);
    /// assert_eq!(pollster::block_on(sum(&mut boxed)), 6);
    /// ```
    #[cfg(feature = "async")]
    fn recv_async(&mut self) -> impl Future<Output = Result<Self::Item, RecvError>> + Send + Unpin
    where
        Self: Sized,
    {
        Waiting::next_of(self)
    }

    /// A stream of the messages. It ends when the ring is closed and nothing is left, not on a lag, and not
    /// while there is no message. Once it has ended, it stays so.
    ///
    /// *Cancel safety*: a stream that is dropped has received no message that it did not return.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::Receive;
    /// use futures_util::StreamExt;
    ///
    /// let (sender, receiver) = annulus::queue::ordered::channel(8);
    /// sender.send_batch(&[1, 2, 3]).unwrap();
    /// drop(sender);
    /// let mut boxed: Box<dyn Receive<Item = u64>> = Box::new(receiver);
    /// assert_eq!(pollster::block_on(boxed.stream().collect::<Vec<_>>()), [1, 2, 3]);
    /// ```
    #[cfg(feature = "async")]
    fn stream(&mut self) -> impl FusedStream<Item = Self::Item> + Send + Unpin
    where
        Self: Sized,
    {
        Streaming::messages_of(self)
    }
}

/// A receiving handle whose messages are read by reference: the [subscribers of
/// events](crate::event::Subscriber). Their events need not be cloned.
///
/// ```
/// use annulus::ReceiveRef;
///
/// struct Frame; // can't be cloned
///
/// fn shows_frames(_: &impl ReceiveRef<Item = Frame>) {}
///
/// let (_publisher, subscribable) = annulus::event::channel(8, || Frame);
/// shows_frames(&subscribable.subscribe());
/// ```
pub trait ReceiveRef: Numbered {
    /// What is in the ring.
    type Item;

    /// Hands up to `most` messages that are there to `look`, one after the other, until it breaks that off,
    /// each with its number. The flag is true for the last one of those that were there.
    #[doc(hidden)]
    fn lend(
        &mut self,
        most: usize,
        look: impl FnMut(&Self::Item, u64, bool) -> ControlFlow<()>,
    ) -> Look<Result<(), RecvError>>;
}

/// A receiving handle of a ring that numbers its messages: the handles of broadcast rings, of events and of
/// records. (Queues have an order for each producer, and no numbers.)
///
/// [`Worker`](crate::Worker)s tell their handlers the number of such a message:
/// [`spawn_numbered`](crate::worker::Builder::spawn_numbered).
#[diagnostic::on_unimplemented(
    message = "the messages of `{Self}` have no sequence numbers",
    label = "not of a broadcast ring",
    note = "subscribers of broadcast rings have them; count those of a queue in the handler's context"
)]
#[cfg_attr(not(feature = "std"), allow(rustdoc::broken_intra_doc_links, reason = "workers need `std`"))]
pub trait Numbered: Waitable {
    /// The number after the last message that was received.
    #[doc(hidden)]
    fn next_sequence(&self) -> u64;
}

/// Of handles that are borrowed, or in a box.
macro_rules! by_pointer {
    ($($Pointer:ty),*) => {$(
        impl<S: Waitable + ?Sized> Waitable for $Pointer {
            fn is_closed(&self) -> bool {
                (**self).is_closed()
            }
        }

        impl<S: Numbered + ?Sized> Numbered for $Pointer {
            fn next_sequence(&self) -> u64 {
                (**self).next_sequence()
            }
        }

        impl<S: Receive + ?Sized> Receive for $Pointer {
            type Item = S::Item;

            #[inline(always)]
            fn poll_recv(&mut self) -> Look<Result<S::Item, RecvError>> {
                (**self).poll_recv()
            }

            #[inline(always)]
            fn poll_in_hand(&mut self) -> Look<Result<S::Item, RecvError>> {
                (**self).poll_in_hand()
            }

            fn recv_late(&mut self, until: Until) -> Option<Result<S::Item, RecvError>> {
                (**self).recv_late(until)
            }

            #[inline]
            fn recv(&mut self) -> Result<S::Item, RecvError> {
                (**self).recv()
            }

            #[inline]
            fn try_recv(&mut self) -> Result<S::Item, TryRecvError> {
                (**self).try_recv()
            }
        }
    )*};
}
by_pointer!(&mut S, Box<S>);

impl<S: ReceiveRef> ReceiveRef for &mut S {
    type Item = S::Item;

    fn lend(
        &mut self,
        most: usize,
        look: impl FnMut(&S::Item, u64, bool) -> ControlFlow<()>,
    ) -> Look<Result<(), RecvError>> {
        (**self).lend(most, look)
    }
}

/// An iterator over the messages of a receiving handle, owned or borrowed. It waits for each message like
/// [`recv`](Receive::recv), and ends when the ring is closed and nothing is left. It does not end on a lag,
/// or while there is no message.
///
/// Made by `iter` and `into_iter` of the handles, and by [`Receive::iter`]: `for message in &mut receiver`
/// and `for message in receiver` wait for each message, whichever handle it is. (An iterator over what is
/// there now ends in another way at each ring, and so has a type of its own there, such as
/// [`broadcast::TryIter`](crate::broadcast::TryIter).)
///
/// ```
/// use annulus::{Iter, spsc};
///
/// let (mut producer, consumer) = spsc::channel(4);
/// producer.send_batch(&[1, 2, 3]).unwrap();
/// drop(producer);
/// let messages: Iter<spsc::Consumer<i32>> = consumer.into_iter();
/// assert_eq!(messages.sum::<i32>(), 6);
/// ```
#[doc(alias = "IntoIter")]
#[must_use = "an iterator does nothing until it is asked"]
pub struct Iter<R> {
    receiver: R,
}

impl<R: Receive> Iter<R> {
    pub(crate) fn of(receiver: R) -> Self {
        Self { receiver }
    }
}

impl<R: Receive> Iterator for Iter<R> {
    type Item = R::Item;

    #[inline]
    fn next(&mut self) -> Option<R::Item> {
        self.receiver.recv().ok()
    }
}

/// The end stays.
impl<R: Receive> FusedIterator for Iter<R> {}

impl<R: fmt::Debug> fmt::Debug for Iter<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Iter").field(&self.receiver).finish()
    }
}

/// Writes `IntoIterator` for receiving handles, by value and by `&mut`.
macro_rules! iterates {
    ($([$($generics:tt)*] $Handle:ty;)*) => {$(
        /// The messages, each of which it waits for, until the end.
        impl<$($generics)*> IntoIterator for $Handle {
            type Item = <Self as $crate::Receive>::Item;
            type IntoIter = $crate::Iter<Self>;

            fn into_iter(self) -> Self::IntoIter {
                $crate::Iter::of(self)
            }
        }

        /// The messages, each of which it waits for, until the end.
        #[allow(clippy::into_iter_without_iter, reason = "`iter` takes `&mut self`: there is no other")]
        impl<'r, $($generics)*> IntoIterator for &'r mut $Handle {
            type Item = <Self as $crate::Receive>::Item;
            type IntoIter = $crate::Iter<Self>;

            fn into_iter(self) -> Self::IntoIter {
                $crate::Iter::of(self)
            }
        }
    )*};
}
pub(crate) use iterates;

/// The next message of a handle, which is borrowed or owned.
pub(crate) struct Next<S>(pub(crate) S);

impl<S: Receive> Poll for Next<S> {
    type Found = Result<S::Item, RecvError>;

    fn wait_point(&self) -> &EventCount {
        self.0.wait_point()
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        self.0.watched()
    }

    #[inline(always)]
    fn poll(&mut self) -> Look<Self::Found> {
        self.0.poll_recv()
    }
}

#[cfg(feature = "async")]
impl<S: Receive> Waiting<Next<S>> {
    /// The next message of `source`, which is borrowed or owned.
    pub(crate) fn next_of(source: S) -> Self {
        // SAFETY: that is what a `Source` promises.
        unsafe { Self::new(Next(source)) }
    }
}

#[cfg(feature = "async")]
impl<S: Receive> Streaming<Next<S>> {
    /// The messages of `source`, which is borrowed or owned.
    pub(crate) fn messages_of(source: S) -> Self {
        // SAFETY: that is what a `Source` promises.
        unsafe { Self::new(Next(source)) }
    }
}

//! [`Transmit`]: the sending handles of every ring, for code that takes any of them.

#[cfg(any(feature = "std", feature = "async"))]
pub(crate) mod room;

#[cfg(feature = "std")]
pub use room::WaitsForRoom;

use alloc::boxed::Box;
#[cfg(feature = "async")]
use core::future::Future;
#[cfg(feature = "async")]
use core::pin::Pin;
#[cfg(feature = "std")]
use std::time::Duration;

use crate::error::{GiveBack, Refusal, SendError, SendTimeoutError, TrySendError};
use crate::wait::Until;

/// A send in a task.
#[cfg(feature = "async")]
pub(crate) type PutInTask<'p, T> = Pin<Box<dyn Future<Output = Result<(), SendError<T>>> + Send + 'p>>;

/// A sending handle, of whichever ring: the [producers](crate::queue::Producer) of queues, the
/// [senders](crate::queue::ordered::Sender) of ordered queues, the publishers of broadcast rings
/// ([one](crate::broadcast::Publisher), [many](crate::broadcast::MpPublisher)), the publishers of topics and
/// of events ([one](crate::event::Publisher), [many](crate::event::MpPublisher)), and the
/// [input](crate::pipeline::Input) of a pipeline; `&mut` references to all of these, and boxes. Of senders
/// and of lossless `MpPublisher`s, whose verbs take `&self`, a reference is one, too. There are no others:
/// the trait can't be implemented outside this crate. (The [sender](crate::oneshot::Sender) of one value is
/// used up by its `send`. What writes bytes into a ring borrows them.)
///
/// So a function can send into any ring. The verbs are those that the handles have themselves, under one
/// name:
///
/// ```
/// use annulus::{SendError, Transmit, broadcast, mpsc};
///
/// fn count(sender: &mut impl Transmit<Item = u64>) -> Result<(), SendError<u64>> {
///     (1..=3).try_for_each(|number| sender.send(number))
/// }
///
/// let (mut publisher, subscribable) = broadcast::lossless(8);
/// let mut subscriber = subscribable.subscribe();
/// let (mut producer, mut consumer) = mpsc::channel(8);
/// count(&mut publisher)?;
/// count(&mut producer)?;
/// assert_eq!(subscriber.try_iter().sum::<u64>(), 6);
/// assert_eq!(consumer.try_iter().sum::<u64>(), 6);
/// # Ok::<(), SendError<u64>>(())
/// ```
///
/// Where the types must be the same, take `Box<dyn Transmit<Item = T>>` or `&mut dyn Transmit<Item = T>`. A
/// verb of such a handle costs an indirect call more, and `send_async` allocates.
///
/// ```
/// use annulus::{Transmit, queue, spsc};
///
/// let (producer, mut consumer) = spsc::channel(8);
/// let (sender, receiver) = queue::ordered::channel(8);
/// let mut all: [Box<dyn Transmit<Item = &str>>; 2] = [Box::new(producer), Box::new(sender)];
/// all.iter_mut().for_each(|sender| sender.send("hello").unwrap());
/// assert_eq!((consumer.recv(), receiver.recv()), (Ok("hello"), Ok("hello")));
/// ```
///
/// *Lossy rings.* Their publishers wait for nobody, and there is always room. (Of many publishers, one passes
/// over a slot that another is still writing. Readers learn how many messages are lost by that.) On a closed
/// ring they give the message back, where their own `publish` drops it.
#[doc(alias = "Sender")]
#[doc(alias = "SendTo")]
#[doc(alias = "Sink")]
#[doc(alias = "Publish")]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot send messages by value",
    label = "not a sending handle that can be used again",
    note = "producers, senders and publishers can; the sender of one value is used up by its `send`"
)]
pub trait Transmit: Send {
    /// What is sent.
    type Item: Send;

    /// Sends, if there is room. Gives the value back if not.
    #[doc(hidden)]
    fn put_now(&mut self, value: Self::Item) -> Result<(), (Refusal, Self::Item)>;

    /// Sends, or waits for room. [`Refusal::Full`] once the time has passed.
    #[doc(hidden)]
    fn put_late(&mut self, value: Self::Item, until: Until) -> Result<(), (Refusal, Self::Item)>;

    /// What [`send_async`](Self::send_async) is, for a caller that does not know the type.
    #[cfg(feature = "async")]
    #[doc(hidden)]
    fn put_in_task(&mut self, value: Self::Item) -> PutInTask<'_, Self::Item>;

    /// Whether every send fails from now on: nobody is left to receive, or somebody closed the ring. (A lossy
    /// ring without subscribers is not closed.)
    fn is_closed(&self) -> bool;

    /// Sends `value`. Waits with the [`WaitStrategy`](crate::WaitStrategy) of the ring while the ring is
    /// full.
    ///
    /// # Errors
    ///
    /// [`SendError`] gives the value back: nobody is left to receive it, or somebody closed the ring, also
    /// while this call waited.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::Transmit;
    ///
    /// fn last_words(mut sender: impl Transmit<Item = String>) -> bool {
    ///     sender.send("goodbye".into()).is_ok()
    /// }
    ///
    /// let (producer, consumer) = annulus::spsc::channel(1);
    /// drop(consumer);
    /// assert!(!last_words(producer));
    /// ```
    #[inline]
    fn send(&mut self, value: Self::Item) -> Result<(), SendError<Self::Item>> {
        match self.put_now(value) {
            Ok(()) => Ok(()),
            Err((Refusal::Closed, value)) => Err(SendError(value)),
            Err((Refusal::Full, value)) => give_back(self.put_late(value, Until::FOREVER)),
        }
    }

    /// Sends `value` if there is room. Never waits.
    ///
    /// # Errors
    ///
    /// [`Full`](TrySendError::Full): there is no room. [`Closed`](TrySendError::Closed): as
    /// [`send`](Self::send). Both give the value back.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::{Transmit, TrySendError};
    ///
    /// fn fill(sender: &mut impl Transmit<Item = u64>) -> u64 {
    ///     (0..).find(|&number| sender.try_send(number).is_err()).unwrap()
    /// }
    ///
    /// let (mut producer, consumer) = annulus::mpsc::channel(4);
    /// assert_eq!(fill(&mut producer), 4);
    /// # drop(consumer);
    /// ```
    #[inline]
    fn try_send(&mut self, value: Self::Item) -> Result<(), TrySendError<Self::Item>> {
        give_back(self.put_now(value))
    }

    /// As [`send`](Self::send), but gives up after `timeout` on the monotonic clock. A timeout that is too
    /// long for the clock means no timeout. A timeout of zero still sends if there is room.
    ///
    /// # Errors
    ///
    /// [`Timeout`](SendTimeoutError::Timeout): no room came in time. [`Closed`](SendTimeoutError::Closed): as
    /// [`send`](Self::send). Both give the value back.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::{SendTimeoutError, Transmit};
    /// use std::time::Duration;
    ///
    /// fn soon(sender: &mut impl Transmit<Item = u64>) -> Result<(), SendTimeoutError<u64>> {
    ///     sender.send_timeout(7, Duration::from_millis(1))
    /// }
    ///
    /// let (mut producer, consumer) = annulus::spsc::channel(1);
    /// assert_eq!(soon(&mut producer), Ok(()));
    /// assert_eq!(soon(&mut producer), Err(SendTimeoutError::Timeout(7)));
    /// # drop(consumer);
    /// ```
    #[cfg(feature = "std")]
    fn send_timeout(
        &mut self,
        value: Self::Item,
        timeout: Duration,
    ) -> Result<(), SendTimeoutError<Self::Item>> {
        give_back(self.put_late(value, timeout.into()))
    }

    /// As [`send`](Self::send), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// [`Timeout`](SendTimeoutError::Timeout): no room came in time. [`Closed`](SendTimeoutError::Closed): as
    /// [`send`](Self::send). Both give the value back.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::{Transmit, WaitStrategy};
    ///
    /// fn hurry(sender: &mut impl Transmit<Item = u64>) {
    ///     sender.send_until(7, WaitStrategy::BusySpin).unwrap();
    /// }
    ///
    /// let (mut producer, mut consumer) = annulus::spsc::channel(1);
    /// hurry(&mut producer);
    /// assert_eq!(consumer.recv(), Ok(7));
    /// ```
    fn send_until(
        &mut self,
        value: Self::Item,
        until: impl Into<Until>,
    ) -> Result<(), SendTimeoutError<Self::Item>>
    where
        Self: Sized,
    {
        give_back(self.put_late(value, until.into()))
    }

    /// Sends `value`, like [`send`](Self::send), in a task: while the ring is full, the task waits, not its
    /// thread.
    ///
    /// *Cancel safety*: a future that is dropped before it has returned `Ok` has sent nothing. The value is
    /// dropped with it.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::Transmit;
    ///
    /// async fn count(sender: &mut impl Transmit<Item = u64>) {
    ///     for number in 1..=100 {
    ///         sender.send_async(number).await.unwrap(); // waits for the reader
    ///     }
    /// }
    ///
    /// let (mut producer, consumer) = annulus::spsc::channel(2);
    /// let reader = std::thread::spawn(move || consumer.into_iter().sum::<u64>());
    /// pollster::block_on(count(&mut producer));
    /// drop(producer);
    /// assert_eq!(reader.join().unwrap(), 5050);
    /// ```
    #[cfg(feature = "async")]
    fn send_async(
        &mut self,
        value: Self::Item,
    ) -> impl Future<Output = Result<(), SendError<Self::Item>>> + Send
    where
        Self: Sized;
}

/// The error of a verb.
#[inline(always)]
fn give_back<T, E: GiveBack<T>>(put: Result<(), (Refusal, T)>) -> Result<(), E> {
    put.map_err(|(refusal, value)| E::of(refusal, value))
}

/// Writes the trait for handles. `now` and `late` are what `Put` says, and `task` is the future of an own
/// verb whose error has the value.
macro_rules! transmits {
    ($(
        [$($generics:tt)*] $Handle:ty: $T:ty $(, where [$($bounds:tt)*])?;
        |$handle:ident, $value:ident| now: $now:expr,
        |$until:ident| late: $late:expr,
        closed: $closed:expr,
        task: $task:expr $(,)?
    )*) => {$(
        impl<$($generics)*> $crate::Transmit for $Handle $(where $($bounds)*)? {
            type Item = $T;

            #[inline]
            fn put_now(&mut self, $value: $T) -> Result<(), ($crate::error::Refusal, $T)> {
                let $handle = self;
                $now
            }

            fn put_late(
                &mut self,
                $value: $T,
                $until: $crate::Until,
            ) -> Result<(), ($crate::error::Refusal, $T)> {
                let $handle = self;
                $late
            }

            #[cfg(feature = "async")]
            fn put_in_task(&mut self, value: $T) -> $crate::transmit::PutInTask<'_, $T> {
                alloc::boxed::Box::pin($crate::Transmit::send_async(self, value))
            }

            fn is_closed(&self) -> bool {
                let $handle = self;
                $closed
            }

            #[cfg(feature = "async")]
            fn send_async(
                &mut self,
                $value: $T,
            ) -> impl core::future::Future<Output = Result<(), $crate::SendError<$T>>> + Send {
                let $handle = self;
                async move { $task.await.map_err(|error| $crate::SendError(error.into_inner())) }
            }
        }
    )*};
}
pub(crate) use transmits;

/// Of handles that are borrowed, or in a box.
macro_rules! by_pointer {
    ($($Pointer:ty),*) => {$(
        impl<S: Transmit + ?Sized> Transmit for $Pointer {
            type Item = S::Item;

            #[inline]
            fn put_now(&mut self, value: S::Item) -> Result<(), (Refusal, S::Item)> {
                (**self).put_now(value)
            }

            fn put_late(&mut self, value: S::Item, until: Until) -> Result<(), (Refusal, S::Item)> {
                (**self).put_late(value, until)
            }

            #[cfg(feature = "async")]
            fn put_in_task(&mut self, value: S::Item) -> PutInTask<'_, S::Item> {
                (**self).put_in_task(value)
            }

            fn is_closed(&self) -> bool {
                (**self).is_closed()
            }

            #[cfg(feature = "async")]
            fn send_async(
                &mut self,
                value: S::Item,
            ) -> impl Future<Output = Result<(), SendError<S::Item>>> + Send {
                (**self).put_in_task(value)
            }
        }
    )*};
}
by_pointer!(&mut S, Box<S>);

/// A batch that goes out part by part: the loop of all verbs that send or publish a slice.
///
/// Hands all of `values` to `send`, which sends as many as it can, from the first on, and returns how many.
/// It is called with the rest until nothing is left, also where it returned 0. If it refuses, this returns
/// what is left and why.
#[inline]
pub(crate) fn in_parts<'v, T>(
    values: &'v [T],
    mut send: impl FnMut(&'v [T]) -> Result<usize, Refusal>,
) -> Result<(), (&'v [T], Refusal)> {
    let mut rest = values;
    while !rest.is_empty() {
        match send(rest) {
            Ok(sent) => rest = &rest[sent..],
            Err(refusal) => return Err((rest, refusal)),
        }
    }
    Ok(())
}

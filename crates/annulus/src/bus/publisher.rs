//! [`TopicPublisher`]: the publisher of a topic, which goes back to the bus.

use alloc::sync::Arc;
use core::fmt;
use core::mem::ManuallyDrop;

use super::kind::{Ends, Many, TopicRing};
use super::topic::Topic;
use crate::broadcast::{Lossless, Lossy, Subscribable};
use crate::error::{SendError, TrySendError};
use crate::message::Message;
use crate::transmit::transmits;
use crate::{Closer, Transmit};

/// A publisher of a topic of a [`Bus`](super::Bus) or a [`TypedBus`](super::TypedBus). It has the verbs that
/// most programs need, and those of [`Transmit`]. All others, `select!` included, are those of the
/// [`Publisher`](crate::broadcast::Publisher) or the [`MpPublisher`](crate::broadcast::MpPublisher) in it:
/// see [`publisher_mut`](Self::publisher_mut). The [kind](TopicRing) of the topic decides which one it is.
///
/// A topic with one publisher has one of these at a time. When it is dropped (also by a panic of its thread),
/// the topic stays open, and the publisher goes back to the bus. The next
/// [`publisher`](super::Bus::publisher) of that topic continues with the next message, and subscribers notice
/// nothing. A topic with many publishers has any number of these, which can be cloned. Such a topic stays
/// open without any of them, too. Once the bus is gone, the last drop closes the topic.
///
/// [`close`](Self::close) ends the topic. [`Bus::remove`](super::Bus::remove) then makes room for a new topic
/// of that name.
///
/// If it is forgotten ([`mem::forget`](core::mem::forget)), the topic stays in use until it is closed.
///
/// ```
/// let bus = annulus::bus::Bus::<u64>::new(64);
/// let mut subscriber = bus.subscribe("prices");
/// let mut publisher = bus.publisher("prices");
/// publisher.publish(1);
/// drop(publisher);
/// bus.publisher("prices").publish(2);
/// assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [1, 2]);
/// ```
pub struct TopicPublisher<T: Message, K: TopicRing = Lossy> {
    /// Taken from the topic, until the drop.
    writer: ManuallyDrop<K::Publisher<T>>,
    topic: Arc<Topic>,
    /// Counts as a handle of the topic. Dropped last.
    holds: Subscribable<T, K::Mode>,
}

impl<T: Message, K: TopicRing> TopicPublisher<T, K> {
    /// What is there to take from the ends of `topic`.
    pub(super) fn take(ends: &Ends<T, K>, topic: &Arc<Topic>) -> Option<Self> {
        // First the count, then the publisher: see `topic.rs`.
        let holds = ends.subscribable.clone();
        let writer = ManuallyDrop::new(K::take(&ends.kept)?);
        ends.guard_comes();
        Some(Self { writer, topic: Arc::clone(topic), holds })
    }

    /// The topic's name.
    #[must_use]
    pub fn topic(&self) -> &str {
        self.topic.name()
    }

    /// The publisher of the topic's ring, with all that it says of the ring.
    ///
    /// ```
    /// let bus = annulus::bus::Bus::<u64>::new(64);
    /// let mut prices = bus.publisher("prices");
    /// prices.publish(1);
    /// assert_eq!((prices.publisher().published(), prices.publisher().capacity()), (1, 64));
    /// ```
    #[inline]
    #[must_use]
    pub fn publisher(&self) -> &K::Publisher<T> {
        &self.writer
    }

    /// The publisher of the topic's ring, with all its verbs.
    ///
    /// A publisher that is moved out of here (by [`mem::replace`](core::mem::replace), or as a clone of an
    /// `MpPublisher`) does not count as a handle of the topic. The bus takes back no publisher of another
    /// ring: one that was moved in is dropped with this handle, which closes its own ring if it was the last
    /// one there. So where the publishers of two topics are swapped ([`mem::swap`](core::mem::swap)), both
    /// topics close.
    ///
    /// ```
    /// use annulus::SendTimeoutError;
    /// use std::time::Duration;
    ///
    /// let bus = annulus::bus::Bus::<u64>::new(64);
    /// let mut orders = bus.topic("orders").lossless().capacity(2).publisher()?;
    /// let subscriber = bus.topic("orders").lossless().subscribe()?;
    /// orders.publish_batch(&[1, 2]).unwrap();
    /// let error = orders.publisher_mut().publish_timeout(3, Duration::from_millis(1)).unwrap_err();
    /// assert!(error == SendTimeoutError::Timeout(3));
    /// # drop(subscriber);
    /// # Ok::<(), annulus::bus::TopicError>(())
    /// ```
    #[inline]
    pub fn publisher_mut(&mut self) -> &mut K::Publisher<T> {
        &mut self.writer
    }

    /// Whether the topic is closed, so that what is published is dropped or given back.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        Transmit::is_closed(&*self.writer)
    }

    /// Closes the topic: subscribers receive what was published, then `Closed`. No effect on a closed topic.
    pub fn close(&self) {
        K::close(&self.writer);
    }

    /// A [`Closer`], which closes the topic from any thread. It does not keep the topic open.
    #[must_use]
    pub fn closer(&self) -> Closer {
        self.holds.closer()
    }
}

/// The verbs of a kind whose publishers wait for no subscriber.
macro_rules! lossy {
    ($($Kind:ty),*) => {$(
        impl<T: Message> TopicPublisher<T, $Kind> {
            /// Publishes `message`. Never waits for subscribers. On a closed topic it drops the message;
            /// [`Transmit::send`] gives it back there.
            #[inline]
            pub fn publish(&mut self, message: T) {
                self.writer.publish(message);
            }

            /// Publishes all of `messages`, in order. Never waits for subscribers. Returns how many it
            /// published: all of them, unless somebody closes the topic.
            #[inline]
            pub fn publish_batch(&mut self, messages: &[T]) -> usize {
                self.writer.publish_batch(messages)
            }
        }
    )*};
}
lossy!(Lossy, Many<Lossy>);

/// The verbs of a kind whose publishers wait for the slowest subscriber.
macro_rules! lossless {
    ($($Kind:ty, |$publisher:ident: $Handle:ty|);* $(;)?) => {$(
        impl<T: Message> TopicPublisher<T, $Kind> {
            /// Publishes `message`. Waits for room, as the topic was made to.
            ///
            /// # Errors
            ///
            /// [`SendError`] gives the message back: the topic is closed.
            #[inline]
            pub fn publish($publisher: $Handle, message: T) -> Result<(), SendError<T>> {
                $publisher.writer.publish(message)
            }

            /// Publishes `message` if there is room. Never waits.
            ///
            /// # Errors
            ///
            /// [`Full`](TrySendError::Full): there is no room. [`Closed`](TrySendError::Closed): the topic is
            /// closed. Both give the message back.
            #[inline]
            pub fn try_publish($publisher: $Handle, message: T) -> Result<(), TrySendError<T>> {
                $publisher.writer.try_publish(message)
            }

            /// Publishes all of `messages`, in order. Waits for room as often as necessary.
            ///
            /// # Errors
            ///
            /// [`SendError`] gives back the messages that were not published: the topic is closed.
            #[inline]
            pub fn publish_batch<'m>(
                $publisher: $Handle,
                messages: &'m [T],
            ) -> Result<(), SendError<&'m [T]>> {
                $publisher.writer.publish_batch(messages)
            }
        }
    )*};
}
lossless! {
    Lossless, |self: &mut Self|;
    Many<Lossless>, |self: &Self|;
}

/// Another publisher of the same topic.
impl<T: Message, K: TopicRing<Publisher<T>: Clone>> Clone for TopicPublisher<T, K> {
    fn clone(&self) -> Self {
        let (holds, topic) = (self.holds.clone(), Arc::clone(&self.topic));
        if let Some(ends) = topic.ends::<Ends<T, K>>() {
            ends.guard_comes();
        }
        Self { writer: self.writer.clone(), topic, holds }
    }
}

impl<T: Message, K: TopicRing> Drop for TopicPublisher<T, K> {
    fn drop(&mut self) {
        // SAFETY: this is the drop: nothing uses the field afterwards.
        let writer = unsafe { ManuallyDrop::take(&mut self.writer) };
        if let Some(ends) = self.topic.ends::<Ends<T, K>>() {
            // SAFETY: `take` has taken one from this topic, and this is the drop.
            unsafe { K::give_back(ends, writer) };
            ends.guard_goes();
        }
    }
}

impl<T: Message, K: TopicRing> fmt::Debug for TopicPublisher<T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TopicPublisher")
            .field("topic", &self.topic())
            .field("closed", &self.holds.is_closed())
            .finish_non_exhaustive()
    }
}

transmits! {
    [T: Message, K: TopicRing] TopicPublisher<T, K>: T;
    |publisher, message| now: publisher.writer.put_now(message),
    |until| late: publisher.writer.put_late(message, until),
    closed: publisher.is_closed(),
    task: Transmit::send_async(&mut *publisher.writer, message),
}

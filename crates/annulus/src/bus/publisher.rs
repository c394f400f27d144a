//! [`TopicPublisher`]: the publisher of a topic, which goes back to the bus.

use alloc::sync::Arc;
use core::fmt;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};

use super::kind::{Ends, TopicRing};
use super::topic::Topic;
use crate::Transmit;
use crate::broadcast::{Lossy, Subscribable};
use crate::message::Message;
use crate::transmit::transmits;

/// A publisher of a topic of a [`Bus`](super::Bus) or a [`TypedBus`](super::TypedBus): a
/// [`Publisher`](crate::broadcast::Publisher) or an [`MpPublisher`](crate::broadcast::MpPublisher), with all
/// its verbs. The [kind](TopicRing) of the topic decides which.
///
/// A topic with one publisher has one of these at a time. When it is dropped (also by a panic of its thread),
/// the topic stays open, and the publisher goes back to the bus. The next
/// [`publisher`](super::Bus::publisher) of that topic continues with the next message, and subscribers notice
/// nothing. A topic with many publishers has any number of these, which can be cloned. Such a topic stays
/// open without any of them, too. Once the bus is gone, the last drop closes the topic.
///
/// `close` ends the topic: subscribers receive what was published, then `Closed`.
/// [`Bus::remove`](super::Bus::remove) then makes room for a new topic of that name.
///
/// If it is forgotten ([`mem::forget`](core::mem::forget)), the topic stays in use until it is closed.
/// A publisher that is moved out of it (by [`mem::replace`](core::mem::replace), or as a clone of the
/// `MpPublisher` inside) does not count as a handle of the topic. The bus takes back no publisher of another
/// ring: one that was moved in is dropped with this, which closes its own ring if it was the last one there.
/// So where the publishers of two topics are swapped ([`mem::swap`](core::mem::swap)), both topics close.
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
    writer: ManuallyDrop<K::Writer<T>>,
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
        Some(Self { writer, topic: Arc::clone(topic), holds })
    }

    /// The topic's name.
    #[must_use]
    pub fn topic(&self) -> &str {
        self.topic.name()
    }
}

impl<T: Message, K: TopicRing> Deref for TopicPublisher<T, K> {
    type Target = K::Writer<T>;

    #[inline]
    fn deref(&self) -> &K::Writer<T> {
        &self.writer
    }
}

impl<T: Message, K: TopicRing> DerefMut for TopicPublisher<T, K> {
    #[inline]
    fn deref_mut(&mut self) -> &mut K::Writer<T> {
        &mut self.writer
    }
}

/// Another publisher of the same topic.
impl<T: Message, K: TopicRing<Writer<T>: Clone>> Clone for TopicPublisher<T, K> {
    fn clone(&self) -> Self {
        let (holds, topic) = (self.holds.clone(), Arc::clone(&self.topic));
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
    [T: Message, K: TopicRing] TopicPublisher<T, K>: T, where [K::Writer<T>: Transmit<Item = T>];
    |publisher, message| now: (**publisher).put_now(message),
    |until| late: (**publisher).put_late(message, until),
    closed: Transmit::is_closed(&**publisher),
    task: Transmit::send_async(&mut **publisher, message),
}

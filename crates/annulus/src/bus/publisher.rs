//! [`TopicPublisher`]: the publisher of a topic, which goes back to the bus.

use alloc::sync::Arc;
use core::fmt;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};

use super::kind::{Ends, Ring};
use super::topic::Topic;
use crate::broadcast::{Lossy, Publisher};
use crate::message::Message;

/// The publisher of a topic of a [`Bus`](super::Bus) or a [`TypedBus`](super::TypedBus): a
/// [`Publisher`], with all its verbs.
///
/// There is one at a time. When it is dropped (also by a panic of its thread), the topic stays open, and the
/// publisher goes back to the bus. The next [`publisher`](super::Bus::publisher) of that topic goes on with
/// the next message, and subscribers notice nothing. Once the bus is gone, a drop closes the topic.
///
/// [`close`](Publisher::close) ends the topic: subscribers receive what was published, then `Closed`.
/// [`Bus::remove`](super::Bus::remove) then makes room for a new topic of that name.
///
/// If it is forgotten ([`mem::forget`](core::mem::forget)), the topic stays taken until somebody closes and
/// removes it.
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
#[allow(private_bounds, reason = "the modes of a bus")]
pub struct TopicPublisher<T: Message, M: Ring = Lossy> {
    /// Taken from the topic's place, until the drop.
    publisher: ManuallyDrop<Publisher<T, M>>,
    topic: Arc<Topic>,
}

#[allow(private_bounds, reason = "the modes of a bus")]
impl<T: Message, M: Ring> TopicPublisher<T, M> {
    /// With what was taken from the place in `topic`, which has ends of these types.
    pub(super) fn new(publisher: Publisher<T, M>, topic: Arc<Topic>) -> Self {
        Self { publisher: ManuallyDrop::new(publisher), topic }
    }

    /// The topic's name.
    #[must_use]
    pub fn topic(&self) -> &str {
        self.topic.name()
    }
}

impl<T: Message, M: Ring> Deref for TopicPublisher<T, M> {
    type Target = Publisher<T, M>;

    #[inline]
    fn deref(&self) -> &Publisher<T, M> {
        &self.publisher
    }
}

impl<T: Message, M: Ring> DerefMut for TopicPublisher<T, M> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Publisher<T, M> {
        &mut self.publisher
    }
}

impl<T: Message, M: Ring> Drop for TopicPublisher<T, M> {
    fn drop(&mut self) {
        // SAFETY: this is the drop: nobody uses the field afterwards.
        let publisher = unsafe { ManuallyDrop::take(&mut self.publisher) };
        if let Some(ends) = self.topic.ends::<Ends<T, M>>() {
            // SAFETY: the publisher was taken from this place, and is given back once.
            unsafe { ends.place.give_back(publisher) };
        }
    }
}

impl<T: Message, M: Ring> fmt::Debug for TopicPublisher<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TopicPublisher")
            .field("topic", &self.topic())
            .field("published", &self.published())
            .finish_non_exhaustive()
    }
}

//! [`Subscribable`]: makes subscribers.

use core::fmt;
use core::mem::ManuallyDrop;

use super::handle::{Handle, SubscribableRole};
use super::receivers::Receivers;
use super::ring_state::RingState;
use super::{DependencyBarrier, Lossless, Lossy, LossyMode, Mode, Staged, Subscriber, SubscriberGroup};
use crate::Closer;
use crate::base::common::Common;
use crate::base::sequence::Sequence;
use crate::message::Message;
use crate::observer::observable;
use crate::ring::Copied;

/// Writes `subscribable` and `subscribe` of a publisher. `make` is a line of the example that makes one,
/// `publisher`.
macro_rules! subscribes {
    (make: $make:literal, |$handle:ident| $Subscribable:ty: $subscribable:expr, $Subscriber:ty $(,)?) => {
        /// A handle that makes subscribers of the ring: another one like that with which the ring was made.
        /// O(1), allocates nothing. If all receiving handles of the ring were gone, there is one again from
        /// now on.
        ///
        /// # Panics
        ///
        /// If it is a lossless ring that other processes read: they attach to it by its invitation.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = $make]
        /// drop(subscribable); // nobody has to keep it
        /// let late = publisher.subscribable().subscribe();
        /// assert_eq!(publisher.subscriber_count(), 1);
        /// # drop(late);
        /// ```
        #[must_use]
        #[track_caller]
        pub fn subscribable(&self) -> $Subscribable {
            let $handle = self;
            $subscribable
        }

        /// A subscriber for the messages that are published from now on: short for `subscribe` of its
        /// [`subscribable`](Self::subscribable).
        ///
        /// # Panics
        ///
        /// As [`subscribable`](Self::subscribable).
        ///
        /// # Examples
        ///
        /// ```
        #[doc = $make]
        /// let subscriber = publisher.subscribe();
        /// assert_eq!(publisher.subscriber_count(), 1);
        /// # drop((subscriber, subscribable));
        /// ```
        #[must_use]
        #[track_caller]
        pub fn subscribe(&self) -> $Subscriber {
            self.subscribable().subscribe()
        }
    };
}
pub(crate) use subscribes;

/// Makes subscribers of one ring, at any time and on any thread, without stopping the publishers.
///
/// Cloning is cheap. A `Subscribable` keeps the ring's memory. While there is a `Subscribable`, somebody may
/// still join. So publishing on a lossless ring does not fail, even if all subscribers are gone.
pub struct Subscribable<T, M: Mode = Lossy> {
    pub(super) shared: Handle<Copied<T>, SubscribableRole>,
    mode: core::marker::PhantomData<fn() -> M>,
}

/// A [`Subscribable`] in one word, to be handed over in a register.
// Decision 0075: a handle that is moved in memory is read before its stores have come to an end.
pub(crate) struct SubscribableShare<T: Message, M: Mode> {
    shared: ManuallyDrop<Common<RingState<Copied<T>>>>,
    mode: core::marker::PhantomData<fn() -> M>,
}

impl<T: Message, M: Mode> SubscribableShare<T, M> {
    /// The handle itself.
    #[inline]
    pub(crate) fn whole(self) -> Subscribable<T, M> {
        let mut share = ManuallyDrop::new(self);
        // SAFETY: neither is used again.
        Subscribable::new(Handle::of_subscribable_share(unsafe { ManuallyDrop::take(&mut share.shared) }))
    }
}

impl<T: Message, M: Mode> Drop for SubscribableShare<T, M> {
    fn drop(&mut self) {
        // As the handle, which is gone.
        // SAFETY: this is used no more.
        drop(Handle::of_subscribable_share(unsafe { ManuallyDrop::take(&mut self.shared) }));
    }
}

impl<T: Message, M: LossyMode> Subscribable<T, M> {
    /// A subscriber for the messages that are published from now on.
    ///
    /// Messages that were published before this call are left out. A message that is being published during
    /// the call may be the first one. Every message that is published after the call is received, or counted
    /// as lost.
    ///
    /// With many publishers, the subscriber begins at the first message that is still being written, if there
    /// is one. It then receives the messages behind that one too, although they were published before the
    /// call.
    ///
    /// Takes a bounded number of steps, whatever the publishers do. With many publishers it looks at each
    /// slot.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(8);
    /// publisher.publish(1);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish(2);
    /// assert_eq!(subscriber.try_recv(), Ok(2));
    /// ```
    #[doc(alias = "new_subscriber")]
    #[doc(alias = "resubscribe")]
    #[doc(alias = "subscribe_lossy")]
    #[must_use]
    pub fn subscribe(&self) -> Subscriber<T, M> {
        self.lossy()
    }

    /// A subscriber that begins with the oldest message that is still in the ring. Messages that were
    /// overwritten before do not count as lag. With many publishers, if no complete message lies before the
    /// first message that is still being written, it begins with that one, as [`subscribe`](Self::subscribe)
    /// does.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(2);
    /// publisher.publish_batch(&[1, 2, 3]);
    /// let mut subscriber = subscribable.subscribe_from_oldest();
    /// assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [2, 3]);
    /// assert_eq!(subscriber.total_lagged(), 0);
    /// ```
    #[must_use]
    pub fn subscribe_from_oldest(&self) -> Subscriber<T, M> {
        let frontier = self.shared.frontier(Sequence::FIRST);
        let start = self.shared.behind_left_out(frontier.oldest, frontier.head);
        Subscriber::new(self.shared.receiver(), start)
    }

    /// A stage that follows nobody and can be followed: [`subscribe`](Self::subscribe) and
    /// [`after(&[])`](Subscriber::after). Allocates.
    #[must_use]
    pub fn subscribe_tracked(&self) -> Subscriber<T, Staged<M>> {
        self.subscribe().after_barrier(&DependencyBarrier::none())
    }

    /// `N` subscribers on one thread that share each read: see [`SubscriberGroup`]. Allocates.
    #[must_use]
    pub fn subscribe_group<const N: usize>(&self) -> SubscriberGroup<T, N, M> {
        SubscriberGroup::new(self.subscribe())
    }
}

impl<T: Message> Subscribable<T, Lossless> {
    /// A subscriber for the messages that are published from now on. Publishers wait for it.
    ///
    /// Messages that were published before this call are left out. A message that is being published during
    /// the call may be the first one; with many publishers, it may also be left out. From its first message
    /// on, the subscriber misses nothing, however fast publishers run meanwhile.
    ///
    /// Takes no lock, and O(log m) steps, where m is the largest number of subscribers that there were at one
    /// time. It repeats a step only if others join or leave at the same moment. A cursor takes 128 bytes.
    /// This call allocates cursors (for eight subscribers at once) only if there were never so many
    /// subscribers before. Later subscribers use these cursors again, and the ring frees them at its end.
    /// Publishers look only at subscribers that are there: a look visits fewer than 2 + log₈ m cells for
    /// each.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless(2);
    /// publisher.publish(1).unwrap();
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish(2).unwrap();
    /// publisher.publish(3).unwrap();
    /// assert!(publisher.try_publish(4).is_err(), "it would overwrite what the subscriber needs");
    /// assert_eq!(subscriber.try_recv(), Ok(2));
    /// assert!(publisher.try_publish(4).is_ok());
    /// ```
    #[doc(alias = "resubscribe")]
    #[must_use]
    pub fn subscribe(&self) -> Subscriber<T, Lossless> {
        self.join(false)
    }

    /// A subscriber that begins with the oldest message that it is sure to receive. Publishers wait for it.
    ///
    /// Publishers look at their subscribers once in half a ring, and may overwrite old messages before the
    /// next look. So this promises at least half of the latest `capacity − headroom` messages (if that number
    /// is 1, perhaps none), often more, and never more than all of them. From its first message on, the
    /// subscriber misses nothing. Otherwise like [`subscribe`](Self::subscribe).
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless(4);
    /// publisher.publish_batch(&[1, 2, 3, 4]).unwrap();
    /// let mut subscriber = subscribable.subscribe_from_oldest();
    /// assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [1, 2, 3, 4]);
    /// ```
    #[must_use]
    pub fn subscribe_from_oldest(&self) -> Subscriber<T, Lossless> {
        self.join(true)
    }

    /// A tap: a lossy subscriber of a lossless ring, for logs and monitors. Publishers do not wait for it. It
    /// counts the messages that it loses.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless(2);
    /// let mut tap = subscribable.subscribe_lossy();
    /// (0..5).for_each(|number| publisher.publish(number).unwrap());
    /// assert_eq!(tap.try_iter().collect::<Vec<_>>(), [3, 4]);
    /// assert_eq!(tap.total_lagged(), 3);
    /// ```
    #[must_use]
    pub fn subscribe_lossy(&self) -> Subscriber<T> {
        self.lossy()
    }

    /// A stage that follows nobody and can be followed: [`subscribe`](Self::subscribe) and
    /// [`after(&[])`](Subscriber::after). Allocates.
    #[must_use]
    pub fn subscribe_tracked(&self) -> Subscriber<T, Staged<Lossless>> {
        self.subscribe().after_barrier(&DependencyBarrier::none())
    }

    /// `N` subscribers on one thread that share each read: see [`SubscriberGroup`]. Publishers wait for the
    /// slowest member.
    #[must_use]
    pub fn subscribe_group<const N: usize>(&self) -> SubscriberGroup<T, N, Lossless> {
        SubscriberGroup::new(self.subscribe())
    }

    fn join(&self, from_oldest: bool) -> Subscriber<T, Lossless> {
        let (handle, start) = self.shared.join(from_oldest);
        Subscriber::new(handle, start)
    }
}

impl<T: Message, M: Mode> Subscribable<T, M> {
    pub(super) fn new(shared: Handle<Copied<T>, SubscribableRole>) -> Self {
        Self { shared, mode: core::marker::PhantomData }
    }

    /// Another one, in one word.
    #[inline]
    pub(crate) fn share(&self) -> SubscribableShare<T, M> {
        let shared = ManuallyDrop::new(self.shared.subscribable_share());
        SubscribableShare { shared, mode: core::marker::PhantomData }
    }

    /// How many messages the ring holds: the number given to its constructor.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.shared.capacity()
    }

    /// A [`Closer`], which closes the ring from any thread. It does not keep the ring open.
    #[must_use]
    pub fn closer(&self) -> Closer {
        self.shared.closer()
    }

    observable! {
        |handle| stats: handle.shared.stats(),
        observer: handle.shared.observer()
    }

    /// Whether all publishers are gone, or somebody closed the ring. Messages may still be left to receive. A
    /// message that is being published may still come, too: only `Closed` from a receive is the end.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.is_closed()
    }

    /// How many subscribers the ring has now, on whichever thread: plain ones, taps, stages and clones. A
    /// [`SubscriberGroup`] counts as one, and each paused member of it as one more. Subscribers may join and
    /// leave meanwhile. A [`Subscribable`] does not count, so somebody may still join when this is 0.
    ///
    /// Of a lossy ring between processes, these are the subscribers of this process.
    #[must_use]
    pub fn subscriber_count(&self) -> usize {
        self.shared.subscriber_count()
    }

    /// How many publishers the ring has.
    pub(crate) fn publisher_count(&self) -> usize {
        self.shared.publisher_count()
    }

    /// The ring's receiving handles of any kind, this one included.
    #[inline]
    pub(crate) fn receivers(&self) -> &Receivers {
        self.shared.receivers()
    }

    fn lossy<Q: LossyMode>(&self) -> Subscriber<T, Q> {
        let frontier = self.shared.frontier(Sequence::FIRST);
        Subscriber::new(self.shared.receiver(), frontier.head)
    }
}

impl<T: Message, M: Mode> Clone for Subscribable<T, M> {
    fn clone(&self) -> Self {
        Self::new(self.shared.another_subscribable())
    }
}

impl<T: Message, M: Mode> fmt::Debug for Subscribable<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscribable")
            .field("capacity", &self.capacity())
            .field("closed", &self.is_closed())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    /// It is one handle, whether it becomes whole or not.
    #[test]
    fn share_of_a_subscribable_counts_as_one_handle() {
        let (mut publisher, subscribable) = crate::broadcast::lossless::<u64>(8);
        let count = || subscribable.receivers().count();
        let share = subscribable.share();
        assert_eq!(count(), 2);
        drop(share);
        assert_eq!(count(), 1);
        let whole = subscribable.share().whole();
        assert_eq!((count(), whole.capacity()), (2, 8));
        drop(whole);
        assert_eq!(count(), 1);
        let share = subscribable.share();
        drop(subscribable);
        assert!(publisher.publish(1).is_ok(), "somebody may still subscribe");
        drop(share);
        assert!(publisher.publish(2).is_err());
    }
}

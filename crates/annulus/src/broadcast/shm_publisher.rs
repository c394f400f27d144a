//! [`FellowPublisher`]: one of several processes that publish to a lossy ring.
// Decision 0140: a range has one claim, and the intent of each place says which publisher has it.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::any::Any;
use core::fmt;

use super::handle::{Handle, Publishing, publisher_of_others};
use super::mp_publisher::Put;
use super::ring_state::RingState;
use crate::Closer;
use crate::base::common::Common;
use crate::error::Refusal;
use crate::message::Message;
use crate::observer::observable;
use crate::ring::{Claimant, Claims, Copied};
use crate::sync::seeded;
use crate::transmit::transmits;

/// One of several publishers of a lossy ring between processes.
///
/// See [`shm::mp_broadcast`](crate::shm::mp_broadcast) for what it promises, and for an example.
///
/// It is the only handle of its place. So it has no clone: join
/// again for another thread. All subscribers see all messages in one order. The messages of one publisher are
/// in the order in which it published them.
#[cfg_attr(annulus_loom, allow(rustdoc::broken_intra_doc_links))]
pub struct FellowPublisher<T> {
    // In this order: the place is given up last.
    leave: Leave,
    shared: Handle<Copied<T>, Publishing>,
    /// What it does in its place.
    claimant: Claimant,
    /// The lock of the place.
    _seat: Box<dyn Any + Send + Sync>,
}

/// Leaves the place, and says whether the ring ends with it.
type Leave = Box<dyn Fn() -> bool + Send + Sync>;

impl<T: Message> FellowPublisher<T> {
    /// Of a ring with these claims, by the thread that has just got the lock of `place`.
    pub(super) fn new(
        shared: Common<RingState<Copied<T>>>,
        claims: Arc<Claims>,
        place: usize,
        leave: Leave,
        seat: Box<dyn Any + Send + Sync>,
    ) -> Self {
        let claimant = Claimant::new(claims, place, shared.first());
        // fellow.next9.
        if claimant.begin() {
            shared.published.notify();
        }
        Self { leave, shared: publisher_of_others(shared), claimant, _seat: seat }
    }

    /// Publishes `message` to every subscriber. Waits for nobody; O(`size_of::<T>()`), allocates nothing. It
    /// repeats a step only if another publisher is faster.
    ///
    /// It overwrites the message that came `capacity` messages before. If the process of that one's publisher
    /// is gone, it asks the kernel, which takes a system call. If that process lives and does not go on with
    /// its write, this passes over the slot: subscribers count one message more as lagged.
    ///
    /// Once somebody has [closed](Self::close) the ring, this drops the message. If each slot of the ring
    /// belongs to a process that is stopped, the message is lost: subscribers count it as lagged.
    ///
    /// ```
    /// use annulus::Settings;
    /// use annulus::shm::{Shared, mp_broadcast};
    ///
    /// let builder = mp_broadcast::Builder::new(Settings::new(64));
    /// let Shared { handle: mut publisher, invitation, .. } = builder.build::<u64>()?;
    /// let mut subscriber = invitation.accept::<u64>()?.subscribable().subscribe();
    /// publisher.publish(42);
    /// assert_eq!(subscriber.recv(), Ok(42));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn publish(&mut self, message: T) {
        let _ = self.put(&message);
    }

    /// Publishes the message that `make` returns. `make` runs before anything is claimed. So nobody waits for
    /// it if it panics or is slow.
    ///
    /// ```
    /// use annulus::Settings;
    /// use annulus::shm::{Shared, mp_broadcast};
    ///
    /// let builder = mp_broadcast::Builder::new(Settings::new(64));
    /// let Shared { handle: mut publisher, invitation, .. } = builder.build::<u64>()?;
    /// let mut subscriber = invitation.accept::<u64>()?.subscribable().subscribe();
    /// publisher.publish_with(|| 6 * 7);
    /// assert_eq!(subscriber.recv(), Ok(42));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn publish_with(&mut self, make: impl FnOnce() -> T) {
        self.publish(make());
    }

    /// Publishes all of `messages`, in order. This is the same as publishing them one by one, but cheaper: it
    /// claims up to 64 messages at once (an eighth of a smaller ring), and looks for sleepers once for them.
    /// Messages of other publishers may come between. A batch may be larger than the ring.
    ///
    /// If this process ends or is stopped inside the call, up to as many messages are lost, or waited for.
    ///
    /// ```
    /// use annulus::Settings;
    /// use annulus::shm::{Shared, mp_broadcast};
    ///
    /// let builder = mp_broadcast::Builder::new(Settings::new(64));
    /// let Shared { handle: mut publisher, invitation, .. } = builder.build::<u64>()?;
    /// let mut subscriber = invitation.accept::<u64>()?.subscribable().subscribe();
    /// publisher.publish_batch(&[1, 2, 3]);
    /// assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [1, 2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn publish_batch(&mut self, messages: &[T]) {
        self.puts().batch(messages);
    }

    /// Whether somebody has [closed](Self::close) the ring. If so, messages that are published from now on
    /// are dropped.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.is_ending()
    }

    /// Closes the ring for all its publishers, in all processes. Subscribers receive what was published, and
    /// what another publisher is just writing, then `Closed`. No effect on a closed ring.
    ///
    /// ```
    /// use annulus::Settings;
    /// use annulus::shm::{Shared, mp_broadcast};
    ///
    /// let builder = mp_broadcast::Builder::new(Settings::new(64));
    /// let Shared { handle: mut publisher, invitation, .. } = builder.build::<u64>()?;
    /// let other = mp_broadcast::publisher::<u64>(&invitation)?;
    /// let mut subscriber = invitation.accept::<u64>()?.subscribable().subscribe();
    /// publisher.publish(1);
    /// other.close();
    /// assert!(publisher.is_closed());
    /// publisher.publish(2);
    /// assert_eq!(subscriber.iter().collect::<Vec<_>>(), [1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn close(&self) {
        self.shared.close();
    }

    /// A [`Closer`], which closes the ring from any thread. It does not keep the ring open.
    #[must_use]
    pub fn closer(&self) -> Closer {
        self.shared.closer()
    }

    /// How many messages all publishers of the ring have published, or are publishing, with those that were
    /// passed over.
    #[must_use]
    pub fn published(&self) -> u64 {
        self.shared.head.claimed().since(self.shared.first())
    }

    /// How many messages the ring holds: the number given to its builder.
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.shared.capacity()
    }

    /// Which place of the ring it has: 0 is the first. See [`Places`](crate::shm::mp_broadcast::Places).
    #[cfg_attr(annulus_loom, allow(rustdoc::broken_intra_doc_links))]
    #[must_use]
    pub fn place(&self) -> usize {
        self.claimant.place()
    }

    /// What the memory of the ring's slots is like now. Asks the kernel: see
    /// [`Placement`](crate::memory::Placement).
    #[must_use]
    pub fn placement(&self) -> crate::memory::Placement {
        self.shared.block().placement()
    }

    observable! {
        |handle| stats: handle.shared.stats(),
        observer: handle.shared.observer()
    }

    /// Publishes `message`; [`Refusal::Closed`] if somebody has closed the ring.
    #[inline(always)]
    pub(super) fn put(&mut self, message: &T) -> Result<(), Refusal> {
        self.puts().one(message)?;
        if !seeded!("fellow_wakes_nobody") {
            self.shared.published.notify_across();
        }
        Ok(())
    }

    #[inline(always)]
    fn puts(&mut self) -> Put<'_, T> {
        Put { shared: &self.shared, claimant: &mut self.claimant }
    }
}

/// For models: the process of a publisher ends in the middle of a publish.
#[cfg(annulus_loom)]
impl<T: Message> FellowPublisher<T> {
    /// After it has claimed messages.
    #[doc(hidden)]
    pub fn dies_with_a_claim(mut self, count: u64) {
        self.puts().claim(count).unwrap();
        self.dies();
    }

    /// After it has written a message, and before it says that this is there.
    #[doc(hidden)]
    pub fn dies_with_a_half(mut self, message: &T) {
        let range = self.puts().claim(1).unwrap();
        let _ = self.puts().half(range.first(), message);
        self.dies();
    }

    /// Its lock is given up, as the kernel does that, and nothing else is done.
    fn dies(mut self) {
        self.leave = Box::new(|| false);
    }
}

transmits! {
    // It waits for nobody.
    [T: Message] FellowPublisher<T>: T;
    |publisher, message| now: publisher.put(&message).map_err(|refusal| (refusal, message)),
    |_until| late: publisher.put(&message).map_err(|refusal| (refusal, message)),
    closed: publisher.is_closed(),
    task: core::future::ready(publisher.put(&message).map_err(|_| crate::SendError(message))),
}

impl<T> Drop for FellowPublisher<T> {
    fn drop(&mut self) {
        self.claimant.claims().decide_if_closed();
        if (self.leave)() {
            self.shared.close();
        }
    }
}

impl<T: Message> fmt::Debug for FellowPublisher<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FellowPublisher")
            .field("place", &self.place())
            .field("published", &self.published())
            .field("capacity", &self.capacity())
            .finish_non_exhaustive()
    }
}

//! Publishing in tasks: the async verbs of the publishers that may have to wait.

use super::handle::{Handle, Publishing};
use super::ring_state::RingState;
use super::single::Single;
use super::slot_access::{ClaimedRun, claim_of_one};
use super::{Lossless, MpPublisher, Publisher};
use crate::error::{PublishError, Refusal};
use crate::message::Message;
use crate::ring::Strided;
use crate::transmit::await_room::AwaitRoom;
use crate::wait::Waiting;

/// Makes sure that the next message may be written. Whoever awaits this writes the message before it waits
/// for anything else. Never [`Refusal::Full`].
pub(super) async fn admitted<S: Strided>(single: &mut Single<S>) -> Result<(), Refusal> {
    // SAFETY: the events are in the ring's shared state, which the publisher's handle keeps alive.
    unsafe { Waiting::new(AwaitRoom(single)) }.await
}

/// Claims a sequence for one of many publishers of a lossless ring, whose slot is free. The caller writes the
/// message before it waits for anything else. Never [`Refusal::Full`].
pub(super) async fn claimed<S: Strided>(shared: &Handle<S, Publishing>) -> Result<ClaimedRun, Refusal> {
    let shared: &RingState<S> = shared;
    // SAFETY: the events are in the ring's shared state, which `shared` borrows.
    unsafe { Waiting::new(claim_of_one(shared)) }.await
}

#[cfg_attr(docsrs, doc(cfg(feature = "async")))]
impl<T: Message> Publisher<T, Lossless> {
    /// Publishes `message` like [`publish`](Self::publish), in a task: the task waits for the slowest
    /// subscriber, not its thread.
    ///
    /// *Cancel safety*: a future that is dropped before it has returned `Ok` has published nothing. The
    /// message is dropped with it.
    ///
    /// # Errors
    ///
    /// [`PublishError`] gives the message back: nobody is left to receive it, or somebody closed the ring,
    /// also while this call waited.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless(4);
    /// let mut subscriber = subscribable.subscribe();
    /// let reader = std::thread::spawn(move || subscriber.iter().sum::<u64>());
    /// pollster::block_on(async {
    ///     for number in 1..=100 {
    ///         publisher.publish_async(number).await?; // waits for the reader
    ///     }
    ///     drop(publisher);
    ///     Ok::<(), annulus::PublishError<u64>>(())
    /// })?;
    /// assert_eq!(reader.join().unwrap(), 5050);
    /// # Ok::<(), annulus::PublishError<u64>>(())
    /// ```
    pub async fn publish_async(&mut self, message: T) -> Result<(), PublishError<T>> {
        let admitted = admitted(&mut self.single).await;
        self.put_admitted(admitted, message)
    }
}

#[cfg_attr(docsrs, doc(cfg(feature = "async")))]
impl<T: Message> MpPublisher<T, Lossless> {
    /// Publishes `message` like [`publish`](Self::publish), in a task: the task waits for the slowest
    /// subscriber, not its thread. It claims no sequence before its slot is free, so a task that is not
    /// polled holds up nobody.
    ///
    /// *Cancel safety*: a future that is dropped before it has returned `Ok` has published nothing. The
    /// message is dropped with it.
    ///
    /// # Errors
    ///
    /// [`PublishError`] gives the message back: nobody is left to receive it, or somebody closed the ring,
    /// also while this call waited.
    ///
    /// # Examples
    ///
    /// ```
    /// let (publisher, subscribable) = annulus::broadcast::mp_lossless(4);
    /// let mut subscriber = subscribable.subscribe();
    /// pollster::block_on(publisher.publish_async(7)).unwrap();
    /// assert_eq!(subscriber.try_recv(), Ok(7));
    /// ```
    pub async fn publish_async(&self, message: T) -> Result<(), PublishError<T>> {
        let claimed = claimed(&self.shared).await;
        self.put_admitted(claimed, message)
    }
}

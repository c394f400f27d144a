//! Stages: subscribers that see a message only after others have *processed* it, and that say how far they
//! are (`progress.rs`).

use super::Subscriber;
use super::handle::{Handle, Role};
use super::mode::{MayLose, Mode, Unstaged};
use super::progress::Following;
use super::progress::{DependencyBarrier, StageProgress, Upstream};
use super::ring_state::RingState;
use crate::base::sequence::Sequence;
use crate::error::UpstreamError;
use crate::message::Message;
use crate::message::schema::BadValue;
use crate::ring::Store;

/// The mode of a [`Subscriber`] that follows others, or is followed by others, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
// Decision 0032: such a subscriber has no clone.
pub struct Staged<M>(core::marker::PhantomData<M>, core::convert::Infallible);

/// What a stage holds of the ring: what it would hold as a plain subscriber, and what makes a stage of it.
pub struct StageRole<R> {
    inner: R,
    following: Following,
}

impl<R> StageRole<R> {
    /// The progress that its followers look at.
    pub(super) fn progress(&self) -> &StageProgress {
        self.following.progress()
    }
}

impl<R: Role> Role for StageRole<R> {
    fn leave<S: Store>(self, shared: &RingState<S>) {
        self.following.leave(shared);
        self.inner.leave(shared);
    }

    #[inline(always)]
    fn following(&self) -> Option<&Following> {
        Some(&self.following)
    }

    #[inline(always)]
    fn following_mut(&mut self) -> Option<&mut Following> {
        Some(&mut self.following)
    }
}

#[allow(private_bounds, private_interfaces, reason = "this is what seals `Mode`")]
impl<M: Unstaged> Mode for Staged<M> {
    type Corrupt = M::Corrupt;
    type Role = StageRole<M::Role>;
    type Claims = M::Claims;
    const LOSSLESS: bool = M::LOSSLESS;
    const IS_CHECKED: bool = M::IS_CHECKED;

    fn corrupt(bad: BadValue) -> M::Corrupt {
        M::corrupt(bad)
    }

    #[inline]
    fn advance<S: Store>(role: &Self::Role, shared: &RingState<S>, cursor: Sequence) {
        M::advance(&role.inner, shared, cursor);
        role.following.note_read(shared, cursor);
    }
}

impl<M: MayLose + Unstaged> MayLose for Staged<M> {}

/// The verbs of a subscriber, other than `after`, that make a stage of it.
macro_rules! after_others {
    ($Subscriber:ident) => {
        /// Like [`after`](Self::after), but returns an error instead of a panic. The subscriber is then
        /// dropped, and holds nobody up.
        ///
        /// # Errors
        ///
        /// [`UpstreamError`] says which upstream can't be followed, and why.
        pub fn try_after(
            self,
            upstreams: &[&dyn Upstream],
        ) -> Result<$Subscriber<T, Staged<M>>, UpstreamError>
        where
            M: Unstaged,
        {
            // Not `try_new`: which of them is of another ring is told by this one, not by the first of them.
            self.try_after_barrier(&DependencyBarrier::of(upstreams))
        }

        /// Like [`after`](Self::after), for upstreams that several subscribers follow.
        ///
        /// # Panics
        ///
        /// As [`after`](Self::after).
        #[doc(alias = "recv_gated")]
        #[doc(alias = "try_recv_gated")]
        #[must_use]
        #[track_caller]
        pub fn after_barrier(self, barrier: &DependencyBarrier) -> $Subscriber<T, Staged<M>>
        where
            M: Unstaged,
        {
            let stage = self.try_after_barrier(barrier);
            stage.unwrap_or_else(|error| panic!("{}::after: {error}", stringify!($Subscriber)))
        }

        /// Like [`after_barrier`](Self::after_barrier), but returns an error instead of a panic.
        ///
        /// # Errors
        ///
        /// Those of [`try_after`](Self::try_after).
        pub fn try_after_barrier(
            self,
            barrier: &DependencyBarrier,
        ) -> Result<$Subscriber<T, Staged<M>>, UpstreamError>
        where
            M: Unstaged,
        {
            self.try_becoming(|shared, cursor| stage::<M, _>(shared, cursor, barrier))
        }
    };
}
pub(super) use after_others;

/// Stages: see [`Subscriber::after`].
impl<T: Message, M: Mode> Subscriber<T, M> {
    /// Turns the subscriber into a stage. A stage sees a message only after all of `upstreams` have
    /// *processed* it, and other subscribers can follow the stage in turn. Without upstreams it waits for
    /// nobody, and can only be followed. The subscriber keeps its place and its counters.
    ///
    /// A stage follows the upstreams that it was made with. A second `after` does not compile, so stages
    /// cannot wait for each other in a circle.
    ///
    /// ```compile_fail,E0277
    /// let (publisher, subscribable) = annulus::broadcast::lossy::<u64>(8);
    /// let (first, second) = (subscribable.subscribe_tracked(), subscribable.subscribe_tracked());
    /// let stage = subscribable.subscribe().after(&[&first]).after(&[&second]);
    /// ```
    ///
    /// When has an upstream processed a message? With [`process`](Self::process) and similar verbs, when the
    /// closure returns. With other verbs, when the upstream comes back to receive the next message, or when
    /// it calls [`done`](Self::done). *A received message is not yet processed:* an upstream that receives a
    /// message and then idles holds up its followers at that message, until it calls again or is dropped.
    ///
    /// A message that an upstream *lost* was not processed. So its followers lose it too, and count it as
    /// lagged. On a lossless ring nobody loses anything.
    ///
    /// An upstream that is dropped no longer counts, and neither does what it lost. This is also so if its
    /// thread panics: otherwise its followers would stand still for ever. If nobody may act on a message
    /// before an upstream really is done with it, catch the upstream's panics, or let it set a flag of its
    /// own, as the example `diamond` does.
    ///
    /// Followers do not wait for an upstream at messages that were published before it joined. So make the
    /// graph before messages come, or make the upstreams first. The upstreams are borrowed for this call
    /// only. If they are on other threads already, give the follower a [`DependencyBarrier`] that was made
    /// before.
    ///
    /// A stage can't be cloned, because its followers would not follow the clone. Clone the subscriber first,
    /// and make a stage of each clone.
    ///
    /// ```compile_fail,E0599
    /// let (publisher, subscribable) = annulus::broadcast::lossy::<u64>(8);
    /// let stage = subscribable.subscribe_tracked();
    /// let clone = stage.clone();
    /// ```
    ///
    /// In a stage, each receive costs one store more, on a cache line of its own, and now and then a load for
    /// each upstream.
    ///
    /// # Panics
    ///
    /// If an upstream belongs to another ring, or if a lossless subscriber would follow a lossy one.
    /// [`try_after`](Self::try_after) returns an error instead.
    ///
    /// # Examples
    ///
    /// A diamond:
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(8);
    /// let mut journal = subscribable.subscribe_tracked();
    /// let mut replicate = subscribable.subscribe_tracked();
    /// let mut execute = subscribable.subscribe().after(&[&journal, &replicate]);
    ///
    /// publisher.publish(7).unwrap();
    /// assert_eq!(journal.try_recv(), Ok(7));
    /// assert_eq!(replicate.try_recv(), Ok(7));
    /// journal.done();
    /// assert!(execute.try_recv().is_err(), "it is not replicated yet");
    /// replicate.done();
    /// assert_eq!(execute.try_recv(), Ok(7));
    /// ```
    #[doc(alias = "and_then")]
    #[doc(alias = "new_branch")]
    #[must_use]
    #[track_caller]
    pub fn after(self, upstreams: &[&dyn Upstream]) -> Subscriber<T, Staged<M>>
    where
        M: Unstaged,
    {
        self.try_after(upstreams).unwrap_or_else(|error| panic!("Subscriber::after: {error}"))
    }

    after_others!(Subscriber);
}

/// A handle at `cursor` that becomes a stage's.
#[allow(clippy::type_complexity, reason = "the handle of a stage")]
pub(super) fn stage<M: Unstaged, S: Store>(
    handle: Handle<S, M::Role>,
    cursor: Sequence,
    barrier: &DependencyBarrier,
) -> Result<Handle<S, StageRole<M::Role>>, UpstreamError> {
    // Decision 0026: what a stage may follow.
    barrier.check_ring(handle.identity())?;
    if M::LOSSLESS {
        barrier.check_lossless()?;
    }
    let progress = StageProgress::new(&*handle, cursor, M::LOSSLESS);
    let following = Following::new(progress, cursor, barrier.clone());
    Ok(handle.becoming(|inner| StageRole { inner, following }))
}

impl<T: Message, M: Unstaged> Subscriber<T, Staged<M>> {
    /// Declares everything received so far as processed. Otherwise the next receive does.
    ///
    /// Call it before a pause: a stage that receives a message and then idles holds up its followers. Verbs
    /// that take a closure, such as [`process`](Self::process), do it by themselves. Calling it again changes
    /// nothing.
    #[inline]
    pub fn done(&mut self) {
        self.begin();
    }
}

#[allow(private_interfaces, reason = "this is what seals `Upstream`")]
impl<T: Message, M: Unstaged> Upstream for Subscriber<T, Staged<M>> {
    fn progress(&self) -> &StageProgress {
        self.role().progress()
    }
}

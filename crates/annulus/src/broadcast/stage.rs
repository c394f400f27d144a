//! Stages: subscribers that see a message only after others have *processed* it, and that say how far they
//! are.
//!
//! Each stage has its progress, on a cache line of its own. `processed` is the end of the messages that it is
//! done with. From `floor` on, it lost nothing. With [`process`](Subscriber::process), a message counts as
//! processed when the closure that got it returns. Otherwise it counts as processed when the stage receives
//! the next message, or calls [`done`](Subscriber::done). A follower may see the messages from the highest
//! `floor` of its upstreams to their lowest `processed`.
//!
//! ```text
//! stage before                                     stage after
//! stage.done1  floor := c, where it skipped to c   stage.look4  load processed, for each     Acquire
//! stage.done2  processed := c           Release    stage.look5  load floor, for each         Relaxed
//! stage.done3  notify                                          look only from floor to processed
//! ```
//!
//! Because of stage.done2 and stage.look4, the floor that stage.look5 sees is at least as new as `processed`.
//! So all messages between the two were processed, without a gap.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use super::Subscriber;
use super::handle::{Handle, Role};
use super::mode::{Hooks, Mode, Unstaged};
use super::ring_state::{Identity, RingState};
use crate::base::sequence::Sequence;
use crate::error::UpstreamError;
use crate::message::Message;
use crate::ring::Store;
use crate::sync::{AtomicU64, Ordering, mutated, ordering};
use crate::wait::EventCount;

/// The mode of a [`Subscriber`] that follows others, or is followed by others, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
// Decision 0032: such a subscriber has no clone.
pub struct Staged<M>(core::marker::PhantomData<M>, core::convert::Infallible);

/// How far a stage is.
#[repr(C, align(128))]
struct Progress {
    /// The end of the messages that it is done with. From the floor on it processed them; before the floor it
    /// processed or lost them. `OPEN` once the stage is gone.
    processed: AtomicU64,
    /// The end of its latest skip. It did not process the messages that it skipped.
    floor: AtomicU64,
    /// Where it became a stage.
    start: Sequence,
    /// Which ring it is of.
    ring: Identity,
    /// Whether the stage loses nothing. Then its followers lose nothing either.
    lossless: bool,
}

/// Nobody waits for it.
const OPEN: u64 = u64::MAX;

impl Progress {
    fn new<S: Store>(shared: &RingState<S>, start: Sequence, lossless: bool) -> Arc<Self> {
        Arc::new(Self {
            processed: AtomicU64::new(start.get()),
            // What came before it joined does not concern it.
            floor: AtomicU64::new(Sequence::FIRST.get()),
            start,
            ring: shared.identity().clone(),
            lossless,
        })
    }

    /// stage.done2.
    #[inline]
    fn reach(&self, processed: u64) {
        // Release: pairs with the Acquire of stage.look4; what the stage did comes before.
        self.processed.store(processed, ordering!(Release unless "stage_processed_relaxed"));
    }

    /// stage.done1 and stage.done2.
    fn skip_to(&self, sequence: Sequence) {
        if mutated!("stage_floor_after_processed") {
            self.reach(sequence.get());
        }
        if !mutated!("stage_lag_counts_as_processed") {
            // stage.done1. Relaxed: stage.done2 orders it.
            self.floor.store(sequence.get(), Ordering::Relaxed);
        }
        self.reach(sequence.get());
    }
}

/// A stage that others can follow. [`Subscriber::after`] and [`DependencyBarrier::new`] take such stages.
/// Sealed.
///
/// A plain lossy or lossless [`Subscriber`] is not a stage, because it does not tell when it has processed a
/// message. Make a stage by [`subscribe_tracked`](crate::broadcast::Subscribable::subscribe_tracked), or by
/// `subscriber.after(&[])`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be followed: it does not tell what it has processed",
    label = "not an `Upstream`",
    note = "make the subscriber that is to be followed by `subscribe_tracked()`, or turn it into a stage with `subscriber.after(&[])`",
    note = "then pass a reference to it: `subscribable.subscribe().after(&[&first])`"
)]
#[allow(private_bounds, reason = "this is what seals it")]
pub trait Upstream: Tracked {}

pub(crate) trait Tracked {
    fn progress(&self) -> &StageProgress;
}

/// A share in a stage's progress.
#[derive(Clone)]
pub(crate) struct StageProgress(Arc<Progress>);

/// A list of stages to wait for. A subscriber behind the barrier sees a message only after all of them have
/// processed it.
///
/// [`Subscriber::after_barrier`] gives one barrier to several subscribers. A stage that is dropped no longer
/// counts, nor does what it lost.
///
/// ```
/// use annulus::broadcast::DependencyBarrier;
///
/// let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(8);
/// let mut parse = subscribable.subscribe_tracked();
/// let parsed = DependencyBarrier::new(&[&parse]);
/// let mut store = subscribable.subscribe().after_barrier(&parsed);
/// let mut print = subscribable.subscribe().after_barrier(&parsed);
///
/// publisher.publish(1);
/// assert!(store.try_recv().is_err());
/// assert_eq!(parse.try_recv(), Ok(1));
/// assert!(store.try_recv().is_err(), "received, but not processed yet");
/// parse.done();
/// assert_eq!(parsed.processed(), Some(0..1));
/// assert_eq!((store.try_recv(), print.try_recv()), (Ok(1), Ok(1)));
/// ```
#[derive(Clone)]
pub struct DependencyBarrier {
    upstreams: Vec<StageProgress>,
}

impl DependencyBarrier {
    /// A barrier that waits for all of `upstreams`. The list may be empty: then the barrier waits for nobody.
    ///
    /// # Panics
    ///
    /// If the upstreams belong to different rings. [`try_new`](Self::try_new) returns an error instead.
    #[doc(alias = "from_subscribers")]
    #[doc(alias = "tracker")]
    #[must_use]
    #[track_caller]
    pub fn new(upstreams: &[&dyn Upstream]) -> Self {
        Self::try_new(upstreams).unwrap_or_else(|error| panic!("DependencyBarrier::new: {error}"))
    }

    /// Like [`new`](Self::new), but returns an error instead of a panic.
    ///
    /// # Errors
    ///
    /// [`UpstreamError::AnotherRing`] if the upstreams belong to different rings. It says which upstream is
    /// the first that does not belong to the ring of the first upstream.
    pub fn try_new(upstreams: &[&dyn Upstream]) -> Result<Self, UpstreamError> {
        let barrier = Self::of(upstreams);
        if let Some(first) = barrier.upstreams.first() {
            barrier.check_ring(&first.0.ring)?;
        }
        Ok(barrier)
    }

    /// Of any rings.
    pub(super) fn of(upstreams: &[&dyn Upstream]) -> Self {
        Self { upstreams: upstreams.iter().map(|upstream| upstream.progress().clone()).collect() }
    }

    /// Waits for nobody.
    pub(super) fn none() -> Self {
        Self { upstreams: Vec::new() }
    }

    fn check_ring(&self, ring: &Identity) -> Result<(), UpstreamError> {
        match self.upstreams.iter().position(|upstream| !upstream.0.ring.is(ring)) {
            Some(index) => Err(UpstreamError::AnotherRing { index }),
            None => Ok(()),
        }
    }

    /// A stage that loses nothing can't follow one that may lose messages.
    fn check_lossless(&self) -> Result<(), UpstreamError> {
        match self.upstreams.iter().position(|upstream| !upstream.0.lossless) {
            Some(index) => Err(UpstreamError::Lossy { index }),
            None => Ok(()),
        }
    }

    /// How many stages it was made from, including those that are gone.
    #[must_use]
    pub fn upstream_count(&self) -> usize {
        self.upstreams.len()
    }

    /// The sequence numbers of the messages that all of the stages have processed: the latest range without a
    /// gap. `None` if no stage is left to wait for.
    ///
    /// The range ends where the slowest stage is, and this end only grows. Messages that a stage lost, or
    /// that were published before it became a stage, are not in the range: it begins after the last of them.
    /// So it may be empty.
    ///
    /// ```
    /// use annulus::broadcast::DependencyBarrier;
    /// use annulus::LossyTryRecvError;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
    /// let mut stage = subscribable.subscribe_tracked();
    /// let barrier = DependencyBarrier::new(&[&stage]);
    /// publisher.publish_batch(&[0, 1, 2, 3, 4, 5]);
    /// assert_eq!(stage.try_recv(), Err(LossyTryRecvError::Lagged { skipped: 2 }));
    /// assert_eq!(barrier.processed(), Some(2..2), "messages 0 and 1 were lost");
    /// assert_eq!(stage.try_process(|message| *message), Ok(2));
    /// assert_eq!(barrier.processed(), Some(2..3));
    /// ```
    #[must_use]
    pub fn processed(&self) -> Option<Range<u64>> {
        let Processed { end, floor, start } = self.look();
        let first =
            if mutated!("stage_loss_is_shown_as_processed") { Sequence::FIRST } else { floor.max(start) };
        (end != OPEN).then(|| first.get().min(end)..end)
    }

    /// The word of stage.look4, if it is one.
    fn word(&self) -> Option<&AtomicU64> {
        match self.upstreams.as_slice() {
            [StageProgress(upstream)] => Some(&upstream.processed),
            _ => None,
        }
    }

    /// stage.look4 and stage.look5.
    #[inline]
    fn look(&self) -> Processed {
        let mut all = Processed { end: OPEN, floor: Sequence::FIRST, start: Sequence::FIRST };
        for StageProgress(upstream) in &self.upstreams {
            // stage.look4. Acquire: pairs with stage.done2.
            let reached = upstream.processed.load(ordering!(Acquire unless "stage_look_relaxed"));
            if reached != OPEN {
                all.end = all.end.min(reached);
                // stage.look5. Relaxed: at least as new as what stage.look4 saw.
                all.floor = all.floor.max(Sequence::new(upstream.floor.load(Ordering::Relaxed)));
                all.start = all.start.max(upstream.start);
            }
        }
        all
    }
}

/// What all stages of a barrier that are still there have processed.
struct Processed {
    /// The lowest `processed`; `OPEN` if no stage is there.
    end: u64,
    /// The highest floor.
    floor: Sequence,
    /// The latest start. What came before it is none of that stage's concern, so it is behind the gate, but
    /// not processed.
    start: Sequence,
}

impl fmt::Debug for DependencyBarrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DependencyBarrier")
            .field("upstreams", &self.upstream_count())
            .field("processed", &self.processed())
            .finish()
    }
}

/// What a stage holds of the ring: what it would hold as a plain subscriber, its own progress, and the stages
/// that it follows.
pub(crate) struct StageRole<R> {
    inner: R,
    progress: StageProgress,
    /// The progress that it stored last.
    told: Sequence,
    before: DependencyBarrier,
    /// At the last look at the upstreams: the end of what all of them have processed …
    allowed: u64,
    /// … and its beginning.
    floor: Sequence,
}

impl<R> StageRole<R> {
    /// At `cursor`, which `progress` tells already.
    fn new(inner: R, progress: Arc<Progress>, cursor: Sequence, before: DependencyBarrier) -> Self {
        let progress = StageProgress(progress);
        let mut role = Self { inner, progress, told: cursor, before, allowed: 0, floor: Sequence::FIRST };
        role.look();
        role
    }

    #[cold]
    #[inline(never)]
    fn look(&mut self) {
        Processed { end: self.allowed, floor: self.floor, .. } = self.before.look();
    }

    fn tell<S: Store>(&mut self, shared: &RingState<S>, cursor: Sequence) {
        if self.told != cursor {
            self.told = cursor;
            // Decision 0031: processed is not received.
            self.progress.0.reach(cursor.get());
            if !mutated!("stage_done_wakes_nobody") {
                shared.released.notify();
            }
        }
    }
}

impl<R> StageRole<R> {
    /// The progress that its followers look at.
    pub(super) fn progress(&self) -> &StageProgress {
        &self.progress
    }
}

impl<R: Role> Role for StageRole<R> {
    fn leave<S: Store>(self, shared: &RingState<S>) {
        if !mutated!("stage_never_opens") {
            self.progress.0.reach(OPEN);
        }
        if !mutated!("stage_drop_wakes_nobody") {
            shared.released.notify();
        }
        self.inner.leave(shared);
    }
}

impl<M: Unstaged> Mode for Staged<M> {
    type TryRecvError = M::TryRecvError;

    #[inline(always)]
    fn lagged(skipped: u64) -> M::TryRecvError {
        M::lagged(skipped)
    }
}

impl<M: Unstaged> Hooks for Staged<M> {
    type Role = StageRole<M::Role>;
    const LOSSLESS: bool = M::LOSSLESS;
    const STAGED: bool = true;

    #[inline]
    fn begin<S: Store>(role: &mut Self::Role, shared: &RingState<S>, cursor: Sequence) {
        role.tell(shared, cursor);
    }

    #[inline]
    fn admits(role: &mut Self::Role, cursor: Sequence) -> bool {
        if cursor.get() >= role.allowed {
            role.look();
        }
        cursor.get() < role.allowed || mutated!("stage_does_not_wait")
    }

    // Mutants: `with 0`: one by one.
    #[inline]
    fn admits_up_to(role: &mut Self::Role, cursor: Sequence, most: usize) -> usize {
        let admitted = if Self::admits(role, cursor) { role.allowed.saturating_sub(cursor.get()) } else { 0 };
        most.min(usize::try_from(admitted).unwrap_or(usize::MAX))
    }

    #[inline]
    fn floor(role: &Self::Role) -> Sequence {
        role.floor
    }

    fn new_floor(role: &mut Self::Role) -> Sequence {
        if !mutated!("recovery_at_an_old_floor") {
            role.look();
        }
        role.floor
    }

    fn start(role: &Self::Role, cursor: Sequence) -> Sequence {
        // Before `allowed` the floor of the last look counts, also where who lost that is gone meanwhile.
        // Mutants: `< with ==`, `< with >`, `< with <=`: no test yet: where what a stage before it lost
        // counts although that one is gone.
        let known = if cursor.get() < role.allowed { role.floor } else { Sequence::FIRST };
        cursor.max(known).max(role.before.look().floor)
    }

    #[inline]
    fn end(role: &Self::Role, head: Sequence) -> Sequence {
        head.min(Sequence::new(role.before.look().end))
    }

    #[inline]
    fn advance<S: Store>(role: &Self::Role, shared: &RingState<S>, cursor: Sequence) {
        M::advance(&role.inner, shared, cursor);
        if mutated!("stage_read_is_processed") {
            role.progress.0.reach(cursor.get());
            shared.released.notify();
        }
    }

    fn skipped<S: Store>(role: &mut Self::Role, shared: &RingState<S>, cursor: Sequence) {
        role.progress.0.skip_to(cursor);
        role.told = cursor;
        shared.released.notify();
        M::skipped(&mut role.inner, shared, cursor);
    }

    #[inline]
    fn event<'a, S: Store>(role: &Self::Role, shared: &'a RingState<S>, cursor: Sequence) -> &'a EventCount {
        // What those before it have processed may still have to be published: one that joined beside many
        // publishers began behind what others had claimed and not yet written. Decision 0027: where the
        // missing message will be announced.
        if cursor.get() < role.allowed && !mutated!("stage_sleeps_at_the_wrong_event") {
            &shared.published
        } else {
            &shared.released
        }
    }

    fn watched<'a, S: Store>(
        role: &'a Self::Role,
        shared: &'a RingState<S>,
        cursor: Sequence,
    ) -> Option<&'a AtomicU64> {
        if cursor.get() < role.allowed { M::watched(&role.inner, shared, cursor) } else { role.before.word() }
    }
}

/// The verbs of a subscriber beside `after` that make a stage of it.
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
    let progress = Progress::new(&*handle, cursor, M::LOSSLESS);
    Ok(handle.becoming(|role| StageRole::new(role, progress, cursor, barrier.clone())))
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

impl<T: Message, M: Unstaged> Tracked for Subscriber<T, Staged<M>> {
    fn progress(&self) -> &StageProgress {
        self.role().progress()
    }
}

impl<T: Message, M: Unstaged> Upstream for Subscriber<T, Staged<M>> {}

//! How far a stage is: what it has *processed*, and what those that follow it see of that.
//!
//! Each stage has its progress, on a cache line of its own. `processed` is the end of the messages that it is
//! done with. From `floor` on, it lost nothing. With `process`, a message counts as processed when the
//! closure that got it returns. Otherwise it counts as processed when the stage receives the next message, or
//! calls `done`. A follower may see the messages from the highest `floor` of its upstreams to their lowest
//! `processed`.
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
//!
//! [`Following`] is what a stage does at each step of a receive (`mode.rs`): it tells its followers how far
//! it is, and looks how far the stages before it are. Only a stage has it.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use super::ring_state::{Identity, RingState};
use crate::base::sequence::Sequence;
use crate::error::UpstreamError;
use crate::ring::Store;
use crate::sync::{AtomicU64, Ordering, ordering, seeded};

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

/// A share in a stage's progress.
#[derive(Clone)]
pub(crate) struct StageProgress(Arc<Progress>);

/// Nobody waits for it.
const OPEN: u64 = u64::MAX;

impl StageProgress {
    pub(super) fn new<S: Store>(shared: &RingState<S>, start: Sequence, lossless: bool) -> Self {
        Self(Arc::new(Progress {
            processed: AtomicU64::new(start.get()),
            // What came before it joined does not concern it.
            floor: AtomicU64::new(Sequence::FIRST.get()),
            start,
            ring: shared.identity().clone(),
            lossless,
        }))
    }

    /// The stage is gone: nobody waits for it.
    pub(super) fn open(&self) {
        self.reach(OPEN);
    }

    /// stage.done2.
    #[inline]
    pub(super) fn reach(&self, processed: u64) {
        // Release: pairs with the Acquire of stage.look4; what the stage did comes before.
        self.0.processed.store(processed, ordering!(Release unless "stage_processed_relaxed"));
    }

    /// stage.done1 and stage.done2.
    pub(super) fn skip_to(&self, sequence: Sequence) {
        if seeded!("stage_floor_after_processed") {
            self.reach(sequence.get());
        }
        if !seeded!("stage_lag_counts_as_processed") {
            // stage.done1. Relaxed: stage.done2 orders it.
            self.0.floor.store(sequence.get(), Ordering::Relaxed);
        }
        self.reach(sequence.get());
    }
}

/// A stage that others can follow. [`Subscriber::after`](crate::broadcast::Subscriber::after) and
/// [`DependencyBarrier::new`] take such stages. Sealed.
///
/// A plain lossy or lossless [`Subscriber`](crate::broadcast::Subscriber) is not a stage, because it does
/// not tell when it has processed a message. Make a stage by
/// [`subscribe_tracked`](crate::broadcast::Subscribable::subscribe_tracked), or by `subscriber.after(&[])`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be followed: it does not tell what it has processed",
    label = "not an `Upstream`",
    note = "make the subscriber that is to be followed by `subscribe_tracked()`, or turn it into a stage with `subscriber.after(&[])`",
    note = "then pass a reference to it: `subscribable.subscribe().after(&[&first])`"
)]
#[allow(private_interfaces, reason = "this is what seals it")]
pub trait Upstream {
    /// The progress that the stage tells.
    #[doc(hidden)]
    fn progress(&self) -> &StageProgress;
}

/// A list of stages to wait for. A subscriber behind the barrier sees a message only after all of them have
/// processed it.
///
/// [`Subscriber::after_barrier`](crate::broadcast::Subscriber::after_barrier) gives one barrier to several
/// subscribers. A stage that is dropped no longer counts, nor does what it lost.
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

    pub(super) fn check_ring(&self, ring: &Identity) -> Result<(), UpstreamError> {
        match self.upstreams.iter().position(|upstream| !upstream.0.ring.is(ring)) {
            Some(index) => Err(UpstreamError::AnotherRing { index }),
            None => Ok(()),
        }
    }

    /// A stage that loses nothing can't follow one that may lose messages.
    pub(super) fn check_lossless(&self) -> Result<(), UpstreamError> {
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
    /// So it may be empty. Numbers that the publisher [left out](crate::broadcast::Publisher::skip_to) are no
    /// messages, and may be in it.
    ///
    /// ```
    /// use annulus::broadcast::DependencyBarrier;
    /// use annulus::LossyTryRecvError;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
    /// let mut stage = subscribable.subscribe_tracked();
    /// let barrier = DependencyBarrier::new(&[&stage]);
    /// publisher.publish_batch(&[0, 1, 2, 3, 4, 5]);
    /// assert_eq!(stage.try_recv_or_lag(), Err(LossyTryRecvError::Lagged { skipped: 2 }));
    /// assert_eq!(barrier.processed(), Some(2..2), "messages 0 and 1 were lost");
    /// assert_eq!(stage.try_process(|message| *message), Ok(2));
    /// assert_eq!(barrier.processed(), Some(2..3));
    /// ```
    #[must_use]
    pub fn processed(&self) -> Option<Range<u64>> {
        let Processed { end, floor, start } = self.look();
        let first =
            if seeded!("stage_loss_is_shown_as_processed") { Sequence::FIRST } else { floor.max(start) };
        (end != OPEN).then(|| first.get().min(end)..end)
    }

    /// The word of stage.look4, if it is one.
    pub(super) fn word(&self) -> Option<&AtomicU64> {
        match self.upstreams.as_slice() {
            [StageProgress(upstream)] => Some(&upstream.processed),
            _ => None,
        }
    }

    /// stage.look4 and stage.look5.
    #[inline]
    pub(super) fn look(&self) -> Processed {
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
pub(super) struct Processed {
    /// The lowest `processed`; `OPEN` if no stage is there.
    pub(super) end: u64,
    /// The highest floor.
    pub(super) floor: Sequence,
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

/// What a stage has, and a plain subscriber has not: its own progress, and the stages that it follows.
pub(crate) struct Following {
    progress: StageProgress,
    /// The progress that it stored last.
    told: Sequence,
    before: DependencyBarrier,
    /// At the last look at the upstreams: the end of what all of them have processed …
    allowed: u64,
    /// … and its beginning.
    floor: Sequence,
}

impl Following {
    /// At `cursor`, which `progress` tells already.
    pub(super) fn new(progress: StageProgress, cursor: Sequence, before: DependencyBarrier) -> Self {
        let mut following = Self { progress, told: cursor, before, allowed: 0, floor: Sequence::FIRST };
        following.look();
        following
    }

    /// The progress that its followers look at.
    pub(super) fn progress(&self) -> &StageProgress {
        &self.progress
    }

    #[cold]
    #[inline(never)]
    fn look(&mut self) {
        Processed { end: self.allowed, floor: self.floor, .. } = self.before.look();
    }

    /// The stage is done with the messages before `cursor`.
    pub(super) fn tell<S: Store>(&mut self, shared: &RingState<S>, cursor: Sequence) {
        if self.told != cursor {
            self.told = cursor;
            // Decision 0031: processed is not received.
            self.progress.reach(cursor.get());
            if !seeded!("stage_done_wakes_nobody") {
                shared.released.notify();
            }
        }
    }

    /// The stage has passed over messages, up to `cursor`.
    pub(super) fn skip_to<S: Store>(&mut self, shared: &RingState<S>, cursor: Sequence) {
        self.progress.skip_to(cursor);
        self.told = cursor;
        shared.released.notify();
    }

    /// The stage is gone.
    pub(super) fn leave<S: Store>(&self, shared: &RingState<S>) {
        if !seeded!("stage_never_opens") {
            self.progress.open();
        }
        if !seeded!("stage_drop_wakes_nobody") {
            shared.released.notify();
        }
    }

    /// Whether those before it had processed the message at `cursor` at the last look.
    #[inline]
    pub(super) fn is_allowed(&self, cursor: Sequence) -> bool {
        cursor.get() < self.allowed
    }

    #[inline]
    pub(super) fn admits(&mut self, cursor: Sequence) -> bool {
        // As it is written, the compiler compares once where no look is needed.
        if self.is_allowed(cursor) {
            return true;
        }
        self.look();
        self.is_allowed(cursor) || seeded!("stage_does_not_wait")
    }

    // Mutants: `with 0`: one by one.
    #[inline]
    pub(super) fn admits_up_to(&mut self, cursor: Sequence, most: usize) -> usize {
        let admitted = if self.admits(cursor) { self.allowed.saturating_sub(cursor.get()) } else { 0 };
        most.min(usize::try_from(admitted).unwrap_or(usize::MAX))
    }

    #[inline]
    pub(super) fn floor(&self) -> Sequence {
        self.floor
    }

    pub(super) fn new_floor(&mut self) -> Sequence {
        if !seeded!("recovery_at_an_old_floor") {
            self.look();
        }
        self.floor
    }

    pub(super) fn start(&self, cursor: Sequence) -> Sequence {
        // Before `allowed` the floor of the last look counts, also where the upstream that lost it is gone
        // meanwhile.
        let known = if self.is_allowed(cursor) { self.floor } else { Sequence::FIRST };
        cursor.max(known).max(self.before.look().floor)
    }

    #[inline]
    pub(super) fn end(&self) -> Sequence {
        Sequence::new(self.before.look().end)
    }

    /// The word that decides whether they have processed the next message, if it is one.
    pub(super) fn word(&self) -> Option<&AtomicU64> {
        self.before.word()
    }

    /// The seeded bug of a stage that counts what it reads as processed.
    // Mutants: `with ()`: it does something only with the seeded bug.
    #[inline]
    pub(super) fn note_read<S: Store>(&self, shared: &RingState<S>, cursor: Sequence) {
        if seeded!("stage_read_is_processed") {
            self.progress.reach(cursor.get());
            shared.released.notify();
        }
    }
}

//! How a publisher of a lossless ring gets at a slot: room at the gate, and, of many, a claim.
//!
//! ```text
//! one publisher   AtLimit: the limit of the gate
//! many            AwaitClaim: room, the slot left, then the claim, if nobody was faster
//! ```
//!
//! Many publishers of one process claim from the head (`ring/head.rs`), those of several processes from their
//! places (`ring/claims/room.rs`): [`Claiming`].

#[cfg(feature = "async")]
use super::handle::{Handle, Publishing};
use super::ring_state::RingState;
use crate::base::sequence::{Sequence, Stamp};
use crate::error::Refusal;
#[cfg(feature = "shm")]
use crate::ring::{Claimant, NotClaimed};
use crate::ring::{Strided, Writers};
use crate::sync::{AtomicU64, pause, seeded};
#[cfg(feature = "async")]
use crate::wait::Waiting;
use crate::wait::{Deadline, EventCount, Look, Poll, Until, WaitStrategy, WriterBackoff, wait_until};

/// Waits for the slot of message `next` of the only publisher, by the strategy of the ring, and returns the
/// new limit. Never [`Refusal::Full`].
///
/// Takes and returns values, so that a publisher whose methods are inlined can live in registers. (A strategy
/// is an argument in memory, which would be written for each message: so there is a function without.)
#[cold]
#[inline(never)]
pub(super) fn wait_for_free_slot<S: Strided>(
    shared: &RingState<S>,
    next: Sequence,
) -> Result<Sequence, Refusal> {
    // Decision 0035: slow paths take no strategy.
    wait_for_free_slot_by(shared, next, shared.strategy, None)
}

/// As [`wait_for_free_slot`], by `strategy`; [`Refusal::Full`] once `deadline` has passed.
#[cold]
#[inline(never)]
pub(super) fn wait_for_free_slot_by<S: Strided>(
    shared: &RingState<S>,
    next: Sequence,
    strategy: WaitStrategy,
    deadline: Deadline,
) -> Result<Sequence, Refusal> {
    // Decision 0034: nothing detects a handler that waits here.
    let backoff = WriterBackoff::new(shared.gate.preferred(), deadline);
    wait_until(&mut AtLimit { shared, next, backoff }, strategy, deadline).unwrap_or(Err(Refusal::Full))
}

/// The only publisher at its limit.
struct AtLimit<'a, S> {
    shared: &'a RingState<S>,
    next: Sequence,
    backoff: WriterBackoff,
}

impl<S: Strided> Poll for AtLimit<'_, S> {
    type Found = Result<Sequence, Refusal>;

    fn wait_point(&self) -> &EventCount {
        &self.shared.released
    }

    fn backoff(&mut self) -> Option<&mut WriterBackoff> {
        Some(&mut self.backoff)
    }

    fn poll(&mut self) -> Look<Self::Found> {
        match look_for_free_slot(self.shared, self.next) {
            Ok(limit) => self.backoff.judge(limit.since(self.next), Ok(limit)),
            Err(Refusal::Full) => Look::Nothing,
            Err(refusal) => Look::Found(Err(refusal)),
        }
    }
}

/// As [`wait_for_free_slot`], but looks once.
#[cold]
#[inline(never)]
pub(super) fn look_for_free_slot<S: Strided>(
    shared: &RingState<S>,
    next: Sequence,
) -> Result<Sequence, Refusal> {
    if shared.is_abandoned() || shared.is_ending() {
        return Err(Refusal::Closed);
    }
    // The look needs the exact head only for subscribers that join.
    let limit = shared.gate.look(next);
    if next < limit { Ok(limit) } else { Err(Refusal::Full) }
}

/// What a publisher has claimed: the sequences from `first` to before `end`, at least one. Their slots are
/// free. Not `Copy`: each sequence is to be written once.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ClaimedRun {
    pub(super) first: Sequence,
    pub(super) end: Sequence,
}

/// Claims up to `most` sequences for one of many publishers, as many as there are free slots, but at least
/// one: waits for the gate, and for the slot, by the strategy of the ring. Never [`Refusal::Full`].
#[inline]
pub(super) fn claim<S: Strided>(shared: &RingState<S>, most: u64) -> Result<ClaimedRun, Refusal> {
    match try_claim(shared, most) {
        Ok(claimed) => Ok(claimed),
        Err(_) => wait_for_claim(shared, most),
    }
}

/// Claims up to `most` sequences for one of many publishers, as many as have free slots now.
fn try_claim<S: Strided>(shared: &RingState<S>, most: u64) -> Result<ClaimedRun, Obstacle> {
    let head = &shared.head;
    loop {
        let Some(first) = head.claimable() else { return Err(Obstacle::Closed) };
        if shared.is_abandoned() {
            return Err(Obstacle::Closed);
        }
        let mut end = end_at_gate(shared, first, most);
        if end <= first {
            // Others may have claimed meanwhile, and subscribers moved on for them: then there is another
            // answer.
            if head.claimable() == Some(first) {
                return Err(Obstacle::Gate);
            }
            continue;
        }
        let not_left = if seeded!("claim_looks_at_no_slot") {
            (end, SlotState::Free)
        } else {
            first_not_left(shared, first, end)
        };
        match not_left {
            (_, SlotState::BeingWritten) if seeded!("claim_does_not_wait") => {}
            (sequence, SlotState::BeingWritten) if sequence == first => return Err(Obstacle::Slot),
            // Unreached: a publisher that tries finds a slot behind the first still being written: two
            // threads have to meet there; loom gate_many
            (sequence, SlotState::BeingWritten) => end = sequence,
            (_, SlotState::Free) => {}
            // Somebody else was faster.
            (_, SlotState::Claimed) => {
                pause();
                continue;
            }
        }
        // Decision 0021: a compare-exchange, not a fetch-add.
        if head.claim_at(first, end.since(first)) {
            return Ok(ClaimedRun { first, end });
        }
        pause();
    }
}

/// The end of those of `most` sequences from `first` on that are before the limit of the gate.
fn end_at_gate<S: Strided>(shared: &RingState<S>, first: Sequence, most: u64) -> Sequence {
    let end = first.plus(most);
    let limit = shared.gate.limit();
    // Mutants: `> with >=`: one more look.
    let limit = if end > limit { shared.gate.look(first).max(limit) } else { limit };
    end.min(limit)
}

/// The first sequence from `first` on whose slot was not left, and what it looks like; `end` where all were.
fn first_not_left<S: Strided>(
    shared: &RingState<S>,
    first: Sequence,
    end: Sequence,
) -> (Sequence, SlotState) {
    let mut sequence = first;
    // Mutants: `< with <=`: a slot more, which is not claimed.
    while sequence < end {
        let before = Stamp::of_the_lap_before(sequence, shared.capacity());
        match shared.stamp(sequence).cmp(&before) {
            core::cmp::Ordering::Less => return (sequence, SlotState::BeingWritten),
            core::cmp::Ordering::Equal => sequence = sequence.next(),
            core::cmp::Ordering::Greater => return (sequence, SlotState::Claimed),
        }
    }
    (end, SlotState::Free)
}

/// What the slot of a sequence that is about to be claimed looks like.
enum SlotState {
    /// The writer of the lap before has left it.
    Free,
    /// That writer is still at work.
    BeingWritten,
    /// Somebody has claimed the sequence already.
    Claimed,
}

/// What is in the way of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// No handle is left that could receive, or somebody has closed the ring.
    Closed,
    /// The slowest subscriber.
    Gate,
    /// The writer of the lap before, which has not left its slot.
    Slot,
}

impl Obstacle {
    fn refusal(self) -> Refusal {
        match self {
            Self::Closed => Refusal::Closed,
            Self::Gate | Self::Slot => Refusal::Full,
        }
    }

    /// Where to wait until it is out of the way.
    fn wait_point<S>(self, shared: &RingState<S>) -> &EventCount {
        match self {
            Self::Slot if !seeded!("claim_sleeps_at_the_gate") => &shared.published,
            _ => &shared.released,
        }
    }

    /// The one word that decides whether it is, if there is one. (Of publishers of other processes, the locks
    /// decide, too.)
    fn watched<S: Strided>(self, shared: &RingState<S>) -> Option<&AtomicU64> {
        match self {
            Self::Slot => shared.head.claimable().map(|next| shared.stamp_word(next)),
            Self::Gate | Self::Closed => None,
        }
    }
}

/// As for [`wait_for_free_slot`].
#[cold]
#[inline(never)]
fn wait_for_claim<S: Strided>(shared: &RingState<S>, most: u64) -> Result<ClaimedRun, Refusal> {
    claim_by(shared, most, shared.strategy, None)
}

/// As [`claim`], by `strategy`; [`Refusal::Full`] once `deadline` has passed.
pub(super) fn claim_by<S: Strided>(
    shared: &RingState<S>,
    most: u64,
    strategy: WaitStrategy,
    deadline: Deadline,
) -> Result<ClaimedRun, Refusal> {
    claim_as(FromHead, shared, most, strategy, deadline)
}

/// As [`claim`], of one slot or more; [`Refusal::Full`] once the time has passed.
pub(super) fn claim_until<S: Strided>(
    shared: &RingState<S>,
    most: u64,
    until: Until,
) -> Result<ClaimedRun, Refusal> {
    claim_by(shared, most, until.strategy_or(|| shared.strategy), until.deadline())
}

/// How one of many publishers claims.
pub(super) trait Claiming<S> {
    /// Claims up to `most` sequences, as many as have free slots now.
    fn try_claim(&mut self, shared: &RingState<S>, most: u64) -> Result<ClaimedRun, Obstacle>;

    /// Whether a claim would find a free slot now, or what is in the way.
    fn look_for_claim(&self, shared: &RingState<S>) -> Result<(), Obstacle>;
}

/// From the head of a ring of this process.
pub(super) struct FromHead;

impl<S: Strided> Claiming<S> for FromHead {
    fn try_claim(&mut self, shared: &RingState<S>, most: u64) -> Result<ClaimedRun, Obstacle> {
        try_claim(shared, most)
    }

    fn look_for_claim(&self, shared: &RingState<S>) -> Result<(), Obstacle> {
        look_for_claim(shared)
    }
}

/// From a place.
#[cfg(feature = "shm")]
impl<S: Strided> Claiming<S> for &mut Claimant {
    fn try_claim(&mut self, shared: &RingState<S>, most: u64) -> Result<ClaimedRun, Obstacle> {
        let room = |claimant: &Claimant, first, most| room_of(shared, claimant, first, most);
        let NotClaimed { obstacle, has_held_up } = match self.claim_in_room(most, room) {
            Ok(range) => return Ok(ClaimedRun { first: range.first(), end: range.end() }),
            Err(not_claimed) => not_claimed,
        };
        if has_held_up && !seeded!("room_gives_up_in_silence") {
            shared.published.notify();
        }
        Err(obstacle.unwrap_or(Obstacle::Closed))
    }

    fn look_for_claim(&self, shared: &RingState<S>) -> Result<(), Obstacle> {
        let room = |claimant: &Claimant, first, most| room_of(shared, claimant, first, most);
        self.look_for_room(room).unwrap_or(Err(Obstacle::Closed)).map(|_| ())
    }
}

/// How many of `most` messages from `first` on have room, for a publisher that claims from its place.
#[cfg(feature = "shm")]
fn room_of<S: Strided>(
    shared: &RingState<S>,
    claimant: &Claimant,
    first: Sequence,
    most: u64,
) -> Result<u64, Obstacle> {
    let end = end_at_gate(shared, first, most);
    if end <= first {
        return Err(Obstacle::Gate);
    }
    // SAFETY: `shared` is the ring, lives, and is for claimants.
    let is_left =
        |sequence| unsafe { shared.slots().is_left(Writers::Claimants, sequence, shared.capacity()) };
    let is_free = |sequence| is_left(sequence) || claimant.take(sequence) || seeded!("room_looks_at_no_slot");
    let mut sequence = first;
    while sequence < end && is_free(sequence) {
        sequence = sequence.next();
    }
    if sequence == first { Err(Obstacle::Slot) } else { Ok(sequence.since(first)) }
}

/// As [`claim_by`], by `claiming`.
pub(super) fn claim_as<S: Strided>(
    claiming: impl Claiming<S>,
    shared: &RingState<S>,
    most: u64,
    strategy: WaitStrategy,
    deadline: Deadline,
) -> Result<ClaimedRun, Refusal> {
    let mut claim = AwaitClaim { shared, claiming, most, obstacle: Obstacle::Gate };
    wait_until(&mut claim, strategy, deadline).unwrap_or(Err(Refusal::Full))
}

/// As [`claim_as`], of one slot, but tries once.
#[cfg(feature = "shm")]
pub(super) fn claim_now_as<S: Strided>(
    mut claiming: impl Claiming<S>,
    shared: &RingState<S>,
) -> Result<ClaimedRun, Refusal> {
    claiming.try_claim(shared, 1).map_err(Obstacle::refusal)
}

pub(super) struct AwaitClaim<'a, S, C> {
    shared: &'a RingState<S>,
    claiming: C,
    most: u64,
    /// What was in the way at the last look.
    obstacle: Obstacle,
}

impl<S: Strided, C: Claiming<S>> Poll for AwaitClaim<'_, S, C> {
    type Found = Result<ClaimedRun, Refusal>;

    fn wait_point(&self) -> &EventCount {
        self.obstacle.wait_point(self.shared)
    }

    fn watched(&self) -> Option<&AtomicU64> {
        self.obstacle.watched(self.shared)
    }

    fn poll(&mut self) -> Look<Self::Found> {
        match self.claiming.try_claim(self.shared, self.most) {
            Ok(claimed) => Look::Found(Ok(claimed)),
            Err(Obstacle::Closed) => Look::Found(Err(Refusal::Closed)),
            Err(obstacle) => {
                self.obstacle = obstacle;
                Look::Nothing
            }
        }
    }
}

#[cfg(feature = "std")]
impl<S, C> AwaitClaim<'_, S, C> {
    pub(super) fn strategy(&self) -> WaitStrategy {
        self.shared.strategy
    }
}

/// As [`claim`], of one sequence, but tries once.
#[inline]
pub(super) fn claim_now<S: Strided>(shared: &RingState<S>) -> Result<ClaimedRun, Refusal> {
    try_claim(shared, 1).map_err(Obstacle::refusal)
}

/// Claims a sequence for one of many publishers of a lossless ring, whose slot is free. The caller writes the
/// message before it waits for anything else. Never [`Refusal::Full`].
#[cfg(feature = "async")]
pub(super) async fn claimed<S: Strided>(
    claiming: impl Claiming<S>,
    shared: &Handle<S, Publishing>,
) -> Result<ClaimedRun, Refusal> {
    let shared: &RingState<S> = shared;
    // SAFETY: the eventcounts are in the ring's shared state, which `shared` borrows.
    unsafe { Waiting::new(claim_of_one(claiming, shared)) }.await
}

/// A claim of one sequence, for a task or a select: it waits for the gate, and for the slot. Never
/// [`Refusal::Full`].
#[cfg(any(feature = "std", feature = "async"))]
pub(super) fn claim_of_one<S, C: Claiming<S>>(claiming: C, shared: &RingState<S>) -> AwaitClaim<'_, S, C> {
    AwaitClaim { shared, claiming, most: 1, obstacle: Obstacle::Gate }
}

/// Whether a claim would find a free slot now; nothing is claimed.
pub(super) fn has_free_slot<S: Strided>(shared: &RingState<S>) -> Result<(), Refusal> {
    look_for_claim(shared).map_err(Obstacle::refusal)
}

/// As [`has_free_slot`], and says what is in the way.
fn look_for_claim<S: Strided>(shared: &RingState<S>) -> Result<(), Obstacle> {
    if shared.is_abandoned() {
        return Err(Obstacle::Closed);
    }
    let Some(next) = shared.head.claimable() else { return Err(Obstacle::Closed) };
    if next >= shared.gate.limit() && next >= shared.gate.look(next) {
        return Err(Obstacle::Gate);
    }
    // SAFETY: `shared` is the ring, lives, and is for many publishers.
    let is_left = unsafe { shared.slots().is_left(Writers::Many, next, shared.capacity()) };
    if is_left { Ok(()) } else { Err(Obstacle::Slot) }
}

/// Until a claim would find a free slot, or the ring is closed.
#[cfg(feature = "std")]
pub(super) struct Claimable<'a, S, C> {
    shared: &'a RingState<S>,
    claiming: C,
    obstacle: Obstacle,
}

#[cfg(feature = "std")]
impl<'a, S, C: Claiming<S>> Claimable<'a, S, C> {
    pub(super) fn of(claiming: C, shared: &'a RingState<S>) -> Self {
        Self { shared, claiming, obstacle: Obstacle::Gate }
    }

    pub(super) fn strategy(&self) -> WaitStrategy {
        self.shared.strategy
    }
}

#[cfg(feature = "std")]
impl<S: Strided, C: Claiming<S>> Poll for Claimable<'_, S, C> {
    type Found = ();

    fn wait_point(&self) -> &EventCount {
        self.obstacle.wait_point(self.shared)
    }

    fn poll(&mut self) -> Look<()> {
        match self.claiming.look_for_claim(self.shared) {
            Ok(()) | Err(Obstacle::Closed) => Look::Found(()),
            Err(obstacle) => {
                self.obstacle = obstacle;
                Look::Nothing
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::common::Common;
    use crate::broadcast::ring_state::RingParts;
    use crate::memory::Memory;
    use crate::ring::Copied;

    fn shared() -> Common<RingState<Copied<u64>>> {
        let stride = Copied::<u64>::stride(Writers::Many);
        let store = Copied::new(4, stride, &Memory::default(), RingState::<Copied<u64>>::BEFORE).unwrap();
        let ring = RingParts::new(4, Sequence::FIRST, (Writers::Many, stride), store);
        let [shared] = RingState::made(ring, 0, WaitStrategy::default(), None, None);
        shared
    }

    fn at(number: u64) -> Sequence {
        Sequence::new(number)
    }

    fn write(shared: &RingState<Copied<u64>>, number: u64) {
        // SAFETY: the ring lives and is for many; the test has claimed the message, and its slot was left.
        unsafe { shared.slots().write(Writers::Many, at(number), &number) }.publish();
    }

    fn claimed(shared: &RingState<Copied<u64>>, most: u64) -> Result<(u64, u64), Obstacle> {
        try_claim(shared, most).map(|claimed| (claimed.first.get(), claimed.end.get()))
    }

    #[test]
    fn claim_goes_as_far_as_slots_are_left() {
        let shared = shared();
        let claim = |most| claimed(&shared, most);
        assert_eq!([claim(10), claim(10)], [Ok((0, 2)), Ok((2, 4))], "half a ring before the gate is asked");
        assert_eq!(claim(1), Err(Obstacle::Slot), "the slot of 4 waits for 0");
        write(&shared, 1);
        assert_eq!(claim(10), Err(Obstacle::Slot), "it is 0 that is to be written");
        write(&shared, 0);
        assert_eq!(claim(1), Ok((4, 5)));
        assert_eq!(claim(10), Ok((5, 6)), "2 is to be written");
        shared.receiver_goes();
        assert_eq!(claim(10), Err(Obstacle::Closed));
    }

    /// A publisher that waits for the writer of the lap before watches the stamp that this one stores last.
    #[test]
    fn claim_that_waits_for_a_slot_watches_its_stamp() {
        let shared = shared();
        assert!(claimed(&shared, 2).and(claimed(&shared, 2)).is_ok());
        let mut claim = claim_of_one(FromHead, &shared);
        assert!(claim.watched().is_none(), "what is in the way is not known");
        assert!(matches!(claim.poll(), Look::Nothing));
        let word = claim.watched().unwrap();
        let before = word.load(crate::sync::Ordering::Relaxed);
        write(&shared, 1);
        assert_eq!(word.load(crate::sync::Ordering::Relaxed), before, "another slot");
        write(&shared, 0);
        assert_ne!(word.load(crate::sync::Ordering::Relaxed), before);
        assert!(matches!(claim.poll(), Look::Found(Ok(_))));
    }
}

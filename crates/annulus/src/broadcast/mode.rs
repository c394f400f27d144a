//! [`Mode`]: whether a ring loses messages, and how a subscriber is bound to others. Types decide it, so a
//! subscriber that is not bound pays nothing.
//!
//! What a subscriber does at each step of a receive. A stage does some of the steps in its own way
//! (`progress.rs`). The compiler knows by the role which way it is, so a plain subscriber has no branch.
//!
//! ```text
//! begin       tell, as a stage, that what was received before is processed
//! admits      may it look at the message at the cursor? A plain subscriber may.
//! floor       the upstreams of a stage lost messages before it. A plain subscriber has no upstreams.
//!             … the message is copied or read: `subscriber.rs`, `event/subscriber.rs`
//! advance     publishers of a lossless ring see how far the subscriber is
//! wait_point  nothing there: where to sleep, and which word to watch
//! ```

#![allow(private_bounds, private_interfaces, reason = "this is what seals the traits")]

use core::convert::Infallible;
use core::fmt;

use super::handle::{Gating, Handle, Receiving, Role};
use super::progress::Following;
use super::ring_state::RingState;
use crate::base::sequence::Sequence;
use crate::message::schema::BadValue;
use crate::ring::{OwnPlace, Store};
use crate::sync::{AtomicU64, seeded};
use crate::wait::EventCount;

/// Whether publishers wait for subscribers, and subscribers for each other: [`Lossy`], [`Lossless`], or
/// [`Staged`](crate::broadcast::Staged) over one of these.
///
/// There are no other modes: the trait can't be implemented outside this crate.
// Sealed by `advance`: an implementation has to name `RingState`, which is private.
// Decision 0016: what is hidden is empty where a mode has no use for it.
pub trait Mode: Sized + 'static {
    /// What is said of something in the ring that is no message: a [`BadValue`], if another process can write
    /// there; otherwise nothing, because there can be no such thing.
    type Corrupt: Copy + fmt::Debug + fmt::Display;

    /// Never called within one process.
    #[doc(hidden)]
    // Decision 0148: `Infallible` within one process.
    fn corrupt(bad: BadValue) -> Self::Corrupt;

    /// What a subscriber's handle is to the ring.
    #[doc(hidden)]
    type Role: Role + Send + Sync;

    /// What one of many publishers has apart from the ring: a place, by which it claims, where it waits for
    /// no subscriber.
    #[doc(hidden)]
    type Claims: Clone + Send + Sync;

    /// Whether publishers wait for its subscribers, so that no message is overwritten before it is received.
    const LOSSLESS: bool;

    /// Whether other processes write to the ring, so that each message is checked when it was read.
    #[doc(hidden)]
    const IS_CHECKED: bool = false;

    /// Whether it is hardly ever overtaken, so that it reads in runs. A run is received whole, or not at all.
    #[doc(hidden)]
    const IN_RUNS: bool = Self::LOSSLESS;

    /// The subscriber has taken all messages before `cursor` out of the ring.
    #[doc(hidden)]
    fn advance<S: Store>(role: &Self::Role, shared: &RingState<S>, cursor: Sequence);
}

/// A mode in which a subscriber may lose messages, or find what is no message. Its subscribers have the verbs
/// that report that, such as [`try_recv_or_lag`](crate::broadcast::Subscriber::try_recv_or_lag).
///
/// It is each mode but [`Lossless`], and stages of that.
#[diagnostic::on_unimplemented(
    message = "this subscriber loses nothing, so it has no lag to report",
    note = "use the verb without `_or_lag`"
)]
pub trait MayLose: Mode {}

impl MayLose for Lossy {}

/// A mode in which publishers wait for nobody: [`Lossy`], or `Foreign` for a ring of other processes.
pub trait LossyMode: Unstaged + MayLose + Mode<Role = Receiving> {}

impl LossyMode for Lossy {}

/// The mode of a subscriber that follows no other: [`Lossy`] or [`Lossless`]. Such a subscriber can become a
/// stage, once, and can be cloned.
#[diagnostic::on_unimplemented(
    message = "this subscriber is a stage already",
    note = "give it all upstreams at once: `subscriber.after(&[&first, &second])`",
    note = "a stage can't be cloned: clone the subscriber before it becomes one"
)]
pub trait Unstaged: Mode {
    /// The role of a clone at the same `cursor`. (A stage has no clone: its followers would not follow it.)
    #[doc(hidden)]
    fn fork<S: Store>(role: &Self::Role, shared: &RingState<S>, cursor: Sequence) -> Self::Role;
}

impl Unstaged for Lossy {
    fn fork<S: Store>(_: &Receiving, shared: &RingState<S>, _: Sequence) -> Receiving {
        shared.subscriber_comes();
        Receiving
    }
}

impl Unstaged for Lossless {
    fn fork<S: Store>(_: &Gating, shared: &RingState<S>, cursor: Sequence) -> Gating {
        let pass = shared.gate.fork(cursor);
        shared.subscriber_comes();
        Gating(pass)
    }
}

/// Publishers never wait for subscribers. A subscriber that falls behind loses the oldest messages. It counts
/// them, and can be [asked](MayLose) to report them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lossy {}

/// Publishers wait for the slowest subscriber. Nobody loses a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lossless {}

/// A subscriber of a ring whose publishers are of other processes, and do not wait for it. It is as one of
/// mode [`Lossy`]. And it checks each message, because other processes can write anything to the ring:
/// [`LossyTryRecvError::Corrupt`](crate::LossyTryRecvError::Corrupt) says what is no message. (A type of
/// which any bytes are a value needs no check, and gets none.)
#[cfg(feature = "shm")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Foreign {}

#[cfg(feature = "shm")]
impl Unstaged for Foreign {
    fn fork<S: Store>(role: &Receiving, shared: &RingState<S>, cursor: Sequence) -> Receiving {
        Lossy::fork(role, shared, cursor)
    }
}

#[cfg(feature = "shm")]
impl MayLose for Foreign {}

#[cfg(feature = "shm")]
impl LossyMode for Foreign {}

/// A subscriber of a lossless ring whose publisher is of another process. It has one of the
/// [seats](crate::shm::broadcast::lossless) of the ring, and the publisher waits for it.
///
/// It loses nothing, as long as no process writes to the ring what it must not. Because one could, it counts
/// what it lost and what was no message, and has the verbs that [report](MayLose) both. It has no clone,
/// because there might be no seat for that.
#[cfg(feature = "shm")]
#[cfg_attr(annulus_loom, allow(rustdoc::broken_intra_doc_links))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Awaited {}

#[cfg(feature = "shm")]
impl MayLose for Awaited {}

const OF_THIS_PROCESS: &str = "its publishers are of this process";

impl Mode for Lossy {
    type Corrupt = Infallible;
    type Role = Receiving;
    type Claims = OwnPlace;
    const LOSSLESS: bool = false;

    // Unreached: says that it can't happen
    fn corrupt(_: BadValue) -> Infallible {
        unreachable!("{OF_THIS_PROCESS}")
    }

    #[inline(always)]
    fn advance<S: Store>(_: &Receiving, _: &RingState<S>, _: Sequence) {}
}

#[cfg(feature = "shm")]
impl Mode for Foreign {
    type Corrupt = BadValue;
    type Role = Receiving;
    type Claims = ();
    const LOSSLESS: bool = false;
    const IS_CHECKED: bool = true;

    fn corrupt(bad: BadValue) -> BadValue {
        bad
    }

    #[inline(always)]
    fn advance<S: Store>(_: &Receiving, _: &RingState<S>, _: Sequence) {}
}

#[cfg(feature = "shm")]
impl Mode for Awaited {
    type Corrupt = BadValue;
    type Role = Gating;
    type Claims = ();
    const LOSSLESS: bool = false;
    const IS_CHECKED: bool = true;
    const IN_RUNS: bool = true;

    fn corrupt(bad: BadValue) -> BadValue {
        bad
    }

    #[inline(always)]
    fn advance<S: Store>(role: &Gating, shared: &RingState<S>, cursor: Sequence) {
        // SAFETY: the role is of this ring, which lives, and is given up only with its handle.
        unsafe { role.0.advance(cursor) };
        if !seeded!("seat_receive_wakes_nobody") {
            shared.released.notify_across();
        }
    }
}

impl Mode for Lossless {
    type Corrupt = Infallible;
    type Role = Gating;
    type Claims = ();
    const LOSSLESS: bool = true;

    // Unreached: says that it can't happen
    fn corrupt(_: BadValue) -> Infallible {
        unreachable!("{OF_THIS_PROCESS}")
    }

    #[inline(always)]
    fn advance<S: Store>(role: &Gating, shared: &RingState<S>, cursor: Sequence) {
        // SAFETY: the role is of this ring, which lives, and is given up only with its handle.
        unsafe { role.0.advance(cursor) };
        if !seeded!("gate_receive_wakes_nobody") {
            shared.released.notify();
        }
    }
}

// Decision 0016: a role that does not follow has nothing to do in these steps.
impl<S: Store, R: Role> Handle<S, R> {
    /// Whether the subscriber is a stage. Its look at its upstreams takes the role's address, so it lives in
    /// memory whatever else is done.
    #[inline(always)]
    pub(super) fn is_stage(&self) -> bool {
        self.role().following().is_some()
    }

    /// The subscriber, at `cursor`, begins another receive: it is done with what it received before.
    #[inline(always)]
    pub(super) fn begin(&mut self, cursor: Sequence) {
        let (role, shared) = self.role_mut();
        if let Some(stage) = role.following_mut() {
            stage.tell(shared, cursor);
        }
    }

    /// Whether the message at `cursor` may be looked at.
    #[inline(always)]
    pub(super) fn admits(&mut self, cursor: Sequence) -> bool {
        self.role_mut().0.following_mut().is_none_or(|stage| stage.admits(cursor))
    }

    /// How many messages from `cursor` on may be looked at, up to `most`.
    // Mutants: `with 0`, `with 1`: one by one.
    #[inline(always)]
    pub(super) fn admits_up_to(&mut self, cursor: Sequence, most: usize) -> usize {
        self.role_mut().0.following_mut().map_or(most, |stage| stage.admits_up_to(cursor, most))
    }

    /// From where on the upstreams of the subscriber have processed everything; the first sequence where they
    /// lost nothing.
    #[inline(always)]
    pub(super) fn floor(&self) -> Sequence {
        self.role().following().map_or(Sequence::FIRST, Following::floor)
    }

    /// As [`floor`](Self::floor), for the floor of this moment: it may have risen since it was looked at
    /// last.
    #[inline(always)]
    pub(super) fn new_floor(&mut self) -> Sequence {
        self.role_mut().0.following_mut().map_or(Sequence::FIRST, Following::new_floor)
    }

    /// Where a subscriber at `cursor` would go on, as far as its upstreams decide that.
    #[inline(always)]
    pub(super) fn start(&self, cursor: Sequence) -> Sequence {
        self.role().following().map_or(cursor, |stage| stage.start(cursor))
    }

    /// The end of what may be looked at, where the publishers' is `head`.
    #[inline(always)]
    pub(super) fn end_before(&self, head: Sequence) -> Sequence {
        self.role().following().map_or(head, |stage| head.min(stage.end()))
    }

    /// The subscriber has passed over messages, up to `cursor`.
    #[inline(always)]
    pub(super) fn skipped(&mut self, cursor: Sequence) {
        let (role, shared) = self.role_mut();
        if let Some(stage) = role.following_mut() {
            stage.skip_to(shared, cursor);
        }
    }

    /// Whether the message at `cursor` only has to be published. What the upstreams of a stage have processed
    /// may still have to be: a stage that joined while many publishers were at work began behind what they
    /// had claimed and not yet written.
    #[inline(always)]
    fn awaits_publisher(&self, cursor: Sequence) -> bool {
        self.role().following().is_none_or(|stage| stage.is_allowed(cursor))
    }

    /// Where the subscriber sleeps, to wait for the message at `cursor`.
    #[inline(always)]
    pub(super) fn wait_point(&self, cursor: Sequence) -> &EventCount {
        // Decision 0027: where the missing message will be announced.
        let is_wrong = self.is_stage() && seeded!("stage_sleeps_at_the_wrong_event");
        if self.awaits_publisher(cursor) && !is_wrong { &self.published } else { &self.released }
    }

    /// The one word that decides whether the message at `cursor` can be looked at, if there is one.
    #[inline(always)]
    pub(super) fn watched(&self, cursor: Sequence) -> Option<&AtomicU64> {
        match self.role().following() {
            Some(stage) if !self.awaits_publisher(cursor) => stage.word(),
            _ => Some(self.stamp_word(cursor)),
        }
    }
}

//! What a subscriber does at each step of a receive. A stage does some of the steps in its own way
//! (`following.rs`). The compiler knows by the role which way it is, so a plain subscriber has no branch.
//!
//! ```text
//! begin   tell, as a stage, that what was received before is processed
//! admits  may it look at the message at the cursor? A plain subscriber may.
//! floor   before the floor, those before it lost messages. Nobody is before a plain subscriber.
//!         … the message is copied or read: `subscriber.rs`, `event/subscriber.rs`
//! event   nothing there: where to sleep, and which word to watch
//! ```

use super::following::Following;
use super::handle::{Handle, Role};
use crate::base::sequence::Sequence;
use crate::ring::Store;
use crate::sync::{AtomicU64, mutated};
use crate::wait::EventCount;

// Decision 0016: a role that does not follow has nothing to do in these steps.
impl<S: Store, R: Role> Handle<S, R> {
    /// Whether the subscriber is a stage. Its look at those before it takes the role's address, so it lives
    /// in memory whatever else is done.
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

    /// From where on those before the subscriber have processed everything; the first sequence where they
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

    /// Where a subscriber at `cursor` would go on, as far as those before it decide that.
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

    /// Whether the message at `cursor` only has to be published. What those before a stage have processed
    /// may still have to be: a stage that joined beside many publishers began behind what others had claimed
    /// and not yet written.
    #[inline(always)]
    fn awaits_publisher(&self, cursor: Sequence) -> bool {
        self.role().following().is_none_or(|stage| stage.is_allowed(cursor))
    }

    /// Where the subscriber sleeps, to wait for the message at `cursor`.
    #[inline(always)]
    pub(super) fn event(&self, cursor: Sequence) -> &EventCount {
        // Decision 0027: where the missing message will be announced.
        let is_wrong = self.is_stage() && mutated!("stage_sleeps_at_the_wrong_event");
        if self.awaits_publisher(cursor) && !is_wrong { &self.published } else { &self.released }
    }

    /// The one word that decides whether the message at `cursor` can be looked at, if there is one.
    #[inline(always)]
    pub(super) fn watched(&self, cursor: Sequence) -> Option<&AtomicU64> {
        match self.role().following() {
            Some(stage) if !self.awaits_publisher(cursor) => stage.word(),
            _ => Some(self.ring.stamp_word(cursor)),
        }
    }
}

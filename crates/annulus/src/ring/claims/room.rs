//! Claims in a ring whose publishers wait for subscribers: a publisher claims only what it can fill at once.
//!
//! ```text
//! fellow.room16  h := the head (at first: where its last range ended)
//!                room for h?
//!                  h is before the limit of the gate (`gate.rs`)
//!                  the slot of h was left, or belongs to no living publisher (fellow.take4 to fellow.take7)
//!                ── yes: fellow.claim2; fellow.claim3, if the head is still h, and else again
//!                ── no, and the head is not h any more: again
//! fellow.room17  ── no: intent: none. Then the publisher waits, or gives its message back.
//! ```
//!
//! *What was true of h at the look is true after the claim.* All messages of earlier laps that have the slot
//! of h were claimed before, and fellow.room16 sees the intents of their owners, or later ones: it is an
//! Acquire, and pairs with fellow.claim3 of each. (Where the last own range ended is a head that this thread
//! has stored itself.) Such a message is there, or its owner is gone, and neither changes. A limit only
//! grows. So nobody writes to the slot but the publisher that claims h, and nobody needs what is in it.
//! fellow.claim3 succeeds only if nobody has claimed h.
//!
//! *Why it gives its intent up.* If another publisher was faster, the intent names messages of that one. If
//! that one dies, subscribers wait for this publisher to write them (fellow.look11). It would wait for the
//! subscribers, and neither would go on. Its own messages of earlier intents are all there.
//!
//! *A dead publisher's message* was claimed, so its slot has room. It is left out: subscribers pass it
//! (fellow.look10 to fellow.look13), and store their cursors behind it.
// Decision 0168: room before the claim; what the dead have claimed is left out.

use super::{Claimant, MOST_TURNS, Range, is_too_far};
use crate::base::sequence::Sequence;
use crate::sync::{Ordering, pause, seeded};

/// Nothing was claimed.
pub(crate) struct NotClaimed<O> {
    /// What was in the way; `None` if the ring is closed.
    pub(crate) obstacle: Option<O>,
    /// Whether subscribers may have waited for this publisher, and need not any more: they are to be woken.
    pub(crate) has_held_up: bool,
}

impl Claimant {
    /// As [`claim`](Self::claim), for a ring whose publishers wait for room. `room` is told the next message,
    /// and how many are wanted, and says how many of them have room: at least one, or what is in the way.
    pub(crate) fn claim_in_room<O>(
        &mut self,
        most: u64,
        room: impl Fn(&Self, Sequence, u64) -> Result<u64, O>,
    ) -> Result<Range, NotClaimed<O>> {
        let most = most.min(self.claims.most);
        let (mut head, mut has_announced) = (self.next.get(), false);
        let mut obstacle = None;
        for _ in 0..MOST_TURNS {
            if is_too_far(head) {
                self.claims.decide_if_closed();
                break;
            }
            let looked = room(self, Sequence::new(head).max(self.next), most);
            match looked {
                Ok(count) => match self.claim_from(head, count) {
                    Ok(range) => {
                        self.next = range.end();
                        return Ok(range);
                    }
                    Err(_) => has_announced = true,
                },
                Err(found) if self.head_for_room() == head => {
                    obstacle = Some(found);
                    break;
                }
                Err(_) => {}
            }
            head = self.head_for_room();
            pause();
        }
        if has_announced && !seeded!("room_announcement_kept") {
            // fellow.room17.
            self.intend(0);
        }
        Err(NotClaimed { obstacle, has_held_up: has_announced })
    }

    /// Whether `room` would have room for the next message; `None` if the ring is closed. Claims nothing.
    pub(crate) fn look_for_room<O>(
        &self,
        room: impl Fn(&Self, Sequence, u64) -> Result<u64, O>,
    ) -> Option<Result<u64, O>> {
        let head = self.head_for_room();
        (!is_too_far(head)).then(|| room(self, Sequence::new(head).max(self.next), 1))
    }

    /// fellow.room16.
    fn head_for_room(&self) -> u64 {
        // Acquire: pairs with fellow.claim3. A thread that sees the head sees the intents before it.
        self.claims.head().load(Ordering::Acquire)
    }
}

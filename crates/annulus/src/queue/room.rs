//! How a producer waits for room in its ring, whichever kind of lane that is.

use super::hub::Hub;
use super::member::Member;
use crate::error::Refusal;
use crate::wait::{Deadline, Event, Look, Patience, Wait, WaitStrategy, wait_until};

/// Waits for a slot of `member`, and returns how many slots `room` then found free; [`Refusal::Full`] once `deadline` has passed. It would rather
/// have a `handful` than one.
#[cold]
#[inline(never)]
pub(super) fn wait_for_room<L>(
    hub: &Hub<L>,
    member: &Member<L>,
    handful: u64,
    room: impl Fn(&L) -> u64,
    strategy: WaitStrategy,
    deadline: Deadline,
) -> Result<u64, Refusal> {
    let patience = Patience::new(handful, deadline);
    wait_until(&mut Room { hub, member, free: room, patience }, strategy, deadline)
        .unwrap_or(Err(Refusal::Full))
}

/// A producer whose ring is full.
struct Room<'a, L, R> {
    hub: &'a Hub<L>,
    member: &'a Member<L>,
    free: R,
    patience: Patience,
}

impl<L, R: Fn(&L) -> u64> Wait for Room<'_, L, R> {
    type Found = Result<u64, Refusal>;

    fn event(&self) -> &Event {
        &self.member.taken
    }

    fn poll(&mut self) -> Look<Self::Found> {
        if self.hub.is_closed() {
            return Look::Found(Err(Refusal::Closed));
        }
        self.patience.pause();
        let room = (self.free)(&self.member.lane);
        self.patience.judge(room, Ok(room))
    }
}

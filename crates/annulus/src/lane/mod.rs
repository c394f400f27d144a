//! Lanes, which queues are made of: each message in a lane is moved in by one thread and out by one. A lane
//! knows nothing of waiting.

mod cells;
mod claimed_lane;
mod hand_off;
#[expect(clippy::module_inception, reason = "it is the lane")]
mod lane;
mod position;
mod shared_lane;
mod stamped;

use cells::Cells;
pub(crate) use claimed_lane::{ClaimedLane, Sent};
pub(crate) use lane::Lane;
pub(crate) use position::Position;
pub(crate) use shared_lane::SharedLane;
pub(crate) use stamped::{Claimed, FreeSlot};

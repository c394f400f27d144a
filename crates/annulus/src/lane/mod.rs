//! Lanes, which queues are made of: each message in a lane is moved in by one thread and out by one. A lane
//! knows nothing of waiting. What both sides use lies in the lane, or in memory of two processes: its
//! [`ControlBlock`].

#[cfg(feature = "shm")]
mod across;
#[cfg(all(feature = "shm", not(annulus_loom)))]
mod blocks_across;
mod cells;
mod claim;
mod many_to_many;
mod one_to_one;
#[cfg(feature = "shm")]
mod places;
mod span;
mod stamped;
#[cfg(feature = "shm")]
mod work;

#[cfg(feature = "shm")]
pub(crate) use across::{Across, Count, Numbers, OtherProcess, Producers};
#[cfg(all(feature = "shm", not(annulus_loom)))]
pub(crate) use blocks_across::BlocksAcross;
pub(crate) use cells::{Cells, Number, Position};
pub(crate) use many_to_many::{ManyToMany, Sent};
pub(crate) use one_to_one::{ControlBlock, OneToOne, OtherSide, Own, Sole};
#[cfg(feature = "shm")]
pub(crate) use places::PlaceTable;
pub(crate) use span::Span;
pub(crate) use stamped::{Claimed, FreeSlot, OneToMany, StampedSlot, Taken};
#[cfg(all(feature = "shm", not(annulus_loom)))]
pub(crate) use work::{Carried, ClaimedSlot, InLane, Ledger, SlotShape, WorkLane, WorkReader};
#[cfg(all(feature = "shm", annulus_loom))]
pub use work::{WorkTaker, WorkWriter, work_for_a_model};

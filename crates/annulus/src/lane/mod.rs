//! Lanes, which queues are made of: each message in a lane is moved in by one thread and out by one. A lane
//! knows nothing of waiting. What both sides use lies [in it, or in memory of two processes](control_block).

#[cfg(feature = "shm")]
mod across;
#[cfg(all(feature = "shm", not(annulus_loom)))]
mod blocks_across;
mod cells;
mod claim;
mod control_block;
mod many_to_many;
mod one_to_many;
mod one_to_one;
#[cfg(feature = "shm")]
mod places;
mod position;
mod span;
mod stamped;

#[cfg(feature = "shm")]
pub(crate) use across::{Across, Numbers, OtherProcess, Over, Producers};
#[cfg(all(feature = "shm", not(annulus_loom)))]
pub(crate) use blocks_across::BlocksAcross;
pub(crate) use cells::Cells;
pub(crate) use control_block::{ControlBlock, Lone, Own, Peer};
pub(crate) use many_to_many::{ManyToMany, Sent};
pub(crate) use one_to_many::OneToMany;
pub(crate) use one_to_one::OneToOne;
#[cfg(feature = "shm")]
pub(crate) use places::PlaceTable;
pub(crate) use position::{Number, Position};
pub(crate) use span::Span;
pub(crate) use stamped::{Claimed, FreeSlot, StampedSlot, Taken};

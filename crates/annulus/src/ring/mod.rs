//! Rings of stamped slots, which broadcast is made of: where a message lies, how it gets in and out, and
//! which cursors a publisher may not overtake. A ring knows nothing of waiting.

mod area;
#[cfg(feature = "shm")]
#[cfg_attr(annulus_loom, allow(dead_code, reason = "what only the module `shm` uses"))]
pub(crate) mod cells;
mod claims;
mod copy;
mod end;
#[cfg(feature = "shm")]
pub(crate) mod frames;
mod gate;
mod head;
#[cfg(all(feature = "shm", not(annulus_loom)))]
pub(crate) mod message_block;
mod mirror;
mod owned;
mod range;
mod registry;
#[cfg(feature = "shm")]
mod seats;
#[cfg(not(feature = "shm"))]
#[path = "no_seats.rs"]
mod seats;
mod shared_numbers;
mod slots;

pub(crate) use area::{Area, Extent, Pen};
#[cfg(all(feature = "shm", not(annulus_loom)))]
pub(crate) use claims::behind_claims;
#[cfg(feature = "shm")]
pub(crate) use claims::{ClaimPlaces, Known, NotClaimed};
pub(crate) use claims::{Claimant, Claims, OwnPlace};
pub(crate) use copy::{WORD, copy_shared};
pub(crate) use gate::Gate;
#[cfg(all(feature = "std", not(annulus_loom)))]
pub(crate) use head::LentHead;
pub(crate) use head::{Frontier, Head, MIN_CAPACITY};
pub(crate) use mirror::Mirror;
pub(crate) use owned::Owned;
#[cfg(all(feature = "shm", not(annulus_loom)))]
pub(crate) use range::MOST_PLACES;
pub(crate) use range::Range;
pub(crate) use registry::Pass;
pub(crate) use seats::Seats;
#[cfg(feature = "shm")]
pub(crate) use seats::{Scanned, SeatCell, SeatLocks};
#[cfg(feature = "shm")]
pub(crate) use shared_numbers::SharedNumbers;
#[cfg(all(feature = "std", not(annulus_loom)))]
pub(crate) use slots::LentSlots;
#[cfg(any(test, feature = "shm", annulus_loom))]
pub(crate) use slots::Written;
pub(crate) use slots::{
    Copied, Corrupt, KeptValue, KeptWhole, Missing, Slots, Store, Strided, Value, Whole, WithoutSlot, Writers,
};
#[cfg(all(feature = "shm", not(annulus_loom)))]
pub(crate) use slots::{payload_at, read_bytes, slots_layout, stride_for};

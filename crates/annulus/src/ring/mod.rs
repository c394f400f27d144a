//! Rings of stamped slots, which broadcast is made of: where a message lies, how it gets in and out, and whom
//! a publisher may not overtake. A ring knows nothing of waiting.

mod area;
mod claims;
mod copy;
mod end;
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
pub(crate) use claims::{Claimant, OwnPlace};
#[cfg(feature = "shm")]
pub(crate) use claims::{Claims, Fellows, Known};
pub(crate) use copy::copy_shared;
pub(crate) use gate::Gate;
#[cfg(all(feature = "std", not(annulus_loom)))]
pub(crate) use head::LentHead;
pub(crate) use head::{Frontier, MIN_CAPACITY, Ring, RingParts};
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
pub(crate) use shared_numbers::Shown;
#[cfg(all(feature = "std", not(annulus_loom)))]
pub(crate) use slots::LentSlots;
pub(crate) use slots::{
    Copied, Corrupt, Kept, Missing, Read, Run, Slots, Store, Strided, Value, Whole, WithoutSlot, Writers,
    Written,
};
#[cfg(all(feature = "shm", not(annulus_loom)))]
pub(crate) use slots::{payload_at, read_bytes, slots_layout, stride_for};

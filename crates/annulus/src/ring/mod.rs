//! Rings of stamped slots, which broadcast is made of: where a message lies, how it gets in and out, and whom
//! a publisher may not overtake. A ring knows nothing of waiting.

mod area;
#[cfg(all(feature = "shm", not(annulus_loom)))]
pub(crate) mod block;
mod claims;
mod copied;
mod copy;
mod end;
mod gate;
mod head;
#[cfg(all(feature = "std", not(annulus_loom)))]
mod lent;
mod mirror;
mod owned;
mod passed;
mod range;
mod registry;
#[expect(clippy::module_inception, reason = "it is the ring")]
mod ring;
#[cfg(feature = "shm")]
mod seats;
#[cfg(not(feature = "shm"))]
#[path = "no_seats.rs"]
mod seats;
mod shown;
mod slot;
mod slots;
mod storage;
mod store;

pub(crate) use area::{Area, Extent, Pen};
#[cfg(all(feature = "shm", not(annulus_loom)))]
pub(crate) use claims::behind_claims;
pub(crate) use claims::{Claimant, OwnPlace};
#[cfg(feature = "shm")]
pub(crate) use claims::{Claims, Fellows, Known};
pub(crate) use copied::Copied;
#[cfg(all(feature = "shm", not(annulus_loom)))]
pub(crate) use copied::slots_layout;
pub(crate) use copy::copy_shared;
pub(crate) use gate::Gate;
pub(crate) use head::{Frontier, Writers};
#[cfg(all(feature = "std", not(annulus_loom)))]
pub(crate) use lent::{LentHead, LentSlots};
pub(crate) use mirror::Mirror;
#[cfg(feature = "shm")]
pub(crate) use mirror::Shown;
pub(crate) use owned::Owned;
#[cfg(all(feature = "shm", not(annulus_loom)))]
pub(crate) use range::MOST_PLACES;
pub(crate) use range::Range;
pub(crate) use registry::Pass;
pub(crate) use ring::{MIN_CAPACITY, Ring, RingParts};
pub(crate) use seats::Seats;
#[cfg(feature = "shm")]
pub(crate) use seats::{Scanned, SeatCell, SeatLocks};
pub(crate) use slot::{Corrupt, Kept, Missing, Read, Run, Value, Whole, WithoutSlot, Written};
#[cfg(all(feature = "shm", not(annulus_loom)))]
pub(crate) use slot::{payload_at, read_bytes, stride_for};
pub(crate) use slots::Slots;
pub(crate) use store::{Store, Strided};

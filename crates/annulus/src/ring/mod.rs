//! Rings of stamped slots, which broadcast is made of: where a message lies, how it gets in and out, and whom
//! a publisher may not overtake. A ring knows nothing of waiting.

mod copied;
mod copy;
mod end;
mod gate;
mod head;
mod owned;
mod registry;
#[expect(clippy::module_inception, reason = "it is the ring")]
mod ring;
mod slot;
mod slots;
mod storage;
mod store;

pub(crate) use copied::Copied;
pub(crate) use gate::Gate;
pub(crate) use head::Writers;
pub(crate) use owned::Owned;
pub(crate) use registry::Pass;
pub(crate) use ring::{MIN_CAPACITY, Ring};
pub(crate) use slot::{Missing, Run, Unplaced, Whole, Written};
pub(crate) use slots::Slots;
pub(crate) use store::{Store, Strided};

//! Queues: each message reaches one consumer.
//!
//! | producers | consumers | module | rings | messages |
//! | --- | --- | --- | --- | --- |
//! | one | one | [`spsc`] | one | are written and read in place, as slices |
//! | many | one | [`mpsc`] | one for each producer | are written and read in place, as slices |
//! | one | many | [`spmc`] | one | are claimed by a consumer, then moved |
//! | many | many | [`mpmc`] | one for each producer | are claimed by a consumer, then moved |
//! | many | many | [`ordered`] | one | are claimed by a producer and written, then claimed by a consumer and moved |
//! | one | one | [`bytes`] | one | are records of bytes of any length, written and read in place |
//!
//! Two queues have many producers and many consumers. [`ordered`] has one order and one bound for all
//! producers, verbs that take `&self`, and the memory of one ring, however many producers there are. In
//! [`mpmc`] producers do not disturb each other, but each has a ring of its own. For example, with 64
//! producers and 65,536 slots of `[u64; 8]`, [`mpmc`] takes a quarter of a gigabyte and [`ordered`] takes 5
//! MB.
//!
//! [`mpsc`] and [`mpmc`] have as many rings as there were producers at one time. When a producer leaves, the
//! next producer that joins takes over its ring, with the messages in it. A [`Consumer`] takes from the rings
//! in turn. Its documentation states how long a message may wait, and what a poll costs.
//!
//! The handles of the first four are a [`Producer`] and a [`Consumer`] of some [`kind`]. They have the
//! same verbs, except those that make no sense for a kind.

#[cfg(feature = "shm")]
pub(crate) mod across;
pub mod bytes;
mod channels;
#[cfg(feature = "shm")]
mod checked;
mod consumer;
mod ends;
mod fan_in;
mod free_slot;
pub mod kind;
mod lane_node;
mod latency_sampler;
#[cfg(all(feature = "std", not(annulus_loom)))]
mod lent;
#[doc(alias = "shared")]
pub mod ordered;
mod producer;
mod read;
mod read_many;
mod reservation;
mod roster;
mod shared_slice;
mod state;
mod thinning;
mod write;
mod write_many;

// For models, which know of no module `shm`.
#[cfg(all(feature = "shm", annulus_loom))]
#[doc(hidden)]
pub use across::{Across, Joins, ManyAcross};
pub use channels::{mpmc, mpsc, spmc, spsc, with};
#[cfg(all(feature = "shm", not(annulus_loom)))]
pub(crate) use checked::Cell;
pub use consumer::{Consumer, TryIter};
#[cfg(all(feature = "std", not(annulus_loom)))]
#[doc(hidden)]
pub use lent::Lent;
pub use producer::Producer;
pub use reservation::Reservation;
pub use shared_slice::SharedSlice;

//! Queues: each message reaches one consumer.
//!
//! | producers | consumers | module | rings | messages |
//! | --- | --- | --- | --- | --- |
//! | one | one | [`spsc`] | one | lie beside each other: written and read in place |
//! | many | one | [`mpsc`] | one for each producer | the same |
//! | one | many | [`spmc`] | one | claimed by a consumer, then moved |
//! | many | many | [`mpmc`] | one for each producer | the same |
//! | many | many | [`shared`] | one | claimed by a producer and written, then claimed by a consumer and moved |
//!
//! Which of the two for many of both? [`shared`] has one order and one bound for all producers, verbs that take `&self`, and the memory of one ring, whoever comes;
//! [`mpmc`] has producers that are not in each other's way. 64 producers of `[u64; 8]` with 65,536 slots take a quarter of a gigabyte there, and 5 MB here.
//!
//! In the other four, there are as many rings as there were producers at one time: the ring of one that has left goes to the next one, with what lies in it. A [`Consumer`] takes from the rings in turn; its
//! documentation states how long a message may wait, and what a poll costs.
//!
//! Their handles are a [`Producer`] and a [`Consumer`] of some [`Kind`], so what one can do the others can too, as far as it makes sense there.
//!
//! ```text
//! producer, consumer, reservation, iter, builder     the public handles, written once for all kinds
//! spsc, mpsc, spmc, mpmc                             the kinds
//! fan_in                                             the consumer of many lanes
//! write, read                                        the two ends of a lane
//! shared_write, claim                                the two ends of a shared lane
//! probe, stats                                       what is counted, and measured where that is asked for
//! room                                                how a producer waits
//! rest                                               how claimed messages are moved out
//! hub                                                what all handles of a queue share: lanes, sleepers, close
//! thinning                                           when quiet lanes leave the consumers' list
//! roster                                             which lanes there are, which are free, which are on the list
//! kind                                               what the kinds have in common
//! shared                                             the queue with one order: its handles, and what they share
//! ```

mod apart;
mod builder;
mod claim;
mod consumer;
mod fan_in;
mod handing;
mod hub;
mod iter;
mod kind;
pub mod mpmc;
pub mod mpsc;
mod probe;
mod producer;
mod read;
mod reservation;
mod rest;
mod room;
mod roster;
pub mod shared;
mod shared_write;
pub mod spmc;
pub mod spsc;
mod stats;
mod thinning;
mod write;

pub use builder::Builder;
pub use consumer::Consumer;
pub use iter::{IntoIter, Iter, TryIter};
pub use kind::{InPlace, Joinable, Kind, Shared};
pub use producer::Producer;
pub use reservation::Reservation;
pub use stats::{ChannelStats, Latency, ProducerStats};

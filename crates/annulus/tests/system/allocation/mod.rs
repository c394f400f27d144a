//! Messages go their way without the allocator: nothing is taken from it, and nothing given back. What joins
//! a ring may need memory: `joins.rs` says which verbs do.

mod broadcast;
mod buses;
mod events;
mod joins;
mod made;
mod memory;
mod queues;
#[cfg(feature = "std")]
mod waits;

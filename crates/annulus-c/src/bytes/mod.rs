//! Records: byte strings of any length, each sent and received as a whole.
//!
//! ```text
//! queue       how a queue of records is made          producer, consumer      its verbs
//! broadcast   how a broadcast ring of them is made    publisher, subscriber   its verbs
//! ```
//!
//! The handles are types of their own: a record has a length, which a verb takes or returns, and a message of
//! the other rings has none. What all rings have in common is the same: options, closers, statistics.

mod queue;

mod producer;

mod consumer;

mod broadcast;

mod publisher;

mod subscriber;

pub use broadcast::*;
pub use consumer::*;
pub use producer::*;
pub use publisher::*;
pub use queue::*;
pub use subscriber::*;

pub(crate) use consumer::BytesConsumer;
pub(crate) use producer::BytesProducer;

// Of which rings between processes are made, too.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub(crate) use {consumer::Reading, producer::Writing, queue::ring_of};

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

pub(crate) use consumer::{BytesConsumer, Reading};
pub(crate) use producer::{BytesProducer, Writing};
pub(crate) use queue::ring_of;

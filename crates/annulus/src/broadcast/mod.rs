//! Broadcast: every subscriber sees every message.
//!
//! ```text
//! channel       the constructors, and what both sides share
//! publisher     the one who writes
//! subscribable  from which subscribers are made, at any time, on any thread
//! subscriber    one reader: receiving, lag, waiting
//! iter          drain, and the iterators that wait
//! handle        a share in the ring that lets its owner live in registers
//! ```

mod channel;
mod handle;
mod iter;
mod publisher;
mod subscribable;
mod subscriber;

pub use channel::{channel, try_channel};
pub use iter::{Drain, IntoIter, Iter};
pub use publisher::Publisher;
pub use subscribable::Subscribable;
pub use subscriber::Subscriber;

//! Broadcast: every subscriber sees every message.
//!
//! ```text
//! channel       the constructors, and what both sides share
//! publisher     the one who writes
//! subscribable  from which subscribers are made, at any time, on any thread
//! subscriber    one reader: receiving, lag, waiting
//! lapse         where a reader goes on after it was lapped
//! iter          drain, and the iterators that wait
//! handle        a share in the ring, made for speed
//! ```

mod channel;
mod handle;
mod iter;
mod lapse;
mod publisher;
mod subscribable;
mod subscriber;

pub use channel::{channel, try_channel};
pub use iter::{Drain, IntoIter, Iter};
pub use publisher::Publisher;
pub use subscribable::Subscribable;
pub use subscriber::Subscriber;

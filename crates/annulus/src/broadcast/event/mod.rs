//! Owned events: any `T`, changed in place by publishers and read by reference, always lossless.
//!
//! ```text
//! publisher     changes them:              by closure, or whole values; what is done to one before
//! mp_publisher  one of many, which changes an event of its own and swaps it in
//! subscribable  from which subscribers are made
//! subscriber    one reader: by closure, by reference, in batches; as a stage
//! recv          by value: clones, one by one and as iterators
//! ```

mod mp_publisher;
mod publisher;
mod recv;
mod subscribable;
mod subscriber;

pub use mp_publisher::MpPublisher;
pub use publisher::{Publisher, Reset};
pub use recv::TryIter;
pub use subscribable::Subscribable;
pub use subscriber::{Ref, Subscriber};

//! Owned events: any `T`, changed in place by publishers and read by reference, always lossless.
//!
//! ```text
//! publisher     the one who changes them
//! mp_publisher  one of many, which changes an event of its own and swaps it in
//! subscribable  from which subscribers are made
//! subscriber    one reader: by closure, by reference, in batches
//! ```

mod mp_publisher;
mod publisher;
mod subscribable;
mod subscriber;

pub use mp_publisher::MpEventPublisher;
pub use publisher::EventPublisher;
pub use subscribable::EventSubscribable;
pub use subscriber::{EventSubscriber, Ref};

//! Owned events: any `T`, changed in place by publishers and read by reference, always lossless.
//!
//! ```text
//! publisher     the one who changes them
//! mp_publisher  one of many, which changes an event of its own and swaps it in
//! send          whole values, of one publisher and of many
//! reset         what is done to an event before a closure gets it
//! subscribable  from which subscribers are made
//! subscriber    one reader: by closure, by reference, in batches
//! stage         subscribers that see an event after others have processed it
//! recv          by value: clones, one by one and as iterators
//! tasks         the async verbs
//! source        subscribers as what one can wait at
//! select        what a select does with them
//! transmit      publishers as what one can send into
//! ```

mod mp_publisher;
mod publisher;
mod recv;
pub(in crate::broadcast) mod reset;
#[cfg(feature = "std")]
mod select;
mod send;
mod source;
mod stage;
mod subscribable;
mod subscriber;
#[cfg(feature = "async")]
mod tasks;
mod transmit;

pub use mp_publisher::MpEventPublisher;
pub use publisher::EventPublisher;
pub use recv::{IntoIter, Iter, TryIter};
pub use reset::Reset;
pub use subscribable::EventSubscribable;
pub use subscriber::{EventSubscriber, Ref};

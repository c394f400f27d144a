//! The messages of rings: this program's, and what is in the messages of any ring.
//!
//! Every subcommand that looks at rings knows the messages of those that make them. So the types lie here,
//! below all of them.
//!
//! ```text
//! quote     what `demo` publishes: numbered, stamped and sealed
//! piece     what `pub` publishes: a piece of a line; and how lines are put together again
//! load      what `bench` publishes: numbered, stamped, filled and checked
//! known     what is known of these three, beyond their schema
//! decoder   what is in the messages of a ring, by its schema, and the newest of them
//! ```

#[cfg(target_os = "linux")]
mod decoder;
#[cfg(target_os = "linux")]
mod known;
#[cfg(target_os = "linux")]
pub(crate) mod load;
#[cfg(target_os = "linux")]
pub(crate) mod piece;
pub(crate) mod quote;

#[cfg(target_os = "linux")]
pub(crate) use decoder::{
    Decoder, Newest, described, fields_to_text, message_to_text, newest, newest_to_text,
};
#[cfg(target_os = "linux")]
pub(crate) use known::{Object, SentNs, clock, name};

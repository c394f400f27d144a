//! The C library `annulus`, over the Rust library of that name: `include/annulus.h` is what a program in C or
//! C++ includes, and the README says how to build and to use it.
//!
//! Every function begins with a look at its arguments, and ends with a status. None panics across the border.
//! What lies behind is the Rust library: this crate has handles and no algorithm.
//!
//! ```text
//! status      what functions return              handle      objects, and pointers that are none
//! options     sizes, and how threads wait        ring        what all handles of a ring know
//! queue       how queues are made                producer, consumer      their verbs
//! broadcast   how broadcast rings are made       publisher, subscriber   their verbs
//! closer      the end, from any thread           pool        buffers of one size
//! stats       the numbers of a ring              notified    file descriptors that tell of messages
//! view        how views begin and end            spsc_view, lossy_view      without a call
//! bytes       records of any length
//! shared      rings between processes
//! blocks      messages of a size that is known when the ring is made, used in place
//! in_place    the same, whatever the kind of queue
//! typed       the same, claimed one by one
//! either      a handle of a lossy ring, or of a lossless one
//! tsan        what ThreadSanitizer is told
//! ```

// What C sees, in the order of the header.
mod status;

mod options;

mod queue;

mod producer;

mod consumer;

mod broadcast;

mod publisher;

mod subscriber;

mod bytes;

mod closer;

mod pool;

mod stats;

mod view;

mod spsc_view;

mod lossy_view;

mod shared;

// What it is made of.
mod blocks;
mod either;
mod handle;
mod in_place;
mod notified;
mod ring;
mod tsan;
mod typed;

pub use broadcast::*;
pub use bytes::*;
pub use closer::*;
pub use consumer::*;
pub use lossy_view::*;
pub use options::*;
pub use pool::*;
pub use producer::*;
pub use publisher::*;
pub use queue::*;
pub use ring::annulus_peer;
pub use shared::*;
pub use spsc_view::*;
pub use stats::*;
pub use status::*;
pub use subscriber::*;
pub use typed::ANNULUS_MESSAGE_MAX;
pub use view::ANNULUS_VIEW_VERSION;

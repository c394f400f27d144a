//! Rings between processes (Linux, with pointers of 64 bits).
//!
//! ```text
//! options     of what size such a ring is, and of which type its messages are
//! error       what both sides say, where they do not agree
//! invitation  what another process needs, through a socket or by a name
//! rings       how rings are made, and how processes join them
//! bytes       the same for queues of records
//! watch       newest values; watch_ends: what the handles have
//! frames      rings of frames; frame_types: what C sees of them; frame_ends: what the handles have
//! queue       queues that several consumers share; queue_ends: what the handles have
//! service     services: questions and answers; service_ends: what the handles have
//! peer        whether the processes on the other side are there
//! linux, elsewhere      what does it
//! watched     whether the publisher of a ring hangs
//! checked     whether what another process has written is a message
//! failure     what the Rust library's errors are in C
//! ```

mod options;

mod error;

mod invitation;

mod rings;

mod bytes;

mod frame_types;

mod frames;

mod watch;

mod peer;

mod queue;

mod service;

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod checked;
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
mod elsewhere;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod failure;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod frame_ends;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod linux;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod queue_ends;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod service_ends;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod watch_ends;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod watched;

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
use elsewhere as frame_system;
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
use elsewhere as queue_system;
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
use elsewhere as service_system;
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
use elsewhere as system;
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
use elsewhere as watch_system;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
use frame_ends as frame_system;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
use linux as system;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
use queue_ends as queue_system;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
use service_ends as service_system;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
use watch_ends as watch_system;

pub use bytes::*;
pub use error::annulus_shared_error;
pub use frame_types::*;
pub use frames::*;
pub use invitation::*;
pub use options::*;
pub use peer::*;
pub use queue::*;
pub use rings::*;
pub use service::*;
pub use watch::*;

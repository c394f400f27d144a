//! Annulus by photon-ring's names, for what both run by the same lines.

pub use annulus::TryRecvError;
pub use annulus::broadcast::{
    MpPublisher, Publisher, Subscriber, lossy as channel, mp_lossy as channel_mpmc,
};

//! [`About`]: what a handle says of its ring.

use annulus::shm::{PeerState, RingInfo, ShmKind};
use pyo3::prelude::*;

/// What a ring is.
#[derive(Clone)]
#[pyclass(module = "annulus._annulus", name = "RawAbout", frozen)]
pub(crate) struct About {
    /// None if it has none.
    #[pyo3(get)]
    pub(crate) name: Option<String>,
    /// How texts call it.
    pub(crate) ring: String,
    #[pyo3(get)]
    pub(crate) kind: &'static str,
    /// How many messages it holds; a queue of several producers holds so many in all their places together. A
    /// queue of records: how many bytes. A table: how many cells.
    #[pyo3(get)]
    pub(crate) capacity: usize,
    /// Of a message.
    #[pyo3(get, name = "message_bytes")]
    pub(crate) bytes: usize,
    /// What the messages are, as the ring says it; None if only their size is known.
    #[pyo3(get)]
    pub(crate) schema: Option<String>,
}

impl About {
    pub(crate) fn of(name: Option<&str>, info: &RingInfo) -> Self {
        Self {
            name: name.map(Into::into),
            ring: ring_of(name),
            kind: kind_name(info.kind()),
            capacity: info.capacity(),
            bytes: info.payload_bytes(),
            schema: info.schema().ok().flatten().map(|schema| schema.to_string()),
        }
    }
}

/// How texts call the ring of that name.
pub(crate) fn ring_of(name: Option<&str>) -> String {
    name.map_or_else(|| "the ring without a name".into(), |name| format!("the ring {name:?}"))
}

/// A kind, as Python has it.
pub(crate) fn kind_name(kind: ShmKind) -> &'static str {
    match kind {
        ShmKind::Spsc => "spsc",
        ShmKind::Mpsc => "mpsc",
        ShmKind::Lossy => "lossy",
        ShmKind::Lossless => "lossless",
        ShmKind::Bytes => "bytes",
        ShmKind::BroadcastBytes => "broadcast_bytes",
        ShmKind::LosslessBytes => "lossless_bytes",
        ShmKind::Frames => "frames",
        ShmKind::LosslessFrames => "lossless_frames",
        ShmKind::Watch => "watch",
        ShmKind::Service => "service",
        ShmKind::Mpmc => "mpmc",
        ShmKind::MpLossy => "mp_lossy",
        ShmKind::MpLossless => "mp_lossless",
        _ => "unknown",
    }
}

/// A state, as Python has it.
pub(crate) fn state_name(state: PeerState) -> &'static str {
    match state {
        PeerState::NotYet => "not_yet",
        PeerState::Alive => "alive",
        PeerState::Closed => "closed",
        PeerState::Dead => "dead",
        _ => "unknown",
    }
}

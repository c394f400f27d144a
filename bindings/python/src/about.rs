//! [`About`]: what a handle says of its ring.

use annulus::shm::{PeerState, RingInfo, ShmKind};

/// What a ring is.
pub(crate) struct About {
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(crate) capacity: usize,
    /// Of a message.
    pub(crate) bytes: usize,
    pub(crate) schema: Option<String>,
}

impl About {
    pub(crate) fn of(name: &str, info: &RingInfo) -> Self {
        Self {
            name: name.into(),
            kind: kind_name(info.kind()),
            capacity: info.capacity(),
            bytes: info.payload_bytes(),
            schema: info.schema().ok().flatten().map(|schema| schema.to_string()),
        }
    }
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
        ShmKind::MpLossy => "mp_lossy",
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

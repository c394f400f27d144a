//! [`ShmKind`]: which ring lies in shared memory.

use core::fmt;

/// Which ring lies in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u32)]
#[doc(alias = "Kind")]
pub enum ShmKind {
    /// A queue from one producer to one consumer.
    Spsc = 1,
    /// A queue from several producers, each with a ring of its own, to one consumer.
    Mpsc = 2,
    /// A broadcast ring whose publisher never waits.
    Lossy = 3,
    /// A broadcast ring whose publisher waits for the slowest subscriber.
    Lossless = 4,
    /// A queue of records of any length.
    Bytes = 5,
    /// A broadcast ring of records of any length.
    BroadcastBytes = 6,
    /// A broadcast ring of several publishers, which never wait.
    // (7 was such a ring with a claim in each slot.)
    MpLossy = 8,
    /// A broadcast ring of frames, which lie in memory of their own, and whose publisher never waits.
    Frames = 9,
    /// Cells with the newest value of each, which lie beside a broadcast ring that tells which have changed.
    Watch = 10,
    /// Questions from several clients to a server, and its answers.
    Service = 11,
    /// As [`Frames`](Self::Frames), with a publisher that waits for the slowest subscriber.
    LosslessFrames = 12,
    /// A queue of several producers and several consumers.
    Mpmc = 13,
    /// A broadcast ring of several publishers, which wait for the slowest subscriber.
    MpLossless = 14,
    /// As [`BroadcastBytes`](Self::BroadcastBytes), with a publisher that waits for the slowest subscriber.
    LosslessBytes = 15,
}

impl ShmKind {
    /// All of them.
    pub(super) const ALL: [Self; 14] = [
        Self::Spsc,
        Self::Mpsc,
        Self::Lossy,
        Self::Lossless,
        Self::Bytes,
        Self::BroadcastBytes,
        Self::MpLossy,
        Self::Frames,
        Self::Watch,
        Self::Service,
        Self::LosslessFrames,
        Self::Mpmc,
        Self::MpLossless,
        Self::LosslessBytes,
    ];

    /// Whether it has seats for subscribers that its publishers wait for.
    pub(super) fn is_lossless(self) -> bool {
        matches!(self, Self::Lossless | Self::LosslessFrames | Self::MpLossless | Self::LosslessBytes)
    }

    /// Whether it is a broadcast ring that several processes publish to.
    pub(super) fn has_fellows(self) -> bool {
        matches!(self, Self::MpLossy | Self::MpLossless)
    }

    /// Whether its messages say where frames are.
    pub(super) fn has_frames(self) -> bool {
        matches!(self, Self::Frames | Self::LosslessFrames)
    }

    /// Its number in the header.
    pub(super) fn number(self) -> u32 {
        self as u32
    }

    /// The kind of that number.
    pub(super) fn of_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.number() == number)
    }
}

impl fmt::Display for ShmKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Spsc => "queue of one producer",
            Self::Mpsc => "queue of several producers",
            Self::Lossy => "lossy broadcast ring",
            Self::Lossless => "lossless broadcast ring",
            Self::Bytes => "queue of records",
            Self::BroadcastBytes => "broadcast ring of records",
            Self::LosslessBytes => "lossless broadcast ring of records",
            Self::MpLossy => "lossy broadcast ring of several publishers",
            Self::Frames => "broadcast ring of frames",
            Self::LosslessFrames => "lossless broadcast ring of frames",
            Self::MpLossless => "lossless broadcast ring of several publishers",
            Self::Watch => "newest values",
            Self::Service => "service",
            Self::Mpmc => "queue of several consumers",
        })
    }
}

//! [`Sample`]: all rings of a directory at one moment.

use std::time::{Duration, Instant};

use annulus::shm::{Fingerprint, FrameUse, PeerState, ShmKind};

use super::bridges::BridgeRoute;
use crate::messages::Newest;

/// What one look has found.
pub(crate) struct Sample {
    pub(crate) at: Instant,
    /// The directory of the names.
    pub(crate) directory: String,
    /// In the order of the names.
    pub(crate) rings: Vec<Ring>,
    /// What bridges say of the rings that they carry, in the order of the rings' names.
    pub(crate) routes: Vec<BridgeRoute>,
    /// Why there is nothing to see.
    pub(crate) trouble: Option<String>,
}

/// A name, and the ring that has it.
#[derive(Clone)]
pub(crate) struct Ring {
    pub(crate) name: String,
    /// Another ring of the same name has another number.
    pub(crate) identity: u64,
    pub(crate) state: PeerState,
    /// For how long its publisher has published nothing, if it promised to be quicker.
    pub(crate) overdue: Option<Duration>,
    /// The process that publishes, or sends.
    pub(crate) process: Option<Process>,
    pub(crate) header: Option<Header>,
    pub(crate) numbers: Option<Numbers>,
    /// Of a ring of frames.
    pub(crate) frames: Option<FrameUse>,
    /// Those with seats first.
    pub(crate) readers: Vec<Reader>,
    /// Whether its messages carry the time when they were published.
    pub(crate) is_timed: bool,
    /// What its messages are made of, as text.
    pub(crate) message: Option<String>,
    /// What was published last.
    pub(crate) newest: Option<Newest>,
    /// Of the type of its messages.
    pub(crate) fingerprint: Option<Fingerprint>,
    /// Why the header is not known.
    pub(crate) trouble: Option<String>,
}

/// A process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    /// `None` if it is in another container, whose numbers are not those of here.
    pub(crate) pid: Option<u32>,
    /// As it was started, if it still is there.
    pub(crate) command: Option<String>,
}

/// What does not change.
#[derive(Clone, Copy)]
pub(crate) struct Header {
    pub(crate) kind: ShmKind,
    pub(crate) capacity: u64,
    pub(crate) payload_bytes: u64,
    pub(crate) slot_bytes: u64,
}

/// How far it is.
#[derive(Clone, Copy)]
pub(crate) struct Numbers {
    pub(crate) published: u64,
    pub(crate) pending: Option<u64>,
}

/// A process that receives, or has at least the memory.
#[derive(Clone)]
pub(crate) struct Reader {
    /// Its seat, if it has one.
    pub(crate) seat: Option<Seat>,
    /// Where it says that it stands, if it has no seat.
    pub(crate) mark: Option<Mark>,
    pub(crate) process: Option<Process>,
    /// How long ago the message was published that it takes next, in nanoseconds; 0 if there is none. Known
    /// where messages carry their time.
    pub(crate) behind_ns: Option<u64>,
}

/// Where a reader is.
#[derive(Clone, Copy)]
pub(crate) struct Seat {
    pub(crate) number: u64,
    pub(crate) state: PeerState,
    pub(crate) position: u64,
    pub(crate) lag: u64,
}

/// Where a reader of a lossy ring was, when it last said so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) position: u64,
    pub(crate) lag: u64,
}

impl Mark {
    /// Of a reader that shows this position, in a ring where so many messages were published.
    pub(crate) fn shown(position: u64, published: u64) -> Self {
        // What can't be is as nothing that waits.
        let position = position.min(published);
        Self { position, lag: published - position }
    }
}

impl Reader {
    /// Whether its process has died and left its seat.
    pub(crate) fn is_dead(&self) -> bool {
        self.seat.is_some_and(|seat| seat.state == PeerState::Dead)
    }

    /// How far it is behind, if that is known.
    pub(crate) fn lag(&self) -> Option<u64> {
        self.seat.map(|seat| seat.lag).or(self.mark.map(|mark| mark.lag))
    }

    /// How many messages it is past, if that is known.
    pub(crate) fn position(&self) -> Option<u64> {
        self.seat.map(|seat| seat.position).or(self.mark.map(|mark| mark.position))
    }
}

/// Where a process is that has no number here.
pub(crate) const ELSEWHERE: &str = "in another container";

impl Process {
    /// One that has this number, of which nothing else is known.
    pub(crate) fn of(pid: Option<u32>) -> Self {
        Self { pid, command: None }
    }

    /// Its command, or why that can't be known, for people.
    pub(crate) fn command_to_text(&self) -> Option<String> {
        self.command.clone().or_else(|| self.pid.is_none().then(|| ELSEWHERE.into()))
    }
}

impl Ring {
    /// Its state, in a word.
    pub(crate) fn state(&self) -> String {
        if self.overdue.is_some() { "overdue".into() } else { self.state.to_string() }
    }

    /// How far each reader is behind that says so, the slowest first.
    pub(crate) fn lags(&self) -> Vec<u64> {
        let mut lags: Vec<_> = self.readers.iter().filter_map(Reader::lag).collect();
        lags.sort_unstable_by(|one, other| other.cmp(one));
        lags
    }

    /// What its numbers count, in bytes, if these are no messages.
    pub(crate) fn word_bytes(&self) -> Option<u64> {
        word_bytes(self.header?.kind)
    }

    /// Whether all its readers say how far they are.
    pub(crate) fn tells_lag(&self) -> bool {
        self.header.is_some_and(|header| {
            let is_queue = matches!(header.kind, ShmKind::Spsc | ShmKind::Mpsc | ShmKind::Bytes);
            let has_seats = matches!(header.kind, ShmKind::LosslessFrames | ShmKind::LosslessBytes);
            is_queue || is_lossless(header.kind) || has_seats
        })
    }

    /// A reader that nobody waits for any more.
    pub(crate) fn has_dead_reader(&self) -> bool {
        self.readers.iter().any(Reader::is_dead)
    }
}

impl Sample {
    /// How many rings have lost their process.
    pub(crate) fn dead(&self) -> u64 {
        self.rings.iter().filter(|ring| ring.state == PeerState::Dead).count() as u64
    }
}

/// Whether it is a broadcast ring of messages whose publishers wait for subscribers.
pub(crate) fn is_lossless(kind: ShmKind) -> bool {
    matches!(kind, ShmKind::Lossless | ShmKind::MpLossless)
}

/// Whether it is a broadcast ring whose messages can be looked at.
pub(crate) fn has_messages(kind: ShmKind) -> bool {
    matches!(kind, ShmKind::Lossy | ShmKind::MpLossy) || is_lossless(kind)
}

/// What the numbers of such a ring count, in bytes, if these are no messages.
pub(crate) fn word_bytes(kind: ShmKind) -> Option<u64> {
    (kind == ShmKind::Bytes).then_some(8)
}

/// That a ring is of this kind, behind its name.
pub(crate) fn is_a(kind: ShmKind) -> String {
    if kind == ShmKind::Watch { "has newest values".into() } else { format!("is a {kind}") }
}

/// Which subcommand is for such a ring.
pub(crate) fn verb_for(kind: ShmKind) -> &'static str {
    match kind {
        ShmKind::Watch => "`annulus get` prints its values",
        ShmKind::Service => "`annulus call` asks it",
        ShmKind::Spsc | ShmKind::Mpsc | ShmKind::Mpmc => "`annulus sub --json` receives its messages",
        ShmKind::BroadcastBytes | ShmKind::LosslessBytes => "`annulus sub` prints its records",
        kind if has_messages(kind) => "`annulus sub --json` prints its messages",
        _ => "`annulus info` says what it is",
    }
}

/// A word for a kind, for tables.
pub(crate) fn short(kind: ShmKind) -> &'static str {
    match kind {
        ShmKind::Spsc => "queue",
        ShmKind::Mpsc => "mpsc",
        ShmKind::Lossy => "lossy",
        ShmKind::Lossless => "lossless",
        ShmKind::MpLossy => "mp lossy",
        ShmKind::MpLossless => "mp lossless",
        ShmKind::Bytes => "records",
        ShmKind::BroadcastBytes => "lossy rec",
        ShmKind::LosslessBytes => "all records",
        ShmKind::Frames => "frames",
        ShmKind::LosslessFrames => "all frames",
        ShmKind::Watch => "watch",
        ShmKind::Service => "service",
        ShmKind::Mpmc => "mpmc",
        _ => "other",
    }
}

/// Rings for tests.
#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A lossless ring of 1,024 slots.
    pub(crate) fn ring(name: &str, published: u64, lags: &[u64]) -> Ring {
        let reader = |(number, &lag): (u64, &u64)| Reader {
            seat: Some(Seat { number, state: PeerState::Alive, position: published - lag, lag }),
            mark: None,
            process: Some(process(200 + number as u32, &format!("reader-{number} of {name}"))),
            behind_ns: None,
        };
        Ring {
            name: name.into(),
            identity: 1,
            state: PeerState::Alive,
            overdue: None,
            process: Some(process(100, &format!("feed --to {name}"))),
            header: Some(Header {
                kind: ShmKind::Lossless,
                capacity: 1024,
                payload_bytes: 56,
                slot_bytes: 64,
            }),
            numbers: Some(Numbers { published, pending: lags.iter().copied().max() }),
            frames: None,
            readers: (0..).zip(lags).map(reader).collect(),
            is_timed: false,
            message: None,
            newest: None,
            fingerprint: None,
            trouble: None,
        }
    }

    /// A lossy ring that one process has.
    pub(crate) fn lossy(name: &str, published: u64) -> Ring {
        let mut ring = ring(name, published, &[]);
        ring.header = ring.header.map(|header| Header { kind: ShmKind::Lossy, capacity: 65_536, ..header });
        ring.readers = vec![Reader {
            seat: None,
            mark: None,
            process: Some(process(300, "annulus sub")),
            behind_ns: None,
        }];
        ring
    }

    /// What a dead process left.
    pub(crate) fn dead(name: &str) -> Ring {
        Ring {
            state: PeerState::Dead,
            process: Some(Process::of(Some(101))),
            header: None,
            numbers: None,
            ..ring(name, 0, &[])
        }
    }

    /// A lossless ring whose messages carry their time, with readers that are so far behind.
    pub(crate) fn timed(name: &str, published: u64, lags: &[(u64, u64)]) -> Ring {
        let mut ring = ring(name, published, &lags.iter().map(|(lag, _)| *lag).collect::<Vec<_>>());
        ring.is_timed = true;
        for (reader, &(_, behind_ns)) in ring.readers.iter_mut().zip(lags) {
            reader.behind_ns = Some(behind_ns);
        }
        ring
    }

    pub(crate) fn process(pid: u32, command: &str) -> Process {
        Process { pid: Some(pid), command: Some(command.into()) }
    }

    pub(crate) fn sample(rings: Vec<Ring>) -> Sample {
        let directory = "/run/user/7/annulus".into();
        Sample { at: Instant::now(), directory, rings, routes: Vec::new(), trouble: None }
    }

    #[test]
    fn slowest_is_first() {
        assert_eq!(ring("a", 100, &[3, 0, 70]).lags(), [70, 3, 0]);
        assert!(lossy("a", 5).lags().is_empty());
        assert!(!lossy("a", 5).tells_lag() && ring("a", 1, &[]).tells_lag() && !dead("a").tells_lag());
        assert_eq!(sample(vec![ring("a", 1, &[]), dead("b")]).dead(), 1);
        let mut marked = lossy("a", 5);
        marked.readers[0].mark = Some(Mark::shown(2, 5));
        assert_eq!((marked.lags(), marked.readers[0].position()), (vec![3], Some(2)));
        assert_eq!(Mark::shown(9, 5), Mark { position: 5, lag: 0 });
    }
}

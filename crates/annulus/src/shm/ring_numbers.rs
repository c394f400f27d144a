//! [`RingNumbers`]: how far both sides of a ring between processes are, at one moment.

use std::vec::Vec;

use super::liveness::PeerState;

/// How far the sides of a ring are, as a [`RingObserver`](super::RingObserver) saw it.
///
/// The numbers are read one after the other while other processes go on, and each is what it was at some
/// moment of the call. While nobody uses the ring, all of them are exact. A process that can write to the
/// ring may write wrong numbers there; `pending` and each `lag` are never more than the capacity.
///
/// The numbers of a queue of several producers are sums over all of them. A queue of records counts words of
/// 8 bytes, where others count messages. A record takes one for its length, and as many as its bytes fill.
/// Words that are left out at the end of the ring count, too.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RingNumbers {
    /// How many messages were published, or sent, since the ring was made. Of a ring of several publishers:
    /// with those that are being written, and those that were passed over.
    pub published: u64,
    /// How many messages wait. In a queue: those that are not received yet. In a lossless ring: how far the
    /// slowest subscriber that has a seat is behind. `None` if nothing tells: in a lossy ring, because its
    /// subscribers write nothing that others could read, and in a lossless one while nobody has a seat.
    pub pending: Option<u64>,
    /// The readers that can be seen: the consumer of a queue, if one has ever come; the subscribers of a
    /// lossless ring that have a seat. Subscribers of a lossy ring can't be seen.
    pub readers: Vec<ReaderNumbers>,
}

/// A reader of a ring, as others see it.
///
/// ```
/// use annulus::shm::{Directory, PeerState, RingObserver, broadcast};
/// # let path = std::env::temp_dir().join(format!("annulus-reader-numbers-{}", std::process::id()));
/// # let directory = Directory::open(&path)?;
///
/// let builder = annulus::broadcast::Builder::new(64);
/// let (mut publisher, invitation) = broadcast::lossless::<u64>(builder, 4)?;
/// let name = invitation.publish(&directory, "orders")?;
/// let mut subscriber = invitation.accept_lossless::<u64>()?.subscribe()?;
/// publisher.publish_batch(&[1, 2, 3])?;
/// subscriber.recv()?;
///
/// let observer = RingObserver::of(&directory.find("orders")?)?;
/// let reader = observer.numbers().unwrap().readers[0];
/// assert_eq!((reader.seat, reader.position, reader.lag), (0, 1, 2));
/// assert_eq!(reader.state, PeerState::Alive);
/// # drop(name);
/// # std::fs::remove_dir_all(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReaderNumbers {
    /// Which seat it has. The consumer of a queue has seat 0.
    pub seat: usize,
    /// Whether its process is there. `Dead`: the next consumer takes over where it stood, or the publisher
    /// takes its seat when it has no room. `Closed`: one of the sides has closed the queue.
    pub state: PeerState,
    /// How many messages of the ring came before the one that it needs next.
    pub position: u64,
    /// How many messages it is behind: `published − position`.
    pub lag: u64,
}

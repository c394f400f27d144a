//! [`Places`]: the places for producers of a queue that has several, and who has them.
//!
//! The lock of a place is that of a byte of the sleepers' page. The kernel takes it down when the process
//! ends. What producers do with the places is in [`PlaceTable`].
// Decision 0103: a lane goes with a lock of the kernel.

use core::fmt;
use std::sync::Arc;

use super::format;
use super::queue::{SEAT, numbers_seen_at};
use crate::lane::{Numbers, PlaceTable};
use crate::memory::PlacedMemory;
use crate::os::lock;
use crate::os::shared_memory::SharedMemory;

/// The places for producers of a queue, as its consumer's process sees them; or those for publishers of a
/// [ring](super::mp_broadcast), which are its producers here.
///
/// A [`shm::mpsc`](super::mpsc) queue has as many as it was made with. Each has a ring, and one producer at a
/// time. It tells how producers have ended: those that have [`joined`](Self::joined) are there, or have
/// [`died`](Self::died), or have left by a drop.
///
/// # Examples
///
/// ```
/// use annulus::shm::mpsc;
///
/// let builder = mpsc::Builder::new(annulus::mpsc::Builder::new(8)).producers(4);
/// let (mut consumer, places, invitation) = builder.build::<u64>()?;
/// let (mut producer, _) = mpsc::producer::<u64>(&invitation)?;
/// producer.send(7).unwrap();
/// assert_eq!((places.count(), places.taken()), (4, 1));
/// drop(producer);
/// assert_eq!(consumer.recv(), Ok(7));
/// assert_eq!((places.taken(), places.joined(), places.died()), (0, 1, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Places(pub(super) Arc<Table>);

impl Places {
    /// How many places there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.count
    }

    /// How many of them have a producer. O(count), a system call for each that has one, or where one died.
    #[must_use]
    pub fn taken(&self) -> usize {
        self.0.taken(None)
    }

    /// How many producers have joined, those included that are gone. O(count).
    #[must_use]
    pub fn joined(&self) -> u64 {
        self.0.came()
    }

    /// How many of them have died: their process has ended, and they had not left. All that they had sent is
    /// received, as is what the next producers send that have their places. O(count), system calls as for
    /// [`taken`](Self::taken).
    ///
    /// While a producer joins or leaves, it may be one too few.
    #[must_use]
    #[doc(alias = "PeerDied")]
    pub fn died(&self) -> u64 {
        let died = |place| {
            let (came, left) = self.0.numbers(place).producers();
            // (Any number may lie there.)
            came.wrapping_sub(left).saturating_sub(self.0.has_producer(place).into())
        };
        (0..self.0.count).map(died).fold(0, u64::wrapping_add)
    }
}

impl fmt::Debug for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Places")
            .field("count", &self.count())
            .field("taken", &self.taken())
            .field("joined", &self.joined())
            .field("died", &self.died())
            .finish()
    }
}

/// What becomes of a queue when all its producers are gone, after one at least was there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WhenNoProducer {
    /// The queue stays open. The consumer waits for the next producer.
    #[default]
    WaitForNext,
    /// The queue is closed, as one in a process. When the last producer leaves, the consumer is told at once;
    /// when it has died, within 50 ms. A producer that joins at that moment may find the queue closed.
    Close,
}

/// The places of a queue, or of a ring that several processes publish to, as any of its processes has them.
/// Who can only read the memory only looks.
pub(super) struct Table {
    pub(super) memory: Arc<PlacedMemory>,
    /// The file with the locks.
    pub(super) page: Arc<SharedMemory>,
    /// How many places there are.
    pub(super) count: usize,
    /// Whether the queue ends when all producers are gone.
    pub(super) ends: bool,
}

/// The byte whose lock is that of a place. The consumer's comes before all of them.
pub(super) const fn byte_of(place: usize) -> usize {
    SEAT + 1 + place
}

impl PlaceTable for Table {
    fn count(&self) -> usize {
        self.count
    }

    fn ends(&self) -> bool {
        self.ends
    }

    fn queue(&self) -> &Numbers {
        numbers_seen_at(&self.memory, format::PRODUCER_OFFSET)
    }

    #[inline]
    fn numbers(&self, place: usize) -> &Numbers {
        numbers_seen_at(&self.memory, format::CELLS_OFFSET + place * format::LANE_CELLS * format::CELL_BYTES)
    }

    fn is_held(&self, place: usize) -> bool {
        // Where the lock can't be looked at, the process is taken to be alive.
        lock::is_byte_taken(&*self.page, byte_of(place)).unwrap_or(true)
    }
}

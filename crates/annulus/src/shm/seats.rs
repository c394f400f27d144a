//! The seats of a lossless ring, as a process has them: cells in the page, and the locks that go with them.

use std::boxed::Box;
use std::sync::{Arc, Mutex, PoisonError};

use super::error::ShareError;
use super::sleepers::{self, Rows};
use crate::broadcast::Awaiting;
use crate::os::lock;
use crate::os::process_lifetime::Maker;
use crate::os::shared_memory::SharedMemory;
use crate::ring::{SeatLocks, Seats};
use crate::wait::Remote;

/// How many seats a ring may have. A publisher looks at all of them once in half a ring.
pub(super) const MOST_SEATS: usize = 1024;

/// Whether a ring may have so many seats.
pub(super) fn check_seats(seats: usize) -> Result<(), ShareError> {
    match seats {
        1..=MOST_SEATS => Ok(()),
        _ => Err(ShareError::Seats { seats, most: MOST_SEATS }),
    }
}

/// The seats of a lossless ring, whose subscribers publishers wait for, and where these sleep. `None` if the
/// page is too short.
pub(super) fn awaiting(page: Arc<SharedMemory>, seats: Rows, sleepers: Remote) -> Option<Awaiting> {
    let (scanned, cells) = sleepers::cells(&page, seats)?;
    // SAFETY: they are in the page, which the locks keep.
    let seats = unsafe { Seats::new(scanned, cells, PageLocks::new(page, seats.first, seats.count)) };
    Some(Awaiting { seats, sleepers })
}

/// The lock of seat n is the lock of byte n of the page, or of the table behind the seats. The kernel knows
/// which opening of the file holds it. This type knows which thread of this process holds it.
pub(super) struct PageLocks {
    page: Arc<SharedMemory>,
    /// The byte of the first lock.
    first: usize,
    /// Which seats' locks this opening holds. (An opening can take its own lock again, so the kernel would
    /// not refuse it.)
    taken: Mutex<Box<[bool]>>,
    maker: Maker,
}

impl PageLocks {
    /// No other value has these locks of this opening of the page.
    pub(super) fn new(page: Arc<SharedMemory>, first: usize, seats: usize) -> Self {
        Self { page, first, taken: Mutex::new(std::vec![false; seats].into()), maker: Maker::this() }
    }

    fn change(&self, seat: usize, change: impl FnOnce(&mut bool)) {
        // No code panics with it.
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(taken) = taken.get_mut(seat) {
            change(taken);
        }
    }
}

impl SeatLocks for PageLocks {
    /// False also where the system refuses it.
    fn take(&self, seat: usize) -> bool {
        let mut is_mine = false;
        self.change(seat, |taken| {
            is_mine = !*taken && lock::take_byte(&*self.page, self.first + seat).unwrap_or(false);
            *taken |= is_mine;
        });
        is_mine
    }

    fn give_up(&self, seat: usize) {
        self.change(seat, |taken| {
            if self.maker.is_this() {
                // It can't be refused: it is a lock of this opening.
                let _ = lock::give_up_byte(&*self.page, self.first + seat);
            }
            *taken = false;
        });
    }
}

//! [`PageLocks`]: the locks of the seats of a lossless ring: bytes of the sleepers' page.

use std::boxed::Box;
use std::sync::{Arc, Mutex, PoisonError};

use crate::os::lock;
use crate::os::shared_memory::SharedMemory;
use crate::ring::SeatLocks;

/// The lock of seat n is that of byte n of the page. The kernel knows which opening has it; which thread of
/// this process, this knows.
pub(super) struct PageLocks {
    page: Arc<SharedMemory>,
    /// Of this opening. (A lock that an opening has, it can take again.)
    taken: Mutex<Box<[bool]>>,
}

impl PageLocks {
    /// Nobody else has locks of this opening of the page.
    pub(super) fn new(page: Arc<SharedMemory>, seats: usize) -> Self {
        Self { page, taken: Mutex::new(std::vec![false; seats].into()) }
    }

    fn change(&self, seat: usize, change: impl FnOnce(&mut bool)) {
        // Nobody panics with it.
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
            is_mine = !*taken && lock::take_byte(&*self.page, seat).unwrap_or(false);
            *taken |= is_mine;
        });
        is_mine
    }

    fn give_up(&self, seat: usize) {
        self.change(seat, |taken| {
            // It can't be refused: it is a lock of this opening.
            let _ = lock::give_up_byte(&*self.page, seat);
            *taken = false;
        });
    }
}

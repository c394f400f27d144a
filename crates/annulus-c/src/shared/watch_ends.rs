//! What the handles of newest values have, over the module `shm::dynamic::watch` of the Rust library.

use std::ptr;
use std::sync::Arc;

use annulus::schema::Checker;
use annulus::shm::dynamic::watch::{AcceptedWatch, Changes, Sender, table};
use annulus::shm::watch::{GetError, KeyError};
use annulus::shm::{self, PeerState};
use annulus::{RecvTimeoutError, TryRecvError};

use super::error::Shared;
use super::linux::{Invitation, state};
use super::options::SharedOptions;
use crate::notified::Notified;
use crate::options::Patience;
use crate::ring::annulus_peer;
use crate::status::Done;
use crate::status::annulus_status::{
    ANNULUS_CLOSED, ANNULUS_CORRUPT, ANNULUS_EMPTY, ANNULUS_INVALID, ANNULUS_NOT_FOUND, ANNULUS_OCCUPIED,
    ANNULUS_PEER_DIED, ANNULUS_TIMEOUT, ANNULUS_WRONG_SIZE,
};
use crate::tsan::Order;

/// A value on its way: C's memory is never a slice of Rust's.
struct Room(Box<[u8]>);

impl Room {
    fn of(bytes: usize) -> Self {
        Self(vec![0; bytes].into())
    }

    /// # Errors
    ///
    /// What can be no value of that size.
    fn takes(&self, value: *const u8, size: usize) -> Done {
        if value.is_null() {
            Err(ANNULUS_INVALID)
        } else if size != self.0.len() {
            Err(ANNULUS_WRONG_SIZE)
        } else {
            Ok(())
        }
    }

    /// # Safety
    ///
    /// A value may be written there.
    unsafe fn give(&self, value: *mut u8) {
        // SAFETY: the caller's promise; the room is the library's.
        unsafe { ptr::copy_nonoverlapping(self.0.as_ptr(), value, self.0.len()) };
    }

    fn is_value(&self, checker: Option<&Arc<Checker>>) -> bool {
        checker.is_none_or(|checker| checker.is_message(&self.0))
    }
}

pub(crate) struct WatchSender {
    table: Sender,
    room: Room,
    order: Order,
}

pub(crate) struct WatchReader {
    table: AcceptedWatch,
    checker: Option<Arc<Checker>>,
    room: Room,
    order: Order,
}

pub(crate) struct WatchChanges {
    changes: Notified<Changes>,
    checker: Option<Arc<Checker>>,
    room: Room,
    corrupt: u64,
    order: Order,
}

pub(crate) fn watch_sender(options: &SharedOptions) -> Shared<(WatchSender, Invitation)> {
    options.begin_anew()?;
    let shm::Shared { handle, invitation, .. } = table(options.settings(), &options.messages())?;
    let room = Room::of(options.ring.message_size);
    Ok((WatchSender { table: handle, room, order: Order::across() }, Invitation(invitation)))
}

pub(crate) fn watch_reader(invitation: &Invitation, options: &SharedOptions) -> Shared<WatchReader> {
    let table = AcceptedWatch::accept(&invitation.0, &options.messages(), options.ring.strategy)?;
    let room = Room::of(options.ring.message_size);
    Ok(WatchReader { table, checker: options.checks(), room, order: Order::across() })
}

impl WatchSender {
    /// # Safety
    ///
    /// So many bytes lie at `value` as `size` says.
    pub(crate) unsafe fn send(&mut self, cell: usize, value: *const u8, size: usize) -> Done {
        self.room.takes(value, size)?;
        self.check(cell)?;
        // SAFETY: the caller's promise, and `size` is the size of a value.
        unsafe { ptr::copy_nonoverlapping(value, self.room.0.as_mut_ptr(), size) };
        self.order.before_send();
        self.table.send_to(cell, &self.room.0).map_err(|_| ANNULUS_CLOSED)
    }

    fn check(&self, cell: usize) -> Done {
        if cell < self.table.cells() { Ok(()) } else { Err(ANNULUS_INVALID) }
    }

    /// # Safety
    ///
    /// There is room for so many bytes at `value` as `size` says.
    pub(crate) unsafe fn get(&mut self, cell: usize, value: *mut u8, size: usize) -> Done {
        self.room.takes(value, size)?;
        self.check(cell)?;
        if !self.table.get(cell, &mut self.room.0) {
            return Err(ANNULUS_EMPTY);
        }
        // SAFETY: the caller's promise.
        unsafe { self.room.give(value) };
        Ok(())
    }

    pub(crate) fn cell(&mut self, key: &str) -> Done<usize> {
        self.table.cell(key).map_err(|error| match error {
            KeyError::Full { .. } => ANNULUS_OCCUPIED,
            _ => ANNULUS_INVALID,
        })
    }

    pub(crate) fn cells(&self) -> usize {
        self.table.cells()
    }
}

impl WatchReader {
    /// # Safety
    ///
    /// There is room for so many bytes at `value` as `size` says.
    pub(crate) unsafe fn get(&mut self, cell: usize, value: *mut u8, size: usize) -> Done {
        self.room.takes(value, size)?;
        self.table.get(cell, &mut self.room.0).map_err(|error| match error {
            GetError::Empty => ANNULUS_EMPTY,
            GetError::Overtaken => ANNULUS_TIMEOUT,
            GetError::Corrupt(_) => ANNULUS_CORRUPT,
            _ => ANNULUS_INVALID,
        })?;
        self.order.after_receive();
        if !self.room.is_value(self.checker.as_ref()) {
            return Err(ANNULUS_CORRUPT);
        }
        // SAFETY: the caller's promise.
        unsafe { self.room.give(value) };
        Ok(())
    }

    pub(crate) fn cell(&self, key: &str) -> Done<usize> {
        self.table.cell(key).ok_or(ANNULUS_NOT_FOUND)
    }

    /// The bytes of the key of a cell.
    pub(crate) fn key(&self, cell: usize) -> Done<String> {
        if cell >= self.table.cells() {
            return Err(ANNULUS_INVALID);
        }
        self.table.key(cell).map(|key| key.to_string()).ok_or(ANNULUS_NOT_FOUND)
    }

    pub(crate) fn cells(&self) -> usize {
        self.table.cells()
    }

    pub(crate) fn peer(&self) -> annulus_peer {
        state(self.table.state())
    }

    /// Of a cell, or with `usize::MAX` of all.
    pub(crate) fn changes(&self, cell: usize) -> Done<WatchChanges> {
        let changes = match cell {
            usize::MAX => self.table.changes(),
            cell => self.table.changes_of(cell).ok_or(ANNULUS_INVALID)?,
        };
        Ok(WatchChanges {
            changes: Notified::Not(changes),
            checker: self.checker.clone(),
            room: Room::of(self.table.message_bytes()),
            corrupt: 0,
            order: self.order.clone(),
        })
    }
}

impl WatchChanges {
    /// Receives a change to `value`, and returns its cell.
    ///
    /// # Safety
    ///
    /// There is room for so many bytes at `value` as `size` says.
    pub(crate) unsafe fn recv(&mut self, value: *mut u8, size: usize, patience: Patience) -> Done<usize> {
        self.room.takes(value, size)?;
        let (changes, room) = (self.changes.receiver(), &mut self.room.0);
        let received = match patience {
            Patience::None => changes.try_recv(room).map_err(|error| match error {
                TryRecvError::Empty => ANNULUS_EMPTY,
                TryRecvError::Closed => ANNULUS_CLOSED,
            }),
            Patience::Endless => changes.recv(room).map_err(|_| ANNULUS_CLOSED),
            Patience::For(timeout) => changes.recv_timeout(room, timeout).map_err(|error| match error {
                RecvTimeoutError::Timeout => ANNULUS_TIMEOUT,
                RecvTimeoutError::Closed => ANNULUS_CLOSED,
            }),
        };
        self.order.after_receive();
        let cell = received.map_err(|status| match status {
            ANNULUS_CLOSED if self.changes.look().table().state() == PeerState::Dead => ANNULUS_PEER_DIED,
            status => status,
        })?;
        if !self.room.is_value(self.checker.as_ref()) {
            self.corrupt += 1;
            return Err(ANNULUS_CORRUPT);
        }
        // SAFETY: the caller's promise.
        unsafe { self.room.give(value) };
        Ok(cell)
    }

    pub(crate) fn corrupt(&self) -> u64 {
        self.corrupt
    }

    pub(crate) fn fd(&mut self) -> Done<i32> {
        self.changes.fd()
    }

    pub(crate) fn arm(&mut self) -> Done<bool> {
        self.changes.arm()
    }
}

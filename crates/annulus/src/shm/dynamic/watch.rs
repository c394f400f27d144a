//! Ends of [newest values](crate::shm::watch) that are known by their schema only: a value is its bytes.
//!
//! ```
//! use annulus::schema::Schema;
//! use annulus::shm::Shared;
//! use annulus::shm::blocks::MessageType;
//! use annulus::shm::dynamic::watch::{self, AcceptedWatch};
//! use annulus::{Settings, WaitStrategy};
//!
//! let schema: Schema = "quote{bid:f64,ask:f64}".parse()?;
//! let of = MessageType::described(schema, 8);
//! let Shared { handle: mut sender, invitation, .. } = watch::table(Settings::new(100), &of)?;
//! let euro = sender.cell("EURUSD")?;
//! sender.send_to(euro, &[7; 16])?;
//!
//! // Usually in another process, whose type may be known.
//! let prices = AcceptedWatch::accept(&invitation, &of, WaitStrategy::default())?;
//! let mut value = [0; 16];
//! prices.get(prices.cell("EURUSD").expect("it was added before"), &mut value)?;
//! assert_eq!(value, [7; 16]);
//!
//! let mut changes = prices.changes(); // first, each value that is there
//! assert_eq!(changes.recv(&mut value)?, euro);
//! sender.send_to(euro, &[8; 16])?;
//! assert_eq!((changes.recv(&mut value)?, value), (euro, [8; 16]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
// Decision 0129: a class of sizes on the stack, and exactly the message in the ring.

use core::fmt;
use core::time::Duration;
use std::boxed::Box;
use std::sync::Arc;

use super::OpenError;
use super::ends::{Patience, block, receive, unpack};
use crate::close::Closer;
use crate::error::{RecvError, RecvTimeoutError, SendError, TryRecvError};
use crate::receive::Waitable;
use crate::settings::Settings;
use crate::shm::blocks::{self, Block, MessageType, classes};
use crate::shm::invitation::Invitation;
use crate::shm::process::PeerState;
use crate::shm::shared::Shared;
use crate::shm::watch::{self as typed, Change, GetError, Key, KeyError};
use crate::wait::{Source, Until, UntilReady, WaitStrategy, source_of_part, wait_until};

/// Makes a table with as many cells as the [capacity](Settings::new) says, as
/// [`watch::table`](crate::shm::watch::table) does. One cell is a table, too: nothing was sent to it yet.
///
/// # Errors
///
/// [`TooLong`](OpenError::TooLong), [`Share`](OpenError::Share).
pub fn table(settings: Settings, of: &MessageType) -> Result<Shared<Sender>, OpenError> {
    in_blocks!(of, WORDS, LARGE => {
        let made = blocks::watch_table::<WORDS, LARGE>(settings, of)?;
        Ok(made.alone(|sender| Sender { table: Box::new(sender), bytes: of.bytes() }))
    })
}

/// What writes to a table, of blocks of whatever size.
trait DynWriter: Send + Sync {
    /// False: it is closed.
    fn send(&mut self, cell: usize, value: &[u8]) -> bool;

    /// False: nothing was sent.
    fn get(&self, cell: usize, value: &mut [u8]) -> bool;

    fn cell(&mut self, key: &str) -> Result<usize, KeyError>;

    fn cells(&self) -> usize;

    fn closer(&self) -> Closer;

    fn is_closed(&self) -> bool;
}

impl<const WORDS: usize, const LARGE: bool> DynWriter for typed::Sender<Block<WORDS, LARGE>> {
    fn send(&mut self, cell: usize, value: &[u8]) -> bool {
        self.send_to(cell, block(value)).is_ok()
    }

    fn get(&self, cell: usize, value: &mut [u8]) -> bool {
        self.get(cell).is_some_and(|found| {
            unpack(&found, value);
            true
        })
    }

    fn cell(&mut self, key: &str) -> Result<usize, KeyError> {
        self.cell(key)
    }

    fn cells(&self) -> usize {
        self.cells()
    }

    fn closer(&self) -> Closer {
        self.closer()
    }

    fn is_closed(&self) -> bool {
        self.is_closed()
    }
}

/// Writes the values of a table: see [`watch::Sender`](crate::shm::watch::Sender). Made by [`table`]. Its
/// drop ends the table.
pub struct Sender {
    table: Box<dyn DynWriter>,
    bytes: usize,
}

impl Sender {
    /// How many bytes a value has.
    #[must_use]
    pub fn message_bytes(&self) -> usize {
        self.bytes
    }

    /// Replaces the value of the first cell. See [`send_to`](Self::send_to).
    ///
    /// # Errors
    ///
    /// [`SendError`]: it was closed. Nothing has changed.
    ///
    /// # Panics
    ///
    /// If the value has another length than the table's values.
    pub fn send(&mut self, value: &[u8]) -> Result<(), SendError<()>> {
        self.send_to(0, value)
    }

    /// Replaces the value of a cell, and wakes the threads that wait for that. Never waits, allocates
    /// nothing; O([`message_bytes`](Self::message_bytes)).
    ///
    /// # Errors
    ///
    /// [`SendError`]: it was closed. Nothing has changed.
    ///
    /// # Panics
    ///
    /// If there is no such cell, or the value has another length than the table's values.
    pub fn send_to(&mut self, cell: usize, value: &[u8]) -> Result<(), SendError<()>> {
        assert_size(value, self.bytes);
        if self.table.send(cell, value) { Ok(()) } else { Err(SendError(())) }
    }

    /// Copies the newest value of a cell to `value`, and returns whether there is one. If not, `value` is
    /// unchanged.
    ///
    /// # Panics
    ///
    /// If there is no such cell, or `value` has another length than the table's values.
    #[must_use]
    pub fn get(&self, cell: usize, value: &mut [u8]) -> bool {
        assert_size(value, self.bytes);
        self.table.get(cell, value)
    }

    /// The cell of this key: see [`watch::Sender::cell`](crate::shm::watch::Sender::cell).
    ///
    /// # Errors
    ///
    /// [`KeyError`]: there can be no such key, or all cells have others.
    pub fn cell(&mut self, key: &str) -> Result<usize, KeyError> {
        self.table.cell(key)
    }

    /// How many cells there are.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.table.cells()
    }

    /// What closes the table from any thread of this process: receivers receive what is new to them, and then
    /// `Closed`. The values stay.
    #[must_use]
    pub fn closer(&self) -> Closer {
        self.table.closer()
    }

    /// Whether it was closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.table.is_closed()
    }
}

#[track_caller]
fn assert_size(value: &[u8], bytes: usize) {
    assert_eq!(value.len(), bytes, "a value has the size of its schema");
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("message_bytes", &self.bytes)
            .field("cells", &self.cells())
            .field("is_closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

/// What reads a table, of blocks of whatever size.
trait DynReader: Send + Sync {
    fn get(&self, cell: usize, value: &mut [u8]) -> Result<u64, GetError>;

    /// What waits for changes of this cell, which is there, or of all.
    fn changes(&self, cell: Option<usize>) -> Box<dyn DynChanges>;

    fn cells(&self) -> usize;

    fn cell(&self, key: &str) -> Option<usize>;

    fn key(&self, cell: usize) -> Option<Key>;

    fn state(&self) -> PeerState;
}

impl<const WORDS: usize, const LARGE: bool> DynReader for typed::AcceptedWatch<Block<WORDS, LARGE>> {
    fn get(&self, cell: usize, value: &mut [u8]) -> Result<u64, GetError> {
        let (written, found) = self.get_counted(cell)?;
        unpack(&found, value);
        Ok(written)
    }

    fn changes(&self, cell: Option<usize>) -> Box<dyn DynChanges> {
        match cell {
            Some(cell) => Box::new(self.receiver_of(cell).expect("there is such a cell")),
            None => Box::new(self.changes()),
        }
    }

    fn cells(&self) -> usize {
        self.cells()
    }

    fn cell(&self, key: &str) -> Option<usize> {
        self.cell(key)
    }

    fn key(&self, cell: usize) -> Option<Key> {
        self.key(cell)
    }

    fn state(&self) -> PeerState {
        self.state()
    }
}

/// A table of another process, or one cell, mapped read-only. It can be cloned.
#[derive(Clone)]
pub struct AcceptedWatch {
    table: Arc<dyn DynReader>,
    bytes: usize,
}

impl AcceptedWatch {
    /// Maps the cells of a table, whichever language its sender is in.
    ///
    /// # Errors
    ///
    /// [`TooLong`](OpenError::TooLong), [`Attach`](OpenError::Attach): it is something else, or has other
    /// values.
    pub fn accept(
        invitation: &Invitation,
        of: &MessageType,
        strategy: WaitStrategy,
    ) -> Result<Self, OpenError> {
        in_blocks!(of, WORDS, LARGE => {
            let table = blocks::accept_watch::<WORDS, LARGE>(invitation, of, strategy)?;
            Ok(Self { table: Arc::new(table), bytes: of.bytes() })
        })
    }

    /// How many bytes a value has.
    #[must_use]
    pub fn message_bytes(&self) -> usize {
        self.bytes
    }

    /// Copies the newest value of a cell to `value`. Waits for nobody: see
    /// [`watch::AcceptedWatch::get`](crate::shm::watch::AcceptedWatch::get).
    ///
    /// # Errors
    ///
    /// [`GetError`]; `value` is unchanged.
    ///
    /// # Panics
    ///
    /// If `value` has another length than the table's values.
    pub fn get(&self, cell: usize, value: &mut [u8]) -> Result<(), GetError> {
        self.get_counted(cell, value).map(drop)
    }

    /// As [`get`](Self::get), and returns how many values were sent to the cell, with this one. A value with
    /// a greater count is newer, in all processes. (A new table begins with 1 again.)
    ///
    /// # Errors
    ///
    /// [`GetError`]; `value` is unchanged.
    ///
    /// # Panics
    ///
    /// If `value` has another length than the table's values.
    ///
    /// # Examples
    ///
    /// ```
    /// # use annulus::{Settings, WaitStrategy};
    /// # use annulus::shm::{Shared, blocks::MessageType};
    /// # use annulus::shm::dynamic::watch::{self, AcceptedWatch};
    /// let of = MessageType::of_bytes(4, 1);
    /// let Shared { handle: mut sender, invitation, .. } = watch::table(Settings::new(2), &of)?;
    /// (1..=3).try_for_each(|value| sender.send_to(1, &[value; 4]))?;
    ///
    /// let table = AcceptedWatch::accept(&invitation, &of, WaitStrategy::default())?;
    /// let mut value = [0; 4];
    /// assert_eq!((table.get_counted(1, &mut value)?, value), (3, [3; 4]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn get_counted(&self, cell: usize, value: &mut [u8]) -> Result<u64, GetError> {
        assert_size(value, self.bytes);
        self.table.get(cell, value)
    }

    /// Waits for changes of all cells. It has seen no value yet, so it begins with all that are there. Takes
    /// eight bytes for each cell.
    #[must_use]
    pub fn changes(&self) -> Changes {
        Changes { end: self.table.changes(None), table: self.clone() }
    }

    /// Waits for changes of one cell. It has seen no value yet, so it begins with the one that is there.
    /// `None`: there is no such cell.
    #[must_use]
    pub fn changes_of(&self, cell: usize) -> Option<Changes> {
        (cell < self.cells()).then(|| Changes { end: self.table.changes(Some(cell)), table: self.clone() })
    }

    /// How many cells there are.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.table.cells()
    }

    /// The cell of a key. `None`: no cell has it yet. O(cells): keep what it returns.
    #[must_use]
    pub fn cell(&self, key: &str) -> Option<usize> {
        self.table.cell(key)
    }

    /// The key of a cell. `None`: it has none yet, or there is no such cell.
    #[must_use]
    pub fn key(&self, cell: usize) -> Option<Key> {
        self.table.key(cell)
    }

    /// Each cell that has a key, and its key, in the order in which they were added.
    pub fn keys(&self) -> impl Iterator<Item = (usize, Key)> + '_ {
        (0..self.cells()).filter_map(|cell| Some((cell, self.key(cell)?)))
    }

    /// Whether the sender is there. Two system calls.
    #[must_use]
    pub fn state(&self) -> PeerState {
        self.table.state()
    }
}

impl fmt::Debug for AcceptedWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcceptedWatch")
            .field("message_bytes", &self.bytes)
            .field("cells", &self.cells())
            .finish_non_exhaustive()
    }
}

/// What is told of changes, of blocks of whatever size.
trait DynChanges: Waitable + Sync {
    /// Receives a change, and returns its cell.
    fn recv(&mut self, value: &mut [u8], patience: Patience) -> Result<usize, RecvTimeoutError>;
}

impl<const WORDS: usize, const LARGE: bool> DynChanges for typed::Receiver<Block<WORDS, LARGE>> {
    fn recv(&mut self, value: &mut [u8], patience: Patience) -> Result<usize, RecvTimeoutError> {
        unpack(&receive(self, patience)?, value);
        Ok(self.cell())
    }
}

impl<const WORDS: usize, const LARGE: bool> DynChanges for typed::Changes<Block<WORDS, LARGE>> {
    fn recv(&mut self, value: &mut [u8], patience: Patience) -> Result<usize, RecvTimeoutError> {
        let Change { cell, value: found } = receive(self, patience)?;
        unpack(&found, value);
        Ok(cell)
    }
}

/// Waits for changes of one cell, or of all, and tells which has changed. Made by [`AcceptedWatch::changes`]
/// and [`AcceptedWatch::changes_of`].
///
/// No change is lost, and each cell is told of once, with the value that is newest when it is received.
pub struct Changes {
    end: Box<dyn DynChanges>,
    table: AcceptedWatch,
}

impl Changes {
    fn take(&mut self, value: &mut [u8], patience: Patience) -> Result<usize, RecvTimeoutError> {
        assert_size(value, self.table.bytes);
        self.end.recv(value, patience)
    }

    /// Receives the next change, and waits for it. The value goes to `value`; the cell is returned.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: there is none, and none comes any more. It says whether the sender's process has
    /// [died](RecvError::peer_died).
    ///
    /// # Panics
    ///
    /// If `value` has another length than the table's values; so do the other verbs.
    pub fn recv(&mut self, value: &mut [u8]) -> Result<usize, RecvError> {
        let dead = |table: &AcceptedWatch| table.state() == PeerState::Dead;
        self.take(value, Patience::Endless).map_err(|_| RecvError::of(dead(&self.table)))
    }

    /// As [`recv`](Self::recv), if there is a change. Never waits.
    ///
    /// # Errors
    ///
    /// [`Empty`](TryRecvError::Empty): nothing has changed. [`Closed`](TryRecvError::Closed): and nothing
    /// changes any more.
    pub fn try_recv(&mut self, value: &mut [u8]) -> Result<usize, TryRecvError> {
        self.take(value, Patience::None).map_err(|error| match error {
            RecvTimeoutError::Timeout => TryRecvError::Empty,
            RecvTimeoutError::Closed => TryRecvError::Closed,
        })
    }

    /// As [`recv`](Self::recv), for that long at most.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError`]: nothing has changed in that time, or nothing changes any more.
    pub fn recv_timeout(&mut self, value: &mut [u8], timeout: Duration) -> Result<usize, RecvTimeoutError> {
        self.take(value, Patience::For(timeout))
    }

    /// Waits until something can be received: a change, or the end; for that long at most. Returns whether
    /// something can. It takes nothing.
    #[must_use]
    pub fn wait_timeout(&mut self, timeout: Duration) -> bool {
        let (strategy, until) = (self.end.strategy(), Until::from(timeout));
        wait_until(&mut UntilReady(&mut self.end), strategy, until.deadline()).is_some()
    }

    /// The table.
    #[must_use]
    pub fn table(&self) -> &AcceptedWatch {
        &self.table
    }
}

source_of_part!([] Changes, |handle| handle.end);

/// For a [`Notifier`](crate::Notifier), which has a descriptor for `epoll`, or a [`select!`](crate::select!).
impl Waitable for Changes {
    fn is_closed(&self) -> bool {
        self.end.is_closed()
    }
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changes").field("table", &self.table).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(miri)))]
mod tests;

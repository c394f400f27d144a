//! The newest value between processes: a configuration, a state, prices by key, sensor readings.
//!
//! One process writes, and any number of processes read. A [`Sender`] replaces the value, and waits for
//! nobody. A reader that comes has the newest value [at once](AcceptedWatch::get), and a [`Receiver`] waits
//! for a change. A reader that is slow sees the newest value only.
//!
//! ```
//! use annulus::shm::{Invitation, PeerState, Shared, watch};
//! use std::os::unix::net::UnixStream;
//!
//! let Shared { handle: mut sender, invitation, .. } = watch::sender(20.5_f64)?;
//! let (here, there) = UnixStream::pair()?;
//! invitation.send(&here)?; // or by a name: `invitation.publish(…)`
//!
//! // Usually in other processes.
//! let temperature = Invitation::receive(&there)?.accept_watch::<f64>()?;
//! assert_eq!(temperature.get(0), Ok(20.5)); // at once
//! let mut receiver = temperature.receiver();
//! assert_eq!(receiver.recv(), Ok(20.5)); // this receiver has not seen it yet
//!
//! sender.send(20.75)?;
//! sender.send(21.0)?;
//! assert_eq!(receiver.recv(), Ok(21.0)); // waits for a change; the newest one
//! drop(sender);
//! assert!(receiver.recv().is_err());
//! assert_eq!(receiver.get(), Ok(21.0)); // it stays
//! assert_eq!(temperature.state(), PeerState::Closed);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Many values
//!
//! A [`table`] has many cells for values of one type. Their writer tells them apart by numbers, or by keys,
//! which it adds at any time. A reader reads any cell, waits for a change [of one](Receiver), or [of
//! any](Changes):
//!
//! ```
//! use annulus::Settings;
//! use annulus::shm::{Shared, watch};
//!
//! let Shared { handle: mut sender, invitation, .. } = watch::table::<[f64; 2]>(Settings::new(1000))?;
//! let euro = sender.cell("EURUSD")?;
//! sender.send_to(euro, [1.0921, 1.0922])?;
//!
//! // Usually in another process.
//! let prices = invitation.accept_watch::<[f64; 2]>()?;
//! let euro_here = prices.cell("EURUSD").expect("it was added before");
//! assert_eq!(prices.get(euro_here), Ok([1.0921, 1.0922]));
//!
//! let mut changes = prices.changes(); // first, each value that is there
//! assert_eq!(changes.recv()?.value, [1.0921, 1.0922]);
//! let yen = sender.cell("USDJPY")?;
//! sender.send_to(yen, [149.2, 149.3])?;
//! sender.send_to(yen, [149.3, 149.4])?;
//! let change = changes.recv()?; // once, with the newest value
//! assert_eq!((prices.key(change.cell).as_deref(), change.value), (Some("USDJPY"), [149.3, 149.4]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! One value is a table of one cell.
//!
//! # No side waits
//!
//! A value is copied in and out whole, without a lock. A cell has four slots, which its values take in turn.
//! So a writer that is stopped (`SIGSTOP`) or killed in the middle of a write leaves the value before it,
//! and holds up no reader. A reader copies again if the writer finishes three values and begins a fourth
//! while the reader copies one. It gives up after 1,000 looks, which takes a writer that does nothing else,
//! and large values: then [`get`](Receiver::get) says [`Overtaken`](GetError::Overtaken).
//!
//! # When the sender is gone
//!
//! Values that are new to a receiver are still received, then `Closed`, whether the sender was closed or its
//! process has died; [`state`](AcceptedWatch::state) tells which. `get` gives the newest value as before. A
//! new sender of the same name makes a new table: readers accept that one.
//!
//! # Trust
//!
//! Readers map the table read-only. None of them can harm the sender or another reader, but for keeping a
//! wake-up from others: then a thread looks by itself after 50 ms. The sender's process may write anything:
//! what is no `T` is told, or counted, and no verb takes more steps than it promises.

use core::fmt;
use core::mem::MaybeUninit;
use std::collections::HashMap;
use std::error::Error;
use std::string::String;
use std::sync::Arc;

use self::format::{KEY_BYTES, Keys, Notice, TableNumbers};
use super::broadcast::begin;
use super::error::ShareError;
use super::format::{Identity, Layout};
use super::kind::ShmKind;
use super::message_type::MessageType;
use super::process::ProcessId;
use super::shared::Shared;
use super::sleepers;
use crate::error::CapacityError;
use crate::memory::PlacedMemory;
use crate::message::Message;
use crate::os::shared_memory::Access;
use crate::ring::cells::{CellWriter, Cells, SLOTS};
use crate::ring::{Writers, slots_layout, stride_for};
use crate::settings::Settings;
use crate::{Closer, SendError, Text, broadcast};

mod format;
mod reading;

pub(super) use reading::accept;
pub use reading::{AcceptedWatch, Change, Changes, GetError, Receiver};

/// What a cell may be called: 1 to 64 bytes, none of them 0.
pub type Key = Text<64>;

/// Makes one cell, with this value, and what writes to it. The [`Invitation`](super::Invitation) is for the
/// readers' processes: see [`accept_watch`](super::Invitation::accept_watch).
///
/// # Errors
///
/// [`ShareError`]: the system refuses it.
pub fn sender<T: Message>(initial: T) -> Result<Shared<Sender<T>>, ShareError> {
    let mut shared = table(Settings::new(1))?;
    shared.handle.put(0, &initial);
    Ok(shared)
}

/// Makes a table with as many cells as the [capacity](Settings::new) says, 1 to 1,048,576, which have no
/// values yet. All of its memory is there from the beginning: for each cell four slots, a word, and 64
/// bytes for a key.
///
/// # Errors
///
/// [`ShareError`]: no such table can be, or the system refuses it.
pub fn table<T: Message>(settings: Settings) -> Result<Shared<Sender<T>>, ShareError> {
    create(settings, &MessageType::of::<T>())
}

/// As [`table`]. A `T` is such a value, or the block of one.
pub(super) fn create<T: Message>(
    settings: Settings,
    of: &MessageType,
) -> Result<Shared<Sender<T>>, ShareError> {
    let numbers = TableNumbers::new(settings.capacity)?;
    let settings = settings.with_capacity(numbers.notices);
    let identity = Identity::new()?;
    let (payload, schema) = of.written()?;
    let stride = stride_for(payload.bytes, Writers::One);
    let (slot_bytes, capacity) = (stride * size_of::<u64>(), numbers.cells * SLOTS);
    let layout = Layout {
        kind: ShmKind::Watch,
        payload,
        slot_bytes,
        capacity,
        cells: 1,
        start: settings.first_sequence()?.get(),
        creator: ProcessId::current()?,
        identity,
    };
    let too_large = || CapacityError::TooLarge { capacity, slot_bytes };
    let slots = slots_layout(stride, capacity).ok_or_else(too_large)?;
    let offset = layout.slots_offset().ok_or_else(too_large)?;
    let slots_end = layout.total_bytes().ok_or_else(too_large)?;
    let watch_layout = numbers.layout_behind(slots_end).ok_or_else(too_large)?;
    let memory =
        PlacedMemory::create("annulus watch", watch_layout.end, Access::CreatorAlone, settings.memory)?;
    let memory = Arc::new(memory);
    layout.write(&memory, &schema).ok_or_else(too_large)?;
    Layout::promise(&memory, settings.deadline)?;
    numbers.write(&memory);
    let page = Arc::new(sleepers::create(identity)?);
    let (across, invitation) = begin(Arc::clone(&memory), page, watch_layout.notices, None, None)?;
    // SAFETY: new memory, all zero but for the header and its cell, to which only this mapping can write;
    // and all processes go by `docs/SHM-FORMAT.md`, which says that these words are accessed by atomic
    // operations.
    let (notices, _) = unsafe { settings.lossy_across::<Notice>(across) }?;
    let keys = Keys::new(Arc::clone(&memory), &numbers, &watch_layout);
    // SAFETY: as above. The blocks have so many slots and a word for each cell; and nobody else writes to
    // them.
    let cells = unsafe {
        CellWriter::new(Cells::in_memory(
            &memory,
            [(offset, slots), watch_layout.newest],
            numbers.cells,
            stride,
        ))
    };
    let handle = Sender { notices, cells, keys, cells_of: HashMap::new() };
    Ok(Shared { handle, peers: (), invitation })
}

/// Writes the values of a table, or of one cell. Made by [`sender`] and [`table`]. Its drop ends the table.
///
/// ```
/// use annulus::shm::{Shared, watch};
///
/// let Shared { handle: mut sender, .. } = watch::sender(1)?;
/// sender.send(2)?;
/// sender.update(0, |value| value.unwrap_or(0) + 5)?;
/// assert_eq!(sender.get(0), Some(7));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Sender<T: Message> {
    // In this order: the ring is closed before its memory goes.
    notices: broadcast::Publisher<Notice>,
    cells: CellWriter<T>,
    keys: Keys,
    cells_of: HashMap<Key, usize>,
}

impl<T: Message> Sender<T> {
    /// Replaces the value of the first cell, the only one of [`sender`], and wakes the threads that wait for
    /// that. Never waits, allocates nothing; O(`size_of::<T>()`).
    ///
    /// # Errors
    ///
    /// [`SendError`]: it was closed. Nothing has changed.
    pub fn send(&mut self, value: T) -> Result<(), SendError<T>> {
        self.send_to(0, value)
    }

    /// As [`send`](Self::send), of another cell: from [`cell`](Self::cell), or any number below
    /// [`cells`](Self::cells).
    ///
    /// If another thread closes the table at the same moment, this may succeed, and readers find the value,
    /// but it may not be received as a change.
    ///
    /// # Errors
    ///
    /// [`SendError`]: it was closed. Nothing has changed.
    ///
    /// # Panics
    ///
    /// If there is no such cell.
    pub fn send_to(&mut self, cell: usize, value: T) -> Result<(), SendError<T>> {
        if self.is_closed() {
            return Err(SendError(value));
        }
        self.put(cell, &value);
        Ok(())
    }

    /// Replaces the value of a cell by what `change` makes of it: of `None`, if it has none yet. If `change`
    /// panics, nothing has changed.
    ///
    /// # Errors
    ///
    /// [`SendError`]: it was closed. It gives back what `change` has made.
    ///
    /// # Panics
    ///
    /// If there is no such cell, or `change` panics.
    #[doc(alias = "send_modify")]
    pub fn update(&mut self, cell: usize, change: impl FnOnce(Option<T>) -> T) -> Result<(), SendError<T>> {
        let value = change(self.get(cell));
        self.send_to(cell, value)
    }

    /// Writes the value, and then tells which cell has changed.
    fn put(&mut self, cell: usize, value: &T) {
        let notices = &mut self.notices;
        self.cells.write(cell, value, || notices.publish(cell as Notice));
    }

    /// The newest value of a cell. `None`: nothing was sent to it.
    ///
    /// # Panics
    ///
    /// If there is no such cell.
    #[must_use]
    pub fn get(&self, cell: usize) -> Option<T> {
        let mut value = MaybeUninit::uninit();
        let (_, whole) = self.cells.cells().read(cell, &mut value).ok()?;
        // SAFETY: the memory is of this process: others can't write to it.
        Some(unsafe { whole.unchecked() }.take())
    }

    /// The cell of this key, which from now on has that key: the first one without a key, if no cell has this
    /// one yet. No key changes, and none is taken back. A reader finds it at once, and has its value when one
    /// was sent.
    ///
    /// # Errors
    ///
    /// [`KeyError`]: there can be no such key, or all cells have others.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::Settings;
    /// use annulus::shm::watch::{self, KeyError};
    ///
    /// let mut sender = watch::table::<f64>(Settings::new(2))?.handle;
    /// assert_eq!((sender.cell("roof")?, sender.cell("cellar")?, sender.cell("roof")?), (0, 1, 0));
    /// assert!(matches!(sender.cell("garden"), Err(KeyError::Full { cells: 2, .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cell(&mut self, key: &str) -> Result<usize, KeyError> {
        if key.is_empty() {
            return Err(KeyError::Empty);
        }
        if key.contains('\0') {
            return Err(KeyError::Zero { key: key.into() });
        }
        let text = Text::try_from(key);
        let text = text.map_err(|_| KeyError::TooLong { bytes: key.len(), most: KEY_BYTES })?;
        if let Some(&cell) = self.cells_of.get(&text) {
            return Ok(cell);
        }
        let (cell, cells) = (self.cells_of.len(), self.cells());
        if cell == cells {
            return Err(KeyError::Full { key: key.into(), cells });
        }
        self.keys.add(cell, key);
        self.cells_of.insert(text, cell);
        Ok(cell)
    }

    /// How many cells there are.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.cells.cells().count()
    }

    /// Ends the table: receivers receive what is new to them, and then `Closed`. The values stay.
    pub fn close(&self) {
        self.notices.close();
    }

    /// What closes the table from any thread of this process.
    #[must_use]
    pub fn closer(&self) -> Closer {
        self.notices.closer()
    }

    /// Whether it was closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.notices.is_closed()
    }
}

impl<T: Message> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("cells", &self.cells())
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

/// Why no cell has a key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// The key is empty.
    Empty,
    /// The key has a zero byte.
    Zero {
        /// The key.
        key: String,
    },
    /// The key is too long.
    TooLong {
        /// How many bytes it has.
        bytes: usize,
        /// How many it can have.
        most: usize,
    },
    /// All cells have other keys.
    Full {
        /// The key.
        key: String,
        /// How many cells there are.
        cells: usize,
    },
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the key is empty: a key has 1 to 64 bytes"),
            Self::Zero { key } => write!(f, "the key {key:?} has a zero byte"),
            Self::TooLong { bytes, most } => {
                write!(f, "a key of {bytes} bytes is too long: it can have {most}")
            }
            Self::Full { key, cells } => {
                write!(
                    f,
                    "no cell is left for {key:?}: all {cells} have other keys. Make the table with more"
                )
            }
        }
    }
}

impl Error for KeyError {}

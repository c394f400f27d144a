//! [`AcceptedWatch`]: a table of another process. [`Receiver`]: waits for a change of one cell. [`Changes`]:
//! of any.
//!
//! The writer stores a value, and then publishes the number of its cell in a lossy ring. So a reader that has
//! received all notices, and has looked at the cells that they name, has seen all values; and one that has
//! lost notices looks at all cells. What is new is told by the cells alone: each reader remembers how many
//! values it has seen of each.

use core::fmt;
#[cfg(feature = "async")]
use core::future::Future;
use core::mem::MaybeUninit;
use std::boxed::Box;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use super::Key;
use super::format::{Keys, Notice, TableNumbers};
use crate::broadcast::{Foreign, Subscriber};
use crate::error::{RecvError, RecvTimeoutError, TryRecvError, in_time};
use crate::memory::PlacedMemory;
use crate::message::Message;
use crate::message::schema::BadValue;
use crate::os::lock;
use crate::receive::{Receive, Waitable, iterates};
use crate::ring::Writers;
use crate::ring::cells::{Cells, Unread};
use crate::shm::broadcast::{Accepted, see};
use crate::shm::error::AttachError;
use crate::shm::format::{Extent, Layout};
use crate::shm::invitation::Invitation;
use crate::shm::kind::ShmKind;
use crate::shm::message_type::MessageType;
use crate::shm::process::PeerState;
use crate::shm::sleepers;
use crate::sync::{AtomicU64, seeded};
use crate::wait::{
    EndMark, EventCount, LAST_LOOKS, Look, Poll, Source, Until, WaitStrategy, look_now, own_strategy,
    wait_until,
};

impl Invitation {
    /// Maps the cells of a [`sender`](super::sender) or a [`table`](super::table), read-only.
    ///
    /// # Errors
    ///
    /// [`AttachError`]: it is nothing of that kind, or of another type, size or version; or the system
    /// refuses it.
    pub fn accept_watch<T: Message>(&self) -> Result<AcceptedWatch<T>, AttachError> {
        accept(self, &MessageType::of::<T>(), self.strategy)
    }
}

/// As [`Invitation::accept_watch`]. A `T` is such a value, or the block of one.
pub(in crate::shm) fn accept<T: Message>(
    invitation: &Invitation,
    of: &MessageType,
    strategy: WaitStrategy,
) -> Result<AcceptedWatch<T>, AttachError> {
    // By an opening of its own, as in `broadcast::accept`.
    let file = lock::reopened(&invitation.ring).map_err(AttachError::System)?;
    let (memory, layout) = Layout::attach(file, true)?;
    layout.is_for(ShmKind::Watch, of, &memory)?;
    let Extent { offset, slots, stride, first } = Extent::in_memory(&layout, Writers::One, &memory)?;
    let (numbers, watch_layout) = TableNumbers::read(&memory, &layout)?;
    let page = Arc::new(sleepers::attach_without_tables(&invitation.sleepers, layout.identity, 0)?);
    let memory = PlacedMemory::joined(memory, invitation.memory).map_err(AttachError::Memory)?;
    let memory = Arc::new(memory);
    let sleepers = (sleepers::remote(&page), None);
    let ring_is = (numbers.notices, 0, first);
    let ring = see::<Notice>(Arc::clone(&memory), watch_layout.notices, sleepers, ring_is, strategy)?;
    let keys = Arc::new(Keys::new(Arc::clone(&memory), &numbers, &watch_layout));
    // SAFETY: the blocks have so many slots and a word for each cell, as `TableNumbers::read` has checked, of
    // a stride that `Extent::in_memory` has; all processes go by `docs/SHM-FORMAT.md`, which says that these
    // words are accessed by atomic operations; and each value that is read is checked.
    let cells =
        unsafe { Cells::in_memory(&memory, [(offset, slots), watch_layout.newest], numbers.cells, stride) };
    Ok(AcceptedWatch { cells, keys, ring })
}

/// A table of another process, or one cell, mapped read-only. It can be cloned.
pub struct AcceptedWatch<T> {
    cells: Cells<T>,
    keys: Arc<Keys>,
    ring: Accepted<Notice>,
}

impl<T: Message> AcceptedWatch<T> {
    /// The newest value of a cell. Waits for nobody; O(`size_of::<T>()`). It is no older than any value that
    /// was sent before this call, and no older than what this process has read before.
    ///
    /// # Errors
    ///
    /// [`GetError`]. What it says of one cell says nothing of others.
    #[inline]
    pub fn get(&self, cell: usize) -> Result<T, GetError> {
        get(&self.cells, cell, |_, value| value)
    }

    /// As [`get`](Self::get), and with the value comes how many were sent to the cell, with this one.
    pub(in crate::shm) fn get_counted(&self, cell: usize) -> Result<(u64, T), GetError> {
        get(&self.cells, cell, |written, value| (written, value))
    }

    /// Waits for changes of the first cell, the only one of a [`sender`](super::sender). It has seen no value
    /// yet.
    #[must_use]
    pub fn receiver(&self) -> Receiver<T> {
        Receiver {
            cells: self.cells.clone(),
            cell: 0,
            seen: 0,
            notices: self.ring.subscribable().subscribe(),
            corrupt: 0,
        }
    }

    /// As [`receiver`](Self::receiver), of any cell. `None`: there is no such cell.
    #[must_use]
    pub fn receiver_of(&self, cell: usize) -> Option<Receiver<T>> {
        (cell < self.cells()).then(|| Receiver { cell, ..self.receiver() })
    }

    /// Waits for changes of all cells. It has seen no value yet, so it begins with all that are there. Takes
    /// eight bytes for each cell.
    #[must_use]
    pub fn changes(&self) -> Changes<T> {
        // First, so that nothing comes between this and the look at all cells.
        let notices = self.ring.subscribable().subscribe();
        Changes {
            cells: self.cells.clone(),
            seen: core::iter::repeat_n(0, self.cells()).collect(),
            notices,
            lagged: 0,
            scan: Some(0),
            changed: None,
            has_ended: false,
            corrupt: 0,
        }
    }

    /// How many cells there are.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.cells.count()
    }

    /// The cell of a key. `None`: no cell has it yet. O(cells): keep what it returns.
    #[must_use]
    pub fn cell(&self, key: &str) -> Option<usize> {
        self.keys.find(key)
    }

    /// The key of a cell. `None`: it has none yet, or there is no such cell.
    #[must_use]
    pub fn key(&self, cell: usize) -> Option<Key> {
        if cell < self.cells() { self.keys.key(cell) } else { None }
    }

    /// Each cell that has a key, and its key, in the order in which they were added.
    pub fn keys(&self) -> impl Iterator<Item = (usize, Key)> + '_ {
        (0..self.cells()).filter_map(|cell| Some((cell, self.key(cell)?)))
    }

    /// Whether the sender is there. Two system calls. See [`Accepted::state`].
    #[must_use]
    pub fn state(&self) -> PeerState {
        self.ring.state()
    }
}

impl<T: Message> Clone for AcceptedWatch<T> {
    fn clone(&self) -> Self {
        Self { cells: self.cells.clone(), keys: Arc::clone(&self.keys), ring: self.ring.clone() }
    }
}

impl<T: Message> fmt::Debug for AcceptedWatch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcceptedWatch").field("cells", &self.cells()).finish_non_exhaustive()
    }
}

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GetError {
    /// Nothing was sent to the cell yet.
    Empty,
    /// There is no such cell.
    NoCell {
        /// Which one was asked for.
        cell: usize,
        /// How many there are.
        cells: usize,
    },
    /// The sender has replaced the value at each of 1,000 looks while it was copied. Try again.
    Overtaken,
    /// What the sender's process has written is no `T`.
    Corrupt(BadValue),
}

impl fmt::Display for GetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("nothing was sent to this cell yet"),
            Self::NoCell { cell, cells } => {
                write!(f, "there is no cell {cell}: there are {cells}, from 0 on")
            }
            Self::Overtaken => {
                f.write_str("the sender has replaced the value at each of 1,000 looks: try again")
            }
            Self::Corrupt(bad) => write!(f, "the sender's process has written what is no value: {bad}"),
        }
    }
}

impl Error for GetError {}

/// `of` makes of the number and the value what is returned. (A value that goes through several results is
/// taken apart and put together, which costs more than all else.)
#[inline(always)]
fn get<T: Message, R>(cells: &Cells<T>, cell: usize, of: impl FnOnce(u64, T) -> R) -> Result<R, GetError> {
    if cell >= cells.count() {
        return Err(GetError::NoCell { cell, cells: cells.count() });
    }
    let mut value = MaybeUninit::uninit();
    match cells.read(cell, &mut value) {
        Ok((written, whole)) => match whole.checked() {
            Ok(value) => Ok(of(written, value.take())),
            Err(corrupt) => Err(GetError::Corrupt(corrupt.bad_value())),
        },
        Err(Unread::Empty) => Err(GetError::Empty),
        Err(Unread::Overtaken) => Err(GetError::Overtaken),
    }
}

/// Reads a value that is new to its reader, which has `seen` so many of the cell, and counts what is no `T`.
/// `Again`: that, or it was overwritten while it was read.
fn take<T: Message>(cells: &Cells<T>, cell: usize, seen: &mut u64, corrupt: &mut u64) -> Look<T> {
    let mut value = MaybeUninit::uninit();
    let Ok((written, whole)) = cells.look(cell, &mut value) else { return Look::Again };
    *seen = written;
    if let Ok(value) = whole.checked() {
        return Look::Found(value.take());
    }
    *corrupt += 1;
    Look::Again
}

/// Whether a look finds something. If it finds none of what there is in so many looks, it may.
fn is_ready<F>(mut look: impl FnMut() -> Look<F>) -> bool {
    for _ in 0..LAST_LOOKS {
        match look() {
            Look::Found(_) => return true,
            Look::Nothing => return false,
            // Unreached: the notice is overwritten at each look: threads have to meet there, here and below
            Look::Again => {}
        }
    }
    // Unreached: as above
    true
}

/// Reads the newest value of a cell, and waits for a change. Made by [`AcceptedWatch::receiver`]. It may be
/// cloned; a clone has seen what the original has.
///
/// Beside these verbs it has those of [`Receive`], and works wherever a receiving handle does: in tasks,
/// selects, workers and notifiers.
///
/// A thread that waits for one cell of a table is woken by a change of any cell, looks, and sleeps again.
pub struct Receiver<T: Message> {
    cells: Cells<T>,
    cell: usize,
    /// How many of the cell's values count as seen.
    seen: u64,
    notices: Subscriber<Notice, Foreign>,
    corrupt: u64,
}

impl<T: Message> Receiver<T> {
    /// The newest value. It does not count as seen by that. Waits for nobody; O(`size_of::<T>()`). See
    /// [`AcceptedWatch::get`].
    ///
    /// # Errors
    ///
    /// [`GetError`].
    #[inline]
    pub fn get(&self) -> Result<T, GetError> {
        get(&self.cells, self.cell, |_, value| value)
    }

    /// Which cell it is of.
    #[must_use]
    pub fn cell(&self) -> usize {
        self.cell
    }

    /// Whether there is a value that this receiver has not seen.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: there is none, and none comes any more.
    pub fn has_changed(&self) -> Result<bool, RecvError> {
        // Before the look at the cell: what was sent before the end is seen.
        let is_closed = self.notices.is_closed();
        match self.cells.written(self.cell) > self.seen {
            true => Ok(true),
            false if is_closed => Err(RecvError::CLOSED),
            false => Ok(false),
        }
    }

    /// Whether no value comes any more that this receiver has not seen.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.has_changed().is_err()
    }

    /// The value of this moment counts as not seen.
    pub fn mark_changed(&mut self) {
        self.seen = 0;
    }

    /// The value of this moment counts as seen.
    pub fn mark_unchanged(&mut self) {
        self.seen = self.cells.written(self.cell);
    }

    /// Waits until there is a value that this receiver has not seen, and counts it as seen.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: there is none, and none comes any more. [`get`](Self::get) still returns the newest
    /// one.
    pub fn changed(&mut self) -> Result<(), RecvError> {
        let strategy = self.wait_strategy();
        wait_until(&mut By(self, Self::poll_changed), strategy, None).unwrap_or(Err(RecvError::CLOSED))
    }

    /// As [`changed`](Self::changed), but waits as [`Until`] says: at most so long, for example.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time. [`Closed`](RecvTimeoutError::Closed): as
    /// [`changed`](Self::changed).
    pub fn changed_until(&mut self, until: impl Into<Until>) -> Result<(), RecvTimeoutError> {
        let until = until.into();
        let strategy = until.strategy_or(|| self.wait_strategy());
        in_time(wait_until(&mut By(self, Self::poll_changed), strategy, until.deadline()))
    }

    /// As [`changed`](Self::changed), in a task: the task waits, not its thread.
    ///
    /// *Cancel safety*: a future that is dropped has seen nothing, and loses nothing.
    ///
    /// # Errors
    ///
    /// As [`changed`](Self::changed).
    #[cfg(feature = "async")]
    pub fn changed_async(&mut self) -> impl Future<Output = Result<(), RecvError>> + Send + Unpin {
        // SAFETY: the eventcount is in what the ring's handle keeps, which lives as long as the receiver,
        // which is borrowed.
        unsafe { crate::wait::Waiting::new(By(self, Self::poll_changed)) }
    }

    /// Waits until there is a value that this receiver has not seen, and returns it. It counts as seen. A
    /// receiver that is slow has the newest of several.
    ///
    /// What is no `T` is passed, and counted: [`total_corrupt`](Self::total_corrupt).
    ///
    /// # Errors
    ///
    /// [`RecvError`]: there is none, and none comes any more. It says whether the sender's process has
    /// [died](RecvError::peer_died).
    pub fn recv(&mut self) -> Result<T, RecvError> {
        Receive::recv(self)
    }

    /// As [`recv`](Self::recv), if such a value is there. Never waits.
    ///
    /// # Errors
    ///
    /// [`Empty`](TryRecvError::Empty): the newest value was seen. [`Closed`](TryRecvError::Closed): and none
    /// comes any more.
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        Receive::try_recv(self)
    }

    /// As [`recv`](Self::recv), but waits at most so long.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time. [`Closed`](RecvTimeoutError::Closed): as
    /// [`recv`](Self::recv).
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        Receive::recv_timeout(self, timeout)
    }

    /// Waits until there is a value for which `is_wanted` returns true, and returns it. It is asked for the
    /// value of this moment first, whether that was seen or not. All that it was asked for count as seen.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the last value is not wanted, and none comes any more.
    ///
    /// # Panics
    ///
    /// If `is_wanted` panics.
    pub fn wait_for(&mut self, is_wanted: impl FnMut(&T) -> bool) -> Result<T, RecvError> {
        let strategy = self.wait_strategy();
        self.mark_changed();
        wait_until(&mut By(self, wanted(is_wanted)), strategy, None).unwrap_or(Err(RecvError::CLOSED))
    }

    /// As [`wait_for`](Self::wait_for), but waits as [`Until`] says: at most so long, for example.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): no such value came in time.
    /// [`Closed`](RecvTimeoutError::Closed): as [`wait_for`](Self::wait_for).
    pub fn wait_for_until(
        &mut self,
        until: impl Into<Until>,
        is_wanted: impl FnMut(&T) -> bool,
    ) -> Result<T, RecvTimeoutError> {
        let until = until.into();
        let strategy = until.strategy_or(|| self.wait_strategy());
        self.mark_changed();
        in_time(wait_until(&mut By(self, wanted(is_wanted)), strategy, until.deadline()))
    }

    /// How many values it has passed that were no `T`. Only another process that writes at random writes
    /// such.
    #[must_use]
    pub fn total_corrupt(&self) -> u64 {
        self.corrupt
    }

    own_strategy! {
        make: "let mut reader = annulus::shm::watch::sender(1).unwrap().invitation.accept_watch::<i32>().unwrap().receiver();",
        |handle| as: handle.notices
    }

    /// Whether there is something new, and how much was written then: one look, which takes nothing. Notices
    /// are passed: of whichever cell they are, the look that follows finds what they tell of this one.
    fn look(&mut self) -> Look<Result<u64, RecvError>> {
        for _ in 0..LAST_LOOKS {
            let written = self.cells.written(self.cell);
            if written > self.seen {
                return Look::Found(Ok(written));
            }
            self.notices.skip_to_latest();
            match self.notices.poll_recv() {
                Look::Found(Err(end)) => {
                    // What came before the end may have come after the look.
                    let written = self.cells.written(self.cell);
                    return Look::Found(if written > self.seen { Ok(written) } else { Err(end) });
                }
                Look::Nothing => return Look::Nothing,
                Look::Again => return Look::Again,
                Look::Found(Ok(_)) => {}
            }
        }
        // Unreached: a writer that changes other cells as often while this looks
        Look::Again
    }

    fn poll_changed(&mut self) -> Look<Result<(), RecvError>> {
        self.look().map(|found| found.map(|written| self.seen = written))
    }
}

/// A receive that passes what is not wanted.
fn wanted<T: Message>(
    mut is_wanted: impl FnMut(&T) -> bool,
) -> impl FnMut(&mut Receiver<T>) -> Look<Result<T, RecvError>> {
    move |receiver| match receiver.poll_recv() {
        Look::Found(Ok(value)) if !is_wanted(&value) => Look::Again,
        look => look,
    }
}

/// A receiver, and the look for what it waits for.
struct By<'r, T: Message, P>(&'r mut Receiver<T>, P);

impl<T: Message, F, P: FnMut(&mut Receiver<T>) -> Look<F>> Poll for By<'_, T, P> {
    type Found = F;

    fn wait_point(&self) -> &EventCount {
        Source::wait_point(&self.0.notices)
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        Source::watched(&self.0.notices)
    }

    fn poll(&mut self) -> Look<F> {
        (self.1)(self.0)
    }
}

// SAFETY: the eventcounts are those of the ring's subscriber, which is in this.
unsafe impl<T: Message> Source for Receiver<T> {
    fn wait_point(&self) -> &EventCount {
        Source::wait_point(&self.notices)
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        Source::watched(&self.notices)
    }

    fn is_ready(&mut self) -> bool {
        is_ready(|| self.look())
    }

    fn strategy(&self) -> WaitStrategy {
        self.wait_strategy()
    }

    fn has_more(&mut self) -> bool {
        self.has_changed() == Ok(true)
    }

    /// What the receiver had seen, if there was a value that it had not seen. (A later one takes its place.)
    fn mark(&mut self) -> EndMark {
        EndMark::of(self.has_more().then_some((0, self.seen)))
    }

    fn has_passed(&self, mark: &mut EndMark) -> bool {
        // One receive is enough, whatever it got.
        mark.is_passed(|_, seen| seen != self.seen)
    }

    fn left(&self) -> Option<u64> {
        Some(u64::from(self.has_changed() == Ok(true)))
    }
}

impl<T: Message> Waitable for Receiver<T> {
    fn is_closed(&self) -> bool {
        self.is_closed()
    }
}

impl<T: Message> Receive for Receiver<T> {
    type Item = T;

    fn poll_recv(&mut self) -> Look<Result<T, RecvError>> {
        match self.look() {
            Look::Found(Ok(_)) => take(&self.cells, self.cell, &mut self.seen, &mut self.corrupt).map(Ok),
            Look::Found(Err(end)) => Look::Found(Err(end)),
            Look::Nothing => Look::Nothing,
            Look::Again => Look::Again,
        }
    }
}

impl<T: Message> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        let Self { ref cells, cell, seen, ref notices, corrupt } = *self;
        Self { cells: cells.clone(), cell, seen, notices: notices.clone(), corrupt }
    }
}

impl<T: Message> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("cell", &self.cell).finish_non_exhaustive()
    }
}

/// A cell that has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change<T> {
    /// Which one: [`AcceptedWatch::key`] says its key.
    pub cell: usize,
    /// Its newest value.
    pub value: T,
}

/// Waits for changes of all cells, and tells which has changed. Made by [`AcceptedWatch::changes`].
///
/// No change is lost: each cell that has a value which this has not told of is told of, once, with the value
/// that is newest when it is received. Cells that change often do not hold up others.
///
/// Beside these verbs it has those of [`Receive`], and works wherever a receiving handle does.
pub struct Changes<T: Message> {
    cells: Cells<T>,
    /// Of each cell: how many values count as seen.
    seen: Box<[u64]>,
    notices: Subscriber<Notice, Foreign>,
    /// How many notices were lost when this last looked.
    lagged: u64,
    /// While it looks at all cells: the next one.
    scan: Option<usize>,
    /// A cell that has changed, and was not received yet.
    changed: Option<usize>,
    /// Whether it has begun to look at all cells once more, because no more notices come.
    has_ended: bool,
    corrupt: u64,
}

impl<T: Message> Changes<T> {
    /// Receives the next change. Waits for it. O(`size_of::<T>()`); after it has lost notices, or has reached
    /// the end, it looks at all cells once.
    ///
    /// What is no `T` is passed, and counted: [`total_corrupt`](Self::total_corrupt).
    ///
    /// # Errors
    ///
    /// [`RecvError`]: there is none, and none comes any more. It says whether the sender's process has
    /// [died](RecvError::peer_died).
    pub fn recv(&mut self) -> Result<Change<T>, RecvError> {
        Receive::recv(self)
    }

    /// As [`recv`](Self::recv), if there is a change. Never waits.
    ///
    /// # Errors
    ///
    /// [`Empty`](TryRecvError::Empty): nothing has changed. [`Closed`](TryRecvError::Closed): and nothing
    /// changes any more.
    pub fn try_recv(&mut self) -> Result<Change<T>, TryRecvError> {
        Receive::try_recv(self)
    }

    /// As [`recv`](Self::recv), but waits at most so long.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time. [`Closed`](RecvTimeoutError::Closed): as
    /// [`recv`](Self::recv).
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<Change<T>, RecvTimeoutError> {
        Receive::recv_timeout(self, timeout)
    }

    /// How many values it has passed that were no `T`. Only another process that writes at random writes
    /// such.
    #[must_use]
    pub fn total_corrupt(&self) -> u64 {
        self.corrupt
    }

    own_strategy! {
        make: "let mut reader = annulus::shm::watch::sender(1).unwrap().invitation.accept_watch::<i32>().unwrap().changes();",
        |handle| as: handle.notices
    }

    fn is_new(&self, cell: usize) -> bool {
        self.cells.written(cell) > self.seen[cell]
    }

    /// Finds a cell that has changed, and takes nothing.
    fn look(&mut self) -> Look<Result<usize, RecvError>> {
        for _ in 0..LAST_LOOKS {
            if let Some(cell) = self.changed {
                return Look::Found(Ok(cell));
            }
            if let Some(from) = self.scan {
                self.changed = (from..self.cells.count()).find(|&cell| self.is_new(cell));
                self.scan = self.changed.map(|cell| cell + 1);
                continue;
            }
            let told = self.notices.poll_recv();
            let lagged = self.notices.total_lagged();
            if lagged != self.lagged && !seeded!("watch_lag_unseen") {
                (self.lagged, self.scan) = (lagged, Some(0));
            }
            match told {
                Look::Found(Ok(cell)) => {
                    // (Another process may tell of any cell.)
                    let cell = usize::try_from(cell).ok().filter(|&cell| cell < self.cells.count());
                    self.changed = cell.filter(|&cell| self.is_new(cell));
                }
                Look::Found(Err(end)) if self.has_ended || seeded!("watch_end_unlooked") => {
                    return Look::Found(Err(end));
                }
                Look::Found(Err(_)) => (self.has_ended, self.scan) = (true, Some(0)),
                Look::Nothing => return Look::Nothing,
                Look::Again => return Look::Again,
            }
        }
        Look::Again
    }
}

// SAFETY: the eventcounts are those of the ring's subscriber, which is in this.
unsafe impl<T: Message> Source for Changes<T> {
    fn wait_point(&self) -> &EventCount {
        Source::wait_point(&self.notices)
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        Source::watched(&self.notices)
    }

    fn is_ready(&mut self) -> bool {
        is_ready(|| self.look())
    }

    fn strategy(&self) -> WaitStrategy {
        self.wait_strategy()
    }

    fn has_more(&mut self) -> bool {
        matches!(look_now(|| self.look()), Some(Ok(_)))
    }

    fn mark(&mut self) -> EndMark {
        Source::mark(&mut self.notices)
    }

    fn has_passed(&self, mark: &mut EndMark) -> bool {
        let is_looked_at = self.changed.is_none() && self.scan.is_none();
        is_looked_at && Source::has_passed(&self.notices, mark)
    }
}

impl<T: Message> Waitable for Changes<T> {
    fn is_closed(&self) -> bool {
        self.notices.is_closed()
    }
}

impl<T: Message> Receive for Changes<T> {
    type Item = Change<T>;

    fn poll_recv(&mut self) -> Look<Result<Change<T>, RecvError>> {
        match self.look() {
            Look::Found(Ok(cell)) => {
                let seen = self.seen[cell];
                let found = take(&self.cells, cell, &mut self.seen[cell], &mut self.corrupt);
                if self.seen[cell] != seen {
                    self.changed = None;
                }
                found.map(|value| Ok(Change { cell, value }))
            }
            Look::Found(Err(end)) => Look::Found(Err(end)),
            Look::Nothing => Look::Nothing,
            Look::Again => Look::Again,
        }
    }
}

iterates! { [T: Message] Receiver<T>; [T: Message] Changes<T>; }

impl<T: Message> fmt::Debug for Changes<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changes").field("cells", &self.cells.count()).finish_non_exhaustive()
    }
}

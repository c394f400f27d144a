//! [`Held`]: the end of a ring, as several Python threads use it (decision 0160).
//!
//! A verb that does not wait uses the end under a lock, and does not touch Python meanwhile. A verb that
//! waits takes the end out, without the GIL, for 20 ms at most, and then lets other threads have it, and
//! looks for signals. So nobody waits for the lock and the GIL at once.
//!
//! An end that lends memory of its ring ([`lent`](crate::lent)) serves no verb meanwhile: a thread that
//! waited for the end of its own loan would wait for ever, so each verb raises `LentError`.
//!
//! An end belongs to the process that made it. In a forked child it is neither used nor dropped: the parent
//! uses the same memory.

use std::mem::{self, ManuallyDrop};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Once, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::errors::{Which, closed, error};
use crate::lent::{Back, Given, Lender, Lends, Loan, Piece, given_back};
use crate::limit::{Limit, SLICE};

/// So many forks lie between this process and the one that loaded the module.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// In the child of each fork.
extern "C" fn count_fork() {
    // Relaxed: the child has one thread.
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// Begins to count forks.
pub(crate) fn watch_forks() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the function only counts, and Python never unloads an extension.
        unsafe { libc::pthread_atfork(None, None, Some(count_fork)) };
    });
}

/// Something of this process's: in a forked child it is not dropped, because the parent uses the same memory.
pub(crate) struct OfThisProcess<T> {
    value: ManuallyDrop<T>,
    forks: u64,
}

impl<T> OfThisProcess<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value: ManuallyDrop::new(value), forks: FORKS.load(Ordering::Relaxed) }
    }
}

impl<T> OfThisProcess<T> {
    /// # Errors
    ///
    /// `ForkedError`: it is the parent's.
    pub(crate) fn get(&self, py: Python<'_>) -> PyResult<&T> {
        if self.forks == FORKS.load(Ordering::Relaxed) { Ok(&self.value) } else { Err(forked(py)) }
    }

    /// What it is. (It was asked by [`get`](Self::get) before.)
    pub(crate) fn into_inner(self) -> T {
        let mut kept = ManuallyDrop::new(self);
        // SAFETY: it is taken once, here, and not dropped.
        unsafe { ManuallyDrop::take(&mut kept.value) }
    }
}

impl<T> Drop for OfThisProcess<T> {
    fn drop(&mut self) {
        if self.forks == FORKS.load(Ordering::Relaxed) {
            // SAFETY: it is dropped once, here.
            unsafe { ManuallyDrop::drop(&mut self.value) }
        }
    }
}

/// What can be closed, whatever it is.
pub(crate) trait Close: Send + Sync {
    /// Leaves the ring, unless another thread has the end: then that one does so.
    fn close_soon(&self);
}

/// The ends that are to be closed when Python ends: a process that leaves its rings has not died.
static LIVE: Mutex<Vec<Weak<dyn Close>>> = Mutex::new(Vec::new());

/// Has the end closed when Python ends.
pub(crate) fn close_at_exit(end: Weak<dyn Close>) {
    let mut live = LIVE.lock().unwrap_or_else(PoisonError::into_inner);
    if live.len() == live.capacity() {
        live.retain(|end| end.strong_count() > 0);
    }
    live.push(end);
}

/// When Python ends.
pub(crate) fn close_all() {
    let live = mem::take(&mut *LIVE.lock().unwrap_or_else(PoisonError::into_inner));
    live.iter().filter_map(Weak::upgrade).for_each(|end| end.close_soon());
}

/// The end of a ring.
pub(crate) struct Held<E> {
    state: Mutex<State<E>>,
    /// The end was brought back.
    freed: Condvar,
    /// In which process it was made.
    forks: u64,
}

struct State<E> {
    place: Place<E>,
    /// So many threads wait for the end to be brought back.
    waiting: usize,
    /// The thread that brings it back closes it.
    is_closing: bool,
}

enum Place<E> {
    Here(E),
    /// A thread has it.
    Away,
    Lent(Lent<E>),
    Closed,
}

/// An end that lends.
struct Lent<E> {
    end: E,
    loan: Arc<Loan>,
    /// What is to be given back, where a view was left in the way.
    left: Option<Back>,
}

impl<E: Lends> Lent<E> {
    /// The end, once what was lent is given back.
    fn settled(mut self) -> Result<(E, Given), Self> {
        match self.left {
            Some(back) if self.loan.is_over() => {
                let given = self.end.give_back(self.loan.piece(), back);
                Ok((self.end, given))
            }
            _ => Err(self),
        }
    }
}

/// The end, in the hands of one thread.
struct Taken<'h, E> {
    held: &'h Held<E>,
    /// `None` only in the drop and in `lend`.
    end: Option<E>,
}

impl<E> Drop for Taken<'_, E> {
    fn drop(&mut self) {
        let mut state = self.held.lock();
        let mut closed = None;
        match self.end.take() {
            Some(end) if state.is_closing => {
                state.place = Place::Closed;
                closed = Some(end);
            }
            Some(end) => state.place = Place::Here(end),
            // It lends.
            None => {}
        }
        let is_wanted = state.waiting > 0;
        drop(state);
        drop(closed);
        if is_wanted {
            self.held.freed.notify_all();
        }
    }
}

/// What a thread finds that wants the end.
enum Found<'h, E> {
    Taken(Taken<'h, E>),
    Closed,
    /// Another thread has it, still.
    Busy,
    Lent(StillLent),
}

/// Why an end that lends is in no place for a verb.
#[derive(Clone, Copy)]
struct StillLent {
    /// The block of the loan has ended, and a view is left.
    is_left: bool,
}

/// How a close went.
enum Closing {
    Done,
    /// Another thread has the end, still.
    Busy,
    Lent(StillLent),
}

impl<E> Taken<'_, E> {
    /// Puts the end where it lends. False: another thread has asked for its close meanwhile.
    fn lend(mut self, loan: Arc<Loan>) -> bool {
        let mut state = self.held.lock();
        if state.is_closing {
            return false;
        }
        let end = self.end.take().expect(THERE);
        state.place = Place::Lent(Lent { end, loan, left: None });
        true
    }
}

impl<E: Send + Lends> Held<E> {
    pub(crate) fn new(end: E) -> Self {
        Self {
            state: Mutex::new(State { place: Place::Here(end), waiting: 0, is_closing: false }),
            freed: Condvar::new(),
            forks: FORKS.load(Ordering::Relaxed),
        }
    }

    /// Uses the end, without Python and without a wait.
    ///
    /// # Errors
    ///
    /// `ForkedError`; `ClosedError`: the handle is closed; what a signal raises while another thread has the
    /// end.
    #[inline]
    pub(crate) fn now<R: Send>(&self, py: Python<'_>, verb: impl FnOnce(&mut E) -> R + Send) -> PyResult<R> {
        self.check_process(py)?;
        {
            let mut state = self.lock();
            match &mut state.place {
                Place::Here(end) => return Ok(verb(end)),
                Place::Closed => return Err(handle_closed(py)),
                Place::Away | Place::Lent(_) => {}
            }
        }
        let mut taken = self.take_in(py, Limit::Never)?.ok_or_else(|| handle_closed(py))?;
        Ok(verb(taken.end.as_mut().expect(THERE)))
    }

    /// Uses the end without the GIL, for what takes long.
    ///
    /// # Errors
    ///
    /// As of [`now`](Self::now).
    pub(crate) fn detached<R: Send>(
        &self,
        py: Python<'_>,
        verb: impl FnOnce(&mut E) -> R + Send,
    ) -> PyResult<R> {
        self.check_process(py)?;
        let mut taken = self.take_in(py, Limit::Never)?.ok_or_else(|| handle_closed(py))?;
        Ok(py.detach(|| {
            let result = verb(taken.end.as_mut().expect(THERE));
            drop(taken);
            result
        }))
    }

    /// Repeats `verb` without the GIL until it returns something, or the time is over (`None`). It waits for
    /// the time that it is given, at most.
    ///
    /// # Errors
    ///
    /// As of [`now`](Self::now), and what a signal raises.
    pub(crate) fn wait<R: Send>(
        &self,
        py: Python<'_>,
        limit: Limit,
        mut verb: impl FnMut(&mut E, Duration) -> Option<R> + Send,
    ) -> PyResult<Option<R>> {
        self.wait_in_turns(py, limit, |mut taken, left| verb(taken.end.as_mut().expect(THERE), left))
    }

    /// As [`wait`](Self::wait), where each turn has the end itself.
    fn wait_in_turns<R: Send>(
        &self,
        py: Python<'_>,
        limit: Limit,
        mut turn: impl FnMut(Taken<'_, E>, Duration) -> Option<R> + Send,
    ) -> PyResult<Option<R>> {
        while let Some(slice) = limit.next_slice() {
            self.check_process(py)?;
            let begun = Instant::now();
            let found = py.detach(|| match self.take(slice) {
                Found::Taken(taken) => {
                    let left = slice.saturating_sub(begun.elapsed());
                    let result = turn(taken, left);
                    if result.is_none() && self.lock().waiting > 0 {
                        // The others first: they need longer to wake up than this thread to come back.
                        thread::sleep(Duration::from_millis(1));
                    }
                    Ok(result)
                }
                Found::Closed => Err(None),
                Found::Lent(still) => Err(Some(still)),
                Found::Busy => Ok(None),
            });
            match found {
                Ok(Some(result)) => return Ok(Some(result)),
                Ok(None) => py.check_signals()?,
                Err(Some(still)) => return Err(lends(py, still)),
                Err(None) => return Err(handle_closed(py)),
            }
        }
        Ok(None)
    }

    /// As [`wait`](Self::wait), for a piece of the ring's memory, which the end lends then. It looks once
    /// even if the time is over before.
    ///
    /// # Errors
    ///
    /// As of [`wait`](Self::wait).
    pub(crate) fn lend<R: Send>(
        &self,
        py: Python<'_>,
        limit: Limit,
        mut verb: impl FnMut(&mut E, Duration) -> Option<Result<Piece, R>> + Send,
    ) -> PyResult<Option<Result<Arc<Loan>, R>>> {
        self.check_process(py)?;
        let mut turn = |mut taken: Taken<'_, E>, left| {
            let found = verb(taken.end.as_mut().expect(THERE), left)?;
            Some(found.map(|piece| {
                let loan = Arc::new(Loan::new(piece));
                taken.lend(Arc::clone(&loan)).then_some(loan)
            }))
        };
        let taken = self.take_in(py, Limit::Never)?.ok_or_else(|| handle_closed(py))?;
        let mut found = py.detach(|| turn(taken, Duration::ZERO));
        if found.is_none() {
            found = self.wait_in_turns(py, limit, turn)?;
        }
        match found {
            Some(Ok(None)) => Err(handle_closed(py)),
            Some(Ok(Some(loan))) => Ok(Some(Ok(loan))),
            Some(Err(refused)) => Ok(Some(Err(refused))),
            None => Ok(None),
        }
    }

    /// Takes the end, and waits for another thread that has it. `None`: it is closed.
    fn take_in(&self, py: Python<'_>, limit: Limit) -> PyResult<Option<Taken<'_, E>>> {
        loop {
            let slice = limit.next_slice().unwrap_or(SLICE);
            match py.detach(|| self.take(slice)) {
                Found::Taken(taken) => return Ok(Some(taken)),
                Found::Closed => return Ok(None),
                Found::Lent(still) => return Err(lends(py, still)),
                Found::Busy => py.check_signals()?,
            }
        }
    }

    fn take(&self, most: Duration) -> Found<'_, E> {
        let until = Instant::now() + most;
        let mut state = self.lock();
        loop {
            match mem::replace(&mut state.place, Place::Away) {
                Place::Here(end) => return Found::Taken(Taken { held: self, end: Some(end) }),
                Place::Closed => {
                    state.place = Place::Closed;
                    return Found::Closed;
                }
                Place::Lent(lent) => match lent.settled() {
                    Ok((end, _)) => return Found::Taken(Taken { held: self, end: Some(end) }),
                    Err(lent) => {
                        let still = StillLent { is_left: lent.left.is_some() };
                        state.place = Place::Lent(lent);
                        return Found::Lent(still);
                    }
                },
                Place::Away => {}
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Found::Busy;
            }
            state.waiting += 1;
            state = self.freed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
            state.waiting -= 1;
        }
    }

    /// Leaves the ring. Where another thread waits with the end, that thread does so within a slice, and this
    /// one waits for that.
    ///
    /// # Errors
    ///
    /// `ForkedError`; `LentError`; what a signal raises while another thread has the end.
    pub(crate) fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.check_process(py)?;
        loop {
            match py.detach(|| self.close_in(SLICE)) {
                Closing::Done => return Ok(()),
                Closing::Lent(still) => return Err(lends(py, still)),
                Closing::Busy => py.check_signals()?,
            }
        }
    }

    /// Closes it within that time.
    fn close_in(&self, most: Duration) -> Closing {
        let until = Instant::now() + most;
        let mut state = self.lock();
        state.is_closing = true;
        loop {
            match mem::replace(&mut state.place, Place::Away) {
                Place::Here(end) => {
                    state.place = Place::Closed;
                    drop(state);
                    drop(end);
                    return Closing::Done;
                }
                Place::Closed => {
                    state.place = Place::Closed;
                    return Closing::Done;
                }
                Place::Lent(lent) => match lent.settled() {
                    Ok((end, _)) => {
                        state.place = Place::Here(end);
                        continue;
                    }
                    Err(lent) => {
                        let still = StillLent { is_left: lent.left.is_some() };
                        state.place = Place::Lent(lent);
                        state.is_closing = false;
                        return Closing::Lent(still);
                    }
                },
                Place::Away => {}
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Closing::Busy;
            }
            state.waiting += 1;
            state = self.freed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
            state.waiting -= 1;
        }
    }

    /// Whether it was closed by [`close`](Self::close), or the ring is, as `verb` says.
    ///
    /// # Errors
    ///
    /// As of [`now`](Self::now), where the handle is open.
    pub(crate) fn is_closed(
        &self,
        py: Python<'_>,
        verb: impl FnOnce(&mut E) -> bool + Send,
    ) -> PyResult<bool> {
        if self.is_of_this_process() && matches!(self.lock().place, Place::Closed) {
            return Ok(true);
        }
        self.now(py, verb)
    }
}

/// Why an end that was taken can't be missing.
const THERE: &str = "only the drop and `lend` take the end";

impl<E> Held<E> {
    fn lock(&self) -> MutexGuard<'_, State<E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    fn is_of_this_process(&self) -> bool {
        self.forks == FORKS.load(Ordering::Relaxed)
    }

    /// Before the lock, which another thread of the parent may have had in the fork.
    #[inline]
    pub(crate) fn check_process(&self, py: Python<'_>) -> PyResult<()> {
        if self.is_of_this_process() { Ok(()) } else { Err(forked(py)) }
    }
}

#[cold]
fn forked(py: Python<'_>) -> PyErr {
    error(
        py,
        Which::Forked,
        "this handle belongs to the parent of this process: make another one here, after the fork",
    )
}

#[cold]
fn handle_closed(py: Python<'_>) -> PyErr {
    closed(py, false, "this handle was closed by close()")
}

/// The error of a verb of an end that lends.
#[cold]
fn lends(py: Python<'_>, still: StillLent) -> PyErr {
    let text = if still.is_left {
        "an array of what was lent still exists: del it, or copy it with .copy(); until then the handle lends it"
    } else {
        "the handle lends memory of its ring: end the block of readable(), reserve() or loan() before its next verb"
    };
    error(py, Which::Lent, text)
}

impl<E: Send + Lends> Close for Held<E> {
    fn close_soon(&self) {
        if self.is_of_this_process() {
            // One that lends stays: a thread may still use what it has lent.
            self.close_in(Duration::ZERO);
        }
    }
}

impl<E: Send + Lends> Lender for Held<E> {
    fn give_back(&self, py: Python<'_>, loan: &Arc<Loan>, back: Back) -> PyResult<Given> {
        self.check_process(py)?;
        match self.settle(loan, back) {
            Ok(given) => Ok(given),
            Err(Some(still)) => Err(lends(py, still)),
            Err(None) => Err(given_back(py)),
        }
    }

    fn drop_loan(&self, loan: &Arc<Loan>) {
        if self.is_of_this_process() {
            // Where a view is left, the next verb tries again.
            _ = self.settle(loan, Back::Nothing);
        }
    }
}

impl<E: Send + Lends> Held<E> {
    /// Ends a loan: `back` says what is received or sent, unless an earlier call has said it. `None`: the
    /// loan was over before.
    fn settle(&self, loan: &Arc<Loan>, back: Back) -> Result<Given, Option<StillLent>> {
        let mut state = self.lock();
        match mem::replace(&mut state.place, Place::Away) {
            Place::Lent(mut lent) if Arc::ptr_eq(&lent.loan, loan) => {
                lent.left.get_or_insert(back);
                match lent.settled() {
                    Ok((end, given)) => {
                        state.place = Place::Here(end);
                        Ok(given)
                    }
                    Err(lent) => {
                        state.place = Place::Lent(lent);
                        Err(Some(StillLent { is_left: true }))
                    }
                }
            }
            place => {
                state.place = place;
                Err(None)
            }
        }
    }
}

impl<E> Drop for Held<E> {
    fn drop(&mut self) {
        if !self.is_of_this_process() {
            // The parent's ring is the same one.
            let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
            mem::forget(mem::replace(&mut state.place, Place::Closed));
        }
    }
}

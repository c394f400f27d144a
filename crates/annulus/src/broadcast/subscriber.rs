//! [`Subscriber`]: one reader, with a cursor of its own.
//!
//! ```text
//! try_recv ─▶ begin    tell, as a stage, that what was received before is processed (`mode`)
//!          ─▶ read     slot.r1 to slot.r4: the message at the cursor (`handle`, `ring/slots`)
//!                      nothing there: empty, closed, lapped? (NoMessage)
//!          ─▶ release  the cursor goes on; publishers of a lossless ring see it (`mode`, `ring/gate`)
//! lapped   ─▶ recover  where to go on, and how many messages that costs (Recovery)
//! ```
//!
//! The hot path looks at one slot and at nothing else: no head, no counter, no other subscriber. A subscriber
//! never writes to memory that anybody else reads. What it received follows from how far it came and what it
//! lost, so a receive counts nothing.
//!
//! *Where a subscriber goes on after it was lapped.* The oldest message that stands is the next to be
//! overwritten. A reader slower than its publisher that goes on there is lapped again at once, and receives
//! next to nothing. So the first recovery goes on at the oldest message; one that follows before half a ring
//! was read goes on a 64th of the ring later, the next twice as far, up to the middle.
//!
//! A number that the publisher left out is lost to a subscriber that has kept up, too, and no edge is near:
//! it goes on behind all that were left out in a row, and the margin stays.

use core::convert::Infallible;
use core::fmt;
#[cfg(feature = "async")]
use core::future::Future;
use core::mem::MaybeUninit;
#[cfg(feature = "std")]
use std::time::Duration;

#[cfg(feature = "async")]
use futures_core::FusedStream;

use super::handle::Handle;
use super::ring_state::RingState;
use super::{Lossy, Mode, Unstaged};
use crate::base::sequence::{Sequence, Stamp};
use crate::error::{RecvError, RecvTimeoutError, TryRecvError, in_time};
use crate::message::Message;
use crate::observer::observable;
use crate::receive::{Numbered, Receive, Waitable};
use crate::ring::{Copied, Corrupt, Frontier, KeptValue, KeptWhole, Missing, Store, Value, Whole};
use crate::stats::OwnStats;
use crate::sync::{AtomicU64, seeded, unlikely};
use crate::wait::{
    EndMark, EventCount, LAST_LOOKS, Look, Poll, Source, Until, WaitStrategy, own_strategy, wait_until,
};
#[cfg(feature = "async")]
use crate::wait::{Streaming, Waiting};

/// A reading end of a broadcast ring, made by [`Subscribable`](crate::broadcast::Subscribable).
///
/// It sees every message from where it began, in order, each once. Its [`Mode`] says whether publishers wait
/// for it:
///
/// - [`Lossy`]: nobody waits for the subscriber. If it falls behind, it loses the oldest messages, and
///   [`total_lagged`](Self::total_lagged) counts them exactly.
/// - [`Lossless`](crate::broadcast::Lossless): publishers wait for the subscriber, so it loses nothing. When
///   it is dropped, also by a panic of its thread, publishers no longer wait for it. If it is forgotten
///   ([`mem::forget`](core::mem::forget), a cycle of `Arc`s), publishers wait for ever.
/// - [`Staged`](crate::broadcast::Staged): a subscriber of one of these modes that follows other subscribers:
///   see [`after`](Self::after).
///
/// At every moment, `total_received() + total_lagged() + total_corrupt()` is how far the subscriber has come.
/// (What is [corrupt](Self::total_corrupt), another process has written.)
///
/// A ring is closed when its last publisher is dropped, or when somebody [closes](crate::Closer) it.
/// Subscribers still receive what was published before. A subscriber may move to another thread. A clone
/// starts at the same message, with counters at zero; publishers wait for it as they do for the original. A
/// stage can't be cloned.
///
/// On a lag, and on what is corrupt, a plain verb counts it and goes on. A verb with `or_lag` says so, once.
///
/// | verb | waits | on lag, and on what is corrupt |
/// | --- | --- | --- |
/// | [`try_recv`](Self::try_recv), [`try_recv_batch`](Self::try_recv_batch), [`try_iter`](Self::try_iter), [`latest`](Subscriber::latest) | no | counts it and goes on |
/// | [`recv`](Self::recv), `recv_timeout`, [`recv_until`](Self::recv_until), [`recv_batch`](Self::recv_batch), [`recv_many`](Self::recv_many), [`iter`](Self::iter) | yes | counts it and goes on |
/// | of a stage: [`try_process`](Subscriber::try_process), [`try_process_batch`](Subscriber::try_process_batch) | no | counts it and goes on |
/// | of a stage: [`process`](Subscriber::process), [`process_batch`](Subscriber::process_batch) and their like | yes | counts it and goes on |
/// | [`try_recv_or_lag`](Subscriber::try_recv_or_lag) | no | says so, once |
/// | [`recv_or_lag`](Subscriber::recv_or_lag), `recv_or_lag_timeout`, [`recv_or_lag_until`](Subscriber::recv_or_lag_until) | yes | says so, once |
#[doc(alias = "Receiver")]
pub struct Subscriber<T, M: Mode = Lossy> {
    pub(super) shared: Handle<Copied<T>, M::Role>,
    /// The next sequence to receive.
    pub(super) cursor: Sequence,
    /// Where it began.
    pub(super) start: Sequence,
    /// What it did not receive of the messages between `start` and `cursor`.
    losses: Losses,
    /// How it waits, if not as its ring. Only slow paths look at it.
    // Decision 0095: receiving handles have it.
    strategy: Option<WaitStrategy>,
}

impl<T: Message, M: Mode> Subscriber<T, M> {
    pub(super) fn new(shared: Handle<Copied<T>, M::Role>, start: Sequence) -> Self {
        debug_assert!(M::IS_CHECKED || !shared.is_of_others(), "`of_another` says how it is subscribed");
        let losses = Losses { lagged: 0, corrupt: 0, recovery: Recovery::before_the_first() };
        Self { shared, cursor: start, start, losses, strategy: None }
    }

    /// The same subscriber in another mode, if `change` allows it: at its cursor, with its counters.
    pub(super) fn try_becoming<Q: Mode, E>(
        self,
        change: impl FnOnce(Handle<Copied<T>, M::Role>, Sequence) -> Result<Handle<Copied<T>, Q::Role>, E>,
    ) -> Result<Subscriber<T, Q>, E> {
        let Self { shared, cursor, start, losses, strategy } = self;
        let shared = change(shared, cursor)?;
        Ok(Subscriber { shared, cursor, start, losses, strategy })
    }

    /// How it is bound to others.
    pub(super) fn role(&self) -> &M::Role {
        self.shared.role()
    }
}

// One message.
impl<T: Message, M: Mode> Subscriber<T, M> {
    /// Receives the next message. Waits for it with the [`WaitStrategy`] of the ring. After a lag it goes on
    /// with the oldest message that is still in the ring, so `while let Ok(message) = subscriber.recv()` ends
    /// only when the ring is closed.
    ///
    /// It never waits for a publisher that is gone. If publishers are so fast that they overwrite the whole
    /// ring during each copy of one message, this does not return as long as that lasts.
    ///
    /// In a stage, the message counts as processed when the stage receives again or calls
    /// [`done`](Subscriber::done); see [`process`](Subscriber::process).
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the ring is closed and nothing is left.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(16);
    /// let mut subscriber = subscribable.subscribe();
    /// let reader = std::thread::spawn(move || {
    ///     let mut sum = 0;
    ///     while let Ok(number) = subscriber.recv() {
    ///         sum += number;
    ///     }
    ///     sum
    /// });
    /// publisher.publish_batch(&[1, 2, 3]);
    /// drop(publisher);
    /// assert_eq!(reader.join().unwrap(), 6);
    /// ```
    #[doc(alias = "blocking_recv")]
    #[inline]
    pub fn recv(&mut self) -> Result<T, RecvError> {
        self.receive_or(|subscriber| {
            let strategy = subscriber.wait_strategy();
            wait_without_deadline(subscriber, strategy)
        })
    }

    /// Receives the next message if it is there. Never waits. After a lag it goes on with the oldest message
    /// that is still in the ring, so `while let Ok(message) = subscriber.try_recv()` receives all that is
    /// there. [`total_lagged`](Self::total_lagged) counts what was lost, and
    /// [`try_recv_or_lag`](Subscriber::try_recv_or_lag) reports it.
    ///
    /// Takes O(`size_of::<T>()`). After a lag it also looks at a bounded number of slots: with many
    /// publishers, at all of them. (It looks a thousand times at most. If each of them finds that the message
    /// was overwritten, or is corrupt, it returns `Empty`.)
    ///
    /// In a stage, the message counts as processed when the stage receives again or calls
    /// [`done`](Subscriber::done), not when this returns. Until then the stage holds up its followers. With
    /// [`try_process`](Subscriber::try_process), it counts as processed when the closure returns.
    ///
    /// # Errors
    ///
    /// [`Empty`](TryRecvError::Empty): there is no new message or, for a stage, none that all of its
    /// upstreams have processed. [`Closed`](TryRecvError::Closed): the ring is closed and nothing is left.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::TryRecvError;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(2);
    /// let mut subscriber = subscribable.subscribe();
    /// assert_eq!(subscriber.try_recv(), Err(TryRecvError::Empty));
    ///
    /// publisher.publish_batch(&[1, 2, 3]);
    /// drop(publisher);
    /// assert_eq!(subscriber.try_recv(), Ok(2)); // 1 is lost
    /// assert_eq!(subscriber.try_recv(), Ok(3));
    /// assert_eq!(subscriber.try_recv(), Err(TryRecvError::Closed));
    /// assert_eq!(subscriber.total_lagged(), 1);
    /// ```
    #[inline]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.begin();
        let mut message = MaybeUninit::uninit();
        match self.next(&mut message) {
            Ok(message) => Ok(message.take()),
            Err(NoMessage::Empty) => Err(TryRecvError::Empty),
            Err(NoMessage::Closed) => Err(TryRecvError::Closed),
            Err(NoMessage::Lapped | NoMessage::Corrupt(_)) => self.try_recv_past_losses(),
        }
    }

    /// As [`try_recv`](Self::try_recv), where the message at the cursor is lost or corrupt. What it finds to
    /// be so is counted and passed over.
    // Decision 0157.
    #[inline(always)]
    fn try_recv_past_losses(&mut self) -> Result<T, TryRecvError> {
        let found = if self.shared.is_stage() {
            self.pass_losses_outlined()
        } else {
            let (cursor, losses, found) = pass_losses::<T, M>(&self.shared, self.cursor, self.losses);
            (self.cursor, self.losses) = (cursor, losses);
            self.release();
            found
        };
        match found {
            Ok(kept) => Ok(kept.take()),
            Err(NoMessage::Closed) => Err(TryRecvError::Closed),
            Err(NoMessage::Empty | NoMessage::Lapped) => Err(TryRecvError::Empty),
        }
    }

    /// For stages, which live in memory anyway.
    #[cold]
    #[inline(never)]
    fn pass_losses_outlined(&mut self) -> Result<KeptValue<T>, NoMessage<Infallible>> {
        let mut message = MaybeUninit::uninit();
        for _ in 0..=LAST_LOOKS {
            match self.next(&mut message) {
                Ok(message) => return Ok(message.keep()),
                Err(NoMessage::Empty) => break,
                Err(NoMessage::Closed) => return Err(NoMessage::Closed),
                Err(NoMessage::Lapped) => _ = self.recover(),
                Err(NoMessage::Corrupt(corrupt)) => _ = self.pass_corrupt(corrupt),
            }
        }
        Err(NoMessage::Empty)
    }

    /// Receives the next message if it is there. If it is not, does `wait`.
    #[inline(always)]
    fn receive_or<E>(&mut self, wait: impl FnOnce(&mut Self) -> Result<T, E>) -> Result<T, E> {
        self.begin();
        let mut message = MaybeUninit::uninit();
        match self.next(&mut message) {
            Ok(message) => Ok(message.take()),
            Err(_) => wait(self),
        }
    }

    /// As [`recv`](Self::recv), but gives up after `timeout` on the monotonic clock. A timeout that is too
    /// long for the clock means no timeout. A timeout of zero still receives a message that is there, even
    /// after a lag. (If publishers are so fast that they lap the subscriber at each of a thousand attempts
    /// after that time, it gives up.)
    ///
    /// In a stage, the message counts as processed when the stage receives again or calls
    /// [`done`](Subscriber::done); see [`process_timeout`](Subscriber::process_timeout).
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time. [`Closed`](RecvTimeoutError::Closed):
    /// the ring is closed and nothing is left.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::RecvTimeoutError;
    /// use std::time::Duration;
    ///
    /// let (publisher, subscribable) = annulus::broadcast::lossy::<u64>(16);
    /// let mut subscriber = subscribable.subscribe();
    /// let timeout = Duration::from_millis(1);
    /// assert_eq!(subscriber.recv_timeout(timeout), Err(RecvTimeoutError::Timeout));
    /// drop(publisher);
    /// assert_eq!(subscriber.recv_timeout(timeout), Err(RecvTimeoutError::Closed));
    /// ```
    #[cfg(feature = "std")]
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_until(timeout)
    }

    /// As [`recv`](Self::recv), but waits as [`Until`] says.
    ///
    /// In a stage, the message counts as processed when the stage receives again or calls
    /// [`done`](Subscriber::done); see [`process_until`](Subscriber::process_until).
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time. [`Closed`](RecvTimeoutError::Closed): as
    /// [`recv`](Self::recv).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::{Until, WaitStrategy};
    /// use std::time::Duration;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(16);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish(1);
    /// assert_eq!(subscriber.recv_until(WaitStrategy::BusySpin), Ok(1));
    /// let briefly = Until::from(Duration::from_micros(50)).by(WaitStrategy::BusySpin);
    /// assert!(subscriber.recv_until(briefly).is_err());
    /// ```
    #[doc(alias = "recv_deadline")]
    #[doc(alias = "recv_with")]
    #[inline]
    pub fn recv_until(&mut self, until: impl Into<Until>) -> Result<T, RecvTimeoutError> {
        self.receive_or(|subscriber| {
            let until = until.into();
            let strategy = until.strategy_or(|| subscriber.wait_strategy());
            in_time(wait_until(subscriber, strategy, until.deadline()))
        })
    }
}

// The way of a message.
impl<T: Message, M: Mode> Subscriber<T, M> {
    /// What every receiving verb begins with.
    #[inline(always)]
    pub(super) fn begin(&mut self) {
        self.shared.begin(self.cursor);
    }

    /// The next message, which publishers need not keep any longer.
    #[inline]
    pub(super) fn next<'m>(
        &mut self,
        message: &'m mut MaybeUninit<T::Wire>,
    ) -> Result<Value<'m, T>, NoMessage<Corrupt<'m, T>>> {
        let message = self.take(message)?;
        self.release();
        Ok(message)
    }

    /// The next message, which the cursor passes. It stays in the ring until [`release`](Self::release).
    #[inline]
    pub(super) fn take<'m>(
        &mut self,
        message: &'m mut MaybeUninit<T::Wire>,
    ) -> Result<Value<'m, T>, NoMessage<Corrupt<'m, T>>> {
        let message = self.read(message)?;
        self.cursor = self.cursor.next();
        Ok(message)
    }

    /// A copy of the next message, if it is there; the cursor stays where it is.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<T> {
        let mut message = MaybeUninit::uninit();
        self.read(&mut message).ok().map(Value::take)
    }

    /// Passes the message that [`peek`](Self::peek) returned.
    #[inline]
    pub(super) fn pass(&mut self) {
        self.cursor = self.cursor.next();
        self.release();
    }
}

/// Defines the one read that everything else is made of: the message at the cursor, which stays where it is.
///
/// (A macro, because two functions need one text: if one called the other, the compiler would inline that
/// call, and then the read everywhere.)
macro_rules! define_read {
    ($(#[$attribute:meta])* $name:ident) => {
        $(#[$attribute])*
        pub(super) fn $name<'m>(
            &mut self,
            message: &'m mut MaybeUninit<T::Wire>,
        ) -> Result<Value<'m, T>, NoMessage<Corrupt<'m, T>>> {
            let cursor = self.cursor;
            let admitted = self.shared.admits(cursor);
            // Copied once: after each atomic access the compiler would fetch them from memory anew.
            let shared = &self.shared;
            if cursor < shared.floor() {
                return Err(NoMessage::Lapped);
            }
            let (missing, message) = if admitted {
                // SAFETY: the handle keeps the ring alive.
                match unsafe { shared.slots.read(cursor, message) } {
                    Ok(whole) => return Self::value_of(whole).map_err(NoMessage::Corrupt),
                    Err(missing) => missing,
                }
            } else {
                (Missing::NotYet, message)
            };
            match missing {
                Missing::NotYet if unlikely(shared.may_be_closed()) => {
                    match why_nothing(shared, cursor, admitted) {
                        Ok(kept) => Self::value_of(kept.whole_in(message)).map_err(NoMessage::Corrupt),
                        Err(why) => Err(why.or_corrupt()),
                    }
                }
                missing => Err(missing.into()),
            }
        }
    };
}

impl<T: Message, M: Mode> Subscriber<T, M> {
    define_read! {
        /// The message at the cursor, which stays where it is.
        #[inline]
        read
    }

    define_read! {
        /// The same for batches. A block whose read is not inlined goes over memory, and its batch waits for
        /// each. (If all reads were, some types would take more instructions.)
        #[inline(always)]
        read_inlined
    }

    /// The message that was read whole, if it is one.
    #[inline(always)]
    pub(super) fn value_of(whole: Whole<'_, T>) -> Result<Value<'_, T>, Corrupt<'_, T>> {
        if M::IS_CHECKED {
            return whole.checked();
        }
        // SAFETY: a ring whose subscribers are of a mode that does not check is of this process.
        Ok(unsafe { whole.unchecked() })
    }

    /// Frees the slots of all messages that were taken, for publishers.
    #[inline(always)]
    pub(super) fn release(&self) {
        M::advance(self.role(), &self.shared, self.cursor);
    }
}

/// The largest message that a poll moves once more, in bytes: the next poll finds a larger one sooner.
const MOVED_BYTES: usize = 64;

/// Why there is no next message.
pub(super) enum NoMessage<C> {
    Empty,
    Lapped,
    Closed,
    /// Another process has written what is no message.
    Corrupt(C),
}

impl NoMessage<Infallible> {
    /// The same where something may be corrupt.
    #[inline(always)]
    pub(super) fn or_corrupt<C>(self) -> NoMessage<C> {
        match self {
            Self::Empty => NoMessage::Empty,
            Self::Lapped => NoMessage::Lapped,
            Self::Closed => NoMessage::Closed,
        }
    }
}

impl<C> From<Missing> for NoMessage<C> {
    #[inline(always)]
    fn from(missing: Missing) -> Self {
        match missing {
            Missing::NotYet => Self::Empty,
            Missing::Overwritten => Self::Lapped,
        }
    }
}

/// What an empty slot means once [`may_be_closed`](RingState::may_be_closed) was true; or the message, if it
/// came meanwhile, and may be looked at.
// By value: a message whose address goes to a function would live in memory in each poll.
#[cold]
#[inline(never)]
pub(super) fn why_nothing<T: Message>(
    shared: &RingState<Copied<T>>,
    cursor: Sequence,
    admitted: bool,
) -> Result<KeptWhole<T>, NoMessage<Infallible>> {
    if shared.is_drained_here(cursor) {
        return Err(NoMessage::Closed);
    }
    if shared.never_comes(cursor) {
        return Err(NoMessage::Lapped);
    }
    // Decision 0133: what came while this asked is found by the same poll.
    // Mutants: `> with ==`, `> with >=`: it moves a large one, too.
    if !admitted || size_of::<T::Wire>() > MOVED_BYTES || seeded!("poll_looks_once") {
        return Err(NoMessage::Empty);
    }
    let mut message = MaybeUninit::uninit();
    // SAFETY: `shared` is the ring, and lives.
    let read = unsafe { shared.slots().read(cursor, &mut message) };
    read.map(Whole::keep).map_err(|(missing, _)| missing.into())
}

/// The next message to a subscriber at `cursor`, which is no stage; with where it stands then, and its
/// losses.
// By value, as `why_nothing`.
#[cold]
#[inline(never)]
fn pass_losses<T: Message, M: Mode>(
    shared: &RingState<Copied<T>>,
    mut cursor: Sequence,
    mut losses: Losses,
) -> (Sequence, Losses, Result<KeptValue<T>, NoMessage<Infallible>>) {
    for _ in 0..=LAST_LOOKS {
        let mut message = MaybeUninit::uninit();
        // SAFETY: `shared` is the ring, and lives.
        let found = match unsafe { shared.slots().read(cursor, &mut message) } {
            Ok(whole) => Ok(whole.keep()),
            Err((Missing::NotYet, _)) if shared.may_be_closed() => why_nothing(shared, cursor, true),
            Err((missing, _)) => Err(missing.into()),
        };
        match found {
            Ok(kept) => {
                cursor = cursor.next();
                match Subscriber::<T, M>::value_of(kept.whole_in(&mut message)) {
                    Ok(message) => return (cursor, losses, Ok(message.keep())),
                    Err(_) => losses.count_corrupt(),
                }
            }
            Err(NoMessage::Lapped) => {
                Subscriber::<T, M>::assert_may_lose();
                losses.recovery = losses.recovery.next(shared, cursor);
                losses.count_lag(&mut cursor, losses.recovery.resume);
            }
            Err(why) => return (cursor, losses, Err(why)),
        }
    }
    // Unreached: the ring is overwritten at each look: threads have to meet there
    (cursor, losses, Err(NoMessage::Empty))
}

impl<T: Message, M: Mode> Poll for Subscriber<T, M> {
    type Found = Result<T, RecvError>;

    fn wait_point(&self) -> &EventCount {
        self.shared.wait_point(self.cursor)
    }

    fn watched(&self) -> Option<&AtomicU64> {
        self.shared.watched(self.cursor)
    }

    fn poll(&mut self) -> Look<Self::Found> {
        let mut message = MaybeUninit::uninit();
        match self.next(&mut message) {
            Ok(message) => Look::Found(Ok(message.take())),
            Err(NoMessage::Closed) => Look::Found(Err(RecvError::of(self.shared.head.publisher_has_died()))),
            Err(NoMessage::Empty) => Look::Nothing,
            // The message that lapped it may be the last one for a long time. Messages are there, and no
            // publisher will notify for them.
            Err(NoMessage::Lapped) => {
                self.recover();
                Look::Again
            }
            Err(NoMessage::Corrupt(corrupt)) => {
                self.pass_corrupt(corrupt);
                Look::Again
            }
        }
    }
}

/// Waits for what `wait` waits for, as long as it takes.
#[inline(always)]
pub(super) fn wait_without_deadline<W: Poll>(wait: &mut W, strategy: WaitStrategy) -> W::Found {
    match wait_until(wait, strategy, None) {
        Some(found) => found,
        None => unreachable!("a wait without a deadline does not end without a result"),
    }
}

// A lag, or what is no message.
impl<T: Message, M: Mode> Subscriber<T, M> {
    /// Goes on after a lag and says how many messages that cost.
    #[inline(always)]
    pub(super) fn recover(&mut self) -> u64 {
        if self.shared.is_stage() { self.recover_outlined() } else { self.recover_here() }
    }

    /// For subscribers that live in memory anyway. If inlined, what a stage does after a lag keeps `try_recv`
    /// from being inlined.
    #[cold]
    #[inline(never)]
    fn recover_outlined(&mut self) -> u64 {
        self.recover_here()
    }

    #[inline(always)]
    pub(super) fn assert_may_lose() {
        assert!(!M::LOSSLESS, "publishers wait for this subscriber: it can't be lapped");
    }

    #[inline(always)]
    fn recover_here(&mut self) -> u64 {
        Self::assert_may_lose();
        let mut resume = self.shared.floor();
        // Mutants: `>= with <`: it looks at the floor again, or goes on by itself.
        if self.cursor >= resume {
            // Those before it were lapped too, and may have skipped further than this one would.
            resume = self.shared.new_floor();
        }
        // Mutants: `>= with <`: it looks at the floor again, or goes on by itself.
        if self.cursor >= resume {
            let next = self.losses.recovery.next(&self.shared, self.cursor);
            (self.losses.recovery, resume) = (next, next.resume);
            if self.shared.is_stage() && next.is_left_out() {
                return self.pass_left_out(resume);
            }
        } else if self.shared.is_stage() {
            self.shared.note_lag(resume.since(self.cursor));
        }
        self.skip_to(resume)
    }

    /// Moves the cursor on to `sequence`, unless it is there already, and counts what it passes.
    #[inline(always)]
    pub(super) fn skip_to(&mut self, sequence: Sequence) -> u64 {
        let skipped = self.count_lag(sequence);
        self.shared.skipped(self.cursor);
        if !seeded!("left_out_unreleased") {
            // Publishers may wait for room that this makes: what a dead publisher had claimed is left out.
            self.release();
        }
        skipped
    }

    /// The same, where no message is passed: a stage tells its followers that it is done with these numbers,
    /// and they find by themselves that there are no such messages. What it processed before is not lost to
    /// them.
    #[inline(always)]
    fn pass_left_out(&mut self, sequence: Sequence) -> u64 {
        let skipped = self.count_lag(sequence);
        self.shared.begin(self.cursor);
        skipped
    }

    #[inline(always)]
    fn count_lag(&mut self, sequence: Sequence) -> u64 {
        self.losses.count_lag(&mut self.cursor, sequence)
    }

    /// Goes on behind what is no message, and says what it is.
    #[cold]
    #[inline(always)]
    pub(super) fn pass_corrupt(&mut self, corrupt: Corrupt<'_, T>) -> M::Corrupt {
        self.losses.count_corrupt();
        self.pass();
        M::corrupt(corrupt.bad_value())
    }
}

/// What a subscriber did not receive of what it passed.
#[derive(Clone, Copy)]
struct Losses {
    /// Messages that were lost.
    lagged: u64,
    /// What was no message.
    corrupt: u64,
    /// Where it went on after the last lag.
    recovery: Recovery,
}

impl Losses {
    /// Moves `cursor` on to `sequence`, unless it is there already; counts what it passes, and says how many.
    #[inline(always)]
    fn count_lag(&mut self, cursor: &mut Sequence, sequence: Sequence) -> u64 {
        let skipped = sequence.since(*cursor);
        *cursor = cursor.plus(skipped);
        if !seeded!("lag_uncounted") {
            self.lagged += skipped;
        }
        skipped
    }

    #[inline(always)]
    fn count_corrupt(&mut self) {
        self.corrupt += u64::from(!seeded!("corrupt_uncounted"));
    }
}

/// A lag that happened. Two words, so that it travels in registers.
#[derive(Clone, Copy)]
pub(super) struct Recovery {
    /// Where the subscriber went on.
    pub(super) resume: Sequence,
    /// How far after the oldest message the last one that was lapped went on; [`Recovery::NO_MARGIN`] before
    /// the first. With [`Recovery::LEFT_OUT`].
    margin: u64,
}

impl Recovery {
    const NO_MARGIN: u64 = u64::MAX >> 1;

    /// Set in `margin` where numbers were left out, and nothing was overwritten.
    const LEFT_OUT: u64 = 1 << 63;

    /// Before the first one.
    pub(super) fn before_the_first() -> Self {
        Self { resume: Sequence::FIRST, margin: Self::NO_MARGIN }
    }

    /// The recovery of a subscriber whose message at `cursor` was overwritten, and whose last one was this;
    /// or where it goes on behind [what was left out](Self::is_left_out).
    ///
    /// Takes and returns values, so that a subscriber whose methods are inlined can live in registers.
    /// Counts the messages that are lost, if somebody wants that.
    #[cold]
    #[inline(never)]
    pub(super) fn next<S: Store>(self, shared: &RingState<S>, cursor: Sequence) -> Self {
        let next = if shared.was_never_there(cursor) {
            // That one alone is lost, or all that is older than a ring: each of those was overwritten, or was
            // still being written when its slot was needed.
            let oldest = shared.end_of_published(cursor).back(shared.capacity() as u64);
            Self { resume: oldest.max(cursor.next()), margin: self.margin() }
        } else if shared.is_left_out(cursor) {
            let head = shared.frontier(cursor).head;
            let resume = shared.behind_left_out(cursor.next(), head);
            Self { resume, margin: self.margin | Self::LEFT_OUT }
        } else {
            self.next_if_lapped(shared, cursor)
        };
        shared.note_lag(next.resume.since(cursor));
        next
    }

    /// As [`next`](Self::next), but only says where that would be.
    pub(super) fn next_if_lapped<S: Store>(self, shared: &RingState<S>, cursor: Sequence) -> Self {
        let (frontier, capacity) = (shared.frontier(cursor), shared.capacity() as u64);
        let edge = frontier.oldest.max(cursor.next());
        let standing = shared.behind_left_out(edge, frontier.head);
        if standing > edge {
            // Numbers that were left out are next to be overwritten, so there is no need of a margin: it
            // would cost messages that stand.
            let margin = if self.is_near(cursor, capacity) { self.margin() } else { Self::NO_MARGIN };
            return Self { resume: standing, margin };
        }
        let next = self.next_among(frontier, capacity, cursor);
        Self { resume: shared.behind_left_out(next.resume, frontier.head), ..next }
    }

    /// Nothing was overwritten: the numbers up to `resume` were left out.
    pub(super) fn is_left_out(self) -> bool {
        self.margin & Self::LEFT_OUT != 0
    }

    fn margin(self) -> u64 {
        self.margin & !Self::LEFT_OUT
    }

    /// Whether less than half a ring lies between this recovery and a lag at `cursor`.
    fn is_near(self, cursor: Sequence, capacity: u64) -> bool {
        self.margin() != Self::NO_MARGIN && cursor.since(self.resume) < capacity / 2
    }

    /// As [`next_if_lapped`](Self::next_if_lapped), in a ring with this frontier that holds `capacity`
    /// messages.
    pub(super) fn next_among(self, frontier: Frontier, capacity: u64, cursor: Sequence) -> Self {
        let half = capacity / 2;
        // Decision 0010: each time further from the edge.
        let margin = if self.is_near(cursor, capacity) {
            (2 * self.margin()).max(half / 32).clamp(1, half)
        } else {
            0
        };
        // The walk may end before it comes to what overwrote the cursor's message: that one is lost all the
        // same.
        let resume = frontier.oldest.plus(margin).min(frontier.head).max(cursor.next());
        Self { resume, margin }
    }
}

impl<T: Message, M: Mode> Subscriber<T, M> {
    /// History: begins with the last `count` messages that were published, and returns how many these are:
    /// fewer if not so many are in the ring, or if it joined later. For a subscriber that has just joined
    /// with the oldest message. The messages that it leaves out count neither as received nor as lagged.
    ///
    /// The number is exact, also where numbers were left out, or a publisher has died. The messages are
    /// received next, then those that come. On a lossy ring they may be overwritten before they are received,
    /// as any message: then they are lagged. On a lossless one publishers wait for them. There, as many are
    /// sure to be there as [joining with the oldest message](crate::broadcast::Subscribable) promises.
    ///
    /// Never waits. O(`capacity`) at most: it looks at each slot of those messages.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(64);
    /// publisher.publish_batch(&[1, 2, 3, 4]);
    ///
    /// let mut late = subscribable.subscribe_from_oldest();
    /// assert_eq!(late.begin_with_last(2), 2);
    /// publisher.publish(5);
    /// assert_eq!(late.try_iter().collect::<Vec<_>>(), [3, 4, 5]);
    /// assert_eq!(late.total_lagged(), 0);
    /// assert_eq!(subscribable.subscribe_from_oldest().begin_with_last(50), 5, "there are no more");
    /// ```
    // Decision 0171: as if it had joined there.
    #[doc(alias = "history")]
    #[doc(alias = "history_size")]
    #[doc(alias = "transient_local")]
    pub fn begin_with_last(&mut self, count: usize) -> usize {
        let (begin, there) = self.shared.last(self.shared.start(self.cursor), count);
        self.begin_at(begin);
        there
    }

    /// As if it had joined at this message, if that comes later than the cursor.
    pub(super) fn begin_at(&mut self, sequence: Sequence) {
        if sequence > self.cursor {
            self.start = self.start.plus(sequence.since(self.cursor));
            self.cursor = sequence;
            self.shared.skipped(sequence);
            self.release();
        }
    }

    /// How many messages could be received now: those that were published, are still in the ring, and were
    /// not received yet. Messages that a lag would skip do not count. In a
    /// stage, only messages count that all upstreams have processed, and not lost. With many publishers, only
    /// messages before the first one that is still being written count. Meanwhile more may come, and some may
    /// be overwritten. While publishers and upstreams rest, the number is exact; except that numbers that the
    /// publisher [left out](crate::broadcast::Publisher::skip_to) behind the next message count, too.
    ///
    /// Looks at a bounded number of slots; with many publishers, at the slot of each message from the cursor
    /// on, O(`capacity`).
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(8);
    /// let mut subscriber = subscribable.subscribe();
    /// assert!(subscriber.is_empty());
    /// publisher.publish_batch(&[1, 2, 3]);
    /// assert_eq!(subscriber.len(), 3);
    /// ```
    #[doc(alias = "pending")]
    #[doc(alias = "slowest")]
    #[must_use]
    pub fn len(&self) -> usize {
        // At most the capacity.
        self.pending() as usize
    }

    /// Whether no message could be received now: [`len`](Self::len) is 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn pending(&self) -> u64 {
        let frontier = self.shared.frontier(self.cursor);
        let end = self.shared.end_before(frontier.head);
        if seeded!("pending_counts_what_is_lost") {
            return end.since(self.cursor).min(self.shared.capacity() as u64);
        }
        let start = self.shared.start(self.cursor);
        // As in `recover`.
        // Decision 0033: what would be received.
        let start = if start < frontier.oldest {
            self.losses.recovery.next_if_lapped(&self.shared, start).resume
        } else {
            self.shared.behind_left_out(start, frontier.head)
        };
        end.since(start)
    }

    /// The sequence number of the message that comes next. The messages of a ring are numbered from 0, so all
    /// subscribers of one ring use the same number for the same message.
    #[inline]
    #[must_use]
    pub fn cursor(&self) -> u64 {
        self.cursor.get()
    }

    /// How many messages this subscriber has received.
    #[inline]
    #[must_use]
    #[doc(alias = "receive_ratio")]
    pub fn total_received(&self) -> u64 {
        self.cursor.since(self.start) - self.losses.lagged - self.losses.corrupt
    }

    /// How many messages this subscriber did not receive: they were overwritten before it read them, or
    /// skipped by [`latest`](Subscriber::latest) and [`skip_to_latest`](Subscriber::skip_to_latest), or their
    /// numbers were [left out](crate::broadcast::Publisher::skip_to).
    #[inline]
    #[must_use]
    pub fn total_lagged(&self) -> u64 {
        self.losses.lagged
    }

    /// How many messages were corrupt: another process has published something that no `T` is, and this
    /// subscriber has passed it. Always 0 within one process, and for types of which any bytes are a value.
    #[inline]
    #[must_use]
    pub fn total_corrupt(&self) -> u64 {
        self.losses.corrupt
    }

    /// How many messages the ring holds: the number given to its constructor.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.shared.capacity()
    }

    /// Whether all publishers are gone, or somebody has closed the ring. Messages may still be left to
    /// receive. A
    /// message that is being published may still come, too: only `Closed` from a receive is the end.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.is_closed()
    }

    own_strategy! {
        make: "let mut reader = annulus::broadcast::lossy::<u64>(8).1.subscribe();",
        |handle| ring: handle.shared.strategy
    }

    observable! {
        |handle| stats: crate::stats::Stats { own: Some(handle.own_stats()), ..handle.shared.stats() },
        observer: handle.shared.observer()
    }

    fn own_stats(&self) -> OwnStats {
        OwnStats {
            position: self.cursor(),
            received: self.total_received(),
            lagged: self.total_lagged(),
            corrupt: self.total_corrupt(),
            pending: self.pending(),
        }
    }
}

// SAFETY: the eventcounts are in the ring's shared state, which the subscriber's handle keeps alive.
unsafe impl<T: Message, M: Mode> Source for Subscriber<T, M> {
    fn wait_point(&self) -> &EventCount {
        Poll::wait_point(self)
    }

    fn watched(&self) -> Option<&AtomicU64> {
        Poll::watched(self)
    }

    fn is_ready(&mut self) -> bool {
        self.begin();
        let cursor = self.cursor;
        let admitted = self.shared.admits(cursor);
        let shared = &self.shared;
        // As a receive decides it. A later stamp means that the message was overwritten.
        cursor < shared.floor()
            || admitted && shared.stamp(cursor) >= Stamp::done(cursor)
            || self.is_at_end()
            || admitted && shared.may_be_closed() && shared.never_comes(cursor)
    }

    fn strategy(&self) -> WaitStrategy {
        self.wait_strategy()
    }

    fn is_staged(&self) -> bool {
        self.shared.is_stage()
    }

    fn has_more(&mut self) -> bool {
        if seeded!("look_ahead_processes") {
            self.begin();
        }
        let cursor = self.cursor;
        self.shared.admits(cursor)
            && cursor >= self.shared.floor()
            && self.shared.stamp(cursor) == Stamp::done(cursor)
            && (!M::IS_CHECKED || T::ANY_BITS || self.peek().is_some())
    }

    fn mark(&mut self) -> EndMark {
        EndMark::at(self.end().get())
    }

    fn has_passed(&self, mark: &mut EndMark) -> bool {
        mark.is_passed(|_, end| self.cursor() >= end)
    }

    fn lost(&self) -> u64 {
        self.total_lagged()
    }

    fn left(&self) -> Option<u64> {
        Some(self.len() as u64)
    }
}

impl<T: Message, M: Mode> Subscriber<T, M> {
    /// Whether the ring is closed and nothing is left.
    pub(crate) fn is_at_end(&self) -> bool {
        self.shared.may_be_closed() && self.shared.is_drained(self.cursor)
    }
}

impl<T: Message, M: Mode> Waitable for Subscriber<T, M> {
    fn is_closed(&self) -> bool {
        self.is_closed()
    }
}

impl<T: Message, M: Mode> Numbered for Subscriber<T, M> {
    fn next_sequence(&self) -> u64 {
        self.cursor.get()
    }
}

impl<T: Message, M: Mode> Receive for Subscriber<T, M> {
    type Item = T;

    #[inline]
    fn poll_recv(&mut self) -> Look<Result<T, RecvError>> {
        self.begin();
        self.poll()
    }

    #[inline]
    fn recv(&mut self) -> Result<T, RecvError> {
        self.recv()
    }

    #[inline]
    fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.try_recv()
    }
}

/// In tasks. (Feature `async`.) No future polls by itself: a task that waits is woken by a publisher, by an
/// upstream, or by the close.
#[cfg(feature = "async")]
impl<T: Message, M: Mode> Subscriber<T, M> {
    /// Receives the next message, like [`recv`](Self::recv), in a task: the task waits, not its thread. After
    /// a lag it goes on with the oldest message that is still in the ring.
    ///
    /// *Cancel safety*: a future that is dropped has received nothing, and loses nothing. So it can be a
    /// branch of a `select!`. (What a lag has skipped stays counted.)
    ///
    /// In a stage, the message counts as processed when the stage receives again or calls
    /// [`done`](Subscriber::done); the first poll of the future is such a receive.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the ring is closed and nothing is left.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(16);
    /// let mut subscriber = subscribable.subscribe();
    /// let writer = std::thread::spawn(move || publisher.publish_batch(&[1, 2, 3]));
    /// pollster::block_on(async {
    ///     let mut sum = 0;
    ///     while let Ok(number) = subscriber.recv_async().await {
    ///         sum += number;
    ///     }
    ///     assert_eq!(sum, 6);
    /// });
    /// # writer.join().unwrap();
    /// ```
    pub fn recv_async(&mut self) -> impl Future<Output = Result<T, RecvError>> + Unpin {
        Waiting::next_of(self)
    }

    /// Waits for a message like [`recv_async`](Self::recv_async). Then receives it and the messages behind it
    /// into the front of `buffer`, like [`try_recv_batch`](Self::try_recv_batch). Returns how many: at least
    /// one. If `buffer` is empty, it returns 0 at once, whether the ring is open or closed.
    ///
    /// *Cancel safety*: a future that is dropped has received nothing, and loses nothing.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the ring is closed and nothing is left. `buffer` is unchanged.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(8);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish_batch(&[1, 2, 3]);
    /// drop(publisher);
    /// let mut buffer = [0; 8];
    /// pollster::block_on(async {
    ///     assert_eq!(subscriber.recv_batch_async(&mut buffer).await, Ok(3));
    ///     assert_eq!(subscriber.recv_batch_async(&mut buffer).await, Err(annulus::RecvError::CLOSED));
    /// });
    /// ```
    pub async fn recv_batch_async(&mut self, buffer: &mut [T]) -> Result<usize, RecvError> {
        let Some((first, rest)) = buffer.split_first_mut() else { return Ok(0) };
        *first = self.recv_async().await?;
        Ok(1 + self.take_batch(rest))
    }

    /// A stream of the messages. It ends when the ring is closed and nothing is left, not on a lag, and not
    /// while there is no message. Once it has ended, it stays so.
    ///
    /// *Cancel safety*: a stream that is dropped has received no message that it did not return.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures_util::StreamExt;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless(8);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish_batch(&[1, 2, 3]).unwrap();
    /// drop(publisher);
    /// let all = pollster::block_on(subscriber.stream().collect::<Vec<_>>());
    /// assert_eq!(all, [1, 2, 3]);
    /// ```
    pub fn stream(&mut self) -> impl FusedStream<Item = T> + Unpin {
        Streaming::messages_of(self)
    }

    /// A stream like [`stream`](Self::stream) that owns the subscriber.
    ///
    /// *Cancel safety*: as for [`stream`](Self::stream). A stream that is dropped drops the subscriber.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures_util::StreamExt;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(8);
    /// let stream = subscribable.subscribe().into_stream();
    /// publisher.publish_batch(&[1, 2, 3]);
    /// drop(publisher);
    /// assert_eq!(pollster::block_on(stream.map(|number| 2 * number).collect::<Vec<_>>()), [2, 4, 6]);
    /// ```
    #[must_use = "a stream does nothing until it is polled"]
    pub fn into_stream(self) -> impl FusedStream<Item = T> + Unpin {
        Streaming::messages_of(self)
    }
}

impl<T: Message, M: Unstaged> Clone for Subscriber<T, M> {
    /// A subscriber with the same cursor, and counters at zero. (A stage has none: those that follow it would
    /// not follow the clone.)
    fn clone(&self) -> Self {
        let role = M::fork(self.role(), &self.shared, self.cursor);
        Self { strategy: self.strategy, ..Self::new(self.shared.another(role), self.cursor) }
    }
}

impl<T: Message, M: Mode> fmt::Debug for Subscriber<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Subscriber");
        text.field("cursor", &self.cursor())
            .field("received", &self.total_received())
            .field("lagged", &self.losses.lagged);
        if M::IS_CHECKED {
            text.field("corrupt", &self.losses.corrupt);
        }
        text.finish_non_exhaustive()
    }
}

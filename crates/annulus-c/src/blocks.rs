//! Queues whose messages are blocks of a size that is known when the queue is made: [`Producer`] and
//! [`Consumer`], for the kinds that are used in place.
//!
//! A message is a *stride* of units: of words of 8 bytes, in a queue of words; or, between processes, of
//! bytes (the other side may know the type, and then has no place for a word that is not full). Every step of
//! either side is a number of whole messages, and the capacity is one, too. So what is free, what is there,
//! and what is contiguous up to the end of the ring, are whole messages at all times, and no message is
//! split. The algorithm is the one of any other queue; a message is copied once on each side.

// Decision 0123: words in place, classes of sizes where slots are claimed.

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr;

use annulus::Settings;
use annulus::queue::kind::{AnyKind, InPlace, QueueKind};
use annulus::queue::{self, Lent};
use annulus::spsc::Spsc;
use annulus::{RecvTimeoutError, SendTimeoutError, TrySendError};

use crate::notified::Notified;
use crate::options::{Options, Patience};
use crate::status::annulus_status::{
    ANNULUS_CLOSED, ANNULUS_EMPTY, ANNULUS_FULL, ANNULUS_INVALID, ANNULUS_NO_MEMORY, ANNULUS_RESERVED,
    ANNULUS_TIMEOUT, ANNULUS_VIEWED,
};
use crate::status::{Done, of_capacity};

/// A part of a message. What C writes need not set all of its bytes.
pub(crate) type Word = MaybeUninit<u64>;

pub(crate) const WORD: usize = size_of::<Word>();

/// What a message consists of, in its ring.
pub(crate) trait Unit: Copy + Send + 'static {}
impl Unit for Word {}
impl Unit for u8 {}

/// How long a message is.
#[derive(Clone, Copy)]
struct Layout<U> {
    size: usize,
    /// In units.
    stride: usize,
    unit: PhantomData<U>,
}

impl<U: Unit> Layout<U> {
    fn of(size: usize) -> Self {
        Self { size, stride: size.div_ceil(size_of::<U>()), unit: PhantomData }
    }

    /// From one message to the next, in bytes.
    #[inline(always)]
    fn stride_bytes(self) -> usize {
        self.stride * size_of::<U>()
    }

    /// Copies `count` messages, contiguous in C's way, to the slots from `slots` on.
    ///
    /// # Safety
    ///
    /// So many messages and slots are there, and nobody else uses the slots.
    #[inline(always)]
    unsafe fn copy_in(self, messages: *const u8, slots: *mut u8, count: usize) {
        let stride = self.stride_bytes();
        if self.size == WORD && count == 1 {
            // Without a call, because the compiler knows the size.
            // SAFETY: the caller's promise.
            unsafe { ptr::copy_nonoverlapping(messages, slots, WORD) };
        } else if self.size == stride {
            // SAFETY: the caller's promise.
            unsafe { ptr::copy_nonoverlapping(messages, slots, count * stride) };
        } else {
            for index in 0..count {
                // SAFETY: the caller's promise.
                unsafe {
                    let (from, to) = (messages.add(index * self.size), slots.add(index * stride));
                    ptr::copy_nonoverlapping(from, to, self.size);
                }
            }
        }
    }

    /// The way back.
    ///
    /// # Safety
    ///
    /// As of [`copy_in`](Self::copy_in), the other way round.
    #[inline(always)]
    unsafe fn copy_out(self, slots: *const u8, messages: *mut u8, count: usize) {
        let stride = self.stride_bytes();
        if self.size == WORD && count == 1 {
            // SAFETY: the caller's promise.
            unsafe { ptr::copy_nonoverlapping(slots, messages, WORD) };
        } else if self.size == stride {
            // SAFETY: the caller's promise.
            unsafe { ptr::copy_nonoverlapping(slots, messages, count * stride) };
        } else {
            for index in 0..count {
                // SAFETY: the caller's promise.
                unsafe {
                    let (from, to) = (slots.add(index * stride), messages.add(index * self.size));
                    ptr::copy_nonoverlapping(from, to, self.size);
                }
            }
        }
    }

    /// So many messages, in units.
    fn units(self, messages: usize) -> usize {
        messages.saturating_mul(self.stride)
    }
}

/// Makes a queue of such messages.
pub(crate) fn channel<K: QueueKind + InPlace>(options: Options) -> Done<(Producer<K>, Consumer<K>)> {
    let layout = Layout::<Word>::of(options.message_size);
    let units = options.capacity.checked_mul(layout.stride).ok_or(ANNULUS_NO_MEMORY)?;
    let settings = Settings::new(units).wait_strategy(options.strategy).statistics(options.statistics);
    let (producer, consumer) = queue::with::<_, K>(settings).map_err(of_capacity)?;
    Ok((Producer::of(producer, layout.size), Consumer::of(consumer, layout.size)))
}

/// So many messages are reserved, or shown, by a handle that is lent to a view.
const LENT: usize = usize::MAX;

pub(crate) struct Producer<K: AnyKind + InPlace, U: Unit = Word> {
    pub(crate) units: queue::Producer<U, K>,
    layout: Layout<U>,
    /// So many messages are reserved; [`LENT`] while a view has this end.
    reserved: usize,
}

impl<K: AnyKind + InPlace, U: Unit> Producer<K, U> {
    /// One of messages of so many bytes.
    pub(crate) fn of(units: queue::Producer<U, K>, message_size: usize) -> Self {
        Self { units, layout: Layout::of(message_size), reserved: 0 }
    }

    /// Another producer of the queue.
    pub(crate) fn joined_by(&self, units: queue::Producer<U, K>) -> Self {
        Self { units, layout: self.layout, reserved: 0 }
    }

    /// A reservation of at least one message, and at most `most`.
    #[inline(always)]
    fn reservation(
        &mut self,
        most: usize,
        patience: Patience,
    ) -> Done<(queue::Reservation<'_, U, K>, Layout<U>)> {
        if self.reserved != 0 {
            return Err(if self.reserved == LENT { ANNULUS_VIEWED } else { ANNULUS_RESERVED });
        }
        if most == 0 {
            return Err(ANNULUS_INVALID);
        }
        let (layout, most) = (self.layout, self.layout.units(most));
        let reservation = match patience {
            Patience::None => self.units.try_reserve(most).map_err(|error| match error {
                TrySendError::Full(()) => ANNULUS_FULL,
                TrySendError::Closed(()) => ANNULUS_CLOSED,
            })?,
            Patience::Endless => self.units.reserve(most).map_err(|_| ANNULUS_CLOSED)?,
            Patience::For(timeout) => {
                self.units.reserve_timeout(most, timeout).map_err(|error| match error {
                    SendTimeoutError::Timeout(()) => ANNULUS_TIMEOUT,
                    SendTimeoutError::Closed(()) => ANNULUS_CLOSED,
                })?
            }
        };
        debug_assert_eq!(reservation.len() % layout.stride, 0, "a message is split");
        Ok((reservation, layout))
    }

    /// Sends as many of `count` messages as there is room for in one piece, and returns how many.
    ///
    /// # Safety
    ///
    /// So many messages lie at `messages`.
    #[inline(always)]
    pub(crate) unsafe fn put(
        &mut self,
        messages: *const u8,
        count: usize,
        patience: Patience,
    ) -> Done<usize> {
        let (mut reservation, layout) = self.reservation(count, patience)?;
        let (slots, units) = (reservation.as_mut_ptr(), reservation.len());
        // SAFETY: the slots are this producer's; the caller promises the messages.
        unsafe { layout.copy_in(messages, slots.cast(), units / layout.stride) };
        // SAFETY: a word need not be initialized; the bytes of memory of several processes are.
        match unsafe { reservation.commit(units) } {
            0 => Err(ANNULUS_CLOSED),
            sent => Ok(sent / layout.stride),
        }
    }

    /// Reserves up to `most` messages, to be written where they lie.
    pub(crate) fn reserve(&mut self, most: usize, patience: Patience) -> Done<(*mut u8, usize)> {
        let (mut reservation, layout) = self.reservation(most, patience)?;
        let (start, count) = (reservation.as_mut_ptr().cast(), reservation.len() / layout.stride);
        // The reservation ends here, but slots that are free stay so until this producer sends.
        self.reserved = count;
        Ok((start, count))
    }

    /// Sends the first `count` messages that were reserved.
    pub(crate) fn commit(&mut self, count: usize) -> Done {
        if self.reserved == LENT {
            return Err(ANNULUS_VIEWED);
        }
        if count > self.reserved {
            return Err(ANNULUS_INVALID);
        }
        let reserved = core::mem::take(&mut self.reserved);
        if count == 0 {
            return Ok(());
        }
        let reservation = self.units.try_reserve(self.layout.units(reserved)).map_err(|_| ANNULUS_CLOSED)?;
        // SAFETY: a word need not be initialized; the bytes of memory of several processes are.
        match unsafe { reservation.commit(self.layout.units(count)) } {
            0 => Err(ANNULUS_CLOSED),
            _ => Ok(()),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.units.len() / self.layout.stride
    }

    pub(crate) fn message_size(&self) -> usize {
        self.layout.size
    }

    /// From one message to the next, in bytes.
    pub(crate) fn stride_bytes(&self) -> usize {
        self.layout.stride_bytes()
    }
}

/// What a view needs of an end: all contiguous units, from the next message on.
pub(crate) struct Contiguous {
    pub(crate) start: *const u8,
    pub(crate) units: usize,
}

impl Contiguous {
    fn of(there: &[Word]) -> Self {
        Self { start: there.as_ptr().cast(), units: there.len() }
    }
}

impl Producer<Spsc> {
    /// Lends this end to a view.
    pub(crate) fn lend(&mut self) -> Done<Lent> {
        match self.reserved {
            0 => self.reserved = LENT,
            LENT => return Err(ANNULUS_VIEWED),
            _ => return Err(ANNULUS_RESERVED),
        }
        Ok(self.units.lend())
    }

    /// This end, which is lent.
    pub(crate) fn lent(&mut self) -> Done<&mut Self> {
        if self.is_lent() { Ok(self) } else { Err(ANNULUS_INVALID) }
    }

    pub(crate) fn is_lent(&self) -> bool {
        self.reserved == LENT
    }

    /// Contiguous free slots, of at least one message, for a view that has used up what it had.
    ///
    /// # Safety
    ///
    /// As of `take_back` of the Rust library, here and below: the view has sent what it was shown only.
    pub(crate) unsafe fn look(&mut self, patience: Patience) -> Done<Contiguous> {
        // SAFETY: the caller's promise.
        unsafe { self.take_back() };
        let result = self.reservation(usize::MAX, patience).map(|(mut reservation, _)| Contiguous {
            start: reservation.as_mut_ptr().cast_const().cast(),
            units: reservation.len(),
        });
        self.reserved = LENT;
        result
    }

    /// The last `units` units were sent past this end, and there is more to do for them.
    ///
    /// # Safety
    ///
    /// As of [`look`](Self::look).
    pub(crate) unsafe fn settle(&mut self, units: usize) -> Done {
        // SAFETY: the caller's promise.
        if unsafe { self.units.settle(units) } { Ok(()) } else { Err(ANNULUS_CLOSED) }
    }

    /// Ends the view.
    ///
    /// # Safety
    ///
    /// As of [`look`](Self::look).
    pub(crate) unsafe fn take_back(&mut self) {
        // SAFETY: the caller's promise.
        unsafe { self.units.take_back() };
        self.reserved = 0;
    }
}

pub(crate) struct Consumer<K: AnyKind + InPlace, U: Unit = Word> {
    pub(crate) units: Notified<queue::Consumer<U, K>>,
    layout: Layout<U>,
    /// So many messages were shown; [`LENT`] while a view has this end.
    shown: usize,
}

impl<K: AnyKind + InPlace, U: Unit> Consumer<K, U> {
    /// One of messages of so many bytes.
    pub(crate) fn of(units: queue::Consumer<U, K>, message_size: usize) -> Self {
        Self { units: Notified::Not(units), layout: Layout::of(message_size), shown: 0 }
    }

    /// The next contiguous messages, at least one: where they are, and how many units. They stay there until
    /// this consumer receives.
    #[inline(always)]
    fn look(&mut self, most: usize, patience: Patience) -> Done<(*const U, usize)> {
        if most == 0 {
            return Err(ANNULUS_INVALID);
        }
        if self.shown == LENT {
            return Err(ANNULUS_VIEWED);
        }
        self.shown = 0;
        let (most, stride) = (self.layout.units(most), self.layout.stride);
        let units = self.units.receiver();
        let mut there = units.first_shared(most);
        if there.is_empty() {
            wait_for_some(units, patience)?;
            there = units.first_shared(most);
            if there.is_empty() {
                return Err(ANNULUS_EMPTY);
            }
        }
        debug_assert_eq!(there.len() % stride, 0, "a message is split");
        Ok((there.as_ptr(), there.len()))
    }

    /// Receives up to `count` contiguous messages, and returns how many.
    ///
    /// # Safety
    ///
    /// There is room for so many at `messages`.
    #[inline(always)]
    pub(crate) unsafe fn get(&mut self, messages: *mut u8, count: usize, patience: Patience) -> Done<usize> {
        let ((start, units), layout) = (self.look(count, patience)?, self.layout);
        // SAFETY: so many units are there, and stay until the advance; the caller promises the room.
        unsafe { layout.copy_out(start.cast(), messages, units / layout.stride) };
        self.units.receiver().advance(units);
        Ok(units / layout.stride)
    }

    /// The next messages, to be read where they lie.
    pub(crate) fn readable(&mut self, patience: Patience) -> Done<(*const u8, usize)> {
        let (start, units) = self.look(usize::MAX, patience)?;
        self.shown = units / self.layout.stride;
        Ok((start.cast(), self.shown))
    }

    /// Gives the first `count` messages that were shown back to the producer.
    pub(crate) fn advance(&mut self, count: usize) -> Done {
        if self.shown == LENT {
            return Err(ANNULUS_VIEWED);
        }
        if count > self.shown {
            return Err(ANNULUS_INVALID);
        }
        self.shown -= count;
        self.units.receiver().advance(self.layout.units(count));
        Ok(())
    }

    pub(crate) fn len(&mut self) -> usize {
        self.units.look().len() / self.layout.stride
    }

    pub(crate) fn arm(&mut self) -> Done<bool> {
        if self.shown == LENT { Err(ANNULUS_VIEWED) } else { self.units.arm() }
    }

    pub(crate) fn message_size(&self) -> usize {
        self.layout.size
    }

    /// From one message to the next, in bytes.
    pub(crate) fn stride_bytes(&self) -> usize {
        self.layout.stride_bytes()
    }
}

impl Consumer<Spsc> {
    /// Lends this end to a view.
    pub(crate) fn lend(&mut self) -> Done<Lent> {
        if self.is_lent() {
            return Err(ANNULUS_VIEWED);
        }
        self.shown = LENT;
        Ok(self.units.receiver().lend())
    }

    /// This end, which is lent.
    pub(crate) fn lent(&mut self) -> Done<&mut Self> {
        if self.is_lent() { Ok(self) } else { Err(ANNULUS_INVALID) }
    }

    pub(crate) fn is_lent(&self) -> bool {
        self.shown == LENT
    }

    /// Contiguous messages, at least one, for a view that has taken what it had.
    ///
    /// # Safety
    ///
    /// As of `take_back` of the Rust library, here and below: the view has taken what it was shown only.
    pub(crate) unsafe fn show(&mut self, patience: Patience) -> Done<Contiguous> {
        let units = self.units.receiver();
        // SAFETY: the caller's promise.
        unsafe { units.take_back() };
        let mut found = Contiguous::of(units.readable());
        if found.units == 0 {
            wait_for_some(units, patience)?;
            found = Contiguous::of(units.readable());
        }
        if found.units == 0 { Err(ANNULUS_EMPTY) } else { Ok(found) }
    }

    /// Wakes the threads that wait for what the view has taken.
    ///
    /// # Safety
    ///
    /// As of [`show`](Self::show).
    pub(crate) unsafe fn wake(&mut self) {
        // SAFETY: the caller's promise.
        unsafe { self.units.receiver().settle() };
    }

    /// Ends the view.
    ///
    /// # Safety
    ///
    /// As of [`show`](Self::show).
    pub(crate) unsafe fn take_back(&mut self) {
        // SAFETY: the caller's promise.
        unsafe { self.units.receiver().take_back() };
        self.shown = 0;
    }
}

/// Nothing is there: waits until something is, or says why not. It may be that nothing is there afterwards.
#[cold]
fn wait_for_some<K: AnyKind + InPlace, U: Unit>(
    units: &mut queue::Consumer<U, K>,
    patience: Patience,
) -> Done {
    match patience {
        // A receive that finds nothing in a closed queue looks again.
        Patience::None if units.is_closed() && units.is_fully_drained() => Err(ANNULUS_CLOSED),
        Patience::None => Ok(()),
        Patience::Endless => units.wait_readable_shared().map(drop).map_err(|_| ANNULUS_CLOSED),
        Patience::For(timeout) => {
            units.wait_readable_shared_timeout(timeout).map(drop).map_err(|error| match error {
                RecvTimeoutError::Timeout => ANNULUS_TIMEOUT,
                RecvTimeoutError::Closed => ANNULUS_CLOSED,
            })
        }
    }
}

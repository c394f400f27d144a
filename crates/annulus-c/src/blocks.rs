//! Queues whose messages are blocks of a size that is known when the queue is made: [`Producer`] and
//! [`Consumer`], for the kinds that are used in place.
//!
//! A message is a *stride* of words of 8 bytes, in a queue of words. Every step of either side is a number of
//! whole messages, and the capacity is one, too. So what is free, what is there, and what lies beside each
//! other up to the end of the ring, are whole messages at all times, and no message is split. The algorithm
//! is that of any other queue; a message is copied once on each side.

// Decision 0123: words in place, classes of sizes where slots are claimed.

use core::mem::MaybeUninit;
use core::ptr;

use annulus::queue::{self, InPlace, Kind, Lent};
use annulus::spsc::Spsc;
use annulus::{RecvTimeoutError, SendTimeoutError};

use crate::notified::Notified;
use crate::options::{Options, Patience};
use crate::status::annulus_status::{
    self, ANNULUS_CLOSED, ANNULUS_EMPTY, ANNULUS_FULL, ANNULUS_INVALID, ANNULUS_NO_MEMORY, ANNULUS_RESERVED,
    ANNULUS_TIMEOUT, ANNULUS_VIEWED,
};
use crate::status::{Done, of_capacity};

/// A part of a message. What C writes need not set all of its bytes.
pub(crate) type Word = MaybeUninit<u64>;

pub(crate) const WORD: usize = size_of::<Word>();

/// How long a message is.
#[derive(Clone, Copy)]
struct Layout {
    size: usize,
    /// In words.
    stride: usize,
}

impl Layout {
    /// Copies `count` messages that lie beside each other in C's way to the slots from `slots` on.
    ///
    /// # Safety
    ///
    /// So many messages and slots are there, and nobody else uses the slots.
    #[inline(always)]
    unsafe fn copy_in(self, messages: *const u8, slots: *mut u8, count: usize) {
        let stride = self.stride * WORD;
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
        let stride = self.stride * WORD;
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

    /// So many messages, in words.
    fn words(self, messages: usize) -> usize {
        messages.saturating_mul(self.stride)
    }
}

/// Makes a queue of such messages.
pub(crate) fn channel<K: Kind + InPlace>(options: Options) -> Done<(Producer<K>, Consumer<K>)> {
    let layout = Layout { size: options.message_size, stride: options.message_size.div_ceil(WORD) };
    let words = options.capacity.checked_mul(layout.stride).ok_or(ANNULUS_NO_MEMORY)?;
    let builder =
        queue::Builder::<K>::new(words).wait_strategy(options.strategy).statistics(options.statistics);
    let (producer, consumer) = builder.build().map_err(of_capacity)?;
    let consumer = Consumer { words: Notified::Not(consumer), layout, shown: 0 };
    Ok((Producer { words: producer, layout, reserved: 0 }, consumer))
}

/// So many messages are reserved, or shown, by a handle that is lent to a view.
const LENT: usize = usize::MAX;

pub(crate) struct Producer<K: Kind + InPlace> {
    pub(crate) words: queue::Producer<Word, K>,
    layout: Layout,
    /// So many messages are reserved; [`LENT`] while a view has this end.
    reserved: usize,
}

impl<K: Kind + InPlace> Producer<K> {
    /// Another producer of the queue.
    pub(crate) fn joined_by(&self, words: queue::Producer<Word, K>) -> Self {
        Self { words, layout: self.layout, reserved: 0 }
    }

    /// A reservation of at least one message, and at most `most`.
    #[inline(always)]
    fn reservation(
        &mut self,
        most: usize,
        patience: Patience,
    ) -> Done<(queue::Reservation<'_, Word, K>, Layout)> {
        if self.reserved != 0 {
            return Err(if self.reserved == LENT { ANNULUS_VIEWED } else { ANNULUS_RESERVED });
        }
        if most == 0 {
            return Err(ANNULUS_INVALID);
        }
        let (layout, most) = (self.layout, self.layout.words(most));
        let reservation = match patience {
            // (It may also be closed.)
            Patience::None => self.words.try_reserve(most).ok_or(ANNULUS_FULL)?,
            Patience::Endless => self.words.reserve(most).map_err(|_| ANNULUS_CLOSED)?,
            Patience::For(timeout) => {
                self.words.reserve_timeout(most, timeout).map_err(|error| match error {
                    SendTimeoutError::Timeout(()) => ANNULUS_TIMEOUT,
                    SendTimeoutError::Closed(()) => ANNULUS_CLOSED,
                })?
            }
        };
        debug_assert_eq!(reservation.len() % layout.stride, 0, "a message is split");
        Ok((reservation, layout))
    }

    /// Why there is no reservation.
    #[cold]
    fn refused(&self, status: annulus_status) -> annulus_status {
        if status == ANNULUS_FULL && self.words.is_closed() { ANNULUS_CLOSED } else { status }
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
        let (mut reservation, layout) = match self.reservation(count, patience) {
            Ok(found) => found,
            Err(status) => return Err(self.refused(status)),
        };
        let slots = reservation.as_uninit();
        let words = slots.len();
        // SAFETY: the slots are this producer's; the caller promises the messages.
        unsafe { layout.copy_in(messages, slots.as_mut_ptr().cast(), words / layout.stride) };
        // SAFETY: a word need not be initialized.
        match unsafe { reservation.commit(words) } {
            0 => Err(ANNULUS_CLOSED),
            sent => Ok(sent / layout.stride),
        }
    }

    /// Reserves up to `most` messages, to be written where they lie.
    pub(crate) fn reserve(&mut self, most: usize, patience: Patience) -> Done<(*mut u8, usize)> {
        let (mut reservation, layout) = match self.reservation(most, patience) {
            Ok(found) => found,
            Err(status) => return Err(self.refused(status)),
        };
        let slots = reservation.as_uninit();
        let (start, count) = (slots.as_mut_ptr().cast(), slots.len() / layout.stride);
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
        let reservation = self.words.try_reserve(self.layout.words(reserved)).ok_or(ANNULUS_CLOSED)?;
        // SAFETY: a word need not be initialized.
        match unsafe { reservation.commit(self.layout.words(count)) } {
            0 => Err(ANNULUS_CLOSED),
            _ => Ok(()),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.words.len() / self.layout.stride
    }

    pub(crate) fn message_size(&self) -> usize {
        self.layout.size
    }

    /// From one message to the next, in bytes.
    pub(crate) fn stride_bytes(&self) -> usize {
        self.layout.stride * WORD
    }
}

/// What a view needs of an end: all that lies beside each other, from the next message on.
pub(crate) struct Beside {
    pub(crate) start: *const u8,
    pub(crate) words: usize,
}

impl Beside {
    fn of(there: &[Word]) -> Self {
        Self { start: there.as_ptr().cast(), words: there.len() }
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
        Ok(self.words.lend())
    }

    /// This end, which is lent.
    pub(crate) fn lent(&mut self) -> Done<&mut Self> {
        if self.is_lent() { Ok(self) } else { Err(ANNULUS_INVALID) }
    }

    pub(crate) fn is_lent(&self) -> bool {
        self.reserved == LENT
    }

    /// Free slots beside each other, of at least one message, for a view that has used up what it had.
    ///
    /// # Safety
    ///
    /// As of `take_back` of the Rust library, here and below: the view has sent what it was shown only.
    pub(crate) unsafe fn look(&mut self, patience: Patience) -> Done<Beside> {
        // SAFETY: the caller's promise.
        unsafe { self.take_back() };
        let result = self.reservation(usize::MAX, patience).map(|(mut reservation, _)| {
            let slots = reservation.as_uninit();
            Beside { start: slots.as_ptr().cast(), words: slots.len() }
        });
        self.reserved = LENT;
        result.map_err(|status| self.refused(status))
    }

    /// The last `words` words were sent past this end, and there is more to do for them.
    ///
    /// # Safety
    ///
    /// As of [`look`](Self::look).
    pub(crate) unsafe fn settle(&mut self, words: usize) -> Done {
        // SAFETY: the caller's promise.
        if unsafe { self.words.settle(words) } { Ok(()) } else { Err(ANNULUS_CLOSED) }
    }

    /// Ends the view.
    ///
    /// # Safety
    ///
    /// As of [`look`](Self::look).
    pub(crate) unsafe fn take_back(&mut self) {
        // SAFETY: the caller's promise.
        unsafe { self.words.take_back() };
        self.reserved = 0;
    }
}

pub(crate) struct Consumer<K: Kind + InPlace> {
    pub(crate) words: Notified<queue::Consumer<Word, K>>,
    layout: Layout,
    /// So many messages were shown; [`LENT`] while a view has this end.
    shown: usize,
}

impl<K: Kind + InPlace> Consumer<K> {
    /// The next messages that lie beside each other, at least one: where they are, and how many words. They
    /// stay there until this consumer receives.
    #[inline(always)]
    fn look(&mut self, most: usize, patience: Patience) -> Done<(*const Word, usize)> {
        if most == 0 {
            return Err(ANNULUS_INVALID);
        }
        if self.shown == LENT {
            return Err(ANNULUS_VIEWED);
        }
        self.shown = 0;
        let (most, stride) = (self.layout.words(most), self.layout.stride);
        let words = self.words.receiver();
        let mut there = words.peek_many(most);
        if there.is_empty() {
            wait_for_some(words, patience)?;
            there = words.peek_many(most);
            if there.is_empty() {
                return Err(ANNULUS_EMPTY);
            }
        }
        debug_assert_eq!(there.len() % stride, 0, "a message is split");
        Ok((there.as_ptr(), there.len()))
    }

    /// Receives up to `count` messages that lie beside each other, and returns how many.
    ///
    /// # Safety
    ///
    /// There is room for so many at `messages`.
    #[inline(always)]
    pub(crate) unsafe fn get(&mut self, messages: *mut u8, count: usize, patience: Patience) -> Done<usize> {
        let ((start, words), layout) = (self.look(count, patience)?, self.layout);
        // SAFETY: so many words are there, and stay until the advance; the caller promises the room.
        unsafe { layout.copy_out(start.cast(), messages, words / layout.stride) };
        self.words.receiver().advance(words);
        Ok(words / layout.stride)
    }

    /// The next messages, to be read where they lie.
    pub(crate) fn readable(&mut self, patience: Patience) -> Done<(*const u8, usize)> {
        let (start, words) = self.look(usize::MAX, patience)?;
        self.shown = words / self.layout.stride;
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
        self.words.receiver().advance(self.layout.words(count));
        Ok(())
    }

    pub(crate) fn len(&mut self) -> usize {
        self.words.look().len() / self.layout.stride
    }

    pub(crate) fn arm(&mut self) -> Done<bool> {
        if self.shown == LENT { Err(ANNULUS_VIEWED) } else { self.words.arm() }
    }

    pub(crate) fn message_size(&self) -> usize {
        self.layout.size
    }

    /// From one message to the next, in bytes.
    pub(crate) fn stride_bytes(&self) -> usize {
        self.layout.stride * WORD
    }
}

impl Consumer<Spsc> {
    /// Lends this end to a view.
    pub(crate) fn lend(&mut self) -> Done<Lent> {
        if self.is_lent() {
            return Err(ANNULUS_VIEWED);
        }
        self.shown = LENT;
        Ok(self.words.receiver().lend())
    }

    /// This end, which is lent.
    pub(crate) fn lent(&mut self) -> Done<&mut Self> {
        if self.is_lent() { Ok(self) } else { Err(ANNULUS_INVALID) }
    }

    pub(crate) fn is_lent(&self) -> bool {
        self.shown == LENT
    }

    /// Messages that lie beside each other, at least one, for a view that has taken what it had.
    ///
    /// # Safety
    ///
    /// As of `take_back` of the Rust library, here and below: the view has taken what it was shown only.
    pub(crate) unsafe fn show(&mut self, patience: Patience) -> Done<Beside> {
        let words = self.words.receiver();
        // SAFETY: the caller's promise.
        unsafe { words.take_back() };
        let mut beside = Beside::of(words.peek_many(usize::MAX));
        if beside.words == 0 {
            wait_for_some(words, patience)?;
            beside = Beside::of(words.peek_many(usize::MAX));
        }
        if beside.words == 0 { Err(ANNULUS_EMPTY) } else { Ok(beside) }
    }

    /// Wakes whoever waits for what the view has taken.
    ///
    /// # Safety
    ///
    /// As of [`show`](Self::show).
    pub(crate) unsafe fn wake(&mut self) {
        // SAFETY: the caller's promise.
        unsafe { self.words.receiver().settle() };
    }

    /// Ends the view.
    ///
    /// # Safety
    ///
    /// As of [`show`](Self::show).
    pub(crate) unsafe fn take_back(&mut self) {
        // SAFETY: the caller's promise.
        unsafe { self.words.receiver().take_back() };
        self.shown = 0;
    }
}

/// Nothing is there: waits until something is, or says why not. It may be that nothing is there afterwards.
#[cold]
fn wait_for_some<K: Kind + InPlace>(words: &mut queue::Consumer<Word, K>, patience: Patience) -> Done {
    match patience {
        // Whoever finds nothing in a closed queue looks again.
        Patience::None if words.is_closed() && words.is_fully_drained() => Err(ANNULUS_CLOSED),
        Patience::None => Ok(()),
        Patience::Endless => words.wait_readable().map(drop).map_err(|_| ANNULUS_CLOSED),
        Patience::For(timeout) => {
            words.wait_readable_timeout(timeout).map(drop).map_err(|error| match error {
                RecvTimeoutError::Timeout => ANNULUS_TIMEOUT,
                RecvTimeoutError::Closed => ANNULUS_CLOSED,
            })
        }
    }
}

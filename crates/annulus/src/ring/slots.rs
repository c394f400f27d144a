//! The slots of a ring: where a message lies, how it gets in and out whole. The seqlock of this crate, both
//! sides.
//!
//! A slot is the stamp, then the payload's words.
//!
//! ```text
//! write(sequence) ─▶ index_of: sequence & mask    any other capacity: the remainder (`base/index.rs`)
//!                 ─▶ the words from index · stride on
//!                 ─▶ Slot::write                  slot.w1 to slot.w3
//!                 ─▶ Written::publish             slot.w4
//! ```
//!
//! After the Linux kernel's `seqcount` and Boehm, "Can seqlocks get along with programming language memory
//! models?" (MSPC 2012), with a stamp that says *which* message is there, after Photon Ring. The payload is
//! copied with relaxed atomic accesses, so a reader that meets a writer reads stale or mixed words, but there
//! is no data race; the two looks at the stamp tell it to throw them away.
//!
//! ```text
//! writer                                       reader
//! slot.w1  stamp := writing(s)   Relaxed       slot.r1  stamp = done(s)?   Acquire
//! slot.w2  fence                 Release       slot.r2  read the words     Relaxed
//! slot.w3  write the words       Relaxed       slot.r3  fence              Acquire
//! slot.w4  stamp := done(s)      Release       slot.r4  stamp = done(s)?   Relaxed
//! ```
//!
//! *Why the reader gets whole messages.* slot.r1 reads the value of slot.w4, so the words are at least as new
//! as message `s`. If a word were newer, its slot.w3 belongs to a later lap; slot.r3 then pairs with the
//! slot.w2 before it, so slot.r4 sees at least the slot.w1 of that lap, which is not `done(s)`, and stamps of
//! a slot never return to an earlier value.
//!
//! *A run* of messages `a` to `b` takes two looks as well, where one writer writes all messages in the order
//! of their sequences: slot.r1 at the last slot, slot.r2 for all, slot.r3, and slot.r4 at the first.
//!
//! - No number between the two was left out: runs are read in lossless rings, whose publishers leave out
//!   none.
//! - slot.r1 reads the value of slot.w4 of `b`. The slot.w3 of all messages from `a` on come before that, so
//!   each word is at least as new as its message.
//! - If a word of message `i` were newer, its slot.w3 belongs to a later lap, so it comes after the slot.w2
//!   of that lap; the slot.w1 of the message that takes the slot of `a` comes before that slot.w2, or is the
//!   one just before it, because `a` is not after `i`. slot.r3 pairs with that slot.w2, so slot.r4 sees that
//!   slot.w1 or a later stamp, which is not `done(a)`.
//!
//! The gate and the reader have no part in this. With many writers neither step holds.

#[cfg(all(feature = "shm", not(annulus_loom)))]
use alloc::vec::Vec;
use core::marker::PhantomData;
use core::mem::{self, MaybeUninit};
use core::ptr::NonNull;

use super::copy;
use crate::base::allocation::Before;
use crate::base::index::Index;
use crate::base::sequence::{Sequence, Stamp};
use crate::error::CapacityError;
use crate::memory::{Block, Memory, NoBlock, UnitBlock};
use crate::message::Message;
use crate::message::encoded::Encoded;
use crate::message::schema::BadValue;
use crate::sync::{AtomicU64, Ordering, fence, ordering, seeded, unlikely};

/// The threads that write to a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writers {
    /// One, which knows its sequence by itself.
    One,
    /// Any number, of a lossless ring: each claims a sequence whose slot is left.
    Many,
    /// Any number, which wait for nobody: each claims a [range](super::Claims), and passes over a slot that
    /// another one has not left.
    Claimants,
}

/// Where the slots of a ring are. Each handle has a copy, so that it finds a slot without a look at shared
/// memory, and may keep that copy in registers.
pub(crate) struct Slots<S: Store> {
    /// The block of the ring's store.
    pub(super) start: NonNull<S::Unit>,
    /// As [`Index::mask`].
    mask: u64,
    /// The ring's. A pointer rather than a copy: its multiplications are then not carried out in advance.
    index: NonNull<Index>,
    /// Units from one slot to the next.
    pub(super) stride: usize,
    pub(super) writers: Writers,
}

// SAFETY: it stands for a shared borrow of the store's slots and of a constant, which may go where a borrow
// of the store may go; its user promises that the ring lives.
unsafe impl<S: Store + Sync> Send for Slots<S> {}

// SAFETY: as above.
unsafe impl<S: Store + Sync> Sync for Slots<S> {}

impl<S: Store> Clone for Slots<S> {
    // Unreached: asked for by Copy; copies are made without it
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Store> Copy for Slots<S> {}

impl<S: Store> Slots<S> {
    /// The slots of the ring with this block, this index and this stride.
    #[inline(always)]
    pub(crate) fn new(start: NonNull<S::Unit>, index: &Index, stride: usize, writers: Writers) -> Self {
        Self { start, mask: index.mask(), index: NonNull::from(index), stride, writers }
    }
}

impl<T: Message> Slots<Copied<T>> {
    /// Writes message `sequence`, for the caller to publish: slot.w1 to slot.w3 of `docs/ORDERING.md`.
    ///
    /// # Safety
    ///
    /// The ring lives for `'a`, is for these `writers`, and nobody else writes this slot meanwhile. (Two
    /// writers at once would be no data race, but readers could accept a mixture of both messages, which may
    /// be no valid `T`.) In a ring for one writer, all messages before this one were published before, or
    /// their numbers left out; in one for many, the caller publishes it.
    #[inline]
    pub(crate) unsafe fn write<'a>(self, writers: Writers, sequence: Sequence, message: &T) -> Written<'a> {
        // SAFETY: the caller's promise.
        unsafe { self.of(writers).slot(sequence) }.write(sequence, message)
    }
}

impl<S: Store> Slots<S> {
    /// The same slots, for a caller that knows the writers by its type: the stride is then a constant to the
    /// optimiser.
    ///
    /// # Safety
    ///
    /// The ring is for these `writers`.
    #[inline]
    pub(super) unsafe fn of(self, writers: Writers) -> Self
    where
        S: Strided,
    {
        debug_assert_eq!(writers, self.writers);
        if S::IS_CONSTANT { Self { stride: S::stride(writers), ..self } } else { self }
    }
}

impl<T: Message> Slots<Copied<T>> {
    /// The slot that message `sequence` uses, whatever it holds now.
    ///
    /// # Safety
    ///
    /// The ring lives for `'a`.
    #[inline]
    unsafe fn slot<'a>(self, sequence: Sequence) -> Slot<'a, T> {
        // SAFETY: the ring lives.
        let first = unsafe { self.index_of(sequence) } * self.stride;
        // SAFETY: `Copied::new` made a stride of words for each index below the capacity, all initialised; a
        // slot uses at most that many of them. The caller keeps them alive.
        Slot::new(unsafe {
            let words = Slot::<T>::words(self.stride);
            core::slice::from_raw_parts(self.start.as_ptr().add(first), words)
        })
    }
}

impl<S: Store> Slots<S> {
    /// The number of the slot that message `sequence` uses: always below the capacity.
    ///
    /// # Safety
    ///
    /// The ring lives.
    #[inline]
    pub(super) unsafe fn index_of(self, sequence: Sequence) -> usize {
        // One instruction tells both: the slot, and whether to ask. The first slot asks, too, but this
        // handle's own mask and no shared memory, because a reader that polls an empty ring may stay there.
        let index = sequence.get() & self.mask;
        if unlikely(index == 0) && self.mask == 0 {
            // SAFETY: the ring lives, and nobody writes its index.
            unsafe { self.index.as_ref() }.without_mask(sequence)
        } else {
            index as usize
        }
    }
}

/// The words of one slot; borrowed from the ring's storage.
struct Slot<'a, T> {
    /// Exactly [as many](Slot::words) as a message takes: the stamp, then the payload.
    words: &'a [AtomicU64],
    message: PhantomData<fn(T) -> T>,
}

impl<'a, T: Message> Slot<'a, T> {
    /// A slot has as much of a message as fits in.
    const IS_BLOCK: bool = T::BLOCK_AT != 0;
    const PAYLOAD_AT: usize = if Self::IS_BLOCK { T::BLOCK_AT } else { payload_at(size_of::<T::Wire>()) };
    const WORDS: usize = words_for(size_of::<T::Wire>());
    /// How many words a message has, in slots of this stride.
    #[inline(always)]
    fn words(stride: usize) -> usize {
        if !Self::IS_BLOCK {
            return Self::WORDS;
        }
        stride.min(Self::PAYLOAD_AT + copy::words_of::<T::Wire>())
    }

    #[inline]
    fn new(words: &'a [AtomicU64]) -> Self {
        debug_assert!(Self::IS_BLOCK || words.len() == Self::WORDS);
        Self { words, message: PhantomData }
    }

    /// slot.w1 to slot.w3; [`Written::publish`] is slot.w4. What was in the slot is lost to readers from
    /// slot.w1 on, also where the message is never published, because stamps only grow.
    #[inline]
    fn write(&self, sequence: Sequence, message: &T) -> Written<'a> {
        let (stamp, payload) = self.parts();
        let (mut writing, mut done) = (Stamp::writing(sequence), Stamp::done(sequence));
        if seeded!("slot_stamps_swapped") {
            (writing, done) = (done, writing);
        }
        if !seeded!("slot_no_writing_stamp") {
            // slot.w1. Relaxed: slot.w2 orders it before the words.
            stamp.store(writing.bits(), Ordering::Relaxed);
        }
        if !seeded!("slot_no_release_fence") {
            // slot.w2. Release: pairs with slot.r3. A thread that sees a word of this lap also sees slot.w1.
            fence(Ordering::Release);
        }
        // slot.w3. Relaxed: slot.r1 orders them for readers of this lap, slot.r3 and slot.r4 catch readers of
        // an earlier one.
        if Self::IS_BLOCK {
            copy::store_front(payload, message.encode(&mut MaybeUninit::uninit()));
        } else {
            copy::store(payload, message.encode(&mut MaybeUninit::uninit()));
        }
        Written { stamp, done }
    }

    #[inline]
    fn parts(&self) -> (&'a AtomicU64, &'a [AtomicU64]) {
        // The length is a constant to the optimiser: no check remains.
        (&self.words[0], &self.words[Self::PAYLOAD_AT..])
    }
}

/// A message that is written, and not yet published.
#[must_use = "readers wait for it"]
pub(crate) struct Written<'a> {
    stamp: &'a AtomicU64,
    done: Stamp,
}

impl Written<'_> {
    /// slot.w4.
    #[inline(always)]
    pub(crate) fn publish(self) {
        // Release: pairs with slot.r1, and with every other look at a stamp.
        self.stamp.store(self.done.bits(), ordering!(Release unless "slot_done_relaxed"));
    }

    /// This as a number, which is all that an outlined function gets. [`WithoutSlot::at`] turns it back.
    #[inline(always)]
    pub(crate) fn without_slot(self) -> WithoutSlot {
        WithoutSlot(self.done)
    }
}

/// A [`Written`] that does not know where its slot is.
#[must_use = "readers wait for it"]
pub(crate) struct WithoutSlot(Stamp);

impl WithoutSlot {
    /// Of message `sequence`, which somebody else has written.
    #[cfg(all(feature = "std", not(annulus_loom)))]
    pub(crate) fn of(sequence: Sequence) -> Self {
        Self(Stamp::done(sequence))
    }

    /// Which message it is.
    pub(crate) fn sequence(&self) -> Sequence {
        // (The bug mixes up the two stamps.)
        if seeded!("slot_stamps_swapped") { Sequence::new(self.0.bits() / 2) } else { self.0.sequence() }
    }

    /// The message with its slot, which has this stamp: undoes [`Written::without_slot`].
    pub(crate) fn at(self, stamp: &AtomicU64) -> Written<'_> {
        Written { stamp, done: self.0 }
    }
}

impl<T: Message> Slots<Copied<T>> {
    /// Copies message `sequence` into `message`, or says why it can't be had.
    ///
    /// # Safety
    ///
    /// The ring lives.
    #[inline]
    pub(crate) unsafe fn read(self, sequence: Sequence, message: &mut MaybeUninit<T::Wire>) -> Read<'_, T> {
        // SAFETY: the caller's promise.
        unsafe { self.slot(sequence) }.read(sequence, message)
    }

    /// Copies messages from `first` on into `buffer`: those that are there, or at least half of them; none
    /// where many write, because that takes a look at each. If it is checked, it ends before what is no
    /// message.
    ///
    /// # Safety
    ///
    /// The ring lives. It is checked if other processes can write to it. Its writer, if it is one, leaves out
    /// no number between messages of this run.
    #[inline]
    pub(crate) unsafe fn read_run(
        self,
        first: Sequence,
        buffer: &mut [MaybeUninit<T::Wire>],
        is_checked: bool,
    ) -> Run<'_, T> {
        let one = self.writers == Writers::One || seeded!("run_of_many_writers");
        let buffer = if one { buffer } else { &mut [] };
        // SAFETY: the caller's promise. The ring is for one writer, and a caller of `write` promises the
        // order.
        unsafe { read_run(|sequence| self.slot(sequence), first, buffer, is_checked) }
    }

    /// Where they lie, in a ring of this `capacity`, for code in another language.
    #[cfg(all(feature = "std", not(annulus_loom)))]
    pub(crate) fn lend(self, capacity: usize) -> LentSlots {
        let payload_at = payload_at(size_of::<T::Wire>());
        LentSlots { start: self.start.cast(), capacity, stride: self.stride, payload_at }
    }
}

impl<'a, T: Message> Slot<'a, T> {
    #[inline]
    fn read<'m>(&self, sequence: Sequence, message: &'m mut MaybeUninit<T::Wire>) -> Read<'m, T> {
        match read(self.stamp(), sequence, || self.copy(message)) {
            // Every byte of `message` was written, and both looks saw `done(sequence)`.
            Ok(()) => Ok(Whole(message)),
            Err(missing) => Err((missing, message)),
        }
    }

    /// slot.r2: writes every byte of `message`. They may be torn; slot.r4 tells.
    #[inline(always)]
    fn copy(&self, message: &mut MaybeUninit<T::Wire>) {
        if Self::IS_BLOCK {
            copy::load_front(self.parts().1, message);
        } else {
            copy::load(self.parts().1, message);
        }
    }

    #[inline(always)]
    fn stamp(&self) -> &'a AtomicU64 {
        self.parts().0
    }
}

/// What a read returns. If the message can't be read, the caller has its buffer back.
pub(crate) type Read<'m, T> = Result<Whole<'m, T>, (Missing, &'m mut MaybeUninit<<T as Encoded>::Wire>)>;

/// Why a message can't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// It is not there yet, or not whole yet.
    NotYet,
    /// A later message has taken its slot, or is about to.
    Overwritten,
}

/// slot.r1 to slot.r4: `copy` reads the words of the slot with this stamp, and what it has read is whole if
/// this returns no error.
#[inline(always)]
fn read(stamp: &AtomicU64, sequence: Sequence, copy: impl FnOnce()) -> Result<(), Missing> {
    // slot.r1. Acquire: pairs with slot.w4.
    look(stamp, sequence, ordering!(Acquire unless "slot_first_look_relaxed"))?;
    copy();
    if !is_unchanged(stamp, sequence) && !seeded!("slot_no_second_look") {
        return Err(Missing::Overwritten);
    }
    Ok(())
}

/// slot.r1: whether message `sequence` is there.
#[inline(always)]
fn look(stamp: &AtomicU64, sequence: Sequence, ordering: Ordering) -> Result<(), Missing> {
    let (seen, wanted) = (Stamp::from_bits(stamp.load(ordering)), Stamp::done(sequence));
    match seen {
        _ if seen == wanted => Ok(()),
        // Mutants: `< with <=`: the arm before has taken it.
        _ if seen < wanted => Err(Missing::NotYet),
        _ => Err(Missing::Overwritten),
    }
}

/// slot.r3 and slot.r4: whether message `sequence`, which was there before the words were read, still is.
// Mutants: `with true`: only a model sees it: slot_no_second_look; the stress test sees it, too, but not
// in each run.
#[inline(always)]
fn is_unchanged(stamp: &AtomicU64, sequence: Sequence) -> bool {
    if !seeded!("slot_no_acquire_fence") {
        // slot.r3. Acquire: pairs with slot.w2.
        fence(Ordering::Acquire);
    }
    // slot.r4. Relaxed: slot.r3 orders it after the words.
    stamp.load(Ordering::Relaxed) == Stamp::done(sequence).bits()
}

/// What was read whole. Only [`Slot::read`] makes one, or [`KeptWhole`] of such a one, so having it is the
/// proof: by the argument at the top of this file its bytes are those that one writer has stored.
pub(crate) struct Whole<'m, T: Message>(&'m mut MaybeUninit<T::Wire>);

impl<'m, T: Message> Whole<'m, T> {
    /// The message, as a thread of this process has written it.
    ///
    /// # Safety
    ///
    /// No other process can write there.
    #[inline(always)]
    pub(crate) unsafe fn unchecked(self) -> Value<'m, T> {
        // The bytes are those that `Slot::write` stored for one `T`: what `encode` returned.
        Value(self.0)
    }

    /// The message, if it is one: another process may have written any bytes.
    #[inline(always)]
    pub(crate) fn checked(self) -> Result<Value<'m, T>, Corrupt<'m, T>> {
        // SAFETY: `Slot::read` has written every byte.
        if unsafe { is_value::<T>(self.0) } {
            return Ok(Value(self.0));
        }
        Err(Corrupt(self.0))
    }

    /// With its buffer, so that a function can return it.
    #[inline]
    pub(crate) fn keep(self) -> KeptWhole<T> {
        KeptWhole(mem::replace(self.0, MaybeUninit::uninit()))
    }
}

/// A message. Only a [`Whole`] becomes one.
pub(crate) struct Value<'m, T: Message>(&'m mut MaybeUninit<T::Wire>);

impl<T: Message> Value<'_, T> {
    /// Moves the message out: the one move between the ring and the caller, which a large message would
    /// notice.
    #[inline(always)]
    pub(crate) fn take(self) -> T {
        // SAFETY: the bytes are what `encode` of one `T` returned, or `is_value` is true of them.
        unsafe { T::decode(self.0.as_ptr()) }
    }

    /// With its buffer, so that a function can return it.
    #[inline]
    pub(crate) fn keep(self) -> KeptValue<T> {
        KeptValue(mem::replace(self.0, MaybeUninit::uninit()))
    }
}

/// A message, in a buffer of its own. Only [`Value::keep`] makes one.
pub(crate) struct KeptValue<T: Message>(MaybeUninit<T::Wire>);

impl<T: Message> KeptValue<T> {
    #[inline(always)]
    pub(crate) fn take(mut self) -> T {
        Value(&mut self.0).take()
    }
}

/// What was read whole and is no message. Only [`Whole::checked`] makes one.
pub(crate) struct Corrupt<'m, T: Message>(&'m mut MaybeUninit<T::Wire>);

impl<T: Message> Corrupt<'_, T> {
    /// Which field it is, and what is there.
    #[inline(always)]
    pub(crate) fn bad_value(self) -> BadValue {
        // A copy: if its address went to a function, each message would live in memory.
        bad_value::<T>(*self.0)
    }
}

#[cold]
#[inline(never)]
fn bad_value<T: Message>(message: MaybeUninit<T::Wire>) -> BadValue {
    // SAFETY: it was read, so every byte was written.
    let bytes = unsafe { core::slice::from_raw_parts(message.as_ptr().cast(), size_of::<T::Wire>()) };
    BadValue::of(T::SCHEMA, bytes)
}

/// A message that was read whole, in a buffer of its own. Only [`Whole::keep`] makes one.
pub(crate) struct KeptWhole<T: Message>(MaybeUninit<T::Wire>);

impl<T: Message> KeptWhole<T> {
    /// The same in another buffer.
    #[inline(always)]
    pub(crate) fn whole_in(self, buffer: &mut MaybeUninit<T::Wire>) -> Whole<'_, T> {
        *buffer = self.0;
        Whole(buffer)
    }
}

/// Whether bytes that are whole, and that anybody may have written, are a message.
///
/// # Safety
///
/// Every byte of `message` was written.
#[inline(always)]
unsafe fn is_value<T: Message>(message: &MaybeUninit<T::Wire>) -> bool {
    // SAFETY: the caller's promise.
    T::ANY_BITS || unsafe { T::is_value(message.as_ptr().cast()) } || seeded!("foreign_unchecked")
}

/// Copies messages from `first` on into `buffer`: as many as it takes, or as many as it finds there by
/// looking at the first, the second, the fourth, and so on. None where `first` is not there. `slot` knows the
/// slots of a ring. If it is checked, it ends before what is no message.
///
/// It looks from the first on because its caller may be just behind the writer, which would pay for each look
/// at a line ahead.
///
/// # Safety
///
/// One writer writes all messages of that ring, in the order of their sequences, and leaves out none of
/// these. It is checked if other processes can write to it.
#[inline]
unsafe fn read_run<'a, 'm, T: Message>(
    slot: impl Fn(Sequence) -> Slot<'a, T>,
    first: Sequence,
    buffer: &'m mut [MaybeUninit<T::Wire>],
    is_checked: bool,
) -> Run<'m, T> {
    // slot.r1. Acquire: pairs with slot.w4. The last look that finds its message decides the run.
    let ordering = ordering!(Acquire unless "run_look_relaxed");
    let last = |count| if seeded!("run_looks_at_the_first") { first } else { first.plus(count as u64 - 1) };
    let is_there = |count| look(slot(last(count)).stamp(), last(count), ordering).is_ok();
    let (mut count, mut next) = (0, buffer.len().min(1));
    while count < next && is_there(next) {
        count = next;
        next = buffer.len().min(2 * count);
    }
    let mut sequence = first;
    for into in &mut buffer[..count] {
        slot(sequence).copy(into);
        sequence = sequence.next();
    }
    // slot.r3, and slot.r4 of the first.
    if count > 0 && !is_unchanged(slot(first).stamp(), first) && !seeded!("run_no_second_look") {
        // Unreached: a run overwritten while it is read: two threads have to meet there; loom seqlock
        count = 0;
    }
    if is_checked && !T::ANY_BITS {
        // SAFETY: every byte of these was written.
        let is_bad = |message: &MaybeUninit<T::Wire>| !unsafe { is_value::<T>(message) };
        count = buffer[..count].iter().position(is_bad).unwrap_or(count);
    }
    // Every byte of these was written, and the looks saw `done` in the last slot and then in the first.
    Run(&buffer[..count])
}

/// Messages in the order of their sequences, each read whole. Only [`read_run`] makes one, so having it is
/// the proof.
pub(crate) struct Run<'m, T: Message>(&'m [MaybeUninit<T::Wire>]);

impl<T: Message> Run<'_, T> {
    /// Moves the messages into the front of `messages`, which is long enough, and says how many they are.
    #[inline]
    pub(crate) fn take_into(self, messages: &mut [T]) -> usize {
        let count = self.0.len();
        for (into, message) in messages[..count].iter_mut().zip(self.0) {
            // SAFETY: `read_run` made it after it had written every byte, seen `done` in the slot of the last
            // message and, after that, in the slot of the first, in a ring of one writer; by the argument at
            // the top of this file the bytes of each are those that `Slot::write` stored for one `T`: what
            // `encode` returned. (Of other processes: `is_value` is true of them.)
            *into = unsafe { T::decode(message.as_ptr()) };
        }
        count
    }
}

impl<S: Store> Slots<S> {
    /// claim.wait2, fellow.take4: whether the slot of `sequence` was left by the writer of the lap before, so
    /// that the publisher that claimed `sequence` may write.
    ///
    /// Acquire: pairs with slot.w4, so everything that writer did to the slot comes before what the caller
    /// does to it.
    ///
    /// # Safety
    ///
    /// The ring lives, has that `capacity`, and is for these `writers`, which are many.
    #[inline]
    pub(crate) unsafe fn is_left(self, writers: Writers, sequence: Sequence, capacity: usize) -> bool
    where
        S: Strided,
    {
        // SAFETY: the caller's promise.
        unsafe { self.of(writers).stamp(sequence) == Stamp::of_the_lap_before(sequence, capacity) }
    }

    /// The stamp of the slot that `sequence` uses. Acquire: pairs with slot.w4, so what came before that
    /// message's publication is visible.
    ///
    /// # Safety
    ///
    /// The ring lives.
    #[inline]
    pub(crate) unsafe fn stamp(self, sequence: Sequence) -> Stamp {
        // SAFETY: the caller's promise.
        Stamp::from_bits(
            unsafe { self.stamp_word(sequence) }.load(ordering!(Acquire unless "stamp_look_relaxed")),
        )
    }

    /// The stamp word of the slot that `sequence` uses.
    ///
    /// # Safety
    ///
    /// The ring lives for `'a`.
    #[inline]
    pub(crate) unsafe fn stamp_word<'a>(self, sequence: Sequence) -> &'a AtomicU64 {
        // SAFETY: the caller's promise; the index is below the capacity, and the store has a stride for each.
        unsafe { S::stamp(self.start, self.index_of(sequence) * S::STRIDE.unwrap_or(self.stride)) }
    }
}

/// As [`Slot::read`], for a caller that does not know the type of the messages: appends the bytes of message
/// `sequence`, which is as long as `payload` to `bytes`, if they are whole. `slot`: its words.
#[cfg(all(feature = "shm", not(annulus_loom)))]
pub(crate) fn read_bytes(
    slot: &[AtomicU64],
    sequence: Sequence,
    payload: usize,
    bytes: &mut Vec<u8>,
) -> Result<(), Missing> {
    let before = bytes.len();
    let words = &slot[payload_at(payload)..][..payload.div_ceil(size_of::<u64>())];
    let told = read(&slot[0], sequence, || {
        // slot.r2.
        bytes.extend(words.iter().flat_map(|word| word.load(Ordering::Relaxed).to_ne_bytes()));
    });
    bytes.truncate(if told.is_ok() { before + payload } else { before });
    told
}

/// Words in a cache line.
const LINE_WORDS: usize = 8;

/// Where a payload of so many bytes begins, in words behind the stamp's: directly behind the stamp, or, where
/// vectors copy it, on the next line, so that none of them straddles two.
// Decision 0008: directly behind the stamp, or on the next line.
pub(crate) const fn payload_at(bytes: usize) -> usize {
    if copy::by_vector(bytes) { LINE_WORDS } else { 1 }
}

/// Words in use by a message of so many bytes: the stamp and the payload, its last word padded.
const fn words_for(bytes: usize) -> usize {
    payload_at(bytes) + bytes.div_ceil(copy::WORD)
}

/// Words from one slot to the next, for messages of so many bytes.
// Unreached: the compiler evaluates it, where it knows the type
pub(crate) const fn stride_for(bytes: usize, writers: Writers) -> usize {
    let words = words_for(bytes);
    // Up to a line, a power of two, so that small messages share a line and none straddles two; above, whole
    // lines.
    let stride =
        if words <= LINE_WORDS { words.next_power_of_two() } else { words.next_multiple_of(LINE_WORDS) };
    // No more than two to a line. Two threads at once write neighbouring slots, and take a shared line from
    // each other for every message; but readers and batches would rather have few lines.
    // Decision 0040: two to a line, not four and not one.
    // Mutants: `< with <=`: equal is equal.
    if !matches!(writers, Writers::One) && stride < LINE_WORDS / 2 { LINE_WORDS / 2 } else { stride }
}

/// What a ring keeps its messages in: a block of units, a slot of which has a stamp.
pub(crate) trait Store {
    /// What the block consists of.
    type Unit;

    /// Units from one slot to the next, where all rings of such a store have as many: a constant to the
    /// optimiser.
    const STRIDE: Option<usize> = None;

    /// The first unit; the block lives as long as the store.
    fn start(&self) -> NonNull<Self::Unit>;

    /// Where it lies.
    fn block_mut(&mut self) -> &mut Block;

    /// Where it lies.
    #[cfg(feature = "std")]
    fn block(&self) -> &Block;

    /// The stamp of the slot that begins with unit number `at`.
    ///
    /// # Safety
    ///
    /// `start` is the first unit of a store that lives for `'a`, and `at` is a multiple of its stride, below
    /// its number of units.
    unsafe fn stamp<'a>(start: NonNull<Self::Unit>, at: usize) -> &'a AtomicU64;
}

/// How far its slots lie from each other.
pub(crate) trait Strided: Store {
    /// Whether [`stride`](Self::stride) says it of all rings. If not, the maker of the ring does.
    const IS_CONSTANT: bool = true;

    /// Units from one slot to the next.
    fn stride(writers: Writers) -> usize;
}

/// Slots of a stride of words each.
pub(crate) struct Copied<T> {
    words: Storage,
    /// A message is moved in and copied out; no `T` is ever stored as such, so `Send` and `Sync` do not hang
    /// on it.
    message: PhantomData<fn(T) -> T>,
}

impl<T: Message> Copied<T> {
    #[inline(always)]
    pub(crate) fn new(
        capacity: usize,
        stride: usize,
        memory: &Memory,
        before: Before,
    ) -> Result<Self, CapacityError> {
        let words = Storage::zeroed(capacity, stride, memory, before)
            .map_err(|refused| CapacityError::of_block(refused, capacity, stride * size_of::<u64>()))?;
        Ok(Self { words, message: PhantomData })
    }
}

/// Over memory that other processes have, too.
#[cfg(feature = "shm")]
impl<T: Message> Copied<T> {
    /// The slots in this block, which has [such a layout](slots_layout).
    ///
    /// # Safety
    ///
    /// All processes access these words by atomic operations only; those that can't write there load them
    /// only. If another process can write there, each message that is read is checked.
    pub(crate) unsafe fn over(block: Block) -> Self {
        // SAFETY: the caller's promise.
        Self { words: unsafe { Storage::over(block) }, message: PhantomData }
    }
}

/// The layout of so many slots of a stride of words. `None` if there can't be so many.
#[cfg(all(feature = "shm", not(annulus_loom)))]
pub(crate) fn slots_layout(stride: usize, capacity: usize) -> Option<core::alloc::Layout> {
    Storage::layout(capacity, stride)
}

impl<T: Message> Strided for Copied<T> {
    const IS_CONSTANT: bool = T::BLOCK_AT == 0;

    #[inline(always)]
    fn stride(writers: Writers) -> usize {
        stride_for(size_of::<T::Wire>(), writers)
    }
}

impl<T> Store for Copied<T> {
    type Unit = AtomicU64;

    fn start(&self) -> NonNull<AtomicU64> {
        self.words.start()
    }

    #[inline(always)]
    fn block_mut(&mut self) -> &mut Block {
        self.words.block_mut()
    }

    #[cfg(feature = "std")]
    fn block(&self) -> &Block {
        self.words.block()
    }

    #[inline]
    unsafe fn stamp<'a>(start: NonNull<AtomicU64>, at: usize) -> &'a AtomicU64 {
        // SAFETY: as in `Slots::slot`; the stamp is a slot's first word.
        unsafe { start.add(at).as_ref() }
    }
}

/// Words in a cache line. loom's atomics are not words, so under loom a line is one of them and has no
/// alignment.
const LINE_ATOMICS: usize = if cfg!(annulus_loom) { 1 } else { 8 };

#[cfg_attr(not(annulus_loom), repr(C, align(64)))]
#[cfg_attr(annulus_loom, repr(C))]
#[derive(Default)]
struct WordLine([AtomicU64; LINE_ATOMICS]);

const _: () =
    assert!(size_of::<WordLine>() == LINE_ATOMICS * size_of::<AtomicU64>(), "a line has no padding");

/// A fixed block of atomic words, all zero at first, which begins on a cache line.
pub(super) struct Storage {
    lines: UnitBlock<WordLine>,
}

impl Storage {
    /// Memory for `slots` slots of `stride` words each, in `memory`, behind what is to be before them.
    ///
    /// Every word is written here, so no page of a ring is touched for the first time while it runs.
    #[inline(always)]
    pub(super) fn zeroed(
        slots: usize,
        stride: usize,
        memory: &Memory,
        before: Before,
    ) -> Result<Self, NoBlock> {
        let words = slots.checked_mul(stride).ok_or(NoBlock::TooLarge)?;
        let count = words.div_ceil(LINE_ATOMICS);
        #[cfg(annulus_loom)]
        let lines = UnitBlock::new(count, memory, before, WordLine::default)?;
        #[cfg(not(annulus_loom))]
        let lines = {
            let layout = core::alloc::Layout::array::<WordLine>(count).map_err(|_| NoBlock::TooLarge)?;
            // SAFETY: words that are 0 are words.
            unsafe { UnitBlock::over(Block::zeroed(layout, memory, before)?) }
        };
        Ok(Self { lines })
    }

    /// The words of a block of memory that other processes have, too: as many lines as it holds.
    ///
    /// # Safety
    ///
    /// All processes access these words by atomic operations only; those that can't write there load them
    /// only.
    #[cfg(feature = "shm")]
    pub(super) unsafe fn over(block: Block) -> Self {
        // SAFETY: any bytes are a line of words, and no byte is in two of them. The caller promises the rest.
        Self { lines: unsafe { UnitBlock::over(block) } }
    }

    /// The layout of such a block, for `slots` slots of `stride` words each. `None` if there is no such
    /// block.
    #[cfg(all(feature = "shm", not(annulus_loom)))]
    pub(super) fn layout(slots: usize, stride: usize) -> Option<core::alloc::Layout> {
        core::alloc::Layout::array::<WordLine>(slots.checked_mul(stride)?.div_ceil(LINE_ATOMICS)).ok()
    }

    /// The first word. A `WordLine` is `LINE_ATOMICS` words and nothing else (asserted above), and they are
    /// contiguous, so from here on there are at least as many words as were asked for, for as long as the
    /// storage lives.
    pub(super) fn start(&self) -> NonNull<AtomicU64> {
        self.lines.start().cast()
    }

    /// Where it lies.
    #[inline(always)]
    pub(super) fn block_mut(&mut self) -> &mut Block {
        self.lines.block_mut()
    }

    /// Where it lies.
    #[cfg(feature = "std")]
    pub(super) fn block(&self) -> &Block {
        self.lines.block()
    }
}

/// The slots of a ring of one publisher. Message `s` has slot `s` modulo `capacity`. A slot begins with its
/// stamp, and has its message some words behind.
#[cfg(all(feature = "std", not(annulus_loom)))]
#[derive(Clone, Copy, Debug)]
pub struct LentSlots {
    /// The first one.
    pub start: NonNull<u64>,
    /// How many there are.
    pub capacity: usize,
    /// From one to the next, in words.
    pub stride: usize,
    /// Where the message lies in it, in words.
    pub payload_at: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn strides_keep_small_slots_in_one_line() {
        fn stride<const N: usize>() -> usize {
            stride_for(N, Writers::One) * 8
        }
        assert_eq!(stride::<0>(), 8);
        assert_eq!(stride::<1>(), 16);
        assert_eq!(stride::<8>(), 16);
        assert_eq!(stride::<9>(), 32);
        assert_eq!(stride::<24>(), 32);
        assert_eq!(stride::<25>(), 64);
        assert_eq!(stride::<56>(), 64);
        assert_eq!(stride::<57>(), 128);
        assert_eq!(stride::<120>(), 128);
        assert_eq!(stride::<121>(), 192);
        assert_eq!(stride::<4096>(), 4160);
    }

    /// What is whole may be none, where another process writes: it is told when it was read, and a run ends
    /// before it.
    #[test]
    fn message_of_another_process_is_checked() {
        let messages = [1, 0, 2, 1];
        let words: Vec<[AtomicU64; 2]> = (0..4)
            .map(|number| {
                let done = Stamp::done(Sequence::new(number)).bits();
                // A `bool` is the first byte in memory, on every machine.
                [AtomicU64::new(done), AtomicU64::new(u64::from_le(messages[number as usize]))]
            })
            .collect();
        let slot = |sequence: Sequence| Slot::<bool>::new(&words[sequence.get() as usize]);
        let mut buffer = MaybeUninit::uninit();
        let mut read = |number| {
            let read = slot(Sequence::new(number)).read(Sequence::new(number), &mut buffer);
            read.ok().unwrap().checked().map(Value::take).map_err(Corrupt::bad_value)
        };
        assert_eq!([0, 1, 3].map(&mut read), [Ok(true), Ok(false), Ok(true)]);
        let bad = read(2).unwrap_err();
        assert_eq!((bad.number(), bad.offset(), bad.field()), (2, 0, None));
        let (mut copies, mut values) = ([MaybeUninit::uninit(); 4], [false; 4]);
        // SAFETY: nobody writes there any more.
        let run = unsafe { read_run(slot, Sequence::FIRST, &mut copies, true) };
        assert_eq!((run.take_into(&mut values), values), (2, [true, false, false, false]));
    }

    #[test]
    fn slots_of_many_writers_share_a_line_by_twos_at_most() {
        fn stride<const N: usize>() -> usize {
            stride_for(N, Writers::Many) * 8
        }
        assert_eq!([stride::<0>(), stride::<8>(), stride::<24>()], [32; 3]);
        assert_eq!([stride::<25>(), stride::<56>()], [64; 2]);
        assert_eq!(stride::<121>(), 192);
    }

    #[test]
    fn storage_begins_on_a_line_and_is_zero() {
        for (slots, stride) in [(2, 1), (3, 2), (5, 8), (7, if cfg!(miri) { 52 } else { 520 })] {
            let storage = Storage::zeroed(slots, stride, &Memory::default(), Before::NOTHING).unwrap();
            assert_eq!(storage.start().as_ptr() as usize % 64, 0);
            // SAFETY: so many words were asked for.
            let words = unsafe { core::slice::from_raw_parts(storage.start().as_ptr(), slots * stride) };
            assert!(words.iter().all(|word| word.load(Ordering::Relaxed) == 0));
        }
    }

    #[test]
    fn refuses_what_memory_does_not_hold() {
        assert!(Storage::zeroed(usize::MAX, 2, &Memory::default(), Before::NOTHING).is_err());
        assert!(Storage::zeroed(usize::MAX / 16, 1, &Memory::default(), Before::NOTHING).is_err());
    }
}

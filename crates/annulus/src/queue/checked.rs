//! The ends of a queue between processes: over a queue of what lies in its slots, they take messages apart,
//! check them, and put them together again.
//!
//! ```text
//! T ─ CheckedWrite ─▶ M::Wire, in a slot ─ CheckedRead: is it an M? ─▶ T
//! ```
//!
//! `T` is what the handles of all kinds of queue know of a message. A kind between processes knows the
//! message itself, `M`, which is the same type: [`Same`] proves it. Where any bytes are a message that lies
//! in its slot as it is, nothing of this remains.
// Decision 0149: the kind knows the message.

use core::any::TypeId;
use core::marker::PhantomData;
use core::mem::{ManuallyDrop, MaybeUninit, transmute_copy};
use core::slice;

use super::ends::{Read, Write};
use super::lane_node::LaneNode;
use super::roster::Round;
#[cfg(not(annulus_loom))]
use super::shared_slice::SharedSlice;
use crate::error::Refusal;
use crate::message::Message;
use crate::message::schema::BadValue;
use crate::sync::{AtomicU64, seeded};
use crate::wait::{Deadline, WaitStrategy};

/// So many messages are taken apart, and then sent at once.
const PART: usize = 16;

/// Whether an `M` lies in its slot as it is.
#[inline(always)]
fn is_own_wire<M: Message>() -> bool {
    TypeId::of::<M>() == TypeId::of::<M::Wire>()
}

/// `A` and `B` are the same type. Only [`new`](Self::new) makes one, for a type and itself, so having it is
/// the proof.
struct Same<A, B>(PhantomData<fn(A) -> B>);

impl<T> Same<T, T> {
    const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<A, B> Clone for Same<A, B> {
    // Unreached: it is copied, and what is `Copy` has a clone
    fn clone(&self) -> Self {
        *self
    }
}

impl<A, B> Copy for Same<A, B> {}

#[allow(clippy::unused_self, reason = "having it is the proof")]
impl<A, B> Same<A, B> {
    #[inline(always)]
    fn forth(self, value: A) -> B {
        let value = ManuallyDrop::new(value);
        // SAFETY: they are one type, and the value is moved out of a place that is not dropped.
        unsafe { transmute_copy(&*value) }
    }

    #[inline(always)]
    fn back(self, value: B) -> A {
        let value = ManuallyDrop::new(value);
        // SAFETY: as in `forth`.
        unsafe { transmute_copy(&*value) }
    }

    #[inline(always)]
    fn back_slice(self, values: &[B]) -> &[A] {
        // SAFETY: they are one type.
        unsafe { slice::from_raw_parts(values.as_ptr().cast(), values.len()) }
    }

    #[inline(always)]
    fn back_slice_mut(self, values: &mut [B]) -> &mut [A] {
        // SAFETY: they are one type.
        unsafe { slice::from_raw_parts_mut(values.as_mut_ptr().cast(), values.len()) }
    }
}

/// What lies in a slot: any bytes. (The lanes move it as a value of its type, before it is checked.)
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Cell<M: Message>(MaybeUninit<M::Wire>);

// SAFETY: the bytes of a message, which is `Send`.
unsafe impl<M: Message> Send for Cell<M> {}

impl<M: Message> Cell<M> {
    #[inline(always)]
    pub(crate) fn of(message: M) -> Self {
        if is_own_wire::<M>() {
            // SAFETY: they are one type.
            return Self(unsafe { transmute_copy(&message) });
        }
        Self(MaybeUninit::new(*message.encode(&mut MaybeUninit::uninit())))
    }

    /// A copy of these bytes, if they are as many as a message has in a ring. Another process may write
    /// there.
    #[cfg(not(annulus_loom))]
    pub(crate) fn copied(bytes: SharedSlice<'_, u8>) -> Option<Self> {
        let mut cell = MaybeUninit::<M::Wire>::uninit();
        (bytes.len() == size_of::<M::Wire>()).then(|| {
            // SAFETY: there is memory for so many bytes, and nobody else knows of it.
            unsafe { bytes.copy_all(cell.as_mut_ptr().cast()) };
            Self(cell)
        })
    }

    /// What was put in, as bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: `of` or `copied` has written each byte: `Wire` has no padding.
        unsafe { slice::from_raw_parts(self.0.as_ptr().cast(), size_of::<M::Wire>()) }
    }

    /// The message that this process has put in.
    #[inline(always)]
    fn sent(self) -> M {
        // SAFETY: `of` has written it.
        unsafe { M::decode(self.0.as_ptr()) }
    }

    /// The message, if it is one.
    #[inline(always)]
    pub(crate) fn checked(self) -> Result<M, BadValue> {
        if self.is_message() {
            // SAFETY: just asked.
            return Ok(unsafe { M::decode(self.0.as_ptr()) });
        }
        Err(bad_value(self))
    }

    /// (It was received, so a producer, or another process, has written each byte.)
    #[inline(always)]
    fn is_message(&self) -> bool {
        // SAFETY: each byte was written.
        M::ANY_BITS || unsafe { M::is_value(self.0.as_ptr().cast()) } || seeded!("queue_unchecked")
    }
}

/// The end of a producer.
pub(crate) struct CheckedWrite<T, M, W> {
    pub(super) end: W,
    same: Same<M, T>,
}

impl<Value, W> From<W> for CheckedWrite<Value, Value, W> {
    fn from(end: W) -> Self {
        Self { end, same: Same::new() }
    }
}

impl<T, M: Message, W: Write<Cell<M>>> Write<T> for CheckedWrite<T, M, W> {
    type Lane = W::Lane;

    #[inline(always)]
    fn node(&self) -> &LaneNode<W::Lane> {
        self.end.node()
    }

    #[inline(always)]
    fn send_plainly(&mut self, value: T) -> Result<(), T> {
        self.end.send_plainly(Cell::of(self.same.back(value))).map_err(|cell| self.same.forth(cell.sent()))
    }

    fn has_free_slot(&mut self) -> bool {
        self.end.has_free_slot()
    }

    unsafe fn send(&mut self, value: T) -> Result<(), T> {
        // SAFETY: the caller's promise.
        unsafe { self.end.send(Cell::of(self.same.back(value))) }.map_err(|cell| self.same.forth(cell.sent()))
    }

    #[inline]
    fn send_some(&mut self, values: &[T]) -> usize
    where
        T: Copy,
    {
        let messages = self.same.back_slice(values);
        if is_own_wire::<M>() {
            // SAFETY: an `M` is its own wire.
            return self
                .end
                .send_some(unsafe { slice::from_raw_parts(messages.as_ptr().cast(), messages.len()) });
        }
        let mut sent = 0;
        for part in messages.chunks(PART) {
            let mut wires = [Cell::of(part[0]); PART];
            for (wire, message) in wires.iter_mut().zip(part) {
                *wire = Cell::of(*message);
            }
            let count = self.end.send_some(&wires[..part.len()]);
            sent += count;
            if count < part.len() {
                break;
            }
        }
        sent
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> &AtomicU64 {
        self.end.watched()
    }

    fn wait(&mut self, strategy: WaitStrategy, deadline: Deadline) -> Result<(), Refusal> {
        self.end.wait(strategy, deadline)
    }
}

/// The end of a consumer.
pub(crate) struct CheckedRead<T, M, R> {
    pub(super) end: R,
    checked: Checked<T, M>,
}

/// What it knows of the messages.
struct Checked<T, M> {
    same: Same<M, T>,
    /// How many were corrupt.
    corrupt: u64,
    /// The last of them.
    last: Option<BadValue>,
}

impl<Value, R> From<R> for CheckedRead<Value, Value, R> {
    fn from(end: R) -> Self {
        Self { end, checked: Checked { same: Same::new(), corrupt: 0, last: None } }
    }
}

impl<T, M: Message> Checked<T, M> {
    /// The message that lay in a slot. If it is corrupt, it is counted.
    #[inline(always)]
    fn value(&mut self, cell: Cell<M>) -> Option<T> {
        match cell.checked() {
            Ok(message) => Some(self.same.forth(message)),
            Err(bad) => {
                self.corrupt += u64::from(!seeded!("queue_corrupt_uncounted"));
                self.last = Some(bad);
                None
            }
        }
    }

    /// Hands it to `each`, if it is a message.
    #[inline(always)]
    fn hand_out(&mut self, cell: Cell<M>, each: &mut impl FnMut(T)) {
        if let Some(value) = self.value(cell) {
            each(value);
        }
    }
}

#[cold]
#[inline(never)]
fn bad_value<M: Message>(cell: Cell<M>) -> BadValue {
    BadValue::of(M::SCHEMA, cell.bytes())
}

impl<T, M: Message, R: Read<Cell<M>>> Read<T> for CheckedRead<T, M, R> {
    type Lane = R::Lane;
    type Corrupt = BadValue;

    #[inline(always)]
    fn node(&self) -> &LaneNode<R::Lane> {
        self.end.node()
    }

    fn before_spin(&mut self) {
        self.end.before_spin();
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        self.end.watched()
    }

    fn has_message(&mut self) -> bool {
        self.end.has_message()
    }

    fn has_certain_message(&mut self) -> bool {
        self.end.has_certain_message()
            && (M::ANY_BITS || self.end.peek().is_some_and(|cell| cell.is_message()))
    }

    #[inline(always)]
    fn take_plainly(&mut self) -> Option<T> {
        let cell = self.end.take_plainly()?;
        self.checked.value(cell)
    }

    fn try_take(&mut self) -> Option<T> {
        let cell = self.end.try_take()?;
        self.checked.value(cell)
    }

    fn corrupt(&self) -> u64 {
        if M::ANY_BITS { 0 } else { self.checked.corrupt }
    }

    fn last_corrupt(&self) -> Option<BadValue> {
        self.checked.last
    }

    #[inline]
    // Unreached: nobody asks a checked end: the two verbs below are its own
    fn take_some(&mut self, most: usize, mut each: impl FnMut(T)) -> usize {
        let Self { end, checked } = self;
        end.take_some(most, |cell| checked.hand_out(cell, &mut each))
    }

    #[inline]
    fn take_from_lane(&mut self, most: usize, mut each: impl FnMut(T)) -> usize {
        let Self { end, checked } = self;
        end.take_from_lane(most, |cell| checked.hand_out(cell, &mut each))
    }

    #[inline]
    fn take_up_to(&mut self, most: usize, mut each: impl FnMut(T)) -> usize {
        let Self { end, checked } = self;
        let mut left = most;
        // How many were there when the first corrupt one was found, so that no producer keeps this here.
        let mut there = None;
        while left > 0 && there != Some(0) {
            let before = checked.corrupt;
            let passed =
                end.take_up_to(left.min(there.unwrap_or(left)), |cell| checked.hand_out(cell, &mut each));
            let corrupt = (checked.corrupt - before) as usize;
            left -= passed - corrupt;
            if corrupt == 0 {
                break;
            }
            there = Some(there.map_or_else(|| end.len(), |there| there - passed));
        }
        most - left
    }

    #[inline]
    fn take_into(&mut self, buffer: &mut [T]) -> usize {
        if M::ANY_BITS && is_own_wire::<M>() {
            let messages = self.checked.same.back_slice_mut(buffer);
            // SAFETY: an `M` is its own wire, and any bytes are one.
            return self.end.take_into(unsafe {
                slice::from_raw_parts_mut(messages.as_mut_ptr().cast(), messages.len())
            });
        }
        let mut free = buffer.iter_mut();
        self.take_up_to(free.len(), |value| *free.next().expect("no more than asked for") = value)
    }

    fn begin_round(&mut self) -> Round {
        self.end.begin_round()
    }

    fn next_in_round(&mut self, round: &mut Round) -> bool {
        self.end.next_in_round(round)
    }

    fn left_of_turn(&self) -> usize {
        self.end.left_of_turn()
    }

    fn lane_len(&mut self, most: usize) -> usize {
        self.end.lane_len(most)
    }

    fn settle(&mut self) -> bool {
        self.end.settle()
    }

    fn len(&self) -> usize {
        self.end.len()
    }
}

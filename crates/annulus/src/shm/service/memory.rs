//! [`Answers`]: the answers of a service, and what its clients write down of their questions: what lies in
//! its memory behind the lanes (`docs/SHM-FORMAT.md`, kind 11).
//!
//! Each place has an *answer slot* for each question that its client may have open: one of the slots that
//! broadcast rings are made of (`ring/slots.rs`). Question number `s` has slot `s` modulo the number of all
//! slots, so the next question of a slot has a number that is as much larger. The stamp of the slot says what
//! became of `s`: it is there, whole (slot.w4), or it is refused (the stamp of a number that was left out).
//!
//! Each place also has the *notes* of its client: the number at which the client began in its lane, and for
//! each slot the number of the next question, and the number of the last one in the lane. A client writes
//! it, and the next client of the place reads it.
// Decision 0164: the answer to each question has a slot of its own.

use core::mem::MaybeUninit;
use std::boxed::Box;
use std::sync::Arc;

use crate::base::index::Index;
use crate::base::sequence::{Sequence, Stamp};
use crate::memory::{Block, PlacedMemory};
use crate::message::Message;
use crate::ring::{Copied, Missing, Slots, Store, Value, Writers, Written, slots_layout, stride_for};
use crate::service::AnswerError;
use crate::sync::{AtomicU64, Ordering};

/// Each client has its own lines.
const LINES: usize = 128;

/// What the notes have for each slot, in words.
const NOTE_WORDS: usize = 2;

const WORD: usize = size_of::<u64>();

/// Threads of the server answer in any order.
const WRITERS: Writers = Writers::Many;

/// Where it lies.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    places: usize,
    /// How many slots each place has.
    open: usize,
    notes: usize,
    /// From the notes of one place to the next ones, in bytes.
    notes_bytes: usize,
    first_slot: usize,
    slots: core::alloc::Layout,
    /// From one slot to the next, in words.
    stride: usize,
    /// Where the memory ends.
    pub(super) end: usize,
}

impl Extent {
    /// Behind lanes that end at `lanes_end`, for answers of so many bytes. `None` if there can't be so many.
    pub(super) fn new(lanes_end: usize, places: usize, open: usize, answer_bytes: usize) -> Option<Self> {
        let notes = lanes_end.checked_next_multiple_of(LINES)?;
        let notes_of_slots = open.checked_mul(NOTE_WORDS * WORD)?.checked_next_multiple_of(LINES)?;
        let notes_bytes = notes_of_slots.checked_add(LINES)?;
        let first_slot = notes_bytes.checked_mul(places)?.checked_add(notes)?;
        let stride = stride_for(answer_bytes, WRITERS);
        let slots = slots_layout(stride, count(places, open)?)?;
        let end = first_slot.checked_add(slots.size())?;
        let end = isize::try_from(end).is_ok().then_some(end)?;
        Some(Self { places, open, notes, notes_bytes, first_slot, slots, stride, end })
    }
}

/// How many slots there are. Stamps of slots need two of them at least: in a slot of its own, the stamp of
/// the next number would be the one of a refusal.
fn count(places: usize, open: usize) -> Option<usize> {
    places.checked_mul(open).map(|count| count.max(2))
}

/// The slots and the notes of a service, as one of its processes has them.
pub(super) struct Answers<A: Message> {
    slots: Slots<Copied<A>>,
    /// Of all of them. The slots point to it.
    index: Box<Index>,
    extent: Extent,
    memory: Arc<PlacedMemory>,
    /// Keeps the memory, too.
    _store: Copied<A>,
}

impl<A: Message> Answers<A> {
    /// # Panics
    ///
    /// If it does not lie in the memory.
    pub(super) fn new(memory: &Arc<PlacedMemory>, extent: Extent) -> Self {
        assert!(extent.end <= memory.len() && memory.is_writable());
        let index = Box::new(Index::new(count(extent.places, extent.open).unwrap_or(usize::MAX)));
        let block = Block::shared(Arc::clone(memory), extent.first_slot, extent.slots);
        // SAFETY: all processes go by `docs/SHM-FORMAT.md`, which says that these words are accessed by
        // atomic operations. What is read is checked (`look`).
        let store = unsafe { Copied::over(block) };
        let slots = Slots::new(store.start(), &index, extent.stride, WRITERS);
        Self { slots, index, extent, memory: Arc::clone(memory), _store: store }
    }

    /// How many slots a place has.
    pub(super) fn open(&self) -> usize {
        self.extent.open
    }

    /// How many slots there are: from a question of a slot to the next one.
    pub(super) fn lap(&self) -> u64 {
        self.index.capacity() as u64
    }

    /// The first question of this slot of the place.
    pub(super) fn first_of(&self, place: usize, slot: usize) -> Sequence {
        Sequence::new((place * self.extent.open + slot) as u64)
    }

    /// The slot of this question among all slots, if it is one of the place.
    #[inline]
    pub(super) fn slot_of(&self, place: usize, number: Sequence) -> Option<usize> {
        let slot = self.index.of(number);
        let is_of_place = slot.wrapping_sub(place * self.extent.open) < self.extent.open;
        (is_of_place && number <= Sequence::LAST_BELIEVED).then_some(slot)
    }
}

/// Answer slots.
impl<A: Message> Answers<A> {
    /// slot.w1 to slot.w3 of the answer to this question, for the caller to publish.
    ///
    /// # Safety
    ///
    /// No other thread of this process writes to the slot meanwhile.
    #[inline]
    pub(super) unsafe fn write(&self, number: Sequence, answer: &A) -> Written<'_> {
        // SAFETY: the slots are in the memory, and were made for these writers. The caller promises the rest.
        unsafe { self.slots.write(WRITERS, number, answer) }
    }

    /// The question is refused.
    pub(super) fn refuse(&self, number: Sequence) {
        // service.refuse4. Release: pairs with service.free1: what the server has done with the question
        // comes before the next one of this slot.
        self.word(number).store(Stamp::left_out(number).bits(), Ordering::Release);
    }

    /// What became of this question, as its client sees it. `None`: nothing yet.
    #[inline]
    pub(super) fn look(&self, number: Sequence) -> Option<Result<A, AnswerError>> {
        let mut space = MaybeUninit::uninit();
        // SAFETY: the slots are in the memory.
        match unsafe { self.slots.read(number, &mut space) } {
            Ok(whole) => {
                Some(whole.checked().map(Value::take).map_err(|bad| AnswerError::Corrupt(bad.bad_value())))
            }
            Err((Missing::NotYet, _)) => None,
            // (Or another process has written what it must not.)
            Err((Missing::Overwritten, _)) => Some(Err(AnswerError::Refused)),
        }
    }

    /// Whether the question is answered or refused.
    #[inline]
    pub(super) fn is_over(&self, number: Sequence) -> bool {
        // service.free1. Acquire: pairs with slot.w4 and service.refuse4.
        let stamp = self.word(number).load(Ordering::Acquire);
        Stamp::from_bits(stamp) >= Stamp::done(number)
    }

    /// The stamp of the question's slot.
    #[inline]
    pub(super) fn word(&self, number: Sequence) -> &AtomicU64 {
        // SAFETY: the slots are in the memory, which this keeps.
        unsafe { self.slots.stamp_word(number) }
    }
}

/// What a client has written down of a slot.
pub(super) struct Note {
    /// The question that comes next. 0: none has come yet.
    pub(super) next: u64,
    /// The number of the last question in the lane.
    pub(super) sent: u64,
}

/// Notes.
impl<A: Message> Answers<A> {
    /// Where the client of this place has begun in its lane: who it is.
    #[inline]
    pub(super) fn client(&self, place: usize) -> u64 {
        // service.client3. Relaxed: pairs with service.join2. It is asked behind lane.take5 of a question,
        // so it is the number of that question's client, or of a later one.
        self.word_of(place, 0).load(Ordering::Relaxed)
    }

    /// A client has the place.
    pub(super) fn begin(&self, place: usize, first: u64) {
        // service.join2. Relaxed: lane.send3 of its first question orders it.
        self.word_of(place, 0).store(first, Ordering::Relaxed);
    }

    /// The client of the place is about to ask.
    #[inline]
    pub(super) fn note(&self, place: usize, slot: usize, note: &Note) {
        let at = LINES / WORD + NOTE_WORDS * slot;
        // service.ask2. Relaxed: pairs with service.join1.
        self.word_of(place, at + 1).store(note.sent, Ordering::Relaxed);
        // service.ask3. Release: pairs with service.join1. If the client dies between the two, the next one
        // finds the last question of the slot, and that no question was sent since.
        self.word_of(place, at).store(note.next, Ordering::Release);
    }

    /// What the client before has noted.
    pub(super) fn noted(&self, place: usize, slot: usize) -> Note {
        let at = LINES / WORD + NOTE_WORDS * slot;
        // service.join1. Acquire: pairs with service.ask3. The lock of the place comes between, too.
        let next = self.word_of(place, at).load(Ordering::Acquire);
        // Relaxed: pairs with service.ask2.
        Note { next, sent: self.word_of(place, at + 1).load(Ordering::Relaxed) }
    }

    /// A word of the notes of this place.
    #[inline]
    fn word_of(&self, place: usize, word: usize) -> &AtomicU64 {
        let offset = self.extent.notes + place * self.extent.notes_bytes + word * WORD;
        assert!(place < self.extent.places && word < self.extent.notes_bytes / WORD);
        // SAFETY: within the memory (asserted, and in `new`), which this keeps, at a multiple of 8; and all
        // processes access it by atomic operations.
        unsafe { AtomicU64::from_ptr(self.memory.base().as_ptr().wrapping_add(offset).cast()) }
    }
}

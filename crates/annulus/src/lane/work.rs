//! [`WorkLane`]: a lane between one writer and many readers, each of which may die at any moment.
//!
//! Each slot has a word, which says what is in it and whose it is. A reader claims a message there, under the
//! number of its *place*, and so a message that was claimed and not received can be found after its reader
//! has died. All of it lies in memory of several processes.
//!
//! ```text
//! writer, message n                                  reader in place p
//! work.send1  word: done?            Acquire         work.claim6  word: full(n)?             Acquire
//!    claimed: look at n + 1; full: no room           work.claim7  word: full(n) → claimed(n, p)
//! work.pass2  tail := n, if it passed any            work.push8   head: → n + 1, at least (a hint)
//! work.send3  move the message in                    work.take9   copy it out
//! work.send4  word := full(n)        Release         work.done10  word := done(n)            Release
//! work.send5  tail := n + 1          Release
//! ```
//!
//! *Why no slot has two users.* A slot that is done is the writer's, a full one nobody's, and a claimed one
//! belongs to the reader whose work.claim7 succeeded. Only the writer makes a done slot full, only one
//! work.claim7 makes a full one claimed, and only the reader's own process changes it then, as long as it has
//! the lock of its place.
//!
//! *A reader that holds a message holds up nobody.* The writer passes over its slot: that number will not be.
//! Readers pass over each number before the tail that is not full. So they go on behind claimed messages,
//! behind those that are done, and behind numbers that were passed over. The word is looked at again after
//! the tail (work.look11), because a writer makes the slot full before it moves the tail.
//!
//! *The head is a hint.* Each message before it was claimed once, or passed over. A reader that dies between
//! work.claim7 and work.push8 stops nobody, because any other one moves the head, too.
//!
//! *A message that is given again.* Its word becomes full once more, with the number of times that it was
//! given before (work.again13). It may lie before the head by now. So the one that does this counts up a word
//! beside the head (work.tell14), and each reader that finds another number there looks at all slots.
//!
//! *A death.* The lock of the place is free then, and a reader that takes it is the only one that changes
//! what the dead one has claimed (`sweep`). It writes each step down in the [`Ledger`] of the place before it
//! takes it. If it dies there, the next one that has the lock finds that, and finishes it. So no message is
//! given again twice for one claim, and the counts are exact.
//!
//! A number is 48 bits of its word, and may come again after 2^48 messages of a lane. Nothing depends on
//! that: what is full is a message that nobody has, whatever its number.
//!
//! Other processes may write anything. Each verb takes at most as many steps as there are slots.
// Decision 0166: the word of a slot says whose the message is.

use alloc::boxed::Box;
use alloc::sync::Arc;
#[cfg(not(annulus_loom))]
use core::alloc::Layout;
use core::marker::PhantomData;
use core::mem::{MaybeUninit, offset_of};
use core::ptr::NonNull;

use super::{Number, Numbers};
use crate::base::index::Index;
use crate::base::sequence::Sequence;
use crate::memory::Block;
use crate::sync::{AtomicU64, Ordering, UnsafeCell, ordering, seeded};

/// A slot. Memory that is all zero is an empty one.
#[repr(C)]
pub(crate) struct WorkSlot<T> {
    word: AtomicU64,
    value: UnsafeCell<MaybeUninit<T>>,
}

/// What lanes carry.
///
/// # Safety
///
/// If it lies [in part](Self::IN_PART) in its slot, any bytes are one.
pub(crate) unsafe trait Carried: Copy {
    /// Whether slots have the shape of a message that is known at run time. A slot then has as many of the
    /// first bytes of this, and what it does not have is 0.
    const IN_PART: bool;
}

// Decision 0169: one lane for types, and for sizes that are known at run time.
/// How slots lie in the memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotShape {
    /// From one slot to the next.
    stride: usize,
    alignment: usize,
    /// Where the message begins, behind the word.
    message_at: usize,
    message_bytes: usize,
}

/// Where the first slot of a lane lies: two lines, because processors fetch them in pairs.
#[cfg(not(annulus_loom))]
const ALIGNMENT: usize = 128;

impl SlotShape {
    /// Of a type's slots, as the compiler lays them out.
    pub(crate) const fn of<T>() -> Self {
        Self {
            stride: size_of::<WorkSlot<T>>(),
            alignment: align_of::<WorkSlot<T>>(),
            message_at: offset_of!(WorkSlot<T>, value),
            message_bytes: size_of::<T>(),
        }
    }

    /// Of the slots of a type that has so many bytes and this alignment. `None`: there is no such type.
    #[cfg(not(annulus_loom))]
    pub(crate) fn described(message_bytes: usize, alignment: usize) -> Option<Self> {
        const WORD: usize = size_of::<AtomicU64>();
        if !alignment.is_power_of_two() || message_bytes % alignment != 0 {
            return None;
        }
        let message_at = WORD.next_multiple_of(alignment);
        let alignment = alignment.max(WORD);
        let stride = message_at.checked_add(message_bytes)?.checked_next_multiple_of(alignment)?;
        Some(Self { stride, alignment, message_at, message_bytes })
    }

    /// From one slot to the next, in bytes.
    #[cfg(not(annulus_loom))]
    pub(crate) fn stride(self) -> usize {
        self.stride
    }

    /// Whether a `T` may lie in such slots: as the compiler lays them out, or as a whole message in part of
    /// the `T`.
    pub(crate) fn is_for<T: Carried>(self) -> bool {
        let own = Self::of::<T>();
        if T::IN_PART { self.message_bytes <= own.message_bytes } else { self == own }
    }

    /// Of the memory of so many slots; `None` if there can't be so much.
    #[cfg(not(annulus_loom))]
    pub(crate) fn layout(self, count: usize) -> Option<Layout> {
        let bytes = self.stride.checked_mul(count)?;
        Some(Layout::from_size_align(bytes, self.alignment.max(ALIGNMENT)).ok()?.pad_to_align())
    }
}

/// The word of a slot:
///
/// | bits | meaning |
/// | --- | --- |
/// | 0 to 1 | 1: full, 2: claimed, 3: done |
/// | 2 to 11 | claimed: the place of its reader |
/// | 12 to 15 | how often the message was given before, 15 at most |
/// | 16 to 63 | the message's number and one more, modulo 2^48 |
///
/// All of it 0: no message was there yet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct SlotWord(u64);

const STATE: u64 = 3;
const FULL: u64 = 1;
const CLAIMED: u64 = 2;
const DONE: u64 = 3;
const PLACE_SHIFT: u32 = 2;
const PLACES: u64 = 1 << 10;
const GIVEN_SHIFT: u32 = 12;
const MOST_GIVEN: u64 = 15;
const NUMBER_SHIFT: u32 = 16;

impl SlotWord {
    fn done(number: Number) -> Self {
        Self(number.next().get() << NUMBER_SHIFT | DONE)
    }

    fn full(number: Number) -> Self {
        Self(number.next().get() << NUMBER_SHIFT | FULL)
    }

    fn is_full(self) -> bool {
        self.0 & STATE == FULL
    }

    /// The place of the reader that has claimed it.
    pub(crate) fn claimed_by(self) -> Option<usize> {
        (self.0 & STATE == CLAIMED).then_some((self.0 >> PLACE_SHIFT) as usize & (PLACES as usize - 1))
    }

    /// How often the message was given before.
    pub(crate) fn given(self) -> u64 {
        self.0 >> GIVEN_SHIFT & MOST_GIVEN
    }

    /// Whether it is of this message.
    fn is_of(self, number: Number) -> bool {
        self.0 != 0 && self.0 >> NUMBER_SHIFT == Self::full(number).0 >> NUMBER_SHIFT
    }

    /// As this, claimed in that place.
    fn claimed(self, place: usize) -> Self {
        let kept = self.0 & !(STATE | (PLACES - 1) << PLACE_SHIFT);
        Self(kept | (place as u64 & (PLACES - 1)) << PLACE_SHIFT | CLAIMED)
    }

    /// As this, done.
    fn finished(self) -> Self {
        Self(self.0 >> NUMBER_SHIFT << NUMBER_SHIFT | DONE)
    }

    /// As this, full once more.
    fn given_again(self) -> Self {
        let given = (self.given() + 1).min(MOST_GIVEN);
        Self(self.0 >> NUMBER_SHIFT << NUMBER_SHIFT | given << GIVEN_SHIFT | FULL)
    }
}

/// A message that a reader has claimed: where it is, and what its word says.
#[derive(Clone, Copy)]
pub(crate) struct ClaimedSlot {
    slot: usize,
    word: SlotWord,
}

impl ClaimedSlot {
    /// How often the message was given before.
    pub(crate) fn given(&self) -> u64 {
        self.word.given()
    }
}

/// What a reader finds in a lane, or in some.
pub(crate) enum InLane<F> {
    /// This.
    There(F),
    /// Nothing.
    Nothing,
    /// Nothing so far: there may be more.
    More,
}

/// One lane, as a process has it.
pub(crate) struct WorkLane<T> {
    /// Where its slots lie.
    block: Block,
    shape: SlotShape,
    index: Index,
    numbers: NonNull<Numbers>,
    /// What is in the block.
    messages: PhantomData<MaybeUninit<T>>,
}

// SAFETY: the pointer stands for a shared borrow of atomics, which live as long as this (see `over`).
// Messages are copied in by one thread, and out by another.
unsafe impl<T: Send> Send for WorkLane<T> {}
// SAFETY: as above; a slot has one user at a time (see the top of this file).
unsafe impl<T: Send> Sync for WorkLane<T> {}

impl<T: Carried> WorkLane<T> {
    /// A lane of `count` slots of this shape.
    ///
    /// # Panics
    ///
    /// If a `T` has another shape, or is shorter than a message of that shape.
    ///
    /// # Safety
    ///
    /// The numbers, and [so much memory](SlotShape::layout) in the block, live as long as this, and can be
    /// written to. They were zero at first, or the slots are `WorkSlot`s, and all processes go by the steps
    /// above, or else any bytes are a `T`.
    pub(crate) unsafe fn over(
        block: Block,
        shape: SlotShape,
        count: usize,
        numbers: NonNull<Numbers>,
    ) -> Self {
        assert!(shape.is_for::<T>() && count > 0, "{shape:?} is not of {:?}", SlotShape::of::<T>());
        Self { block, shape, index: Index::new(count), numbers, messages: PhantomData }
    }

    pub(crate) fn capacity(&self) -> usize {
        self.index.capacity()
    }

    fn numbers(&self) -> &Numbers {
        // SAFETY: they live as long as this.
        unsafe { self.numbers.as_ref() }
    }

    fn slot_of(&self, number: Number) -> usize {
        self.index.of(Sequence::new(number.get()))
    }

    /// Where a slot begins.
    #[inline]
    fn start_of(&self, slot: usize) -> NonNull<u8> {
        assert!(slot < self.capacity());
        let stride = if T::IN_PART { self.shape.stride } else { size_of::<WorkSlot<T>>() };
        // SAFETY: below the capacity, so within the block.
        unsafe { self.block.start().add(slot * stride) }
    }

    #[inline]
    fn word(&self, slot: usize) -> &AtomicU64 {
        // SAFETY: a slot of any shape begins with its word, and lives as long as this.
        unsafe { self.start_of(slot).cast().as_ref() }
    }

    /// A whole slot, of messages that do not lie there in part.
    #[inline]
    fn slot(&self, slot: usize) -> &WorkSlot<T> {
        // SAFETY: as above; the shape is a `WorkSlot<T>`'s (see `over`).
        unsafe { self.start_of(slot).cast().as_ref() }
    }

    /// Where the bytes of a message begin in a slot. There are as many as the shape says.
    #[inline]
    fn bytes_of(&self, slot: usize) -> NonNull<u8> {
        // SAFETY: within the slot.
        unsafe { self.start_of(slot).add(self.shape.message_at) }
    }

    /// The word of a slot.
    #[inline]
    fn load(&self, slot: usize) -> SlotWord {
        // work.send1, work.claim6, work.look11. Acquire: pairs with work.done10, so that the copy of the
        // message before comes before the next one; and with work.send4 and work.again13.
        SlotWord(self.word(slot).load(ordering!(Acquire unless "work_look_relaxed")))
    }

    /// The next message that is sent, if no writer is in the lane.
    fn tail(&self) -> Number {
        // Acquire: pairs with work.send5 and work.pass2.
        Number::new(self.numbers().tail_word().load(Ordering::Acquire))
    }

    /// How many messages may wait: those behind the head that are not passed over. Messages that are given
    /// again are not among them. Never above the capacity.
    #[cfg(not(annulus_loom))]
    pub(crate) fn len(&self) -> usize {
        let (head, tail) = (self.head(), self.tail());
        let waiting = if head.is_before(tail) { tail.since(head) } else { 0 };
        waiting.min(self.capacity() as u64) as usize
    }

    /// Where the head is: the messages before it were claimed.
    pub(crate) fn head(&self) -> Number {
        // Relaxed: a hint. The words decide.
        Number::new(self.numbers().head_word().load(Ordering::Relaxed))
    }

    /// Behind the last message that was sent.
    #[cfg(not(annulus_loom))]
    pub(crate) fn end(&self) -> Number {
        self.tail()
    }
}

/// The writer.
impl<T: Carried> WorkLane<T> {
    /// Where a writer that comes goes on. (Called by the one that has the lock of the lane.)
    pub(crate) fn resume(&self) -> Number {
        let tail = self.tail();
        // The writer before may have died between work.send4 and work.send5.
        let was_sent = self.load(self.slot_of(tail)).is_of(tail) && !seeded!("work_sent_again");
        if was_sent {
            self.move_tail(tail.next());
            return tail.next();
        }
        tail
    }

    /// work.send1: the number of the next message, which is at `tail` or behind slots that readers hold.
    /// `None`: there is no room. O(slots that readers hold).
    #[inline]
    pub(crate) fn free_number(&self, tail: Number) -> Option<Number> {
        let mut number = tail;
        for _ in 0..self.capacity() {
            let word = self.load(self.slot_of(number));
            if word.claimed_by().is_none() {
                return (!word.is_full() || seeded!("work_overwrites")).then_some(number);
            }
            number = number.next();
        }
        None
    }

    /// work.pass2 to work.send5, of message `number`.
    ///
    /// # Safety
    ///
    /// The caller is the one writer, its next message is `tail`, and
    /// [`free_number`](Self::free_number) has returned this `number` since its last send.
    #[inline]
    pub(crate) unsafe fn send(&self, tail: Number, number: Number, value: T) {
        if number != tail {
            // work.pass2.
            self.move_tail(number);
        }
        // SAFETY: the caller's promise.
        unsafe { self.fill(number, value) };
        // work.send5.
        self.move_tail(number.next());
    }

    /// work.send3 and work.send4.
    ///
    /// # Safety
    ///
    /// As of [`send`](Self::send).
    #[inline]
    unsafe fn fill(&self, number: Number, value: T) {
        let slot = self.slot_of(number);
        // work.send3. SAFETY: the slot is done, so it is the writer's.
        unsafe { self.put(slot, value) };
        // work.send4. Release: pairs with work.claim6 and work.claim7.
        self.word(slot).store(SlotWord::full(number).0, ordering!(Release unless "work_full_relaxed"));
    }

    /// Moves the message into a slot.
    ///
    /// # Safety
    ///
    /// The slot is the writer's.
    #[inline]
    unsafe fn put(&self, slot: usize, value: T) {
        if T::IN_PART {
            let bytes = self.shape.message_bytes;
            // SAFETY: the caller's promise; there is memory for so many bytes, and a `T` has them (see
            // `over`).
            unsafe { self.bytes_of(slot).copy_from(NonNull::from(&value).cast(), bytes) };
            return;
        }
        // SAFETY: the caller's promise.
        self.slot(slot).value.with_mut(|there| unsafe { (*there).write(value) });
    }

    /// work.pass2, work.send5.
    fn move_tail(&self, tail: Number) {
        // Release: pairs with the Acquire in `tail`. A reader that sees it sees which of the messages before
        // are full.
        self.numbers().tail_word().store(tail.get(), ordering!(Release unless "work_tail_relaxed"));
    }

    /// work.back12: takes message `number` back, which the caller has sent last, unless a reader has claimed
    /// it.
    pub(crate) fn take_back(&self, number: Number) -> bool {
        let (full, done) = (SlotWord::full(number).0, SlotWord::done(number).0);
        let word = self.word(self.slot_of(number));
        // Relaxed: pairs with work.claim7. Which of the two comes first decides, and the caller has the
        // value.
        word.compare_exchange(full, done, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

/// A reader.
impl<T: Carried> WorkLane<T> {
    /// The next message from the head on, and where its word is. Takes nothing.
    #[inline]
    fn next_full(&self) -> InLane<(Number, SlotWord)> {
        let head = self.head();
        let mut number = head;
        for _ in 0..=self.capacity() {
            let slot = self.slot_of(number);
            let mut word = self.load(slot);
            if !(word.is_full() && word.is_of(number)) {
                if !number.is_before(self.tail()) {
                    self.push_head(head, number);
                    return InLane::Nothing;
                }
                if !seeded!("work_no_second_look") {
                    // work.look11: behind the tail.
                    word = self.load(slot);
                }
            }
            if word.is_full() && word.is_of(number) {
                self.push_head(head, number);
                return InLane::There((number, word));
            }
            number = number.next();
        }
        self.push_head(head, number);
        InLane::More
    }

    /// work.push8: from where the caller has found it, because all between was claimed or passed over.
    #[inline]
    fn push_head(&self, head: Number, to: Number) {
        if head != to {
            // Relaxed: a hint, as in `head`. If another one was faster, it stays.
            let (head, to) = (head.get(), to.get());
            let _ =
                self.numbers().head_word().compare_exchange(head, to, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// work.claim6 to work.push8: claims the next message.
    #[inline]
    fn claim(&self, place: usize) -> InLane<ClaimedSlot> {
        for _ in 0..=self.capacity() {
            let (number, word) = match self.next_full() {
                InLane::There(found) => found,
                InLane::Nothing => return InLane::Nothing,
                InLane::More => return InLane::More,
            };
            if let Some(claimed) = self.claim_slot(self.slot_of(number), word, place) {
                self.push_head(number, number.next());
                return InLane::There(claimed);
            }
            // Others were faster.
        }
        // Unreached: others are faster at each look: threads have to meet there
        InLane::More
    }

    /// work.claim7.
    #[inline]
    fn claim_slot(&self, slot: usize, word: SlotWord, place: usize) -> Option<ClaimedSlot> {
        let claimed = word.claimed(place);
        let shared = self.word(slot);
        if seeded!("work_claim_not_atomic") {
            shared.store(claimed.0, Ordering::Release);
            return Some(ClaimedSlot { slot, word: claimed });
        }
        // Acquire: pairs with work.send4, and on from there with each change of the word by others. Relaxed
        // in a failure: the caller looks again.
        let won = shared.compare_exchange(word.0, claimed.0, Ordering::Acquire, Ordering::Relaxed);
        won.is_ok().then_some(ClaimedSlot { slot, word: claimed })
    }

    /// Claims a message wherever it lies: one that was given before, for a reader that was told of one
    /// (work.tell14); or any, at the end. O(capacity).
    #[cold]
    fn claim_any(&self, place: usize, is_end: bool) -> Option<ClaimedSlot> {
        (0..self.capacity()).find_map(|slot| {
            let word = self.load(slot);
            let is_wanted = word.is_full() && (is_end || word.given() > 0);
            is_wanted.then(|| self.claim_slot(slot, word, place)).flatten()
        })
    }

    /// Whether a message waits that was given before. O(capacity).
    #[cfg(not(annulus_loom))]
    #[cold]
    fn has_given(&self) -> bool {
        (0..self.capacity()).map(|slot| self.load(slot)).any(|word| word.is_full() && word.given() > 0)
    }

    /// work.take9: a copy of the message.
    ///
    /// # Safety
    ///
    /// The slot is of this lane, and of the caller's place, and neither done nor given up.
    #[inline]
    pub(crate) unsafe fn value(&self, claimed: &ClaimedSlot) -> T {
        if T::IN_PART {
            let (mut message, bytes) = (MaybeUninit::<T>::zeroed(), self.shape.message_bytes);
            // SAFETY: so many bytes are there (see `over`), and as below.
            unsafe { self.bytes_of(claimed.slot).copy_to(NonNull::from(&mut message).cast(), bytes) };
            // SAFETY: any bytes are one.
            return unsafe { message.assume_init() };
        }
        // SAFETY: a writer has written it (work.send3), and as long as it is claimed nobody changes it. (In
        // memory where another process writes what it likes, the bytes are there, and any are a `T`.)
        self.slot(claimed.slot).value.with(|there| unsafe { (*there).assume_init_read() })
    }

    /// work.done10: the message is received.
    #[inline]
    pub(crate) fn done(&self, claimed: ClaimedSlot) {
        // Release: pairs with work.send1. The copy of the message comes before the next one.
        let word = self.word(claimed.slot);
        word.store(claimed.word.finished().0, ordering!(Release unless "work_done_relaxed"));
    }

    /// What is left where no message is sent any more: [`There`](InLane::There) is one that a reader holds,
    /// as `may_hold` says of its place, and [`More`](InLane::More) one that can be claimed, or was a moment
    /// ago. Each slot says in one look whether it has a message or is held: one that is given back beside
    /// this is not missed. O(capacity).
    #[cfg(not(annulus_loom))]
    pub(crate) fn left_at_end(&self, may_hold: impl Fn(usize) -> bool) -> InLane<()> {
        for slot in 0..self.capacity() {
            let word = self.load(slot);
            match word.claimed_by() {
                Some(place) if may_hold(place) => return InLane::There(()),
                // Its reader may have given it back, and left, behind the look at the word.
                Some(_) if self.load(slot) != word => return InLane::More,
                None if word.is_full() => return InLane::More,
                _ => {}
            }
        }
        InLane::Nothing
    }

    /// work.tell14: how often readers were told to look at all slots.
    #[inline]
    fn told(&self) -> u64 {
        // Acquire: pairs with the Release in `change`.
        self.numbers().again_word().load(Ordering::Acquire)
    }

    /// work.again13 and work.tell14: the message of this slot is given again, or dropped. (Again does no
    /// harm.)
    fn change(&self, claimed: ClaimedSlot, is_dropped: bool) {
        let next = if is_dropped { claimed.word.finished() } else { claimed.word.given_again() };
        let word = self.word(claimed.slot);
        // work.again13. Release: pairs with work.claim6, or with work.send1. The one before may have copied
        // the message. If the word is another one, this was done before.
        let _ = word.compare_exchange(claimed.word.0, next.0, Ordering::AcqRel, Ordering::Relaxed);
        if !is_dropped && !seeded!("work_again_untold") {
            // work.tell14. Release: pairs with the Acquire in `told`.
            self.numbers().again_word().fetch_add(1, Ordering::Release);
        }
    }
}

/// What was given again of the messages of a place, or dropped, and the step that is taken just now. Only the
/// process that has the lock of the place writes it, one thread at a time. Zero at first.
#[repr(C, align(64))]
pub(crate) struct Ledger {
    given_again: AtomicU64,
    dropped: AtomicU64,
    /// How many readers had come to the place when it was found that none of theirs is claimed.
    swept: AtomicU64,
    /// The step: which slot of all, ...
    slot: AtomicU64,
    /// ... what its count is after that, and [`IS_DROPPED`]; ...
    count: AtomicU64,
    /// ... and the claimed word that is changed. 0: no step.
    claimed: AtomicU64,
}

/// The step drops the message.
const IS_DROPPED: u64 = 1 << 63;

impl Ledger {
    #[cfg(annulus_loom)]
    fn zeroed() -> Self {
        let zero = || AtomicU64::new(0);
        Self {
            given_again: zero(),
            dropped: zero(),
            swept: zero(),
            slot: zero(),
            count: zero(),
            claimed: zero(),
        }
    }

    /// How many messages were given again, and how many dropped.
    pub(crate) fn counts(&self) -> [u64; 2] {
        // Relaxed: numbers for statistics; work.note16.
        [&self.given_again, &self.dropped].map(|count| count.load(Ordering::Relaxed))
    }

    /// How many readers had come to the place when it was swept last.
    #[cfg(not(annulus_loom))]
    pub(crate) fn swept(&self) -> u64 {
        // Acquire: pairs with work.swept17.
        self.swept.load(Ordering::Acquire)
    }

    /// work.swept17: of so many readers that have come nothing is claimed.
    #[cfg(not(annulus_loom))]
    pub(crate) fn set_swept(&self, came: u64) {
        // Release: pairs with the Acquire in `swept`.
        self.swept.store(came, Ordering::Release);
    }

    /// work.note15, and then work.again13 to work.note16.
    fn take_step<T: Carried>(
        &self,
        lanes: &[WorkLane<T>],
        lane: usize,
        claimed: ClaimedSlot,
        is_dropped: bool,
    ) {
        let (all, flag) = if is_dropped { (&self.dropped, IS_DROPPED) } else { (&self.given_again, 0) };
        let slot = (lane * lanes[lane].capacity() + claimed.slot) as u64;
        // Relaxed: a thread that reads it comes after this one by the lock, or is this thread.
        let count = all.load(Ordering::Relaxed).wrapping_add(1) & !IS_DROPPED | flag;
        self.slot.store(slot, Ordering::Relaxed);
        self.count.store(count, Ordering::Relaxed);
        // work.note15. Release: pairs with work.redo18. It comes behind both, and before the step.
        self.claimed.store(claimed.word.0, Ordering::Release);
        self.finish_step(lanes);
    }

    /// work.redo18: takes the step that is written down, if there is one. Once more does no harm.
    fn finish_step<T: Carried>(&self, lanes: &[WorkLane<T>]) {
        // Acquire: pairs with work.note15.
        let word = SlotWord(self.claimed.load(Ordering::Acquire));
        // Relaxed: written before that.
        let slot = self.slot.load(Ordering::Relaxed) as usize;
        let count = self.count.load(Ordering::Relaxed);
        let capacity = lanes[0].capacity();
        // (Any numbers may lie there.)
        if word.claimed_by().is_some() && slot / capacity < lanes.len() {
            let is_dropped = count & IS_DROPPED != 0;
            lanes[slot / capacity].change(ClaimedSlot { slot: slot % capacity, word }, is_dropped);
            let all = if is_dropped { &self.dropped } else { &self.given_again };
            // work.note16. Relaxed: as in `counts`.
            all.store(count & !IS_DROPPED, Ordering::Relaxed);
        }
        // Release: behind the count. A step is counted once, because what is counted is written down.
        self.claimed.store(0, Ordering::Release);
    }

    // Decision 0167: under the lock of the place.
    /// The reader that had this place is gone, and the caller has its lock: what it had claimed is given
    /// again, or dropped. How many messages. O(all slots).
    pub(crate) fn sweep<T: Carried>(&self, lanes: &[WorkLane<T>], place: usize, is_dropped: bool) -> u64 {
        if !seeded!("work_step_forgotten") {
            self.finish_step(lanes);
        }
        let mut count = 0;
        for (number, lane) in lanes.iter().enumerate() {
            for slot in 0..lane.capacity() {
                let word = lane.load(slot);
                if word.claimed_by() == Some(place) {
                    self.take_step(lanes, number, ClaimedSlot { slot, word }, is_dropped);
                    count += 1;
                }
            }
        }
        count
    }
}

/// The lanes, as one reader has them.
pub(crate) struct WorkReader<T> {
    lanes: Arc<[WorkLane<T>]>,
    place: usize,
    /// Of each lane: how often it was told to look at all slots when it found nothing there.
    told: Box<[u64]>,
    /// The lane that is looked at first.
    turn: usize,
    /// How many messages it may give before another one has its turn.
    left_of_turn: u32,
}

/// So many messages of a lane in a row, where others have some.
const TURN: u32 = 64;

impl<T: Carried> WorkReader<T> {
    /// Of the reader that has this place.
    pub(crate) fn new(lanes: Arc<[WorkLane<T>]>, place: usize) -> Self {
        // It looks once at each, because nobody told it of what was before.
        let told = lanes.iter().map(|lane| lane.told().wrapping_sub(1)).collect();
        Self { lanes, place, told, turn: 0, left_of_turn: TURN }
    }

    /// Claims a message of the first `used` lanes, with the number of its lane.
    #[inline]
    pub(crate) fn claim(&mut self, used: usize) -> InLane<(usize, ClaimedSlot)> {
        let used = used.min(self.lanes.len());
        let mut has_more = false;
        if self.left_of_turn == 0 {
            (self.turn, self.left_of_turn) = (self.turn + 1, TURN);
        }
        let mut lane = self.turn;
        for _ in 0..used {
            if lane >= used {
                lane = 0;
            }
            match self.claim_of(lane) {
                InLane::There(claimed) => {
                    if lane != self.turn {
                        (self.turn, self.left_of_turn) = (lane, TURN);
                    }
                    self.left_of_turn -= 1;
                    return InLane::There((lane, claimed));
                }
                InLane::Nothing => {}
                InLane::More => has_more = true,
            }
            lane += 1;
        }
        if has_more { InLane::More } else { InLane::Nothing }
    }

    #[inline]
    fn claim_of(&mut self, number: usize) -> InLane<ClaimedSlot> {
        let lane = &self.lanes[number];
        let told = lane.told();
        if told != self.told[number] {
            if let Some(claimed) = lane.claim_any(self.place, false) {
                return InLane::There(claimed);
            }
            self.told[number] = told;
        }
        lane.claim(self.place)
    }

    /// Whether a [`claim`](Self::claim) would find more than "nothing". O(all slots) where it was told to
    /// look at them.
    #[cfg(not(annulus_loom))]
    pub(crate) fn may_claim(&mut self, used: usize) -> bool {
        let lanes = self.lanes.iter().zip(&mut self.told).take(used);
        lanes.into_iter().any(|(lane, seen)| {
            let told = lane.told();
            if told != *seen {
                if lane.has_given() {
                    return true;
                }
                *seen = told;
            }
            !matches!(lane.next_full(), InLane::Nothing)
        })
    }

    /// Claims a message of any lane, wherever it lies. O(all slots).
    #[cfg(not(annulus_loom))]
    #[cold]
    pub(crate) fn claim_last(&self) -> Option<(usize, ClaimedSlot)> {
        let mut lanes = self.lanes.iter().enumerate();
        lanes.find_map(|(number, lane)| lane.claim_any(self.place, true).map(|claimed| (number, claimed)))
    }

    /// Gives a message again that this reader has claimed, and not received. (One thread at a time.)
    pub(crate) fn give_back(lanes: &[WorkLane<T>], ledger: &Ledger, lane: usize, claimed: ClaimedSlot) {
        ledger.take_step(lanes, lane, claimed, false);
    }
}

/// A queue that threads share in place of processes, for a model.
#[cfg(annulus_loom)]
mod model {
    use alloc::boxed::Box;
    use alloc::sync::Arc;
    use alloc::vec::Vec;
    use core::mem::MaybeUninit;
    use core::ptr::NonNull;

    use super::{Carried, ClaimedSlot, InLane, Ledger, SlotShape, WorkLane, WorkReader, WorkSlot};
    use crate::base::allocation::Before;
    use crate::lane::{Cells, Number, Numbers};
    use crate::memory::{Block, Memory};
    use crate::sync::{AtomicBool, AtomicU64, Ordering, UnsafeCell};

    // SAFETY: it lies there as it is.
    unsafe impl Carried for u64 {
        const IN_PART: bool = false;
    }

    /// What the processes share.
    struct Shared {
        lanes: Arc<[WorkLane<u64>]>,
        /// The lanes point to them.
        cells: Cells<WorkSlot<u64>>,
        /// The lanes point to it.
        _numbers: Box<Numbers>,
        ledgers: Vec<Ledger>,
        /// Of each place of a reader, whether somebody has its lock.
        locks: Vec<AtomicBool>,
        is_dropped: bool,
    }

    impl Drop for Shared {
        fn drop(&mut self) {
            // SAFETY: made below, and nobody uses them any more.
            (0..self.cells.count()).for_each(|slot| unsafe { self.cells.drop_in_place(slot) });
        }
    }

    /// What writes.
    pub struct WorkWriter {
        shared: Arc<Shared>,
        tail: Number,
    }

    /// What reads, in a place of its own.
    pub struct WorkTaker {
        shared: Arc<Shared>,
        reader: WorkReader<u64>,
        place: usize,
    }

    /// One lane of so many slots, and readers. What dead ones held is given again, or dropped.
    ///
    /// # Panics
    ///
    /// If there is no memory.
    #[must_use]
    pub fn work_for_a_model(slots: usize, readers: usize, is_dropped: bool) -> (WorkWriter, Vec<WorkTaker>) {
        let numbers = Box::new(Numbers::zeroed());
        let cells: Cells<WorkSlot<u64>> = Cells::new(slots, &Memory::default(), Before::NOTHING).unwrap();
        for slot in 0..slots {
            let empty =
                WorkSlot { word: AtomicU64::new(0), value: UnsafeCell::new(MaybeUninit::<u64>::uninit()) };
            // SAFETY: below the count, and nobody else has it yet.
            unsafe { cells.slot(slot).write(empty) };
        }
        let block = Block::borrowed(cells.block().start());
        // SAFETY: the numbers and the slots live as long as the lane, in `Shared`.
        let lane = unsafe { WorkLane::over(block, SlotShape::of::<u64>(), slots, NonNull::from(&*numbers)) };
        let shared = Arc::new(Shared {
            lanes: Arc::from([lane]),
            cells,
            _numbers: numbers,
            ledgers: (0..readers).map(|_| Ledger::zeroed()).collect(),
            locks: (0..readers).map(|_| AtomicBool::new(true)).collect(),
            is_dropped,
        });
        let reader = |place| {
            let reader = WorkReader::new(Arc::clone(&shared.lanes), place);
            WorkTaker { shared: Arc::clone(&shared), reader, place }
        };
        let readers = (0..readers).map(reader).collect();
        (WorkWriter { shared, tail: Number::new(0) }, readers)
    }

    impl WorkWriter {
        /// Sends, if there is room.
        pub fn send(&mut self, value: u64) -> bool {
            let lane = &self.shared.lanes[0];
            let Some(number) = lane.free_number(self.tail) else { return false };
            // SAFETY: this is the one writer, and the slot was found free.
            unsafe { lane.send(self.tail, number, value) };
            self.tail = number.next();
            true
        }

        /// Dies behind work.send4. The next writer of the lane.
        ///
        /// # Panics
        ///
        /// If there is no room.
        #[must_use]
        pub fn dies_sending(self, value: u64) -> Self {
            let lane = &self.shared.lanes[0];
            let number = lane.free_number(self.tail).expect("there is room");
            // SAFETY: as in `send`.
            unsafe { lane.fill(number, value) };
            let tail = lane.resume();
            Self { shared: Arc::clone(&self.shared), tail }
        }

        /// Takes the message back that was sent last. False: a reader has it.
        #[must_use]
        pub fn takes_back(&self) -> bool {
            self.shared.lanes[0].take_back(self.tail.back(1))
        }
    }

    impl WorkTaker {
        fn claim(&mut self) -> Option<(u64, ClaimedSlot)> {
            match self.reader.claim(1) {
                InLane::There((_, claimed)) => {
                    // SAFETY: claimed just now.
                    let value = unsafe { self.shared.lanes[0].value(&claimed) };
                    Some((value, claimed))
                }
                InLane::Nothing | InLane::More => None,
            }
        }

        /// Receives a message, if one is there, with how often it was given before.
        pub fn take(&mut self) -> Option<(u64, u64)> {
            let (value, claimed) = self.claim()?;
            self.shared.lanes[0].done(claimed);
            Some((value, claimed.given()))
        }

        /// Claims a message, and gives it back.
        pub fn gives_back(&mut self) -> Option<u64> {
            let (value, claimed) = self.claim()?;
            WorkReader::give_back(&self.shared.lanes, &self.shared.ledgers[self.place], 0, claimed);
            Some(value)
        }

        /// Claims a message, if one is there, and dies.
        #[must_use]
        pub fn dies(mut self) -> Option<u64> {
            let claimed = self.claim();
            // An exchange, because loom would let a later one miss a store.
            self.shared.locks[self.place].swap(false, Ordering::AcqRel);
            claimed.map(|(value, _)| value)
        }

        /// Writes down that it gives its message again, and dies before or after that, and before it counts
        /// it.
        #[must_use]
        pub fn dies_giving(mut self, is_done: bool) -> Option<u64> {
            let claimed = self.claim();
            if let Some((_, claimed)) = claimed {
                let ledger = &self.shared.ledgers[self.place];
                ledger.slot.store(claimed.slot as u64, Ordering::Relaxed);
                ledger.count.store(1, Ordering::Relaxed);
                ledger.claimed.store(claimed.word.0, Ordering::Release);
                if is_done {
                    self.shared.lanes[0].change(claimed, false);
                }
            }
            self.shared.locks[self.place].swap(false, Ordering::AcqRel);
            claimed.map(|(value, _)| value)
        }

        /// Looks after what the reader of this place held, if it is dead; and says whether it is.
        #[must_use]
        pub fn sweep(&self, place: usize) -> bool {
            if self.shared.locks[place].swap(true, Ordering::AcqRel) {
                return false;
            }
            self.shared.ledgers[place].sweep(&self.shared.lanes, place, self.shared.is_dropped);
            self.shared.locks[place].swap(false, Ordering::AcqRel);
            true
        }

        /// How many messages of a place were given again, and how many dropped.
        #[must_use]
        pub fn counts(&self, place: usize) -> [u64; 2] {
            self.shared.ledgers[place].counts()
        }
    }
}

#[cfg(annulus_loom)]
pub use model::{WorkTaker, WorkWriter, work_for_a_model};

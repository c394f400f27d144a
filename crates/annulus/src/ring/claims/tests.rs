//! Tests of [`Claims`](super::Claims) that force the order of two publishers: one does something in the
//! middle of the other one's claim.
#![allow(clippy::disallowed_types, reason = "a test")]

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use std::sync::Mutex;

use super::{CLOSED, Claims, Fellows};
use crate::base::sequence::{Sequence, Stamp};
use crate::ring::claim::{ClaimOwner, ClaimWord};
use crate::ring::shown::Shown;
use crate::sync::{AtomicU64, Ordering};

const CAPACITY: usize = 4;
/// A stamp, a payload, a word for nothing, and the claim.
const STRIDE: usize = 4;
const PLACES: usize = 3;

/// What processes share.
struct Memory {
    shown: Box<Shown>,
    slots: Vec<AtomicU64>,
    intents: Vec<AtomicU64>,
    /// Which places nobody has.
    gone: Mutex<[bool; PLACES]>,
}

impl Memory {
    fn new() -> Arc<Self> {
        let words = |count| core::iter::repeat_with(|| AtomicU64::new(0)).take(count).collect();
        // SAFETY: it is made of atomics only, which are zero at first.
        let shown = unsafe { MaybeUninit::<Shown>::zeroed().assume_init() };
        Arc::new(Self {
            shown: Box::new(shown),
            slots: words(CAPACITY * STRIDE),
            intents: words(PLACES),
            gone: Mutex::default(),
        })
    }

    /// The claims, as a process has them. `between` runs once, in the middle of a claim: the message was
    /// chosen, and is claimed next.
    fn seen_with(self: &Arc<Self>, between: impl FnOnce() + Send + 'static) -> Claims {
        let process = Process { memory: Arc::clone(self), between: Mutex::new(Some(Box::new(between))) };
        let (shown, slots) = (NonNull::from(&*self.shown), NonNull::from(&self.slots[0]));
        // SAFETY: the process keeps the memory; so many slots are in it. They are atomics.
        unsafe { Claims::new(shown, (slots, STRIDE, CAPACITY), true, process, || false) }
    }

    fn seen(self: &Arc<Self>) -> Claims {
        self.seen_with(|| {})
    }

    fn owner(&self, sequence: u64) -> ClaimOwner {
        let word = &self.slots[sequence as usize % CAPACITY * STRIDE + STRIDE - 1];
        let claim = ClaimWord::of_bits(word.load(Ordering::Relaxed), Sequence::new(sequence));
        assert!(claim.owner == ClaimOwner::Nobody || claim.sequence == Sequence::new(sequence));
        claim.owner
    }

    fn is_there(&self, sequence: Sequence) {
        let stamp = &self.slots[sequence.get() as usize % CAPACITY * STRIDE];
        stamp.store(Stamp::done(sequence).bits(), Ordering::Relaxed);
    }

    /// One more than the first message that will never be; 0 while the ring is open.
    fn end(&self) -> u64 {
        self.shown.end.word.load(Ordering::Relaxed)
    }
}

/// One of them.
struct Process {
    memory: Arc<Memory>,
    between: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Fellows for Process {
    fn count(&self) -> usize {
        PLACES
    }

    fn is_gone(&self, place: usize) -> bool {
        self.memory.gone.lock().unwrap()[place]
    }

    fn intent(&self, place: usize) -> &AtomicU64 {
        let between = self.between.lock().unwrap().take();
        if let Some(between) = between {
            between();
        }
        &self.memory.intents[place]
    }
}

/// Somebody closes the ring after a publisher has chosen its message, and before it claims that. The ring
/// ends before the message, so the publisher takes its claim back: nobody may wait for it.
#[test]
fn a_claim_behind_the_end_is_taken_back() {
    let memory = Memory::new();
    let first = memory.seen().claim(0, Sequence::FIRST).unwrap();
    memory.is_there(first);
    let closer = memory.seen();
    let publisher = memory.seen_with(move || closer.close());
    assert_eq!(publisher.claim(1, Sequence::FIRST), None);
    assert_eq!((memory.owner(1), memory.end()), (ClaimOwner::Lost, 2));
    let seen = memory.seen();
    assert_eq!(seen.claimed(), Sequence::new(1), "it ends behind the first");
    assert!(seen.never_comes(Sequence::new(1)));
    // The same for whoever has the place next: nothing is open there.
    assert!(!seen.finish_for_last_owner(1));
}

/// The closer has set its bit, and has not decided where the ring ends: it is stopped, or dead. The publisher
/// decides that itself, by its own claim: the message belongs to the ring.
#[test]
fn a_claim_before_the_end_is_decided_belongs_to_the_ring() {
    let memory = Memory::new();
    let stopped = Arc::clone(&memory);
    let publisher = memory.seen_with(move || {
        stopped.shown.head().fetch_or(CLOSED, Ordering::AcqRel);
    });
    assert_eq!(publisher.claim(1, Sequence::FIRST), Some(Sequence::FIRST));
    assert_eq!((memory.owner(0), memory.end()), (ClaimOwner::Place(1), 2));
    // The closer goes on.
    let closer = memory.seen();
    closer.close();
    assert_eq!((memory.end(), closer.claimed()), (2, Sequence::new(1)));
    assert!(!closer.never_comes(Sequence::FIRST), "who has claimed it lives");
    assert_eq!(closer.claim(0, Sequence::FIRST), None);
}

/// The other two orders of a close and of another publisher: a close after the head was moved on takes
/// nothing back, and the faster of two publishers has the message.
#[test]
fn who_is_faster_has_the_message() {
    let memory = Memory::new();
    let faster = memory.seen();
    let publisher = memory.seen_with(move || {
        assert_eq!(faster.claim(2, Sequence::FIRST), Some(Sequence::FIRST));
        faster.close();
    });
    // Its message is claimed, and there is none behind that.
    assert_eq!(publisher.claim(1, Sequence::FIRST), None);
    assert_eq!(
        (memory.owner(0), memory.owner(1), memory.end()),
        (ClaimOwner::Place(2), ClaimOwner::Nobody, 2)
    );
}

/// Only a message that is claimed and not there, by whoever is gone, holds up who waits for it.
#[test]
fn what_is_stuck() {
    let memory = Memory::new();
    let seen = memory.seen();
    assert!(!seen.has_stuck());
    let claimed = seen.claim(1, Sequence::FIRST).unwrap();
    assert!(!seen.has_stuck(), "its owner lives");
    memory.gone.lock().unwrap()[1] = true;
    assert!(seen.has_stuck() && seen.never_comes(claimed));
    memory.is_there(claimed);
    assert!(!seen.has_stuck() && !seen.never_comes(claimed), "it is there after all");
    memory.gone.lock().unwrap()[1] = false;
    // One that was claimed, and marked as lost by the next owner.
    let claimed = seen.claim(1, Sequence::FIRST).unwrap();
    memory.gone.lock().unwrap()[1] = true;
    assert!(seen.finish_for_last_owner(1) && !seen.has_stuck());
    // (Who has looked a moment ago does not look again.)
    assert!(memory.seen().never_comes(claimed));
}

/// Whoever waits for a message that was passed over learns that from the next one, also if it has looked a
/// moment ago.
#[test]
fn the_next_message_tells_that_one_was_passed_over() {
    let memory = Memory::new();
    let (stopped, publisher, subscriber) = (memory.seen(), memory.seen(), memory.seen());
    assert_eq!(stopped.claim(1, Sequence::FIRST), Some(Sequence::FIRST));
    for _ in 1..CAPACITY {
        memory.is_there(publisher.claim(0, Sequence::FIRST).unwrap());
    }
    let awaited = Sequence::new(CAPACITY as u64);
    assert!(!subscriber.never_comes(awaited), "nobody has come to its slot");
    assert_eq!(publisher.claim(0, Sequence::FIRST), Some(awaited.next()));
    memory.is_there(awaited.next());
    assert!(subscriber.never_comes(awaited));
}

/// A publisher is stopped in the middle of a message while others go round. Its slot holds up nobody who
/// joins: what it writes has been passed over, laps ago.
#[test]
fn who_was_stopped_laps_ago_is_not_waited_for() {
    let memory = Memory::new();
    let (stopped, publisher) = (memory.seen(), memory.seen());
    assert_eq!(stopped.claim(1, Sequence::FIRST), Some(Sequence::FIRST));
    assert_eq!(publisher.waits_for(Sequence::FIRST), Sequence::FIRST, "in its own lap it is waited for");
    for _ in 0..3 * (CAPACITY - 1) {
        memory.is_there(publisher.claim(0, Sequence::FIRST).unwrap());
    }
    let [lap, laps] = [2, 3].map(|laps| Sequence::new(laps * CAPACITY as u64));
    assert_eq!(publisher.claimed(), laps, "two messages were passed over");
    assert_eq!(publisher.waits_for(lap), laps);
}

/// Memory in which each slot is claimed for a message that is far ahead: a claim has an end.
#[test]
fn a_memory_that_has_no_free_slot() {
    let memory = Memory::new();
    for slot in 0..CAPACITY {
        let far = ClaimWord::of(Sequence::new((1 << 40) + slot as u64), 2).bits();
        memory.slots[slot * STRIDE + STRIDE - 1].store(far, Ordering::Relaxed);
    }
    let seen = memory.seen();
    assert_eq!(seen.claim(0, Sequence::FIRST), None);
    assert!(seen.claimed() < Sequence::new(1 << 40), "after some turns");
}

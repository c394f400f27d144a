//! Tests of [`Claims`](super::Claims) that force the order of two publishers: one does something in the
//! middle of the other one's claim.
#![allow(clippy::disallowed_types, reason = "a test")]

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use std::sync::Mutex;

use super::{CLOSED, ClaimPlaces, Claimant, Claims, Known, NotClaimed};
use crate::base::peer_liveness::NowAndThen;
use crate::base::sequence::{Sequence, Stamp};
use crate::ring::range::Range;
use crate::ring::shared_numbers::SharedNumbers;
use crate::sync::{AtomicU64, Ordering};

/// Three messages are claimed together at most.
const CAPACITY: usize = 24;
const MOST: u64 = 3;
/// A stamp, and a payload.
const STRIDE: usize = 2;
const PLACES: usize = 3;

/// What processes share.
struct Memory {
    numbers: Box<SharedNumbers>,
    slots: Vec<AtomicU64>,
    intents: Vec<AtomicU64>,
    /// Which places nobody has.
    gone: Mutex<[bool; PLACES]>,
}

impl Memory {
    fn new() -> Arc<Self> {
        let words = |count| core::iter::repeat_with(|| AtomicU64::new(0)).take(count).collect();
        // SAFETY: it is made of atomics only, which are zero at first.
        let numbers = unsafe { MaybeUninit::<SharedNumbers>::zeroed().assume_init() };
        Arc::new(Self {
            numbers: Box::new(numbers),
            slots: words(CAPACITY * STRIDE),
            intents: words(PLACES),
            gone: Mutex::default(),
        })
    }

    /// The claims, as a process has them.
    fn seen(self: &Arc<Self>) -> Claims {
        let (numbers, slots) = (NonNull::from(&*self.numbers), NonNull::from(&self.slots[0]));
        let process = Process(Arc::clone(self), core::array::from_fn(|_| Known::nothing(NowAndThen::new())));
        // SAFETY: the process keeps the memory; so many slots are in it. They are atomics.
        unsafe { Claims::new(numbers, (slots, STRIDE, CAPACITY), true, process, || false) }
    }

    /// A publisher with a place. It takes the first message for the next one.
    fn publisher(self: &Arc<Self>, place: usize) -> Claimant {
        Claimant::new(Arc::new(self.seen()), place, FIRST)
    }

    /// What the intent of a place says.
    fn range(&self, place: usize) -> Range {
        Range::of_bits(self.intents[place].load(Ordering::Relaxed), Sequence::FIRST)
    }

    fn die(&self, place: usize) {
        self.gone.lock().unwrap()[place] = true;
    }

    fn is_there(&self, sequence: Sequence) {
        let stamp = &self.slots[sequence.get() as usize % CAPACITY * STRIDE];
        stamp.store(Stamp::done(sequence).bits(), Ordering::Relaxed);
    }

    /// One more than the first message that will never be; 0 while the ring is open.
    fn end(&self) -> u64 {
        self.numbers.end.word.load(Ordering::Relaxed)
    }
}

/// One of them.
struct Process(Arc<Memory>, [Known; PLACES]);

impl ClaimPlaces for Process {
    fn known(&self, place: usize) -> &Known {
        &self.1[place]
    }

    fn is_gone(&self, place: usize) -> bool {
        self.0.gone.lock().unwrap()[place]
    }

    fn used(&self) -> usize {
        PLACES
    }

    fn have_died(&self) -> bool {
        self.0.gone.lock().unwrap().contains(&true)
    }

    fn intent(&self, place: usize) -> &AtomicU64 {
        &self.0.intents[place]
    }
}

fn at(number: u64) -> Sequence {
    Sequence::new(number)
}

const FIRST: Sequence = Sequence::FIRST;
const LAP: u64 = CAPACITY as u64;

impl Claimant {
    /// Publishes `count` messages one by one, and returns those that it had to pass over.
    fn publish(&mut self, memory: &Memory, count: u64) -> Vec<u64> {
        let (mut published, mut passed) = (0, Vec::new());
        while published < count {
            let range = self.claim(1).unwrap();
            if self.take(range.first()) {
                memory.is_there(range.first());
                published += 1;
            } else {
                self.pass(range, range.first());
                passed.push(range.first().get());
            }
        }
        passed
    }
}

/// Somebody has closed the ring before a publisher claims: it claims nothing, and nobody waits for it.
#[test]
fn claim_on_a_closed_ring_is_refused_and_leaves_no_intent() {
    let memory = Memory::new();
    assert_eq!(memory.publisher(0).publish(&memory, 1), []);
    let mut publisher = memory.publisher(1);
    memory.seen().close();
    assert_eq!(publisher.claim(MOST), None);
    assert_eq!((memory.end(), memory.range(1)), (2, Range::new(FIRST, 0)), "it ends behind the first");
    let seen = memory.seen();
    assert_eq!((seen.claimed(), seen.first_open(FIRST, seen.claimed())), (at(1), at(1)));
    assert!(!seen.never_comes(at(1)) && !seen.has_stuck());
}

/// A message that was claimed before the close belongs to the ring. The closer has set its bit, and has not
/// said where the ring ends: it is stopped, or dead. The next publisher says so.
#[test]
fn close_that_is_not_finished() {
    let memory = Memory::new();
    assert_eq!(memory.publisher(1).claim(MOST), Some(Range::new(FIRST, MOST)));
    memory.numbers.head().fetch_or(CLOSED, Ordering::AcqRel);
    assert_eq!((memory.publisher(0).claim(1), memory.end()), (None, MOST + 1));
    let seen = memory.seen();
    assert!(seen.is_closed() && !seen.never_comes(at(2)), "who has claimed it lives");
    memory.die(1);
    assert!(memory.seen().never_comes(at(2)));
}

/// Of two publishers, the faster one has the messages.
#[test]
fn faster_claimant_has_the_messages() {
    let memory = Memory::new();
    let [mut slower, mut faster] = [1, 2].map(|place| memory.publisher(place));
    assert_eq!(faster.claim(2), Some(Range::new(FIRST, 2)));
    assert_eq!(slower.claim(100), Some(Range::new(at(2), MOST)));
    assert_eq!((memory.range(2), memory.range(1)), (Range::new(FIRST, 2), Range::new(at(2), MOST)));
    assert_eq!([slower.claim(1), faster.claim(1)], [at(5), at(6)].map(|first| Some(Range::new(first, 1))));
    // One that has been further is not led back.
    let mut ahead = Claimant::new(Arc::new(memory.seen()), 0, at(9));
    assert_eq!(ahead.claim(1), Some(Range::new(at(9), 1)));
}

/// A publisher dies after it has written some of its messages. The others are lost, at once and all of them.
/// Their slots are free a lap later. What it has written is there.
#[test]
fn range_of_a_dead_claimant_that_is_half_written_is_taken_or_lost() {
    for written in 0..=MOST {
        let memory = Memory::new();
        let (mut dies, mut lives, subscriber) = (memory.publisher(1), memory.publisher(0), memory.seen());
        let range = dies.claim(MOST).unwrap();
        for sequence in (0..written).map(at) {
            assert!(dies.take(sequence));
            memory.is_there(sequence);
        }
        if written < MOST {
            // It was in the middle of a message.
            let stamp = &memory.slots[written as usize * STRIDE];
            stamp.store(Stamp::writing(at(written)).bits(), Ordering::Relaxed);
        }
        assert_eq!(lives.publish(&memory, 1), []);
        assert_eq!(
            subscriber.first_open(FIRST, subscriber.claimed()),
            if written < MOST { at(written) } else { at(MOST + 1) }
        );
        memory.die(1);
        assert_eq!(subscriber.has_stuck(), written < MOST);
        assert!((0..written).all(|there| !memory.seen().never_comes(at(there))));
        // The kernel is asked once.
        assert!(range.messages(at(written)).all(|lost| subscriber.never_comes(lost)), "{written}");
        assert_eq!(lives.publish(&memory, LAP), []);
        assert!(!subscriber.has_stuck(), "others have written there");
        assert_eq!(subscriber.first_open(FIRST, subscriber.claimed()), subscriber.claimed());
    }
}

/// A publisher is stopped in the middle of its messages. None takes their slots. A publisher that has claimed
/// the messages of a lap later passes over them, and subscribers learn that from the message behind them, or
/// at once where one was lost before.
#[test]
fn range_of_a_stopped_claimant_is_passed_over() {
    let memory = Memory::new();
    let (mut stopped, mut publisher, subscriber) = (memory.publisher(1), memory.publisher(0), memory.seen());
    assert_eq!(stopped.claim(MOST), Some(Range::new(FIRST, MOST)));
    assert_eq!(publisher.publish(&memory, LAP - MOST), []);
    assert!(!subscriber.never_comes(FIRST), "it lives");
    assert!(!subscriber.never_comes(at(LAP)), "nobody has claimed it");
    assert_eq!(publisher.publish(&memory, 1), [LAP, LAP + 1, LAP + 2]);
    assert!(subscriber.never_comes(at(LAP + 2)), "its next message tells");
    assert!((LAP..LAP + MOST).all(|lost| memory.seen().never_comes(at(lost))));
    // It goes on, and is in nobody's way.
    for sequence in (0..MOST).map(at) {
        assert!(stopped.take(sequence));
        memory.is_there(sequence);
    }
    assert_eq!(publisher.publish(&memory, 2 * LAP), []);
}

/// One of a range that is claimed together is passed over; those behind it are still to come.
#[test]
fn claimant_that_passes_over_a_message_still_writes_the_next() {
    let memory = Memory::new();
    let (mut stopped, mut publisher) = (memory.publisher(1), memory.publisher(0));
    assert_eq!(stopped.claim(1), Some(Range::new(FIRST, 1)));
    assert_eq!(publisher.publish(&memory, LAP - 1), []);
    let range = publisher.claim(MOST).unwrap();
    assert!(!publisher.take(range.first()));
    assert!(!memory.seen().never_comes(range.first()), "it may still be");
    publisher.pass(range, range.first());
    assert_eq!(memory.range(0), Range::new(at(LAP + 1), MOST - 1));
    assert!(memory.seen().never_comes(range.first()) && !memory.seen().never_comes(range.first().next()));
    assert!(publisher.take(range.first().next()));
}

/// A publisher that was slower than another one has an intent with its messages. If that one dies, they are
/// waited for until the slower one claims again, or dies, too.
#[test]
fn slower_claimant_that_stops_has_intended_messages_of_others() {
    let memory = Memory::new();
    let first = memory.publisher(2).claim(2).unwrap();
    memory.intents[1].store(first.bits(), Ordering::Relaxed);
    memory.die(2);
    assert!(!memory.seen().never_comes(FIRST), "it seems to be the slower one's");
    let mut publisher = memory.publisher(0);
    assert_eq!(publisher.publish(&memory, LAP - 2), []);
    assert_eq!(publisher.publish(&memory, 1), [LAP, LAP + 1]);
    assert_eq!(memory.publisher(1).publish(&memory, 1), []);
    assert_eq!(publisher.publish(&memory, LAP), []);
    // And where that one dies.
    let memory = Memory::new();
    let first = memory.publisher(2).claim(2).unwrap();
    memory.intents[1].store(first.bits(), Ordering::Relaxed);
    (1..3).for_each(|place| memory.die(place));
    assert!(memory.seen().never_comes(FIRST) && memory.seen().never_comes(at(1)));
}

/// Only a message that is claimed and not there, by a publisher that is gone, holds up a reader that waits
/// for it.
#[test]
fn claimed_message_of_a_dead_publisher_is_stuck() {
    let memory = Memory::new();
    let seen = memory.seen();
    assert!(!seen.has_stuck());
    // It was about to claim.
    memory.intents[1].store(Range::new(FIRST, 1).bits(), Ordering::Relaxed);
    memory.die(1);
    assert!(!seen.has_stuck());
    memory.gone.lock().unwrap()[1] = false;
    let claimed = memory.publisher(1).claim(1).unwrap().first();
    assert!(!seen.has_stuck(), "its owner lives");
    memory.die(1);
    assert!(seen.has_stuck() && seen.never_comes(claimed));
    memory.is_there(claimed);
    assert!(!seen.has_stuck() && !seen.never_comes(claimed), "it is there after all");
    memory.gone.lock().unwrap()[1] = false;
    // One whose place somebody has taken.
    let claimed = memory.publisher(1).claim(1).unwrap().first();
    assert!(memory.publisher(1).begin() && !seen.has_stuck());
    assert!(!memory.publisher(1).begin() && memory.seen().never_comes(claimed));
}

/// A reader that waits for a message that was passed over learns that from the next one, also if it has
/// looked a moment ago.
#[test]
fn next_message_tells_that_one_was_passed_over() {
    let memory = Memory::new();
    let (mut stopped, mut publisher, subscriber) = (memory.publisher(1), memory.publisher(0), memory.seen());
    assert!(stopped.claim(1).is_some());
    publisher.publish(&memory, LAP - 1);
    assert!(!subscriber.never_comes(at(LAP)), "nobody has come to its slot");
    assert_eq!(publisher.publish(&memory, 1), [LAP]);
    assert!(subscriber.never_comes(at(LAP)));
}

/// A message is waited for while others come behind it, and its publisher lives. Others look at that one's
/// intent alone, until there is another answer.
#[test]
fn message_being_written_is_waited_for() {
    let memory = Memory::new();
    let (mut slow, mut publisher, subscriber) = (memory.publisher(1), memory.publisher(0), memory.seen());
    let range = slow.claim(1).unwrap();
    publisher.publish(&memory, 1);
    assert!((0..3).all(|_| !subscriber.never_comes(range.first())));
    slow.pass(range, range.first());
    assert!(subscriber.never_comes(range.first()));
}

/// A publisher is stopped in the middle of a message while others go round. Its slot holds up no reader that
/// joins: what it writes has been passed over, laps ago.
#[test]
fn claimant_stopped_laps_ago_is_not_waited_for() {
    let memory = Memory::new();
    let (mut stopped, mut publisher) = (memory.publisher(1), memory.publisher(0));
    assert!(stopped.claim(1).is_some());
    let seen = memory.seen();
    let first_open = |from| seen.first_open(from, seen.claimed());
    assert_eq!(first_open(FIRST), FIRST, "in its own lap it is waited for");
    assert_eq!(first_open(at(1)), at(1), "and not by who is past it");
    publisher.publish(&memory, 3 * (LAP - 1));
    let [lap, laps] = [2, 3].map(|laps| at(laps * LAP));
    assert_eq!(seen.claimed(), laps, "two messages were passed over");
    assert_eq!((first_open(FIRST), first_open(lap)), (laps, laps));
}

/// A publisher that wants room announces a message, which another one claims just then, and finds no room
/// behind it. Nobody waits for it.
#[test]
fn claimant_without_room_gives_up_what_it_announced() {
    let memory = Memory::new();
    let (mut slower, faster) = (memory.publisher(1), RefCell::new(memory.publisher(2)));
    let looks = RefCell::new(Vec::new());
    let room = |_: &Claimant, first, most| {
        looks.borrow_mut().push(first);
        if first == FIRST {
            assert!(faster.borrow_mut().claim(MOST).is_some());
            Ok(most)
        } else {
            Err("full")
        }
    };
    let NotClaimed { obstacle, has_held_up } = slower.claim_in_room(100, room).err().unwrap();
    assert_eq!((obstacle, has_held_up), (Some("full"), true));
    assert_eq!(looks.into_inner(), [FIRST, at(MOST)]);
    assert_eq!(memory.range(1), Range::new(FIRST, 0));
    memory.die(2);
    assert!(memory.seen().never_comes(FIRST));
}

/// What is in the way of a message that somebody has claimed meanwhile is in nobody's way. No more is claimed
/// than has room, and nothing on a closed ring.
#[test]
fn claimant_looks_for_room_at_the_head() {
    let memory = Memory::new();
    let mut publisher = memory.publisher(1);
    assert!(memory.publisher(2).claim(2).is_some());
    let room = |_: &Claimant, first: Sequence, most| if first < at(2) { Err("stale") } else { Ok(most - 1) };
    assert_eq!(publisher.look_for_room(room), Some(Ok(0)));
    assert_eq!(publisher.claim_in_room(MOST, room).ok(), Some(Range::new(at(2), MOST - 1)));
    let none = |_: &Claimant, _, _| Err::<u64, _>("full");
    let NotClaimed { obstacle, has_held_up } = publisher.claim_in_room(1, none).err().unwrap();
    assert_eq!((obstacle, has_held_up), (Some("full"), false));
    assert_eq!(memory.range(1), Range::new(at(2), MOST - 1), "its own may still be to come");
    memory.seen().close();
    let NotClaimed { obstacle, .. } = publisher.claim_in_room(1, room).err().unwrap();
    assert_eq!((obstacle, publisher.look_for_room(room)), (None, None));
    assert_eq!(memory.end(), 2 + MOST);
}

/// Numbers that can't be: a claim has an end, and so has each look.
#[test]
fn memory_that_was_scribbled_on_makes_no_endless_loop() {
    let memory = Memory::new();
    let seen = memory.seen();
    for number in [CLOSED - 1, u64::MAX, CLOSED] {
        memory.numbers.head().store(number, Ordering::Relaxed);
        assert_eq!(memory.publisher(0).claim(1), None);
        memory.numbers.head().store(0, Ordering::Relaxed);
        for intent in &memory.intents {
            intent.store(number, Ordering::Relaxed);
        }
        let mut publisher = memory.publisher(0);
        let sequence = publisher.claim(1).unwrap().first();
        let _ = (publisher.take(sequence), seen.has_stuck(), seen.never_comes(sequence));
        assert!(seen.first_open(FIRST, seen.claimed()) <= seen.claimed());
    }
}

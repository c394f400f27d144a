//! Memory in which another process writes what it likes: no crash, no endless loop, no slot but those of the
//! queue.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use annulus::Settings;
use annulus::shm::mpmc::{self, Builder, Claimed, Consumer, Producer, Queue};
use annulus::shm::{AttachError, Invitation, Shared, recv_fd};
use proptest::prelude::*;

use crate::scribbler::Scribbler;

const SLOTS: usize = 3;
const PLACES: usize = 2;

struct Made {
    queue: Queue<bool>,
    producer: Producer<bool>,
    consumers: [Consumer<bool>; 2],
    held: Vec<Claimed<bool>>,
    /// The memory, and the page of the sleepers.
    files: [File; 2],
    invitation: Invitation,
    bytes: u64,
}

fn made() -> Made {
    let builder = Builder::new(Settings::new(SLOTS)).producers(PLACES).consumers(PLACES + 1);
    let Shared { handle: queue, invitation, .. } = builder.build().unwrap();
    let (here, there) = UnixStream::pair().unwrap();
    invitation.send(&here).unwrap();
    let files = [(); 2].map(|()| File::from(recv_fd(&there).unwrap()));
    let producer = mpmc::producer(&invitation).unwrap();
    let consumers = [(); 2].map(|()| mpmc::consumer(&invitation).unwrap());
    let bytes = files[0].metadata().unwrap().len();
    Made { queue, producer, consumers, held: Vec::new(), files, invitation, bytes }
}

/// Numbers at the edges, words of slots, and any.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        Just(u64::MAX),
        Just(1 << 63),
        (0..40u64),
        (0..40u64).prop_map(|back| u64::MAX - back),
        (0..40u64).prop_map(|back| (1 << 63) - back),
        (0..40u64, 0..5u64, 0..4u64, 0..4u64)
            .prop_map(|(number, given, place, state)| number << 16 | given << 12 | place << 2 | state),
        any::<u64>(),
    ]
}

impl Made {
    /// Every verb returns.
    fn verbs(&mut self) {
        let begun = Instant::now();
        for value in [true, false, true, true] {
            let _ = self.producer.try_send(value);
            let _ = self.producer.send_timeout(value, Duration::ZERO);
        }
        for consumer in &mut self.consumers {
            for _ in 0..2 * SLOTS {
                match consumer.try_claim() {
                    Ok(claimed) if *claimed => self.held.push(claimed),
                    Ok(claimed) => drop(claimed.done()),
                    Err(_) => drop(consumer.try_recv()),
                }
            }
            let _ = consumer.recv_timeout(Duration::ZERO);
            let _ = (consumer.len(), consumer.total_corrupt(), consumer.is_closed());
        }
        while self.held.len() > 2 {
            drop(self.held.remove(0));
        }
        let _ = (self.queue.len(), self.queue.given_again(), self.queue.dropped(), self.queue.is_closed());
        let _ = (self.producer.len(), self.producer.is_closed(), self.queue.consumers().died());
        // They join, or there is an error; and they leave.
        if let Ok(mut producer) = mpmc::producer::<bool>(&self.invitation) {
            let _ = producer.try_send(true);
        }
        if let Ok(mut consumer) = mpmc::consumer::<bool>(&self.invitation) {
            let _ = consumer.try_recv();
        }
        assert!(begun.elapsed() < Duration::from_secs(60));
    }

    fn write(&self, offset: u64, number: u64) {
        self.files[0].write_all_at(&number.to_ne_bytes(), offset).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Any words, from behind the header to the end.
    #[test]
    fn words_of_any_value_do_no_harm(writes in prop::collection::vec((any::<prop::sample::Index>(), number()), 0..24)) {
        let mut made = made();
        made.verbs();
        let words = (made.bytes - 128) / 8;
        for (word, number) in writes {
            made.write(128 + 8 * word.index(words as usize) as u64, number);
            made.verbs();
        }
    }

    /// Any words in the slots and the ledgers.
    #[test]
    fn slots_of_any_value_do_no_harm(writes in prop::collection::vec((any::<prop::sample::Index>(), number()), 0..24)) {
        let mut made = made();
        made.verbs();
        let slots = crate::slots_of(&made.files[0]);
        let words = (made.bytes - slots) / 8;
        for (word, number) in writes {
            made.write(slots + 8 * word.index(words as usize) as u64, number);
            made.verbs();
        }
    }

    /// Any bytes in the header: a queue, or an error.
    #[test]
    fn header_of_any_bytes_does_no_harm(writes in prop::collection::vec((0..16u64, number()), 1..6)) {
        let made = made();
        for (word, number) in writes {
            made.write(8 * word, number);
        }
        if let Ok(mut producer) = mpmc::producer::<bool>(&made.invitation) {
            let _ = producer.try_send(true);
        }
        if let Ok(mut consumer) = mpmc::consumer::<bool>(&made.invitation) {
            let _ = consumer.try_recv();
        }
    }
}

/// Numbers of the header that agree with no queue, or reach beyond the memory.
#[test]
fn numbers_that_cant_be() {
    let made = made();
    let mut header = [0; 64];
    made.files[0].read_exact_at(&mut header, 0).unwrap();
    let word = |at: usize| u64::from_ne_bytes(header[at..at + 8].try_into().unwrap());
    let (slot_bytes, capacity) = (word(48), word(56));
    assert_eq!(capacity, (SLOTS * PLACES) as u64);
    let told = |slot_bytes: u64, capacity: u64| {
        made.write(24, word(40) + slot_bytes * capacity);
        made.write(48, slot_bytes);
        made.write(56, capacity);
        mpmc::producer::<bool>(&made.invitation).map(drop)
    };
    told(slot_bytes, capacity).unwrap();
    for (slot_bytes, capacity, wanted) in [
        (slot_bytes / 2, capacity, ("the slots' size", slot_bytes / 2)),
        (slot_bytes, capacity + 1, ("the capacity", capacity + 1)),
        (slot_bytes, 0, ("the capacity", 0)),
    ] {
        match told(slot_bytes, capacity) {
            Err(AttachError::Damaged { field, value }) => assert_eq!((field, value), wanted),
            told => panic!("{wanted:?}: {told:?}"),
        }
    }
    // The last ledger would be beyond the end, although the slots are not.
    let more = (capacity..).step_by(PLACES);
    let refused = more.map(|capacity| told(slot_bytes, capacity)).find_map(Result::err).unwrap();
    let AttachError::Length { found, needed } = refused else { panic!("{refused}") };
    assert!(found == made.bytes && needed > found, "{found} {needed}");
    told(slot_bytes, capacity).unwrap();
}

/// Somebody scribbles all the time: calls return, and deadlines are kept.
#[test]
fn calls_beside_a_scribbler_return() {
    let mut made = made();
    let [ring, page] = made.files.each_ref().map(|file| file.try_clone().unwrap());
    let words = (made.bytes - 128) / 8;
    let scribbler = Scribbler::new(move |number| {
        let value = (number >> (number % 64)).to_ne_bytes();
        ring.write_all_at(&value, 128 + 8 * ((number >> 32) % words)).unwrap();
        let at = (number >> 40) % (128 * PLACES as u64 + 120);
        page.write_all_at(&value, (128 + at) & !7).unwrap();
    });
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(1) {
        made.verbs();
        let _ = made.consumers[0].recv_timeout(Duration::from_millis(1));
        let _ = made.producer.send_timeout(true, Duration::from_millis(1));
    }
    // They are dropped beside it, too.
    drop((made.producer, made.held, made.consumers, made.queue));
    drop(scribbler);
}

/// A producer that died behind its send, before it noted that: the next one of its place goes on behind it.
#[test]
fn next_producer_goes_on_behind_a_send_that_was_not_noted() {
    /// Where the tail of the first place is.
    const TAIL: u64 = 512;
    let mut made = made();
    let mut before = [0; 8];
    made.files[0].read_exact_at(&mut before, TAIL).unwrap();
    made.producer.send(true).unwrap();
    let mut after = [0; 8];
    made.files[0].read_exact_at(&mut after, TAIL).unwrap();
    assert_eq!(u64::from_ne_bytes(after), u64::from_ne_bytes(before).wrapping_add(1));
    let Made { producer, mut consumers, files, invitation, queue, .. } = made;
    drop(producer);
    files[0].write_all_at(&before, TAIL).unwrap();
    let mut next = mpmc::producer::<bool>(&invitation).unwrap();
    assert_eq!(next.place(), 0);
    next.send(false).unwrap();
    assert_eq!((consumers[0].recv(), consumers[1].recv(), queue.len()), (Ok(true), Ok(false), 0));
}

/// What is no message is thrown away, and counted.
#[test]
fn corrupt_message_is_counted() {
    let mut made = made();
    made.producer.send(true).unwrap();
    made.producer.send(false).unwrap();
    // The word of the slot, and the value behind it.
    let first_lane = crate::slots_of(&made.files[0]).next_multiple_of(128);
    made.files[0].write_all_at(&[7], first_lane + 8).unwrap();
    let consumer = &mut made.consumers[0];
    assert_eq!(consumer.try_recv(), Ok(false));
    assert_eq!((consumer.total_corrupt(), consumer.last_corrupt().unwrap().number()), (1, 7));
    assert_eq!(made.queue.len(), 0);
}

/// A slot that claims to be held by a place that nobody has holds nothing up: not the end, and not the
/// producer.
#[test]
fn claims_of_nobody_hold_up_nothing() {
    for place in [2, 3, 1023] {
        let mut made = made();
        made.producer.send(true).unwrap();
        let first_lane = crate::slots_of(&made.files[0]).next_multiple_of(128);
        made.write(first_lane, 1 << 16 | place << 2 | 2);
        made.producer.send(true).unwrap();
        assert_eq!(made.consumers[0].recv(), Ok(true));
        made.queue.close();
        assert!(made.consumers[0].recv().is_err(), "{place}");
    }
}

//! Memory in which another process writes what it likes: no crash, no endless loop, no slot but those of the
//! ring.

use std::thread;
use std::time::{Duration, Instant};

use annulus::shm::mp_broadcast::lossless_publisher;
use annulus::shm::{AttachError, Shared};
use proptest::prelude::*;

use crate::mp_broadcast::{Memory, joined, ring};
use crate::scribbler::Scribbler;

const CAPACITY: u64 = 4;
const PLACES: u64 = 3;

/// Numbers at the edges, intents, and any.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        Just(u64::MAX),
        Just(u64::MAX - 1),
        Just(1 << 63),
        Just((1 << 63) - 1),
        (0..40u64),
        (0..40u64).prop_map(|number| 1 << 63 | number),
        (0..40u64, 0..128u64).prop_map(|(number, count)| number << 7 | count),
        any::<u64>(),
    ]
}

/// What is shown, the places, and the slots.
fn at(memory: &Memory, word: u64) -> u64 {
    let mut words = vec![128, 136, 160, 256];
    words.extend((0..PLACES).flat_map(|place| [0, 16, 24].map(|at| 512 + 384 * place + at)));
    let slots = memory.word(40);
    words.extend((0..CAPACITY * memory.word(48) / 8).map(|word| slots + 8 * word));
    words[word as usize % words.len()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn words_of_any_value_do_no_harm(writes in prop::collection::vec((0..64u64, number()), 0..40)) {
        let Shared { handle: mut own, peers: places, invitation, .. } =
            ring(CAPACITY as usize, PLACES as usize).build::<u64>().unwrap();
        let mut other = joined::<u64>(&invitation);
        let ring = invitation.accept::<u64>().unwrap();
        let mut early = ring.subscribable().subscribe();
        let memory = Memory::of(&invitation);
        for (word, number) in writes {
            memory.put(at(&memory, word), number);
            let begun = Instant::now();
            own.publish(1);
            other.publish_batch(&[2, 3]);
            let _ = (early.try_recv(), early.len(), early.is_closed(), early.total_lagged());
            let _ = (early.latest(), early.skip_to_latest(), early.clone().try_iter().take(100).count());
            let _ = (early.recv_timeout(Duration::ZERO), ring.state(), own.stats(), early.stats());
            let _ = (places.taken(), places.died(), own.published(), format!("{own:?}"));
            drop(annulus::shm::mp_broadcast::publisher::<u64>(&invitation));
            drop((ring.subscribable().subscribe(), invitation.accept::<u64>()));
            early = ring.subscribable().subscribe_from_oldest();
            prop_assert!(begun.elapsed() < Duration::from_secs(60));
            // One can count on from there.
            prop_assert!(early.cursor() <= (1 << 63) - (1 << 31) + 1000, "{}", early.cursor());
        }
        own.close();
    }
}

/// As `words_of_any_value_do_no_harm`, for a lossless ring, whose page has the seats: every verb returns.
fn lossless_words(writes: &[(u64, u64)]) -> Result<(), TestCaseError> {
    let builder = ring(CAPACITY as usize, PLACES as usize);
    let Shared { handle: mut own, peers: places, invitation, .. } = builder.build_lossless::<u64>(2).unwrap();
    let mut other = lossless_publisher::<u64>(&invitation).unwrap();
    let ring = invitation.accept_lossless::<u64>().unwrap();
    let mut seated = ring.subscribe().unwrap();
    let mut tap = ring.subscribe_lossy();
    let memory = Memory::of(&invitation);
    let page = Memory::page_of(&invitation);
    let seat = |seat: u64| 384 + 128 * (PLACES + 1 + seat);
    let in_page = [128, 192, 256, seat(0), seat(1), seat(0) + 8];
    for &(word, number) in writes {
        if word % 3 == 0 {
            page.put(in_page[word as usize / 3 % in_page.len()], number);
        } else {
            memory.put(at(&memory, word), number);
        }
        let begun = Instant::now();
        let _ = (own.try_publish(1), other.publish_batch_timeout(&[2, 3], Duration::ZERO));
        let _ = (other.publish_timeout(4, Duration::from_micros(100)), other.try_publish(5));
        let _ = (seated.try_recv(), seated.len(), seated.total_lagged(), seated.try_iter().take(9).count());
        let _ = (tap.try_recv(), tap.latest(), seated.recv_timeout(Duration::ZERO), ring.state());
        let _ = (own.stats(), seated.stats(), places.taken(), places.died(), own.subscriber_count());
        drop((ring.subscribe_from_oldest(), ring.subscribe(), invitation.accept_lossless::<u64>()));
        drop(lossless_publisher::<u64>(&invitation));
        prop_assert!(begun.elapsed() < Duration::from_secs(60));
        prop_assert!(seated.cursor() <= (1 << 63) - (1 << 31) + 1000, "{}", seated.cursor());
    }
    own.close();
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn words_of_any_value_in_a_lossless_ring_do_no_harm(writes in prop::collection::vec((0..64u64, number()), 0..40)) {
        lossless_words(&writes)?;
    }
}

/// Numbers that the creator of a lossless ring can't have written.
#[test]
fn lossless_headers_that_cant_be() {
    let builder = ring(CAPACITY as usize, PLACES as usize);
    let Shared { handle: _own, invitation, .. } = builder.build_lossless::<u64>(2).unwrap();
    let memory = Memory::of(&invitation);
    let cases = [
        (144, 0, "the seats"),
        (144, 1025, "the seats"),
        (144, u64::MAX, "the seats"),
        (144, 3, "the seats"),
        (152, CAPACITY, "the headroom"),
        (152, u64::MAX, "the headroom"),
        (136, 2, "the policies"),
    ];
    for (at, number, wanted) in cases {
        let before = memory.word(at);
        memory.put(at, number);
        let both = [
            lossless_publisher::<u64>(&invitation).map(drop).unwrap_err(),
            invitation.accept_lossless::<u64>().map(drop).unwrap_err(),
        ];
        for error in both {
            let is_it =
                matches!(error, AttachError::Damaged { field, value } if (field, value) == (wanted, number));
            assert!(is_it, "{error:?}, not {wanted} {number}");
        }
        memory.put(at, before);
    }
    drop(lossless_publisher::<u64>(&invitation).unwrap());
    assert!(invitation.accept_lossless::<u64>().is_ok());
}

/// Numbers of the header that agree with each other, and are of no such ring: both a join and an accept
/// return an error with the number.
#[test]
fn headers_that_cant_be() {
    let Shared { handle: _own, invitation, .. } =
        ring(CAPACITY as usize, PLACES as usize).build::<u64>().unwrap();
    let memory = Memory::of(&invitation);
    let [cells, slots, slot_bytes] = [32, 40, 48].map(|at| memory.word(at));
    let refused = |wanted: &str, number: u64| {
        let both = [
            annulus::shm::mp_broadcast::publisher::<u64>(&invitation).map(drop).unwrap_err(),
            invitation.accept::<u64>().map(drop).unwrap_err(),
        ];
        for error in both {
            let is_it =
                matches!(error, AttachError::Damaged { field, value } if (field, value) == (wanted, number));
            assert!(is_it, "{error:?}, not {wanted} {number}");
        }
    };
    let header = |cells: u64, slots: u64, capacity: u64| {
        for (at, number) in [(24, slots + slot_bytes * capacity), (32, cells), (40, slots), (56, capacity)] {
            memory.put(at, number);
        }
    };
    header(cells, slots, 1);
    refused("the capacity", 1);
    for cells in [0, 1, cells - 1] {
        header(cells, (512 + 128 * cells + 3).next_multiple_of(128), CAPACITY);
        refused("the number of cells", cells);
    }
    header(cells, slots, CAPACITY);
    memory.put(136, 2);
    refused("the policies", 2);
    memory.put(136, 0);
    assert!(invitation.accept::<u64>().is_ok());
}

/// Another thread scribbles while publishers and subscribers are at work.
#[test]
fn scribbles_beside_both_sides() {
    let Shared { handle: mut own, invitation, .. } =
        ring(CAPACITY as usize, PLACES as usize).build::<u64>().unwrap();
    let mut other = joined::<u64>(&invitation);
    let mut subscriber = invitation.accept::<u64>().unwrap().subscribable().subscribe();
    let memory = Memory::of(&invitation);
    let scribbler = Scribbler::new(move |number| {
        let value = if number % 3 == 0 { number } else { number >> 58 };
        memory.put(at(&memory, number >> 40), value);
    });
    thread::scope(|scope| {
        scope.spawn(|| (0..2000).for_each(|number| own.publish(number)));
        scope.spawn(|| (0..2000).for_each(|number| other.publish(number)));
        scope.spawn(|| {
            for _ in 0..2000 {
                let _ = (subscriber.try_recv(), subscriber.len(), subscriber.latest());
            }
        });
    });
    drop(scribbler);
}

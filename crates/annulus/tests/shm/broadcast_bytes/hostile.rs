//! Cells, extents, stamps and words in which another process writes what it likes: errors or counted losses,
//! no crash, no endless loop, no memory but that of the ring, and none that a record may not have.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use annulus::shm::{AttachError, Invitation};
use annulus::{LossyTryRecvError, TryRecvError};
use proptest::prelude::*;

use super::{check, lossless, publish, ring};
use crate::broadcast::hostile::{copy_of, place};
use crate::broadcast::lossless::with_page;
use crate::scribbler::Scribbler;
use crate::slots_of;

/// Where the area's numbers are.
const BYTES: u64 = 512;
const OVERWRITTEN: u64 = 520;

/// From one slot to the next: a stamp, an extent, and a word that is not used.
const SLOT: u64 = 32;

/// A ring of 256 bytes and 8 slots of 32 bytes, copied: this process can write to it as it likes.
fn forged(published: u64) -> (File, Invitation) {
    let (mut publisher, _, good) = ring(256);
    (0..published).for_each(|_| _ = publish(&mut publisher));
    let (ring, _, invitation) = copy_of(&good);
    (ring, invitation)
}

fn write(file: &File, at: u64, number: u64) {
    file.write_all_at(&number.to_ne_bytes(), at).unwrap();
}

/// Numbers at the edges, such as are in the ring, and any.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        Just(u64::MAX),
        Just(u64::MAX - 1),
        Just(1 << 63),
        Just((1 << 63) - 1),
        0..40_u64,
        120..140_u64,
        any::<u64>(),
    ]
}

proptest! {
    /// Any words, where the publisher shows how far it is, in the cell, in stamps, extents and records: every
    /// verb returns, counts what it passes, and gives no more bytes than a record may have.
    #[test]
    fn words_of_any_value_do_no_harm(
        writes in prop::collection::vec((0..6 + 8 * 4 + 4_u64, number()), 0..40),
        joins_late in any::<bool>(),
    ) {
        let (file, invitation) = forged(11);
        let ring = invitation.accept_broadcast_bytes().unwrap();
        let mut early = ring.subscribable().subscribe();
        let (mut first, mut buffer, slots) = (early.cursor(), Vec::new(), slots_of(&file));
        for (word, number) in writes {
            let at = match word {
                0 => BYTES,
                1 => OVERWRITTEN,
                word => place(word - 2, slots),
            };
            write(&file, at, number);
            if joins_late {
                early = ring.subscribable().subscribe_from_oldest();
                first = early.cursor();
            }
            let begun = Instant::now();
            let _ = (early.try_recv(&mut buffer), early.len(), early.is_closed(), early.is_empty());
            let _ = (early.try_recv_or_lag(&mut buffer), early.stats(), ring.state());
            let mut clone = early.clone();
            for _ in 0..100 {
                prop_assert!(clone.try_recv(&mut buffer).unwrap_or(0) <= 128);
            }
            let _ = early.recv_timeout(&mut buffer, Duration::ZERO);
            prop_assert!(begun.elapsed() < Duration::from_secs(60));
            prop_assert!(buffer.capacity() <= 1024);
            prop_assert!(early.cursor() <= (1 << 63) - (1 << 31) + 100, "{}", early.cursor());
            let told = early.total_received() + early.total_lagged();
            prop_assert_eq!(told, early.cursor() - first);
        }
    }

    /// Any words in the page of a lossless ring, beside its living publisher, and in its memory as
    /// subscribers have it: each verb returns, no record is torn, and what is lost is counted.
    #[test]
    fn seats_of_any_value_do_no_harm(writes in prop::collection::vec((0..6_usize, number()), 0..40)) {
        let (mut publisher, good) = lossless::invited(256, 3);
        let (page, invitation) = with_page(&good);
        let ring = invitation.accept_lossless_bytes().unwrap();
        let mut subscriber = ring.subscribe().unwrap();
        let (mut others, mut buffer) = (Vec::new(), Vec::new());
        for (word, number) in writes {
            // Where sleepers are counted, what the publisher says, two cells, whether the first has begun.
            write(&page, [128, 256, 264, 384, 512, 392][word], number);
            prop_assert!(publisher.subscriber_count() <= 3);
            for _ in 0..5 {
                let _ = publisher.try_publish(&lossless::next(&publisher));
            }
            others.extend(ring.subscribe_from_oldest());
            for subscriber in others.iter_mut().chain([&mut subscriber]) {
                let first = subscriber.cursor() - subscriber.total_received() - subscriber.total_lagged();
                for _ in 0..9 {
                    if subscriber.try_recv(&mut buffer).is_ok() {
                        check(&buffer, subscriber.cursor() - 1, 128);
                    }
                }
                let _ = (subscriber.len(), subscriber.stats(), subscriber.is_closed());
                let told = subscriber.total_received() + subscriber.total_lagged();
                prop_assert_eq!(told, subscriber.cursor() - first);
                prop_assert!(subscriber.cursor() <= (1 << 63) - (1 << 31) + 100);
            }
            others.truncate((number % 2) as usize);
            let _ = (publisher.stats(), ring.state(), ring.subscribe_lossy().try_recv(&mut buffer));
        }
        // What is in the way is what was written there, and that ends with the subscribers.
        drop((subscriber, others));
        write(&page, 384, u64::MAX);
        write(&page, 512, u64::MAX);
        for _ in 0..20 {
            prop_assert_eq!(publisher.try_publish(&lossless::next(&publisher)), Ok(()));
        }
    }

    /// Any words in a lossless ring that has no publisher: a subscriber with a seat counts what it passes.
    #[test]
    fn words_of_any_value_in_a_lossless_ring_do_no_harm(
        writes in prop::collection::vec((0..6 + 8 * 4 + 4_u64, number()), 0..40),
        from_oldest in any::<bool>(),
    ) {
        let (mut publisher, good) = lossless::invited(256, 2);
        (0..11).for_each(|_| _ = lossless::publish(&mut publisher));
        let (file, _page, invitation) = copy_of(&good);
        let ring = invitation.accept_lossless_bytes().unwrap();
        let joined = if from_oldest { ring.subscribe_from_oldest() } else { ring.subscribe() };
        let (mut subscriber, mut buffer, slots) = (joined.unwrap(), Vec::new(), slots_of(&file));
        let first = subscriber.cursor();
        for (word, number) in writes {
            let at = match word {
                0 => BYTES,
                1 => OVERWRITTEN,
                word => place(word - 2, slots),
            };
            write(&file, at, number);
            for _ in 0..20 {
                prop_assert!(subscriber.try_recv(&mut buffer).unwrap_or(0) <= 128);
                prop_assert!(subscriber.try_recv_or_lag(&mut buffer).unwrap_or(0) <= 128);
            }
            let _ = (subscriber.len(), subscriber.stats(), ring.state());
            let told = subscriber.total_received() + subscriber.total_lagged();
            prop_assert_eq!(told, subscriber.cursor() - first);
        }
    }

    /// Any bytes in the header and in the cell: a ring, or an error.
    #[test]
    fn header_of_any_bytes_does_no_harm(writes in prop::collection::vec((0..18_u64, number()), 1..6)) {
        let (file, invitation) = forged(11);
        for (word, number) in writes {
            write(&file, if word < 16 { 8 * word } else { BYTES + 8 * (word - 16) }, number);
        }
        // (The kind may have become the other one. Its page has no seats.)
        if let Ok(ring) = invitation.accept_lossless_bytes() {
            let _ = ring.subscribe();
        }
        if let Ok(ring) = invitation.accept_broadcast_bytes() {
            let (mut subscriber, mut buffer) = (ring.subscribable().subscribe_from_oldest(), Vec::new());
            for _ in 0..100 {
                let _ = subscriber.try_recv(&mut buffer);
            }
        }
    }
}

/// Sizes of the area that can't be, or reach beyond the memory.
#[test]
fn areas_that_cant_be() {
    for (bytes, is_damaged) in
        [(0, true), (1, true), (32, true), (96, true), (257, true), (u64::MAX, true), (1 << 63, true)]
            .into_iter()
            .chain([(512, false), (1 << 40, false)])
    {
        let (file, invitation) = forged(3);
        write(&file, BYTES, bytes);
        match invitation.accept_broadcast_bytes().map(drop).unwrap_err() {
            AttachError::Damaged { field: "the area's size", value } if is_damaged => {
                assert_eq!(value, bytes);
            }
            AttachError::Length { .. } if !is_damaged => {}
            error => panic!("{bytes}: {error}"),
        }
    }
    // One that is shorter is within the memory.
    let (file, invitation) = forged(3);
    write(&file, BYTES, 128);
    assert_eq!(invitation.accept_broadcast_bytes().unwrap().subscribable().capacity(), 128);
    // The other kind needs a page with seats.
    let (file, invitation) = forged(3);
    for (at, word) in [(16, 15_u32), (144, 1), (148, 0)] {
        file.write_all_at(&word.to_ne_bytes(), at).unwrap();
    }
    assert!(matches!(
        invitation.accept_lossless_bytes().map(drop),
        Err(AttachError::Damaged { field: "the seats", .. })
    ));
    // Two cells are another kind's.
    let (file, invitation) = forged(3);
    write(&file, 32, 2);
    assert!(invitation.accept_broadcast_bytes().is_err());
}

/// One extent that can't be is one record that is lost, and the others are received. One whose words lie
/// elsewhere gives other bytes of the area, and no fault.
#[test]
fn extents_that_cant_be() {
    for (start, length, is_lost) in [
        (0, 129, true),
        (0, 1 << 32, true),
        (0, u64::MAX, true),
        (u64::MAX, u64::MAX, true),
        (0, 128, false),
        (31, 128, false),
        (u64::MAX, 128, false),
        (1 << 63, 1, false),
    ] {
        let (file, invitation) = forged(3);
        let extent = slots_of(&file) + SLOT + 8;
        write(&file, extent, start);
        write(&file, extent + 8, length);
        let ring = invitation.accept_broadcast_bytes().unwrap();
        let (mut subscriber, mut buffer) = (ring.subscribable().subscribe_from_oldest(), Vec::new());
        assert!(subscriber.try_recv_or_lag(&mut buffer).is_ok());
        let second = subscriber.try_recv_or_lag(&mut buffer);
        if is_lost {
            assert_eq!(second, Err(LossyTryRecvError::Lagged { skipped: 1 }), "{start} {length}");
            assert!(buffer.is_empty() && buffer.capacity() < 1024);
        } else {
            assert_eq!(second, Ok(length as usize), "{start} {length}");
        }
        assert!(subscriber.try_recv_or_lag(&mut buffer).is_ok());
        // (The ring has no publisher.)
        assert_eq!(subscriber.try_recv(&mut buffer), Err(TryRecvError::Closed));
        assert_eq!(subscriber.total_lagged(), u64::from(is_lost));
    }
}

/// Another process scribbles all the time: receives return, and the deadline is kept.
#[test]
fn scribbled_on_while_it_is_read() {
    let (file, invitation) = forged(11);
    let ring = invitation.accept_broadcast_bytes().unwrap();
    let slots = slots_of(&file);
    let scribbler = Scribbler::new(move |state| {
        let word = (state >> 33) % 36;
        let number = [state, state >> 40, state >> 58, 128][(state >> 20) as usize % 4];
        write(&file, if word < 2 { OVERWRITTEN } else { place(word - 2, slots) }, number);
    });
    let (mut subscriber, mut buffer) = (ring.subscribable().subscribe(), Vec::new());
    let first = subscriber.cursor();
    for _ in 0..20_000 {
        let received = subscriber.try_recv(&mut buffer);
        assert!(received.unwrap_or(0) <= 128);
        let _ = (subscriber.len(), subscriber.is_closed());
        assert_eq!(subscriber.total_received() + subscriber.total_lagged(), subscriber.cursor() - first);
    }
    let _ = subscriber.recv_timeout(&mut buffer, Duration::from_millis(1));
    drop(scribbler);
}

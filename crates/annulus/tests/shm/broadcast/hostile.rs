//! Memory in which another process writes what it likes: no crash, no endless loop, no harm to anybody else.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use annulus::Settings;
use annulus::shm::broadcast::NoSeat;
use annulus::shm::{AttachError, Invitation, Shared, broadcast, recv_fd};
use proptest::prelude::*;

use crate::broadcast::names::{self, memory, page_of};
use crate::scribbler::Scribbler;
use crate::slots_of;

const CAPACITY: usize = 8;

/// The two files of a ring, and its invitation, copied: this process can write to them as it likes.
pub(crate) fn copy_of(good: &Invitation) -> (File, File, Invitation) {
    let (here, there) = UnixStream::pair().unwrap();
    good.send(&here).unwrap();
    let [ring, page] = [(); 2].map(|()| {
        let good = File::from(recv_fd(&there).unwrap());
        let len = good.metadata().unwrap().len();
        let mut bytes = vec![0; len.try_into().unwrap()];
        good.read_exact_at(&mut bytes, 0).unwrap();
        memory(&bytes, len)
    });
    let invitation = names::invitation(&ring, &page);
    (ring, page, invitation)
}

/// A lossy ring, copied, and how long it is.
fn forged() -> (Arc<File>, u64, Invitation) {
    let Shared { handle: mut publisher, invitation: good, .. } =
        broadcast::lossy::<u64>(Settings::new(CAPACITY)).unwrap();
    (0..11).for_each(|number| publisher.publish(number));
    let (ring, _, invitation) = copy_of(&good);
    let len = ring.metadata().unwrap().len();
    (Arc::new(ring), len, invitation)
}

/// A lossless ring with three seats, one of which is in use, copied.
fn forged_lossless() -> (File, File, Invitation) {
    let settings = Settings::new(CAPACITY).headroom(2);
    let Shared { handle: mut publisher, invitation: good, .. } =
        broadcast::lossless::<u64>(settings, 3).unwrap();
    let ring = good.accept_lossless::<u64>().unwrap();
    (0..11).for_each(|number| publisher.publish(number).unwrap());
    let _subscriber = ring.subscribe().unwrap();
    copy_of(&good)
}

/// Numbers at the edges, and any.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        Just(u64::MAX),
        Just(u64::MAX - 1),
        Just(1 << 63),
        Just((1 << 63) - 1),
        (0..40u64),
        any::<u64>(),
    ]
}

/// Where this word of a ring's own memory is: those that the publisher shows come first, then its slots.
pub(crate) fn place(word: u64, slots: u64) -> u64 {
    const SHOWN: [u64; 4] = [128, 136, 144, 256];
    SHOWN.get(word as usize).copied().unwrap_or_else(|| slots + 8 * (word - 4))
}

proptest! {
    /// Any words, where the publisher shows how far it is, and in the slots: every verb returns.
    #[test]
    fn words_of_any_value_do_no_harm(
        writes in prop::collection::vec((0..4 + 2 * CAPACITY as u64, number()), 0..40),
        joins_late in any::<bool>(),
    ) {
        let (file, len, invitation) = forged();
        let ring = invitation.accept::<u64>().unwrap();
        let mut early = ring.subscribable().subscribe();
        let slots = len - 16 * CAPACITY as u64;
        for (word, number) in writes {
            let at = place(word, slots);
            file.write_all_at(&number.to_ne_bytes(), at).unwrap();
            if joins_late {
                early = ring.subscribable().subscribe_from_oldest();
            }
            let begun = Instant::now();
            let _ = (early.try_recv(), early.len(), early.is_closed(), early.total_lagged(), early.is_empty());
            let _ = (early.latest(), early.skip_to_latest(), early.clone().try_iter().take(100).count());
            let _ = early.recv_timeout(Duration::ZERO);
            let _ = ring.state();
            prop_assert!(begun.elapsed() < Duration::from_secs(60));
            // One can count on from there.
            prop_assert!(early.cursor() <= (1 << 63) - (1 << 31) + 100, "{}", early.cursor());
        }
    }

    /// The same of a lossless ring, and where the seats are, of which one belongs to a process that is gone.
    #[test]
    fn words_of_any_value_in_a_lossless_ring_do_no_harm(
        writes in prop::collection::vec((any::<bool>(), 0..4 + 2 * CAPACITY as u64, number()), 0..40),
    ) {
        let (file, page, invitation) = forged_lossless();
        let ring = invitation.accept_lossless::<u64>().unwrap();
        let mut tap = ring.subscribe_lossy();
        let mut awaited = ring.subscribe().ok();
        let slots = file.metadata().unwrap().len() - 16 * CAPACITY as u64;
        for (is_in_the_page, word, number) in writes {
            if is_in_the_page {
                // Where sleepers are counted, what the publisher says, and the seats.
                let at = [128, 192, 256, 384, 512, 640][word as usize % 6];
                page.write_all_at(&number.to_ne_bytes(), at).unwrap();
            } else {
                let at = place(word, slots);
                file.write_all_at(&number.to_ne_bytes(), at).unwrap();
            }
            let begun = Instant::now();
            if number % 3 == 0 {
                awaited = ring.subscribe_from_oldest().ok();
            }
            if let Some(awaited) = &mut awaited {
                let _ = (awaited.try_recv(), awaited.len(), awaited.try_iter().take(100).count());
                let _ = (awaited.recv_timeout(Duration::ZERO), awaited.total_lagged(), awaited.stats());
                prop_assert!(awaited.cursor() <= (1 << 63) - (1 << 31) + 10_000, "{}", awaited.cursor());
            }
            let _ = (tap.try_recv(), tap.latest(), tap.try_iter().take(100).count(), ring.state());
            prop_assert!(begun.elapsed() < Duration::from_secs(60));
        }
    }

    /// Any bytes in the header: a ring, or an error.
    #[test]
    fn header_of_any_bytes_does_no_harm(writes in prop::collection::vec((0..16u64, number()), 1..6)) {
        let (file, _, invitation) = forged();
        for (word, number) in writes {
            file.write_all_at(&number.to_ne_bytes(), 8 * word).unwrap();
        }
        if let Ok(ring) = invitation.accept::<u64>() {
            let _ = ring.subscribable().subscribe_from_oldest().try_iter().take(100).count();
        }
    }
}

/// Somebody scribbles all the time: receives return, and the deadline is kept.
#[test]
fn calls_beside_a_scribbler_return() {
    let (file, len, invitation) = forged();
    let ring = invitation.accept::<u64>().unwrap();
    let scribbler = Scribbler::new(move |number| {
        let at = 128 + (number >> 32) % (len - 136);
        file.write_all_at(&(number >> (number % 64)).to_ne_bytes(), at & !7).unwrap();
    });
    let begun = Instant::now();
    let mut subscriber = ring.subscribable().subscribe();
    while begun.elapsed() < Duration::from_secs(1) {
        let _ = subscriber.recv_timeout(Duration::from_millis(1));
        let _ = (subscriber.latest(), subscriber.len(), subscriber.skip_to_latest());
        subscriber = ring.subscribable().subscribe_from_oldest();
    }
    drop(scribbler);
}

/// The page where the seats are is any subscriber's to write to. One that scribbles there all the time holds
/// nobody up. What the others receive was published, each once and in order.
#[test]
fn seats_beside_a_scribbler() {
    let Shared { handle: mut publisher, invitation, .. } =
        broadcast::lossless::<u64>(Settings::new(CAPACITY), 2).unwrap();
    let (here, there) = UnixStream::pair().unwrap();
    invitation.send(&here).unwrap();
    let [_ring, page] = [(); 2].map(|()| File::from(recv_fd(&there).unwrap()));
    let ring = invitation.accept_lossless::<u64>().unwrap();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut number = 1u64;
            while !stop.load(Ordering::Relaxed) {
                number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let at = [128, 192, 256, 384, 512][(number >> 40) as usize % 5];
                page.write_all_at(&(number >> (number % 64)).to_ne_bytes(), at).unwrap();
            }
        });
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let begun = Instant::now();
                let next = publisher.published();
                // Somebody may have written that there is no room.
                let _ = publisher.publish_timeout(next, Duration::from_millis(1));
                assert!(begun.elapsed() < Duration::from_secs(60));
            }
        });
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(1) {
            let Ok(mut subscriber) = ring.subscribe_from_oldest() else { continue };
            for _ in 0..20 {
                let cursor = subscriber.cursor();
                if let Ok(number) = subscriber.recv_timeout(Duration::from_millis(1)) {
                    assert!(number >= cursor);
                    assert_eq!(number + 1, subscriber.cursor(), "message {number} has that number");
                }
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
}

/// What a lossless ring says of itself beside its header.
#[test]
fn headroom_or_seats_that_can_not_be() {
    let (file, page, invitation) = forged_lossless();
    for (at, good, bad, field) in [(136, 2, 8, "the headroom"), (144, 3, 4, "the seats")] {
        for bad in [bad, 1 << 40, u64::MAX] {
            file.write_all_at(&u64::to_ne_bytes(bad), at).unwrap();
            let error = invitation.accept_lossless::<u64>().map(drop).unwrap_err();
            let AttachError::Damaged { field: found, value } = &error else { panic!("{error:?}") };
            assert_eq!((*found, *value), (field, bad));
        }
        file.write_all_at(&u64::to_ne_bytes(good), at).unwrap();
    }
    assert!(invitation.accept_lossless::<u64>().unwrap().subscribe().is_ok());
    // A page for fewer seats.
    let mut bytes = vec![0; 384 + 2 * 128];
    page.read_exact_at(&mut bytes, 0).unwrap();
    let short = names::invitation(&file, memory(&bytes, 384 + 2 * 128));
    let error = short.accept_lossless::<u64>().map(drop).unwrap_err();
    assert!(matches!(error, AttachError::Damaged { field: "the seats", value: 3 }), "{error}");
    // None at all is a ring for taps.
    file.write_all_at(&0_u64.to_ne_bytes(), 144).unwrap();
    assert_eq!(invitation.accept_lossless::<u64>().unwrap().subscribe().map(drop), Err(NoSeat));
}

/// Headers that could be, of rings that this library does not make.
#[test]
fn header_of_another_ring() {
    let put = |file: &File, at: u64, number: u64| file.write_all_at(&number.to_ne_bytes(), at).unwrap();
    // Its slots end where the numbers say, but not with a line of 64 bytes, as it was made: so it is too
    // short.
    let (file, len, _) = forged();
    let begin = slots_of(&file);
    let mut header = vec![0; begin as usize];
    file.read_exact_at(&mut header, 0).unwrap();
    let short = memory(&header, begin + 7 * 16);
    put(&short, 24, begin + 7 * 16);
    put(&short, 56, 7);
    let error = names::invitation(&short, page_of(&short)).accept::<u64>().unwrap_err();
    assert!(matches!(error, AttachError::Length { found: 752, needed: 768 }), "{error}");

    // One slot.
    put(&file, 24, begin + 16);
    put(&file, 56, 1);
    let error = names::invitation(&*file, page_of(&file)).accept::<u64>().unwrap_err();
    assert!(matches!(error, AttachError::Damaged { field: "the capacity", value: 1 }), "{error}");

    // Slots of another size.
    put(&file, 24, len);
    put(&file, 48, 32);
    put(&file, 56, CAPACITY as u64 / 2);
    let error = names::invitation(&*file, page_of(&file)).accept::<u64>().unwrap_err();
    assert!(matches!(error, AttachError::Damaged { field: "the slots' size", value: 32 }), "{error}");

    // A first message with a number from which nobody could count on.
    let (file, _, invitation) = forged();
    put(&file, 88, u64::MAX);
    let error = invitation.accept::<u64>().unwrap_err();
    assert!(matches!(error, AttachError::Damaged { value: u64::MAX, .. }), "{error}");
}

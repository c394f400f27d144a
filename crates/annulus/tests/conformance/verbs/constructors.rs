//! Capacities that can't be had: an error that names the value, or a panic that names the function too; never
//! an abort.

#![allow(clippy::disallowed_types, reason = "what the test counts is none of the library's atomics")]

use std::panic::{UnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use annulus::Settings;
use annulus::broadcast;
use annulus::event;
use annulus::{CapacityError, spsc};

/// What each constructor says to a capacity, for messages (or events) of one word.
fn refusals(capacity: usize) -> [CapacityError; 6] {
    [
        broadcast::lossy_with::<u64>(Settings::new(capacity)).unwrap_err(),
        broadcast::lossless_with::<u64>(Settings::new(capacity)).unwrap_err(),
        broadcast::mp_lossy_with::<u64>(Settings::new(capacity)).unwrap_err(),
        broadcast::mp_lossless_with::<u64>(Settings::new(capacity)).unwrap_err(),
        event::with(Settings::new(capacity), || 0_u64).unwrap_err(),
        event::mp_with(Settings::new(capacity), || 0_u64).unwrap_err(),
    ]
}

#[test]
fn capacity_too_small_is_named() {
    for capacity in [0, 1] {
        for error in refusals(capacity) {
            assert_eq!(error, CapacityError::TooSmall { capacity, minimum: 2 });
            assert_eq!(
                error.to_string(),
                format!("capacity {capacity} is too small: this ring needs at least 2 slots")
            );
        }
    }
}

#[test]
fn capacity_too_large_is_an_error_and_not_an_abort() {
    for capacity in [usize::MAX, usize::MAX / 16, usize::MAX / 16 + 1, usize::MAX / 64] {
        // Where many publish copied messages, a slot has half a line at least.
        for (error, slot_bytes) in refusals(capacity).into_iter().zip([16, 16, 32, 32, 16, 16]) {
            assert_eq!(error, CapacityError::TooLarge { capacity, slot_bytes });
            assert!(error.to_string().contains(&capacity.to_string()), "{error}");
            assert!(error.to_string().contains(&format!("{slot_bytes} bytes")), "{error}");
        }
    }
}

#[test]
fn headroom_leaves_a_slot_at_least() {
    for (capacity, headroom) in [(2, 2), (2, 3), (8, 8), (8, usize::MAX)] {
        for error in [
            broadcast::lossless_with::<u64>(Settings::new(capacity).headroom(headroom)).unwrap_err(),
            broadcast::mp_lossless_with::<u64>(Settings::new(capacity).headroom(headroom)).unwrap_err(),
        ] {
            assert_eq!(error, CapacityError::Headroom { headroom, capacity });
            let text = error.to_string();
            assert!(text.contains(&format!("headroom {headroom} ")), "{text}");
            assert!(text.contains(&format!("it may be {} at most", capacity - 1)), "{text}");
        }
    }
    assert!(broadcast::lossless_with::<u64>(Settings::new(2).headroom(1)).is_ok());
    assert!(broadcast::mp_lossless_with::<u64>(Settings::new(8).headroom(7)).is_ok());
}

/// It would change nothing there, and a caller that asks for it has taken the wrong ring.
#[test]
fn headroom_of_a_ring_that_waits_for_no_slowest_reader_is_refused() {
    for error in [
        broadcast::lossy_with::<u64>(Settings::new(8).headroom(3)).unwrap_err(),
        broadcast::mp_lossy_with::<u64>(Settings::new(8).headroom(3)).unwrap_err(),
        annulus::broadcast::bytes::lossy_with(Settings::new(64).headroom(3)).map(drop).unwrap_err(),
        annulus::broadcast::bytes::lossless_with(Settings::new(64).headroom(3)).map(drop).unwrap_err(),
        annulus::spsc::with::<u64>(Settings::new(8).headroom(3)).map(drop).unwrap_err(),
        annulus::queue::ordered::with::<u64>(Settings::new(8).headroom(3)).map(drop).unwrap_err(),
        annulus::queue::bytes::with(Settings::new(8).headroom(3)).map(drop).unwrap_err(),
    ] {
        assert_eq!(error, CapacityError::NoHeadroom { headroom: 3 });
        assert!(error.to_string().contains("headroom of 3"), "{error}");
    }
    assert!(broadcast::lossy_with::<u64>(Settings::new(8).headroom(0)).is_ok());
}

/// Where both are wrong, the capacity is named: no headroom would do.
#[test]
fn capacity_too_small_comes_before_its_headroom() {
    for (capacity, headroom) in [(0, 0), (0, 2), (1, 1), (1, usize::MAX)] {
        for error in [
            broadcast::lossless_with::<u64>(Settings::new(capacity).headroom(headroom)).unwrap_err(),
            broadcast::mp_lossless_with::<u64>(Settings::new(capacity).headroom(headroom)).unwrap_err(),
        ] {
            assert_eq!(error, CapacityError::TooSmall { capacity, minimum: 2 });
            assert!(!error.to_string().is_empty());
        }
    }
}

/// Anybody can make such an error, so its text has to be one.
#[test]
fn an_error_of_any_numbers_has_a_text() {
    let text = CapacityError::Headroom { headroom: 2, capacity: 0 }.to_string();
    assert!(text.ends_with("it may be 0 at most"), "{text}");
}

#[test]
fn numbers_of_messages_must_not_run_out() {
    let error = broadcast::lossy_with::<u64>(Settings::new(2).first(u64::MAX)).unwrap_err();
    let CapacityError::FirstSequence { first, largest } = error else { panic!("{error}") };
    assert_eq!(first, u64::MAX);
    assert!(largest >= 1 << 62 && error.to_string().contains(&largest.to_string()), "{error}");
    assert!(broadcast::lossy_with::<u64>(Settings::new(2).first(largest)).is_ok());
    assert!(broadcast::lossy_with::<u64>(Settings::new(2).first(largest + 1)).is_err());
}

/// Where the `try_` form has an error, the other panics with it, and with its own name.
#[test]
fn panics_name_the_function_and_the_value() {
    fn text<R>(action: impl FnOnce() -> R + UnwindSafe) -> String {
        let Err(panic) = catch_unwind(action) else { panic!("it was to panic") };
        *panic.downcast::<String>().expect("a formatted text")
    }
    let too_small = "capacity 1 is too small: this ring needs at least 2 slots";
    for (text, name) in [
        (text(|| annulus::broadcast::lossy::<u64>(1)), "broadcast::lossy"),
        (text(|| annulus::broadcast::lossless::<u64>(1)), "broadcast::lossless"),
        (text(|| annulus::broadcast::mp_lossy::<u64>(1)), "broadcast::mp_lossy"),
        (text(|| annulus::broadcast::mp_lossless::<u64>(1)), "broadcast::mp_lossless"),
        (text(|| annulus::event::channel(1, || 0)), "event::channel"),
        (text(|| annulus::event::mp_channel(1, || 0)), "event::mp_channel"),
    ] {
        assert_eq!(text, format!("annulus::{name}: {too_small}"));
    }
}

/// The factory makes what the ring holds, and one more for each of many publishers; nothing for a ring that
/// can't be had.
#[test]
fn factory_is_asked_as_often_as_needed() {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    let make = || MADE.fetch_add(1, Ordering::Relaxed);
    let made = || MADE.swap(0, Ordering::Relaxed);
    event::with(Settings::new(1), make).unwrap_err();
    event::mp_with(Settings::new(usize::MAX), make).unwrap_err();
    assert_eq!(made(), 0);
    let one = annulus::event::channel(5, make);
    assert_eq!(made(), 5);
    let many = annulus::event::mp_channel(5, make);
    assert_eq!(made(), 6);
    let clone = many.0.clone();
    assert_eq!(made(), 1);
    drop((one, many, clone));
    assert_eq!(made(), 0);
}

/// The longest ring of the smallest messages, and of events without a size.
#[test]
fn messages_without_a_size_can_be_sent() {
    let (mut publisher, subscribable) = annulus::broadcast::lossless::<()>(3);
    let mut subscriber = subscribable.subscribe();
    publisher.publish_batch(&[(); 3]).unwrap();
    assert!(publisher.try_publish(()).is_err());
    assert_eq!(subscriber.try_iter().count(), 3);

    let (mut publisher, subscribable) = annulus::event::channel(2, || ());
    let mut subscriber = subscribable.subscribe();
    publisher.publish(|()| ()).unwrap();
    assert_eq!(subscriber.try_process(|()| 1), Ok(1));
    assert!(subscriber.try_process(|()| 1).is_err());
}

/// The longest slice there is takes no memory. What fits is sent, the rest comes back, and everything is
/// counted.
#[test]
fn longest_slice_without_a_size_is_sent_and_counted() {
    let all = [(); usize::MAX];
    let (publisher, subscribable) = annulus::broadcast::mp_lossless::<()>(4);
    let mut subscriber = subscribable.subscribe();
    publisher.publish(()).unwrap();
    let error = publisher.publish_batch_timeout(&all, Duration::ZERO).unwrap_err();
    assert_eq!(error.into_inner().len(), usize::MAX - 3);
    assert_eq!((publisher.published(), subscriber.try_iter().count()), (4, 4));

    let (mut publisher, subscribable) = annulus::broadcast::lossless::<()>(4);
    let mut subscriber = subscribable.subscribe();
    publisher.publish(()).unwrap();
    let error = publisher.publish_batch_timeout(&all, Duration::ZERO).unwrap_err();
    assert_eq!(error.into_inner().len(), usize::MAX - 3);
    assert_eq!((publisher.published(), subscriber.try_iter().count()), (4, 4));

    // A queue's numbers are told apart up to half of all there are, so that is its longest ring.
    let largest = isize::MAX as usize;
    let error = spsc::with::<()>(Settings::new(largest + 1)).unwrap_err();
    assert_eq!(error, CapacityError::TooLarge { capacity: largest + 1, slot_bytes: 0 });
    assert_eq!(
        error.to_string(),
        format!("capacity {} is too large: a ring has at most {largest} slots", largest + 1)
    );
    let (mut producer, mut consumer) = spsc::channel::<()>(largest);
    let rest = producer.try_send_batch(&all).unwrap_err().into_inner();
    assert_eq!(rest.len(), usize::MAX - largest);
    assert_eq!(producer.len(), largest);
    assert_eq!((consumer.recv(), producer.len()), (Ok(()), largest - 1));
}

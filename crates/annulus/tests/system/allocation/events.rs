//! Rings of owned events.

use std::fmt::Write;
use std::time::Duration;

use crate::counting::{allocations, steady};

/// At no time, for nobody.
const NOW: Duration = Duration::ZERO;

#[test]
fn owned_events_allocate_nothing() {
    let text = || String::with_capacity(64);
    let (mut publisher, subscribable) = annulus::event::channel(8, text);
    let (mut other, other_subscribable) = annulus::event::mp_channel(8, text);
    let mut subscriber = subscribable.subscribe();
    let mut other_subscriber = other_subscribable.subscribe();
    steady(|round| {
        for _ in 0..6 {
            let change = |text: &mut String| {
                text.clear();
                write!(text, "round {round}").unwrap();
            };
            publisher.publish(change).unwrap();
            other.publish(change).unwrap();
        }
        subscriber.process(|text| assert!(text.starts_with("round"))).unwrap();
        subscriber.peek().unwrap().pass();
        subscriber.process_batch(99, |text, _| assert_eq!(text.capacity(), 64)).unwrap();
        while other_subscriber.try_process(|text| assert_eq!(text.capacity(), 64)).is_ok() {}
    });
}

/// A value that needs no memory goes in and out without any.
#[test]
fn events_by_value_allocate_nothing_of_their_own() {
    let (mut publisher, subscribable) = annulus::event::channel(8, || [0; 40]);
    let (mut other, other_subscribable) = annulus::event::mp_channel(8, || [0; 40]);
    let (mut subscriber, mut other_subscriber) = (subscribable.subscribe(), other_subscribable.subscribe());
    steady(|round| {
        publisher.send([round; 40]).unwrap();
        other.send([round; 40]).unwrap();
        publisher.try_send([round; 40]).unwrap();
        other.send_timeout([round; 40], NOW).unwrap();
        assert_eq!(subscriber.recv().unwrap()[0] + other_subscriber.recv().unwrap()[39], 2 * round);
        assert_eq!((subscriber.try_iter().count(), other_subscriber.try_iter().count()), (1, 1));
    });
}

/// The frames of the example `video_frames`: one camera, three viewers on threads of their own. Nobody
/// allocates for a frame, and nobody copies one: all see it where the camera filled it.
#[test]
fn frames_for_many_readers_allocate_nothing() {
    const PLACES: usize = 4;
    const BYTES: usize = if cfg!(miri) { 64 } else { 64 * 1024 };
    let frames: u64 = if cfg!(miri) { 20 } else { 2000 };
    let empty = || (0_u64, vec![0_u8; BYTES].into_boxed_slice());
    let (mut camera, viewers) = annulus::event::channel(PLACES, empty);
    // A first sleep takes what it takes.
    annulus::wait::prepare_process();
    let watching = [(); 3].map(|()| {
        let mut viewer = viewers.subscribe();
        std::thread::spawn(move || {
            let (mut seen, mut places) = (0, [0; PLACES]);
            let count = allocations(|| {
                let watch = |(number, pixels): &(u64, Box<[u8]>)| {
                    assert_eq!(*number, seen);
                    assert!(pixels.iter().all(|&pixel| pixel == seen as u8));
                    let place = &mut places[seen as usize % PLACES];
                    assert!(*place == 0 || *place == pixels.as_ptr().addr(), "a copy");
                    *place = pixels.as_ptr().addr();
                    seen += 1;
                };
                let mut watch = watch;
                while viewer.process(&mut watch).is_ok() {}
            });
            (count, seen, places)
        })
    });
    let count = allocations(|| {
        for number in 0..frames {
            let fill = |(frame, pixels): &mut (u64, Box<[u8]>)| {
                *frame = number;
                pixels.fill(number as u8);
            };
            assert!(camera.publish(fill).is_ok());
        }
    });
    assert_eq!(count, 0, "the camera");
    drop(camera);
    let accounts = watching.map(|viewer| viewer.join().unwrap());
    assert!(accounts.iter().all(|account| *account == (0, frames, accounts[0].2)), "{accounts:?}");
}

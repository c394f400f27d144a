//! Clones of lossless subscribers while a publisher looks at all of them.

use std::thread;

use annulus::{TryRecvError, WaitStrategy};

use crate::every::without_standing_still;

/// Places that publishers look at one after the other; most of them free.
const PLACES: usize = if cfg!(miri) { 20 } else { 500 };

const CLONES: u64 = if cfg!(miri) {
    10
} else if cfg!(debug_assertions) {
    500
} else {
    5_000
};

/// A clone takes the first free place, and its original, at the last one, goes on at once. A look that came
/// to the first place before the clone and to the last one after the original had gone on would see neither
/// where the clone stands, and let the publisher overwrite what that one needs.
#[test]
fn gate_sees_a_clone_that_takes_an_earlier_place() {
    without_standing_still(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(2);
        let mut crowd: Vec<_> = (0..PLACES).map(|_| subscribable.subscribe()).collect();
        let mut original = crowd.pop().unwrap();
        drop((crowd, subscribable));
        let writer = thread::spawn(move || {
            let mut number = 0;
            // It looks all the time.
            while publisher.publish_until(number, WaitStrategy::BusySpin).is_ok() {
                number += 1;
                if cfg!(miri) {
                    thread::yield_now();
                }
            }
        });
        for round in 0..CLONES {
            // The ring is full, so the publisher is looking.
            while original.len() < 2 {
                std::hint::spin_loop();
            }
            let next = original.cursor();
            let mut clone = original.clone();
            assert_eq!([(); 2].map(|()| original.try_recv()), [Ok(next), Ok(next + 1)]);
            // Time for a publisher that sees neither.
            (0..round % 64).for_each(|_| std::hint::spin_loop());
            assert_eq!([(); 2].map(|()| clone.try_recv()), [Ok(next), Ok(next + 1)], "round {round}");
        }
        drop(original);
        writer.join().unwrap();
    });
}

/// The same for what is read by reference: it is not changed meanwhile.
#[test]
fn gate_sees_a_clone_that_holds_a_reference() {
    without_standing_still(|| {
        let (mut publisher, subscribable) = annulus::event::channel(2, || 0_u64);
        let mut crowd: Vec<_> = (0..PLACES).map(|_| subscribable.subscribe()).collect();
        let mut original = crowd.pop().unwrap();
        drop((crowd, subscribable));
        let writer = thread::spawn(move || {
            let mut number = 0;
            while publisher.publish_until(WaitStrategy::BusySpin, |event| *event = number).is_ok() {
                number += 1;
                if cfg!(miri) {
                    thread::yield_now();
                }
            }
        });
        for round in 0..CLONES {
            let next = original.cursor();
            let mut clone = original.clone();
            for _ in 0..2 {
                while original.try_process(|_| ()) == Err(TryRecvError::Empty) {
                    std::hint::spin_loop();
                }
            }
            let event = clone.peek().expect("its original has seen it");
            assert_eq!(*event, next);
            (0..round % 64).for_each(|_| std::hint::spin_loop());
            assert_eq!(*event, next, "changed under the reader's eyes, in round {round}");
            event.pass();
        }
        drop(original);
        writer.join().unwrap();
    });
}

//! As `hand_off.rs`, with a consumer that has asked and then goes, or sleeps.
//!
//! A message is received, dropped with the queue, or given back: once.
#![cfg(annulus_loom)]

use std::time::Duration;

use annulus::{RecvTimeoutError, spsc};
use annulus_loom::{BLOCK, Counted, alive, check, receive_all};
use loom::thread;

/// A consumer that sleeps has asked before.
#[test]
fn a_message_wakes_the_consumer() {
    check(|| {
        let (mut producer, mut consumer) = spsc::Builder::new(2).hand_off(true).build::<u64>().unwrap();
        let reader = thread::spawn(move || (consumer.recv_by(BLOCK), consumer));
        assert!(producer.try_send(7).is_ok());
        assert_eq!(reader.join().unwrap().0, Ok(7));
    });
}

/// A close, or a drop, of who has asked, beside the message.
#[test]
fn the_end_beside_what_was_asked_for() {
    for drops in [false, true] {
        check(move || {
            let alive = alive();
            let (mut producer, mut consumer) =
                spsc::Builder::new(2).hand_off(true).build::<Counted>().unwrap();
            assert_eq!(consumer.recv_timeout(Duration::ZERO).err(), Some(RecvTimeoutError::Timeout));
            let messages = [(); 2].map(|()| Counted::new(&alive));
            let writer = thread::spawn(move || {
                let back: Vec<_> =
                    messages.into_iter().filter_map(|message| producer.try_send(message).err()).collect();
                (back, producer)
            });
            let mut received = Vec::new();
            if drops {
                drop(consumer);
            } else {
                consumer.close();
                received = receive_all(&mut consumer);
            }
            let (back, producer) = writer.join().unwrap();
            assert_eq!(Counted::count(&alive), back.len() + received.len(), "the others were dropped");
            assert!(drops || back.len() + received.len() == 2, "acknowledged and received");
            drop((back, received, producer));
            assert_eq!(Counted::count(&alive), 0);
        });
    }
}

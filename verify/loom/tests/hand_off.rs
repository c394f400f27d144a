//! A queue whose consumer asks for the message that it waits for: it comes beside the tail, or lies in its
//! slot.
//!
//! Messages move, so loom watches the slots, and the place beside the tail: two threads in one of them fail
//! the model.
#![cfg(annulus_loom)]

use annulus::spsc;
use annulus_loom::{Checked, SPIN, check};
use loom::thread;

/// A queue of `capacity` slots that hands messages over, and whose numbers wrap.
fn queue(capacity: usize) -> (spsc::Producer<[u64; 2]>, spsc::Consumer<[u64; 2]>) {
    spsc::Builder::new(capacity).first(u64::MAX).hand_off(true).build().unwrap()
}

/// The consumer asks for each, in time or not.
#[test]
fn one_by_one() {
    for capacity in [1, 2] {
        check(move || {
            let (mut producer, mut consumer) = queue(capacity);
            let writer = thread::spawn(move || {
                for number in 0..3 {
                    assert!(producer.send_by(Checked::of(number), SPIN).is_ok());
                }
                producer
            });
            for number in 0..3 {
                assert_eq!(consumer.recv_by(SPIN), Ok(Checked::of(number)));
            }
            writer.join().unwrap();
        });
    }
}

/// The producer does not look whether it is asked where it sends several, and the consumer looks at those in
/// place.
#[test]
fn beside_slices() {
    check(|| {
        let (mut producer, mut consumer) = queue(4);
        let writer = thread::spawn(move || {
            assert!(producer.try_send(Checked::of(0)).is_ok());
            assert_eq!(producer.try_send_batch(&[1, 2].map(Checked::of)), 2);
            assert!(producer.try_send(Checked::of(3)).is_ok());
            producer
        });
        assert_eq!(consumer.recv_by(SPIN), Ok(Checked::of(0)));
        assert_eq!(consumer.recv_by(SPIN), Ok(Checked::of(1)));
        let mut received: Vec<_> = consumer.readable().iter().map(Checked::number).collect();
        consumer.advance(received.len());
        writer.join().unwrap();
        consumer.consume(|message| received.push(message.number()));
        assert_eq!(received, [2, 3]);
    });
}

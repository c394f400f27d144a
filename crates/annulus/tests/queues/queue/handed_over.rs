//! Messages that are handed over beside the tail.

use std::time::Duration;

use annulus::{RecvTimeoutError, spsc};

/// A message that was handed over lies in its slot from the first look on: what is done to it there stays.
#[test]
fn handed_over_once() {
    use std::cell::Cell;
    let (mut producer, mut consumer) = spsc::Builder::new(2).hand_off(true).build().unwrap();
    for number in 0..5 {
        // It has asked for the next one.
        assert_eq!(consumer.recv_timeout(Duration::ZERO).err(), Some(RecvTimeoutError::Timeout));
        producer.try_send(Cell::new(number)).unwrap();
        consumer.peek().unwrap().set(number + 100);
        producer.try_send(Cell::new(number + 50)).unwrap();
        let received: Vec<_> = consumer.try_iter().map(Cell::into_inner).collect();
        assert_eq!(received, [number + 100, number + 50]);
    }
}

/// What does not fit beside the tail, for its size or its alignment, comes by its slot as ever.
#[test]
fn what_is_too_large_to_be_handed_over() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(align(32))]
    struct Aligned(u8);
    fn goes_through<T: Copy + PartialEq + std::fmt::Debug + Send>(messages: [T; 3]) {
        let (mut producer, mut consumer) = spsc::Builder::new(2).hand_off(true).build().unwrap();
        for message in messages {
            assert_eq!(consumer.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
            producer.try_send(message).unwrap();
            assert_eq!(consumer.recv(), Ok(message));
        }
    }
    goes_through([(); 3]);
    goes_through([1_u8, 2, 3]);
    goes_through([1, 2, 3].map(|word| [word; 5]));
    goes_through([1, 2, 3].map(|byte| [byte; 41]));
    goes_through([1, 2, 3].map(|word| [word; 100]));
    goes_through([1, 2, 3].map(Aligned));
}

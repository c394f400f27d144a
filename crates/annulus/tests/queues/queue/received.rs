//! What the receiving verbs say, and what they leave: each number by itself, for every kind.

use std::time::Duration;

use annulus::Settings;
use annulus::queue::kind::QueueKind;
use annulus::{RecvError, RecvTimeoutError, TryRecvError, WaitStrategy};

for_each_kind! { batches_of_places batches_of_a_vector handed_to_a_closure }

/// A queue of eight with the numbers from 1 to `count`.
fn queue<K: QueueKind>(count: u64) -> (annulus::queue::Producer<u64, K>, annulus::queue::Consumer<u64, K>) {
    let (mut producer, consumer) = annulus::queue::with::<_, K>(Settings::new(8)).unwrap();
    (1..=count).for_each(|number| producer.send(number).unwrap());
    (producer, consumer)
}

fn batches_of_places<K: QueueKind>() {
    let (producer, mut consumer) = queue::<K>(6);
    let mut values = [0; 3];
    assert_eq!(consumer.recv_batch(&mut []), Ok(0));
    assert_eq!((consumer.recv_batch(&mut values), values), (Ok(3), [1, 2, 3]));
    assert_eq!((consumer.recv_batch(&mut values[..1]), values), (Ok(1), [4, 2, 3]));
    assert_eq!((consumer.len(), consumer.is_empty()), (2, false));
    assert_eq!((producer.len(), producer.is_empty(), producer.is_full()), (2, false, false));
    assert_eq!(
        (consumer.try_recv_batch(&mut values), values),
        (2, [5, 6, 3]),
        "the third place is as it was"
    );
    assert_eq!((consumer.try_recv_batch(&mut values), consumer.len()), (0, 0));
    drop(producer);
    assert_eq!((consumer.recv_batch(&mut values), values), (Err(RecvError::CLOSED), [5, 6, 3]));
    assert_eq!(consumer.recv_batch(&mut []), Ok(0), "closed, too");
}

fn batches_of_a_vector<K: QueueKind>() {
    let (producer, mut consumer) = queue::<K>(6);
    let mut values = vec![9];
    assert_eq!((consumer.recv_many(&mut values, 0), values.len()), (Ok(0), 1));
    assert_eq!(consumer.recv_many(&mut values, 1), Ok(1));
    assert_eq!(consumer.recv_many(&mut values, 3), Ok(3));
    assert_eq!(values, [9, 1, 2, 3, 4]);
    assert_eq!(consumer.recv_many(&mut values, 9), Ok(2));
    assert_eq!(values, [9, 1, 2, 3, 4, 5, 6]);
    drop(producer);
    assert_eq!(consumer.recv_many(&mut values, 1), Err(RecvError::CLOSED));
    assert_eq!((consumer.recv_many(&mut values, 0), values.len()), (Ok(0), 7));
}

fn handed_to_a_closure<K: QueueKind>() {
    let (producer, mut consumer) = queue::<K>(8);
    let mut taken = Vec::new();
    assert_eq!(consumer.consume(0, |number| taken.push(number)), 0);
    assert_eq!(consumer.consume(2, |number| taken.push(number)), 2);
    assert_eq!((consumer.skip(1), consumer.skip(2), consumer.len()), (1, 2, 3));
    assert_eq!(consumer.consume(usize::MAX, |number| taken.push(number)), 3);
    assert_eq!(taken, [1, 2, 6, 7, 8]);
    assert_eq!((consumer.consume(usize::MAX, drop), consumer.skip(1), consumer.is_empty()), (0, 0, true));
    assert!(!consumer.is_closed() && !consumer.is_fully_drained());
    assert_eq!(consumer.try_recv(), Err(TryRecvError::Empty));
    drop(producer);
    assert!(consumer.is_closed() && consumer.is_fully_drained());
    assert_eq!(consumer.recv_until(WaitStrategy::BusySpin), Err(RecvTimeoutError::Closed));
    assert!(consumer.recv_timeout(Duration::ZERO).is_err());
}

/// Closed is not drained: neither while messages lie there, nor while the queue is open.
#[test]
fn drained_is_closed_and_empty() {
    let (mut producer, mut consumer) = annulus::mpsc::channel(4);
    assert!(!consumer.is_fully_drained());
    producer.send(1).unwrap();
    consumer.close();
    assert!(consumer.is_closed() && !consumer.is_fully_drained());
    assert_eq!(consumer.recv(), Ok(1));
    assert!(consumer.is_fully_drained());
}

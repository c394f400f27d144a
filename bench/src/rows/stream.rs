//! A stream from one thread to another, of which no message is lost.
//!
//! All of it is inlined where it is called, so that a row whose functions have a module to themselves has one
//! call site of each of a ring's functions, and all contenders are inlined alike (`inlining` says why).

use std::hint::spin_loop;
use std::ops::Range;

use crate::contenders::{
    BatchPublisher, BatchReader, BatchReceiver, BatchSender, Gated, Publisher, Queue, Reader, Receiver,
    Sender,
};
use crate::messages::{BATCH, Check, mix, mixes};
use crate::row::{Plan, Sample};
use crate::timing::across;

/// One by one. Where there are several readers, one thread polls them in turn.
#[inline(always)]
pub fn stream<C: Gated<READERS>, const READERS: usize>(plan: &Plan) -> Sample {
    let (mut publisher, mut readers) = C::channel(plan.capacity);
    let publish = move |phase: Range<u64>| {
        for i in phase {
            publisher.publish(mix(i));
        }
    };
    let receive = move |total: u64| {
        let mut next = [0; READERS];
        let mut left = total * READERS as u64;
        while left > 0 {
            let before = left;
            for (reader, next) in readers.iter_mut().zip(&mut next) {
                let received = reader.poll(|message| assert!(message == mix(*next)));
                *next += u64::from(received);
                left -= u64::from(received);
            }
            if left == before {
                spin_loop();
            }
        }
    };
    across(plan, publish, receive)
}

/// In batches of [`BATCH`].
#[inline(always)]
pub fn stream_batches<C: Gated<1>>(plan: &Plan) -> Sample
where
    C::Publisher: BatchPublisher,
    C::Reader: BatchReader,
{
    let (mut publisher, [mut reader]) = C::channel(plan.capacity);
    let mut batch = [0; BATCH];
    let publish = move |phase: Range<u64>| {
        for first in phase.step_by(BATCH) {
            for (slot, message) in batch.iter_mut().zip(mixes(first)) {
                *slot = message;
            }
            publisher.publish_batch(&batch);
        }
    };
    let receive = move |total| {
        let (mut buffer, mut check, mut received) = ([0; BATCH], Check::new(), 0);
        while received < total {
            let count = reader.poll_batch(&mut buffer, |message| check.look_at(message));
            check.settle();
            received += count;
            if count == 0 {
                spin_loop();
            }
        }
    };
    across(plan, publish, receive)
}

/// Through a queue, one by one.
#[inline(always)]
pub fn queue<Q: Queue<Sender: Sender, Receiver: Receiver>>(plan: &Plan) -> Sample {
    let (sender, receiver) = Q::queue(plan.capacity);
    queue_between(plan, sender, receiver)
}

/// From this end of a queue to that.
#[inline(always)]
pub fn queue_between(plan: &Plan, mut sender: impl Sender, mut receiver: impl Receiver) -> Sample {
    let send = move |phase: Range<u64>| {
        for i in phase {
            sender.must_send(mix(i));
        }
    };
    let receive = move |total| {
        for i in 0..total {
            assert!(receiver.must_receive() == mix(i));
        }
    };
    across(plan, send, receive)
}

/// Through a queue, in batches of [`BATCH`].
#[inline(always)]
pub fn queue_batches<Q: Queue<Sender: BatchSender, Receiver: BatchReceiver>>(plan: &Plan) -> Sample {
    let (mut sender, mut receiver) = Q::queue(plan.capacity);
    let mut batch = [0; BATCH];
    let send = move |phase: Range<u64>| {
        for first in phase.step_by(BATCH) {
            for (slot, message) in batch.iter_mut().zip(mixes(first)) {
                *slot = message;
            }
            sender.send_batch(&batch);
        }
    };
    let receive = move |total| {
        let (mut buffer, mut check, mut received) = ([0; BATCH], Check::new(), 0);
        while received < total {
            let count = receiver.receive_batch(&mut buffer, |message| check.look_at(message));
            check.settle();
            received += count as u64;
            if count == 0 {
                spin_loop();
            }
        }
    };
    across(plan, send, receive)
}

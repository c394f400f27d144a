//! One thread that waits for four queues at once, beside one that waits for a single one.

use std::ops::Range;

use super::entries::contenders;
use crate::contenders::{AnnulusQueue, Crossbeam, Flume, Named, Queue, RINGS, Receiver, Selecting, Sender};
use crate::messages::mix;
use crate::row::{Plan, Row, Sample};
use crate::timing::across;

pub fn rows() -> [Row; 2] {
    const PLAINLY: &str = "receiving from one queue";
    let row = |name, about| Row::new(name, about, 4096, 2_048_000).on_two_cores();
    let against = |row: Row| {
        row.other(PLAINLY, plainly::plainly)
            .target(PLAINLY, 1.5)
            .target(Crossbeam::NAME, 0.8)
            .target(Flume::NAME, 0.8)
    };
    [
        against(
            row(
                "select, one of four queues busy",
                "u64, sent to one of four queues, and received on the other core by a thread that waits for all four; beside it, one that \
                 waits for the busy one by its plain verb",
            )
            .entries(contenders!(select: AnnulusQueue, Crossbeam, Flume; ONE_BUSY)),
        ),
        against(
            row("select, four queues in turn at random", "the same, with each message sent to another queue, by chance")
                .entries(contenders!(select: AnnulusQueue, Crossbeam, Flume; AT_RANDOM)),
        ),
    ]
}

const ONE_BUSY: bool = false;
const AT_RANDOM: bool = true;

/// The queue for a message; where one is busy, it is neither the first nor the last.
#[inline(always)]
fn ring<const IS_SPREAD: bool>(message: u64) -> usize {
    if IS_SPREAD { (mix(message) >> 62) as usize } else { 2 }
}

#[inline(never)]
fn select<Q: Selecting<Sender: Sender>, const IS_SPREAD: bool>(plan: &Plan) -> Sample {
    let ends = [(); RINGS].map(|()| Q::queue(plan.capacity));
    let (mut senders, mut receivers) = (Vec::new(), Vec::new());
    for (sender, receiver) in ends {
        senders.push(sender);
        receivers.push(receiver);
    }
    let send = move |phase: Range<u64>| {
        for message in phase {
            senders[ring::<IS_SPREAD>(message)].must_send(message);
        }
    };
    let Ok(mut receivers) = <[_; RINGS]>::try_from(receivers) else { unreachable!("there are as many") };
    let receive = move |total: u64| {
        let (mut next, mut sum) = ([0; RINGS], 0_u64);
        for _ in 0..total {
            let (ring, message) = Q::select(&mut receivers);
            assert!(message >= next[ring], "of each queue, in order");
            next[ring] = message + 1;
            sum = sum.wrapping_add(message);
        }
        assert_eq!(sum, (0..total).fold(0, u64::wrapping_add));
    };
    across(plan, send, receive)
}

mod plainly {
    use super::{AnnulusQueue, Plan, Queue, Range, Receiver, Sample, Sender, across};

    /// One queue, by its plain verb, with the same work for each message.
    #[inline(never)]
    pub fn plainly(plan: &Plan) -> Sample {
        let (mut sender, mut receiver) = AnnulusQueue::queue(plan.capacity);
        let send = move |phase: Range<u64>| phase.for_each(|message| sender.must_send(message));
        let receive = move |total: u64| {
            let (mut next, mut sum) = (0, 0_u64);
            for _ in 0..total {
                let message = receiver.must_receive();
                assert!(message >= next, "in order");
                next = message + 1;
                sum = sum.wrapping_add(message);
            }
            assert_eq!(sum, (0..total).fold(0, u64::wrapping_add));
        };
        across(plan, send, receive)
    }
}

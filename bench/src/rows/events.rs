//! Messages that are changed and read where they lie.
//!
//! As in `lossless`, each row has its loop in a module of its own.

use super::entries::contenders;
use crate::contenders::{AnnulusEvents, Disruptor, Named, PhotonRing, PhotonRingEvents};
use crate::row::Row;

pub fn rows() -> [Row; 2] {
    use one_thread::publish_and_process;
    use to_one::stream;

    [
        Row::new(
            "events, one thread",
            "u64, one changed by a closure and published, then read by a closure and checked",
            4096,
            8_000_000,
        )
        .entries(contenders!(publish_and_process: AnnulusEvents, PhotonRingEvents, Disruptor))
        .target(PhotonRing::NAME, 0.80),
        Row::new(
            "events, one reader",
            "u64, changed and published one by one, read and checked one by one on the other core",
            4096,
            1_024_000,
        )
        .on_two_cores()
        .entries(contenders!(stream: AnnulusEvents, PhotonRingEvents, Disruptor))
        .target(PhotonRing::NAME, 0.80),
    ]
}

mod one_thread {
    use std::time::Instant;

    use crate::contenders::{Gated, Publisher, Reader};
    use crate::messages::mix;
    use crate::row::{Plan, Sample};
    use crate::timing::{ns_each, phases};

    pub fn publish_and_process<C: Gated<1>>(plan: &Plan) -> Sample {
        let (mut publisher, [mut reader]) = C::channel(plan.capacity);
        let mut begun = Instant::now();
        for phase in phases(plan.capacity as u64, plan.messages) {
            begun = Instant::now();
            for i in phase {
                publisher.publish(mix(i));
                assert!(reader.poll(|message| assert!(message == mix(i))));
            }
        }
        ns_each(begun, plan.messages).into()
    }
}

mod to_one {
    use crate::contenders::Gated;
    use crate::row::{Plan, Sample};
    use crate::rows::stream;

    pub fn stream<C: Gated<1>>(plan: &Plan) -> Sample {
        stream::stream::<C, 1>(plan)
    }
}

//! One subscriber that receives for ten consumers.

use std::time::Instant;

use super::entries::contenders;
use super::one_thread;
use crate::contenders::{Annulus, AnnulusGroup, Contender};
use crate::messages::mix;
use crate::row::{Plan, Row, Sample};
use crate::timing::{ns_each, phases};

const GROUP: usize = 10;

pub fn row() -> Row {
    const ONE: &str = "one subscriber";
    Row::new(
        "group of ten",
        "u64, on one thread, one message published, then received by a group of ten and checked; photon-ring 3.0 has no \
         groups",
        one_thread::CAPACITY,
        8_000_000,
    )
    .entries(contenders!(publish_and_receive: AnnulusGroup<GROUP>))
    .other(ONE, publish_and_receive::<Annulus>)
    .other("ten subscribers", publish_and_receive_by_ten)
    .target(ONE, 1.10)
}

#[inline(never)]
fn publish_and_receive<C: Contender>(plan: &Plan) -> Sample {
    one_thread::publish_and_receive::<C>(plan)
}

#[inline(never)]
fn publish_and_receive_by_ten(plan: &Plan) -> Sample {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(plan.capacity);
    let mut subscribers: [_; GROUP] = std::array::from_fn(|_| subscribable.subscribe());
    let mut begun = Instant::now();
    for phase in phases(plan.capacity as u64, plan.messages) {
        begun = Instant::now();
        for i in phase {
            publisher.publish(mix(i));
            for subscriber in &mut subscribers {
                assert!(subscriber.try_recv() == Ok(mix(i)));
            }
        }
    }
    ns_each(begun, plan.messages).into()
}

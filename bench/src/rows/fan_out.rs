//! One message for several readers, all on one thread.

use std::time::Instant;

use super::entries::contenders;
use super::one_thread;
use crate::contenders::{
    Annulus, AnnulusGroup, AsyncBroadcast, Bus, DisruptorOfMany, FanOut, PhotonRing, Publisher, Reader, Tokio,
};
use crate::messages::mix;
use crate::row::{Plan, Row, Sample};
use crate::timing::{ns_each, phases};

pub fn rows() -> [Row; 4] {
    [
        row::<1>("fan-out to one"),
        row::<2>("fan-out to two"),
        row::<5>("fan-out to five"),
        row::<10>("fan-out to ten"),
    ]
}

fn row<const READERS: usize>(name: &'static str) -> Row {
    Row::new(
        name,
        "u64, on one thread, one message published, then received by each of the subscribers and checked; bus, async-broadcast and \
         disruptor lose nothing, the others may",
        one_thread::CAPACITY,
        200_000,
    )
    .at("subscribers", READERS as u64)
    .entries(contenders!(to_each: Annulus, PhotonRing, Tokio, Bus, AsyncBroadcast, DisruptorOfMany; READERS))
    .other("annulus, a group", to_group::<READERS>)
}

#[inline(never)]
fn to_each<C: FanOut<READERS>, const READERS: usize>(plan: &Plan) -> Sample {
    let (mut publisher, mut readers) = C::channel(plan.capacity);
    let mut begun = Instant::now();
    for phase in phases(plan.capacity as u64, plan.messages) {
        begun = Instant::now();
        for i in phase {
            publisher.publish(mix(i));
            for reader in &mut readers {
                assert!(reader.poll(|message| assert!(message == mix(i))));
            }
        }
    }
    ns_each(begun, plan.messages).into()
}

#[inline(never)]
fn to_group<const READERS: usize>(plan: &Plan) -> Sample {
    one_thread::publish_and_receive::<AnnulusGroup<READERS>>(plan)
}

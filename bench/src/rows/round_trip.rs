//! A message to the other core and its answer back.

use std::thread;
use std::time::Instant;

use super::entries::contenders;
use crate::contenders::{Annulus, Contender, Named, PhotonRing, Publisher, Subscriber, Tokio};
use crate::cores::pin;
use crate::floor;
use crate::row::{Plan, Row, Sample};
use crate::timing::{WARM_UP, ns_each, phases};

pub fn row() -> Row {
    const FLOOR: &str = "raw ping-pong";
    Row::new(
        "cross-thread round trip",
        "u64, through one ring and back through another, both sides polling",
        4096,
        100_000,
    )
    .on_two_cores()
    .entries(contenders!(round_trip: Annulus, PhotonRing, Tokio))
    .floor(FLOOR, floor::round_trip)
    .target(PhotonRing::NAME, 1.0)
    .target(FLOOR, 1.10)
}

#[inline(never)]
fn round_trip<C: Contender>(plan: &Plan) -> Sample {
    let (mut there, mut arrival) = C::channel::<u64>(plan.capacity);
    let (mut back, mut answer) = C::channel::<u64>(plan.capacity);
    let total = WARM_UP + plan.messages;
    thread::scope(|scope| {
        scope.spawn(move || {
            pin(plan.cores.there);
            for _ in 0..total {
                let value = poll(&mut arrival);
                back.publish(value + 1);
            }
        });
        let mut begun = Instant::now();
        for phase in phases(WARM_UP, plan.messages) {
            begun = Instant::now();
            for i in phase {
                there.publish(i);
                assert!(poll(&mut answer) == i + 1);
            }
        }
        ns_each(begun, plan.messages).into()
    })
}

#[inline(always)]
fn poll(subscriber: &mut impl Subscriber<u64>) -> u64 {
    loop {
        if let Ok(value) = subscriber.try_recv() {
            return value;
        }
    }
}

//! What a publisher and a subscriber cost when nobody is waited for.
//!
//! All the rings' functions have several call sites in this module, so the compiler decides by their size
//! which of them it inlines, as it does in a program that uses a ring in several places. `inlining` has the
//! same loops with that decided.

use std::time::Instant;

use super::entries::contenders;
use crate::contenders::guests::{self, Inline};
use crate::contenders::{Annulus, Contender, Named, PhotonRing, Publisher, Subscriber, Tokio};
use crate::floor;
use crate::messages::mix;
use crate::row::{Plan, Row, Sample};
use crate::timing::{ns_each, phases};

pub(super) const CAPACITY: usize = 4096;

pub fn rows() -> [Row; 3] {
    [
        Row::new("publish alone", "u64, a subscriber attached but idle", CAPACITY, 4_000_000)
            .entries(contenders!(publish: Annulus, PhotonRing, Tokio))
            .entries(guests::entry::<Inline>(|plan| guests::run_annulus("publish", plan)))
            .floor("storing 16-byte slots", floor::store_slots)
            .target(PhotonRing::NAME, 0.45),
        Row::new(
            "publish + receive, one thread",
            "u64, one message published, then received and checked",
            CAPACITY,
            2_000_000,
        )
        .entries(contenders!(publish_and_receive: Annulus, PhotonRing, Tokio))
        .entries(guests::entry::<Inline>(|plan| guests::run_annulus("publish-and-receive", plan)))
        .target(PhotonRing::NAME, 0.70)
        .aim(0.60),
        Row::new("empty poll", "u64, a receive that finds nothing new", CAPACITY, 2_000_000)
            .entries(contenders!(poll: Annulus, PhotonRing, Tokio))
            .target(PhotonRing::NAME, 1.0),
    ]
}

#[inline(always)]
pub(super) fn publish<C: Contender>(plan: &Plan) -> Sample {
    let (mut publisher, mut subscriber) = C::channel::<u64>(plan.capacity);
    let mut begun = Instant::now();
    for phase in phases(plan.capacity as u64, plan.messages) {
        begun = Instant::now();
        for i in phase {
            publisher.publish(mix(i));
        }
    }
    let ns = ns_each(begun, plan.messages);
    // One that reports the lag goes on at its next look.
    let message = subscriber.try_recv().or_else(|_| subscriber.try_recv()).unwrap();
    assert_eq!(message, mix(subscriber.cursor() - 1));
    assert!(subscriber.total_lagged() > 0, "it lagged");
    ns.into()
}

#[inline(always)]
pub(super) fn publish_and_receive<C: Contender>(plan: &Plan) -> Sample {
    let (mut publisher, mut subscriber) = C::channel::<u64>(plan.capacity);
    let mut begun = Instant::now();
    for phase in phases(plan.capacity as u64, plan.messages) {
        begun = Instant::now();
        for i in phase {
            publisher.publish(mix(i));
            match subscriber.try_recv() {
                Ok(value) => assert!(value == mix(i)),
                Err(error) => panic!("{error:?}"),
            }
        }
    }
    ns_each(begun, plan.messages).into()
}

fn poll<C: Contender>(plan: &Plan) -> Sample {
    let (mut publisher, mut subscriber) = C::channel::<u64>(plan.capacity);
    publisher.publish(mix(0));
    assert_eq!(subscriber.try_recv().unwrap(), mix(0));
    let begun = Instant::now();
    for _ in 0..plan.messages {
        assert!(subscriber.try_recv().is_err());
    }
    ns_each(begun, plan.messages).into()
}

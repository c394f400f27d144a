//! Rings that several threads publish to.

use std::ops::Range;

use super::entries::contenders;
use super::one_thread;
use crate::contenders::{
    AnnulusPublishers, Contender, Named, PhotonRing, PhotonRingPublishers, Publisher, Subscriber,
};
use crate::floor;
use crate::messages::mix;
use crate::row::{Plan, Row, Sample};
use crate::timing::{LIVE_WARM_UP, side_by_side};

pub fn on_one_thread() -> Row {
    Row::new(
        "multi-producer publish + receive",
        "u64, on one thread, one message published to a ring for many publishers, then received and checked",
        one_thread::CAPACITY,
        8_000_000,
    )
    .entries(contenders!(publish_and_receive: AnnulusPublishers, PhotonRingPublishers))
    .target(PhotonRing::NAME, 0.70)
}

pub fn at_once() -> Row {
    Row::new(
        "two publishers at once",
        "u64, a thread on each core publishes half of the messages, a subscriber is attached; afterwards it must find \
         the end of what each published, in order, and have counted what it lost",
        one_thread::CAPACITY,
        1_000_000,
    )
    .on_two_cores()
    .entries(contenders!(publish_from_both: AnnulusPublishers, PhotonRingPublishers))
    .floor("claiming and storing 16-byte slots", floor::claim_and_store_slots)
    .target(PhotonRing::NAME, 0.45)
}

#[inline(never)]
fn publish_and_receive<C: Contender>(plan: &Plan) -> Sample {
    one_thread::publish_and_receive::<C>(plan)
}

#[inline(never)]
fn publish_from_both<C: Contender>(plan: &Plan) -> Sample
where
    C::Publisher<u64>: Clone,
{
    let (publisher, mut subscriber) = C::channel::<u64>(plan.capacity);
    let work = [0, 1].map(|who| {
        let mut publisher = publisher.clone();
        move |phase: Range<u64>| {
            for i in phase {
                publisher.publish(tagged(who, i));
            }
        }
    });
    let ns = side_by_side(plan, work);
    check_the_end(&mut subscriber, LIVE_WARM_UP + plan.messages / 2);
    ns.into()
}

/// What publisher `who` publishes as its message `i`.
#[inline(always)]
fn tagged(who: u64, i: u64) -> u64 {
    mix(2 * i + who)
}

/// Each of two publishers has published `each` messages, and `subscriber` has not looked yet.
fn check_the_end(subscriber: &mut impl Subscriber<u64>, each: u64) {
    // (Rivals tell of the lag first.)
    let mut found: Vec<_> = subscriber.try_recv().into_iter().collect();
    while let Ok(value) = subscriber.try_recv() {
        found.push(value);
    }
    // A publisher may pass over a number, and publish its message with another one.
    assert!(subscriber.cursor() >= 2 * each && subscriber.total_lagged() > 0);
    assert_eq!(subscriber.total_lagged() + found.len() as u64, subscriber.cursor());
    let mut left = [each; 2];
    for value in found.into_iter().rev() {
        let from = (0..2).find(|&who| value == tagged(who, left[who as usize] - 1));
        left[from.expect("the message before, of one or the other") as usize] -= 1;
    }
}

//! How long a message is on its way from one core to the other, as a ring or a queue brings it.

use super::queue_wake::Spinning;
use crate::contenders::{
    Annulus, AsyncBroadcast, Bus, Contender, CrossbeamTried, Disruptor, Gated, KanalTried, Named, PhotonRing,
    Publisher, Queue, Reader, Receiver, Rtrb, Sender, Subscriber, Tokio,
};
use crate::floor;
use crate::messages::mix;
use crate::one_way::one_way;
use crate::row::{Entry, Kind, Plan, Row, Sample};
use crate::stamps;

pub fn rows() -> Vec<Row> {
    if !stamps::are_reliable() {
        return vec![];
    }
    const RAW: &str = "one raw line";
    let row = |name, about| Row::new(name, about, 4096, 10_000).on_two_cores().floor(RAW, floor::one_way);
    let ours = |run| Entry { name: Annulus::NAME, kind: Kind::Ours, run };
    let rival = |name, run| Entry { name, kind: Kind::Rival, run };
    vec![
        row(
            "one-way latency",
            "u64, from before the publish to its receipt by a reader on the other core that polls, by time stamps, a message every 2 µs; \
             the median",
        )
        .entries([
            ours(lossy::<Annulus>),
            rival(PhotonRing::NAME, lossy::<PhotonRing>),
            rival(Tokio::NAME, lossy::<Tokio>),
            rival(Disruptor::NAME, gated::<Disruptor>),
            rival(Bus::NAME, gated::<Bus>),
            rival(AsyncBroadcast::NAME, gated::<AsyncBroadcast>),
        ]),
        row(
            "queue, one-way latency",
            "the same from the send to its receipt by a consumer that spins; a queue with claims beside it",
        )
        .entries([
            ours(queue::<Spinning<annulus::spsc::Spsc>>),
            rival(Rtrb::NAME, queue::<Rtrb>),
            rival(CrossbeamTried::NAME, queue::<CrossbeamTried>),
            rival(KanalTried::NAME, queue::<KanalTried>),
        ])
        .other("annulus, spmc", queue::<Spinning<annulus::spmc::Spmc>>)
        .target(RAW, 1.1),
    ]
}

#[inline(never)]
fn lossy<C: Contender>(plan: &Plan) -> Sample {
    let (mut publisher, mut subscriber) = C::channel::<u64>(plan.capacity);
    one_way(
        plan,
        move |i| publisher.publish(mix(i)),
        move || {
            let value = subscriber.try_recv().ok()?;
            let sequence = subscriber.cursor() - 1;
            assert!(value == mix(sequence));
            Some(sequence)
        },
    )
}

#[inline(never)]
fn gated<C: Gated<1>>(plan: &Plan) -> Sample {
    let (mut publisher, [mut reader]) = C::channel(plan.capacity);
    let mut next = 0;
    one_way(
        plan,
        move |i| publisher.publish(mix(i)),
        move || {
            let received = reader.poll(|message| assert!(message == mix(next)));
            next += u64::from(received);
            received.then(|| next - 1)
        },
    )
}

#[inline(never)]
fn queue<Q: Queue<Sender: Sender, Receiver: Receiver>>(plan: &Plan) -> Sample {
    let (mut sender, mut receiver) = Q::queue(plan.capacity);
    let mut next = 0;
    one_way(
        plan,
        move |i| {
            // It is full where the receiver was taken off its core for a while.
            sender.must_send(mix(i));
        },
        move || {
            let message = receiver.receive()?;
            assert!(message == mix(next));
            next += 1;
            Some(next - 1)
        },
    )
}

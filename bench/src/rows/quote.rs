//! Messages of 24 bytes: what a market-data feed sends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use annulus::Message;
use photon_ring::DerivePod;

use super::entries::contenders;
use super::one_thread;
use crate::contenders::{Annulus, Contender, PhotonRing, Publisher, Subscriber, TOPICS, Tokio, Topics};
use crate::cores::pin;
use crate::messages::mix;
use crate::row::{Plan, Row, Sample};
use crate::timing::{LIVE_WARM_UP, ns_each, phases};

pub fn on_one_thread() -> Row {
    Row::new(
        "publish + receive, struct of 24 bytes",
        "three fields, one message published, then received and checked, on one thread",
        one_thread::CAPACITY,
        2_000_000,
    )
    .entries(contenders!(publish_and_receive: Annulus, PhotonRing, Tokio))
}

pub fn market_data() -> Row {
    Row::new(
        "market data, four topics",
        "structs of 24 bytes, published to four rings in turn by a thread that waits for nobody, while a thread on the other core polls \
         four subscribers; the time of a message that was received and checked, and the part of the messages that was",
        one_thread::CAPACITY,
        1_000_000,
    )
    .on_two_cores()
    .entries(contenders!(publish_to_topics: Annulus, PhotonRing, Tokio))
}

#[derive(Clone, Copy, Message, DerivePod)]
#[repr(C)]
struct Quote {
    sequence: u64,
    price: u64,
    topic: u32,
    /// Of the other fields.
    sum: u32,
}

impl Quote {
    #[inline(always)]
    fn new(topic: u32, sequence: u64) -> Self {
        let price = mix(sequence);
        Self { sequence, price, topic, sum: Self::sum_of(topic, sequence, price) }
    }

    #[inline(always)]
    fn sum_of(topic: u32, sequence: u64, price: u64) -> u32 {
        (price >> 32) as u32 ^ price as u32 ^ sequence as u32 ^ topic
    }

    #[inline(always)]
    fn check(&self, topic: u32, sequence: u64) {
        assert!(self.topic == topic && self.sequence == sequence);
        assert!(self.sum == Self::sum_of(topic, sequence, self.price));
    }
}

#[inline(never)]
fn publish_and_receive<C: Contender>(plan: &Plan) -> Sample {
    let (mut publisher, mut subscriber) = C::channel(plan.capacity);
    let mut begun = Instant::now();
    for phase in phases(plan.capacity as u64, plan.messages) {
        begun = Instant::now();
        for i in phase {
            publisher.publish(Quote::new(7, i));
            match subscriber.try_recv() {
                Ok(quote) => quote.check(7, i),
                Err(error) => panic!("{error:?}"),
            }
        }
    }
    ns_each(begun, plan.messages).into()
}

#[inline(never)]
fn publish_to_topics<C: Topics>(plan: &Plan) -> Sample {
    const EACH: u64 = TOPICS as u64;
    let topics = C::topics::<Quote>(plan.capacity);
    let (mut publishers, mut subscribers) = (vec![], vec![]);
    for (publisher, subscriber) in topics {
        publishers.push(publisher);
        subscribers.push(subscriber);
    }
    let (ready, done) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        // Its own, as a thread that publishes has it.
        let mut publishers = publishers;
        let reader = scope.spawn(|| {
            pin(plan.cores.there);
            ready.store(true, Ordering::Release);
            let mut received = 0_u64;
            loop {
                // Before the look: what it then does not find is not there.
                let last = done.load(Ordering::Acquire);
                let before = received;
                for (topic, subscriber) in (0..).zip(&mut subscribers) {
                    if let Ok(quote) = subscriber.try_recv() {
                        let sequence = subscriber.cursor() - 1;
                        quote.check(topic, sequence);
                        received += u64::from(sequence >= LIVE_WARM_UP / EACH);
                    }
                }
                if last && before == received {
                    return received;
                }
            }
        });
        while !ready.load(Ordering::Acquire) {
            std::hint::spin_loop();
        }
        let mut begun = Instant::now();
        for phase in phases(LIVE_WARM_UP / EACH, plan.messages / EACH) {
            begun = Instant::now();
            for i in phase {
                for (topic, publisher) in (0..).zip(&mut publishers) {
                    publisher.publish(Quote::new(topic, i));
                }
            }
        }
        let elapsed = begun.elapsed();
        done.store(true, Ordering::Release);
        let received = reader.join().expect("every quote was that of its topic and its sequence");
        Sample {
            ns: elapsed.as_secs_f64() * 1e9 / received.max(1) as f64,
            share: Some(received as f64 / plan.messages as f64),
            ..Sample::default()
        }
    })
}

//! Publishing to a reader on the other core that reads.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use super::entries::contenders;
use crate::contenders::guests::{self, Inline};
use crate::contenders::{Annulus, Contender, Named, PhotonRing, Publisher, Subscriber, Tokio};
use crate::cores::pin;
use crate::floor;
use crate::messages::mix;
use crate::row::{Plan, Row, Sample};
use crate::timing::{LIVE_WARM_UP, ns_each, phases};

pub fn row() -> Row {
    Row::new(
        "publish, live reader",
        "u64, the time of a publish while a reader on the other core receives and checks what it can, \
         and the part of the messages that it received",
        4096,
        2_000_000,
    )
    .on_two_cores()
    .entries(contenders!(publish: Annulus, PhotonRing, Tokio))
    .entries(guests::entry::<Inline>(|plan| guests::run_annulus("live", plan)))
    .floor("handing lines over", floor::hand_lines_over)
    .target(PhotonRing::NAME, 0.35)
}

#[inline(never)]
fn publish<C: Contender>(plan: &Plan) -> Sample {
    let (publisher, mut subscriber) = C::channel::<u64>(plan.capacity);
    let (ready, done) = (AtomicBool::new(false), AtomicBool::new(false));
    let total = LIVE_WARM_UP + plan.messages;
    thread::scope(|scope| {
        // Its own, as a thread that publishes has it: borrowed from outside, its sequence would live in
        // memory.
        let mut publisher = publisher;
        let reader = scope.spawn(|| {
            pin(plan.cores.there);
            ready.store(true, Ordering::Release);
            let mut received = 0_u64;
            loop {
                match subscriber.try_recv() {
                    Ok(value) => {
                        assert!(value == mix(subscriber.cursor() - 1));
                        received += 1;
                    }
                    Err(_) if done.load(Ordering::Relaxed) => return received,
                    Err(_) => {}
                }
            }
        });
        while !ready.load(Ordering::Acquire) {
            spin_loop();
        }
        let mut begun = Instant::now();
        for phase in phases(LIVE_WARM_UP, plan.messages) {
            begun = Instant::now();
            for i in phase {
                publisher.publish(mix(i));
            }
        }
        let ns = ns_each(begun, plan.messages);
        done.store(true, Ordering::Relaxed);
        let received = reader.join().expect("every value was that of its sequence");
        Sample { ns, share: Some(received as f64 / total as f64), ..Sample::default() }
    })
}

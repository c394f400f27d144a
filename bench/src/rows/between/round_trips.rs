//! A message to another process and its answer back, beside another thread: by the same loops.

use std::hint::spin_loop;
use std::marker::PhantomData;
use std::thread;
use std::time::Instant;

use super::others::{IN_ONE_PROCESS, OF_OTHERS};
use crate::contenders::bare::BareLines;
use crate::contenders::between::{Between, In, LosslessRing, LossyRing, MpLossyRing, Out, Queue, Within};
use crate::contenders::ringfire::Ringfire;
use crate::contenders::shaq::Shaq;
use crate::contenders::{Annulus, Named};
use crate::cores::pin;
use crate::floor;
use crate::messages::{is_all, mix};
use crate::processes::{Child, Parent, Work, Works, work};
use crate::row::{Entry, Kind, Plan, Row, Sample};
use crate::timing::{WARM_UP, ns_each, phases};

pub fn rows() -> Vec<Row> {
    vec![
        row::<Queue<1>>("queue").entries([rival::<Shaq<1>>()]).target(Shaq::<1>::NAME, OF_OTHERS),
        row::<LosslessRing<1>>("lossless")
            .entries([rival::<Ringfire<1, false>>()])
            .target(Ringfire::<1, false>::NAME, OF_OTHERS),
        row::<LossyRing<1>>("lossy")
            .entries([rival::<Ringfire<1, true>>()])
            .target(Ringfire::<1, true>::NAME, OF_OTHERS),
        row::<MpLossyRing<1>>("lossy, several publishers"),
    ]
}

pub fn works() -> Works {
    vec![
        work::<Pong<Queue<1>>>(),
        work::<Pong<LosslessRing<1>>>(),
        work::<Pong<LossyRing<1>>>(),
        work::<Pong<MpLossyRing<1>>>(),
        work::<Pong<Shaq<1>>>(),
        work::<Pong<Ringfire<1, false>>>(),
        work::<Pong<Ringfire<1, true>>>(),
        work::<Pong<BareLines>>(),
    ]
}

fn rival<R: Between + Named + 'static>() -> Entry {
    Entry { name: R::NAME, kind: Kind::Rival, run: between_processes::<R> }
}

fn row<R: Between + Within + 'static>(ring: &str) -> Row {
    Row::new(
        format!("processes: {ring}, round trip"),
        "8 bytes to a process on the other core, through one ring, and back through another, both sides polling with a pause; beside it to \
         a thread there by the same loops",
        4096,
        50_000,
    )
    .on_two_cores()
    .entries([Entry { name: Annulus::NAME, kind: Kind::Ours, run: between_processes::<R> }])
    .other(IN_ONE_PROCESS, in_one_process::<R>)
    .floor("bare lines between processes", between_processes::<BareLines>)
    .floor("raw ping-pong, pausing", floor::round_trip_with_pauses)
    .target(IN_ONE_PROCESS, 1.1)
}

/// Nanoseconds a round trip. `then` is called while its end still lives.
#[inline(never)]
fn ping(messages: u64, mut there: impl Out, mut back: impl In, then: impl FnOnce()) -> f64 {
    let mut begun = Instant::now();
    for phase in phases(WARM_UP, messages) {
        begun = Instant::now();
        for i in phase {
            there.put(mix(i));
            wait_for(&mut back, mix(i));
        }
    }
    let ns = ns_each(begun, messages);
    then();
    ns
}

/// The other side, likewise.
#[inline(never)]
fn pong(messages: u64, mut arrival: impl In, mut back: impl Out, then: impl FnOnce()) {
    for i in 0..WARM_UP + messages {
        wait_for(&mut arrival, mix(i));
        back.put(mix(i));
    }
    then();
}

#[inline(always)]
fn wait_for(input: &mut impl In, value: u64) {
    while !input.poll(|message| assert!(is_all(message, value))) {
        spin_loop();
    }
}

fn in_one_process<R: Within>(plan: &Plan) -> Sample {
    let (there, arrival) = R::within(plan.capacity);
    let (back, answer) = R::within(plan.capacity);
    thread::scope(|scope| {
        scope.spawn(move || {
            pin(plan.cores.there);
            pong(plan.messages, arrival, back, || ());
        });
        ping(plan.messages, there, answer, || ()).into()
    })
}

fn between_processes<R: Between + 'static>(plan: &Plan) -> Sample {
    let (there, offer) = R::share(plan.capacity, 1);
    with_a_process::<R>(plan, there, &offer, || ())
}

/// To a process that joins this ring. `then` is called while the ring still lives.
pub fn with_a_process<R: Between + 'static>(
    plan: &Plan,
    there: R::Out,
    offer: &R::Offer,
    then: impl FnOnce(),
) -> Sample {
    let child = Child::start::<Pong<R>>(plan, 1);
    R::offer(offer, &child.socket);
    let back = R::join(&child.socket);
    let end = || {
        child.tell(&());
        let () = child.last_words();
        then();
    };
    ping(plan.messages, there, back, end).into()
}

/// Of the process that answers.
pub struct Pong<R>(PhantomData<R>);

impl<R: Between> Work for Pong<R> {
    fn run(parent: Parent) {
        let arrival = R::join(&parent.socket);
        let (back, offer) = R::share(parent.order.capacity, 1);
        R::offer(&offer, &parent.socket);
        // Its ring lives until the last answer has arrived.
        pong(parent.order.messages, arrival, back, || parent.hear());
        parent.tell(&());
    }
}

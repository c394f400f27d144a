//! How long 64 bytes are on their way to another process: at the median, and for the slowest message of
//! hundred, thousand and ten thousand.
//!
//! A message is the stamp of the moment before its send. A receiver polls, or sleeps at once where nothing is
//! there; messages follow each other slowly enough that none waits for another.

use std::hint::spin_loop;
use std::iter;
use std::marker::PhantomData;
use std::thread;
use std::time::Duration;

use quanta::Clock;

use super::others::{Bystander, IN_ONE_PROCESS, end_bystanders, start};
use crate::busy::BusyProgram;
use crate::contenders::bare::{BareLines, SharedFutex};
use crate::contenders::between::{Between, In, LosslessRing, LossyRing, Out, Queue, Sleeper, Within};
#[cfg(feature = "iceoryx2")]
use crate::contenders::iceoryx2::Iceoryx2;
use crate::contenders::ringfire::Ringfire;
use crate::contenders::shaq::Shaq;
use crate::contenders::{Annulus, Named};
use crate::cores::{keep_to, pin};
use crate::messages::is_all;
use crate::one_way::sample;
use crate::placement::Placement;
use crate::processes::{Child, Parent, Work, Works, work};
use crate::row::{Entry, Kind, Plan, Row, Sample};
use crate::stamps;
use crate::timing::WARM_UP;

const WORDS: usize = 8;

/// What is sent last. No stamp is so large.
const LAST: u64 = u64::MAX;

/// Between two messages for a receiver that polls.
const POLLED_NS: u64 = 2_000;
/// Between two for one that sleeps. The sender sleeps, too: it may have the same core.
const ASLEEP: Duration = Duration::from_micros(50);

pub fn rows() -> Vec<Row> {
    if !stamps::are_reliable() {
        return vec![];
    }
    let polled = |placement| {
        row::<true>(placement, "a reader that polls", 100_000)
            .entries([
                Entry { name: Annulus::NAME, kind: Kind::Ours, run: polled::<LossyRing<WORDS>, 0> },
                rival::<Ringfire<WORDS, true>>(polled::<Ringfire<WORDS, true>, 0>),
                rival::<Shaq<WORDS>>(polled::<Shaq<WORDS>, 0>),
            ])
            .entries(iceoryx2())
            .other("annulus, queue", polled::<Queue<WORDS>, 0>)
            .other("annulus, lossless", polled::<LosslessRing<WORDS>, 0>)
            .other(IN_ONE_PROCESS, in_one_process::<LossyRing<WORDS>, true>)
            .floor("bare lines between processes", polled::<BareLines, 0>)
    };
    let asleep = |placement| {
        row::<false>(placement, "a reader that sleeps at once where nothing is there", 5_000)
            .entries([
                Entry { name: Annulus::NAME, kind: Kind::Ours, run: asleep::<LossyRing<WORDS>, 1> },
                rival::<Ringfire<WORDS, true>>(asleep::<Ringfire<WORDS, true>, 1>),
            ])
            .other("annulus, queue", asleep::<Queue<WORDS>, 1>)
            .other("annulus, lossless", asleep::<LosslessRing<WORDS>, 1>)
            .other(IN_ONE_PROCESS, in_one_process::<LossyRing<WORDS>, false>)
            .floor("a bare shared futex", asleep::<SharedFutex, 1>)
    };
    vec![
        // (Beside a busy program, a reader that polls measures the turns of the scheduler.)
        polled(Placement::Apart),
        asleep(Placement::Apart),
        asleep(Placement::SameCore),
        asleep(Placement::BusyMachine),
    ]
}

fn row<const POLLS: bool>(placement: Placement, reader: &str, messages: u64) -> Row {
    let manner = if POLLS { "polled" } else { "asleep" };
    let of_threads = placement.about();
    let row = Row::new(
        format!("processes: one way, 64 bytes, {manner}, {}", placement.name()),
        format!(
            "by time stamps, from before the send to {reader}, in another process, of a lossy ring; the median, and the slowest of \
             ten thousand in the table of latencies; {of_threads}"
        ),
        4096,
        messages,
    );
    Row { placement, most_rounds: 11, ..row }.on_two_cores()
}

fn rival<R: Named>(run: fn(&Plan) -> Sample) -> Entry {
    Entry { name: R::NAME, kind: Kind::Rival, run }
}

fn iceoryx2() -> impl IntoIterator<Item = Entry> {
    #[cfg(feature = "iceoryx2")]
    return Some(Entry { name: "iceoryx2", kind: Kind::Rival, run: polled::<Iceoryx2<WORDS, true>, 0> });
    #[cfg(not(feature = "iceoryx2"))]
    None
}

pub fn works() -> Works {
    vec![
        work::<Polls<LossyRing<WORDS>>>(),
        work::<Polls<Queue<WORDS>>>(),
        work::<Polls<LosslessRing<WORDS>>>(),
        work::<Polls<Ringfire<WORDS, true>>>(),
        work::<Polls<Shaq<WORDS>>>(),
        #[cfg(feature = "iceoryx2")]
        work::<Polls<Iceoryx2<WORDS, true>>>(),
        work::<Polls<BareLines>>(),
        work::<Sleeps<LossyRing<WORDS>>>(),
        work::<Sleeps<Queue<WORDS>>>(),
        work::<Sleeps<LosslessRing<WORDS>>>(),
        work::<Sleeps<Ringfire<WORDS, true>>>(),
        work::<Sleeps<SharedFutex>>(),
    ]
}

/// Until the reader has received the last one, and how long its messages took.
fn send<const POLLS: bool>(plan: &Plan, mut out: impl Out, received: impl FnOnce() -> Sample) -> Sample {
    let clock = Clock::new();
    let interval = stamps::in_ns(&clock, POLLED_NS);
    let mut next = clock.raw();
    for _ in 0..WARM_UP + plan.messages {
        let stamp = if POLLS {
            iter::repeat_with(|| clock.raw()).find(|&now| now >= next).expect("time goes on")
        } else {
            thread::sleep(ASLEEP);
            clock.raw()
        };
        out.put(stamp);
        next = stamp + interval;
    }
    if !POLLS {
        thread::sleep(ASLEEP);
    }
    out.put(LAST);
    received()
}

/// Of messages as `next` has them.
#[inline(always)]
fn receive(messages: u64, mut next: impl FnMut() -> u64) -> Sample {
    let clock = Clock::new();
    // Its pages are there before they are needed.
    let mut latencies = vec![1; (WARM_UP + messages) as usize];
    let mut count = 0;
    loop {
        let sent = next();
        let now = stamps::after_reads(&clock);
        if sent == LAST {
            break;
        }
        latencies[count] = now.saturating_sub(sent);
        count += 1;
    }
    // Where many were lost, half of what came is a warm-up, too.
    let warm_up = (WARM_UP as usize).min(count / 2);
    let of_interest = latencies[warm_up..count].iter().copied();
    sample(&clock, of_interest, messages)
}

#[inline(always)]
fn poll(input: &mut impl In) -> u64 {
    let mut value = 0;
    while !input.poll(|message| {
        value = message[0];
        assert!(is_all(message, value));
    }) {
        spin_loop();
    }
    value
}

/// One of so many that sleep.
pub struct Sleeps<R>(PhantomData<R>);

/// One that polls.
pub struct Polls<R>(PhantomData<R>);

impl<R: Between> Work for Polls<R> {
    fn run(parent: Parent) {
        let mut input = R::join(&parent.socket);
        parent.tell(&());
        parent.tell(&receive(parent.order.messages, || poll(&mut input)));
    }
}

impl<R: Between<In: Sleeper>> Work for Sleeps<R> {
    fn run(parent: Parent) {
        let mut input = R::join(&parent.socket);
        parent.tell(&());
        parent.tell(&receive(parent.order.messages, || input.sleep()));
    }
}

/// To one that polls, where so many others have only subscribed.
pub fn polled<R: Between + 'static, const OTHERS: usize>(plan: &Plan) -> Sample {
    between_processes::<R, Polls<R>, true>(plan, 1, OTHERS)
}

/// To so many that sleep: the sample of the slowest.
pub fn asleep<R: Between<In: Sleeper> + 'static, const READERS: usize>(plan: &Plan) -> Sample {
    between_processes::<R, Sleeps<R>, false>(plan, READERS, 0)
}

fn between_processes<R: Between + 'static, W: Work, const POLLS: bool>(
    plan: &Plan,
    readers: usize,
    others: usize,
) -> Sample {
    let _busy = busy(plan);
    let (out, offer) = R::share(plan.capacity, readers + others);
    let others = start::<R, Bystander<R>>(plan, &offer, others);
    let children = start::<R, W>(plan, &offer, readers);
    let received = || {
        let samples = children.into_iter().map(Child::last_words::<Sample>);
        let slowest = samples.max_by(|a, b| a.ns.total_cmp(&b.ns)).expect("there is one");
        end_bystanders(others, LAST);
        slowest
    };
    placed(plan, || send::<POLLS>(plan, out, received))
}

fn in_one_process<R: Within<In: Sleeper>, const POLLS: bool>(plan: &Plan) -> Sample {
    let _busy = busy(plan);
    let (out, mut input) = R::within(plan.capacity);
    thread::scope(|scope| {
        let receiver = scope.spawn(move || {
            keep_to(&plan.placement.beside(plan.cores));
            if POLLS {
                receive(plan.messages, || poll(&mut input))
            } else {
                receive(plan.messages, || input.sleep())
            }
        });
        placed(plan, || send::<POLLS>(plan, out, || receiver.join().expect("every message was whole")))
    })
}

fn busy(plan: &Plan) -> Option<BusyProgram> {
    (plan.placement == Placement::BusyMachine).then(|| BusyProgram::begin(plan.cores))
}

/// On the cores where the placement has the one that measures.
fn placed(plan: &Plan, run: impl FnOnce() -> Sample) -> Sample {
    keep_to(&plan.placement.measuring(plan.cores));
    let sample = run();
    pin(plan.cores.here);
    sample
}

//! Waking a process that sleeps.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::others::IN_ONE_PROCESS;
use crate::common_lines::CommonLines;
use crate::contenders::bare::SharedFutex;
use crate::contenders::between::{
    Between, LosslessRing, LossyRing, MpLossyRing, Out, Queue, Sleeper, Within,
};
use crate::contenders::{Annulus, Named};
use crate::cores::pin;
use crate::processes::{Child, Parent, Work, Works, work};
use crate::rounds::Quartiles;
use crate::row::{Entry, Kind, Plan, Row, Sample};
use crate::timing::now_ns;

/// Long enough to fall asleep.
const IDLE: Duration = Duration::from_micros(300);

const FUTEX: &str = "a bare shared futex";

pub fn rows() -> Vec<Row> {
    vec![
        row::<Queue<1>>("queue"),
        row::<LosslessRing<1>>("lossless"),
        row::<LossyRing<1>>("lossy"),
        row::<MpLossyRing<1>>("lossy, several publishers"),
    ]
}

pub fn works() -> Works {
    vec![
        work::<Woken<Queue<1>>>(),
        work::<Woken<LosslessRing<1>>>(),
        work::<Woken<LossyRing<1>>>(),
        work::<Woken<MpLossyRing<1>>>(),
        work::<Woken<SharedFutex>>(),
    ]
}

fn row<R>(ring: &str) -> Row
where
    R: Between<In: Sleeper> + Within<In: Sleeper> + 'static,
{
    Row::new(
        format!("processes: {ring}, wake-up latency"),
        "8 bytes, from the send to the receipt in a process on the other core that sleeps at once where nothing is there; the median of a \
         run; beside it a thread that sleeps",
        64,
        200,
    )
    .on_two_cores()
    .entries([Entry { name: Annulus::NAME, kind: Kind::Ours, run: between_processes::<R> }])
    .other(IN_ONE_PROCESS, in_one_process::<R>)
    .floor(FUTEX, between_processes::<SharedFutex>)
    .target(FUTEX, 1.3)
}

/// Sends the time, again and again, when the other side sleeps.
fn wake(messages: u64, mut out: impl Out, woken: &AtomicU64) {
    for count in 0..messages {
        while woken.load(Ordering::Acquire) < count {}
        let rested = Instant::now();
        while rested.elapsed() < IDLE {}
        out.put(now_ns());
    }
    // The ring lives until the last one was received.
    while woken.load(Ordering::Acquire) < messages {}
}

/// The median of how long what was sent was on its way.
fn sleep(messages: u64, mut input: impl Sleeper, woken: &AtomicU64) -> f64 {
    let latencies = (1..=messages).map(|count| {
        let sent = input.sleep();
        let latency = now_ns() - sent;
        woken.store(count, Ordering::Release);
        latency as f64
    });
    Quartiles::of(latencies).expect("at least one wake-up").median
}

fn in_one_process<R: Within<In: Sleeper>>(plan: &Plan) -> Sample {
    let (out, input) = R::within(plan.capacity);
    let lines = CommonLines::new();
    let woken = &lines.lines()[0].number;
    thread::scope(|scope| {
        let sleeper = scope.spawn(move || {
            pin(plan.cores.there);
            sleep(plan.messages, input, woken)
        });
        wake(plan.messages, out, woken);
        sleeper.join().expect("nothing panics there").into()
    })
}

fn between_processes<R: Between<In: Sleeper> + 'static>(plan: &Plan) -> Sample {
    let (out, offer) = R::share(plan.capacity, 1);
    let lines = CommonLines::new();
    let child = Child::start::<Woken<R>>(plan, 1);
    R::offer(&offer, &child.socket);
    lines.send(&child.socket);
    let () = child.hear();
    wake(plan.messages, out, &lines.lines()[0].number);
    child.last_words::<f64>().into()
}

/// Of the process that sleeps.
struct Woken<R>(PhantomData<R>);

impl<R: Between<In: Sleeper>> Work for Woken<R> {
    fn run(parent: Parent) {
        let input = R::join(&parent.socket);
        let lines = CommonLines::receive(&parent.socket);
        parent.tell(&());
        parent.tell(&sleep(parent.order.messages, input, &lines.lines()[0].number));
    }
}

//! How fast messages go from one process to another, beside one thread and another: by the same loops.
//!
//! The time is from the first message behind the warm-up, by the sender's clock, until the last one was
//! received, by the receiver's: it is the same clock. Where messages may be lost, it is that of the
//! publisher.

use std::hint::spin_loop;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Barrier;
use std::thread;

use annulus::TryRecvError;
use annulus::broadcast::{Foreign, LossyMode, Subscriber};
use annulus::shm::Invitation;

use super::others::{IN_ONE_PROCESS, OF_OTHERS, start};
use crate::contenders::between::{
    BatchIn, BatchOut, Between, In, LosslessRing, LossyRing, MpLossyRing, Out, Queue, Within,
};
use crate::contenders::broadcast_records::LosslessRecords;
use crate::contenders::ringfire::Ringfire;
use crate::contenders::shaq::Shaq;
use crate::contenders::{Annulus, Named};
use crate::cores::pin;
use crate::floor;
use crate::messages::{BATCH, Check, is_all, mix, mixes};
use crate::processes::{Child, Parent, Work, Works, work};
use crate::row::{Entry, Kind, Plan, Row, Sample};
use crate::timing::{LIVE_WARM_UP, now_ns, phases};

/// 0.95 of the throughput.
const AT_MOST: f64 = 1.0 / 0.95;

const EVERY_LINE: &str = "handing every line over";
const LINES: &str = "handing lines over";
const SEVERAL: &str = "lossy, several publishers";

pub fn rows() -> Vec<Row> {
    let mut rows = vec![];
    rows.extend(lossless::<Queue<1>, Shaq<1>, 1>("queue", 8));
    rows.extend(lossless::<Queue<8>, Shaq<8>, 8>("queue", 64));
    rows.extend(lossless::<LosslessRing<1>, Ringfire<1, false>, 1>("lossless", 8));
    rows.extend(lossless::<LosslessRing<8>, Ringfire<8, false>, 8>("lossless", 64));
    rows.extend(lossy::<LossyRing<1>, 1>("lossy", 8));
    rows.extend(lossy::<LossyRing<8>, 8>("lossy", 64));
    // (No target: where one process has all publishers, they claim in another way.)
    let several =
        lossy::<MpLossyRing<1>, 1>(SEVERAL, 8).into_iter().chain(lossy::<MpLossyRing<8>, 8>(SEVERAL, 64));
    rows.extend(several.map(|row| Row { targets: vec![], ..row }));
    rows.push(
        records::<8>(4096, 2_048_000)
            .entries([Entry {
                name: Ringfire::<8, false>::NAME,
                kind: Kind::Rival,
                run: between_processes::<Ringfire<8, false>, 1>,
            }])
            .floor(EVERY_LINE, floor::hand_every_line_over),
    );
    rows.push(records::<512>(256, 204_800));
    rows
}

pub fn works() -> Works {
    vec![
        work::<ReceiveAll<Queue<1>>>(),
        work::<ReceiveAll<Queue<8>>>(),
        work::<ReceiveAll<LosslessRing<1>>>(),
        work::<ReceiveAll<LosslessRing<8>>>(),
        work::<ReceiveAll<LosslessRecords<8>>>(),
        work::<ReceiveAll<LosslessRecords<512>>>(),
        work::<ReceiveBatches<Queue<1>, 1>>(),
        work::<ReceiveBatches<Queue<8>, 8>>(),
        work::<ReceiveBatches<LosslessRing<1>, 1>>(),
        work::<ReceiveBatches<LosslessRing<8>, 8>>(),
        work::<ReceiveAll<Shaq<1>>>(),
        work::<ReceiveAll<Shaq<8>>>(),
        work::<ReceiveBatches<Shaq<1>, 1>>(),
        work::<ReceiveBatches<Shaq<8>, 8>>(),
        work::<ReceiveAll<Ringfire<1, false>>>(),
        work::<ReceiveAll<Ringfire<8, false>>>(),
        work::<ReceiveBatches<Ringfire<1, false>, 1>>(),
        work::<ReceiveBatches<Ringfire<8, false>, 8>>(),
        work::<ReceiveWhatComes<1, false>>(),
        work::<ReceiveWhatComes<8, false>>(),
        work::<ReceiveWhatComes<1, true>>(),
        work::<ReceiveWhatComes<8, true>>(),
    ]
}

/// Of records of so many words, which are copied into a buffer. (No target: it is the ring of one process.)
fn records<const WORDS: usize>(capacity: usize, messages: u64) -> Row {
    Row::new(
        format!("processes: lossless records, {} bytes", 8 * WORDS),
        "one by one, copied, from one process to another on the other core; beside it from thread to thread by the same loops",
        capacity,
        messages,
    )
    .on_two_cores()
    .entries([Entry {
        name: Annulus::NAME,
        kind: Kind::Ours,
        run: between_processes::<LosslessRecords<WORDS>, 1>,
    }])
    .other(IN_ONE_PROCESS, in_one_process::<LosslessRecords<WORDS>>)
}

/// A row of ours between processes, beside the same in one.
fn row(name: String, about: &'static str, between: Run, within: Run) -> Row {
    Row::new(name, about, 4096, 2_048_000)
        .on_two_cores()
        .entries([Entry { name: Annulus::NAME, kind: Kind::Ours, run: between }])
        .other(IN_ONE_PROCESS, within)
        .target(IN_ONE_PROCESS, AT_MOST)
}

type Run = fn(&Plan) -> Sample;

/// Of a ring that loses nothing.
fn lossless<R, Rival, const WORDS: usize>(ring: &str, bytes: usize) -> [Row; 2]
where
    R: Within<Out: BatchOut<WORDS>, In: BatchIn<WORDS>>
        + Between<Out: BatchOut<WORDS>, In: BatchIn<WORDS>>
        + 'static,
    Rival: Between<Out: BatchOut<WORDS>, In: BatchIn<WORDS>> + Named + 'static,
{
    let rival = |run| [Entry { name: Rival::NAME, kind: Kind::Rival, run }];
    [
        row(
            format!("processes: {ring}, {bytes} bytes"),
            "one by one from one process to another on the other core; beside it from thread to thread by the same loops",
            between_processes::<R, 1>,
            in_one_process::<R>,
        )
        .entries(rival(between_processes::<Rival, 1>))
        .target(Rival::NAME, OF_OTHERS)
        .floor(EVERY_LINE, floor::hand_every_line_over),
        row(
            format!("processes: {ring}, {bytes} bytes, batches of 64"),
            "the same in batches, from a slice and into a buffer",
            batches_between_processes::<R, WORDS>,
            batches_in_one_process::<R, WORDS>,
        )
        .entries(rival(batches_between_processes::<Rival, WORDS>))
        .target(Rival::NAME, OF_OTHERS)
        .floor(EVERY_LINE, floor::hand_every_line_over_in_batches),
    ]
}

/// Subscribers are the same, however many may publish.
fn lossy<R, const WORDS: usize>(ring: &str, bytes: usize) -> [Row; 2]
where
    R: Within<Out: BatchOut<WORDS>, In = Subscriber<[u64; WORDS]>>
        + Between<Out: BatchOut<WORDS>, In = Subscriber<[u64; WORDS], Foreign>, Offer = Invitation>
        + 'static,
{
    [
        row(
            format!("processes: {ring}, {bytes} bytes"),
            "the time of a publish while a subscriber in a process on the other core receives what it can, and the part that it \
             received; beside it a subscriber in a thread there",
            live_between_processes::<R, WORDS, false>,
            live_in_one_process::<R, WORDS, false>,
        )
        .floor(LINES, floor::hand_lines_over),
        row(
            format!("processes: {ring}, {bytes} bytes, batches of 64"),
            "the same in batches",
            live_between_processes::<R, WORDS, true>,
            live_in_one_process::<R, WORDS, true>,
        )
        .floor(LINES, floor::hand_lines_over),
    ]
}

/// Whole batches, and never most of a short run.
pub fn warm_up(messages: u64) -> u64 {
    LIVE_WARM_UP.min(messages / (4 * BATCH as u64) * BATCH as u64)
}

fn sample(begun: u64, ended: u64, messages: u64) -> Sample {
    ((ended - begun) as f64 / messages as f64).into()
}

/// Sends, and then waits for the receivers by `wait`, while its end still lives. When the time began, and
/// what `wait` returns.
#[inline(never)]
pub fn send_all<R>(messages: u64, mut out: impl Out, wait: impl FnOnce() -> R) -> (u64, R) {
    let mut begun = 0;
    for phase in phases(warm_up(messages), messages) {
        begun = now_ns();
        for i in phase {
            out.put(mix(i));
        }
    }
    (begun, wait())
}

/// When it was done. `is_crowded`: others want this core, too.
#[inline(never)]
fn receive_all(messages: u64, is_crowded: bool, mut input: impl In) -> u64 {
    for i in 0..warm_up(messages) + messages {
        while !input.poll(|message| assert!(is_all(message, mix(i)))) {
            if is_crowded {
                thread::yield_now();
            } else {
                spin_loop();
            }
        }
    }
    now_ns()
}

#[inline(never)]
fn send_batches<R, const WORDS: usize>(
    messages: u64,
    mut out: impl BatchOut<WORDS>,
    wait: impl FnOnce() -> R,
) -> (u64, R) {
    let mut batch = [[0; WORDS]; BATCH];
    let mut begun = 0;
    for phase in phases(warm_up(messages), messages) {
        begun = now_ns();
        for first in phase.step_by(BATCH) {
            for (slot, value) in batch.iter_mut().zip(mixes(first)) {
                *slot = [value; WORDS];
            }
            out.put_batch(&batch);
        }
    }
    (begun, wait())
}

#[inline(never)]
fn receive_batches<const WORDS: usize>(messages: u64, mut input: impl BatchIn<WORDS>) -> u64 {
    let (mut buffer, mut check, mut received) = ([[0; WORDS]; BATCH], Check::new(), 0);
    while received < warm_up(messages) + messages {
        let count = input.poll_batch(&mut buffer);
        buffer[..count].iter().for_each(|message| check.look_at_words(message));
        check.settle();
        received += count as u64;
        if count == 0 {
            spin_loop();
        }
    }
    now_ns()
}

fn in_one_process<R: Within>(plan: &Plan) -> Sample {
    let (out, input) = R::within(plan.capacity);
    with_a_thread(
        plan,
        move |messages| receive_all(messages, false, input),
        |messages, wait| send_all(messages, out, wait),
    )
}

fn batches_in_one_process<R, const WORDS: usize>(plan: &Plan) -> Sample
where
    R: Within<Out: BatchOut<WORDS>, In: BatchIn<WORDS>>,
{
    let (out, input) = R::within(plan.capacity);
    with_a_thread(
        plan,
        move |messages| receive_batches(messages, input),
        |messages, wait| send_batches(messages, out, wait),
    )
}

fn with_a_thread(
    plan: &Plan,
    receive: impl FnOnce(u64) -> u64 + Send,
    send: impl FnOnce(u64, &mut dyn FnMut() -> u64) -> (u64, u64),
) -> Sample {
    let messages = plan.messages;
    thread::scope(|scope| {
        let mut receiver = Some(scope.spawn(move || {
            pin(plan.cores.there);
            receive(messages)
        }));
        let mut wait = || {
            let receiver = receiver.take().expect("it is called once");
            receiver.join().expect("every message was there, and that of its sequence")
        };
        let (begun, ended) = send(messages, &mut wait);
        sample(begun, ended, messages)
    })
}

/// To so many processes, each of which receives all. Until the last of them has.
pub fn between_processes<R: Between + 'static, const READERS: usize>(plan: &Plan) -> Sample {
    let (out, offer) = R::share(plan.capacity, READERS);
    let children = start::<R, ReceiveAll<R>>(plan, &offer, READERS);
    let (begun, ended) = send_all(plan.messages, out, || last_of(children));
    sample(begun, ended, plan.messages)
}

fn batches_between_processes<R, const WORDS: usize>(plan: &Plan) -> Sample
where
    R: Between<Out: BatchOut<WORDS>, In: BatchIn<WORDS>> + 'static,
{
    let (out, offer) = R::share(plan.capacity, 1);
    let children = start::<R, ReceiveBatches<R, WORDS>>(plan, &offer, 1);
    let (begun, ended) = send_batches(plan.messages, out, || last_of(children));
    sample(begun, ended, plan.messages)
}

fn last_of(children: Vec<Child>) -> u64 {
    children.into_iter().map(Child::last_words).max().expect("there is one")
}

/// Of a receiver's process.
pub struct ReceiveAll<R>(PhantomData<R>);

struct ReceiveBatches<R, const WORDS: usize>(PhantomData<R>);

impl<R: Between> Work for ReceiveAll<R> {
    fn run(parent: Parent) {
        let input = R::join(&parent.socket);
        parent.tell(&());
        parent.tell(&receive_all(parent.order.messages, parent.order.children > 1, input));
    }
}

impl<R: Between<In: BatchIn<WORDS>>, const WORDS: usize> Work for ReceiveBatches<R, WORDS> {
    fn run(parent: Parent) {
        let input = R::join(&parent.socket);
        parent.tell(&());
        parent.tell(&receive_batches(parent.order.messages, input));
    }
}

/// The time of a publish. The ring ends with it.
fn publish_all<const WORDS: usize, const BATCHES: bool>(
    messages: u64,
    publisher: impl Out + BatchOut<WORDS>,
) -> f64 {
    if BATCHES { publish_batches(messages, publisher) } else { publish_each(messages, publisher) }
}

/// A message is its number, counted from 1.
#[inline(never)]
fn publish_each(messages: u64, mut publisher: impl Out) -> f64 {
    timed(messages, |phase| {
        for i in phase {
            publisher.put(i + 1);
        }
    })
}

#[inline(never)]
fn publish_batches<const WORDS: usize>(messages: u64, mut publisher: impl BatchOut<WORDS>) -> f64 {
    let mut batch = [[0; WORDS]; BATCH];
    timed(messages, |phase| {
        for first in phase.step_by(BATCH) {
            for (slot, number) in batch.iter_mut().zip(first + 1..) {
                *slot = [number; WORDS];
            }
            publisher.put_batch(&batch);
        }
    })
}

#[inline(always)]
fn timed(messages: u64, mut publish: impl FnMut(Range<u64>)) -> f64 {
    let mut begun = 0;
    for phase in phases(warm_up(messages), messages) {
        begun = now_ns();
        publish(phase);
    }
    (now_ns() - begun) as f64 / messages as f64
}

/// Until the ring ends. How many came.
fn receive_what_comes<M: LossyMode, const WORDS: usize, const BATCHES: bool>(
    messages: u64,
    subscriber: Subscriber<[u64; WORDS], M>,
) -> u64
where
    Subscriber<[u64; WORDS], M>: BatchIn<WORDS>,
{
    let (received, lost) =
        if BATCHES { batches_that_come(subscriber) } else { messages_that_come(subscriber) };
    assert_eq!(received + lost, warm_up(messages) + messages);
    received
}

/// How many came, and how many were lost.
#[inline(never)]
fn messages_that_come<M: LossyMode, const WORDS: usize>(
    mut subscriber: Subscriber<[u64; WORDS], M>,
) -> (u64, u64) {
    let mut received = 0;
    loop {
        match subscriber.try_recv() {
            Ok(message) => {
                assert!(is_all(&message, subscriber.cursor()));
                received += 1;
            }
            Err(TryRecvError::Closed) => return (received, subscriber.total_lagged()),
            Err(_) => {}
        }
    }
}

/// As above.
#[inline(never)]
fn batches_that_come<M: LossyMode, const WORDS: usize>(
    mut subscriber: Subscriber<[u64; WORDS], M>,
) -> (u64, u64)
where
    Subscriber<[u64; WORDS], M>: BatchIn<WORDS>,
{
    let (mut buffer, mut last, mut received) = ([[0; WORDS]; BATCH], 0, 0);
    loop {
        let count = subscriber.poll_batch(&mut buffer);
        for message in &buffer[..count] {
            // Some may be lost within a batch, too.
            assert!(message[0] > last && is_all(message, message[0]));
            last = message[0];
        }
        received += count as u64;
        if count == 0 && subscriber.is_closed() {
            // What came between the two looks, or else the end.
            match subscriber.try_recv() {
                Ok(message) => {
                    assert!(message[0] > last && is_all(&message, message[0]));
                    last = message[0];
                    received += 1;
                }
                Err(TryRecvError::Closed) => return (received, subscriber.total_lagged()),
                Err(_) => {}
            }
        }
    }
}

fn live_in_one_process<R, const WORDS: usize, const BATCHES: bool>(plan: &Plan) -> Sample
where
    R: Within<Out: BatchOut<WORDS>, In = Subscriber<[u64; WORDS]>>,
{
    let (publisher, subscriber) = R::within(plan.capacity);
    let messages = plan.messages;
    let ready = Barrier::new(2);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            pin(plan.cores.there);
            ready.wait();
            receive_what_comes::<_, WORDS, BATCHES>(messages, subscriber)
        });
        ready.wait();
        let ns = publish_all::<WORDS, BATCHES>(messages, publisher);
        live_sample(ns, reader.join().expect("every message was that of its sequence"), messages)
    })
}

fn live_between_processes<R, const WORDS: usize, const BATCHES: bool>(plan: &Plan) -> Sample
where
    R: Between<Out: BatchOut<WORDS>, Offer = Invitation>,
{
    let (publisher, offer) = R::share(plan.capacity, 1);
    let children = start::<LossyRing<WORDS>, ReceiveWhatComes<WORDS, BATCHES>>(plan, &offer, 1);
    let ns = publish_all::<WORDS, BATCHES>(plan.messages, publisher);
    live_sample(ns, last_of(children), plan.messages)
}

fn live_sample(ns: f64, received: u64, messages: u64) -> Sample {
    let share = received as f64 / (warm_up(messages) + messages) as f64;
    Sample { ns, share: Some(share), ..Sample::default() }
}

struct ReceiveWhatComes<const WORDS: usize, const BATCHES: bool>;

impl<const WORDS: usize, const BATCHES: bool> Work for ReceiveWhatComes<WORDS, BATCHES> {
    fn run(parent: Parent) {
        let subscriber = LossyRing::<WORDS>::join(&parent.socket);
        parent.tell(&());
        parent.tell(&receive_what_comes::<_, WORDS, BATCHES>(parent.order.messages, subscriber));
    }
}

//! Three patterns of programs that make a ring for each reply: blocks of work, short questions, and fans of
//! small jobs.

use std::hint::black_box;
use std::thread;
use std::time::Instant;

use annulus::oneshot;
use annulus::queue::ordered;
use tokio::sync::{mpsc as tokio_mpsc, oneshot as tokio_oneshot};

use crate::cores::pin;
use crate::row::{Entry, Kind, Plan, Row, Sample};
use crate::timing::{ns_each, phases};
use crate::workers::Workers;

/// What ours may take of the best rival's time.
const LIMIT: f64 = 1.0;

/// Threads that ask at the same time.
const ASKERS: u64 = 2;
const ASKING_TASKS: u64 = 8;

/// The jobs of a fan.
const FAN: usize = 16;

/// Before those that are timed.
const WARM_UP: u64 = 500;

pub fn rows() -> [Row; 5] {
    const BY_RINGS: &str = "annulus, replies by rings";
    let row = |name: &'static str, about, messages, runs: [fn(&Plan) -> Sample; 3]| {
        let names = ["annulus", "flume", "crossbeam-channel"];
        Row::new(name, about, 64, messages).entries(entries(names, runs)).at_most_of_the_best(LIMIT)
    };
    let of_tasks = |name: &'static str, about, runs: [fn(&Plan) -> Sample; 3]| {
        let names = ["annulus", "tokio", "flume"];
        Row::new(name, about, 64, 40_000).entries(entries(names, runs)).at_most_of_the_best(LIMIT)
    };
    [
        row(
            "replies, blocks of work",
            "blocks of 4 KiB, each sent to one of two workers with a ring for its reply; a writer waits for the replies in the order of \
             the blocks. A block is 5 µs of work",
            4_000,
            [compress::<Ours>, compress::<Flume>, compress::<Crossbeam>],
        )
        .other(BY_RINGS, compress::<ByRings>)
        .threads(4),
        row(
            "replies, short questions",
            "u64: two threads ask a third one, one question at a time, each with a ring for its reply",
            20_000,
            [ask::<Ours>, ask::<Flume>, ask::<Crossbeam>],
        )
        .other(BY_RINGS, ask::<ByRings>)
        .threads(3),
        row(
            "replies, a fan of small jobs",
            "u64: a ring is made for 16 jobs, which go to two workers, each with a handle of that ring; the asking thread receives until \
             all these handles are gone. The time is that of a job",
            64_000,
            [fan::<Ours>, fan::<Flume>, fan::<Crossbeam>],
        )
        .threads(3),
        of_tasks(
            "async replies, short questions, one thread",
            "u64: eight tasks ask another one, one question at a time each, each with a ring for its reply; all on one thread",
            [ask_in_tasks::<Ours, 1>, ask_in_tasks::<Tokio, 1>, ask_in_tasks::<Flume, 1>],
        ),
        of_tasks(
            "async replies, short questions, two threads",
            "u64: the same, on an executor with two threads",
            [ask_in_tasks::<Ours, 2>, ask_in_tasks::<Tokio, 2>, ask_in_tasks::<Flume, 2>],
        )
        .threads(2),
    ]
}

/// Ours first.
fn entries(names: [&'static str; 3], runs: [fn(&Plan) -> Sample; 3]) -> impl Iterator<Item = Entry> {
    let kinds = [Kind::Ours, Kind::Rival, Kind::Rival];
    names.into_iter().zip(kinds).zip(runs).map(|((name, kind), run)| Entry { name, kind, run })
}

/// What a program of threads uses of one library.
trait Library: 'static {
    type Sender<T: Send + 'static>: Clone + Send + Sync + 'static;
    type Receiver<T: Send + 'static>: Clone + Send + 'static;
    type ReplySender<T: Send + 'static>: Send + 'static;
    type ReplyReceiver<T: Send + 'static>: Send + 'static;

    fn queue<T: Send + 'static>(capacity: usize) -> (Self::Sender<T>, Self::Receiver<T>);
    fn send<T: Send + 'static>(sender: &Self::Sender<T>, value: T);
    fn recv<T: Send + 'static>(receiver: &Self::Receiver<T>) -> Option<T>;
    fn reply<T: Send + 'static>() -> (Self::ReplySender<T>, Self::ReplyReceiver<T>);
    fn send_reply<T: Send + 'static>(sender: Self::ReplySender<T>, value: T);
    fn recv_reply<T: Send + 'static>(receiver: Self::ReplyReceiver<T>) -> Option<T>;
}

/// The same in tasks.
trait TaskLibrary: 'static {
    type Sender<T: Send + 'static>: Clone + Send + Sync + 'static;
    type Receiver<T: Send + 'static>: Send + 'static;
    type ReplySender<T: Send + 'static>: Send + 'static;
    type ReplyReceiver<T: Send + 'static>: Send + 'static;

    fn queue<T: Send + 'static>(capacity: usize) -> (Self::Sender<T>, Self::Receiver<T>);
    fn send<T: Send + 'static>(sender: &Self::Sender<T>, value: T) -> impl Future<Output = ()> + Send;
    fn recv<T: Send + 'static>(receiver: &mut Self::Receiver<T>) -> impl Future<Output = Option<T>> + Send;
    fn reply<T: Send + 'static>() -> (Self::ReplySender<T>, Self::ReplyReceiver<T>);
    fn send_reply<T: Send + 'static>(sender: Self::ReplySender<T>, value: T);
    fn recv_reply<T: Send + 'static>(
        receiver: Self::ReplyReceiver<T>,
    ) -> impl Future<Output = Option<T>> + Send;
}

/// One library: its queue, then its channel for a reply.
macro_rules! library {
    ($name:ident: $queue:ident, $queue_of:path, $reply:ident, $reply_of:expr) => {
        impl Library for $name {
            type Sender<T: Send + 'static> = $queue::Sender<T>;
            type Receiver<T: Send + 'static> = $queue::Receiver<T>;
            type ReplySender<T: Send + 'static> = $reply::Sender<T>;
            type ReplyReceiver<T: Send + 'static> = $reply::Receiver<T>;

            fn queue<T: Send + 'static>(capacity: usize) -> (Self::Sender<T>, Self::Receiver<T>) {
                $queue_of(capacity)
            }

            #[inline(always)]
            fn send<T: Send + 'static>(sender: &Self::Sender<T>, value: T) {
                assert!(sender.send(value).is_ok());
            }

            #[inline(always)]
            fn recv<T: Send + 'static>(receiver: &Self::Receiver<T>) -> Option<T> {
                receiver.recv().ok()
            }

            #[inline(always)]
            fn reply<T: Send + 'static>() -> (Self::ReplySender<T>, Self::ReplyReceiver<T>) {
                $reply_of
            }

            #[inline(always)]
            fn send_reply<T: Send + 'static>(sender: Self::ReplySender<T>, value: T) {
                assert!(sender.send(value).is_ok());
            }

            #[inline(always)]
            #[allow(unused_mut, reason = "some verbs take `&mut`")]
            fn recv_reply<T: Send + 'static>(mut receiver: Self::ReplyReceiver<T>) -> Option<T> {
                receiver.recv().ok()
            }
        }
    };
}

/// With the verbs of tasks.
macro_rules! task_library {
    (
        $name:ident: $queue:ident, $queue_of:path, $send:ident, |$from:ident| $recv:expr,
        $reply:ident, $reply_of:expr, |$waiting:ident| $answer:expr
    ) => {
        impl TaskLibrary for $name {
            type Sender<T: Send + 'static> = $queue::Sender<T>;
            type Receiver<T: Send + 'static> = $queue::Receiver<T>;
            type ReplySender<T: Send + 'static> = $reply::Sender<T>;
            type ReplyReceiver<T: Send + 'static> = $reply::Receiver<T>;

            fn queue<T: Send + 'static>(capacity: usize) -> (Self::Sender<T>, Self::Receiver<T>) {
                $queue_of(capacity)
            }

            #[inline(always)]
            async fn send<T: Send + 'static>(sender: &Self::Sender<T>, value: T) {
                assert!(sender.$send(value).await.is_ok());
            }

            #[inline(always)]
            async fn recv<T: Send + 'static>($from: &mut Self::Receiver<T>) -> Option<T> {
                $recv
            }

            #[inline(always)]
            fn reply<T: Send + 'static>() -> (Self::ReplySender<T>, Self::ReplyReceiver<T>) {
                $reply_of
            }

            #[inline(always)]
            fn send_reply<T: Send + 'static>(sender: Self::ReplySender<T>, value: T) {
                assert!(sender.send(value).is_ok());
            }

            #[inline(always)]
            #[allow(unused_mut, reason = "some verbs take `&mut`")]
            async fn recv_reply<T: Send + 'static>(mut $waiting: Self::ReplyReceiver<T>) -> Option<T> {
                $answer.ok()
            }
        }
    };
}

struct Ours;
struct ByRings;
struct Flume;
struct Crossbeam;
struct Tokio;

library!(Ours: ordered, ordered::channel, oneshot, oneshot::channel());
library!(ByRings: ordered, ordered::channel, ordered, ordered::channel(1));
library!(Flume: flume, flume::bounded, flume, flume::bounded(1));
library!(Crossbeam: crossbeam_channel, crossbeam_channel::bounded, crossbeam_channel, crossbeam_channel::bounded(1));

task_library!(
    Ours: ordered, ordered::channel, send_async, |from| from.recv_async().await.ok(),
    oneshot, oneshot::channel(), |reply| reply.await
);
task_library!(
    Tokio: tokio_mpsc, tokio_mpsc::channel, send, |from| from.recv().await,
    tokio_oneshot, tokio_oneshot::channel(), |reply| reply.await
);
task_library!(
    Flume: flume, flume::bounded, send_async, |from| from.recv_async().await.ok(),
    flume, flume::bounded(1), |reply| reply.recv_async().await
);

/// Some work with a block: its hash, byte by byte (FNV-1a).
#[inline(never)]
fn hash(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// What a compressor with several threads does: its caller cuts blocks, workers compress them, and a writer
/// puts them into their order again.
#[inline(never)]
fn compress<L: Library>(plan: &Plan) -> Sample {
    const BLOCK: usize = 4096;
    let (jobs, work) = L::queue::<(Vec<u8>, L::ReplySender<u64>)>(4);
    let (in_order, to_write) = L::queue::<L::ReplyReceiver<u64>>(4);
    let (written, is_written) = L::queue::<u64>(1);
    thread::scope(|scope| {
        for core in [plan.cores.here, plan.cores.there] {
            let work = work.clone();
            scope.spawn(move || {
                pin(core);
                while let Some((block, reply)) = L::recv(&work) {
                    L::send_reply(reply, hash(&block));
                }
            });
        }
        let (there, messages) = (plan.cores.there, plan.messages);
        scope.spawn(move || {
            pin(there);
            for phase in phases(WARM_UP, messages) {
                let sum = phase.fold(0, |sum: u64, _| {
                    let reply = L::recv(&to_write).expect("the caller sends as many");
                    sum.wrapping_add(L::recv_reply(reply).expect("a worker has it"))
                });
                L::send(&written, sum);
            }
        });
        let mut begun = Instant::now();
        for phase in phases(WARM_UP, plan.messages) {
            begun = Instant::now();
            for number in phase {
                let (to, from) = L::reply();
                L::send(&jobs, (vec![number as u8; BLOCK], to));
                L::send(&in_order, from);
            }
            black_box(L::recv(&is_written).expect("the writer sends it"));
        }
        let ns = ns_each(begun, plan.messages);
        drop(jobs);
        ns.into()
    })
}

/// Short questions of threads.
#[inline(never)]
fn ask<L: Library>(plan: &Plan) -> Sample {
    let (questions, asked) = L::queue::<(u64, L::ReplySender<u64>)>(plan.capacity);
    let messages = plan.messages / ASKERS;
    thread::scope(|scope| {
        let there = plan.cores.there;
        scope.spawn(move || {
            pin(there);
            while let Some((number, reply)) = L::recv(&asked) {
                L::send_reply(reply, number + 1);
            }
        });
        let asker = |questions: L::Sender<(u64, L::ReplySender<u64>)>, core| {
            move || {
                pin(core);
                let mut begun = Instant::now();
                for phase in phases(WARM_UP, messages) {
                    begun = Instant::now();
                    for number in phase {
                        let (to, from) = L::reply();
                        L::send(&questions, (number, to));
                        assert!(L::recv_reply(from) == Some(number + 1));
                    }
                }
                ns_each(begun, messages * ASKERS)
            }
        };
        let other = scope.spawn(asker(questions.clone(), plan.cores.there));
        let ns = asker(questions, plan.cores.here)();
        ns.max(other.join().expect("all were answered")).into()
    })
}

/// Jobs in fans.
#[inline(never)]
fn fan<L: Library>(plan: &Plan) -> Sample {
    let (jobs, work) = L::queue::<(u64, L::Sender<u64>)>(plan.capacity);
    thread::scope(|scope| {
        for core in [plan.cores.here, plan.cores.there] {
            let work = work.clone();
            scope.spawn(move || {
                pin(core);
                while let Some((number, results)) = L::recv(&work) {
                    L::send(&results, number + hash(&number.to_ne_bytes()) % 2);
                }
            });
        }
        let mut begun = Instant::now();
        for phase in phases(WARM_UP / 10, plan.messages / FAN as u64) {
            begun = Instant::now();
            for _ in phase {
                let (to, results) = L::queue::<u64>(FAN);
                for number in 0..FAN as u64 {
                    L::send(&jobs, (number, to.clone()));
                }
                drop(to);
                let mut received = 0;
                while let Some(result) = L::recv(&results) {
                    assert!(result <= FAN as u64);
                    received += 1;
                }
                assert!(received == FAN);
            }
        }
        let ns = ns_each(begun, plan.messages);
        drop(jobs);
        ns.into()
    })
}

/// Short questions of tasks.
#[inline(never)]
fn ask_in_tasks<L: TaskLibrary, const WORKERS: usize>(plan: &Plan) -> Sample {
    let (questions, mut asked) = L::queue::<(u64, L::ReplySender<u64>)>(plan.capacity);
    let workers = Workers::new(WORKERS, plan.cores);
    let answering = workers.spawn(async move {
        while let Some((number, reply)) = L::recv(&mut asked).await {
            L::send_reply(reply, number + 1);
        }
    });
    let mut begun = Instant::now();
    for phase in phases(WARM_UP, plan.messages / ASKING_TASKS) {
        begun = Instant::now();
        let asking: Vec<_> = (0..ASKING_TASKS)
            .map(|_| {
                let (questions, phase) = (questions.clone(), phase.clone());
                workers.spawn(async move {
                    for number in phase {
                        let (to, from) = L::reply();
                        L::send(&questions, (number, to)).await;
                        assert!(L::recv_reply(from).await == Some(number + 1));
                    }
                })
            })
            .collect();
        asking.into_iter().for_each(|task| workers.join(task));
    }
    let ns = ns_each(begun, plan.messages);
    drop(questions);
    workers.join(answering);
    ns.into()
}

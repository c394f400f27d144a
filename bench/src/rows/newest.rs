//! The newest value for many readers: a channel that has one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use annulus::watch;
use tokio::sync::watch as tokio_watch;

use crate::cores::pin;
use crate::row::{Entry, Kind, Plan, Row, Sample};
use crate::timing::{WARM_UP, ns_each, phases};
use crate::workers::Workers;

/// What ours may take of the best rival's time.
const LIMIT: f64 = 1.0;

pub fn rows_on_one_thread() -> [Row; 2] {
    [
        Row::new("newest value, on one thread", "four u64: one is sent, and received as new", 1, 1_000_000)
            .entries(entries([send_and_receive::<Ours>, send_and_receive::<Tokio>]))
            .at_most_of_the_best(LIMIT),
        Row::new("newest value, read", "four u64, read again and again while nothing is sent", 1, 2_000_000)
            .entries(entries([read::<Ours>, read::<Tokio>]))
            .at_most_of_the_best(LIMIT),
    ]
}

pub fn rows_across() -> [Row; 2] {
    [
        Row::new(
            "newest value, read while it is sent",
            "four u64, read again and again, while a thread on the other core sends one after the other; the time is that of a read",
            1,
            1_000_000,
        )
        .on_two_cores()
        .entries(entries([read_while_sent::<Ours>, read_while_sent::<Tokio>]))
        .at_most_of_the_best(LIMIT),
        Row::new(
            "newest value, round trip of tasks",
            "four u64, sent to a task that waits for a change, and back through a second channel; two tasks on one thread",
            1,
            100_000,
        )
        .entries(entries([round_trip::<Ours>, round_trip::<Tokio>]))
        .at_most_of_the_best(LIMIT),
    ]
}

fn entries([ours, tokio]: [fn(&Plan) -> Sample; 2]) -> [Entry; 2] {
    [
        Entry { name: "annulus", kind: Kind::Ours, run: ours },
        Entry { name: "tokio", kind: Kind::Rival, run: tokio },
    ]
}

type Value = [u64; 4];

/// A channel for the newest value.
trait Newest: 'static {
    type Sender: Send + Sync + 'static;
    type Receiver: Send + 'static;

    fn channel(value: Value) -> (Self::Sender, Self::Receiver);
    fn send(sender: &Self::Sender, value: Value);
    /// Whichever there is.
    fn read(receiver: &Self::Receiver) -> Value;
    /// One that was not received, if there is one.
    fn try_receive(receiver: &mut Self::Receiver) -> Option<Value>;
    /// Waits for one that was not received.
    fn receive(receiver: &mut Self::Receiver) -> impl Future<Output = Option<Value>> + Send;
}

/// Both libraries have the same verbs, but for the name of the one that waits in a task.
macro_rules! newest {
    ($name:ident, $module:ident, $changed:ident) => {
        struct $name;

        impl Newest for $name {
            type Sender = $module::Sender<Value>;
            type Receiver = $module::Receiver<Value>;

            fn channel(value: Value) -> (Self::Sender, Self::Receiver) {
                $module::channel(value)
            }

            #[inline(always)]
            fn send(sender: &Self::Sender, value: Value) {
                sender.send(value).expect("the receiver is there");
            }

            #[inline(always)]
            fn read(receiver: &Self::Receiver) -> Value {
                *receiver.borrow()
            }

            #[inline(always)]
            fn try_receive(receiver: &mut Self::Receiver) -> Option<Value> {
                receiver.has_changed().expect("the sender is there").then(|| *receiver.borrow_and_update())
            }

            #[inline(always)]
            async fn receive(receiver: &mut Self::Receiver) -> Option<Value> {
                receiver.$changed().await.ok()?;
                Some(*receiver.borrow_and_update())
            }
        }
    };
}

newest!(Ours, watch, changed_async);
newest!(Tokio, tokio_watch, changed);

#[inline(never)]
fn send_and_receive<N: Newest>(plan: &Plan) -> Sample {
    let (sender, mut receiver) = N::channel([0; 4]);
    let mut begun = Instant::now();
    for phase in phases(WARM_UP, plan.messages) {
        begun = Instant::now();
        for number in phase {
            N::send(&sender, [number; 4]);
            assert!(N::try_receive(&mut receiver) == Some([number; 4]));
        }
    }
    ns_each(begun, plan.messages).into()
}

#[inline(never)]
fn read<N: Newest>(plan: &Plan) -> Sample {
    let (_sender, receiver) = N::channel([7; 4]);
    let mut begun = Instant::now();
    for phase in phases(WARM_UP, plan.messages) {
        begun = Instant::now();
        for _ in phase {
            assert!(N::read(&receiver) == [7; 4]);
        }
    }
    ns_each(begun, plan.messages).into()
}

#[inline(never)]
fn read_while_sent<N: Newest>(plan: &Plan) -> Sample {
    let (sender, receiver) = N::channel([0; 4]);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            pin(plan.cores.there);
            for number in 1.. {
                N::send(&sender, [number; 4]);
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        let mut newest = 0;
        let mut begun = Instant::now();
        for phase in phases(WARM_UP, plan.messages) {
            begun = Instant::now();
            for _ in phase {
                let [number, others @ ..] = N::read(&receiver);
                assert!(number >= newest && others == [number; 3]);
                newest = number;
            }
        }
        let ns = ns_each(begun, plan.messages);
        is_over.store(true, Ordering::Relaxed);
        ns.into()
    })
}

#[inline(never)]
fn round_trip<N: Newest>(plan: &Plan) -> Sample {
    let (there, mut arrival) = N::channel([0; 4]);
    let (back, mut answer) = N::channel([0; 4]);
    let messages = plan.messages;
    let workers = Workers::new(1, plan.cores);
    let echo = workers.spawn(async move {
        while let Some(value) = N::receive(&mut arrival).await {
            N::send(&back, value);
        }
    });
    let asking = workers.spawn(async move {
        let mut begun = Instant::now();
        for phase in phases(WARM_UP, messages) {
            begun = Instant::now();
            for number in phase {
                N::send(&there, [number; 4]);
                assert!(N::receive(&mut answer).await == Some([number; 4]));
            }
        }
        ns_each(begun, messages)
    });
    let ns = workers.join(asking);
    workers.join(echo);
    ns.into()
}

//! A channel for one value: made, used and dropped, on one thread and for the reply of another.

use std::thread;
use std::time::Instant;

use annulus::oneshot;

use crate::cores::pin;
use crate::row::{Entry, Kind, Plan, Row, Sample};
use crate::timing::{WARM_UP, ns_each, phases};

pub fn rows() -> [Row; 2] {
    const ONE_SLOT: &str = "annulus, a queue of one slot";
    fn entries<F: Copy>(runs: [F; 6], entry: fn(&'static str, Kind, F) -> Entry) -> [Entry; 6] {
        let names = ["annulus", "oneshot", "tokio", "crossbeam-channel", "flume", "std"];
        let mut index = 0;
        names.map(|name| {
            index += 1;
            entry(name, if index == 1 { Kind::Ours } else { Kind::Rival }, runs[index - 1])
        })
    }
    let entry = |name, kind, run| Entry { name, kind, run };
    [
        Row::new(
            "reply, on one thread",
            "u64: the channel is made, the value sent and received, and both sides dropped; of libraries without a channel for one \
             value, a queue of one slot",
            1,
            400_000,
        )
        .entries(entries(
            [alone::<Ours>, alone::<Oneshot>, alone::<Tokio>, alone::<Crossbeam>, alone::<Flume>, alone::<Std>],
            entry,
        ))
        .other(ONE_SLOT, alone::<OneSlot>),
        Row::new(
            "reply, from another thread",
            "the same, where each reply is asked of a thread on the other core, which gets the channel's sender through one and the \
             same queue for all",
            1,
            50_000,
        )
        .on_two_cores()
        .entries(entries(
            [asked::<Ours>, asked::<Oneshot>, asked::<Tokio>, asked::<Crossbeam>, asked::<Flume>, asked::<Std>],
            entry,
        ))
        .other(ONE_SLOT, asked::<OneSlot>),
    ]
}

/// A channel for one value.
trait Reply {
    type Sender: Send + 'static;
    type Receiver;

    fn channel() -> (Self::Sender, Self::Receiver);
    fn send(sender: Self::Sender, value: u64);
    fn recv(receiver: Self::Receiver) -> u64;
}

#[inline(never)]
fn alone<R: Reply>(plan: &Plan) -> Sample {
    let mut begun = Instant::now();
    for phase in phases(WARM_UP, plan.messages) {
        begun = Instant::now();
        for number in phase {
            let (sender, receiver) = R::channel();
            R::send(sender, number);
            assert!(R::recv(receiver) == number);
        }
    }
    ns_each(begun, plan.messages).into()
}

#[inline(never)]
fn asked<R: Reply>(plan: &Plan) -> Sample {
    let (mut questions, mut asked) = annulus::spsc::channel::<(u64, R::Sender)>(4);
    thread::scope(|scope| {
        let there = plan.cores.there;
        scope.spawn(move || {
            pin(there);
            for (number, sender) in asked.iter() {
                R::send(sender, number);
            }
        });
        let mut begun = Instant::now();
        for phase in phases(WARM_UP, plan.messages) {
            begun = Instant::now();
            for number in phase {
                let (sender, receiver) = R::channel();
                questions.send((number, sender)).unwrap_or_else(|_| panic!("the other thread lives"));
                assert!(R::recv(receiver) == number);
            }
        }
        let ns = ns_each(begun, plan.messages);
        drop(questions);
        ns.into()
    })
}

/// Writes a contender.
macro_rules! reply {
    ($name:ident: $sender:ty, $receiver:ty, $channel:expr, |$to:ident, $value:ident| $send:expr, |$from:ident| $recv:expr) => {
        struct $name;

        impl Reply for $name {
            type Sender = $sender;
            type Receiver = $receiver;

            #[inline(always)]
            fn channel() -> ($sender, $receiver) {
                $channel
            }

            #[inline(always)]
            #[allow(unused_mut, reason = "some verbs take `&mut`")]
            fn send(mut $to: $sender, $value: u64) {
                $send.expect("the receiver waits");
            }

            #[inline(always)]
            #[allow(unused_mut, reason = "as above")]
            fn recv(mut $from: $receiver) -> u64 {
                $recv.expect("the sender sends")
            }
        }
    };
}

reply!(Ours: oneshot::Sender<u64>, oneshot::Receiver<u64>, oneshot::channel(), |to, value| to.send(value), |from| from.recv());
reply!(
    OneSlot: annulus::spsc::Producer<u64>, annulus::spsc::Consumer<u64>, annulus::spsc::channel(1),
    |to, value| to.send(value), |from| from.recv()
);
reply!(Oneshot: ::oneshot::Sender<u64>, ::oneshot::Receiver<u64>, ::oneshot::channel(), |to, value| to.send(value), |from| from.recv());
reply!(
    Tokio: tokio::sync::oneshot::Sender<u64>, tokio::sync::oneshot::Receiver<u64>, tokio::sync::oneshot::channel(),
    |to, value| to.send(value), |from| from.blocking_recv()
);
reply!(
    Crossbeam: crossbeam_channel::Sender<u64>, crossbeam_channel::Receiver<u64>, crossbeam_channel::bounded(1),
    |to, value| to.send(value), |from| from.recv()
);
reply!(Flume: flume::Sender<u64>, flume::Receiver<u64>, flume::bounded(1), |to, value| to.send(value), |from| from.recv());
reply!(
    Std: std::sync::mpsc::SyncSender<u64>, std::sync::mpsc::Receiver<u64>, std::sync::mpsc::sync_channel(1),
    |to, value| to.send(value), |from| from.recv()
);

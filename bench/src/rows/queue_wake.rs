//! How soon a consumer has what was sent, asleep or awake.

use std::marker::PhantomData;
use std::thread;
use std::time::Instant;

use annulus::{WaitStrategy, spmc, spsc};

use super::wake_up::wake_up;
use crate::contenders::{Annulus, Crossbeam, Kanal, Named, Queue, Receiver, Rtrb, Sender, StdSync, Waiting};
use crate::cores::pin;
use crate::floor::{self, BareFutex};
use crate::hand_over::{HandOver, Sleeper, Waker};
use crate::row::{Entry, Kind, Plan, Row, Sample};
use crate::timing::{WARM_UP, ns_each, phases};

pub fn rows() -> [Row; 3] {
    const FUTEX: &str = "a bare futex";
    const RAW: &str = "raw ping-pong";
    const RAW_WITH_PAUSES: &str = "raw ping-pong, pausing";
    const BUSY: &str = "annulus, without pauses";
    [
        Row::new(
            "queue, wake-up latency",
            "u64, from the send to its receipt by a consumer on the other core that sleeps at once where nothing is there; the \
             median of a run",
            64,
            200,
        )
        .on_two_cores()
        .entries([
            Entry { name: Annulus::NAME, kind: Kind::Ours, run: wake_up::<AtOnce> },
            Entry { name: Crossbeam::NAME, kind: Kind::Rival, run: wake_up::<ByDefault<Crossbeam>> },
            Entry { name: Kanal::NAME, kind: Kind::Rival, run: wake_up::<ByDefault<Kanal>> },
            Entry { name: StdSync::NAME, kind: Kind::Rival, run: wake_up::<ByDefault<StdSync>> },
        ])
        .floor(FUTEX, wake_up::<BareFutex>)
        .target(FUTEX, 1.3),
        Row::new(
            "queue, round trip",
            "u64, through one queue and back through another, both sides spinning with a pause between their looks; without the pauses \
             beside it",
            4096,
            100_000,
        )
        .on_two_cores()
        .entries([
            Entry { name: Annulus::NAME, kind: Kind::Ours, run: round_trip::<Spinning<spsc::Spsc, true>> },
            Entry { name: Rtrb::NAME, kind: Kind::Rival, run: round_trip::<Rtrb> },
        ])
        .other(BUSY, round_trip::<Spinning<spsc::Spsc>>)
        .floor(RAW, floor::round_trip)
        .floor(RAW_WITH_PAUSES, floor::round_trip_with_pauses)
        .target(RAW, 1.1),
        Row::new(
            "queue with claims, round trip",
            "the same through queues for many consumers (spmc), with one each: what tells of a message lies beside it, in one line",
            4096,
            100_000,
        )
        .on_two_cores()
        .entries([Entry { name: Annulus::NAME, kind: Kind::Ours, run: round_trip::<Spinning<spmc::Spmc, true>> }])
        .other(BUSY, round_trip::<Spinning<spmc::Spmc>>)
        .floor(RAW, floor::round_trip)
        .floor(RAW_WITH_PAUSES, floor::round_trip_with_pauses)
        .target(RAW, 1.1),
    ]
}

/// A consumer that sleeps at once.
struct AtOnce;

/// A consumer that waits as its library does.
struct ByDefault<Q>(Q);

impl HandOver for AtOnce {
    type Waker = spsc::Producer<u64>;
    type Sleeper = spsc::Consumer<u64>;

    fn pair() -> (Self::Waker, Self::Sleeper) {
        spsc::channel(64)
    }
}

impl Waker for spsc::Producer<u64> {
    fn wake(&mut self, value: u64) {
        self.send(value).expect("the consumer is there");
    }
}

impl Sleeper for spsc::Consumer<u64> {
    fn sleep(&mut self) -> u64 {
        self.recv_until(WaitStrategy::block_after(0, 0)).expect("the producer is there")
    }
}

impl<Q: Queue<Sender: Waker, Receiver: Sleeper>> HandOver for ByDefault<Q> {
    type Waker = Q::Sender;
    type Sleeper = Q::Receiver;

    fn pair() -> (Self::Waker, Self::Sleeper) {
        Q::queue(64)
    }
}

impl<H> Waker for Waiting<H>
where
    Self: Sender,
{
    fn wake(&mut self, value: u64) {
        assert!(self.send(value));
    }
}

impl<H> Sleeper for Waiting<H>
where
    Self: Receiver,
{
    fn sleep(&mut self) -> u64 {
        self.receive().expect("the sender is there")
    }
}

/// Our queue of a kind, its consumer spinning, with a pause between its looks or without.
pub(super) struct Spinning<K, const PAUSE: bool = false>(PhantomData<K>);

pub(super) struct SpinningProducer<K: annulus::queue::kind::QueueKind>(annulus::queue::Producer<u64, K>);

pub(super) struct SpinningConsumer<K: annulus::queue::kind::QueueKind, const PAUSE: bool>(
    annulus::queue::Consumer<u64, K>,
);

impl<K: annulus::queue::kind::QueueKind, const PAUSE: bool> Named for Spinning<K, PAUSE> {
    const NAME: &'static str = Annulus::NAME;
}

impl<K: annulus::queue::kind::QueueKind, const PAUSE: bool> Queue for Spinning<K, PAUSE>
where
    SpinningProducer<K>: Send + 'static,
    SpinningConsumer<K, PAUSE>: Send + 'static,
{
    type Sender = SpinningProducer<K>;
    type Receiver = SpinningConsumer<K, PAUSE>;

    fn queue(capacity: usize) -> (Self::Sender, Self::Receiver) {
        let (producer, consumer) = annulus::queue::with(annulus::Settings::new(capacity))
            .expect("a ring of this capacity can be made");
        (SpinningProducer(producer), SpinningConsumer(consumer))
    }
}

impl<K: annulus::queue::kind::QueueKind> Sender for SpinningProducer<K>
where
    Self: Send,
{
    #[inline(always)]
    fn send(&mut self, value: u64) -> bool {
        self.0.send(value).is_ok()
    }
}

impl<K: annulus::queue::kind::QueueKind, const PAUSE: bool> Receiver for SpinningConsumer<K, PAUSE>
where
    Self: Send,
{
    #[inline(always)]
    fn receive(&mut self) -> Option<u64> {
        let strategy = if PAUSE { WaitStrategy::PauseSpin } else { WaitStrategy::BusySpin };
        self.0.recv_until(strategy).ok()
    }
}

#[inline(never)]
fn round_trip<Q: Queue<Sender: Sender, Receiver: Receiver>>(plan: &Plan) -> Sample {
    let (mut there, mut arrival) = Q::queue(plan.capacity);
    let (mut back, mut answer) = Q::queue(plan.capacity);
    let total = WARM_UP + plan.messages;
    thread::scope(|scope| {
        scope.spawn(move || {
            pin(plan.cores.there);
            for _ in 0..total {
                let value = arrival.must_receive();
                assert!(back.send(value + 1));
            }
        });
        let mut begun = Instant::now();
        for phase in phases(WARM_UP, plan.messages) {
            begun = Instant::now();
            for i in phase {
                assert!(there.send(i));
                assert!(answer.must_receive() == i + 1);
            }
        }
        ns_each(begun, plan.messages).into()
    })
}

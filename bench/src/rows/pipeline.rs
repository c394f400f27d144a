//! Pipelines: five stages with a diamond, each on a thread of its own, and one stage beside the same by hand.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Instant;

use annulus::Settings;
use annulus::broadcast::{Lossless, Staged};
use annulus::event;
use annulus::pipeline::Pipeline;
use annulus::{WaitStrategy, spsc};
use crossbeam_channel::bounded;
use disruptor::{Producer, Sequence, build_single_producer};

use crate::contenders::{Annulus, Crossbeam, Disruptor, Named};
use crate::cores::{Cores, pin, unpin};
use crate::messages::mix;
use crate::placement::Placement;
use crate::row::{Entry, Kind, Plan, Row, Sample};
use crate::timing::ns_each;

const BY_HAND: &str = "by hand";
/// Ours, where nobody sleeps, as with the disruptor here.
const BACKING_OFF: &str = "annulus, BackoffSpin";

/// Ours, on one ring, whose stages leave what they made in the event, as with the disruptor.
const ON_ONE_RING: &str = "annulus, stages on one ring";

pub fn rows() -> [Row; 4] {
    let diamond = |name, placement| {
        Row {
        placement,
        ..Row::new(
            name,
            "u64 through five stages with a thread each: one, then two beside each other, then one that gets the pair of both, and \
             a last one that adds up; by the disruptor on one ring, where each thread that waits yields",
            1024,
            10_000_000,
        )
        .threads(6)
        .entries([
            Entry { name: Annulus::NAME, kind: Kind::Ours, run: diamond::annulus },
            Entry { name: BACKING_OFF, kind: Kind::Other, run: diamond::annulus_backing_off },
            Entry { name: ON_ONE_RING, kind: Kind::Other, run: diamond::annulus_on_one_ring },
            Entry { name: Crossbeam::NAME, kind: Kind::Rival, run: diamond::crossbeam },
            Entry { name: Disruptor::NAME, kind: Kind::Rival, run: diamond::disruptor },
        ])
        .target(Crossbeam::NAME, 0.667)
        .target(Disruptor::NAME, 1.0)
    }
    };
    let hop = |name, about, messages| Row::new(name, about, 1024, messages).threads(2).target(BY_HAND, 1.1);
    let entries = |ours, by_hand| {
        [
            Entry { name: Annulus::NAME, kind: Kind::Ours, run: ours },
            Entry { name: BY_HAND, kind: Kind::Other, run: by_hand },
        ]
    };
    [
        diamond("pipeline, a diamond", Placement::Apart),
        diamond("pipeline, a diamond, unpinned", Placement::Unpinned),
        hop(
            "pipeline, one stage, a stream",
            "u64 through one stage on the other core: 256 are sent, then 256 received, and so on; by hand, its thread receives, \
             computes and sends",
            2_000_000,
        )
        .entries(entries(hop::stream, hop::stream_by_hand)),
        hop("pipeline, one stage, one at a time", "the same, each sent when the one before was received", 50_000)
            .entries(entries(hop::one_at_a_time, hop::one_at_a_time_by_hand)),
    ]
}

/// Keeps the calling thread where the plan has its stage `number`: in turn on the two cores.
fn place(placement: Placement, cores: Cores, number: usize) {
    match placement {
        Placement::Unpinned => unpin(cores),
        _ => pin(if number.is_multiple_of(2) { cores.here } else { cores.there }),
    }
}

/// A stage that goes to its core with its first message.
fn on<T, U>(
    plan: &Plan,
    number: usize,
    mut f: impl FnMut(T) -> U + Send + 'static,
) -> impl FnMut(T) -> U + Send + 'static {
    let (placement, cores) = (plan.placement, plan.cores);
    let mut is_there = false;
    move |message| {
        if !is_there {
            place(placement, cores, number);
            is_there = true;
        }
        f(message)
    }
}

fn first(x: u64) -> u64 {
    mix(x)
}

fn left(x: u64) -> u64 {
    x ^ 0x55
}

fn right(x: u64) -> u64 {
    x.rotate_left(9)
}

fn joined(left: u64, right: u64) -> u64 {
    left.wrapping_add(right)
}

/// What the last stage has to add up to.
fn expected(messages: u64) -> u64 {
    (0..messages).map(first).map(|x| joined(left(x), right(x))).fold(0, u64::wrapping_add)
}

mod diamond {
    use super::*;
    use std::sync::Arc;

    pub fn annulus(plan: &Plan) -> Sample {
        waiting_by(plan, WaitStrategy::default())
    }

    /// Nobody sleeps, as in the disruptor.
    pub fn annulus_backing_off(plan: &Plan) -> Sample {
        waiting_by(plan, WaitStrategy::BackoffSpin)
    }

    fn waiting_by(plan: &Plan, strategy: WaitStrategy) -> Sample {
        let sum = Arc::new(AtomicU64::new(0));
        let total = Arc::clone(&sum);
        let (mut input, stages) =
            Pipeline::builder().capacity(plan.capacity).wait_strategy(strategy).input::<u64>();
        let pipeline = stages
            .then(on(plan, 1, first))
            .fan_out(on(plan, 0, left), on(plan, 1, right))
            .zip()
            .then(on(plan, 0, |(left, right)| joined(left, right)))
            .sink(on(plan, 1, move |x| total.store(total.load(Relaxed).wrapping_add(x), Relaxed)))
            .build();
        place(plan.placement, plan.cores, 0);
        let begun = Instant::now();
        for i in 0..plan.messages {
            input.send(i).expect("the stages are there");
        }
        drop(input);
        pipeline.join().expect("no stage panics");
        let sample = ns_each(begun, plan.messages).into();
        assert_eq!(sum.load(Relaxed), expected(plan.messages));
        sample
    }

    pub fn crossbeam(plan: &Plan) -> Sample {
        let channel = || bounded::<u64>(plan.capacity);
        let (input, a) = channel();
        let ((to_b, b), (to_c, c)) = (channel(), channel());
        let ((from_b, left_of_d), (from_c, right_of_d)) = (channel(), channel());
        let (to_e, e) = channel();
        let sum = thread::scope(|scope| {
            let (mut f, mut g, mut h) = (on(plan, 1, first), on(plan, 0, left), on(plan, 1, right));
            let mut j = on(plan, 0, |(left, right)| joined(left, right));
            let mut sum = 0_u64;
            let mut k = on(plan, 1, |x: u64| x);
            scope.spawn(move || {
                for x in a {
                    let x = f(x);
                    to_b.send(x).unwrap();
                    to_c.send(x).unwrap();
                }
            });
            scope.spawn(move || b.into_iter().for_each(|x| from_b.send(g(x)).unwrap()));
            scope.spawn(move || c.into_iter().for_each(|x| from_c.send(h(x)).unwrap()));
            scope.spawn(move || {
                left_of_d.into_iter().zip(right_of_d).for_each(|pair| to_e.send(j(pair)).unwrap());
            });
            let last = scope.spawn(move || {
                e.into_iter().for_each(|x| sum = sum.wrapping_add(k(x)));
                sum
            });
            place(plan.placement, plan.cores, 0);
            let begun = Instant::now();
            for i in 0..plan.messages {
                input.send(i).unwrap();
            }
            drop(input);
            (last.join().unwrap(), begun)
        });
        let sample = ns_each(sum.1, plan.messages).into();
        assert_eq!(sum.0, expected(plan.messages));
        sample
    }

    /// What each stage leaves for the next ones. A handler gets a shared reference.
    #[derive(Default)]
    struct Event {
        message: u64,
        first: AtomicU64,
        left: AtomicU64,
        right: AtomicU64,
        joined: AtomicU64,
    }

    /// One of the stages on one ring. Each takes all that there are, and says so once.
    fn stage(
        plan: &Plan,
        number: usize,
        mut subscriber: event::Subscriber<Event, Staged<Lossless>>,
        f: impl Fn(&Event) + Send + 'static,
    ) -> thread::JoinHandle<()> {
        let mut arrive = on(plan, number, |()| ());
        let most = plan.capacity;
        thread::spawn(move || {
            arrive(());
            while subscriber.process_batch(most, |event, _| f(event)).is_ok() {}
        })
    }

    pub fn annulus_on_one_ring(plan: &Plan) -> Sample {
        let sum = Arc::new(AtomicU64::new(0));
        let total = Arc::clone(&sum);
        let settings = Settings::new(plan.capacity).wait_strategy(WaitStrategy::BackoffSpin);
        let (mut publisher, source) = event::with(settings, Event::default).unwrap();
        let a = source.subscribe_tracked();
        let b = source.subscribe().after(&[&a]);
        let c = source.subscribe().after(&[&a]);
        let d = source.subscribe().after(&[&b, &c]);
        let e = source.subscribe().after(&[&d]);
        drop(source);
        let threads = [
            stage(plan, 1, a, |e| e.first.store(first(e.message), Relaxed)),
            stage(plan, 0, b, |e| e.left.store(left(e.first.load(Relaxed)), Relaxed)),
            stage(plan, 1, c, |e| e.right.store(right(e.first.load(Relaxed)), Relaxed)),
            stage(plan, 0, d, |e| {
                e.joined.store(joined(e.left.load(Relaxed), e.right.load(Relaxed)), Relaxed);
            }),
            stage(plan, 1, e, move |e| {
                total.store(total.load(Relaxed).wrapping_add(e.joined.load(Relaxed)), Relaxed);
            }),
        ];
        place(plan.placement, plan.cores, 0);
        let begun = Instant::now();
        for i in 0..plan.messages {
            publisher.publish(|event| event.message = i).expect("the stages are there");
        }
        drop(publisher);
        threads.into_iter().for_each(|thread| thread.join().expect("no stage panics"));
        let sample = ns_each(begun, plan.messages).into();
        assert_eq!(sum.load(Relaxed), expected(plan.messages));
        sample
    }

    /// With more threads than cores, its own strategies keep each other off the cores for whole time slices.
    #[derive(Clone, Copy)]
    struct Yield;

    impl disruptor::wait_strategies::WaitStrategy for Yield {
        fn wait_for(&self, _: Sequence) {
            thread::yield_now();
        }
    }

    fn handler(
        plan: &Plan,
        number: usize,
        f: impl Fn(&Event) + Send + 'static,
    ) -> impl FnMut(&Event, Sequence, bool) + Send + 'static {
        let mut arrive = on(plan, number, |()| ());
        move |event, _, _| {
            arrive(());
            f(event);
        }
    }

    pub fn disruptor(plan: &Plan) -> Sample {
        let sum = Arc::new(AtomicU64::new(0));
        let total = Arc::clone(&sum);
        let a = handler(plan, 1, |e| e.first.store(first(e.message), Relaxed));
        let b = handler(plan, 0, |e| e.left.store(left(e.first.load(Relaxed)), Relaxed));
        let c = handler(plan, 1, |e| e.right.store(right(e.first.load(Relaxed)), Relaxed));
        let d = handler(plan, 0, |e| {
            e.joined.store(joined(e.left.load(Relaxed), e.right.load(Relaxed)), Relaxed);
        });
        let e = handler(plan, 1, move |e| {
            total.store(total.load(Relaxed).wrapping_add(e.joined.load(Relaxed)), Relaxed);
        });
        let mut producer = build_single_producer(plan.capacity, Event::default, Yield)
            .handle_events_with(a)
            .and_then()
            .handle_events_with(b)
            .handle_events_with(c)
            .and_then()
            .handle_events_with(d)
            .and_then()
            .handle_events_with(e)
            .build();
        place(plan.placement, plan.cores, 0);
        let begun = Instant::now();
        for i in 0..plan.messages {
            // As its readers: its own loop spins until there is room.
            while producer.try_publish(|event| event.message = i).is_err() {
                thread::yield_now();
            }
        }
        // Waits for its threads.
        drop(producer);
        let sample = ns_each(begun, plan.messages).into();
        assert_eq!(sum.load(Relaxed), expected(plan.messages));
        sample
    }
}

mod hop {
    use super::*;

    /// How many are under way.
    const AT_ONCE: u64 = 256;

    /// Sends some, receives them, and so on. (Two threads that send and receive would need a third core.)
    fn run(plan: &Plan, mut send: impl FnMut(u64), mut receive: impl FnMut() -> u64) -> Sample {
        place(plan.placement, plan.cores, 0);
        let begun = Instant::now();
        let mut next = 0;
        while next < plan.messages {
            let end = plan.messages.min(next + AT_ONCE);
            (next..end).for_each(&mut send);
            for i in next..end {
                assert!(receive() == mix(i));
            }
            next = end;
        }
        ns_each(begun, plan.messages).into()
    }

    /// Sends each when the one before was received.
    fn to_and_fro(plan: &Plan, mut send: impl FnMut(u64), mut receive: impl FnMut() -> u64) -> Sample {
        place(plan.placement, plan.cores, 0);
        let begun = Instant::now();
        for i in 0..plan.messages {
            send(i);
            assert!(receive() == mix(i));
        }
        ns_each(begun, plan.messages).into()
    }

    /// The stage's thread by hand; its handles.
    fn by_hand(plan: &Plan) -> (spsc::Producer<u64>, spsc::Consumer<u64>, thread::JoinHandle<()>) {
        let (input, mut inlet) = spsc::channel(plan.capacity);
        let (mut outlet, output) = spsc::channel(plan.capacity);
        let mut f = on(plan, 1, mix);
        let stage = thread::spawn(move || {
            while let Ok(message) = inlet.recv() {
                if outlet.send(f(message)).is_err() {
                    break;
                }
            }
        });
        (input, output, stage)
    }

    pub fn stream(plan: &Plan) -> Sample {
        let (mut input, stages) = Pipeline::builder().capacity(plan.capacity).input::<u64>();
        let (mut output, pipeline) = stages.then(on(plan, 1, mix)).build();
        let sample = run(plan, |i| input.send(i).unwrap(), || output.recv().unwrap());
        drop(input);
        pipeline.join().unwrap();
        sample
    }

    pub fn stream_by_hand(plan: &Plan) -> Sample {
        let (mut input, mut output, stage) = by_hand(plan);
        let sample = run(plan, |i| input.send(i).unwrap(), || output.recv().unwrap());
        drop(input);
        stage.join().unwrap();
        sample
    }

    pub fn one_at_a_time(plan: &Plan) -> Sample {
        let (mut input, stages) = Pipeline::builder().capacity(plan.capacity).input::<u64>();
        let (mut output, pipeline) = stages.then(on(plan, 1, mix)).build();
        let sample = to_and_fro(plan, |i| input.send(i).unwrap(), || output.recv().unwrap());
        drop(input);
        pipeline.join().unwrap();
        sample
    }

    pub fn one_at_a_time_by_hand(plan: &Plan) -> Sample {
        let (mut input, mut output, stage) = by_hand(plan);
        let sample = to_and_fro(plan, |i| input.send(i).unwrap(), || output.recv().unwrap());
        drop(input);
        stage.join().unwrap();
        sample
    }
}

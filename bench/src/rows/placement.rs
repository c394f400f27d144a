//! The same work with the threads on other cores: apart, on one core, some of each, wherever the scheduler
//! has them, and beside a program that is busy.
//!
//! A row is a shape (who sends to whom) in a placement, at a pace. All are one loop, `exchange`.

use std::time::Duration;

use crate::contenders::ends::{Broadcast, Polling, Queued, Resting, lossy_ends};
use crate::contenders::{
    Annulus, AnnulusEventsWaiting, AnnulusLosslessWaiting, AnnulusLossyWaiting, AnnulusMany,
    AnnulusManyToMany, AnnulusPublishersBy, AnnulusQueue, AnnulusTried, AsyncBroadcastWaiting, AsyncChannel,
    BusWaiting, Contender, Crossbeam, CrossbeamTried, Crossfire, CrossfireMany, CrossfireOne, Disruptor,
    DisruptorOfMany, FanOut, Flume, Gated, Kanal, KanalTried, Looking, Named, PhotonRingBoundedWaiting,
    PhotonRingEvents, PhotonRingPublishers, Queue, Receiver, Rtrb, Sender, StdSync, TokioWaiting,
};
use crate::exchange::{NowAndThen, Pace, Reach, Stream, ToSleepers, copies, exchange};
use crate::placement::Placement;
use crate::row::{Entry, Kind, Limits, Placed, Plan, Row, Sample};

/// Of a run, so that it is some turns of the scheduler where threads share a core.
const SPAN: Duration = Duration::from_millis(30);
/// Some nine hundred messages of a producer, so that the slowest hundredth of all rounds is more than a few.
const LONG_SPAN: Duration = Duration::from_secs(1);
/// Some twenty messages, each of which wakes all.
const SLEEPERS_SPAN: Duration = Duration::from_millis(100);
/// As a run is long, and the rows are many.
const ROUNDS: usize = 7;
const CAPACITY: usize = 4096;

/// Who sends to whom, by which contenders.
struct Shape {
    name: String,
    about: String,
    producers: usize,
    threads: usize,
    /// By which they do it, where `about` does not say.
    verbs: &'static str,
    entries: Vec<Entry>,
}

/// The verbs of most shapes.
const WAITING: &str = ", by verbs that wait";

fn entry<C: Named>(run: fn(&Plan) -> Sample) -> Entry {
    let kind = if C::NAME == Annulus::NAME { Kind::Ours } else { Kind::Rival };
    Entry { name: C::NAME, kind, run }
}

/// The entries of these contenders: `$run` runs them, with the types and numbers in brackets.
macro_rules! entries {
    ($run:ident $with:tt: $($contender:ty),+ $(,)?) => {
        vec![$(entry::<$contender>(entries!(@ $run, $contender, $with))),+]
    };
    (@ $run:ident, $contender:ty, [$($with:tt)*]) => {
        $run::<$contender, $($with)*>
    };
}

fn spsc<A: Pace>() -> Shape {
    Shape {
        name: "spsc".into(),
        about: "u64, from one producer to one consumer".into(),
        producers: 1,
        threads: 2,
        verbs: WAITING,
        entries: entries!(
            one_to_one [A]: AnnulusQueue, Kanal, Crossbeam, StdSync, CrossfireOne, Flume, AsyncChannel
        ),
    }
}

fn mpsc<A: Pace>(producers: usize) -> Shape {
    macro_rules! from {
        ($producers:literal) => {
            entries!(to_one [A, $producers]: AnnulusMany, Kanal, Crossbeam, StdSync, Crossfire, Flume, AsyncChannel)
        };
    }
    Shape {
        name: format!("mpsc of {producers}"),
        about: format!("u64, through a queue for many producers, from {producers} to one consumer"),
        producers,
        threads: producers + 1,
        verbs: WAITING,
        entries: match producers {
            1 => from!(1),
            2 => from!(2),
            4 => from!(4),
            _ => from!(8),
        },
    }
}

/// The same with a consumer that looks, and gives its core away now and then.
fn mpsc_by_looks(producers: usize) -> Shape {
    macro_rules! from {
        ($producers:literal) => {
            entries!(to_one_that_looks [Stream, $producers]:
                AnnulusMany, Kanal, Crossbeam, StdSync, Crossfire, Flume, AsyncChannel)
        };
    }
    Shape {
        name: format!("mpsc of {producers}, a loop of try_recv"),
        about: format!(
            "u64, from {producers} producers to one consumer, which loops over try_recv and yields after 64 looks in vain"
        ),
        producers,
        threads: producers + 1,
        verbs: "",
        entries: match producers {
            2 => from!(2),
            4 => from!(4),
            _ => from!(8),
        },
    }
}

/// Both ends look, and give their core away now and then.
fn spsc_by_tries() -> Shape {
    Shape {
        name: "spsc, loops of try_send and try_recv".into(),
        about: "u64, from one producer to one consumer, which loop over try_send and try_recv, and yield after 64 looks in vain"
            .into(),
        producers: 1,
        threads: 2,
        verbs: "",
        entries: entries!(by_tries []: AnnulusTried, Rtrb, CrossbeamTried, KanalTried),
    }
}

fn mpmc<A: Pace>(each: usize) -> Shape {
    macro_rules! both {
        ($each:literal) => {
            entries!(to_many [A, $each, $each]: AnnulusManyToMany, Kanal, Crossbeam, CrossfireMany, Flume, AsyncChannel)
        };
    }
    Shape {
        name: format!("mpmc {each} to {each}"),
        about: format!(
            "u64, through a queue for many of both, from {each} of the one to {each} of the other"
        ),
        producers: each,
        threads: 2 * each,
        verbs: WAITING,
        entries: match each {
            1 => both!(1),
            2 => both!(2),
            _ => both!(4),
        },
    }
}

/// The readers of photon-ring and of the disruptor spin: no rivals where messages come now and then.
macro_rules! readers {
    ([$($with:tt)*]: $($sleeps:ty),+; $($spins:ty),+) => {{
        let mut entries = entries!(to_readers [$($with)*]: $($sleeps),+);
        if !A::BY_TIME {
            entries.extend(entries!(to_readers [$($with)*]: $($spins),+));
        }
        entries
    }};
}

fn lossless<A: Pace>(readers: usize) -> Shape {
    macro_rules! to {
        ($readers:literal, $disruptor:ty) => {
            readers!([A, $readers]: AnnulusLosslessWaiting, BusWaiting, AsyncBroadcastWaiting; PhotonRingBoundedWaiting, $disruptor)
        };
    }
    Shape {
        name: format!("lossless to {readers}"),
        about: format!("u64, lossless broadcast to a number of readers: {readers}"),
        producers: 1,
        threads: readers + 1,
        verbs: WAITING,
        entries: match readers {
            1 => to!(1, Disruptor),
            _ => to!(3, DisruptorOfMany),
        },
    }
}

fn events<A: Pace>() -> Shape {
    Shape {
        name: "events".into(),
        about:
            "u64, changed and read where it lies, with one reader; bus and async-broadcast have it by value"
                .into(),
        producers: 1,
        threads: 2,
        verbs: WAITING,
        entries: readers!([A, 1]: AnnulusEventsWaiting, BusWaiting, AsyncBroadcastWaiting; PhotonRingEvents, Disruptor),
    }
}

/// Four publishers that wait for nobody but the one that claimed the slot a lap before. In so small a ring
/// that is another of the four, which may have no core just then.
fn lossy<const BACKOFF: bool>() -> Shape {
    let strategy = if BACKOFF { "BackoffSpin" } else { "YieldSpin" };
    Shape {
        name: format!("lossy ring of 8, four publishers by {strategy}"),
        about: format!(
            "u64, from four publishers to a subscriber that spins, which checks their order and counts what it lost; the publishers of \
             annulus wait for the one a lap before by {strategy}; the time of a publish"
        ),
        producers: 4,
        threads: 5,
        verbs: WAITING,
        entries: entries!(crowd []: AnnulusPublishersBy<BACKOFF>, PhotonRingPublishers),
    }
}

/// In `placement`.
fn row(shape: &Shape, placement: Placement, pace: &str, about_pace: &str) -> Row {
    let work = format!("{}{pace}", shape.name);
    let row = Row::new(
        format!("placement: {work}, {}", placement.name()),
        format!("{}{}{about_pace}; {}", shape.about, shape.verbs, placement.about()),
        CAPACITY,
        0,
    );
    let placed = Some(Placed { work, placement: placement.name().to_owned() });
    Row { span: SPAN, placement, placed, most_rounds: ROUNDS, ..row }
        .threads(shape.threads)
        .entries(shape.entries.iter().copied())
}

/// Each of `shapes` in each placement that suits it.
fn in_placements(shapes: Vec<Shape>, row: impl Fn(&Shape, Placement) -> Row) -> Vec<Row> {
    let rows = |shape: Shape| -> Vec<Row> {
        let placements = Placement::QUIET.into_iter().filter(|placement| placement.suits(shape.producers));
        placements.map(|placement| row(&shape, placement)).collect()
    };
    shapes.into_iter().flat_map(rows).collect()
}

/// What ours may take beside the best rival.
const TIMES: Limits = Limits { time: Some(1.0), cpu: Some(1.1), p99: None };
const LATENCY: Limits = Limits { time: None, cpu: None, p99: Some(1.1) };

pub fn streams() -> Vec<Row> {
    let mut shapes = vec![spsc::<Stream>()];
    shapes.extend([1, 2, 4, 8].map(mpsc::<Stream>));
    shapes.extend([1, 2, 4].map(mpmc::<Stream>));
    shapes.extend([1, 3].map(lossless::<Stream>));
    shapes.push(events::<Stream>());
    shapes.push(spsc_by_tries());
    let mut rows = in_placements(shapes, |shape, placement| Row {
        limits: Some(TIMES),
        ..row(shape, placement, "", "")
    });
    rows.extend([2, 4, 8].map(|producers| Row {
        limits: Some(TIMES),
        ..row(&mpsc_by_looks(producers), Placement::OneBeside, "", "")
    }));
    let lossy = vec![lossy::<false>(), lossy::<true>()];
    rows.extend(in_placements(lossy, |shape, placement| Row {
        capacity: 8,
        limits: Some(TIMES),
        ..row(shape, placement, "", "")
    }));
    rows
}

pub fn sleepers() -> Vec<Row> {
    const CALL: &str =
        ", one each 5 ms; the median of what the sender's call takes, and the processor time of all threads";
    let to_200 = Shape {
        name: "sleepers, a message to 200".into(),
        about: "u64, broadcast to 200 readers that are asleep".into(),
        producers: 1,
        threads: 201,
        verbs: WAITING,
        entries: entries!(to_sleepers [200]: AnnulusLossyWaiting, TokioWaiting, BusWaiting, AsyncBroadcastWaiting),
    };
    let to_64 = Shape {
        name: "sleepers, a lossless message to 64".into(),
        about: "u64, lossless broadcast to 64 readers that are asleep".into(),
        producers: 1,
        threads: 65,
        verbs: WAITING,
        entries: entries!(to_sleepers [64]: AnnulusLosslessWaiting, BusWaiting, AsyncBroadcastWaiting),
    };
    let from_1000 = Shape {
        name: "sleepers, a message from 1,000".into(),
        about: "u64, from 1,000 producers that are asleep since there is room for one message (in annulus, for one of each), to a \
                consumer that sleeps for some 50 µs before each"
            .into(),
        producers: 1_000,
        threads: 1_001,
        verbs: WAITING,
        entries: entries!(to_one_that_rests [1_000]:
            AnnulusMany, Kanal, Crossbeam, StdSync, Crossfire, Flume, AsyncChannel),
    };
    let row = |shape: &Shape, capacity, about| {
        let row = row(shape, Placement::Unpinned, "", about);
        Row { capacity, span: SLEEPERS_SPAN, ..row }
    };
    vec![row(&to_200, 64, CALL), row(&to_64, 64, CALL), row(&from_1000, 1, "")]
}

pub fn now_and_then() -> Vec<Row> {
    let shapes = vec![
        spsc::<NowAndThen>(),
        mpsc::<NowAndThen>(2),
        mpsc::<NowAndThen>(4),
        mpsc::<NowAndThen>(8),
        mpmc::<NowAndThen>(2),
        mpmc::<NowAndThen>(4),
        lossless::<NowAndThen>(1),
        lossless::<NowAndThen>(3),
        events::<NowAndThen>(),
    ];
    in_placements(shapes, |shape, placement| Row {
        span: LONG_SPAN,
        limits: Some(LATENCY),
        ..row(
            shape,
            placement,
            ", now and then",
            ", each producer one in 50 µs to 5 ms; the median of how long a message is on its way",
        )
    })
}

pub fn beside_a_busy_program() -> Vec<Row> {
    let row = |shape: &Shape, capacity: usize| {
        let mut row = row(shape, Placement::BusyMachine, &format!(", {capacity} slots"), "");
        row.capacity = capacity;
        row.limits = Some(TIMES);
        row
    };
    let mut rows = vec![];
    for capacity in [CAPACITY, 64] {
        rows.push(row(&spsc::<Stream>(), capacity));
        rows.extend([1, 2, 4, 8].map(|producers| row(&mpsc::<Stream>(producers), capacity)));
        rows.extend([lossless::<Stream>(1), mpmc::<Stream>(1)].map(|shape| row(&shape, capacity)));
    }
    rows
}

#[inline(never)]
fn one_to_one<Q: Queue<Sender: Sender, Receiver: Receiver>, A: Pace>(plan: &Plan) -> Sample {
    exchange::<A, _, _, 1, 1>(plan, Reach::OneConsumer, || {
        let (sender, receiver) = Q::queue(plan.capacity);
        ([Queued(sender)], [Queued(receiver)])
    })
}

#[inline(never)]
fn to_one<Q: Queue<Sender: Sender + Clone, Receiver: Receiver>, A: Pace, const P: usize>(
    plan: &Plan,
) -> Sample {
    exchange::<A, _, _, P, 1>(plan, Reach::OneConsumer, || {
        let (sender, receiver) = Q::queue(plan.capacity);
        (copies(sender).map(Queued), [Queued(receiver)])
    })
}

#[inline(never)]
fn to_one_that_looks<Q, A: Pace, const P: usize>(plan: &Plan) -> Sample
where
    Q: Queue<Sender: Sender + Clone, Receiver: Looking>,
{
    exchange::<A, _, _, P, 1>(plan, Reach::OneConsumer, || {
        let (sender, receiver) = Q::queue(plan.capacity);
        (copies(sender).map(Queued), [Polling(receiver)])
    })
}

#[inline(never)]
fn by_tries<Q: Queue<Sender: Sender, Receiver: Looking>>(plan: &Plan) -> Sample {
    exchange::<Stream, _, _, 1, 1>(plan, Reach::OneConsumer, || {
        let (sender, receiver) = Q::queue(plan.capacity);
        ([Polling(sender)], [Polling(receiver)])
    })
}

#[inline(never)]
fn to_many<Q, A: Pace, const P: usize, const C: usize>(plan: &Plan) -> Sample
where
    Q: Queue<Sender: Sender + Clone, Receiver: Receiver + Clone>,
{
    exchange::<A, _, _, P, C>(plan, Reach::OneConsumer, || {
        let (sender, receiver) = Q::queue(plan.capacity);
        (copies(sender).map(Queued), copies(receiver).map(Queued))
    })
}

#[inline(never)]
fn to_readers<G: Gated<C>, A: Pace, const C: usize>(plan: &Plan) -> Sample {
    exchange::<A, _, _, 1, C>(plan, Reach::EveryConsumer, || {
        let (publisher, readers) = G::channel(plan.capacity);
        ([Broadcast(publisher)], readers.map(Broadcast))
    })
}

#[inline(never)]
fn to_one_that_rests<Q, const P: usize>(plan: &Plan) -> Sample
where
    Q: Queue<Sender: Sender + Clone, Receiver: Receiver>,
{
    exchange::<Stream, _, _, P, 1>(plan, Reach::OneConsumer, || {
        let (sender, receiver) = Q::queue(plan.capacity);
        (copies(sender).map(Queued), [Resting(receiver)])
    })
}

#[inline(never)]
fn to_sleepers<F: FanOut<C>, const C: usize>(plan: &Plan) -> Sample {
    exchange::<ToSleepers, _, _, 1, C>(plan, Reach::EveryConsumer, || {
        let (publisher, readers) = F::channel(plan.capacity);
        ([Broadcast(publisher)], readers.map(Broadcast))
    })
}

#[inline(never)]
fn crowd<C: Contender<Publisher<u64>: Clone>>(plan: &Plan) -> Sample {
    exchange::<Stream, _, _, 4, 1>(plan, Reach::EveryConsumerThatKeepsUp, || {
        let (publisher, subscriber) = C::channel(plan.capacity);
        let (publishers, subscriber) = lossy_ends(publisher, subscriber);
        (publishers, [subscriber])
    })
}

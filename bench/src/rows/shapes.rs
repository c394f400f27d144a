//! Which thread sends to which, by which contenders: the work of the rows that differ in the cores of their
//! threads.
//!
//! All are one loop, `exchange`.

use crate::contenders::ends::{Broadcast, Polling, Queued, Resting, lossy_ends};
use crate::contenders::{
    Annulus, AnnulusEventsWaiting, AnnulusLosslessWaiting, AnnulusLossyWaiting, AnnulusMany,
    AnnulusManyToMany, AnnulusOneOrder, AnnulusPublishers, AnnulusQueue, AnnulusTried, AsyncBroadcastWaiting,
    AsyncChannel, BusWaiting, Contender, Crossbeam, CrossbeamTried, Crossfire, CrossfireMany, CrossfireOne,
    Disruptor, DisruptorOfMany, FanOut, Flume, Gated, Kanal, KanalTried, Looking, Named, PhotonRing,
    PhotonRingBoundedWaiting, PhotonRingEvents, PhotonRingPublishers, Queue, Receiver, Rtrb, Sender, StdSync,
    Subscriber, TokioWaiting,
};
use crate::exchange::{Pace, Reach, Stream, ToSleepers, copies, exchange};
use crate::row::{Entry, Kind, Plan, Sample};

/// Which thread sends to which, by which contenders.
pub struct Shape {
    pub name: String,
    pub about: String,
    pub producers: usize,
    pub threads: usize,
    /// By which they do it, where `about` does not say.
    pub verbs: &'static str,
    pub entries: Vec<Entry>,
}

/// The verbs of most shapes.
const WAITING: &str = ", by verbs that wait";

/// What this takes the number `$number` for, one of those that are known when it is compiled.
macro_rules! by_number {
    ($number:ident, $of:ident: $($known:literal),+) => {
        match $number {
            $($known => $of!($known),)+
            other => unreachable!("a shape of {other}"),
        }
    };
}

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

pub fn spsc<A: Pace>() -> Shape {
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

pub fn mpsc<A: Pace>(producers: usize) -> Shape {
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
        entries: by_number!(producers, from: 1, 2, 4, 8, 15),
    }
}

/// Ours with one order and one capacity for all producers, beside [`mpsc`].
pub fn one_order(producers: usize) -> Entry {
    macro_rules! from {
        ($producers:literal) => {
            to_one::<AnnulusOneOrder, Stream, $producers>
        };
    }
    let run: fn(&Plan) -> Sample = by_number!(producers, from: 1, 2, 4, 8, 15);
    Entry { name: "annulus, one order", kind: Kind::Other, run }
}

/// The same with a consumer that looks, and gives its core away now and then.
pub fn mpsc_by_looks(producers: usize) -> Shape {
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
        entries: by_number!(producers, from: 2, 4, 8),
    }
}

/// Both ends look, and give their core away now and then.
pub fn spsc_by_tries() -> Shape {
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

pub fn mpmc<A: Pace>(each: usize) -> Shape {
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
        entries: by_number!(each, both: 1, 2, 4, 8),
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

pub fn lossless<A: Pace>(readers: usize) -> Shape {
    macro_rules! to {
        (1) => { to!(1, Disruptor) };
        ($readers:literal) => { to!($readers, DisruptorOfMany) };
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
        entries: by_number!(readers, to: 1, 2, 3, 4, 8, 15),
    }
}

pub fn events<A: Pace>() -> Shape {
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

/// Four publishers that wait for nobody. In so small a ring one of them often comes to the slot of another,
/// which may have no core just then.
pub fn lossy_of_four() -> Shape {
    Shape {
        name: "lossy ring of 8, four publishers".into(),
        about: "u64, from four publishers to a subscriber that spins, which checks their order and counts what it lost; the time of a publish"
            .into(),
        producers: 4,
        threads: 5,
        verbs: WAITING,
        entries: entries!(crowd [4]: AnnulusPublishers, PhotonRingPublishers),
    }
}

/// Publishers that contend for the next number.
pub fn lossy_from(publishers: usize) -> Shape {
    macro_rules! from {
        ($publishers:literal) => { entries!(crowd [$publishers]: AnnulusPublishers, PhotonRingPublishers) };
    }
    Shape {
        name: format!("lossy from {publishers}"),
        about: format!(
            "u64, from a number of publishers ({publishers}) to a subscriber that spins, which checks their order and counts what it lost; the \
             time of a publish"
        ),
        producers: publishers,
        threads: publishers + 1,
        verbs: "",
        entries: by_number!(publishers, from: 1, 2, 4, 8, 15),
    }
}

/// Subscribers that the publisher does not wait for.
pub fn lossy_to(readers: usize) -> Shape {
    macro_rules! to {
        ($readers:literal) => { entries!(to_all_that_keep_up [$readers]: Annulus, PhotonRing) };
    }
    Shape {
        name: format!("lossy to {readers}"),
        about: format!(
            "u64, from one publisher to a number of subscribers that spin ({readers}), each of which checks the order and counts what it lost; \
             the time of a publish"
        ),
        producers: 1,
        threads: readers + 1,
        verbs: "",
        entries: by_number!(readers, to: 1, 2, 4, 8, 15),
    }
}

/// A message to so many that are asleep.
pub fn sleepers_200() -> Shape {
    Shape {
        name: "sleepers, a message to 200".into(),
        about: "u64, broadcast to 200 readers that are asleep".into(),
        producers: 1,
        threads: 201,
        verbs: WAITING,
        entries: entries!(to_sleepers [200]: AnnulusLossyWaiting, TokioWaiting, BusWaiting, AsyncBroadcastWaiting),
    }
}

pub fn lossless_sleepers_64() -> Shape {
    Shape {
        name: "sleepers, a lossless message to 64".into(),
        about: "u64, lossless broadcast to 64 readers that are asleep".into(),
        producers: 1,
        threads: 65,
        verbs: WAITING,
        entries: entries!(to_sleepers [64]: AnnulusLosslessWaiting, BusWaiting, AsyncBroadcastWaiting),
    }
}

pub fn sleeping_producers_1000() -> Shape {
    Shape {
        name: "sleepers, a message from 1,000".into(),
        about: "u64, from 1,000 producers that are asleep since there is room for one message (in annulus, for one of each), to a \
                consumer that sleeps for some 50 µs before each"
            .into(),
        producers: 1_000,
        threads: 1_001,
        verbs: WAITING,
        entries: entries!(to_one_that_rests [1_000]:
            AnnulusMany, Kanal, Crossbeam, StdSync, Crossfire, Flume, AsyncChannel),
    }
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
fn crowd<C: Contender<Publisher<u64>: Clone>, const P: usize>(plan: &Plan) -> Sample {
    exchange::<Stream, _, _, P, 1>(plan, Reach::EveryConsumerThatKeepsUp, || {
        let (publisher, subscriber) = C::channel(plan.capacity);
        lossy_ends(copies(publisher), [subscriber])
    })
}

#[inline(never)]
fn to_all_that_keep_up<F, const C: usize>(plan: &Plan) -> Sample
where
    F: FanOut<C, Reader: Subscriber<u64>>,
{
    exchange::<Stream, _, _, 1, C>(plan, Reach::EveryConsumerThatKeepsUp, || {
        let (publisher, subscribers) = F::channel(plan.capacity);
        lossy_ends([publisher], subscribers)
    })
}

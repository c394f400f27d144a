//! Which thread sends to which: the rows of `bench/src/rows/many_cores.rs`, on the cores of the model.

use std::iter;
use std::sync::Arc;

use annulus::Settings;
use annulus::lines::Word;
use annulus::queue::ordered;
use annulus::{LossyTryRecvError, WaitStrategy, broadcast, mpmc, mpsc};

use crate::machine::{Costs, Time};
use crate::run::{Found, Work, pause, received, run, work};

/// As the default of the library: polls, then polls with a pause; but nobody sleeps.
const WAIT: WaitStrategy = WaitStrategy::adaptive_after(64, u32::MAX - 64);

const CAPACITY: usize = 4096;

/// A kind of ring, used by more and more cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Mpsc,
    Ordered,
    Mpmc,
    Lossless,
    Lossy,
    Publishers,
}

pub const SHAPES: [Shape; 6] =
    [Shape::Mpsc, Shape::Ordered, Shape::Mpmc, Shape::Lossless, Shape::Lossy, Shape::Publishers];

/// How many messages are sent, of which how many come before the time begins.
#[derive(Clone, Copy, Debug)]
pub struct Length {
    pub warm_up: usize,
    pub counted: usize,
}

impl Shape {
    /// As the benchmark has it, with a place for the number.
    pub fn row(self, many: usize) -> (String, &'static str) {
        let (name, entry) = match self {
            Self::Mpsc => (format!("mpsc of {many}"), "annulus"),
            Self::Ordered => (format!("mpsc of {many}"), "annulus, one order"),
            Self::Mpmc => (format!("mpmc {many} to {many}"), "annulus"),
            Self::Lossless => (format!("lossless to {many}"), "annulus"),
            Self::Lossy => (format!("lossy to {many}"), "annulus"),
            Self::Publishers => (format!("lossy from {many}"), "annulus"),
        };
        (format!("many cores: {name}"), entry)
    }

    pub fn axis(self) -> &'static str {
        match self {
            Self::Mpsc => "producers to one consumer (mpsc)",
            Self::Ordered => "senders to one receiver, one order (ordered)",
            Self::Mpmc => "producers, and as many consumers (mpmc)",
            Self::Lossless => "lossless subscribers of one publisher",
            Self::Lossy => "lossy subscribers of one publisher",
            Self::Publishers => "publishers that contend (mp_lossy)",
        }
    }

    /// The numbers, with those on the other side 128 cores at most.
    pub fn numbers(self) -> &'static [usize] {
        match self {
            Self::Mpmc => &[1, 2, 4, 8, 16, 32, 64],
            _ => &[1, 2, 4, 8, 15, 31, 63, 127],
        }
    }

    /// The rings are full, or have been gone round a few times, when the time begins.
    pub fn length(self, many: usize) -> Length {
        let each = match self {
            Self::Mpsc | Self::Mpmc => many,
            Self::Lossy => 4,
            Self::Ordered | Self::Lossless | Self::Publishers => 2,
        };
        Length { warm_up: CAPACITY * each, counted: 2 * CAPACITY.max(CAPACITY / 4 * each) }
    }
}

/// Has `many` of them use one ring on the cores of a model.
pub fn simulate(shape: Shape, many: usize, costs: Costs, length: Length, seed: u64) -> Found {
    // Each sends the same share.
    let all = length.warm_up + length.counted;
    run(costs, seed, length.warm_up as u64, length.counted as u64, || work_of(shape, many, all))
}

/// What each core does: consumers, then producers, which send `all` messages.
fn work_of(shape: Shape, many: usize, all: usize) -> Vec<Work> {
    match shape {
        Shape::Mpsc => {
            let (producer, mut consumer) =
                mpsc::with::<u64>(Settings::new(CAPACITY).wait_strategy(WAIT)).expect(MEMORY);
            let send = |_| {
                let mut producer = producer.clone();
                move |i| producer.send(i).expect(THERE)
            };
            let consume = receiving(true, move || consumer.recv().is_ok());
            iter::once(consume).chain(each(many, all, send)).collect()
        }
        Shape::Ordered => {
            let (sender, receiver) =
                ordered::with::<u64>(Settings::new(CAPACITY).wait_strategy(WAIT)).expect(MEMORY);
            let send = |_| {
                let sender = sender.clone();
                move |i| sender.send(i).expect(THERE)
            };
            let consume = receiving(true, move || receiver.recv().is_ok());
            iter::once(consume).chain(each(many, all, send)).collect()
        }
        Shape::Mpmc => {
            let (producer, consumer) =
                mpmc::with::<u64>(Settings::new(CAPACITY).wait_strategy(WAIT)).expect(MEMORY);
            let consumers = (0..many).map(|_| {
                let mut consumer = consumer.clone();
                receiving(true, move || consumer.recv().is_ok())
            });
            let mut work: Vec<_> = consumers.collect();
            work.extend(each(many, all, |_| {
                let mut producer = producer.clone();
                move |i| producer.send(i).expect(THERE)
            }));
            work
        }
        Shape::Lossless => {
            let (mut publisher, ring) =
                broadcast::lossless_with::<u64>(Settings::new(CAPACITY).wait_strategy(WAIT)).expect(MEMORY);
            let subscribers = (0..many).map(|who| {
                let mut subscriber = ring.subscribe();
                receiving(who == 0, move || subscriber.recv().is_ok())
            });
            let subscribers: Vec<_> = subscribers.collect();
            let publish: Work =
                Box::new(move || (0..all as u64).for_each(|i| publisher.publish(i).expect(THERE)));
            subscribers.into_iter().chain([publish]).collect()
        }
        Shape::Lossy => {
            let (mut publisher, ring) = broadcast::lossy::<u64>(CAPACITY);
            let subscribers: Vec<_> = (0..many).map(|who| spinning(ring.subscribe(), who == 0)).collect();
            let publish: Work = Box::new(move || (0..all as u64).for_each(|i| publisher.publish(i)));
            subscribers.into_iter().chain([publish]).collect()
        }
        Shape::Publishers => {
            let (publisher, ring) = broadcast::mp_lossy::<u64>(CAPACITY);
            let publish = |_| {
                let mut publisher = publisher.clone();
                move |i| publisher.publish(i)
            };
            iter::once(spinning(ring.subscribe(), true)).chain(each(many, all, publish)).collect()
        }
    }
}

/// The work of `many` that send the same share of `all` messages.
fn each<S: FnMut(u64) + Send + 'static>(many: usize, all: usize, sender: impl Fn(usize) -> S) -> Vec<Work> {
    let work = |who| {
        let (mut send, share) = (sender(who), all / many + usize::from(who < all % many));
        Box::new(move || (0..share as u64).for_each(&mut send)) as Work
    };
    (0..many).map(work).collect()
}

/// By a verb that waits, which says whether it brought a message.
fn receiving(counts: bool, mut receive: impl FnMut() -> bool + Send + 'static) -> Work {
    Box::new(move || {
        while receive() {
            work();
            if counts {
                received();
            }
        }
    })
}

const MEMORY: &str = "there is memory";
const THERE: &str = "the other side is there";

/// A subscriber for which nobody waits. What it lost counts as received.
fn spinning(mut subscriber: broadcast::Subscriber<u64>, counts: bool) -> Work {
    Box::new(move || {
        let mut before = 0;
        loop {
            match subscriber.try_recv_or_lag() {
                Ok(_) | Err(LossyTryRecvError::Lagged { .. }) => {}
                Err(LossyTryRecvError::Empty) => pause(),
                Err(_) => return,
            }
            while counts && before < subscriber.cursor() {
                before += 1;
                received();
            }
        }
    })
}

/// The raw ping-pong of the benchmark: nanoseconds there and back.
pub fn ping_pong(costs: Costs) -> f64 {
    const ROUNDS: u64 = 400;
    const LINES: usize = 64;
    let make = || {
        let words = || Arc::new((0..LINES).map(|_| Line(Word::new(0))).collect::<Vec<_>>());
        let (pings, pongs) = (words(), words());
        let (other_pings, other_pongs) = (Arc::clone(&pings), Arc::clone(&pongs));
        let wait_for =
            |lines: &[Line], number: u64| while lines[number as usize % LINES].0.load() != number {};
        let ping: Work = Box::new(move || {
            for number in 1..=2 * ROUNDS {
                pings[number as usize % LINES].0.store(number);
                wait_for(&pongs, number);
                received();
            }
        });
        let pong: Work = Box::new(move || {
            for number in 1..=2 * ROUNDS {
                wait_for(&other_pings, number);
                other_pongs[number as usize % LINES].0.store(number);
            }
        });
        vec![ping, pong]
    };
    run(costs, 1, ROUNDS, ROUNDS, make).ns_each()
}

/// With its pair of lines to itself.
#[repr(align(128))]
struct Line(Word);

/// What a line takes from one core to another, where the ping-pong takes so many nanoseconds.
pub fn transfer_of(ping_pong_ns: f64) -> Time {
    let (mut low, mut high) = (1_000, 1_000_000 as Time);
    while high - low > 100 {
        let middle = low.midpoint(high);
        if ping_pong(Costs::of(middle)) < ping_pong_ns { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Length = Length { warm_up: 4096, counted: 8192 };

    fn run(shape: Shape, many: usize) -> Found {
        simulate(shape, many, Costs::of(90_000), SHORT, 1)
    }

    /// Four messages of a `u64` lie in a line: it goes to each reader, and back to the publisher.
    #[test]
    fn message_moves_a_quarter_of_a_line_to_each_reader() {
        for many in [1, 4] {
            let moves = run(Shape::Lossy, many).moves_each();
            let expected = 0.25 * (1 + many) as f64;
            assert!((expected..1.1 * expected).contains(&moves), "{moves} to {many}");
        }
    }

    #[test]
    fn ring_for_each_producer_moves_no_more_with_more_of_them() {
        let [two, eight] = [2, 8].map(|many| {
            let length = Length { warm_up: many * CAPACITY, counted: 8192 };
            simulate(Shape::Mpsc, many, Costs::of(90_000), length, 1)
        });
        assert!(eight.ns_each() < 1.2 * two.ns_each(), "{} and {}", two.ns_each(), eight.ns_each());
        assert!(eight.moves_each() < 0.2, "eight messages lie in a line: {}", eight.moves_each());
    }

    #[test]
    fn the_same_seed_makes_the_same_run() {
        for shape in SHAPES {
            let [first, second] = [(); 2].map(|()| run(shape, 2));
            assert_eq!((first.time, first.busiest), (second.time, second.busiest), "{shape:?}");
        }
    }

    #[test]
    fn ping_pong_says_what_a_line_takes() {
        let transfer = transfer_of(293.0);
        assert!((80_000..95_000).contains(&transfer), "{transfer}");
        let found = ping_pong(Costs::of(transfer));
        assert!((285.0..301.0).contains(&found), "{found}");
    }
}

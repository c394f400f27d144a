//! Producers and consumers that exchange messages on cores as a placement has them.
//!
//! How messages follow each other is a [`Pace`]. A stream has a number of messages, and each producer sends
//! the same share of them: without that, those that the placement favours would do the work of all. Trials
//! find the number with which a run takes the time that it is given, so a contender that takes a hundred
//! times as long for a message has less of them. Messages now and then have the time alone.
//!
//! Each consumer checks the order of what it has of each producer; at the end what was sent and what was
//! received must be the same, by number and by sum.

use std::array;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::busy::BusyProgram;
use crate::latencies;
use crate::placement::Placement;
use crate::row::{Plan, Sample};
use crate::timing::processor_time;

/// The producing end of a contender.
pub trait Source: Send {
    /// Waits for room, as its library does.
    fn send(&mut self, message: u64);
    /// Tells the consumers that this was all.
    fn end(self);
}

/// The consuming end of a contender.
pub trait Sink: Send {
    /// Waits for a message, as its library does. None where all producers have ended and nothing is left.
    fn receive(&mut self) -> Option<u64>;
    /// Messages that it did not get.
    fn missed(&self) -> u64 {
        0
    }
}

/// Which consumers get a message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    OneConsumer,
    EveryConsumer,
    /// As long as they keep up: what they missed, they counted.
    EveryConsumerThatKeepsUp,
}

/// How messages follow each other, and what is found out about each. A message is a number that grows, times
/// the number of producers, plus the number of its producer.
pub trait Pace: Send {
    /// Whether a run ends when its time is over, and not with the last of a number of messages.
    const BY_TIME: bool;
    /// Of a producer.
    fn producer(number: u64, of: u64) -> Self;
    /// What is sent next, when it is time for it. `of` is the number of producers.
    fn next(&mut self, of: u64, clock: &Clock) -> u64;
    /// Calls `send`.
    fn send(&mut self, send: impl FnOnce());
    /// Looks at what was received.
    fn received(message: u64, of: u64, clock: &Clock) -> Option<u64>;
    /// What was found out about the calls of `send`.
    fn sent(self) -> Vec<u64>;
}

/// When a run began and when it is over.
pub struct Clock {
    epoch: Instant,
    /// Messages of each producer.
    share: u64,
    over: AtomicBool,
}

impl Clock {
    fn now(&self) -> u64 {
        self.epoch.elapsed().as_nanos() as u64
    }
}

/// One after the other.
pub struct Stream {
    next: u64,
}

impl Pace for Stream {
    const BY_TIME: bool = false;

    fn producer(number: u64, _: u64) -> Self {
        Self { next: number }
    }

    #[inline(always)]
    fn next(&mut self, of: u64, _: &Clock) -> u64 {
        let message = self.next;
        self.next += of;
        message
    }

    #[inline(always)]
    fn send(&mut self, send: impl FnOnce()) {
        send();
    }

    #[inline(always)]
    fn received(_: u64, _: u64, _: &Clock) -> Option<u64> {
        None
    }

    fn sent(self) -> Vec<u64> {
        vec![]
    }
}

/// Each producer sends one, and then sleeps: between 50 µs and 5 ms, evenly on a logarithmic scale. What is
/// found out is how long a message was on its way.
pub struct NowAndThen {
    number: u64,
    random: u64,
}

impl NowAndThen {
    const LEAST_NS: f64 = 50e3;
    const MOST_NS: f64 = 5e6;

    /// By George Marsaglia, "Xorshift RNGs".
    fn part(&mut self) -> f64 {
        for shift in [13, -7, 17] {
            self.random ^= if shift > 0 { self.random << shift } else { self.random >> -shift };
        }
        (self.random >> 11) as f64 / (1_u64 << 53) as f64
    }
}

impl Pace for NowAndThen {
    const BY_TIME: bool = true;

    fn producer(number: u64, _: u64) -> Self {
        // Each its own, and not the same in each round.
        let seed = u64::from(std::process::id()) << 20 | (number + 1);
        Self { number, random: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) }
    }

    fn next(&mut self, of: u64, clock: &Clock) -> u64 {
        let gap = Self::LEAST_NS * (Self::MOST_NS / Self::LEAST_NS).powf(self.part());
        thread::sleep(Duration::from_nanos(gap as u64));
        clock.now() * of + self.number
    }

    fn send(&mut self, send: impl FnOnce()) {
        send();
    }

    fn received(message: u64, of: u64, clock: &Clock) -> Option<u64> {
        Some(clock.now() - message / of)
    }

    fn sent(self) -> Vec<u64> {
        vec![]
    }
}

/// As [`NowAndThen`], with a rest in which every consumer has gone to sleep again. What is found out is how
/// long the producer was at it.
pub struct ToSleepers {
    number: u64,
    took: Vec<u64>,
}

impl ToSleepers {
    const REST: Duration = Duration::from_millis(5);
}

impl Pace for ToSleepers {
    const BY_TIME: bool = true;

    fn producer(number: u64, _: u64) -> Self {
        Self { number, took: vec![] }
    }

    fn next(&mut self, of: u64, clock: &Clock) -> u64 {
        thread::sleep(Self::REST);
        clock.now() * of + self.number
    }

    fn send(&mut self, send: impl FnOnce()) {
        let begun = Instant::now();
        send();
        self.took.push(begun.elapsed().as_nanos() as u64);
    }

    fn received(_: u64, _: u64, _: &Clock) -> Option<u64> {
        None
    }

    fn sent(self) -> Vec<u64> {
        self.took
    }
}

/// What a thread has sent or received.
#[derive(Default)]
struct Tally {
    count: u64,
    sum: u64,
    missed: u64,
    found: Vec<u64>,
}

impl Tally {
    #[inline(always)]
    fn add(&mut self, message: u64) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(message);
    }

    fn and(mut self, mut other: Self) -> Self {
        self.count += other.count;
        self.sum = self.sum.wrapping_add(other.sum);
        self.missed += other.missed;
        self.found.append(&mut other.found);
        self
    }
}

/// Has the producers that `make` makes send to the consumers, at the pace `A`, for about as long as the plan
/// says.
///
/// # Panics
///
/// If what was received is not what was sent.
pub fn exchange<A: Pace, S: Source, R: Sink, const P: usize, const C: usize>(
    plan: &Plan,
    reach: Reach,
    make: impl Fn() -> ([S; P], [R; C]),
) -> Sample {
    let _busy = (plan.placement == Placement::BusyMachine).then(|| BusyProgram::begin(plan.cores));
    // Some turns of the ring, and more messages of each producer than there is room for.
    let mut share = if A::BY_TIME { u64::MAX } else { (4 * plan.capacity / P).max(3) as u64 };
    loop {
        let run = run::<A, S, R, P, C>(plan, share, make());
        let (time, enough) = (run.time.as_secs_f64(), plan.span.as_secs_f64());
        if A::BY_TIME || time >= 0.6 * enough {
            return run.sample(reach, P);
        }
        // The first, short ones are mostly the threads' beginning.
        share = (share as f64 * (enough / time).clamp(2.0, 16.0)) as u64;
    }
}

/// A stream that takes so many times as long as it was to take is cut short.
const MOST: u32 = 6;

struct Run<const C: usize> {
    /// Until the last consumer had its last message.
    time: Duration,
    processor_time: Duration,
    sent: Tally,
    received: [Tally; C],
}

fn run<A: Pace, S: Source, R: Sink, const P: usize, const C: usize>(
    plan: &Plan,
    share: u64,
    (producers, consumers): ([S; P], [R; C]),
) -> Run<C> {
    let clock = Clock { epoch: Instant::now(), share, over: AtomicBool::new(false) };
    let [ready, begin] = [(); 2].map(|()| Barrier::new(P + C + 1));
    let meet = || {
        ready.wait();
        begin.wait();
    };
    let (main, done) = (thread::current(), AtomicUsize::new(0));
    thread::scope(|scope| {
        let (clock, meet, main, done) = (&clock, &meet, &main, &done);
        let (mut producing, mut consuming) = (0.., 0..);
        let producers = producers.map(|source| {
            let who = producing.next().expect("numbers do not end");
            scope.spawn(move || {
                plan.placement.place_producer(who, C, plan.cores);
                produce::<A, S, P>(source, who as u64, clock, meet)
            })
        });
        let consumers = consumers.map(|sink| {
            let who = consuming.next().expect("numbers do not end");
            scope.spawn(move || {
                plan.placement.place_consumer(who, plan.cores);
                let received = consume::<A, R, P>(sink, clock, meet);
                done.fetch_add(1, Ordering::Relaxed);
                main.unpark();
                received
            })
        });
        ready.wait();
        let (begun, processor_time_before) = (Instant::now(), processor_time());
        begin.wait();
        // This thread sleeps meanwhile: until the time is over, or all messages are received. A stream that
        // the trials were no guide to is cut short; then its producers have not sent the same share.
        let most = if A::BY_TIME { plan.span } else { MOST * plan.span };
        while begun.elapsed() < most && done.load(Ordering::Relaxed) < C {
            thread::park_timeout(most.saturating_sub(begun.elapsed()));
        }
        clock.over.store(true, Ordering::Relaxed);
        // The consumers first: where one panics, so do the producers, and its reason is what matters.
        let received = consumers.map(|thread| thread.join().expect("of each producer, in order"));
        let sent = producers.map(|thread| thread.join().expect("the consumers are there"));
        let ended = received.iter().map(|(_, ended)| *ended).max().unwrap_or(begun);
        Run {
            time: ended - begun,
            processor_time: processor_time() - processor_time_before,
            sent: sent.into_iter().fold(Tally::default(), Tally::and),
            received: received.map(|(tally, _)| tally),
        }
    })
}

/// What thread `who` of `P` does.
#[inline(always)]
fn produce<A: Pace, S: Source, const P: usize>(
    mut source: S,
    who: u64,
    clock: &Clock,
    meet: impl FnOnce(),
) -> Tally {
    let (mut pace, mut sent) = (A::producer(who, P as u64), Tally::default());
    meet();
    // One in any case, however long it takes: 200 consumers that poll may leave the producer no core.
    while sent.count < clock.share && (sent.count == 0 || !clock.over.load(Ordering::Relaxed)) {
        let message = pace.next(P as u64, clock);
        pace.send(|| source.send(message));
        sent.add(message);
    }
    source.end();
    Tally { found: pace.sent(), ..sent }
}

#[inline(always)]
fn consume<A: Pace, R: Sink, const P: usize>(
    mut sink: R,
    clock: &Clock,
    meet: impl FnOnce(),
) -> (Tally, Instant) {
    let (mut received, mut next) = (Tally::default(), [0; P]);
    meet();
    while let Some(message) = sink.receive() {
        received.found.extend(A::received(message, P as u64, clock));
        let next = &mut next[(message % P as u64) as usize];
        assert!(message >= *next, "of each producer, in order");
        *next = message + 1;
        received.add(message);
    }
    received.missed = sink.missed();
    (received, Instant::now())
}

impl<const C: usize> Run<C> {
    /// Compares what was sent with what was received, and makes the figures of it.
    fn sample(self, reach: Reach, producers: usize) -> Sample {
        let Self { time, processor_time, sent, received } = self;
        if reach != Reach::OneConsumer {
            let lossless = reach == Reach::EveryConsumer;
            for one in &received {
                let numbers = one.count + one.missed;
                // One of several publishers may pass over a number, and publish its message with another one.
                let is_counted =
                    if producers == 1 || lossless { numbers == sent.count } else { numbers >= sent.count };
                assert!(
                    is_counted && one.count <= sent.count,
                    "{numbers} received and missed of {}",
                    sent.count
                );
                assert!(!lossless || (one.missed, one.sum) == (0, sent.sum), "what was sent, was received");
            }
        }
        let all = received.into_iter().fold(Tally::default(), Tally::and);
        if reach == Reach::OneConsumer {
            assert_eq!((all.count, all.sum), (sent.count, sent.sum), "what was sent, was received");
        }
        assert!(sent.count > 0, "nothing was sent in the time that there was");
        let each = |time: Duration| time.as_secs_f64() * 1e9 / sent.count as f64;
        let share = (reach == Reach::EveryConsumerThatKeepsUp)
            .then(|| all.count as f64 / (sent.count * C as u64) as f64);
        let mut found = [sent.found, all.found].concat();
        found.sort_unstable();
        Sample {
            ns: found.get(found.len() / 2).map_or_else(|| each(time), |&median| median as f64),
            cpu_ns: Some(each(processor_time)),
            share,
            latencies: latencies::steps(found.into_iter()),
            ..Sample::default()
        }
    }
}

/// `N` handles of what `one` is a handle of, that one among them.
pub fn copies<T: Clone, const N: usize>(one: T) -> [T; N] {
    let mut one = Some(one);
    array::from_fn(|i| if i + 1 == N { one.take() } else { one.clone() }.expect("it is taken last"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cores::Cores;
    use crate::row::Row;
    use std::sync::mpsc;

    /// Of a queue that forgets a message, or brings one twice.
    struct Faulty {
        sender: mpsc::SyncSender<u64>,
        forgets: Option<u64>,
        repeats: Option<u64>,
        count: u64,
    }

    impl Source for Faulty {
        fn send(&mut self, message: u64) {
            self.count += 1;
            if self.forgets != Some(self.count) {
                self.sender.send(message).unwrap();
            }
            if self.repeats == Some(self.count) {
                self.sender.send(message).unwrap();
            }
        }

        fn end(self) {}
    }

    impl Sink for mpsc::Receiver<u64> {
        fn receive(&mut self) -> Option<u64> {
            self.recv().ok()
        }
    }

    fn sample<A: Pace>(forgets: Option<u64>, repeats: Option<u64>, placement: Placement) -> Sample {
        let row = Row { span: Duration::from_millis(10), placement, ..Row::new("", "", 4, 0) };
        let plan = row.plan(Cores::all().unwrap());
        exchange::<A, _, _, 2, 1>(&plan, Reach::OneConsumer, || {
            let (sender, receiver) = mpsc::sync_channel(4);
            (copies(sender).map(|sender| Faulty { sender, forgets, repeats, count: 0 }), [receiver])
        })
    }

    #[test]
    fn times_of_an_exchange_are_found_in_each_placement() {
        for placement in Placement::QUIET.into_iter().chain([Placement::BusyMachine, Placement::OwnCores]) {
            let sample = sample::<Stream>(None, None, placement);
            assert!(sample.ns > 0.0 && sample.cpu_ns.is_some_and(|ns| ns > 0.0), "{}", placement.name());
            assert!(sample.latencies.is_empty());
        }
    }

    #[test]
    fn latency_is_found_for_each_message() {
        let sample = sample::<NowAndThen>(None, None, Placement::Unpinned);
        let most = sample.latencies.last().expect("there is one").0;
        assert!(sample.ns > 100.0 && most < 10_000_000_000, "{} {most}", sample.ns);
    }

    #[test]
    #[should_panic(expected = "what was sent, was received")]
    fn message_that_is_lost_is_noticed() {
        sample::<Stream>(Some(3), None, Placement::Unpinned);
    }

    #[test]
    #[should_panic(expected = "of each producer, in order")]
    fn message_that_comes_twice_is_noticed() {
        sample::<Stream>(None, Some(3), Placement::Unpinned);
    }
}

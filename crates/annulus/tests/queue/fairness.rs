//! No message waits for ever: each is received within a stated number of receives, whatever the other
//! producers do, by every verb.
//!
//! The bound is that of [`annulus::queue::Consumer`]: a turn of each ring, and one more, and that again for
//! each turn's worth of messages that lie before it in its own ring. Each message carries how many each
//! consumer had received when it was sent, so each receipt is checked against it, and what is left at the end
//! is received and checked, too.

use annulus::queue::{Builder, Consumer, InPlace, Joinable, Kind, Producer};
use annulus::{mpmc::Mpmc, mpsc, mpsc::Mpsc};

use super::dice::Dice;

/// Consumers at most.
const CONSUMERS: usize = 3;

/// Messages of one ring before the others have their turn, as documented.
const TURN: u64 = 128;

/// Messages of all cases of one kind, about.
const MESSAGES: u64 = if cfg!(miri) {
    600
} else if cfg!(debug_assertions) {
    20_000
} else {
    5_000_000
};

/// Receives between two changes of who is busy, at most.
const ROUND: u64 = if cfg!(miri) { 8 } else { 3 * TURN };

/// What Miri has the time for: short rings, and a part of the plots.
const CAPACITIES: std::ops::RangeInclusive<usize> = 1..=if cfg!(miri) { 3 } else { 1_024 };
const PLOTS: usize = if cfg!(miri) { 2 } else { usize::MAX };

const PRODUCERS: usize = if cfg!(miri) {
    6
} else if cfg!(debug_assertions) {
    100
} else {
    1_000
};

#[derive(Clone, Copy, Default)]
struct Message {
    /// Who sent it.
    producer: usize,
    /// How many messages lay before it in its ring.
    before: usize,
    /// How many messages each consumer had received by then.
    sent_at: [u64; CONSUMERS],
}

/// A way to receive.
struct Verb<K: Kind> {
    name: &'static str,
    /// The most that it takes of one ring in a turn, where rings hold `capacity`, and the least, where there
    /// is as much.
    turn: fn(capacity: u64) -> (u64, u64),
    ask: fn(&mut Consumer<Message, K>, &mut Vec<Message>),
}

fn by_budget(_: u64) -> (u64, u64) {
    (TURN, TURN)
}

/// A turn ends with the slice in which it reaches the budget.
fn by_slices(capacity: u64) -> (u64, u64) {
    (TURN - 1 + capacity, TURN)
}

/// A round visits each ring once.
fn by_rounds(capacity: u64) -> (u64, u64) {
    (capacity, capacity)
}

/// A `try_iter` that is dropped ends a turn early.
fn by_parts(capacity: u64) -> (u64, u64) {
    (capacity, 1)
}

fn copying<K: Kind>() -> Vec<Verb<K>> {
    fn into<K: Kind, const N: usize>(consumer: &mut Consumer<Message, K>, taken: &mut Vec<Message>) {
        let mut places = [Message::default(); N];
        let count = consumer.try_recv_batch(&mut places);
        taken.extend(&places[..count]);
    }
    vec![
        Verb { name: "try_recv", turn: by_budget, ask: |consumer, taken| taken.extend(consumer.try_recv()) },
        Verb {
            name: "recv_timeout",
            turn: by_budget,
            ask: |consumer, taken| taken.extend(consumer.recv_timeout(std::time::Duration::ZERO)),
        },
        Verb { name: "try_recv_batch, 3", turn: by_budget, ask: into::<K, 3> },
        Verb { name: "try_recv_batch, 4096", turn: by_budget, ask: into::<K, 4096> },
        Verb {
            name: "consume_up_to",
            turn: by_budget,
            ask: |consumer, taken| _ = consumer.consume_up_to(200, |message| taken.push(message)),
        },
        Verb {
            name: "consume",
            turn: by_rounds,
            ask: |consumer, taken| _ = consumer.consume(|message| taken.push(message)),
        },
        Verb {
            name: "try_iter, one",
            turn: by_parts,
            ask: |consumer, taken| taken.extend(consumer.try_iter().next()),
        },
        Verb {
            name: "try_iter, some",
            turn: by_parts,
            ask: |consumer, taken| taken.extend(consumer.try_iter().take(9)),
        },
    ]
}

fn in_place<K: InPlace>() -> Vec<Verb<K>> {
    vec![
        Verb {
            name: "peek, advance",
            turn: by_budget,
            ask: |consumer, taken| {
                let message = consumer.peek().copied();
                consumer.advance(message.iter().len());
                taken.extend(message);
            },
        },
        Verb {
            name: "readable, all",
            turn: by_slices,
            ask: |consumer, taken| {
                let before = taken.len();
                taken.extend(consumer.readable());
                consumer.advance(taken.len() - before);
            },
        },
        Verb {
            name: "readable, a half",
            turn: by_slices,
            ask: |consumer, taken| {
                let there = consumer.readable();
                let part = there.len().div_ceil(2);
                taken.extend(&there[..part]);
                consumer.advance(part);
            },
        },
        Verb {
            name: "readable, a part",
            turn: |_| (TURN + 3, TURN),
            ask: |consumer, taken| {
                let there = consumer.readable();
                let part = there.len().min(3);
                taken.extend(&there[..part]);
                consumer.advance(part);
            },
        },
    ]
}

/// What the producers do to keep a message waiting.
#[derive(Clone, Copy, Debug)]
struct Plot {
    capacity: usize,
    consumers: usize,
    /// So many producers always have a full ring.
    busy: usize,
    /// Between two rounds, so many come, send something and go.
    passing: usize,
    /// Whether they stay until the next round.
    staying: bool,
    seed: u64,
}

struct World<K: Kind> {
    plot: Plot,
    first: Producer<Message, K>,
    producers: Vec<Producer<Message, K>>,
    received: [u64; CONSUMERS],
    rings: u64,
}

impl<K: Joinable> World<K> {
    fn send(&mut self, producer: usize) -> bool {
        let message = Message { producer, before: self.producers[producer].len(), sent_at: self.received };
        self.producers[producer].try_send(message).is_ok()
    }

    fn fill(&mut self, producer: usize) {
        while self.send(producer) {}
    }
}

/// Plays `plot` against `verb` for so many messages.
fn play<K: Many>(verb: &Verb<K>, plot: Plot, messages: u64) {
    let (first, consumer) = Builder::<K>::new(plot.capacity).build::<Message>().unwrap();
    let mut consumers = K::many(consumer, plot.consumers);
    let mut dice = Dice(plot.seed);
    let producers = (0..PRODUCERS).map(|_| first.clone()).collect();
    // The first one, and one that comes before another one goes.
    let rings = 2 + (PRODUCERS + plot.passing) as u64;
    let mut world = World { plot, first, producers, received: [0; CONSUMERS], rings };
    let mut taken = Vec::new();
    let mut staying = Vec::new();
    let mut total = 0;
    while total < messages {
        // Others are busy now; and somebody has one message to send, or a few.
        let mut is_busy = [false; PRODUCERS];
        (0..plot.busy).for_each(|_| is_busy[dice.throw(PRODUCERS as u64) as usize] = true);
        for _ in 0..=dice.throw(3) {
            let victim = dice.throw(PRODUCERS as u64) as usize;
            world.send(victim);
        }
        (0..PRODUCERS).filter(|&producer| is_busy[producer]).for_each(|producer| world.fill(producer));
        let round = 1 + dice.throw(ROUND);
        for _ in 0..round {
            for _ in 0..plot.passing {
                let mut passing = world.first.clone();
                let message =
                    Message { producer: usize::MAX, before: passing.len(), sent_at: world.received };
                _ = passing.try_send(message);
                if plot.staying {
                    staying.push(passing);
                }
                if staying.len() == plot.passing {
                    staying.clear();
                }
            }
            let who = dice.throw(plot.consumers as u64) as usize;
            total += receive(verb, &mut world, &mut consumers[who], who, &mut taken);
            // Whoever is busy goes on to be.
            for message in taken.drain(..) {
                if is_busy.get(message.producer) == Some(&true) {
                    world.fill(message.producer);
                }
            }
        }
        if dice.throw(4) == 0 {
            // One leaves, and another one comes.
            let goes = dice.throw(PRODUCERS as u64) as usize;
            world.producers[goes] = world.first.clone();
        }
    }
    world.producers.clear();
    staying.clear();
    while receive(verb, &mut world, &mut consumers[0], 0, &mut taken) > 0 {
        taken.clear();
    }
    let World { first, .. } = world;
    drop(first);
    assert!(consumers[0].is_fully_drained(), "{}: {plot:?}: messages are left", verb.name);
}

/// Asks once, and checks what came.
fn receive<K: Joinable>(
    verb: &Verb<K>,
    world: &mut World<K>,
    consumer: &mut Consumer<Message, K>,
    who: usize,
    taken: &mut Vec<Message>,
) -> u64 {
    (verb.ask)(consumer, taken);
    let (most, least) = (verb.turn)(world.plot.capacity as u64);
    for message in taken.iter() {
        let bound = (world.rings + 1) * most * (1 + message.before as u64 / least);
        for (now, then) in world.received.iter().zip(message.sent_at) {
            let waited = now - then;
            assert!(
                waited <= bound,
                "{}: {:?}: a message waited for {waited} receives of one consumer, not {bound}",
                verb.name,
                world.plot
            );
        }
        world.received[who] += 1;
    }
    taken.len() as u64
}

/// How a queue comes to have several consumers.
trait Many: Joinable {
    fn many(consumer: Consumer<Message, Self>, _: usize) -> Vec<Consumer<Message, Self>> {
        vec![consumer]
    }
}

impl Many for Mpsc {}

impl Many for Mpmc {
    fn many(consumer: Consumer<Message, Self>, count: usize) -> Vec<Consumer<Message, Self>> {
        let mut consumers = vec![consumer];
        while consumers.len() < count {
            consumers.push(consumers[0].clone());
        }
        consumers
    }
}

/// All plots against all verbs.
fn play_all<K: Many>(verbs: &[Verb<K>], consumers: &[usize]) {
    let plots: Vec<_> = [
        (1, 1, 0),
        (3, 2, 0),
        (128, 2, 0),
        (64, 3, 1),
        (8, 0, 2),
        (128, 1, 7),
        (16, 30, 0),
        (4, 700, 3),
        (1000, 3, 0),
        (700, 40, 1),
    ]
    .into_iter()
    .enumerate()
    // From the end: those in which others come and go.
    .rev()
    .take(PLOTS)
    .flat_map(|(index, (capacity, busy, passing))| {
        let seed = index as u64 + 1;
        consumers.iter().map(move |&consumers| Plot {
            capacity: capacity.clamp(*CAPACITIES.start(), *CAPACITIES.end()),
            consumers,
            busy,
            passing,
            staying: seed % 2 == 0,
            seed,
        })
    })
    .collect();
    let messages = MESSAGES / (plots.len() * verbs.len()) as u64;
    for verb in verbs {
        for &plot in &plots {
            play(verb, plot, messages);
        }
    }
}

#[test]
fn no_message_waits_for_ever_for_one_consumer() {
    play_all(&copying::<Mpsc>(), &[1]);
}

#[test]
fn no_message_waits_for_ever_for_one_that_reads_in_place() {
    play_all(&in_place::<Mpsc>(), &[1]);
}

#[test]
fn no_message_waits_for_ever_for_many_consumers() {
    play_all(&copying::<Mpmc>(), &[1, 3]);
}

/// In place a turn ends with the slice in which its budget is reached, or where the consumer says so: not
/// before, and not later.
#[test]
fn a_turn_in_place_ends_with_its_budget() {
    let (mut first, mut consumer) = mpsc::channel(1024);
    let mut second = first.clone();
    first.send_batch(&[1; 1024]).unwrap();
    second.send_batch(&[2; 1024]).unwrap();
    let now = consumer.readable()[0];
    let other = 3 - now;
    for taken in 0..127 {
        assert_eq!(consumer.readable()[0], now, "after {taken} messages");
        consumer.advance(1);
    }
    assert_eq!(consumer.readable()[0], now, "one is left of the turn");
    consumer.advance(1);
    assert_eq!(consumer.readable()[0], other);
    // A slice beyond the budget is read to its end.
    consumer.advance(1000);
    assert_eq!(consumer.readable()[0], now);
    consumer.advance(1);
    assert_eq!(consumer.readable()[0], now);
    consumer.advance(0);
    assert_eq!(consumer.readable()[0], other, "the turn was given up");
}

//! Plays in which producers do what they can to keep a message waiting, and each receipt is checked against
//! the bound that [`annulus::queue::Consumer`] states: a turn of each ring, and one more, and that again for
//! each turn's worth of messages that lie before it in its own ring.
//!
//! Each message carries how many each consumer had received when it was sent. What is left at the end of a
//! play is received and checked, too. All of it happens in one thread.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use annulus::Settings;
use annulus::queue;
use annulus::queue::kind::{InPlace, Joinable, QueueKind};
use annulus::queue::{Consumer, Producer};
use annulus::{Select, WaitStrategy, mpmc::Mpmc, mpsc::Mpsc, select};
#[cfg(feature = "async")]
use futures_util::stream::StreamExt;

#[cfg(feature = "async")]
use crate::support::tasks::block_on;

/// Consumers at most.
pub(crate) const CONSUMERS: usize = 3;

/// Messages of one ring before the others have their turn, as documented.
pub(crate) const TURN: u64 = 128;

/// Numbers from 0 to before the one that is asked for.
pub(crate) type Dice<'a> = &'a mut dyn FnMut(u64) -> u64;

#[derive(Clone, Copy, Default)]
pub(crate) struct Sent {
    /// The producer that sent it.
    producer: usize,
    /// How many messages lay before it in its ring.
    before: usize,
    /// How many messages each consumer had received by then.
    after: [u64; CONSUMERS],
}

thread_local! {
    /// Whether a message that is dropped is one that a verb skips.
    static SKIPS: Cell<bool> = const { Cell::new(false) };
    static SKIPPED: RefCell<Vec<Sent>> = const { RefCell::new(Vec::new()) };
}

#[derive(Default)]
pub(crate) struct Message(Sent);

impl Drop for Message {
    fn drop(&mut self) {
        if SKIPS.get() {
            SKIPPED.with_borrow_mut(|skipped| skipped.push(self.0));
        }
    }
}

/// A way to receive.
pub(crate) struct Verb<K: QueueKind> {
    pub(crate) name: &'static str,
    /// Whether it waits where nothing is there.
    waits: bool,
    /// The most that it takes of one ring in a turn, where rings hold `capacity`, and the least, where there
    /// is as much.
    turn: fn(capacity: u64) -> (u64, u64),
    ask: fn(&mut Consumer<Message, K>, &mut Vec<Sent>),
}

fn by_budget(_: u64) -> (u64, u64) {
    (TURN, TURN)
}

/// A turn ends with the slice in which it reaches the budget.
fn by_slices(capacity: u64) -> (u64, u64) {
    (TURN - 1 + capacity, TURN)
}

/// As the above, in slices of at most three.
fn by_small_slices(_: u64) -> (u64, u64) {
    (TURN + 2, TURN)
}

/// A round visits each ring once. Where it cuts a turn short, the next one goes on with that turn.
fn by_rounds(capacity: u64) -> (u64, u64) {
    (capacity, capacity)
}

/// A `try_iter` that is dropped after nine messages ends a turn early.
fn by_parts(capacity: u64) -> (u64, u64) {
    (capacity.min(9), 1)
}

fn one_by_one(_: u64) -> (u64, u64) {
    (1, 1)
}

/// The verbs that move messages out.
pub(crate) fn copying<K: QueueKind + 'static>() -> Vec<Verb<K>> {
    fn places<const N: usize>() -> [Message; N] {
        std::array::from_fn(|_| Message::default())
    }
    fn into<K: QueueKind, const N: usize>(consumer: &mut Consumer<Message, K>, taken: &mut Vec<Sent>) {
        let mut places = places::<N>();
        let count = consumer.try_recv_batch(&mut places);
        taken.extend(places[..count].iter().map(|message| message.0));
    }
    let eager = |name, turn, ask| Verb { name, waits: false, turn, ask };
    let waiting = |name, ask| Verb { name, waits: true, turn: by_budget, ask };
    let verbs = vec![
        eager("try_recv", by_budget, |consumer, taken| taken.extend(consumer.try_recv().map(|got| got.0))),
        waiting("recv", |consumer, taken| taken.push(consumer.recv().unwrap().0)),
        waiting("recv_until", |consumer, taken| {
            taken.push(consumer.recv_until(WaitStrategy::BusySpin).unwrap().0);
        }),
        eager("recv_timeout", by_budget, |consumer, taken| {
            taken.extend(consumer.recv_timeout(Duration::ZERO).map(|got| got.0));
        }),
        eager("recv_until", by_budget, |consumer, taken| {
            taken.extend(consumer.recv_until(Instant::now()).map(|got| got.0));
        }),
        eager("try_recv_batch, 3", by_budget, into::<K, 3>),
        eager("try_recv_batch, 1000", by_budget, into::<K, 1000>),
        waiting("recv_batch", |consumer, taken| {
            let mut places = places::<9>();
            let count = consumer.recv_batch(&mut places).unwrap();
            taken.extend(places[..count].iter().map(|message| message.0));
        }),
        waiting("recv_many", |consumer, taken| {
            let mut messages = Vec::new();
            consumer.recv_many(&mut messages, 200).unwrap();
            taken.extend(messages.iter().map(|message| message.0));
        }),
        eager("consume", by_rounds, |consumer, taken| {
            consumer.consume(usize::MAX, |message| taken.push(message.0));
        }),
        eager("consume, 200", by_rounds, |consumer, taken| {
            consumer.consume(200, |message| taken.push(message.0));
        }),
        eager("skip", by_budget, |consumer, taken| {
            SKIPS.set(true);
            consumer.skip(5);
            SKIPS.set(false);
            SKIPPED.with_borrow_mut(|skipped| taken.append(skipped));
        }),
        eager("try_iter, one", one_by_one, |consumer, taken| {
            taken.extend(consumer.try_iter().next().map(|message| message.0));
        }),
        eager("try_iter, some", by_parts, |consumer, taken| {
            taken.extend(consumer.try_iter().take(9).map(|message| message.0));
        }),
        waiting("iter", |consumer, taken| taken.push(consumer.iter().next().unwrap().0)),
        waiting("select!", |consumer, taken| {
            taken.push(select! { recv(consumer) -> message => message.unwrap().0 });
        }),
        eager("select!, default", by_budget, |consumer, taken| {
            select! {
                recv(consumer) -> message => taken.push(message.unwrap().0),
                default => {}
            }
        }),
        waiting("Select", |consumer, taken| {
            let mut select = Select::new();
            select.recv(consumer);
            assert_eq!(select.ready(), 0);
            drop(select);
            taken.push(consumer.try_recv().unwrap().0);
        }),
    ];
    #[cfg(feature = "async")]
    let verbs = verbs
        .into_iter()
        .chain([
            waiting("recv_async", |consumer, taken| {
                taken.push(block_on(consumer.recv_async()).unwrap().0);
            }),
            waiting("recv_batch_async", |consumer, taken| {
                let mut places = places::<9>();
                let count = block_on(consumer.recv_batch_async(&mut places)).unwrap();
                taken.extend(places[..count].iter().map(|message| message.0));
            }),
            waiting("stream", |consumer, taken| {
                taken.push(block_on(consumer.stream().next()).unwrap().0);
            }),
        ])
        .collect();
    verbs
}

/// The verbs that show messages where they lie.
pub(crate) fn in_place<K: InPlace + QueueKind>() -> Vec<Verb<K>> {
    fn part<K: InPlace + QueueKind>(
        consumer: &mut Consumer<Message, K>,
        taken: &mut Vec<Sent>,
        count: impl Fn(usize) -> usize,
    ) {
        let there = consumer.readable();
        let count = count(there.len());
        taken.extend(there[..count].iter().map(|message| message.0));
        consumer.advance(count);
    }
    let verb = |name, turn, ask| Verb { name, waits: false, turn, ask };
    vec![
        verb("peek, advance", by_budget, |consumer, taken| {
            let message = consumer.peek().map(|message| message.0);
            if message.is_some() {
                consumer.advance(1);
            }
            taken.extend(message);
        }),
        verb("readable, all", by_slices, |consumer, taken| part(consumer, taken, |there| there)),
        verb("readable, a half", by_slices, |consumer, taken| {
            part(consumer, taken, |there| there.div_ceil(2));
        }),
        verb("readable, at most three", by_small_slices, |consumer, taken| {
            part(consumer, taken, |there| there.min(3));
        }),
    ]
}

/// What the producers do to keep a message waiting.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plot {
    pub(crate) producers: usize,
    pub(crate) capacity: usize,
    pub(crate) consumers: usize,
    /// So many producers always have a full ring, or all if it is as many as there are.
    pub(crate) busy: usize,
    /// Before each receive, so many come, send something and go.
    pub(crate) passing: usize,
    /// Whether they stay until that many others have come.
    pub(crate) staying: bool,
    /// Receives between two changes of the busy producers, at most.
    pub(crate) round: u64,
    /// So many others send a message at such a change, at most.
    pub(crate) burst: u64,
}

impl Plot {
    /// The most rings that there will be: one of the first producer, and one for a producer that comes before
    /// another one goes.
    fn rings(&self) -> u64 {
        2 + (self.producers + self.passing) as u64
    }

    /// Receives in which a message is received that has less than a turn's worth before it.
    pub(crate) fn bound(&self) -> u64 {
        (self.rings() + 1) * TURN
    }
}

/// How a queue comes to have several consumers.
pub(crate) trait Many: Joinable {
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

struct World<'a, K: QueueKind> {
    verb: &'a Verb<K>,
    plot: Plot,
    producers: Vec<Producer<Message, K>>,
    received: [u64; CONSUMERS],
    /// Messages that were sent and not received.
    there: u64,
    /// The longest wait so far, in thousandths of its bound.
    worst: u64,
}

impl<K: Joinable> World<'_, K> {
    fn send(&mut self, index: usize) -> bool {
        let producer = &mut self.producers[index];
        let message = Message(Sent { producer: index, before: producer.len(), after: self.received });
        let is_sent = producer.try_send(message).is_ok();
        self.there += u64::from(is_sent);
        is_sent
    }

    fn fill(&mut self, producer: usize) {
        // Nobody receives meanwhile, so no more than the capacity can be sent.
        let is_full = (0..=self.plot.capacity).any(|_| !self.send(producer));
        assert!(is_full, "{:?}: more was sent than there is room for", self.plot);
    }

    /// Asks once, and checks what came.
    fn receive(&mut self, consumer: &mut Consumer<Message, K>, who: usize, taken: &mut Vec<Sent>) {
        if self.verb.waits && self.there == 0 {
            return;
        }
        (self.verb.ask)(consumer, taken);
        assert_eq!(taken.is_empty(), self.there == 0, "{}: {:?}", self.verb.name, self.plot);
        self.there -= taken.len() as u64;
        let (most, least) = (self.verb.turn)(self.plot.capacity as u64);
        for message in taken.iter() {
            let bound = (self.plot.rings() + 1) * most * (1 + message.before as u64 / least);
            for (now, then) in self.received.iter().zip(message.after) {
                let waited = now - then;
                assert!(
                    waited <= bound,
                    "{}: {:?}: a message waited for {waited} receives of one consumer, not {bound}",
                    self.verb.name,
                    self.plot
                );
                self.worst = self.worst.max(1_000 * waited / bound);
            }
            self.received[who] += 1;
        }
    }
}

/// Plays `plot` against `verb` for so many messages, and for those that lie in the rings then. Returns the
/// longest wait, in thousandths of its bound.
pub(crate) fn play<K: Many>(verb: &Verb<K>, plot: Plot, dice: Dice<'_>, messages: u64) -> u64 {
    let (first, consumer) = queue::with::<Message, K>(Settings::new(plot.capacity)).unwrap();
    let mut consumers = K::many(consumer, plot.consumers);
    let producers = (0..plot.producers).map(|_| first.clone()).collect();
    let mut world = World { verb, plot, producers, received: [0; CONSUMERS], there: 0, worst: 0 };
    let (mut taken, mut staying) = (Vec::new(), Vec::new());
    let mut throw = |sides: usize| dice(sides as u64) as usize;
    while world.received.iter().sum::<u64>() < messages {
        // Others are busy now; and somebody has a message to send, or several have.
        let mut is_busy = vec![plot.busy >= plot.producers; plot.producers];
        if plot.busy < plot.producers {
            (0..plot.busy).for_each(|_| is_busy[throw(plot.producers)] = true);
        }
        for _ in 0..=throw(plot.burst as usize) {
            world.send(throw(plot.producers));
        }
        (0..plot.producers).filter(|&producer| is_busy[producer]).for_each(|producer| world.fill(producer));
        for _ in 0..=throw(plot.round as usize) {
            for _ in 0..plot.passing {
                let mut passing = first.clone();
                let (producer, before) = (usize::MAX, passing.len());
                let message = Message(Sent { producer, before, after: world.received });
                world.there += u64::from(passing.try_send(message).is_ok());
                if plot.staying {
                    staying.push(passing);
                }
                if staying.len() == plot.passing {
                    staying.clear();
                }
            }
            // The first one goes on, whatever the others do.
            let who = throw(2 * plot.consumers).saturating_sub(plot.consumers);
            world.receive(&mut consumers[who], who, &mut taken);
            // A busy producer stays busy.
            for message in taken.drain(..) {
                if is_busy.get(message.producer) == Some(&true) {
                    world.fill(message.producer);
                }
            }
        }
        if throw(4) == 0 {
            // One leaves, and another one comes.
            let goes = throw(plot.producers);
            world.producers[goes] = first.clone();
        }
    }
    world.producers.clear();
    staying.clear();
    while world.there > 0 {
        world.receive(&mut consumers[0], 0, &mut taken);
        taken.clear();
    }
    let rings = first.rings() as u64;
    assert!(rings <= plot.rings(), "{rings} rings: {plot:?}");
    drop(first);
    assert!(consumers[0].is_fully_drained(), "{}: {plot:?}: messages are left", verb.name);
    world.worst
}

//! Every verb mixed with every other, against `VecDeque`.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use annulus::queue::{Builder, Consumer, InPlace, Producer, Shared};
use annulus::{PollError, TrySendError, mpmc, mpsc, spmc, spsc};
use proptest::prelude::*;

use super::{Counted, panics};

#[derive(Clone, Debug)]
enum Step {
    Send,
    Reserve { most: usize, commit: usize },
    ReserveAndDrop(usize),
    FillerPanics { most: usize, after: usize },
    Receive,
    Into(usize),
    Read { advance: usize },
    AdvanceTooFar,
    Peek,
    PeekMany(usize),
    Skip(usize),
    Drain { take: usize },
    Consume,
    ConsumeUpTo(usize),
    HandlerPanics { after: usize },
    Look,
    Close,
    // Where producers join.
    Join,
    Leave(usize),
}

fn steps() -> impl Strategy<Value = Vec<(usize, Step)>> {
    let step = prop_oneof![
        8 => Just(Step::Send),
        3 => (0..6_usize, 0..6_usize).prop_map(|(most, commit)| Step::Reserve { most, commit }),
        1 => (0..6_usize).prop_map(Step::ReserveAndDrop),
        1 => (1..6_usize, 0..4_usize).prop_map(|(most, after)| Step::FillerPanics { most, after }),
        6 => Just(Step::Receive),
        2 => (0..4_usize).prop_map(Step::Into),
        3 => (0..4_usize).prop_map(|advance| Step::Read { advance }),
        1 => Just(Step::AdvanceTooFar),
        2 => Just(Step::Peek),
        1 => (0..4_usize).prop_map(Step::PeekMany),
        1 => (0..4_usize).prop_map(Step::Skip),
        1 => (0..4_usize).prop_map(|take| Step::Drain { take }),
        1 => Just(Step::Consume),
        2 => (0..4_usize).prop_map(Step::ConsumeUpTo),
        1 => (0..4_usize).prop_map(|after| Step::HandlerPanics { after }),
        2 => Just(Step::Look),
        1 => Just(Step::Join),
        1 => (0..8_usize).prop_map(Step::Leave),
    ];
    let close = prop_oneof![40 => Just(None), 1 => Just(Some(Step::Close))];
    let step = (step, close).prop_map(|(step, close)| close.unwrap_or(step));
    prop::collection::vec((0..8_usize, step), 1..if cfg!(miri) { 30 } else { 120 })
}

/// What a queue must do: one plain queue for each producer there ever was.
struct Model<K: InPlace> {
    capacity: usize,
    producers: Vec<Option<Producer<Counted, K>>>,
    consumer: Consumer<Counted, K>,
    rings: Vec<VecDeque<u64>>,
    next: u64,
    closed: bool,
    alive: Arc<AtomicUsize>,
}

/// How many producers there may have been: a message's number tells whose it is.
const WHOSE: u64 = 1000;

impl<K: InPlace> Model<K> {
    fn new(capacity: usize, first: u64) -> Self {
        let (producer, consumer) = Builder::<K>::new(capacity).first(first).build().unwrap();
        Self {
            capacity,
            producers: vec![Some(producer)],
            consumer,
            rings: vec![VecDeque::new()],
            next: 0,
            closed: false,
            alive: Arc::default(),
        }
    }

    fn number(&mut self, whose: usize) -> u64 {
        self.next += 1;
        self.next * WHOSE + whose as u64
    }

    /// The consumer got `message`: it is the oldest of its ring.
    fn got(&mut self, message: &Counted) {
        let whose = (message.number % WHOSE) as usize;
        assert_eq!(self.rings[whose].pop_front(), Some(message.number));
    }

    fn got_all(&mut self, messages: &[Counted]) {
        for message in messages {
            self.got(message);
        }
    }

    fn there(&self) -> usize {
        self.rings.iter().map(VecDeque::len).sum()
    }

    fn room(&self, whose: usize) -> usize {
        if self.closed { 0 } else { self.capacity - self.rings[whose].len() }
    }

    fn reserve(&mut self, whose: usize, most: usize, commit: Option<usize>, panic_after: Option<usize>) {
        let room = self.room(whose);
        let numbers: Vec<_> = (0..most).map(|_| self.number(whose)).collect();
        let alive = Arc::clone(&self.alive);
        let Some(producer) = &mut self.producers[whose] else { return };
        let Some(mut reservation) = producer.reserve(most) else {
            assert!(most == 0 || room == 0, "no reservation though {room} are free");
            return;
        };
        let len = reservation.len();
        assert!((1..=most.min(room)).contains(&len), "{len} of {most} with room for {room}");
        assert_eq!(reservation.as_uninit().len(), len);
        let values = numbers.iter().map(|&number| Counted::new(number, &alive));
        if let Some(after) = panic_after {
            let mut values = values.enumerate();
            let panicked = panics(|| {
                reservation.write_iter(std::iter::from_fn(|| {
                    let (index, value) = values.next()?;
                    assert!(index < after, "as asked");
                    Some(value)
                }));
            });
            if panicked.is_none() {
                // It was not asked for that many.
                self.rings[whose].extend(&numbers[..len]);
            }
        } else if let Some(commit) = commit {
            let sent = reservation.write_iter(values.take(commit));
            assert_eq!(sent, commit.min(len));
            self.rings[whose].extend(&numbers[..sent]);
        }
    }

    #[allow(clippy::too_many_lines, clippy::needless_pass_by_value, reason = "one arm for each verb")]
    fn step(&mut self, producer: usize, step: Step) {
        let whose = producer % self.producers.len();
        match step {
            Step::Send => {
                let (number, room) = (self.number(whose), self.room(whose));
                let value = Counted::new(number, &self.alive);
                let Some(producer) = &mut self.producers[whose] else { return };
                match producer.try_send(value) {
                    Ok(()) => {
                        assert!(room > 0, "sent without room");
                        self.rings[whose].push_back(number);
                    }
                    Err(TrySendError::Full(value)) => {
                        assert!(room == 0 && !self.closed && value.number == number);
                    }
                    Err(TrySendError::Closed(value)) => assert!(self.closed && value.number == number),
                }
            }
            Step::Reserve { most, commit } => self.reserve(whose, most, Some(commit), None),
            Step::ReserveAndDrop(most) => self.reserve(whose, most, None, None),
            Step::FillerPanics { most, after } => self.reserve(whose, most, None, Some(after)),
            Step::Receive => match self.consumer.try_recv() {
                Ok(message) => self.got(&message),
                Err(PollError::Empty) => {
                    assert_eq!(self.there(), 0, "Empty, but something is there");
                    assert!(!self.is_over());
                }
                Err(PollError::Closed) => {
                    assert_eq!(self.there(), 0, "Closed, but something is there");
                    assert!(self.is_over());
                }
            },
            Step::Into(count) => {
                let mut places: Vec<_> = (0..count).map(|_| Counted::new(0, &self.alive)).collect();
                let got = self.consumer.recv_into(&mut places);
                assert_eq!(got, count.min(self.there()));
                self.got_all(&places[..got]);
            }
            Step::Read { advance } => {
                let there = self.there();
                let readable: Vec<_> =
                    self.consumer.readable().iter().map(|message| message.number).collect();
                assert_eq!(readable.is_empty(), there == 0);
                let advance = advance.min(readable.len());
                self.consumer.advance(advance);
                for number in &readable[..advance] {
                    assert_eq!(self.rings[(number % WHOSE) as usize].pop_front(), Some(*number));
                }
            }
            Step::AdvanceTooFar => {
                let readable = self.consumer.readable().len();
                let message = panics(|| self.consumer.advance(readable + 1)).expect("too far");
                assert!(message.contains(&format!("by {} messages: {readable} are readable", readable + 1)));
            }
            Step::Peek => {
                let there = self.there();
                match self.consumer.peek() {
                    Some(message) => {
                        let number = message.number;
                        assert_eq!(self.rings[(number % WHOSE) as usize].front(), Some(&number));
                    }
                    None => assert_eq!(there, 0),
                }
            }
            Step::PeekMany(most) => {
                let seen: Vec<_> =
                    self.consumer.peek_many(most).iter().map(|message| message.number).collect();
                assert!(seen.len() <= most);
                for (place, number) in seen.iter().enumerate() {
                    assert_eq!(self.rings[(number % WHOSE) as usize].get(place), Some(number));
                }
            }
            Step::Skip(most) => {
                let alive = self.alive.load(Ordering::Relaxed);
                let there = self.there();
                let skipped = self.consumer.skip(most);
                assert_eq!(skipped, most.min(there));
                assert_eq!(self.alive.load(Ordering::Relaxed), alive - skipped);
                self.resync(skipped);
            }
            Step::Drain { take } => {
                let there = self.there();
                let got: Vec<_> = self.consumer.drain().take(take).collect();
                assert_eq!(got.len(), take.min(there));
                self.got_all(&got);
            }
            Step::Consume => {
                let there = self.there();
                let mut got = Vec::new();
                assert_eq!(self.consumer.consume(|message| got.push(message)), there);
                assert_eq!(got.len(), there);
                self.got_all(&got);
            }
            Step::ConsumeUpTo(most) => {
                let there = self.there();
                let mut got = Vec::new();
                assert_eq!(self.consumer.consume_up_to(most, |message| got.push(message)), most.min(there));
                self.got_all(&got);
            }
            Step::HandlerPanics { after } => {
                let mut got = Vec::new();
                let panicked = panics(|| {
                    self.consumer.consume(|message| {
                        got.push(message);
                        assert!(got.len() <= after, "as asked");
                    });
                });
                assert_eq!(panicked.is_some(), got.len() > after);
                self.got_all(&got);
            }
            Step::Look => {
                assert_eq!(self.consumer.len(), self.there());
                assert_eq!(self.consumer.is_empty(), self.there() == 0);
                assert_eq!(self.consumer.is_fully_drained(), self.is_over() && self.there() == 0);
                for (producer, ring) in self.producers.iter().zip(&self.rings) {
                    let Some(producer) = producer else { continue };
                    assert_eq!(producer.len(), ring.len());
                    assert_eq!(producer.is_full(), ring.len() == self.capacity);
                    assert_eq!(producer.is_closed(), self.closed);
                }
            }
            Step::Close => {
                if producer % 2 == 0 {
                    self.consumer.close();
                } else if let Some(producer) = &self.producers[whose] {
                    producer.close();
                } else {
                    return;
                }
                self.closed = true;
            }
            Step::Join | Step::Leave(_) => unreachable!("of queues with many producers"),
        }
    }

    /// Whether nothing will be sent any more.
    fn is_over(&self) -> bool {
        self.closed || self.producers.iter().all(Option::is_none)
    }

    /// After `count` messages were dropped unseen: asks what is left, and checks that it is what each ring had at its end.
    fn resync(&mut self, count: usize) {
        let got: Vec<_> = self.consumer.drain().collect();
        assert_eq!(got.len(), self.there() - count);
        let mut rings = vec![VecDeque::new(); self.rings.len()];
        for message in &got {
            rings[(message.number % WHOSE) as usize].push_back(message.number);
        }
        for (ring, left) in self.rings.iter_mut().zip(&rings) {
            assert!(ring.iter().skip(ring.len() - left.len()).eq(left), "{ring:?} has become {left:?}");
            ring.clear();
        }
    }

    fn end(self) {
        drop(self.consumer);
        drop(self.producers);
        assert_eq!(self.alive.load(Ordering::Relaxed), 0, "a message was not dropped");
    }
}

impl Model<mpsc::Mpsc> {
    fn join(&mut self) {
        let Some(producer) = self.producers.iter().flatten().next() else { return };
        match producer.register() {
            Ok(producer) => {
                assert!(!self.closed);
                self.producers.push(Some(producer));
                self.rings.push(VecDeque::new());
            }
            Err(_) => assert!(self.closed),
        }
    }

    fn leave(&mut self, producer: usize) {
        let whose = producer % self.producers.len();
        self.producers[whose] = None;
        self.closed |= self.producers.iter().all(Option::is_none);
    }
}

/// What several consumers do on one thread: the oldest of some ring comes, whoever asks.
#[allow(clippy::too_many_lines, reason = "one arm for each verb")]
fn shared<K: Shared>(
    mut join: impl FnMut(&Producer<Counted, K>) -> Option<Producer<Counted, K>>,
    capacity: usize,
    first: u64,
    steps: Vec<(usize, Step)>,
) {
    let alive = Arc::<AtomicUsize>::default();
    let (producer, consumer) = Builder::<K>::new(capacity).first(first).build().unwrap();
    let mut producers = vec![Some(producer)];
    let mut consumers = vec![consumer];
    // A producer that joins goes on in the ring of one that left: so the order is the order of each producer.
    let mut sent = vec![VecDeque::new()];
    let mut next = 0;
    let mut closed = false;
    for (who, step) in steps {
        let whose = who % producers.len();
        let there = sent.iter().map(VecDeque::len).sum::<usize>();
        let mut got = Vec::new();
        let index = who % consumers.len();
        let consumer = &mut consumers[index];
        match step {
            Step::Send => {
                next += 1;
                let number = next * WHOSE + whose as u64;
                let Some(producer) = &mut producers[whose] else { continue };
                let full = producer.is_full();
                match producer.try_send(Counted::new(number, &alive)) {
                    Ok(()) => {
                        assert!(!full && !closed);
                        sent[whose].push_back(number);
                    }
                    Err(TrySendError::Full(back)) => assert!(full && !closed && back.number == number),
                    Err(TrySendError::Closed(back)) => assert!(closed && back.number == number),
                }
            }
            Step::Receive => match consumer.try_recv() {
                Ok(message) => got.push(message),
                Err(PollError::Empty) => assert!(there == 0 && !closed),
                Err(PollError::Closed) => assert!(there == 0 && closed),
            },
            Step::Into(count) => {
                let mut places: Vec<_> = (0..count).map(|_| Counted::new(0, &alive)).collect();
                let stolen = consumer.steal_into(&mut places);
                assert_eq!(stolen, count.min(there));
                got.extend(places.drain(..stolen));
            }
            Step::Drain { take } => {
                got.extend(consumer.drain().take(take));
                assert_eq!(got.len(), take.min(there));
            }
            Step::Consume => assert_eq!(consumer.consume(|message| got.push(message)), there),
            Step::ConsumeUpTo(most) => {
                assert_eq!(consumer.consume_up_to(most, |message| got.push(message)), most.min(there));
            }
            Step::HandlerPanics { after } => {
                let panicked = panics(|| {
                    consumer.consume(|message| {
                        got.push(message);
                        assert!(got.len() <= after, "as asked");
                    });
                });
                assert_eq!(panicked.is_some(), got.len() > after);
            }
            Step::Look => {
                assert_eq!(consumer.len(), there);
                assert_eq!(consumer.is_fully_drained(), closed && there == 0);
            }
            Step::Close => {
                consumer.close();
                closed = true;
            }
            Step::Join => {
                let another = consumer.clone();
                consumers.push(another);
                if let Some(producer) = producers.iter().flatten().next().and_then(&mut join) {
                    producers.push(Some(producer));
                    sent.push(VecDeque::new());
                }
            }
            Step::Leave(_) => {
                if consumers.len() > 1 {
                    consumers.swap_remove(index);
                }
                producers[whose] = None;
                closed |= producers.iter().all(Option::is_none);
            }
            _ => {}
        }
        for message in got {
            assert_eq!(sent[(message.number % WHOSE) as usize].pop_front(), Some(message.number));
        }
    }
    drop(consumers);
    drop(producers);
    assert_eq!(alive.load(Ordering::Relaxed), 0, "a message was not dropped");
}

fn firsts() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), (0..20_u64).prop_map(|before| u64::MAX - before)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 1 } else { 1_000 }))]

    #[test]
    fn one_producer(capacity in 1..9_usize, first in firsts(), steps in steps()) {
        let mut model = Model::<spsc::Spsc>::new(capacity, first);
        for (producer, step) in steps {
            if !matches!(step, Step::Join | Step::Leave(_)) {
                model.step(producer, step);
            }
        }
        model.end();
    }

    #[test]
    fn many_producers(capacity in 1..5_usize, first in firsts(), steps in steps()) {
        let mut model = Model::<mpsc::Mpsc>::new(capacity, first);
        for (producer, step) in steps {
            match step {
                Step::Join => model.join(),
                Step::Leave(producer) => model.leave(producer),
                step => model.step(producer, step),
            }
        }
        model.end();
    }

    #[test]
    fn many_consumers(capacity in 1..9_usize, first in firsts(), steps in steps()) {
        shared::<spmc::Spmc>(|_| None, capacity, first, steps);
    }

    #[test]
    fn many_of_both(capacity in 1..5_usize, first in firsts(), steps in steps()) {
        shared::<mpmc::Mpmc>(|producer| producer.register().ok(), capacity, first, steps);
    }
}

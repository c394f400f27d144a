//! Queues with one consumer, against one `VecDeque` for each producer.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

#[cfg(feature = "async")]
use annulus::SendError;
use annulus::Settings;
use annulus::queue;
use annulus::queue::kind::{InPlace, Joinable, QueueKind};
use annulus::queue::{Consumer, Producer};
use annulus::{RecvTimeoutError, TryRecvError, TrySendError};

use super::super::counted::{Counted, panics};
use super::step::{Step, Turn, WHOSE};
#[cfg(feature = "async")]
use crate::support::polled::{Patience, Polled};

/// What a queue must do: one plain queue for each ring. A producer that joins goes on in the ring that was
/// left last, or in a new one.
struct Model<K: InPlace + QueueKind> {
    capacity: usize,
    producers: Vec<Option<Producer<Counted, K>>>,
    /// `None` while it waits in a task.
    consumer: Option<Consumer<Counted, K>>,
    /// Producers that wait in a task.
    waiting: usize,
    rings: Vec<VecDeque<u64>>,
    /// The ring of each producer there ever was.
    ring_of: Vec<usize>,
    /// The rings that were left, the last one at the end.
    free: Vec<usize>,
    next: u64,
    closed: bool,
    alive: Arc<AtomicUsize>,
    joining: Option<Joining<K>>,
}

type Register<K> = fn(&Producer<Counted, K>) -> Option<Producer<Counted, K>>;

/// Where producers may join.
pub(crate) struct Joining<K: QueueKind> {
    register: Register<K>,
    /// How many rings there are.
    rings: fn(&Consumer<Counted, K>) -> usize,
}

impl<K: Joinable> Joining<K> {
    pub(crate) fn new() -> Self {
        Self { register: |producer| producer.register().ok(), rings: Consumer::rings }
    }
}

impl<K: InPlace + QueueKind> Model<K> {
    fn new(settings: Settings, joining: Option<Joining<K>>) -> Self {
        let (producer, consumer) = queue::with(settings).unwrap();
        Self {
            capacity: producer.capacity(),
            producers: vec![Some(producer)],
            consumer: Some(consumer),
            waiting: 0,
            rings: vec![VecDeque::new()],
            ring_of: vec![0],
            free: Vec::new(),
            next: 0,
            closed: false,
            alive: Arc::default(),
            joining,
        }
    }

    fn number(&mut self, ring: usize) -> u64 {
        self.next += 1;
        self.next * WHOSE + ring as u64
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

    fn room(&self, ring: usize) -> usize {
        if self.closed { 0 } else { self.capacity - self.rings[ring].len() }
    }

    fn reserve(&mut self, whose: usize, most: usize, commit: Option<usize>, panic_after: Option<usize>) {
        let ring = self.ring_of[whose];
        let room = self.room(ring);
        let numbers: Vec<_> = (0..most).map(|_| self.number(ring)).collect();
        let alive = Arc::clone(&self.alive);
        let Some(producer) = &mut self.producers[whose] else { return };
        if most == 0 {
            assert!(panics(|| drop(producer.try_reserve(0))).is_some());
            return;
        }
        let mut reservation = match producer.try_reserve(most) {
            Ok(reservation) => reservation,
            Err(error) => {
                assert!(room == 0, "no reservation though {room} are free");
                assert_eq!(error.is_full(), !self.closed);
                return;
            }
        };
        let len = reservation.len();
        assert!((1..=most.min(room)).contains(&len), "{len} of {most} with room for {room}");
        assert_eq!(reservation.as_uninit().len(), len);
        let values = numbers.iter().map(|&number| Counted::new(number, &alive));
        if let Some(after) = panic_after {
            let mut values = values.enumerate();
            let panicked = panics(|| {
                _ = reservation.write_iter(std::iter::from_fn(|| {
                    let (index, value) = values.next()?;
                    assert!(index < after, "as asked");
                    Some(value)
                }));
            });
            if panicked.is_none() {
                // It was not asked for that many.
                self.rings[ring].extend(&numbers[..len]);
            }
        } else if let Some(commit) = commit {
            let sent = reservation.write_iter(values.take(commit));
            assert_eq!(sent, commit.min(len));
            self.rings[ring].extend(&numbers[..sent]);
        }
    }

    #[allow(clippy::needless_pass_by_value, reason = "one arm for each verb")]
    fn step(&mut self, producer: usize, step: Step) {
        let whose = producer % self.producers.len();
        match step {
            Step::Send => {
                let ring = self.ring_of[whose];
                let (number, room) = (self.number(ring), self.room(ring));
                let value = Counted::new(number, &self.alive);
                let Some(producer) = &mut self.producers[whose] else { return };
                match producer.try_send(value) {
                    Ok(()) => {
                        assert!(room > 0, "sent without room");
                        self.rings[ring].push_back(number);
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
            Step::Close => {
                match (&self.consumer, &self.producers[whose]) {
                    (Some(consumer), _) if producer % 2 == 0 => consumer.close(),
                    (_, Some(producer)) => producer.close(),
                    (_, None) => return,
                }
                self.closed = true;
            }
            Step::Join => self.join(),
            Step::Leave => self.leave(whose),
            step => {
                let Some(mut consumer) = self.consumer.take() else { return };
                self.receive(&mut consumer, step);
                self.consumer = Some(consumer);
            }
        }
    }

    #[allow(clippy::needless_pass_by_value, reason = "one arm for each verb")]
    fn receive(&mut self, consumer: &mut Consumer<Counted, K>, step: Step) {
        match step {
            Step::Receive => match consumer.try_recv() {
                Ok(message) => self.got(&message),
                Err(TryRecvError::Empty) => {
                    assert_eq!(self.there(), 0, "Empty, but something is there");
                    assert!(!self.is_over());
                }
                Err(TryRecvError::Closed) => {
                    assert_eq!(self.there(), 0, "Closed, but something is there");
                    assert!(self.is_over());
                }
            },
            Step::Wait => match consumer.recv_timeout(Duration::ZERO) {
                Ok(message) => self.got(&message),
                Err(RecvTimeoutError::Timeout) => assert!(self.there() == 0 && !self.is_over()),
                Err(RecvTimeoutError::Closed) => assert!(self.there() == 0 && self.is_over()),
            },
            Step::Into(count) => {
                let mut places: Vec<_> = (0..count).map(|_| Counted::new(0, &self.alive)).collect();
                let got = consumer.try_recv_batch(&mut places);
                assert_eq!(got, count.min(self.there()));
                self.got_all(&places[..got]);
            }
            Step::Read { advance } => {
                let there = self.there();
                let readable: Vec<_> = consumer.readable().iter().map(|message| message.number).collect();
                assert_eq!(readable.is_empty(), there == 0);
                let advance = advance.min(readable.len());
                consumer.advance(advance);
                for number in &readable[..advance] {
                    assert_eq!(self.rings[(number % WHOSE) as usize].pop_front(), Some(*number));
                }
            }
            Step::AdvanceTooFar => {
                let readable = consumer.readable().len();
                let message = panics(|| consumer.advance(readable + 1)).expect("too far");
                assert!(message.contains(&format!("by {} messages: {readable} are readable", readable + 1)));
            }
            Step::Peek => {
                let there = self.there();
                match consumer.peek() {
                    Some(message) => {
                        let number = message.number;
                        assert_eq!(self.rings[(number % WHOSE) as usize].front(), Some(&number));
                    }
                    None => assert_eq!(there, 0),
                }
            }
            Step::PeekMany(most) => {
                let seen: Vec<_> =
                    consumer.readable().iter().take(most).map(|message| message.number).collect();
                for (place, number) in seen.iter().enumerate() {
                    assert_eq!(self.rings[(number % WHOSE) as usize].get(place), Some(number));
                }
            }
            Step::Skip(most) => {
                let alive = self.alive.load(Ordering::Relaxed);
                let there = self.there();
                let skipped = consumer.skip(most);
                assert_eq!(skipped, most.min(there));
                assert_eq!(self.alive.load(Ordering::Relaxed), alive - skipped);
                self.resync(consumer, skipped);
            }
            Step::TryIter { take } => {
                let there = self.there();
                let got: Vec<_> = consumer.try_iter().take(take).collect();
                assert_eq!(got.len(), take.min(there));
                self.got_all(&got);
            }
            Step::Consume => {
                let there = self.there();
                let mut got = Vec::new();
                assert_eq!(consumer.consume(usize::MAX, |message| got.push(message)), there);
                assert_eq!(got.len(), there);
                self.got_all(&got);
            }
            Step::ConsumeUpTo(most) => {
                let there = self.there();
                let mut got = Vec::new();
                assert_eq!(consumer.consume(most, |message| got.push(message)), most.min(there));
                self.got_all(&got);
            }
            Step::HandlerPanics { after } => {
                let mut got = Vec::new();
                let panicked = panics(|| {
                    consumer.consume(usize::MAX, |message| {
                        got.push(message);
                        assert!(got.len() <= after, "as asked");
                    });
                });
                assert_eq!(panicked.is_some(), got.len() > after);
                self.got_all(&got);
            }
            Step::Look => {
                assert_eq!(consumer.len(), self.there());
                assert_eq!(consumer.is_empty(), self.there() == 0);
                assert_eq!(consumer.is_fully_drained(), self.is_over() && self.there() == 0);
                for (producer, &ring) in self.producers.iter().zip(&self.ring_of) {
                    let Some(producer) = producer else { continue };
                    let ring = &self.rings[ring];
                    assert_eq!(producer.len(), ring.len());
                    assert_eq!(producer.is_full(), ring.len() == self.capacity);
                    assert_eq!(producer.is_closed(), self.closed);
                }
            }
            _ => {}
        }
    }

    /// Takes turns one after the other. Where one of them awaits, some of those behind it come meanwhile.
    #[cfg_attr(
        not(feature = "async"),
        expect(clippy::while_let_on_iterator, reason = "those of tasks take turns, too")
    )]
    fn take(&mut self, turns: &mut dyn Iterator<Item = Turn>) {
        while let Some(Turn { who, step }) = turns.next() {
            match step {
                #[cfg(feature = "async")]
                Step::Await(patience) => self.await_message(patience, turns),
                #[cfg(feature = "async")]
                Step::AwaitRoom(patience) => self.await_room(who, patience, turns),
                step => self.step(who, step),
            }
            if let (Some(joining), Some(consumer)) = (&self.joining, &self.consumer) {
                assert_eq!((joining.rings)(consumer), self.rings.len(), "one for each at one time");
            }
        }
    }

    #[cfg(feature = "async")]
    fn await_message(&mut self, patience: Patience, turns: &mut dyn Iterator<Item = Turn>) {
        let Some(mut consumer) = self.consumer.take() else { return };
        let found = Polled::new(consumer.recv_async()).wait(
            patience,
            self,
            |model| model.there() > 0 || model.is_over(),
            |model| model.take(&mut turns.take(patience.steps)),
            |_, wakes, is_ready| assert_eq!(wakes, usize::from(is_ready)),
        );
        match found {
            Some(Ok(message)) => self.got(&message),
            Some(Err(_)) => assert!(self.there() == 0 && self.is_over()),
            None => {}
        }
        self.consumer = Some(consumer);
    }

    #[cfg(feature = "async")]
    fn await_room(&mut self, who: usize, patience: Patience, turns: &mut dyn Iterator<Item = Turn>) {
        let whose = who % self.producers.len();
        let ring = self.ring_of[whose];
        let number = self.number(ring);
        let Some(mut producer) = self.producers[whose].take() else { return };
        self.waiting += 1;
        let future = Box::pin(producer.send_async(Counted::new(number, &self.alive)));
        let found = Polled::new(future).wait(
            patience,
            self,
            |model| model.room(ring) > 0 || model.closed,
            |model| model.take(&mut turns.take(patience.steps)),
            |_, wakes, is_ready| assert_eq!(wakes, usize::from(is_ready)),
        );
        match found {
            Some(Ok(())) => self.rings[ring].push_back(number),
            Some(Err(SendError(back))) => assert!(self.closed && back.number == number),
            None => {}
        }
        self.waiting -= 1;
        self.producers[whose] = Some(producer);
    }

    /// Whether nothing will be sent any more.
    fn is_over(&self) -> bool {
        self.closed || (self.waiting == 0 && self.producers.iter().all(Option::is_none))
    }

    /// After `count` messages were dropped unseen: asks what is left, and checks that it is what each ring
    /// had at its end.
    fn resync(&mut self, consumer: &mut Consumer<Counted, K>, count: usize) {
        let got: Vec<_> = consumer.try_iter().collect();
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

    fn join(&mut self) {
        let Some(joining) = &self.joining else { return };
        let Some(producer) = self.producers.iter().flatten().next() else { return };
        match (joining.register)(producer) {
            Some(producer) => {
                assert!(!self.closed);
                self.producers.push(Some(producer));
                let ring = self.free.pop().unwrap_or_else(|| {
                    self.rings.push(VecDeque::new());
                    self.rings.len() - 1
                });
                self.ring_of.push(ring);
            }
            None => assert!(self.closed),
        }
    }

    fn leave(&mut self, whose: usize) {
        // Where nobody can join that would be the end, which comes anyway.
        if self.joining.is_some() {
            if self.producers[whose].take().is_some() {
                self.free.push(self.ring_of[whose]);
            }
            self.closed |= self.is_over();
        }
    }

    fn end(self) {
        drop(self.consumer);
        drop(self.producers);
        assert_eq!(self.alive.load(Ordering::Relaxed), 0, "a message was not dropped");
    }
}

/// Takes `turns` with a new queue; where several may send, `joining` is how they join.
pub(crate) fn run<K: InPlace + QueueKind>(
    settings: Settings,
    joining: Option<Joining<K>>,
    turns: impl IntoIterator<Item = Turn>,
) {
    let mut model = Model::new(settings, joining);
    model.take(&mut turns.into_iter());
    model.end();
}

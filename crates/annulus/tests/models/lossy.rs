//! What a lossy ring must do: a `VecDeque` of what stands in it, and a counter for what was lost.
//!
//! Publishing, batches, joins and every receiving verb, on one thread. The model knows exactly what must
//! come, so there is no tolerance anywhere.

#![allow(clippy::cast_precision_loss, reason = "counts here are small")]

use std::collections::VecDeque;

use annulus::LossyTryRecvError;
use annulus::broadcast::{MpPublisher, Publisher, Subscribable, Subscriber};

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Publish,
    PublishWith,
    PublishBatch(usize),
    TryRecv,
    RecvBatch(usize),
    TryIter(usize),
    Latest,
    SkipToLatest,
    Subscribe,
    SubscribeFromOldest,
    CloneSubscriber,
    // Where there may be many.
    AnotherPublisher,
    NextPublisher,
}

/// Any four bytes are a step.
impl From<[u8; 4]> for Step {
    fn from([kind, count, ..]: [u8; 4]) -> Self {
        let count = usize::from(count);
        match kind % 35 {
            0..8 => Self::Publish,
            8..10 => Self::PublishWith,
            10..12 => Self::PublishBatch(count),
            12..24 => Self::TryRecv,
            24..26 => Self::RecvBatch(count % 40),
            26 => Self::TryIter(count % 40),
            27 => Self::Latest,
            28 => Self::SkipToLatest,
            29 => Self::Subscribe,
            30 => Self::SubscribeFromOldest,
            31 => Self::CloneSubscriber,
            32 => Self::AnotherPublisher,
            _ => Self::NextPublisher,
        }
    }
}

/// Messages are told from their sequence.
pub(crate) fn message(sequence: u64) -> u64 {
    sequence.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// What must stand in the ring: the latest `capacity` messages, and how many came in all.
struct Model {
    capacity: usize,
    standing: VecDeque<u64>,
    published: u64,
}

impl Model {
    fn publish(&mut self) -> u64 {
        let value = message(self.published);
        self.standing.push_back(value);
        self.published += 1;
        if self.standing.len() > self.capacity {
            self.standing.pop_front();
        }
        value
    }

    fn oldest(&self) -> u64 {
        self.published - self.standing.len() as u64
    }

    fn at(&self, sequence: u64) -> u64 {
        self.standing[(sequence - self.oldest()) as usize]
    }
}

/// What one subscriber must see, beside the real one.
struct Reader {
    real: Subscriber<u64>,
    cursor: u64,
    received: u64,
    lagged: u64,
    /// Where it went on after its last lag, and how far from the edge that was.
    recovery: Option<(u64, u64)>,
}

impl Reader {
    fn new(real: Subscriber<u64>, cursor: u64) -> Self {
        Self { real, cursor, received: 0, lagged: 0, recovery: None }
    }

    /// Where it goes on and how far from the edge that is, by the documented rule for a subscriber that was
    /// lapped, if it was.
    fn resume(&self, model: &Model) -> Option<(u64, u64)> {
        if self.cursor >= model.oldest() {
            return None;
        }
        let half = model.capacity as u64 / 2;
        let margin = match self.recovery {
            Some((resumed, margin)) if self.cursor - resumed < half => {
                (2 * margin).max(half / 32).clamp(1, half)
            }
            _ => 0,
        };
        Some((model.oldest() + margin, margin))
    }

    /// Applies that rule; how many messages it costs, or none.
    fn recover(&mut self, model: &Model) -> Option<u64> {
        let (resume, margin) = self.resume(model)?;
        let skipped = resume - self.cursor;
        self.recovery = Some((resume, margin));
        self.lagged += skipped;
        self.cursor = resume;
        Some(skipped)
    }

    /// The next message for a verb that goes on after a lag.
    fn next(&mut self, model: &Model) -> Option<u64> {
        self.recover(model);
        (self.cursor < model.published).then(|| {
            self.received += 1;
            self.cursor += 1;
            model.at(self.cursor - 1)
        })
    }

    fn try_recv(&mut self, model: &Model) -> Result<u64, LossyTryRecvError> {
        if let Some(skipped) = self.recover(model) {
            return Err(LossyTryRecvError::Lagged { skipped });
        }
        self.next(model).ok_or(LossyTryRecvError::Empty)
    }

    fn skip_to_latest(&mut self, model: &Model) -> u64 {
        let skipped = model.published.saturating_sub(1).saturating_sub(self.cursor);
        self.cursor += skipped;
        self.lagged += skipped;
        skipped
    }

    fn apply(&mut self, step: &Step, model: &Model) {
        match *step {
            Step::TryRecv => assert_eq!(self.real.try_recv(), self.try_recv(model)),
            Step::RecvBatch(length) => {
                let expected: Vec<u64> = (0..length).map_while(|_| self.next(model)).collect();
                let mut buffer = vec![0; length];
                let count = self.real.try_recv_batch(&mut buffer);
                assert_eq!(buffer[..count], expected);
                assert!(buffer[count..].iter().all(|&left| left == 0), "wrote behind its count");
            }
            Step::TryIter(most) => {
                let expected: Vec<u64> = (0..most).map_while(|_| self.next(model)).collect();
                assert_eq!(self.real.try_iter().take(most).collect::<Vec<_>>(), expected);
            }
            Step::Latest => {
                let any = self.cursor < model.published;
                self.skip_to_latest(model);
                let expected = any.then(|| self.next(model).unwrap());
                assert_eq!(self.real.latest(), expected);
            }
            Step::SkipToLatest => assert_eq!(self.real.skip_to_latest(), self.skip_to_latest(model)),
            _ => {}
        }
        self.check(model);
    }

    fn check(&self, model: &Model) {
        assert_eq!(self.real.cursor(), self.cursor);
        assert_eq!(self.real.total_received(), self.received);
        assert_eq!(self.real.total_lagged(), self.lagged);
        let next = self.resume(model).map_or(self.cursor, |(resume, _)| resume);
        assert_eq!(self.real.len() as u64, model.published - next);
        let passed = self.received + self.lagged;
        let ratio = if passed == 0 { 1.0 } else { self.received as f64 / passed as f64 };
        assert!((self.real.receive_ratio() - ratio).abs() < 1e-12);
    }
}

/// What publishes, alone or beside others.
pub(crate) trait Publish: Sized {
    fn publish(&mut self, message: u64);
    fn publish_with(&mut self, make: impl FnOnce() -> u64);
    fn publish_batch(&mut self, messages: &[u64]);
    fn published(&self) -> u64;
    /// `None` where there can only be one.
    fn another(&self) -> Option<Self>;
}

macro_rules! publish {
    ($publisher:ty, |$original:ident| $another:expr) => {
        impl Publish for $publisher {
            fn publish(&mut self, message: u64) {
                (*self).publish(message);
            }

            fn publish_with(&mut self, make: impl FnOnce() -> u64) {
                (*self).publish_with(make);
            }

            fn publish_batch(&mut self, messages: &[u64]) {
                (*self).publish_batch(messages);
            }

            fn published(&self) -> u64 {
                self.published()
            }

            fn another(&self) -> Option<Self> {
                let $original = self;
                $another
            }
        }
    };
}

publish!(Publisher<u64>, |_none| None);
publish!(MpPublisher<u64>, |publisher| Some(publisher.clone()));

/// The first of `publishers` publishes; those beside it must agree on how much that was.
fn publish<P: Publish>(step: &Step, model: &mut Model, publishers: &mut VecDeque<P>) {
    match *step {
        Step::Publish => publishers[0].publish(model.publish()),
        Step::PublishWith => publishers[0].publish_with(|| model.publish()),
        Step::PublishBatch(length) => {
            let batch: Vec<u64> = (0..length).map(|_| model.publish()).collect();
            publishers[0].publish_batch(&batch);
        }
        Step::AnotherPublisher => {
            publishers.extend(publishers[0].another());
            publishers.truncate(3);
        }
        Step::NextPublisher => publishers.rotate_left(1),
        _ => {}
    }
    assert!(publishers.iter().all(|publisher| publisher.published() == model.published));
}

fn join(step: &Step, model: &Model, subscribable: &Subscribable<u64>, readers: &mut Vec<Reader>) {
    match step {
        Step::Subscribe => readers.push(Reader::new(subscribable.subscribe(), model.published)),
        Step::SubscribeFromOldest => {
            readers.push(Reader::new(subscribable.subscribe_from_oldest(), model.oldest()));
        }
        Step::CloneSubscriber => {
            let clone = Reader::new(readers[0].real.clone(), readers[0].cursor);
            readers.push(clone);
        }
        _ => {}
    }
    if readers.len() > 4 {
        readers.remove(1);
    }
}

/// Takes `steps` on a new ring of `capacity`, and receives what is left at its end.
pub(crate) fn run<P: Publish>(
    (publisher, subscribable): (P, Subscribable<u64>),
    capacity: usize,
    steps: &[Step],
) {
    let mut publishers = VecDeque::from([publisher]);
    let mut model = Model { capacity, standing: VecDeque::new(), published: 0 };
    let mut readers = vec![Reader::new(subscribable.subscribe(), 0)];
    for step in steps {
        publish(step, &mut model, &mut publishers);
        join(step, &model, &subscribable, &mut readers);
        for reader in &mut readers {
            reader.apply(step, &model);
        }
    }
    drop(publishers);
    for mut reader in readers {
        let rest: Vec<u64> = std::iter::from_fn(|| reader.next(&model)).collect();
        assert_eq!(reader.real.iter().collect::<Vec<_>>(), rest);
        assert_eq!(reader.real.try_recv(), Err(LossyTryRecvError::Closed));
        reader.check(&model);
    }
}

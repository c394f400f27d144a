//! A plain model of a ring of records, and the steps in which a ring is compared with it. The model knows
//! exactly what must come, so there is no tolerance anywhere.

use annulus::broadcast::bytes::{self, Subscriber};
use annulus::{LossyTryRecvError, TryRecvError};

use super::records::record;

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Publish(usize),
    TryRecv,
    Recv,
    Subscribe,
    SubscribeFromOldest,
    CloneSubscriber,
}

/// Any three bytes are a step. Half of the records are short.
impl From<[u8; 3]> for Step {
    fn from([kind, long, short]: [u8; 3]) -> Self {
        match kind % 32 {
            0..6 => Self::Publish(usize::from(short % 32)),
            6..12 => Self::Publish(usize::from(short) + 256 * usize::from(long)),
            12..24 => Self::TryRecv,
            24..29 => Self::Recv,
            29 => Self::Subscribe,
            30 => Self::SubscribeFromOldest,
            _ => Self::CloneSubscriber,
        }
    }
}

/// What must be in the ring.
struct Model {
    /// In words.
    capacity: u64,
    places: u64,
    /// Where each record begins, in words, and its length in bytes.
    records: Vec<(u64, usize)>,
    next: u64,
    /// The first word that stands.
    overwritten: u64,
}

impl Model {
    fn publish(&mut self, length: usize) {
        let end = self.next + length.div_ceil(8) as u64;
        if end - self.overwritten > self.capacity {
            let newest = self.records.last().map_or(0, |&(start, _)| start);
            self.overwritten = (end - self.capacity + self.capacity / 16).min(newest);
        }
        self.records.push((self.next, length));
        self.next = end;
    }

    fn published(&self) -> u64 {
        self.records.len() as u64
    }

    fn oldest(&self) -> u64 {
        let by_place = self.published().saturating_sub(self.places);
        by_place.max(self.records.partition_point(|&(start, _)| start < self.overwritten) as u64)
    }
}

/// A subscriber, and what it must say of itself.
struct Reader {
    real: Subscriber,
    buffer: Vec<u8>,
    cursor: u64,
    received: u64,
    lagged: u64,
    /// Where it went on after its last lag, and how far from the edge that was.
    recovery: Option<(u64, u64)>,
}

impl Reader {
    fn new(real: Subscriber, cursor: u64) -> Self {
        Self { real, buffer: Vec::new(), cursor, received: 0, lagged: 0, recovery: None }
    }

    /// Where it goes on by the documented rule, and how far from the edge, if it was lapped.
    fn resume(&self, model: &Model) -> Option<(u64, u64)> {
        let oldest = model.oldest();
        if self.cursor >= oldest {
            return None;
        }
        let half = (model.published() - oldest) / 2;
        let margin = match self.recovery {
            Some((resumed, margin)) if self.cursor - resumed < half => {
                (2 * margin).max(half / 32).clamp(1, half)
            }
            _ => 0,
        };
        Some(((oldest + margin).min(model.published()), margin))
    }

    fn recover(&mut self, model: &Model) -> Option<u64> {
        let (resume, margin) = self.resume(model)?;
        let skipped = resume - self.cursor;
        self.recovery = Some((resume, margin));
        self.lagged += skipped;
        self.cursor = resume;
        Some(skipped)
    }

    /// The result that a receive must have if nothing is lost, with the record in the buffer.
    fn expect(&mut self, model: &Model, result: Result<usize, LossyTryRecvError>) {
        let Some(&(_, length)) = model.records.get(self.cursor as usize) else {
            assert_eq!(result, Err(LossyTryRecvError::Empty));
            return;
        };
        assert_eq!(result, Ok(length), "record {}", self.cursor);
        assert!(self.buffer == record(self.cursor, length), "record {} of {length} bytes", self.cursor);
        self.cursor += 1;
        self.received += 1;
    }

    fn try_recv(&mut self, model: &Model) {
        // One of the two verbs, and the other one.
        if self.received % 2 == 0 {
            let result = self.real.try_recv_or_lag(&mut self.buffer);
            match self.recover(model) {
                Some(skipped) => assert_eq!(result, Err(LossyTryRecvError::Lagged { skipped })),
                None => self.expect(model, result),
            }
        } else {
            let result = self.real.try_recv(&mut self.buffer);
            self.recover(model);
            self.expect(model, result.map_err(Into::into));
        }
    }

    /// Receives by a verb that waits, and goes on after a lag, if that takes no waiting.
    fn recv(&mut self, model: &Model) {
        let next = self.resume(model).map_or(self.cursor, |(resume, _)| resume);
        if next < model.published() {
            let result = self.real.recv(&mut self.buffer);
            self.recover(model);
            self.expect(model, result.map_err(Into::into));
        }
    }

    fn check(&self, model: &Model) {
        let real = &self.real;
        assert_eq!(real.cursor(), self.cursor);
        assert_eq!((real.total_received(), real.total_lagged()), (self.received, self.lagged));
        let next = self.resume(model).map_or(self.cursor, |(resume, _)| resume);
        assert_eq!(real.len() as u64, model.published() - next);
    }
}

/// Takes the steps in a ring of so many bytes, and in the model.
pub(crate) fn run(capacity: usize, steps: &[Step]) {
    let (mut publisher, subscribable) = bytes::lossy(capacity);
    let mut model = Model {
        capacity: publisher.capacity() as u64 / 8,
        places: publisher.max_records() as u64,
        records: Vec::new(),
        next: 0,
        overwritten: 0,
    };
    let mut readers = vec![Reader::new(subscribable.subscribe(), 0)];
    let mut turn = 0;
    for step in steps {
        turn += 1;
        let at = turn % readers.len();
        match step {
            Step::Publish(length) => {
                let length = length % (publisher.max_len() + 1);
                publisher.publish(&record(model.published(), length)).unwrap();
                model.publish(length);
                assert_eq!(publisher.published(), model.published());
            }
            Step::TryRecv => readers[at].try_recv(&model),
            Step::Recv => readers[at].recv(&model),
            Step::Subscribe => readers.push(Reader::new(subscribable.subscribe(), model.published())),
            Step::SubscribeFromOldest => {
                readers.push(Reader::new(subscribable.subscribe_from_oldest(), model.oldest()));
            }
            Step::CloneSubscriber => {
                let reader = Reader::new(readers[at].real.clone(), readers[at].cursor);
                readers.push(reader);
            }
        }
        for reader in &readers {
            reader.check(&model);
        }
        readers.truncate(5);
    }
    drop(publisher);
    for mut reader in readers {
        while reader.cursor < model.published() {
            reader.try_recv(&model);
        }
        assert_eq!(reader.real.try_recv(&mut reader.buffer), Err(TryRecvError::Closed));
        reader.check(&model);
    }
}

//! Every lossless ring: each message is a number of its own, a reader is a cursor, and the ring is full when
//! the slowest of them is `capacity − headroom` behind. A task that awaits is woken as soon as there is a
//! message, or room.

use std::collections::VecDeque;

use annulus::Settings;
use annulus::TrySendError;

use crate::rings::{Got, Publish, Receive, Ring};
use crate::support::polled::Patience;
#[cfg(feature = "async")]
use crate::support::polled::Polled;

/// Which reader a step is about is its number, modulo how many there are; the same for verbs.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "async"), allow(dead_code, reason = "nobody awaits"))]
pub(crate) enum Step {
    TryPublish,
    /// As many as there is room for, up to this many.
    PublishBatch(usize),
    Receive(usize, usize),
    Join,
    JoinOldest,
    Fork(usize),
    Leave(usize),
    /// In a task; the next steps are taken while it waits.
    Await(usize, Patience),
    AwaitRoom(Patience),
    // Where many may publish.
    AnotherPublisher,
    NextPublisher,
}

/// Any four bytes are a step.
impl From<[u8; 4]> for Step {
    fn from([kind, which, verb, patience]: [u8; 4]) -> Self {
        let (which, verb, patience) = (usize::from(which), usize::from(verb), Patience::from(patience));
        match kind % 34 {
            0..7 => Self::TryPublish,
            7 => Self::AwaitRoom(patience),
            8..11 => Self::PublishBatch(which % 100),
            11..25 => Self::Receive(which, verb),
            25..27 => Self::Await(which, patience),
            27 => Self::Join,
            28 => Self::JoinOldest,
            29 => Self::Fork(which),
            30 => Self::Leave(which),
            31 => Self::AnotherPublisher,
            _ => Self::NextPublisher,
        }
    }
}

struct Reader<S> {
    real: S,
    start: u64,
    cursor: u64,
}

struct Model<R: Ring> {
    room: u64,
    /// The first of them publishes.
    publishers: VecDeque<R::Publisher>,
    source: R::Source,
    /// What was published, in order.
    log: Vec<u64>,
    /// The number of the next message.
    next: u64,
    readers: Vec<Reader<R::Subscriber>>,
    /// The cursors of those that await.
    waiting: Vec<u64>,
}

impl<R: Ring> Model<R> {
    fn published(&self) -> u64 {
        self.log.len() as u64
    }

    fn behind(&self) -> u64 {
        let cursors = self.readers.iter().map(|reader| reader.cursor).chain(self.waiting.iter().copied());
        cursors.map(|cursor| self.published() - cursor).max().unwrap_or(0)
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn try_publish(&mut self) {
        let (behind, number) = (self.behind(), self.number());
        let Some(publisher) = self.publishers.front_mut() else { return };
        match publisher.try_publish(number) {
            Ok(()) => {
                assert!(behind < self.room, "overtook a reader that is {behind} behind");
                self.log.push(number);
            }
            Err(error) => {
                assert_eq!(error, TrySendError::Full(()));
                assert!(behind >= self.room, "full, and the slowest is {behind} behind");
            }
        }
    }

    /// Takes steps one after the other. Where one of them awaits, some of those behind it come meanwhile.
    fn take(&mut self, mut steps: &[Step]) {
        while let Some((step, rest)) = steps.split_first() {
            steps = rest;
            #[cfg(feature = "async")]
            if let Step::Await(_, patience) | Step::AwaitRoom(patience) = *step {
                let (meanwhile, rest) = rest.split_at(patience.steps.min(rest.len()));
                steps = rest;
                match *step {
                    Step::Await(reader, _) if !self.readers.is_empty() => {
                        self.await_message(reader % self.readers.len(), patience, meanwhile);
                    }
                    Step::AwaitRoom(_) if !self.publishers.is_empty() => self.await_room(patience, meanwhile),
                    _ => self.take(meanwhile),
                }
                continue;
            }
            self.apply(step);
        }
    }

    #[cfg(feature = "async")]
    fn await_message(&mut self, reader: usize, patience: Patience, meanwhile: &[Step]) {
        let mut reader = self.readers.swap_remove(reader);
        let cursor = reader.cursor;
        self.waiting.push(cursor);
        let found = Polled::new(reader.real.recv_async()).wait(
            patience,
            self,
            |model| model.published() > cursor,
            |model| model.take(meanwhile),
            |_, wakes, is_there| assert_eq!(wakes, usize::from(is_there)),
        );
        self.waiting.pop();
        if let Some(message) = found {
            assert_eq!(message, Ok(self.log[cursor as usize]));
            reader.cursor += 1;
        }
        self.readers.push(reader);
        self.check();
    }

    #[cfg(feature = "async")]
    fn await_room(&mut self, patience: Patience, meanwhile: &[Step]) {
        let number = self.number();
        let Some(mut publisher) = self.publishers.pop_front() else { return };
        let found = Polled::new(publisher.publish_async(number)).wait(
            patience,
            self,
            |model| model.behind() < model.room,
            |model| model.take(meanwhile),
            // Each receive may wake it, also of one that is not the slowest.
            |_, wakes, is_room| assert!(wakes <= 1 && (wakes == 1 || !is_room)),
        );
        if let Some(published) = found {
            assert_eq!(published, Ok(()));
            self.log.push(number);
        }
        self.publishers.push_front(publisher);
        self.check();
    }

    fn apply(&mut self, step: &Step) {
        let count = self.readers.len();
        match *step {
            Step::TryPublish => self.try_publish(),
            Step::PublishBatch(most) => {
                let free = self.room.saturating_sub(self.behind());
                let numbers: Vec<_> = (0..free.min(most as u64)).map(|_| self.number()).collect();
                if let Some(publisher) = self.publishers.front_mut() {
                    publisher.publish_batch(&numbers).unwrap();
                    self.log.extend(numbers);
                }
            }
            Step::Receive(reader, verb) if count > 0 => self.receive(reader % count, verb),
            Step::Join => {
                let (real, cursor) = (R::subscribe(&self.source), self.published());
                assert_eq!(real.cursor(), cursor);
                self.readers.push(Reader { real, start: cursor, cursor });
            }
            Step::JoinOldest => {
                if let Some(real) = R::from_oldest(&self.source) {
                    let start = real.cursor();
                    let found = self.published() - start;
                    assert!(found <= self.room, "further behind than anybody may be");
                    // Of one message a half is none.
                    let promised = if self.room == 1 { 0 } else { self.room.div_ceil(2) };
                    assert!(found >= self.published().min(promised), "less than is promised");
                    self.readers.push(Reader { real, start, cursor: start });
                }
            }
            Step::Fork(reader) if count > 0 => {
                let Reader { real, cursor, .. } = &self.readers[reader % count];
                let cursor = *cursor;
                if let Some(real) = real.fork() {
                    self.readers.push(Reader { real, start: cursor, cursor });
                }
            }
            Step::Leave(reader) if count > 0 => drop(self.readers.swap_remove(reader % count)),
            Step::AnotherPublisher => {
                self.publishers.extend(self.publishers.front().and_then(Publish::another));
                self.publishers.truncate(3);
            }
            Step::NextPublisher => self.publishers.rotate_left(1.min(self.publishers.len())),
            Step::Receive(..) | Step::Fork(_) | Step::Leave(_) | Step::Await(..) | Step::AwaitRoom(_) => {}
        }
        if self.readers.len() > 5 {
            self.readers.remove(0);
        }
        self.check();
    }

    fn receive(&mut self, reader: usize, verb: usize) {
        let published = self.published();
        let Reader { real, cursor, .. } = &mut self.readers[reader];
        let verbs = R::Subscriber::verbs();
        let verb = &verbs[verb % verbs.len()];
        let left = published - *cursor;
        if verb.waits && left == 0 {
            return;
        }
        match (verb.ask)(real) {
            Got::Messages(messages) => {
                let end = *cursor + messages.len() as u64;
                assert!(end <= published, "{}", verb.name);
                assert_eq!(messages, self.log[*cursor as usize..end as usize], "{}", verb.name);
                *cursor = end;
            }
            got => assert_eq!((got, left), (Got::Nothing, 0), "{}", verb.name),
        }
    }

    fn check(&self) {
        assert!(self.publishers.iter().all(|publisher| publisher.published() == self.published()));
        for Reader { real, start, cursor, .. } in &self.readers {
            assert_eq!((real.cursor(), real.received(), real.lagged()), (*cursor, cursor - start, 0));
            assert_eq!(real.len() as u64, self.published() - cursor);
        }
    }
}

/// Takes `steps` on a new ring, and receives what is left at its end.
pub(crate) fn run<R: Ring>(capacity: usize, headroom: usize, steps: &[Step]) {
    let (publisher, source) = R::make(Settings::new(capacity).headroom(headroom)).unwrap();
    let mut model: Model<R> = Model {
        room: (capacity - headroom) as u64,
        publishers: VecDeque::from([publisher]),
        source,
        log: Vec::new(),
        next: 0,
        readers: Vec::new(),
        waiting: Vec::new(),
    };
    model.take(steps);
    let Model { publishers, readers, log, .. } = model;
    drop(publishers);
    for Reader { mut real, cursor, .. } in readers {
        for &number in &log[cursor as usize..] {
            assert_eq!(real.recv(), Ok(number));
        }
        assert!(real.recv().is_err());
    }
}

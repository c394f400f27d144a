//! Every lossless ring: message `n` is the number n, a reader is a cursor, and the ring is full when the
//! slowest of them is `capacity − headroom` behind.

use std::collections::VecDeque;

use annulus::TryPublishError;
use annulus::broadcast::Builder;

use crate::rings::{Got, Publish, Receive, Ring};

/// Which reader a step is about is its number, modulo how many there are; the same for verbs.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    TryPublish,
    /// As many as there is room for, up to this many.
    PublishBatch(usize),
    Receive(usize, usize),
    Join,
    JoinOldest,
    Fork(usize),
    Leave(usize),
    // Where many may publish.
    AnotherPublisher,
    NextPublisher,
}

/// Any four bytes are a step.
impl From<[u8; 4]> for Step {
    fn from([kind, which, verb, _]: [u8; 4]) -> Self {
        let (which, verb) = (usize::from(which), usize::from(verb));
        match kind % 34 {
            0..8 => Self::TryPublish,
            8..11 => Self::PublishBatch(which % 100),
            11..27 => Self::Receive(which, verb),
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
    published: u64,
    readers: Vec<Reader<R::Subscriber>>,
}

impl<R: Ring> Model<R> {
    fn behind(&self) -> u64 {
        self.readers.iter().map(|reader| self.published - reader.cursor).max().unwrap_or(0)
    }

    fn try_publish(&mut self) -> bool {
        let behind = self.behind();
        match self.publishers[0].try_publish(self.published) {
            Ok(()) => {
                assert!(behind < self.room, "overtook a reader that is {behind} behind");
                self.published += 1;
                true
            }
            Err(error) => {
                assert_eq!(error, TryPublishError::Full(()));
                assert!(behind >= self.room, "full, and the slowest is {behind} behind");
                false
            }
        }
    }

    fn apply(&mut self, step: &Step) {
        let count = self.readers.len();
        match *step {
            Step::TryPublish => _ = self.try_publish(),
            Step::PublishBatch(most) => {
                let free = self.room.saturating_sub(self.behind());
                let end = self.published + free.min(most as u64);
                self.publishers[0].publish_batch(&(self.published..end).collect::<Vec<_>>()).unwrap();
                self.published = end;
            }
            Step::Receive(reader, verb) if count > 0 => self.receive(reader % count, verb),
            Step::Join => {
                let real = R::subscribe(&self.source);
                assert_eq!(real.cursor(), self.published);
                self.readers.push(Reader { real, start: self.published, cursor: self.published });
            }
            Step::JoinOldest => {
                if let Some(real) = R::from_oldest(&self.source) {
                    let start = real.cursor();
                    let found = self.published - start;
                    assert!(found <= self.room, "further behind than anybody may be");
                    // Of one message a half is none.
                    let promised = if self.room == 1 { 0 } else { self.room.div_ceil(2) };
                    assert!(found >= self.published.min(promised), "less than is promised");
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
                self.publishers.extend(self.publishers[0].another());
                self.publishers.truncate(3);
            }
            Step::NextPublisher => self.publishers.rotate_left(1),
            Step::Receive(..) | Step::Fork(_) | Step::Leave(_) => {}
        }
        if self.readers.len() > 5 {
            self.readers.remove(0);
        }
        self.check();
    }

    fn receive(&mut self, reader: usize, verb: usize) {
        let Reader { real, cursor, .. } = &mut self.readers[reader];
        let verbs = R::Subscriber::verbs();
        let verb = &verbs[verb % verbs.len()];
        let left = self.published - *cursor;
        if verb.waits && left == 0 {
            return;
        }
        match (verb.ask)(real) {
            Got::Messages(messages) => {
                let end = *cursor + messages.len() as u64;
                assert_eq!(messages, (*cursor..end).collect::<Vec<_>>(), "{}", verb.name);
                assert!(end <= self.published, "{}", verb.name);
                *cursor = end;
            }
            got => assert_eq!((got, left), (Got::Nothing, 0), "{}", verb.name),
        }
    }

    fn check(&self) {
        assert!(self.publishers.iter().all(|publisher| publisher.published() == self.published));
        for Reader { real, start, cursor, .. } in &self.readers {
            assert_eq!((real.cursor(), real.received(), real.lagged()), (*cursor, cursor - start, 0));
            assert_eq!(real.len() as u64, self.published - cursor);
        }
    }
}

/// Takes `steps` on a new ring, and receives what is left at its end.
pub(crate) fn run<R: Ring>(capacity: usize, headroom: usize, steps: &[Step]) {
    let (publisher, source) = R::make(Builder::new(capacity).headroom(headroom)).unwrap();
    let mut model: Model<R> = Model {
        room: (capacity - headroom) as u64,
        publishers: VecDeque::from([publisher]),
        source,
        published: 0,
        readers: Vec::new(),
    };
    for step in steps {
        model.apply(step);
    }
    let Model { publishers, readers, published, .. } = model;
    drop(publishers);
    for Reader { mut real, cursor, .. } in readers {
        (cursor..published).for_each(|number| assert_eq!(real.recv(), Ok(number)));
        assert!(real.recv().is_err());
    }
}

//! Every lossless ring: message `n` is the number n, a reader is a cursor, and the ring is full when the slowest of them is
//! `capacity − watermark` behind.

use annulus::{Builder, TryPublishError};
use proptest::prelude::*;

use super::random_cases;
use crate::rings::{Got, Publish, Receive, Ring};

/// Which reader a step is about is its number, modulo how many there are; the same for verbs.
#[derive(Clone, Debug)]
enum Step {
    TryPublish,
    /// As many as there is room for, up to this many.
    PublishBatch(usize),
    Receive(usize, usize),
    Join,
    JoinOldest,
    Fork(usize),
    Leave(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => Just(Step::TryPublish),
        3 => (0_usize..100).prop_map(Step::PublishBatch),
        16 => (any::<usize>(), any::<usize>()).prop_map(|(reader, verb)| Step::Receive(reader, verb)),
        1 => Just(Step::Join),
        1 => Just(Step::JoinOldest),
        1 => any::<usize>().prop_map(Step::Fork),
        1 => any::<usize>().prop_map(Step::Leave),
    ]
}

struct Reader<S> {
    real: S,
    start: u64,
    cursor: u64,
    /// It began behind the others. With a watermark, publishers may then go on to a limit that they were granted before.
    from_oldest: bool,
}

struct Model<R: Ring> {
    capacity: u64,
    room: u64,
    publisher: R::Publisher,
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
        let granted = behind < self.capacity && self.readers.iter().any(|reader| reader.from_oldest);
        match self.publisher.try_publish(self.published) {
            Ok(()) => {
                assert!(behind < self.room || granted, "overtook a reader that is {behind} behind");
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
                self.publisher.publish_batch(&(self.published..end).collect::<Vec<_>>()).unwrap();
                self.published = end;
            }
            Step::Receive(reader, verb) if count > 0 => self.receive(reader % count, verb),
            Step::Join => {
                let real = R::subscribe(&self.source);
                assert_eq!(real.cursor(), self.published);
                self.readers.push(Reader {
                    real,
                    start: self.published,
                    cursor: self.published,
                    from_oldest: false,
                });
            }
            Step::JoinOldest => {
                if let Some(real) = R::from_oldest(&self.source) {
                    let start = real.cursor();
                    let found = self.published - start;
                    assert!(found <= self.capacity);
                    assert!(found >= self.published.min(self.room.div_ceil(2)), "less than is promised");
                    self.readers.push(Reader { real, start, cursor: start, from_oldest: true });
                }
            }
            Step::Fork(reader) if count > 0 => {
                let Reader { real, cursor, from_oldest, .. } = &self.readers[reader % count];
                let (cursor, from_oldest) = (*cursor, *from_oldest);
                if let Some(real) = real.fork() {
                    self.readers.push(Reader { real, start: cursor, cursor, from_oldest });
                }
            }
            Step::Leave(reader) if count > 0 => drop(self.readers.swap_remove(reader % count)),
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
        assert_eq!(self.publisher.published(), self.published);
        for Reader { real, start, cursor, .. } in &self.readers {
            assert_eq!((real.cursor(), real.received(), real.lagged()), (*cursor, cursor - start, 0));
            assert_eq!(real.pending(), self.published - cursor);
        }
    }
}

pub(crate) fn agrees_with_its_model<R: Ring>() {
    if !R::LOSSLESS {
        return;
    }
    random_cases(step(), |capacity, watermark, steps| {
        let (publisher, source) = R::make(Builder::new(capacity).watermark(watermark)).unwrap();
        let room = (capacity - watermark) as u64;
        let readers = Vec::new();
        let mut model: Model<R> =
            Model { capacity: capacity as u64, room, publisher, source, published: 0, readers };
        for step in steps {
            model.apply(step);
        }
        let Model { publisher, readers, published, .. } = model;
        drop(publisher);
        for Reader { mut real, cursor, .. } in readers {
            (cursor..published).for_each(|number| assert_eq!(real.recv(), Ok(number)));
            assert!(real.recv().is_err());
        }
    });
}

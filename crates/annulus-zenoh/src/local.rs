//! [`Source`] and [`Sink`]: the ends of rings of this machine, whose messages are known by their size only.

use std::time::Duration;

use annulus::broadcast::{Builder, Lossless, Mode, Publisher, Subscriber};
use annulus::shm::blocks::{self, Block, MessageType, classes};
use annulus::shm::{Invitation, RingInfo, ShmKind};
use annulus::{PublishTimeoutError, RecvTimeoutError, WaitStrategy};

use crate::description::Refused;

/// A lossless ring that comes in has so many seats for subscribers.
const SEATS: usize = 64;

/// How long a publisher waits without a look whether it is to stop.
const PATIENCE: Duration = Duration::from_millis(20);

/// Reads messages of a ring that another process publishes.
pub(crate) trait Source: Send {
    /// Begins with the oldest message that can be had, and returns its number. The publisher of a lossless
    /// ring that is read as such waits from here on.
    fn join(&mut self) -> Result<u64, Refused>;

    /// Nobody wants messages at the moment. No publisher waits from here on. Whether it has to
    /// [join](Self::join) again.
    fn leave(&mut self) -> bool;

    /// Appends messages that follow each other to `batch`: one for which it waits that long at most, and
    /// those that are there then, up to `most` bytes in all. Has joined.
    fn gather(&mut self, batch: &mut Vec<u8>, most: usize, patience: Duration) -> Gathered;

    /// The number of the next message. Has joined.
    fn next(&self) -> u64;

    /// Whether the ring has ended, and nothing is left.
    fn is_closed(&self) -> bool;
}

/// What was gathered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gathered {
    /// Messages that follow each other: from this number on, and before that one.
    Messages { first: u64, end: u64 },
    /// None came.
    Nothing,
    /// None will come.
    Closed,
}

/// Publishes messages under their numbers.
pub(crate) trait Sink: Send {
    /// Publishes the messages behind each other, as long as `goes_on`. A lossy ring waits for nobody.
    fn put(&mut self, messages: &[u8], goes_on: &dyn Fn() -> bool);

    /// Leaves out the numbers before this one. How many; `None` if the ring can't do that.
    fn skip_to(&mut self, next: u64) -> Option<u64>;

    /// The number of the next message.
    fn next(&self) -> u64;

    /// Waits until the ring has so many subscribers, as long as `goes_on`.
    fn await_subscribers(&self, count: usize, goes_on: &dyn Fn() -> bool);
}

/// What its messages are.
pub(crate) fn message_type(info: &RingInfo) -> Result<MessageType, Refused> {
    let schema = info.schema().map_err(|error| error.to_string())?;
    let (bytes, alignment) = (info.payload_bytes(), info.payload_alignment());
    Ok(schema.map_or_else(
        || MessageType::of_bytes(bytes, alignment),
        |schema| MessageType::described(schema, alignment),
    ))
}

/// Reads this ring, of which there is a description. With `is_awaited` the publisher of a lossless one waits.
pub(crate) fn source(
    invitation: &Invitation,
    info: &RingInfo,
    is_awaited: bool,
) -> Result<Box<dyn Source>, Refused> {
    let (of, strategy) = (message_type(info)?, WaitStrategy::default());
    let (of, bytes) = (&of, of.bytes());
    let source = classes!(bytes, WORDS, LARGE => if info.kind() == ShmKind::Lossless {
        blocks::accept_lossless::<WORDS, LARGE>(invitation, of, strategy).map(|ring| {
            let lossy = blocks::subscribable_of(&ring).clone();
            if is_awaited {
                let join = move || ring.subscribe_from_oldest().map_err(|error| error.to_string());
                reading(bytes, true, join, move || lossy.is_closed())
            } else {
                let join = move || Ok(lossy.subscribe_from_oldest());
                reading(bytes, false, join, move || ring.is_closed())
            }
        })
    } else {
        blocks::accept::<WORDS, LARGE>(invitation, of, strategy).map(|ring| {
            let ended = ring.clone();
            let join = move || Ok(ring.subscribable().subscribe_from_oldest());
            reading(bytes, false, join, move || ended.subscribable().is_closed())
        })
    });
    source.expect("a description was made of it").map_err(|error| error.to_string())
}

/// A new ring of so many messages, which are those of a description; the first one has this number.
pub(crate) fn sink(
    of: &MessageType,
    (capacity, is_lossless): (usize, bool),
    first: u64,
) -> Result<(Box<dyn Sink>, Invitation), Refused> {
    let bytes = of.bytes();
    let builder = Builder::new(capacity).first(first);
    let sink = classes!(bytes, WORDS, LARGE => if is_lossless {
        blocks::lossless::<WORDS, LARGE>(builder, of, SEATS).map(|(publisher, invitation)| {
            (Box::new(WritingLossless { publisher, bytes }) as Box<dyn Sink>, invitation)
        })
    } else {
        blocks::lossy::<WORDS, LARGE>(builder, of).map(|(publisher, _, invitation)| {
            (Box::new(WritingLossy { publisher, bytes }) as Box<dyn Sink>, invitation)
        })
    });
    sink.expect("it is of a description").map_err(|error| error.to_string())
}

struct Reading<const WORDS: usize, const LARGE: bool, M: Mode, J, E> {
    /// Once it has joined.
    subscriber: Option<Subscriber<Block<WORDS, LARGE>, M>>,
    join: J,
    has_ended: E,
    is_awaited: bool,
    /// Of a message.
    bytes: usize,
}

fn reading<const WORDS: usize, const LARGE: bool, M: Mode>(
    bytes: usize,
    is_awaited: bool,
    join: impl Fn() -> Result<Subscriber<Block<WORDS, LARGE>, M>, Refused> + Send + 'static,
    has_ended: impl Fn() -> bool + Send + 'static,
) -> Box<dyn Source>
where
    Subscriber<Block<WORDS, LARGE>, M>: Send + 'static,
{
    Box::new(Reading { subscriber: None, join, has_ended, is_awaited, bytes })
}

const JOINED: &str = "it has joined";

impl<const WORDS: usize, const LARGE: bool, M: Mode, J, E> Source for Reading<WORDS, LARGE, M, J, E>
where
    Subscriber<Block<WORDS, LARGE>, M>: Send,
    J: Fn() -> Result<Subscriber<Block<WORDS, LARGE>, M>, Refused> + Send,
    E: Fn() -> bool + Send,
{
    fn join(&mut self) -> Result<u64, Refused> {
        Ok(self.subscriber.insert((self.join)()?).cursor())
    }

    fn leave(&mut self) -> bool {
        if self.is_awaited {
            self.subscriber = None;
        }
        self.is_awaited
    }

    fn gather(&mut self, batch: &mut Vec<u8>, most: usize, patience: Duration) -> Gathered {
        let bytes = self.bytes;
        let subscriber = self.subscriber.as_mut().expect(JOINED);
        let append = |batch: &mut Vec<u8>, Block(words): Block<WORDS, LARGE>| {
            batch.extend_from_slice(&bytemuck::cast_slice(&words)[..bytes]);
        };
        match subscriber.recv_timeout(patience) {
            Ok(message) => append(batch, message),
            Err(RecvTimeoutError::Timeout) => return Gathered::Nothing,
            Err(RecvTimeoutError::Closed) => return Gathered::Closed,
        }
        let mut end = subscriber.cursor();
        let first = end - 1;
        while batch.len() + bytes <= most {
            // A lag ends the batch: what comes behind it does not follow. (The subscriber has gone on.)
            let Ok(message) = subscriber.try_recv() else { break };
            append(batch, message);
            end += 1;
        }
        Gathered::Messages { first, end }
    }

    fn next(&self) -> u64 {
        self.subscriber.as_ref().expect(JOINED).cursor()
    }

    fn is_closed(&self) -> bool {
        self.subscriber.as_ref().map_or_else(&self.has_ended, Subscriber::is_closed)
    }
}

/// A message as a block.
fn block<const WORDS: usize, const LARGE: bool>(message: &[u8]) -> Block<WORDS, LARGE> {
    let mut words = [0; WORDS];
    bytemuck::cast_slice_mut(&mut words)[..message.len()].copy_from_slice(message);
    Block(words)
}

struct WritingLossy<const WORDS: usize, const LARGE: bool> {
    publisher: Publisher<Block<WORDS, LARGE>>,
    /// Of a message.
    bytes: usize,
}

impl<const WORDS: usize, const LARGE: bool> Sink for WritingLossy<WORDS, LARGE> {
    fn put(&mut self, messages: &[u8], _: &dyn Fn() -> bool) {
        for message in messages.chunks_exact(self.bytes) {
            self.publisher.publish(block(message));
        }
    }

    fn skip_to(&mut self, next: u64) -> Option<u64> {
        self.publisher.skip_to(next).ok()
    }

    fn next(&self) -> u64 {
        self.publisher.sequence()
    }

    fn await_subscribers(&self, _: usize, _: &dyn Fn() -> bool) {}
}

struct WritingLossless<const WORDS: usize, const LARGE: bool> {
    publisher: Publisher<Block<WORDS, LARGE>, Lossless>,
    /// Of a message.
    bytes: usize,
}

impl<const WORDS: usize, const LARGE: bool> Sink for WritingLossless<WORDS, LARGE> {
    fn put(&mut self, messages: &[u8], goes_on: &dyn Fn() -> bool) {
        for message in messages.chunks_exact(self.bytes) {
            let mut left = block(message);
            while goes_on() {
                match self.publisher.publish_timeout(left, PATIENCE) {
                    Err(PublishTimeoutError::Timeout(back)) => left = back,
                    // (Nobody but this bridge closes it.)
                    Ok(()) | Err(_) => break,
                }
            }
        }
    }

    fn skip_to(&mut self, next: u64) -> Option<u64> {
        (next <= self.publisher.sequence()).then_some(0)
    }

    fn next(&self) -> u64 {
        self.publisher.sequence()
    }

    fn await_subscribers(&self, count: usize, goes_on: &dyn Fn() -> bool) {
        while goes_on() && !self.publisher.wait_for_subscribers_timeout(count, PATIENCE) {}
    }
}

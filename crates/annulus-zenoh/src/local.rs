//! [`Source`] and [`Sink`]: the ends of rings of this machine, whose messages are known by their size only.

use std::time::Duration;

use annulus::broadcast::{Builder, Publisher, Subscribable, Subscriber};
use annulus::shm::blocks::{self, Block, MessageType, classes};
use annulus::shm::broadcast::Foreign;
use annulus::shm::{Invitation, RingInfo, ShmKind};
use annulus::{RecvTimeoutError, WaitStrategy};

use crate::description::Refused;

/// Reads messages of a ring that another process publishes.
pub(crate) trait Source: Send {
    /// Appends messages that follow each other to `batch`: one for which it waits that long at most, and
    /// those that are there then, up to `most` bytes in all.
    fn gather(&mut self, batch: &mut Vec<u8>, most: usize, patience: Duration) -> Gathered;

    /// The number of the next message.
    fn next(&self) -> u64;

    /// Goes back to the oldest message, and returns its number.
    fn begin_again(&mut self) -> u64;

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
    /// Publishes these messages, of which `first` is the number of the first. Those that are there already
    /// are left out, and numbers that were never told of count as lagged.
    fn put(&mut self, first: u64, messages: &[u8]) -> Result<Put, Refused>;

    /// The number of the next message.
    fn next(&self) -> u64;

    /// Nothing more comes.
    fn close(&mut self);
}

/// What a [`Sink`] has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Put {
    pub(crate) published: u64,
    pub(crate) lagged: u64,
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

/// Reads this ring, of which there is a description, from its oldest message on.
pub(crate) fn source(invitation: &Invitation, info: &RingInfo) -> Result<Box<dyn Source>, Refused> {
    let (of, strategy) = (message_type(info)?, WaitStrategy::default());
    let of = &of;
    let bytes = of.bytes();
    let source = classes!(bytes, WORDS, LARGE => match info.kind() {
        ShmKind::Lossless => blocks::accept_lossless::<WORDS, LARGE>(invitation, of, strategy)
            .map(|ring| blocks::subscribable_of(&ring).clone()),
        _ => blocks::accept::<WORDS, LARGE>(invitation, of, strategy)
            .map(|ring| ring.subscribable().clone()),
    }
    .map(|ring| {
        let subscriber = ring.subscribe_from_oldest();
        Box::new(Reading { ring, subscriber, bytes }) as Box<dyn Source>
    }));
    source.expect("a description was made of it").map_err(|error| error.to_string())
}

/// A new ring of so many messages, which are those of a description; the first one has this number.
pub(crate) fn sink(
    of: &MessageType,
    capacity: usize,
    first: u64,
) -> Result<(Box<dyn Sink>, Invitation), Refused> {
    let bytes = of.bytes();
    let builder = Builder::new(capacity).first(first);
    let sink = classes!(bytes, WORDS, LARGE => blocks::lossy::<WORDS, LARGE>(builder, of).map(
        |(publisher, _, invitation)| (Box::new(Writing { publisher, bytes }) as Box<dyn Sink>, invitation)
    ));
    sink.expect("it is of a description").map_err(|error| error.to_string())
}

struct Reading<const WORDS: usize, const LARGE: bool> {
    ring: Subscribable<Block<WORDS, LARGE>, Foreign>,
    subscriber: Subscriber<Block<WORDS, LARGE>, Foreign>,
    /// Of a message.
    bytes: usize,
}

impl<const WORDS: usize, const LARGE: bool> Source for Reading<WORDS, LARGE> {
    fn gather(&mut self, batch: &mut Vec<u8>, most: usize, patience: Duration) -> Gathered {
        let bytes = self.bytes;
        let append = |batch: &mut Vec<u8>, Block(words): Block<WORDS, LARGE>| {
            batch.extend_from_slice(&bytemuck::cast_slice(&words)[..bytes]);
        };
        match self.subscriber.recv_timeout(patience) {
            Ok(message) => append(batch, message),
            Err(RecvTimeoutError::Timeout) => return Gathered::Nothing,
            Err(RecvTimeoutError::Closed) => return Gathered::Closed,
        }
        let mut end = self.subscriber.cursor();
        let first = end - 1;
        while batch.len() + bytes <= most {
            // A lag ends the batch: what comes behind it does not follow. (The subscriber has gone on.)
            let Ok(message) = self.subscriber.try_recv() else { break };
            append(batch, message);
            end += 1;
        }
        Gathered::Messages { first, end }
    }

    fn next(&self) -> u64 {
        self.subscriber.cursor()
    }

    fn begin_again(&mut self) -> u64 {
        self.subscriber = self.ring.subscribe_from_oldest();
        self.subscriber.cursor()
    }

    fn is_closed(&self) -> bool {
        self.subscriber.is_closed()
    }
}

struct Writing<const WORDS: usize, const LARGE: bool> {
    publisher: Publisher<Block<WORDS, LARGE>>,
    /// Of a message.
    bytes: usize,
}

impl<const WORDS: usize, const LARGE: bool> Sink for Writing<WORDS, LARGE> {
    fn put(&mut self, first: u64, messages: &[u8]) -> Result<Put, Refused> {
        let lagged = self.publisher.skip_to(first).map_err(|error| error.to_string())?;
        let known = self.publisher.sequence().saturating_sub(first);
        let known = usize::try_from(known).unwrap_or(usize::MAX);
        let mut published = 0;
        for message in messages.chunks_exact(self.bytes).skip(known) {
            let mut words = [0; WORDS];
            bytemuck::cast_slice_mut(&mut words)[..self.bytes].copy_from_slice(message);
            self.publisher.publish(Block(words));
            published += 1;
        }
        Ok(Put { published, lagged })
    }

    fn next(&self) -> u64 {
        self.publisher.sequence()
    }

    fn close(&mut self) {
        self.publisher.close();
    }
}

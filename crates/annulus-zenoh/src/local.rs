//! [`Source`] and [`Sink`]: the ends of rings of this machine, whose messages are known by their schema only.

use std::time::Duration;

use annulus::Settings;
use annulus::shm::blocks::MessageType;
use annulus::shm::dynamic::{Receiver, Ring, Sender, Start};
use annulus::shm::{Invitation, RingInfo, Shared, ShmKind};
use annulus::{RecvTimeoutError, SendTimeoutError, WaitStrategy};

use crate::description::Refused;

/// A lossless ring that comes in has so many seats for subscribers.
const SEATS: usize = 64;

/// How long a publisher waits without a look whether it is to stop.
const PATIENCE: Duration = Duration::from_millis(20);

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

/// What the messages of a ring are.
pub(crate) fn message_type(info: &RingInfo) -> Result<MessageType, Refused> {
    let schema = info.schema().map_err(|error| error.to_string())?;
    let (bytes, alignment) = (info.payload_bytes(), info.payload_alignment());
    Ok(schema.map_or_else(
        || MessageType::of_bytes(bytes, alignment),
        |schema| MessageType::described(schema, alignment),
    ))
}

/// Reads messages of a ring that another process publishes.
pub(crate) struct Source {
    ring: Ring,
    /// Once it has joined.
    receiver: Option<Receiver>,
    /// Whether the publisher waits for it.
    is_awaited: bool,
}

const JOINED: &str = "it has joined";

impl Source {
    /// Reads this ring, of which there is a description. With `is_awaited` the publisher of a lossless one
    /// waits.
    pub(crate) fn new(invitation: &Invitation, info: &RingInfo, is_awaited: bool) -> Result<Self, Refused> {
        let ring = Ring::accept(invitation, &message_type(info)?, WaitStrategy::default());
        let ring = ring.map_err(|error| error.to_string())?;
        let is_awaited = is_awaited && info.kind() == ShmKind::Lossless;
        Ok(Self { ring, receiver: None, is_awaited })
    }

    /// Begins with the oldest message that can be had, and returns its number. The publisher of a lossless
    /// ring that is read as such waits from here on.
    pub(crate) fn join(&mut self) -> Result<u64, Refused> {
        let receiver = if self.is_awaited {
            self.ring.subscribe(Start::Oldest).map_err(|error| error.to_string())?
        } else {
            self.ring.subscribe_unawaited(Start::Oldest)
        };
        self.receiver = Some(receiver);
        Ok(self.next())
    }

    /// Nobody wants messages at the moment. No publisher waits from here on. Whether it has to
    /// [join](Self::join) again.
    pub(crate) fn leave(&mut self) -> bool {
        if self.is_awaited {
            self.receiver = None;
        }
        self.is_awaited
    }

    /// Appends messages that follow each other to `batch`: one for which it waits that long at most, and the
    /// messages that are there then, up to `most` bytes in all. Has joined.
    pub(crate) fn gather(&mut self, batch: &mut Vec<u8>, most: usize, patience: Duration) -> Gathered {
        let receiver = self.receiver.as_mut().expect(JOINED);
        let (before, bytes) = (batch.len(), receiver.message_bytes());
        batch.resize(before + bytes, 0);
        let first = match receiver.recv_timeout(&mut batch[before..], patience) {
            Ok(()) => number_of_next(receiver) - 1,
            Err(error) => {
                batch.truncate(before);
                return match error {
                    RecvTimeoutError::Timeout => Gathered::Nothing,
                    RecvTimeoutError::Closed => Gathered::Closed,
                };
            }
        };
        let more = receiver.recv_run(batch, most.saturating_sub(batch.len()) / bytes);
        Gathered::Messages { first, end: first + 1 + more as u64 }
    }

    /// The number of the next message. Has joined.
    pub(crate) fn next(&self) -> u64 {
        number_of_next(self.receiver.as_ref().expect(JOINED))
    }

    /// Whether the ring has ended, and nothing is left.
    pub(crate) fn is_closed(&self) -> bool {
        self.receiver.as_ref().map_or_else(|| self.ring.is_closed(), Receiver::is_closed)
    }
}

fn number_of_next(receiver: &Receiver) -> u64 {
    receiver.cursor().expect("it is of a broadcast ring")
}

/// Publishes messages under their numbers.
pub(crate) struct Sink {
    sender: Sender,
    is_lossless: bool,
}

impl Sink {
    /// A new ring of so many messages, which are the messages of a description; the first one has this
    /// number.
    pub(crate) fn new(
        of: &MessageType,
        (capacity, is_lossless): (usize, bool),
        first: u64,
    ) -> Result<(Self, Invitation), Refused> {
        let settings = Settings::new(capacity).first(first);
        let made =
            if is_lossless { Sender::lossless(settings, of, SEATS) } else { Sender::lossy(settings, of) };
        let Shared { handle: sender, invitation, .. } = made.map_err(|error| error.to_string())?;
        Ok((Self { sender, is_lossless }, invitation))
    }

    /// Publishes the messages behind each other, as long as `goes_on`. A lossy ring waits for nobody.
    pub(crate) fn put(&mut self, messages: &[u8], goes_on: &dyn Fn() -> bool) {
        for message in messages.chunks_exact(self.sender.message_bytes()) {
            if !self.is_lossless {
                // (Nobody but this bridge closes it.)
                _ = self.sender.send(message);
                continue;
            }
            while goes_on() {
                if self.sender.send_timeout(message, PATIENCE) != Err(SendTimeoutError::Timeout(())) {
                    break;
                }
            }
        }
    }

    /// Leaves out the numbers before this one. How many; `None` if the ring can't do that.
    pub(crate) fn skip_to(&mut self, next: u64) -> Option<u64> {
        self.sender.skip_to(next)
    }

    /// The number of the next message.
    pub(crate) fn next(&self) -> u64 {
        self.sender.sequence().expect("it has one publisher")
    }

    /// Waits until a lossless ring has so many subscribers, as long as `goes_on`.
    pub(crate) fn await_subscribers(&self, count: usize, goes_on: &dyn Fn() -> bool) {
        while goes_on() && !self.sender.wait_for_subscribers_timeout(count, PATIENCE) {}
    }
}

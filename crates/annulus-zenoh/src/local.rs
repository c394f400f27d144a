//! [`Source`] and [`Sink`]: the ends of rings of this machine, whose messages are known by their schema only,
//! and of rings of frames.

use std::time::Duration;

use annulus::Settings;
use annulus::shm::blocks::MessageType;
use annulus::shm::dynamic::{Receiver, Ring, Sender, Start};
use annulus::shm::frames::{self, AcceptedFrames, FrameError};
use annulus::shm::{Invitation, PeerState, RingInfo, Shared, ShmKind};
use annulus::{RecvTimeoutError, SendTimeoutError, WaitStrategy};

use crate::description::{Frames, Refused};

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
pub(crate) struct Source(Reads);

/// A ring, and what reads it, once it has joined.
enum Reads {
    Messages {
        ring: Ring,
        receiver: Option<Receiver>,
        /// Whether the publisher waits for it.
        is_awaited: bool,
    },
    /// Each frame is copied once, to what goes to the network: the publisher may write to its memory later.
    Frames { ring: Box<AcceptedFrames>, subscriber: Option<Box<frames::Subscriber>> },
}

const JOINED: &str = "it has joined";

impl Source {
    /// Reads this ring, of which there is a description. With `is_awaited` the publisher of a lossless one
    /// waits.
    pub(crate) fn new(invitation: &Invitation, info: &RingInfo, is_awaited: bool) -> Result<Self, Refused> {
        let ring = Ring::accept(invitation, &message_type(info)?, WaitStrategy::default());
        let ring = ring.map_err(|error| error.to_string())?;
        let is_awaited = is_awaited && info.kind() == ShmKind::Lossless;
        Ok(Self(Reads::Messages { ring, receiver: None, is_awaited }))
    }

    /// Reads this ring of frames. It takes one of the places for subscribers, from the first join on.
    pub(crate) fn of_frames(ring: AcceptedFrames) -> Self {
        Self(Reads::Frames { ring: Box::new(ring), subscriber: None })
    }

    /// Whether its messages are frames, each of which goes alone.
    pub(crate) fn has_frames(&self) -> bool {
        matches!(self.0, Reads::Frames { .. })
    }

    /// Begins with the oldest message that can be had, and returns its number. The publisher of a lossless
    /// ring that is read as such waits from here on.
    pub(crate) fn join(&mut self) -> Result<u64, Refused> {
        match &mut self.0 {
            Reads::Messages { ring, receiver, is_awaited } => {
                *receiver = Some(if *is_awaited {
                    ring.subscribe(Start::Oldest).map_err(|error| error.to_string())?
                } else {
                    ring.subscribe_unawaited(Start::Oldest)
                });
            }
            Reads::Frames { ring, subscriber } => {
                if subscriber.is_none() {
                    let joined = ring.subscribe_from_oldest().map_err(|error| error.to_string())?;
                    *subscriber = Some(Box::new(joined));
                }
            }
        }
        Ok(self.next())
    }

    /// Nobody wants messages at the moment. No publisher waits from here on. Whether it has to
    /// [join](Self::join) again.
    pub(crate) fn leave(&mut self) -> bool {
        let Reads::Messages { receiver, is_awaited: true, .. } = &mut self.0 else { return false };
        *receiver = None;
        true
    }

    /// Appends messages that follow each other to `batch`: one for which it waits that long at most, and the
    /// messages that are there then, up to `most` bytes in all. A frame comes alone, to an empty batch. Has
    /// joined.
    pub(crate) fn gather(&mut self, batch: &mut Vec<u8>, most: usize, patience: Duration) -> Gathered {
        let receiver = match &mut self.0 {
            Reads::Messages { receiver, .. } => receiver.as_mut().expect(JOINED),
            Reads::Frames { subscriber, .. } => {
                return gather_frame(subscriber.as_mut().expect(JOINED), batch, patience);
            }
        };
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
        match &self.0 {
            Reads::Messages { receiver, .. } => number_of_next(receiver.as_ref().expect(JOINED)),
            Reads::Frames { subscriber, .. } => subscriber.as_ref().expect(JOINED).cursor(),
        }
    }

    /// Whether the ring has ended, and nothing is left.
    pub(crate) fn is_closed(&self) -> bool {
        match &self.0 {
            Reads::Messages { ring, receiver, .. } => {
                receiver.as_ref().map_or_else(|| ring.is_closed(), Receiver::is_closed)
            }
            Reads::Frames { ring, .. } => ring.state() != PeerState::Alive,
        }
    }
}

/// As [`Source::gather`].
fn gather_frame(subscriber: &mut frames::Subscriber, batch: &mut Vec<u8>, patience: Duration) -> Gathered {
    match subscriber.recv_timeout(patience) {
        Ok(frame) => {
            let first = frame.sequence();
            *batch = frame.to_vec();
            Gathered::Messages { first, end: first + 1 }
        }
        Err(FrameError::Closed) => Gathered::Closed,
        // (It holds none.)
        Err(_) => Gathered::Nothing,
    }
}

fn number_of_next(receiver: &Receiver) -> u64 {
    receiver.cursor().expect("it is of a broadcast ring")
}

/// Publishes messages under their numbers.
pub(crate) enum Sink {
    Messages { sender: Sender, is_lossless: bool },
    Frames(Box<frames::Publisher>),
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
        Ok((Self::Messages { sender, is_lossless }, invitation))
    }

    /// A new ring of frames. The first one has this number.
    pub(crate) fn of_frames(shape: &Frames, first: u64) -> Result<(Self, Invitation), Refused> {
        let builder = frames::Builder::new(Settings::new(shape.capacity).first(first), shape.bytes)
            .subscribers(shape.subscribers)
            .held(shape.held)
            .alignment(shape.alignment);
        let builder = shape.content.iter().fold(builder, frames::Builder::described);
        let Shared { handle, invitation, .. } = builder.build().map_err(|error| error.to_string())?;
        Ok((Self::Frames(Box::new(handle)), invitation))
    }

    /// How many messages these bytes are, of which a frame `is_one`. `None`: they are none of this ring.
    pub(crate) fn count(&self, bytes: &[u8], is_one: bool) -> Option<u64> {
        match self {
            Self::Messages { sender, .. } => {
                let of_one = sender.message_bytes();
                let fit = !is_one && bytes.len().is_multiple_of(of_one);
                fit.then_some((bytes.len() / of_one) as u64)
            }
            Self::Frames(publisher) if is_one => (bytes.len() <= publisher.frame_bytes()).then_some(1),
            Self::Frames(_) => bytes.is_empty().then_some(0),
        }
    }

    /// Publishes the messages behind each other, without so many that are there already, as long as
    /// `goes_on`. A lossy ring waits for nobody. Has [counted](Self::count) them. Returns how many bytes they
    /// have.
    pub(crate) fn put(
        &mut self,
        messages: &[u8],
        (known, count): (u64, u64),
        goes_on: &dyn Fn() -> bool,
    ) -> u64 {
        if known >= count {
            return 0;
        }
        match self {
            Self::Messages { sender, is_lossless } => {
                let of_one = sender.message_bytes();
                let before = sender.sequence();
                for message in messages.chunks_exact(of_one).skip(known as usize) {
                    if !*is_lossless {
                        // (Nobody but this bridge closes it.)
                        _ = sender.send(message);
                        continue;
                    }
                    while goes_on() {
                        if sender.send_timeout(message, PATIENCE) != Err(SendTimeoutError::Timeout(())) {
                            break;
                        }
                    }
                }
                let sent = sender.sequence().zip(before).map_or(0, |(after, before)| after - before);
                sent * of_one as u64
            }
            Self::Frames(publisher) => {
                // (It fits: it was counted.)
                _ = publisher.publish(messages);
                messages.len() as u64
            }
        }
    }

    /// Leaves out the numbers before this one. How many; `None` if the ring can't do that.
    pub(crate) fn skip_to(&mut self, next: u64) -> Option<u64> {
        match self {
            Self::Messages { sender, .. } => sender.skip_to(next),
            Self::Frames(publisher) => publisher.skip_to(next).ok(),
        }
    }

    /// The number of the next message.
    pub(crate) fn next(&self) -> u64 {
        match self {
            Self::Messages { sender, .. } => sender.sequence().expect("it has one publisher"),
            Self::Frames(publisher) => publisher.sequence(),
        }
    }

    /// Waits until a lossless ring has so many subscribers or is closed, as long as `goes_on`.
    pub(crate) fn await_subscribers(&self, count: usize, goes_on: &dyn Fn() -> bool) {
        let Self::Messages { sender, is_lossless: true } = self else { return };
        // (A wait in a ring that is closed returns at once.)
        while goes_on() && !sender.wait_for_subscribers_timeout(count, PATIENCE) && !sender.is_closed() {}
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A wait in a closed ring returns at once, so this would turn until the bridge ends.
    #[test]
    fn wait_for_subscribers_ends_with_the_ring() {
        let of = MessageType::of_bytes(8, 8);
        let Shared { handle: sender, .. } = Sender::lossless(Settings::new(8), &of, 1).unwrap();
        sender.closer().close();
        let (sink, turns) = (Sink::Messages { sender, is_lossless: true }, Cell::new(0));
        sink.await_subscribers(1, &|| {
            turns.set(turns.get() + 1);
            turns.get() < 100
        });
        assert_eq!(turns.get(), 1);
    }
}

//! What a loop calls: one trait for each thing that several libraries have.

use std::fmt::Debug;

use crate::messages::BATCH;

/// What every contender can carry.
pub trait Payload: annulus::Message + photon_ring::Pod {}
impl<T: annulus::Message + photon_ring::Pod> Payload for T {}

/// A library, or one of several ways to use it.
pub trait Named {
    /// The package, as `Cargo.lock` has it, or what tells this way from the others in its row.
    const NAME: &'static str;
}

pub trait Publisher<T>: Send {
    /// Waits where the ring is lossless and full.
    fn publish(&mut self, message: T);
}

pub trait Subscriber<T>: Send {
    type Error: Debug;
    fn try_recv(&mut self) -> Result<T, Self::Error>;
    /// The sequence of the next message.
    fn cursor(&self) -> u64;
    /// Messages that it did not get.
    fn total_lagged(&self) -> u64;
}

/// What a look finds at the consuming end of a queue.
pub enum Look {
    Message(u64),
    Nothing,
    Closed,
}

/// A handle of which the verbs are called that return at once.
pub struct Tried<H>(pub H);

/// A handle of which the verbs are called that wait, in each library's own way.
#[derive(Clone)]
pub struct Waiting<H>(pub H);

/// A lossy broadcast ring.
pub trait Contender: Named {
    type Publisher<T: Payload>: Publisher<T>;
    type Subscriber<T: Payload>: Subscriber<T>;
    /// A ring with one subscriber, which sees all messages.
    fn channel<T: Payload>(capacity: usize) -> (Self::Publisher<T>, Self::Subscriber<T>);
}

/// A ring with `READERS` readers, each of which sees all messages as long as it keeps up.
pub trait FanOut<const READERS: usize>: Named {
    type Publisher: Publisher<u64>;
    type Reader: Reader;
    fn channel(capacity: usize) -> (Self::Publisher, [Self::Reader; READERS]);
}

/// One whose publisher waits for them.
pub trait Gated<const READERS: usize>: FanOut<READERS> {}

pub trait Reader: Send {
    /// Gives the next message to `receive`, if it is there, and says whether it was. Where it waits, it
    /// always is.
    fn poll(&mut self, receive: impl FnMut(u64)) -> bool;
}

pub trait BatchPublisher: Send {
    /// Waits for room.
    fn publish_batch(&mut self, messages: &[u64; BATCH]);
}

pub trait BatchReader: Send {
    /// The messages that are there, up to [`BATCH`] of them, by way of `buffer` where the library wants one.
    fn poll_batch(&mut self, buffer: &mut [u64; BATCH], each: impl FnMut(u64)) -> u64;
}

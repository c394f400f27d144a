//! The broadcast channel of `tokio`, without its runtime: by the verbs that return at once, and by the one
//! that lets a thread wait.

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::TryRecvError;

use super::{Contender, FanOut, Named, Payload, Publisher, Reader, Subscriber, Waiting};

pub struct Tokio;

impl Named for Tokio {
    const NAME: &'static str = "tokio";
}

/// Its receiver does not say how far it is, so that has to be counted.
pub struct Counted<T> {
    receiver: broadcast::Receiver<T>,
    cursor: u64,
    lagged: u64,
}

impl<T> Counted<T> {
    fn new(receiver: broadcast::Receiver<T>) -> Self {
        Self { receiver, cursor: 0, lagged: 0 }
    }
}

impl Contender for Tokio {
    type Publisher<T: Payload> = broadcast::Sender<T>;
    type Subscriber<T: Payload> = Counted<T>;

    fn channel<T: Payload>(capacity: usize) -> (Self::Publisher<T>, Self::Subscriber<T>) {
        let (sender, receiver) = broadcast::channel(capacity);
        (sender, Counted::new(receiver))
    }
}

impl<T: Payload> Publisher<T> for broadcast::Sender<T> {
    #[inline(always)]
    fn publish(&mut self, message: T) {
        assert!(self.send(message).is_ok(), "a receiver is there");
    }
}

impl<T: Payload> Subscriber<T> for Counted<T> {
    type Error = TryRecvError;

    #[inline(always)]
    fn try_recv(&mut self) -> Result<T, Self::Error> {
        let received = self.receiver.try_recv();
        match received {
            Ok(_) => self.cursor += 1,
            Err(TryRecvError::Lagged(count)) => {
                self.cursor += count;
                self.lagged += count;
            }
            Err(_) => {}
        }
        received
    }

    #[inline(always)]
    fn cursor(&self) -> u64 {
        self.cursor
    }

    fn total_lagged(&self) -> u64 {
        self.lagged
    }
}

impl<const READERS: usize> FanOut<READERS> for Tokio {
    type Publisher = broadcast::Sender<u64>;
    type Reader = broadcast::Receiver<u64>;

    fn channel(capacity: usize) -> (Self::Publisher, [Self::Reader; READERS]) {
        let sender = broadcast::Sender::new(capacity);
        let receivers = std::array::from_fn(|_| sender.subscribe());
        (sender, receivers)
    }
}

impl Reader for broadcast::Receiver<u64> {
    #[inline(always)]
    fn poll(&mut self, receive: impl FnMut(u64)) -> bool {
        self.try_recv().map(receive).is_ok()
    }
}

/// By the verb that waits, which is for threads outside the runtime.
pub struct TokioWaiting;

impl Named for TokioWaiting {
    const NAME: &'static str = Tokio::NAME;
}

impl<const READERS: usize> FanOut<READERS> for TokioWaiting {
    type Publisher = broadcast::Sender<u64>;
    type Reader = Waiting<broadcast::Receiver<u64>>;

    fn channel(capacity: usize) -> (Self::Publisher, [Self::Reader; READERS]) {
        let (sender, receivers) = <Tokio as FanOut<READERS>>::channel(capacity);
        (sender, receivers.map(Waiting))
    }
}

impl Reader for Waiting<broadcast::Receiver<u64>> {
    #[inline(always)]
    fn poll(&mut self, receive: impl FnMut(u64)) -> bool {
        self.0.blocking_recv().map(receive).is_ok()
    }
}

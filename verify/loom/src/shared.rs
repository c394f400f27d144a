//! What the models of queues with many consumers share.

use std::sync::Arc;

use annulus::queue::kind::QueueKind;
use annulus::queue::{Consumer, Producer};
use annulus::{TryRecvError, TrySendError};

/// A message: a number, and a share in a counter, so that one that is lost, or dropped twice, shows.
pub struct Token {
    number: u64,
    _share: Arc<()>,
}

impl Token {
    /// Message `number`.
    #[must_use]
    pub fn new(number: u64, shares: &Arc<()>) -> Self {
        Self { number, _share: Arc::clone(shares) }
    }

    /// Which message this is.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }
}

/// Sends the messages from number `first` on, with up to `tries` calls of `try_send`; ends where the queue is
/// closed. Returns the number after the last one that was sent.
///
/// # Panics
///
/// If a message that was refused does not come back.
pub fn send_tries<K: QueueKind>(
    producer: &mut Producer<Token, K>,
    shares: &Arc<()>,
    first: u64,
    tries: usize,
) -> u64 {
    let mut next = first;
    for _ in 0..tries {
        let error = match producer.try_send(Token::new(next, shares)) {
            Ok(()) => {
                next += 1;
                continue;
            }
            Err(error) => error,
        };
        let closed = matches!(error, TrySendError::Closed(_));
        assert_eq!(error.into_inner().number(), next, "another message came back");
        if closed {
            break;
        }
        loom::thread::yield_now();
    }
    next
}

/// Receives with up to `tries` calls of `try_recv`, ends at the first `Closed`, and returns the numbers.
pub fn take_tries<K: QueueKind>(consumer: &mut Consumer<Token, K>, tries: usize) -> Vec<u64> {
    let mut taken = Vec::new();
    for _ in 0..tries {
        match consumer.try_recv() {
            Ok(token) => taken.push(token.number()),
            Err(TryRecvError::Empty) => loom::thread::yield_now(),
            Err(TryRecvError::Closed) => break,
        }
    }
    taken
}

//! Programs that a user would write, and that compile: errors mixed by `?`, limits and strategies together,
//! and what other crates have to name.

use std::fmt::Debug;
use std::time::{Duration, Instant};

use annulus::broadcast::{self, Lossless};
use annulus::{
    LossyTryRecvError, RecvError, RecvTimeoutError, SendError, SendTimeoutError, Transmit, TryRecvError,
    TrySendError, Until, WaitStrategy, event, mpsc, oneshot, queue, spsc,
};

const BRIEFLY: Duration = Duration::from_millis(1);

/// What is published, sent to a queue, and sent through any handle, refuses by one error.
#[test]
fn send_errors_of_all_rings_mix_by_question_mark() {
    fn to_all(
        ring: &mut broadcast::Publisher<u64, Lossless>,
        queue: &mut spsc::Producer<u64>,
        ordered: &queue::ordered::Sender<u64>,
        events: &mut event::Publisher<u64>,
        any: &mut dyn Transmit<Item = u64>,
    ) -> Result<(), SendError<u64>> {
        ring.publish(1)?;
        queue.send(1)?;
        ordered.send(1)?;
        events.send(1)?;
        any.send(1)
    }
    fn now(queue: &mut spsc::Producer<u64>, value: u64) -> Result<(), TrySendError<u64>> {
        queue.send(value)?;
        queue.try_send(value)
    }
    fn in_time(queue: &mut spsc::Producer<u64>, value: u64) -> Result<(), SendTimeoutError<u64>> {
        queue.send(value)?;
        queue.send_timeout(value, BRIEFLY)
    }

    let (mut ring, readers) = broadcast::lossless(2);
    let (mut queue, mut consumer) = spsc::channel(2);
    let (ordered, receiver) = queue::ordered::channel(2);
    let (mut events, listeners) = event::channel(2, u64::default);
    let (mut any, many) = mpsc::channel(2);
    let _readers = (readers.subscribe(), listeners.subscribe());
    assert_eq!(to_all(&mut ring, &mut queue, &ordered, &mut events, &mut any), Ok(()));
    drop(receiver);
    assert_eq!(to_all(&mut ring, &mut queue, &ordered, &mut events, &mut any), Err(SendError(1)));
    drop(many);

    assert_eq!((consumer.recv(), consumer.recv()), (Ok(1), Ok(1)));
    assert_eq!(now(&mut queue, 2), Ok(()));
    assert_eq!(in_time(&mut spsc::channel(1).0, 3), Err(SendTimeoutError::Timeout(3)));
    consumer.close();
    assert_eq!(now(&mut queue, 4), Err(TrySendError::Closed(4)));
}

/// A verb that looks and one that waits, in one function.
#[test]
fn receive_errors_mix_by_question_mark() {
    fn both(queue: &mut spsc::Consumer<u64>) -> Result<u64, TryRecvError> {
        Ok(queue.recv()? + queue.try_recv()?)
    }
    fn with_losses(
        queue: &mut spsc::Consumer<u64>,
        ring: &mut broadcast::Subscriber<u64>,
    ) -> Result<u64, LossyTryRecvError> {
        Ok(queue.recv()? + queue.try_recv()? + ring.recv()? + ring.recv_or_lag()?)
    }
    fn in_time(queue: &mut spsc::Consumer<u64>) -> Result<u64, RecvTimeoutError> {
        Ok(queue.recv()? + queue.recv_timeout(BRIEFLY)?)
    }
    fn boxed(queue: &mut spsc::Consumer<u64>) -> Result<u64, Box<dyn std::error::Error + Send + Sync>> {
        Ok(queue.recv()? + "1".parse::<u64>()?)
    }

    let (mut producer, mut queue) = spsc::channel(16);
    let (mut publisher, subscribable) = broadcast::lossy(4);
    let mut ring = subscribable.subscribe();
    producer.send_batch(&[1, 2, 3, 4, 5, 6, 7]).unwrap();
    publisher.publish_batch(&[10, 20]);
    assert_eq!(both(&mut queue), Ok(3));
    assert_eq!(with_losses(&mut queue, &mut ring), Ok(37));
    assert_eq!(in_time(&mut queue), Ok(11));
    assert_eq!(boxed(&mut queue).unwrap(), 8);
    drop(producer);
    assert_eq!(both(&mut queue), Err(TryRecvError::Closed));
    assert_eq!(in_time(&mut queue), Err(RecvTimeoutError::Closed));
    assert!(boxed(&mut queue).unwrap_err().is::<RecvError>());
}

/// "Spin, at most so long", of each family; and a moment that several waits share.
#[test]
fn limit_and_strategy_go_together() {
    let (mut ring, readers) = broadcast::lossless::<u64>(2);
    let (mut queue, mut consumer) = spsc::channel::<u64>(1);
    let (ordered, receiver) = queue::ordered::channel::<u64>(1);
    let (_events, listeners) = event::channel(2, u64::default);
    let (_reply, mut answer) = oneshot::channel::<u64>();
    let (mut reader, mut listener) = (readers.subscribe(), listeners.subscribe());

    let spin = Until::from(BRIEFLY).by(WaitStrategy::PauseSpin);
    assert_eq!(consumer.recv_until(spin), Err(RecvTimeoutError::Timeout));
    assert_eq!(receiver.recv_until(spin), Err(RecvTimeoutError::Timeout));
    assert_eq!(reader.recv_until(spin), Err(RecvTimeoutError::Timeout));
    assert_eq!(listener.recv_until(spin), Err(RecvTimeoutError::Timeout));
    assert_eq!(answer.recv_until(spin), Err(RecvTimeoutError::Timeout));

    queue.send(1).unwrap();
    ordered.send(1).unwrap();
    ring.publish_batch(&[1, 1]).unwrap();
    let moment = Until::from(Instant::now() + BRIEFLY).by(WaitStrategy::BackoffSpin);
    assert_eq!(queue.send_until(2, moment), Err(SendTimeoutError::Timeout(2)));
    assert_eq!(ordered.send_until(2, moment), Err(SendTimeoutError::Timeout(2)));
    assert_eq!(ring.publish_until(2, moment), Err(SendTimeoutError::Timeout(2)));
    // The moment is past, and what is there is still taken.
    assert_eq!((consumer.recv_until(moment), reader.recv_until(moment)), (Ok(1), Ok(1)));
    // What `into` makes: a duration, a moment, a strategy.
    assert_eq!(receiver.recv_until(BRIEFLY), Ok(1));
    assert_eq!(reader.recv_until(Instant::now()), Ok(1));
    queue.send(3).unwrap();
    assert_eq!(consumer.recv_until(WaitStrategy::Monitor), Ok(3));
}

/// A strategy with numbers is made by a function, and read by a pattern that leaves room for more.
#[test]
fn strategy_with_numbers_is_made_by_functions() {
    let sleeps_at_once =
        |strategy| matches!(strategy, WaitStrategy::Block { spin_iters: 0, pause_iters: 0, .. });
    assert!(sleeps_at_once(WaitStrategy::block_after(0, 0)) && !sleeps_at_once(WaitStrategy::block()));
    assert_eq!("adaptive:1,2".parse(), Ok(WaitStrategy::adaptive_after(1, 2)));
    assert_eq!(WaitStrategy::adaptive_after(3, 4).to_string(), "adaptive:3,4");
}

/// A library that wraps a ring needs no dependency of its own for what is in signatures.
#[test]
fn crates_in_signatures_are_exported() {
    fn total<T: annulus::bytemuck::Pod + Into<u64>>(slots: queue::SharedSlice<'_, T>) -> u64 {
        slots.iter().map(Into::into).sum()
    }
    let _: fn(queue::SharedSlice<'_, u32>) -> u64 = total;
    assert_eq!(annulus::bytemuck::bytes_of(&7_u8), [7]);
}

#[cfg(feature = "async")]
#[test]
fn stream_is_named_without_a_dependency() {
    fn is_over(stream: &impl annulus::futures_core::FusedStream<Item = u64>) -> bool {
        stream.is_terminated()
    }
    assert!(!is_over(&spsc::channel::<u64>(1).1.into_stream()));
}

/// Errors can be kept, compared, and sent elsewhere, whatever they are of.
#[test]
fn errors_are_values() {
    fn kept<E: std::error::Error + Clone + PartialEq + Debug + Send + Sync + 'static>(error: &E) {
        assert!(error.clone() == *error && !error.to_string().is_empty());
    }
    kept(&RecvError::CLOSED);
    kept(&TryRecvError::Empty);
    kept(&RecvTimeoutError::Timeout);
    kept(&LossyTryRecvError::<std::convert::Infallible>::Lagged { skipped: 1 });
    kept(&SendError("value"));
    kept(&TrySendError::Full("value"));
    kept(&SendTimeoutError::Timeout("value"));
}

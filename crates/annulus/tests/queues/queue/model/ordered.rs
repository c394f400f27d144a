//! The ordered queue, against one `VecDeque` with its bound.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

#[cfg(feature = "async")]
use annulus::SendError;
use annulus::Settings;
use annulus::queue::ordered;
use annulus::{RecvTimeoutError, SendTimeoutError, TryRecvError, TrySendError};

use super::super::counted::{Counted, panics};
use super::step::{Step, Turn};
#[cfg(feature = "async")]
use super::tasks::Tasks;

/// What several senders and receivers do on one thread: whichever handle sends or asks, messages come in one
/// order, and there are no more than slots.
pub(crate) fn run(capacity: usize, first: u64, turns: impl IntoIterator<Item = Turn>) {
    let alive = Arc::<AtomicUsize>::default();
    let (sender, receiver) = ordered::with(Settings::new(capacity).first(first)).unwrap();
    assert_eq!((sender.capacity(), receiver.capacity()), (capacity, capacity));
    let mut senders = vec![Some(sender)];
    let mut receivers = vec![receiver];
    let mut model = VecDeque::new();
    let mut next = 0;
    let mut closed = false;
    #[cfg(feature = "async")]
    let (mut receiving, mut sending) = (Tasks::new(), Tasks::new());
    for Turn { who, step } in turns {
        let whose = who % senders.len();
        let index = who % receivers.len();
        let receiver = &receivers[index];
        let (there, full) = (model.len(), model.len() == capacity);
        let mut got = Vec::new();
        match step {
            Step::Send | Step::ReserveAndDrop(_) => {
                let Some(sender) = &senders[whose] else { continue };
                next += 1;
                assert_eq!(sender.is_full(), full);
                let message = Counted::new(next, &alive);
                let result = if matches!(step, Step::Send) {
                    sender.try_send(message)
                } else {
                    sender.send_timeout(message, Duration::ZERO).map_err(|error| match error {
                        SendTimeoutError::Timeout(back) => TrySendError::Full(back),
                        SendTimeoutError::Closed(back) => TrySendError::Closed(back),
                    })
                };
                match result {
                    Ok(()) => {
                        assert!(!full && !closed);
                        model.push_back(next);
                    }
                    Err(TrySendError::Full(back)) => assert!(full && !closed && back.number == next),
                    Err(TrySendError::Closed(back)) => assert!(closed && back.number == next),
                }
            }
            Step::Receive => match receiver.try_recv() {
                Ok(message) => got.push(message),
                Err(TryRecvError::Empty) => assert!(there == 0 && !closed),
                Err(TryRecvError::Closed) => assert!(there == 0 && closed),
            },
            #[cfg(feature = "async")]
            Step::Await(patience) => {
                let receiver = receiver.clone();
                let receive = async move { receiver.recv_async().await };
                match receiving.turn(patience, there > 0 || closed, receive) {
                    Some(Ok(message)) => got.push(message),
                    Some(Err(_)) => assert!(there == 0 && closed),
                    None => {}
                }
            }
            #[cfg(feature = "async")]
            Step::AwaitRoom(patience) => {
                let Some(sender) = senders[whose].clone() else { continue };
                next += 1;
                let message = Counted::new(next, &alive);
                let send = async move { (message.number, sender.send_async(message).await) };
                match sending.turn(patience, !full || closed, send) {
                    Some((number, Ok(()))) => {
                        assert!(!full && !closed);
                        model.push_back(number);
                    }
                    Some((number, Err(SendError(back)))) => assert!(closed && back.number == number),
                    None => {}
                }
            }
            Step::Wait => match receiver.recv_timeout(Duration::ZERO) {
                Ok(message) => got.push(message),
                Err(RecvTimeoutError::Timeout) => assert!(there == 0 && !closed),
                Err(RecvTimeoutError::Closed) => assert!(there == 0 && closed),
            },
            Step::Into(count) => {
                let mut places: Vec<_> = (0..count).map(|_| Counted::new(0, &alive)).collect();
                let received = receiver.try_recv_batch(&mut places);
                assert_eq!(received, count.min(there));
                got.extend(places.drain(..received));
            }
            Step::Read { advance } if there > 0 || closed => {
                let mut places: Vec<_> = (0..advance).map(|_| Counted::new(0, &alive)).collect();
                match receiver.recv_batch(&mut places) {
                    Ok(received) => {
                        assert_eq!(received, advance.min(there));
                        got.extend(places.drain(..received));
                    }
                    Err(_) => assert!(closed && there == 0 && advance > 0),
                }
            }
            Step::PeekMany(most) if there > 0 || closed => {
                let received = receiver.recv_many(&mut got, most);
                assert_eq!(received.ok(), (there > 0 || most == 0).then_some(most.min(there)));
                assert_eq!(got.len(), most.min(there));
            }
            Step::Skip(most) => {
                assert_eq!(receiver.skip(most), most.min(there));
                model.drain(..most.min(there));
            }
            Step::TryIter { take } => {
                got.extend(receiver.try_iter().take(take));
                assert_eq!(got.len(), take.min(there));
            }
            Step::Consume => assert_eq!(receiver.consume(usize::MAX, |message| got.push(message)), there),
            Step::ConsumeUpTo(most) => {
                assert_eq!(receiver.consume(most, |message| got.push(message)), most.min(there));
            }
            Step::HandlerPanics { after } => {
                let panicked = panics(|| {
                    receiver.consume(usize::MAX, |message| {
                        got.push(message);
                        assert!(got.len() <= after, "as asked");
                    });
                });
                assert_eq!(panicked.is_some(), got.len() > after);
            }
            Step::Look => {
                assert_eq!((receiver.len(), receiver.is_empty()), (there, there == 0));
                assert_eq!(receiver.is_closed(), closed);
                assert_eq!(receiver.is_fully_drained(), closed && there == 0);
                if let Some(sender) = &senders[whose] {
                    assert_eq!(
                        (sender.len(), sender.is_empty(), sender.is_closed()),
                        (there, there == 0, closed)
                    );
                }
            }
            Step::Close => {
                match &senders[whose] {
                    Some(sender) if who % 2 == 0 => sender.close(),
                    _ => receiver.close(),
                }
                closed = true;
            }
            Step::Join => {
                let another = receiver.clone();
                receivers.push(another);
                let another = senders.iter().flatten().next().cloned();
                senders.push(another);
            }
            Step::Leave => {
                if receivers.len() > 1 {
                    receivers.swap_remove(index);
                }
                senders[whose] = None;
            }
            _ => {}
        }
        for message in got {
            assert_eq!(model.pop_front(), Some(message.number));
        }
        assert_eq!(receivers[0].len(), model.len());
        let is_any_sender = senders.iter().any(Option::is_some);
        #[cfg(feature = "async")]
        let is_any_sender = is_any_sender || !sending.is_empty();
        closed |= !is_any_sender;
        #[cfg(feature = "async")]
        {
            receiving.check(model.len(), closed);
            sending.check(capacity - model.len(), closed);
        }
    }
    #[cfg(feature = "async")]
    drop((receiving, sending));
    if senders.iter().any(Option::is_some) {
        // What is left goes with the last receiver, while a sender lives.
        drop(receivers);
        assert_eq!(alive.load(Ordering::Relaxed), 0, "a message was not dropped");
    } else {
        drop(receivers);
    }
    drop(senders);
    assert_eq!(alive.load(Ordering::Relaxed), 0, "a message was not dropped");
}

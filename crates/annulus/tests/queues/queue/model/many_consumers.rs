//! Queues with many consumers, against one `VecDeque` for each producer.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use annulus::Settings;
use annulus::queue;
use annulus::queue::kind::ManyConsumers;
use annulus::queue::{Consumer, Producer};
use annulus::{RecvTimeoutError, TryRecvError, TrySendError};

use super::super::counted::{Counted, panics};
use super::step::{Step, Turn, WHOSE};
#[cfg(feature = "async")]
use super::tasks::Tasks;

/// What several consumers do on one thread: the oldest of some ring comes, whichever consumer asks.
pub(crate) fn run<K: ManyConsumers + 'static>(
    mut join: impl FnMut(&Producer<Counted, K>) -> Option<Producer<Counted, K>>,
    rings: impl Fn(&Consumer<Counted, K>) -> usize,
    capacity: usize,
    first: u64,
    turns: impl IntoIterator<Item = Turn>,
) {
    let alive = Arc::<AtomicUsize>::default();
    let (producer, consumer) = queue::with::<_, K>(Settings::new(capacity).first(first)).unwrap();
    let mut producers = vec![Some(producer)];
    let mut consumers = vec![consumer];
    // A producer that joins goes on in the ring of one that left: so the order is the order of each producer.
    let mut sent = vec![VecDeque::new()];
    let mut next = 0;
    let mut closed = false;
    // Producers at one time, at most: as many rings there are.
    let mut most = 1;
    #[cfg(feature = "async")]
    let mut receiving = Tasks::new();
    for Turn { who, step } in turns {
        let whose = who % producers.len();
        let there = sent.iter().map(VecDeque::len).sum::<usize>();
        let mut got = Vec::new();
        let index = who % consumers.len();
        let consumer = &mut consumers[index];
        match step {
            Step::Send => {
                next += 1;
                let number = next * WHOSE + whose as u64;
                let Some(producer) = &mut producers[whose] else { continue };
                let full = producer.is_full();
                match producer.try_send(Counted::new(number, &alive)) {
                    Ok(()) => {
                        assert!(!full && !closed);
                        sent[whose].push_back(number);
                    }
                    Err(TrySendError::Full(back)) => assert!(full && !closed && back.number == number),
                    Err(TrySendError::Closed(back)) => assert!(closed && back.number == number),
                }
            }
            Step::Receive => match consumer.try_recv() {
                Ok(message) => got.push(message),
                Err(TryRecvError::Empty) => assert!(there == 0 && !closed),
                Err(TryRecvError::Closed) => assert!(there == 0 && closed),
            },
            #[cfg(feature = "async")]
            Step::Await(patience) => {
                let mut consumer = consumer.clone();
                let receive = async move { consumer.recv_async().await };
                match receiving.turn(patience, there > 0 || closed, receive) {
                    Some(Ok(message)) => got.push(message),
                    Some(Err(_)) => assert!(there == 0 && closed),
                    None => {}
                }
            }
            Step::Wait => match consumer.recv_timeout(Duration::ZERO) {
                Ok(message) => got.push(message),
                Err(RecvTimeoutError::Timeout) => assert!(there == 0 && !closed),
                Err(RecvTimeoutError::Closed) => assert!(there == 0 && closed),
            },
            Step::Into(count) => {
                let mut places: Vec<_> = (0..count).map(|_| Counted::new(0, &alive)).collect();
                let stolen = consumer.try_recv_batch(&mut places);
                assert_eq!(stolen, count.min(there));
                got.extend(places.drain(..stolen));
            }
            Step::TryIter { take } => {
                got.extend(consumer.try_iter().take(take));
                assert_eq!(got.len(), take.min(there));
            }
            Step::Consume => assert_eq!(consumer.consume(usize::MAX, |message| got.push(message)), there),
            Step::ConsumeUpTo(most) => {
                assert_eq!(consumer.consume(most, |message| got.push(message)), most.min(there));
            }
            Step::HandlerPanics { after } => {
                let panicked = panics(|| {
                    consumer.consume(usize::MAX, |message| {
                        got.push(message);
                        assert!(got.len() <= after, "as asked");
                    });
                });
                assert_eq!(panicked.is_some(), got.len() > after);
            }
            Step::Look => {
                assert_eq!(consumer.len(), there);
                assert_eq!(consumer.is_fully_drained(), closed && there == 0);
            }
            Step::Close => {
                consumer.close();
                closed = true;
            }
            Step::Join => {
                let another = consumer.clone();
                consumers.push(another);
                if let Some(producer) = producers.iter().flatten().next().and_then(&mut join) {
                    producers.push(Some(producer));
                    sent.push(VecDeque::new());
                }
            }
            Step::Leave => {
                if consumers.len() > 1 {
                    consumers.swap_remove(index);
                }
                producers[whose] = None;
                closed |= producers.iter().all(Option::is_none);
            }
            _ => {}
        }
        for message in got {
            assert_eq!(sent[(message.number % WHOSE) as usize].pop_front(), Some(message.number));
        }
        most = most.max(producers.iter().flatten().count());
        assert_eq!(rings(&consumers[0]), most);
        #[cfg(feature = "async")]
        receiving.check(sent.iter().map(VecDeque::len).sum(), closed);
    }
    #[cfg(feature = "async")]
    drop(receiving);
    drop(consumers);
    drop(producers);
    assert_eq!(alive.load(Ordering::Relaxed), 0, "a message was not dropped");
}

//! Tasks of a runtime (tokio) at queues with several consumers: futures of both sides that `select!` drops at
//! random points lose and double nothing, and a wake-up that is not used, or used late, holds nobody up.
#![cfg(all(feature = "async", not(miri)))]
#![allow(clippy::disallowed_types, reason = "what the tests count is none of the library's atomics")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::support::runtime::{Capricious, FUTURES, soon, tokio_of};
use crate::support::tasks::Task;
use crate::support::{Pauses, without_standing_still};
use annulus::queue::kind::QueueKind;
use annulus::queue::{Consumer, Producer, ordered};
use annulus::{RecvError, mpmc, spmc};

/// Either end of a queue, as these tests use it.
trait Sends: Send + 'static {
    /// Whether it was sent.
    fn send(&mut self, number: u64) -> Task<'_, bool>;
}

trait Receives: Send + 'static {
    fn recv(&mut self) -> Task<'_, Result<u64, RecvError>>;
}

impl<K: QueueKind> Sends for Producer<u64, K>
where
    Self: Send + 'static,
{
    fn send(&mut self, number: u64) -> Task<'_, bool> {
        Box::pin(async move { self.send_async(number).await.is_ok() })
    }
}

impl<K: QueueKind> Receives for Consumer<u64, K>
where
    Self: Send + 'static,
{
    fn recv(&mut self) -> Task<'_, Result<u64, RecvError>> {
        Box::pin(self.recv_async())
    }
}

impl Sends for ordered::Sender<u64> {
    fn send(&mut self, number: u64) -> Task<'_, bool> {
        Box::pin(async move { self.send_async(number).await.is_ok() })
    }
}

impl Receives for ordered::Receiver<u64> {
    fn recv(&mut self) -> Task<'_, Result<u64, RecvError>> {
        Box::pin(self.recv_async())
    }
}

/// Drops futures at random. Counts what was sent.
async fn send_some(mut sender: impl Sends, id: u64, sent: Arc<AtomicU64>) {
    let mut random = Pauses::new(id + 1);
    for number in 0..FUTURES {
        tokio::select! {
            is_sent = sender.send(id << 32 | number) => {
                sent.fetch_add(u64::from(is_sent), Ordering::Relaxed);
            }
            () = soon(&mut random) => {}
        }
    }
}

/// Drops futures at random, and polls others too often and too late.
async fn receive_all(mut receiver: impl Receives, id: u64) -> Vec<u64> {
    let mut random = [Pauses::new(id + 1), Pauses::new(id + 101)];
    let mut received = Vec::new();
    loop {
        let [of_soon, of_executor] = &mut random;
        let future = Capricious { future: receiver.recv(), random: of_executor };
        tokio::select! {
            found = future => match found {
                Ok(number) => received.push(number),
                Err(_) => return received,
            },
            () = soon(of_soon) => {}
        }
    }
}

/// What was sent is received, each message once.
fn dropped_by_select(senders: Vec<impl Sends>, receivers: Vec<impl Receives>) {
    without_standing_still(move || {
        let sent = Arc::<AtomicU64>::default();
        let runtime = tokio_of(3);
        let senders: Vec<_> = (0..)
            .zip(senders)
            .map(|(id, sender)| runtime.spawn(send_some(sender, id, Arc::clone(&sent))))
            .collect();
        let receivers: Vec<_> =
            (10..).zip(receivers).map(|(id, receiver)| runtime.spawn(receive_all(receiver, id))).collect();
        let mut received = runtime.block_on(async {
            for sender in senders {
                sender.await.unwrap();
            }
            let mut received = Vec::new();
            for receiver in receivers {
                received.extend(receiver.await.unwrap());
            }
            received
        });
        let count = received.len();
        received.sort_unstable();
        received.dedup();
        assert_eq!(received.len(), count, "a message came twice");
        assert_eq!(count as u64, sent.load(Ordering::Relaxed));
    });
}

#[test]
fn select_loses_nothing_of_spmc() {
    let (producer, consumer) = spmc::channel(2);
    dropped_by_select(vec![producer], vec![consumer.clone(), consumer.clone(), consumer]);
}

#[test]
fn select_loses_nothing_of_mpmc() {
    let (producer, consumer) = mpmc::channel(2);
    dropped_by_select(vec![producer.clone(), producer], vec![consumer.clone(), consumer.clone(), consumer]);
}

#[test]
fn select_loses_nothing_of_the_shared_queue() {
    let (sender, receiver) = ordered::channel(2);
    dropped_by_select(vec![sender.clone(), sender], vec![receiver.clone(), receiver.clone(), receiver]);
}

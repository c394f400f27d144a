//! Batches and reservations that wait for no longer than they are told.

use std::thread;
use std::time::{Duration, Instant};

use annulus::Settings;
use annulus::queue;
use annulus::queue::kind::{InPlace, QueueKind};
use annulus::queue::ordered;
use annulus::{RecvTimeoutError, SendTimeoutError, TrySendError, Until, WaitStrategy, mpsc, spsc};

const SOON: Duration = Duration::from_millis(2);

for_each_kind! { batch_that_finds_no_room batch_that_finds_no_message }

fn batch_that_finds_no_room<K: QueueKind>() {
    let (mut producer, mut consumer) = queue::with::<_, K>(Settings::new(2)).unwrap();
    assert_eq!(producer.try_send_batch(&[]), Ok(()));
    assert_eq!(producer.send_batch_timeout(&[1, 2, 3], SOON), Err(SendTimeoutError::Timeout(&[3][..])));
    assert_eq!(producer.send_batch_until(&[3], Instant::now()), Err(SendTimeoutError::Timeout(&[3][..])));
    assert_eq!(producer.try_send_batch(&[3]), Err(TrySendError::Full(&[3][..])));
    assert_eq!(consumer.recv(), Ok(1));
    assert_eq!(producer.send_batch_until(&[3], WaitStrategy::BusySpin), Ok(()));
    consumer.close();
    assert_eq!(producer.send_batch_timeout(&[4], SOON), Err(SendTimeoutError::Closed(&[4][..])));
    assert_eq!(producer.try_send_batch(&[4]), Err(TrySendError::Closed(&[4][..])));
    assert_eq!(producer.try_send_batch(&[]), Ok(()));
    assert!(consumer.try_iter().eq([2, 3]));
}

fn batch_that_finds_no_message<K: QueueKind>() {
    let (mut producer, mut consumer) = queue::with::<_, K>(Settings::new(4)).unwrap();
    let (mut values, mut many) = ([9; 3], vec![9]);
    assert_eq!(consumer.recv_batch_timeout(&mut values, SOON), Err(RecvTimeoutError::Timeout));
    assert_eq!(consumer.recv_many_timeout(&mut many, 3, SOON), Err(RecvTimeoutError::Timeout));
    assert_eq!((values, &many[..]), ([9; 3], &[9][..]));
    assert_eq!(consumer.recv_batch_timeout(&mut [], SOON), Ok(0));
    assert_eq!(consumer.recv_many_timeout(&mut many, 0, SOON), Ok(0));
    producer.send_batch(&[1, 2, 3, 4]).unwrap();
    assert_eq!(consumer.recv_batch_timeout(&mut values[..2], Duration::ZERO), Ok(2));
    assert_eq!(consumer.recv_many_until(&mut many, 3, Instant::now()), Ok(2));
    assert_eq!((values, &many[..]), ([1, 2, 9], &[9, 3, 4][..]));
    drop(producer);
    assert_eq!(consumer.recv_batch_until(&mut values, SOON), Err(RecvTimeoutError::Closed));
    assert_eq!(consumer.recv_many_until(&mut many, 3, SOON), Err(RecvTimeoutError::Closed));
}

#[test]
fn ordered_batch_gives_up_in_time() {
    let (sender, receiver) = ordered::channel(2);
    let (mut values, mut many) = ([9; 3], vec![9]);
    assert_eq!(receiver.recv_batch_timeout(&mut values, SOON), Err(RecvTimeoutError::Timeout));
    assert_eq!(receiver.recv_many_timeout(&mut many, 3, SOON), Err(RecvTimeoutError::Timeout));
    assert_eq!(sender.send_batch_timeout(&[1, 2, 3], SOON), Err(SendTimeoutError::Timeout(&[3][..])));
    assert_eq!(sender.try_send_batch(&[3]), Err(TrySendError::Full(&[3][..])));
    assert_eq!(receiver.recv_batch_until(&mut values, Instant::now()), Ok(2));
    assert_eq!(sender.send_batch_until(&[3], Instant::now()), Ok(()));
    assert_eq!(receiver.recv_many_until(&mut many, 3, WaitStrategy::BusySpin), Ok(1));
    assert_eq!((values, &many[..]), ([1, 2, 9], &[9, 3][..]));
    receiver.close();
    assert_eq!(sender.send_batch_until(&[4], SOON), Err(SendTimeoutError::Closed(&[4][..])));
    assert_eq!(receiver.recv_batch_until(&mut values, SOON), Err(RecvTimeoutError::Closed));
}

/// A duration is for all of a batch, and not for each wait.
#[test]
fn batch_that_goes_out_slowly_gives_up_in_time() {
    const SLOWLY: Duration = Duration::from_millis(30);
    fn gives_up(mut receive: impl FnMut() -> bool + Send, send: impl FnOnce() -> bool) {
        thread::scope(|scope| {
            scope.spawn(move || {
                while receive() {
                    thread::sleep(SOON);
                }
            });
            assert!(send(), "it went on for as long as somebody received");
        });
    }
    let (mut producer, mut consumer) = spsc::channel(1);
    gives_up(
        || consumer.recv().is_ok(),
        move || matches!(producer.send_batch_timeout(&[0; 2_000], SLOWLY), Err(SendTimeoutError::Timeout(_))),
    );
    let (sender, receiver) = ordered::channel(1);
    gives_up(
        || receiver.recv().is_ok(),
        move || matches!(sender.send_batch_timeout(&[0; 2_000], SLOWLY), Err(SendTimeoutError::Timeout(_))),
    );
}

fn waits_in_place<K: InPlace + QueueKind>() {
    let (mut producer, mut consumer) = queue::with::<_, K>(Settings::new(2)).unwrap();
    let until = Until::from(SOON).by(WaitStrategy::PauseSpin);
    assert_eq!(consumer.wait_readable_until(until), Err(RecvTimeoutError::Timeout));
    assert!(consumer.wait_readable_shared_until(until).is_err());
    assert_eq!(producer.reserve(9).unwrap().write_slice(&[1, 2]), 2);
    assert_eq!(producer.reserve_until(1, until).unwrap_err(), SendTimeoutError::Timeout(()));
    assert_eq!(consumer.wait_readable_until(Instant::now()), Ok(&[1, 2][..]));
    assert_eq!(consumer.wait_readable_shared_until(until).unwrap().to_vec(), [1, 2]);
    consumer.advance(2);
    drop(producer);
    assert_eq!(consumer.wait_readable_until(until), Err(RecvTimeoutError::Closed));
}

#[test]
fn wait_in_place_gives_up_in_time() {
    waits_in_place::<spsc::Spsc>();
    waits_in_place::<mpsc::Mpsc>();
}

#[test]
#[should_panic(expected = "at least 1")]
fn short_form_without_a_slot_panics() {
    let _ = spsc::channel::<u64>(0);
}

/// A copy of a shared slice shows the same messages.
#[test]
fn shared_slice_is_copied() {
    fn again<S: Clone>(shown: &S) -> S {
        shown.clone()
    }
    let (mut producer, mut consumer) = spsc::channel(4);
    producer.send_batch(&[1, 2, 3]).unwrap();
    let shown = consumer.readable_shared();
    assert_eq!((again(&shown).to_vec(), shown.to_vec()), (vec![1, 2, 3], vec![1, 2, 3]));
}

#[cfg(feature = "async")]
mod tasks {
    use std::pin::pin;
    use std::task::{Context, Poll};

    use super::*;
    use crate::support::tasks::{Counting, block_on};

    /// A batch in a task waits at the queue of both sides: for room, and for a message.
    #[test]
    fn ordered_batches_wait_in_tasks() {
        let (sender, receiver) = ordered::channel(2);
        let (count, mut values) = (Counting::new(), [0; 4]);
        let waker = count.waker();
        let mut context = Context::from_waker(&waker);
        {
            let mut batch = pin!(receiver.recv_batch_async(&mut values));
            assert!(batch.as_mut().poll(&mut context).is_pending());
            sender.send(1).unwrap();
            assert!(count.wakes() > 0);
            assert_eq!(batch.as_mut().poll(&mut context), Poll::Ready(Ok(1)));
        }
        assert_eq!(values, [1, 0, 0, 0]);
        let before = count.wakes();
        let mut batch = pin!(sender.send_batch_async(&[2, 3, 4]));
        assert!(batch.as_mut().poll(&mut context).is_pending());
        assert_eq!((receiver.recv(), receiver.recv()), (Ok(2), Ok(3)));
        assert!(count.wakes() > before);
        assert_eq!(batch.as_mut().poll(&mut context), Poll::Ready(Ok(())));
        assert_eq!(receiver.recv(), Ok(4));
    }

    #[test]
    fn task_waits_for_messages_in_place() {
        let (mut producer, mut consumer) = spsc::channel(4);
        let waker = Counting::new().waker();
        let mut context = Context::from_waker(&waker);
        {
            let mut shown = pin!(consumer.wait_readable_shared_async());
            assert!(shown.as_mut().poll(&mut context).is_pending());
            producer.send_batch(&[1, 2]).unwrap();
            let Poll::Ready(Ok(shown)) = shown.as_mut().poll(&mut context) else { panic!("they are there") };
            assert_eq!(shown.to_vec(), [1, 2]);
        }
        consumer.advance(2);
        drop(producer);
        assert!(block_on(consumer.wait_readable_shared_async()).is_err());
        assert_eq!((consumer.total_corrupt(), consumer.last_corrupt()), (0, None));
    }

    fn unpinned<F: Future + Send + Unpin>(future: F) -> F {
        future
    }

    #[test]
    fn futures_of_verbs_need_no_pin() {
        let (mut producer, mut consumer) = spsc::channel(4);
        assert!(block_on(unpinned(producer.send_async(1))).is_ok());
        assert_eq!(block_on(unpinned(producer.send_batch_async(&[2, 3]))), Ok(()));
        assert_eq!(block_on(unpinned(consumer.recv_async())), Ok(1));
        let mut values = [0; 3];
        assert_eq!(block_on(unpinned(consumer.recv_batch_async(&mut []))), Ok(0));
        assert_eq!(block_on(unpinned(consumer.recv_batch_async(&mut values))), Ok(2));
        assert_eq!(values, [2, 3, 0]);
        consumer.close();
        assert_eq!(block_on(producer.send_batch_async(&[4])).unwrap_err().into_inner(), [4]);
        assert!(block_on(consumer.recv_batch_async(&mut values)).is_err());

        let (sender, receiver) = ordered::channel(4);
        assert!(block_on(unpinned(sender.send_async(1))).is_ok());
        assert_eq!(block_on(unpinned(sender.send_batch_async(&[2, 3]))), Ok(()));
        assert_eq!(block_on(unpinned(receiver.recv_async())), Ok(1));
        assert_eq!(block_on(unpinned(receiver.recv_batch_async(&mut values))), Ok(2));
        assert_eq!(values, [2, 3, 0]);
        drop(receiver);
        assert_eq!(block_on(sender.send_batch_async(&[4])).unwrap_err().into_inner(), [4]);
    }

    #[test]
    fn task_waits_for_room_of_a_batch_and_of_a_reservation() {
        let (mut producer, mut consumer) = spsc::channel(2);
        let reader = thread::spawn(move || {
            let mut all = Vec::new();
            while let Ok(numbers) = block_on(consumer.wait_readable_async()) {
                all.extend_from_slice(numbers);
                let count = numbers.len();
                consumer.advance(count);
            }
            all
        });
        block_on(async {
            producer.send_batch_async(&[1, 2, 3, 4, 5, 6, 7]).await.unwrap();
            for number in 8..20 {
                assert_eq!(producer.reserve_async(1).await.unwrap().fill(number), 1);
            }
        });
        producer.close();
        assert!(block_on(producer.reserve_async(1)).is_err());
        assert!(reader.join().unwrap().into_iter().eq(1..20));
    }
}

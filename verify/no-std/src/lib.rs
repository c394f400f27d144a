//! A crate without `std` that makes a ring, publishes, waits and receives, in threads and in tasks.
//! `ci/no-std` builds it for a target that has no `std` at all.
#![no_std]

use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};

use annulus::{Text, TryRecvError, WaitStrategy};

/// Sends `values` through a ring and adds up what comes out.
///
/// # Errors
///
/// What the ring says where a message does not come.
pub fn sum(values: &[u32]) -> Result<u32, TryRecvError> {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u32>(values.len().max(2));
    let mut subscriber = subscribable.subscribe();
    publisher.publish_batch(values);
    drop(publisher);
    let mut sum = 0;
    while let Ok(value) = subscriber.recv_until(WaitStrategy::adaptive_after(8, 8)) {
        sum += value;
    }
    match subscriber.try_recv() {
        Err(TryRecvError::Closed) => Ok(sum),
        Err(error) => Err(error),
        Ok(late) => Ok(sum + late),
    }
}

/// A message of one's own, and text.
#[derive(Clone, Copy, annulus::Message)]
#[message(packed)]
pub struct Reading {
    /// Where.
    pub place: Text<8>,
    /// What, if anything.
    pub value: Option<f64>,
}

/// A reading goes through a ring.
#[must_use]
pub fn read(reading: Reading) -> Option<Reading> {
    let (mut publisher, subscribable) = annulus::broadcast::lossy(2);
    publisher.publish(reading);
    subscribable.subscribe_from_oldest().recv().ok()
}

/// A large message takes the words or the vectors of this target.
#[must_use]
pub fn large() -> Option<[u64; 64]> {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<[u64; 64]>(3);
    publisher.publish([7; 64]);
    subscribable.subscribe_from_oldest().recv().ok()
}

/// A lossless ring, a stage on it, and a group.
#[must_use]
pub fn lossless() -> Option<u64> {
    let (mut publisher, subscribable) =
        annulus::broadcast::lossless_with::<u64>(annulus::Settings::new(4).headroom(1)).ok()?;
    let mut first = subscribable.subscribe_tracked();
    let mut second = subscribable.subscribe().after(&[&first]);
    let mut group = subscribable.subscribe_group::<3>();
    publisher.publish_until(7, WaitStrategy::BackoffSpin).ok()?;
    drop(publisher);
    let sum = first.recv().ok()? + group.recv().ok()?;
    first.done();
    Some(sum + second.recv().ok()?)
}

/// Many publishers, of copied messages and of owned ones.
#[must_use]
pub fn many() -> Option<usize> {
    let (publisher, subscribable) = annulus::broadcast::mp_lossy::<u32>(4);
    let mut subscriber = subscribable.subscribe();
    publisher.clone().publish(3);
    let (mut events, source) = annulus::event::mp_channel(4, || [0; 5]);
    let mut reader = source.subscribe();
    events.clone().publish(|event| event[4] = 4).ok()?;
    events.publish(|event| event[0] = 1).ok()?;
    Some(subscriber.recv().ok()? as usize + reader.process(|event| event[4]).ok()?)
}

/// A buffer, by its handle through a queue.
#[must_use]
pub fn pooled() -> Option<usize> {
    let pool = annulus::pool::BufferPool::new(100, 4);
    let (mut producer, mut consumer) = annulus::spsc::channel(4);
    producer.send(pool.alloc()?.into_handle()).ok()?;
    let buffer = pool.redeem(consumer.recv().ok()?).ok()?;
    Some(buffer.len() + pool.available())
}

/// A task that sends and one that receives, polled in turn by an executor of a few lines.
#[must_use]
pub fn tasks() -> Option<u32> {
    let (mut producer, mut consumer) = annulus::spsc::channel(1);
    let mut sender = pin!(async move {
        for number in 1..=3 {
            producer.send_async(number).await.ok()?;
        }
        Some(())
    });
    let mut receiver = pin!(async move {
        let mut sum = 0;
        while let Ok(number) = consumer.recv_async().await {
            sum += number;
        }
        sum
    });
    let mut context = Context::from_waker(Waker::noop());
    let mut is_sent = false;
    loop {
        if !is_sent {
            match sender.as_mut().poll(&mut context) {
                Poll::Ready(None) => return None,
                Poll::Ready(Some(())) => is_sent = true,
                Poll::Pending => {}
            }
        }
        if let Poll::Ready(sum) = receiver.as_mut().poll(&mut context) {
            return Some(sum);
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn library_works_without_std() {
        assert_eq!(super::sum(&[1, 2, 3]), Ok(6));
        assert_eq!(super::large(), Some([7; 64]));
        assert_eq!(super::lossless(), Some(21));
        assert_eq!(super::many(), Some(7));
        assert_eq!(super::pooled(), Some(103));
        assert_eq!(super::tasks(), Some(6));
    }
}

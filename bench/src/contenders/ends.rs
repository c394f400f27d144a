//! The ends of contenders as [`exchange`](crate::exchange) drives them.

use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::{Look, Looking, Publisher, Reader, Receiver, Sender, Subscriber};
use crate::exchange::{Sink, Source};

/// An end of a queue, by verbs that wait.
pub struct Queued<H>(pub H);

/// An end that loops over the verb that returns at once, and yields after some looks in vain.
pub struct Polling<H>(pub H);

/// A consumer that sleeps before each message.
pub struct Resting<H>(pub H);

/// An end of a ring whose readers have every message, by verbs that wait where there are such.
pub struct Broadcast<H>(pub H);

impl<H: Sender> Source for Queued<H> {
    #[inline(always)]
    fn send(&mut self, message: u64) {
        self.0.must_send(message);
    }

    fn end(self) {}
}

impl<H: Receiver> Sink for Queued<H> {
    #[inline(always)]
    fn receive(&mut self) -> Option<u64> {
        self.0.receive()
    }
}

impl<H: Receiver> Sink for Resting<H> {
    fn receive(&mut self) -> Option<u64> {
        // With what the kernel adds, so that it may wake several threads at once, some 50 µs.
        thread::sleep(Duration::from_micros(1));
        self.0.receive()
    }
}

/// So many looks in vain.
const LOOKS: u32 = 64;

impl<H: Sender> Source for Polling<H> {
    #[inline(always)]
    fn send(&mut self, message: u64) {
        let mut looks = 0;
        while !self.0.send(message) {
            looks += 1;
            if looks == LOOKS {
                thread::yield_now();
                looks = 0;
            }
        }
    }

    fn end(self) {}
}

impl<H: Looking> Sink for Polling<H> {
    #[inline(always)]
    fn receive(&mut self) -> Option<u64> {
        let mut looks = 0;
        loop {
            match self.0.look() {
                Look::Message(message) => return Some(message),
                Look::Closed => return None,
                Look::Nothing => looks += 1,
            }
            if looks == LOOKS {
                thread::yield_now();
                looks = 0;
            }
        }
    }
}

/// After the last message: not every library says that a ring is closed.
const END: u64 = u64::MAX;

impl<H: Publisher<u64>> Source for Broadcast<H> {
    #[inline(always)]
    fn send(&mut self, message: u64) {
        self.0.publish(message);
    }

    fn end(mut self) {
        self.0.publish(END);
    }
}

impl<H: Reader> Sink for Broadcast<H> {
    #[inline(always)]
    fn receive(&mut self) -> Option<u64> {
        let mut received = None;
        while !self.0.poll(|message| received = Some(message)) {
            spin_loop();
        }
        received.filter(|&message| message != END)
    }
}

/// A publisher of a lossy ring, where what says that it was the last message would be lost.
pub struct LossySource<H> {
    publisher: H,
    /// How many publishers have ended.
    ended: Arc<AtomicUsize>,
}

/// A subscriber of a lossy ring with so many publishers, which spins.
pub struct LossySink<H, const P: usize> {
    subscriber: H,
    ended: Arc<AtomicUsize>,
}

/// The ends of a lossy ring.
pub fn lossy_ends<H, S, const P: usize, const C: usize>(
    publishers: [H; P],
    subscribers: [S; C],
) -> ([LossySource<H>; P], [LossySink<S, P>; C]) {
    let ended = Arc::new(AtomicUsize::new(0));
    let publishers = publishers.map(|publisher| LossySource { publisher, ended: ended.clone() });
    (publishers, subscribers.map(|subscriber| LossySink { subscriber, ended: ended.clone() }))
}

impl<H: Publisher<u64>> Source for LossySource<H> {
    #[inline(always)]
    fn send(&mut self, message: u64) {
        self.publisher.publish(message);
    }

    fn end(self) {
        self.ended.fetch_add(1, Ordering::Release);
    }
}

impl<H: Subscriber<u64>, const P: usize> Sink for LossySink<H, P> {
    #[inline(always)]
    fn receive(&mut self) -> Option<u64> {
        loop {
            // In this order: what all have published by then is found.
            let all_ended = self.ended.load(Ordering::Acquire) == P;
            let lagged = self.subscriber.total_lagged();
            match self.subscriber.try_recv() {
                Ok(message) => return Some(message),
                Err(_) if all_ended && self.subscriber.total_lagged() == lagged => return None,
                Err(_) => spin_loop(),
            }
        }
    }

    fn missed(&self) -> u64 {
        self.subscriber.total_lagged()
    }
}

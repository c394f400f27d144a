//! A task that wakes another, without a channel: what an executor needs for that.

use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Poll, Waker};

use crate::contenders::{Named, TaskChannel, TaskReceiver, TaskSender};

/// A place for one message, and the waker of the task that waits for it, which stays the same.
pub struct BareWake;

pub struct Place {
    /// One more than the message; or one of these.
    message: AtomicU64,
    waker: OnceLock<Waker>,
}

const NOTHING: u64 = 0;
const CLOSED: u64 = u64::MAX;

pub struct Giver(Arc<Place>);
pub struct Taker(Arc<Place>);

impl Named for BareWake {
    const NAME: &'static str = "a bare wake-up";
}

impl TaskChannel for BareWake {
    type Sender = Giver;
    type Receiver = Taker;

    fn channel(_: usize) -> (Giver, Taker) {
        let place = Arc::new(Place { message: AtomicU64::new(NOTHING), waker: OnceLock::new() });
        (Giver(place.clone()), Taker(place))
    }
}

impl Place {
    fn put(&self, message: u64) {
        // Release: pairs with the Acquire of `receive`.
        self.message.store(message, Ordering::Release);
        if let Some(waker) = self.waker.get() {
            waker.wake_by_ref();
        }
    }
}

impl TaskSender for Giver {
    #[inline(always)]
    async fn send(&mut self, message: u64) -> bool {
        while self.0.waker.get().is_none() {
            tokio::task::yield_now().await;
        }
        self.0.put(message + 1);
        true
    }
}

impl Drop for Giver {
    fn drop(&mut self) {
        self.0.put(CLOSED);
    }
}

impl TaskReceiver for Taker {
    #[inline(always)]
    async fn receive(&mut self) -> Option<u64> {
        let place = &*self.0;
        let message = poll_fn(|context| {
            place.waker.get_or_init(|| context.waker().clone());
            // Acquire: pairs with the Release of `put`.
            match place.message.load(Ordering::Acquire) {
                NOTHING => Poll::Pending,
                message => Poll::Ready(message),
            }
        })
        .await;
        if message == CLOSED {
            return None;
        }
        // Relaxed: the next message comes after an answer to this one.
        place.message.store(NOTHING, Ordering::Relaxed);
        Some(message - 1)
    }
}

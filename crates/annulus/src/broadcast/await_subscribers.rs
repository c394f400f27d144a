//! [`AwaitSubscribers`]: a publisher that waits until somebody listens, and the verbs that do so.

use super::ring_state::RingState;
use crate::ring::Store;
use crate::wait::{EventCount, Look, Poll, Until, wait_until};

/// Until a ring has so many subscribers (true), or can have none any more (false).
pub(super) struct AwaitSubscribers<'s, S> {
    shared: &'s RingState<S>,
    count: usize,
}

impl<'s, S: Store> AwaitSubscribers<'s, S> {
    /// From now on, a subscriber that joins notifies.
    pub(super) fn new(shared: &'s RingState<S>, count: usize) -> Self {
        shared.receivers().await_subscribers();
        Self { shared, count }
    }

    /// Waits. False once the time has passed.
    pub(super) fn wait(mut self, until: Until) -> bool {
        let strategy = until.strategy_or(|| self.shared.strategy);
        wait_until(&mut self, strategy, until.deadline()).unwrap_or(false)
    }
}

impl<S: Store> Poll for AwaitSubscribers<'_, S> {
    type Found = bool;

    /// A join, the leave of the last subscriber or of another publisher, and a close notify there.
    fn wait_point(&self) -> &EventCount {
        &self.shared.released
    }

    fn poll(&mut self) -> Look<bool> {
        if self.shared.has_subscribers(self.count) {
            Look::Found(true)
        } else if self.shared.is_ending() || self.shared.has_no_subscribing_handle() {
            Look::Found(false)
        } else {
            Look::Nothing
        }
    }
}

/// Writes the verbs of a publisher that wait for subscribers. `make` is a line of the example that makes a
/// `publisher` and a `subscribable`.
macro_rules! awaits_subscribers {
    (make: $make:literal, |$publisher:ident| $shared:expr) => {
        /// Waits until the ring has `count` subscribers, and returns whether it has: false if it can't have
        /// them any more, because somebody closed the ring, or because no handle is left that could
        /// subscribe: no subscriber, nothing that makes some, and no other publisher, which could make some,
        /// too. (Another one that waits here counts as well. So if all publishers wait here, and nothing else
        /// is left, only a close or a timeout ends it.) Waits with the [`WaitStrategy`](crate::WaitStrategy)
        /// of the ring. `count` is meant as in [`subscriber_count`](Self::subscriber_count): of a lossy ring
        /// between processes, other processes do not count, and do not end this.
        ///
        /// What is published from then on reaches these subscribers: each of them begins there, or earlier.
        /// (A subscriber may still leave.)
        ///
        /// # Examples
        ///
        /// ```
        #[doc = $make]
        /// let thread = std::thread::spawn(move || subscribable.subscribe());
        /// assert!(publisher.wait_for_subscribers(1));
        /// drop(thread.join().unwrap()); // that was the last one, and nobody can subscribe
        /// assert!(!publisher.wait_for_subscribers(1));
        /// ```
        #[must_use = "it says whether they have come"]
        pub fn wait_for_subscribers(&self, count: usize) -> bool {
            let $publisher = self;
            $crate::broadcast::await_subscribers::AwaitSubscribers::new($shared, count)
                .wait($crate::Until::FOREVER)
        }

        /// As [`wait_for_subscribers`](Self::wait_for_subscribers), but gives up after `timeout` on the
        /// monotonic clock, and then returns false. A timeout that is too long for the clock means no
        /// timeout.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = $make]
        /// let timeout = std::time::Duration::from_millis(1);
        /// assert!(!publisher.wait_for_subscribers_timeout(1, timeout));
        /// let _subscriber = subscribable.subscribe();
        /// assert!(publisher.wait_for_subscribers_timeout(1, timeout));
        /// ```
        #[cfg(feature = "std")]
        #[must_use = "it says whether they have come"]
        pub fn wait_for_subscribers_timeout(&self, count: usize, timeout: core::time::Duration) -> bool {
            self.wait_for_subscribers_until(count, timeout)
        }

        /// As [`wait_for_subscribers`](Self::wait_for_subscribers), but waits as [`Until`](crate::Until)
        /// says. False if they have not come in time.
        #[must_use = "it says whether they have come"]
        pub fn wait_for_subscribers_until(&self, count: usize, until: impl Into<$crate::Until>) -> bool {
            let $publisher = self;
            $crate::broadcast::await_subscribers::AwaitSubscribers::new($shared, count).wait(until.into())
        }

        /// As [`wait_for_subscribers`](Self::wait_for_subscribers), in a task: the task waits, not its
        /// thread.
        ///
        /// *Cancel safety*: a future that is dropped has changed nothing.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = $make]
        /// let _subscriber = subscribable.subscribe();
        /// assert!(pollster::block_on(publisher.wait_for_subscribers_async(1)));
        /// ```
        #[cfg(feature = "async")]
        pub fn wait_for_subscribers_async(
            &self,
            count: usize,
        ) -> impl core::future::Future<Output = bool> + Unpin {
            let $publisher = self;
            let subscribers = $crate::broadcast::await_subscribers::AwaitSubscribers::new($shared, count);
            // SAFETY: the eventcounts are in the ring's shared state, which the publisher's handle keeps
            // alive.
            unsafe { $crate::wait::Waiting::new(subscribers) }
        }
    };
}
pub(super) use awaits_subscribers;

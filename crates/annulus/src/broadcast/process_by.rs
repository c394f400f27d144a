//! The verbs that process by closure and wait in another way than the ring: by a strategy, for a time, or
//! until a moment. They are the same for stages and for subscribers of events.

/// Of one message. `see` says where the rule for closures is. `after`: waits by a function, then processes.
macro_rules! process_in_other_ways {
    (see: $see:literal, by: $by:ident, timeout: $timeout:ident, deadline: $deadline:ident) => {
        /// As [`process`](Self::process), waiting by `strategy`. `look` must not wait for room in this ring:
        #[doc = $see]
        ///
        /// # Errors
        ///
        /// Those of [`process`](Self::process).
        #[doc(alias = "process_with")]
        #[inline]
        pub fn process_by<R>(
            &mut self,
            strategy: WaitStrategy,
            look: impl FnOnce(&T) -> R,
        ) -> Result<R, RecvError> {
            self.process_after(look, |reader| reader.$by(strategy))
        }

        /// As [`process`](Self::process), but gives up after `timeout` on the monotonic clock. A timeout of
        /// zero still processes what is there. `look` must not wait for room in this ring:
        #[doc = $see]
        ///
        /// # Errors
        ///
        /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time.
        /// [`Closed`](RecvTimeoutError::Closed): the ring is closed and nothing is left.
        #[cfg(feature = "std")]
        #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
        pub fn process_timeout<R>(
            &mut self,
            timeout: Duration,
            look: impl FnOnce(&T) -> R,
        ) -> Result<R, RecvTimeoutError> {
            self.process_after(look, |reader| reader.$timeout(timeout))
        }

        /// As [`process_timeout`](Self::process_timeout), but gives up at `deadline`. `look` must not wait
        /// for room in this ring:
        #[doc = $see]
        ///
        /// # Errors
        ///
        /// Those of [`process_timeout`](Self::process_timeout).
        #[cfg(feature = "std")]
        #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
        pub fn process_deadline<R>(
            &mut self,
            deadline: Instant,
            look: impl FnOnce(&T) -> R,
        ) -> Result<R, RecvTimeoutError> {
            self.process_after(look, |reader| reader.$deadline(deadline))
        }
    };
}
pub(super) use process_in_other_ways;

/// Of a batch.
macro_rules! process_batch_in_other_ways {
    (see: $see:literal, by: $by:ident, timeout: $timeout:ident, deadline: $deadline:ident) => {
        /// As [`process_batch`](Self::process_batch), waiting by `strategy`. `look` must not wait for room in
        /// this ring:
        #[doc = $see]
        ///
        /// # Errors
        ///
        /// Those of [`process`](Self::process).
        #[doc(alias = "process_batch_with")]
        pub fn process_batch_by(
            &mut self,
            strategy: WaitStrategy,
            most: usize,
            look: impl FnMut(&T, bool),
        ) -> Result<usize, RecvError> {
            self.process_batch_after(most, look, |reader| reader.$by(strategy))
        }

        /// As [`process_batch`](Self::process_batch), but gives up after `timeout` on the monotonic clock.
        /// `look` must not wait for room in this ring:
        #[doc = $see]
        ///
        /// # Errors
        ///
        /// Those of [`process_timeout`](Self::process_timeout).
        #[cfg(feature = "std")]
        #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
        pub fn process_batch_timeout(
            &mut self,
            timeout: Duration,
            most: usize,
            look: impl FnMut(&T, bool),
        ) -> Result<usize, RecvTimeoutError> {
            self.process_batch_after(most, look, |reader| reader.$timeout(timeout))
        }

        /// As [`process_batch_timeout`](Self::process_batch_timeout), but gives up at `deadline`. `look` must
        /// not wait for room in this ring:
        #[doc = $see]
        ///
        /// # Errors
        ///
        /// Those of [`process_timeout`](Self::process_timeout).
        #[cfg(feature = "std")]
        #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
        pub fn process_batch_deadline(
            &mut self,
            deadline: Instant,
            most: usize,
            look: impl FnMut(&T, bool),
        ) -> Result<usize, RecvTimeoutError> {
            self.process_batch_after(most, look, |reader| reader.$deadline(deadline))
        }
    };
}
pub(super) use process_batch_in_other_ways;

//! The latency sampler: measures how long a message lies in a lane, for one message at a time.
//!
//! The producer writes down the time and the number of a message. The consumer reads the clock again when it
//! learns of that message, or comes to it. Both do this only where they look how far the other side is, and
//! with a sampler they do so at least once in [`SAMPLE_INTERVAL`] messages. So a queue without a sampler pays
//! nothing for each message.
//!
//! ```text
//! producer                                               consumer
//! sampler.send1  is nothing measured?         Acquire    sampler.take3  is something measured?          Acquire
//! sampler.send2  number, time; measuring      Release    sampler.take4  record; nothing is measured     Release
//! ```

#[cfg(feature = "std")]
use std::sync::OnceLock;
#[cfg(feature = "std")]
use std::time::Instant;

use crate::lane::Number;
use crate::stats::Latency;
use crate::sync::{AtomicBool, AtomicU64, Ordering};

/// At least so many messages lie between two that are measured.
// Decision 0061: nothing is counted for each message. Decision 0080: not one in 64.
pub(super) const SAMPLE_INTERVAL: u64 = 256;

/// The sampler of one lane.
pub(super) struct LatencySampler {
    /// Whether a message is measured. While it is, the consumer reads its number and time; otherwise the
    /// producer may write them.
    measuring: AtomicBool,
    number: AtomicU64,
    time: AtomicU64,
    /// The results. Only the consumer uses them.
    samples: AtomicU64,
    total_ns: AtomicU64,
    min_ns: AtomicU64,
    max_ns: AtomicU64,
}

impl LatencySampler {
    pub(super) fn new() -> Self {
        let zero = || AtomicU64::new(0);
        Self {
            measuring: AtomicBool::new(false),
            number: zero(),
            time: zero(),
            samples: zero(),
            total_ns: zero(),
            min_ns: AtomicU64::new(u64::MAX),
            max_ns: zero(),
        }
    }

    /// sampler.send1 and sampler.send2. The producer is about to send message `tail`, and may send until
    /// `limit`. Returns before which message it must look again.
    #[inline]
    pub(super) fn begin_sample(&self, tail: Number, limit: Number) -> Number {
        if limit == tail {
            return limit;
        }
        // Acquire: pairs with sampler.take4.
        if !self.measuring.load(Ordering::Acquire) {
            self.number.store(tail.get(), Ordering::Relaxed);
            self.time.store(now(), Ordering::Relaxed);
            // Release: pairs with sampler.take3.
            self.measuring.store(true, Ordering::Release);
        }
        tail.plus(limit.since(tail).min(SAMPLE_INTERVAL))
    }

    /// sampler.take3 and sampler.take4. The consumer is about to take message `head`, and messages are there
    /// until `limit`. Returns before which message it must look again.
    #[cold]
    pub(super) fn end_sample(&self, head: Number, limit: Number) -> Number {
        // Acquire: pairs with sampler.send2.
        if limit == head || !self.measuring.load(Ordering::Acquire) {
            return limit;
        }
        let measured = Number::new(self.number.load(Ordering::Relaxed));
        // It may already have been taken, if many were taken at once.
        if !head.is_before(measured) {
            self.record(now().saturating_sub(self.time.load(Ordering::Relaxed)));
            // Release: pairs with sampler.send1.
            self.measuring.store(false, Ordering::Release);
            return limit;
        }
        head.plus(measured.since(head).min(limit.since(head)))
    }

    fn record(&self, ns: u64) {
        // Relaxed: only the consumer writes and reads them.
        let add = |to: &AtomicU64, what| {
            to.store(to.load(Ordering::Relaxed).saturating_add(what), Ordering::Relaxed);
        };
        add(&self.samples, 1);
        add(&self.total_ns, ns);
        self.min_ns.store(self.min_ns.load(Ordering::Relaxed).min(ns), Ordering::Relaxed);
        self.max_ns.store(self.max_ns.load(Ordering::Relaxed).max(ns), Ordering::Relaxed);
    }

    /// Drops all results, for a new producer. The consumer may be recording a message of the producer before:
    /// then some of its results are counted for the new one.
    pub(super) fn reset(&self) {
        self.measuring.store(false, Ordering::Relaxed);
        for zero in [&self.samples, &self.total_ns, &self.max_ns] {
            zero.store(0, Ordering::Relaxed);
        }
        self.min_ns.store(u64::MAX, Ordering::Relaxed);
    }

    /// The results, if there are any.
    pub(super) fn latency(&self) -> Option<Latency> {
        let samples = self.samples.load(Ordering::Relaxed);
        (samples > 0).then(|| Latency {
            samples,
            min_ns: self.min_ns.load(Ordering::Relaxed),
            mean_ns: self.total_ns.load(Ordering::Relaxed) / samples,
            max_ns: self.max_ns.load(Ordering::Relaxed),
        })
    }
}

/// Nanoseconds of the monotonic clock since some fixed moment.
#[cfg(feature = "std")]
fn now() -> u64 {
    static BEGINNING: OnceLock<Instant> = OnceLock::new();
    let passed = BEGINNING.get_or_init(Instant::now).elapsed();
    u64::try_from(passed.as_nanos()).unwrap_or(u64::MAX)
}

/// Without a clock no queue has a sampler.
// Mutants: `with 1`: not in this build: without std.
#[cfg(not(feature = "std"))]
fn now() -> u64 {
    0
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    fn samples(sampler: &LatencySampler) -> u64 {
        sampler.latency().map_or(0, |latency| latency.samples)
    }

    /// With numbers that wrap, too.
    const FIRSTS: [Number; 3] = [Number::new(0), Number::new(100), Number::new(u64::MAX - 5)];

    #[test]
    fn one_message_at_a_time_is_measured_where_the_consumer_comes_to_it() {
        for first in FIRSTS {
            let (sampler, at) = (LatencySampler::new(), |count| first.plus(count));
            assert_eq!(sampler.end_sample(at(0), at(10)), at(10), "nothing is measured");
            assert_eq!(sampler.begin_sample(at(4), at(4)), at(4), "there is no room");
            assert_eq!(sampler.begin_sample(at(4), at(9)), at(9));
            assert_eq!(sampler.begin_sample(at(5), at(999)), at(5 + SAMPLE_INTERVAL), "4 is measured");
            assert_eq!(sampler.end_sample(at(1), at(1)), at(1), "nothing is there");
            // It is to learn anew when it comes to message 4.
            assert_eq!([2, 4, 5].map(|limit| sampler.end_sample(at(1), at(limit))), [at(2), at(4), at(4)]);
            assert_eq!((samples(&sampler), sampler.end_sample(at(4), at(9))), (0, at(9)));
            assert_eq!(samples(&sampler), 1);
            // Where many are taken at once, it comes to what follows.
            assert_eq!(sampler.begin_sample(at(9), at(10)), at(10));
            assert_eq!((sampler.end_sample(at(11), at(12)), samples(&sampler)), (at(12), 2));
            assert_eq!((sampler.end_sample(at(12), at(13)), samples(&sampler)), (at(13), 2), "measured once");
        }
    }

    #[test]
    fn times_add_up_and_are_forgotten() {
        let sampler = LatencySampler::new();
        assert!(sampler.latency().is_none());
        for ns in [7, 1, 4] {
            sampler.record(ns);
        }
        assert_eq!(sampler.latency(), Some(Latency { samples: 3, min_ns: 1, mean_ns: 4, max_ns: 7 }));
        let (first, limit) = (Number::new(0), Number::new(1));
        sampler.begin_sample(first, limit);
        sampler.reset();
        assert!(sampler.latency().is_none());
        assert_eq!(sampler.end_sample(first, limit), limit);
        assert!(sampler.latency().is_none(), "nothing is measured any more");
        sampler.record(9);
        assert_eq!(sampler.latency(), Some(Latency { samples: 1, min_ns: 9, mean_ns: 9, max_ns: 9 }));
    }

    #[test]
    fn clock_advances() {
        let begun = now();
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert!(now() - begun >= 2_000_000);
    }
}

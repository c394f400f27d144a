//! Three members that receive as one: the group as a whole must do what a subscriber does, and each member's
//! account too.

use std::time::{Duration, Instant};

use annulus::broadcast::{Lossless, MpPublisher, Publisher, Subscribable, SubscriberGroup, Unstaged};
use annulus::{LossyTryRecvError, RecvError, RecvTimeoutError, WaitStrategy};

#[cfg(feature = "async")]
use futures_util::StreamExt;

#[cfg(feature = "async")]
use crate::support::tasks::{Messages, Task, block_on};

use super::{Got, Receive, Verb, ring, verbs};

/// How many members.
const MEMBERS: usize = 3;

type Group = SubscriberGroup<u64, MEMBERS>;
type BoundGroup = SubscriberGroup<u64, MEMBERS, Lossless>;

ring!(Grouped, lossless: false, many: false, Publisher<u64>, Subscribable<u64>, Group,
    |builder| annulus::broadcast::lossy_with(builder), |source| source.subscribe_group(), oldest: |_none| None);
ring!(GroupedLossless, lossless: true, many: false,
    Publisher<u64, Lossless>, Subscribable<u64, Lossless>, BoundGroup,
    |builder| annulus::broadcast::lossless_with(builder), |source| source.subscribe_group(), oldest: |_none| None);
ring!(GroupedMpLossy, lossless: false, many: true, MpPublisher<u64>, Subscribable<u64>, Group,
    |builder| annulus::broadcast::mp_lossy_with(builder), |source| source.subscribe_group(), oldest: |_none| None, passes_over: true);
ring!(GroupedMpLossless, lossless: true, many: true,
    MpPublisher<u64, Lossless>, Subscribable<u64, Lossless>, BoundGroup,
    |builder| annulus::broadcast::mp_lossless_with(builder), |source| source.subscribe_group(), oldest: |_none| None);

/// What all members say.
fn agreed<T: PartialEq + std::fmt::Debug>(of: impl Fn(usize) -> T) -> T {
    let first = of(0);
    (1..MEMBERS).for_each(|member| assert_eq!(of(member), first, "members are aligned"));
    first
}

impl<M: Unstaged> Receive for SubscriberGroup<u64, MEMBERS, M>
where
    SubscriberGroup<u64, MEMBERS, M>: Send,
{
    fn try_recv(&mut self) -> Result<u64, LossyTryRecvError> {
        self.try_recv().map_err(Into::into)
    }

    fn recv(&mut self) -> Result<u64, RecvError> {
        self.recv()
    }

    #[cfg(feature = "async")]
    fn recv_async(&mut self) -> Task<'_, Result<u64, RecvError>> {
        Box::pin(self.recv_async())
    }

    #[cfg(feature = "async")]
    fn into_stream(self) -> Option<Messages> {
        Some(Box::pin(self.into_stream()))
    }

    fn recv_timeout(&mut self, timeout: Duration) -> Result<u64, RecvTimeoutError> {
        self.recv_timeout(timeout)
    }

    fn recv_until(&mut self, deadline: Instant) -> Result<u64, RecvTimeoutError> {
        self.recv_until(deadline)
    }

    fn panic_on_next(&mut self) -> bool {
        false
    }

    fn cursor(&self) -> u64 {
        agreed(|member| self.cursor(member))
    }

    fn received(&self) -> u64 {
        agreed(|member| self.total_received(member))
    }

    fn lagged(&self) -> u64 {
        agreed(|member| self.total_lagged(member))
    }

    fn len(&self) -> usize {
        // Not compared: publishers may run.
        self.len(0)
    }

    fn capacity(&self) -> usize {
        self.capacity()
    }

    fn is_closed(&self) -> bool {
        self.is_closed()
    }

    fn fork(&self) -> Option<Self> {
        None
    }

    fn verbs() -> Vec<Verb<Self>> {
        #[allow(unused_mut, reason = "without the feature `async` nothing is added")]
        let mut verbs: Vec<Verb<Self>> = verbs! {
            "try_recv", false, |group| Receive::try_recv(group);
            "recv", true, |group| group.recv();
            "recv_until", true, |group| group.recv_until(WaitStrategy::Monitor);
            "recv_timeout", false, |group| group.recv_timeout(Duration::ZERO);
            "recv_until", false, |group| group.recv_until(Instant::now());
            "try_recv_batch", false, |group| {
                let mut buffer = [0; 3];
                let count = group.try_recv_batch(&mut buffer);
                buffer[..count].to_vec()
            };
            "recv_batch", true, |group| {
                assert_eq!(group.recv_batch(&mut []), Ok(0), "at once");
                let mut buffer = [u64::MAX; 3];
                let result = group.recv_batch(&mut buffer);
                let count = result.unwrap_or(0);
                assert!(buffer[count..].iter().all(|&left| left == u64::MAX), "wrote behind its count");
                Got::of_batch(result, buffer[..count].to_vec())
            };
            "recv_many", true, |group| {
                let mut buffer = vec![u64::MAX];
                assert_eq!(group.recv_many(&mut buffer, 0), Ok(0), "at once");
                let result = group.recv_many(&mut buffer, 2);
                assert_eq!(buffer.remove(0), u64::MAX);
                Got::of_batch(result, buffer)
            };
            "try_iter", false, |group| group.try_iter().collect::<Vec<_>>();
            "try_iter, a part of it", false, |group| group.try_iter().next();
            "iter", true, |group| group.iter().next();
            "into_iter", true, |group| group.into_iter().next();
            "one pauses and catches up", false, |group| {
                group.pause(1);
                let got = Receive::try_recv(group);
                while !group.is_aligned(1) {
                    let _ = group.try_recv_member(1);
                }
                got
            };
        };
        #[cfg(feature = "async")]
        {
            let more: Vec<Verb<Self>> = verbs! {
                "recv_async", true, |group| block_on(group.recv_async());
                "recv_batch_async", true, |group| {
                    assert_eq!(block_on(group.recv_batch_async(&mut [])), Ok(0), "at once");
                    let mut buffer = [u64::MAX; 3];
                    let result = block_on(group.recv_batch_async(&mut buffer));
                    let count = result.unwrap_or(0);
                    assert!(buffer[count..].iter().all(|&left| left == u64::MAX), "wrote behind its count");
                    Got::of_batch(result, buffer[..count].to_vec())
                };
                "stream", true, |group| block_on(group.stream().next());
            };
            verbs.extend(more);
        }
        verbs
    }
}

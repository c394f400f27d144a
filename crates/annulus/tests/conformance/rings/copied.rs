//! Rings whose messages are copied.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use annulus::broadcast::{
    Lossless as Bound, Lossy as Unbound, MayLose, Mode, MpPublisher, Publisher, Staged, Subscribable,
    Subscriber, Unstaged,
};
use annulus::schema::BadValue;
#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
use annulus::shm::broadcast::{AcceptedLossless, Awaited, Foreign};
use annulus::{
    LossyTryRecvError, RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError, WaitStrategy,
};

#[cfg(feature = "async")]
use futures_util::StreamExt;

#[cfg(feature = "async")]
use crate::support::tasks::{Messages, Task, block_on};

use super::{Got, Publish, Receive, Verb, batch, ring, verbs};

ring!(Lossy, lossless: false, many: false, Publisher<u64>, Subscribable<u64>, Subscriber<u64>,
    |builder| annulus::broadcast::lossy_with(builder), |source| source.subscribe(), oldest: |source| Some(source.subscribe_from_oldest()));
#[cfg(feature = "std")]
ring!(MappedLossy, lossless: false, many: false, Publisher<u64>, Subscribable<u64>, Subscriber<u64>,
    |builder| annulus::broadcast::lossy_with(builder.memory(super::mapped())), |source| source.subscribe(),
    oldest: |source| Some(source.subscribe_from_oldest()));
// Between processes: both the publisher's mapping and that of subscribers are here.
#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
ring!(SharedLossy, lossless: false, many: false, Publisher<u64>, Subscribable<u64, Foreign>, Subscriber<u64, Foreign>,
    |builder| {
        use annulus::shm::{ShareError, Shared, broadcast};

        match broadcast::lossy::<u64>(builder) {
            Ok(Shared { handle, invitation, .. }) => {
                Ok((handle, invitation.accept::<u64>().unwrap().subscribable().clone()))
            }
            Err(ShareError::Capacity(error)) => Err(error),
            Err(error) => panic!("{error}"),
        }
    },
    |source| source.subscribe(), oldest: |source| Some(source.subscribe_from_oldest()));
#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
ring!(SharedLossless, lossless: true, many: false,
    Publisher<u64, Bound>, AcceptedLossless<u64>, Subscriber<u64, Awaited>,
    |builder| match annulus::shm::broadcast::lossless::<u64>(builder, 64) {
        Ok(annulus::shm::Shared { handle, invitation, .. }) => {
            Ok((handle, invitation.accept_lossless().unwrap()))
        }
        Err(annulus::shm::ShareError::Capacity(error)) => Err(error),
        Err(error) => panic!("{error}"),
    },
    |source| source.subscribe().unwrap(), oldest: |source| Some(source.subscribe_from_oldest().unwrap()),
    between_processes: true);
#[cfg(feature = "std")]
ring!(MappedMpLossless, lossless: true, many: true,
    MpPublisher<u64, Bound>, Subscribable<u64, Bound>, Subscriber<u64, Bound>,
    |builder| annulus::broadcast::mp_lossless_with(builder.memory(super::mapped())), |source| source.subscribe(),
    oldest: |source| Some(source.subscribe_from_oldest()));
ring!(Lossless, lossless: true, many: false,
    Publisher<u64, Bound>, Subscribable<u64, Bound>, Subscriber<u64, Bound>,
    |builder| annulus::broadcast::lossless_with(builder), |source| source.subscribe(), oldest: |source| Some(source.subscribe_from_oldest()));
ring!(MpLossy, lossless: false, many: true, MpPublisher<u64>, Subscribable<u64>, Subscriber<u64>,
    |builder| annulus::broadcast::mp_lossy_with(builder), |source| source.subscribe(), oldest: |source| Some(source.subscribe_from_oldest()),
    passes_over: true);
ring!(MpLossless, lossless: true, many: true,
    MpPublisher<u64, Bound>, Subscribable<u64, Bound>, Subscriber<u64, Bound>,
    |builder| annulus::broadcast::mp_lossless_with(builder), |source| source.subscribe(), oldest: |source| Some(source.subscribe_from_oldest()));
ring!(Tap, lossless: false, many: false,
    Publisher<u64, Bound>, Subscribable<u64, Bound>, Subscriber<u64>,
    |builder| annulus::broadcast::lossless_with(builder), |source| source.subscribe_lossy(), oldest: |_none| None);
ring!(MpTap, lossless: false, many: true,
    MpPublisher<u64, Bound>, Subscribable<u64, Bound>, Subscriber<u64>,
    |builder| annulus::broadcast::mp_lossless_with(builder), |source| source.subscribe_lossy(), oldest: |_none| None);

/// What a publishing verb returns, with the value that comes back checked and taken out.
trait Told {
    type Without;
    fn about(self, number: u64) -> Self::Without;
}

impl Told for () {
    type Without = Result<(), SendError<()>>;

    fn about(self, _: u64) -> Self::Without {
        Ok(())
    }
}

/// How many of a batch.
impl Told for usize {
    type Without = Result<(), SendError<()>>;

    fn about(self, _: u64) -> Self::Without {
        Ok(())
    }
}

impl Told for Result<(), SendError<u64>> {
    type Without = Result<(), SendError<()>>;

    fn about(self, number: u64) -> Self::Without {
        self.map_err(|error| {
            assert_eq!(error.into_inner(), number);
            SendError(())
        })
    }
}

impl Told for Result<(), TrySendError<u64>> {
    type Without = Result<(), TrySendError<()>>;

    fn about(self, number: u64) -> Self::Without {
        self.map_err(|error| {
            assert_eq!(error.into_inner(), number);
            if error.is_full() { TrySendError::Full(()) } else { TrySendError::Closed(()) }
        })
    }
}

impl Told for Result<(), SendError<&[u64]>> {
    type Without = Result<(), SendError<()>>;

    fn about(self, last: u64) -> Self::Without {
        self.map_err(|error| {
            assert_eq!(error.into_inner().last(), Some(&last));
            SendError(())
        })
    }
}

/// A publisher of copied messages: what it does where the rings differ.
macro_rules! publisher {
    ($publisher:ty, try_publish: |$this:ident, $number:ident| $try:expr, is_abandoned: |$of:ident| $abandoned:expr,
     another: |$original:ident| $another:expr, in_a_task: |$waiting:ident, $next:ident| $in_a_task:expr $(,)?) => {
        impl Publish for $publisher {
            fn publish(&mut self, number: u64) -> Result<(), SendError<()>> {
                (*self).publish(number).about(number)
            }

            #[cfg(feature = "async")]
            fn publish_async(&mut self, $next: u64) -> Task<'_, Result<(), SendError<()>>> {
                let $waiting = self;
                Box::pin(async move { $in_a_task.about($next) })
            }

            fn try_publish(&mut self, $number: u64) -> Result<(), TrySendError<()>> {
                let $this = self;
                $try
            }

            fn publish_batch(&mut self, numbers: &[u64]) -> Result<(), SendError<()>> {
                (*self).publish_batch(numbers).about(numbers.last().copied().unwrap_or_default())
            }

            fn publish_panicking(&mut self) {
                let publish = || (*self).publish_with(|| resume_unwind(Box::new("on purpose")));
                catch_unwind(AssertUnwindSafe(publish)).expect_err("it was to panic");
            }

            fn published(&self) -> u64 {
                self.published()
            }

            fn capacity(&self) -> usize {
                self.capacity()
            }

            fn receiving_handle(&self) -> Option<Box<dyn Any>> {
                Some(Box::new(self.subscribable()))
            }

            fn is_abandoned(&self) -> bool {
                let $of = self;
                $abandoned
            }

            fn is_closed(&self) -> bool {
                Self::is_closed(self)
            }

            fn close(&self) {
                Self::close(self);
            }

            fn closer(&self) -> annulus::Closer {
                Self::closer(self)
            }

            fn observer(&self) -> annulus::Observer {
                Self::observer(self)
            }

            fn another(&self) -> Option<Self> {
                let $original = self;
                $another
            }
        }
    };
}

publisher!(Publisher<u64>, try_publish: |publisher, number| Publish::publish(publisher, number).map_err(Into::into),
    is_abandoned: |_none| false, another: |_none| None,
    in_a_task: |publisher, number| (*publisher).publish(number));
publisher!(Publisher<u64, Bound>, try_publish: |publisher, number| (*publisher).try_publish(number).about(number),
    is_abandoned: |publisher| publisher.is_closed(), another: |_none| None,
    in_a_task: |publisher, number| (*publisher).publish_async(number).await);
publisher!(MpPublisher<u64>, try_publish: |publisher, number| Publish::publish(publisher, number).map_err(Into::into),
    is_abandoned: |_none| false, another: |publisher| Some(publisher.clone()),
    in_a_task: |publisher, number| (*publisher).publish(number));
publisher!(MpPublisher<u64, Bound>, try_publish: |publisher, number| (*publisher).try_publish(number).about(number),
    is_abandoned: |publisher| publisher.is_closed(), another: |publisher| Some(publisher.clone()),
    in_a_task: |publisher, number| (*publisher).publish_async(number).await);

/// Of a ring of numbers, of which none is corrupt.
fn not_corrupt(error: impl Into<LossyTryRecvError<BadValue>>) -> LossyTryRecvError {
    match error.into() {
        LossyTryRecvError::Empty => LossyTryRecvError::Empty,
        LossyTryRecvError::Lagged { skipped } => LossyTryRecvError::Lagged { skipped },
        LossyTryRecvError::Closed => LossyTryRecvError::Closed,
        LossyTryRecvError::Corrupt(bad) => panic!("{bad}"),
    }
}

/// What only some modes can do.
pub(crate) trait Does: Mode + 'static {
    /// As `try_recv`, and reports a lag, where there can be one.
    fn try_recv_or_lag(subscriber: &mut Subscriber<u64, Self>) -> Result<u64, LossyTryRecvError> {
        subscriber.try_recv().map_err(Into::into)
    }

    /// Those that report a lag, where there can be one; of stages, too.
    fn or_lag_verbs() -> Vec<Verb<Subscriber<u64, Self>>> {
        Vec::new()
    }

    /// Not a stage.
    fn fork(_: &Subscriber<u64, Self>) -> Option<Subscriber<u64, Self>> {
        None
    }

    /// A stage.
    fn panic_on_next(_: &mut Subscriber<u64, Self>) -> bool {
        false
    }

    /// By closure: a stage.
    fn more_verbs() -> Vec<Verb<Subscriber<u64, Self>>> {
        Vec::new()
    }
}

/// A mode in which messages may be lost, as far as types know.
macro_rules! reports_lags {
    () => {
        fn try_recv_or_lag(subscriber: &mut Subscriber<u64, Self>) -> Result<u64, LossyTryRecvError> {
            subscriber.try_recv_or_lag().map_err(not_corrupt)
        }

        fn or_lag_verbs() -> Vec<Verb<Subscriber<u64, Self>>> {
            verbs! {
                "try_recv_or_lag", false, |subscriber| subscriber.try_recv_or_lag().map_err(not_corrupt);
                "recv_or_lag", true, |subscriber| {
                    subscriber.recv_or_lag().map_err(|error| not_corrupt(LossyTryRecvError::from(error)))
                };
                "recv_or_lag_until", true, |subscriber| {
                    subscriber.recv_or_lag_until(WaitStrategy::Monitor).map_err(not_corrupt)
                };
                "recv_or_lag_timeout", false, |subscriber| {
                    subscriber.recv_or_lag_timeout(Duration::ZERO).map_err(not_corrupt)
                };
                "recv_or_lag_until", false, |subscriber| {
                    subscriber.recv_or_lag_until(Instant::now()).map_err(not_corrupt)
                };
                "recv_or_lag_async", true, |subscriber| recv_or_lag_async(subscriber);
            }
        }
    };
}

#[cfg(feature = "async")]
fn recv_or_lag_async<M>(subscriber: &mut Subscriber<u64, M>) -> Result<u64, LossyTryRecvError>
where
    M: MayLose,
    LossyTryRecvError<M::Corrupt>: Into<LossyTryRecvError<BadValue>>,
{
    let received = block_on(subscriber.recv_or_lag_async());
    received.map_err(|error| not_corrupt(LossyTryRecvError::from(error)))
}

/// It does the same.
#[cfg(not(feature = "async"))]
fn recv_or_lag_async<M>(subscriber: &mut Subscriber<u64, M>) -> Result<u64, LossyTryRecvError>
where
    M: MayLose,
    LossyTryRecvError<M::Corrupt>: Into<LossyTryRecvError<BadValue>>,
{
    subscriber.recv_or_lag().map_err(|error| not_corrupt(LossyTryRecvError::from(error)))
}

impl Does for Unbound {
    reports_lags! {}

    fn fork(subscriber: &Subscriber<u64, Self>) -> Option<Subscriber<u64, Self>> {
        Some(subscriber.clone())
    }
}

#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
impl Does for Foreign {
    reports_lags! {}

    fn fork(subscriber: &Subscriber<u64, Self>) -> Option<Subscriber<u64, Self>> {
        Some(subscriber.clone())
    }
}

impl Does for Bound {
    fn fork(subscriber: &Subscriber<u64, Self>) -> Option<Subscriber<u64, Self>> {
        Some(subscriber.clone())
    }
}

#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
impl Does for Awaited {
    reports_lags! {}
}

/// A stage.
macro_rules! stage {
    () => {
        fn panic_on_next(stage: &mut Subscriber<u64, Self>) -> bool {
            let process = || stage.process(|_| resume_unwind(Box::new("on purpose")));
            catch_unwind(AssertUnwindSafe(process)).is_err()
        }

        fn more_verbs() -> Vec<Verb<Subscriber<u64, Self>>> {
            stage_verbs()
        }
    };
}

impl Does for Staged<Unbound> {
    reports_lags! {}
    stage! {}
}

impl Does for Staged<Bound> {
    stage! {}
}

/// By closure.
fn stage_verbs<M: Unstaged>() -> Vec<Verb<Subscriber<u64, Staged<M>>>> {
    #[allow(unused_mut, reason = "without the feature `async` nothing is added")]
    let mut verbs: Vec<Verb<Subscriber<u64, Staged<M>>>> = verbs! {
        "try_process", false, |stage| stage.try_process(|number| *number);
        "process", true, |stage| stage.process(|number| *number);
        "process_until", true, |stage| stage.process_until(WaitStrategy::Monitor, |number| *number);
        "process_timeout", false, |stage| stage.process_timeout(Duration::ZERO, |number| *number);
        "process_until", false, |stage| stage.process_until(Instant::now(), |number| *number);
        "try_process_batch", false, |stage| batch(u64::clone, |look| {
            stage.try_process_batch(3, look).map_err(|error| match error {
                TryRecvError::Empty => RecvTimeoutError::Timeout,
                TryRecvError::Closed => RecvTimeoutError::Closed,
            })
        });
        "process_batch", true, |stage| batch(u64::clone, |look| Ok(stage.process_batch(3, look)?));
        "process_batch_until", true, |stage| {
            batch(u64::clone, |look| stage.process_batch_until(3, WaitStrategy::PauseSpin, look))
        };
        "process_batch_timeout", false, |stage| {
            batch(u64::clone, |look| stage.process_batch_timeout(3, Duration::ZERO, look))
        };
        "process_batch_until", false, |stage| {
            batch(u64::clone, |look| stage.process_batch_until(usize::MAX, Instant::now(), look))
        };
    };
    #[cfg(feature = "async")]
    {
        let more: Vec<Verb<Subscriber<u64, Staged<M>>>> = verbs! {
            "process_async", true, |stage| block_on(stage.process_async(|number| *number));
        };
        verbs.extend(more);
    }
    verbs
}

impl<M: Does> Receive for Subscriber<u64, M>
where
    Subscriber<u64, M>: Send,
{
    fn try_recv(&mut self) -> Result<u64, LossyTryRecvError> {
        M::try_recv_or_lag(self)
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
        M::panic_on_next(self)
    }

    fn cursor(&self) -> u64 {
        self.cursor()
    }

    fn received(&self) -> u64 {
        self.total_received()
    }

    fn lagged(&self) -> u64 {
        self.total_lagged()
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn capacity(&self) -> usize {
        self.capacity()
    }

    fn is_closed(&self) -> bool {
        self.is_closed()
    }

    fn fork(&self) -> Option<Self> {
        M::fork(self)
    }

    fn verbs() -> Vec<Verb<Self>> {
        let mut verbs: Vec<Verb<Self>> = verbs! {
            "try_recv", false, |subscriber| subscriber.try_recv();
            "Receive::try_recv", false, |subscriber| annulus::Receive::try_recv(subscriber);
            "recv", true, |subscriber| subscriber.recv();
            "recv_until", true, |subscriber| subscriber.recv_until(WaitStrategy::Monitor);
            "recv_timeout", false, |subscriber| subscriber.recv_timeout(Duration::ZERO);
            "recv_until", false, |subscriber| subscriber.recv_until(Instant::now());
            "try_recv_batch", false, |subscriber| {
                let mut buffer = [u64::MAX; 3];
                let count = subscriber.try_recv_batch(&mut buffer);
                assert!(buffer[count..].iter().all(|&left| left == u64::MAX), "wrote behind its count");
                buffer[..count].to_vec()
            };
            "recv_batch", true, |subscriber| {
                assert_eq!(subscriber.recv_batch(&mut []), Ok(0), "at once");
                let mut buffer = [u64::MAX; 3];
                let result = subscriber.recv_batch(&mut buffer);
                let count = result.unwrap_or(0);
                assert!(buffer[count..].iter().all(|&left| left == u64::MAX), "wrote behind its count");
                Got::of_batch(result, buffer[..count].to_vec())
            };
            "recv_many", true, |subscriber| {
                let mut buffer = vec![u64::MAX];
                assert_eq!(subscriber.recv_many(&mut buffer, 0), Ok(0), "at once");
                let result = subscriber.recv_many(&mut buffer, 2);
                assert_eq!(buffer.remove(0), u64::MAX);
                Got::of_batch(result, buffer)
            };
            "try_iter", false, |subscriber| subscriber.try_iter().collect::<Vec<_>>();
            "try_iter, a part of it", false, |subscriber| subscriber.try_iter().next();
            "iter", true, |subscriber| subscriber.iter().next();
            "into_iter", true, |subscriber| (&mut *subscriber).into_iter().next();
        };
        #[cfg(feature = "async")]
        {
            let more: Vec<Verb<Self>> = verbs! {
                "recv_async", true, |subscriber| block_on(subscriber.recv_async());
                "recv_batch_async", true, |subscriber| {
                    assert_eq!(block_on(subscriber.recv_batch_async(&mut [])), Ok(0), "at once");
                    let mut buffer = [u64::MAX; 3];
                    let result = block_on(subscriber.recv_batch_async(&mut buffer));
                    let count = result.unwrap_or(0);
                    assert!(buffer[count..].iter().all(|&left| left == u64::MAX), "wrote behind its count");
                    Got::of_batch(result, buffer[..count].to_vec())
                };
                "stream", true, |subscriber| block_on(subscriber.stream().next());
            };
            verbs.extend(more);
        }
        verbs.extend(M::or_lag_verbs());
        verbs.extend(M::more_verbs());
        verbs
    }
}

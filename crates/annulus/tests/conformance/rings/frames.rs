//! Rings of frames, whose messages are frames of 8 bytes. The publisher's mapping and the subscribers' are
//! both in this process.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use annulus::broadcast::{Lossless, Lossy, Mode};
use annulus::shm::broadcast::{Awaited, Foreign};
use annulus::shm::frames::{
    AcceptedFrames, Builder, Frame, FrameError, Loan, Publisher, Subscriber, TooManyHeld,
};
use annulus::shm::{PeerState, ShareError, Shared};
use annulus::{
    CapacityError, LossyTryRecvError, RecvError, RecvTimeoutError, SendError, Settings, TrySendError,
    WaitStrategy,
};

#[cfg(feature = "async")]
use futures_util::StreamExt;

#[cfg(feature = "async")]
use crate::support::tasks::{Task, block_on};

use super::{Publish, Receive, Verb, ring, verbs};

ring!(SharedFrames, lossless: false, many: false, Publisher, Pool<Foreign>, Viewer<Foreign>,
    |settings| made(settings, Builder::build, |made| made.invitation.accept_frames().unwrap()),
    |source| source.viewer(source.ring.subscribe().unwrap()),
    oldest: |source| Some(source.viewer(source.ring.subscribe_from_oldest().unwrap())),
    between_processes: true);

ring!(SharedLosslessFrames, lossless: true, many: false, Publisher<Lossless>, Pool<Awaited>, Viewer<Awaited>,
    |settings| {
        made(settings, Builder::build_lossless, |made| made.invitation.accept_lossless_frames().unwrap())
    },
    |source| source.viewer(source.ring.subscribe().unwrap()),
    oldest: |source| Some(source.viewer(source.ring.subscribe_from_oldest().unwrap())),
    between_processes: true);

fn made<P: Mode, S>(
    settings: Settings,
    build: impl FnOnce(Builder) -> Result<Shared<Publisher<P>>, ShareError>,
    accept: impl FnOnce(&Shared<Publisher<P>>) -> AcceptedFrames<S>,
) -> Result<(Publisher<P>, Pool<S>), CapacityError> {
    match build(Builder::new(settings, 8).subscribers(64)) {
        Ok(made) => {
            let (ring, capacity) = (Arc::new(accept(&made)), made.handle.capacity());
            Ok((made.handle, Pool { ring, capacity }))
        }
        Err(ShareError::Capacity(error)) => Err(error),
        Err(error) => panic!("{error}"),
    }
}

/// What subscribers join.
pub(crate) struct Pool<M> {
    ring: Arc<AcceptedFrames<M>>,
    capacity: usize,
}

impl<M> Clone for Pool<M> {
    fn clone(&self) -> Self {
        Self { ring: Arc::clone(&self.ring), capacity: self.capacity }
    }
}

impl<M> Pool<M> {
    fn viewer<N: Mode>(&self, subscriber: Subscriber<N>) -> Viewer<N> {
        let start = subscriber.cursor() - subscriber.total_lagged();
        Viewer { subscriber, start, capacity: self.capacity }
    }

    fn is_closed(&self) -> bool {
        self.ring.state() == PeerState::Closed
    }
}

/// A subscriber, and where it began.
pub(crate) struct Viewer<M: Mode> {
    subscriber: Subscriber<M>,
    start: u64,
    capacity: usize,
}

/// A publisher of frames: what it does where the modes differ.
macro_rules! publisher {
    ($mode:ty, |$this:ident, $number:ident| publish: $publish:expr, try_publish: $try:expr,
     in_a_task: $in_a_task:expr, is_abandoned: $abandoned:expr) => {
        impl Publish for Publisher<$mode> {
            fn publish(&mut self, $number: u64) -> Result<(), SendError<()>> {
                let $this = self;
                $publish
            }

            #[cfg(feature = "async")]
            fn publish_async(&mut self, $number: u64) -> Task<'_, Result<(), SendError<()>>> {
                let $this = self;
                Box::pin(async move { $in_a_task })
            }

            fn try_publish(&mut self, $number: u64) -> Result<(), TrySendError<()>> {
                let $this = self;
                $try
            }

            /// One by one: a frame is published by itself.
            fn publish_batch(&mut self, numbers: &[u64]) -> Result<(), SendError<()>> {
                numbers.iter().try_for_each(|number| Publish::publish(self, *number))
            }

            fn publish_panicking(&mut self) {
                let write = || {
                    let _frame = loan(self, 0);
                    resume_unwind(Box::new("on purpose"))
                };
                let _: Box<dyn std::any::Any + Send> = catch_unwind(AssertUnwindSafe(write)).unwrap_err();
            }

            fn published(&self) -> u64 {
                self.published()
            }

            fn capacity(&self) -> usize {
                self.capacity()
            }

            fn is_abandoned(&self) -> bool {
                let $this = self;
                $abandoned
            }

            fn is_closed(&self) -> bool {
                self.is_closed()
            }

            fn close(&self) {
                self.close();
            }

            fn closer(&self) -> annulus::Closer {
                self.closer()
            }

            fn observer(&self) -> annulus::Observer {
                unreachable!("another process observes it")
            }

            fn another(&self) -> Option<Self> {
                None
            }
        }
    };
}

fn loan<M: Mode>(publisher: &mut Publisher<M>, number: u64) -> Loan<'_, M> {
    let mut frame = publisher.loan(8).unwrap();
    frame.set_message(0, number);
    frame
}

publisher!(Lossy, |publisher, number|
    publish: { loan(publisher, number).publish(); Ok(()) },
    try_publish: Publish::publish(publisher, number).map_err(Into::into),
    in_a_task: Publish::publish(publisher, number),
    is_abandoned: { let _ = publisher; false });
publisher!(Lossless, |publisher, number|
    publish: loan(publisher, number).publish().map(drop).map_err(|_| SendError(())),
    try_publish: loan(publisher, number).try_publish().map(drop).map_err(|error| {
        if error.is_full() { TrySendError::Full(()) } else { TrySendError::Closed(()) }
    }),
    in_a_task: loan(publisher, number).publish_async().await.map(drop).map_err(|_| SendError(())),
    is_abandoned: publisher.is_closed());

#[allow(clippy::needless_pass_by_value, reason = "a frame that is received is held no longer")]
fn number(frame: Frame) -> u64 {
    assert_eq!(frame.len(), 8);
    frame.message(0).unwrap().unwrap()
}

/// As a receiving handle.
fn of_item(frame: Result<Frame, TooManyHeld>) -> u64 {
    number(frame.unwrap())
}

impl<M: Mode + 'static> Receive for Viewer<M>
where
    Subscriber<M>: Send,
{
    /// (A lag is no error here: it is counted.)
    fn try_recv(&mut self) -> Result<u64, LossyTryRecvError> {
        self.subscriber.try_recv().map(number).map_err(|error| match error {
            FrameError::Empty => LossyTryRecvError::Empty,
            FrameError::Closed => LossyTryRecvError::Closed,
            FrameError::TooManyHeld(held) => panic!("{held}"),
            _ => unreachable!(),
        })
    }

    fn recv(&mut self) -> Result<u64, RecvError> {
        annulus::Receive::recv(&mut self.subscriber).map(of_item)
    }

    #[cfg(feature = "async")]
    fn recv_async(&mut self) -> Task<'_, Result<u64, RecvError>> {
        Box::pin(async move { annulus::Receive::recv_async(&mut self.subscriber).await.map(of_item) })
    }

    fn recv_timeout(&mut self, timeout: Duration) -> Result<u64, RecvTimeoutError> {
        annulus::Receive::recv_timeout(&mut self.subscriber, timeout).map(of_item)
    }

    fn recv_until(&mut self, deadline: Instant) -> Result<u64, RecvTimeoutError> {
        annulus::Receive::recv_until(&mut self.subscriber, deadline).map(of_item)
    }

    fn panic_on_next(&mut self) -> bool {
        let read = || {
            let _frame = self.subscriber.try_recv().expect("one is there");
            resume_unwind(Box::new("on purpose"))
        };
        let _: Box<dyn std::any::Any + Send> = catch_unwind(AssertUnwindSafe(read)).unwrap_err();
        true
    }

    fn cursor(&self) -> u64 {
        self.subscriber.cursor()
    }

    fn received(&self) -> u64 {
        self.subscriber.cursor() - self.start - self.subscriber.total_lagged()
    }

    fn lagged(&self) -> u64 {
        self.subscriber.total_lagged()
    }

    fn len(&self) -> usize {
        self.subscriber.len()
    }

    fn capacity(&self) -> usize {
        self.capacity
    }

    fn is_closed(&self) -> bool {
        self.subscriber.is_closed()
    }

    fn fork(&self) -> Option<Self> {
        None
    }

    fn verbs() -> Vec<Verb<Self>> {
        #[allow(unused_mut, reason = "without the feature `async` nothing is added")]
        let mut verbs: Vec<Verb<Self>> = verbs! {
            "try_recv", false, |viewer| Receive::try_recv(viewer);
            "Receive::try_recv", false, |viewer| annulus::Receive::try_recv(&mut viewer.subscriber).map(of_item);
            "recv", true, |viewer| Receive::recv(viewer);
            "Receive::recv_until", true, |viewer| {
                annulus::Receive::recv_until(&mut viewer.subscriber, WaitStrategy::Monitor).map(of_item)
            };
            "recv_timeout", false, |viewer| {
                viewer.subscriber.recv_timeout(Duration::ZERO).map(number).map_err(|error| match error {
                    FrameError::Closed => RecvTimeoutError::Closed,
                    error => { assert_eq!(error, FrameError::Empty); RecvTimeoutError::Timeout }
                })
            };
            "Receive::recv_until", false, |viewer| Receive::recv_until(viewer, Instant::now());
            "iter", true, |viewer| annulus::Receive::iter(&mut viewer.subscriber).next().map(of_item);
        };
        #[cfg(feature = "async")]
        {
            let more: Vec<Verb<Self>> = verbs! {
                "recv_async", true, |viewer| block_on(Receive::recv_async(viewer));
                "stream", true, |viewer| {
                    block_on(annulus::Receive::stream(&mut viewer.subscriber).next()).map(of_item)
                };
            };
            verbs.extend(more);
        }
        verbs
    }
}

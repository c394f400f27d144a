//! Stages: one that follows nobody, and one that follows another, which goes ahead in step.
//!
//! Stages on threads of their own are in `verbs/stages.rs`.

use std::time::{Duration, Instant};

use annulus::broadcast::{Lossless, Lossy, MpPublisher, Publisher, Staged, Subscribable, Subscriber};
use annulus::event;
use annulus::{LossyTryRecvError, RecvError, RecvTimeoutError};

#[cfg(feature = "async")]
use crate::support::tasks::Task;

use super::{Receive, Verb, ring, verbs};

type Stage<M> = Subscriber<u64, Staged<M>>;
type EventStage = event::Subscriber<Vec<u64>, Staged<Lossless>>;

ring!(Tracked, lossless: false, many: false, Publisher<u64>, Subscribable<u64>, Stage<Lossy>,
    |builder| annulus::broadcast::lossy_with(builder), |source| source.subscribe_tracked(),
    oldest: |source| Some(source.subscribe_from_oldest().after(&[])));
ring!(TrackedLossless, lossless: true, many: false,
    Publisher<u64, Lossless>, Subscribable<u64, Lossless>, Stage<Lossless>,
    |builder| annulus::broadcast::lossless_with(builder), |source| source.subscribe_tracked(),
    oldest: |source| Some(source.subscribe_from_oldest().after(&[])));

/// What makes one stage behind another.
macro_rules! pair {
    ($source:ident) => {{
        let before = $source.subscribe_tracked();
        let stage = $source.subscribe().after(&[&before]);
        InStep { before, stage }
    }};
}

ring!(Behind, lossless: false, many: false, Publisher<u64>, Subscribable<u64>, InStep<Stage<Lossy>>,
    |builder| annulus::broadcast::lossy_with(builder), |source| pair!(source), oldest: |_none| None);
ring!(BehindLossless, lossless: true, many: false,
    Publisher<u64, Lossless>, Subscribable<u64, Lossless>, InStep<Stage<Lossless>>,
    |builder| annulus::broadcast::lossless_with(builder), |source| pair!(source), oldest: |_none| None);
ring!(BehindMpLossy, lossless: false, many: true, MpPublisher<u64>, Subscribable<u64>, InStep<Stage<Lossy>>,
    |builder| annulus::broadcast::mp_lossy_with(builder), |source| pair!(source), oldest: |_none| None, passes_over: true);
ring!(BehindMpLossless, lossless: true, many: true,
    MpPublisher<u64, Lossless>, Subscribable<u64, Lossless>, InStep<Stage<Lossless>>,
    |builder| annulus::broadcast::mp_lossless_with(builder), |source| pair!(source), oldest: |_none| None);
ring!(BehindEvents, lossless: true, many: false,
    event::Publisher<Vec<u64>>, event::Subscribable<Vec<u64>>, InStep<EventStage>,
    |builder| event::with(builder, Vec::new), |source| pair!(source), oldest: |_none| None);
ring!(BehindMpEvents, lossless: true, many: true,
    event::MpPublisher<Vec<u64>>, event::Subscribable<Vec<u64>>, InStep<EventStage>,
    |builder| event::mp_with(builder, Vec::new), |source| pair!(source), oldest: |_none| None);

/// A stage and the one before it, which processes everything that is there whenever the stage is asked.
pub(crate) struct InStep<S> {
    before: S,
    stage: S,
}

/// What says that all was processed.
pub(crate) trait Done: Receive {
    fn done(&mut self);
}

impl Done for Stage<Lossy> {
    fn done(&mut self) {
        self.done();
    }
}

impl Done for Stage<Lossless> {
    fn done(&mut self) {
        self.done();
    }
}

impl Done for EventStage {
    fn done(&mut self) {}
}

impl<S: Done> InStep<S> {
    fn lead(&mut self) -> &mut S {
        while !matches!(self.before.try_recv(), Err(LossyTryRecvError::Empty | LossyTryRecvError::Closed)) {}
        self.before.done();
        &mut self.stage
    }

    /// Both wait, in turn.
    fn wait_for(&mut self, deadline: Option<Instant>) -> Result<u64, RecvTimeoutError> {
        loop {
            match self.lead().try_recv() {
                Ok(number) => return Ok(number),
                Err(LossyTryRecvError::Closed) => return Err(RecvTimeoutError::Closed),
                Err(LossyTryRecvError::Lagged { .. }) => {}
                Err(LossyTryRecvError::Empty) => {
                    match deadline {
                        None => _ = self.before.recv(),
                        Some(deadline) => match self.before.recv_until(deadline) {
                            Err(RecvTimeoutError::Timeout) => return Err(RecvTimeoutError::Timeout),
                            Ok(_) | Err(RecvTimeoutError::Closed) => {}
                        },
                    }
                    self.before.done();
                }
            }
        }
    }
}

impl<S: Done> Receive for InStep<S> {
    fn try_recv(&mut self) -> Result<u64, LossyTryRecvError> {
        self.lead().try_recv()
    }

    fn recv(&mut self) -> Result<u64, RecvError> {
        self.wait_for(None).map_err(|error| match error {
            RecvTimeoutError::Closed => RecvError::CLOSED,
            RecvTimeoutError::Timeout => unreachable!("there was no deadline"),
        })
    }

    /// Both wait, in turn.
    #[cfg(feature = "async")]
    fn recv_async(&mut self) -> Task<'_, Result<u64, RecvError>> {
        Box::pin(async move {
            loop {
                match self.lead().try_recv() {
                    Ok(number) => return Ok(number),
                    Err(LossyTryRecvError::Closed) => return Err(RecvError::CLOSED),
                    Err(LossyTryRecvError::Lagged { .. }) => {}
                    Err(LossyTryRecvError::Empty) => {
                        _ = self.before.recv_async().await;
                        self.before.done();
                    }
                }
            }
        })
    }

    fn recv_timeout(&mut self, timeout: Duration) -> Result<u64, RecvTimeoutError> {
        self.wait_for(Instant::now().checked_add(timeout))
    }

    fn recv_until(&mut self, deadline: Instant) -> Result<u64, RecvTimeoutError> {
        self.wait_for(Some(deadline))
    }

    fn panic_on_next(&mut self) -> bool {
        self.lead().panic_on_next()
    }

    fn cursor(&self) -> u64 {
        self.stage.cursor()
    }

    fn received(&self) -> u64 {
        self.stage.received()
    }

    fn lagged(&self) -> u64 {
        self.stage.lagged()
    }

    fn len(&self) -> usize {
        // What the one before is done with, and what it has not received.
        self.stage.len() + self.before.len()
    }

    fn capacity(&self) -> usize {
        self.stage.capacity()
    }

    fn is_closed(&self) -> bool {
        self.stage.is_closed()
    }

    fn fork(&self) -> Option<Self> {
        // Its clone would follow the one before as it does, but somebody else leads that one.
        None
    }

    fn verbs() -> Vec<Verb<Self>> {
        verbs! {
            "try_recv", false, |pair| pair.try_recv();
            "recv", true, |pair| pair.recv();
            "recv_timeout", false, |pair| pair.recv_timeout(Duration::ZERO);
            "recv_until", false, |pair| pair.recv_until(Instant::now());
        }
    }
}

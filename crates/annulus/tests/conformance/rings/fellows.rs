//! Rings to which several processes publish, lossy and lossless. All mappings of a ring are in this process:
//! one for each publisher, and one of the subscribers.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use annulus::broadcast::{Foreign, Lossless, Lossy, Mode, Subscribable, Subscriber};
use annulus::shm::broadcast::{AcceptedLossless, Awaited};
use annulus::shm::mp_broadcast::{self, Builder, Publisher};
use annulus::shm::{AttachError, Invitation, ShareError, Shared, WhenGone};
use annulus::{SendError, Transmit, TrySendError};

#[cfg(feature = "async")]
use crate::support::tasks::Task;

use super::{Publish, ring};

ring!(SharedMpLossy, lossless: false, many: true, Fellow<Lossy>, Subscribable<u64, Foreign>, Subscriber<u64, Foreign>,
    |builder| {
        // As a ring in one process, it ends with its publishers.
        match Builder::new(builder).publishers(64).when_no_publisher(WhenGone::Close).build::<u64>() {
            Ok(Shared { handle: publisher, invitation, .. }) => {
                let subscribable = invitation.accept::<u64>().unwrap().subscribable().clone();
                Ok((Fellow { publisher, invitation: Arc::new(invitation) }, subscribable))
            }
            Err(ShareError::Capacity(error)) => Err(error),
            Err(error) => panic!("{error}"),
        }
    },
    |source| source.subscribe(), oldest: |source| Some(source.subscribe_from_oldest()), passes_over: true);

ring!(SharedMpLossless, lossless: true, many: true, Fellow<Lossless>, AcceptedLossless<u64>, Subscriber<u64, Awaited>,
    |builder| {
        let builder = Builder::new(builder).publishers(64).when_no_publisher(WhenGone::Close);
        match builder.build_lossless::<u64>(64) {
            Ok(Shared { handle: publisher, invitation, .. }) => {
                let accepted = invitation.accept_lossless::<u64>().unwrap();
                Ok((Fellow { publisher, invitation: Arc::new(invitation) }, accepted))
            }
            Err(ShareError::Capacity(error)) => Err(error),
            Err(error) => panic!("{error}"),
        }
    },
    |source| source.subscribe().unwrap(), oldest: |source| Some(source.subscribe_from_oldest().unwrap()),
    between_processes: true);

/// A publisher, and what another one joins by.
pub(crate) struct Fellow<M: Mode> {
    publisher: Publisher<u64, M>,
    invitation: Arc<Invitation>,
}

/// What publishers of the two modes do in their own ways.
pub(crate) trait Way: Mode {
    fn batch(publisher: &mut Publisher<u64, Self>, numbers: &[u64]) -> Result<(), SendError<()>>;
    fn with(publisher: &mut Publisher<u64, Self>, make: impl FnOnce() -> u64);
    fn join(invitation: &Invitation) -> Result<Publisher<u64, Self>, AttachError>;
    /// What a publish that was refused returns.
    fn refused() -> Result<(), SendError<()>>;
}

impl Way for Lossy {
    fn batch(publisher: &mut Publisher<u64>, numbers: &[u64]) -> Result<(), SendError<()>> {
        publisher.publish_batch(numbers);
        Ok(())
    }

    fn with(publisher: &mut Publisher<u64>, make: impl FnOnce() -> u64) {
        publisher.publish_with(make);
    }

    fn join(invitation: &Invitation) -> Result<Publisher<u64>, AttachError> {
        mp_broadcast::publisher(invitation)
    }

    fn refused() -> Result<(), SendError<()>> {
        Ok(())
    }
}

impl Way for Lossless {
    fn batch(publisher: &mut Publisher<u64, Self>, numbers: &[u64]) -> Result<(), SendError<()>> {
        publisher.publish_batch(numbers).map_err(|error| {
            assert_eq!(error.into_inner().last(), numbers.last());
            SendError(())
        })
    }

    fn with(publisher: &mut Publisher<u64, Self>, make: impl FnOnce() -> u64) {
        let _ = publisher.publish_with(make);
    }

    fn join(invitation: &Invitation) -> Result<Publisher<u64, Self>, AttachError> {
        mp_broadcast::lossless_publisher(invitation)
    }

    fn refused() -> Result<(), SendError<()>> {
        Err(SendError(()))
    }
}

impl<M: Way> Publish for Fellow<M>
where
    Publisher<u64, M>: Transmit<Item = u64>,
{
    fn publish(&mut self, number: u64) -> Result<(), SendError<()>> {
        self.publisher.send(number).or_else(|error| {
            assert_eq!(error.into_inner(), number);
            M::refused()
        })
    }

    #[cfg(feature = "async")]
    fn publish_async(&mut self, number: u64) -> Task<'_, Result<(), SendError<()>>> {
        Box::pin(async move { self.publisher.send_async(number).await.or_else(|_| M::refused()) })
    }

    fn try_publish(&mut self, number: u64) -> Result<(), TrySendError<()>> {
        self.publisher.try_send(number).or_else(|error| match error {
            TrySendError::Full(back) => {
                assert_eq!(back, number);
                Err(TrySendError::Full(()))
            }
            TrySendError::Closed(_) => M::refused().map_err(Into::into),
        })
    }

    fn publish_batch(&mut self, numbers: &[u64]) -> Result<(), SendError<()>> {
        M::batch(&mut self.publisher, numbers)
    }

    fn publish_panicking(&mut self) {
        let publish = || M::with(&mut self.publisher, || resume_unwind(Box::new("on purpose")));
        catch_unwind(AssertUnwindSafe(publish)).expect_err("it was to panic");
    }

    fn published(&self) -> u64 {
        self.publisher.published()
    }

    fn capacity(&self) -> usize {
        self.publisher.capacity()
    }

    fn is_abandoned(&self) -> bool {
        M::LOSSLESS && self.publisher.is_closed()
    }

    fn is_closed(&self) -> bool {
        self.publisher.is_closed()
    }

    fn close(&self) {
        self.publisher.close();
    }

    fn closer(&self) -> annulus::Closer {
        self.publisher.closer()
    }

    fn observer(&self) -> annulus::Observer {
        self.publisher.observer()
    }

    fn another(&self) -> Option<Self> {
        let publisher = M::join(&self.invitation).ok()?;
        Some(Self { publisher, invitation: Arc::clone(&self.invitation) })
    }
}

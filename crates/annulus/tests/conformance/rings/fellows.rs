//! A lossy ring to which several processes publish. All of its mappings are in this one: one for each
//! publisher, and one of the subscribers.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use annulus::broadcast::{Foreign, Subscribable, Subscriber};
use annulus::shm::mp_broadcast::{self, Builder, Publisher};
use annulus::shm::{Invitation, ShareError, Shared, WhenGone};
use annulus::{SendError, TrySendError};

#[cfg(feature = "async")]
use crate::support::tasks::Task;

use super::{Publish, ring};

ring!(SharedMpLossy, lossless: false, many: true, Fellow, Subscribable<u64, Foreign>, Subscriber<u64, Foreign>,
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

/// A publisher, and what another one joins by.
pub(crate) struct Fellow {
    publisher: Publisher<u64>,
    invitation: Arc<Invitation>,
}

impl Publish for Fellow {
    fn publish(&mut self, number: u64) -> Result<(), SendError<()>> {
        self.publisher.publish(number);
        Ok(())
    }

    #[cfg(feature = "async")]
    fn publish_async(&mut self, number: u64) -> Task<'_, Result<(), SendError<()>>> {
        Box::pin(async move { annulus::Transmit::send_async(&mut self.publisher, number).await.or(Ok(())) })
    }

    fn try_publish(&mut self, number: u64) -> Result<(), TrySendError<()>> {
        self.publisher.publish(number);
        Ok(())
    }

    fn publish_batch(&mut self, numbers: &[u64]) -> Result<(), SendError<()>> {
        self.publisher.publish_batch(numbers);
        Ok(())
    }

    fn publish_panicking(&mut self) {
        let publish = || self.publisher.publish_with(|| resume_unwind(Box::new("on purpose")));
        catch_unwind(AssertUnwindSafe(publish)).expect_err("it was to panic");
    }

    fn published(&self) -> u64 {
        self.publisher.published()
    }

    fn capacity(&self) -> usize {
        self.publisher.capacity()
    }

    fn is_abandoned(&self) -> bool {
        false
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
        let publisher = mp_broadcast::publisher(&self.invitation).ok()?;
        Some(Self { publisher, invitation: Arc::clone(&self.invitation) })
    }
}

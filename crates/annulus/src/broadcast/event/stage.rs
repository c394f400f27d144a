//! Subscribers of events as stages.

use super::EventSubscriber;
use crate::broadcast::mode::{Mode, Unstaged};
use crate::broadcast::progress::{DependencyBarrier, StageProgress, Tracked, Upstream};
use crate::broadcast::stage::{Staged, after_others, stage};
use crate::error::UpstreamError;

/// Stages, like those of a [`Subscriber`](crate::broadcast::Subscriber::after), but an event is processed
/// when its closure returns.
impl<T: Send + Sync, M: Mode> EventSubscriber<T, M> {
    /// Turns the subscriber into a stage. A stage sees an event only after all of `upstreams` have processed
    /// it, and other subscribers can follow the stage in turn. An upstream that is dropped no longer counts.
    /// A stage can't be cloned: clone the subscriber before.
    ///
    /// # Panics
    ///
    /// If an upstream belongs to another ring. [`try_after`](Self::try_after) returns an error instead.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::event::channel(8, String::new);
    /// let mut first = subscribable.subscribe_tracked();
    /// let mut second = subscribable.subscribe().after(&[&first]);
    /// publisher.publish(|text| text.push('a')).unwrap();
    /// assert!(second.try_process(|_| ()).is_err());
    /// assert_eq!(first.try_process(|text| text.len()), Ok(1));
    /// assert_eq!(second.try_process(|text| text.len()), Ok(1));
    /// ```
    #[doc(alias = "and_then")]
    #[doc(alias = "new_branch")]
    #[doc(alias = "join")]
    #[must_use]
    #[track_caller]
    pub fn after(self, upstreams: &[&dyn Upstream]) -> EventSubscriber<T, Staged<M>>
    where
        M: Unstaged,
    {
        self.try_after(upstreams).unwrap_or_else(|error| panic!("EventSubscriber::after: {error}"))
    }

    after_others!(EventSubscriber);
}

impl<T: Send + Sync, M: Unstaged> Tracked for EventSubscriber<T, Staged<M>> {
    fn progress(&self) -> &StageProgress {
        self.shared.role().progress()
    }
}

impl<T: Send + Sync, M: Unstaged> Upstream for EventSubscriber<T, Staged<M>> {}

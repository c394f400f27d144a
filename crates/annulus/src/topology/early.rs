//! [`Early`]: what is published before the pipeline is built.
//!
//! The ring behind an input is made when it is known what is behind it, so at first there is none. What is
//! published then waits in a vector, and goes into the ring when it is made. What is published later waits
//! in the ring. Nobody takes messages out before the build, so nobody waits for room there: a message that
//! finds none is given back.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::counters::SentCount;
use super::draft::{Draft, Mistake};
use super::port::BoxEntry;
use crate::base::drop_all::drop_each;
use crate::error::{CapacityError, Refusal, TryPublishError};
use crate::wait::EventCount;

/// The ring behind an input.
pub(super) struct EarlyRing<T> {
    pub(super) entry: BoxEntry<T>,
    /// How many messages went in.
    pub(super) sent: Arc<SentCount>,
    pub(super) capacity: usize,
}

impl<T> EarlyRing<T> {
    /// Puts the messages into the ring, and returns those that do not fit.
    fn take_in(&mut self, messages: Vec<T>) -> Vec<T> {
        let mut messages = messages.into_iter();
        let back = messages.find_map(|message| self.entry.try_send(message).err());
        back.map(TryPublishError::into_inner).into_iter().chain(messages).collect()
    }
}

/// What an input has before the pipeline is built.
pub(super) struct Early<T>(Arc<EarlyState<T>>);

struct EarlyState<T> {
    state: Mutex<EarlyRingState<T>>,
    /// That of the builder, for the time before there is a ring.
    capacity: usize,
    /// For whoever asks where an input without a ring waits. Nobody waits there.
    event: EventCount,
}

enum EarlyRingState<T> {
    /// There is no ring yet.
    Waiting(Vec<T>),
    EarlyRing {
        ring: EarlyRing<T>,
        is_built: bool,
        /// What did not fit. The build fails then.
        _left: Vec<T>,
    },
    /// The builder is gone, or the input has taken the ring. So many messages were published before.
    Gone(u64),
}

impl<T> Early<T> {
    /// Of an input, and what becomes its ring.
    pub(super) fn new(capacity: usize) -> (Self, Promise<T>) {
        let (state, event) = (Mutex::new(EarlyRingState::Waiting(Vec::new())), EventCount::new());
        let early = Self(Arc::new(EarlyState { state, capacity, event }));
        (Self(Arc::clone(&early.0)), Promise(early))
    }

    pub(super) fn event(&self) -> &EventCount {
        &self.0.event
    }

    /// Takes the ring, once the pipeline is built.
    pub(super) fn take(&self) -> Option<EarlyRing<T>> {
        let mut state = self.lock();
        if !matches!(*state, EarlyRingState::EarlyRing { is_built: true, .. }) {
            return None;
        }
        match mem::replace(&mut *state, EarlyRingState::Gone(0)) {
            EarlyRingState::EarlyRing { ring, .. } => Some(ring),
            // Unreached: it is one
            _ => None,
        }
    }

    /// Leaves `message` for the pipeline, if there is room.
    pub(super) fn try_publish(&self, message: T) -> Result<(), TryPublishError<T>> {
        match &mut *self.lock() {
            EarlyRingState::Waiting(messages) if messages.len() < self.0.capacity => {
                messages.push(message);
                Ok(())
            }
            EarlyRingState::Waiting(_) => Err(TryPublishError::Full(message)),
            EarlyRingState::EarlyRing { ring, .. } => ring.entry.try_send(message),
            EarlyRingState::Gone(_) => Err(TryPublishError::Closed(message)),
        }
    }

    /// Whether [`try_publish`](Self::try_publish) would succeed.
    pub(super) fn look_for_room(&self) -> Result<(), Refusal> {
        match &mut *self.lock() {
            EarlyRingState::Waiting(messages) if messages.len() < self.0.capacity => Ok(()),
            EarlyRingState::EarlyRing { ring, .. } => ring.entry.look_for_room(),
            EarlyRingState::Waiting(_) | EarlyRingState::Gone(_) => Err(Refusal::Closed),
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        match &*self.lock() {
            EarlyRingState::Waiting(_) => false,
            EarlyRingState::EarlyRing { ring, .. } => ring.entry.is_closed(),
            EarlyRingState::Gone(_) => true,
        }
    }

    pub(super) fn published(&self) -> u64 {
        match &*self.lock() {
            EarlyRingState::Waiting(messages) => messages.len() as u64,
            EarlyRingState::EarlyRing { ring, .. } => ring.sent.0.get(),
            EarlyRingState::Gone(published) => *published,
        }
    }

    pub(super) fn capacity(&self) -> usize {
        match &*self.lock() {
            EarlyRingState::EarlyRing { ring, .. } => ring.capacity,
            EarlyRingState::Waiting(_) | EarlyRingState::Gone(_) => self.0.capacity,
        }
    }

    fn lock(&self) -> MutexGuard<'_, EarlyRingState<T>> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// That there will be a ring. If it is dropped, there will be none.
pub(super) struct Promise<T>(Early<T>);

impl<T: Send + 'static> Promise<T> {
    /// There is a ring: that of the last edge of `draft`.
    pub(super) fn keep(self, draft: &mut Draft, entry: BoxEntry<T>) {
        let (Some(edge), Some(counters)) = (draft.graph.edges.last(), draft.counters.last()) else {
            unreachable!("a ring has an edge");
        };
        let (ring_id, capacity) = (edge.ring_id, edge.capacity);
        let mut ring = EarlyRing { entry, sent: Arc::clone(&counters.sent), capacity };
        let mut state = self.0.lock();
        let EarlyRingState::Waiting(messages) = &mut *state else { unreachable!("it is kept once") };
        let messages = mem::take(messages);
        let count = messages.len();
        // Where nothing waits, large messages take no stack.
        let left = if count == 0 { Vec::new() } else { ring.take_in(messages) };
        if !left.is_empty() {
            let first = draft.graph.edges.iter().position(|edge| edge.ring_id == ring_id);
            let error = CapacityError::TooSmall { capacity, minimum: count };
            draft.note(Mistake::Capacity { edge: first.unwrap_or_default(), error });
        }
        *state = EarlyRingState::EarlyRing { ring, is_built: false, _left: left };
        drop(state);
        let there = Early(Arc::clone(&self.0.0));
        draft.connect.push(Box::new(move || {
            if let EarlyRingState::EarlyRing { is_built, .. } = &mut *there.lock() {
                *is_built = true;
            }
        }));
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        if let EarlyRingState::Waiting(messages) = &*state {
            let published = messages.len() as u64;
            let left = mem::replace(&mut *state, EarlyRingState::Gone(published));
            // Destructors of the user's run without the lock.
            drop(state);
            if let EarlyRingState::Waiting(messages) = left {
                drop_each(messages, drop);
            }
        }
    }
}

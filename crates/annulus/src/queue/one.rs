//! The consumer of a queue that has one lane.

use core::convert::Infallible;

use super::ends::Read;
use super::node::LaneNode;
use super::read::{ReadEnd, note_rest};
use super::roster::Round;
use super::state::{QueueState, state_of};
use crate::lane::{ControlBlock, Lone, Number, OneToOne, Position};
use crate::sync::{AtomicU64, mutated};
use crate::wait::ReaderBackoff;

/// With so many messages, or an eighth of a lane, the reader is not right behind the writer.
const BACKLOG: usize = 512;

/// The consumer of a queue that has one lane.
pub(crate) struct One<T, C: ControlBlock = Lone> {
    pub(super) end: ReadEnd<T, C>,
    backoff: ReaderBackoff,
}

impl<T, C: ControlBlock> One<T, C> {
    /// The one consumer of a queue whose lane `end` reads.
    pub(super) fn new(end: ReadEnd<T, C>) -> Self {
        Self { end, backoff: ReaderBackoff::new() }
    }

    /// Looks for messages. Where a rest pays, rests and looks again.
    #[inline(always)]
    fn look(&mut self, one_by_one: bool) -> bool {
        if !self.end.learn(usize::MAX) {
            self.backoff.found_nothing();
            return false;
        }
        // Mutants: `/ with %`, `/ with *`: when to rest.
        let backlog = BACKLOG.min(self.end.lane().capacity() / 8);
        let end = &mut self.end;
        self.backoff.found(end.known(), backlog, || {
            note_rest(&end.node);
            end.learn(usize::MAX);
            end.known()
        });
        if one_by_one {
            end.begin_one_by_one();
        } else {
            end.measure();
        }
        true
    }

    /// Looks for messages that are to be read in place, unless some are known.
    #[cfg(feature = "shm")]
    #[inline(always)]
    pub(super) fn look_in_place(&mut self) {
        self.has_some();
    }

    /// The end of its lane.
    #[cfg(feature = "shm")]
    #[inline(always)]
    pub(super) fn current(&mut self) -> &mut ReadEnd<T, C> {
        &mut self.end
    }

    /// There is no other lane.
    #[cfg(feature = "shm")]
    #[inline(always)]
    pub(super) fn end_turn(&mut self) {
        let _ = self;
    }

    /// Looks for all that there is.
    #[inline(always)]
    pub(super) fn look_for_all(&mut self) {
        self.look(false);
    }
}

impl<T, C: ControlBlock> Read<T> for One<T, C> {
    type Lane = OneToOne<T, C>;
    type Corrupt = Infallible;

    #[inline(always)]
    fn state(&self) -> &QueueState<OneToOne<T, C>> {
        self.end.node.state()
    }

    fn expect(&mut self) {
        self.backoff.skip_next_rest();
        self.end.expect();
    }

    #[inline(always)]
    fn is_plainly_empty(&mut self) -> bool {
        // The tail first: what was sent before the end is found before the end.
        // (Another process may be gone, for which the caller has to look.)
        let is_empty = !C::ACROSS
            && self.end.is_plainly_empty()
            && (!self.state().may_be_closed() || mutated!("empty_though_closed"));
        if is_empty {
            self.backoff.found_nothing();
        }
        is_empty
    }

    fn watched(&self) -> Option<&AtomicU64> {
        Some(self.end.lane().tail_word())
    }

    #[inline(always)]
    fn has_some(&mut self) -> bool {
        self.end.known() != 0 || self.look(true)
    }

    #[cfg(feature = "shm")]
    fn peek(&mut self) -> Option<T>
    where
        T: Copy,
    {
        self.current().peek()
    }

    // Mutants: `with None`: costs or saves time.
    #[inline(always)]
    fn take_plainly(&mut self) -> Option<T> {
        self.end.take_in_run()
    }

    fn try_take(&mut self) -> Option<T> {
        // SAFETY: something is there.
        self.has_some().then(|| unsafe { self.end.take() })
    }

    #[inline]
    fn take_some(&mut self, most: usize, each: impl FnMut(T)) -> usize {
        // Mutants: `< with <=`: one more look.
        if self.end.known() < most {
            self.look_for_all();
        }
        self.end.take_some(most, each)
    }

    /// There is one lane, and it is looked at once. A second look would take the line of the tail from the
    /// producer, and bring only the few messages that came meanwhile.
    #[inline]
    fn take_up_to(&mut self, most: usize, each: impl FnMut(T)) -> usize {
        // Decision 0047: one look fills a buffer.
        self.take_some(most, each)
    }

    /// One look, as above.
    #[inline]
    fn take_into(&mut self, buffer: &mut [T]) -> usize {
        // Mutants: `< with <=`: one more look.
        if self.end.known() < buffer.len() {
            self.look_for_all();
        }
        self.end.move_some(buffer)
    }

    fn begin_round(&mut self) -> Round {
        self.state().roster.round(0, true)
    }

    fn next_in_round(&mut self, round: &mut Round) -> bool {
        self.state().roster.next(round).is_some()
    }

    fn here(&mut self) -> usize {
        self.look_for_all();
        self.end.known()
    }

    #[cold]
    fn settle(&mut self) -> bool {
        if self.end.is_sealed() {
            return !self.has_some();
        }
        if self.state().is_closed() {
            self.state().await_sends();
            self.end.seal();
        }
        false
    }

    fn len(&self) -> usize {
        self.end.node.lane.len()
    }
}

impl<T, C: ControlBlock> Drop for One<T, C> {
    fn drop(&mut self) {
        // SAFETY: `end` is not used any more, and its share is given up after this.
        unsafe { leave(&self.end.node, self.end.head, self.end.end) };
    }
}

/// Drops what is left in the queue, because its consumer is gone. By values: an end has no address (decision
/// 0002).
///
/// # Safety
///
/// These are those of the end of the lane's consumer, which is not used any more, but has its share.
#[cold]
#[inline(never)]
unsafe fn leave<T, C: ControlBlock>(node: &LaneNode<OneToOne<T, C>>, head: Position<T>, end: Option<Number>) {
    let state = state_of(node);
    state.consumer_goes();
    // SAFETY: the caller's promise.
    let mut end = unsafe { ReadEnd::again(node, head, end) };
    // Where nobody sends any more, the tail is the end.
    if !state.is_without_producers() {
        state.await_sends();
        end.seal();
    }
    end.drop_rest();
}

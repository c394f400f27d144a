//! A consumer among many, of one shared lane or of many: V4 to V6 of `ring/shared_lane.rs`.
//!
//! It takes from a lane of its own choice, then from the fullest, then from whichever has something. Lanes are never taken off a list here:
//! a producer that joins goes on in one that was left, or adds one, and consumers look at all of them.

use alloc::sync::Arc;
use core::ptr::NonNull;

use super::hub::{Hub, Member};
use super::kind::Read;
use crate::ring::SharedLane;
use crate::sync::mutated;
use crate::wait::Event;

/// Messages from one lane before the others have their turn.
const BUDGET: usize = if cfg!(annulus_loom) { 1 } else { 128 };

/// A consumer of all shared lanes of a hub.
pub(crate) struct Claimer<T> {
    pub(super) hub: Arc<Hub<SharedLane<T>>>,
    /// The lane to take from first.
    local: NonNull<Member<SharedLane<T>>>,
    /// Messages that it may take from there before it looks at others.
    budget: usize,
    /// Whether it has called the barrier since the queue was closed: what it does not find then will not come.
    settled: bool,
    /// Whether all lanes are ended.
    over: bool,
}

// SAFETY: a share in a hub and a member of it, which may go where messages may go.
unsafe impl<T: Send> Send for Claimer<T> {}
// SAFETY: what a shared reference allows is atomic.
unsafe impl<T: Send> Sync for Claimer<T> {}

impl<T> Claimer<T> {
    /// A consumer that begins with `local`. It counts as a consumer of the hub already.
    pub(super) fn new(hub: Arc<Hub<SharedLane<T>>>, local: NonNull<Member<SharedLane<T>>>) -> Self {
        Self { hub, local, budget: BUDGET, settled: false, over: false }
    }

    /// Another consumer, which begins with the next lane.
    pub(super) fn another(&self) -> Self {
        self.hub.consumer_comes();
        let mut other = Self::new(Arc::clone(&self.hub), self.local);
        other.change_turns();
        other
    }

    #[inline(always)]
    fn local(&self) -> &Member<SharedLane<T>> {
        // SAFETY: a member lives as long as its hub, in which this is a share.
        unsafe { self.local.as_ref() }
    }

    /// Claims up to `most` messages of one lane, which is the local one then; returns the first and how many.
    #[inline]
    fn claim(&mut self, most: usize) -> Option<(u64, usize)> {
        self.claim_here(most).or_else(|| self.claim_elsewhere(most))
    }

    /// As [`claim`](Self::claim), of the local lane, if it has not had its turn.
    #[inline(always)]
    fn claim_here(&mut self, most: usize) -> Option<(u64, usize)> {
        if self.budget == 0 {
            return None;
        }
        let (first, count) = self.local().lane.claim(most)?;
        self.budget = self.budget.saturating_sub(count);
        Some((first, count))
    }

    /// Looks at the lanes: the next one where the local one had its turn, else the fullest; then at all of them.
    #[cold]
    #[inline(never)]
    fn claim_elsewhere(&mut self, most: usize) -> Option<(u64, usize)> {
        if self.budget == 0 {
            self.change_turns();
        } else if self.hub.members().nth(1).is_none() {
            // There is no other. And how full this one is, is in a line that its producer is about to write.
            return None;
        } else if let Some(fullest) = self.hub.members().max_by_key(|member| member.lane.len()) {
            self.local = NonNull::from(fullest);
        }
        self.budget = BUDGET;
        let mut claimed = self.local().lane.claim(most);
        if claimed.is_none() {
            // Each of them: so finding nothing means that nothing was there.
            let found = self.hub.members().find_map(|member| Some((member, member.lane.claim(most)?)));
            if let Some((member, found)) = found {
                self.local = NonNull::from(member);
                claimed = Some(found);
            }
        }
        let (first, count) = claimed?;
        self.budget = self.budget.saturating_sub(count);
        Some((first, count))
    }

    /// Makes the lane after the local one the local one.
    fn change_turns(&mut self) {
        let mut after = self.hub.members().skip_while(|&member| NonNull::from(member) != self.local).skip(1);
        if let Some(next) = after.next().or_else(|| self.hub.members().next()) {
            self.local = NonNull::from(next);
        }
    }

    /// Moves message `number` of the local lane out.
    ///
    /// # Safety
    ///
    /// This end has claimed it, and does so once.
    #[inline(always)]
    unsafe fn take(&self, number: u64) -> T {
        let local = self.local();
        // SAFETY: the caller's promise.
        let value = unsafe { local.lane.take(number) };
        if !mutated!("shared_take_wakes_nobody") {
            local.taken.notify();
        }
        value
    }
}

/// Messages that are claimed and not yet moved out. If a destructor panics meanwhile, the others are dropped, so that the writer is not held
/// up for ever.
struct Rest<'a, T> {
    end: &'a Claimer<T>,
    next: u64,
    left: usize,
}

impl<T> Iterator for Rest<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        let number = self.next;
        self.next = number.wrapping_add(1);
        // SAFETY: it is the next of those that were claimed.
        Some(unsafe { self.end.take(number) })
    }
}

impl<T> Drop for Rest<'_, T> {
    fn drop(&mut self) {
        self.for_each(drop);
    }
}

impl<T> Read<T> for Claimer<T> {
    type Lane = SharedLane<T>;

    #[inline(always)]
    fn hub(&self) -> &Hub<SharedLane<T>> {
        &self.hub
    }

    fn event(&self) -> &Event {
        &self.hub.sent
    }

    #[inline(always)]
    fn take_plainly(&mut self) -> Option<T> {
        let (number, _) = self.claim_here(1)?;
        // SAFETY: claimed just now.
        Some(unsafe { self.take(number) })
    }

    fn try_take(&mut self) -> Option<T> {
        let (number, _) = self.claim(1)?;
        // SAFETY: claimed just now.
        Some(unsafe { self.take(number) })
    }

    /// One by one: what is claimed can't be put back, and `each` may panic.
    #[inline]
    fn take_some(&mut self, most: usize, mut each: impl FnMut(T)) -> usize {
        if most == 0 {
            return 0;
        }
        match self.try_take() {
            Some(value) => {
                each(value);
                1
            }
            None => 0,
        }
    }

    /// From the local lane only: a round that went on elsewhere, where others were faster, would pass lanes over.
    #[inline]
    fn take_here(&mut self, most: usize, mut each: impl FnMut(T)) -> usize {
        if mutated!("shared_round_goes_elsewhere") {
            return self.take_some(most, each);
        }
        let Some((number, _)) = self.local().lane.claim(most.min(1)) else { return 0 };
        // SAFETY: claimed just now.
        each(unsafe { self.take(number) });
        1
    }

    #[inline]
    fn take_into(&mut self, places: &mut [T]) -> usize {
        let mut filled = 0;
        while filled < places.len() {
            let Some((next, left)) = self.claim(places.len() - filled) else { break };
            let rest = Rest { end: self, next, left };
            for (place, value) in places[filled..].iter_mut().zip(rest) {
                *place = value;
            }
            filled += left;
        }
        filled
    }

    fn begin_round(&mut self) -> usize {
        self.hub.members().count()
    }

    fn next_in_round(&mut self) {
        self.change_turns();
    }

    fn here(&mut self) -> usize {
        self.local().lane.len()
    }

    #[cold]
    fn settle(&mut self) -> bool {
        if self.over {
            return true;
        }
        if self.settled {
            self.over = if mutated!("shared_closed_unsealed") {
                self.len() == 0
            } else {
                // E4, in each of them. (One that comes now has a producer that sees the close before it sends.)
                self.hub.members().all(|member| member.lane.seal())
            };
            return self.over;
        }
        if self.hub.is_closed() {
            self.hub.sent.barrier_at_any_price();
            self.settled = true;
        }
        false
    }

    fn len(&self) -> usize {
        self.hub.members().map(|member| member.lane.len()).sum()
    }
}

impl<T> Drop for Claimer<T> {
    fn drop(&mut self) {
        if self.hub.consumer_goes() {
            self.hub.sent.barrier_at_any_price();
            while let Some(value) = self.try_take() {
                drop(value);
            }
        }
    }
}

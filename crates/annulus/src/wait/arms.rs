//! What arms are made of: something to receive, whatever a [`Wait`] looks for, or a [send](Sending). And
//! lists of arms: `(Listening<A>, (Listening<B>, ()))`.

use super::poll::Look;
use super::source::There;
use super::wait_for_any::{Arm, Arms, Listening};
use super::{EventCount, Source, Wait, WaitStrategy};
use crate::error::Refusal;

/// The end of a list.
impl Arms for () {
    fn count(&self) -> usize {
        0
    }

    // Unreached: says that it can't happen
    fn at(&mut self, _: usize) -> &mut Listening<dyn Arm + '_> {
        unreachable!("there are not so many arms")
    }
}

/// An arm before others.
impl<A: Arm, Rest: Arms> Arms for (Listening<A>, Rest) {
    fn count(&self) -> usize {
        1 + self.1.count()
    }

    fn at(&mut self, index: usize) -> &mut Listening<dyn Arm + '_> {
        match index.checked_sub(1) {
            None => &mut self.0,
            Some(index) => self.1.at(index),
        }
    }
}

/// An arm of `select!`, which gives away what it found.
#[must_use = "an arm does nothing by itself"]
#[allow(private_bounds, reason = "this is what seals it")]
pub trait Choice: Arm {
    /// What it finds.
    type Found;

    /// What it found.
    ///
    /// # Panics
    ///
    /// If it found nothing.
    fn found(self) -> Self::Found;
}

/// What the looks of a [`Wait`] find.
pub(crate) struct Finding<W, F> {
    waiter: W,
    strategy: fn(&W) -> WaitStrategy,
    found: Option<F>,
    takes: bool,
}

impl<W: Wait<Found = F>, F> Finding<W, F> {
    /// `strategy`: only called where there is nothing.
    ///
    /// # Safety
    ///
    /// Each event that the waiter returns lives, and stays where it is, as long as the waiter lives, wherever
    /// the waiter is moved to.
    #[inline]
    pub(crate) unsafe fn new(waiter: W, strategy: fn(&W) -> WaitStrategy) -> Self {
        Self { waiter, strategy, found: None, takes: true }
    }

    /// As [`new`](Self::new), of a waiter whose looks take nothing.
    ///
    /// # Safety
    ///
    /// That of [`new`](Self::new).
    pub(crate) unsafe fn that_takes_nothing(waiter: W, strategy: fn(&W) -> WaitStrategy) -> Self {
        Self { waiter, strategy, found: None, takes: false }
    }

    /// Who has found it, and what was found.
    #[inline]
    pub(crate) fn take_both(self) -> (W, F) {
        (self.waiter, self.found.expect("a look has found it"))
    }
}

impl<S: Source> Finding<There<S>, ()> {
    /// Something to receive, for a caller that may receive nothing after all: a wake-up that came is passed
    /// on.
    pub(crate) fn ready(source: S) -> Self {
        // SAFETY: that is what a `Source` promises.
        unsafe { Self::that_takes_nothing(There(source), |there| there.0.strategy()) }
    }
}

// SAFETY: the promise of `new`.
unsafe impl<W: Wait<Found = F>, F> Arm for Finding<W, F> {
    fn event(&self) -> &EventCount {
        self.waiter.event()
    }

    #[inline(always)]
    fn look(&mut self) -> Look<()> {
        self.waiter.poll().map(|found| self.found = Some(found))
    }

    fn takes(&self) -> bool {
        self.takes
    }

    fn strategy(&self) -> WaitStrategy {
        (self.strategy)(&self.waiter)
    }
}

impl<W: Wait<Found = F>, F> Choice for Finding<W, F> {
    type Found = F;

    #[inline(always)]
    fn found(self) -> F {
        self.take_both().1
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use std::thread;
    use std::time::{Duration, Instant};

    use super::super::wait_for_any;
    use super::*;
    use crate::queue::{Consumer, spsc};

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(5)
    }

    fn ready_one(
        left: &mut Consumer<u32, spsc::Spsc>,
        right: &mut Consumer<u32, spsc::Spsc>,
        first: usize,
        deadline: Option<Instant>,
    ) -> Option<usize> {
        let arms = (Listening::new(Finding::ready(right)), ());
        wait_for_any(&mut (Listening::new(Finding::ready(left)), arms), first, deadline)
    }

    #[test]
    fn it_looks_from_the_first_on_and_gives_up_in_time() {
        let [(mut a, mut left), (mut b, mut right)] = [spsc::channel(4), spsc::channel(4)];
        assert_eq!(ready_one(&mut left, &mut right, 0, Some(soon())), None);
        b.send(1).unwrap();
        assert_eq!(ready_one(&mut left, &mut right, 0, None), Some(1));
        a.send(1).unwrap();
        assert_eq!([0, 1].map(|first| ready_one(&mut left, &mut right, first, None)), [Some(0), Some(1)]);
    }

    #[test]
    fn a_sleeper_is_woken_by_either() {
        let [(mut a, mut left), (mut b, mut right)] = [spsc::channel(4), spsc::channel(4)];
        for index in [0, 1, 1, 0, 0, 1] {
            thread::scope(|scope| {
                let reader = scope.spawn(|| ready_one(&mut left, &mut right, 0, None));
                thread::sleep(Duration::from_millis(2));
                [&mut a, &mut b][index].send(1).unwrap();
                assert_eq!(reader.join().unwrap(), Some(index));
            });
            [&mut left, &mut right][index].recv().unwrap();
        }
    }
}

/// A send whose value is made when there is room for it, and not before.
///
/// `W` waits for room `R`.
pub(crate) struct Sending<W, R, T, E> {
    room: Finding<W, Result<R, Refusal>>,
    /// Whether others wait until room that was found is filled.
    is_claim: bool,
    /// Fills the room that was found.
    put: fn(W, Result<R, Refusal>, T) -> Result<(), E>,
}

impl<W: Wait<Found = Result<R, Refusal>>, R, T, E> Sending<W, R, T, E> {
    /// A send in room that stays there until `put`, which gets what a look of `room` found, and the value.
    #[inline]
    pub(crate) fn new(
        room: Finding<W, Result<R, Refusal>>,
        put: fn(W, Result<R, Refusal>, T) -> Result<(), E>,
    ) -> Self {
        Self { room, is_claim: false, put }
    }

    /// As [`new`](Self::new), but the look for the room has claimed it, and it must be filled.
    #[inline]
    pub(crate) fn in_claim(
        room: Finding<W, Result<R, Refusal>>,
        put: fn(W, Result<R, Refusal>, T) -> Result<(), E>,
    ) -> Self {
        Self { room, is_claim: true, put }
    }
}

/// A send that was chosen.
pub trait SendChoice<T, E> {
    /// Sends the value that `make` returns.
    ///
    /// # Errors
    ///
    /// Those of the handle's own verb.
    fn send(self, make: impl FnOnce() -> T) -> Result<(), E>;
}

impl<W: Wait<Found = Result<R, Refusal>>, R, T, E> SendChoice<T, E> for Sending<W, R, T, E> {
    #[inline]
    fn send(self, make: impl FnOnce() -> T) -> Result<(), E> {
        let (waiter, found) = self.room.take_both();
        // Decision 0072: a claim can't be given back, and others wait until it is filled.
        let to_be_filled = (self.is_claim && found.is_ok()).then(|| ToBeFilled);
        let value = make();
        core::mem::forget(to_be_filled);
        (self.put)(waiter, found, value)
    }
}

impl<W: Wait<Found = Result<R, Refusal>>, R, T, E> Choice for Sending<W, R, T, E> {
    type Found = Self;

    #[inline]
    fn found(self) -> Self {
        self
    }
}

/// A claim that is not filled yet. If making the value panics, there is nothing to fill it with.
struct ToBeFilled;

impl Drop for ToBeFilled {
    // Unreached: the process ends there, with what it has counted: test select a_panic_in_a_claim_aborts
    #[cold]
    fn drop(&mut self) {
        std::process::abort();
    }
}

// SAFETY: that of the room.
unsafe impl<W: Wait<Found = Result<R, Refusal>>, R, T, E> Arm for Sending<W, R, T, E> {
    fn event(&self) -> &EventCount {
        self.room.event()
    }

    #[inline]
    fn look(&mut self) -> Look<()> {
        self.room.look()
    }

    fn strategy(&self) -> WaitStrategy {
        self.room.strategy()
    }
}

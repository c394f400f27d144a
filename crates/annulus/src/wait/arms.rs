//! What arms are made of: something to receive, or whatever a [`Wait`] looks for. And lists of arms:
//! `(Listening<A>, (Listening<B>, ()))`.

use super::any::{Arm, Arms, Listening};
use super::look::Look;
use super::source::There;
use super::{EventCount, Source, Wait, WaitStrategy};

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
    /// Something to receive, for whoever may receive nothing after all: a wake-up that came is passed on.
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

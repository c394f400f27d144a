//! [`Armed`]: a [`Poll`] as an arm of [`select!`](crate::select!). And lists of arms:
//! `(Listening<A>, (Listening<B>, ()))`.

use alloc::boxed::Box;

use super::poll::Look;
use super::source::UntilReady;
use super::wait_for_any::{AnyArm, Arm, Arms, Listening};
use super::{EventCount, Poll, Source, WaitStrategy};
use crate::error::Refusal;

/// The end of a list.
impl Arms for () {
    fn count(&self) -> usize {
        0
    }

    // Unreached: says that it can't happen
    fn at(&mut self, _: usize) -> &mut AnyArm<'_> {
        unreachable!("there are not so many arms")
    }
}

/// An arm before others.
impl<A: Arm, Rest: Arms> Arms for (Listening<A>, Rest) {
    fn count(&self) -> usize {
        1 + self.1.count()
    }

    fn at(&mut self, index: usize) -> &mut AnyArm<'_> {
        match index.checked_sub(1) {
            None => &mut self.0,
            Some(index) => self.1.at(index),
        }
    }
}

/// An arm of `select!`, which gives away what it found. Its polls keep that.
///
/// # Safety
///
/// Each eventcount that `wait_point` returns lives, and stays where it is, as long as the
/// arm lives, wherever the arm is moved to.
#[must_use = "an arm does nothing by itself"]
#[allow(private_bounds, reason = "this is what seals it")]
pub unsafe trait Choice: Arm {
    /// What it gives away.
    type Found;

    /// What it found.
    ///
    /// # Panics
    ///
    /// If it found nothing.
    fn found(self) -> <Self as Choice>::Found;
}

/// A `P` that keeps what it found, until `G` makes of both what the arm gives away: a message, or a closure
/// that sends one.
pub(crate) struct Armed<P: Poll, G> {
    poll: P,
    strategy: fn(&P) -> WaitStrategy,
    found: Option<P::Found>,
    give: G,
}

impl<P: Poll, F, G: FnOnce(P, P::Found) -> F> Armed<P, G> {
    /// # Safety
    ///
    /// Each eventcount that `poll` returns lives, and stays where it is, as long as `poll` lives, wherever it
    /// is moved to.
    #[inline]
    pub(crate) unsafe fn new(poll: P, strategy: fn(&P) -> WaitStrategy, give: G) -> Self {
        Self { poll, strategy, found: None, give }
    }
}

impl<P: Poll, G> Poll for Armed<P, G> {
    type Found = ();

    fn wait_point(&self) -> &EventCount {
        self.poll.wait_point()
    }

    #[inline(always)]
    fn poll(&mut self) -> Look<()> {
        self.poll.poll().map(|found| self.found = Some(found))
    }
}

impl<P: Poll, G> Arm for Armed<P, G> {
    fn strategy(&self) -> WaitStrategy {
        (self.strategy)(&self.poll)
    }
}

// SAFETY: the promise of `new`.
unsafe impl<P: Poll, F, G: FnOnce(P, P::Found) -> F> Choice for Armed<P, G> {
    type Found = F;

    #[inline(always)]
    fn found(self) -> F {
        (self.give)(self.poll, self.found.expect("a look has found it"))
    }
}

impl<A: Choice> Listening<A> {
    /// An arm that takes what it finds.
    pub(crate) fn of(arm: A) -> Self {
        // SAFETY: that is what a `Choice` promises.
        unsafe { Self::new(arm, true) }
    }
}

impl<S: Source> Listening<UntilReady<S>> {
    /// Something to receive, for a caller that may receive nothing after all: a wake-up that came is passed
    /// on.
    pub(crate) fn until_ready(source: S) -> Self {
        // SAFETY: that is what a `Source` promises.
        unsafe { Self::new(UntilReady(source), false) }
    }
}

impl<S: Source> Arm for UntilReady<S> {
    fn strategy(&self) -> WaitStrategy {
        self.0.strategy()
    }
}

/// Until there is room, for a caller that may send nothing after all.
pub struct RoomArm<'a>(pub(crate) Box<AnyArm<'a>>);

impl<'a> RoomArm<'a> {
    /// Of what `room` finds, which claims nothing.
    ///
    /// # Safety
    ///
    /// The promise of [`Armed::new`].
    pub(crate) unsafe fn new<P: Poll + 'a>(room: P, strategy: fn(&P) -> WaitStrategy) -> Self {
        // SAFETY: the caller's promise.
        let armed = unsafe { Armed::new(room, strategy, |_, _| ()) };
        // SAFETY: the caller's promise.
        Self(Box::new(unsafe { Listening::new(armed, false) }))
    }
}

/// Sends a value by `put` in a claim that a poll made, or gives it back where there is no claim.
// Decision 0072: a claim can't be given back, and others wait until it is filled.
#[inline]
pub(crate) fn fill_claim<R, T, E>(
    claimed: Result<R, Refusal>,
    put: impl FnOnce(Result<R, Refusal>, T) -> Result<(), E>,
) -> impl FnOnce(T) -> Result<(), E> {
    let to_be_filled = claimed.is_ok().then(|| ToBeFilled);
    move |value| {
        core::mem::forget(to_be_filled);
        put(claimed, value)
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

#[cfg(test)]
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
        let arms = (Listening::until_ready(right), ());
        wait_for_any(&mut (Listening::until_ready(left), arms), first, deadline)
    }

    #[test]
    fn select_looks_from_the_first_arm_on_and_gives_up_in_time() {
        let [(mut a, mut left), (mut b, mut right)] = [spsc::channel(4), spsc::channel(4)];
        assert_eq!(ready_one(&mut left, &mut right, 0, Some(soon())), None);
        b.send(1).unwrap();
        assert_eq!(ready_one(&mut left, &mut right, 0, None), Some(1));
        a.send(1).unwrap();
        assert_eq!([0, 1].map(|first| ready_one(&mut left, &mut right, first, None)), [Some(0), Some(1)]);
    }

    #[test]
    fn sleeper_is_woken_by_either() {
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

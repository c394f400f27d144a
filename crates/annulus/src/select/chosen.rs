//! What the macro [`select!`](crate::select!) uses: arms of their own types, and which of them is chosen.

use core::cell::Cell;
use std::time::{Duration, Instant};

use crate::error::RecvError;
use crate::receive::Receive;
use crate::wait::{Arms, Choice, Finding, Look, Next, Place, wait_for_any};

/// Which arm is chosen, with what it found: `This(first)`, `Other(This(second))` and so on. After the last
/// arm, `Other(())` says that the time has passed.
pub enum Chosen<A, Rest> {
    /// The first arm.
    This(A),
    /// One of the others.
    Other(Rest),
}

/// Arms one after the other: `(Place<A>, (Place<B>, ()))`.
#[allow(private_bounds, reason = "this is what seals it")]
pub trait Choices: Arms {
    /// Which of them is chosen.
    type Chosen;

    /// Looks at the arms from number `from` to before `until`; the first one has number `index`.
    #[allow(private_interfaces, reason = "the macro does not call it")]
    fn look_between(&mut self, index: usize, from: usize, until: usize) -> Look<usize>;

    /// The arm of that number, with what it found.
    fn choose(self, index: Option<usize>) -> Self::Chosen;
}

impl Choices for () {
    type Chosen = ();

    #[inline(always)]
    #[allow(private_interfaces, reason = "the macro does not call it")]
    fn look_between(&mut self, _: usize, _: usize, _: usize) -> Look<usize> {
        Look::Nothing
    }

    #[inline(always)]
    fn choose(self, _: Option<usize>) {}
}

impl<A: Choice, Rest: Choices> Choices for (Place<A>, Rest) {
    type Chosen = Chosen<A::Found, Rest::Chosen>;

    #[inline(always)]
    #[allow(private_interfaces, reason = "the macro does not call it")]
    fn look_between(&mut self, index: usize, from: usize, until: usize) -> Look<usize> {
        let mut is_again = false;
        if (from..until).contains(&index) {
            match self.0.arm_mut().look() {
                Look::Found(()) => return Look::Found(index),
                Look::Nothing => {}
                Look::Again => is_again = true,
            }
        }
        match self.1.look_between(index + 1, from, until) {
            Look::Nothing if is_again => Look::Again,
            look => look,
        }
    }

    #[inline(always)]
    fn choose(self, index: Option<usize>) -> Self::Chosen {
        match index {
            Some(0) => Chosen::This(self.0.into_arm().found()),
            _ => Chosen::Other(self.1.choose(index.and_then(|index| index.checked_sub(1)))),
        }
    }
}

/// How long a `select!` waits.
#[derive(Clone, Copy)]
pub enum Until {
    /// Until something comes.
    Found,
    /// Not at all.
    Now,
    /// So long.
    Passed(Duration),
}

/// Waits until there is something at one of `arms`, and chooses it. `is_fair`: not always from the first on.
#[inline]
pub fn select<L: Choices>(mut arms: L, is_fair: bool, until: Until) -> L::Chosen {
    let first = if is_fair { turn(arms.count()) } else { 0 };
    let mut look = arms.look_between(0, first, usize::MAX);
    if first > 0 && !matches!(look, Look::Found(_)) {
        match arms.look_between(0, 0, first) {
            Look::Nothing => {}
            other => look = other,
        }
    }
    let index = match (look, until) {
        (Look::Found(index), _) => Some(index),
        (Look::Nothing, Until::Now) => None,
        _ => wait(&mut arms, first, until),
    };
    arms.choose(index)
}

#[cold]
fn wait(arms: &mut dyn Arms, first: usize, until: Until) -> Option<usize> {
    let deadline = match until {
        Until::Found => None,
        Until::Now => Some(Instant::now()),
        Until::Passed(timeout) => Instant::now().checked_add(timeout),
    };
    wait_for_any(arms, first, deadline)
}

/// The arm with which a fair look begins, of so many. Each has its turn after three times as many looks, at
/// the latest: the multiples of the golden ratio are spread so evenly. If a thread does other looks in
/// between, now one and now another, they are still spread (a counter would skip the same arms each time).
#[inline]
pub(super) fn turn(count: usize) -> usize {
    /// 2^64 divided by the golden ratio.
    const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

    std::thread_local! {
        static TURN: Cell<u64> = const { Cell::new(0) };
    }
    // (Under loom all threads are one, and each execution has to be as the one before.)
    if cfg!(annulus_loom) {
        return 0;
    }
    let turn = TURN.with(|turn| {
        turn.set(turn.get().wrapping_add(STEP));
        turn.get()
    });
    ((u128::from(turn) * count as u128) >> 64) as usize
}

/// An arm that receives, of any handle.
pub trait Receiving: Receive + Sized {
    /// What the macro calls.
    #[inline]
    fn recv_in_select(&mut self) -> impl Choice<Found = Result<Self::Item, RecvError>> {
        let strategy = self.strategy();
        // SAFETY: that is what a `Source` promises.
        unsafe { Finding::new(Next(self), strategy) }
    }
}

impl<S: Receive> Receiving for S {}

//! What the macro [`select!`](crate::select!) uses: arms of their own types, and which of them is chosen.

use core::cell::Cell;
use std::time::{Duration, Instant};

use crate::error::RecvError;
use crate::receive::Receive;
use crate::sync::mutated;
use crate::wait::{Arms, Choice, Finding, Look, Next, Place, wait_for_any};

/// Which arm is chosen, with what it found: `This(first)`, `Other(This(second))` and so on. After the last
/// arm, `Other(())` says that the time has passed.
pub enum Chosen<A, Rest> {
    /// The first arm.
    This(A),
    /// One of the others.
    Other(Rest),
}

/// Arms one after the other: `(A, (B, ()))`.
pub trait Choices: Sized {
    /// Which of them is chosen.
    type Chosen;
    /// The same arms, with seats.
    #[allow(private_bounds, reason = "the macro does not name it")]
    type Seated: Arms;
    /// How many there are.
    const COUNT: usize;

    /// Looks at the arm of that number, which is less than [`COUNT`](Self::COUNT).
    #[allow(private_interfaces, reason = "the macro does not call it")]
    fn look_at(&mut self, index: usize) -> Look<()>;

    /// The arm of that number, with what it found.
    fn choose(self, index: Option<usize>) -> Self::Chosen;

    /// Where they wait.
    fn seated(self) -> Self::Seated;

    /// They wait no more.
    fn risen(seated: Self::Seated) -> Self;
}

impl Choices for () {
    type Chosen = ();
    type Seated = ();
    const COUNT: usize = 0;

    #[inline(always)]
    #[allow(private_interfaces, reason = "the macro does not call it")]
    fn look_at(&mut self, _: usize) -> Look<()> {
        Look::Nothing
    }

    #[inline(always)]
    fn choose(self, _: Option<usize>) {}

    fn seated(self) {}

    fn risen((): ()) {}
}

impl<A: Choice, Rest: Choices> Choices for (A, Rest) {
    type Chosen = Chosen<A::Found, Rest::Chosen>;
    type Seated = (Place<A>, Rest::Seated);
    const COUNT: usize = 1 + Rest::COUNT;

    #[inline(always)]
    #[allow(private_interfaces, reason = "the macro does not call it")]
    fn look_at(&mut self, index: usize) -> Look<()> {
        match index.checked_sub(1) {
            None => self.0.look(),
            Some(index) => self.1.look_at(index),
        }
    }

    #[inline(always)]
    fn choose(self, index: Option<usize>) -> Self::Chosen {
        match index {
            Some(0) => Chosen::This(self.0.found()),
            _ => Chosen::Other(self.1.choose(index.and_then(|index| index.checked_sub(1)))),
        }
    }

    fn seated(self) -> Self::Seated {
        (Place::new(self.0), self.1.seated())
    }

    fn risen((place, rest): Self::Seated) -> Self {
        (place.into_arm(), Rest::risen(rest))
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
// Inlined, with arms that nobody else sees until they wait, so that they need not lie in memory.
#[inline(always)]
pub fn select<L: Choices>(mut arms: L, is_fair: bool, until: Until) -> L::Chosen {
    let first = if is_fair { turn(L::COUNT) } else { 0 };
    let (mut index, mut is_again) = (first, false);
    for _ in 0..L::COUNT {
        match arms.look_at(index) {
            Look::Found(()) => return arms.choose(Some(index)),
            Look::Nothing => {}
            Look::Again => is_again = true,
        }
        index = if index + 1 == L::COUNT { 0 } else { index + 1 };
    }
    if matches!(until, Until::Now) && !is_again { arms.choose(None) } else { wait(arms, first, until) }
}

#[cold]
#[inline(never)]
fn wait<L: Choices>(arms: L, first: usize, until: Until) -> L::Chosen {
    let deadline = match until {
        Until::Found => None,
        Until::Now => Some(Instant::now()),
        Until::Passed(timeout) => Instant::now().checked_add(timeout),
    };
    let mut seated = arms.seated();
    let index = wait_for_any(&mut seated, first, deadline);
    L::risen(seated).choose(index)
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
    if cfg!(annulus_loom) || mutated!("select_always_in_order") {
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
        // SAFETY: that is what a `Source` promises.
        unsafe { Finding::new(Next(self), |next| next.0.strategy()) }
    }
}

impl<S: Receive> Receiving for S {}

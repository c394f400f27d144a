//! What the macro [`select!`](crate::select!) uses: arms of their own types, and which of them is chosen.

use core::cell::Cell;
use core::mem::ManuallyDrop;
use std::time::{Duration, Instant};

use crate::error::RecvError;
use crate::receive::{Next, Receive};
use crate::sync::seeded;
use crate::wait::{Armed, Arms, Choice, Listening, Look, wait_for_any};

/// Which arm is chosen, with what it found: `This(first)`, `Other(This(second))` and so on. After the last
/// arm, `Other(())` says that the time has passed.
///
/// It has no destructor, so nothing of it borrows a handle any more once the macro has taken out what was
/// found: the expressions of all arms may use the handles of all arms.
pub enum Chosen<A, Rest> {
    /// The first arm.
    This(ManuallyDrop<A>),
    /// One of the others.
    Other(Rest),
}

/// Arms one after the other: `(A, (B, ()))`.
pub trait Choices: Sized {
    /// Which of them is chosen.
    type Chosen;
    /// The same arms, with listeners.
    #[allow(private_bounds, reason = "the macro does not name it")]
    type Waiting: Arms;
    /// How many there are.
    const COUNT: usize;

    /// Looks at the arm of that number, which is less than [`COUNT`](Self::COUNT).
    #[allow(private_interfaces, reason = "the macro does not call it")]
    fn look_at(&mut self, index: usize) -> Look<()>;

    /// The arm of that number, with what it found.
    fn choose(self, index: Option<usize>) -> Self::Chosen;

    /// They wait from now on.
    fn begin_wait(self) -> Self::Waiting;

    /// They wait no more.
    fn end_wait(waiting: Self::Waiting) -> Self;
}

impl Choices for () {
    type Chosen = ();
    type Waiting = ();
    const COUNT: usize = 0;

    // Unreached: the end of the list of arms, which has no arm
    #[inline(always)]
    #[allow(private_interfaces, reason = "the macro does not call it")]
    fn look_at(&mut self, _: usize) -> Look<()> {
        Look::Nothing
    }

    // Unreached: the end of the list of arms, which has no arm
    #[inline(always)]
    fn choose(self, _: Option<usize>) {}

    fn begin_wait(self) {}

    fn end_wait((): ()) {}
}

impl<A: Choice, Rest: Choices> Choices for (A, Rest) {
    type Chosen = Chosen<<A as Choice>::Found, Rest::Chosen>;
    type Waiting = (Listening<A>, Rest::Waiting);
    const COUNT: usize = 1 + Rest::COUNT;

    #[inline(always)]
    #[allow(private_interfaces, reason = "the macro does not call it")]
    fn look_at(&mut self, index: usize) -> Look<()> {
        match index.checked_sub(1) {
            None => self.0.poll(),
            Some(index) => self.1.look_at(index),
        }
    }

    #[inline(always)]
    fn choose(self, index: Option<usize>) -> Self::Chosen {
        match index {
            Some(0) => Chosen::This(ManuallyDrop::new(self.0.found())),
            _ => Chosen::Other(self.1.choose(index.and_then(|index| index.checked_sub(1)))),
        }
    }

    fn begin_wait(self) -> Self::Waiting {
        (Listening::of(self.0), self.1.begin_wait())
    }

    fn end_wait((listening, rest): Self::Waiting) -> Self {
        (listening.into_arm(), Rest::end_wait(rest))
    }
}

/// How long a `select!` waits.
#[derive(Clone, Copy)]
pub enum Limit {
    /// Limit something comes.
    Found,
    /// Not at all.
    Now,
    /// So long.
    Passed(Duration),
}

/// Waits until there is something at one of `arms`, and chooses it. `is_fair`: not always the first.
// Inlined, with arms that nobody else sees until they wait, so that they need not lie in memory.
#[inline(always)]
pub fn select<L: Choices>(mut arms: L, is_fair: bool, limit: Limit) -> L::Chosen {
    let first = if is_fair { turn(L::COUNT) } else { 0 };
    match arms.look_at(first) {
        Look::Found(()) => arms.choose(Some(first)),
        look => select_another(arms, first, matches!(look, Look::Again), is_fair, limit),
    }
}

/// What follows where nothing is at the arm `first`. `is_again`: it has to be looked at again.
// Not inlined, because the first look mostly finds something: decision 0072.
#[inline(never)]
fn select_another<L: Choices>(
    mut arms: L,
    first: usize,
    mut is_again: bool,
    is_fair: bool,
    limit: Limit,
) -> L::Chosen {
    let mut index = first;
    for _ in 1..L::COUNT {
        index = if index + 1 == L::COUNT { 0 } else { index + 1 };
        match arms.look_at(index) {
            Look::Found(()) => {
                if is_fair {
                    took(index, first);
                }
                return arms.choose(Some(index));
            }
            Look::Nothing => {}
            Look::Again => is_again = true,
        }
    }
    if matches!(limit, Limit::Now) && !is_again {
        arms.choose(None)
    } else {
        wait(arms, first, is_fair, limit)
    }
}

#[cold]
#[inline(never)]
fn wait<L: Choices>(arms: L, first: usize, is_fair: bool, limit: Limit) -> L::Chosen {
    let deadline = match limit {
        Limit::Found => None,
        // Unreached: an arm has to be in the middle of a send when it is looked at; loom select_wake
        Limit::Now => Some(Instant::now()),
        Limit::Passed(timeout) => Instant::now().checked_add(timeout),
    };
    let mut waiting = arms.begin_wait();
    let index = wait_for_any(&mut waiting, first, deadline);
    if let (Some(index), true) = (index, is_fair) {
        took(index, first);
    }
    L::end_wait(waiting).choose(index)
}

/// How many fair looks in a row begin with the arm that was taken last: so many, or up to three more. Then
/// one begins with another arm.
// Decision 0072: looks that find nothing become rare.
const STAYS: u64 = 28;

/// One of the looks that are left, in [`Looks::word`].
const LOOK: u64 = 1 << 32;

std::thread_local! {
    static LOOKS: Looks = const { Looks { word: Cell::new(0), turns: Cell::new(0) } };
}

/// The fair looks of a thread.
struct Looks {
    /// Below [`LOOK`]: the arm that was taken last. Above: how many looks are left until it is another arm's
    /// turn.
    word: Cell<u64>,
    /// Whose turn it was, as a fraction of 2^64.
    turns: Cell<u64>,
}

impl Looks {
    /// The arm with which a look begins that does not begin with the one that was taken last. It is noted.
    #[cold]
    #[inline(never)]
    fn another(&self, count: usize) -> usize {
        // Multiples of the golden ratio. They are spread so evenly that none of `n` parts of 2^64 is left out
        // for more than `3 n` of them. If a thread does other looks in between, now one and now another, they
        // are still spread (a counter would skip the same arms each time).
        const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
        let turn = self.turns.get().wrapping_add(STEP);
        self.turns.set(turn);
        let index = ((u128::from(turn) * count as u128) >> 64) as usize;
        let stays = match self.word.get() / LOOK {
            // By other bits than those that say whose turn it is. Always the same number would give each turn
            // to the same one of the selects of a thread.
            0 => STAYS + ((turn ^ turn >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93) >> 62),
            left => left - 1,
        };
        self.word.set(stays * LOOK + index as u64);
        index
    }
}

/// The arm with which a fair look begins, of so many: mostly the one that was taken last, and each in its
/// turn.
#[inline(always)]
pub(super) fn turn(count: usize) -> usize {
    // (Under loom all threads are one, and each execution has to be as the one before.)
    if cfg!(annulus_loom) {
        // Unreached: for loom
        return 0;
    }
    LOOKS.with(|looks| {
        let word = looks.word.get();
        let last = (word % LOOK) as usize;
        match word.checked_sub(LOOK) {
            Some(less) if last < count => {
                looks.word.set(less);
                last
            }
            None if last < count && seeded!("select_stays_for_good") => last,
            _ => looks.another(count),
        }
    })
}

/// Says which arm was taken by a fair look that began with the arm `first`, which is noted already.
#[inline(always)]
pub(super) fn took(index: usize, first: usize) {
    if index != first {
        took_another(index);
    }
}

#[cold]
#[inline(never)]
fn took_another(index: usize) {
    LOOKS.with(|looks| looks.word.set(looks.word.get() / LOOK * LOOK + index as u64));
}

/// An arm that receives, of any handle. (Where the handle can't receive, the error names [`Receive`], because
/// this is implemented for all that can.)
pub trait Receiving: Receive + Sized {
    /// What the macro calls.
    #[inline]
    fn recv_in_select(&mut self) -> impl Choice<Found = Result<Self::Item, RecvError>> {
        // SAFETY: that is what a `Source` promises.
        unsafe { Armed::new(Next(self), |next| next.0.strategy(), |_, found| found) }
    }
}

impl<S: Receive> Receiving for S {}

/// Sends the value that `make` returns, by an arm that was chosen.
///
/// # Errors
///
/// As the handle's own verb.
#[inline]
pub fn send<T, E>(chosen: impl FnOnce(T) -> Result<(), E>, make: impl FnOnce() -> T) -> Result<(), E> {
    chosen(make())
}

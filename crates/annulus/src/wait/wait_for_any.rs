//! [`wait_for_any`]: one thread waits at several eventcounts, for what comes first at any of them.
//!
//! It does what `wait_until` does at one eventcount. It looks at all arms, in turn, and spins. Then it takes
//! a [listener](Listener) at the eventcount of each arm, registers the waker of its thread there, looks there
//! once more, and sleeps once for all.
//!
//! *Why no wake-up is lost.* At each arm it is the argument of `event_count.rs`: a thread that brings
//! something there comes after the registration, and wakes the thread, or before it, and then the second look
//! sees what it brought.
//!
//! *Where a wake-up goes.* A listener that is woken in place of any other has a wake-up that belongs to a
//! message. Before each look at an arm its listener is disarmed, so the look uses the wake-up. When an arm is
//! chosen, the listeners of the others are dropped, and pass on what they have. An arm that takes
//! nothing passes on its own wake-up, too.
//!
//! *How the thread sleeps*: until its waker wakes it, by a [`Sleeper`].
//!
//! ```text
//! the waker                                          the thread
//! parker.wake1  word := WOKEN          Release       parker.sleep2  word: EMPTY → ASLEEP, sleep while it is that
//!               it was ASLEEP: wake                  parker.sleep3  word := EMPTY                         Acquire
//! ```
//!
//! A wake-up that comes before the sleep is kept in the word, so parker.sleep2 finds it. One that comes late,
//! when the thread has gone on to another wait, ends a sleep there too early: the thread looks once more.

use core::cell::Cell;
use core::ptr::NonNull;
use core::task::Waker;
use std::sync::Arc;
use std::task::Wake;
use std::time::Instant;

use super::listener::{Listener, pass_on};
use super::park::{Cohort, Parking};
use super::poll::{Deadline, Look, has_passed};
use super::spin::{Spin, Turn};
use super::wait_until::LAST_LOOKS;
use super::{EventCount, Poll, WaitStrategy};
use crate::processor;
use crate::sync::{AtomicU32, Ordering, seeded};

/// One of the things that a thread waits for.
pub(crate) trait Arm: Poll<Found = ()> {
    /// How to wait, where this is the first arm. It is called only where there is nothing.
    fn strategy(&self) -> WaitStrategy;
}

/// An arm, and its listener while the thread waits.
pub struct Listening<A: ?Sized> {
    // Before the arm: it is dropped first, and the arm keeps its eventcount alive.
    listener: Option<Listener>,
    /// Whether a poll that finds a message (or a free slot) takes it. Otherwise another waiter has to be
    /// woken for it.
    takes: bool,
    /// What is polled. Its eventcounts are as [`new`](Self::new) says, and nobody replaces it while there is
    /// a listener. It keeps what it found, and is not polled again then.
    arm: A,
}

/// An arm of any type.
pub(crate) type AnyArm<'a> = Listening<dyn Arm + 'a>;

/// Some arms, by number.
pub(crate) trait Arms {
    /// How many: at least one.
    fn count(&self) -> usize;

    /// The arm of that number.
    fn at(&mut self, index: usize) -> &mut AnyArm<'_>;
}

/// Waits until there is something at one of `arms`, and returns its number; `None` once `deadline` has passed
/// and a last look found nothing. It looks at the arms from `first` on.
// Decision 0072: listeners and one sleep.
#[cold]
#[inline(never)]
pub(crate) fn wait_for_any(arms: &mut dyn Arms, first: usize, deadline: Deadline) -> Option<usize> {
    let arms = StopListening(arms);
    let mut spin = Spin::new(arms.0.at(0).arm.strategy());
    loop {
        let look = arms.0.look_at_all(first);
        if let Look::Found(index) = look {
            spin.end(arms.0.at(0).arm.wait_point());
            return Some(index);
        }
        if has_passed(deadline) {
            let found = last_look(arms.0, first);
            let event = arms.0.at(0).arm.wait_point();
            match found {
                Some(_) => spin.end(event),
                None => spin.give_up(event),
            }
            return found;
        }
        if matches!(look, Look::Again) {
            continue;
        }
        match spin.turn(arms.0.at(0).arm.wait_point()) {
            Turn::Spun | Turn::GaveWay => {}
            // No single word decides.
            // Unreached: where the processor waits by the word (the strategy Monitor)
            Turn::Watch => processor::pause(),
            Turn::Sleep => {
                let found = sleep(arms.0, first, deadline);
                if found.is_some() {
                    return found;
                }
            }
        }
    }
}

/// Arms whose listeners are dropped at the end, whichever it is.
struct StopListening<'a>(&'a mut dyn Arms);

impl Drop for StopListening<'_> {
    fn drop(&mut self) {
        (0..self.0.count()).for_each(|index| self.0.at(index).listener = None);
    }
}

impl dyn Arms + '_ {
    /// The numbers of the arms in the order of looks.
    fn order(&self, first: usize) -> impl Iterator<Item = usize> + use<> {
        (first..self.count()).chain(0..first)
    }

    /// Looks at one arm after the other, until there is something.
    fn look_at_all(&mut self, first: usize) -> Look<usize> {
        let mut is_again = false;
        for index in self.order(first) {
            match self.at(index).look() {
                Look::Found(()) => return Look::Found(index),
                Look::Nothing => {}
                Look::Again => is_again = true,
            }
        }
        if is_again { Look::Again } else { Look::Nothing }
    }
}

/// Registers at each arm, and looks there once more; then it sleeps until somebody wakes the thread, or
/// `deadline` passes. Returns what a second look found.
fn sleep(arms: &mut dyn Arms, first: usize, deadline: Deadline) -> Option<usize> {
    Sleeper::with(|sleeper| {
        let mut is_again = false;
        let count = if seeded!("any_registers_one_only") { 1 } else { arms.count() };
        for index in arms.order(first).take(count) {
            match arms.at(index).register_and_look(sleeper.waker()) {
                Look::Found(()) => return Some(index),
                Look::Nothing => {}
                Look::Again => is_again = true,
            }
        }
        if !is_again {
            let begun = Instant::now();
            sleeper.sleep(deadline);
            arms.at(0).arm.wait_point().give_way_hint().slept(begun);
        }
        None
    })
}

/// What is there once the time has passed.
fn last_look(arms: &mut dyn Arms, first: usize) -> Option<usize> {
    let looks = if seeded!("one_last_look") { 1 } else { LAST_LOOKS };
    for _ in 0..looks {
        match arms.look_at_all(first) {
            Look::Found(index) => return Some(index),
            Look::Nothing => break,
            Look::Again => {}
        }
    }
    None
}

impl<A> Listening<A> {
    /// `arm`, without a listener.
    ///
    /// # Safety
    ///
    /// Each eventcount that `arm` returns lives, and stays where it is, as long as `arm` lives, wherever it
    /// is moved to.
    pub(super) unsafe fn new(arm: A, takes: bool) -> Self {
        Self { listener: None, takes, arm }
    }

    /// The arm, which waits no more.
    pub(crate) fn into_arm(self) -> A {
        self.arm
    }
}

impl AnyArm<'_> {
    /// One look, which uses a wake-up that came.
    fn look(&mut self) -> Look<()> {
        let event = self.listener.as_ref().map(Listener::at);
        let look = Listener::look(&mut self.listener, &mut self.arm);
        self.end_look(look, event)
    }

    /// From now on `waker` is woken, where one more look finds nothing, either.
    fn register_and_look(&mut self, waker: &Waker) -> Look<()> {
        let event = NonNull::from(self.arm.wait_point());
        // SAFETY: the eventcounts live as long as the arm (`new`), and the listener is dropped before the
        // arm.
        let look = unsafe { Listener::register_and_look(&mut self.listener, &mut self.arm, waker) };
        self.end_look(look, Some(event))
    }

    /// After a look for which a wake-up came at `event`, if one is owed.
    fn end_look(
        &mut self,
        (look, is_owed): (Look<()>, bool),
        event: Option<NonNull<EventCount>>,
    ) -> Look<()> {
        let is_used = self.takes || seeded!("arm_wake_up_kept");
        if is_owed && matches!(look, Look::Found(())) && !is_used {
            if let Some(event) = event {
                // SAFETY: the eventcounts live as long as the arm (`new`).
                pass_on(unsafe { event.as_ref() });
            }
        }
        look
    }
}

/// What a thread sleeps on.
struct Parker {
    word: AtomicU32,
    parking: Parking,
}

/// Nobody sleeps, and no wake-up has come.
const EMPTY: u32 = 0;
/// The thread sleeps, or is about to.
const ASLEEP: u32 = 1;
/// A wake-up has come.
const WOKEN: u32 = 2;

impl Wake for Parker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // parker.wake1. Release: pairs with the Acquire of parker.sleep3.
        if self.word.swap(WOKEN, Ordering::Release) == ASLEEP {
            self.parking.wake_all(&self.word, Cohort::Even);
        }
    }
}

/// A thread that may sleep, with the waker that wakes it.
struct Sleeper {
    parker: Arc<Parker>,
    waker: Waker,
}

impl Sleeper {
    fn new() -> Self {
        let parker = Arc::new(Parker { word: AtomicU32::new(EMPTY), parking: Parking::new() });
        Self { waker: Waker::from(Arc::clone(&parker)), parker }
    }

    /// Lets `wait` have the sleeper of this thread. Only the first one of a thread is allocated, and the
    /// sleepers of waits inside of waits.
    fn with<R>(wait: impl FnOnce(&Self) -> R) -> R {
        let kept = KeptSleeper(Some(KEPT.try_with(Cell::take).ok().flatten().unwrap_or_else(Self::new)));
        wait(kept.0.as_ref().expect("it is there until the end"))
    }

    /// What wakes this thread.
    fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Sleeps until the waker is woken, or `deadline`; it may also return earlier. What was stored before the
    /// wake-up is seen afterwards.
    fn sleep(&self, deadline: Deadline) {
        let Parker { word, parking } = &*self.parker;
        // parker.sleep2. Relaxed: parker.sleep3 sees what the wake-up is for.
        if word.compare_exchange(EMPTY, ASLEEP, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            parking.wait_while(word, ASLEEP, deadline, Cohort::Even);
        }
        // parker.sleep3. Acquire: pairs with the Release of parker.wake1, of each wake-up that came.
        word.swap(EMPTY, Ordering::Acquire);
    }
}

std::thread_local! {
    /// The sleeper of this thread, where no wait has it. (Not under loom: all its threads are one.)
    static KEPT: Cell<Option<Sleeper>> = const { Cell::new(None) };
}

/// A sleeper that the next wait of this thread gets.
struct KeptSleeper(Option<Sleeper>);

impl Drop for KeptSleeper {
    fn drop(&mut self) {
        if !cfg!(annulus_loom) {
            // (A thread that ends has none any more.)
            let _ = KEPT.try_with(|kept| kept.set(self.0.take()));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::counting_waker::Woken;
    use super::*;

    /// An arm whose looks are a function of how many there were before, which may move it to another
    /// eventcount.
    struct Scripted<'e, F> {
        event: &'e EventCount,
        looks: u32,
        look: F,
        strategy: WaitStrategy,
    }

    impl<'e, F: FnMut(u32, &mut &'e EventCount) -> Look<()>> Scripted<'e, F> {
        fn at(event: &'e EventCount, look: F) -> Listening<Self> {
            let strategy = WaitStrategy::Block { spin_iters: 0, pause_iters: 0 };
            // SAFETY: the eventcounts belong to the tests, which drop their arms first.
            unsafe { Listening::new(Self { event, looks: 0, look, strategy }, true) }
        }
    }

    impl<'e, F: FnMut(u32, &mut &'e EventCount) -> Look<()>> Poll for Scripted<'e, F> {
        type Found = ();

        fn wait_point(&self) -> &EventCount {
            self.event
        }

        fn poll(&mut self) -> Look<()> {
            self.looks += 1;
            (self.look)(self.looks - 1, &mut self.event)
        }
    }

    impl<'e, F: FnMut(u32, &mut &'e EventCount) -> Look<()>> Arm for Scripted<'e, F> {
        fn strategy(&self) -> WaitStrategy {
            self.strategy
        }
    }

    /// As a wait at one eventcount does.
    #[test]
    fn wait_that_its_deadline_ends_says_that_giving_way_did_not_help() {
        let says_so = || {
            let event = EventCount::new();
            event.give_way_hint().helped();
            let deadline = Instant::now() + Duration::from_millis(20);
            let mut scripted = Scripted::at(&event, |looks, _: &mut &EventCount| {
                if looks == 2 {
                    std::thread::sleep(deadline.saturating_duration_since(Instant::now()));
                }
                Look::Nothing
            });
            scripted.arm.strategy = WaitStrategy::Block { spin_iters: 1, pause_iters: 0 };
            assert_eq!(wait_for_any(&mut (scripted, ()), 0, Some(deadline)), None);
            !event.give_way_hint().has_helped()
        };
        // (On a busy machine the time may be over before it gives way.)
        assert!((0..10).any(|_| says_so()));
    }

    #[test]
    fn select_looks_again_where_it_is_told_to() {
        let event = EventCount::new();
        let third = |looks, _: &mut &EventCount| if looks < 2 { Look::Again } else { Look::Found(()) };
        assert_eq!(wait_for_any(&mut (Scripted::at(&event, third), ()), 0, None), Some(0));
        // Also once the time has passed.
        let past = Some(Instant::now());
        assert_eq!(wait_for_any(&mut (Scripted::at(&event, third), ()), 0, past), Some(0));
        let always = |_, _: &mut &EventCount| Look::Again;
        assert_eq!(wait_for_any(&mut (Scripted::at(&event, always), ()), 0, past), None);
    }

    /// The look after the registration may move an arm. Then the thread does not sleep before it has
    /// registered there.
    #[test]
    fn arm_that_moves_at_the_second_look_does_not_sleep_yet() {
        let events = [EventCount::new(), EventCount::new()];
        let [first, second] = &events;
        let arm = Scripted::at(first, |_, event| {
            if first.tasks().count() == 1 {
                *event = second;
            } else if second.tasks().count() == 1 {
                return Look::Found(());
            }
            Look::Nothing
        });
        assert_eq!(wait_for_any(&mut (arm, ()), 0, None), Some(0));
        assert_eq!([first, second].map(|event| event.tasks().count()), [0, 0]);
    }

    /// Between two waits at an arm, too.
    #[test]
    fn listener_moves_with_its_arm() {
        let events = [EventCount::new(), EventCount::new()];
        let [first, second] = &events;
        let woken = Arc::new(Woken::default());
        let mut scripted = Scripted::at(first, |looks, event| {
            if looks == 1 {
                *event = second;
            }
            Look::Nothing
        });
        let scripted: &mut AnyArm<'_> = &mut scripted;
        for expected in [[1, 0], [0, 1]] {
            assert!(matches!(scripted.register_and_look(&woken.waker()), Look::Nothing));
            assert_eq!([first, second].map(|event| event.tasks().count()), expected);
            assert!(matches!(scripted.look(), Look::Nothing));
        }
    }

    /// A waiter that finds a message and does not take it wakes another in its place.
    #[test]
    fn arm_that_takes_nothing_passes_its_wake_up_on() {
        for (takes, others) in [(false, 1), (true, 0)] {
            let event = EventCount::new();
            let [one, other] = [(); 2].map(|()| Arc::new(Woken::default()));
            let second =
                |looks, _: &mut &EventCount| if looks == 0 { Look::Nothing } else { Look::Found(()) };
            let mut scripted = Scripted::at(&event, second);
            scripted.takes = takes;
            let scripted: &mut AnyArm<'_> = &mut scripted;
            assert!(matches!(scripted.register_and_look(&one.waker()), Look::Nothing));
            let mut listener = None;
            // SAFETY: the eventcount is dropped later.
            unsafe { Listener::register_at(&mut listener, NonNull::from(&event), &other.waker()) };
            event.notify_some(1);
            assert_eq!((one.count(), other.count()), (1, 0));
            assert!(matches!(scripted.look(), Look::Found(())));
            assert_eq!(other.count(), others, "takes: {takes}");
        }
    }

    #[test]
    fn select_gives_up_in_time() {
        let event = EventCount::new();
        let deadline = Instant::now() + Duration::from_millis(5);
        let mut arms = (Scripted::at(&event, |_, _: &mut &EventCount| Look::Nothing), ());
        assert_eq!(wait_for_any(&mut arms, 0, Some(deadline)), None);
        assert!(Instant::now() >= deadline);
        assert_eq!(event.tasks().count(), 0);
    }
}

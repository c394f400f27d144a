//! [`wait_until`]: poll, spin, sleep, whichever family asks.

use super::deadline::{Deadline, has_passed};
use super::look::Look;
use super::spin::{Spin, Turn};
use super::waiter::Wait;
use super::watch::watch;
use super::{WaitStrategy, WriterBackoff};
use crate::processor;
use crate::sync::mutated;

/// Waits until a poll finds something, and returns that; `None` once `deadline` has passed and a [last
/// look](last_look) found nothing.
#[cold]
#[inline(never)]
pub(crate) fn wait_until<W: Wait>(
    waiter: &mut W,
    strategy: WaitStrategy,
    deadline: Deadline,
) -> Option<W::Found> {
    let mut spin = Spin::new(strategy);
    loop {
        let look = waiter.poll();
        if let Look::Found(found) = look {
            spin.end(waiter.event());
            return Some(found);
        }
        if has_passed(deadline) {
            let found = last_look(waiter);
            match found {
                Some(_) => spin.end(waiter.event()),
                None => spin.give_up(waiter.event()),
            }
            return found;
        }
        if matches!(look, Look::Again) {
            if let Some(backoff) = waiter.backoff() {
                backoff.wait_for_more(strategy);
            }
            continue;
        }
        match spin.turn(waiter.event()) {
            // Each look of a writer costs the readers something, so it pauses, too.
            Turn::Spun => {
                let pauses = waiter.backoff().map_or(0, WriterBackoff::pause);
                spin.count(pauses);
            }
            Turn::GaveWay => {}
            // Unreached: where the processor waits by the word (the strategy Monitor)
            Turn::Watch => {
                let found = watch(waiter, deadline, processor::wait_while);
                if found.is_some() {
                    return found;
                }
            }
            Turn::Sleep => {
                if let Some(found) = sleep(waiter, deadline) {
                    return Some(found);
                }
            }
        }
    }
}

/// event.sleep1 to event.sleep4 of an [event](super::EventCount): sleeps until somebody notifies, or
/// `deadline` passes. Returns what a second look found. A sleep may be many naps.
fn sleep<W: Wait>(waiter: &mut W, deadline: Deadline) -> Option<W::Found> {
    #[cfg(feature = "std")]
    let begun = std::time::Instant::now();
    for naps in 0.. {
        let event = core::ptr::from_ref(waiter.event());
        let ticket = waiter.event().register();
        // The second look: a notify that missed the registration came after a store that this poll sees.
        if !mutated!("event_no_second_look") {
            match waiter.poll() {
                Look::Found(found) => return Some(found),
                Look::Again if !mutated!("lapped_and_asleep") => return None,
                Look::Nothing | Look::Again => {}
            }
        }
        // Where the second look changed what is waited for, it has to be registered for that.
        if !core::ptr::eq(event, waiter.event()) {
            return None;
        }
        if naps == 0 {
            waiter.event().count_sleep();
        }
        if waiter.event().sleep_on(ticket, deadline, naps) {
            break;
        }
    }
    #[cfg(feature = "std")]
    waiter.event().give_way_hint().slept(begun);
    None
}

/// How often who is told to look again does so after its deadline: about a millisecond at most. Beside a
/// publisher at full speed a subscriber of a ring of 64 slots was lapped 64 times one after the other, once
/// in a million receives.
pub(super) const LAST_LOOKS: u32 = 1_000;

/// What is there now, for who does not wait: as one look, and once more where a look says so.
#[inline(always)]
pub(crate) fn look_now<W: Wait>(waiter: &mut W) -> Option<W::Found> {
    match waiter.poll() {
        Look::Found(found) => Some(found),
        Look::Nothing => None,
        Look::Again => last_look(waiter),
    }
}

/// What is there once the time has passed. Where a poll says that something may be there it is asked again,
/// as often as it takes, within reason.
#[cold]
fn last_look<W: Wait>(waiter: &mut W) -> Option<W::Found> {
    let looks = if mutated!("one_last_look") { 1 } else { LAST_LOOKS };
    for _ in 0..looks {
        match waiter.poll() {
            Look::Found(found) => return Some(found),
            Look::Nothing => break,
            Look::Again => {}
        }
    }
    None
}

#[cfg(all(test, feature = "std", not(annulus_loom)))]
mod tests {
    use super::super::EventCount;
    use super::*;

    /// Finds something at the poll after so many that say "again", and nothing where there are none.
    struct After(Option<u32>, EventCount);

    impl Wait for After {
        type Found = ();

        fn event(&self) -> &EventCount {
            &self.1
        }

        fn poll(&mut self) -> Look<()> {
            match &mut self.0 {
                None => Look::Nothing,
                Some(0) => Look::Found(()),
                Some(left) => {
                    *left -= 1;
                    Look::Again
                }
            }
        }
    }

    /// Finds something at the poll after so many that say "nothing".
    struct Late(u32, EventCount);

    impl Wait for Late {
        type Found = ();

        fn event(&self) -> &EventCount {
            &self.1
        }

        fn poll(&mut self) -> Look<()> {
            match self.0.checked_sub(1) {
                None => Look::Found(()),
                Some(left) => {
                    self.0 = left;
                    Look::Nothing
                }
            }
        }
    }

    /// Says these at its polls, and waits elsewhere before the last one.
    struct Says<I>(I, [EventCount; 2]);

    impl<I: ExactSizeIterator<Item = Look<()>>> Wait for Says<I> {
        type Found = ();

        fn event(&self) -> &EventCount {
            &self.1[usize::from(self.0.len() < 2)]
        }

        fn poll(&mut self) -> Look<()> {
            self.0.next().expect("it looks no more")
        }
    }

    /// Whoever is told to look again when it is about to sleep does so, and so does one that is to wait
    /// elsewhere.
    #[test]
    fn who_looks_a_second_time_may_begin_anew() {
        let looks = [Look::Nothing, Look::Again, Look::Nothing, Look::Nothing, Look::Found(())];
        let mut waiter = Says(looks.into_iter(), [EventCount::new(), EventCount::new()]);
        let strategy = WaitStrategy::Block { spin_iters: 0, yield_iters: 0 };
        assert_eq!(wait_until(&mut waiter, strategy, None), Some(()));
        assert!(waiter.0.next().is_none());
    }

    /// A writer at its limit, until it is about to sleep.
    struct Full(u32, EventCount, WriterBackoff);

    impl Wait for Full {
        type Found = ();

        fn event(&self) -> &EventCount {
            &self.1
        }

        fn backoff(&mut self) -> Option<&mut WriterBackoff> {
            Some(&mut self.2)
        }

        fn poll(&mut self) -> Look<()> {
            self.0 += 1;
            self.2.judge(u64::from(self.1.has_sleepers()), ())
        }
    }

    /// Its pauses are long, and count as polls, so it sleeps as soon as a reader would.
    #[test]
    fn a_writer_polls_a_few_times_before_it_sleeps() {
        for (strategy, polls) in [
            (WaitStrategy::Block { spin_iters: 0, yield_iters: 0 }, 2..=2),
            // 1, 3, 7, 15, 31, 32 pauses; then it gives way.
            (WaitStrategy::Block { spin_iters: 64, yield_iters: 32 }, 7..=21),
        ] {
            let mut writer = Full(0, EventCount::new(), WriterBackoff::new(1, None));
            assert_eq!(wait_until(&mut writer, strategy, None), Some(()));
            assert!(polls.contains(&writer.0), "{} polls by {strategy}", writer.0);
        }
    }

    #[test]
    fn who_spins_does_not_say_that_it_sleeps() {
        for strategy in [
            WaitStrategy::BusySpin,
            WaitStrategy::YieldSpin,
            WaitStrategy::Monitor,
            WaitStrategy::BackoffSpin,
        ] {
            let mut waiter = Late(10, EventCount::new());
            let word = waiter.1.word.load(crate::sync::Ordering::Relaxed);
            assert_eq!(wait_until(&mut waiter, strategy, None), Some(()));
            assert_eq!(waiter.1.word.load(crate::sync::Ordering::Relaxed), word, "{strategy:?}");
        }
    }

    /// Finds nothing, and is away until that time once it has given way.
    struct Away(u32, EventCount, std::time::Instant);

    impl Wait for Away {
        type Found = ();

        fn event(&self) -> &EventCount {
            &self.1
        }

        fn poll(&mut self) -> Look<()> {
            self.0 += 1;
            if self.0 == 3 {
                std::thread::sleep(self.2.saturating_duration_since(std::time::Instant::now()));
            }
            Look::Nothing
        }
    }

    /// Beside a busy program each wait with a deadline would overshoot by a time slice, if none said so.
    #[test]
    fn a_wait_that_its_deadline_ends_says_that_giving_way_was_in_vain() {
        let says_so = || {
            let deadline = std::time::Instant::now() + std::time::Duration::from_millis(20);
            let mut waiter = Away(0, EventCount::new(), deadline);
            waiter.1.give_way_hint().helped();
            // A poll, then the one turn; a poll, then it gives way.
            let strategy = WaitStrategy::Block { spin_iters: 1, yield_iters: 0 };
            assert_eq!(wait_until(&mut waiter, strategy, Some(deadline)), None);
            !waiter.1.give_way_hint().has_helped()
        };
        // (On a busy machine the time may be over before it gives way.)
        assert!((0..10).any(|_| says_so()));
    }

    #[test]
    fn what_stands_is_found_after_the_deadline_too() {
        let now = Some(std::time::Instant::now());
        let wait = |after| wait_until(&mut After(after, EventCount::new()), WaitStrategy::default(), now);
        assert_eq!([0, 1, 2, 3, 100].map(|after| wait(Some(after))), [Some(()); 5]);
        assert_eq!(wait(None), None);
        assert_eq!(wait(Some(1_000_000)), None, "it ends all the same");
    }
}

//! [`wait_until`]: poll, spin, sleep, for each kind of handle that waits. A handle says by [`Poll`] what it
//! looks for, where it sleeps, and which word it watches.
//!
//! Each round of the loop polls. Then the strategy takes a [turn](Spin::turn): it pauses; or it gives up the
//! time slice; or it has the processor [watch] the one word that decides (monitor.wait1 and monitor.wait2 of
//! `processor/`); or it [sleeps](sleep) until somebody notifies.

use core::time::Duration;

use super::poll::{Deadline, Look, has_passed, left};
use super::spin::{Spin, Turn};
use super::{EventCount, WaitStrategy, WriterBackoff};
use crate::processor::{self, BOUND};
use crate::sync::{AtomicU64, Ordering, seeded};

/// A waiter: what a thread, a task or a select may have to wait for.
pub(crate) trait Poll {
    /// What is waited for.
    type Found;

    /// Where to sleep; only a poll changes it. A thread that makes [`poll`](Self::poll) succeed calls
    /// [`EventCount::notify`] on it *after* the store that `poll` looks for.
    fn wait_point(&self) -> &EventCount;

    /// How a writer keeps its distance from the readers. A reader needs none.
    fn backoff(&mut self) -> Option<&mut WriterBackoff> {
        None
    }

    /// The one word whose change makes [`poll`](Self::poll) succeed, if there is one, for
    /// [`Monitor`](super::WaitStrategy::Monitor): the word that `poll` loads, and that is stored for each
    /// message (or free slot, or whatever is waited for). Only a poll changes which word it is. What makes
    /// `poll` succeed by another word, such as a close, is found a little later.
    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        None
    }

    /// Looks whether it is there.
    fn poll(&mut self) -> Look<Self::Found>;
}

/// Waits until a poll finds something, and returns that; `None` once `deadline` has passed and a [last
/// look](last_look) found nothing.
#[cold]
#[inline(never)]
pub(crate) fn wait_until<W: Poll>(
    waiter: &mut W,
    strategy: WaitStrategy,
    deadline: Deadline,
) -> Option<W::Found> {
    let mut spin = Spin::new(strategy);
    loop {
        let look = waiter.poll();
        if let Look::Found(found) = look {
            spin.end(waiter.wait_point());
            return Some(found);
        }
        if has_passed(deadline) {
            let found = last_look(|| waiter.poll());
            match found {
                Some(_) => spin.end(waiter.wait_point()),
                None => spin.give_up(waiter.wait_point()),
            }
            return found;
        }
        if matches!(look, Look::Again) {
            if let Some(backoff) = waiter.backoff() {
                backoff.wait_for_more(strategy);
            }
            continue;
        }
        match spin.turn(waiter.wait_point()) {
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

/// event.sleep1 to event.sleep4 of an [eventcount](super::EventCount): sleeps until somebody notifies, or
/// `deadline` passes. Returns what a second look found. A sleep may be many naps.
fn sleep<W: Poll>(waiter: &mut W, deadline: Deadline) -> Option<W::Found> {
    #[cfg(feature = "std")]
    let begun = std::time::Instant::now();
    for naps in 0.. {
        let event = core::ptr::from_ref(waiter.wait_point());
        let ticket = waiter.wait_point().register();
        // The second look: a notify that missed the registration came after a store that this poll sees.
        if !seeded!("event_no_second_look") {
            match waiter.poll() {
                Look::Found(found) => return Some(found),
                Look::Again if !seeded!("lapped_and_asleep") => return None,
                Look::Nothing | Look::Again => {}
            }
        }
        // Where the second look changed what is waited for, it has to be registered for that.
        if !core::ptr::eq(event, waiter.wait_point()) {
            return None;
        }
        if naps == 0 {
            waiter.wait_point().count_sleep();
        }
        if waiter.wait_point().sleep_on(ticket, deadline, naps) {
            break;
        }
    }
    #[cfg(feature = "std")]
    waiter.wait_point().give_way_hint().slept(begun);
    None
}

/// Waits until the word that `waiter` [watches](Poll::watched) changes, or `deadline` passes, or the bound of
/// such a wait; or pauses, where there is no such word. Returns what the second look found.
/// `wait_while` is [`processor::wait_while`], and in tests another one.
fn watch<W: Poll>(
    waiter: &mut W,
    deadline: Deadline,
    wait_while: impl FnOnce(&AtomicU64, u64, Duration),
) -> Option<W::Found> {
    let Some(word) = waiter.watched() else {
        processor::pause();
        // Each look of a writer costs the readers something, so it pauses, too.
        waiter.backoff().map(WriterBackoff::pause);
        return None;
    };
    // monitor.wait1. Relaxed: the poll loads the same word, and sees no older value.
    let (address, seen) = (core::ptr::from_ref(word), word.load(Ordering::Relaxed));
    // monitor.wait2: the second look. A store that came after the first look, and before monitor.wait1, is
    // what this poll finds.
    if !seeded!("monitor_no_second_look") {
        match waiter.poll() {
            Look::Found(found) => return Some(found),
            Look::Again => return None,
            Look::Nothing => {}
        }
    }
    // Where the second look changed what is waited for, another word may decide.
    if let Some(word) = waiter.watched() {
        if core::ptr::eq(word, address) || seeded!("monitor_watches_another_word") {
            wait_while(word, seen, left(deadline, BOUND));
        }
    }
    None
}

/// After the deadline a waiter retries [`Look::Again`] at most this many times: about a millisecond. While a
/// publisher ran at full speed, a subscriber of a ring of 64 slots was lapped 64 times one after the other,
/// once in a million receives.
pub(crate) const LAST_LOOKS: u32 = 1_000;

/// What is there now, for a caller that does not wait: one look, and more where a look says so.
#[inline(always)]
pub(crate) fn look_now<F>(mut poll: impl FnMut() -> Look<F>) -> Option<F> {
    match poll() {
        Look::Found(found) => Some(found),
        Look::Nothing => None,
        Look::Again => last_look(poll),
    }
}

/// What is there once the time has passed. Where a poll says that something may be there it is asked again,
/// as often as it takes, within reason.
#[cold]
fn last_look<F>(mut poll: impl FnMut() -> Look<F>) -> Option<F> {
    let looks = if seeded!("one_last_look") { 1 } else { LAST_LOOKS };
    for _ in 0..looks {
        match poll() {
            Look::Found(found) => return Some(found),
            Look::Nothing => break,
            Look::Again => {}
        }
    }
    None
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use alloc::string::String;

    use super::super::Source;
    use super::*;
    use crate::queue::ordered;
    use crate::{broadcast, event, mpmc, mpsc, spmc, spsc};

    /// Finds something at the poll after so many that say "again", and nothing where there are none.
    struct After(Option<u32>, EventCount);

    impl Poll for After {
        type Found = ();

        fn wait_point(&self) -> &EventCount {
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

    impl Poll for Late {
        type Found = ();

        fn wait_point(&self) -> &EventCount {
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

    impl<I: ExactSizeIterator<Item = Look<()>>> Poll for Says<I> {
        type Found = ();

        fn wait_point(&self) -> &EventCount {
            &self.1[usize::from(self.0.len() < 2)]
        }

        fn poll(&mut self) -> Look<()> {
            self.0.next().expect("it looks no more")
        }
    }

    /// A waiter that is told to look again when it is about to sleep does so, and so does one that is to wait
    /// elsewhere.
    #[test]
    fn second_look_may_begin_the_wait_anew() {
        let looks = [Look::Nothing, Look::Again, Look::Nothing, Look::Nothing, Look::Found(())];
        let mut waiter = Says(looks.into_iter(), [EventCount::new(), EventCount::new()]);
        let strategy = WaitStrategy::Block { spin_iters: 0, pause_iters: 0 };
        assert_eq!(wait_until(&mut waiter, strategy, None), Some(()));
        assert!(waiter.0.next().is_none());
    }

    /// A writer at its limit, until it is about to sleep.
    struct Full(u32, EventCount, WriterBackoff);

    impl Poll for Full {
        type Found = ();

        fn wait_point(&self) -> &EventCount {
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
    fn writer_polls_a_few_times_before_it_sleeps() {
        for (strategy, polls) in [
            (WaitStrategy::Block { spin_iters: 0, pause_iters: 0 }, 2..=2),
            // 1, 3, 7, 15, 31, 32 pauses; then it gives way.
            (WaitStrategy::Block { spin_iters: 64, pause_iters: 32 }, 7..=21),
        ] {
            let mut writer = Full(0, EventCount::new(), WriterBackoff::new(1, None));
            assert_eq!(wait_until(&mut writer, strategy, None), Some(()));
            assert!(polls.contains(&writer.0), "{} polls by {strategy}", writer.0);
        }
    }

    #[test]
    fn spinning_waiter_does_not_say_that_it_sleeps() {
        for strategy in [
            WaitStrategy::BusySpin,
            WaitStrategy::PauseSpin,
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

    impl Poll for Away {
        type Found = ();

        fn wait_point(&self) -> &EventCount {
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
    fn wait_that_its_deadline_ends_says_that_giving_way_did_not_help() {
        let says_so = || {
            let deadline = std::time::Instant::now() + std::time::Duration::from_millis(20);
            let mut waiter = Away(0, EventCount::new(), deadline);
            waiter.1.give_way_hint().helped();
            // A poll, then the one turn; a poll, then it gives way.
            let strategy = WaitStrategy::Block { spin_iters: 1, pause_iters: 0 };
            assert_eq!(wait_until(&mut waiter, strategy, Some(deadline)), None);
            !waiter.1.give_way_hint().has_helped()
        };
        // (On a busy machine the time may be over before it gives way.)
        assert!((0..10).any(|_| says_so()));
    }

    #[test]
    fn standing_value_is_found_after_the_deadline_too() {
        let now = Some(std::time::Instant::now());
        let wait = |after| wait_until(&mut After(after, EventCount::new()), WaitStrategy::default(), now);
        assert_eq!([0, 1, 2, 3, 100].map(|after| wait(Some(after))), [Some(()); 5]);
        assert_eq!(wait(None), None);
        assert_eq!(wait(Some(1_000_000)), None, "it ends all the same");
    }

    /// Waits until one of two words is 1. `after` is called after each poll with its number, and with the
    /// words, and says which of them decides from then on.
    struct Waiter<F> {
        event: EventCount,
        words: [AtomicU64; 2],
        at: usize,
        looks: u32,
        after: F,
    }

    impl<F: Fn(u32, &[AtomicU64; 2]) -> usize> Waiter<F> {
        fn new(after: F) -> Self {
            let words = [const { AtomicU64::new(0) }; 2];
            Self { event: EventCount::new(), words, at: 0, looks: 0, after }
        }

        /// Looks, and lets `processor` wait, until it is there. Returns how many looks that took.
        fn looks(mut self, processor: impl Fn(&AtomicU64, u64, Duration)) -> u32 {
            while self.poll() != Look::Found(()) && watch(&mut self, None, &processor).is_none() {}
            self.looks
        }
    }

    impl<F: Fn(u32, &[AtomicU64; 2]) -> usize> Poll for Waiter<F> {
        type Found = ();

        fn wait_point(&self) -> &EventCount {
            &self.event
        }

        fn watched(&self) -> Option<&AtomicU64> {
            Some(&self.words[self.at])
        }

        fn poll(&mut self) -> Look<()> {
            let is_there = self.words[self.at].load(Ordering::Acquire) == 1;
            self.looks += 1;
            self.at = (self.after)(self.looks, &self.words);
            if is_there { Look::Found(()) } else { Look::Nothing }
        }
    }

    /// The processor here has no bound, and nothing interrupts it.
    #[test]
    fn no_store_is_missed() {
        // After the first look, or the second, or while the processor waits.
        for (store_after, looks) in [(1, 2), (2, 3), (3, 3)] {
            let waiter = Waiter::new(|look, words| {
                words[0].store(u64::from(look >= store_after), Ordering::Release);
                0
            });
            let count = waiter.looks(|word, seen, _| {
                if word.load(Ordering::Relaxed) == seen {
                    assert_eq!(store_after, 3, "it waits for ever");
                    word.store(1, Ordering::Release);
                }
            });
            assert_eq!(count, looks);
        }
    }

    #[test]
    fn waiter_that_moves_at_the_second_look_does_not_watch_yet() {
        let waiter = Waiter::new(|look, words| {
            words[1].store(1, Ordering::Release);
            usize::from(look == 2)
        });
        assert_eq!(waiter.looks(|_, _, _| panic!("what it has seen is the other word's")), 3);
    }

    /// Nothing to watch, and, at its second look, something that may be there.
    struct Unsure(EventCount, Option<AtomicU64>, WriterBackoff);

    impl Poll for Unsure {
        type Found = ();

        fn wait_point(&self) -> &EventCount {
            &self.0
        }

        fn backoff(&mut self) -> Option<&mut WriterBackoff> {
            Some(&mut self.2)
        }

        fn watched(&self) -> Option<&AtomicU64> {
            self.1.as_ref()
        }

        fn poll(&mut self) -> Look<()> {
            Look::Again
        }
    }

    #[test]
    fn monitor_without_a_word_or_told_to_look_again_does_not_wait() {
        for word in [None, Some(AtomicU64::new(0))] {
            let mut waiter = Unsure(EventCount::new(), word, WriterBackoff::new(1, None));
            assert_eq!(watch(&mut waiter, None, |_, _, _| panic!("it waits")), None);
            assert!(!waiter.wait_point().has_sleepers());
        }
    }

    #[test]
    fn wait_ends_with_its_deadline() {
        for (millis, most) in [(0, Duration::ZERO), (1_000_000, BOUND)] {
            let mut waiter = Waiter::new(|_, _| 0);
            let deadline = std::time::Instant::now() + Duration::from_millis(millis);
            watch(&mut waiter, Some(deadline), |_, _, bound| assert_eq!(bound, most));
        }
    }

    /// The word that `source` watches changes as `bring` brings something.
    fn watches<S: Source>(source: &mut S, bring: impl FnOnce()) {
        assert!(!source.is_ready());
        let word = source.watched().expect("one word decides");
        let before = word.load(Ordering::Relaxed);
        bring();
        assert_ne!(word.load(Ordering::Relaxed), before);
        assert!(source.is_ready());
    }

    #[test]
    fn subscribers_watch_the_stamp_of_their_next_message() {
        let (mut publisher, subscribable) = broadcast::lossy(2);
        let (mut many, many_subscribable) = broadcast::mp_lossy(2);
        let (mut events, event_subscribable) = event::channel(2, String::new);
        let (mut subscriber, mut stage) = (subscribable.subscribe(), subscribable.subscribe_tracked());
        let mut group = subscribable.subscribe_group::<2>();
        let mut of_many = many_subscribable.subscribe();
        let mut of_events = event_subscribable.subscribe();
        for number in 0..5_u64 {
            watches(&mut subscriber, || publisher.publish(number));
            assert_eq!((stage.try_recv(), group.try_recv()), (Ok(number), Ok(number)));
            watches(&mut of_many, || many.publish(number));
            watches(&mut of_events, || events.publish(String::clear).unwrap());
            assert_eq!((subscriber.try_recv(), of_many.try_recv()), (Ok(number), Ok(number)));
            assert!(of_events.try_process(|_| ()).is_ok());
        }
        watches(&mut stage, || publisher.publish(5));
        assert_eq!(subscriber.try_recv(), Ok(5));
        assert_eq!(group.try_recv(), Ok(5));
        watches(&mut group, || publisher.publish(6));
    }

    #[test]
    fn stages_watch_the_one_before() {
        let (mut publisher, subscribable) = broadcast::lossless(4);
        let mut first = subscribable.subscribe_tracked();
        let mut second = subscribable.subscribe_tracked();
        let mut behind_one = subscribable.subscribe().after(&[&first]);
        let mut behind_two = subscribable.subscribe().after(&[&first, &second]);
        for number in 0..5 {
            publisher.publish(number).unwrap();
            assert_eq!(first.try_recv(), Ok(number));
            watches(&mut behind_one, || first.done());
            assert_eq!(behind_one.try_recv(), Ok(number));
            assert!(Source::watched(&behind_two).is_none());
            assert_eq!(second.try_recv(), Ok(number));
            second.done();
            assert_eq!(behind_two.try_recv(), Ok(number));
        }
    }

    #[test]
    fn consumers_watch_their_only_ring() {
        let (mut one, mut of_one) = spsc::channel(2);
        let (mut first, mut of_many) = mpsc::channel(2);
        let (mut to_many, mut of_shared) = spmc::channel(2);
        let (mut among, mut among_many) = mpmc::channel(2);
        let (sender, mut receiver) = ordered::channel(2);
        for number in 0..5 {
            watches(&mut of_one, || one.try_send(number).unwrap());
            watches(&mut of_many, || first.try_send(number).unwrap());
            watches(&mut of_shared, || to_many.try_send(number).unwrap());
            watches(&mut among_many, || among.try_send(number).unwrap());
            watches(&mut receiver, || sender.try_send(number).unwrap());
            let received = [of_one.try_recv(), of_many.try_recv(), of_shared.try_recv()];
            assert_eq!(received, [Ok(number); 3]);
            assert_eq!([among_many.try_recv(), receiver.try_recv()], [Ok(number); 2]);
        }
        let _others = (first.clone(), among.clone());
        assert!(of_many.watched().is_none() && among_many.watched().is_none(), "two rings");
    }
}

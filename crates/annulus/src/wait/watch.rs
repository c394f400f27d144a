//! [`watch`]: one wait by the processor, on the one word that decides: monitor.wait1 and monitor.wait2 of
//! `processor/`.

use core::time::Duration;

use super::Deadline;
use super::deadline::left;
use super::look::Look;
use super::waiter::Wait;
use super::writer_backoff::WriterBackoff;
use crate::processor::{self, BOUND};
use crate::sync::{AtomicU64, Ordering, mutated};

/// Waits until the word that `waiter` [watches](Wait::watched) changes, or `deadline` passes, or the bound of
/// such a wait; or pauses, where there is no such word. Returns what the second look found.
/// `wait_while` is [`processor::wait_while`], and in tests another one.
pub(super) fn watch<W: Wait>(
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
    if !mutated!("monitor_no_second_look") {
        match waiter.poll() {
            Look::Found(found) => return Some(found),
            Look::Again => return None,
            Look::Nothing => {}
        }
    }
    // Where the second look changed what is waited for, another word may decide.
    if let Some(word) = waiter.watched() {
        if core::ptr::eq(word, address) || mutated!("monitor_watches_another_word") {
            wait_while(word, seen, left(deadline, BOUND));
        }
    }
    None
}

#[cfg(all(test, feature = "std", not(annulus_loom)))]
mod tests {
    use alloc::string::String;

    use super::super::{EventCount, Source};
    use super::*;
    use crate::queue::ordered;
    use crate::{broadcast, event, mpmc, mpsc, spmc, spsc};

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

    impl<F: Fn(u32, &[AtomicU64; 2]) -> usize> Wait for Waiter<F> {
        type Found = ();

        fn event(&self) -> &EventCount {
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
    fn who_moves_at_the_second_look_does_not_wait_yet() {
        let waiter = Waiter::new(|look, words| {
            words[1].store(1, Ordering::Release);
            usize::from(look == 2)
        });
        assert_eq!(waiter.looks(|_, _, _| panic!("what it has seen is the other word's")), 3);
    }

    /// Nothing to watch, and, at its second look, something that may be there.
    struct Unsure(EventCount, Option<AtomicU64>, WriterBackoff);

    impl Wait for Unsure {
        type Found = ();

        fn event(&self) -> &EventCount {
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
    fn who_has_no_word_or_is_to_look_again_does_not_wait() {
        for word in [None, Some(AtomicU64::new(0))] {
            let mut waiter = Unsure(EventCount::new(), word, WriterBackoff::new(1, None));
            assert_eq!(watch(&mut waiter, None, |_, _, _| panic!("it waits")), None);
            assert!(!waiter.event().has_sleepers());
        }
    }

    #[test]
    fn a_wait_ends_with_its_deadline() {
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

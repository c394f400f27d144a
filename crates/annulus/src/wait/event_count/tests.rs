//! Tests of eventcounts: which threads sleep, which are woken, and when the bits go.

use super::sleep::Ticket;
use super::*;
use crate::sleeping::Sleeper;
use crate::wait::counting_waker::Woken;
use crate::wait::waiters::MANY_IN_VAIN;
use std::sync::mpsc;
use std::thread::{self, Scope};
use std::time::{Duration, Instant};
use std::vec::Vec;

#[test]
fn wake_up_after_the_ticket_is_not_slept_through() {
    let event = EventCount::new();
    let ticket = event.register();
    event.notify();
    event.sleep(ticket, None); // would hang
}

#[test]
fn slow_path_is_needed_for_sleepers_and_after_the_close() {
    let [light, full] = both_kinds();
    assert!(!light.needs_slow_path());
    assert!(full.needs_slow_path(), "a thread that looks there needs a fence of its own");
    let _ticket = light.register();
    assert!(light.needs_slow_path());
    light.notify();
    assert!(!light.needs_slow_path());
    light.set_closed(Ordering::Relaxed);
    assert!(light.needs_slow_path());
}

#[test]
fn sleepers_are_seen_from_their_registration_to_their_wake_up() {
    for event in both_kinds() {
        assert!(!event.has_sleepers());
        event.set_closed(Ordering::Relaxed);
        assert!(!event.has_sleepers(), "a mark is no sleeper");
        let ticket = event.register();
        assert!(event.has_sleepers());
        event.notify();
        assert!(!event.has_sleepers());
        event.sleep(ticket, None);
    }
}

/// A thread that registers may sleep for as long as it likes, where the system lets it have the fence.
#[test]
fn registered_thread_has_the_fence() {
    let [light, full] = both_kinds();
    assert!(full.register().fenced, "it asks nobody for this one");
    assert_eq!(light.register().fenced, fence::heavy_if_registered(true));
}

#[test]
fn wake_ups_coalesce() {
    for event in both_kinds() {
        let ticket = event.register();
        assert_eq!(event.word.load(Ordering::Relaxed), ticket.word);
        event.notify();
        let after = event.word.load(Ordering::Relaxed);
        assert_eq!(after, ticket.word - THREAD - FENCED + WAKE_UP);
        for _ in 0..10 {
            event.notify();
            assert_eq!(event.word.load(Ordering::Relaxed), after, "only the first changed the word");
        }
    }
}

/// Where as many are to be woken as sleep, and where nobody sleeps after all, the bit goes; where others
/// sleep on, it stays.
#[test]
fn bit_goes_with_the_last_sleeper() {
    for (asleep, count, stays) in [(0, 1, false), (1, 1, false), (2, 2, false), (5, 2, false), (3, 0, true)] {
        for event in both_kinds() {
            let ticket = event.register();
            event.threads.pretend_asleep(asleep);
            event.notify_some(count);
            let after = event.word.load(Ordering::Relaxed);
            assert_eq!(after & SLEEPER != 0, stays, "{asleep} asleep, {count} to be woken");
            assert_eq!(after == ticket.word, stays);
            event.threads.pretend_asleep(0);
            event.sleep(ticket, Some(Instant::now() + Duration::from_millis(1)));
        }
    }
}

/// Others may have woken threads that are still counted: then the word says that nobody sleeps.
#[test]
fn counted_sleeper_may_have_been_woken() {
    for event in both_kinds() {
        let before = event.word.load(Ordering::Relaxed);
        event.threads.pretend_asleep(3);
        event.notify_some(1);
        assert_eq!(event.word.load(Ordering::Relaxed), before);
    }
}

/// A thread that registers after the first one's fence needs none, until all have been woken.
#[test]
fn fence_of_one_thread_serves_later_ones() {
    for event in both_kinds() {
        let first = event.register();
        assert_eq!(first.word & (SLEEPER | FENCED), THREAD | FENCED);
        assert_ne!(event.count_wake_up(0), 0, "some were woken");
        let second = event.register();
        assert_eq!(second.word, first.word + WAKE_UP_OF_SOME);
        assert!(second.fenced);
        event.notify();
        assert_eq!(event.word.load(Ordering::Relaxed) & FENCED, 0, "the next one has its own");
    }
    // What changes meanwhile leaves the bit to others.
    let event = EventCount::with(0, 0, None);
    event.word.store(FENCED, Ordering::Relaxed);
    let ticket = event.register();
    assert_eq!(ticket.word, THREAD | FENCED, "a bit without a sleeper says nothing, and is no harm");
}

/// Wakes all that sleep when it is dropped, by a panic too: a scope waits for its threads before it
/// panics.
struct Notifier<'a>(&'a EventCount);

impl Drop for Notifier<'_> {
    fn drop(&mut self) {
        self.0.notify();
    }
}

/// Until so many threads sleep, `last` too.
fn await_sleepers(event: &EventCount, count: u32, last: &mpsc::Receiver<Sleeper>) {
    while event.threads.asleep() < count {
        std::thread::yield_now();
    }
    // Acquire: pairs with the fence in `register`. The fence of a waker is too light here, if the eventcount
    // is one of those for which the system makes up for that: it might see nobody.
    crate::sync::fence(Ordering::Acquire);
    // A thread that comes late is not woken, but sees that the word has changed.
    if cfg!(miri) {
        std::thread::sleep(Duration::from_millis(300));
    } else {
        last.recv().unwrap().await_sleep();
    }
}

/// So many threads sleep one after the other, and count when they are woken. (event.sleep5 of the first
/// changes the word, so another that registered before it would not sleep.)
fn put_to_sleep<'scope>(
    scope: &'scope Scope<'scope, '_>,
    event: &'scope EventCount,
    count: u32,
    woken: &'scope AtomicU32,
) {
    let (says, last) = mpsc::channel();
    for asleep in 1..=count {
        let says = says.clone();
        scope.spawn(move || {
            says.send(Sleeper::this()).unwrap();
            let ticket = event.register();
            event.sleep(Ticket { fenced: true, ..ticket }, None);
            woken.fetch_add(1, Ordering::Relaxed);
        });
        await_sleepers(event, asleep, &last);
    }
}

/// Each wake-up of one wakes one, as long as somebody sleeps.
#[test]
fn threads_are_woken_one_by_one() {
    const SLEEPERS: u32 = 3;
    for event in both_kinds() {
        let woken = AtomicU32::new(0);
        std::thread::scope(|scope| {
            put_to_sleep(scope, &event, SLEEPERS, &woken);
            let _all = Notifier(&event);
            for number in 1..=SLEEPERS {
                event.notify_some(1);
                while woken.load(Ordering::Relaxed) < number {
                    std::thread::yield_now();
                }
                std::thread::sleep(Duration::from_millis(2));
                assert_eq!(woken.load(Ordering::Relaxed), number, "more than one was woken");
            }
        });
    }
}

/// One for each kind of fence, whichever this system has.
fn both_kinds() -> [EventCount; 2] {
    // The process has registered, where it may.
    fence::prepare_process();
    [0, FENCE_BOTH_SIDES].map(|word| EventCount::with(word, 0, None))
}

/// A task at an eventcount, which counts its wake-ups.
struct Waiter {
    node: crate::wait::waiters::OwnedNode,
    count: std::sync::Arc<Woken>,
}

impl Waiter {
    fn at(event: &EventCount) -> Self {
        // SAFETY: the tests drop their tasks before the eventcount.
        let (node, _) = unsafe { event.tasks().take_node() };
        let mut waiter = Self { node, count: std::sync::Arc::default() };
        waiter.wait(event);
        waiter
    }

    fn wait(&mut self, event: &EventCount) {
        self.node.disarm();
        let waker = self.count.waker();
        let _ = self.node.arm(&waker);
        event.register_task(&waker);
    }

    fn wakes(&self) -> u32 {
        self.count.count()
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        if self.node.disarm() != crate::wait::waiters::Ended::Abandoned {
            drop(self.node.give_back());
        }
    }
}

/// Whether the system does not let this process have the heavy fence.
fn is_fence_refused(event: &EventCount) -> bool {
    event.word.load(Ordering::Relaxed) & FENCE_BOTH_SIDES == 0 && !fence::heavy(true)
}

/// A task is a sleeper from its registration to the notify after its wake-up; one notify wakes it once.
#[test]
fn a_task_is_a_sleeper() {
    for event in both_kinds() {
        let mut task = Waiter::at(&event);
        assert!(event.has_sleepers() && event.needs_slow_path());
        let fenced = |event: &EventCount| event.word.load(Ordering::Relaxed) & FENCED != 0;
        for turn in 0..4 {
            assert_eq!(fenced(&event), !is_fence_refused(&event));
            event.notify();
            assert_eq!(task.wakes(), turn + 1);
            assert!(event.has_sleepers(), "it may wait again");
            task.wait(&event);
        }
        event.notify_some(1);
        assert_eq!(task.wakes(), 5);
        assert!(event.has_sleepers());
        for _ in 1..MANY_IN_VAIN {
            event.notify();
            assert!(event.has_sleepers(), "it may still come back");
        }
        for _ in 0..3 {
            event.notify();
            assert!(!event.has_sleepers() && !fenced(&event), "nobody was there");
        }
        assert_eq!(task.wakes(), 5);
    }
}

/// One look tells nobody from tasks, and both from the rest: a thread sleeps, the queue is closed, or other
/// processes may sleep.
#[test]
fn look_tells_nobody_from_tasks_and_threads() {
    for event in both_kinds() {
        assert_eq!(event.sleepers(), SleeperKind::Nobody, "nobody has waited");
        let mut task = Waiter::at(&event);
        assert_eq!(event.sleepers(), SleeperKind::Tasks, "one is armed");
        assert_eq!(task.wakes(), 0, "which is not woken by that");
        event.notify_fenced();
        assert_eq!(task.wakes(), 1);
        // After so many that find nothing, the bit goes, as with other looks.
        for _ in 0..MANY_IN_VAIN {
            assert!(event.has_sleepers());
            assert_eq!(event.sleepers(), SleeperKind::Nobody, "it does not wait any more");
        }
        assert!(!event.has_sleepers());
        task.wait(&event);
        let ticket = event.register();
        assert_eq!((event.sleepers(), task.wakes()), (SleeperKind::More, 1), "a thread sleeps");
        event.notify();
        event.sleep(ticket, None);
        assert_eq!(event.sleepers(), SleeperKind::Nobody);
        event.set_closed(Ordering::Relaxed);
        assert_eq!(event.sleepers(), SleeperKind::More, "what is closed is looked at");
    }
    assert_eq!(EventCount::with(ELSEWHERE, 0, None).sleepers(), SleeperKind::More);
}

/// One message for one of two tasks; and the bit stays for the other.
#[test]
fn tasks_are_woken_in_turn() {
    for event in both_kinds() {
        let mut tasks = [(); 3].map(|()| Waiter::at(&event));
        for number in 0..9 {
            event.notify_some(1);
            assert_eq!(tasks.each_ref().map(Waiter::wakes).iter().sum::<u32>(), number + 1);
            assert_eq!(tasks[number as usize % 3].wakes(), number / 3 + 1);
            assert!(event.has_sleepers());
            tasks[number as usize % 3].wait(&event);
        }
        event.notify_some(3);
        assert_eq!(tasks.each_ref().map(Waiter::wakes), [4, 4, 4]);
    }
}

/// Where threads and a task wait, both have their turns, although the task waits again at once.
#[test]
fn threads_and_a_task_take_turns() {
    const THREADS: u32 = 3;
    for event in both_kinds() {
        let woken = AtomicU32::new(0);
        std::thread::scope(|scope| {
            put_to_sleep(scope, &event, THREADS, &woken);
            let _all = Notifier(&event);
            let mut task = Waiter::at(&event);
            for turn in 1..THREADS {
                event.notify_some(1);
                event.notify_some(1);
                assert_eq!(task.wakes(), turn, "one of two");
                while woken.load(Ordering::Relaxed) < turn {
                    std::thread::yield_now();
                }
                task.wait(&event);
            }
        });
    }
}

#[test]
fn registration_after_a_wake_up_does_not_wake_the_earlier_one_again() {
    let event = EventCount::new();
    let first = event.register();
    event.notify();
    let second = event.register();
    assert_ne!(first.word, second.word);
    event.sleep(first, None); // woken long ago
    event.sleep(second, Some(Instant::now() + Duration::from_millis(1)));
}

#[test]
fn word_may_wrap() {
    let event = EventCount::new();
    event.word.store(u32::MAX - SLEEPER - FENCED - 8, Ordering::Relaxed);
    let ticket = event.register();
    assert_eq!(ticket.word, u32::MAX - TASK - 8);
    event.notify();
    assert_eq!(event.word.load(Ordering::Relaxed), FENCE_BOTH_SIDES | ELSEWHERE | EventCount::CLOSED);
    event.sleep(ticket, None);
}

/// Without the heavy fence a wake-up may be missed, so the sleep must end by itself.
#[test]
fn sleep_without_the_fence_is_a_nap() {
    let event = EventCount::new();
    let Ticket { word, .. } = event.register();
    let ends_by_itself = !event.sleep(Ticket { word, fenced: false }, None); // would hang
    assert!(ends_by_itself, "the sleep goes on");
}

#[test]
fn sleep_ends_at_its_deadline() {
    let event = EventCount::new();
    let begun = Instant::now();
    let deadline = begun + Duration::from_millis(20);
    while Instant::now() < deadline {
        let ticket = event.register();
        event.sleep(ticket, Some(deadline));
    }
    assert!(begun.elapsed() < Duration::from_secs(60));
}

const SLEEPERS: u32 = if cfg!(miri) { 6 } else { 40 };

/// Until all of these threads, which have said so, sleep.
fn await_all(event: &EventCount, says: &mpsc::Receiver<Sleeper>) {
    let sleepers: Vec<_> = says.iter().take(SLEEPERS as usize).collect();
    while event.threads.asleep() < SLEEPERS {
        thread::yield_now();
    }
    // A thread that comes late is not woken, but sees that the word has changed.
    if !cfg!(miri) {
        sleepers.iter().for_each(Sleeper::await_sleep);
    }
    // Acquire: pairs with the fence in `register`.
    crate::sync::fence(Ordering::Acquire);
}

/// Each notify wakes each of many threads, and none of them for nothing, although they sleep again while
/// others are woken. The waker wakes a few, so this would hang if those woke nobody.
#[test]
fn threads_are_woken_once_by_each_other() {
    const ROUNDS: u32 = 3;
    let event = EventCount::fenced();
    let [woken, in_vain] = [(); 2].map(|()| AtomicU32::new(0));
    let (says, sleepers) = mpsc::channel();
    let count = |word| word / WAKE_UP;
    thread::scope(|scope| {
        for _ in 0..SLEEPERS {
            let (event, woken, in_vain, says) = (&event, &woken, &in_vain, says.clone());
            scope.spawn(move || {
                let mut ticket = event.register();
                for _ in 0..ROUNDS {
                    let before = count(ticket.word);
                    says.send(Sleeper::this()).unwrap();
                    while count(ticket.word) == before {
                        event.sleep(ticket, None);
                        ticket = event.register();
                        in_vain.fetch_add(u32::from(count(ticket.word) == before), Ordering::Relaxed);
                    }
                    woken.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for round in 1..=ROUNDS {
            await_all(&event, &sleepers);
            event.notify();
            while woken.load(Ordering::Relaxed) < round * SLEEPERS {
                thread::yield_now();
            }
        }
    });
    assert_eq!(in_vain.load(Ordering::Relaxed), 0);
    assert!(event.threads.is_owed_nothing());
}

/// A wake-up of all changes the cohort, and nothing else does.
#[test]
fn a_cohort_ends_with_a_wake_up_of_all() {
    let event = EventCount::fenced();
    let is_odd = |word| cohort(word) == Cohort::Odd;
    for round in 0..6 {
        let first = event.register().word;
        assert_eq!(is_odd(first), round % 2 == 1);
        event.count_wake_up(0);
        event.count_wake_up(TASK);
        let second = event.register().word;
        assert_ne!(first, second);
        assert_eq!(is_odd(second), is_odd(first));
        event.notify();
    }
}

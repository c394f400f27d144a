//! The eventcount: sleepers at the price of one load to those who would wake them.
//!
//! One 32-bit word: bit 0 says that somebody sleeps, or is about to; bit 1 is constant and says that the
//! waker's fence is not for free on this system; bits 2 and 3 are [`Flag`]s, of whoever has the event, which
//! wakers see at the same look; bit 4 says that a sleeper has had its fence since bit 0 was set; the upper 27
//! bits count wake-ups, so that no sleeper mistakes one for another. Where bits 0 to 2 are clear, one load is
//! all that a waker does.
//!
//! ```text
//! waker                                   sleeper
//! N1  the store that matters              S1  word |= 1                    (register)
//! N2  light fence                         S2  heavy fence
//! N3  bit 0 of word?  ── no: done         S3  look again for N1's store    ── there: don't sleep
//! N4  clear bit 0, count  (Release)       S4  sleep while word is S1's     (Acquire)
//! N5  wake all that sleep on word, or some
//! ```
//!
//! *Why no wake-up is lost.* The two fences are a pair with a total order. If the sleeper's comes first, N3
//! sees S1 and the waker goes on to N4; S4 then finds the word changed, or is woken by N5, which the kernel
//! (or the lock) orders after S4's own look at the word. If the waker's comes first, S3 sees N1's store.
//! After S4 the sleeper polls again; N4's Release and S4's Acquire make N1 visible to that poll.
//!
//! *One for each.* Where any sleeper will do for a message, [`Event::notify_some`] wakes as many as there are
//! messages, and bit 0 stays set for the others, who lie there without another registration. So what keeps
//! the bit honest is this: it is cleared only together with a wake-up of all. A waker that finds fewer asleep
//! than it would wake clears it (N6), in one step with a new count, and then wakes all (N7): whoever went to
//! sleep between its two system calls is woken, and whoever has registered but does not sleep yet finds the
//! word changed, and polls. Whoever is woken polls for any message, so it does not matter which one it is
//! woken for. `asleep` tells a waker in advance that one or all is the same; it is a hint.
//!
//! *One fence for many.* A heavy fence interrupts all cores, and where a message wakes hundreds, hundreds
//! would go back to sleep with one each. But the first one's serves the others, too. After its fence it sets
//! bit 4 (S5, a Release), which goes with bit 0. Whoever registers while both are set (S1, an Acquire) goes
//! without. Take a waker whose N3 saw neither bit: its N3, so its fence, came before the first sleeper's
//! fence, which happens before the others' S3. So their S3 sees N1. Any other waker goes on to N4. If that
//! comes after the others' S1, they find the word changed, or are woken. If it comes before, they see N1; and
//! it cleared both bits if it woke all.
//!
//! *Coalescing.* N4 clears the bit, so after one wake-up the waker pays one load again until somebody
//! registers anew, however late the sleepers run. A sleeper that times out, or finds its message at S3,
//! leaves the bit set: one wake-up is then made for nobody.
//!
//! *Limits.* A sleeper that is stalled between S1 and S4 for exactly 2^27 wake-ups of others sleeps through
//! them.
//!
//! Sources: Vyukov's eventcount; the asymmetric fences after Linux `membarrier(2)` and Dice, Huang, Yang,
//! "Asymmetric Dekker synchronization" (2001).

use super::Deadline;
use super::fence;
use super::flag::{Flag, HasFlags};
use super::give_way::GiveWayHint;
use super::park::Parking;
use crate::hint::unlikely;
use crate::sync::{AtomicU32, Ordering, mutated, ordering};

/// An eventcount. Any number of sleepers and wakers.
pub(crate) struct Event {
    /// Written by sleepers (S1) and, only while bit 0 is set, by wakers (N4), and where something is
    /// [flagged](Event::set_flag); constant as long as nobody sleeps.
    pub(super) word: AtomicU32,
    /// How many are in S4: a hint.
    asleep: AtomicU32,
    parking: Parking,
    give_way: GiveWayHint,
}

/// What [`Event::register`] saw; consumed by [`Event::sleep`].
pub(crate) struct Ticket {
    /// The word while nobody has been woken since.
    word: u32,
    /// Whether the heavy fence was had. If not, a wake-up may be missed, and the sleep must be short.
    fenced: bool,
}

const SLEEPER: u32 = 1;
// Decision 0006: in the same word, so that one load decides.
const FENCE_BOTH_SIDES: u32 = 2;
/// A sleeper has had its heavy fence, and nobody woke all since it registered.
const FENCED: u32 = 16;
const WAKE_UP: u32 = 32;

impl HasFlags for Event {
    #[inline(always)]
    fn word(&self) -> &AtomicU32 {
        &self.word
    }
}

impl Event {
    pub(crate) fn new() -> Self {
        Self::with(if fence::is_asymmetric() { 0 } else { FENCE_BOTH_SIDES })
    }

    fn with(word: u32) -> Self {
        Self {
            word: AtomicU32::new(word),
            asleep: AtomicU32::new(0),
            parking: Parking::new(),
            give_way: GiveWayHint::new(),
        }
    }

    /// Wakes everybody who registered before a poll could see the caller's last store.
    #[inline]
    pub(crate) fn notify(&self) {
        if unlikely(self.may_have_sleepers()) {
            self.wake();
        }
    }

    /// N2 and N3: whether somebody may sleep here who has not seen the caller's last store, or
    /// [`Flag::Closed`] is set. Where it is false, its fence also serves other looks that the caller takes
    /// after this one, if whoever changes what they look at calls [`barrier`](Self::barrier) before it looks
    /// for the store. Where it is true, the caller needs [`fence`](Self::fence) before them.
    #[inline(always)]
    pub(crate) fn needs_slow_path(&self) -> bool {
        !self.is_clear_of(SLEEPER | FENCE_BOTH_SIDES | Flag::Closed as u32)
    }

    /// N2 and N3: whether somebody may sleep here who has not seen the caller's last store; it then calls
    /// [`notify`](Self::notify) or its like.
    #[inline(always)]
    pub(crate) fn may_have_sleepers(&self) -> bool {
        !self.is_clear_of(SLEEPER | FENCE_BOTH_SIDES)
    }

    /// N3 by itself, after a fence of the caller's.
    pub(crate) fn has_sleepers(&self) -> bool {
        // Relaxed: the fence and S2 decide what it sees.
        self.word.load(Ordering::Relaxed) & SLEEPER != 0
    }

    #[inline(always)]
    fn is_clear_of(&self, bits: u32) -> bool {
        // N2, for the compiler; pairs with S2, which makes every core execute a barrier.
        fence::light();
        // N3. Relaxed: N2 and S2 decide what it sees. (The constant bit is seen whatever else is.)
        self.word.load(Ordering::Relaxed) & bits == 0
    }

    /// N2 by itself, the light one or, where that is not enough, the full one: for who looks at other things
    /// than this event only.
    #[inline]
    pub(crate) fn fence(&self) {
        fence::light();
        if self.word.load(Ordering::Relaxed) & FENCE_BOTH_SIDES != 0 && !mutated!("event_no_light_fence") {
            fence::full();
        }
    }

    /// Whether a light fence is not enough for those who [`fence`](Self::fence).
    pub(crate) fn needs_fence(&self) -> bool {
        self.word.load(Ordering::Relaxed) & FENCE_BOTH_SIDES != 0
    }

    /// The other side of [`needs_slow_path`](Self::needs_slow_path), for who changes something that a waker
    /// looks at: each waker sees the change, or the caller sees what that waker stored before. False where
    /// the system refused it.
    pub(crate) fn barrier(&self) -> bool {
        fence::heavy(self.word.load(Ordering::Relaxed) & FENCE_BOTH_SIDES == 0)
    }

    /// Whether a [`barrier`](Self::barrier) would take microseconds. (It may find out by one.) If not, the
    /// process would register for it first, which takes milliseconds.
    pub(crate) fn has_cheap_barriers(&self) -> bool {
        self.word.load(Ordering::Relaxed) & FENCE_BOTH_SIDES != 0 || fence::is_registered()
    }

    /// As [`barrier`](Self::barrier), for who can't go without. Where the system refuses it (a sandbox that
    /// forbids itself the system call after it made its rings), it waits a millisecond instead, in which a
    /// processor carries out what it has begun.
    pub(crate) fn barrier_at_any_price(&self) {
        if !mutated!("end_no_barrier") && !self.barrier() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    /// As [`notify`](Self::notify), where any of those who sleep will do for the caller's last `count`
    /// stores, one for each: wakes no more than that, as far as that can be told. Whoever is woken must look
    /// for all such stores, not for one of them.
    #[cfg_attr(not(annulus_loom), inline)]
    pub(crate) fn notify_some(&self, count: usize) {
        if unlikely(self.may_have_sleepers()) {
            self.wake_some(count);
        }
    }

    #[cold]
    #[inline(never)]
    fn wake(&self) {
        // N2, where the sleeper can't make up for it; pairs with S2. What follows is N3.
        self.fence();
        if self.count_wake_up(true) && !mutated!("event_no_wake") {
            // N5.
            self.parking.wake_all(&self.word);
        }
    }

    #[cold]
    #[inline(never)]
    fn wake_some(&self, count: usize) {
        // As in `wake`.
        self.fence();
        // Relaxed: a hint. Whoever is about to sleep and not counted yet is woken with the others, or sees
        // the word change.
        let is_all = self.asleep.load(Ordering::Relaxed) as usize <= count;
        if is_all && !mutated!("event_keeps_its_sleepers") {
            return self.wake();
        }
        if mutated!("wakes_all") {
            return self.wake();
        }
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        if count == 0 || !self.count_wake_up(mutated!("event_forgets_the_others")) {
            return;
        }
        // N5.
        // Decision 0060: the bit stays for the others.
        if self.parking.wake(&self.word, count) < count && !mutated!("event_keeps_its_sleepers") {
            // N6 and N7.
            if self.count_wake_up(true) {
                self.parking.wake_all(&self.word);
            }
        }
    }

    /// N4, or N6: counts a wake-up, and takes down that somebody sleeps where `all` are about to be woken.
    /// Says whether somebody does.
    fn count_wake_up(&self, all: bool) -> bool {
        let mut seen = self.word.load(Ordering::Relaxed);
        while seen & SLEEPER != 0 {
            let (success, failure) = (Ordering::Release, Ordering::Relaxed);
            let sleepers = if all { seen & !(SLEEPER | FENCED) } else { seen };
            let next = if mutated!("event_word_unchanged") { seen } else { sleepers.wrapping_add(WAKE_UP) };
            // N4. Release: pairs with the Acquire of S4. A failure means that a sleeper came, or that another
            // waker did this one's work.
            match self.word.compare_exchange_weak(seen, next, success, failure) {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
        false
    }

    /// Whether giving up the time slice helps those who wait here.
    pub(super) fn give_way_hint(&self) -> &GiveWayHint {
        &self.give_way
    }

    /// Says that the caller is about to sleep. It must poll once more before it calls [`sleep`](Self::sleep).
    pub(crate) fn register(&self) -> Ticket {
        // S1. Acquire: pairs with S5. S2, or that of another sleeper, orders it before S3.
        let seen = self.word.fetch_or(SLEEPER, ordering!(Acquire unless "event_fence_of_others_unseen"));
        let had = if mutated!("event_fenced_too_early") { SLEEPER } else { SLEEPER | FENCED };
        if seen & had == had {
            return Ticket { word: seen, fenced: true };
        }
        let word = seen | SLEEPER;
        // S2. Pairs with N2.
        let fenced = mutated!("event_no_heavy_fence") || fence::heavy(word & FENCE_BOTH_SIDES == 0);
        // Only if nothing has changed since S1: the bit means the sleepers of this time.
        let is_noted = fenced && {
            // S5. Release: pairs with S1 of those who come later.
            let (success, failure) = (ordering!(Release unless "event_fence_unsaid"), Ordering::Relaxed);
            self.word.compare_exchange(word, word | FENCED, success, failure).is_ok()
        };
        Ticket { word: if is_noted { word | FENCED } else { word }, fenced }
    }

    /// Sleeps until a wake-up that came after `ticket`, or until `deadline`; it may also return earlier.
    #[allow(clippy::needless_pass_by_value, reason = "a ticket is good for one sleep")]
    pub(crate) fn sleep(&self, ticket: Ticket, deadline: Deadline) {
        let deadline = if ticket.fenced { deadline } else { Some(fence::nap(deadline)) };
        // S4.
        self.asleep.fetch_add(1, Ordering::Relaxed);
        self.parking.wait_while(&self.word, ticket.word, deadline);
        self.asleep.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn a_wake_up_after_the_ticket_is_not_slept_through() {
        let event = Event::new();
        let ticket = event.register();
        event.notify();
        event.sleep(ticket, None); // would hang
    }

    #[test]
    fn the_slow_path_is_needed_for_sleepers_and_after_the_close() {
        let [light, full] = both_kinds();
        assert!(!light.needs_slow_path());
        assert!(full.needs_slow_path(), "whoever looks there needs a fence of its own");
        assert!(!light.has_any_flag() && !full.has_any_flag());
        light.set_flag(Flag::User, Ordering::Relaxed);
        assert!(!light.needs_slow_path() && light.has_any_flag());
        let _ticket = light.register();
        assert!(light.needs_slow_path());
        light.notify();
        assert!(!light.needs_slow_path());
        light.set_flag(Flag::Closed, Ordering::Relaxed);
        assert!(light.needs_slow_path());
    }

    #[test]
    fn sleepers_are_seen_from_their_registration_to_their_wake_up() {
        for event in both_kinds() {
            assert!(!event.has_sleepers());
            event.set_flag(Flag::User, Ordering::Relaxed);
            assert!(!event.has_sleepers(), "a mark is no sleeper");
            let ticket = event.register();
            assert!(event.has_sleepers());
            event.notify();
            assert!(!event.has_sleepers());
            event.sleep(ticket, None);
        }
    }

    /// Whoever registers may sleep for as long as it likes, where the system lets it have the fence.
    #[test]
    fn who_registers_has_the_fence() {
        let [light, full] = both_kinds();
        assert!(full.register().fenced, "it asks nobody for this one");
        assert_eq!(light.register().fenced, fence::heavy(true));
    }

    #[test]
    fn wake_ups_coalesce() {
        for event in both_kinds() {
            let ticket = event.register();
            assert_eq!(event.word.load(Ordering::Relaxed), ticket.word);
            event.notify();
            let after = event.word.load(Ordering::Relaxed);
            assert_eq!(after, ticket.word - SLEEPER - FENCED + WAKE_UP);
            for _ in 0..10 {
                event.notify();
                assert_eq!(event.word.load(Ordering::Relaxed), after, "only the first changed the word");
            }
        }
    }

    /// Where as many are to be woken as sleep, and where nobody sleeps after all, the bit goes; where others
    /// sleep on, it stays.
    #[test]
    fn the_bit_goes_with_the_last_sleeper() {
        for (asleep, count, stays) in
            [(0, 1, false), (1, 1, false), (2, 2, false), (5, 2, false), (3, 0, true)]
        {
            for event in both_kinds() {
                let ticket = event.register();
                event.asleep.store(asleep, Ordering::Relaxed);
                event.notify_some(count);
                let after = event.word.load(Ordering::Relaxed);
                assert_eq!(after & SLEEPER != 0, stays, "{asleep} asleep, {count} to be woken");
                assert_eq!(after == ticket.word, stays);
                event.asleep.store(0, Ordering::Relaxed);
                event.sleep(ticket, Some(Instant::now() + Duration::from_millis(1)));
            }
        }
    }

    /// Whoever registers after the first one's fence goes without, until all have been woken.
    #[test]
    fn one_fence_serves_those_who_come_later() {
        for event in both_kinds() {
            let first = event.register();
            assert_eq!(first.word & (SLEEPER | FENCED), SLEEPER | FENCED);
            assert!(event.count_wake_up(false), "some were woken");
            let second = event.register();
            assert_eq!(second.word, first.word + WAKE_UP);
            assert!(second.fenced);
            event.notify();
            assert_eq!(event.word.load(Ordering::Relaxed) & FENCED, 0, "the next one has its own");
        }
        // What changes meanwhile leaves the bit to others.
        let event = Event::with(0);
        event.word.store(FENCED, Ordering::Relaxed);
        let ticket = event.register();
        assert_eq!(ticket.word, SLEEPER | FENCED, "a bit without a sleeper says nothing, and is no harm");
    }

    /// Wakes all who sleep when it is dropped, by a panic too: a scope waits for its threads before it
    /// panics.
    struct WakesAll<'a>(&'a Event);

    impl Drop for WakesAll<'_> {
        fn drop(&mut self) {
            self.0.notify();
        }
    }

    /// Each wake-up of one wakes one, as long as somebody sleeps.
    #[test]
    fn one_by_one() {
        const SLEEPERS: u32 = 3;
        // Enough for a thread that is about to sleep to do so; Miri takes its time for that.
        const SOON: Duration = Duration::from_millis(if cfg!(miri) { 300 } else { 20 });
        for event in both_kinds() {
            let woken = AtomicU32::new(0);
            std::thread::scope(|scope| {
                for _ in 0..SLEEPERS {
                    scope.spawn(|| {
                        let ticket = event.register();
                        event.sleep(Ticket { fenced: true, ..ticket }, None);
                        woken.fetch_add(1, Ordering::Relaxed);
                    });
                }
                while event.asleep.load(Ordering::Relaxed) < SLEEPERS {
                    std::thread::yield_now();
                }
                // Acquire: pairs with the fence in `register`. The fence of a waker is too light here, if the
                // event is one of those for which the system makes up for that: it might see nobody.
                crate::sync::fence(Ordering::Acquire);
                let _all = WakesAll(&event);
                // Not a synchronisation: who comes late is not woken, but sees that the word has changed.
                std::thread::sleep(SOON);
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
    fn both_kinds() -> [Event; 2] {
        [0, FENCE_BOTH_SIDES].map(Event::with)
    }

    #[test]
    fn a_registration_after_a_wake_up_does_not_wake_the_earlier_one_again() {
        let event = Event::new();
        let first = event.register();
        event.notify();
        let second = event.register();
        assert_ne!(first.word, second.word);
        event.sleep(first, None); // woken long ago
        event.sleep(second, Some(Instant::now() + Duration::from_millis(1)));
    }

    #[test]
    fn the_word_may_wrap() {
        let event = Event::new();
        event.word.store(u32::MAX - SLEEPER, Ordering::Relaxed);
        let ticket = event.register();
        assert_eq!(ticket.word, u32::MAX);
        event.notify();
        assert_eq!(event.word.load(Ordering::Relaxed), FENCE_BOTH_SIDES | Flag::ALL);
        event.sleep(ticket, None);
    }

    /// Without the heavy fence a wake-up may be missed, so the sleep must end by itself.
    #[test]
    fn a_sleep_without_the_fence_is_a_nap() {
        let event = Event::new();
        let Ticket { word, .. } = event.register();
        event.sleep(Ticket { word, fenced: false }, None); // would hang
    }

    #[test]
    fn a_sleep_ends_at_its_deadline() {
        let event = Event::new();
        let begun = Instant::now();
        let deadline = begun + Duration::from_millis(20);
        while Instant::now() < deadline {
            let ticket = event.register();
            event.sleep(ticket, Some(deadline));
        }
        assert!(begun.elapsed() < Duration::from_secs(10));
    }
}

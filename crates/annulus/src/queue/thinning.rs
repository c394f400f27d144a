//! When quiet rings leave the list that consumers look at.

use super::hub::Member;
use super::roster::{Quiet, Roster};
use crate::sync::Ordering;
use crate::wait::Event;

/// Rings that stay on the list where nothing is found at all, though they are quiet: nobody gains by taking them off.
const KEPT: usize = if cfg!(annulus_loom) { 1 } else { 3 };

/// What it takes to take rings off, in looks at rings in vain: a barrier is some microseconds, on the producers' cores too. After as many, those
/// leave in which nothing was found since the last time. (Sooner in debug builds, so that tests and fuzzers come by there in a few steps.)
pub(super) const PRICE: usize = if cfg!(annulus_loom) {
    1
} else if cfg!(debug_assertions) {
    32
} else {
    2048
};

/// What one consumer has seen since it last took rings off.
pub(super) struct Thinning {
    /// Looks in vain, but for those at the rings that stay anyway.
    vain: usize,
    /// Whether a search has found something.
    found: bool,
}

impl Thinning {
    pub(super) fn new() -> Self {
        Self { vain: 0, found: false }
    }

    /// After a search that found something in `member`, and nothing in so many rings before it.
    #[inline(always)]
    pub(super) fn found<L>(&mut self, member: &Member<L>, before: usize) {
        // (A store for each turn would take the line from the producers that look at it.)
        if !member.active.load(Ordering::Relaxed) {
            member.active.store(true, Ordering::Relaxed);
        }
        self.found = true;
        self.vain += before;
    }

    /// After a search that found nothing in so many rings.
    #[inline(always)]
    pub(super) fn found_nothing(&mut self, looked: usize) {
        self.vain += looked.saturating_sub(KEPT);
    }

    /// Takes rings off, where that is due.
    #[inline(always)]
    pub(super) fn thin_out<L: Quiet>(&mut self, roster: &Roster<L>, sent: &Event) {
        if self.vain >= PRICE {
            self.thin_out_now(roster, sent);
        }
    }

    #[cold]
    fn thin_out_now<L: Quiet>(&mut self, roster: &Roster<L>, sent: &Event) {
        let mut stay = if self.found || cfg!(annulus_loom) { 0 } else { KEPT };
        roster.thin_out(sent, |member| {
            // (Loom does not get that far. Whether a ring may leave is not for this to say.)
            let was_active = !cfg!(annulus_loom) && member.active.load(Ordering::Relaxed);
            member.active.store(false, Ordering::Relaxed);
            let stays = was_active || stay > 0;
            stay -= usize::from(stays && !was_active);
            !stays
        });
        *self = Self::new();
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::{mpmc, mpsc};

    /// How many rings a search visits.
    fn visited<L>(roster: &Roster<L>) -> usize {
        let mut round = roster.round(0, false);
        core::iter::from_fn(|| roster.next(&mut round).map(drop)).count()
    }

    /// Six rings that have become quiet, and one that may be busy: they leave the list when they are to, and come back.
    macro_rules! quiet_rings_leave {
        ($queue:ident) => {
            let (mut busy, mut consumer) = $queue::channel(4);
            let mut quiet: Vec<_> = (0..6).map(|_| busy.clone()).collect();
            for producer in &mut quiet {
                producer.try_send(0).unwrap();
            }
            assert_eq!(consumer.skip(7), 6);
            // Of the looks of each search all but those at the rings that stay could be spared. The first time six of them were active before.
            let searches = PRICE.div_ceil(6 - KEPT);
            for search in 0..=2 * searches {
                let listed = visited(&consumer.end.hub.roster);
                assert!(listed >= 6 || search > searches / 2, "{listed} after {search} of {searches}");
                assert!(consumer.try_recv().is_err());
            }
            assert_eq!(visited(&consumer.end.hub.roster), KEPT);
            // Where all are quiet, the others stay; beside a busy one they don't.
            for _ in 0..2 * PRICE {
                assert!(consumer.try_recv().is_err());
            }
            assert_eq!(visited(&consumer.end.hub.roster), KEPT);
            // (A consumer among many searches once in 128 messages.)
            for message in 0..128 * PRICE as u64 {
                busy.try_send(message).unwrap();
                assert_eq!(consumer.try_recv(), Ok(message));
            }
            assert!(visited(&consumer.end.hub.roster) <= 2);
            // Who sends again is there again.
            for (number, producer) in quiet.iter_mut().enumerate() {
                producer.try_send(number as u64).unwrap();
                assert_eq!(consumer.try_recv(), Ok(number as u64));
            }
            assert!(visited(&consumer.end.hub.roster) >= 6);
        };
    }

    /// While another consumer takes rings off, or stands still there, a search visits all of them.
    #[test]
    fn rings_have_their_turn_while_others_are_taken_off() {
        let (mut busy, mut consumer) = mpmc::channel(4);
        let mut quiet = busy.clone();
        busy.try_send(1).unwrap();
        // On its list it is not; whoever takes it off is between the two looks.
        let roster = &consumer.end.hub.roster;
        let hidden = roster.members().last().unwrap();
        hidden.listed.store(true, Ordering::Relaxed);
        roster.stop_thinning_for_test();
        quiet.try_send(2).unwrap();
        assert_eq!(visited(roster), 1);
        let mut received = [0; 2];
        for place in &mut received {
            *place = consumer.try_recv().unwrap();
            // Others always have something.
            _ = busy.try_send(1);
            consumer.end.end_turn_for_test();
        }
        assert!(received.contains(&2), "a ring is passed over");
    }

    #[test]
    fn quiet_rings_of_one_consumer_leave() {
        quiet_rings_leave!(mpsc);
    }

    #[test]
    fn quiet_rings_of_many_consumers_leave() {
        quiet_rings_leave!(mpmc);
    }
}

//! When quiet lanes become inactive.

use super::lane_node::{LaneNode, QueueLane};
use super::roster::Roster;
use crate::sync::{Ordering, seeded};
use crate::wait::EventCount;

/// So many quiet lanes stay active where nothing is found at all: nobody gains by deactivating them.
const KEPT: usize = if cfg!(annulus_loom) { 1 } else { 3 };

/// Lanes are deactivated after this many looks that found nothing. A barrier takes some microseconds, on the
/// cores of the producers, too. Then those lanes become inactive in which nothing was found since the last
/// time. (Debug builds do so earlier, so that tests and fuzzers reach this code in a few steps.)
// Decision 0055: neither sooner nor later.
pub(super) const PRICE: usize = if cfg!(annulus_loom) {
    1
} else if cfg!(debug_assertions) {
    32
} else {
    2048
};

/// The same where the process has not registered for barriers yet. The barrier then takes some milliseconds,
/// a few thousand times as long, so the consumer pays for it only after it has spent as much time on looks.
const PRICE_OF_THE_FIRST: usize = if cfg!(annulus_loom) {
    1
} else if cfg!(debug_assertions) {
    128
} else {
    1 << 22
};

/// Until then it asks again after so many looks that found nothing: another thread may have registered.
const ASK_AGAIN: usize = if cfg!(debug_assertions) { PRICE } else { 32 * PRICE };

/// What one consumer has seen since it last deactivated lanes.
pub(super) struct Thinning {
    /// The number of looks that found nothing after which it tries to deactivate lanes.
    price: usize,
    /// Looks that found nothing, before tries that found the process not registered.
    unpaid: usize,
    /// Looks that found nothing, without the looks at the lanes that stay active anyway.
    vain: usize,
    /// Whether a search has found something.
    found: bool,
}

impl Thinning {
    pub(super) fn new() -> Self {
        Self { price: PRICE, unpaid: 0, vain: 0, found: false }
    }

    /// After a search that found something in `node`, and nothing in `before` lanes before it.
    #[inline(always)]
    pub(super) fn found<L>(&mut self, node: &LaneNode<L>, before: usize) {
        // (A store in each turn would take the line from the producers that look at it.)
        if !node.recently_used.load(Ordering::Relaxed) {
            node.recently_used.store(true, Ordering::Relaxed);
        }
        self.found = true;
        self.vain += before;
    }

    /// After a search that looked at `looked` lanes and found nothing.
    #[inline(always)]
    pub(super) fn found_nothing(&mut self, looked: usize) {
        self.vain += looked.saturating_sub(KEPT);
    }

    /// Deactivates lanes if it is time.
    #[inline(always)]
    pub(super) fn thin_out<L: QueueLane>(&mut self, roster: &Roster<L>, published: &EventCount) {
        if self.vain >= self.price {
            self.thin_out_now(roster, published);
        }
    }

    #[cold]
    fn thin_out_now<L: QueueLane>(&mut self, roster: &Roster<L>, published: &EventCount) {
        if !published.has_cheap_barriers() && !seeded!("thinning_registers") {
            self.unpaid += self.vain;
            (self.vain, self.price) = (0, ASK_AGAIN);
            if self.unpaid < PRICE_OF_THE_FIRST {
                return;
            }
        }
        let mut stay = if self.found || cfg!(annulus_loom) { 0 } else { KEPT };
        roster.thin_out(published, |node| {
            // (Loom does not get so far. The caller decides whether a lane may become inactive.)
            let was_used = !cfg!(annulus_loom) && node.recently_used.load(Ordering::Relaxed);
            node.recently_used.store(false, Ordering::Relaxed);
            let stays = was_used || stay > 0;
            stay -= usize::from(stays && !was_used);
            !stays
        });
        *self = Self::new();
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::queue::ends::Read;
    use crate::queue::kind::Joinable;
    use crate::queue::{self, Consumer, Producer, mpmc, mpsc};
    use crate::settings::Settings;

    /// Lanes of these tests.
    const LANES: usize = 8;

    /// A queue with `LANES` lanes, in each of which a search has found something. (Twice, because the first
    /// message in the first lane needs no search.)
    fn used<K: Joinable>() -> (Vec<Producer<u8, K>>, Consumer<u8, K>) {
        // Otherwise the first lanes would become inactive later than the others.
        crate::wait::prepare_process();
        let (first, mut consumer) = queue::with::<_, K>(Settings::new(4)).unwrap();
        let mut producers: Vec<_> = (1..LANES).map(|_| first.clone()).collect();
        producers.insert(0, first);
        for _ in 0..2 {
            for producer in &mut producers {
                producer.try_send(1).unwrap();
            }
            (0..LANES).for_each(|_| assert_eq!(consumer.try_recv(), Ok(1)));
        }
        (producers, consumer)
    }

    /// How many lanes a search visits.
    fn active_bits<L>(roster: &Roster<L>) -> usize {
        let mut round = roster.round(0, false);
        core::iter::from_fn(|| roster.next(&mut round).map(drop)).count()
    }

    /// A search ends, though a producer joins at each of its steps: bounded steps.
    #[test]
    fn round_visits_lanes_that_were_there() {
        let (first, consumer) = mpsc::channel::<u8>(4);
        let mut producers = alloc::vec![first.clone(), first];
        let roster = &consumer.end.state().roster;
        for all in [false, true] {
            let lanes = producers.len();
            let mut round = roster.round(0, all);
            let mut visits = 0;
            while roster.next(&mut round).is_some() {
                visits += 1;
                assert!(visits <= lanes, "it visits lanes of producers, too, that came meanwhile");
                let mut joiner = producers[0].clone();
                joiner.try_send(1).unwrap();
                producers.push(joiner);
            }
            assert!(round.is_over());
        }
    }

    /// Where another consumer begins to deactivate lanes meanwhile, a round goes on with all of them.
    #[test]
    fn round_continues_while_lanes_are_deactivated() {
        let (first, consumer) = mpmc::channel::<u8>(4);
        let _second = first.clone();
        let roster = &consumer.end.state().roster;
        let visits = |meanwhile: &dyn Fn()| {
            let mut round = roster.round_beside_others(0, false);
            assert!(roster.next(&mut round).is_some());
            meanwhile();
            core::iter::from_fn(|| roster.next(&mut round)).count()
        };
        assert_eq!(visits(&|| ()), 0, "one is on the list");
        assert_eq!(visits(&|| roster.stop_thinning_for_test()), 2);
    }

    /// While another consumer deactivates lanes, or stands still there, a search visits all of them.
    #[test]
    fn rings_have_their_turn_while_others_are_taken_off() {
        let (mut busy, mut consumer) = mpmc::channel(4);
        let mut quiet = busy.clone();
        busy.try_send(1).unwrap();
        // It is not active; the consumer that deactivates it is between the two looks.
        let roster = &consumer.end.state().roster;
        let hidden = roster.nodes().last().unwrap();
        hidden.active.store(true, Ordering::Relaxed);
        roster.stop_thinning_for_test();
        quiet.try_send(2).unwrap();
        assert_eq!(active_bits(roster), 1);
        let mut received = [0; 2];
        for slot in &mut received {
            *slot = consumer.try_recv().unwrap();
            // Others always have something.
            _ = busy.try_send(1);
            consumer.end.end_turn_for_test();
        }
        assert!(received.contains(&2), "a ring is passed over");
    }

    /// A lane with a message stays active, however long nothing was found there; and one consumer at a time
    /// deactivates lanes.
    fn lanes_with_messages_stay<L: QueueLane>(state: &super::super::state::QueueState<L>) {
        let all = |round: &mut _| core::iter::from_fn(|| state.roster.next(round)).count();
        let before = active_bits(&state.roster);
        state.roster.thin_out(&state.published, |_| {
            assert_eq!(
                all(&mut state.roster.round_beside_others(0, false)),
                LANES,
                "others look at all meanwhile"
            );
            true
        });
        assert_eq!((before, active_bits(&state.roster)), (LANES, 1));
        assert_eq!(all(&mut state.roster.round_beside_others(0, false)), 1);
        // Another consumer is doing so.
        state.roster.stop_thinning_for_test();
        state.roster.thin_out(&state.published, |_| panic!("two deactivate lanes"));
    }

    #[test]
    fn lanes_with_messages_stay_active() {
        let (mut producers, mut consumer) = used::<mpsc::Mpsc>();
        producers[3].try_send(7).unwrap();
        lanes_with_messages_stay(consumer.end.state());
        assert_eq!(consumer.try_recv(), Ok(7));

        let (mut producers, mut consumer) = used::<mpmc::Mpmc>();
        producers[3].try_send(7).unwrap();
        lanes_with_messages_stay(consumer.end.state());
        assert_eq!(consumer.try_recv(), Ok(7));
    }

    /// From wherever it begins a round visits each active lane once, in their order.
    #[test]
    fn a_round_visits_all_active_lanes() {
        // (Under Miri a round of 130 lanes from each of them would take minutes.)
        let counts: &[usize] = if cfg!(miri) { &[1, 2, 3] } else { &[1, 2, 63, 64, 65, 130] };
        for &count in counts {
            let (first, consumer) = mpmc::channel::<u8>(1);
            let mut producers: Vec<_> = (1..count).map(|_| first.clone()).collect();
            for number in [5, 70, 127, 128] {
                if let Some(producer) = producers.get_mut(number) {
                    producer.try_send(1).unwrap();
                }
            }
            let roster = &consumer.end.state().roster;
            let active: Vec<_> = roster.nodes().map(LaneNode::is_active).collect();
            assert_eq!(active.len(), count);
            for at in 0..count {
                let visits = |all| {
                    let mut round = roster.round(at, all);
                    core::iter::from_fn(|| roster.next(&mut round).map(|(index, _)| index))
                        .collect::<Vec<_>>()
                };
                let in_order = (1..=count).map(|distance| (at + distance) % count);
                assert!(in_order.clone().eq(visits(true)), "from {at} of {count}");
                assert!(in_order.filter(|&index| active[index]).eq(visits(false)), "from {at} of {count}");
            }
        }
    }

    /// Lanes that come meanwhile are for the next one: a round ends, however many producers join.
    #[test]
    fn round_does_not_grow() {
        let (first, consumer) = mpmc::channel::<u8>(1);
        let roster = &consumer.end.state().roster;
        let (mut round, mut visited) = (roster.round(0, true), Vec::new());
        let _more = [first.clone(), first.clone()];
        while let Some((index, _)) = roster.next(&mut round) {
            visited.push(index);
        }
        assert_eq!(visited, [0]);
    }

    /// How many lanes are active, by their bits and by what their producers see.
    fn active_count<K: Joinable>(consumer: &Consumer<u8, K>) -> usize {
        let roster = &consumer.end.state().roster;
        let bits = active_bits(roster);
        let seen = roster.nodes().filter(|node| node.is_active()).count();
        assert_eq!(bits, seen);
        bits
    }

    /// Polls and finds nothing, and checks that lanes become inactive at exactly the poll that makes `due`
    /// looks that found nothing.
    fn polls_until<K: Joinable>(
        consumer: &mut Consumer<u8, K>,
        due: usize,
        each: usize,
        before: usize,
        after: usize,
    ) {
        for _ in 0..due.div_ceil(each) {
            assert!(consumer.try_recv().is_err());
            assert_eq!(active_count(consumer), before, "too early");
        }
        // This poll deactivates them first.
        assert!(consumer.try_recv().is_err());
        assert_eq!(active_count(consumer), after);
    }

    fn quiet_rings_leave<K: Joinable>() {
        let (mut producers, mut consumer) = used::<K>();
        assert_eq!(active_count(&consumer), LANES);
        // A message was found in each since lanes were last deactivated: all stay once more.
        polls_until(&mut consumer, PRICE, LANES - KEPT, LANES, LANES);
        // Nothing was found anywhere: some stay, whose looks don't count. (The last poll above counts, too.)
        polls_until(&mut consumer, PRICE - (LANES - KEPT), LANES - KEPT, LANES, KEPT);
        // From now on polls are cheap, and no other lane becomes inactive.
        for _ in 0..PRICE {
            assert!(consumer.try_recv().is_err());
        }
        assert_eq!(active_count(&consumer), KEPT);
        // Each becomes active again with its next message.
        for (number, producer) in producers.iter_mut().enumerate() {
            producer.try_send(2).unwrap();
            assert_eq!(consumer.try_recv(), Ok(2), "the message of ring {number}");
        }
        assert_eq!(active_count(&consumer), LANES);
    }

    #[test]
    fn quiet_rings_leave_one_consumer() {
        quiet_rings_leave::<mpsc::Mpsc>();
    }

    #[test]
    fn quiet_rings_leave_many_consumers() {
        quiet_rings_leave::<mpmc::Mpmc>();
    }

    /// Where some lanes are busy, all others become inactive. (Two stay: of many consumers, each finds the
    /// next message of its own lane without a search.)
    fn quiet_rings_leave_beside_busy_ones<K: Joinable>(polls_in_vain: bool) {
        let (mut producers, mut consumer) = used::<K>();
        // The first time lanes are deactivated all stay, the second time those stay where something was found
        // meanwhile.
        for _ in 0..PRICE {
            for busy in [2, 5] {
                producers[busy].try_send(3).unwrap();
            }
            (0..2).for_each(|_| assert_eq!(consumer.try_recv(), Ok(3)));
            if polls_in_vain {
                assert!(consumer.try_recv().is_err());
            }
            if active_count(&consumer) != LANES {
                assert_eq!(active_count(&consumer), 2, "the busy ones stay, the quiet ones don't");
                return;
            }
        }
        panic!("nobody left");
    }

    #[test]
    fn quiet_rings_leave_beside_busy_ones_one_consumer() {
        quiet_rings_leave_beside_busy_ones::<mpsc::Mpsc>(true);
        quiet_rings_leave_beside_busy_ones::<mpsc::Mpsc>(false);
    }

    #[test]
    fn quiet_rings_leave_beside_busy_ones_many_consumers() {
        quiet_rings_leave_beside_busy_ones::<mpmc::Mpmc>(true);
        quiet_rings_leave_beside_busy_ones::<mpmc::Mpmc>(false);
    }
}

//! A market made up: a seeded random walk of eight prices.

use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};

use crate::messages::quote::Tick;

/// The symbols, the price that each begins with in points, and how many points there are to 1.
const MARKET: [(&str, i32, f64); 8] = [
    ("EURUSD", 112_134, 1e5),
    ("GBPUSD", 132_610, 1e5),
    ("AUDUSD", 70_212, 1e5),
    ("NZDUSD", 67_395, 1e5),
    ("USDCAD", 129_870, 1e5),
    ("USDCHF", 96_680, 1e5),
    ("USDJPY", 108_612, 1e3),
    ("EURJPY", 121_870, 1e3),
];

/// When the first quote is: 2020-01-01 22:00 UTC.
const BEGIN_NS: i64 = 1_577_916_000_000_000_000;

/// An endless sequence of quotes, the same for the same seed, on each machine.
///
/// Prices stay between half and twice what they begin with, a bid is always below its ask, and time
/// continues.
pub(super) struct Walk {
    random: ChaCha8Rng,
    /// The price between bid and ask of each symbol, in points.
    mid_points: [i32; MARKET.len()],
    event_ns: i64,
}

impl Walk {
    /// The walk of `seed`.
    pub(super) fn new(seed: u64) -> Self {
        Self {
            random: ChaCha8Rng::seed_from_u64(seed),
            mid_points: MARKET.map(|(_, begin_points, _)| begin_points),
            event_ns: BEGIN_NS,
        }
    }

    /// The names of its symbols, by index.
    pub(super) fn symbols() -> Vec<String> {
        MARKET.map(|(name, _, _)| name.to_owned()).to_vec()
    }
}

impl Iterator for Walk {
    type Item = Tick;

    /// Never `None`.
    #[inline]
    fn next(&mut self) -> Option<Tick> {
        let mut bits = Bits(self.random.next_u64());
        let symbol = bits.take(3);
        let (_, begin_points, points_per_unit) = MARKET[symbol as usize];
        let mid_points = &mut self.mid_points[symbol as usize];
        // The difference of two even dice: mostly small steps, either way alike.
        let step = bits.take(3).cast_signed() - bits.take(3).cast_signed();
        let next = *mid_points + step;
        *mid_points =
            if (begin_points / 2..begin_points * 2).contains(&next) { next } else { *mid_points - step };
        let bid_points = *mid_points - 1 - bits.take(3).cast_signed();
        let ask_points = *mid_points + 1 + bits.take(3).cast_signed();
        let volume = f64::from(1 + bits.take(6)) * 1e5;
        self.event_ns += i64::from(1 + bits.take(20)) * 1_000;
        Some(Tick {
            event_ns: self.event_ns,
            bid: f64::from(bid_points) / points_per_unit,
            ask: f64::from(ask_points) / points_per_unit,
            volume,
            symbol,
        })
    }
}

/// Random bits, taken a few at a time; 41 make a quote.
struct Bits(u64);

impl Bits {
    /// The next `count` of them, as a number.
    #[inline]
    fn take(&mut self, count: u32) -> u32 {
        let taken = self.0 & ((1 << count) - 1);
        self.0 >>= count;
        taken as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_quotes() {
        assert!(Walk::new(7).take(10_000).eq(Walk::new(7).take(10_000)));
        assert!(Walk::new(7).take(100).ne(Walk::new(8).take(100)));
    }

    /// A number that changes only if the walk of a seed does: then the figures of two versions no longer
    /// compare.
    #[test]
    fn walk_of_a_seed_stays_the_same_in_later_versions() {
        let sum: f64 = Walk::new(1).take(1_000).map(|tick| tick.bid + tick.ask + tick.volume).sum();
        assert_eq!(sum.to_string(), "3319760484.809876");
    }

    #[test]
    fn prices_are_positive_and_bids_below_asks() {
        let mut before_ns = BEGIN_NS;
        for tick in Walk::new(1).take(if cfg!(miri) { 1_000 } else { 1_000_000 }) {
            assert!(0.0 < tick.bid && tick.bid < tick.ask && tick.volume > 0.0, "{tick:?}");
            assert!(tick.event_ns > before_ns && (tick.symbol as usize) < MARKET.len(), "{tick:?}");
            before_ns = tick.event_ns;
        }
    }

    #[test]
    fn price_turns_back_at_half_and_at_twice_its_beginning() {
        let mut walk = Walk::new(1);
        for (mid_points, (_, begin_points, _)) in walk.mid_points.iter_mut().zip(MARKET) {
            *mid_points = begin_points / 2;
        }
        for _ in 0..10_000 {
            walk.next();
        }
        for (mid_points, (_, begin_points, _)) in walk.mid_points.iter().zip(MARKET) {
            assert!((begin_points / 2..begin_points * 2).contains(mid_points), "{mid_points}");
        }
    }

    #[test]
    fn symbols_are_all_quoted() {
        let mut quotes = [0; MARKET.len()];
        for tick in Walk::new(1).take(8_000) {
            quotes[tick.symbol as usize] += 1;
        }
        assert!(quotes.iter().all(|quotes| (800..1_200).contains(quotes)), "{quotes:?}");
    }
}

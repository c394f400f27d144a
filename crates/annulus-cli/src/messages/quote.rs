//! [`Quote`]: what the demo publishes: a quote, and what it adds so that the other end can check it.

use std::ops::RangeInclusive;

use annulus::Message;
use bytemuck::{Pod, Zeroable};

/// The prices that a quote can have: averages are computed of all these without an overflow, and none is 0
/// in their units.
pub(crate) const PRICES: RangeInclusive<f64> = 0.000_000_01..=90_000_000_000.0;

/// A quote of the feed, before it is published.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tick {
    /// When it was quoted, in nanoseconds since 1970-01-01 00:00 UTC.
    pub(crate) event_ns: i64,
    /// What a buyer offers; one of [`PRICES`].
    pub(crate) bid: f64,
    /// What a seller asks; one of [`PRICES`].
    pub(crate) ask: f64,
    /// How much is on offer; 0 where the feed does not say.
    pub(crate) volume: f64,
    /// Index into the feed's symbols.
    pub(crate) symbol: u32,
}

/// A published quote: 56 bytes, which with the ring's stamp fill one cache line. It may come from another
/// process, so any bytes are one.
#[derive(Clone, Copy, Debug, Message, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Quote {
    /// How many were published before it.
    pub(crate) sequence: u64,
    /// When it was published, by the demo's clock.
    pub(crate) sent_ns: u64,
    /// As in [`Tick`].
    pub(crate) event_ns: i64,
    /// As in [`Tick`].
    pub(crate) bid: f64,
    /// As in [`Tick`].
    pub(crate) ask: f64,
    /// As in [`Tick`].
    pub(crate) volume: f64,
    /// As in [`Tick`].
    pub(crate) symbol: u32,
    /// Checksum over all the other fields.
    pub(crate) check: u32,
}

const _: () =
    assert!(size_of::<Quote>() == 56, "a quote and the ring's stamp of 8 bytes fill one cache line");

impl Quote {
    /// `tick`, numbered, stamped and sealed.
    #[inline]
    pub(crate) fn new(tick: Tick, sequence: u64, sent_ns: u64) -> Self {
        let Tick { event_ns, bid, ask, volume, symbol } = tick;
        let mut quote = Self { sequence, sent_ns, event_ns, bid, ask, volume, symbol, check: 0 };
        quote.check = quote.checksum();
        quote
    }

    /// Whether every field is what the publisher wrote.
    #[inline]
    pub(crate) fn is_intact(&self) -> bool {
        self.check == self.checksum()
    }

    /// Every step is a bijection of the state, so a change of any one field changes the state for certain,
    /// and the 32 bits that are kept of it with a probability of 1 - 2⁻³². The state does not begin at 0: a
    /// message of zeros is not intact.
    #[inline]
    fn checksum(&self) -> u32 {
        /// 2⁶⁴ divided by the golden ratio: odd, with bits that look random.
        const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
        let words = [
            self.sequence,
            self.sent_ns,
            self.event_ns.cast_unsigned(),
            self.bid.to_bits(),
            self.ask.to_bits(),
            self.volume.to_bits(),
            u64::from(self.symbol),
        ];
        let state = words.into_iter().fold(ODD, |state, word| {
            let product = (state ^ word).wrapping_mul(ODD);
            product ^ (product >> 32)
        });
        state as u32
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A quote for the tests of other modules.
    pub(crate) fn tick(symbol: u32, bid: f64, ask: f64) -> Tick {
        Tick { event_ns: 1, bid, ask, volume: 0.0, symbol }
    }

    #[test]
    fn change_of_any_field_is_seen() {
        let quote = Quote::new(tick(3, 1.25, 1.5), 7, 99);
        assert!(quote.is_intact());
        let changed = [
            Quote { sequence: 8, ..quote },
            Quote { sent_ns: 98, ..quote },
            Quote { event_ns: -1, ..quote },
            Quote { bid: 1.5, ..quote },
            Quote { ask: 1.25, ..quote },
            Quote { volume: -0.0, ..quote },
            Quote { symbol: 2, ..quote },
            Quote { check: quote.check ^ 1, ..quote },
        ];
        for quote in changed {
            assert!(!quote.is_intact(), "{quote:?}");
        }
    }

    #[test]
    fn swapped_fields_and_zeros_are_not_intact() {
        let quote = Quote::new(tick(0, 1.25, 1.5), 7, 99);
        assert!(!Quote { bid: quote.ask, ask: quote.bid, ..quote }.is_intact());
        let zeros = Quote {
            sequence: 0,
            sent_ns: 0,
            event_ns: 0,
            bid: 0.0,
            ask: 0.0,
            volume: 0.0,
            symbol: 0,
            check: 0,
        };
        assert!(!zeros.is_intact());
    }
}

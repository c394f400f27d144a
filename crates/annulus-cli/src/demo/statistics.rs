//! What a strategy keeps of each symbol.

use serde::{Deserialize, Serialize};

use crate::messages::quote::Quote;

/// Running statistics of the quotes of one symbol.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "Words", from = "Words")]
pub(super) struct Statistics {
    /// How many quotes.
    pub(super) quotes: u64,
    /// Bid of the latest quote.
    pub(super) bid_last: f64,
    /// Ask of the latest quote.
    pub(super) ask_last: f64,
    /// The lowest bid.
    pub(super) bid_min: f64,
    /// The highest ask.
    pub(super) ask_max: f64,
    spread_sum: f64,
}

impl Statistics {
    /// Of no quotes.
    pub(super) const NONE: Self = Self {
        quotes: 0,
        bid_last: f64::NAN,
        ask_last: f64::NAN,
        bid_min: f64::INFINITY,
        ask_max: f64::NEG_INFINITY,
        spread_sum: 0.0,
    };

    /// Adds a quote.
    #[inline]
    pub(super) fn add(&mut self, quote: &Quote) {
        self.quotes += 1;
        self.bid_last = quote.bid;
        self.ask_last = quote.ask;
        self.bid_min = self.bid_min.min(quote.bid);
        self.ask_max = self.ask_max.max(quote.ask);
        self.spread_sum += quote.ask - quote.bid;
    }

    /// The mean of ask - bid; `None` of no quotes.
    #[expect(clippy::cast_precision_loss, reason = "a mean; it is shown to a few digits")]
    pub(super) fn spread_mean(&self) -> Option<f64> {
        (self.quotes > 0).then(|| self.spread_sum / self.quotes as f64)
    }
}

/// How one process tells another of them: to the bit, also of what is no number.
type Words = [u64; 6];

impl From<Statistics> for Words {
    fn from(statistics: Statistics) -> Self {
        let Statistics { quotes, bid_last, ask_last, bid_min, ask_max, spread_sum } = statistics;
        let mut words = [quotes; 6];
        words[1..].copy_from_slice(&[bid_last, ask_last, bid_min, ask_max, spread_sum].map(f64::to_bits));
        words
    }
}

impl From<Words> for Statistics {
    fn from([quotes, words @ ..]: Words) -> Self {
        let [bid_last, ask_last, bid_min, ask_max, spread_sum] = words.map(f64::from_bits);
        Self { quotes, bid_last, ask_last, bid_min, ask_max, spread_sum }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::quote::tests::tick;

    #[test]
    fn statistics_are_the_last_the_extremes_and_the_mean() {
        let mut statistics = Statistics::NONE;
        assert_eq!((statistics.quotes, statistics.spread_mean()), (0, None));
        for (bid, ask) in [(2.0, 2.5), (1.0, 2.0), (1.5, 3.0)] {
            statistics.add(&Quote::new(tick(0, bid, ask), 0, 0));
        }
        let Statistics { quotes, bid_last, ask_last, bid_min, ask_max, .. } = statistics;
        assert_eq!((quotes, bid_last, ask_last, bid_min, ask_max), (3, 1.5, 3.0, 1.0, 3.0));
        assert_eq!(statistics.spread_mean(), Some(1.0));
    }

    #[test]
    fn statistics_are_told_to_the_bit() {
        let told = |statistics: &Statistics| {
            let told: Statistics = serde_json::from_str(&serde_json::to_string(statistics).unwrap()).unwrap();
            Words::from(told)
        };
        let mut statistics = Statistics::NONE;
        assert_eq!(told(&statistics), Words::from(statistics.clone()));
        statistics.add(&Quote::new(tick(0, 0.1, 0.3), 0, 0));
        assert_eq!(told(&statistics), Words::from(statistics.clone()));
    }
}

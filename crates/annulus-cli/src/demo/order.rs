//! What a strategy sends to the gateway: an order, and its line in a CSV.

use std::fmt;

use annulus::Message;
use bytemuck::{Pod, Zeroable};
use chrono::{DateTime, SecondsFormat};

/// The first line of a file of orders.
pub(super) const HEADER: &str = "strategy,symbol,sequence,time,side,price,fast,slow";

/// Averages are counted in hundred-millionths: whole numbers, so that they are the same on each machine.
pub(super) const UNITS_PER_ONE: u32 = 100_000_000;

/// An order for one lot, at the price of the quote that it answers. It may come from another process, so any
/// bytes are one.
#[derive(Clone, Copy, Debug, PartialEq, Message, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Order {
    /// The number of the quote.
    pub(super) sequence: u64,
    /// When the quote was published, by the demo's clock.
    pub(super) sent_ns: u64,
    /// When it was quoted, in nanoseconds since 1970-01-01 00:00 UTC.
    pub(super) event_ns: i64,
    /// Its ask for a buyer, its bid for a seller.
    pub(super) price: f64,
    /// The two averages.
    pub(super) averages: Averages,
    /// Index into the feed's symbols.
    pub(super) symbol: u32,
    /// Index of the strategy.
    pub(super) strategy: u16,
    /// Which way.
    pub(super) side: Side,
}

/// Moving averages of the price between bid and ask, in [units](UNITS_PER_ONE), rounded down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Message, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Averages {
    /// Of the short window.
    pub(super) fast: u64,
    /// Of the long window.
    pub(super) slow: u64,
}

/// Which way an order goes: [`BUY`](Self::BUY) or [`SELL`](Self::SELL).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Message, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct Side(u16);

impl Side {
    pub(super) const BUY: Self = Self(1);
    pub(super) const SELL: Self = Self(2);
}

/// What the numbers in an order stand for, each fit for a CSV.
pub(super) struct Names {
    strategies: Vec<String>,
    symbols: Vec<String>,
}

impl Names {
    /// By index.
    pub(super) fn new<T: fmt::Display>(strategies: &[T], symbols: &[String]) -> Self {
        Self {
            strategies: strategies.iter().map(|name| field(&name.to_string())).collect(),
            symbols: symbols.iter().map(|name| field(name)).collect(),
        }
    }
}

/// `text` as a field of a CSV by RFC 4180: in quotation marks where it needs them.
fn field(text: &str) -> String {
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

impl Order {
    /// Whether it can be an order of so many `strategies`, for one of so many `symbols`.
    #[inline]
    pub(super) fn is_of(&self, strategies: usize, symbols: usize) -> bool {
        usize::from(self.strategy) < strategies
            && (self.symbol as usize) < symbols
            && matches!(self.side, Side::BUY | Side::SELL)
    }

    /// Its line, without the line break. Nothing in it depends on the run: two runs with the same orders have
    /// the same lines.
    pub(super) fn line<'a>(&'a self, names: &'a Names) -> impl fmt::Display + 'a {
        Line { order: self, names }
    }
}

struct Line<'a> {
    order: &'a Order,
    names: &'a Names,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { order, names } = self;
        let time =
            DateTime::from_timestamp_nanos(order.event_ns).to_rfc3339_opts(SecondsFormat::AutoSi, true);
        write!(
            f,
            "{},{},{},{time},{},{},{},{}",
            names.strategies[usize::from(order.strategy)],
            names.symbols[order.symbol as usize],
            order.sequence,
            if order.side == Side::BUY { "buy" } else { "sell" },
            order.price,
            Units(order.averages.fast),
            Units(order.averages.slow),
        )
    }
}

/// So many [units](UNITS_PER_ONE), as a decimal number.
struct Units(u64);

impl fmt::Display for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let per_one = u64::from(UNITS_PER_ONE);
        write!(f, "{}.{:08}", self.0 / per_one, self.0 % per_one)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// An order for the tests of other modules.
    pub(in crate::demo) fn order(strategy: u16, sequence: u64, sent_ns: u64) -> Order {
        Order {
            sequence,
            sent_ns,
            event_ns: 1_577_898_000_065_000_000,
            price: 1.1212,
            averages: Averages { fast: 112_120_000, slow: 99_999_999 },
            symbol: 0,
            strategy,
            side: Side::BUY,
        }
    }

    #[test]
    fn order_is_a_line() {
        let names = Names::new(&["5/20", "10/50"], &["EURUSD".into()]);
        let line = order(1, 7, 99).line(&names).to_string();
        assert_eq!(line, "10/50,EURUSD,7,2020-01-01T17:00:00.065Z,buy,1.1212,1.12120000,0.99999999");
        assert_eq!(line.split(',').count(), HEADER.split(',').count());
    }

    #[test]
    fn bytes_that_are_no_order_are_told() {
        assert!(order(1, 7, 99).is_of(2, 1));
        assert!(Order { side: Side::SELL, ..order(0, 0, 0) }.is_of(1, 1));
        for foreign in [
            Order { strategy: 2, ..order(1, 7, 99) },
            Order { symbol: 1, ..order(1, 7, 99) },
            Order { side: Side(3), ..order(1, 7, 99) },
            Order::zeroed(),
        ] {
            assert!(!foreign.is_of(2, 1), "{foreign:?}");
        }
    }

    #[test]
    fn names_are_quoted_where_they_must_be() {
        assert_eq!(["A.B", "A,B", "A\"B"].map(field), ["A.B", "\"A,B\"", "\"A\"\"B\""]);
    }
}

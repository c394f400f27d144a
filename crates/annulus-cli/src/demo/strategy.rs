//! A strategy: the cross of two moving averages, for each symbol.
//!
//! The fast average is of the latest few quotes of a symbol, the slow one of more. When the fast one rises
//! above the slow one the strategy buys, and when it falls below, it sells. All of it is in whole numbers, so
//! what a strategy orders follows from the quotes it received and from nothing else.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;

use annulus::queue::Producer;
use annulus::queue::kind::AnyKind;
use serde::{Deserialize, Serialize};

use super::order::{Averages, Order, Side, UNITS_PER_ONE};
use crate::messages::quote::Quote;
use crate::text::quoted;

/// The longest window.
const WINDOW_MAX: u16 = 10_000;

/// How many quotes the two averages of a strategy are of; also its name, such as `5/20`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Windows {
    fast: u16,
    slow: u16,
}

impl fmt::Display for Windows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.fast, self.slow)
    }
}

impl FromStr for Windows {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.split_once('/')
            .and_then(|(fast, slow)| Some(Self { fast: window(fast)?, slow: window(slow)? }))
            .filter(|windows| windows.fast < windows.slow)
            .ok_or_else(|| {
                format!(
                    "{} is no strategy: it must be two windows FAST/SLOW such as `5/20`, \
                     whole numbers from 1 to {WINDOW_MAX}, the fast one shorter",
                    quoted(text)
                )
            })
    }
}

/// The length of a window: digits alone, so that each strategy has one name.
fn window(text: &str) -> Option<u16> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    text.parse().ok().filter(|window| plain && *window <= WINDOW_MAX)
}

/// A strategy at work. Its orders go to a thread or to a process, by the kind of the queue.
pub(super) struct Strategy<K: AnyKind> {
    index: u16,
    decisions: Decisions,
    orders: Producer<Order, K>,
    /// How many orders it has placed.
    placed: u64,
}

impl<K: AnyKind> Strategy<K> {
    /// The strategy with this index, for so many `symbols`, which sends to `orders`.
    pub(super) fn new(index: u16, windows: Windows, symbols: usize, orders: Producer<Order, K>) -> Self {
        Self { index, decisions: Decisions::new(windows, symbols), orders, placed: 0 }
    }

    /// Takes in `quote` and sends an order if there is one to send, waiting while the gateway is behind. The
    /// quote's symbol is one of those that the strategy was made for.
    #[inline]
    pub(super) fn react(&mut self, quote: &Quote) {
        let Some((side, averages)) = self.decisions.next(quote.symbol, quote.bid, quote.ask) else { return };
        let order = Order {
            sequence: quote.sequence,
            sent_ns: quote.sent_ns,
            event_ns: quote.event_ns,
            price: match side {
                Side::BUY => quote.ask,
                _ => quote.bid,
            },
            averages,
            symbol: quote.symbol,
            strategy: self.index,
            side,
        };
        self.placed += 1;
        // Refused only where the gateway has panicked or is gone, and the run ends with that.
        let _ = self.orders.send(order);
    }

    /// Ends it: its index, and how many orders it has placed.
    pub(super) fn finish(self) -> (usize, u64) {
        (self.index.into(), self.placed)
    }
}

/// What a strategy makes of quotes: when it orders, and on which side.
pub(super) struct Decisions {
    windows: Windows,
    /// By symbol.
    crosses: Vec<Cross>,
}

impl Decisions {
    /// Of no quote yet, for so many `symbols`.
    pub(super) fn new(windows: Windows, symbols: usize) -> Self {
        Self { windows, crosses: (0..symbols).map(|_| Cross::default()).collect() }
    }

    /// Takes in the next quote, of one of these symbols, and says whether it is answered with an order.
    #[inline]
    pub(super) fn next(&mut self, symbol: u32, bid: f64, ask: f64) -> Option<(Side, Averages)> {
        self.crosses[symbol as usize].next(self.windows, twice_mid(bid, ask))
    }
}

/// Bid + ask, in units: twice the price between them.
#[inline]
fn twice_mid(bid: f64, ask: f64) -> u64 {
    units(bid).saturating_add(units(ask))
}

/// `price` in units: exact for prices of up to 8 decimals and 15 digits, else rounded. (What is no
/// [price](crate::messages::quote::PRICES) may come from another process, and counts as the nearest number.)
#[inline]
#[expect(clippy::cast_sign_loss, reason = "a price is positive")]
fn units(price: f64) -> u64 {
    (price * f64::from(UNITS_PER_ONE)).round() as u64
}

/// The two averages of one symbol.
#[derive(Default)]
struct Cross {
    /// The latest prices, doubled: as many as the slow window is long.
    latest: VecDeque<u64>,
    fast_sum: u128,
    slow_sum: u128,
    /// Whether the fast average was last above the slow one or below it; `None` before they first differ.
    above: Option<bool>,
}

impl Cross {
    /// Takes in the next price, doubled, and says whether the averages have crossed with it.
    #[inline]
    fn next(&mut self, windows: Windows, twice_price: u64) -> Option<(Side, Averages)> {
        let [fast, slow] = [windows.fast, windows.slow].map(usize::from);
        self.latest.push_back(twice_price);
        self.fast_sum += u128::from(twice_price);
        self.slow_sum += u128::from(twice_price);
        if self.latest.len() > fast {
            self.fast_sum -= u128::from(self.latest[self.latest.len() - 1 - fast]);
        }
        if self.latest.len() > slow {
            self.slow_sum -= u128::from(self.latest.pop_front().unwrap_or_default());
        }
        if self.latest.len() < slow {
            return None;
        }
        // fast_sum / fast against slow_sum / slow, without a division.
        let (fast_side, slow_side) = (self.fast_sum * slow as u128, self.slow_sum * fast as u128);
        if fast_side == slow_side {
            return None;
        }
        let above = fast_side > slow_side;
        let crossed = self.above.replace(above).is_some_and(|before| before != above);
        crossed.then(|| {
            let averages = Averages {
                fast: (self.fast_sum / (2 * fast as u128)) as u64,
                slow: (self.slow_sum / (2 * slow as u128)) as u64,
            };
            (if above { Side::BUY } else { Side::SELL }, averages)
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::messages::quote::PRICES;
    use crate::messages::quote::tests::tick;

    /// Windows for the tests of other modules.
    pub(in crate::demo) fn windows(text: &str) -> Windows {
        text.parse().unwrap()
    }

    #[test]
    fn name_is_two_windows() {
        assert_eq!("5/20".parse(), Ok(Windows { fast: 5, slow: 20 }));
        assert_eq!(windows("1/10000").to_string(), "1/10000");
        for text in
            ["momentum", "20/5", "5/5", "0/5", "5", "5/", "/", "+5/20", "05/20", "5/20/80", "5/10001", ""]
        {
            let error = text.parse::<Windows>().unwrap_err();
            assert!(
                error.starts_with(&format!("`{text}` is no strategy: it must be two windows FAST/SLOW")),
                "{error}"
            );
        }
    }

    #[test]
    fn strategy_orders_where_the_averages_cross() {
        let (producer, mut gateway) = annulus::mpsc::channel(16);
        let mut strategy = Strategy::new(3, windows("1/2"), 2, producer);
        // Of symbol 1; between them, ones of symbol 0 that never move.
        let bids = [5.0, 4.0, 4.0, 6.0, 7.0, 7.0, 3.0];
        for (sequence, bid) in (0..).zip(bids) {
            strategy.react(&Quote::new(tick(0, 1.0, 1.5), 2 * sequence, 0));
            strategy.react(&Quote::new(tick(1, bid, bid + 1.0), 2 * sequence + 1, 50));
        }
        assert_eq!(strategy.finish(), (3, 2));
        // 5, 4: below, and nothing to compare with. 4, 4: neither. 4, 6: above, so it crossed. 6, 7 and 7, 7:
        // still. 7, 3: below.
        let orders: Vec<Order> = gateway.iter().collect();
        let buy = Order {
            sequence: 7,
            sent_ns: 50,
            event_ns: 1,
            price: 7.0,
            averages: Averages { fast: 650_000_000, slow: 550_000_000 },
            symbol: 1,
            strategy: 3,
            side: Side::BUY,
        };
        let sell = Order {
            sequence: 13,
            price: 3.0,
            averages: Averages { fast: 350_000_000, slow: 550_000_000 },
            side: Side::SELL,
            ..buy
        };
        assert_eq!(orders, [buy, sell]);
    }

    #[test]
    fn strategy_waits_for_a_gateway_that_is_behind() {
        let (producer, gateway) = annulus::mpsc::channel(1);
        let mut strategy = Strategy::new(0, windows("1/2"), 1, producer);
        let gateway = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(10));
            gateway.into_iter().count()
        });
        for sequence in 0..1_002 {
            let bid = if sequence % 2 == 0 { 1.0 } else { 2.0 };
            strategy.react(&Quote::new(tick(0, bid, bid), sequence, 0));
        }
        assert_eq!(strategy.finish(), (0, 1_000));
        assert_eq!(gateway.join().unwrap(), 1_000);
    }

    #[test]
    fn decimals_are_exact_and_huge_prices_do_not_overflow() {
        for (price, expected) in [
            (1.12134, 112_134_000),
            (86.655, 8_665_500_000),
            (0.000_000_01, 1),
            (3e8 + 0.5, 30_000_000_050_000_000),
        ] {
            assert_eq!(units(price), expected, "{price}");
        }
        // Twice the highest price is counted to the last unit.
        let twice_most = twice_mid(*PRICES.end(), *PRICES.end());
        assert_eq!(u128::from(twice_most), 2 * 90_000_000_000 * u128::from(UNITS_PER_ONE));
        assert_eq!(units(*PRICES.start()), 1);
        let mut cross = Cross::default();
        for price in [1.0, f64::MAX, f64::MAX, 1.0, 1.0] {
            let _ = cross.next(windows("1/2"), twice_mid(price, price));
        }
        assert_eq!(cross.above, Some(false));
    }
}

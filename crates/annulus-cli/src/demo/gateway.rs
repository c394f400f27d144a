//! The gateway: the one consumer of all orders.

use annulus::queue::Consumer;
use annulus::queue::kind::AnyKind;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use super::order::Order;
use super::order_file::OrderWriter;
use crate::measure::{Clock, counts, latencies};

/// What the gateway received.
#[derive(Serialize, Deserialize)]
pub(super) struct Books {
    /// Of each strategy, by index.
    pub(super) accounts: Vec<Account>,
    /// Orders of no strategy, or for no symbol. Only another process can have sent them.
    pub(super) strays: u64,
}

impl Books {
    /// With nothing in them yet, for so many `strategies`.
    pub(super) fn new(strategies: usize) -> Self {
        Self { accounts: (0..strategies).map(|_| Account::new()).collect(), strays: 0 }
    }
}

/// What the gateway received of one strategy.
#[derive(Serialize, Deserialize)]
pub(super) struct Account {
    /// How many orders.
    pub(super) orders: u64,
    /// From the quote's publication to the order's reception, in nanoseconds.
    #[serde(with = "counts")]
    pub(super) latency_ns: Histogram<u64>,
    /// One more than the number of the quote that the latest order answers.
    next: u64,
    /// How many came twice, or after one that was sent later.
    pub(super) disordered: u64,
}

impl Account {
    /// Of nothing yet.
    pub(super) fn new() -> Self {
        Self { orders: 0, latency_ns: latencies(), next: 0, disordered: 0 }
    }

    /// One more than the number of the quote that the latest order answers; 0 before the first order.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Enters `order`, received at `now_ns`.
    #[inline]
    pub(super) fn enter(&mut self, order: &Order, now_ns: u64) {
        self.orders += 1;
        // A strategy answers a quote with one order at most, so these numbers rise.
        self.disordered += u64::from(order.sequence < self.next);
        self.next = order.sequence.saturating_add(1);
        self.latency_ns.saturating_record(now_ns.saturating_sub(order.sent_ns));
    }
}

/// Receives orders until all strategies are done, sleeping while there are none; enters each in the account
/// of its strategy and writes it to `file`. If that fails, it says so to `failed` and continues without the
/// file. There are so many `symbols`.
pub(super) fn receive<K: AnyKind>(
    mut orders: Consumer<Order, K>,
    mut books: Books,
    symbols: usize,
    mut file: Option<&mut OrderWriter>,
    clock: &Clock,
    mut failed: impl FnMut(),
) -> Books {
    while let Ok(order) = orders.recv() {
        let now_ns = clock.now_ns();
        if !order.is_of(books.accounts.len(), symbols) {
            books.strays += 1;
            continue;
        }
        books.accounts[usize::from(order.strategy)].enter(&order, now_ns);
        if file.as_mut().is_some_and(|file| !file.write(&order)) {
            failed();
            file = None;
        }
    }
    books
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::order::tests::order;

    #[test]
    fn strategies_have_accounts_of_their_own() {
        let (mut first, gateway) = annulus::mpsc::channel(16);
        let mut second = first.clone();
        let clock = Clock::start();
        first.send(order(0, 5, clock.now_ns())).unwrap();
        second.send(order(1, 2, clock.now_ns())).unwrap();
        second.send(order(1, 3, clock.now_ns())).unwrap();
        drop((first, second));
        let books = receive(gateway, Books::new(2), 1, None, &clock, || unreachable!("there is no file"));
        let counts: Vec<_> =
            books.accounts.iter().map(|account| (account.orders, account.latency_ns.len())).collect();
        assert_eq!((counts.as_slice(), books.strays), (&[(1, 1), (2, 2)][..], 0));
        assert!(books.accounts.iter().all(|account| account.disordered == 0));
    }

    #[test]
    fn order_of_nobody_is_counted_and_nothing_else() {
        let (mut producer, gateway) = annulus::mpsc::channel(16);
        producer.send(order(2, 5, 0)).unwrap();
        producer.send(Order { symbol: 1, ..order(0, 5, 0) }).unwrap();
        producer.send(order(1, 5, 0)).unwrap();
        drop(producer);
        let books = receive(gateway, Books::new(2), 1, None, &Clock::start(), || ());
        let orders: Vec<_> = books.accounts.iter().map(|account| account.orders).collect();
        assert_eq!((orders.as_slice(), books.strays), (&[0, 1][..], 2));
    }

    #[test]
    fn order_that_comes_twice_or_late_is_found() {
        let mut account = Account::new();
        for sequence in [1, 2, 2, 5, 4, 6] {
            account.enter(&order(0, sequence, 100), 99);
        }
        assert_eq!((account.orders, account.disordered, account.latency_ns.max()), (6, 2, 0));
    }
}

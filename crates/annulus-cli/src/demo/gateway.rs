//! The gateway: the one consumer of all orders.

use annulus::Shutdown;
use annulus::mpsc::Consumer;
use hdrhistogram::Histogram;

use super::clock::Clock;
use super::order::Order;
use super::order_file::OrderFile;
use super::subscriber::latencies;

/// What the gateway received of one strategy.
pub(super) struct Account {
    /// How many orders.
    pub(super) orders: u64,
    /// From the quote's publication to the order's reception, in nanoseconds.
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
/// of its strategy and writes it to `file`. If that fails, it triggers `shutdown` and goes on without the
/// file.
pub(super) fn receive(
    mut orders: Consumer<Order>,
    mut accounts: Vec<Account>,
    mut file: Option<&mut OrderFile>,
    clock: &Clock,
    shutdown: &Shutdown,
) -> Vec<Account> {
    while let Ok(order) = orders.recv() {
        accounts[usize::from(order.strategy)].enter(&order, clock.now_ns());
        if file.as_mut().is_some_and(|file| !file.write(&order)) {
            shutdown.trigger();
            file = None;
        }
    }
    accounts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::order::tests::order;

    #[test]
    fn each_strategy_has_an_account() {
        let (mut first, gateway) = annulus::mpsc::channel(16);
        let mut second = first.clone();
        let clock = Clock::start();
        first.send(order(0, 5, clock.now_ns())).unwrap();
        second.send(order(1, 2, clock.now_ns())).unwrap();
        second.send(order(1, 3, clock.now_ns())).unwrap();
        drop((first, second));
        let shutdown = Shutdown::new();
        let accounts = receive(gateway, vec![Account::new(), Account::new()], None, &clock, &shutdown);
        let counts: Vec<_> =
            accounts.iter().map(|account| (account.orders, account.latency_ns.len())).collect();
        assert_eq!(counts, [(1, 1), (2, 2)]);
        assert!(accounts.iter().all(|account| account.disordered == 0));
        assert!(!shutdown.is_shutdown());
    }

    #[test]
    fn an_order_that_comes_twice_or_late_is_found() {
        let mut account = Account::new();
        for sequence in [1, 2, 2, 5, 4, 6] {
            account.enter(&order(0, sequence, 100), 99);
        }
        assert_eq!((account.orders, account.disordered, account.latency_ns.max()), (6, 2, 0));
    }
}

//! One thread for everything: market data that may be lost, orders that may not, answers that wait for room,
//! and a clock. It sleeps once for all of them.
//!
//! `cargo run --release -p annulus --example select`

use std::thread;
use std::time::{Duration, Instant};

use annulus::{LossyRecvError, broadcast, mpsc, select, spsc};

const ORDERS: u64 = 1_000;

fn main() {
    let (mut exchange, prices) = broadcast::lossy(64);
    let mut prices = prices.subscribe();
    let (mut customer, mut orders) = mpsc::channel(16);
    let (mut answers, mut book) = spsc::channel(4);

    let threads = [
        thread::spawn(move || (1..=100_000_u64).for_each(|price| exchange.publish(price))),
        thread::spawn(move || (1..=ORDERS).for_each(|order| customer.send(order).unwrap())),
        thread::spawn(move || {
            let answered: u64 = book.iter().map(|(order, _price)| order).sum();
            assert_eq!(answered, ORDERS * (ORDERS + 1) / 2);
        }),
    ];

    let (mut price, mut seen, mut lost, mut answered) = (0, 0, 0, 0);
    let mut open_order = None;
    let begun = Instant::now();
    while answered < ORDERS {
        // An order is read when the one before is answered, so there is an arm for either.
        if let Some(order) = open_order {
            select! {
                send(answers, (order, price)) -> sent => {
                    sent.expect("the book is open");
                    (open_order, answered) = (None, answered + 1);
                }
                default(Duration::from_secs(1)) => println!("the book is slow"),
            }
            continue;
        }
        select! {
            recv_or_lag(prices) -> newest => match newest {
                Ok(newest) => (price, seen) = (newest, seen + 1),
                Err(LossyRecvError::Lagged { skipped }) => lost += skipped,
                Err(_) => open_order = orders.recv().ok(), // the exchange is closed
            },
            recv(orders) -> order => open_order = order.ok(),
            default(Duration::from_secs(1)) => println!("nothing for a second"),
        }
    }
    drop(answers);
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{answered} answers, {seen} prices seen and {lost} skipped, in {:?}", begun.elapsed());
}

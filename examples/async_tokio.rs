//! Tasks under tokio: a `select!` over a broadcast ring and a queue, with a timeout. What does not come first
//! is dropped, and nothing is lost by that.
//!
//! `cargo run --release -p annulus --features async --example async_tokio`

use std::thread;
use std::time::Duration;

use annulus::{broadcast, mpsc};
use tokio::time::{sleep, timeout};

const PRICES: u64 = 10_000;
const ORDERS: u64 = 1_000;

#[tokio::main]
async fn main() {
    let (mut feed, subscribable) = broadcast::lossless::<u64>(64);
    let (mut client, mut orders) = mpsc::channel::<u64>(16);
    let mut prices = subscribable.subscribe();

    let feeder = tokio::spawn(async move {
        for price in 1..=PRICES {
            feed.publish_async(price).await.expect("somebody subscribes"); // the task waits for room
            if price % 1_000 == 0 {
                sleep(Duration::from_millis(5)).await;
            }
        }
    });
    // Either end may be a thread that blocks.
    let client = thread::spawn(move || (1..=ORDERS).for_each(|order| client.send(order).unwrap()));

    let (mut sums, mut open, mut idle) = ([0; 2], [true; 2], 0);
    while open[0] || open[1] {
        let either = async {
            tokio::select! {
                price = prices.recv_async(), if open[0] => (0, price),
                order = orders.recv_async(), if open[1] => (1, order),
            }
        };
        // The branch that is not first is dropped; after a timeout both are.
        match timeout(Duration::from_millis(1), either).await {
            Ok((ring, Ok(number))) => sums[ring] += number,
            Ok((ring, Err(_))) => open[ring] = false,
            Err(_elapsed) => idle += 1,
        }
    }
    feeder.await.unwrap();
    client.join().unwrap();
    assert_eq!(sums, [PRICES, ORDERS].map(|count| count * (count + 1) / 2));
    assert_eq!(prices.total_received(), PRICES);
    println!("{PRICES} prices and {ORDERS} orders; nothing came for a millisecond {idle} times");
}

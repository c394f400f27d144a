//! Four topics, each with a ring, a publisher and a subscriber of its own. What counts is what was
//! *received*: a publisher that nobody keeps up with publishes fast, and moves nothing.
//!
//! `cargo run --release -p annulus --example market_data`

use std::thread;
use std::time::Instant;

use bytemuck::NoUninit;

const TOPICS: [&str; 4] = ["EURUSD", "GBPUSD", "USDJPY", "AUDUSD"];
const QUOTES: u64 = 500_000;
/// Quotes come in packets. After each, a publisher lets others have the core.
const PACKET: u64 = 512;
/// Slots of a ring. A subscriber that is off its core for longer than these last loses some quotes.
const CAPACITY: usize = 16_384;

#[derive(Clone, Copy, NoUninit)]
#[repr(C)]
struct Quote {
    number: u64,
    /// In hundred-thousandths.
    bid: u64,
    ask: u64,
}

fn main() {
    let begun = Instant::now();
    let topics = TOPICS.map(|topic| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<Quote>(CAPACITY);
        let mut subscriber = subscribable.subscribe();
        thread::spawn(move || {
            for number in 0..QUOTES {
                let bid = 100_000 + number % 1_000;
                publisher.publish(Quote { number, bid, ask: bid + number % 20 });
                if number % PACKET == PACKET - 1 {
                    thread::yield_now();
                }
            }
        });
        let reader = thread::spawn(move || {
            // Goes on after a loss, and ends when the publisher is gone.
            while let Ok(quote) = subscriber.recv() {
                assert_eq!(quote.number + 1, subscriber.cursor(), "in order");
                assert!(quote.ask - quote.bid == quote.number % 20, "and whole");
            }
            (subscriber.total_received(), subscriber.total_lagged())
        });
        (topic, reader)
    });
    let mut total = 0;
    for (topic, reader) in topics {
        let (received, lost) = reader.join().unwrap();
        println!("{topic}: received {received:>7}, lost {lost:>7}");
        assert_eq!(received + lost, QUOTES, "every quote is accounted for");
        total += received;
    }
    println!("{total} quotes received and checked in {:.1?}", begun.elapsed());
}

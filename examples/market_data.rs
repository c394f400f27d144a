//! Four topics of a bus, each with a publisher and a subscriber that find it by its name. What counts is what
//! was *received*: a publisher that nobody keeps up with publishes fast, and moves nothing.
//!
//! `cargo run --release -p annulus --features derive --example market_data`

use std::thread;
use std::time::Instant;

use annulus::{Bus, Message};

const TOPICS: [&str; 4] = ["EURUSD", "GBPUSD", "USDJPY", "AUDUSD"];
const QUOTES: u64 = 500_000;
/// After so many quotes, a publisher lets others have the core.
const PACKET: u64 = 512;
/// A subscriber that is off its core for longer than these slots last loses some quotes.
const CAPACITY: usize = 16_384;

#[derive(Clone, Copy, Message)]
struct Quote {
    number: u64,
    bid: u64,
    ask: u64,
}

fn main() {
    let begun = Instant::now();
    let bus = Bus::<Quote>::new(CAPACITY);
    let topics = TOPICS.map(|topic| {
        let (mut subscriber, mut publisher) = (bus.subscribe(topic), bus.publisher(topic));
        thread::spawn(move || {
            for number in 0..QUOTES {
                let bid = 100_000 + number % 1_000;
                publisher.publish(Quote { number, bid, ask: bid + number % 20 });
                if number % PACKET == PACKET - 1 {
                    thread::yield_now();
                }
            }
            publisher.close(); // a drop would leave the topic open
        });
        let reader = thread::spawn(move || {
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

//! Four topics, each with a ring, a publisher and a subscriber of its own. What counts is what was *received*: a publisher that nobody
//! keeps up with publishes fast, and moves nothing.
//!
//! `cargo run --release -p annulus --example market_data`

use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Instant;

use bytemuck::NoUninit;

const TOPICS: [&str; 4] = ["EURUSD", "GBPUSD", "USDJPY", "AUDUSD"];
const QUOTES: u64 = 500_000;
/// Quotes that a publisher sends before it lets others have the core, as a feed that comes in packets. On more cores than
/// threads that hardly matters; on fewer, it is what lets the subscribers run at all.
const PACKET: u64 = 512;
/// Slots of a ring. Nobody slows the publishers down, so a subscriber that is off its core for longer than that lasts loses some.
const CAPACITY: usize = 16_384;

#[derive(Clone, Copy, Debug, PartialEq, NoUninit)]
#[repr(C)]
struct Quote {
    number: u64,
    /// In hundred-thousandths.
    bid: u64,
    ask: u64,
    topic: u32,
    size: u32,
}

impl Quote {
    /// Every field follows from the topic and the number, so whoever receives a quote can tell whether it is whole.
    fn new(topic: u32, number: u64) -> Self {
        let noise = (number << 2 | u64::from(topic)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let bid = 100_000 + (noise >> 48);
        Self { number, bid, ask: bid + 1 + (noise >> 24) % 20, topic, size: noise as u32 % 1000 }
    }
}

fn main() {
    let start = Arc::new(Barrier::new(2 * TOPICS.len() + 1));
    let mut publishers = Vec::new();
    let mut subscribers = Vec::new();
    for topic in 0..TOPICS.len() as u32 {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<Quote>(CAPACITY);
        let mut subscriber = subscribable.subscribe();
        subscribers.push(thread::spawn({
            let start = Arc::clone(&start);
            move || {
                start.wait();
                let (mut received, mut newest) = (0, None);
                // Goes on after a loss, and ends when the publisher is gone.
                while let Ok(quote) = subscriber.recv() {
                    assert_eq!(quote, Quote::new(topic, quote.number), "torn, or of another topic");
                    assert_eq!(quote.number + 1, subscriber.cursor(), "out of order");
                    received += 1;
                    newest = Some(quote.number);
                }
                assert_eq!(newest, Some(QUOTES - 1), "whatever is lost, it is not the newest");
                (received, subscriber.total_lagged(), Instant::now())
            }
        }));
        publishers.push(thread::spawn({
            let start = Arc::clone(&start);
            move || {
                start.wait();
                let begun = Instant::now();
                for number in 0..QUOTES {
                    publisher.publish(Quote::new(topic, number));
                    if number % PACKET == PACKET - 1 {
                        thread::yield_now();
                    }
                }
                (publisher.published(), begun)
            }
        }));
    }
    start.wait();

    println!("topic   published   received       lost");
    let (mut total, mut begins, mut ends) = (0, Vec::new(), Vec::new());
    for (topic, (publisher, subscriber)) in TOPICS.iter().zip(publishers.into_iter().zip(subscribers)) {
        let (published, begun) = publisher.join().unwrap();
        let (received, lost, ended) = subscriber.join().unwrap();
        println!("{topic}  {published:>9}  {received:>9}  {lost:>9}");
        assert_eq!(received + lost, published, "every quote is accounted for");
        total += received;
        begins.push(begun);
        ends.push(ended);
    }
    // From the first that began to the last that ended; this thread may have been scheduled at any time.
    let seconds = (*ends.iter().max().unwrap() - *begins.iter().min().unwrap()).as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let millions = total as f64 / seconds / 1e6;
    println!("{total} quotes received and checked in {seconds:.3} s: {millions:.2} million a second");
}

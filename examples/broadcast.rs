//! One publisher, three subscribers, each on its own thread: every subscriber sees every message.
//!
//! `cargo run --release -p annulus --features derive --example broadcast`

use std::thread;

#[derive(Clone, Copy, annulus::Message)]
struct Quote {
    bid: f64,
    ask: f64,
    symbol: u64,
}

fn main() {
    const QUOTES: u64 = 100_000;
    // Large enough for all of them, so that nobody is lapped however the threads are scheduled.
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<Quote>(QUOTES as usize);

    let strategies: Vec<_> = (0..3)
        .map(|id| {
            let mut subscriber = subscribable.subscribe();
            thread::spawn(move || {
                let mut widest = 0.0_f64;
                // Sleeps while nothing comes; ends when the publisher is gone.
                for quote in &mut subscriber {
                    assert!(quote.symbol < 4);
                    widest = widest.max(quote.ask - quote.bid);
                }
                println!("strategy {id}: {} quotes, widest spread {widest:.4}", subscriber.total_received());
                (subscriber.total_received(), subscriber.total_lagged())
            })
        })
        .collect();

    for number in 0..QUOTES {
        let bid = 1.12 + f64::from(number as u8) / 10_000.0;
        publisher.publish(Quote { bid, ask: bid + 0.0002, symbol: number % 4 });
    }
    drop(publisher);

    for strategy in strategies {
        assert_eq!(strategy.join().unwrap(), (QUOTES, 0));
    }
}

//! One thread that reads two rings: market data as it comes, and commands, which must not wait behind it.
//!
//! `cargo run --release -p annulus --example two_rings`

use std::thread;

use annulus::{LossyTryRecvError, TryRecvError, broadcast, spsc};

#[derive(Debug, PartialEq)]
enum Command {
    Pause,
    Resume,
}

fn main() {
    let (mut feed, subscribable) = broadcast::lossy::<u64>(1024);
    let (mut control, mut commands) = spsc::channel(16);
    let mut prices = subscribable.subscribe();

    let trader = thread::spawn(move || {
        let (mut seen, mut paused, mut open) = (0_u64, 0, [true; 2]);
        while open[0] || open[1] {
            match commands.try_recv() {
                Ok(Command::Pause) => paused += 1,
                Ok(Command::Resume) => assert!(paused > 0),
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Closed) => open[0] = false,
            }
            match prices.try_recv() {
                Ok(_) => seen += 1,
                Err(LossyTryRecvError::Lagged { skipped }) => println!("lost {skipped} prices"),
                Err(LossyTryRecvError::Empty) => thread::yield_now(),
                Err(LossyTryRecvError::Closed) => open[1] = false,
            }
        }
        (seen + prices.total_lagged(), paused)
    });

    for price in 0..100_000 {
        feed.publish(price);
        if price % 25_000 == 0 {
            control.send(Command::Pause).unwrap();
            control.send(Command::Resume).unwrap();
        }
    }
    drop((feed, control));
    assert_eq!(trader.join().unwrap(), (100_000, 4));
    println!("all prices seen or counted, and every command");
}

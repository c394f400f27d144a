//! One thread that reads two rings: market data as it comes, and commands, which must not wait behind it. It
//! sleeps while neither has anything.
//!
//! `cargo run --release -p annulus --example two_rings`

use std::thread;

use annulus::{LossyRecvError, broadcast, select_biased, spsc};

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
        let (mut seen, mut lost, mut paused) = (0, 0, 0);
        loop {
            select_biased! {
                // The first arm goes first: a command never waits behind a price.
                recv(commands) -> command => match command {
                    Ok(Command::Pause) => paused += 1,
                    Ok(Command::Resume) => assert!(paused > 0),
                    Err(_) => break,
                },
                recv_or_lag(prices) -> price => match price {
                    Ok(_) => seen += 1,
                    Err(LossyRecvError::Lagged { skipped }) => lost += skipped,
                    Err(_) => break,
                },
            }
        }
        // One of them has ended: the other one is read alone.
        paused += commands.iter().filter(|command| *command == Command::Pause).count();
        seen += prices.iter().count() as u64;
        assert!(lost <= prices.total_lagged());
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

//! A feed and two readers, each a process of its own: prices by key, and a configuration, of which only the
//! newest value counts. A reader that comes late has all of them at once. The feed waits for nobody.
//!
//! `cargo run --release -p annulus --features shm --example newest_prices`

use std::error::Error;
use std::os::{fd::AsFd, fd::OwnedFd, unix::net::UnixStream};
use std::{env, process::Command, thread, time::Duration};

use annulus::{Settings, shm::Invitation, shm::Shared, shm::watch};

const KEYS: [&str; 3] = ["EURUSD", "GBPUSD", "USDJPY"];

fn read(name: &str) -> Result<(), Box<dyn Error>> {
    let socket = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?); // to the feed
    let pause_ms = Invitation::receive(&socket)?.accept_watch::<u64>()?;
    let prices = Invitation::receive(&socket)?.accept_watch::<[f64; 2]>()?;
    let (mut changes, mut told) = (prices.changes(), 0);
    while let Ok(change) = changes.recv() {
        told += 1;
        if name == "slow" {
            thread::sleep(Duration::from_millis(pause_ms.get(0)?));
        }
        assert!(change.value[0] < change.value[1], "a bid and its ask belong together");
    }
    println!("the {name} reader was told of {told} changes");
    assert!(prices.keys().all(|(cell, _)| prices.get(cell) == Ok([999.0, 999.5])), "the newest ones");
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    if let Some(name) = env::args().nth(1) {
        return read(&name); // this program once more; usually it is another one
    }
    let Shared { handle: mut pause_ms, invitation: to_pause, .. } = watch::sender(20_u64)?;
    let made = watch::table::<[f64; 2]>(Settings::new(100))?;
    let (mut prices, to_prices) = (made.handle, made.invitation);
    let readers = ["fast", "slow"].map(|name| {
        let (here, there) = UnixStream::pair().unwrap();
        let mut command = Command::new(env::current_exe().unwrap());
        to_pause.send(&here).and_then(|()| to_prices.send(&here)).unwrap();
        command.arg(name).stdin(OwnedFd::from(there)).spawn().unwrap()
    });
    for number in 0..1000 {
        for key in KEYS {
            let (cell, bid) = (prices.cell(key)?, f64::from(number));
            prices.send_to(cell, [bid, bid + 0.5])?;
        }
        if number == 500 {
            pause_ms.send(1)?; // the slow reader may go faster
        }
        thread::sleep(Duration::from_micros(200));
    }
    drop(prices);
    for mut reader in readers {
        assert!(reader.wait()?.success());
    }
    Ok(())
}

//! Two processes and one ring: the first publishes prices under a name, the second finds the name, and
//! receives them. (It is this program once more; usually it is another one.)
//!
//! `cargo run --release -p annulus --features shm --example two_processes`

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use annulus::Settings;
use annulus::shm::{Directory, Invitation, PeerState, Shared, broadcast};

const PRICES: u32 = 1000;

fn subscribe(directory: &Path) -> Result<(), Box<dyn Error>> {
    // It may come first.
    let name = Directory::open(directory)?.wait_for("prices", Some(Duration::from_secs(10)))?;
    let ring = Invitation::find(&name)?.accept::<[f64; 2]>()?;
    let mut subscriber = ring.subscribable().subscribe_from_oldest();
    println!("subscribed");
    let mut received = 0;
    while let Ok([bid, ask]) = subscriber.recv() {
        assert!(bid < ask, "it is whole");
        received += 1;
    }
    println!("it received {received}, and lost {}", subscriber.total_lagged());
    assert_eq!(received + subscriber.total_lagged(), u64::from(PRICES));
    assert_eq!(ring.state(), PeerState::Closed, "not `Dead`: it has said goodbye");
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    if let Some(directory) = std::env::args_os().nth(1) {
        return subscribe(Path::new(&directory));
    }
    let directory = std::env::temp_dir().join(format!("annulus-{}", std::process::id()));
    let Shared { handle: mut publisher, invitation, .. } = broadcast::lossy::<[f64; 2]>(Settings::new(256))?;
    let name = invitation.publish(&Directory::open(&directory)?, "prices")?;
    let mut command = Command::new(std::env::current_exe()?);
    let mut child = command.arg(&directory).stdout(Stdio::piped()).spawn()?;
    let mut lines = BufReader::new(child.stdout.take().ok_or("a pipe")?).lines();
    println!("the other process: {}", lines.next().ok_or("it ended")??);
    for number in 0..PRICES {
        let bid = 1.1 + f64::from(number) / 1e5;
        publisher.publish([bid, bid + 0.0001]);
        if number % 100 == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    drop(publisher);
    println!("the other process: {}", lines.next().ok_or("it ended")??);
    assert!(child.wait()?.success());
    drop(name);
    std::fs::remove_dir_all(directory)?;
    Ok(())
}

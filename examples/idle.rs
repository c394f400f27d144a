//! Waiting that costs nothing, timeouts, and an orderly end.
//!
//! `cargo run --release -p annulus --example idle`

use std::thread;
use std::time::Duration;

use annulus::{RecvTimeoutError, Shutdown};

fn main() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u32>(64);
    let shutdown = Shutdown::new();

    // Sleeps in the kernel between readings, and looks at the flag now and then.
    let mut subscriber = subscribable.subscribe();
    let monitor = thread::spawn({
        let shutdown = shutdown.clone();
        move || {
            let mut readings = 0;
            loop {
                match subscriber.recv_timeout(Duration::from_millis(20)) {
                    Ok(reading) => {
                        readings += 1;
                        println!("reading {reading}");
                    }
                    Err(RecvTimeoutError::Timeout) if shutdown.is_shutdown() => return readings,
                    Err(RecvTimeoutError::Timeout) => println!("nothing for 20 ms"),
                    Err(RecvTimeoutError::Closed) => return readings,
                }
            }
        }
    });

    for reading in 0..3 {
        thread::sleep(Duration::from_millis(30));
        publisher.publish(reading);
    }
    shutdown.trigger();
    assert_eq!(monitor.join().unwrap(), 3);
}

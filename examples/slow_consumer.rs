//! One slow subscriber holds up nobody. It is told exactly what it lost, and goes on with the newest.
//!
//! `cargo run --release -p annulus --example slow_consumer`

use std::thread;
use std::time::Duration;

use annulus::LossyTryRecvError;

const BURSTS: u64 = 200;
const BURST: u64 = 500;
/// What the slow subscriber does with each message that it receives.
const WORK: Duration = Duration::from_millis(20);

fn main() {
    // The ring has room for eight bursts: a subscriber that is away for less than that loses nothing.
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4096);
    let (mut fast, mut slow) = (subscribable.subscribe(), subscribable.subscribe());
    let fast = thread::spawn(move || {
        let (mut gaps, mut expected) = (0, 0);
        while let Ok(number) = fast.recv() {
            gaps += number - expected;
            expected = number + 1;
        }
        assert_eq!(gaps, fast.total_lagged(), "the gaps in the numbers are what it was told");
        (fast.total_received(), fast.total_lagged())
    });
    let slow = thread::spawn(move || {
        loop {
            match slow.try_recv_or_lag() {
                Ok(_) if slow.is_closed() => {} // nobody is to wait for what is left
                Ok(_) => thread::sleep(WORK),
                Err(LossyTryRecvError::Lagged { skipped }) => {
                    // What still stands is old too: only the newest is worth the work.
                    let old = slow.skip_to_latest();
                    println!("slow: lost {skipped:>5}, passes over {old:>4}, goes on at {}", slow.cursor());
                }
                Err(LossyTryRecvError::Empty) => thread::sleep(Duration::from_micros(100)),
                Err(LossyTryRecvError::Closed) => return (slow.total_received(), slow.total_lagged()),
            }
        }
    });

    for burst in 0..BURSTS {
        (0..BURST).for_each(|number| publisher.publish(burst * BURST + number));
        thread::sleep(Duration::from_millis(1));
    }
    let published = publisher.published();
    drop(publisher);

    let (fast_received, fast_lost) = fast.join().unwrap();
    let (slow_received, slow_lost) = slow.join().unwrap();
    println!("fast: {fast_received} received, {fast_lost} lost, of {published}");
    println!("slow: {slow_received} received, {slow_lost} lost or passed over");
    assert_eq!((fast_received + fast_lost, slow_received + slow_lost), (published, published));
    assert!(slow_received < fast_received);
}

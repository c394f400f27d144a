//! A subscriber that is too slow for a small ring: it is told exactly how much it lost, and goes on.
//!
//! `cargo run --release -p annulus --example lag`

use annulus::LossyTryRecvError;

fn main() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
    let mut subscriber = subscribable.subscribe();

    publisher.publish_batch(&[0, 1, 2, 3, 4, 5, 6]);
    println!("7 published into 4 slots; pending: {}", subscriber.len());

    // A verb with `or_lag` says so, once.
    assert_eq!(subscriber.try_recv_or_lag(), Err(LossyTryRecvError::Lagged { skipped: 3 }));
    assert_eq!(subscriber.try_recv_or_lag(), Ok(3));

    // All other verbs count it and go on.
    publisher.publish_batch(&[7, 8, 9]);
    let rest: Vec<u64> = subscriber.try_iter().collect();
    println!("then received {rest:?}");

    // Or only the newest.
    publisher.publish_batch(&[10, 11, 12]);
    assert_eq!(subscriber.latest(), Some(12));

    println!("received {}, lost {}", subscriber.total_received(), subscriber.total_lagged());
    assert_eq!(subscriber.total_received() + subscriber.total_lagged(), publisher.published());
}

//! Many sensors, many readers, and every reader sees every measurement, in the same order.
//!
//! `cargo run --release -p annulus --example many_to_many`

use std::thread;

use annulus::broadcast;

const SENSORS: u64 = 4;
const MEASUREMENTS: u64 = 10_000;

fn main() {
    let (publisher, subscribable) = broadcast::mp_lossless::<[u64; 2]>(256);

    let readers: Vec<_> = (0..3)
        .map(|_| {
            let mut subscriber = subscribable.subscribe();
            // It ends when the last publisher is gone.
            thread::spawn(move || subscriber.iter().collect::<Vec<_>>())
        })
        .collect();

    for sensor in 0..SENSORS {
        let publisher = publisher.clone();
        thread::spawn(move || {
            for count in 0..MEASUREMENTS {
                publisher.publish([sensor, count]).expect("the readers read");
            }
        });
    }
    drop(publisher);

    let seen: Vec<_> = readers.into_iter().map(|reader| reader.join().unwrap()).collect();
    assert_eq!(seen[0].len() as u64, SENSORS * MEASUREMENTS);
    assert!(seen.iter().all(|each| *each == seen[0]), "one order for all");
    println!("{} readers saw the same {} measurements in the same order", seen.len(), seen[0].len());
}

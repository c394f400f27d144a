//! A program for rtrb, call by call: one thread makes sound, block by block, and another plays it. Nothing is
//! copied twice, nobody waits.
//!
//! `cargo run --release -p annulus --example from_rtrb`

use std::thread;

use annulus::spsc;

const BLOCK: usize = 64;
const BLOCKS: usize = 1_000;

fn main() {
    // rtrb: RingBuffer::<u32>::new(4 * BLOCK)
    let (mut producer, mut consumer) = spsc::channel::<u32>(4 * BLOCK);

    let synthesizer = thread::spawn(move || {
        let mut phase = 0;
        while phase < BLOCK * BLOCKS {
            // rtrb: producer.write_chunk_uninit(BLOCK)
            match producer.try_reserve((BLOCK * BLOCKS - phase).min(BLOCK)) {
                Ok(room) => {
                    let count = room.len();
                    // rtrb: chunk.fill_from_iter(…)
                    phase += room.write_iter((phase..phase + count).map(|i| i as u32));
                }
                Err(_) => thread::yield_now(), // no room: try again, as with rtrb, which never waits
            }
        }
    });

    let mut played = 0;
    // rtrb: consumer.is_abandoned()
    while !consumer.is_fully_drained() {
        // rtrb: consumer.read_chunk(…)?.as_slices(): there may be two; here it is one.
        let samples = consumer.readable();
        let samples = &samples[..samples.len().min(BLOCK)];
        for (i, &sample) in samples.iter().enumerate() {
            assert!(sample == (played + i) as u32, "a sample is lost");
        }
        let count = samples.len();
        played += count;
        // rtrb: chunk.commit(count)
        consumer.advance(count);
    }
    synthesizer.join().unwrap();
    assert_eq!(played, BLOCK * BLOCKS);
    println!("played {played} samples");
}

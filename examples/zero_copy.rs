//! Frames of 8 KiB go from thread to thread without a copy: they stay where they are, and a 4-byte handle goes through the ring.
//!
//! `cargo run --release -p annulus --example zero_copy`

use std::thread;

use annulus::pool::{BufferPool, Handle};
use annulus::spsc;

const FRAME_BYTES: usize = 8 * 1024;
const FRAMES: u64 = 20_000;
const SLABS: usize = 16;

fn main() {
    let pool = BufferPool::new(FRAME_BYTES, SLABS); // all the memory there will ever be
    // As long as there are slabs, so a frame always finds room.
    let (mut producer, mut consumer) = spsc::channel::<Handle>(SLABS);

    let reader = thread::spawn({
        let pool = pool.clone();
        move || {
            let mut next = 0;
            while let Ok(handle) = consumer.recv() {
                let frame = pool.redeem(handle).expect("each handle comes once");
                let [number, address] = [word(&frame, 0), word(&frame, 1)];
                assert_eq!(number, next, "frames arrive in order");
                assert_eq!(address, frame.as_ptr().addr() as u64, "the frame is where it was written");
                assert!(frame[16..].iter().all(|&byte| byte == number as u8), "and whole");
                next += 1;
            } // dropping the frame gives its slab back
            next
        }
    });

    let mut waits = 0_u64;
    for number in 0..FRAMES {
        let mut frame = loop {
            if let Some(frame) = pool.alloc() {
                break frame;
            }
            waits += 1; // all slabs are with the reader
            thread::yield_now();
        };
        let address = frame.as_ptr().addr() as u64;
        frame[..8].copy_from_slice(&number.to_le_bytes());
        frame[8..16].copy_from_slice(&address.to_le_bytes());
        frame[16..].fill(number as u8);
        assert!(producer.try_send(frame.into_handle()).is_ok());
    }
    drop(producer);

    let read = reader.join().unwrap();
    let (frames_mb, handles_kb) =
        (read * FRAME_BYTES as u64 / 1_000_000, read * size_of::<Handle>() as u64 / 1_000);
    println!("{read} frames of {frames_mb} MB in all; {handles_kb} kB of handles went through the ring");
    println!("in {SLABS} slabs of {FRAME_BYTES} bytes; the writer found them all in use {waits} times");
    assert_eq!(read, FRAMES);
    assert_eq!(pool.available(), SLABS, "every slab is back");
}

/// The word of 8 bytes at `place`.
fn word(frame: &[u8], place: usize) -> u64 {
    u64::from_le_bytes(*frame[8 * place..].first_chunk().expect("a frame is longer"))
}

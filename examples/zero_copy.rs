//! Frames of 8 KiB go from thread to thread without a copy: they stay where they are, and a 4-byte handle
//! goes through the ring.
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
    // As many slots as slabs, so a frame always finds room.
    let (mut producer, mut consumer) = spsc::channel::<Handle>(SLABS);

    let reader = thread::spawn({
        let pool = pool.clone();
        move || {
            let mut next = 0_u64;
            while let Ok(handle) = consumer.recv() {
                let frame = pool.redeem(handle).expect("each handle comes once");
                let (number, pixels) = frame.split_first_chunk().expect("a frame is longer");
                assert_eq!(u64::from_le_bytes(*number), next, "frames arrive in order");
                assert!(pixels.iter().all(|&byte| byte == next as u8), "and whole");
                next += 1;
            } // dropping the frame gives its slab back
            next
        }
    });

    let mut waits = 0_u64;
    for number in 0..FRAMES {
        let mut frame = loop {
            match pool.alloc() {
                Some(frame) => break frame,
                None => waits += 1, // all slabs are with the reader
            }
            thread::yield_now();
        };
        frame[..8].copy_from_slice(&number.to_le_bytes());
        frame[8..].fill(number as u8);
        assert!(producer.try_send(frame.into_handle()).is_ok());
    }
    drop(producer);

    let read = reader.join().unwrap();
    let (megabytes, handle) = (read * FRAME_BYTES as u64 / 1_000_000, size_of::<Handle>());
    println!("{read} frames, {megabytes} MB in all; each went through the ring as {handle} bytes");
    println!("in {SLABS} slabs of {FRAME_BYTES} bytes; the writer found them all in use {waits} times");
    assert_eq!(read, FRAMES);
    assert_eq!(pool.available(), SLABS, "every slab is back");
}

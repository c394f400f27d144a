//! One camera, several viewers: each frame is filled where it lies and read there by all, without an
//! allocation or a copy.
//!
//! `cargo run --release -p annulus --example video_frames`

use std::collections::HashSet;
use std::thread;

use annulus::event;

const FRAME_BYTES: usize = 640 * 480;
const FRAMES: u64 = 600;
const VIEWERS: usize = 3;
/// How many frames there are: the camera may be that far ahead of its slowest viewer.
const IN_MEMORY: usize = 4;

struct Frame {
    number: u64,
    pixels: Box<[u8]>,
}

fn main() {
    let empty = || Frame { number: 0, pixels: vec![0; FRAME_BYTES].into() };
    let (mut camera, viewers) = event::channel(IN_MEMORY, empty); // all the memory there will ever be
    let watching = [(); VIEWERS].map(|()| {
        let mut viewer = viewers.subscribe();
        thread::spawn(move || {
            let (mut seen, mut places) = (0, HashSet::new());
            let watch = |frame: &Frame, seen: &mut u64| {
                assert_eq!(frame.number, *seen, "frames arrive in order, none is lost");
                assert!(frame.pixels.iter().all(|&pixel| pixel == frame.number as u8), "and whole");
                *seen += 1;
                frame.pixels.as_ptr().addr()
            };
            while let Ok(place) = viewer.process(|frame| watch(frame, &mut seen)) {
                places.insert(place);
            }
            (seen, places)
        })
    });
    drop(viewers);

    for number in 0..FRAMES {
        let fill = |frame: &mut Frame| {
            frame.number = number;
            frame.pixels.fill(number as u8); // what a driver would write
        };
        assert!(camera.publish(fill).is_ok(), "somebody watches");
    }
    drop(camera);

    let accounts = watching.map(|viewer| viewer.join().unwrap());
    for (seen, places) in &accounts {
        assert_eq!(*seen, FRAMES);
        assert_eq!((places.len(), places), (IN_MEMORY, &accounts[0].1), "all saw them in the same places");
    }
    let megabytes = FRAMES * FRAME_BYTES as u64 / 1_000_000;
    println!("{VIEWERS} viewers read {FRAMES} frames each, {megabytes} MB, in {IN_MEMORY} places");
}

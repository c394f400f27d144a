//! Frames that one process writes, and others read where they lie. In a model the processes are threads.
//!
//! Loom watches the content of each frame: a writer beside a reader fails the model.
#![cfg(annulus_loom)]

use std::sync::Arc;

use annulus::frames_for_a_model;
use annulus_loom::check;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

/// Where a ring would tell a reader: the number of a message, and in which of up to 8 frames it is.
fn told(number: u64, frame: u64) -> u64 {
    number * 8 + frame
}

/// One reader, and messages of which the newest stays: each takes the frame of one before.
#[test]
fn frame_that_is_held_stays() {
    check(|| {
        let (mut writer, mut readers) = frames_for_a_model(1, 1);
        let newest = Arc::new(AtomicU64::new(0));
        writer.write(|frame| newest.store(told(0, frame), Ordering::Relaxed));
        let (reader, seen) = (readers.remove(0), Arc::clone(&newest));
        let reading = thread::spawn(move || {
            for _ in 0..2 {
                // Relaxed: what tells a reader need not order the content.
                let newest = seen.load(Ordering::Relaxed);
                let (number, frame) = (newest / 8, newest % 8);
                if let Some(found) = reader.read(frame, number) {
                    assert_eq!(found, number);
                }
            }
        });
        for number in 1..4 {
            writer.write(|frame| newest.store(told(number, frame), Ordering::Relaxed));
        }
        reading.join().unwrap();
        assert_eq!(writer.held(), 0);
    });
}

/// Two readers hold one frame each, or none.
#[test]
fn writer_of_two_readers_finds_a_frame() {
    check(|| {
        let (mut writer, readers) = frames_for_a_model(2, 2);
        let mut frames = [0; 2];
        for told in &mut frames {
            writer.write(|frame| *told = frame);
        }
        let reading = (0..).zip(readers).map(|(number, reader)| {
            let frame = frames[number as usize];
            thread::spawn(move || assert!(reader.read(frame, number).is_none_or(|found| found == number)))
        });
        let reading: Vec<_> = reading.collect();
        writer.changes_its_mind();
        for _ in 2..5 {
            writer.write(|_| ());
        }
        for reader in reading {
            reader.join().unwrap();
        }
        assert_eq!(writer.held(), 0);
    });
}

/// A reader dies with a frame: the writer has it back.
#[test]
fn frame_of_a_dead_reader_comes_back() {
    check(|| {
        let (mut writer, mut readers) = frames_for_a_model(1, 1);
        let mut frame = 0;
        writer.write(|told| frame = told);
        let reader = readers.remove(0);
        let dying = thread::spawn(move || reader.dies_with(frame, 0));
        for _ in 1..4 {
            writer.write(|_| ());
        }
        dying.join().unwrap();
        writer.write(|_| ());
        assert_eq!(writer.held(), 0);
    });
}

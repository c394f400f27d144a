//! Logging that never holds up the thread that logs: a line that finds no room is dropped and counted, and
//! the log says so.
//!
//! `cargo run --release -p annulus --example dropping_log`

use std::fmt::Write;
use std::thread;
use std::time::Duration;

use annulus::mpsc;

const WORKERS: u32 = 8;
const LINES: u32 = 2_000;

/// A line before it is formatted: the worker copies a few numbers, and allocates nothing.
struct Line {
    worker: u32,
    number: u32,
    /// How many lines of this worker were dropped before this one.
    dropped: u32,
}

fn main() {
    let (producer, mut lines) = mpsc::channel::<Line>(128);
    for worker in 0..WORKERS {
        let mut producer = producer.clone();
        thread::spawn(move || {
            let mut dropped = 0;
            for number in 0..LINES {
                // Never waits.
                dropped = producer.try_send(Line { worker, number, dropped }).map_or(dropped + 1, |()| 0);
                if number % 100 == 99 {
                    thread::sleep(Duration::from_millis(1)); // what the worker is really there for
                }
            }
            // The last line may wait: it tells how many were dropped at the end.
            assert!(producer.send(Line { worker, number: LINES, dropped }).is_ok(), "the writer is there");
        });
    }
    drop(producer); // the log ends with the last worker

    let (mut text, mut written, mut dropped, mut batches) = (String::new(), 0, 0, 0);
    // Sleeps for one line, then takes all that are there, so that they are written to the disk at once.
    while let Ok(first) = lines.recv() {
        for line in [first].into_iter().chain(lines.try_iter()) {
            if line.dropped > 0 {
                writeln!(text, "worker {}: ({} lines dropped)", line.worker, line.dropped).unwrap();
            }
            writeln!(text, "worker {}: line {}", line.worker, line.number).unwrap();
            (written, dropped) = (written + 1, dropped + line.dropped);
        }
        batches += 1;
        thread::sleep(Duration::from_millis(2)); // stands for the disk
    }
    println!("{written} lines written in {batches} batches, {dropped} dropped; the log ends with:");
    text.lines().skip(text.lines().count() - 3).for_each(|line| println!("  {line}"));
    assert_eq!(written + dropped, WORKERS * (LINES + 1), "each line was written, or counted as dropped");
}

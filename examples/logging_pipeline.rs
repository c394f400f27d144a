//! Logging that never holds up who logs: a line that finds no room is dropped and counted, and the log says so.
//!
//! `cargo run --release -p annulus --example logging_pipeline`

use std::fmt::Write;
use std::thread;
use std::time::Duration;

use annulus::mpsc::{self, Consumer, Producer};

const WORKERS: u32 = 8;
const LINES: u32 = 2_000;

/// A line before it is formatted: who logs copies a few numbers, and allocates nothing.
struct Line {
    worker: u32,
    number: u32,
    /// How many lines before it were dropped.
    dropped: u32,
}

/// What a worker logs through.
struct Logger {
    lines: Producer<Line>,
    worker: u32,
    dropped: u32,
    dropped_total: u32,
}

impl Logger {
    /// Logs a line, or counts it as dropped. Never waits.
    fn log(&mut self, number: u32) {
        let line = Line { worker: self.worker, number, dropped: self.dropped };
        // (Or the writer is gone; then nothing is written any more.)
        if self.lines.try_send(line).is_ok() {
            self.dropped = 0;
        } else {
            self.dropped += 1;
            self.dropped_total += 1;
        }
    }
}

fn main() {
    let (producer, consumer) = mpsc::channel::<Line>(128);
    let writer = thread::spawn(move || write_all(consumer));

    let workers: Vec<_> = (0..WORKERS)
        .map(|worker| {
            let mut logger = Logger { lines: producer.clone(), worker, dropped: 0, dropped_total: 0 };
            thread::spawn(move || {
                for number in 0..LINES {
                    logger.log(number);
                    if number % 100 == 99 {
                        thread::sleep(Duration::from_millis(1)); // what it is really there for
                    }
                }
                (logger.dropped, logger.dropped_total)
            })
        })
        .collect();
    drop(producer); // the writer ends with the last worker

    // Lines dropped at the very end have no line after them to say so: the workers do.
    let (mut unsaid, mut dropped) = (0, 0);
    for worker in workers {
        let (last, total) = worker.join().unwrap();
        unsaid += last;
        dropped += total;
    }
    let log = writer.join().unwrap();
    println!(
        "{} lines logged, {} written in {} batches, {dropped} dropped",
        WORKERS * LINES,
        log.lines,
        log.batches
    );
    println!("the log ends with:");
    for line in log.text.lines().skip(log.text.lines().count() - 3) {
        println!("  {line}");
    }
    assert_eq!(log.lines + dropped, WORKERS * LINES, "each line was written, or counted as dropped");
    assert_eq!(log.said_dropped + unsaid, dropped);
}

/// What was written.
#[derive(Default)]
struct Log {
    text: String,
    lines: u32,
    batches: u32,
    said_dropped: u32,
}

/// Writes lines until all workers are gone: sleeps for one, then takes all that are there, and flushes once for all of them.
fn write_all(mut lines: Consumer<Line>) -> Log {
    let mut log = Log::default();
    let mut next = [0; WORKERS as usize];
    let mut batch = String::new();
    while let Ok(first) = lines.recv() {
        let mut write = |Line { worker, number, dropped }| {
            let due = &mut next[worker as usize];
            assert_eq!(
                number,
                *due + dropped,
                "lines of a worker are in order, and what is missing was counted"
            );
            *due = number + 1;
            if dropped > 0 {
                writeln!(batch, "worker {worker}: ({dropped} lines dropped)").expect("a string has room");
            }
            writeln!(batch, "worker {worker}: line {number}").expect("a string has room");
            log.lines += 1;
            log.said_dropped += dropped;
        };
        write(first);
        lines.consume(write);
        // Stands for the disk.
        log.text += &batch;
        batch.clear();
        log.batches += 1;
        thread::sleep(Duration::from_millis(2));
    }
    log
}

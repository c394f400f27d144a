//! A log as a pipeline: many threads log, one parses, one writes in batches, and a third watches for errors.
//! The watch may lose lines if it is slow; the file may not.
//!
//! `cargo run --release -p annulus --example log_pipeline`

use std::sync::mpsc::channel;
use std::thread;

use annulus::mpsc;
use annulus::pipeline::Pipeline;

const WORKERS: u32 = 4;
const LINES: u32 = 5_000;

fn main() {
    // The source is a queue with a ring for each worker, made by hand.
    let (producer, lines) = mpsc::channel::<(u32, u32)>(256);
    let workers: Vec<_> = (0..WORKERS)
        .map(|worker| {
            let mut producer = producer.clone();
            thread::spawn(move || {
                for number in 0..LINES {
                    producer.send((worker, number)).expect("the log is there");
                }
            })
        })
        .collect();
    drop(producer); // the log ends with the last worker

    let (disk, written) = channel();
    let mut text = String::new();
    let (((), errors), pipeline) = Pipeline::builder()
        .capacity(256)
        .source(lines)
        .then(|(worker, number)| [worker, number, u32::from(number % 1000 == 999)])
        .name("classify")
        .fork(
            |s| {
                let batches = s.then_batch(move |lines, bytes: &mut Vec<usize>| {
                    text.clear();
                    text.extend(lines.iter().map(|line| format!("{line:?}\n")));
                    bytes.push(lines.len()); // stands for a write to the disk
                });
                batches.name("write").sink(move |lines| disk.send(lines).expect("main waits"))
            },
            |s| s.lossy().filter_map(|line| (line[2] == 1).then_some(line)).name("watch"),
        )
        .build();
    let errors = errors.into_iter().count();
    let batches: Vec<usize> = written.iter().collect(); // ends with the sink
    for worker in workers {
        worker.join().unwrap();
    }
    let lost: u64 = pipeline.stats().edges.iter().map(|edge| edge.lost).sum();
    pipeline.join().expect("no stage panicked");
    println!("{} batches; {errors} errors seen; the watch lost {lost} lines", batches.len());
    assert_eq!(batches.iter().sum::<usize>(), (WORKERS * LINES) as usize);
    assert!(errors == 20 || lost > 0, "the watch saw every error, unless it lost lines");
}

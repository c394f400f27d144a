//! Jobs for a pool of workers: each job goes to one worker, and its result comes back.
//!
//! `cargo run --release -p annulus --example worker_pool`

use std::thread;

use annulus::{mpmc, mpsc};

struct Job {
    number: u64,
    words: Vec<String>,
}

fn main() {
    const WORKERS: usize = 4;
    const JOBS: u64 = 1_000;
    let (mut jobs, todo) = mpmc::channel::<Job>(64);
    let (done, mut results) = mpsc::channel::<(u64, usize)>(64);

    let workers: Vec<_> = (0..WORKERS)
        .map(|_| {
            let mut todo = todo.clone();
            let mut done = done.clone(); // a ring of its own
            thread::spawn(move || {
                let mut count = 0;
                while let Ok(job) = todo.recv() {
                    let letters = job.words.iter().map(String::len).sum();
                    done.send((job.number, letters)).expect("somebody collects");
                    count += 1;
                }
                count
            })
        })
        .collect();
    drop((todo, done)); // the workers have theirs

    let boss = thread::spawn(move || {
        for number in 0..JOBS {
            let words = vec![format!("job {number}"); 3];
            assert!(jobs.send(Job { number, words }).is_ok(), "there are workers");
        }
        // Dropping `jobs` closes the queue: each worker ends when nothing is left.
    });
    let mut letters = vec![0; JOBS as usize];
    for (number, count) in &mut results {
        letters[number as usize] = count;
    }
    boss.join().unwrap();
    let counts: Vec<u64> = workers.into_iter().map(|worker| worker.join().unwrap()).collect();
    assert_eq!(counts.iter().sum::<u64>(), JOBS);
    assert!(letters.iter().all(|&count| count >= 3 * "job 0".len()));
    println!("{JOBS} jobs by {WORKERS} workers: {counts:?}");
}

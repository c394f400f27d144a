//! Instructions of messages between tasks on one thread. The executor only stores a flag to wake a task.

#[allow(dead_code, reason = "the messages are their numbers")]
mod common;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use annulus::{queue, spsc};
use common::{MESSAGES, at_most};
use gungraun::prelude::*;

const SLOTS: usize = 64;
const SENDERS: usize = 8;

// (The tasks are not in the benchmarks: callgrind would take closures of those names for their ends.)

/// Whether a task is to be polled.
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

type Task = Pin<Box<dyn Future<Output = ()>>>;

/// Polls those that were woken, in turn, until all are done.
fn run(tasks: Vec<Task>) {
    let mut tasks: Vec<_> = tasks
        .into_iter()
        .map(|task| {
            let flag = Arc::new(Flag(AtomicBool::new(true)));
            (Some(task), Waker::from(flag.clone()), flag)
        })
        .collect();
    while tasks.iter().any(|(task, ..)| task.is_some()) {
        for (place, waker, flag) in &mut tasks {
            if let Some(task) = place.as_mut().filter(|_| flag.0.swap(false, Ordering::Relaxed)) {
                if task.as_mut().poll(&mut Context::from_waker(waker)) == Poll::Ready(()) {
                    *place = None;
                }
            }
        }
    }
}

fn one() {
    let (mut producer, mut consumer) = spsc::channel(SLOTS);
    run(vec![
        Box::pin(async move { while consumer.recv_async().await.is_ok() {} }),
        Box::pin(async move {
            for number in 0..MESSAGES {
                producer.send_async(number).await.expect("the consumer is there");
            }
        }),
    ]);
}

fn eight() {
    let (first, receiver) = queue::ordered::channel(SLOTS);
    let mut tasks: Vec<Task> = vec![Box::pin(async move { while receiver.recv_async().await.is_ok() {} })];
    tasks.extend((0..SENDERS).map(|_| -> Task {
        let sender = first.clone();
        Box::pin(async move {
            for number in 0..MESSAGES / SENDERS {
                sender.send_async(number).await.expect("the receiver is there");
            }
        })
    }));
    drop(first);
    run(tasks);
}

fn trips() {
    let (mut there, mut arrival) = spsc::channel(SLOTS);
    let (mut back, mut answer) = spsc::channel(SLOTS);
    run(vec![
        Box::pin(async move {
            while let Ok(number) = arrival.recv_async().await {
                back.send_async(number).await.expect("the other one waits for it");
            }
        }),
        Box::pin(async move {
            for number in 0..MESSAGES {
                there.send_async(number).await.expect("the other task is there");
                assert_eq!(answer.recv_async().await, Ok(number));
            }
        }),
    ]);
}

#[library_benchmark(config = at_most(382_000))]
fn stream_of_one() {
    one();
}

#[library_benchmark(config = at_most(631_000))]
fn stream_of_eight() {
    eight();
}

#[library_benchmark(config = at_most(2_535_000))]
fn round_trips() {
    trips();
}

library_benchmark_group!(name = tasks, benchmarks = [stream_of_one, stream_of_eight, round_trips]);
main!(library_benchmark_groups = tasks);

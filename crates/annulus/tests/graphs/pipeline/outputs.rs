//! An output is a consumer like any other: for `select!`, for tasks and for workers.

use annulus::pipeline::{Input, Pipeline};
use annulus::{Worker, spsc};

/// A pipeline that adds one.
fn plus_one() -> (Input<u64>, spsc::Consumer<u64>, Pipeline) {
    let (input, stages) = Pipeline::builder().capacity(4).input::<u64>();
    let (output, pipeline) = stages.then(|x| x + 1).build();
    (input, output, pipeline)
}

const MESSAGES: u64 = if cfg!(miri) { 10 } else { 1000 };

/// Publishes 0, 1, 2 and so on, on a thread of its own, and ends the pipeline.
fn send_all(mut input: Input<u64>) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || (0..MESSAGES).for_each(|x| input.send(x).unwrap()))
}

#[test]
fn outputs_are_selected() {
    let (left, mut left_output, left_pipeline) = plus_one();
    let (right, mut right_output, right_pipeline) = plus_one();
    let senders = [send_all(left), send_all(right)];
    let mut sum = [0, 0];
    loop {
        let (index, received) = annulus::select! {
            recv(left_output) -> received => (0, received),
            recv(right_output) -> received => (1, received),
        };
        let Ok(x) = received else { break };
        sum[index] += x;
    }
    // One has come to its end, and here is the rest of the other one.
    sum[0] += left_output.iter().sum::<u64>();
    sum[1] += right_output.iter().sum::<u64>();
    assert_eq!(sum, [(1..=MESSAGES).sum::<u64>(); 2]);
    for sender in senders {
        sender.join().unwrap();
    }
    left_pipeline.join().unwrap();
    right_pipeline.join().unwrap();
}

#[test]
fn output_feeds_a_worker() {
    let (input, output, pipeline) = plus_one();
    let sum = Worker::builder(output, 0).spawn(|sum, x: u64, _| *sum += x).unwrap();
    send_all(input).join().unwrap();
    pipeline.join().unwrap();
    assert_eq!(sum.join().unwrap().context, (1..=MESSAGES).sum::<u64>());
}

/// A stage whose output is dropped ends. `sink` has no output that could be dropped.
#[test]
fn sink_runs_where_a_stage_without_an_output_ends() {
    let (sender, received) = std::sync::mpsc::channel();
    let (mut input, stages) = Pipeline::builder().capacity(4).input::<u64>();
    let pipeline = stages.then(move |x| sender.send(x).unwrap()).sink(drop).build();
    (1..20).for_each(|x| input.send(x).unwrap());
    drop(input);
    assert_eq!(received.iter().collect::<Vec<_>>(), (1..20).collect::<Vec<_>>());
    pipeline.join().unwrap();

    let (mut input, stages) = Pipeline::builder().capacity(4).input::<u64>();
    let (_, pipeline) = stages.then(|x| x).build();
    pipeline.join().unwrap();
    assert!(input.send(1).is_err());
}

/// And one pipeline another.
#[test]
fn output_is_a_source() {
    let (input, output, pipeline) = plus_one();
    let (output, next) = Pipeline::builder().source(output).then(|x| x * 2).build();
    let sender = send_all(input);
    assert_eq!(output.into_iter().sum::<u64>(), (1..=MESSAGES).sum::<u64>() * 2);
    sender.join().unwrap();
    pipeline.join().unwrap();
    next.join().unwrap();
}

#[test]
#[cfg(feature = "async")]
fn output_is_awaited() {
    use crate::support::tasks::block_on;
    let (input, mut output, pipeline) = plus_one();
    let sender = send_all(input);
    let sum = block_on(async {
        let mut sum = 0;
        while let Ok(x) = output.recv_async().await {
            sum += x;
        }
        sum
    });
    assert_eq!(sum, (1..=MESSAGES).sum::<u64>());
    sender.join().unwrap();
    pipeline.join().unwrap();
}

#[test]
#[cfg(all(target_os = "linux", not(miri)))]
fn output_has_a_descriptor() {
    use annulus::{Notifier, Readiness, TryRecvError};
    use rustix::event::{PollFd, PollFlags, poll};
    let (input, output, pipeline) = plus_one();
    let sender = send_all(input);
    let mut notifier = Notifier::new(output).unwrap();
    let mut sum = 0;
    loop {
        match notifier.get_mut().try_recv() {
            Ok(x) => sum += x,
            Err(TryRecvError::Closed) => break,
            Err(TryRecvError::Empty) if notifier.arm() == Readiness::Armed => {
                poll(&mut [PollFd::new(&notifier, PollFlags::IN)], None).unwrap();
            }
            Err(TryRecvError::Empty) => {}
        }
    }
    assert_eq!(sum, (1..=MESSAGES).sum::<u64>());
    sender.join().unwrap();
    pipeline.join().unwrap();
}

//! An output that is dropped while no message is there: the stages in front of it are woken, and end. Nothing
//! is sent here, so a stage that is not woken waits for ever.

use annulus::pipeline::{Builder, CloseReason, Input, Pipeline, Stages};
use annulus::{WaitStrategy, broadcast, mpmc, mpsc, queue, spsc};

/// Before its threads wait; while they spin; and while they sleep.
const STRATEGIES: [WaitStrategy; 3] =
    [WaitStrategy::block_after(0, 0), WaitStrategy::PauseSpin, WaitStrategy::block_after(64, 4)];

fn builders() -> impl Iterator<Item = (Builder, bool)> {
    let builder = |strategy| Pipeline::builder().capacity(8).wait_strategy(strategy);
    STRATEGIES.into_iter().flat_map(move |strategy| [false, true].map(|waits| (builder(strategy), waits)))
}

/// Lets the threads lie down, or not. Whether they have does not matter.
fn pause(waits: bool) {
    if waits {
        std::thread::sleep(std::time::Duration::from_millis(if cfg!(miri) { 1 } else { 5 }));
    }
}

/// What `build` makes ends when its output is dropped, up to its input.
fn ends<O>(build: impl Fn(Stages<u64>) -> (O, Pipeline)) {
    for (builder, waits) in builders() {
        let (mut input, stages) = builder.input::<u64>();
        let (output, pipeline) = build(stages);
        pause(waits);
        drop(output);
        pipeline.join().unwrap();
        assert!(input.is_closed());
        assert!(input.send(1).is_err());
    }
}

#[test]
fn a_stage_of_any_kind_ends_with_its_output() {
    ends(|stages| stages.then(|x| x).build());
    ends(|stages| stages.filter_map(Some).build());
    ends(|stages| stages.flat_map(|x| 0..x).build());
    ends(|stages| stages.then_batch(|from, to: &mut Vec<_>| to.extend_from_slice(from)).build());
}

#[test]
fn a_stage_of_several_threads_ends_with_its_output() {
    ends(|stages| stages.then_parallel(3, |x| x).build());
    ends(|stages| stages.then_unordered(3, |x| x).build());
    ends(|stages| stages.then(|x| x).then_parallel(2, |x| x).then_unordered(2, |x| x).build());
}

#[test]
fn chain_ends_with_its_output() {
    ends(|stages| stages.then(|x| x + 1).then(|x| x * 2).filter_map(Some).then(|x| x).build());
}

/// An input that leads to an output goes by a stage of its own where it has to.
#[test]
fn a_stage_that_only_passes_on_ends_with_its_output() {
    ends(|stages| stages.lossy().build());
    ends(|stages| stages.lossy().then(|x| x).build());
    ends(|stages| stages.then(|x| x).lossy().then(|x| x).build());
}

#[test]
fn branches_that_join_end_with_their_output() {
    ends(|stages| stages.fan_out(|x| x, |x| x).zip().build());
    ends(|stages| stages.fan_out(|x| x, |x| x).merge().build());
    ends(|stages| stages.fan_out(|x| x, |x| x).merge().then(|x| x).build());
    ends(|stages| stages.branches(3, |_, branch| branch.then(|x| x)).zip().build());
    ends(|stages| stages.branches(3, |_, branch| branch.then(|x| x)).merge().build());
    ends(|stages| stages.branches_lossy(3, |_, branch| branch.then(|x| x)).merge().build());
    ends(|stages| stages.fork_cloned(3, |_, branch| branch.then(|x| x)).zip().build());
}

/// All outputs together.
#[test]
fn branches_end_with_all_their_outputs() {
    ends(|stages| stages.fan_out(|x| x, |x| x).build());
    ends(|stages| stages.then(|x| x).branches(3, |_, branch| branch.then(|x| x)).build());
    ends(|stages| stages.then(|x| x).branches_lossy(3, |_, branch| branch.then(|x| x)).build());
    ends(|stages| stages.then(|x| x).fork_cloned(3, |_, branch| branch.then(|x| x)).build());
}

/// A stage that has another branch to send to continues.
#[test]
fn dropped_output_of_two_ends_its_branch_only() {
    for (builder, waits) in builders() {
        let (mut input, stages) = builder.input::<u64>();
        let ((left, mut right), pipeline) = stages.then(|x| x).fan_out(|x| x + 1, |x| x + 2).build();
        pause(waits);
        drop(left);
        pause(waits);
        input.send(1).unwrap();
        assert_eq!(right.recv(), Ok(3));
        drop(right);
        pipeline.join().unwrap();
        assert!(input.is_closed());
    }
}

#[test]
fn close_reason_says_what_ended_the_pipeline() {
    let says = |input: &mut Input<u64>, expected: CloseReason, why| {
        let reason = input.close_reason().unwrap();
        assert_eq!(reason, expected);
        assert_eq!(reason.to_string(), format!("the pipeline takes no more messages: {why}"));
    };
    let build = || {
        let (input, stages) = Pipeline::builder().capacity(8).input::<u64>();
        let (output, pipeline) = stages.fan_out(|x| x, |x| x).merge().build();
        (input, output, pipeline)
    };
    let (mut input, output, pipeline) = build();
    drop(output);
    pipeline.join().unwrap();
    says(
        &mut input,
        CloseReason::Unread,
        "nobody receives what it makes; its outputs were dropped or closed",
    );

    let (mut input, _output, pipeline) = build();
    assert_eq!(input.close_reason(), None);
    pipeline.shutdown();
    says(&mut input, CloseReason::ShutDown, "it was shut down");
    pipeline.abort();
    says(&mut input, CloseReason::Aborted, "it was aborted");

    let (mut input, stages) = Pipeline::builder().input::<u64>();
    assert_eq!(input.close_reason(), None);
    drop(stages);
    says(&mut input, CloseReason::NotBuilt, "it was not built");
}

/// Closed from elsewhere, not dropped.
#[test]
fn closed_output_ends_its_stages() {
    for (builder, waits) in builders() {
        let (input, stages) = builder.input::<u64>();
        let (output, pipeline) = stages.then(|x| x).then(|x| x).build();
        pause(waits);
        output.closer().close();
        pipeline.join().unwrap();
        assert!(input.is_closed());
    }
}

/// A source is dropped with the stage, so its senders are told.
#[test]
fn source_of_any_kind_is_dropped_with_its_stage() {
    for (builder, waits) in builders() {
        let (one, from_one) = spsc::channel::<u64>(4);
        let (many, from_many) = mpsc::channel::<u64>(4);
        let (sender, receiver) = queue::ordered::channel::<u64>(4);
        let (publisher, subscribable) = broadcast::lossless::<u64>(4);
        let sources = [
            builder.source(from_one).then(|x| x).build(),
            builder.source(from_many).then(|x| x).then(|x| x).build(),
            builder.source(receiver).then(|x| x).build(),
            builder.source(subscribable.subscribe()).then(|x| x).build(),
        ];
        pause(waits);
        for (output, pipeline) in sources {
            drop(output);
            pipeline.join().unwrap();
        }
        assert!(one.is_closed() && many.is_closed() && sender.is_closed());
        assert_eq!(publisher.subscriber_count(), 0);
    }
}

/// A message that it was woken for, and does not take, goes to another consumer.
#[test]
fn source_leaves_its_messages_to_others() {
    for (builder, waits) in builders() {
        let (mut producer, consumer) = mpmc::channel::<u64>(4);
        let mut other = consumer.clone();
        let (output, pipeline) = builder.source(consumer).then(|x| x).build();
        pause(waits);
        drop(output);
        pipeline.join().unwrap();
        producer.send(7).unwrap();
        assert_eq!(other.recv(), Ok(7));
    }
}

/// A stage that panics is gone like an output that is dropped: all in front of it end, and the input says so.
#[test]
fn a_stage_that_panics_ends_the_stages_before_it() {
    for (builder, _) in builders() {
        let (mut input, stages) = builder.input::<u64>();
        let fails = |_| -> u64 { std::panic::resume_unwind(Box::new("on purpose")) };
        let (output, pipeline) = stages.then(|x| x).then_parallel(2, |x| x).then_parallel(3, fails).build();
        assert_eq!(input.close_reason(), None);
        input.send(1).unwrap();
        let panics = pipeline.join().unwrap_err().panics().to_vec();
        let reason = input.close_reason().unwrap();
        assert_eq!(reason, CloseReason::Panicked(panics[0].clone()));
        let text = format!("the pipeline takes no more messages: {}", panics[0]);
        assert_eq!(reason.to_string(), text);
        drop(output);
    }
}

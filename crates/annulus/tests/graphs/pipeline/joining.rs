//! Joins with a timeout, and the verbs that keep some messages, or take many.

use std::sync::mpsc::channel;
use std::time::Duration;

use annulus::pipeline::Pipeline;

use crate::support::STUCK;

const SOON: Duration = Duration::from_millis(1);

#[test]
fn join_gives_the_pipeline_back_when_the_time_is_over() {
    let (mut input, stages) = Pipeline::builder().capacity(4).input::<u64>();
    let (output, pipeline) = stages.then(|x| x + 1).then_parallel(2, |x| x).build();
    let pipeline = pipeline.join_timeout(SOON).unwrap_err();
    let pipeline = pipeline.join_timeout(Duration::ZERO).unwrap_err();
    input.send(1).unwrap();
    drop(input);
    let pipeline = pipeline.join_timeout(STUCK).map_err(|_| "it goes on").unwrap();
    assert_eq!(pipeline, Ok(()));
    assert_eq!(output.into_iter().collect::<Vec<_>>(), [2]);
}

/// It waits for what a stage is doing, and tells which stage panicked.
#[test]
fn join_in_time_tells_of_a_panic() {
    let (go_on, gate) = channel::<()>();
    let (mut input, stages) = Pipeline::builder().capacity(4).input::<u64>();
    let waits = move |_| {
        gate.recv().unwrap();
        std::panic::resume_unwind(Box::new("on purpose"))
    };
    let pipeline = stages.sink(waits).name("waits").build();
    input.send(1).unwrap();
    drop(input);
    let pipeline = pipeline.join_timeout(SOON).unwrap_err();
    go_on.send(()).unwrap();
    let error = pipeline.join_timeout(Duration::MAX).map_err(|_| "it goes on").unwrap().unwrap_err();
    assert_eq!(error.to_string(), "the stage \"waits\" panicked: on purpose");
}

#[test]
fn filter_passes_matching_messages() {
    let (mut input, stages) = Pipeline::builder().capacity(4).input::<String>();
    let (output, pipeline) = stages.filter(|text| text.len() > 1).build();
    let reader = std::thread::spawn(move || output.into_iter().collect::<Vec<_>>());
    for text in ["a", "bc", "", "def"] {
        input.send(text.to_owned()).unwrap();
    }
    drop(input);
    assert_eq!(reader.join().unwrap(), ["bc", "def"]);
    pipeline.join().unwrap();
}

/// All messages come, in order, in slices that are never empty.
#[test]
fn sink_of_batches_gets_all() {
    const MESSAGES: u64 = if cfg!(miri) { 20 } else { 2_000 };
    let (sender, batches) = channel();
    let (mut input, stages) = Pipeline::builder().capacity(64).input::<u64>();
    let pipeline =
        stages.sink_batch(move |numbers| sender.send(numbers.to_vec()).unwrap()).name("all").build();
    (0..MESSAGES).for_each(|x| input.send(x).unwrap());
    drop(input);
    pipeline.join().unwrap();
    let batches: Vec<Vec<u64>> = batches.iter().collect();
    assert!(batches.iter().all(|batch| (1..=256).contains(&batch.len())));
    assert_eq!(batches.concat(), (0..MESSAGES).collect::<Vec<_>>());
}

//! Verbs that nothing else uses: each way of an input, lossy edges behind a stage, what is shown and said.

use std::sync::mpsc::channel;
use std::time::Duration;

use annulus::pipeline::{BuildError, Input, Pipeline, RingKind, Stages, Sunk};
use annulus::{TrySendError, WaitStrategy};

#[test]
fn branches_of_a_diamond_take_another_stage() {
    let (mut input, stages) = Pipeline::builder().stack_bytes(256 * 1024).input::<u64>();
    let ((mut a, mut b), pipeline) =
        stages.fan_out(|x| x + 1, |x| x * 10).then_a(|x| x.to_string()).then_b(|x| x + 5).build();
    input.send(4).unwrap();
    assert_eq!((a.recv().as_deref(), b.recv()), (Ok("5"), Ok(45)));
    drop(input);
    pipeline.join().unwrap();
}

/// A fork in a fork is an end like others.
#[test]
fn branches_may_branch_and_stay_open() {
    let (mut input, stages) = Pipeline::builder().input::<u64>();
    let ((mut a, (mut b, mut c)), pipeline) =
        stages.fork(|s| s.then(|x| x), |s| s.fan_out(|x| x + 1, |x| x + 2)).build();
    input.send(1).unwrap();
    assert_eq!((a.recv(), b.recv(), c.recv()), (Ok(1), Ok(2), Ok(3)));
    drop(input);
    pipeline.join().unwrap();
}

#[test]
fn lossy_branches_never_wait_and_count_losses() {
    let sent = if cfg!(miri) { 50 } else { 2000 };
    let (mut input, stages) = Pipeline::builder().capacity(8).input::<u64>();
    let (outputs, pipeline) = stages.then(|x| x).branches_lossy(3, |_, s| s.then(|x| x)).build();
    (0..sent).for_each(|x| input.send(x).unwrap());
    drop(input);
    let received: Vec<Vec<_>> = outputs.into_iter().map(|output| output.into_iter().collect()).collect();
    for messages in &received {
        assert!(messages.is_sorted() && messages.last() == Some(&(sent - 1)), "{messages:?}");
    }
    let edges = pipeline.stats().edges;
    let lossy: Vec<_> = edges.iter().filter(|edge| edge.ring == RingKind::Lossy).collect();
    let counts: Vec<_> = lossy.iter().map(|edge| edge.received as usize).collect();
    assert_eq!(counts, received.iter().map(Vec::len).collect::<Vec<_>>());
    assert!(lossy.iter().all(|edge| edge.received + edge.lost == sent && edge.depth == 0));
    pipeline.join().unwrap();
}

/// A lossy ring without readers counts as closed.
#[test]
fn end_of_a_reader_is_seen_over_a_lossy_edge() {
    for behind_a_stage in [false, true] {
        let (mut input, stages) = Pipeline::builder().capacity(4).input::<u64>();
        let stages = if behind_a_stage { stages.then(|x| x).lossy() } else { stages.lossy() };
        let pipeline = stages.sink(|_| std::panic::resume_unwind(Box::new("enough"))).build();
        while input.send(1).is_ok() {}
        assert!(matches!(input.try_send(2), Err(TrySendError::Closed(2))));
        assert!(input.is_closed());
        assert_eq!(pipeline.join().unwrap_err().panics().len(), 1);
    }
}

/// Publishes until there is no room, which has to come; then ends it.
fn fill(input: &mut Input<u64>, pipeline: Pipeline) {
    assert!(!input.is_closed());
    let error = (0..).find_map(|x| input.try_send(x).err()).unwrap();
    assert!(matches!(error, TrySendError::Full(_)), "{error}");
    pipeline.abort();
    assert!(input.is_closed());
    assert!(matches!(input.try_send(7), Err(TrySendError::Closed(7))));
    assert_eq!(input.send(8).unwrap_err().into_inner(), 8);
    pipeline.join().unwrap();
}

#[test]
fn input_is_tried_and_closed_in_each_way() {
    let wait = |x: u64| {
        std::thread::sleep(Duration::from_micros(100));
        x
    };
    let begin = || Pipeline::builder().capacity(4).input::<u64>();

    let (mut input, stages) = begin();
    fill(&mut input, stages.sink(move |x| _ = wait(x)).build());

    let (mut input, stages) = begin();
    fill(&mut input, stages.fan_out(wait, wait).build().1);

    let (mut input, stages) = begin();
    fill(&mut input, stages.then_unordered(2, wait).sink(drop).build());

    // With a stage in front, that passes messages on.
    let (mut input, stages) = begin();
    fill(&mut input, stages.then_parallel(2, wait).sink(drop).build());
    let (mut input, stages) = begin();
    fill(&mut input, stages.fork_cloned(2, |_, s| s.then(wait)).build().1);

    // All but the broadcast ring wait by the strategy of the pipeline.
    let (mut input, stages) = begin();
    let (outputs, pipeline) = stages.fan_out(|x| x, |x| x).build();
    input.send(5).unwrap();
    drop(input);
    assert_eq!((outputs.0.into_iter().count(), outputs.1.into_iter().count()), (1, 1));
    pipeline.join().unwrap();
}

#[test]
fn build_errors_have_texts() {
    let (_input, stages) = Pipeline::builder().input::<u64>();
    let lost = |s: Stages<u64>| {
        drop(s.then(|x| x).name("lost"));
        Vec::<Sunk>::new()
    };
    let error = stages.fork(lost, |s| s.then(|x| x)).try_build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "nothing receives what \"lost\" sends: an end behind it was dropped, or is not a part of what is built"
    );

    let (_input, stages) = Pipeline::builder().input::<u64>();
    let other = |_: Stages<u64>| Pipeline::builder().input::<u64>().1;
    let error = stages.fork(other, |s| s).try_build().unwrap_err();
    assert_eq!(error.to_string(), "a branch ended with an end of another pipeline");

    let (_input, stages) = Pipeline::builder().capacity(0).input::<u64>();
    let error = stages.then(|x| x).try_build().unwrap_err();
    let BuildError::Capacity { error: of_ring, .. } = &error else { panic!("{error}") };
    assert!(error.to_string().ends_with(&format!(": {of_ring}")), "{error}");

    let error = BuildError::Thread { stage: "parse".into(), error: std::io::ErrorKind::OutOfMemory.into() };
    assert_eq!(error.to_string(), "no thread for the stage \"parse\": out of memory");
}

#[test]
fn types_can_be_printed() {
    let (input, stages) = Pipeline::builder().capacity(8).input::<u64>();
    assert!(format!("{input:?}").starts_with("Input"));
    let stages = stages.then(|x| x).name("parse");
    assert!(format!("{stages:?}").starts_with("Stages { graph: Graph"));
    let fork = stages.fork(|s| s.sink(drop).name("left"), |s| s.sink(drop));
    assert!(format!("{fork:?}").contains("\"parse\""));
    let (_, pipeline) = fork.build();
    assert!(format!("{pipeline:?}").starts_with("Pipeline { stages: [\"parse\", \"left\", \"sink 2\"]"));
    drop(input);
    pipeline.join().unwrap();

    let (_input, stages) = Pipeline::builder().input::<u64>();
    assert!(format!("{:?}", stages.sink(drop)).starts_with("Sunk"));
    let (_producer, consumer) = annulus::spsc::channel::<u64>(4);
    let graph = Pipeline::builder().source(consumer).sink(drop).build().describe().to_string();
    assert!(graph.contains(": a receiving handle"), "{graph}");
}

/// A stage's own strategy is for its waits at broadcast rings, too.
#[test]
fn strategy_of_a_stage_is_for_each_ring() {
    let (mut input, stages) = Pipeline::builder().capacity(2).input::<u64>();
    let (output, pipeline) = stages
        .then_with(|x| x, WaitStrategy::BackoffSpin)
        .fan_out(|x| x, |x| x)
        .zip()
        .then_with(|(a, b)| a + b, WaitStrategy::BackoffSpin)
        .build();
    let reader = std::thread::spawn(move || output.into_iter().sum::<u64>());
    (0..20).for_each(|x| input.send(x).unwrap());
    drop(input);
    assert_eq!(reader.join().unwrap(), 380);
    pipeline.join().unwrap();
}

/// Also behind several threads, whose results come in turn.
#[test]
fn a_batch_has_all_that_is_there() {
    let (mut input, stages) = Pipeline::builder().capacity(64).input::<u64>();
    let (begun, wait) = channel();
    let (go_on, gate) = channel::<()>();
    let (mut output, pipeline) = stages
        .then_parallel(3, |x| x)
        .then_batch(move |batch, results: &mut Vec<Vec<u64>>| {
            results.push(batch.to_vec());
            begun.send(()).unwrap();
            let _ = gate.recv();
        })
        .build();
    let parallel = |pipeline: &Pipeline| pipeline.stats().stages[0].sent;
    for x in 0..30 {
        input.send(x).unwrap();
    }
    wait.recv().unwrap();
    while parallel(&pipeline) < 30 {
        std::thread::yield_now();
    }
    // The first batch was slow, so the second has one message as well; from then on they grow.
    drop((input, go_on));
    let batches: Vec<_> = std::iter::from_fn(|| output.recv().ok()).collect();
    assert_eq!(batches.concat(), (0..30).collect::<Vec<_>>());
    // (Under Miri all batches are slow.)
    assert!(batches.iter().any(|batch| batch.len() > 1) || cfg!(miri), "{batches:?}");
    pipeline.join().unwrap();
}

/// A panic out of what a stage's function holds is a panic of the stage.
#[test]
fn panic_of_a_destructor_is_reported() {
    struct Held;
    impl Drop for Held {
        fn drop(&mut self) {
            std::panic::resume_unwind(Box::new("held"));
        }
    }
    let held = Held;
    let (mut input, stages) = Pipeline::builder().input::<u64>();
    let (output, pipeline) = stages.then(move |x| (x, &held).0).name("holds").build();
    input.send(1).unwrap();
    drop(input);
    assert_eq!(output.into_iter().collect::<Vec<_>>(), [1]);
    let error = pipeline.join().unwrap_err();
    assert_eq!((error.panics()[0].stage.as_str(), error.panics()[0].message.as_str()), ("holds", "held"));
}

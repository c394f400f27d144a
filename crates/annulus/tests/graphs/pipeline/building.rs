//! What the builder makes, and what it says of mistakes.

use std::sync::Arc;

use annulus::pipeline::{BuildError, Builder, Pipeline, RingKind};
use annulus::{CapacityError, TrySendError, WaitStrategy};

use crate::support::threads::{soon, threads};

const BUILDS: usize = if cfg!(miri) { 5 } else { 200 };

/// `ANNULUS_BUILDS=10000` for more.
fn builds() -> usize {
    std::env::var("ANNULUS_BUILDS").ok().and_then(|count| count.parse().ok()).unwrap_or(BUILDS)
}

#[test]
fn builder_that_is_dropped_leaves_nothing() {
    let token = Arc::new(());
    for _ in 0..builds() {
        let held = Arc::clone(&token);
        let (mut input, stages) = Pipeline::builder().capacity(4).input::<Arc<()>>();
        let stages = stages.then(move |x| (x, Arc::clone(&held)).0).name("unbuilt");
        let fork = stages.fork_cloned(2, |_, stages| stages.then(|x| x).name("unbuilt"));
        input.send(Arc::clone(&token)).unwrap();
        drop(fork);
    }
    assert_eq!(Arc::strong_count(&token), 1);
    assert_eq!(threads("unbuilt"), 0);
}

#[test]
fn pipeline_that_is_dropped_leaves_nothing() {
    let token = Arc::new(());
    for round in 0..builds() {
        let held = Arc::clone(&token);
        let (mut input, stages) = Pipeline::builder().capacity(4).input::<Arc<()>>();
        let (outputs, pipeline) = stages
            .then(move |x| (x, Arc::clone(&held)).0)
            .name("built")
            .fork_cloned(2, |_, stages| stages.then(|x| x).name("built"))
            .build();
        for _ in 0..3 {
            input.send(Arc::clone(&token)).unwrap();
        }
        match round % 4 {
            0 => drop((pipeline, input, outputs)),
            1 => drop((outputs, input, pipeline)),
            2 => {
                pipeline.abort();
                pipeline.join().unwrap();
            }
            _ => {
                pipeline.shutdown();
                pipeline.join().unwrap();
                assert_eq!(outputs.into_iter().flatten().count(), 6);
            }
        }
    }
    soon(|| Arc::strong_count(&token) == 1 && threads("built") == 0);
}

#[test]
fn first_mistake_is_named() {
    let (_input, stages) = Pipeline::builder().input::<u64>();
    let error = stages.then(|x| x).name("first").capacity(0).then(|x| x).capacity(1).build_error();
    assert!(matches!(
        &error,
        BuildError::Capacity { edge, error: CapacityError::TooSmall { capacity: 0, minimum: 1 } }
            if edge == "first -> then 1"
    ));

    let (_input, stages) = Pipeline::builder().capacity(1).input::<u64>();
    let error = stages.fan_out(|x| x, |x| x).try_build().unwrap_err().to_string();
    let expected = "no ring for the edge input -> then 0: \
        capacity 1 is too small: this ring needs at least 2 slots";
    assert_eq!(error, expected);

    let (_input, stages) = Pipeline::builder().input::<u64>();
    let error = stages.name("nobody").then(|x| x).build_error().to_string();
    assert_eq!(error, "`name(\"nobody\")` is for no stage: it follows the verb that adds one");

    let (_input, stages) = Pipeline::builder().input::<u64>();
    let error = stages.then_parallel(0, |x| x).build_error().to_string();
    assert_eq!(error, "there must be at least one thread of a parallel stage");

    let (_input, stages) = Pipeline::builder().input::<u64>();
    let error = stages.branches(0, |_, stages| stages).try_build().unwrap_err().to_string();
    assert_eq!(error, "there must be at least one branch");
}

/// The error of a build that fails.
trait BuildErrorOf {
    fn build_error(self) -> BuildError;
}

impl<T: Send + 'static, K: annulus::pipeline::kind::EndKind> BuildErrorOf
    for annulus::pipeline::Stages<T, K>
{
    fn build_error(self) -> BuildError {
        self.try_build().expect_err("a mistake")
    }
}

#[test]
fn end_that_is_dropped_is_missed() {
    let (mut input, stages) = Pipeline::builder().input::<u64>();
    let fork = stages.fork(
        |stages| {
            drop(stages.then(|x| x).name("dropped"));
            Pipeline::builder().input::<u64>().1
        },
        |stages| stages.then(|x| x),
    );
    let error = fork.try_build().unwrap_err();
    assert!(matches!(error, BuildError::AnotherPipeline), "{error}");
    assert!(matches!(input.try_send(7), Err(TrySendError::Closed(7))));
}

#[test]
fn thread_that_is_not_to_be_had_is_an_error() {
    if cfg!(miri) {
        return; // Miri gives any stack
    }
    let (held, gate) = std::sync::mpsc::channel::<()>();
    let (mut input, stages) = Pipeline::builder().input::<u64>();
    let error =
        stages.then(move |x| (x, &held).0).stack_bytes(1 << 60).then(|x| x).name("too much").build_error();
    assert!(matches!(&error, BuildError::Thread { stage, .. } if stage == "too much"), "{error}");
    assert!(input.send(1).is_err());
    // The first stage has ended, and its function is gone.
    assert_eq!(gate.try_recv(), Err(std::sync::mpsc::TryRecvError::Disconnected));
}

#[test]
fn settings_are_heard() {
    let (_input, stages) = Builder::default().input::<u64>();
    assert_eq!(stages.build().0.capacity(), 1024);
    let builder = Pipeline::builder().capacity(8).wait_strategy(WaitStrategy::PauseSpin);
    let (_input, stages) = builder.input::<u64>();
    let (output, pipeline) = stages
        .then(|x| x)
        .capacity(16)
        .wait_strategy(WaitStrategy::BackoffSpin)
        .then(|x| x)
        .then_with(|x| x, WaitStrategy::block())
        .build();
    let graph = pipeline.describe();
    assert_eq!(graph.edges.iter().map(|edge| edge.capacity).collect::<Vec<_>>(), [8, 16, 16, 16]);
    let strategies: Vec<_> = graph.stages.iter().map(|stage| stage.strategy).collect();
    assert_eq!(strategies, [WaitStrategy::PauseSpin, WaitStrategy::BackoffSpin, WaitStrategy::block()]);
    assert_eq!((output.capacity(), pipeline.stage_count()), (16, 3));
}

#[test]
fn graph_is_drawn() {
    let (_input, stages) = Pipeline::builder().capacity(4).input::<u64>();
    let ((_merged, ()), pipeline) = stages
        .then(|x| x)
        .name("a \"quoted\" name")
        .fork(
            |s| s.fan_out(|x| x, |x| x).merge(),
            |s| s.lossy().then_unordered(2, |x| x).sink(drop).name("sink"),
        )
        .build();
    let graph = pipeline.describe();
    let kinds: Vec<_> = graph.edges.iter().map(|edge| edge.ring).collect();
    assert!(kinds.contains(&RingKind::Ordered) && kinds.contains(&RingKind::Lossy), "{graph}");
    // Edges of one ring have the same number.
    let rings: Vec<_> = graph.edges.iter().map(|edge| edge.ring_id).collect();
    assert_eq!(rings, [0, 1, 1, 2, 2, 3, 4, 4, 5, 5, 6, 6]);
    assert_eq!(
        graph.to_string(),
        "input -> a \"quoted\" name: spsc, 4 slots\n\
         a \"quoted\" name -> forward 1: lossless broadcast, 4 slots\n\
         a \"quoted\" name -> forward 4: lossless broadcast, 4 slots\n\
         forward 1 -> then 2: lossless broadcast, 4 slots\n\
         forward 1 -> then 3: lossless broadcast, 4 slots\n\
         forward 4 -> forward 5: lossy broadcast, 4 slots\n\
         forward 5 -> unordered 6 (2 threads): ordered, 4 slots\n\
         forward 5 -> unordered 6 (2 threads): ordered, 4 slots\n\
         unordered 6 (2 threads) -> sink: mpsc, 4 slots\n\
         unordered 6 (2 threads) -> sink: mpsc, 4 slots\n\
         then 2 -> output: mpsc, 4 slots\n\
         then 3 -> output: mpsc, 4 slots\n"
    );
    let (mermaid, graphviz) = (graph.mermaid(), graph.graphviz());
    assert!(mermaid.starts_with("flowchart LR\n    input[\"input\"]\n"), "{mermaid}");
    assert!(mermaid.contains("stage0[\"a #34;quoted#34; name\"]\n"), "{mermaid}");
    assert!(mermaid.contains("    stage2 -->|\"mpsc, 4\"| output0\n"), "{mermaid}");
    assert!(graphviz.contains("    stage0 [label = \"a \\\"quoted\\\" name\"];\n"), "{graphviz}");
    assert!(graphviz.ends_with("    stage3 -> output0 [label = \"mpsc, 4\"];\n}\n"), "{graphviz}");
}

/// A graph is to be drawn whatever its stages are called.
#[test]
fn names_of_any_kind_can_be_drawn() {
    let (input, stages) = Pipeline::builder().input::<u64>();
    let (output, pipeline) = stages.then(|x| x).name("a\\b\nc\"`<d>#1;` \u{e9}").build();
    let graph = pipeline.describe();
    let mermaid = graph.mermaid();
    assert!(mermaid.contains("[\"a#92;b#10;c#34;#96;#60;d#62;#35;1#59;#96; \u{e9}\"]\n"), "{mermaid}");
    let graphviz = graph.graphviz();
    assert!(graphviz.contains("[label = \"a\\\\b\\nc\\\"`<d>#1;` \u{e9}\"];\n"), "{graphviz}");
    drop((input, output));
    pipeline.join().unwrap();
}

//! Statistics: they add up.

use std::thread;
use std::time::Duration;

use annulus::topology::Pipeline;

#[test]
fn each_edge_and_stage_adds_up() {
    let (mut input, stages) = Pipeline::builder().capacity(32).input::<u64>();
    let (output, pipeline) = stages
        .filter_map(|x| (x % 2 == 0).then_some(x))
        .named("even")
        .fan_out(|x| x, |x| x)
        .merge()
        .then_unordered(2, |x| x)
        .then_parallel(2, |x| x)
        .build();
    let reader = thread::spawn(move || {
        let mut output = output;
        (0..100).for_each(|_| assert!(output.recv().is_ok()));
        output
    });
    (0..100).for_each(|x| input.publish(x).unwrap());
    let output = reader.join().unwrap();
    pipeline.shutdown();
    while !pipeline.is_finished() {
        thread::yield_now();
    }
    let statistics = pipeline.statistics();
    let stage = |name: &str| {
        let stage = statistics.stages.iter().find(|stage| stage.name == name).unwrap();
        (stage.received, stage.sent)
    };
    assert_eq!(stage("even"), (100, 50));
    assert_eq!((stage("then 1"), stage("then 2")), ((50, 50), (50, 50)));
    assert_eq!(stage("unordered 3"), (100, 100));
    for edge in &statistics.edges {
        assert_eq!((edge.depth, edge.lost), (0, 0), "{edge:?}");
    }
    let last = statistics.edges.iter().find(|edge| edge.to == "output").unwrap();
    assert_eq!((last.sent, last.received), (100, 100));
    drop(output);
    pipeline.join().unwrap();
}

#[test]
fn what_waits_is_seen() {
    let (mut input, stages) = Pipeline::builder().capacity(8).input::<u64>();
    let (mut output, pipeline) = stages.then(|x| x).build();
    // 8 at the output and 8 at the input are full; up to 256 are on their way.
    let mut sent = 0;
    let full = || {
        let statistics = pipeline.statistics();
        statistics.edges.iter().all(|edge| edge.depth == 8)
    };
    // A snapshot reads one edge after the other, so 8 messages could be seen at both.
    while sent < 16 || !full() {
        if input.try_publish(sent).is_ok() {
            sent += 1;
        }
    }
    let statistics = pipeline.statistics();
    assert_eq!(statistics.edges[0].sent, sent);
    assert_eq!((statistics.edges[1].sent, statistics.edges[1].received), (8, 0));
    assert_eq!(output.recv(), Ok(0));
    while pipeline.statistics().edges[1].sent < 9 {
        thread::yield_now();
    }
    assert_eq!(pipeline.statistics().edges[1].received, 1);
    pipeline.abort();
    pipeline.join().unwrap();
}

/// Behind threads that share a queue, and that send into one.
#[test]
fn what_waits_is_seen_behind_several_threads() {
    let (mut input, stages) = Pipeline::builder().capacity(8).input::<u64>();
    let (output, pipeline) = stages.then_unordered(2, |x| x).capacity(16).build();
    let mut sent = 0;
    // A queue of 8, 2 that are worked on, and a queue of 16 for each of two threads.
    while sent < 8 + 2 + 32 {
        sent += u64::from(input.try_publish(sent).is_ok());
    }
    loop {
        let edges = pipeline.statistics().edges;
        if edges.iter().all(|edge| if edge.to == "output" { edge.depth == 32 } else { edge.depth == 8 }) {
            break;
        }
    }
    drop(input);
    let mut all: Vec<_> = output.into_iter().collect();
    all.sort_unstable();
    assert_eq!(all, (0..sent).collect::<Vec<_>>());
    assert!(pipeline.statistics().edges.iter().all(|edge| edge.depth == 0));
    pipeline.join().unwrap();
}

#[test]
fn a_lossy_edge_says_what_it_lost() {
    let (mut input, stages) = Pipeline::builder().capacity(4).input::<u64>();
    let (output, pipeline) = stages
        .lossy()
        .then(|x| {
            thread::sleep(Duration::from_micros(100));
            x
        })
        .build();
    let sent = 500;
    (0..sent).for_each(|x| input.publish(x).unwrap());
    drop(input);
    let received = thread::spawn(move || output.into_iter().count() as u64).join().unwrap();
    let edge = &pipeline.statistics().edges[0];
    assert_eq!((edge.sent, edge.received, edge.received + edge.lost), (sent, received, sent));
    assert!(edge.lost > 0);
    pipeline.join().unwrap();
}

#[test]
fn busy_time_is_told_from_waiting() {
    if cfg!(miri) {
        return; // its clock counts steps
    }
    let (mut input, stages) = Pipeline::builder().input::<u64>();
    let (mut output, pipeline) = stages
        .then(|x| {
            thread::sleep(Duration::from_millis(2));
            x
        })
        .then(|x| x)
        .build();
    for x in 0..32 {
        input.publish(x).unwrap();
        assert_eq!(output.recv(), Ok(x));
    }
    drop(input);
    while !pipeline.is_finished() {
        thread::yield_now();
    }
    let statistics = pipeline.statistics();
    let [slow, fast] = [&statistics.stages[0], &statistics.stages[1]];
    // All 32 batches of one message, of which each eighth is measured.
    assert!(slow.busy >= Duration::from_millis(60), "{slow:?}");
    assert!(fast.waiting > fast.busy, "{fast:?}");
    assert_eq!(slow.batches, 32);
}

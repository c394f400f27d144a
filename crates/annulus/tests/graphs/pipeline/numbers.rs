//! Stats: they add up.

use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use annulus::pipeline::{Pipeline, Stages};

#[test]
fn numbers_of_edges_and_stages_add_up() {
    let (mut input, stages) = Pipeline::builder().capacity(32).input::<u64>();
    let (output, pipeline) = stages
        .filter_map(|x| (x % 2 == 0).then_some(x))
        .name("even")
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
    (0..100).for_each(|x| input.send(x).unwrap());
    let output = reader.join().unwrap();
    pipeline.shutdown();
    while !pipeline.is_finished() {
        thread::yield_now();
    }
    let statistics = pipeline.stats();
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
fn waiting_messages_are_counted() {
    let (mut input, stages) = Pipeline::builder().capacity(8).input::<u64>();
    let (mut output, pipeline) = stages.then(|x| x).build();
    // 8 at the output and 8 at the input are full; up to 256 are on their way.
    let mut sent = 0;
    let full = || {
        let statistics = pipeline.stats();
        statistics.edges.iter().all(|edge| edge.depth == 8)
    };
    // A snapshot reads one edge after the other, so 8 messages could be seen at both.
    while sent < 16 || !full() {
        if input.try_send(sent).is_ok() {
            sent += 1;
        }
    }
    let statistics = pipeline.stats();
    assert_eq!(statistics.edges[0].sent, sent);
    assert_eq!((statistics.edges[1].sent, statistics.edges[1].received), (8, 0));
    assert_eq!(output.recv(), Ok(0));
    while pipeline.stats().edges[1].sent < 9 {
        thread::yield_now();
    }
    assert_eq!(pipeline.stats().edges[1].received, 1);
    pipeline.abort();
    pipeline.join().unwrap();
}

/// Nothing receives: what was counted as sent is in the ring.
#[test]
fn unreceived_messages_do_not_count_as_received() {
    let capacity = if cfg!(miri) { 8 } else { 4096 };
    let (mut input, stages) = Pipeline::builder().capacity(capacity).input::<u64>();
    let (output, one) = stages.then(|x| x).build();
    let (mut other_input, stages) = Pipeline::builder().capacity(capacity).input::<u64>();
    let (other_output, several) = stages.fan_out(|x| x, |x| x).merge().build();
    let all_sent = |pipeline: &Pipeline| {
        let edges = pipeline.stats().edges;
        let to_output = edges.iter().filter(|edge| edge.to == "output");
        to_output.inspect(|edge| assert_eq!(edge.received, 0, "{edges:?}")).map(|edge| edge.sent).sum::<u64>()
    };
    for number in 1..=capacity as u64 / 2 {
        input.send(number).unwrap();
        other_input.send(number).unwrap();
        while all_sent(&one) < number || all_sent(&several) < 2 * number {
            thread::yield_now();
        }
    }
    for pipeline in [one, several] {
        pipeline.abort();
        pipeline.join().unwrap();
    }
    drop((output, other_output));
}

/// Behind threads that share a queue, and that send into one.
#[test]
fn waiting_messages_behind_threads_are_counted() {
    let (mut input, stages) = Pipeline::builder().capacity(8).input::<u64>();
    let (output, pipeline) = stages.then_unordered(2, |x| x).capacity(16).build();
    let mut sent = 0;
    // A queue of 8, 2 that are worked on, and a queue of 16 for each of two threads.
    while sent < 8 + 2 + 32 {
        sent += u64::from(input.try_send(sent).is_ok());
    }
    loop {
        let edges = pipeline.stats().edges;
        if edges.iter().all(|edge| if edge.to == "output" { edge.depth == 32 } else { edge.depth == 8 }) {
            break;
        }
    }
    drop(input);
    let mut all: Vec<_> = output.into_iter().collect();
    all.sort_unstable();
    assert_eq!(all, (0..sent).collect::<Vec<_>>());
    assert!(pipeline.stats().edges.iter().all(|edge| edge.depth == 0));
    pipeline.join().unwrap();
}

#[test]
fn lossy_edge_counts_its_losses() {
    let (go_on, gate) = channel::<()>();
    let (mut input, stages) = Pipeline::builder().capacity(4).input::<u64>();
    let (output, pipeline) = stages
        .lossy()
        .then(move |x| {
            // It works on the first one until all have been sent.
            _ = gate.recv();
            x
        })
        .build();
    let sent = 500;
    (0..sent).for_each(|x| input.send(x).unwrap());
    drop((input, go_on));
    let received = thread::spawn(move || output.into_iter().count() as u64).join().unwrap();
    let edge = &pipeline.stats().edges[0];
    assert_eq!((edge.sent, edge.received, edge.received + edge.lost), (sent, received, sent));
    assert!(edge.lost > 0);
    pipeline.join().unwrap();
}

#[test]
fn busy_time_excludes_waiting() {
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
        input.send(x).unwrap();
        assert_eq!(output.recv(), Ok(x));
    }
    drop(input);
    while !pipeline.is_finished() {
        thread::yield_now();
    }
    let statistics = pipeline.stats();
    let [slow, fast] = [&statistics.stages[0], &statistics.stages[1]];
    assert!(slow.busy >= Duration::from_millis(64), "{slow:?}");
    // Where others want the core, it may be busy for longer than it waits.
    println!("{:?} waiting, {:?} busy", fast.waiting, fast.busy);
    assert!(!fast.waiting.is_zero(), "{fast:?}");
    assert_eq!(slow.batches, 32);
    // Nobody waits after the end.
    thread::sleep(Duration::from_millis(2));
    assert_eq!(pipeline.stats(), statistics);
}

/// How often a stage of `f` has worked, and how long, once it has got so many messages one by one.
fn work(messages: u64, f: impl FnMut(u64) -> u64 + Send + 'static) -> (u64, Duration) {
    let (mut input, stages) = Pipeline::builder().input::<u64>();
    let (mut output, pipeline) = stages.then(f).build();
    for x in 0..messages {
        input.send(x).unwrap();
        if output.recv().is_err() {
            break;
        }
    }
    drop(input);
    while !pipeline.is_finished() {
        thread::yield_now();
    }
    let stage = &pipeline.stats().stages[0];
    (stage.batches, stage.busy)
}

/// Also those that are not measured, and the last ones.
#[test]
fn batches_count_also_where_they_are_not_measured() {
    for messages in [1, 7, 9, 20] {
        // Nothing of it is slow, mostly. A clock may stand still.
        let (batches, busy) = work(messages, |x| x);
        assert_eq!(batches, messages);
        assert!(busy < Duration::from_secs(60), "{busy:?}");
        if cfg!(miri) {
            continue; // its clock counts steps
        }
        let long = Duration::from_millis(3);
        let (batches, busy) = work(messages, move |x| {
            thread::sleep(long);
            x
        });
        assert_eq!(batches, messages);
        assert!(busy >= long * messages as u32, "{busy:?} for {messages} messages");
    }
    // So does one that panics.
    let long = Duration::from_millis(3);
    let (batches, busy) = work(4, move |x| {
        thread::sleep(long);
        if x == 2 { std::panic::resume_unwind(Box::new("two")) } else { x }
    });
    assert_eq!(batches, 3);
    assert!(busy >= long * 3 || cfg!(miri), "{busy:?}");
}

/// A reader that is busy finds out later what it has lost meanwhile. The statistics say it now.
#[test]
fn lossy_edge_is_no_deeper_than_its_ring() {
    let (begun, wait) = channel();
    let (go_on, gate) = channel::<()>();
    let (mut input, stages) = Pipeline::builder().capacity(8).input::<u64>();
    let pipeline = stages
        .lossy()
        .sink(move |x| {
            begun.send(x).unwrap();
            let _ = gate.recv();
        })
        .build();
    input.send(0).unwrap();
    assert_eq!(wait.recv(), Ok(0));
    (1..1000).for_each(|x| input.send(x).unwrap());
    let edge = &pipeline.stats().edges[0];
    assert_eq!((edge.sent, edge.received, edge.depth, edge.lost), (1000, 1, 8, 991));
    drop((go_on, input));
    while !pipeline.is_finished() {
        thread::yield_now();
    }
    let edge = &pipeline.stats().edges[0];
    assert_eq!((edge.sent, edge.received, edge.depth, edge.lost), (1000, 9, 0, 991));
    pipeline.join().unwrap();
}

/// The numbers of the edge that leads to `to`.
fn edge_to(pipeline: &Pipeline, to: &str) -> (u64, u64, u64) {
    let edges = pipeline.stats().edges;
    let edges: Vec<_> = edges.iter().filter(|edge| edge.to == to).collect();
    (edges.iter().map(|edge| edge.sent).sum(), edges[0].received, edges[0].depth)
}

fn wait_for_the_end(pipeline: &Pipeline) {
    while !pipeline.is_finished() {
        thread::yield_now();
    }
}

/// What an output has not received when it is dropped is dropped with it.
#[test]
fn dropped_output_keeps_its_count() {
    fn check<O>(build: impl FnOnce(Stages<u64>) -> (O, Pipeline), mut receive: impl FnMut(&mut O) -> bool) {
        let (mut input, stages) = Pipeline::builder().capacity(16).input::<u64>();
        let (mut output, pipeline) = build(stages);
        (0..10).for_each(|x| input.send(x).unwrap());
        while edge_to(&pipeline, "output").0 < 10 {
            thread::yield_now();
        }
        assert!((0..3).all(|_| receive(&mut output)));
        assert_eq!(edge_to(&pipeline, "output"), (10, 3, 7));
        drop(output);
        assert_eq!(edge_to(&pipeline, "output"), (10, 3, 0));
        // The stage finds out, or has no message any more.
        _ = input.send(10);
        drop(input);
        wait_for_the_end(&pipeline);
        assert_eq!(edge_to(&pipeline, "output"), (10, 3, 0));
        pipeline.join().unwrap();
    }
    check(|stages| stages.then(|x| x).name("last").build(), |output| output.recv().is_ok());
    check(|stages| stages.then_unordered(2, |x| x).name("last").build(), |output| output.recv().is_ok());
    check(|stages| stages.fan_out(|x| x, |x| x).zip().build(), |output| output.recv().is_ok());
}

/// What waits in front of a stage when the pipeline is aborted is dropped, and was not received.
#[test]
fn abort_leaves_nothing_to_be_received() {
    fn check<O>(build: impl FnOnce(Stages<u64>, Box<dyn FnMut(u64) -> u64 + Send>) -> (O, Pipeline)) {
        let (begun, wait) = channel();
        let (go_on, gate) = channel::<()>();
        let (mut input, stages) = Pipeline::builder().capacity(64).input::<u64>();
        let work = move |x| {
            begun.send(x).unwrap();
            let _ = gate.recv();
            x
        };
        let (output, pipeline) = build(stages, Box::new(work));
        (0..50).for_each(|x| input.send(x).unwrap());
        assert_eq!(wait.recv(), Ok(0));
        pipeline.abort();
        drop(go_on);
        wait_for_the_end(&pipeline);
        let statistics = pipeline.stats();
        let stage = statistics.stages.iter().find(|stage| stage.name == "works").unwrap();
        assert_eq!((stage.received, stage.batches), (1, 1));
        for edge in &statistics.edges {
            assert_eq!((edge.depth, edge.lost), (0, 0), "{edge:?}");
            assert!(edge.received <= 50 && edge.from == "input" || edge.received <= 1, "{edge:?}");
        }
        assert!(wait.recv().is_err(), "it has worked on another message");
        drop(output);
        assert_eq!(pipeline.stats(), statistics);
        pipeline.join().unwrap();
    }
    check(|stages, work| stages.then(work).name("works").build());
    check(|stages, work| {
        stages
            .filter_map({
                let mut work = work;
                move |x| Some(work(x))
            })
            .name("works")
            .build()
    });
    check(|stages, work| stages.then(work).name("works").fan_out(|x| x, |x| x).zip().build());
    check(|stages, mut work| ((), stages.sink(move |x| _ = work(x)).name("works").build()));
}

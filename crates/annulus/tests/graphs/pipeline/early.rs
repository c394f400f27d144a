//! What is sent before the pipeline is built, and what an input says of itself.

use std::sync::Arc;
use std::time::Duration;

use annulus::pipeline::{BuildError, Input, Pipeline, Stages};
use annulus::{CapacityError, SendTimeoutError, TrySendError, select};

const CAPACITY: usize = 4;

/// One for each kind of ring that may be behind an input, with all that comes out of one reader.
fn each_way(mut check: impl FnMut(Input<u64>, Stages<u64>, fn(Stages<u64>) -> Stages<u64>)) {
    let ways: [fn(Stages<u64>) -> Stages<u64>; 6] = [
        // A queue to a stage, and right into the output.
        |s| s.then(|x| x),
        |s| s,
        // Several queues, so a stage in front that passes messages on.
        |s| s.then_parallel(3, |x| x),
        |s| s.fork_cloned(2, |_, s| s).zip().then(|row| row[0]),
        // A broadcast ring.
        |s| s.fan_out(|x| x, |x| x).zip().then(|(x, _)| x),
        |s| s.branches(3, |_, s| s).zip().then(|row| row[2]),
    ];
    for way in ways {
        let (input, stages) = Pipeline::builder().capacity(CAPACITY).input::<u64>();
        check(input, stages, way);
    }
}

#[test]
fn messages_before_the_build_come_first() {
    each_way(|mut input, stages, way| {
        assert_eq!((input.sent(), input.capacity()), (0, CAPACITY));
        input.send(0).unwrap();
        input.try_send(1).unwrap();
        assert_eq!(input.sent(), 2);
        let stages = way(stages.capacity(16));
        assert!(!input.is_closed());
        // Right into the output there is no ring before the build.
        input.send(2).unwrap();
        assert_eq!(input.sent(), 3);
        let (output, pipeline) = stages.build();
        input.send(3).unwrap();
        assert_eq!((input.sent(), input.capacity()), (4, 16));
        drop(input);
        assert_eq!(output.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!(pipeline.stats().edges[0].sent, 4);
        pipeline.join().unwrap();
    });
}

/// Several receivers behind one queue; and a ring that never is full.
#[test]
fn rings_of_other_kinds_take_messages_before_the_build() {
    let (mut input, stages) = Pipeline::builder().capacity(CAPACITY).input::<u64>();
    input.send(0).unwrap();
    let stages = stages.then_unordered(2, |x| x);
    input.send_batch(&[1, 2, 3]).unwrap();
    assert!(matches!(input.try_send(4), Err(TrySendError::Full(4))));
    let (output, pipeline) = stages.build();
    input.send(4).unwrap();
    assert_eq!((input.sent(), input.capacity()), (5, CAPACITY));
    drop(input);
    let mut out: Vec<_> = output.into_iter().collect();
    out.sort_unstable();
    assert_eq!(out, [0, 1, 2, 3, 4]);
    pipeline.join().unwrap();

    let (mut input, stages) = Pipeline::builder().capacity(CAPACITY).input::<u64>();
    input.send(0).unwrap();
    let stages = stages.lossy().then(|x| x);
    (1..100).for_each(|x| input.send(x).unwrap());
    let (output, pipeline) = stages.build();
    assert_eq!((input.sent(), input.capacity()), (100, CAPACITY));
    drop(input);
    assert_eq!(output.into_iter().collect::<Vec<_>>(), [96, 97, 98, 99]);
    let edge = &pipeline.stats().edges[0];
    assert_eq!((edge.received, edge.lost), (4, 96));
    pipeline.join().unwrap();
}

/// No verb waits for room that nothing makes.
#[test]
fn full_input_refuses_before_the_build() {
    each_way(|mut input, stages, way| {
        let full = |input: &mut Input<u64>| {
            assert!(matches!(input.try_send(7), Err(TrySendError::Full(7))));
            assert_eq!(input.send(8).unwrap_err().into_inner(), 8);
            let briefly = Duration::from_millis(1);
            assert!(matches!(input.send_timeout(9, briefly), Err(SendTimeoutError::Closed(9))));
            assert!(matches!(input.send_until(9, briefly), Err(SendTimeoutError::Closed(9))));
            let rest = input.send_batch_timeout(&[9, 10], briefly).unwrap_err();
            assert!(matches!(rest, SendTimeoutError::Closed([9, 10])));
            #[cfg(feature = "async")]
            {
                let sent = crate::support::tasks::block_on(input.send_async(10));
                assert_eq!(sent.unwrap_err().into_inner(), 10);
            }
            select! {
                send(input, 11) -> sent => assert_eq!(sent.unwrap_err().into_inner(), 11),
            }
            assert!(!input.is_closed());
            assert_eq!(input.sent(), CAPACITY as u64);
        };
        assert_eq!(input.send_batch(&[0, 1, 2, 3, 4, 5]).unwrap_err().into_inner(), [4, 5]);
        full(&mut input);
        let stages = way(stages);
        full(&mut input);
        let (output, pipeline) = stages.build();
        let reader = std::thread::spawn(move || output.into_iter().collect::<Vec<_>>());
        select! {
            send(input, 4) -> sent => sent.unwrap(),
        }
        drop(input);
        assert_eq!(reader.join().unwrap(), [0, 1, 2, 3, 4]);
        pipeline.join().unwrap();
    });
}

#[test]
fn input_may_be_dropped_before_the_build() {
    each_way(|mut input, stages, way| {
        input.send(1).unwrap();
        let stages = way(stages);
        input.send(2).unwrap();
        drop(input);
        let (output, pipeline) = stages.build();
        assert_eq!(output.into_iter().collect::<Vec<_>>(), [1, 2]);
        pipeline.join().unwrap();
    });
}

/// What was accepted goes with the builder.
#[test]
fn unbuilt_pipeline_drops_its_messages() {
    let token = Arc::new(());
    let closed = |input: &mut Input<Arc<()>>, sent| {
        assert!(input.is_closed());
        assert!(matches!(input.try_send(Arc::clone(&token)), Err(TrySendError::Closed(_))));
        assert!(input.send(Arc::clone(&token)).is_err());
        assert_eq!((Arc::strong_count(&token), input.sent()), (1, sent));
    };
    let begin = || {
        let (mut input, stages) = Pipeline::builder().capacity(CAPACITY).input::<Arc<()>>();
        input.send(Arc::clone(&token)).unwrap();
        (input, stages)
    };
    // No stage; a ring; and a build that fails.
    let (mut input, stages) = begin();
    drop(stages);
    closed(&mut input, 1);
    let (mut input, stages) = begin();
    let stages = stages.then(|x| x);
    input.send(Arc::clone(&token)).unwrap();
    drop(stages);
    closed(&mut input, 2);
    let (mut input, stages) = begin();
    let _ = stages.then_parallel(0, |x| x).try_build().unwrap_err();
    closed(&mut input, 1);
    // And with the input, if that goes last.
    let (input, stages) = begin();
    drop((input, stages));
    assert_eq!(Arc::strong_count(&token), 1);
}

#[test]
fn ring_too_small_for_waiting_messages_is_an_error() {
    let (mut input, stages) = Pipeline::builder().capacity(8).input::<u64>();
    input.send_batch(&[1, 2, 3, 4]).unwrap();
    let error = stages.capacity(3).branches(2, |_, s| s.then(|x| x)).try_build().unwrap_err();
    let BuildError::Capacity { edge, error } = error else { panic!("{error}") };
    assert_eq!(edge, "input -> then 0");
    assert!(matches!(error, CapacityError::TooSmall { capacity: 3, minimum: 4 }), "{error}");
    assert!(input.is_closed());
}

/// Larger than the ring, and given back from where it ended.
#[test]
fn batch_is_sent_in_parts() {
    let all: Vec<u64> = (0..100).collect();
    each_way(|mut input, stages, way| {
        let (output, pipeline) = way(stages).build();
        let reader = std::thread::spawn(move || output.into_iter().collect::<Vec<_>>());
        input.send_batch(&[]).unwrap();
        input.send_batch(&all).unwrap();
        assert_eq!(input.sent(), 100);
        pipeline.shutdown();
        assert_eq!(input.send_batch(&all[3..]).unwrap_err().into_inner(), &all[3..]);
        assert_eq!(input.sent(), 100);
        assert_eq!(reader.join().unwrap(), all);
        pipeline.join().unwrap();
    });
}

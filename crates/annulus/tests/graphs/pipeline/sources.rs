//! Receiving handles of the user's in front of a pipeline.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use annulus::pipeline::Pipeline;
use annulus::{Receive, WaitStrategy, broadcast, event, mpmc, mpsc, queue, spmc, spsc};

use crate::support::STUCK;

/// What comes out behind `source`, once `send` has sent 0 to 9 and closed the ring.
fn passes(source: impl Receive<Item = u64> + 'static, send: impl FnOnce()) {
    let (output, pipeline) = Pipeline::builder().capacity(4).source(source).then(|x| x + 1).build();
    let reader = thread::spawn(move || output.into_iter().collect::<Vec<_>>());
    send();
    assert_eq!(reader.join().unwrap(), (1..=10).collect::<Vec<_>>());
    pipeline.join().unwrap();
}

#[test]
fn receiving_handles_are_sources() {
    let (mut publisher, subscribable) = broadcast::lossless(4);
    passes(subscribable.subscribe(), move || (0..10).for_each(|x| publisher.publish(x).unwrap()));

    let (mut publisher, subscribable) = broadcast::lossy(16);
    passes(subscribable.subscribe(), move || (0..10).for_each(|x| publisher.publish(x)));

    let (mut publisher, subscribable) = broadcast::lossless(4);
    let mut before = subscribable.subscribe_tracked();
    passes(subscribable.subscribe().after(&[&before]), move || {
        let reader = thread::spawn(move || before.iter().count());
        (0..10).for_each(|x| publisher.publish(x).unwrap());
        drop(publisher);
        assert_eq!(reader.join().unwrap(), 10);
    });

    let (mut publisher, subscribable) = event::channel(4, || 0);
    passes(subscribable.subscribe(), move || {
        (0..10).for_each(|x| publisher.publish(|event| *event = x).unwrap());
    });

    let (mut producer, consumer) = spsc::channel(4);
    passes(consumer, move || (0..10).for_each(|x| producer.send(x).unwrap()));
    let (mut producer, consumer) = mpsc::channel(4);
    passes(consumer, move || (0..10).for_each(|x| producer.send(x).unwrap()));
    let (mut producer, consumer) = spmc::channel(4);
    passes(consumer, move || (0..10).for_each(|x| producer.send(x).unwrap()));
    let (mut producer, consumer) = mpmc::channel(4);
    passes(consumer, move || (0..10).for_each(|x| producer.send(x).unwrap()));
    let (sender, receiver) = queue::ordered::channel(4);
    passes(receiver, move || (0..10).for_each(|x| sender.send(x).unwrap()));
}

/// A thread that sleeps in the source's ring is woken.
#[test]
fn a_source_is_left_at_a_shutdown() {
    for round in 0..if cfg!(miri) { 2 } else { 200 } {
        let (mut publisher, subscribable) = broadcast::lossless::<u64>(8);
        let strategy = WaitStrategy::block_after(0, 0);
        let builder = Pipeline::builder().wait_strategy(strategy);
        let (mut output, pipeline) = builder.source(subscribable.subscribe()).then(|x| x).build();
        publisher.publish(1).unwrap();
        assert_eq!(output.recv(), Ok(1));
        if round % 3 > 0 {
            thread::sleep(Duration::from_micros(50 * (round % 3)));
        }
        if round % 2 == 0 {
            pipeline.abort();
        } else {
            pipeline.shutdown();
        }
        pipeline.join().unwrap();
        assert!(output.recv().is_err());
        publisher.publish(2).unwrap();
    }
}

/// The thread is woken for a message, and finds a shutdown first. Then another reader of the queue gets it:
/// one that the shutdown itself does not wake.
#[test]
fn a_shutdown_at_a_message_loses_no_wake_up() {
    for _ in 0..if cfg!(miri) { 2 } else { 1000 } {
        let (mut producer, consumer) = mpmc::channel::<u64>(4);
        let mut other = consumer.clone();
        let strategy = WaitStrategy::block_after(0, 0);
        let builder = Pipeline::builder().wait_strategy(strategy);
        let (mut output, pipeline) = builder.source(consumer).then(|x| x).build();
        let (tell, told) = channel();
        let reader = thread::spawn(move || {
            _ = tell.send(annulus::select! { recv(other) -> message => message });
        });
        thread::sleep(Duration::from_micros(200));
        producer.send(7).unwrap();
        pipeline.shutdown();
        pipeline.join().unwrap();
        match output.recv() {
            Ok(message) => assert_eq!(message, 7),
            Err(_) => assert_eq!(told.recv_timeout(STUCK), Ok(Ok(7)), "nobody woke the other"),
        }
        drop(producer);
        reader.join().unwrap();
    }
}

/// It lets go of its handle like one that has come to its end.
#[test]
fn stage_that_panics_leaves_its_source() {
    let (mut producer, consumer) = spsc::channel(4);
    let fails = |_: u64| -> u64 { std::panic::resume_unwind(Box::new("on purpose")) };
    let (mut output, pipeline) = Pipeline::builder().source(consumer).then(fails).build();
    producer.send(7).unwrap();
    assert_eq!(pipeline.join().unwrap_err().panics()[0].message, "on purpose");
    assert!(output.recv().is_err());
    assert!(producer.is_closed());
}

/// A source that loses messages says so, for its handle can't be asked elsewhere.
#[test]
fn losses_of_a_source_are_counted() {
    let (mut publisher, subscribable) = broadcast::lossy::<u64>(4);
    let source = subscribable.subscribe();
    (0..100).for_each(|x| publisher.publish(x));
    let (output, pipeline) = Pipeline::builder().source(source).then(|x| x).build();
    drop(publisher);
    assert_eq!(output.into_iter().last(), Some(99));
    let edge = &pipeline.stats().edges[0];
    assert!(edge.lost >= 96, "{edge:?}");
    assert_eq!((edge.received + edge.lost, edge.depth, edge.sent), (100, 0, 0));
    pipeline.join().unwrap();
}

#[test]
fn waiting_messages_of_a_source_are_counted() {
    fn look(source: impl Receive<Item = u64> + 'static) {
        let (begun, wait) = channel();
        let (go_on, gate) = channel::<()>();
        let pipeline = Pipeline::builder()
            .source(source)
            .sink(move |x| {
                begun.send(x).unwrap();
                let _ = gate.recv();
            })
            .build();
        assert_eq!(wait.recv(), Ok(0));
        // The first batch has one message.
        let edge = &pipeline.stats().edges[0];
        assert_eq!((edge.received, edge.depth), (1, 9));
        drop(go_on);
        while !pipeline.is_finished() {
            thread::yield_now();
        }
        let edge = &pipeline.stats().edges[0];
        assert_eq!((edge.received, edge.depth), (10, 0));
        pipeline.join().unwrap();
    }
    let (mut publisher, subscribable) = broadcast::lossless(16);
    let source = subscribable.subscribe();
    (0..10).for_each(|x| publisher.publish(x).unwrap());
    drop(publisher);
    look(source);

    let (mut publisher, subscribable) = broadcast::lossless(16);
    let source = subscribable.subscribe_group::<2>();
    (0..10).for_each(|x| publisher.publish(x).unwrap());
    drop(publisher);
    look(source);

    let (mut publisher, subscribable) = event::channel(16, || 0);
    let source = subscribable.subscribe();
    (0..10).for_each(|x| publisher.publish(|event| *event = x).unwrap());
    drop(publisher);
    look(source);

    let (mut producer, consumer) = mpsc::channel(16);
    (0..10).for_each(|x| producer.send(x).unwrap());
    drop(producer);
    look(consumer);

    let (sender, receiver) = queue::ordered::channel(16);
    (0..10).for_each(|x| sender.send(x).unwrap());
    drop(sender);
    look(receiver);

    // One that can't tell.
    let (mut producer, consumer) = queue::bytes::channel(256);
    (0..10).for_each(|_| producer.write(b"record").unwrap());
    drop(producer);
    let (output, pipeline) = Pipeline::builder().source(consumer).build();
    assert_eq!(output.into_iter().count(), 10);
    assert_eq!(pipeline.stats().edges[0].depth, 0);
    pipeline.join().unwrap();
}

/// What follows a stage in its ring sees what the pipeline has done: decision 0031.
#[test]
fn message_of_a_stage_as_source_is_processed_after_its_function() {
    let count = if cfg!(miri) { 20 } else { 500 };
    let (mut publisher, subscribable) = broadcast::lossless::<u64>(1024);
    let source = subscribable.subscribe_tracked();
    let mut behind = subscribable.subscribe().after(&[&source]);
    (0..count).for_each(|x| publisher.publish(x).unwrap());
    drop(publisher);
    let done = Arc::new(Mutex::new(0));
    let of_stage = Arc::clone(&done);
    let works = move |x: u64| {
        // By then a batch has many messages, and those behind would have the time to see too much: several
        // times, in case that they do not run just then.
        thread::sleep(Duration::from_millis(if x % 50 == 49 && !cfg!(miri) { 10 } else { 0 }));
        *of_stage.lock().unwrap() = x + 1;
    };
    let pipeline = Pipeline::builder().source(source).sink(works).build();
    for x in 0..count {
        assert_eq!(behind.recv(), Ok(x));
        assert!(*done.lock().unwrap() > x, "{x} is not processed yet");
    }
    assert!(behind.recv().is_err());
    pipeline.join().unwrap();
}

/// A batch of more would say too early that its first messages are processed.
#[test]
fn batches_of_a_stage_have_one_message() {
    let (mut publisher, subscribable) = broadcast::lossless::<u64>(64);
    let before = subscribable.subscribe_tracked();
    let stage = subscribable.subscribe().after(&[&before]);
    drop(before);
    (0..50).for_each(|x| publisher.publish(x).unwrap());
    drop(publisher);
    let lengths = |batch: &mut [u64], lengths: &mut Vec<usize>| lengths.push(batch.len());
    let (output, pipeline) = Pipeline::builder().capacity(64).source(stage).then_batch(lengths).build();
    assert_eq!(output.into_iter().collect::<Vec<_>>(), [1; 50]);
    pipeline.join().unwrap();
}

/// How often this thread has gone to sleep.
fn sleeps() -> Option<u64> {
    if !cfg!(target_os = "linux") || cfg!(miri) {
        return None;
    }
    let status = std::fs::read_to_string("/proc/thread-self/status").expect("Linux tells it");
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    line.map(|count| count.trim().parse().unwrap())
}

/// It sleeps, and no timer wakes it.
#[test]
fn an_idle_source_is_not_polled() {
    let (mut producer, consumer) = spsc::channel::<u64>(4);
    let (mut output, pipeline) = Pipeline::builder().source(consumer).then(|_| sleeps()).build();
    producer.send(1).unwrap();
    let before = output.recv().unwrap();
    thread::sleep(Duration::from_millis(if cfg!(miri) { 1 } else { 500 }));
    producer.send(2).unwrap();
    let after = output.recv().unwrap();
    if let (Some(before), Some(after)) = (before, after) {
        assert!(after - before < 10, "it was awake {} times", after - before);
    }
    drop(producer);
    pipeline.join().unwrap();
}

//! How pipelines end, and what is lost.

use std::panic::{panic_any, resume_unwind};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use annulus::RecvError;
use annulus::pipeline::{Pipeline, Stages};

use crate::support::STUCK;

/// A panic that prints nothing.
fn quiet_panic(message: &'static str) -> ! {
    resume_unwind(Box::new(message))
}

#[test]
fn results_before_a_panic_are_sent() {
    for batch in if cfg!(miri) { &[256][..] } else { &[1, 64, 256] } {
        let (mut input, stages) = Pipeline::builder().capacity(256).input::<u64>();
        let (output, pipeline) = stages
            .then(|x| x)
            .then(move |x| if x == 100 { quiet_panic("one hundred") } else { x })
            .name("counts")
            .then(|x| x)
            .build();
        for part in (0..=100).collect::<Vec<_>>().chunks(*batch) {
            for x in part {
                let _ = input.send(*x);
            }
        }
        let out: Vec<_> = output.into_iter().collect();
        assert_eq!(out, (0..100).collect::<Vec<_>>());
        let panics = pipeline.panicked_stages();
        assert_eq!(panics[0].index, 1);
        assert_eq!((panics[0].stage.as_str(), panics[0].message.as_str()), ("counts", "one hundred"));
        assert!(!pipeline.is_healthy());
        while input.send(7).is_ok() {} // the stages in front of it end
        assert_eq!(pipeline.join().unwrap_err().panics(), panics);
    }
}

/// It is not called for what else was sent.
#[test]
fn stage_ends_at_the_first_result_that_nothing_receives() {
    let (call, calls) = channel();
    let (go_on, gate) = channel::<()>();
    let (mut input, stages) = Pipeline::builder().capacity(8).input::<u64>();
    let (output, pipeline) = stages
        .then(move |x| {
            call.send(x).unwrap();
            let _ = gate.recv();
            x
        })
        .build();
    (0..4).for_each(|x| input.send(x).unwrap());
    assert_eq!(calls.recv(), Ok(0));
    drop(output);
    drop(go_on);
    assert_eq!(calls.iter().next(), None);
    pipeline.join().unwrap();
}

/// A thread that sees the end sees the panic.
#[test]
fn panic_is_noted_before_the_rings_close() {
    let (mut input, stages) = Pipeline::builder().input::<u64>();
    let (mut output, pipeline) = stages.then(|x| if x == 1 { quiet_panic("one") } else { x }).build();
    input.send(1).unwrap();
    assert_eq!(output.recv(), Err(RecvError::CLOSED));
    assert!(!pipeline.is_healthy());
}

/// A panic of a destructor, too: of what the function holds, and of what is queued for the stage.
#[cfg(feature = "async")]
#[test]
fn destructor_that_panics_is_noted_before_the_output_closes() {
    use std::sync::mpsc::Sender;
    use std::task::{Context, Wake, Waker};

    use annulus::pipeline::Input;

    /// Panics where it is dropped.
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            if !thread::panicking() {
                quiet_panic("dropped");
            }
        }
    }
    /// Is woken by the close of the output, and tells which stages have panicked by then.
    struct Looks {
        pipeline: Mutex<Option<Pipeline>>,
        tell: Mutex<Sender<Vec<String>>>,
    }
    impl Wake for Looks {
        fn wake(self: Arc<Self>) {
            let panics = self.pipeline.lock().unwrap().as_ref().unwrap().panicked_stages();
            _ = self.tell.lock().unwrap().send(panics.into_iter().map(|panic| panic.message).collect());
        }
    }
    fn panics_seen<T: Send + 'static>(
        build: impl FnOnce(Stages<T>) -> (annulus::spsc::Consumer<u64>, Pipeline),
        send: impl FnOnce(&mut Input<T>),
    ) -> Vec<String> {
        let (mut input, stages) = Pipeline::builder().capacity(8).input::<T>();
        let (mut output, pipeline) = build(stages);
        let (tell, told) = channel();
        let looks = Arc::new(Looks { pipeline: Mutex::new(Some(pipeline)), tell: Mutex::new(tell) });
        let waker = Waker::from(Arc::clone(&looks));
        let mut end = Box::pin(output.recv_async());
        assert!(end.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        send(&mut input);
        drop(input);
        let panics = told.recv_timeout(STUCK).unwrap();
        let pipeline = looks.pipeline.lock().unwrap().take().unwrap();
        pipeline.join().unwrap_err();
        panics
    }
    let bomb = Bomb;
    let holds = move |x| Some(x).filter(|_| (&bomb, true).1);
    let held = panics_seen::<u64>(|stages| stages.filter_map(holds).build(), |_| {});
    assert_eq!(held, ["dropped"]);

    let (go_on, gate) = channel::<()>();
    let works = move |message: Bomb| {
        gate.recv().unwrap();
        std::mem::forget(message);
        quiet_panic("works")
    };
    let queued = panics_seen::<Bomb>(
        |stages| stages.then(works).build(),
        |input| {
            (0..2).for_each(|_| assert!(input.send(Bomb).is_ok()));
            go_on.send(()).unwrap();
        },
    );
    assert_eq!(queued, ["works", "dropped"]);
}

#[test]
fn panics_are_reported() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            resume_unwind(Box::new(String::from("in a destructor")));
        }
    }
    let (mut input, stages) = Pipeline::builder().input::<u64>();
    let bomb = Bomb;
    // All have one name, and are told apart by their numbers.
    let (_output, pipeline) = stages
        .then(|x| x)
        .name("any")
        .fork(
            |s| s.then(|x| x).name("any").then(|_| -> u64 { panic_any(7) }).name("any"),
            |s| s.sink(move |_| quiet_panic((&bomb, "text").1)).name("any"),
        )
        .build();
    input.send(1).unwrap();
    drop(input);
    let error = pipeline.join().unwrap_err();
    let mut all: Vec<_> = error.panics().iter().map(|p| (p.index, p.message.as_str())).collect();
    all.sort_unstable();
    assert_eq!(all, [(2, "(no message)"), (3, "in a destructor"), (3, "text")]);
    assert!(error.panics().iter().all(|panic| panic.stage == "any"));
    assert!(error.to_string().contains("the stage \"any\" panicked: text; "), "{error}");
}

/// The other branch of a merge goes on; the other branch of a zip ends.
#[test]
fn panic_ends_a_branch() {
    let (mut input, stages) = Pipeline::builder().capacity(8).input::<u64>();
    let (output, pipeline) =
        stages.fan_out(|x| if x == 5 { quiet_panic("five") } else { x }, |x| x + 100).merge().build();
    let reader = thread::spawn(move || output.into_iter().collect::<Vec<_>>());
    (0..50).for_each(|x| input.send(x).unwrap());
    drop(input);
    let out = reader.join().unwrap();
    assert_eq!(out.iter().filter(|x| **x >= 100).count(), 50);
    assert_eq!(out.iter().filter(|x| **x < 100).copied().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    assert_eq!(pipeline.join().unwrap_err().panics().len(), 1);

    let (mut input, stages) = Pipeline::builder().capacity(8).input::<u64>();
    let (output, pipeline) =
        stages.fan_out(|x| if x == 5 { quiet_panic("five") } else { x }, |x| x + 100).zip().build();
    let sender = thread::spawn(move || while input.send(0).is_ok() && input.send(5).is_ok() {});
    assert_eq!(output.into_iter().collect::<Vec<_>>(), [(0, 100)]);
    sender.join().unwrap();
    assert_eq!(pipeline.join().unwrap_err().panics().len(), 1);
}

/// A panic in one of several threads that share a queue: the others work on what is queued, and nothing more
/// comes in.
#[test]
fn panic_of_an_unordered_thread_ends_the_stage() {
    let (mut input, stages) = Pipeline::builder().capacity(64).input::<u64>();
    let (begun, wait) = channel();
    let (go_on, gate) = channel::<()>();
    let (all_sent, are_sent) = channel::<()>();
    let (gate, are_sent) = (Arc::new(Mutex::new(gate)), Arc::new(Mutex::new(are_sent)));
    let (output, pipeline) = stages
        .then_unordered(2, move |x| match x {
            // The thread that has this one waits while the other one panics.
            0 => {
                begun.send(()).unwrap();
                let _ = gate.lock().unwrap().recv();
                x
            }
            5 => {
                let _ = are_sent.lock().unwrap().recv();
                quiet_panic("five")
            }
            _ => x,
        })
        .build();
    input.send(0).unwrap();
    wait.recv().unwrap();
    (1..20).for_each(|x| input.send(x).unwrap());
    drop(all_sent);
    // One thread is left, and waits. But the stage takes no more.
    let begun = Instant::now();
    while !input.is_closed() {
        assert!(begun.elapsed() < STUCK, "it still takes messages");
        thread::yield_now();
    }
    drop(go_on);
    let mut out: Vec<_> = output.into_iter().collect();
    out.sort_unstable();
    assert_eq!(out, (0..20).filter(|x| *x != 5).collect::<Vec<_>>());
    let error = pipeline.join().unwrap_err();
    assert_eq!(error.panics().len(), 1);
    assert_eq!(error.panics()[0].message, "five");
}

/// A panic in one of several threads that keep the order: what comes before the message goes on, in order,
/// and nothing behind it.
#[test]
fn panic_of_a_parallel_thread_ends_the_stage_there() {
    for threads in 1..4 {
        let (mut input, stages) = Pipeline::builder().capacity(64).input::<u64>();
        let (output, pipeline) =
            stages.then_parallel(threads, |x| if x == 10 { quiet_panic("ten") } else { x }).build();
        let reader = thread::spawn(move || output.into_iter().collect::<Vec<_>>());
        while input.send(0).is_ok() && (1..=20).all(|x| input.send(x).is_ok()) {}
        assert_eq!(reader.join().unwrap(), (0..10).collect::<Vec<_>>());
        let error = pipeline.join().unwrap_err();
        assert_eq!(error.panics()[0].message, "ten");
    }
}

#[test]
fn abort_wakes_all_waiters() {
    // All rings are full: everybody waits for room.
    let (mut input, stages) = Pipeline::builder().capacity(2).input::<u64>();
    let (output, pipeline) = stages.then(|x| x).fan_out(|x| x, |x| x).zip().then(|x| x).build();
    let sender = thread::spawn(move || {
        let mut sent = 0;
        while input.send(sent).is_ok() {
            sent += 1;
        }
        sent
    });
    thread::sleep(Duration::from_millis(if cfg!(miri) { 1 } else { 20 }));
    pipeline.abort();
    let sent = sender.join().unwrap();
    pipeline.join().unwrap();
    let out: Vec<_> = output.into_iter().collect();
    assert!(out.len() as u64 <= sent && out.len() <= 2, "{out:?}");

    // All rings are empty: all threads wait for a message.
    let (mut input, stages) = Pipeline::builder().input::<u64>();
    let (mut output, pipeline) = stages.then(|x| x).fan_out(|x| x, |x| x).merge().then(|x| x).build();
    thread::sleep(Duration::from_millis(if cfg!(miri) { 1 } else { 20 }));
    pipeline.abort();
    pipeline.join().unwrap();
    assert_eq!(output.recv(), Err(RecvError::CLOSED));
    assert!(input.send(1).is_err());
}

/// What is queued for a stage is not worked on after an abort.
#[test]
fn abort_drops_queued_messages() {
    let (begun, wait) = channel();
    let (go_on, gate) = channel::<()>();
    let (mut input, stages) = Pipeline::builder().capacity(64).input::<u64>();
    let pipeline = stages
        .sink(move |x| {
            begun.send(x).unwrap();
            // If it works on another one, it finds the gate closed, and panics.
            gate.recv().unwrap();
        })
        .build();
    (0..50).for_each(|x| input.send(x).unwrap());
    assert_eq!(wait.recv(), Ok(0));
    pipeline.abort();
    go_on.send(()).unwrap();
    drop(go_on);
    pipeline.join().unwrap();
}

/// A slow stage does not keep its results back until it has worked on a whole batch.
#[test]
fn slow_stage_sends_its_results_one_by_one() {
    // It works on so many before one of their results is received, and waits then: for ever if it keeps them.
    const AHEAD: u64 = 50;
    let slow = Duration::from_millis(if cfg!(miri) { 1 } else { 4 });
    let (go_on, gate) = channel::<()>();
    let (mut input, stages) = Pipeline::builder().capacity(1024).input::<u64>();
    let (mut output, pipeline) = stages
        .then(move |x| {
            if x >= AHEAD {
                gate.recv().unwrap();
            }
            thread::sleep(slow);
            x
        })
        .build();
    let count = if cfg!(miri) { 10 } else { 100 };
    (0..count).for_each(|x| input.send(x).unwrap());
    drop(input);
    for x in 0..count {
        assert_eq!(output.recv(), Ok(x));
        _ = go_on.send(());
    }
    pipeline.join().unwrap();
}

/// A slow stage of batches gets short ones, so that it does not keep its results back.
#[test]
fn a_slow_stage_gets_short_batches() {
    // It works on so many before one of their results is received, and waits then: for ever if it got more.
    const AHEAD: u64 = 50;
    let slow = Duration::from_millis(if cfg!(miri) { 1 } else { 4 });
    let (go_on, gate) = channel::<()>();
    let (mut input, stages) = Pipeline::builder().capacity(1024).input::<u64>();
    let (mut output, pipeline) = stages
        .then_batch(move |batch, results: &mut Vec<u64>| {
            for x in batch {
                if *x >= AHEAD {
                    gate.recv().unwrap();
                }
                thread::sleep(slow);
                results.push(*x);
            }
        })
        .build();
    let count = if cfg!(miri) { 10 } else { 100 };
    (0..count).for_each(|x| input.send(x).unwrap());
    drop(input);
    for x in 0..count {
        assert_eq!(output.recv(), Ok(x));
        _ = go_on.send(());
    }
    pipeline.join().unwrap();
}

/// Also the results of a batch in which it panics.
#[test]
fn results_of_a_batch_before_a_panic_are_sent() {
    let (mut input, stages) = Pipeline::builder().input::<u64>();
    let (output, pipeline) = stages
        .then_batch(|_, results: &mut Vec<u64>| {
            results.extend([1, 2]);
            quiet_panic("three")
        })
        .build();
    input.send(0).unwrap();
    assert_eq!(output.into_iter().collect::<Vec<_>>(), [1, 2]);
    assert_eq!(pipeline.join().unwrap_err().panics().len(), 1);
}

/// An endless stage ends when nothing receives what it makes.
#[test]
fn endless_stage_ends_without_a_receiver() {
    let (mut input, stages) = Pipeline::builder().capacity(4).input::<u64>();
    let (mut output, pipeline) = stages.flat_map(|x| x..).build();
    input.send(5).unwrap();
    assert_eq!((output.recv(), output.recv()), (Ok(5), Ok(6)));
    drop(output);
    pipeline.join().unwrap();
    assert!(input.send(1).is_err());
}

#[test]
fn shutdown_and_join_as_the_input_lives() {
    let (mut input, stages) = Pipeline::builder().capacity(64).input::<u64>();
    let (output, pipeline) = stages.then(|x| x * 2).then(|x| x + 1).build();
    (0..50).for_each(|x| input.send(x).unwrap());
    pipeline.shutdown();
    assert!(input.is_closed());
    assert_eq!(input.send(7).unwrap_err().into_inner(), 7);
    let out: Vec<_> = output.into_iter().collect();
    assert_eq!(out, (0..50).map(|x| x * 2 + 1).collect::<Vec<_>>());
    pipeline.join().unwrap();
}

/// What an input has accepted comes out, also if it did so during a shutdown, whatever is behind it.
#[test]
fn messages_accepted_during_a_shutdown_come_out() {
    let rounds = if cfg!(miri) { 1 } else { 100 };
    for round in 0..rounds {
        comes_out(round, 1, |stages| stages.then(|x| x).build());
        comes_out(round, 1, |stages| stages.then_parallel(3, |x| x).build());
        comes_out(round, 1, |stages| stages.then_unordered(2, |x| x).build());
        comes_out(round, 2, |stages| stages.fan_out(|x| x, |x| x).merge().build());
        comes_out(round, 1, |stages| stages.fan_out(|x| x, |x| x).zip().then(|(x, _)| x).build());
        let both = |stages: Stages<u64>| stages.fork_cloned(2, |_, stages| stages.then(|x| x)).merge();
        comes_out(round, 2, |stages| both(stages).then(|x| x).build());
    }
}

/// Each message comes out so many times.
fn comes_out<O>(round: u64, times: u64, build: impl FnOnce(Stages<u64>) -> (O, Pipeline))
where
    O: IntoIterator<Item = u64> + Send + 'static,
{
    let (mut input, stages) = Pipeline::builder().capacity(8).input::<u64>();
    let (output, pipeline) = build(stages);
    let reader = thread::spawn(move || output.into_iter().count() as u64);
    let sender = thread::spawn(move || {
        let mut sent = 0;
        while input.send(sent).is_ok() {
            sent += 1;
        }
        sent
    });
    thread::sleep(Duration::from_micros(50 + round % 100));
    pipeline.shutdown();
    assert_eq!(reader.join().unwrap(), times * sender.join().unwrap());
    pipeline.join().unwrap();
}

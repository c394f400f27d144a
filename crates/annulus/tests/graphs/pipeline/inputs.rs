//! An input waits for room like any other sending handle: in a task, and as an arm of a select. One way for
//! each kind of ring that may be behind it.

use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use annulus::pipeline::{Input, Pipeline, Stages};
use annulus::{Select, SendTimeoutError, TrySendError, Until, WaitStrategy, select, select_biased};

use crate::support::STUCK;
use crate::support::threads::soon;

/// Where the functions of stages wait until they may go on, and what came to them.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<Passing>, Condvar)>);

#[derive(Default)]
struct Passing {
    /// What came, in the order of coming; the last ones may still wait.
    came: Vec<u64>,
    /// How many may have passed.
    allowed: usize,
    passed: usize,
}

impl Gate {
    fn pass(&self, message: u64) {
        let mut passing = self.0.0.lock().unwrap();
        passing.came.push(message);
        while passing.passed == passing.allowed {
            passing = self.0.1.wait(passing).unwrap();
        }
        passing.passed += 1;
    }

    /// So many more may pass.
    fn open(&self, count: usize) {
        let mut passing = self.0.0.lock().unwrap();
        passing.allowed = passing.allowed.saturating_add(count);
        self.0.1.notify_all();
    }

    fn came(&self) -> Vec<u64> {
        self.0.0.lock().unwrap().came.clone()
    }
}

/// A pipeline whose input is full.
struct Full {
    input: Input<u64>,
    pipeline: Pipeline,
    gate: Gate,
    /// The next message.
    next: u64,
    /// To how many readers each message goes.
    copies: usize,
}

impl Full {
    /// `threads` functions call [`Gate::pass`] with each message, or with its copies.
    fn new(threads: usize, copies: usize, build: impl FnOnce(Stages<u64>, Gate) -> Pipeline) -> Self {
        let (mut input, stages) = Pipeline::builder().capacity(4).input::<u64>();
        let gate = Gate::default();
        let pipeline = build(stages, gate.clone());
        // First each thread gets one, which it keeps.
        let mut next = 0;
        while gate.came().len() < threads {
            input.send(next).unwrap();
            next += 1;
            soon(|| gate.came().len() >= (next as usize * copies).min(threads));
        }
        while input.try_send(next).is_ok() {
            next += 1;
        }
        Self { input, pipeline, gate, next, copies }
    }

    /// Ends it. Each message below `next` has come, and no other.
    fn end(self) {
        drop(self.input);
        self.gate.open(usize::MAX);
        self.pipeline.join().unwrap();
        let mut came = self.gate.came();
        came.sort_unstable();
        let expected: Vec<_> = (0..self.next).flat_map(|x| std::iter::repeat_n(x, self.copies)).collect();
        assert_eq!(came, expected);
    }
}

/// One for each kind of ring that may be behind an input, and that may be full.
fn each_way(mut check: impl FnMut(Full)) {
    // A queue with one consumer.
    check(Full::new(1, 1, |stages, gate| stages.sink(move |x| gate.pass(x)).build()));
    // A lossless broadcast ring.
    check(Full::new(2, 2, |stages, gate| {
        stages
            .branches(2, |_, branch| {
                let gate = gate.clone();
                branch.sink(move |x| gate.pass(x))
            })
            .build()
            .1
    }));
    // A queue with several receivers.
    check(Full::new(2, 1, |stages, gate| stages.then_unordered(2, move |x| gate.pass(x)).sink(drop).build()));
}

/// `send_async`, under the name that an input's verbs have.
#[cfg(feature = "async")]
mod tasks {
    use std::task::Poll;

    use super::*;
    use crate::support::tasks::{Counting, block_on};

    #[test]
    fn a_task_waits_for_room_and_is_woken() {
        each_way(|mut full| {
            let count = Counting::new();
            let mut future = Box::pin(full.input.send_async(full.next));
            assert!(count.poll(&mut future).is_pending());
            assert_eq!((count.wakes(), count.alive()), (0, 1));
            full.gate.open(usize::MAX);
            // (One branch may be done before the other: that wakes, too, and is not enough.)
            let mut wakes = 0;
            loop {
                soon(|| count.wakes() > wakes);
                wakes = count.wakes();
                match count.poll(&mut future) {
                    Poll::Ready(sent) => break sent.unwrap(),
                    Poll::Pending => {}
                }
            }
            drop(future);
            count.await_nobody();
            full.next += 1;
            full.end();
        });
    }

    #[test]
    fn future_that_is_dropped_has_sent_nothing() {
        each_way(|mut full| {
            let count = Counting::new();
            // Never polled; polled; and woken, but not polled again.
            drop(full.input.send_async(1000));
            let mut future = Box::pin(full.input.send_async(1001));
            assert!(count.poll(&mut future).is_pending());
            drop(future);
            assert_eq!((count.wakes(), count.alive()), (0, 0));
            let mut future = Box::pin(full.input.send_async(1002));
            assert!(count.poll(&mut future).is_pending());
            full.gate.open(usize::MAX);
            soon(|| count.wakes() == 1);
            drop(future);
            count.await_nobody();
            // And the room that it was woken for is there.
            block_on(full.input.send_async(full.next)).unwrap();
            full.next += 1;
            full.end();
        });
    }

    #[test]
    fn end_wakes_a_task_and_gives_the_message_back() {
        each_way(|mut full| {
            let count = Counting::new();
            let mut future = Box::pin(full.input.send_async(7));
            assert!(count.poll(&mut future).is_pending());
            full.pipeline.abort();
            soon(|| count.wakes() >= 1);
            let Poll::Ready(Err(error)) = count.poll(&mut future) else { panic!("it is closed") };
            assert_eq!(error.into_inner(), 7);
            drop(future);
            full.gate.open(usize::MAX);
            full.pipeline.join().unwrap();
        });
    }

    /// A task that may move between threads.
    fn may_move<T>(future: impl Future<Output = T> + Send) -> impl Future<Output = T> + Send {
        future
    }

    #[test]
    fn task_sends_all_of_it() {
        const MESSAGES: u64 = if cfg!(miri) { 20 } else { 10_000 };
        let (mut input, stages) = Pipeline::builder().capacity(4).input::<u64>();
        block_on(input.send_async(0)).unwrap(); // before the build
        let (output, pipeline) = stages.then(|x| x + 1).build();
        let sum = std::thread::spawn(move || output.into_iter().sum::<u64>());
        block_on(may_move(async {
            for x in 1..MESSAGES {
                input.send_async(x).await.unwrap();
            }
        }));
        drop(input);
        assert_eq!(sum.join().unwrap(), (1..=MESSAGES).sum::<u64>());
        pipeline.join().unwrap();
    }

    /// Over a lossy ring there always is room, until nothing receives.
    #[test]
    fn lossy_ring_has_room() {
        let (mut input, stages) = Pipeline::builder().capacity(4).input::<u64>();
        let (mut output, pipeline) = stages.lossy().then(|x| x).build();
        block_on(input.send_async(5)).unwrap();
        assert_eq!(output.recv(), Ok(5));
        drop(output);
        soon(|| block_on(input.send_async(6)).is_err());
        pipeline.join().unwrap();
    }
}

/// Whether the arm of `input` is possible now; if so, it has sent.
fn sends_now(input: &mut Input<u64>, message: u64) -> bool {
    select! {
        send(input, message) -> sent => {
            sent.unwrap();
            true
        }
        default => false,
    }
}

#[test]
fn arm_of_an_input_is_taken_where_there_is_room() {
    each_way(|mut full| {
        assert!(!sends_now(&mut full.input, 1000));
        let (_other, mut quiet) = annulus::spsc::channel::<u64>(1);
        let opener = std::thread::spawn({
            let gate = full.gate.clone();
            move || {
                std::thread::sleep(std::time::Duration::from_millis(5));
                gate.open(usize::MAX);
            }
        });
        // It sleeps here, until a stage has left a slot.
        select_biased! {
            recv(quiet) -> number => panic!("nobody sends {number:?}"),
            send(full.input, full.next) -> sent => sent.unwrap(),
        }
        full.next += 1;
        opener.join().unwrap();
        soon(|| sends_now(&mut full.input, full.next));
        full.next += 1;
        full.end();
    });
}

#[test]
fn input_is_ready_where_it_has_room() {
    each_way(|mut full| {
        let is_ready = |input: &mut Input<u64>| {
            let mut select = Select::new();
            select.send(input);
            select.try_ready().is_some()
        };
        assert!(!is_ready(&mut full.input));
        full.gate.open(usize::MAX);
        let mut select = Select::new();
        assert_eq!((select.send(&mut full.input), select.ready()), (0, 0));
        drop(select);
        assert!(full.input.try_send(full.next).is_ok());
        full.next += 1;
        soon(|| is_ready(&mut full.input));
        full.end();
    });
}

/// What finds no room in time comes back, and is not counted.
#[test]
fn input_that_stays_full_gives_back_after_the_limit() {
    each_way(|mut full| {
        let briefly = Duration::from_millis(2);
        let (input, sent) = (&mut full.input, full.next);
        let begun = Instant::now();
        assert!(matches!(input.send_timeout(7, briefly), Err(SendTimeoutError::Timeout(7))));
        let spin = Until::from(briefly).by(WaitStrategy::BusySpin);
        assert!(matches!(input.send_until(7, spin), Err(SendTimeoutError::Timeout(7))));
        assert!(matches!(input.send_batch_timeout(&[7, 8], briefly), Err(SendTimeoutError::Timeout([7, 8]))));
        assert!(begun.elapsed() >= 3 * briefly);
        assert!(matches!(input.send_batch_until(&[7], Instant::now()), Err(SendTimeoutError::Timeout([7]))));
        assert_eq!(input.sent(), sent);
        full.gate.open(usize::MAX);
        input.send_timeout(sent, STUCK).unwrap();
        input.send_until(sent + 1, WaitStrategy::BusySpin).unwrap();
        let batch: Vec<u64> = (sent + 2..sent + 102).collect();
        input.send_batch_timeout(&batch[..50], STUCK).unwrap();
        input.send_batch_until(&batch[50..], Until::FOREVER).unwrap();
        full.next += 102;
        assert_eq!(input.sent(), full.next);
        full.end();
    });
}

/// One that is not built yet, and one that never waits.
#[test]
fn input_that_never_waits_is_ready() {
    let is_ready = |input: &mut Input<u64>| {
        let mut select = Select::new();
        assert_eq!((select.send(input), select.ready(), select.try_ready()), (0, 0, Some(0)));
    };
    let (mut input, stages) = Pipeline::builder().capacity(2).input::<u64>();
    is_ready(&mut input);
    let (output, pipeline) = stages.lossy().then(|x| x).build();
    for number in 0..10 {
        is_ready(&mut input);
        assert!(sends_now(&mut input, number));
    }
    drop(input);
    assert_eq!(output.into_iter().last(), Some(9));
    pipeline.join().unwrap();
}

#[test]
fn arm_says_that_an_input_is_closed() {
    let closed = |input: &mut Input<u64>| {
        select! {
            send(input, 7) -> sent => assert_eq!(sent.unwrap_err().into_inner(), 7),
            default => panic!("the close is there"),
        }
        assert!(matches!(input.try_send(8), Err(TrySendError::Closed(8))));
        assert!(matches!(input.send_timeout(9, STUCK), Err(SendTimeoutError::Closed(9))));
        assert!(matches!(input.send_batch_timeout(&[9], STUCK), Err(SendTimeoutError::Closed([9]))));
    };
    let (mut input, stages) = Pipeline::builder().input::<u64>();
    drop(stages);
    closed(&mut input);
    let (mut input, stages) = Pipeline::builder().input::<u64>();
    let (_output, pipeline) = stages.then(|x| x).build();
    assert!(sends_now(&mut input, 1));
    pipeline.shutdown();
    closed(&mut input);
    pipeline.join().unwrap();
    each_way(|mut full| {
        full.pipeline.abort();
        closed(&mut full.input);
        full.gate.open(usize::MAX);
        full.pipeline.join().unwrap();
    });
    let (mut input, stages) = Pipeline::builder().input::<u64>();
    let (output, pipeline) = stages.lossy().then(|x| x).build();
    assert!(sends_now(&mut input, 1));
    drop(output);
    pipeline.abort();
    closed(&mut input);
    pipeline.join().unwrap();
}

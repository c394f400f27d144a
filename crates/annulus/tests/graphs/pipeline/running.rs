//! Stages at work: what is sent when, and when a stage notices that it is not needed any more.

use std::sync::{Arc, Condvar, Mutex};

use annulus::pipeline::kind::Free;
use annulus::pipeline::{Pipeline, Stages};

use crate::support::never_drop;

/// A door with a number. A thread with a higher number waits before it.
#[derive(Clone, Default)]
struct Door(Arc<(Mutex<u64>, Condvar)>);

impl Door {
    fn open_up_to(&self, number: u64) {
        *self.0.0.lock().unwrap() = number;
        self.0.1.notify_all();
    }

    fn pass(&self, number: u64) -> u64 {
        let open = self.0.0.lock().unwrap();
        drop(self.0.1.wait_while(open, |open| *open < number).unwrap());
        number
    }
}

/// The results of a pipeline, one after the other; none at its end.
type Results = Box<dyn FnMut() -> Option<u64>>;

/// So many messages go through one by one, and quickly.
const QUICK: u64 = if cfg!(miri) { 10 } else { 300 };

/// Behind them, so many are there at once.
const AT_ONCE: u64 = 16;

/// The call for a message waits until the result of the message before has come out.
fn sends_each_result(build: impl FnOnce(Stages<u64>, Door) -> (Results, Pipeline)) {
    let door = Door::default();
    let (mut input, stages) = Pipeline::builder().capacity(64).input::<u64>();
    let (mut results, pipeline) = build(stages, door.clone());
    for x in 0..QUICK {
        door.open_up_to(x);
        input.send(x).unwrap();
        assert_eq!(results(), Some(x));
    }
    // The first of them is worked on when all are there.
    (QUICK..QUICK + AT_ONCE).for_each(|x| input.send(x).unwrap());
    for x in QUICK..QUICK + AT_ONCE {
        door.open_up_to(x);
        assert_eq!(results(), Some(x));
    }
    drop(input);
    assert_eq!(results(), None);
    pipeline.join().unwrap();
}

/// Builds what ends in an output.
macro_rules! built {
    ($stages:expr) => {{
        let (mut output, pipeline) = $stages.build();
        (Box::new(move || output.recv().ok()) as Results, pipeline)
    }};
}

#[test]
fn result_is_sent_before_the_next_call() {
    sends_each_result(|stages, door| built!(stages.then(move |x| door.pass(x))));
    sends_each_result(|stages, door| built!(stages.filter_map(move |x| Some(door.pass(x)))));
    sends_each_result(|stages, door| built!(stages.flat_map(move |x| [door.pass(x)])));
    for threads in [1, 3] {
        let door = |door: Door| move |x| door.pass(x);
        sends_each_result(|stages, d| built!(stages.then_parallel(threads, door(d))));
    }
    sends_each_result(|stages, door| built!(stages.then_unordered(1, move |x| door.pass(x))));
}

/// Whatever ring is in front of it, or behind it.
#[test]
fn result_is_sent_before_the_next_call_in_any_graph() {
    sends_each_result(|stages, door| {
        built!(stages.then(move |x| door.pass(x)).fan_out(|x| x, |x| x).zip().then(|(x, _)| x))
    });
    sends_each_result(|stages, door| {
        built!(stages.fan_out(|x| x, |x| x).zip().then(move |(x, _)| door.pass(x)))
    });
    sends_each_result(|stages, door| {
        built!(stages.fan_out(move |x| door.pass(x), |x| x).zip().then(|(x, _)| x))
    });
    sends_each_result(|stages, door| {
        let pass = move |x| door.pass(x);
        built!(stages.then(pass).fork_cloned(3, |_, s| s.then(|x| x)).zip().then(|row| row[0]))
    });
    sends_each_result(|stages, door| built!(stages.lossy().then(move |x| door.pass(x))));
    sends_each_result(|stages, door| built!(stages.then(move |x| door.pass(x)).lossy()));
    sends_each_result(|stages, door| {
        built!(stages.then_unordered(1, |x| x).then(move |x| door.pass(x)).then_unordered(1, |x| x))
    });
    sends_each_result(|stages, door| {
        let (sender, receiver) = std::sync::mpsc::channel();
        let sink = move |x| sender.send(door.pass(x)).unwrap();
        (Box::new(move || receiver.recv().ok()), stages.sink(sink).build())
    });
}

/// So are the items of one message.
#[test]
fn item_is_sent_before_the_next_is_asked_for() {
    let door = Door::default();
    let pass = door.clone();
    let (mut input, stages) = Pipeline::builder().capacity(64).input::<u64>();
    let (mut output, pipeline) = stages
        .flat_map(move |x| {
            let door = pass.clone();
            (3 * x..3 * x + 3).map(move |item| door.pass(item))
        })
        .build();
    (0..10).for_each(|x| input.send(x).unwrap());
    for item in 0..30 {
        door.open_up_to(item);
        assert_eq!(output.recv(), Ok(item));
    }
    drop(input);
    pipeline.join().unwrap();
}

/// A stage takes a credit for each message, and the sink gives it back.
#[test]
fn credits_go_round() {
    for capacity in [2, 64] {
        let (give, credits) = std::sync::mpsc::channel();
        give.send(()).unwrap();
        let (mut input, stages) = Pipeline::builder().capacity(capacity).input::<u64>();
        let pipeline = stages
            .then(move |x| {
                credits.recv().unwrap();
                x
            })
            .fan_out(|x| x, |x| x)
            .zip()
            .filter_map(Some)
            .sink(move |_| _ = give.send(()))
            .build();
        (0..AT_ONCE).for_each(|x| input.send(x).unwrap());
        drop(input);
        pipeline.join().unwrap();
    }
}

/// What the stage of a test counts, and where it stands.
#[derive(Clone, Default)]
struct Calls {
    count: Arc<Mutex<u64>>,
    door: Door,
}

impl Calls {
    fn call(&self, x: u64) -> u64 {
        *self.count.lock().unwrap() += 1;
        self.door.pass(x)
    }

    fn wait_for(&self, count: u64) {
        while *self.count.lock().unwrap() < count {
            std::thread::yield_now();
        }
    }
}

/// Is in the call for one of many messages when `end` ends it, and is not called again.
fn is_not_called_again<O>(
    build: impl FnOnce(Stages<u64>, Calls) -> (O, Pipeline),
    mut receive: impl FnMut(&mut O),
    end: impl FnOnce(O, &Pipeline),
) {
    let calls = Calls::default();
    let (mut input, stages) = Pipeline::builder().capacity(64).input::<u64>();
    let (mut output, pipeline) = build(stages, calls.clone());
    for x in 0..QUICK {
        calls.door.open_up_to(x);
        input.send(x).unwrap();
        receive(&mut output);
    }
    (QUICK..QUICK + AT_ONCE).for_each(|x| input.send(x).unwrap());
    calls.wait_for(QUICK + 1);
    end(output, &pipeline);
    calls.door.open_up_to(u64::MAX);
    drop(input);
    pipeline.join().unwrap();
    assert_eq!(*calls.count.lock().unwrap(), QUICK + 1);
}

#[test]
fn an_abort_is_noticed_at_each_message() {
    fn abort<O>(output: O, pipeline: &Pipeline) {
        pipeline.abort();
        drop(output);
    }
    macro_rules! aborted {
        (|$stages:ident, $calls:ident| $made:expr) => {
            is_not_called_again(|$stages, $calls| $made.build(), |output| _ = output.recv().unwrap(), abort)
        };
    }
    aborted!(|stages, calls| stages.then(move |x| calls.call(x)));
    aborted!(|stages, calls| stages.filter_map(move |x| Some(calls.call(x))));
    aborted!(|stages, calls| stages.flat_map(move |x| [calls.call(x)]));
    aborted!(|stages, calls| stages.then_unordered(1, move |x| calls.call(x)));
    aborted!(|stages, calls| stages.fan_out(|x| x, |x| x).zip().then(move |(x, _)| calls.call(x)));
    aborted!(|stages, calls| stages.lossy().then(move |x| calls.call(x)));
    is_not_called_again(
        |stages, calls| {
            let (sender, receiver) = std::sync::mpsc::channel();
            (receiver, stages.sink(move |x| sender.send(calls.call(x)).unwrap_or_default()).build())
        },
        |receiver| _ = receiver.recv().unwrap(),
        |receiver, pipeline| {
            pipeline.abort();
            // It sends once more, and not because of that does it end.
            never_drop(receiver);
        },
    );
}

#[test]
fn dropped_output_is_noticed_at_each_message() {
    fn leave<O>(output: O, _: &Pipeline) {
        drop(output);
    }
    macro_rules! left {
        (|$stages:ident, $calls:ident| $made:expr) => {
            is_not_called_again(|$stages, $calls| $made.build(), |output| _ = output.recv().unwrap(), leave)
        };
    }
    left!(|stages, calls| stages.then(move |x| calls.call(x)));
    left!(|stages, calls| stages.filter_map(move |x| Some(calls.call(x))));
    left!(|stages, calls| stages.flat_map(move |x| [calls.call(x)]));
    left!(|stages, calls| stages.then_unordered(1, move |x| calls.call(x)));
    left!(|stages, calls| stages.fan_out(|x| x, |x| x).zip().then(move |(x, _)| calls.call(x)));
    // These have results for the first messages only.
    left!(|stages, calls| stages.filter_map(move |x| Some(calls.call(x)).filter(|x| *x < QUICK)));
    left!(|stages, calls| stages.flat_map(move |x| Some(calls.call(x)).filter(|x| *x < QUICK)));
}

/// A stage that has nothing to send ends, too, if nothing would receive it.
#[test]
fn a_stage_without_results_ends() {
    fn ends<O>(build: impl FnOnce(Stages<u64>) -> (O, Pipeline)) {
        let (mut input, stages) = Pipeline::builder().capacity(4).input::<u64>();
        let (output, pipeline) = build(stages);
        drop(output);
        while input.send(0).is_ok() {}
        pipeline.join().unwrap();
    }
    ends(|stages| stages.filter_map(|_| None::<u64>).build());
    ends(|stages| stages.flat_map(|_| None::<u64>).build());
    ends(|stages| stages.then_batch(|_, _: &mut Vec<u64>| {}).build());
    ends(|stages| stages.fan_out(|x| x, |x| x).merge().filter_map(|_| None::<u64>).build());
}

/// So it does if all stages behind it have panicked, whatever ring is between.
#[test]
fn a_stage_without_results_ends_with_the_stages_behind_it() {
    fn ends<O>(build: impl FnOnce(Stages<u64, Free>) -> (O, Pipeline)) {
        let (mut input, stages) = Pipeline::builder().capacity(4).input::<u64>();
        let (_output, pipeline) = build(stages.filter_map(|x| (x == 0).then_some(x)));
        input.send(0).unwrap();
        while input.send(1).is_ok() {}
        assert!(!pipeline.join().unwrap_err().panics().is_empty());
    }
    fn panics(_: u64) -> u64 {
        std::panic::resume_unwind(Box::new("behind"))
    }
    ends(|stages| stages.then(panics).build());
    ends(|stages| stages.lossy().then(panics).build());
    ends(|stages| stages.fan_out(panics, panics).build());
    ends(|stages| stages.fan_out(panics, panics).zip().build());
    ends(|stages| stages.then_unordered(2, panics).build());
    ends(|stages| stages.then_parallel(1, panics).build());
    ends(|stages| stages.fork_cloned(2, |_, s| s.then(panics)).build());
}

//! Random graphs: what comes out of a pipeline is what the same functions make of a vector, and the pipeline
//! ends however it is ended.

mod model;
mod parts;

use std::sync::mpsc::{Sender, channel};

use annulus::pipeline::{JoinError, Pipeline};
use annulus::spsc;
use proptest::prelude::*;

use model::{Bound, Model, Modelled, model};
use parts::{Act, Fault, Numbering, Part, add, count, parts};

/// How a run ends, other than by a panic: what happens before the message of this number is sent.
#[derive(Clone, Copy, Debug)]
enum Ending {
    /// The input is dropped after the last message.
    Input,
    Shutdown(usize),
    Abort(usize),
    /// The output is dropped after so many messages were received.
    Output(usize),
}

/// What a graph is built between, and with.
#[derive(Clone, Copy, Debug)]
struct Shape {
    capacity: usize,
    /// The messages come from a queue of the user's, and not from an input.
    has_source: bool,
    /// The results go into a sink, and not into an output.
    has_sink: bool,
}

fn shapes() -> impl Strategy<Value = Shape> {
    (2..20usize, any::<bool>(), any::<bool>()).prop_map(|(capacity, has_source, has_sink)| Shape {
        capacity,
        has_source,
        has_sink,
    })
}

/// With an input and an output.
fn plain_shapes() -> impl Strategy<Value = Shape> {
    (2..20usize).prop_map(|capacity| Shape { capacity, has_source: false, has_sink: false })
}

/// What came out, how many messages went in, and how the stages ended.
struct Run {
    out: Vec<u64>,
    sent: u64,
    ended: Result<(), JoinError>,
}

fn run(parts: &[Part], shape: Shape, fault: Option<Fault>, ending: Ending) -> Run {
    let Shape { capacity, .. } = shape;
    let builder = Pipeline::builder().capacity(capacity);
    let mut send: Box<dyn FnMut(u64) -> bool + Send>;
    let stages = if shape.has_source {
        let (mut producer, consumer) = spsc::channel(capacity);
        send = Box::new(move |x| producer.send(x).is_ok());
        builder.source(consumer)
    } else {
        let (mut input, stages) = builder.input();
        send = Box::new(move |x| input.send(x).is_ok());
        stages
    };
    let (ask, asked) = channel::<Sender<()>>();
    let stages = add(stages.filter_map(Some), parts, &mut Numbering { next: 0, fault, capacity, ask });
    let output: Box<dyn Iterator<Item = u64> + Send>;
    let (pipeline, closer) = if shape.has_sink {
        let (send, receive) = channel();
        output = Box::new(receive.into_iter());
        (stages.sink(move |x| send.send(x).unwrap()).build(), None)
    } else {
        let (consumer, pipeline) = stages.build();
        let closer = consumer.closer();
        output = Box::new(consumer.into_iter());
        (pipeline, Some(closer))
    };
    let (out, sent) = std::thread::scope(|scope| {
        let pipeline = &pipeline;
        scope.spawn(move || {
            if let (Ok(done), Some(fault)) = (asked.recv(), fault) {
                match fault.act {
                    Act::Panic => unreachable!("it asks nobody"),
                    Act::Shutdown => pipeline.shutdown(),
                    Act::Abort => pipeline.abort(),
                    Act::Close => closer.expect("there is an output").close(),
                }
                drop((asked, done));
            }
        });
        let sender = scope.spawn(move || {
            let mut sent = 0;
            for message in 0..MESSAGES {
                match ending {
                    Ending::Shutdown(at) if at as u64 == message => pipeline.shutdown(),
                    Ending::Abort(at) if at as u64 == message => pipeline.abort(),
                    _ => {}
                }
                if !send(message) {
                    break;
                }
                sent += 1;
            }
            drop(send);
            sent
        });
        let most = if let Ending::Output(most) = ending { most } else { usize::MAX };
        let out = output.take(most).collect();
        (out, sender.join().unwrap())
    });
    let is_healthy = pipeline.is_healthy();
    assert!(pipeline.stats().edges.iter().all(|edge| edge.lost == 0), "there is room");
    let ended = pipeline.join();
    // A thread that sees the end of the outputs sees the panic in front of it, but others may panic later.
    assert!(is_healthy || ended.is_err());
    Run { out, sent, ended }
}

fn sorted(mut messages: Vec<u64>) -> Vec<u64> {
    messages.sort_unstable();
    messages
}

/// Whether all of `part` is in `whole`, as often as in `part`.
fn is_within(part: Vec<u64>, whole: Vec<u64>) -> bool {
    let whole = sorted(whole);
    let mut rest = whole.iter();
    sorted(part).iter().all(|x| rest.any(|y| x == y))
}

/// A run without a panic, whose end loses nothing.
fn loses_nothing(run: Run, parts: &[Part]) {
    run.ended.unwrap();
    is_same(run.out, model(run.sent, parts));
}

fn is_same(out: Vec<u64>, expected: Modelled) {
    if expected.is_ordered {
        assert_eq!(out, expected.out);
    } else {
        assert_eq!(sorted(out), sorted(expected.out));
    }
}

/// A run without a panic, of which only the beginning comes out.
fn makes_nothing_up(run: Run, parts: &[Part]) {
    run.ended.unwrap();
    let expected = model(run.sent, parts);
    if expected.is_ordered {
        assert_eq!(run.out, expected.out[..run.out.len()]);
    } else {
        assert!(is_within(run.out, expected.out));
    }
}

/// A run in which a stage may panic.
fn loses_what_is_behind_the_panic(run: Run, parts: &[Part], fault: Fault) {
    let model = |bound| {
        let mut model = Model::new(Some(fault), bound);
        let messages = Modelled { out: (0..run.sent).collect(), is_ordered: true };
        let modelled = model.parts(messages, parts);
        (modelled, model)
    };
    let (least, Model { is_exact, panics, .. }) = model(Bound::Least);
    match &run.ended {
        Ok(()) => assert!(!panics && run.sent == MESSAGES),
        Err(error) => {
            assert!(panics);
            assert!(error.panics().iter().all(|panic| panic.message == "injected"));
        }
    }
    if is_exact {
        is_same(run.out, least);
    } else {
        let (most, _) = model(Bound::Most);
        assert!(is_within(least.out, run.out.clone()), "too little comes out");
        assert!(is_within(run.out, most.out), "too much comes out");
    }
}

/// Graphs of each test. Without optimization it runs on emulated machines and to count lines, so there are
/// fewer.
const CASES: u32 = if cfg!(miri) {
    1
} else if cfg!(debug_assertions) {
    12
} else {
    48
};
const MESSAGES: u64 = if cfg!(miri) { 6 } else { 300 };

fn at() -> impl Strategy<Value = usize> {
    0..MESSAGES as usize
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, max_shrink_iters: 50, ..ProptestConfig::with_cases(cases) }
}

proptest! {
    #![proptest_config(config(CASES))]

    #[test]
    fn output_is_what_the_functions_make(parts in parts(), shape in shapes()) {
        let run = run(&parts, shape, None, Ending::Input);
        assert_eq!(run.sent, MESSAGES);
        loses_nothing(run, &parts);
    }

    #[test]
    fn shutdown_drains(parts in parts(), shape in plain_shapes(), at in at()) {
        loses_nothing(run(&parts, shape, None, Ending::Shutdown(at)), &parts);
    }

    #[test]
    fn abort_ends_and_makes_nothing_up(parts in parts(), shape in plain_shapes(), at in at()) {
        let run = run(&parts, shape, None, Ending::Abort(at));
        assert_eq!(run.sent, at as u64);
        makes_nothing_up(run, &parts);
    }

    #[test]
    fn dropped_output_ends_it(parts in parts(), shape in plain_shapes(), at in at()) {
        let run = run(&parts, shape, None, Ending::Output(at));
        assert_eq!(run.out.len(), at.min(model(MESSAGES, &parts).out.len()));
        makes_nothing_up(run, &parts);
    }

}

proptest! {
    // A graph has a run for each of its stages.
    #![proptest_config(config(CASES.div_ceil(6)))]

    /// At every stage, one after the other.
    #[test]
    fn panic_ends_what_depends_on_it(parts in parts(), shape in shapes(), at in 0..16u64) {
        for stage in 0..count(&parts) {
            let fault = Fault { stage, at, act: Act::Panic };
            let run = run(&parts, shape, Some(fault), Ending::Input);
            loses_what_is_behind_the_panic(run, &parts, fault);
        }
    }

    /// While a stage works on a message: each of them, one after the other.
    #[test]
    fn shutdown_at_any_stage_drains(parts in parts(), shape in plain_shapes(), at in 0..16u64) {
        for stage in 0..count(&parts) {
            let fault = Fault { stage, at, act: Act::Shutdown };
            loses_nothing(run(&parts, shape, Some(fault), Ending::Input), &parts);
        }
    }

    #[test]
    fn abort_at_any_stage_makes_nothing_up(parts in parts(), shape in plain_shapes(), at in 0..16u64) {
        for stage in 0..count(&parts) {
            for act in [Act::Abort, Act::Close] {
                let fault = Fault { stage, at, act };
                makes_nothing_up(run(&parts, shape, Some(fault), Ending::Input), &parts);
            }
        }
    }
}

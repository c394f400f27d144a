//! Random graphs: what comes out of a pipeline is what the same functions make of a vector, and the pipeline
//! ends however it is ended.

use std::panic::resume_unwind;
use std::sync::mpsc::{Sender, channel};

use annulus::topology::{Free, JoinError, Pipeline, Stages};
use proptest::prelude::*;

/// A part of a graph.
#[derive(Clone, Debug)]
enum Part {
    Then(u64),
    Filter(u64),
    Repeat(u64),
    Batch,
    Parallel(usize),
    Unordered(usize),
    Merge(Vec<Part>, Vec<Part>),
    Cloned(Vec<Part>, Vec<Part>),
    /// Its branches have `Then` and `Parallel` only, as those of `Rows`.
    Zip(Vec<Part>, Vec<Part>),
    Rows(Vec<Vec<Part>>),
}

/// What happens in a stage, and at which messages.
#[derive(Clone, Copy, Debug)]
struct Fault {
    stage: usize,
    at: u64,
    act: Act,
}

/// What happens: the stage panics, or it waits until another thread has done this.
#[derive(Clone, Copy, Debug)]
enum Act {
    Panic,
    Shutdown,
    Abort,
    /// Closes the output's queue.
    Close,
}

/// Gives each stage its number, and its fault.
struct Numbering {
    next: usize,
    fault: Option<Fault>,
    /// Asks another thread for what is to happen, which drops what it gets when it has done so.
    ask: Sender<Sender<()>>,
}

impl Numbering {
    /// What a stage does first with each message.
    fn stage(&mut self) -> impl FnMut(u64) -> u64 + Clone + Send + use<> {
        let fault = self.fault.filter(|fault| fault.stage == self.next);
        self.next += 1;
        let ask = self.ask.clone();
        move |message| {
            if let Some(Fault { act, .. }) = fault.filter(|fault| message % 16 == fault.at % 16) {
                let (done, is_done) = channel();
                match act {
                    Act::Panic => resume_unwind(Box::new("injected")),
                    // It is done once.
                    _ if ask.send(done).is_ok() => assert!(is_done.recv().is_err()),
                    _ => {}
                }
            }
            message
        }
    }
}

fn mix(message: u64, by: u64) -> u64 {
    (message ^ by).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(17)
}

fn add(mut stages: Stages<u64, Free>, parts: &[Part], numbers: &mut Numbering) -> Stages<u64, Free> {
    for part in parts {
        stages = match part.clone() {
            Part::Then(by) => {
                let mut look = numbers.stage();
                stages.then(move |x| mix(look(x), by))
            }
            Part::Filter(by) => {
                let mut look = numbers.stage();
                stages.filter_map(move |x| (look(x) % (by + 2) != 0).then_some(x))
            }
            Part::Repeat(most) => {
                let mut look = numbers.stage();
                stages.flat_map(move |x| std::iter::repeat_n(look(x), (x % (most + 1)) as usize))
            }
            Part::Batch => {
                let mut look = numbers.stage();
                stages.then_batch(move |batch, results: &mut Vec<u64>| {
                    results.extend(batch.iter().map(|x| look(*x).wrapping_add(1)));
                })
            }
            Part::Parallel(threads) => {
                let mut look = numbers.stage();
                stages.then_parallel(threads, move |x| mix(look(x), 5))
            }
            Part::Unordered(threads) => {
                let mut look = numbers.stage();
                stages.then_unordered(threads, move |x| mix(look(x), 6)).then(|x| x)
            }
            Part::Merge(left, right) => {
                let ends = (numbers.branch(&left), numbers.branch(&right));
                stages.fork(ends.0, ends.1).merge().then(numbers.stage())
            }
            Part::Cloned(left, right) => {
                let branches = [left, right];
                stages
                    .fork_cloned(2, |index, stages| numbers.branch(&branches[index])(stages))
                    .merge()
                    .then(numbers.stage())
            }
            Part::Zip(left, right) => {
                let ends = (numbers.in_step(&left), numbers.in_step(&right));
                let mut look = numbers.stage();
                stages.fork(ends.0, ends.1).zip().then(move |(a, b)| look(a).wrapping_sub(b))
            }
            Part::Rows(branches) => {
                let add = |index: usize, stages| numbers.in_step(&branches[index])(stages);
                let rows = stages.branches(branches.len(), add).zip();
                let mut look = numbers.stage();
                rows.then(move |row| look(fold(&row)))
            }
        };
    }
    stages
}

impl Numbering {
    /// What adds a branch of any parts.
    fn branch<'a>(&mut self, parts: &'a [Part]) -> impl FnOnce(Stages<u64>) -> Stages<u64, Free> + use<'a> {
        let mut own = Self { next: self.next, fault: self.fault, ask: self.ask.clone() };
        self.next += count(parts);
        move |stages| add(stages.filter_map(Some), parts, &mut own)
    }

    /// What adds a branch that makes one result of each message.
    fn in_step<'a>(&mut self, parts: &'a [Part]) -> impl FnOnce(Stages<u64>) -> Stages<u64> + use<'a> {
        let mut own = Self { next: self.next, fault: self.fault, ask: self.ask.clone() };
        self.next += count(parts);
        move |mut stages| {
            for part in parts {
                let mut look = own.stage();
                stages = match part {
                    Part::Parallel(threads) => stages.then_parallel(*threads, move |x| mix(look(x), 5)),
                    Part::Then(by) => {
                        let by = *by;
                        stages.then(move |x| mix(look(x), by))
                    }
                    _ => unreachable!("in step"),
                };
            }
            stages
        }
    }
}

/// A number in which each number of `row` has its place.
fn fold(row: &[u64]) -> u64 {
    row.iter().fold(0, |sum, x| sum.wrapping_mul(31).wrapping_add(*x))
}

/// How many stages there are in which something can happen.
fn count(parts: &[Part]) -> usize {
    parts
        .iter()
        .map(|part| match part {
            Part::Merge(left, right) | Part::Cloned(left, right) | Part::Zip(left, right) => {
                count(left) + count(right) + 1
            }
            Part::Rows(branches) => branches.iter().map(|parts| count(parts)).sum::<usize>() + 1,
            _ => 1,
        })
        .sum()
}

/// Whether messages keep their order.
fn is_ordered(parts: &[Part]) -> bool {
    !parts.iter().any(|part| matches!(part, Part::Unordered(_) | Part::Merge(..) | Part::Cloned(..)))
}

/// The same, of a vector.
fn model(mut messages: Vec<u64>, parts: &[Part]) -> Vec<u64> {
    for part in parts {
        messages = match part {
            Part::Then(by) => messages.into_iter().map(|x| mix(x, *by)).collect(),
            Part::Filter(by) => messages.into_iter().filter(|x| x % (by + 2) != 0).collect(),
            Part::Repeat(most) => {
                messages.into_iter().flat_map(|x| std::iter::repeat_n(x, (x % (most + 1)) as usize)).collect()
            }
            Part::Batch => messages.into_iter().map(|x| x.wrapping_add(1)).collect(),
            Part::Parallel(_) => messages.into_iter().map(|x| mix(x, 5)).collect(),
            Part::Unordered(_) => messages.into_iter().map(|x| mix(x, 6)).collect(),
            Part::Merge(left, right) | Part::Cloned(left, right) => {
                let mut all = model(messages.clone(), left);
                all.extend(model(messages, right));
                all
            }
            Part::Zip(left, right) => {
                let pairs = model(messages.clone(), left).into_iter().zip(model(messages, right));
                pairs.map(|(a, b)| a.wrapping_sub(b)).collect()
            }
            Part::Rows(branches) => {
                let columns: Vec<_> = branches.iter().map(|parts| model(messages.clone(), parts)).collect();
                (0..messages.len())
                    .map(|index| fold(&columns.iter().map(|column| column[index]).collect::<Vec<_>>()))
                    .collect()
            }
        };
    }
    messages
}

/// Graphs of a depth up to 6, with some 20 threads at most, mostly.
fn parts() -> impl Strategy<Value = Vec<Part>> {
    let in_step = || {
        prop::collection::vec(
            prop_oneof![3 => (0..9u64).prop_map(Part::Then), 1 => (1..3usize).prop_map(Part::Parallel)],
            0..3,
        )
    };
    let leaf = prop_oneof![
        3 => (0..9u64).prop_map(Part::Then),
        2 => (0..9u64).prop_map(Part::Filter),
        1 => (0..3u64).prop_map(Part::Repeat),
        1 => Just(Part::Batch),
        1 => (1..4usize).prop_map(Part::Parallel),
        1 => (1..3usize).prop_map(Part::Unordered),
        1 => (in_step(), in_step()).prop_map(|(left, right)| Part::Zip(left, right)),
        1 => prop::collection::vec(in_step(), 1..4).prop_map(Part::Rows),
    ];
    let part = leaf.prop_recursive(if cfg!(miri) { 1 } else { 3 }, 8, 2, |part| {
        let branch = prop::collection::vec(part, 0..3);
        (branch.clone(), branch, any::<bool>())
            .prop_map(|(a, b, cloned)| if cloned { Part::Cloned(a, b) } else { Part::Merge(a, b) })
    });
    prop::collection::vec(part, 0..if cfg!(miri) { 2 } else { 4 })
}

/// How a run ends, beside a panic: what happens before the message of this number is sent.
#[derive(Clone, Copy, Debug)]
enum Ending {
    /// The input is dropped after the last message.
    Input,
    Shutdown(usize),
    Abort(usize),
    /// The output is dropped after so many messages were received.
    Output(usize),
}

/// What came out, how many messages went in, and how the stages ended.
struct Run {
    out: Vec<u64>,
    sent: u64,
    ended: Result<(), JoinError>,
}

fn run(parts: &[Part], capacity: usize, fault: Option<Fault>, ending: Ending) -> Run {
    let (mut input, stages) = Pipeline::builder().capacity(capacity).input::<u64>();
    let stages = stages.filter_map(Some);
    let (ask, asked) = channel::<Sender<()>>();
    let (output, pipeline) = add(stages, parts, &mut Numbering { next: 0, fault, ask }).build();
    let closer = output.closer();
    let (out, sent) = std::thread::scope(|scope| {
        let pipeline = &pipeline;
        scope.spawn(move || {
            if let (Ok(done), Some(fault)) = (asked.recv(), fault) {
                match fault.act {
                    Act::Panic => unreachable!("it asks nobody"),
                    Act::Shutdown => pipeline.shutdown(),
                    Act::Abort => pipeline.abort(),
                    Act::Close => closer.close(),
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
                if input.publish(message).is_err() {
                    break;
                }
                sent += 1;
            }
            drop(input);
            sent
        });
        let most = if let Ending::Output(most) = ending { most } else { usize::MAX };
        let out = output.into_iter().take(most).collect();
        (out, sender.join().unwrap())
    });
    let is_healthy = pipeline.is_healthy();
    let ended = pipeline.join();
    // Whoever sees the end of the outputs sees the panic in front of it, but others may panic later.
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
    let expected = model((0..run.sent).collect(), parts);
    run.ended.unwrap();
    if is_ordered(parts) {
        assert_eq!(run.out, expected);
    } else {
        assert_eq!(sorted(run.out), sorted(expected));
    }
}

/// Graphs of each test. Without optimization it runs on emulated machines and to count lines, so there are
/// fewer.
const CASES: u32 = if cfg!(miri) {
    2
} else if cfg!(debug_assertions) {
    24
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
    fn what_comes_out_is_what_the_functions_make(parts in parts(), capacity in 2..20usize) {
        let run = run(&parts, capacity, None, Ending::Input);
        assert_eq!(run.sent, MESSAGES);
        loses_nothing(run, &parts);
    }

    #[test]
    fn a_shutdown_drains(parts in parts(), capacity in 2..20usize, at in at()) {
        loses_nothing(run(&parts, capacity, None, Ending::Shutdown(at)), &parts);
    }

    #[test]
    fn an_abort_ends_and_makes_nothing_up(parts in parts(), capacity in 2..20usize, at in at()) {
        let run = run(&parts, capacity, None, Ending::Abort(at));
        run.ended.unwrap();
        assert_eq!(run.sent, at as u64);
        assert!(is_within(run.out, model((0..run.sent).collect(), &parts)));
    }

    #[test]
    fn a_dropped_output_ends_it(parts in parts(), capacity in 2..20usize, at in at()) {
        let run = run(&parts, capacity, None, Ending::Output(at));
        run.ended.unwrap();
        assert!(is_within(run.out, model((0..run.sent).collect(), &parts)));
    }

}

proptest! {
    // A graph has a run for each of its stages.
    #![proptest_config(config(CASES.div_ceil(6)))]

    /// At every stage, one after the other.
    #[test]
    fn a_panic_ends_what_depends_on_it(parts in parts(), capacity in 2..20usize, at in 0..16u64) {
        for stage in 0..count(&parts) {
            let run = run(&parts, capacity, Some(Fault { stage, at, act: Act::Panic }), Ending::Input);
            if let Err(error) = &run.ended {
                assert!(error.panics().iter().all(|panic| panic.message == "injected"));
                assert!(is_within(run.out, model((0..run.sent).collect(), &parts)));
            } else {
                assert_eq!(run.sent, MESSAGES);
                loses_nothing(run, &parts);
            }
        }
    }

    /// While a stage works on a message: each of them, one after the other.
    #[test]
    fn a_shutdown_at_any_stage_drains(parts in parts(), capacity in 2..20usize, at in 0..16u64) {
        for stage in 0..count(&parts) {
            let fault = Fault { stage, at, act: Act::Shutdown };
            loses_nothing(run(&parts, capacity, Some(fault), Ending::Input), &parts);
        }
    }

    #[test]
    fn an_abort_at_any_stage_makes_nothing_up(
        parts in parts(), capacity in 2..20usize, at in 0..16u64, close in any::<bool>(),
    ) {
        for stage in 0..count(&parts) {
            let act = if close { Act::Close } else { Act::Abort };
            let run = run(&parts, capacity, Some(Fault { stage, at, act }), Ending::Input);
            run.ended.unwrap();
            assert!(is_within(run.out, model((0..run.sent).collect(), &parts)));
        }
    }
}

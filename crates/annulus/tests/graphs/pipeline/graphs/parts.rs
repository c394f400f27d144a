//! What graphs are made of, and how they are built.

use std::panic::resume_unwind;
use std::sync::mpsc::{Sender, channel};

use annulus::pipeline::Stages;
use annulus::pipeline::kind::Free;
use proptest::prelude::*;

/// Slots of a lossy ring that loses nothing.
const ROOM: usize = if cfg!(miri) { 1 << 9 } else { 1 << 16 };

/// A part of a graph.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Then(u64),
    Filter(u64),
    Repeat(u64),
    Batch,
    Parallel(usize),
    Unordered(usize),
    Merge(Vec<Part>, Vec<Part>),
    Cloned(Vec<Part>, Vec<Part>),
    /// Over a lossy ring that has room for all messages.
    Lossy,
    LossyBranches(Vec<Part>, Vec<Part>),
    /// Its branches have `Then` and `Parallel` only, as the branches of `Rows`.
    Zip(Vec<Part>, Vec<Part>),
    Rows(Vec<Vec<Part>>),
}

/// What happens in a stage, and at which messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fault {
    pub(super) stage: usize,
    pub(super) at: u64,
    pub(super) act: Act,
}

/// What happens: the stage panics, or it waits until another thread has done this.
#[derive(Clone, Copy, Debug)]
pub(super) enum Act {
    Panic,
    Shutdown,
    Abort,
    /// Closes the output's queue.
    Close,
}

/// Gives each stage its number, and its fault.
pub(super) struct Numbering {
    pub(super) next: usize,
    pub(super) fault: Option<Fault>,
    /// Of each ring, except the lossy ones.
    pub(super) capacity: usize,
    /// Asks another thread for what is to happen, which drops what it gets when it has done so.
    pub(super) ask: Sender<Sender<()>>,
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

pub(super) fn mix(message: u64, by: u64) -> u64 {
    (message ^ by).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(17)
}

pub(super) fn add(
    mut stages: Stages<u64, Free>,
    parts: &[Part],
    numbers: &mut Numbering,
) -> Stages<u64, Free> {
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
            Part::Lossy => {
                let capacity = numbers.capacity;
                stages.capacity(ROOM).lossy().capacity(capacity)
            }
            Part::LossyBranches(left, right) => {
                let (branches, capacity) = ([left, right], numbers.capacity);
                stages
                    .capacity(ROOM)
                    .branches_lossy(2, |index, stages| {
                        add(stages.capacity(capacity), &branches[index], numbers)
                    })
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
    fn own(&self) -> Self {
        Self { next: self.next, fault: self.fault, capacity: self.capacity, ask: self.ask.clone() }
    }

    /// What adds a branch of any parts.
    fn branch<'a>(&mut self, parts: &'a [Part]) -> impl FnOnce(Stages<u64>) -> Stages<u64, Free> + use<'a> {
        let mut own = self.own();
        self.next += count(parts);
        move |stages| add(stages.filter_map(Some), parts, &mut own)
    }

    /// What adds a branch that makes one result of each message.
    fn in_step<'a>(&mut self, parts: &'a [Part]) -> impl FnOnce(Stages<u64>) -> Stages<u64> + use<'a> {
        let mut own = self.own();
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
pub(super) fn fold(row: &[u64]) -> u64 {
    row.iter().fold(0, |sum, x| sum.wrapping_mul(31).wrapping_add(*x))
}

/// How many stages there are in which something can happen.
pub(super) fn count(parts: &[Part]) -> usize {
    parts
        .iter()
        .map(|part| match part {
            Part::Merge(left, right)
            | Part::Cloned(left, right)
            | Part::LossyBranches(left, right)
            | Part::Zip(left, right) => count(left) + count(right) + 1,
            Part::Lossy => 0,
            Part::Rows(branches) => branches.iter().map(|parts| count(parts)).sum::<usize>() + 1,
            _ => 1,
        })
        .sum()
}

/// Graphs of a depth up to 6, with some 20 threads at most, mostly.
pub(super) fn parts() -> impl Strategy<Value = Vec<Part>> {
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
        1 => Just(Part::Lossy),
        1 => (1..4usize).prop_map(Part::Parallel),
        1 => (1..3usize).prop_map(Part::Unordered),
        1 => (in_step(), in_step()).prop_map(|(left, right)| Part::Zip(left, right)),
        1 => prop::collection::vec(in_step(), 1..4).prop_map(Part::Rows),
    ];
    let part = leaf.prop_recursive(if cfg!(miri) { 1 } else { 3 }, 8, 2, |part| {
        let branch = prop::collection::vec(part, 0..3);
        (branch.clone(), branch, 0..3).prop_map(|(a, b, kind)| match kind {
            0 => Part::Cloned(a, b),
            1 => Part::LossyBranches(a, b),
            _ => Part::Merge(a, b),
        })
    });
    prop::collection::vec(part, 0..if cfg!(miri) { 2 } else { 4 })
}

//! Rings against plain models, in random steps on one thread. A model knows exactly what must come.
//!
//! The lossy subscriber has its model in `tests/broadcast/model.rs`.

mod groups;
mod lossless;
mod lossy_stages;
mod stages;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::rings::{self, Ring};

const CASES: u32 = if cfg!(miri) {
    2
} else if cfg!(debug_assertions) {
    60
} else {
    250
};

/// The most steps of one case.
const STEPS: usize = if cfg!(miri) { 30 } else { 300 };

/// Runs `check` on random rings (capacity, headroom) and steps.
fn random_cases<S: From<[u8; 4]> + Clone + std::fmt::Debug>(check: &dyn Fn(usize, usize, &[S])) {
    so_many_cases(CASES, check);
}

fn so_many_cases<S: From<[u8; 4]> + Clone + std::fmt::Debug>(cases: u32, check: &dyn Fn(usize, usize, &[S])) {
    let capacity = prop_oneof![2_usize..=8, 2_usize..=200];
    let ring = capacity.prop_flat_map(|capacity| (Just(capacity), prop_oneof![Just(0), 0..capacity]));
    let steps = proptest::collection::vec(any::<[u8; 4]>().prop_map(S::from), 1..STEPS);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new(config)
        .run(&(ring, steps), |((capacity, headroom), steps)| {
            check(capacity, headroom, &steps);
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

pub(crate) fn agrees_with_its_model<R: Ring>() {
    if R::LOSSLESS && !R::BETWEEN_PROCESSES {
        random_cases(&lossless::run::<R>);
    }
}

#[test]
fn lossy_group_agrees_with_its_model() {
    random_cases(&|capacity, _, steps| groups::run_lossy(capacity, steps));
}

#[test]
fn lossless_group_agrees_with_its_model() {
    random_cases(&groups::run_lossless);
}

#[test]
fn graph_of_stages_agrees_with_its_model() {
    random_cases(&stages::run::<rings::Lossless>);
    random_cases(&stages::run::<rings::MpLossless>);
}

#[test]
fn lossy_graph_of_stages_agrees_with_its_model() {
    // More than of the others: one of its seeded bugs shows in a case of some hundred.
    const MANY: u32 = 12 * CASES;
    so_many_cases(MANY, &|capacity, _, steps| lossy_stages::run::<rings::Lossy>(capacity, steps));
    so_many_cases(MANY, &|capacity, _, steps| lossy_stages::run::<rings::MpLossy>(capacity, steps));
}

//! How it goes on with more threads, each on a core of its own, on as many cores as the machine has.
//!
//! Most machines have no sixteen: rows that want more cores than there are, are left out, and the program
//! says so.

use std::time::Duration;

use super::shapes::{Shape, lossless, lossy_from, lossy_to, mpmc, mpsc, one_order};
use crate::exchange::Stream;
use crate::placement::Placement;
use crate::row::Row;

const SPAN: Duration = Duration::from_millis(30);
const ROUNDS: usize = 7;
const CAPACITY: usize = 4096;
/// With the thread on the other side, sixteen at most.
const MANY: [usize; 5] = [1, 2, 4, 8, 15];

fn row(shape: Shape, axis: &'static str, at: usize) -> Row {
    let row = Row::new(
        format!("many cores: {}", shape.name),
        format!("{}{}; {}", shape.about, shape.verbs, Placement::OwnCores.about()),
        CAPACITY,
        0,
    );
    Row { span: SPAN, placement: Placement::OwnCores, most_rounds: ROUNDS, ..row }
        .threads(shape.threads)
        .entries(shape.entries)
        .at(axis, at as u64)
        .at_most_of_the_best(1.0)
}

pub fn rows() -> Vec<Row> {
    let from = MANY.map(|producers| {
        let mut shape = mpsc::<Stream>(producers);
        shape.entries.push(one_order(producers));
        row(shape, "producers to one consumer", producers)
    });
    let both = [1, 2, 4, 8].map(|each| row(mpmc::<Stream>(each), "producers, and as many consumers", each));
    let lossless = MANY.map(|to| row(lossless::<Stream>(to), "lossless readers", to));
    let lossy = MANY.map(|to| row(lossy_to(to), "lossy subscribers", to));
    let publishers = MANY.map(|from| row(lossy_from(from), "publishers that contend", from));
    from.into_iter().chain(both).chain(lossless).chain(lossy).chain(publishers).collect()
}

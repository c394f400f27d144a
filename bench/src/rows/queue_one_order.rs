//! Queues with one order and one bound for all producers, from many of them to one consumer.

use super::entries::contenders;
use super::queue_many::produce;
use crate::contenders::{AnnulusMany, AnnulusOneOrder, Crossbeam, Crossfire, Flume, Kanal, Named};
use crate::row::Row;

pub fn rows() -> [Row; 4] {
    [
        row::<1>(
            "queue with one order, one producer",
            "u64, sent to a queue with one ring for all producers and received on the other core one by one, by verbs that wait; the consumer \
             checks that each producer's messages come in order, none missing",
        ),
        row::<2>("queue with one order, two producers", "the same with two producers, which share a core"),
        row::<4>("queue with one order, four producers", "the same with four producers, which share a core"),
        row::<8>(
            "queue with one order, eight producers",
            "the same with eight producers, which share a core",
        ),
    ]
}

fn row<const PRODUCERS: u64>(name: &'static str, about: &'static str) -> Row {
    const EACH: &str = "a ring for each producer";
    let row = Row::new(name, about, 4096, 2_048_000)
        .threads(PRODUCERS as usize + 1)
        .at("producers, one order for all", PRODUCERS)
        .entries(contenders!(produce: AnnulusOneOrder, Crossbeam, Kanal, Crossfire, Flume; PRODUCERS))
        .other(EACH, produce::<AnnulusMany, PRODUCERS>);
    [Crossbeam::NAME, Kanal::NAME, Crossfire::NAME, Flume::NAME]
        .into_iter()
        .fold(row, |row, rival| row.target(rival, 0.8))
}

//! Every verb mixed with every other, against `VecDeque`.

mod many_consumers;
mod one_consumer;
mod ordered;
mod step;
#[cfg(feature = "async")]
mod tasks;

use annulus::Settings;
use annulus::{mpmc, mpsc, spmc, spsc};
use proptest::prelude::*;

use one_consumer::Joining;
use step::Turn;

const CASES: u32 = if cfg!(miri) { 1 } else { 1_000 };

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    prop::collection::vec(any::<[u8; 4]>().prop_map(Turn::from), 1..if cfg!(miri) { 30 } else { 120 })
}

fn firsts() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), (0..20_u64).prop_map(|before| u64::MAX - before)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_producer(capacity in 1..9_usize, first in firsts(), turns in turns()) {
        one_consumer::run::<spsc::Spsc>(Settings::new(capacity).first(first), None, turns);
    }

    #[test]
    fn many_producers(capacity in 1..5_usize, first in firsts(), turns in turns()) {
        one_consumer::run::<mpsc::Mpsc>(Settings::new(capacity).first(first), Some(Joining::new()), turns);
    }

    #[test]
    fn many_consumers(capacity in 1..9_usize, first in firsts(), turns in turns()) {
        many_consumers::run::<spmc::Spmc>(|_| None, |_| 1, capacity, first, turns);
    }

    #[test]
    fn many_producers_and_consumers(capacity in 1..5_usize, first in firsts(), turns in turns()) {
        many_consumers::run::<mpmc::Mpmc>(|producer| producer.register().ok(), mpmc::Consumer::rings, capacity, first, turns);
    }

    #[test]
    fn one_order(capacity in 1..9_usize, first in firsts(), turns in turns()) {
        ordered::run(capacity, first, turns);
    }
}

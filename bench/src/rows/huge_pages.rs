//! A queue of 64 MiB in huge pages, beside the same queue in the system's usual pages.
//!
//! Where no huge pages are reserved, the system has to join pages to huge ones. If it did not, a line on the
//! error output says so, because both entries then measure the same.

use std::hint::black_box;
use std::time::Instant;

use annulus::Settings;
use annulus::memory::{HugePages, Memory};
use annulus::spsc;

use crate::contenders::{Annulus, Named};
use crate::messages::mix;
use crate::row::{Entry, Kind, Plan, Row, Sample};
use crate::timing::{ns_each, phases};

const BYTES: usize = 64 << 20;
const SLOTS: usize = BYTES / size_of::<u64>();
/// From a word to the next, as a linear congruential generator does that comes by each once (Hull and
/// Dobell): no prefetcher knows the order. (It follows equal steps, in pages of any size.)
const FACTOR: usize = 0x5851_F42D_4C95_7F2D;
const SUMMAND: usize = 0x1405_7B7E_F767_814F;

const USUAL: &str = "the same in the usual pages";

pub fn rows() -> [Row; 2] {
    let entry = |run| [Entry { name: Annulus::NAME, kind: Kind::Ours, run }];
    [
        Row::new(
            "64 MiB in huge pages, in order",
            "u64, sent into a queue in huge pages and received half a queue later, on one core",
            SLOTS,
            2 * SLOTS as u64,
        )
        .entries(entry(|plan| in_order(plan, huge())))
        .other(USUAL, |plan| in_order(plan, usual()))
        .most_rounds(7),
        Row::new(
            "64 MiB in huge pages, jumping",
            "u64, read in place where they lie in a full queue, in an order of chance: nearly each in another page than the one before",
            SLOTS,
            2_000_000,
        )
        .entries(entry(|plan| jumping(plan, huge())))
        .other(USUAL, |plan| jumping(plan, usual()))
        .most_rounds(7),
    ]
}

fn huge() -> Memory {
    usual().and(Memory::prefer().huge_pages(HugePages::Any))
}

fn usual() -> Memory {
    Memory::require().prefault()
}

fn queue(plan: &Plan, memory: Memory) -> (spsc::Producer<u64>, spsc::Consumer<u64>) {
    let (producer, consumer) = spsc::with(Settings::new(plan.capacity).memory(memory)).expect("it fits");
    for refusal in consumer.placement().refusals() {
        eprintln!("{refusal}");
    }
    (producer, consumer)
}

#[inline(never)]
fn in_order(plan: &Plan, memory: Memory) -> Sample {
    let (mut producer, mut consumer) = queue(plan, memory);
    let ahead = plan.capacity as u64 / 2;
    (0..ahead).for_each(|i| producer.try_send(mix(i)).expect("there is room"));
    let mut begun = Instant::now();
    for phase in phases(plan.capacity as u64, plan.messages) {
        begun = Instant::now();
        for i in phase {
            assert!(producer.try_send(mix(i + ahead)).is_ok());
            assert!(consumer.try_recv() == Ok(mix(i)));
        }
    }
    ns_each(begun, plan.messages).into()
}

#[inline(never)]
fn jumping(plan: &Plan, memory: Memory) -> Sample {
    let (mut producer, mut consumer) = queue(plan, memory);
    (0..plan.capacity as u64).for_each(|i| producer.try_send(i).expect("there is room"));
    let values = consumer.readable();
    assert!(values.len() == plan.capacity);
    let mut begun = Instant::now();
    assert!(plan.capacity.is_power_of_two());
    let mut at = 0;
    for phase in phases(plan.capacity as u64, plan.messages) {
        begun = Instant::now();
        for _ in phase {
            // (The next place hangs on this value, so that one look begins after the other is over. It is
            // found before the check, after which the compiler knows the value without looking.)
            let value = black_box(values[at]) as usize;
            let next = value.wrapping_mul(FACTOR).wrapping_add(SUMMAND) & (plan.capacity - 1);
            assert!(value == at);
            at = black_box(next);
        }
    }
    ns_each(begun, plan.messages).into()
}

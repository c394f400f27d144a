//! Topics looked up by name, beside the same in a plain hash map.

use std::collections::HashMap;
use std::hint::black_box;
use std::time::Instant;

use annulus::bus::Bus;

use crate::contenders::{Annulus, Named, PhotonRing};
use crate::row::{Entry, Kind, Plan, Row, Sample};
use crate::timing::{ns_each, phases};

/// photon-ring's bus is faster. It holds a lock while it looks, so others wait for a thread that the system
/// has stopped there, and it counts no handles, because it never removes a topic. A look-up of ours waits
/// for nobody, and a removal knows which threads hold the topic. That takes seven atomic read-modify-writes
/// in place of three (decision 0075).
pub fn row() -> Row {
    const MAP: &str = "std HashMap";
    Row::new(
        "bus, a topic looked up",
        "on one thread, one of 256 topics found by its name, and a handle that makes subscribers cloned from it and dropped; beside it, \
         the same with a HashMap from names to such handles, which is no longer changed and not shared",
        256,
        8_000_000,
    )
    .entries([
        Entry { name: Annulus::NAME, kind: Kind::Ours, run: bus },
        Entry { name: PhotonRing::NAME, kind: Kind::Rival, run: photon },
    ])
    .other(MAP, map)
    .target(MAP, 1.2)
}

/// The name of a topic.
fn name(number: usize) -> String {
    format!("quotes.{number:05}")
}

#[inline(never)]
fn bus(plan: &Plan) -> Sample {
    let bus = Bus::<u64>::new(8);
    run(plan, |name| drop(bus.subscribable(name)), |name| drop(black_box(bus.subscribable(name))))
}

#[inline(never)]
fn photon(plan: &Plan) -> Sample {
    let bus = photon_ring::Photon::<u64>::new(8);
    run(plan, |name| drop(bus.subscribable(name)), |name| drop(black_box(bus.subscribable(name))))
}

#[inline(never)]
fn map(plan: &Plan) -> Sample {
    let (mut map, mut publishers) = (HashMap::new(), Vec::new());
    for number in 0..plan.capacity {
        let (publisher, subscribable) = annulus::broadcast::lossy::<u64>(8);
        map.insert(name(number), subscribable);
        publishers.push(publisher);
    }
    let map = black_box(map);
    run(plan, |name| assert!(map.contains_key(name)), |name| drop(black_box(map[name].clone())))
}

#[inline(always)]
fn run(plan: &Plan, make: impl Fn(&str), mut look_up: impl FnMut(&str)) -> Sample {
    let names: Vec<_> = (0..plan.capacity).map(name).collect();
    names.iter().for_each(|name| make(name));
    let mut begun = Instant::now();
    for phase in phases(plan.capacity as u64, plan.messages) {
        begun = Instant::now();
        // A step that visits all, and none right after its neighbour.
        phase.for_each(|i| look_up(&names[(i as usize).wrapping_mul(97) % names.len()]));
    }
    ns_each(begun, plan.messages).into()
}

//! Each target: which rings it is about, and the model they are held against. None has more than one thread,
//! so that each run of a case is like the other.

use annulus::Settings;
use annulus::{mpmc, mpsc, spmc, spsc};

use crate::case::Case;
use crate::models::dice::Dice;
use crate::models::{
    fair, groups, lossless, lossy, lossy_stages, many_consumers, one_consumer, ordered, pool, rings, stages,
    step,
};

/// Lossy rings: one publisher, or many.
pub fn lossy(bytes: &[u8]) {
    let Some(case) = Case::of(bytes) else { return };
    let capacity = case.capacity(2);
    match case.kind(2) {
        0 => lossy::run(annulus::broadcast::lossy(capacity), capacity, &case.steps),
        _ => lossy::run(annulus::broadcast::mp_lossy(capacity), capacity, &case.steps),
    }
}

/// Calls the model of lossless rings with that one of the rings that the case names.
macro_rules! lossless {
    ($bytes:expr, $($number:literal: $ring:ident,)*) => {{
        let Some(case) = Case::of($bytes) else { return };
        let capacity = case.capacity(2);
        let run = match case.kind(const { [$($number),*].len() as u8 }) {
            $($number => lossless::run::<rings::$ring>,)*
            _ => unreachable!("there are no more"),
        };
        run(capacity, case.headroom(capacity), &case.steps);
    }};
}

/// Lossless rings whose messages are copied: joining, cloning, leaving, and which end waits for which.
pub fn lossless(bytes: &[u8]) {
    lossless!(bytes, 0: Lossless, 1: MpLossless, 2: GroupedLossless, 3: GroupedMpLossless,);
}

/// Owned events; also where a stage follows another one.
pub fn events(bytes: &[u8]) {
    lossless!(bytes, 0: Events, 1: MpEvents, 2: BehindEvents, 3: BehindMpEvents,);
}

/// Graphs of stages.
pub fn stages(bytes: &[u8]) {
    let Some(case) = Case::of(bytes) else { return };
    let capacity = case.capacity(2);
    match case.kind(4) {
        0 => stages::run::<rings::Lossless>(capacity, case.headroom(capacity), &case.steps),
        1 => stages::run::<rings::MpLossless>(capacity, case.headroom(capacity), &case.steps),
        2 => lossy_stages::run::<rings::Lossy>(capacity, &case.steps),
        _ => lossy_stages::run::<rings::MpLossy>(capacity, &case.steps),
    }
}

/// Groups whose members part and come together again.
pub fn groups(bytes: &[u8]) {
    let Some(case) = Case::of(bytes) else { return };
    let capacity = case.capacity(2);
    match case.kind(2) {
        0 => groups::run_lossy(capacity, &case.steps),
        _ => groups::run_lossless(capacity, case.headroom(capacity), &case.steps),
    }
}

/// Queues with one consumer.
pub fn queues(bytes: &[u8]) {
    let Some(case) = Case::of(bytes) else { return };
    let (capacity, first) = (case.capacity(1), case.first());
    match case.kind(4) {
        0 | 2 => {
            let settings = Settings::new(capacity).first(first);
            one_consumer::run::<spsc::Spsc>(settings, None, case.steps);
        }
        _ => {
            let settings = Settings::new(capacity).first(first);
            one_consumer::run::<mpsc::Mpsc>(settings, Some(one_consumer::Joining::new()), case.steps);
        }
    }
}

/// Queues with many consumers: a ring for each producer, or one ring for all.
pub fn many_consumers(bytes: &[u8]) {
    let Some(case) = Case::<step::Turn>::of(bytes) else { return };
    let (capacity, first) = (case.capacity(1), case.first());
    match case.kind(3) {
        0 => many_consumers::run::<spmc::Spmc>(|_| None, |_| 1, capacity, first, case.steps),
        1 => {
            let (join, rings) =
                (|producer: &mpmc::Producer<_>| producer.register().ok(), mpmc::Consumer::rings);
            many_consumers::run::<mpmc::Mpmc>(join, rings, capacity, first, case.steps);
        }
        _ => ordered::run(capacity, first, case.steps),
    }
}

/// A number that somebody throws.
#[derive(Debug)]
struct Throw(u32);

impl From<[u8; 4]> for Throw {
    fn from(bytes: [u8; 4]) -> Self {
        Self(u32::from_le_bytes(bytes))
    }
}

/// Queues in which producers do what they can to keep a message waiting.
pub fn fair(bytes: &[u8]) {
    fn play<K: fair::Many>(
        mut verbs: Vec<fair::Verb<K>>,
        consumers: u64,
        capacity: usize,
        throws: Vec<Throw>,
    ) {
        let (mut throws, mut rest) = (throws.into_iter(), Dice(1));
        let mut throw = |sides: u64| match throws.next() {
            Some(Throw(number)) => u64::from(number) % sides,
            None => rest.throw(sides),
        };
        let verb = verbs.swap_remove(throw(verbs.len() as u64) as usize);
        let producers = 1 + throw(6) as usize;
        let plot = fair::Plot {
            producers,
            capacity,
            consumers: 1 + throw(consumers) as usize,
            busy: throw(producers as u64 + 1) as usize,
            passing: throw(3) as usize,
            staying: throw(2) == 1,
            round: 1 + throw(1_000),
            burst: 1 + throw(4),
        };
        fair::play(&verb, plot, &mut throw, 2 * plot.bound());
    }
    let Some(case) = Case::<Throw>::of(bytes) else { return };
    let capacity = case.capacity(1);
    match case.kind(3) {
        0 => play(fair::copying::<mpsc::Mpsc>(), 1, capacity, case.steps),
        1 => play(fair::in_place::<mpsc::Mpsc>(), 1, capacity, case.steps),
        _ => play(fair::copying::<mpmc::Mpmc>(), fair::CONSUMERS as u64, capacity, case.steps),
    }
}

/// The pool of buffers.
pub fn pool(bytes: &[u8]) {
    let Some(case) = Case::of(bytes) else { return };
    pool::run(case.headroom(100) + 1, case.capacity(1).min(64), &case.steps);
}

//! Each target: which rings it is about, and the model they are held against. None has more than one thread,
//! so that each run of a case is like the other.

use annulus::{mpmc, mpsc, spmc, spsc};

use crate::case::Case;
use crate::models::{
    groups, lossless, lossy, lossy_stages, one_consumer, one_order, pool, rings, shared, stages, step,
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

/// Lossless rings whose messages are copied: joining, cloning, leaving, and who waits for whom.
pub fn lossless(bytes: &[u8]) {
    lossless!(bytes, 0: Lossless, 1: MpmcLossless, 2: GroupedLossless, 3: GroupedMpmcLossless,);
}

/// Owned events; also where a stage follows another one.
pub fn events(bytes: &[u8]) {
    lossless!(bytes, 0: Events, 1: MpmcEvents, 2: BehindEvents, 3: BehindMpmcEvents,);
}

/// Graphs of stages.
pub fn stages(bytes: &[u8]) {
    let Some(case) = Case::of(bytes) else { return };
    let capacity = case.capacity(2);
    match case.kind(4) {
        0 => stages::run::<rings::Lossless>(capacity, case.headroom(capacity), &case.steps),
        1 => stages::run::<rings::MpmcLossless>(capacity, case.headroom(capacity), &case.steps),
        2 => lossy_stages::run::<rings::Lossy>(capacity, &case.steps),
        _ => lossy_stages::run::<rings::Mpmc>(capacity, &case.steps),
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
        kind @ (0 | 2) => {
            let builder = spsc::Builder::new(capacity).first(first).hand_off(kind == 2);
            one_consumer::run(builder, None, case.steps);
        }
        _ => {
            let builder = mpsc::Builder::new(capacity).first(first);
            one_consumer::run(builder, Some(|producer| producer.register().ok()), case.steps);
        }
    }
}

/// Queues with many consumers: a ring for each producer, or one ring for all.
pub fn shared_queues(bytes: &[u8]) {
    let Some(case) = Case::<step::Turn>::of(bytes) else { return };
    let (capacity, first) = (case.capacity(1), case.first());
    match case.kind(3) {
        0 => shared::run::<spmc::Spmc>(|_| None, capacity, first, case.steps),
        1 => shared::run::<mpmc::Mpmc>(|producer| producer.register().ok(), capacity, first, case.steps),
        _ => one_order::run(capacity, first, case.steps),
    }
}

/// The pool of buffers.
pub fn pool(bytes: &[u8]) {
    let Some(case) = Case::of(bytes) else { return };
    pool::run(case.headroom(100) + 1, case.capacity(1).min(64), &case.steps);
}

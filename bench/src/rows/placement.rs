//! The same work with the threads on other cores: apart, on one core, some of each, wherever the scheduler
//! has them, and beside a program that is busy.
//!
//! A row is a shape (which thread sends to which) in a placement, at a pace.

use std::time::Duration;

use super::shapes::{
    Shape, events, lossless, lossless_sleepers_64, lossy_of_four, mpmc, mpsc, mpsc_by_looks, sleepers_200,
    sleeping_producers_1000, spsc, spsc_by_tries,
};
use crate::exchange::{NowAndThen, Stream};
use crate::placement::Placement;
use crate::row::{Limits, Placed, Row};

/// Of a run, so that it is some turns of the scheduler where threads share a core.
const SPAN: Duration = Duration::from_millis(30);
/// Some nine hundred messages of a producer, so that the slowest hundredth of all rounds is more than a few.
const LONG_SPAN: Duration = Duration::from_secs(1);
/// Some twenty messages, each of which wakes all.
const SLEEPERS_SPAN: Duration = Duration::from_millis(100);
/// As a run is long, and the rows are many.
const ROUNDS: usize = 7;
const CAPACITY: usize = 4096;

/// In `placement`.
fn row(shape: &Shape, placement: Placement, pace: &str, about_pace: &str) -> Row {
    let work = format!("{}{pace}", shape.name);
    let row = Row::new(
        format!("placement: {work}, {}", placement.name()),
        format!("{}{}{about_pace}; {}", shape.about, shape.verbs, placement.about()),
        CAPACITY,
        0,
    );
    let placed = Some(Placed { work, placement: placement.name().to_owned() });
    Row { span: SPAN, placement, placed, most_rounds: ROUNDS, ..row }
        .threads(shape.threads)
        .entries(shape.entries.iter().copied())
}

/// Each of `shapes` in each placement that suits it.
fn in_placements(shapes: Vec<Shape>, row: impl Fn(&Shape, Placement) -> Row) -> Vec<Row> {
    let rows = |shape: Shape| -> Vec<Row> {
        let placements = Placement::QUIET.into_iter().filter(|placement| placement.suits(shape.producers));
        placements.map(|placement| row(&shape, placement)).collect()
    };
    shapes.into_iter().flat_map(rows).collect()
}

/// What ours may take beside the best rival.
const TIMES: Limits = Limits { time: Some(1.0), cpu: Some(1.1), p99: None };
const LATENCY: Limits = Limits { time: None, cpu: None, p99: Some(1.1) };

pub fn streams() -> Vec<Row> {
    let mut shapes = vec![spsc::<Stream>()];
    shapes.extend([1, 2, 4, 8].map(mpsc::<Stream>));
    shapes.extend([1, 2, 4].map(mpmc::<Stream>));
    shapes.extend([1, 3].map(lossless::<Stream>));
    shapes.push(events::<Stream>());
    shapes.push(spsc_by_tries());
    let mut rows = in_placements(shapes, |shape, placement| Row {
        limits: Some(TIMES),
        ..row(shape, placement, "", "")
    });
    rows.extend([2, 4, 8].map(|producers| Row {
        limits: Some(TIMES),
        ..row(&mpsc_by_looks(producers), Placement::OneBeside, "", "")
    }));
    let lossy = vec![lossy_of_four()];
    rows.extend(in_placements(lossy, |shape, placement| Row {
        capacity: 8,
        limits: Some(TIMES),
        ..row(shape, placement, "", "")
    }));
    rows
}

pub fn sleepers() -> Vec<Row> {
    const CALL: &str =
        ", one each 5 ms; the median of what the sender's call takes, and the processor time of all threads";
    let row = |shape: &Shape, capacity, about| {
        let row = row(shape, Placement::Unpinned, "", about);
        Row { capacity, span: SLEEPERS_SPAN, ..row }
    };
    vec![
        row(&sleepers_200(), 64, CALL),
        row(&lossless_sleepers_64(), 64, CALL),
        row(&sleeping_producers_1000(), 1, ""),
    ]
}

pub fn now_and_then() -> Vec<Row> {
    let shapes = vec![
        spsc::<NowAndThen>(),
        mpsc::<NowAndThen>(2),
        mpsc::<NowAndThen>(4),
        mpsc::<NowAndThen>(8),
        mpmc::<NowAndThen>(2),
        mpmc::<NowAndThen>(4),
        lossless::<NowAndThen>(1),
        lossless::<NowAndThen>(3),
        events::<NowAndThen>(),
    ];
    in_placements(shapes, |shape, placement| Row {
        span: LONG_SPAN,
        limits: Some(LATENCY),
        ..row(
            shape,
            placement,
            ", now and then",
            ", each producer one in 50 µs to 5 ms; the median of how long a message is on its way",
        )
    })
}

pub fn beside_a_busy_program() -> Vec<Row> {
    let row = |shape: &Shape, capacity: usize| {
        let mut row = row(shape, Placement::BusyMachine, &format!(", {capacity} slots"), "");
        row.capacity = capacity;
        row.limits = Some(TIMES);
        row
    };
    let mut rows = vec![];
    for capacity in [CAPACITY, 64] {
        rows.push(row(&spsc::<Stream>(), capacity));
        rows.extend([1, 2, 4, 8].map(|producers| row(&mpsc::<Stream>(producers), capacity)));
        rows.extend([lossless::<Stream>(1), mpmc::<Stream>(1)].map(|shape| row(&shape, capacity)));
    }
    rows
}

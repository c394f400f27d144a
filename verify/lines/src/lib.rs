//! How many cache lines a message moves between cores, and what that costs on more cores than there are
//! here: the library's own code, on the cores of a model. Without `--cfg annulus_lines` there is nothing
//! here; `ci/lines` runs it.
#![cfg(annulus_lines)]
#![allow(missing_docs, clippy::must_use_candidate, clippy::missing_panics_doc, reason = "a program")]
#![allow(
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "figures are printed with three digits"
)]

mod arena;
pub mod machine;
pub mod measured;
pub mod page;
pub mod run;
pub mod shapes;

use std::sync::Mutex;
use std::thread;

use machine::Costs;
use page::Point;
use run::Found;
use shapes::{SHAPES, Shape, simulate};

/// All shapes with all numbers of threads.
pub fn all(costs: Costs) -> Vec<Point> {
    let wanted: Vec<(Shape, usize)> =
        SHAPES.into_iter().flat_map(|shape| shape.numbers().iter().map(move |&many| (shape, many))).collect();
    // The last ones take longest.
    let left = Mutex::new((0..wanted.len()).collect::<Vec<_>>());
    let done = Mutex::new(vec![]);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some(at) = left.lock().expect("nobody panics").pop() else { return };
                    let (shape, many) = wanted[at];
                    let found = median(shape, many, costs);
                    done.lock().expect("nobody panics").push((at, Point { shape, many, found }));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("nobody panics");
    done.sort_by_key(|&(at, _)| at);
    done.into_iter().map(|(_, point)| point).collect()
}

/// Of three seeds where a run is short.
fn median(shape: Shape, many: usize, costs: Costs) -> Found {
    let seeds = if many < 16 { 1..=3 } else { 1..=1 };
    let mut found: Vec<Found> =
        seeds.map(|seed| simulate(shape, many, costs, shape.length(many), seed)).collect();
    found.sort_by_key(|found| found.time);
    let middle = found.len() / 2;
    found.swap_remove(middle)
}

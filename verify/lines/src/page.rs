//! `docs/SCALING.md` and its picture.

use std::fmt::Write;

use annulus_curves::{Curve, Look, Panel, picture, short};

use crate::measured::Measured;
use crate::run::{Found, Moves};
use crate::shapes::Shape;

/// One number of threads of one shape: the median of some seeds.
pub struct Point {
    pub shape: Shape,
    pub many: usize,
    pub found: Found,
}

/// What the page says around its figures.
const PAGE: &str = include_str!("page.md");

/// What of the library a file is, by the beginning of its path.
const PARTS: [(&str, &str); 13] = [
    ("ring/slots", "slots"),
    ("ring/copy", "slots"),
    ("lane/cells", "slots"),
    ("lane/stamped", "slots"),
    ("lane/claim", "claims"),
    ("lane/one_to_one", "head and tail"),
    ("ring/head", "head"),
    ("ring/gate", "gate"),
    ("ring/registry", "gate"),
    ("base/link", "gate"),
    ("queue/roster", "list of rings"),
    ("wait/", "sleepers"),
    ("base/handle_count", "handles"),
];

fn part(file: &str) -> &str {
    let path = file.rsplit_once("annulus/src/").map_or(file, |(_, path)| path);
    PARTS.iter().find(|(beginning, _)| path.starts_with(beginning)).map_or("others", |&(_, part)| part)
}

/// The parts whose lines move, those first that move most, down to one move in twenty.
fn most_moved(found: &Found) -> String {
    let mut parts: Vec<(&str, u64)> = vec![];
    for (file, moves) in &found.moves {
        let (part, count) = (part(file), Moves::all(*moves));
        match parts.iter_mut().find(|(known, _)| *known == part) {
            Some((_, all)) => *all += count,
            None => parts.push((part, count)),
        }
    }
    let all: u64 = parts.iter().map(|(_, count)| count).sum();
    parts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let often = parts.iter().filter(|&&(_, count)| 20 * count >= all);
    often
        .map(|&(part, count)| format!("{part} {} %", 100 * count / all.max(1)))
        .collect::<Vec<_>>()
        .join(", ")
}

fn table(points: &[Point], measured: &Measured) -> String {
    let mut table = String::from(
        "| | number | lines a message | of the busiest core | whose lines | predicted, ns | measured, ns | predicted ÷ measured |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for Point { shape, many, found } in points {
        let predicted = found.ns_each();
        let (ns, ratio) = match measured.ns(*shape, *many) {
            Some(ns) => (short(ns), ratio(predicted / ns)),
            None => ("–".into(), "–".into()),
        };
        let _ = writeln!(
            table,
            "| {} | {many} | {:.2} | {:.2} | {} | {} | {ns} | {ratio} |",
            shape.axis(),
            found.moves_each(),
            found.busiest_each(),
            most_moved(found),
            short(predicted),
        );
    }
    table
}

/// Bold where it is not within a fifth.
fn ratio(ratio: f64) -> String {
    if (1.0 / 1.2..=1.2).contains(&ratio) { format!("{ratio:.2}") } else { format!("**{ratio:.2}**") }
}

/// How many rows are within a fifth.
fn within(points: &[Point], measured: &Measured) -> String {
    let ratios =
        points.iter().filter_map(|point| Some(point.found.ns_each() / measured.ns(point.shape, point.many)?));
    let ratios: Vec<f64> = ratios.collect();
    let count = |most: f64| ratios.iter().filter(|ratio| (1.0 / most..=most).contains(*ratio)).count();
    format!("Of {} rows {} are within a fifth, and {} within a half", ratios.len(), count(1.2), count(1.5))
}

pub fn page(points: &[Point], measured: &Measured, transfer_ns: f64) -> String {
    // (The template lies elsewhere than the page.)
    PAGE.replace("{picture}", "![Nanoseconds for each message, predicted and measured](scaling.svg)")
        .replace("{xeon}", "[sixteen cores of an Intel Xeon](benchmarks/intel-xeon-emerald-rapids.md)")
        .replace("{table}\n", &table(points, measured))
        .replace("{within}", &within(points, measured))
        .replace("{transfer}", &short(transfer_ns))
        .replace("{ping_pong}", &format!("{:.0}", measured.ping_pong_ns()))
}

pub fn drawn(points: &[Point], measured: &Measured) -> String {
    let panels = crate::shapes::SHAPES.map(|shape| {
        let of_it = || points.iter().filter(move |point| point.shape == shape);
        let model = of_it().map(|point| (point.many as u64, point.found.ns_each())).collect();
        let real =
            of_it().filter_map(|point| Some((point.many as u64, measured.ns(shape, point.many)?))).collect();
        let curves = vec![
            Curve { name: "measured".into(), look: Look::Back, points: real },
            Curve { name: "predicted".into(), look: Look::Front, points: model },
        ];
        Panel { axis: shape.axis().into(), curves }
    });
    picture("Nanoseconds for each message, predicted for as many cores", &panels)
}

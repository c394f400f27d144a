//! Lines in a plane: nanoseconds, on a scale of powers of ten, over something else.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::super::short;
use super::colours::Colours;
use crate::percentiles::Latency;
use crate::results::RowResult;

/// Of the drawing, in its own units; the page scales it.
const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 280.0;
const LEFT: f64 = 52.0;
const BOTTOM: f64 = 36.0;
const MARGIN: f64 = 22.0;

struct Line {
    name: String,
    class: String,
    /// From left to right: the place on the axis, and nanoseconds.
    points: Vec<(f64, f64)>,
}

/// The latencies of a row's entries: how long the slowest one in two, in ten, in a hundred... took at least.
pub fn percentiles(row: &RowResult, colours: &Colours) -> Markup {
    // As many nines as there are.
    let nines = |percentile: f64| -(1.0 - percentile / 100.0).log10();
    let most = nines(99.999);
    let lines: Vec<Line> = row
        .entries
        .iter()
        .filter_map(|entry| {
            let curve = entry.latency.as_ref()?.curve();
            let points = curve.map(|(percentile, ns)| (nines(percentile).min(most), ns as f64)).collect();
            Some(Line { name: entry.label(), class: colours.class(&entry.name, entry.kind), points })
        })
        .collect();
    if lines.is_empty() {
        return html! {};
    }
    let marks = [0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999]
        .map(|percentile| (nines(percentile), format!("{percentile} %")));
    let table = html! {
        table.small {
            thead { tr { th { "ns" } @for column in Latency::COLUMNS { th { (column) } } } }
            @for entry in &row.entries {
                @if let Some(latency) = &entry.latency {
                    tr { th { (entry.label()) } @for ns in latency.cells() { td { (ns) } } }
                }
            }
        }
    };
    html! { (plane("part of the messages that took at most so long", &marks, &lines)) (table) }
}

/// A chart for each axis that two rows or more stand on.
pub fn along_axes(rows: &[&RowResult], colours: &Colours) -> Markup {
    let mut axes: BTreeMap<&str, Vec<(u64, &RowResult)>> = BTreeMap::new();
    for row in rows {
        if let Some(place) = &row.place {
            axes.entry(&place.axis).or_default().push((place.at, row));
        }
    }
    axes.retain(|_, rows| rows.len() > 1);
    axes.values_mut().for_each(|rows| rows.sort_by_key(|(at, _)| *at));
    html! {
        @if !axes.is_empty() {
            div.charts {
                @for (axis, rows) in &axes {
                    figure {
                        figcaption { strong { "by " (axis) } }
                        (along(axis, rows, colours))
                    }
                }
            }
        }
    }
}

fn along(axis: &str, rows: &[(u64, &RowResult)], colours: &Colours) -> Markup {
    let scale = |at: u64| (at.max(1) as f64).log2();
    let mut lines: Vec<Line> = vec![];
    for (at, row) in rows {
        for entry in &row.entries {
            let Some(ns) = entry.ns else { continue };
            let name = entry.label();
            let point = (scale(*at), ns.median);
            match lines.iter_mut().find(|line| line.name == name) {
                Some(line) => line.points.push(point),
                None => lines.push(Line {
                    class: colours.class(&entry.name, entry.kind),
                    name,
                    points: vec![point],
                }),
            }
        }
    }
    let marks: Vec<(f64, String)> = rows.iter().map(|(at, _)| (scale(*at), at.to_string())).collect();
    plane(axis, &marks, &lines)
}

fn plane(axis: &str, marks: &[(f64, String)], lines: &[Line]) -> Markup {
    let points = || lines.iter().flat_map(|line| &line.points);
    let ends = |values: &mut dyn Iterator<Item = f64>| {
        values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
    };
    let (left, right) = ends(&mut points().map(|(at, _)| *at));
    let (low, high) = ends(&mut points().map(|(_, ns)| ns.max(0.1).log10()));
    let (low, high) = (low.floor(), high.ceil().max(low.floor() + 1.0));
    let x = |at: f64| LEFT + (at - left) / (right - left).max(1e-9) * (WIDTH - LEFT - MARGIN);
    let y = |ns: f64| MARGIN + (high - ns.max(0.1).log10()) / (high - low) * (HEIGHT - BOTTOM - MARGIN);
    let powers = (low as i32..=high as i32).map(|power| 10_f64.powi(power));
    let path = |line: &Line| {
        let points = line.points.iter().map(|&(at, ns)| format!("{:.1},{:.1}", x(at), y(ns)));
        points.collect::<Vec<_>>().join(" ")
    };
    let base = HEIGHT - BOTTOM;
    html! {
        svg.plane viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(format!("nanoseconds by {axis}")) {
            @for ns in powers {
                line.grid x1=(LEFT) x2=(WIDTH - MARGIN) y1=(y(ns)) y2=(y(ns)) {}
                text x=(LEFT - 6.0) y=(y(ns) + 4.0) text-anchor="end" { (if ns < 1.0 { ns.to_string() } else { thousands(ns) }) }
            }
            @for (at, mark) in marks.iter().filter(|(at, _)| (left..=right + 1e-9).contains(at)) {
                line.grid x1=(x(*at)) x2=(x(*at)) y1=(MARGIN) y2=(base) {}
                text x=(x(*at)) y=(base + 15.0) text-anchor="middle" { (mark) }
            }
            text x=((LEFT + WIDTH) / 2.0) y=(HEIGHT - 5.0) text-anchor="middle" { (axis) }
            text x="4" y="11" { "ns" }
            @for line in lines {
                g class=(line.class) {
                    title { (line.name) }
                    polyline points=(path(line)) {}
                    @if line.points.len() <= marks.len() {
                        @for &(at, ns) in &line.points {
                            circle cx=(format!("{:.1}", x(at))) cy=(format!("{:.1}", y(ns))) r="3" { title { (line.name) ": " (short(ns)) " ns" } }
                        }
                    }
                }
            }
        }
        ul.legend { @for line in lines { li class=(line.class) { (line.name) } } }
    }
}

/// A power of ten from 1 on.
fn thousands(value: f64) -> String {
    match value {
        1e6.. => format!("{} M", value / 1e6),
        1e3.. => format!("{} k", value / 1e3),
        _ => value.to_string(),
    }
}

//! `docs/benchmarks/many-cores.svg`: how the time of a message goes on with more threads, each on a core of
//! its own, beside the best rival at each number of them.

use annulus_curves::{Curve, Look, Panel};

use crate::results::{Results, RowResult};
use crate::row::Group;

/// One number of threads.
struct Point<'a> {
    at: u64,
    ours: f64,
    rival: f64,
    name: &'a str,
}

/// An SVG that needs nothing else, in light and dark; none of results without such rows.
pub fn picture(results: &Results) -> Option<String> {
    let panels = panels(results);
    let title = format!(
        "Nanoseconds for each message on {}, each thread on a core of its own",
        results.machine.name()
    );
    (!panels.is_empty()).then(|| annulus_curves::picture(&title, &panels))
}

/// The rows that differ in one number.
fn panels(results: &Results) -> Vec<Panel> {
    let mut axes: Vec<(&str, Vec<Point>)> = vec![];
    for row in results.rows.iter().filter(|row| row.group == Group::ManyCores) {
        let Some((place, point)) = row.place.as_ref().zip(point(row)) else { continue };
        match axes.iter_mut().find(|(axis, _)| *axis == place.axis) {
            Some((_, points)) => points.push(point),
            None => axes.push((&place.axis, vec![point])),
        }
    }
    axes.retain(|(_, points)| points.len() > 1);
    axes.into_iter().map(|(axis, points)| panel(axis, &points)).collect()
}

fn panel(axis: &str, points: &[Point]) -> Panel {
    let curve = |look, name: &str, ns: fn(&Point) -> f64| Curve {
        name: name.into(),
        look,
        points: points.iter().map(|point| (point.at, ns(point))).collect(),
    };
    let rival = points.last().map_or("", |point| point.name);
    let curves = vec![
        curve(Look::Back, rival, |point| point.rival),
        curve(Look::Front, "annulus", |point| point.ours),
    ];
    Panel { axis: axis.into(), curves }
}

fn point(row: &RowResult) -> Option<Point<'_>> {
    let (ours, rival) = row.beside_the_best_rival()?;
    Some(Point {
        at: row.place.as_ref()?.at,
        ours: ours.ns?.median,
        rival: rival.ns?.median,
        name: &rival.name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::{results, row};
    use crate::row::Place;

    #[test]
    fn rows_along_an_axis_are_one_panel() {
        let at = |at: u64, ours: f64| {
            let mut row = row(ours, 100.0, true);
            row.group = Group::ManyCores;
            row.place = Some(Place { axis: "producers".into(), at });
            row
        };
        assert!(picture(&results(vec![at(1, 1.0)])).is_none(), "a point is no line");
        let text = picture(&results(vec![at(1, 1.0), at(4, 10.0)])).unwrap();
        assert_eq!(text.matches("<polyline").count(), 2, "{text}");
        assert!(
            text.contains(">producers<") && text.contains(">annulus<") && text.contains(">a rival<"),
            "{text}"
        );
    }
}

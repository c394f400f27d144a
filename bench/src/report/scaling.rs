//! `docs/benchmarks/many-cores.svg`: how the time of a message goes on with more threads, each on a core of
//! its own, beside the best rival at each number of them.

use maud::{Markup, PreEscaped, html};

use super::short;
use crate::results::{Results, RowResult};
use crate::row::Group;

/// Without variables: not every viewer of pictures knows them.
const STYLE: &str = "text{font:14px system-ui,sans-serif;fill:#1c1e21}.soft{font-size:11.5px;fill:#5c6370}.paper{fill:#fff}\
    polyline{fill:none;stroke-width:2.5;stroke-linejoin:round}.grid{stroke:#d9dce1}\
    .ours polyline{stroke:#0b62d6}.ours circle{fill:#0b62d6}.rival polyline{stroke:#a9b1bd}.rival circle{fill:#a9b1bd}\
    @media(prefers-color-scheme:dark){text{fill:#e6e8eb}.soft{fill:#9aa2ae}.paper{fill:#14161a}.grid{stroke:#30353d}\
    .ours polyline{stroke:#5aa2ff}.ours circle{fill:#5aa2ff}.rival polyline{stroke:#565e6b}.rival circle{fill:#565e6b}}";

const WIDTH: f64 = 800.0;
const TOP: f64 = 48.0;
/// A panel, and the room in it beside its lines.
const PANEL: (f64, f64) = (370.0, 230.0);
const LEFT: f64 = 44.0;
const RIGHT: f64 = 84.0;
/// From the edge of a panel's lines to the first and the last point.
const INSET: f64 = 18.0;
const BASE: f64 = 34.0;
const HEAD: f64 = 34.0;

/// One number of threads.
struct Point<'a> {
    at: u64,
    ours: f64,
    rival: f64,
    name: &'a str,
}

/// The rows that differ in one number.
struct Panel<'a> {
    axis: &'a str,
    points: Vec<Point<'a>>,
}

/// An SVG that needs nothing else, in light and dark; none of results without such rows.
pub fn picture(results: &Results) -> Option<String> {
    let panels = panels(results);
    if panels.is_empty() {
        return None;
    }
    let height = TOP + PANEL.1 * panels.len().div_ceil(2) as f64 + 10.0;
    let title = format!(
        "Nanoseconds for each message on {}, each thread on a core of its own",
        results.machine.name()
    );
    let corner = |number: usize| {
        let (column, line) = ((number % 2) as f64, (number / 2) as f64);
        (20.0 + column * (PANEL.0 + 20.0), TOP + line * PANEL.1)
    };
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label=(title) {
            style { (PreEscaped(STYLE)) }
            rect.paper width=(WIDTH) height=(height) rx="8" {}
            text x="20" y="28" { (title) }
            @for (number, panel) in panels.iter().enumerate() {
                @let (x, y) = corner(number);
                g transform=(format!("translate({x} {y})")) { (drawing(panel)) }
            }
        }
    };
    Some(picture.into_string() + "\n")
}

fn panels(results: &Results) -> Vec<Panel<'_>> {
    let mut panels: Vec<Panel> = vec![];
    for row in results.rows.iter().filter(|row| row.group == Group::ManyCores) {
        let Some((place, point)) = row.place.as_ref().zip(point(row)) else { continue };
        match panels.iter_mut().find(|panel| panel.axis == place.axis) {
            Some(panel) => panel.points.push(point),
            None => panels.push(Panel { axis: &place.axis, points: vec![point] }),
        }
    }
    panels.retain(|panel| panel.points.len() > 1);
    panels
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

fn drawing(Panel { axis, points }: &Panel) -> Markup {
    let last = points.last().expect("a panel has points");
    let most = points.iter().flat_map(|point| [point.ours, point.rival]).fold(1.0, f64::max).log10().ceil();
    let x = |at: u64| {
        let part = (at as f64).log2() / (last.at as f64).log2();
        LEFT + INSET + part * (PANEL.0 - LEFT - RIGHT - 2.0 * INSET)
    };
    let bottom = PANEL.1 - BASE;
    let y = |ns: f64| bottom - ns.max(1.0).log10() / most * (bottom - HEAD);
    let line = |class: &str, ns: &dyn Fn(&Point) -> f64, name: &str| {
        let path = points.iter().map(|point| format!("{:.1},{:.1}", x(point.at), y(ns(point))));
        let path = path.collect::<Vec<_>>().join(" ");
        html! {
            g class=(class) {
                polyline points=(path) {}
                @for point in points {
                    circle cx=(format!("{:.1}", x(point.at))) cy=(format!("{:.1}", y(ns(point)))) r="3" {}
                    text.soft x=(format!("{:.1}", x(point.at))) y=(format!("{:.1}", y(ns(point)) - 7.0)) text-anchor="middle" { (short(ns(point))) }
                }
                text.soft x=(format!("{:.1}", x(last.at) + INSET + 4.0)) y=(format!("{:.1}", y(ns(last)) + 4.0)) { (name) }
            }
        }
    };
    html! {
        text x="0" y="12" { (axis) }
        @for power in 0..=most as i32 {
            @let at = y(10_f64.powi(power));
            line.grid x1=(LEFT) x2=(PANEL.0 - RIGHT) y1=(at) y2=(at) {}
            text.soft x=(LEFT - 8.0) y=(at + 4.0) text-anchor="end" { (10_u64.pow(power as u32)) }
        }
        @for point in points {
            text.soft x=(format!("{:.1}", x(point.at))) y=(bottom + 16.0) text-anchor="middle" { (point.at) }
        }
        (line("rival", &|point| point.rival, last.name))
        (line("ours", &|point| point.ours, "annulus"))
    }
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

//! Pictures of how the time of a message goes on with more threads: an SVG that needs nothing else, in light
//! and dark. The benchmark draws what was measured so, and `verify/lines` what its model predicts.

use maud::{Markup, PreEscaped, html};

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

/// What is in front of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// In colour.
    Front,
    /// In gray.
    Back,
}

impl Look {
    fn class(self) -> &'static str {
        match self {
            Self::Front => "ours",
            Self::Back => "rival",
        }
    }
}

/// One curve.
pub struct Curve {
    pub name: String,
    pub look: Look,
    /// Numbers of threads, and nanoseconds.
    pub points: Vec<(u64, f64)>,
}

/// Curves along one axis, those behind first. Each has points.
pub struct Panel {
    pub axis: String,
    pub curves: Vec<Curve>,
}

/// Draws the panels, two beside each other.
pub fn picture(title: &str, panels: &[Panel]) -> String {
    let height = TOP + PANEL.1 * panels.len().div_ceil(2) as f64 + 10.0;
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
    picture.into_string() + "\n"
}

fn drawing(Panel { axis, curves }: &Panel) -> Markup {
    let all = || curves.iter().flat_map(|curve| &curve.points);
    let mut threads: Vec<u64> = all().map(|&(at, _)| at).collect();
    threads.sort_unstable();
    threads.dedup();
    let last = *threads.last().expect("a panel has points");
    let most = all().map(|&(_, ns)| ns).fold(1.0, f64::max).log10().ceil();
    let x = |at: u64| {
        let part = (at as f64).log2() / (last as f64).log2();
        LEFT + INSET + part * (PANEL.0 - LEFT - RIGHT - 2.0 * INSET)
    };
    let bottom = PANEL.1 - BASE;
    let y = |ns: f64| bottom - ns.max(1.0).log10() / most * (bottom - HEAD);
    // Names stand at the right edge, and not on each other.
    let name_at = |number: usize| {
        let end = |curve: &Curve| y(curve.points.last().expect("a curve has points").1) + 4.0;
        let (at, front) = (end(&curves[number]), end(&curves[curves.len() - 1]));
        if number + 1 < curves.len() && (at - front).abs() < 12.0 { front + 12.0 } else { at }
    };
    html! {
        text x="0" y="12" { (axis) }
        @for power in 0..=most as i32 {
            @let at = y(10_f64.powi(power));
            line.grid x1=(LEFT) x2=(PANEL.0 - RIGHT) y1=(at) y2=(at) {}
            text.soft x=(LEFT - 8.0) y=(at + 4.0) text-anchor="end" { (10_u64.pow(power as u32)) }
        }
        @for &at in &threads {
            text.soft x=(format!("{:.1}", x(at))) y=(bottom + 16.0) text-anchor="middle" { (at) }
        }
        @for (number, curve) in curves.iter().enumerate() {
            @let path = curve.points.iter().map(|&(at, ns)| format!("{:.1},{:.1}", x(at), y(ns))).collect::<Vec<_>>().join(" ");
            g class=(curve.look.class()) {
                polyline points=(path) {}
                @for &(at, ns) in &curve.points {
                    circle cx=(format!("{:.1}", x(at))) cy=(format!("{:.1}", y(ns))) r="3" {}
                    text.soft x=(format!("{:.1}", x(at))) y=(format!("{:.1}", y(ns) - 7.0)) text-anchor="middle" { (short(ns)) }
                }
                text.soft x=(format!("{:.1}", x(last) + INSET + 4.0)) y=(format!("{:.1}", name_at(number))) { (curve.name) }
            }
        }
    }
}

/// Three digits or so.
pub fn short(value: f64) -> String {
    let digits = match value {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    format!("{value:.digits$}")
}

//! What the README shows: a picture of the newest results, and a small table of all processors.
//!
//! A row of either is Annulus beside its best rival there. Which rows, the list below says, also some where a
//! rival wins: the reader is to see what to expect.

use std::fmt::Write;
use std::ops::Range;

use maud::{Markup, PreEscaped, html};

use super::{none, short};
use crate::results::{Results, RowResult};

const BEGIN: &str = "<!-- figures: written by bench/, from docs/benchmarks/*.json -->\n";
const END: &str = "<!-- end of figures -->\n";

/// Rows of the bench, and what they are to a reader of the README. The table has the first of them.
const ROWS: [(&str, &str); 9] = [
    ("publish, live reader", "lossy broadcast, one live reader"),
    ("two publishers at once", "lossy broadcast, two publishers"),
    ("lossless, one reader", "lossless broadcast, one reader"),
    ("lossless, batches of 64", "lossless broadcast, batches of 64"),
    ("queue, one by one, waiting", "spsc, one by one"),
    ("queue, four producers", "mpsc, four producers"),
    ("queue for many, two to two", "mpmc, two to two"),
    ("queue, round trip", "spsc, a round trip between two cores"),
    ("async spsc, round trip, one thread", "async spsc, a round trip of two tasks"),
];
const OF_TABLE: usize = 7;

/// `readme` with these figures in the place of those it has.
pub fn with_figures(readme: &str, all: &[Results]) -> Result<String, String> {
    let Range { start, end } = place(readme)?;
    Ok([&readme[..start], &table(&shown(all), &ROWS[..OF_TABLE]), &readme[end..]].concat())
}

/// Those that have one of the rows: a run may be of others.
fn shown(all: &[Results]) -> Vec<&Results> {
    all.iter().filter(|results| ROWS.iter().any(|(row, _)| pair(results, row).is_some())).collect()
}

fn place(readme: &str) -> Result<Range<usize>, String> {
    let missing = |line: &str| format!("the README lacks the line {:?}", line.trim());
    let start = readme.find(BEGIN).ok_or_else(|| missing(BEGIN))? + BEGIN.len();
    let length = readme[start..].find(END).ok_or_else(|| missing(END))?;
    Ok(start..start + length)
}

/// Ours, and the rival with the shortest time.
struct Pair<'a> {
    ours: f64,
    rival: f64,
    name: &'a str,
}

fn pair<'a>(results: &'a Results, row: &str) -> Option<Pair<'a>> {
    let row: &RowResult = results.rows.iter().find(|known| known.name == row)?;
    let (ours, rival) = row.beside_the_best_rival()?;
    Some(Pair { ours: ours.ns?.median, rival: rival.ns?.median, name: &rival.name })
}

/// Nanoseconds of both, the shorter time in bold, a column for each processor. A row has its name in the
/// bench, and one for the reader.
pub fn table(all: &[&Results], rows: &[(&str, &str)]) -> String {
    let mut text = String::from("\n| ns for each message: annulus, best rival |");
    all.iter().for_each(|results| _ = write!(text, " {} |", results.machine.name()));
    text += &format!("\n| --- |{}\n", " --- |".repeat(all.len()));
    for (row, words) in rows {
        _ = write!(text, "| {words} |");
        for results in all {
            let cell = pair(results, row).map_or_else(none, |Pair { ours, rival, name }| {
                let [ours, rival] = [(ours, rival), (rival, ours)].map(|(time, other)| {
                    if time < other { format!("**{}**", short(time)) } else { short(time) }
                });
                format!("{ours}, {rival} ({name})")
            });
            _ = write!(text, " {cell} |");
        }
        text += "\n";
    }
    text + "\n"
}

/// Without variables: not every viewer of pictures knows them.
const STYLE: &str = "text{font:14px system-ui,sans-serif;fill:#1c1e21}.soft{font-size:12.5px;fill:#5c6370}\
    .paper{fill:#fff}.ours{fill:#0b62d6}.rival{fill:#a9b1bd}\
    @media(prefers-color-scheme:dark){text{fill:#e6e8eb}.soft{fill:#9aa2ae}.paper{fill:#14161a}.ours{fill:#5aa2ff}.rival{fill:#565e6b}}";

const WIDTH: u32 = 800;
/// Where the bars begin, and how long the longest of a row is.
const LEFT: u32 = 300;
const LONGEST: f64 = 300.0;
const TOP: usize = 54;
const LINE: usize = 44;

/// Of the newest results that have such rows: an SVG that needs nothing else, in light and dark. The longer
/// bar of each row has the same length.
pub fn picture(all: &[Results]) -> Option<String> {
    let results = *shown(all).first()?;
    let rows = ROWS.iter().filter_map(|(row, words)| Some((*words, pair(results, row)?)));
    let rows: Vec<(&str, Pair)> = rows.collect();
    let height = TOP + LINE * rows.len() + 10;
    let title = format!("Nanoseconds for each message on {}", results.machine.name());
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label=(title) {
            style { (PreEscaped(STYLE)) }
            rect.paper width=(WIDTH) height=(height) rx="8" {}
            text x="20" y="28" { (title) }
            text.soft x=(WIDTH - 20) y="28" text-anchor="end" { "median, " (results.machine.date) "; shorter is faster" }
            @for (number, (words, pair)) in rows.iter().enumerate() { (line(TOP + LINE * number, words, pair)) }
        }
    };
    Some(picture.into_string() + "\n")
}

fn line(top: usize, words: &str, Pair { ours, rival, name }: &Pair) -> Markup {
    let length = |ns: &f64| format!("{:.1}", (ns / ours.max(*rival) * LONGEST).max(1.0));
    let after =
        |ns: &f64| format!("{:.1}", f64::from(LEFT) + (ns / ours.max(*rival) * LONGEST).max(1.0) + 8.0);
    html! {
        text x=(LEFT - 14) y=(top + 20) text-anchor="end" { (words) }
        rect.ours x=(LEFT) y=(top + 2) width=(length(ours)) height="13" rx="2" {}
        text.soft x=(after(ours)) y=(top + 13) { "annulus " (short(*ours)) }
        rect.rival x=(LEFT) y=(top + 18) width=(length(rival)) height="13" rx="2" {}
        text.soft x=(after(rival)) y=(top + 29) { (name) " " (short(*rival)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{index, page};
    use crate::results::tests::{results, row};
    use std::path::Path;

    fn one() -> Results {
        let mut row = row(1.5, 3.0, true);
        row.name = ROWS[0].0.into();
        results(vec![row])
    }

    #[test]
    fn cell_has_both_times_and_a_row_that_was_not_measured_has_none() {
        let text = table(&[&one()], &ROWS);
        assert!(text.contains(&format!("| {} | **1.50**, 3.00 (a rival) |\n", ROWS[0].1)), "{text}");
        assert!(text.contains(&format!("| {} | – |\n", ROWS[1].1)), "{text}");
    }

    #[test]
    fn longer_bar_has_the_whole_length() {
        let text = picture(&[one()]).unwrap();
        assert!(text.contains("width=\"150.0\"") && text.contains("width=\"300.0\""), "{text}");
    }

    #[test]
    fn figures_alone_are_replaced() {
        let all = [one()];
        let readme = format!("before\n{BEGIN}old\n{END}after\n");
        let written = with_figures(&readme, &all).unwrap();
        assert_eq!(written, format!("before\n{BEGIN}{}{END}after\n", table(&shown(&all), &ROWS[..OF_TABLE])));
        assert_eq!(with_figures(&written, &all).unwrap(), written);
        assert!(with_figures("nothing", &all).unwrap_err().contains("figures"));
    }

    /// Nobody edits the figures by hand, and none is left from a run before.
    #[test]
    fn documents_carry_the_figures_of_the_results() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
        let all = crate::documents::all(root).unwrap();
        assert!(all.len() > 1);
        let again = "differs from the JSON files: run the program with --from one of them --docs .";
        for results in &all {
            let name = format!("docs/benchmarks/{}.md", results.machine.file());
            assert!(read(&name) == page::page(results), "{name} {again}");
        }
        assert!(read("docs/benchmarks/README.md") == index::page(&all), "the index {again}");
        for (name, picture) in crate::documents::pictures(&all) {
            assert!(read(&format!("docs/benchmarks/{name}")) == picture, "{name} {again}");
        }
        let readme = read("README.md");
        assert!(with_figures(&readme, &all).unwrap() == readme, "README.md {again}");
        let newest = shown(&all)[0];
        for (name, _) in ROWS {
            assert!(newest.rows.iter().any(|row| row.name == name), "no row is named {name}");
        }
    }
}

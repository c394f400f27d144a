//! The tables of the README: the rows that have a target, and where a rival wins.

use std::fmt::Write;
use std::ops::Range;

use super::{quartiles, ratio, short};
use crate::results::{Results, RowResult};
use crate::row::Group;

const BEGIN: &str = "<!-- figures: written by bench/, from docs/benchmarks.json -->\n";
const END: &str = "<!-- end of figures -->\n";

/// From this ratio on a rival wins.
const WINS: f64 = 1.05;

/// `readme` with these figures in the place of those it has.
pub fn with_figures(readme: &str, results: &Results) -> Result<String, String> {
    let Range { start, end } = place(readme)?;
    Ok([&readme[..start], &figures(results), &readme[end..]].concat())
}

fn place(readme: &str) -> Result<Range<usize>, String> {
    let missing = |line: &str| format!("the README lacks the line {:?}", line.trim());
    let start = readme.find(BEGIN).ok_or_else(|| missing(BEGIN))? + BEGIN.len();
    let length = readme[start..].find(END).ok_or_else(|| missing(END))?;
    Ok(start..start + length)
}

fn figures(results: &Results) -> String {
    let mut text = String::from("\n");
    let rows = || results.rows.iter().filter(|row| row.ratios.iter().any(|ratio| ratio.target.is_some()));
    let mut groups: Vec<Group> = rows().map(|row| row.group).collect();
    groups.dedup();
    for group in groups {
        _ = writeln!(
            text,
            "| {} | annulus, ns | best rival | annulus ÷ it | ÷ floor | targets |",
            group.title()
        );
        text += "| --- | --- | --- | --- | --- | --- |\n";
        rows().filter(|row| row.group == group).for_each(|row| text += &line(row));
        text += "\n";
    }
    // Also what counts as even: the reader is to know of a win that may be one.
    let behind = results.rows.iter().filter_map(|row| {
        let (rival, times) = row.best_rival()?;
        (times.median >= WINS).then_some((row, rival, times))
    });
    let behind: Vec<String> = behind
        .map(|(row, rival, times)| format!("{} ({:.2} of {}'s time)", row.name, times.median, rival.against))
        .collect();
    _ = match &behind[..] {
        [] => writeln!(text, "In no row of [all of them](docs/benchmarks.md) a rival wins.\n"),
        rows => {
            writeln!(text, "Where a rival wins, of [all rows](docs/benchmarks.md): {}.\n", rows.join("; "))
        }
    };
    text
}

fn line(row: &RowResult) -> String {
    let best = row.best_rival();
    let rival = best.map(|(rival, _)| rival.against.as_str()).unwrap_or_default();
    let beside = best.map(|(_, times)| quartiles(Some(times), ratio)).unwrap_or_default();
    let floor = row.floor().map(|(_, times)| ratio(times.median)).unwrap_or_default();
    let ours = row.ours().ns.map(|ns| short(ns.median)).unwrap_or_default();
    let targets = row.ratios.iter().filter_map(|ratio| {
        let target = ratio.target.as_ref()?;
        let met = if ratio.met == Some(true) { "met" } else { "**not met**" };
        Some(format!("≤ {:.2} of {}: {met}", target.at_most, target.against))
    });
    let targets: Vec<String> = targets.collect();
    format!("| {} | {ours} | {rival} | {beside} | {floor} | {} |\n", row.name, targets.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::page::page;
    use crate::results::tests::{results, row};

    #[test]
    fn a_row_with_a_target_is_a_line() {
        let text = figures(&results(vec![row(1.0, 2.0, true)]));
        let line = "| a row | 1.00 | a rival | 0.50 (0.50–0.50) | 1.25 | ≤ 0.50 of a rival: met |";
        assert!(text.lines().any(|found| found == line), "{text}");
        assert!(text.contains("In no row"));
    }

    #[test]
    fn where_a_rival_wins_is_said() {
        let text = figures(&results(vec![row(4.0, 2.0, true)]));
        assert!(text.contains("**not met**"));
        assert!(text.contains("a row (2.00 of a rival's time)"), "{text}");
    }

    #[test]
    fn only_the_figures_are_replaced() {
        let results = results(vec![row(1.0, 2.0, true)]);
        let readme = format!("before\n{BEGIN}old\n{END}after\n");
        let written = with_figures(&readme, &results).unwrap();
        assert_eq!(written, format!("before\n{BEGIN}{}{END}after\n", figures(&results)));
        assert_eq!(with_figures(&written, &results).unwrap(), written);
        assert!(with_figures("nothing", &results).unwrap_err().contains("figures"));
    }

    /// Nobody edits the figures by hand, and none is left from a run before.
    #[test]
    fn the_documents_carry_the_figures_of_the_results() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        let read = |name: &str| std::fs::read_to_string(format!("{root}/{name}")).unwrap();
        let results: Results = serde_json::from_str(&read("docs/benchmarks.json")).unwrap();
        let again = "they differ: run the program with --from docs/benchmarks.json --docs .";
        assert!(
            read("docs/benchmarks.md") == page(&results),
            "docs/benchmarks.md and benchmarks.json: {again}"
        );
        let readme = read("README.md");
        assert!(with_figures(&readme, &results).unwrap() == readme, "README.md and benchmarks.json: {again}");
    }
}

//! The table that is printed: a line for everyone beside us.

use std::fmt::Write;

use crate::results::{Limited, Results, RowResult};
use crate::row::Kind;

const COLUMNS: usize = 7;

/// Its columns aligned.
pub fn table(results: &Results) -> String {
    let header = ["row", "annulus, ns", "beside", "its ns", "annulus ÷ it", "target", "rounds"];
    let mut lines = vec![header.map(str::to_owned)];
    lines.extend(results.rows.iter().flat_map(lines_of));
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; COLUMNS] = std::array::from_fn(width);
    let mut table = String::new();
    for (number, line) in lines.iter().enumerate() {
        for (cell, width) in line.iter().zip(widths) {
            _ = write!(table, "| {cell:width$} ");
        }
        table += "|\n";
        if number == 0 {
            for width in widths {
                _ = write!(table, "| {} ", "-".repeat(width));
            }
            table += "|\n";
        }
    }
    table
}

/// The first says what is the row's.
fn lines_of(row: &RowResult) -> Vec<[String; COLUMNS]> {
    let others = row.entries.iter().filter(|entry| entry.kind != Kind::Ours);
    let oversubscribed = if row.oversubscribed { " (oversubscribed)" } else { "" };
    let mut of_the_row = [format!("{}{oversubscribed}", row.name), row.ours().time(), rounds(row)];
    let limited = row.limited();
    let lines = others.zip(&row.ratios).map(|(other, ratio)| {
        let [name, ours, rounds] = std::mem::take(&mut of_the_row);
        let limits = limited.iter().filter(|limited| limited.against == ratio.against);
        let verdict = match &limits.map(Limited::verdict).collect::<Vec<_>>()[..] {
            [] => ratio.verdict(),
            limits => limits.join(", "),
        };
        [name, ours, other.label(), other.time(), ratio.cell(), verdict, rounds]
    });
    lines.collect()
}

/// How many counted, and how many did not.
pub fn rounds(row: &RowResult) -> String {
    match row.rounds.dropped() {
        0 => row.rounds.kept().to_string(),
        dropped => format!("{} ({dropped} did not count)", row.rounds.kept()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::{results, row};

    #[test]
    fn row_says_what_was_measured_and_whether_that_is_enough() {
        let lines = lines_of(&row(1.0, 2.0, true));
        let ours = ["a row (oversubscribed)", "1.00 (1.00–1.00), 99 % received"];
        let rival =
            ["a rival", "2.00 (2.00–2.00)", "0.50 (0.50–0.50), p99 1.00", "≤ 0.50: met (aim 0.25: not met)"];
        assert_eq!(lines[0], [&ours[..], &rival, &["3 (2 did not count)"]].concat()[..]);
        assert_eq!(
            lines[1],
            ["", "", "floor: less", "0.80 (0.80–0.80)", "1.25 (1.25–1.25), p99 1.00", "–", ""]
        );
    }

    #[test]
    fn lines_of_the_table_are_of_one_width() {
        let table = table(&results(vec![row(1.0, 2.0, true), row(100.0, 2.0, false)]));
        let mut widths = table.lines().map(|line| line.chars().count());
        let first = widths.next().unwrap();
        assert_eq!(table.lines().count(), 6);
        assert!(widths.all(|width| width == first));
    }
}

//! Where a rival wins, and why: the paragraphs of `reasons.md`, each with the row that is most behind. Those
//! whose rows no rival wins are left out.
//!
//! A paragraph is a heading, a line `Rows: a; b` with parts of the names of its rows, and its text. A row
//! belongs to the first paragraph that names it. A test looks at the pages of the project: no such row is
//! without a paragraph.

use std::fmt::Write;

use super::ratio;
use crate::results::{Results, RowResult};

const TEXT: &str = include_str!("reasons.md");

/// From this ratio on a rival wins. What is less, such machines do not tell apart from one run to the next.
const WINS: f64 = 1.1;

/// A paragraph.
struct Reason<'a> {
    heading: &'a str,
    /// Parts of names.
    rows: Vec<&'a str>,
    text: &'a str,
}

impl<'a> Reason<'a> {
    fn parse(paragraph: &'a str) -> Option<Self> {
        let (heading, rest) = paragraph.split_once("\n\n")?;
        let (rows, text) = rest.strip_prefix("Rows: ")?.split_once("\n\n")?;
        Some(Self { heading, rows: rows.split("; ").collect(), text: text.trim() })
    }

    fn is_of(&self, row: &str) -> bool {
        self.rows.iter().any(|part| row.contains(part))
    }
}

/// # Panics
///
/// If one has not the form that it should have.
fn reasons(text: &str) -> Vec<Reason<'_>> {
    let paragraphs = text.split("### ").skip(1);
    paragraphs.map(|text| Reason::parse(text).unwrap_or_else(|| panic!("no paragraph: {text}"))).collect()
}

/// Ours to that of the rival that wins by it.
fn behind(row: &RowResult) -> Option<(f64, &str)> {
    row.beside_the_best().filter(|(times, _)| *times >= WINS)
}

/// Those that rows of `all` need, in Markdown.
pub fn reasons_of(all: &[Results]) -> String {
    written(&reasons(TEXT), all)
}

fn written(reasons: &[Reason], all: &[Results]) -> String {
    let mut found: Vec<Vec<(f64, String)>> = reasons.iter().map(|_| vec![]).collect();
    let mut others = vec![];
    for results in all {
        for row in &results.rows {
            let Some((times, rival)) = behind(row) else { continue };
            let name = results.machine.name();
            let line = (times, format!("{} {} of {rival} ({name})", row.name, ratio(times)));
            match reasons.iter().position(|reason| reason.is_of(&row.name)) {
                Some(place) => found[place].push(line),
                None => others.push(line),
            }
        }
    }
    let mut text = String::new();
    for (reason, lines) in reasons.iter().zip(&found) {
        if let Some(worst) = worst(lines) {
            _ = write!(text, "### {}\n\n{}\n\n{worst}\n\n", reason.heading, reason.text);
        }
    }
    if let Some(worst) = worst(&others) {
        _ = write!(text, "### Not explained yet\n\n{worst}\n\n");
    }
    text.trim_end().to_owned()
}

fn worst(lines: &[(f64, String)]) -> Option<String> {
    let (_, worst) = lines.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(match lines.len() {
        1 => format!("Row: {worst}."),
        count => format!("{count} rows, the worst: {worst}."),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::{results, row};
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn row_is_beside_its_reason() {
        let of = reasons("### First\n\nRows: b row; a row\n\nWhy.\n\n### Second\n\nRows: row\n\nNot this.\n");
        let all = [results(vec![row(2.2, 2.0, true), row(3.0, 2.0, true), row(2.1, 2.0, true)])];
        let machine = all[0].machine.name();
        let first = format!("### First\n\nWhy.\n\n2 rows, the worst: a row 1.50 of a rival ({machine}).");
        assert_eq!(written(&of, &all), first);
        let text = written(&of[2..], &[results(vec![row(3.0, 2.0, true)])]);
        assert!(text.starts_with("### Not explained yet\n\nRow: a row 1.50"), "{text}");
    }

    /// And a reason whose rows have another name now would stay for ever.
    #[test]
    fn row_where_a_rival_wins_has_a_reason() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let all = crate::documents::all(root).unwrap();
        let reasons = reasons(TEXT);
        let rows = all.iter().flat_map(|results| &results.rows);
        let lost: BTreeSet<&str> = rows.filter(|row| behind(row).is_some()).map(|row| &*row.name).collect();
        let has = |row: &&&str| !reasons.iter().any(|reason| reason.is_of(row));
        assert_eq!(lost.iter().filter(has).collect::<Vec<_>>(), Vec::<&&str>::new(), "without a reason");
        // (Some rows are there with their rival only.)
        let parts = reasons.iter().filter(|_| cfg!(feature = "iceoryx2")).flat_map(|reason| &reason.rows);
        for part in parts {
            let of_ours = crate::rows::all().iter().any(|row| row.name.contains(part));
            assert!(of_ours || lost.iter().any(|row| row.contains(part)), "{part:?} is in no row's name");
        }
    }
}

//! Each row of `ci/seeded` selects a test that is there: what a filter ends with is part of a name in the
//! files of its test program. (Whether that test sees the bug is what `ci/seeded` runs for.)

use crate::Report;
use crate::tree::Tree;

const TABLE: &str = "ci/seeded";

pub(crate) fn check(tree: &Tree, report: &mut Report) {
    let rows = tree.text(TABLE).split('\'').nth(1).unwrap_or_default();
    for row in rows.lines().filter(|row| !row.is_empty()) {
        let mut words = row.split_whitespace().skip(1).filter(|word| *word != "--");
        let kind = words.next().unwrap_or_default();
        let mut files = Vec::new();
        while let Some(word) = words.next() {
            match word {
                "--features" | "--skip" => _ = words.next(),
                "--lib" => files = files_of(tree, "crates/annulus/src", ""),
                "--test" => {
                    let folder = if kind == "loom" { "verify/loom/tests" } else { "crates/annulus/tests" };
                    files = files_of(tree, folder, words.next().unwrap_or_default());
                }
                filter => {
                    let name = filter.rsplit("::").next().unwrap_or_default();
                    if !files.iter().any(|(path, text)| path.contains(name) || text.contains(name)) {
                        report.errors.push(format!("{TABLE}: no test for {filter}: {row}"));
                    }
                }
            }
        }
        if files.is_empty() {
            report.errors.push(format!("{TABLE}: no test program: {row}"));
        }
    }
}

/// The files of a test program: `program.rs` of that folder, and what lies in `program/`.
fn files_of<'tree>(tree: &'tree Tree, folder: &str, program: &str) -> Vec<(&'tree str, &'tree str)> {
    let begin = format!("{folder}/{program}");
    let is_of = |path: &str| {
        let rest = path.strip_prefix(&begin);
        rest.is_some_and(|rest| program.is_empty() || rest == ".rs" || rest.starts_with('/'))
    };
    tree.files().filter(|(path, _)| is_of(path)).collect()
}

//! The glossary: each term has one row, and its paths are there. The page that a newcomer reads first is
//! short.

use std::collections::BTreeSet;

use crate::Report;
use crate::list::List;
use crate::tree::Tree;

const PAGE: &str = "docs/GLOSSARY.md";
const CODE: &str = "crates/annulus/src";

/// The page that a newcomer reads first, and how long it may be, so that they read it to its end.
const FIRST: &str = "docs/ARCHITECTURE.md";
const LINES: usize = 100;

pub(crate) fn check(tree: &Tree, _: &List, report: &mut Report) {
    let length = tree.text(FIRST).lines().count();
    if length > LINES {
        report.errors.push(format!("{FIRST}: {length} lines, of at most {LINES}"));
    }
    terms(tree, tree.text(PAGE), report);
}

/// A term is in one row, and what the last column names is there.
fn terms(tree: &Tree, page: &str, report: &mut Report) {
    let mut rows: BTreeSet<String> = BTreeSet::new();
    for cells in page.lines().filter(|line| line.starts_with("| ")).skip(2).map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        cells
    }) {
        let [terms, _, places] = cells[..] else {
            report.errors.push(format!("{PAGE}: a row of has {} cells", cells.len()));
            continue;
        };
        for term in terms.split([',', ';']).map(str::trim) {
            if !rows.insert(term.to_owned()) {
                report.errors.push(format!("{PAGE}: has `{term}` twice"));
            }
        }
        for place in places.split('`').skip(1).step_by(2) {
            if !is_there(tree, place) {
                report.errors.push(format!("{PAGE}: names {place}, which is not there"));
            }
        }
    }
}

/// A folder `ring/`, a file `ring/slots`, or a script `ci/tidy`.
fn is_there(tree: &Tree, place: &str) -> bool {
    let begin = format!("{CODE}/{place}");
    if place.ends_with('/') {
        return tree.files().any(|(path, _)| path.starts_with(&begin));
    }
    let files = [place.to_owned(), format!("{begin}.rs"), format!("{begin}/mod.rs")];
    tree.files().any(|(path, _)| files.iter().any(|file| path == file))
}

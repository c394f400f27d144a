//! The glossary: it has each word of the library's names that is not plain, once, and its paths are there.

use std::collections::{BTreeMap, BTreeSet};

use crate::Report;
use crate::list::{List, PAGE as LIST};
use crate::tree::{Tree, has_extension};
use crate::words::words;

const PAGE: &str = "docs/GLOSSARY.md";
const CODE: &str = "crates/annulus/src";

/// The page that a newcomer reads first, and how long it may be, so that they read it to its end.
const FIRST: &str = "docs/ARCHITECTURE.md";
const LINES: usize = 100;

/// A name is that of a type, a trait or a module. Each of its words is in the first column of the glossary,
/// or in the list: below "Plain words", or below "Words of one module", with the file whose comments explain
/// them.
pub(crate) fn check(tree: &Tree, list: &List, report: &mut Report) {
    let page = tree.text(PAGE);
    let length = tree.text(FIRST).lines().count();
    if length > LINES {
        report.errors.push(format!("{FIRST}: {length} lines, of at most {LINES}"));
    }
    let mut known = Known::default();
    terms(tree, page, &mut known, report);
    known.plain(list);
    known.of_modules(tree, list, report);
    for (word, name) in names(tree) {
        if !known.has(&word) {
            report.errors.push(format!(
                "{name}: `{word}` is not in {PAGE}, and no plain word of {LIST}: explain it in one of them, or use another"
            ));
        }
    }
    for (word, number) in &known.listed {
        if known.used.contains(word) {
            list.needed(*number);
        } else {
            report.errors.push(format!("{LIST}: no name has the word `{word}`: remove it"));
        }
    }
}

#[derive(Default)]
struct Known {
    terms: BTreeSet<String>,
    /// Words of the list, with the numbers of their entries.
    listed: BTreeMap<String, usize>,
    used: BTreeSet<String>,
}

impl Known {
    /// A word may be a plural, here or there.
    fn has(&mut self, word: &str) -> bool {
        let singular = word.strip_suffix('s').unwrap_or(word);
        let forms = [word.to_owned(), singular.to_owned(), format!("{word}s")];
        if forms.iter().any(|form| self.terms.contains(form)) {
            return true;
        }
        let found = forms.into_iter().find(|form| self.listed.contains_key(form));
        found.map(|form| self.used.insert(form)).is_some()
    }

    fn plain(&mut self, list: &List) {
        for (number, entry) in list.below("Plain words") {
            self.listed.extend(entry.what.split(' ').map(|word| (word.to_owned(), number)));
        }
    }

    fn of_modules(&mut self, tree: &Tree, list: &List, report: &mut Report) {
        for (number, entry) in list.below("Words of one module") {
            let file = format!("{CODE}/{}", entry.reason.trim_matches('`'));
            let explained: BTreeSet<String> = tree
                .text(&file)
                .lines()
                .map(str::trim_start)
                .filter(|line| line.starts_with("//"))
                .flat_map(words)
                .collect();
            for word in entry.what.split(' ') {
                if !explained.contains(word) && !explained.contains(&format!("{word}s")) {
                    report.errors.push(format!("{LIST}: no comment of {file} has the word `{word}`"));
                }
                self.listed.insert(word.to_owned(), number);
            }
        }
    }
}

/// The words of the first column. A term is in one row, and what the last column names is there.
fn terms(tree: &Tree, page: &str, known: &mut Known, report: &mut Report) {
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
            known.terms.extend(words(term));
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

/// The words of the library's names, each with one name and its file.
fn names(tree: &Tree) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (path, lines) in tree.rust().filter(|(path, _)| path.starts_with(CODE) && has_extension(path, "rs")) {
        let declares = |code: &str| {
            let code = code.trim_start();
            ["pub", "struct ", "enum ", "trait ", "unsafe trait ", "union ", "mod "]
                .iter()
                .any(|begin| code.starts_with(begin))
        };
        for line in lines.iter().filter(|line| !line.is_test && declares(&line.code)) {
            let mut tokens = line.code.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
            while let Some(token) = tokens.next() {
                if !["struct", "enum", "trait", "union", "mod"].contains(&token) {
                    continue;
                }
                let Some(name) = tokens.next().filter(|name| name.len() > 1) else { continue };
                for word in words(name) {
                    found.entry(word).or_insert_with(|| format!("{path}: {name}"));
                }
            }
        }
    }
    found
}

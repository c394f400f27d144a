//! docs/ORDERING.md and the code have the same steps, seeded bugs and litmus tests.

use std::collections::{BTreeMap, BTreeSet};

use crate::Report;
use crate::modules::paths;
use crate::source::Line;
use crate::tree::{Tree, has_extension};

const PAGE: &str = "docs/ORDERING.md";
const CODE: &str = "crates/annulus/src/";
const LITMUS: &str = "verify/litmus/c11/";

/// Each file with atomics is in a heading of the page. A label that anything speaks of is defined there by
/// one row, and a file of that section speaks of it. Bugs and tests that the page names are there, and the
/// other way round.
pub(crate) fn check(tree: &Tree, report: &mut Report) {
    let page = tree.text(PAGE);
    let mut error = |text: String| report.errors.push(text);
    let tests = tree.files_of_tests();
    let code: BTreeMap<&str, &[Line]> =
        tree.rust().filter_map(|(path, lines)| Some((path.strip_prefix(CODE)?, lines))).collect();
    let spoken: BTreeMap<&str, BTreeSet<&str>> = code
        .iter()
        .map(|(file, lines)| (*file, lines.iter().flat_map(|line| labels(&line.comment)).collect()))
        .collect();

    let mut defined = BTreeSet::new();
    let mut headings = BTreeMap::<String, String>::new();
    for section in page.split("\n## ").skip(1) {
        let heading = section.lines().next().unwrap_or_default();
        let files = paths(heading);
        for file in &files {
            headings.entry(file.clone()).or_default().push_str(section);
        }
        for label in section.lines().filter_map(defined_by) {
            if !defined.insert(label) {
                error(format!("{PAGE}: {label} is defined twice"));
            }
            if !files.iter().any(|file| spoken.get(file.as_str()).is_some_and(|all| all.contains(label))) {
                error(format!("{PAGE}: no file of its section speaks of {label}"));
            }
        }
    }

    for (file, lines) in &code {
        match headings.get(*file) {
            Some(sections) => {
                let there: BTreeSet<&str> = labels(sections).collect();
                for label in spoken[file].difference(&there) {
                    error(format!("{CODE}{file} speaks of {label}, its sections of {PAGE} do not"));
                }
            }
            None if *file != "sync.rs"
                && !file.starts_with("sync/")
                && !tests.contains(&format!("{CODE}{file}"))
                && lines.iter().any(has_atomics) =>
            {
                error(format!("{CODE}{file} has atomics, and no section of {PAGE} is about it"));
            }
            None => {}
        }
    }
    let is_elsewhere = |path: &str| ["docs/", "verify/", "ci/"].iter().any(|folder| path.starts_with(folder));
    let elsewhere = tree.files().filter(|(path, _)| is_elsewhere(path) && !path.starts_with("verify/tools/"));
    let all = spoken.iter().flat_map(|(file, all)| all.iter().map(|label| (*file, *label)));
    let unknown: BTreeSet<(&str, &str)> = elsewhere
        .flat_map(|(path, text)| labels(text).map(move |label| (path, label)))
        .chain(all)
        .filter(|(_, label)| !defined.contains(label))
        .collect();
    for (path, label) in unknown {
        error(format!("{path} speaks of {label}, which no row of {PAGE} defines"));
    }
    bugs_and_tests(tree, page, &mut error);
}

/// What the tables name in their last column is a bug or a test; each bug that weakens an ordering, and each
/// litmus test, is on the page.
fn bugs_and_tests(tree: &Tree, page: &str, error: &mut impl FnMut(String)) {
    let litmus: BTreeSet<&str> = stems(tree, LITMUS, "litmus");
    let mut known: BTreeSet<&str> = litmus.union(&stems(tree, "verify/loom/tests/", "rs")).copied().collect();
    for (_, text) in tree.files().filter(|(path, _)| path.starts_with(LITMUS) || path.starts_with(CODE)) {
        known.extend(words(text));
        for part in text.split("seeded!(\"").chain(text.split("unless \"")).skip(1) {
            let bug = part.split('"').next().unwrap_or_default();
            if bug.ends_with("_relaxed") && !words(page).any(|word| word == bug) {
                error(format!("{bug} weakens an ordering, and is not in {PAGE}"));
            }
        }
    }
    for test in litmus {
        let name = format!("`{test}`");
        let is_named = |cell: &str| cell.split_once("itmus").is_some_and(|(_, rest)| rest.contains(&name));
        if !page.split('|').any(is_named) {
            error(format!("{PAGE} does not name litmus {test}"));
        }
    }
    for row in page.lines().filter(|line| line.starts_with('|')) {
        let last = row.trim_end_matches([' ', '|']).rsplit('|').next().unwrap_or_default();
        for name in last.split('`').skip(1).step_by(2) {
            let is_name =
                name.contains('_') && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_lowercase());
            if is_name && !known.contains(name) {
                error(format!("{PAGE} names {name}, which is nowhere"));
            }
        }
    }
}

/// The label that a row of a table begins with.
fn defined_by(line: &str) -> Option<&str> {
    line.strip_prefix("| ")?.split_whitespace().next().filter(|word| is_label(word))
}

/// A label is a protocol, a point, and a step, which is a word and a digit: `gate.join2`.
fn labels(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|letter: char| !(letter.is_alphanumeric() || "._".contains(letter)));
    parts.map(|part| part.trim_matches('.')).filter(|part| is_label(part))
}

fn is_label(word: &str) -> bool {
    let is_word = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase());
    word.split_once('.').is_some_and(|(protocol, step)| {
        let (step, digit) = step.split_at(step.len().saturating_sub(1));
        is_word(protocol) && is_word(step) && digit.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn has_atomics(line: &Line) -> bool {
    let is_ordering = |part: &str| {
        let orders = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];
        orders.iter().any(|order| part.starts_with(order))
    };
    let code = &line.code;
    !line.is_test
        && (code.split("Ordering::").skip(1).any(is_ordering)
            || code.contains("fence::") && code.contains('(')
            || code.contains("ordering!("))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
}

/// The names of the files in a folder, without their extension.
fn stems<'a>(tree: &'a Tree, folder: &str, extension: &str) -> BTreeSet<&'a str> {
    let files = tree.files().filter(|(path, _)| path.starts_with(folder) && has_extension(path, extension));
    files.filter_map(|(path, _)| path[folder.len()..].split('.').next()).collect()
}

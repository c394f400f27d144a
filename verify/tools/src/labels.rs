//! A label of an ordering step means one thing in the whole library.

use std::collections::{BTreeMap, BTreeSet};

use crate::Report;
use crate::modules::paths;
use crate::tree::Tree;

const PAGE: &str = "docs/ORDERING.md";
const CODE: &str = "crates/annulus/src";

/// A label is a capital letter and a digit. It is defined where it is the first cell of a row. Two sections
/// may define one only if some file that speaks of it is in the headings of both.
pub(crate) fn check(tree: &Tree, report: &mut Report) {
    let mut sections: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut heading = "";
    for line in tree.text(PAGE).lines() {
        if let Some(text) = line.strip_prefix("## ") {
            heading = text;
        }
        let Some(cell) = line.strip_prefix("| ").and_then(|row| row.split('|').next()) else { continue };
        for label in labels(cell) {
            // "L4: load …" defines nothing where L4 is a step of another section: only a cell of labels does.
            if cell.trim() == label || cell.trim().split(", ").all(is_label) {
                let of_label = sections.entry(label).or_default();
                if of_label.last() != Some(&heading) {
                    of_label.push(heading);
                }
            }
        }
    }
    let code = |file: &str| labels(tree.text(&format!("{CODE}/{file}")));
    for (label, headings) in sections {
        for pair in headings.windows(2) {
            let first: BTreeSet<String> = paths(pair[0]).into_iter().collect();
            if !paths(pair[1]).iter().any(|file| first.contains(file) && code(file).contains(&label)) {
                let [first, second] =
                    [pair[0], pair[1]].map(|heading| heading.split(':').next().unwrap_or_default());
                report
                    .errors
                    .push(format!("{PAGE}: {label} means two things: in \"{first}\" and in \"{second}\""));
            }
        }
    }
}

fn is_label(word: &str) -> bool {
    matches!(word.as_bytes(), [letter, digit] if letter.is_ascii_uppercase() && digit.is_ascii_digit())
}

fn labels(text: &str) -> BTreeSet<String> {
    text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
        .filter(|word| is_label(word))
        .map(str::to_owned)
        .collect()
}

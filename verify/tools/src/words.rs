//! No word is used, in code or in pages, that has a better one.

use std::collections::BTreeMap;

use crate::Report;
use crate::list::{List, PAGE};
use crate::tree::{Tree, has_extension};

/// A word of the list counts wherever it is a word of its own, or a part of a name: `old`, `Old`, `is_old`,
/// `OldName`.
pub(crate) fn check(tree: &Tree, list: &List, report: &mut Report) {
    let old: BTreeMap<String, &str> = list
        .below("Old words")
        .map(|(number, entry)| {
            list.needed(number);
            (entry.what.to_lowercase(), entry.reason.as_str())
        })
        .collect();
    if old.is_empty() {
        return;
    }
    for (path, text) in tree.files() {
        let is_ours = ["rs", "md", "litmus", "pml"].iter().any(|extension| has_extension(path, extension))
            || path.starts_with("ci/");
        if !is_ours || path == PAGE {
            continue;
        }
        // Most files have none, and to take each line apart takes long.
        let letters = text.to_lowercase();
        if !old.keys().any(|word| letters.contains(word)) {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            for word in words(line) {
                if let Some(new) = old.get(&word) {
                    report
                        .errors
                        .push(format!("{path}:{}: {word} is no longer a word of ours: {new}", number + 1));
                }
            }
        }
    }
}

/// The words of a line, and of the names in it, in small letters.
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut was_small = false;
    for letter in line.chars() {
        if !letter.is_alphabetic() || was_small && letter.is_uppercase() {
            words.push(std::mem::take(&mut word));
        }
        if letter.is_alphabetic() {
            word.extend(letter.to_lowercase());
        }
        was_small = letter.is_lowercase();
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

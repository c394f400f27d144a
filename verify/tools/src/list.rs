//! `verify/tidy.md`: what may stay as it is, with the reason. Below a heading, "- `WHAT`: the reason".

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::Report;
use crate::tree::Tree;

/// Where the list is.
pub(crate) const PAGE: &str = "verify/tidy.md";

/// An entry: what, and why.
pub(crate) struct Entry {
    heading: String,
    pub(crate) what: String,
    pub(crate) reason: String,
}

/// The list, and which of its entries some check needed.
pub(crate) struct List {
    entries: Vec<Entry>,
    used: RefCell<BTreeSet<usize>>,
}

impl List {
    pub(crate) fn of(tree: &Tree) -> Self {
        let mut heading = String::new();
        let mut entries = Vec::new();
        for line in tree.text(PAGE).lines() {
            if let Some(text) = line.strip_prefix("## ") {
                text.trim().clone_into(&mut heading);
            } else if let Some((what, reason)) =
                line.strip_prefix("- `").and_then(|rest| rest.split_once("`: "))
            {
                entries.push(Entry {
                    heading: heading.clone(),
                    what: what.to_owned(),
                    reason: reason.to_owned(),
                });
            }
        }
        Self { entries, used: RefCell::default() }
    }

    /// The entries below a heading, by their numbers.
    pub(crate) fn below(&self, heading: &str) -> impl Iterator<Item = (usize, &Entry)> {
        self.entries.iter().enumerate().filter(move |(_, entry)| entry.heading == heading)
    }

    /// Says that this entry was needed.
    pub(crate) fn needed(&self, number: usize) {
        self.used.borrow_mut().insert(number);
    }

    /// An entry that nothing needs is an error: the list only shrinks.
    pub(crate) fn unused(&self, report: &mut Report) {
        for (number, entry) in self.entries.iter().enumerate() {
            if !self.used.borrow().contains(&number) {
                let Entry { heading, what, .. } = entry;
                report
                    .errors
                    .push(format!("{PAGE}: `{what}` below \"{heading}\" is no longer there: remove it"));
            }
        }
    }
}

//! Files are short: lines of code, without comments, empty lines, and unit tests.

use std::collections::BTreeMap;

use crate::Report;
use crate::list::{List, PAGE};
use crate::tree::Tree;

const LIMIT: usize = 400;

/// The list may accept a longer file: "- `PATH LINES`: the reason".
pub(crate) fn check(tree: &Tree, list: &List, report: &mut Report) {
    let accepted: BTreeMap<&str, (usize, usize)> = list
        .below("File length")
        .filter_map(|(number, entry)| {
            let (path, length) = entry.what.rsplit_once(' ')?;
            Some((path, (number, length.parse().ok()?)))
        })
        .collect();
    for (path, lines) in tree.rust() {
        let length = lines.iter().filter(|line| !line.is_test && !line.code.trim().is_empty()).count();
        let limit = match accepted.get(path) {
            Some((number, limit)) if length > LIMIT => {
                list.needed(*number);
                *limit
            }
            _ => LIMIT,
        };
        if length > limit {
            report.errors.push(format!("{path}: {length} lines of code, {limit} are accepted"));
        } else if limit > LIMIT && length < limit {
            report.notes.push(format!("{path}: {length} lines of code: write that in {PAGE}"));
        }
    }
}

//! Files are short: lines of code, without comments, empty lines, and unit tests.

use crate::Report;
use crate::tree::Tree;

const LIMIT: usize = 700;

pub(crate) fn check(tree: &Tree, report: &mut Report) {
    for (path, lines) in tree.rust() {
        let length = lines.iter().filter(|line| !line.is_test && !line.code.trim().is_empty()).count();
        if length > LIMIT {
            report.errors.push(format!("{path}: {length} lines of code, {LIMIT} are accepted"));
        }
    }
}

//! `docs/benchmarks/PROCESSOR.md`.

use super::{TO_METHOD, conditions, topics};
use crate::results::Results;

const PAGE: &str = include_str!("page.md");

pub fn page(results: &Results) -> String {
    PAGE.replace("{processor}", &results.machine.name())
        .replace("{file}", &results.machine.file())
        .replace("{conditions}", &conditions(results))
        .replace("{method}", TO_METHOD)
        .replace("{topics}", topics::topics(results).trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::{results, row};

    #[test]
    fn page_has_no_hole_left() {
        let page = page(&results(vec![row(1.0, 2.0, true)]));
        assert!(!page.contains(['{', '}']), "{page}");
        assert!(page.contains("| a row ⁺ | 1.00 (1.00–1.00), 99 % received |"), "{page}");
    }
}

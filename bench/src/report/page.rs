//! `docs/benchmarks/PROCESSOR.md`.

use std::fmt::Write;

use super::{METHOD, conditions, table};
use crate::results::Results;

const PAGE: &str = include_str!("page.md");

pub fn page(results: &Results) -> String {
    let mut rows = String::new();
    for row in &results.rows {
        _ = write!(rows, "- **{}**: {}.", row.name, row.about);
        if let Some((floor, _)) = row.floor() {
            _ = write!(rows, " Floor: {}.", floor.against);
        }
        rows += "\n";
    }
    PAGE.replace("{processor}", &results.machine.name())
        .replace("{file}", &results.machine.file())
        .replace("{conditions}", &conditions(results))
        .replace("{table}", &table::table(results))
        .replace("{latencies}", &table::latencies(results))
        .replace("{rows}", &rows)
        .replace("{method}", METHOD)
        .replace("{rounds}", &results.rounds.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::{results, row};

    #[test]
    fn the_page_has_no_hole_left() {
        let page = page(&results(vec![row(1.0, 2.0, true)]));
        assert!(!page.contains(['{', '}']), "{page}");
        assert!(page.contains("- **a row**: about. Floor: less."));
    }
}

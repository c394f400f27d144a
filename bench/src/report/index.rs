//! `docs/benchmarks/README.md`: which processors there are, and the tables of all of them.

use std::fmt::Write;

use super::{TO_METHOD, none, quartiles, reasons, short, summary};
use crate::results::{Results, RowResult};

const INDEX: &str = include_str!("index.md");

pub fn page(all: &[Results]) -> String {
    let mut machines = String::from(
        "| processor | day | cores | ping-pong between them, ns | rows | targets met | not met |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for results in all {
        let verdicts: Vec<Option<bool>> = results.rows.iter().flat_map(RowResult::met).collect();
        let met = verdicts.iter().filter(|met| **met == Some(true)).count();
        let ping_pong = results.ping_pong_ns().map_or_else(none, |times| quartiles(Some(times), short));
        let (name, file, date) = (results.machine.name(), results.machine.file(), &results.machine.date);
        _ = writeln!(
            machines,
            "| [{name}]({file}.md) | {date} | {} | {ping_pong} | {} | {met} | {} |",
            results.machine.cores,
            results.rows.len(),
            verdicts.len() - met
        );
    }
    // Not in the template: there, the picture does not lie beside.
    let picture = "![nanoseconds for each message, by the number of threads](many-cores.svg)";
    INDEX
        .replace("{machines}", &machines)
        .replace("{picture}", picture)
        .replace("{method}", TO_METHOD)
        .replace("{reasons}", &reasons::reasons_of(all))
        .replace("{figures}", &summary::figures(all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::{results, row};

    #[test]
    fn each_processor_has_a_line() {
        let page = page(&[results(vec![row(1.0, 2.0, true)]), results(vec![row(2.0, 2.0, true)])]);
        assert!(page.contains("| 1 | 1 | 0 |\n") && page.contains("| 1 | 0 | 1 |\n"), "{page}");
    }
}

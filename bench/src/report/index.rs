//! `docs/benchmarks/README.md`: which processors there are, and the rows that most readers look for.

use std::fmt::Write;

use super::{TO_METHOD, landing, none, quartiles, reasons, short};
use crate::results::{Results, RowResult};

const INDEX: &str = include_str!("index.md");

/// Rows of the bench, and what they are to a reader of the page.
const ROWS: [(&str, &str); 26] = [
    ("publish + receive, one thread", "lossy broadcast, on one thread"),
    ("publish, live reader", "lossy broadcast, one live reader"),
    ("two publishers at once", "lossy broadcast, two publishers"),
    ("lossless, one reader", "lossless broadcast, one reader"),
    ("lossless, four readers", "lossless broadcast, four readers on one core"),
    ("lossless, batches of 64", "lossless broadcast, batches of 64"),
    ("events, one reader", "owned events, one reader"),
    ("payload of 1,024 bytes", "lossy broadcast, 1 KiB by value"),
    ("newest value, read while it is sent", "watch, read while it is sent"),
    ("queue, one by one, waiting", "spsc, one by one"),
    ("queue, batches of 64, copied", "spsc, batches of 64"),
    ("queue, round trip", "spsc, a round trip between two cores"),
    ("queue, four producers", "mpsc, four producers"),
    ("queue for many, two to two", "mpmc, two to two"),
    ("queue with one order, four producers", "one order, four producers"),
    ("made and dropped, spsc", "spsc, made and dropped"),
    ("async spsc, round trip, one thread", "async spsc, a round trip of two tasks"),
    ("async mpsc, 8 to 1, 4096 slots, two workers", "async mpsc, eight tasks to one, two workers"),
    ("select, one of four queues busy", "select, one of four queues busy"),
    ("pipeline, a diamond", "a pipeline of five threads on two cores"),
    ("bus, a topic looked up", "bus, a topic looked up"),
    ("zero-copy, 4 KiB", "pool, 4 KiB handed over"),
    ("processes: queue, 64 bytes", "between processes: queue, 64 bytes"),
    ("processes: lossless, 64 bytes", "between processes: lossless, 64 bytes"),
    ("processes: lossy, round trip", "between processes: lossy, a round trip"),
    ("processes: round trip, 8 KiB, one subscriber", "between processes: a round trip of 8 KiB"),
];

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
        .replace("{figures}", landing::table(&all.iter().collect::<Vec<_>>(), &ROWS).trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::{results, row};

    #[test]
    fn processor_has_a_line_of_its_own() {
        let page = page(&[results(vec![row(1.0, 2.0, true)]), results(vec![row(2.0, 2.0, true)])]);
        assert!(page.contains("| 1 | 1 | 0 |\n") && page.contains("| 1 | 0 | 1 |\n"), "{page}");
    }
}

//! How the rows stand to the best rival on each processor, the worst one first: the tables of
//! `docs/benchmarks/README.md`.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::{ratio, word};
use crate::results::{Limited, Results, RowResult};
use crate::row::Group;

/// How to read the tables by placement.
const BY_PLACEMENT: &str = "In the tables by placement a ratio is that of the worst processor: of the time, and after \"CPU\" of the processor time \
     of all threads; after \"p99\" of the latency that one message in a hundred exceeds. Those above their limit are bold: 1.0 for the time, 1.1 for \
     the others.\n\n";

/// What the rows of sleepers compare.
const OF_SLEEPERS: &str = "Readers of bus poll while they wait, so its publisher wakes nobody: its call is short, and its readers take \
     the processor time of hundreds of wake-ups for each message. All others sleep.\n\n";

/// A row on one processor.
#[derive(Clone, Copy)]
struct On<'a> {
    results: &'a Results,
    row: &'a RowResult,
}

/// All of them, in Markdown.
pub fn figures(all: &[Results]) -> String {
    let mut text = String::new();
    let mut groups = vec![];
    for row in all.iter().flat_map(|results| &results.rows) {
        if (row.placed.is_some() || row.has_targets()) && !groups.contains(&row.group) {
            groups.push(row.group);
        }
    }
    groups.sort();
    for group in groups {
        let rows = rows_of(all, group);
        if rows.iter().flatten().any(|on| on.row.placed.is_some()) {
            text += &by_placement(group, &rows);
            if group == Group::Sleepers {
                text += OF_SLEEPERS;
            }
        } else {
            text += &by_row(group, &rows);
        }
    }
    if all.iter().flat_map(|results| &results.rows).any(|row| row.placed.is_some()) {
        text += BY_PLACEMENT;
    }
    text
}

/// The rows of a group, each on those processors that have it, the worst one first.
fn rows_of(all: &[Results], group: Group) -> Vec<Vec<On<'_>>> {
    let mut rows: Vec<Vec<On>> = vec![];
    for results in all {
        for row in results.rows.iter().filter(|row| row.group == group) {
            match rows.iter_mut().find(|on| on[0].row.name == row.name) {
                Some(on) => on.push(On { results, row }),
                None => rows.push(vec![On { results, row }]),
            }
        }
    }
    let times = |on: &On| on.row.beside_the_best().map_or(0.0, |(times, _)| times);
    rows.iter_mut().for_each(|on| on.sort_by(|a, b| times(b).total_cmp(&times(a))));
    rows
}

fn by_row(group: Group, rows: &[Vec<On>]) -> String {
    let title = group.title();
    let mut text =
        format!("| {title} | annulus ÷ best rival, worst processor first | targets |\n| --- | --- | --- |\n");
    for on in rows {
        if !on.iter().any(|on| on.row.has_targets()) {
            continue;
        }
        let cells = on.iter().filter_map(|on| {
            let (times, rival) = on.row.beside_the_best()?;
            Some(format!("{} of {rival} ({})", ratio(times), on.results.machine.name()))
        });
        let cells: Vec<String> = cells.collect();
        let cells = if cells.is_empty() { super::none() } else { cells.join("; ") };
        _ = writeln!(text, "| {} | {cells} | {} |", on[0].row.name, targets(on));
    }
    text + "\n"
}

/// What they are, and where they are not met.
fn targets(on: &[On]) -> String {
    let mut lines: Vec<(String, Vec<String>)> = vec![];
    let mut note = |target: String, met: Option<bool>, on: &On| {
        let place = lines.iter().position(|(known, _)| *known == target).unwrap_or_else(|| {
            lines.push((target, vec![]));
            lines.len() - 1
        });
        if met != Some(true) {
            lines[place].1.push(format!("{} on {}", word(met), on.results.machine.name()));
        }
    };
    for one in on {
        for ratio in &one.row.ratios {
            if let Some(target) = &ratio.target {
                note(format!("≤ {:.2} of {}", target.at_most, target.against), ratio.met, one);
            }
        }
        for limited in one.row.limited() {
            note(format!("{} ≤ {:.2} of the best", limited.figure, limited.at_most), limited.met(), one);
        }
    }
    let lines = lines.into_iter().map(|(target, missed)| match &missed[..] {
        [] => format!("{target}: met"),
        missed => format!("{target}: {}", missed.join(", ")),
    });
    lines.collect::<Vec<_>>().join("; ")
}

/// A line for each work, a column for each placement: the ratio on the worst processor.
fn by_placement(group: Group, rows: &[Vec<On>]) -> String {
    let worst: Vec<(&str, &str, String)> = rows
        .iter()
        .filter_map(|on| {
            let placed = on[0].row.placed.as_ref()?;
            Some((placed.work.as_str(), placed.placement.as_str(), cell(on)))
        })
        .collect();
    let once = |values: Vec<&str>| {
        let mut seen = BTreeSet::new();
        values
            .into_iter()
            .filter(|value| seen.insert(value.to_owned()))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let placements = once(worst.iter().map(|(_, placement, _)| *placement).collect());
    let works = once(worst.iter().map(|(work, ..)| *work).collect());
    let mut text = format!("| {} | {} |\n", group.title(), placements.join(" | "));
    text += &format!("| --- |{}\n", " --- |".repeat(placements.len()));
    for work in &works {
        _ = write!(text, "| {work} |");
        for placement in &placements {
            let cell = worst.iter().find(|(of, at, _)| of == work && at == placement);
            _ = write!(text, " {} |", cell.map(|(.., cell)| cell.as_str()).unwrap_or_default());
        }
        text += "\n";
    }
    text + "\n"
}

/// The worst processor's, with its name where there are several.
fn cell(on: &[On]) -> String {
    let row = on[0].row;
    let mut text = match &row.limited()[..] {
        [] => {
            let best = row.best_rival().map(|(rival, _)| rival);
            let times = best.and_then(|rival| rival.ratio).map(|times| ratio(times.median));
            let cpu = best.and_then(|rival| rival.cpu).map(|times| format!("CPU {}", ratio(times.median)));
            times.into_iter().chain(cpu).collect::<Vec<_>>().join(", ")
        }
        limited => limited.iter().map(figure).collect::<Vec<_>>().join(", "),
    };
    if let Some((_, rival)) = on[0].row.beside_the_best() {
        _ = write!(text, " of {rival}");
    }
    if on.len() > 1 {
        _ = write!(text, " ({})", on[0].results.machine.name());
    }
    text
}

fn figure(of: &Limited) -> String {
    let name = if of.figure == "time" { String::new() } else { format!("{} ", of.figure) };
    let times = of.ratio.map_or_else(super::none, ratio);
    if of.met() == Some(true) { name + &times } else { format!("{name}**{times}**") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::{results, row};
    use crate::row::{Limits, Placed};

    fn on(processor: &str, rows: Vec<RowResult>) -> Results {
        let mut results = results(rows);
        results.machine.processor = processor.into();
        results.machine.generation = None;
        results.machine.date = "2026-01-01".into();
        results
    }

    #[test]
    fn the_worst_processor_comes_first() {
        let text = figures(&[on("A", vec![row(1.0, 2.0, true)]), on("B", vec![row(4.0, 2.0, true)])]);
        let line =
            "| a row | 2.00 of a rival (B); 0.50 of a rival (A) | ≤ 0.50 of a rival: **not met** on B |";
        assert!(text.lines().any(|found| found == line), "{text}");
    }

    #[test]
    fn a_limit_beside_the_best_rival_is_a_target() {
        let mut row = row(1.0, 2.0, true);
        row.forget_targets();
        row.limits = Some(Limits { time: Some(0.4), cpu: None, p99: None });
        let text = figures(&[on("A", vec![row])]);
        let line = "| a row | 0.50 of a rival (A) | time ≤ 0.40 of the best: **not met** on A |";
        assert!(text.lines().any(|found| found == line), "{text}");
    }

    #[test]
    fn placements_are_columns() {
        let row = |placement: &str, ours| {
            let mut row = row(ours, 2.0, true);
            row.name = format!("placement: spsc, {placement}");
            row.group = Group::Placement;
            row.placed = Some(Placed { work: "spsc".into(), placement: placement.into() });
            row.limits = Some(Limits { time: Some(1.0), cpu: None, p99: None });
            row
        };
        let all = [on("A", vec![row("apart", 1.0), row("same core", 4.0)]), on("B", vec![row("apart", 1.5)])];
        let text = figures(&all);
        assert!(text.contains("| By placement | apart | same core |\n| --- | --- | --- |\n"), "{text}");
        assert!(text.contains("a ratio is that of the worst processor: of the time, and"), "{text}");
        assert!(text.contains("| spsc | 0.75 of a rival (B) | **2.00** of a rival |\n"), "{text}");
    }
}

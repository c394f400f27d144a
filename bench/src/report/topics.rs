//! The rows of a processor's page by topic, each beside its best rival and its floor. All other contenders
//! are in the JSON file, and in `report.html`.

use std::fmt::Write;

use super::html::sections::groups;
use super::{none, short};
use crate::results::{EntryResult, Ratio, Results, RowResult};
use crate::row::{Group, Kind};

/// All of them, in Markdown.
pub fn topics(results: &Results) -> String {
    groups(results).into_iter().map(|group| topic(results, group)).collect()
}

fn topic(results: &Results, group: Group) -> String {
    let rows: Vec<&RowResult> = results.rows.iter().filter(|row| row.group == group).collect();
    let floor = rows.iter().any(|row| row.floor().is_some());
    let missing = rows.iter().any(|row| row.met().iter().any(|met| *met != Some(true)));
    let mut header = vec!["row", "annulus, ns", "best rival, ns; annulus ÷ it"];
    header.extend(floor.then_some("floor, ns"));
    header.extend(missing.then_some("missed"));
    let title = group.title();
    let mut text = format!("## {title}\n\n| {} |\n|{}\n", header.join(" | "), " --- |".repeat(header.len()));
    for row in rows {
        let oversubscribed = if row.oversubscribed { " ⁺" } else { "" };
        let mut cells = vec![format!("{}{oversubscribed}", row.name), row.ours().time(), beside(row)];
        cells.extend(floor.then(|| floors(row)));
        cells.extend(missing.then(|| missed(row)));
        _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text + "\n"
}

/// Everyone beside ours.
fn pairs(row: &RowResult) -> impl Iterator<Item = (&EntryResult, &Ratio)> {
    row.entries.iter().filter(|entry| entry.kind != Kind::Ours).zip(&row.ratios)
}

/// The rival that took the least time, and the one with the least latency at 99 % where that is limited. A
/// row without a rival has what else of ours stands there.
fn beside(row: &RowResult) -> String {
    let best = row.best_rival().map(|(rival, _)| rival.against.as_str());
    let limits = row.limited();
    let is_shown = |(entry, _): &(&EntryResult, &Ratio)| match best {
        Some(best) => entry.name == best || limits.iter().any(|limit| limit.against == entry.name),
        None => entry.kind == Kind::Other,
    };
    join(pairs(row).filter(is_shown).map(|pair| format!("{}: {}", pair.0.name, cell(pair))))
}

fn floors(row: &RowResult) -> String {
    let floors = row.entries.iter().filter(|entry| entry.kind == Kind::Floor);
    join(floors.filter_map(|floor| Some(format!("{}: {}", floor.name, short(floor.ns?.median)))))
}

/// Its time, then ours divided by it.
fn cell((entry, ratio): (&EntryResult, &Ratio)) -> String {
    match entry.ns {
        Some(ns) => format!("{}{}; {}", short(ns.median), entry.remarks(), ratio.cell()),
        None => none(),
    }
}

/// Which targets are not met.
fn missed(row: &RowResult) -> String {
    let ratios = row.ratios.iter().filter(|ratio| ratio.met != Some(true));
    let ratios = ratios.filter_map(|ratio| {
        ratio.target.as_ref().map(|target| format!("≤ {:.2} of {}", target.at_most, ratio.against))
    });
    let limits = row.limited();
    let limits = limits.iter().filter(|limited| limited.met() != Some(true));
    let limits = limits.map(|limited| format!("{} ≤ {:.2}", limited.figure, limited.at_most));
    ratios.chain(limits).collect::<Vec<_>>().join("<br>")
}

fn join(cells: impl Iterator<Item = String>) -> String {
    let cells: Vec<String> = cells.collect();
    if cells.is_empty() { none() } else { cells.join("<br>") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::{results, row};

    #[test]
    fn row_is_beside_its_best_rival_and_its_floor() {
        let text = topics(&results(vec![row(1.0, 2.0, true), row(1.2, 2.0, true)]));
        let header = "| row | annulus, ns | best rival, ns; annulus ÷ it | floor, ns | missed |";
        let met = "a rival: 2.00; 0.50 (0.50–0.50), p99 1.00 | less: 0.80 |  |";
        let missed = "| less: 0.80 | ≤ 0.50 of a rival |";
        for expected in [header, met, missed] {
            assert!(text.lines().any(|found| found.ends_with(expected)), "{text}");
        }
    }

    #[test]
    fn row_without_a_round_that_counts_has_no_figures() {
        let text = topics(&results(vec![row(1.0, 2.0, false)]));
        assert!(text.contains("| a row ⁺ | – | – | ≤ 0.50 of a rival |"), "{text}");
    }
}

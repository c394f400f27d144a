//! The rows of a processor's page by topic: rows that have the same contenders beside ours share a table,
//! which has a column for each of them.

use std::fmt::Write;

use super::html::sections::groups;
use super::table::rounds;
use super::{none, short};
use crate::percentiles::Latency;
use crate::results::{EntryResult, Ratio, Results, RowResult};
use crate::row::{Group, Kind};

/// All of them, in Markdown.
pub fn topics(results: &Results) -> String {
    groups(results).into_iter().map(|group| topic(results, group)).collect()
}

fn topic(results: &Results, group: Group) -> String {
    let rows: Vec<&RowResult> = results.rows.iter().filter(|row| row.group == group).collect();
    let mut tables: Vec<(Vec<&str>, Vec<&RowResult>)> = vec![];
    for row in &rows {
        let contenders = contenders(row);
        match tables.iter_mut().find(|(known, _)| *known == contenders) {
            Some((_, rows)) => rows.push(row),
            None => tables.push((contenders, vec![row])),
        }
    }
    let mut text = format!("## {}\n\n", group.title());
    tables.iter().for_each(|(contenders, rows)| text += &table(contenders, rows));
    let latencies = latencies(&rows);
    text + &latencies + &about(&rows)
}

/// Those beside ours that have a column. A floor is named in its cell: nearly each row has another.
fn contenders(row: &RowResult) -> Vec<&str> {
    let columns = row.entries.iter().filter(|entry| !matches!(entry.kind, Kind::Ours | Kind::Floor));
    columns.map(|entry| entry.name.as_str()).collect()
}

fn floors(row: &RowResult) -> impl Iterator<Item = (&EntryResult, &Ratio)> {
    pairs(row).filter(|(entry, _)| entry.kind == Kind::Floor)
}

/// Everyone beside ours.
fn pairs(row: &RowResult) -> impl Iterator<Item = (&EntryResult, &Ratio)> {
    row.entries.iter().filter(|entry| entry.kind != Kind::Ours).zip(&row.ratios)
}

fn table(contenders: &[&str], rows: &[&RowResult]) -> String {
    let floor = rows.iter().any(|row| floors(row).next().is_some());
    let target = rows.iter().any(|row| row.has_targets());
    let mut header = vec!["row", "annulus, ns"];
    header.extend(contenders);
    header.extend(floor.then_some("floor"));
    header.extend(target.then_some("target"));
    header.push("rounds");
    let mut text = format!("| {} |\n|{}\n", header.join(" | "), " --- |".repeat(header.len()));
    for row in rows {
        let oversubscribed = if row.oversubscribed { " ⁺" } else { "" };
        let mut cells = vec![format!("{}{oversubscribed}", row.name), row.ours().time()];
        for name in contenders {
            cells.extend(pairs(row).filter(|(entry, _)| entry.name == *name).map(cell));
        }
        if floor {
            let floors = floors(row).map(|pair| format!("{}: {}", pair.0.name, cell(pair)));
            cells.push(floors.collect::<Vec<_>>().join("<br>"));
        }
        cells.extend(target.then(|| targets(row)));
        cells.push(rounds(row));
        _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text + "\n"
}

/// Its time, then ours divided by it.
fn cell((entry, ratio): (&EntryResult, &Ratio)) -> String {
    match entry.ns {
        Some(ns) => format!("{}{}; {}", short(ns.median), entry.remarks(), ratio.cell()),
        None => none(),
    }
}

fn targets(row: &RowResult) -> String {
    let ratios = row.ratios.iter().filter(|ratio| ratio.target.is_some());
    let ratios = ratios.map(|ratio| format!("{} {}", ratio.against, ratio.verdict()));
    let limits = row.limited();
    let limits = limits.iter().map(|limited| format!("{} {}", limited.against, limited.verdict()));
    let all: Vec<String> = ratios.chain(limits).collect();
    if all.is_empty() { none() } else { all.join("<br>") }
}

/// The percentiles of those rows that are about latency.
fn latencies(rows: &[&RowResult]) -> String {
    let mut text = String::new();
    for row in rows {
        let mut name = row.name.as_str();
        for entry in &row.entries {
            let Some(latency) = &entry.latency else { continue };
            let mut cells = latency.cells().map(|ns| ns.to_string());
            if let Some(rounds) = latency.p99_of_rounds {
                _ = write!(cells[2], " ({:.0}–{:.0} by round)", rounds.lower, rounds.upper);
            }
            _ = writeln!(text, "| {name} | {} | {} |", entry.label(), cells.join(" | "));
            name = "";
        }
    }
    if text.is_empty() {
        return text;
    }
    let header = ["latency, ns", "of"].into_iter().chain(Latency::COLUMNS).collect::<Vec<_>>();
    format!("| {} |\n|{}\n{text}\n", header.join(" | "), " --- |".repeat(header.len()))
}

/// What each row does: once for those that do the same.
fn about(rows: &[&RowResult]) -> String {
    let mut all: Vec<(&str, Vec<String>)> = vec![];
    for row in rows {
        let name = format!("**{}**", row.name);
        match all.iter_mut().find(|(about, _)| *about == row.about) {
            Some((_, names)) => names.push(name),
            None => all.push((&row.about, vec![name])),
        }
    }
    let line = |(about, names): (&str, Vec<String>)| format!("- {}: {about}.\n", names.join("; "));
    all.into_iter().map(line).collect::<String>() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::{results, row};

    #[test]
    fn rows_with_the_same_contenders_share_a_table() {
        let mut other = row(1.0, 2.0, true);
        other.name = "another".into();
        let mut alone = row(3.0, 2.0, true);
        alone.entries[1].name = "somebody".into();
        let text = topics(&results(vec![row(1.0, 2.0, true), alone, other]));
        let header = "| row | annulus, ns | a rival | floor | target | rounds |";
        assert_eq!(text.lines().filter(|line| *line == header).count(), 1, "{text}");
        let ours = "1.00 (1.00–1.00), 99 % received";
        let rival = "2.00; 0.50 (0.50–0.50), p99 1.00";
        let floor = "less: 0.80; 1.25 (1.25–1.25), p99 1.00";
        let target = "a rival ≤ 0.50: met (aim 0.25: not met)";
        for name in ["a row", "another"] {
            let line = format!("| {name} ⁺ | {ours} | {rival} | {floor} | {target} | 3 (2 did not count) |");
            assert!(text.lines().any(|found| found == line), "{text}");
        }
        assert!(text.contains("- **a row**; **a row**; **another**: about.\n"), "{text}");
    }

    #[test]
    fn a_row_without_a_round_that_counts_has_no_figures() {
        let text = topics(&results(vec![row(1.0, 2.0, false)]));
        assert!(text.contains("| a row ⁺ | – | – | less: – | a rival ≤ 0.50: no steady round |"), "{text}");
    }

    #[test]
    fn latencies_have_their_percentiles() {
        let text = topics(&results(vec![row(1.0, 2.0, true)]));
        let lines = [
            "| a row | annulus | 100 | 900 | 900 (900–900 by round) | 900 | 900 | 900 |",
            "|  | a rival | 100 |",
        ];
        assert!(text.contains(&lines.join("\n")), "{text}");
    }
}

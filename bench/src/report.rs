//! The report: a table for the terminal and the Markdown page, everything for the JSON file.

use std::fmt::Write;

use serde::Serialize;

use crate::contenders::{PACKAGES, version_of};
use crate::cores::Cores;
use crate::machine::Machine;
use crate::rounds::{Quartiles, Rounds, ours};
use crate::rows::{Kind, Row, Target};

#[derive(Serialize)]
pub struct Report {
    machine: Machine,
    /// The packages, with their versions.
    contenders: Vec<(&'static str, &'static str)>,
    /// How many rounds were asked for.
    rounds: usize,
    /// The part of the time for which the measuring thread, which never sleeps, had its core. Less than nearly 1 means that
    /// other programs ran meanwhile.
    presence: f64,
    /// The raw ping-pong between the two cores over the whole run, in nanoseconds a round trip.
    ping_pong_ns: Option<Quartiles>,
    rows: Vec<RowReport>,
}

#[derive(Serialize)]
pub struct RowReport {
    name: &'static str,
    about: &'static str,
    capacity: usize,
    /// In one run of an entry.
    messages: u64,
    entries: Vec<EntryReport>,
    ratios: Vec<Ratio>,
    rounds: Rounds,
}

#[derive(Serialize)]
struct EntryReport {
    name: &'static str,
    kind: Kind,
    /// Nanoseconds a message, over the rounds that count; none where no round does.
    ns: Option<Quartiles>,
    share: Option<Quartiles>,
}

/// Our time divided by another's.
#[derive(Serialize)]
struct Ratio {
    against: &'static str,
    ratio: Option<Quartiles>,
    target: Option<Target>,
    /// Whether the median reaches the target; none where there is no target, or no round that counts.
    met: Option<bool>,
}

impl RowReport {
    pub fn new(row: &Row, rounds: Rounds) -> Self {
        let ours = ours(row);
        let entries = row.entries.iter().enumerate().map(|(place, entry)| EntryReport {
            name: entry.name,
            kind: entry.kind,
            ns: rounds.ns(place),
            share: rounds.share(place),
        });
        let others = row.entries.iter().enumerate().filter(|(place, _)| *place != ours);
        let ratios = others.map(|(place, entry)| {
            let ratio = rounds.ratio(ours, place);
            let target = row.targets.iter().find(|target| target.against == entry.name).copied();
            let met = target.zip(ratio).map(|(target, ratio)| ratio.median <= target.at_most);
            Ratio { against: entry.name, ratio, target, met }
        });
        Self {
            name: row.name,
            about: row.about,
            capacity: row.capacity,
            messages: row.messages,
            entries: entries.collect(),
            ratios: ratios.collect(),
            rounds,
        }
    }

    /// A line for everyone beside us; the first says what is the row's.
    fn lines(&self) -> Vec<[String; COLUMNS]> {
        let (ours, others): (Vec<&EntryReport>, _) =
            self.entries.iter().partition(|entry| entry.kind == Kind::Ours);
        let dropped = match self.rounds.dropped {
            0 => String::new(),
            dropped => format!(" ({dropped} dropped)"),
        };
        let mut of_the_row = [
            self.name.to_owned(),
            ours.into_iter().map(EntryReport::time).collect(),
            format!("{}{dropped}", self.rounds.kept.len()),
        ];
        let lines = others.into_iter().zip(&self.ratios).map(|(other, ratio)| {
            let [name, ours, rounds] = std::mem::take(&mut of_the_row);
            [name, ours, other.label(), other.time(), ratio.cell(), ratio.verdict(), rounds]
        });
        lines.collect()
    }

    fn floor(&self) -> Option<&'static str> {
        self.entries.iter().find(|entry| entry.kind == Kind::Floor).map(|entry| entry.name)
    }
}

impl Ratio {
    fn cell(&self) -> String {
        quartiles(self.ratio, |value| format!("{value:.2}"))
    }

    fn verdict(&self) -> String {
        let Some(target) = self.target else {
            return none();
        };
        let met = match self.met {
            Some(true) => "met",
            Some(false) => "**not met**",
            None => "no steady round",
        };
        let mut text = format!("≤ {:.2}: {met}", target.at_most);
        if let Some((aim, ratio)) = target.aim.zip(self.ratio) {
            _ = write!(text, " (aim {aim:.2}: {})", if ratio.median <= aim { "met" } else { "not met" });
        }
        text
    }
}

impl EntryReport {
    fn label(&self) -> String {
        match self.kind {
            Kind::Floor => format!("floor: {}", self.name),
            _ => self.name.to_owned(),
        }
    }

    fn time(&self) -> String {
        let share =
            self.share.map(|share| format!(", {:.0} % received", share.median * 100.0)).unwrap_or_default();
        quartiles(self.ns, short) + &share
    }
}

/// "median (first quartile–third quartile)".
fn quartiles(values: Option<Quartiles>, form: impl Fn(f64) -> String) -> String {
    match values {
        Some(values) => format!("{} ({}–{})", form(values.median), form(values.lower), form(values.upper)),
        None => none(),
    }
}

/// Three digits or so.
fn short(value: f64) -> String {
    let digits = match value {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    format!("{value:.digits$}")
}

fn none() -> String {
    "–".to_owned()
}

const COLUMNS: usize = 7;

impl Report {
    pub fn new(machine: Machine, rounds: usize, presence: f64, rows: Vec<RowReport>) -> Self {
        let contenders = PACKAGES.map(|name| (name, version_of(name)));
        let ping_pong_ns = Quartiles::of(rows.iter().flat_map(|row| row.rounds.probes.iter().copied()));
        Self { machine, contenders: contenders.to_vec(), rounds, presence, ping_pong_ns, rows }
    }

    /// The table, its columns aligned.
    pub fn table(&self) -> String {
        let header = ["row", "annulus, ns", "beside", "its ns", "annulus ÷ it", "target", "rounds"];
        let mut lines = vec![header.map(str::to_owned)];
        lines.extend(self.rows.iter().flat_map(RowReport::lines));
        let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
        let widths: [usize; COLUMNS] = std::array::from_fn(width);
        let mut table = String::new();
        for (number, line) in lines.iter().enumerate() {
            for (cell, width) in line.iter().zip(widths) {
                _ = write!(table, "| {cell:width$} ");
            }
            table += "|\n";
            if number == 0 {
                for width in widths {
                    _ = write!(table, "| {} ", "-".repeat(width));
                }
                table += "|\n";
            }
        }
        table
    }

    /// The machine, the day, and how steady it was.
    pub fn conditions(&self, cores: Cores) -> String {
        let Machine { date, processor, cores: count, is_virtual, kernel, rustc, target, opt_level } =
            &self.machine;
        let hypervisor = if *is_virtual { "a virtual machine" } else { "no hypervisor" };
        let mut text = format!(
            "{date}, {processor}, {count} cores ({hypervisor}), {kernel}, {rustc} for {target}, opt-level {opt_level}"
        );
        for (name, version) in &self.contenders {
            _ = write!(text, ", {name} {version}");
        }
        let presence = self.presence * 100.0;
        _ = write!(
            text,
            ". Threads on cores {cores}; the measuring one had its core for {presence:.1} % of the time"
        );
        if let Some(probes) = self.ping_pong_ns {
            _ = write!(text, "; a raw ping-pong between the two took {} ns", quartiles(Some(probes), short));
        }
        text + "."
    }

    /// The page of the documentation.
    pub fn markdown(&self, cores: Cores) -> String {
        let mut rows = String::new();
        for row in &self.rows {
            _ = write!(rows, "- **{}**: {}.", row.name, row.about);
            if let Some(floor) = row.floor() {
                _ = write!(rows, " Floor: {floor}.");
            }
            rows += "\n";
        }
        PAGE.replace("{conditions}", &self.conditions(cores))
            .replace("{table}", &self.table())
            .replace("{rows}", &rows)
            .replace("{rounds}", &self.rounds.to_string())
    }
}

const PAGE: &str = include_str!("page.md");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::{Entry, Sample};

    fn row(ours: f64, rival: f64, rounds: usize) -> RowReport {
        let mut row = Row::new("a row", "about", 4, 5);
        row.entries = vec![
            Entry { name: "annulus", kind: Kind::Ours, run: |_| unreachable!() },
            Entry { name: "a rival", kind: Kind::Rival, run: |_| unreachable!() },
            Entry { name: "less", kind: Kind::Floor, run: |_| unreachable!() },
        ];
        row.targets = vec![Target { against: "a rival", at_most: 0.5, aim: Some(0.25) }];
        let sample = |ns, share| Sample { ns, share, ..Sample::default() };
        let kept = vec![vec![sample(ours, Some(0.993)), sample(rival, None), sample(0.8, None)]; rounds];
        RowReport::new(&row, Rounds { kept, dropped: 2, probes: vec![] })
    }

    #[test]
    fn a_row_says_what_was_measured_and_whether_that_is_enough() {
        let lines = row(1.0, 2.0, 3).lines();
        let ours = ["a row", "1.00 (1.00–1.00), 99 % received"];
        let rival = ["a rival", "2.00 (2.00–2.00)", "0.50 (0.50–0.50)", "≤ 0.50: met (aim 0.25: not met)"];
        assert_eq!(lines[0], [&ours[..], &rival, &["3 (2 dropped)"]].concat()[..]);
        assert_eq!(lines[1], ["", "", "floor: less", "0.80 (0.80–0.80)", "1.25 (1.25–1.25)", "–", ""]);
        assert_eq!(row(1.1, 2.0, 3).ratios[0].verdict(), "≤ 0.50: **not met** (aim 0.25: not met)");
        assert_eq!(row(1.0, 2.0, 0).ratios[0].verdict(), "≤ 0.50: no steady round");
    }

    #[test]
    fn numbers_have_about_three_digits() {
        assert_eq!([0.456, 9.876, 12.34, 123.4].map(short), ["0.46", "9.88", "12.3", "123"]);
    }

    #[test]
    fn the_page_has_no_hole_left() {
        let report = Report::new(Machine::here(), 3, 1.0, vec![row(1.0, 2.0, 3)]);
        let page = report.markdown(Cores { here: 0, there: 1 });
        assert!(!page.contains(['{', '}']), "{page}");
        assert!(page.contains("- **a row**: about."));
    }
}

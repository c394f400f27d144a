//! The reports, each made from the results alone.
//!
//! ```text
//! html     report.html: verdicts, charts, method, machine
//! page     docs/benchmarks/PROCESSOR.md
//! index    docs/benchmarks/README.md: which processors there are
//! reasons  where a rival wins, and why
//! landing  the picture and the table of the README
//! scaling  the picture of many cores
//! topics   the tables of a page, one for each topic
//! table    the table that is printed
//! ```
//!
//! Here is what they say alike: numbers, ratios, verdicts, and the machine.

pub mod html;
pub mod index;
pub mod landing;
pub mod page;
pub mod reasons;
pub mod scaling;
pub mod table;
pub mod topics;

use std::fmt::Write;

use annulus_curves::short;

use crate::machine::Machine;
use crate::results::{EntryResult, Limited, Ratio, Results};
use crate::rounds::Quartiles;
use crate::row::{Group, Kind};

/// The method, in Markdown.
const METHOD: &str = include_str!("../../../docs/benchmarks/METHOD.md");

/// What leads there from a processor's page, and from that of all. Not in their templates: there, it does not
/// lie beside.
const TO_METHOD: &str = "[the method](METHOD.md)";

impl Group {
    fn title(self) -> &'static str {
        match self {
            Self::BroadcastOneThread => "Broadcast, on one thread",
            Self::BroadcastAcross => "Broadcast, across cores",
            Self::Lossless => "Lossless broadcast",
            Self::Payload => "Large messages",
            Self::QueueOne => "Queues, one to one",
            Self::QueueMany => "Queues, many to one",
            Self::Latency => "Latency",
            Self::ShortLives => "Rings that are made for a few messages",
            Self::BeyondThreads => "Tasks, select, file descriptors",
            Self::Pipelines => "Pipelines",
            Self::Statistics => "Statistics",
            Self::Memory => "Memory",
            Self::Placement => "By placement",
            Self::NowAndThen => "Now and then, by placement",
            Self::BusyMachine => "Beside a busy program",
            Self::Sleepers => "Sleepers",
            Self::ManyCores => "Many cores",
            Self::Processes => "Between processes",
        }
    }
}

impl Ratio {
    fn cell(&self) -> String {
        let mut text = quartiles(self.ratio, ratio);
        for (figure, times) in [("CPU", self.cpu.map(|times| times.median)), ("p99", self.p99)] {
            if let Some(times) = times {
                _ = write!(text, ", {figure} {}", ratio(times));
            }
        }
        text
    }

    fn verdict(&self) -> String {
        let Some(target) = &self.target else {
            return none();
        };
        let mut text = format!("≤ {:.2}: {}", target.at_most, word(self.met));
        if let Some((aim, ratio)) = target.aim.zip(self.ratio) {
            _ = write!(text, " (aim {aim:.2}: {})", if ratio.median <= aim { "met" } else { "not met" });
        }
        text
    }
}

impl Limited<'_> {
    fn verdict(&self) -> String {
        format!("{} ≤ {:.2}: {}", self.figure, self.at_most, word(self.met()))
    }
}

/// Of a target.
fn word(met: Option<bool>) -> &'static str {
    match met {
        Some(true) => "met",
        Some(false) => "**not met**",
        None => "no steady round",
    }
}

impl EntryResult {
    fn label(&self) -> String {
        match self.kind {
            Kind::Floor => format!("floor: {}", self.name),
            _ => self.name.clone(),
        }
    }

    fn time(&self) -> String {
        quartiles(self.ns, short) + &self.remarks()
    }

    /// Processor time, the share that was received, and what a neighbour loses, where a row has them.
    fn remarks(&self) -> String {
        let cpu = self.cpu_ns.map(|cpu| format!(", CPU {}", short(cpu.median))).unwrap_or_default();
        let share = self.share.map(|share| format!(", {:.0} % received", share.median * 100.0));
        let lost =
            self.neighbour_lost.map(|lost| format!(", a neighbour loses {:.0} %", lost.median * 100.0));
        cpu + &share.unwrap_or_default() + &lost.unwrap_or_default()
    }
}

/// "median (first quartile–third quartile)".
fn quartiles(values: Option<Quartiles>, form: impl Fn(f64) -> String) -> String {
    match values {
        Some(values) => format!("{} ({}–{})", form(values.median), form(values.lower), form(values.upper)),
        None => none(),
    }
}

fn ratio(value: f64) -> String {
    format!("{value:.2}")
}

fn none() -> String {
    "–".to_owned()
}

/// The machine, the day, and how steady it was.
fn conditions(results: &Results) -> String {
    let Machine { date, processor, cores, is_virtual, kernel, rustc, target, opt_level, .. } =
        &results.machine;
    let hypervisor = if *is_virtual { "a virtual machine" } else { "no hypervisor" };
    let generation = results.machine.generation.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    let governor = results.machine.governor.as_deref().unwrap_or("not to be seen");
    let counter = if results.machine.invariant_counter { "invariant" } else { "not invariant" };
    let mut text = format!(
        "{date}, {processor}{generation}, {cores} cores ({hypervisor}), governor {governor}, time stamp counter {counter}, {kernel}, \
         {rustc} for {target}, opt-level {opt_level}"
    );
    if !results.machine.rustflags.is_empty() {
        _ = write!(text, ", flags {}", results.machine.rustflags);
    }
    for package in &results.contenders {
        _ = write!(text, ", {} {}", package.name, package.version);
    }
    let others = results.others * 100.0;
    _ = write!(text, ". {} rounds were asked for", results.rounds);
    _ = write!(text, ". Threads on cores {}; other programs had {others:.1} % of their time", results.cores);
    if let Some(probes) = results.ping_pong_ns() {
        _ = write!(text, "; a raw ping-pong between the two took {} ns", quartiles(Some(probes), short));
    }
    if results.others > DISTURBED {
        text += ". **Something else ran: these figures are not to be trusted**";
    }
    text + "."
}

/// More of the cores' time than this in others' hands, and the figures are of little worth.
const DISTURBED: f64 = 0.05;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::{results, row};

    #[test]
    fn numbers_have_about_three_digits() {
        assert_eq!([0.456, 9.876, 12.34, 123.4].map(short), ["0.46", "9.88", "12.3", "123"]);
    }

    #[test]
    fn verdict_names_the_target() {
        let verdict = |ours, steady| row(ours, 2.0, steady).ratios[0].verdict();
        assert_eq!(verdict(1.0, true), "≤ 0.50: met (aim 0.25: not met)");
        assert_eq!(verdict(1.1, true), "≤ 0.50: **not met** (aim 0.25: not met)");
        assert_eq!(verdict(1.0, false), "≤ 0.50: no steady round");
    }

    #[test]
    fn disturbed_run_says_so() {
        let mut results = results(vec![]);
        assert!(!conditions(&results).contains("trusted"));
        results.others = 0.06;
        assert!(conditions(&results).contains("other programs had 6.0 % of their time"));
        assert!(conditions(&results).contains("not to be trusted"));
    }
}

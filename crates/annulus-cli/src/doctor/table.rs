//! The report for people.

use std::io::{self, IsTerminal};

use comfy_table::{ContentArrangement, Table, presets};

use super::finding::{Finding, Verdict};
use super::heat_map;
use super::report::Report;

/// How wide the table is where nobody watches.
const WIDTH: u16 = 120;

/// A terminal that is narrower gets lines that it has to break.
const WIDTH_MIN: u16 = 72;

/// How wide the table may be.
pub(super) fn width() -> u16 {
    let terminal = || terminal_size::terminal_size().map(|(width, _)| width.0);
    let width = io::stdout().is_terminal().then(terminal).flatten();
    width.unwrap_or(WIDTH).max(WIDTH_MIN)
}

/// The whole report, as lines.
pub(super) fn render(report: &Report, width: u16) -> String {
    let mut text = format!("What this machine can do for low latency ({})\n\n", report.system);
    text += &findings(&report.findings, width);
    text += "\n\n";
    text += &commands(&report.findings);
    text += &summary(&report.findings);
    if let Some(core_to_core) = &report.core_to_core {
        text += "\n";
        text += &heat_map::render(core_to_core);
    }
    text
}

/// One line a finding.
fn findings(findings: &[Finding], width: u16) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width)
        .set_header(["what", "here", "verdict", "what to change"]);
    for Finding { name, here, verdict, advice, .. } in findings {
        table.add_row([name, here.as_str(), verdict.text(), advice.as_deref().unwrap_or("–")]);
    }
    table.to_string()
}

/// Commands with a file's name, which the table may have broken.
fn commands(findings: &[Finding]) -> String {
    let advice = findings.iter().filter_map(|finding| finding.advice.as_deref());
    let mut commands: Vec<_> = advice.filter(|advice| advice.starts_with("echo ")).collect();
    if commands.is_empty() {
        return String::new();
    }
    commands.insert(0, "Commands that the table may have broken, to copy:");
    commands.join("\n  ") + "\n\n"
}

/// How many of each verdict.
fn summary(findings: &[Finding]) -> String {
    let count = |verdict: Verdict| {
        let count = findings.iter().filter(|finding| finding.verdict == verdict).count();
        format!("{count} {}", verdict.text())
    };
    let verdicts = [Verdict::Good, Verdict::CouldBeBetter, Verdict::Hidden, Verdict::NotThere];
    format!("{}. Nothing was changed.\n", verdicts.map(count).join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::finding::Reading;
    use super::super::report::System;
    use super::super::root::Unseen;
    use super::*;

    #[test]
    fn a_row_is_a_finding() {
        let report = Report {
            system: System { os: "linux", arch: "x86_64", processor: Some("A Processor".into()) },
            findings: vec![
                Finding::new("a", "one thing", Ok(Reading::good("fine"))),
                Finding::new("b", "another", Ok(Reading::better("slow", "make it fast"))),
                Finding::new("c", "a third", Err(Unseen::NotHere)),
                Finding::new("d", "last", Ok(Reading::better("0", "echo 1 | sudo tee F"))),
            ],
            core_to_core: None,
        };
        let expected = "\
What this machine can do for low latency (A Processor, linux, x86_64)

┌───────────┬───────────────────────────────┬─────────────────┬─────────────────────┐
│ what      ┆ here                          ┆ verdict         ┆ what to change      │
╞═══════════╪═══════════════════════════════╪═════════════════╪═════════════════════╡
│ one thing ┆ fine                          ┆ good            ┆ –                   │
│ another   ┆ slow                          ┆ could be better ┆ make it fast        │
│ a third   ┆ not to be seen on this system ┆ hidden          ┆ –                   │
│ last      ┆ 0                             ┆ could be better ┆ echo 1 | sudo tee F │
└───────────┴───────────────────────────────┴─────────────────┴─────────────────────┘

Commands that the table may have broken, to copy:
  echo 1 | sudo tee F

1 good, 2 could be better, 1 hidden, 0 not there. Nothing was changed.
";
        assert_eq!(render(&report, 200), expected);
    }
}

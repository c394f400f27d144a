//! The report for people.

use super::finding::{Finding, Verdict};
use super::heat_map;
use super::report::Report;
use crate::page::Page;
use crate::table::{Cell, Column, Table};
use crate::text::{FAIR, GOOD};

/// How wide the table is at most where nobody says how wide it may be.
const WIDTH: usize = 120;

/// The whole report, in lines that are no wider than `room`.
pub(super) fn render(report: &Report, room: usize) -> String {
    let mut page = Page::new(if room == usize::MAX { WIDTH } else { room });
    page.say(format!("What this machine can do for low latency ({})", report.system));
    page.gap();
    page.table(&findings(&report.findings));
    page.gap();
    commands(&report.findings, &mut page);
    page.say(summary(&report.findings));
    if let Some(core_to_core) = &report.core_to_core {
        page.gap();
        page.lines(&heat_map::render(core_to_core, room));
    }
    page.into_text()
}

/// One line a finding.
fn findings(findings: &[Finding]) -> Table {
    let columns =
        [Column::text("what"), Column::long("here"), Column::text("verdict"), Column::long("what to change")];
    let mut table = Table::framed(&columns);
    for Finding { name, here, verdict, advice, .. } in findings {
        let text = verdict.text();
        let shown = match verdict {
            Verdict::Good => Cell::styled(text, GOOD),
            Verdict::CouldBeBetter => Cell::styled(text, FAIR),
            Verdict::Hidden | Verdict::NotThere => text.into(),
        };
        table.row([(*name).into(), here.as_str().into(), shown, advice.as_deref().unwrap_or("–").into()]);
    }
    table
}

/// Commands with a file's name, which the table may have broken. These stay whole.
fn commands(findings: &[Finding], page: &mut Page) {
    let advice = findings.iter().filter_map(|finding| finding.advice.as_deref());
    let commands: Vec<_> = advice.filter(|advice| advice.starts_with("echo ")).collect();
    if commands.is_empty() {
        return;
    }
    page.say("Commands that the table may have broken, to copy:");
    for command in commands {
        page.lines(&format!("  {command}\n"));
    }
    page.gap();
}

/// How many of each verdict.
fn summary(findings: &[Finding]) -> String {
    let count = |verdict: Verdict| {
        let count = findings.iter().filter(|finding| finding.verdict == verdict).count();
        format!("{count} {}", verdict.text())
    };
    let verdicts = [Verdict::Good, Verdict::CouldBeBetter, Verdict::Hidden, Verdict::NotThere];
    format!("{}. Nothing was changed.", verdicts.map(count).join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::finding::Reading;
    use super::super::report::System;
    use super::super::root::Unseen;
    use super::*;
    use crate::text::plain;

    #[test]
    fn row_is_a_finding() {
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
        assert_eq!(plain(&render(&report, 200)), expected);
    }
}

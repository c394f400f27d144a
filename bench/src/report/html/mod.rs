//! `report.html`: one file that needs nothing else, for a large screen, a phone and paper, in light and dark.
//!
//! ```text
//! mod        the page
//! sections   which there are, and what links to them say
//! colours    which contender has which
//! verdicts   the table that comes first
//! bars       a row's times beside each other
//! curves     lines: percentiles of latency, and rows that differ in one number
//! style.css  how it looks
//! ```

mod bars;
mod colours;
mod curves;
pub mod sections;
mod verdicts;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use pulldown_cmark::{Parser, html::push_html};

use colours::Colours;
use sections::{groups, id};

use super::{METHOD, conditions};
use crate::results::{Results, RowResult};
use crate::row::Group;

const STYLE: &str = include_str!("style.css");

pub fn page(results: &Results) -> String {
    let colours = Colours::of(results);
    // Here it has a title already.
    let method = METHOD.split_once('\n').map_or(METHOD, |(_, text)| text);
    let sections = groups(results).into_iter().map(|group| section(results, group, &colours));
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Annulus: benchmarks of " (results.machine.date) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { "Annulus beside its rivals" }
                    p { "Time of annulus divided by another's, in the same round: below 1, annulus takes less. The range is that from the \
                         first to the third quartile of " (results.rounds) " rounds." }
                    nav {
                        a href="#verdicts" { "Verdicts" }
                        @for group in groups(results) { a href=(format!("#{}", id(group))) { (group.title()) } }
                        a href="#method" { "Method" }
                        a href="#machine" { "Machine" }
                    }
                }
                main {
                    (verdicts::table(results))
                    @for section in sections { (section) }
                    section #method { h2 { "Method" } (markdown(method)) }
                    section #machine { h2 { "Machine" } (markdown(&conditions(results))) }
                }
            }
        }
    };
    page.into_string()
}

fn section(results: &Results, group: Group, colours: &Colours) -> Markup {
    let rows: Vec<&RowResult> = results.rows.iter().filter(|row| row.group == group).collect();
    html! {
        section id=(id(group)) {
            h2 { (group.title()) }
            (curves::along_axes(&rows, colours))
            div.charts {
                @for row in rows {
                    figure {
                        figcaption {
                            strong { (row.name) }
                            @if row.oversubscribed { " " span.mark { "oversubscribed" } }
                            p { (row.about) "." }
                        }
                        (bars::bars(row, colours))
                        (curves::percentiles(row, colours))
                        p.note { (rounds_of(row)) }
                    }
                }
            }
        }
    }
}

fn rounds_of(row: &RowResult) -> String {
    let mut text = format!("{} rounds", row.rounds.kept());
    if row.rounds.dropped() > 0 {
        text += &format!(", {} more that do not count because the cores moved", row.rounds.dropped());
    }
    if let Some(probes) = row.ping_pong_ns() {
        text += &format!("; raw ping-pong around them {} ns", super::quartiles(Some(probes), super::short));
    }
    text
}

fn markdown(text: &str) -> Markup {
    let mut html = String::new();
    push_html(&mut html, Parser::new(text));
    PreEscaped(html)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::{results, row};
    use crate::row::Place;

    /// Two rows along one axis, with latencies, and with names that are not to be taken for tags.
    fn written() -> String {
        let rows = [(1_u64, "a <row> & \"more\""), (2, "b")].map(|(at, name)| {
            let mut row = row(at as f64, 2.0, true);
            row.name = name.to_owned();
            row.place = Some(Place { axis: "producers".into(), at });
            row
        });
        page(&results(rows.into()))
    }

    #[test]
    fn page_needs_nothing_from_elsewhere() {
        let page = written();
        for reference in ["http:", "https:", "src=", "<link", "@import", "url(", "<script"] {
            assert!(!page.contains(reference), "{reference}");
        }
    }

    #[test]
    fn page_is_well_formed_and_names_are_text() {
        let page = written();
        assert!(page.contains("a &lt;row&gt; &amp; &quot;more&quot;"));
        assert!(!page.contains("<row>"));
        for tag in ["table", "section", "figure", "svg", "div", "p", "main", "ol", "li"] {
            let (opened, closed) =
                (page.matches(&format!("<{tag}>")).count(), page.matches(&format!("</{tag}>")).count());
            assert_eq!(opened + page.matches(&format!("<{tag} ")).count(), closed, "{tag}");
        }
        assert!(!page.contains("NaN") && !page.contains("inf"));
    }

    #[test]
    fn page_has_every_part() {
        let page = written();
        for part in [
            "id=\"verdicts\"",
            "id=\"method\"",
            "id=\"machine\"",
            "not met",
            "producers",
            "99.9 %",
            "oversubscribed",
        ] {
            assert!(page.contains(part), "{part}");
        }
    }

    #[test]
    fn rows_without_a_round_that_counts_are_there() {
        let page = page(&results(vec![row(1.0, 2.0, false)]));
        assert!(page.contains("no steady round") && !page.contains("NaN"));
    }
}

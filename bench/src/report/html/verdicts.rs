//! The table that comes first: what to know if nothing else is read.

use maud::{Markup, html};

use super::super::{ratio, short};
use super::sections::{groups, id};
use crate::results::{Limited, Ratio, Results, RowResult, Standing};
use crate::rounds::Quartiles;

pub fn table(results: &Results) -> Markup {
    let verdicts: Vec<Option<bool>> = results.rows.iter().flat_map(RowResult::met).collect();
    let met = verdicts.iter().filter(|met| **met == Some(true)).count();
    let standing = |which| results.rows.iter().filter(|row| row.standing() == Some(which)).count();
    html! {
        section #verdicts {
            h2 { "Verdicts" }
            p {
                (met) " of " (verdicts.len()) " targets are met. Beside the best rival annulus takes less time in "
                (standing(Standing::Ahead)) " rows, more in " (standing(Standing::Behind)) ", and in " (standing(Standing::Even))
                " it is within a tenth of it."
            }
            table {
                thead { tr { th { "row" } th { "annulus" } th { "÷ best rival" } th { "÷ floor" } th { "targets" } } }
                @for group in groups(results) {
                    tbody {
                        tr.group { th colspan="5" { a href=(format!("#{}", id(group))) { (group.title()) } } }
                        @for row in results.rows.iter().filter(|row| row.group == group) { (line(row)) }
                    }
                }
            }
        }
    }
}

fn line(row: &RowResult) -> Markup {
    html! {
        tr {
            th scope="row" { (row.name) @if row.oversubscribed { " " span.mark { "oversubscribed" } } }
            td data-label="annulus" {
                @match row.ours().ns {
                    Some(ns) => { (short(ns.median)) " ns" (row.ours().remarks()) }
                    None => { "no steady round" }
                }
            }
            td data-label="÷ best rival" {
                @if let Some((rival, times)) = row.best_rival() { (cell(times, Some(Standing::of(times)))) " " span.who { (rival.against) } }
            }
            td data-label="÷ floor" {
                @if let Some((floor, times)) = row.floor() { (cell(times, None)) " " span.who { (floor.against) } }
            }
            td data-label="targets" { @for ratio in &row.ratios { (target(ratio)) } @for limited in row.limited() { (limit(&limited)) } }
        }
    }
}

fn cell(times: Quartiles, standing: Option<Standing>) -> Markup {
    let class = match standing {
        Some(Standing::Ahead) => "chip good",
        Some(Standing::Behind) => "chip bad",
        Some(Standing::Even) => "chip even",
        None => "chip",
    };
    html! {
        span class=(class) { (ratio(times.median)) } " "
        span.spread { (ratio(times.lower)) "–" (ratio(times.upper)) }
    }
}

fn target(of: &Ratio) -> Markup {
    let Some(target) = &of.target else {
        return html! {};
    };
    html! { div { (chip(of.met)) " ≤ " (ratio(target.at_most)) " of " (target.against) } }
}

fn limit(of: &Limited) -> Markup {
    html! {
        div {
            (chip(of.met())) " " (of.figure) " ≤ " (ratio(of.at_most)) " of " (of.against)
            @if let Some(times) = of.ratio { ": " (ratio(times)) }
        }
    }
}

fn chip(met: Option<bool>) -> Markup {
    let (class, word) = match met {
        Some(true) => ("chip good", "met"),
        Some(false) => ("chip bad", "not met"),
        None => ("chip even", "no steady round"),
    };
    html! { span class=(class) { (word) } }
}

//! The times of a row's entries: a bar to the median, and a line over it from the first to the third
//! quartile.

use maud::{Markup, html};

use super::super::{quartiles, short};
use super::colours::Colours;
use crate::results::RowResult;

pub fn bars(row: &RowResult, colours: &Colours) -> Markup {
    let longest = row.entries.iter().filter_map(|entry| entry.ns).map(|ns| ns.upper).fold(0.0, f64::max);
    let part = |ns: f64| format!("{:.2}%", ns / longest * 100.0);
    html! {
        ol.bars {
            @for entry in &row.entries {
                li class=(colours.class(&entry.name, entry.kind)) {
                    span.label { (entry.label()) }
                    @if let Some(ns) = entry.ns {
                        span.track {
                            span.bar style=(format!("width:{}", part(ns.median))) {}
                            span.range style=(format!("left:{};width:{}", part(ns.lower), part(ns.upper - ns.lower))) {}
                        }
                    }
                    span.value { (quartiles(entry.ns, short)) " ns" (entry.remarks()) }
                }
            }
        }
    }
}

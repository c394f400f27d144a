//! [`draw()`]: what the user sees, in a terminal's cells.
//!
//! ```text
//! table     all rings              page      one of them
//! routes    what bridges carry
//! palette   what has a colour
//! ```

mod page;
mod palette;
mod routes;
mod table;
#[cfg(test)]
mod tests;

use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Stylize;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

use super::columns::{fit, width};
use super::history::History;
use super::rows::rows;
use super::view::View;
use crate::rings::sample::Sample;
use crate::text::{counted, printable};
use page::page;
use palette::BAD;
use routes::routes;
use table::table;

/// What there is to see.
pub(super) struct Scene<'a> {
    pub(super) sample: &'a Sample,
    pub(super) history: &'a History,
    pub(super) view: &'a View,
    pub(super) interval: Duration,
}

/// Where there are fewer lines, all are for rings.
const LINES_MIN: u16 = 5;

/// Draws all of it.
pub(super) fn draw(frame: &mut Frame<'_>, scene: &Scene<'_>) {
    let rows = rows(scene.sample, scene.history, scene.view);
    let area = frame.area();
    let edge = u16::from(area.height >= LINES_MIN);
    let areas = Layout::vertical([Constraint::Length(edge), Constraint::Fill(1), Constraint::Length(edge)]);
    let [head, body, foot] = areas.areas(area);
    frame.render_widget(title(scene, head.width.into()), head);
    let chosen =
        scene.view.chosen.as_ref().and_then(|name| rows.iter().position(|row| row.ring.name == *name));
    let on_page = chosen.filter(|_| scene.view.is_page);
    if let Some(index) = on_page {
        page(frame, body, &rows[index], &scene.sample.routes, scene.history);
    } else {
        let body = routes(frame, body, &scene.sample.routes);
        if rows.is_empty() {
            nothing(frame, body, scene);
        } else {
            table(frame, body, &rows, chosen, scene.view);
        }
    }
    frame.render_widget(help(scene.view, on_page.is_some(), foot.width.into()), foot);
}

/// Where it is, and how much there is of it.
fn title(scene: &Scene<'_>, room: usize) -> Line<'static> {
    let Scene { sample, interval, .. } = scene;
    let dead = if sample.dead() > 0 { format!(", {} dead", sample.dead()) } else { String::new() };
    let count = counted(sample.rings.len() as u64, "ring") + &dead;
    let every = format!("every {} s", interval.as_secs_f64());
    let left = format!("annulus top  {}", printable(&sample.directory));
    let right = format!("{count}  {every}");
    let space = room.saturating_sub(width(&right) + 2);
    let mut line = Line::from(fit(&left, space.min(room), false)).bold();
    line.push_span(Span::raw("  ").not_bold());
    line.push_span(Span::raw(right).not_bold());
    line
}

/// The keys, or the filter.
fn help(view: &View, is_page: bool, room: usize) -> Line<'static> {
    let texts: &[&str] = match view {
        View { is_typing: true, .. } => return Line::from(format!("/{}█", printable(&view.filter))),
        _ if is_page => &["q quit  Esc all rings  ↑↓ other rings", "q Esc ↑↓"],
        View { filter, .. } if !filter.is_empty() => {
            return Line::from(format!("only with “{}”: Esc shows all", printable(filter)));
        }
        _ => &[
            "q quit  ↑↓ choose  Enter its page  / filter  sort by n name  k kind  s state  r rate  d depth  l lag  p process",
            "q quit  ↑↓ Enter page  / filter  sort: n k s r d l p (again: reverse)",
            "q quit  Enter page  / filter  sort: nksrdlp",
            "q quit",
        ],
    };
    let text = texts.iter().find(|text| width(text) <= room).unwrap_or(&"q");
    Line::from(*text).dim()
}

/// There is no ring to be shown.
fn nothing(frame: &mut Frame<'_>, area: Rect, scene: &Scene<'_>) {
    let Scene { sample, view, .. } = scene;
    let directory = printable(&sample.directory);
    let text = match &sample.trouble {
        Some(trouble) => Line::from(printable(trouble)).style(BAD),
        None if sample.rings.is_empty() => Line::from(format!("There is no ring in {directory}.")),
        None => Line::from(format!("No ring has “{}” in it.", printable(&view.filter))),
    };
    let lines = if area.height > 2 { vec![Line::default(), text] } else { vec![text] };
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: true }), area);
}

//! One ring.

use std::iter;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Stylize;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Sparkline};

use super::palette::{self, of_ring, of_state, of_tone};
use crate::rings::bridges::BridgeRoute;
use crate::rings::sample::Ring;
use crate::top::columns::{fit, width};
use crate::top::facts::{TITLES, cells, facts, kind};
use crate::top::history::History;
use crate::top::rows::Row;
use crate::top::waits::{AXIS, BARS, Waits};

/// The curve has so many lines at most.
const CURVE_LINES: u16 = 6;
/// A picture of waits has at least this much room for the curve next to it.
const CURVE_COLUMNS_MIN: u16 = 20;
/// The names of facts take so many columns.
const NAMES: usize = 11;
/// Between the two, where the axis has its title.
const GAP: u16 = 10;
const AXIS_TITLE: &str = "  behind: ";

/// What is known of the ring, its curve, and its readers.
pub(super) fn page(
    frame: &mut Frame<'_>,
    area: Rect,
    row: &Row<'_>,
    routes: &[BridgeRoute],
    history: &History,
) {
    let above = above(row, routes, history, area.width.into());
    let readers = readers(row.ring, area.width.into());
    let (lines_above, lines_below) = (above.len() as u16, readers.len() as u16);
    // The readers matter more than the height of the curve.
    let left = area.height.saturating_sub(lines_above + lines_below + 1);
    let curve = if row.rates.is_empty() { 0 } else { left.min(CURVE_LINES) };
    let areas = Layout::vertical([
        Constraint::Length(lines_above),
        Constraint::Length(curve),
        Constraint::Length(u16::from(curve > 0)),
        Constraint::Fill(1),
    ]);
    let [above_area, curve_area, _, readers_area] = areas.areas(area);
    frame.render_widget(Paragraph::new(above), above_area);
    let waits = history.waits(row.ring).filter(|waits| waits.looks() > waits.none());
    let room = area.width.saturating_sub(BARS as u16 + GAP);
    match waits.filter(|_| room >= CURVE_COLUMNS_MIN && curve > 1) {
        Some(waits) => {
            let areas = Layout::horizontal([Constraint::Length(room), Constraint::Fill(1)]);
            let [rates_area, waits_area] = areas.areas(curve_area);
            draw_rates(frame, rates_area, &row.rates);
            draw_waits(frame, waits_area, waits);
        }
        None => draw_rates(frame, curve_area, &row.rates),
    }
    frame.render_widget(Paragraph::new(readers), readers_area);
}

/// The newest is at the right end.
fn draw_rates(frame: &mut Frame<'_>, area: Rect, rates: &[f64]) {
    let rates = &rates[rates.len().saturating_sub(area.width.into())..];
    let missing = usize::from(area.width).saturating_sub(rates.len());
    // In thousandths, for rings of one message in some seconds.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a picture")]
    let bars = iter::repeat_n(0, missing).chain(rates.iter().map(|rate| (rate * 1000.0) as u64));
    frame.render_widget(Sparkline::default().data(bars.collect::<Vec<_>>()), area);
}

/// How often each wait was seen, above an axis.
fn draw_waits(frame: &mut Frame<'_>, area: Rect, waits: &Waits) {
    let [bars, axis] = Layout::vertical([Constraint::Fill(1), Constraint::Length(1)]).areas(area);
    let [_, bars] = Layout::horizontal([Constraint::Length(GAP), Constraint::Fill(1)]).areas(bars);
    frame.render_widget(Sparkline::default().data(waits.bars()), bars);
    frame.render_widget(Line::from(format!("{AXIS_TITLE}{AXIS}")).dim(), axis);
}

/// What is known of the ring, a line each.
fn above(row: &Row<'_>, routes: &[BridgeRoute], history: &History, room: usize) -> Vec<Line<'static>> {
    let title = vec![
        Span::raw(row.name.clone()).bold(),
        Span::raw(kind(row.ring)),
        Span::raw(", "),
        Span::styled(row.ring.state(), of_ring(row.ring)),
    ];
    let facts = facts(row, routes, history).into_iter().map(|fact| {
        let name = Span::raw(fit(fact.name, NAMES, false)).dim();
        let text = fit(&fact.text, room.saturating_sub(NAMES), false);
        Line::from(vec![name, Span::styled(text, of_tone(fact.tone))])
    });
    iter::once(Line::from(title)).chain(facts).collect()
}

/// The readers of a ring, a line each.
fn readers(ring: &Ring, room: usize) -> Vec<Line<'static>> {
    if ring.readers.is_empty() {
        return match ring.header {
            Some(_) => vec![Line::from("No other process has it.")],
            None => Vec::new(),
        };
    }
    let rows: Vec<_> = ring.readers.iter().map(cells).collect();
    // (Where messages carry no time, nobody is behind in time.)
    let is_shown = |column: usize| ring.is_timed || TITLES[column].0 != "BEHIND";
    let columns: Vec<_> = (0..TITLES.len()).filter(|&column| is_shown(column)).collect();
    let widest = |column: usize| {
        let texts = rows.iter().map(|row| width(&row[column]));
        texts.chain([width(TITLES[column].0)]).max().unwrap_or(0)
    };
    let gap = if room >= 100 { "   " } else { "  " };
    let line = |cells: &[&str]| {
        let fitted = columns.iter().map(|&column| fit(cells[column], widest(column), TITLES[column].1));
        fit(fitted.collect::<Vec<_>>().join(gap).trim_end(), room, false)
    };
    let titles = line(&TITLES.map(|(title, _)| title));
    let mut lines = vec![Line::styled(titles, palette::TITLES)];
    for (reader, row) in ring.readers.iter().zip(&rows) {
        let style = reader.seat.map_or_else(Default::default, |seat| of_state(seat.state));
        lines.push(Line::styled(line(&row.each_ref().map(String::as_str)), style));
    }
    lines
}

//! What bridges carry, below the rings.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::palette::{FAIR, TITLES as BOLD};
use crate::rings::bridges::BridgeRoute;
use crate::top::columns::{fit, width};
use crate::top::routes::{TITLES, cells, is_in_trouble};

/// Where there are fewer lines, all are for rings.
const LINES_MIN: u16 = 10;

/// Draws the routes, if there are some, in half of the area at most. What is left is for the rings.
pub(super) fn routes(frame: &mut Frame<'_>, area: Rect, routes: &[BridgeRoute]) -> Rect {
    if routes.is_empty() || area.height < LINES_MIN {
        return area;
    }
    // A line between, and the titles.
    let wanted = u16::try_from(routes.len()).unwrap_or(u16::MAX).saturating_add(2);
    let lines = wanted.min(area.height / 2);
    let areas = Layout::vertical([Constraint::Fill(1), Constraint::Length(1), Constraint::Length(lines - 1)]);
    let [rings, _, routes_area] = areas.areas(area);
    frame.render_widget(Paragraph::new(text(routes, routes_area)), routes_area);
    rings
}

/// A line for each route that there is room for; those that are in trouble first, if not all have room.
fn text(routes: &[BridgeRoute], area: Rect) -> Vec<Line<'static>> {
    let room = usize::from(area.height) - 1;
    let mut shown: Vec<_> = routes.iter().collect();
    if shown.len() > room {
        shown.sort_by_key(|route| !is_in_trouble(route));
    }
    let left_out = shown.len().saturating_sub(room);
    // (The last line says how many there is no room for.)
    shown.truncate(if left_out == 0 { room } else { room - 1 });
    let rows: Vec<_> = shown.iter().map(|route| cells(route)).collect();
    let widest = |column: usize| {
        let texts = rows.iter().map(|row| width(&row[column]));
        texts.chain([width(TITLES[column].0)]).max().unwrap_or(0)
    };
    let line = |cells: [&str; TITLES.len()]| {
        let all = cells.iter().enumerate();
        let fitted = all.map(|(column, text)| fit(text, widest(column), TITLES[column].1));
        fit(fitted.collect::<Vec<_>>().join("  ").trim_end(), area.width.into(), false)
    };
    let mut lines = vec![Line::styled(line(TITLES.map(|(title, _)| title)), BOLD)];
    for (route, row) in shown.iter().zip(&rows) {
        let style = if is_in_trouble(route) { FAIR } else { Style::new() };
        lines.push(Line::styled(line(row.each_ref().map(String::as_str)), style));
    }
    if left_out > 0 {
        lines.push(Line::from(format!("… and {} more", left_out + 1)));
    }
    lines
}

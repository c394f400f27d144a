//! All rings.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::palette::{BAD, FAIR, TITLES, of_ring};
use crate::top::columns::{Column, columns, fit};
use crate::top::figures::curve;
use crate::top::rows::{Row, is_full};
use crate::top::view::{Sort, View};

/// A line for each ring.
pub(super) fn table(frame: &mut Frame<'_>, area: Rect, rows: &[Row<'_>], chosen: Option<usize>, view: &View) {
    let (columns, gap) = columns(rows, area.width.into());
    let room = usize::from(area.height).saturating_sub(1);
    // The chosen one is seen.
    let first = chosen.map_or(0, |index| (index + 1).saturating_sub(room));
    let mut lines = vec![header(&columns, gap, view)];
    for (index, row) in rows.iter().enumerate().skip(first).take(room) {
        let mut line = Line::default();
        for &(column, width) in &columns {
            line.push_span(cell(row, column, width));
            line.push_span(Span::raw(" ".repeat(gap)));
        }
        lines.push(if chosen == Some(index) { line.add_modifier(Modifier::REVERSED) } else { line });
    }
    frame.render_widget(Paragraph::new(lines), area);
}

/// The titles. The one by which rows are sorted has an arrow.
fn header(columns: &[(Column, usize)], gap: usize, view: &View) -> Line<'static> {
    let by = match view.sort {
        Sort::Name => Column::Name,
        Sort::Kind => Column::Kind,
        Sort::State => Column::State,
        Sort::Rate => Column::Rate,
        Sort::Depth => Column::Depth,
        Sort::Lag => Column::Lags,
        Sort::Process => Column::Process,
    };
    let arrow = if view.is_reversed { "▲" } else { "▼" };
    let title = |&(column, room): &(Column, usize)| {
        // (Rates have no room for both.)
        let title = column.title().trim_end_matches("/S").to_owned();
        let title = if column == by { title + arrow } else { column.title().into() };
        fit(&title, room, column.is_right()) + &" ".repeat(gap)
    };
    Line::from(columns.iter().map(title).collect::<String>()).style(TITLES)
}

/// One thing about one ring.
fn cell(row: &Row<'_>, column: Column, width: usize) -> Span<'static> {
    if column == Column::Curve {
        return Span::raw(curve(&row.rates, width)).dim();
    }
    let text = fit(&column.text(row), width, column.is_right());
    let style = match column {
        Column::State => of_ring(row.ring),
        Column::Depth if is_full(row.ring) => FAIR,
        Column::Lags if row.ring.has_dead_reader() => BAD,
        _ => Style::new(),
    };
    Span::styled(text, style)
}

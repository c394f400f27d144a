//! [`Table`]: how this program writes all of its tables.
//!
//! A table that is wider than the room for it breaks the texts of its long columns at words. If that is not
//! enough, it leaves out columns, those that matter least first. In the end each row becomes lines of its
//! own, one for each column.

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use crate::text::{TITLE, painted, wrapped};

/// A long column is not made narrower than this.
const LONG_LEAST: usize = 15;

/// A row that is written as lines gives its values this room at least.
const VALUE_LEAST: usize = 16;

/// A column of a table.
#[derive(Clone, Copy)]
pub(crate) struct Column {
    title: &'static str,
    is_number: bool,
    is_long: bool,
    /// Those with the highest rank are left out first; a column of rank 0 stays.
    rank: u8,
}

impl Column {
    /// Of names: they begin in one line with the title.
    pub(crate) const fn text(title: &'static str) -> Self {
        Self { title, is_number: false, is_long: false, rank: 0 }
    }

    /// Of numbers: they end in one line with the title.
    pub(crate) const fn number(title: &'static str) -> Self {
        Self { is_number: true, ..Self::text(title) }
    }

    /// Of sentences, which may be broken.
    pub(crate) const fn long(title: &'static str) -> Self {
        Self { is_long: true, ..Self::text(title) }
    }

    /// It is left out where there is no room for it, after those with a higher rank.
    pub(crate) const fn spared(self, rank: u8) -> Self {
        Self { rank, ..self }
    }

    /// `text`, filled with spaces.
    fn padded(self, text: &str, style: Style, width: usize) -> String {
        let spaces = " ".repeat(width.saturating_sub(text.width()));
        let text = painted(style, text);
        if self.is_number { spaces + &text } else { text + &spaces }
    }
}

/// What stands in a row and a column.
#[derive(Clone)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// In this style, where there are colours.
    pub(crate) fn styled(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::styled(text, Style::new())
    }
}

/// What is around the cells.
struct Frame {
    left: &'static str,
    between: &'static str,
    right: &'static str,
    top: Option<[&'static str; 4]>,
    /// Under the titles.
    middle: Option<[&'static str; 4]>,
    bottom: Option<[&'static str; 4]>,
}

static FRAMED: Frame = Frame {
    left: "│ ",
    between: " ┆ ",
    right: " │",
    top: Some(["┌─", "─", "─┬─", "─┐"]),
    middle: Some(["╞═", "═", "═╪═", "═╡"]),
    bottom: Some(["└─", "─", "─┴─", "─┘"]),
};

#[cfg(any(test, target_os = "linux"))]
static PLAIN: Frame = Frame { left: "", between: "  ", right: "", top: None, middle: None, bottom: None };

impl Frame {
    /// How much room it takes in addition to the cells.
    fn width(&self, columns: usize) -> usize {
        self.left.width() + self.right.width() + self.between.width() * columns.saturating_sub(1)
    }

    fn line(&self, cells: &[String]) -> String {
        let line = format!("{}{}{}", self.left, cells.join(self.between), self.right);
        line.trim_end().into()
    }
}

fn rule(parts: Option<[&str; 4]>, widths: &[usize]) -> Option<String> {
    let [left, line, between, right] = parts?;
    let lines: Vec<_> = widths.iter().map(|&width| line.repeat(width)).collect();
    Some(format!("{left}{}{right}", lines.join(between)))
}

/// Rows and columns.
pub(crate) struct Table {
    frame: &'static Frame,
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// With lines around it, for reports.
    pub(crate) fn framed(columns: &[Column]) -> Self {
        Self { frame: &FRAMED, columns: columns.into(), rows: Vec::new() }
    }

    /// Without lines, for lists that other programs may cut.
    #[cfg(any(test, target_os = "linux"))]
    pub(crate) fn plain(columns: &[Column]) -> Self {
        Self { frame: &PLAIN, ..Self::framed(columns) }
    }

    /// Adds a row: a cell for each column.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item: Into<Cell>>) {
        let cells: Vec<Cell> = cells.into_iter().map(Into::into).collect();
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(cells);
    }

    /// Its lines, none of which is wider than `room`, unless that is less than one title and a few letters.
    pub(crate) fn render(&self, room: usize) -> String {
        let mut shown: Vec<usize> = (0..self.columns.len()).collect();
        loop {
            if let Some(widths) = self.widths(&shown, room) {
                return self.grid(&shown, &widths);
            }
            let spared = shown.iter().copied().filter(|&column| self.columns[column].rank > 0);
            match spared.max_by_key(|&column| self.columns[column].rank) {
                Some(least) => shown.retain(|&column| column != least),
                None => return self.stack(room),
            }
        }
    }

    /// How wide these columns are in so much room; `None` if it is not enough.
    fn widths(&self, shown: &[usize], room: usize) -> Option<Vec<usize>> {
        let cells = |column: usize| self.rows.iter().map(move |row| row[column].text.width());
        let widest =
            |&column: &usize| cells(column).max().unwrap_or(0).max(self.columns[column].title.width());
        let natural: Vec<usize> = shown.iter().map(widest).collect();
        let room = room.checked_sub(self.frame.width(shown.len()))?;
        if natural.iter().sum::<usize>() <= room {
            return Some(natural);
        }
        let limited = |limit: usize| {
            let limit = |(&column, &width): (&usize, &usize)| {
                if self.columns[column].is_long { limit.min(width) } else { width }
            };
            shown.iter().zip(&natural).map(limit).collect::<Vec<usize>>()
        };
        (LONG_LEAST..=room).rev().map(limited).find(|widths| widths.iter().sum::<usize>() <= room)
    }

    fn grid(&self, shown: &[usize], widths: &[usize]) -> String {
        let line = |texts: Vec<(&str, Style)>| {
            let columns = shown.iter().zip(widths).zip(texts);
            let cells: Vec<_> = columns
                .map(|((&column, &width), (text, style))| self.columns[column].padded(text, style, width))
                .collect();
            self.frame.line(&cells)
        };
        let mut lines = Vec::from_iter(rule(self.frame.top, widths));
        lines.push(line(shown.iter().map(|&column| (self.columns[column].title, TITLE)).collect()));
        lines.extend(rule(self.frame.middle, widths));
        for row in &self.rows {
            let cells = shown.iter().zip(widths);
            let cells: Vec<_> = cells
                .map(|(&column, &width)| (wrapped(&row[column].text, width), row[column].style))
                .collect();
            let height = cells.iter().map(|(lines, _)| lines.len()).max().unwrap_or(0);
            for index in 0..height {
                let text = |(lines, style): &'_ (Vec<String>, Style)| {
                    (lines.get(index).map_or("", String::as_str).to_owned(), *style)
                };
                let texts: Vec<_> = cells.iter().map(text).collect();
                lines.push(line(texts.iter().map(|(text, style)| (text.as_str(), *style)).collect()));
            }
        }
        lines.extend(rule(self.frame.bottom, widths));
        lines.join("\n")
    }

    /// Each row as lines.
    fn stack(&self, room: usize) -> String {
        let titles = self.columns.iter().map(|column| column.title.width()).max().unwrap_or(0) + 2;
        let values = room.saturating_sub(titles).max(VALUE_LEAST);
        let rows = self.rows.iter().map(|row| {
            let cells = self.columns.iter().zip(row).filter(|(_, cell)| !cell.text.is_empty());
            let lines = cells.flat_map(|(column, cell)| {
                let title = format!("{}: ", column.title);
                let values = wrapped(&cell.text, values).into_iter().enumerate();
                values.map(move |(index, value)| {
                    let title = if index == 0 { title.as_str() } else { "" };
                    Column::text("").padded(title, TITLE, titles) + &painted(cell.style, &value)
                })
            });
            lines.collect::<Vec<_>>().join("\n")
        });
        rows.collect::<Vec<_>>().join("\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::plain;

    fn table() -> Table {
        let mut table = Table::framed(&[
            Column::text("name"),
            Column::number("some").spared(1),
            Column::number("more").spared(2),
            Column::long("why"),
        ]);
        table.row(["one", "1,000", "20", "it has a few words that may be broken"]);
        table.row(["値段", "2", "30,000", "no"]);
        table
    }

    fn rendered(room: usize) -> String {
        plain(&table().render(room))
    }

    #[test]
    fn row_with_room_is_a_line() {
        let expected = "\
┌──────┬───────┬────────┬───────────────────────────────────────┐
│ name ┆  some ┆   more ┆ why                                   │
╞══════╪═══════╪════════╪═══════════════════════════════════════╡
│ one  ┆ 1,000 ┆     20 ┆ it has a few words that may be broken │
│ 値段 ┆     2 ┆ 30,000 ┆ no                                    │
└──────┴───────┴────────┴───────────────────────────────────────┘";
        assert_eq!(rendered(65), expected);
        assert_eq!(rendered(usize::MAX), expected);
    }

    #[test]
    fn sentences_with_less_room_are_broken_and_then_columns_left_out() {
        let expected = "\
┌──────┬───────┬────────┬────────────────────┐
│ name ┆  some ┆   more ┆ why                │
╞══════╪═══════╪════════╪════════════════════╡
│ one  ┆ 1,000 ┆     20 ┆ it has a few words │
│      ┆       ┆        ┆ that may be broken │
│ 値段 ┆     2 ┆ 30,000 ┆ no                 │
└──────┴───────┴────────┴────────────────────┘";
        assert_eq!(rendered(46), expected);
        assert!(rendered(40).starts_with("┌──────┬───────┬──"), "{}", rendered(40));
        assert!(!rendered(40).contains("more") && rendered(40).contains("some"), "{}", rendered(40));
        assert!(!rendered(30).contains("some"), "{}", rendered(30));
    }

    #[test]
    fn row_with_little_room_is_several_lines() {
        let expected = "\
name: one
some: 1,000
more: 20
why:  it has a few
      words that may
      be broken

name: 値段
some: 2
more: 30,000
why:  no";
        assert_eq!(rendered(22), expected);
    }

    #[test]
    fn no_line_is_wider_than_the_room() {
        for room in 22..100 {
            for line in rendered(room).lines() {
                assert!(line.width() <= room, "{room}: {line}");
            }
        }
    }

    #[test]
    fn list_has_no_lines_around_it() {
        let mut list = Table::plain(&[Column::text("NAME"), Column::number("SLOTS"), Column::text("KIND")]);
        list.row(["quotes", "1,024", "lossy"]);
        list.row(["a", "8", ""]);
        assert_eq!(plain(&list.render(80)), "NAME    SLOTS  KIND\nquotes  1,024  lossy\na           8");
    }

    #[test]
    fn colours_take_no_room() {
        let mut table = Table::framed(&[Column::text("state"), Column::number("n")]);
        table.row([Cell::styled("dead", crate::text::BAD), "1".into()]);
        let rendered = table.render(80);
        assert!(rendered.contains("\u{1b}["), "{rendered:?}");
        assert!(plain(&rendered).contains("│ dead  ┆ 1 │"), "{rendered}");
    }
}

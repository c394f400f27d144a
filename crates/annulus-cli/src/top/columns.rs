//! Which columns there is room for, and how wide they are.

use ratatui::text::Span;

use super::rows::Row;

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Name,
    Kind,
    State,
    Rate,
    Curve,
    Depth,
    Lags,
    Readers,
    Process,
}

/// From left to right.
const ALL: [Column; 9] = [
    Column::Name,
    Column::Kind,
    Column::State,
    Column::Rate,
    Column::Curve,
    Column::Depth,
    Column::Lags,
    Column::Readers,
    Column::Process,
];

/// Those that go where there is not enough room, the first one first. The name stays.
const LESS_NEEDED: [Column; 8] = [
    Column::Readers,
    Column::Curve,
    Column::Kind,
    Column::Process,
    Column::Lags,
    Column::Depth,
    Column::State,
    Column::Rate,
];

/// Those that get the room that is left, the first one first, and how much they get at most.
const ELASTIC: [(Column, usize); 4] =
    [(Column::Name, 32), (Column::Process, 60), (Column::Lags, 24), (Column::Curve, 60)];

/// A terminal that is as wide has more space between columns, and all of them.
const WIDE: usize = 100;

impl Column {
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Name => "NAME",
            Self::Kind => "KIND",
            Self::State => "STATE",
            Self::Rate => "RATE/S",
            Self::Curve => "CURVE",
            Self::Depth => "DEPTH",
            Self::Lags => "LAGS",
            Self::Readers => "READERS",
            Self::Process => "PROCESS",
        }
    }

    /// Whether it ends, rather than begins, in one line with its title.
    pub(super) fn is_right(self) -> bool {
        matches!(self, Self::Rate | Self::Depth | Self::Readers)
    }

    /// It is not narrower, unless all of its texts are.
    fn least(self) -> usize {
        match self {
            Self::Name => 12,
            Self::Kind | Self::Curve => 8,
            Self::State => 6,
            Self::Rate | Self::Lags | Self::Readers => 7,
            Self::Depth => 11,
            Self::Process => 14,
        }
    }

    /// What it says of a ring. (A curve is drawn as wide as there is room.)
    pub(super) fn text(self, row: &Row<'_>) -> String {
        match self {
            Self::Name => row.name.clone(),
            Self::Kind => row.kind.into(),
            Self::State => row.ring.state(),
            Self::Rate => row.rate.clone(),
            Self::Curve => String::new(),
            Self::Depth => row.depth.clone(),
            Self::Lags => row.lags.clone(),
            Self::Readers => row.readers.clone(),
            Self::Process => row.process.clone(),
        }
    }

    /// How wide it would like to be.
    fn wanted(self, rows: &[Row<'_>]) -> usize {
        let texts = rows.iter().map(|row| width(&self.text(row)));
        let widest = if self == Self::Curve { usize::MAX } else { texts.max().unwrap_or(0) };
        // (With the arrow of the order.)
        widest.max(self.title().len() + 1)
    }
}

/// The columns for so much room, with their widths, and the space between two of them.
pub(super) fn columns(rows: &[Row<'_>], room: usize) -> (Vec<(Column, usize)>, usize) {
    let gap = if room >= WIDE { 2 } else { 1 };
    let mut columns: Vec<_> =
        ALL.into_iter().map(|column| (column, column.least().min(column.wanted(rows)))).collect();
    let taken = |columns: &[(Column, usize)]| {
        columns.iter().map(|(_, width)| width + gap).sum::<usize>().saturating_sub(gap)
    };
    for column in LESS_NEEDED {
        let is_wide_only = column == Column::Readers && room < WIDE;
        if is_wide_only || taken(&columns) > room {
            columns.retain(|&(there, _)| there != column);
        }
    }
    let mut left = room.saturating_sub(taken(&columns));
    for (elastic, most) in ELASTIC {
        for (column, width) in &mut columns {
            if *column == elastic {
                let more = elastic.wanted(rows).min(most).saturating_sub(*width).min(left);
                *width += more;
                left -= more;
            }
        }
    }
    // There is less room than for a name.
    for (_, width) in &mut columns {
        *width = (*width).min(room);
    }
    (columns, gap)
}

/// How many cells of a terminal a text takes.
pub(super) fn width(text: &str) -> usize {
    Span::raw(text).width()
}

/// A text that takes so many cells: shortened with an ellipsis, or filled with spaces.
pub(super) fn fit(text: &str, room: usize, is_right: bool) -> String {
    let spaces = " ".repeat(room.saturating_sub(width(text)));
    if width(text) <= room {
        return if is_right { spaces + text } else { text.to_owned() + &spaces };
    }
    let mut shown = String::new();
    for character in text.chars() {
        shown.push(character);
        if width(&shown) + 1 > room {
            shown.pop();
            break;
        }
    }
    let ellipsis = if room == 0 { "" } else { "…" };
    let spaces = " ".repeat(room.saturating_sub(width(&shown) + 1));
    shown + ellipsis + &spaces
}

#[cfg(test)]
mod tests {
    use super::super::history::History;
    use super::super::rows::rows;
    use super::super::view::View;
    use super::*;
    use crate::rings::sample::tests::{dead, lossy, ring, sample};

    /// The titles and widths of some rings, for so much room.
    fn of(room: usize) -> Vec<(&'static str, usize)> {
        let sample = sample(vec![
            ring("orders-of-the-desk", 5_000, &[70, 3]),
            lossy("quotes", 99_000_000),
            dead("gone"),
        ]);
        let rows = rows(&sample, &History::default(), &View::default());
        let (columns, gap) = columns(&rows, room);
        let taken: usize = columns.iter().map(|(_, width)| width + gap).sum();
        assert!(taken - gap <= room.max(1), "{taken} of {room}");
        columns.into_iter().map(|(column, width)| (column.title(), width)).collect()
    }

    #[test]
    fn eighty_columns_have_all_that_matters() {
        let titles: Vec<_> = of(80).into_iter().map(|(title, _)| title).collect();
        assert_eq!(titles, ["NAME", "KIND", "STATE", "RATE/S", "CURVE", "DEPTH", "LAGS", "PROCESS"]);
    }

    #[test]
    fn columns_are_more_with_more_room() {
        let wide = of(160);
        assert_eq!(wide.len(), 9);
        let width = |title| wide.iter().find(|(there, _)| *there == title).unwrap().1;
        assert_eq!((width("NAME"), width("PROCESS")), (18, 32), "all of each text");
        assert!(width("CURVE") > 30 && width("READERS") == 7, "{wide:?}");
    }

    #[test]
    fn little_room_shows_less_and_the_name_last() {
        let mut before = of(200).len();
        for room in (0..200).rev() {
            let columns = of(room);
            assert!(columns.len() <= before && columns[0].0 == "NAME", "{room}");
            before = columns.len();
        }
        assert_eq!(of(20).iter().map(|column| column.0).collect::<Vec<_>>(), ["NAME", "RATE/S"]);
        assert_eq!((of(7), of(0)), (vec![("NAME", 7)], vec![("NAME", 0)]));
    }

    #[test]
    fn texts_fit() {
        assert_eq!(fit("abc", 5, false), "abc  ");
        assert_eq!(fit("abc", 5, true), "  abc");
        assert_eq!(fit("abc", 3, true), "abc");
        assert_eq!(fit("abcd", 3, false), "ab…");
        assert_eq!(fit("abc", 1, false), "…");
        assert_eq!(fit("abc", 0, false), "");
        // Each of these takes two cells.
        assert_eq!(fit("値段表", 5, false), "値段…");
        assert_eq!(fit("値段表", 4, false), "値… ");
    }
}

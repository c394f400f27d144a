//! [`Piece`]: a message of the ring, which is a piece of a line; and [`Lines`], which puts lines together.

use std::borrow::Cow;

use annulus::Message;
use bytemuck::{Pod, Zeroable};

/// How many bytes of a line are in one piece: as many as make a slot of 128 bytes.
pub(crate) const BYTES: usize = 104;

const IS_FIRST: u32 = 1;
const IS_LAST: u32 = 2;
/// Of no line: the publisher has failed or was stopped after that many lines, and the ring ends.
const HAS_FAILED: u32 = 4;

/// A piece of a line, with its line feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Message, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Piece {
    /// The number of its line, from 0 on.
    pub(super) line: u64,
    flags: u32,
    /// How many of the bytes are of the line.
    len: u32,
    bytes: [u8; BYTES],
}

impl Piece {
    /// What a publisher says last that has failed, or was stopped before the end of its input, after so many
    /// lines.
    pub(crate) fn failed(lines: u64) -> Self {
        Self { line: lines, flags: HAS_FAILED, len: 0, bytes: [0; BYTES] }
    }

    /// Which part of its line it is, in a word.
    pub(super) fn part(&self) -> &'static str {
        let is = |flag| self.flags & flag != 0;
        match (is(IS_FIRST), is(IS_LAST)) {
            _ if self.has_failed() => "failed",
            (true, true) => "whole",
            (true, false) => "first",
            (false, true) => "last",
            (false, false) => "middle",
        }
    }

    /// What it has of the line, without the line feed.
    pub(super) fn text(&self) -> Cow<'_, str> {
        let bytes = self.bytes();
        String::from_utf8_lossy(bytes.strip_suffix(b"\n").unwrap_or(bytes))
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..BYTES.min(self.len as usize)]
    }

    fn has_failed(&self) -> bool {
        self.flags & HAS_FAILED != 0
    }
}

/// The pieces of line number `line`: at least one.
pub(crate) fn pieces(line: u64, text: &[u8]) -> impl Iterator<Item = Piece> {
    let count = text.len().div_ceil(BYTES).max(1);
    (0..count).map(move |index| {
        let part = &text[index * BYTES..text.len().min((index + 1) * BYTES)];
        let mut bytes = [0; BYTES];
        bytes[..part.len()].copy_from_slice(part);
        let flags = if index == 0 { IS_FIRST } else { 0 } | if index + 1 == count { IS_LAST } else { 0 };
        #[allow(clippy::cast_possible_truncation, reason = "up to 104")]
        Piece { line, flags, len: part.len() as u32, bytes }
    })
}

/// A line, and how many were lost before it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    pub(crate) number: u64,
    pub(crate) text: &'a [u8],
    pub(crate) lost: u64,
}

/// Puts lines together again.
pub(crate) struct Lines {
    /// The line that is to be completed.
    number: u64,
    text: Vec<u8>,
    /// All pieces of it were there so far.
    is_whole: bool,
    /// The line that comes next, if none is lost. The highest number if that is not known.
    next: u64,
    /// Lines before this one are passed over.
    begin: u64,
    /// The lines before this one are published as a whole, as far as the pieces tell.
    published: u64,
    /// The publisher has said that it failed.
    has_failed: bool,
}

impl Lines {
    /// All lines from the first one on.
    pub(crate) fn all() -> Self {
        Self {
            number: 0,
            text: Vec::new(),
            is_whole: false,
            next: 0,
            begin: 0,
            published: 0,
            has_failed: false,
        }
    }

    /// The lines that begin after `newest`, the newest piece that is published (`None` if none is).
    pub(crate) fn after(newest: Option<&Piece>) -> Self {
        let next = newest.map_or(0, |piece| piece.line.saturating_add(1));
        Self { next, has_failed: newest.is_some_and(Piece::has_failed), ..Self::all() }
    }

    /// The lines that begin from now on, wherever that is.
    pub(crate) fn from_now() -> Self {
        Self { next: u64::MAX, ..Self::all() }
    }

    /// The last `count` lines that are there, where `newest` is the newest piece that is published; and those
    /// that begin later.
    pub(crate) fn last(newest: Option<&Piece>, count: usize) -> Self {
        let end = newest.map_or(0, |piece| {
            piece.line.saturating_add(u64::from(piece.flags & IS_LAST != 0 && !piece.has_failed()))
        });
        Self { begin: end.saturating_sub(count as u64), ..Self::from_now() }
    }

    /// Some pieces before the next one were lost.
    pub(crate) fn lose(&mut self) {
        self.is_whole = false;
    }

    /// Takes the next piece, and returns the line that it completes. (Another program may have written
    /// anything into a piece.)
    pub(crate) fn take(&mut self, piece: &Piece) -> Option<Line<'_>> {
        self.has_failed |= piece.has_failed();
        let is_last = piece.flags & IS_LAST != 0;
        self.published = self.published.max(piece.line.saturating_add(u64::from(is_last)));
        if piece.flags & IS_FIRST != 0 {
            (self.number, self.is_whole) = (piece.line, true);
            self.text.clear();
        }
        self.is_whole &= piece.line == self.number;
        if !self.is_whole {
            return None;
        }
        self.text.extend_from_slice(piece.bytes());
        if !is_last {
            return None;
        }
        self.is_whole = false;
        if self.number < self.begin {
            return None;
        }
        let lost = self.number.saturating_sub(self.next);
        self.next = self.number.saturating_add(1);
        Some(Line { number: self.number, text: &self.text, lost })
    }

    /// How many lines were lost after the last one that was returned: those that were published as a whole.
    pub(crate) fn lost_at_the_end(&self) -> u64 {
        self.published.saturating_sub(self.next)
    }

    /// Whether the publisher has said that it failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(len: usize) -> Vec<u8> {
        (0..len).map(|index| index as u8).collect()
    }

    #[test]
    fn lines_of_any_length_come_back() {
        let mut lines = Lines::all();
        for (number, len) in (0..).zip([1, 0, BYTES - 1, BYTES, BYTES + 1, 10 * BYTES, 1]) {
            let all: Vec<_> = pieces(number, &text(len)).collect();
            let (last, before) = all.split_last().unwrap();
            for piece in before {
                assert_eq!(lines.take(piece), None);
            }
            assert_eq!(lines.take(last), Some(Line { number, text: &text(len), lost: 0 }));
        }
    }

    #[test]
    fn last_lines_are_those_before_the_newest_piece() {
        let all: Vec<_> =
            (0..5).flat_map(|number| pieces(number, &text(2 * BYTES)).collect::<Vec<_>>()).collect();
        // (The newest piece is the first one of line 4, or its last one.)
        for (newest, count, first) in [(8, 2, 2), (9, 2, 3), (9, 0, 5), (9, 50, 0), (0, 1, 0)] {
            let mut lines = Lines::last(Some(&all[newest]), count);
            let found = all.iter().find_map(|piece| lines.take(piece).map(|line| (line.number, line.lost)));
            assert_eq!(found, (first < 5).then_some((first, 0)), "{newest} {count}");
        }
        assert_eq!(Lines::last(None, 3).take(&pieces(0, b"a").next().unwrap()).unwrap().number, 0);
    }

    #[test]
    fn line_of_which_a_piece_is_lost_is_counted_and_not_returned() {
        let all: Vec<_> =
            (0..5).flat_map(|number| pieces(number, &text(3 * BYTES)).collect::<Vec<_>>()).collect();
        for (lost, line) in [(3..5, 2), (3..6, 2), (4..10, 4), (5..6, 2)] {
            let mut lines = Lines::all();
            for piece in &all[..lost.start] {
                lines.take(piece);
            }
            lines.lose();
            let found = all[lost.end..]
                .iter()
                .find_map(|piece| lines.take(piece).map(|line| (line.number, line.text.to_vec(), line.lost)));
            assert_eq!(found, Some((line, text(3 * BYTES), line - 1)), "{lost:?}");
        }
    }

    #[test]
    fn lines_that_are_lost_before_the_first_and_after_the_last_count() {
        let all: Vec<_> =
            (0..9).flat_map(|number| pieces(number, &text(2 * BYTES)).collect::<Vec<_>>()).collect();
        // Lines 0 to 2 were gone when it came, or went after it had begun with line 2; 6 and 7 went later.
        for (mut lines, lost_before) in
            [(Lines::all(), 3), (Lines::after(None), 3), (Lines::after(Some(&all[3])), 1)]
        {
            lines.lose();
            let found: Vec<_> = all[5..12]
                .iter()
                .filter_map(|piece| lines.take(piece).map(|line| (line.number, line.lost)))
                .collect();
            assert_eq!(found, [(3, lost_before), (4, 0), (5, 0)]);
            assert_eq!(lines.lost_at_the_end(), 0);
            lines.lose();
            // The last piece of line 7 and the first of line 8, which has not been published as a whole.
            for (piece, lost) in [(&all[15], 2), (&all[16], 2)] {
                assert_eq!(lines.take(piece), None);
                assert_eq!(lines.lost_at_the_end(), lost);
            }
        }
    }

    /// A subscriber that does not know what came before has lost none of it.
    #[test]
    fn subscriber_counts_from_where_it_begins() {
        let mut lines = Lines::from_now();
        let of = |number| pieces(number, &text(2 * BYTES)).collect::<Vec<_>>();
        assert_eq!(lines.take(&of(7)[1]), None);
        assert_eq!(lines.lost_at_the_end(), 0);
        let (eight, eleven) = (of(8), of(11));
        assert_eq!(lines.take(&eight[0]), None);
        assert_eq!(lines.take(&eight[1]).map(|line| (line.number, line.lost)), Some((8, 0)));
        lines.lose();
        assert_eq!(lines.take(&eleven[0]), None);
        assert_eq!(lines.take(&eleven[1]).map(|line| (line.number, line.lost)), Some((11, 2)));
    }

    /// The lines before the failure are counted, and a subscriber that comes after it knows, too.
    #[test]
    fn failure_is_no_line() {
        let failed = Piece::failed(3);
        for mut lines in [Lines::all(), Lines::after(None), Lines::from_now()] {
            assert!(!lines.has_failed());
            assert_eq!(lines.take(&failed), None);
            assert!(lines.has_failed());
        }
        assert!(Lines::after(Some(&failed)).has_failed());
        let mut lines = Lines::all();
        lines.take(&failed);
        assert_eq!(lines.lost_at_the_end(), 3);
    }

    /// A subscriber that comes between two pieces begins with the next line, and has lost none.
    #[test]
    fn subscriber_within_a_line_waits_for_the_next() {
        let all: Vec<_> =
            (7..9).flat_map(|number| pieces(number, &text(2 * BYTES)).collect::<Vec<_>>()).collect();
        let mut lines = Lines::after(Some(&all[0]));
        let found: Vec<_> = all[1..]
            .iter()
            .filter_map(|piece| lines.take(piece).map(|line| (line.number, line.lost)))
            .collect();
        assert_eq!(found, [(8, 0)]);
    }
}

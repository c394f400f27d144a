//! [`Page`]: a report for people. Its paragraphs are broken at words, its tables fit the room, and what
//! matters has a colour.

use crate::table::Table;
use crate::text::broken_at_words;

/// A report, line by line.
pub(crate) struct Page {
    room: usize,
    text: String,
}

impl Page {
    /// An empty one, whose lines are to be no wider than `room`.
    pub(crate) fn new(room: usize) -> Self {
        Self { room, text: String::new() }
    }

    /// A paragraph. The spaces that it begins with are before each of its lines. A word that is longer than
    /// the room, such as a path, stays whole.
    pub(crate) fn say(&mut self, paragraph: impl AsRef<str>) {
        self.fill(paragraph.as_ref(), false);
    }

    /// As [`say`](Self::say), of words that others have chosen: one that is longer than the room is broken.
    #[cfg(target_os = "linux")]
    pub(crate) fn say_within(&mut self, paragraph: impl AsRef<str>) {
        self.fill(paragraph.as_ref(), true);
    }

    fn fill(&mut self, paragraph: &str, breaks_words: bool) {
        let words = paragraph.trim_start_matches(' ');
        let indent = &paragraph[..paragraph.len() - words.len()];
        let options = broken_at_words(self.room).break_words(breaks_words);
        self.text += &textwrap::fill(words, options.initial_indent(indent).subsequent_indent(indent));
        self.text.push('\n');
    }

    /// An empty line.
    pub(crate) fn gap(&mut self) {
        self.text.push('\n');
    }

    /// A table.
    pub(crate) fn table(&mut self, table: &Table) {
        self.text += &table.render(self.room);
        self.text.push('\n');
    }

    /// Lines that stay as they are.
    pub(crate) fn lines(&mut self, lines: &str) {
        self.text += lines;
    }

    /// All of it.
    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{GOOD, painted, plain};

    #[test]
    fn paragraph_is_broken_at_words() {
        let mut page = Page::new(20);
        page.say("It has a few words, one-way, and more.");
        page.say("  subscriber 1: 3 messages came twice");
        page.gap();
        page.say("/a/path/that/is/longer/than/the/room");
        page.lines("as it is\n");
        let expected = "\
It has a few words,
one-way, and more.
  subscriber 1: 3
  messages came
  twice

/a/path/that/is/longer/than/the/room
as it is
";
        assert_eq!(page.into_text(), expected);
    }

    #[test]
    fn colours_are_no_words() {
        let mut page = Page::new(20);
        page.say(painted(GOOD, "Check passed:") + " it was 9.");
        let text = page.into_text();
        assert!(text.contains("\u{1b}["), "{text:?}");
        assert_eq!(plain(&text), "Check passed: it was\n9.\n");
    }
}

//! Text for people: numbers, durations, foreign text, colours, and where lines break.
//!
//! Text has its colours always; [`output::print`](crate::output::print()) takes them out where they are not
//! wanted. They are of the terminal's own sixteen, in bold, which can be read on light and on dark.

use anstyle::{AnsiColor, Style};
use textwrap::{Options, WordSeparator, WordSplitter};

/// All is well.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
/// Something is to be looked at. (Yellow can't be read on white.)
pub(crate) const FAIR: Style = AnsiColor::Magenta.on_default().bold();
/// Something has failed.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// Of titles and headings.
pub(crate) const TITLE: Style = Style::new().bold();

/// How much of a foreign text an error message shows.
const SHOWN_CHARS: usize = 48;

/// `text` between backquotes, fit for a message: control characters escaped, and shortened when long.
pub(crate) fn quoted(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_CHARS).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("`{}`", printable(&shown))
}

/// `text` with its control characters escaped, so that no file's name or content can speak to the
/// terminal; and with those that are not seen, or turn the direction of others, so that none looks like
/// another.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() || is_format(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Whether Unicode has it as a format character (category Cf) or a separator of lines or paragraphs, or it
/// is a letter without ink.
fn is_format(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}'
        | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e007f}')
}

/// `text` as a word for a shell.
#[cfg(target_os = "linux")]
pub(crate) fn shell_word(text: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "/._-+=:@%,".contains(character);
    let text = printable(text);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// `number` with its digits in groups of three: `1,048,576`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `count` of a thing, with the plural where there is not one of it: `1 quote`, `9,500 quotes`.
pub(crate) fn counted(count: u64, thing: &str) -> String {
    format!("{} {thing}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// A time in the unit that suits it, to three digits: `412 ns`, `1.25 µs`, `30.1 ms`, `2.00 s`.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
pub(crate) fn duration(nanoseconds: u64) -> String {
    let (value, unit) = match nanoseconds {
        0..1_000 => return format!("{nanoseconds} ns"),
        1_000..1_000_000 => (nanoseconds as f64 / 1e3, "µs"),
        1_000_000..1_000_000_000 => (nanoseconds as f64 / 1e6, "ms"),
        _ => (nanoseconds as f64 / 1e9, "s"),
    };
    let decimals = usize::from(value < 100.0) + usize::from(value < 10.0);
    format!("{value:.decimals$} {unit}")
}

/// `bytes` in the largest unit that has one of it: `64 KiB`, `1.5 GiB`.
#[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
pub(crate) fn size(bytes: u64) -> String {
    let units = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|&(unit, _)| bytes >= unit) {
        Some((unit, name)) if bytes.is_multiple_of(unit) => format!("{} {name}", bytes / unit),
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / unit as f64),
        None => format!("{bytes} bytes"),
    }
}

/// `text` in this style.
pub(crate) fn painted(style: Style, text: &str) -> String {
    if text.trim().is_empty() { text.into() } else { format!("{style}{text}{style:#}") }
}

/// `text` without its colours.
#[cfg(test)]
pub(crate) fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

/// The lines of `text`, broken at words, and within a word only if it is longer than `room`.
pub(crate) fn wrapped(text: &str, room: usize) -> Vec<String> {
    let lines = textwrap::wrap(text, broken_at_words(room));
    lines.into_iter().map(Into::into).collect()
}

/// Lines of so much room, broken at spaces only: a hyphen is no place for it.
pub(crate) fn broken_at_words<'a>(room: usize) -> Options<'a> {
    let options = Options::new(room).word_separator(WordSeparator::AsciiSpace);
    options.word_splitter(WordSplitter::NoHyphenation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_shortened_and_control_characters_are_escaped() {
        assert_eq!(quoted("20200101,1.1"), "`20200101,1.1`");
        assert_eq!(quoted("\u{1b}[31m\r"), "`\\u{1b}[31m\\r`");
        assert_eq!(quoted(&"é".repeat(100)), format!("`{}…`", "é".repeat(48)));
    }

    #[test]
    fn characters_that_are_not_seen_are_escaped() {
        assert_eq!(printable("a\u{202e}b\u{200b}c\u{feff}"), "a\\u{202e}b\\u{200b}c\\u{feff}");
        assert_eq!(printable("naïve 値段 \u{301} € 👍"), "naïve 値段 \u{301} € 👍");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn word_that_a_shell_would_change_is_between_quotes() {
        let shown = ["/run/a-b", "a b", "it's", "$(x)"].map(shell_word);
        assert_eq!(shown, ["/run/a-b", "'a b'", r"'it'\''s'", "'$(x)'"]);
    }

    #[test]
    fn digits_come_in_threes() {
        let shown = [0, 999, 1_000, 1_048_576, u64::MAX].map(grouped);
        assert_eq!(shown, ["0", "999", "1,000", "1,048,576", "18,446,744,073,709,551,615"]);
    }

    #[test]
    fn count_of_one_is_singular() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "quote")), ["0 quotes", "1 quote", "2 quotes"]);
    }

    #[test]
    fn duration_has_three_digits() {
        let shown = [0, 999, 1_000, 12_345, 999_400, 1_500_000, 2_000_000_000, 90_000_000_000].map(duration);
        assert_eq!(shown, ["0 ns", "999 ns", "1.00 µs", "12.3 µs", "999 µs", "1.50 ms", "2.00 s", "90.0 s"]);
    }

    #[test]
    fn size_has_its_unit() {
        let shown = [0, 1_000, 65_536, 3 << 29, 1 << 40].map(size);
        assert_eq!(shown, ["0 bytes", "1000 bytes", "64 KiB", "1.5 GiB", "1 TiB"]);
    }

    #[test]
    fn blanks_have_no_colour() {
        assert_eq!([painted(GOOD, " "), plain(&painted(GOOD, "a"))], [" ", "a"]);
    }
}

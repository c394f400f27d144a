//! Numbers, durations and foreign text, written for people.

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

/// `text` with its control characters escaped, so that no file's name or content can speak to the terminal.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
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
    #[cfg(target_os = "linux")]
    fn what_a_shell_would_change_is_between_quotes() {
        let shown = ["/run/a-b", "a b", "it's", "$(x)"].map(shell_word);
        assert_eq!(shown, ["/run/a-b", "'a b'", r"'it'\''s'", "'$(x)'"]);
    }

    #[test]
    fn digits_come_in_threes() {
        let shown = [0, 999, 1_000, 1_048_576, u64::MAX].map(grouped);
        assert_eq!(shown, ["0", "999", "1,000", "1,048,576", "18,446,744,073,709,551,615"]);
    }

    #[test]
    fn one_is_singular() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "quote")), ["0 quotes", "1 quote", "2 quotes"]);
    }

    #[test]
    fn a_duration_has_three_digits() {
        let shown = [0, 999, 1_000, 12_345, 999_400, 1_500_000, 2_000_000_000, 90_000_000_000].map(duration);
        assert_eq!(shown, ["0 ns", "999 ns", "1.00 µs", "12.3 µs", "999 µs", "1.50 ms", "2.00 s", "90.0 s"]);
    }
}

//! Numbers as people write them on the command line: `1000000`, `1_000_000`, `1e6`.
//!
//! A comma or a point between groups of digits is refused, because it means another number elsewhere.

use std::ops::RangeInclusive;
#[cfg(target_os = "linux")]
use std::time::Duration;

use crate::text::quoted;

/// A whole number; `None` if it is none, or more than there are.
fn whole(text: &str) -> Option<u64> {
    let text = without_underscores(text)?;
    let Some((mantissa, exponent)) = text.split_once(['e', 'E']) else { return text.parse().ok() };
    let exponent: usize = exponent.strip_prefix('+').unwrap_or(exponent).parse().ok()?;
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let after = after.trim_end_matches('0');
    // (Zero to any power is zero, and what else has more digits than this is more than there are.)
    let zeros = exponent.checked_sub(after.len())?.min(40);
    let digits = format!("{before}{after}{}", "0".repeat(zeros));
    let is_number = !before.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() { is_number.then_some(0) } else { digits.parse().ok().filter(|_| is_number) }
}

/// `text` without the underscores between its digits; `None` if one stands elsewhere.
fn without_underscores(text: &str) -> Option<String> {
    let is_digit = |part: Option<u8>| part.is_some_and(|byte| byte.is_ascii_digit());
    let parts: Vec<_> = text.split('_').collect();
    let is_between =
        parts.windows(2).all(|two| is_digit(two[0].bytes().next_back()) && is_digit(two[1].bytes().next()));
    is_between.then(|| parts.concat())
}

/// Parses a whole number in `range`.
///
/// # Errors
///
/// It says what to write.
pub(crate) fn whole_in(text: &str, range: RangeInclusive<u64>) -> Result<u64, String> {
    match whole(text) {
        Some(number) if range.contains(&number) => Ok(number),
        number => {
            let advice = if number.is_none() { advice(text) } else { String::new() };
            Err(format!("must be a whole number from {} to {}{advice}", range.start(), range.end()))
        }
    }
}

/// What to write instead of a number whose groups are not told by underscores; nothing for anything else.
pub(crate) fn advice(text: &str) -> String {
    instead(text).unwrap_or_default()
}

fn instead(text: &str) -> Option<String> {
    let digits = text.replace([',', '.', '\'', ' ', '’', '\u{a0}', '\u{202f}'], "_");
    let number = whole(&digits).filter(|_| digits != text)?;
    let groups = digits.split('_').skip(1).all(|group| group.len() == 3);
    groups.then(|| format!("; for {}, write `{number}` or `{digits}`", crate::text::grouped(number)))
}

/// Parses how many of a thing there are to be, from one up.
///
/// # Errors
///
/// It says what to write.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    whole_in(text, 1..=u64::MAX)
}

/// As [`count`], of what is in memory.
///
/// # Errors
///
/// It says what to write.
#[cfg(target_os = "linux")]
pub(crate) fn size(text: &str) -> Result<usize, String> {
    whole_in(text, 1..=isize::MAX as u64).map(|size| size as usize)
}

/// The longest time that something is asked to take: a day.
#[cfg(target_os = "linux")]
const SECONDS_MAX: f64 = 86_400.0;

/// Parses how long something is to take.
///
/// # Errors
///
/// It says what to write.
#[cfg(target_os = "linux")]
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    match real(text) {
        Some(seconds) if seconds > 0.0 && seconds <= SECONDS_MAX => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(format!(
            "{} is no time: it must be a positive number of seconds, such as `5` or `0.5`, and at most \
             {SECONDS_MAX}",
            quoted(text)
        )),
    }
}

/// Parses a number, which may be a fraction.
fn real(text: &str) -> Option<f64> {
    without_underscores(text)?.parse().ok()
}

/// Parses a rate: finite and above 0.
///
/// # Errors
///
/// It says what to write.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    match real(text) {
        Some(rate) if rate.is_finite() && rate > 0.0 => Ok(rate),
        _ => Err(format!(
            "{} is no rate: it must be a positive number of messages a second, such as `100000` or `0.5`{}",
            quoted(text),
            advice(text)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_number_is_written_in_several_ways() {
        for (text, number) in [
            ("0", 0),
            ("1000000", 1_000_000),
            ("1_000_000", 1_000_000),
            ("10_00", 1_000),
            ("1e6", 1_000_000),
            ("1E+6", 1_000_000),
            ("1.5e6", 1_500_000),
            ("1.50e1", 15),
            ("2_5e2", 2_500),
            ("0e99999", 0),
            ("007", 7),
            ("18446744073709551615", u64::MAX),
            ("1e19", 10_000_000_000_000_000_000),
        ] {
            assert_eq!(whole_in(text, 0..=u64::MAX), Ok(number), "{text}");
        }
    }

    #[test]
    fn number_that_is_not_clear_is_refused() {
        for text in [
            "",
            "_",
            "_1",
            "1_",
            "1__0",
            "-1",
            "1.5",
            "1.0",
            "1.55e1",
            "e6",
            ".e1",
            "1e",
            "1e-1",
            "1e20",
            "1e6e6",
            "0x10",
            "1k",
            "many",
            "18446744073709551616",
            "1ee6",
            "-1e3",
            "１",
        ] {
            assert!(whole_in(text, 0..=u64::MAX).is_err(), "{text}");
        }
    }

    #[test]
    fn refusal_says_what_to_write() {
        assert_eq!(whole_in("0", 1..=9).unwrap_err(), "must be a whole number from 1 to 9");
        for text in ["1,000,000", "1.000.000", "1'000'000", "1 000 000"] {
            let error = whole_in(text, 1..=u64::MAX).unwrap_err();
            let expected = "; for 1,000,000, write `1000000` or `1_000_000`";
            assert!(error.ends_with(expected), "{error}");
        }
        assert_eq!(whole_in("1,5", 1..=9).unwrap_err(), "must be a whole number from 1 to 9");
        let error = rate("10,000").unwrap_err();
        assert!(error.ends_with("; for 10,000, write `10000` or `10_000`"), "{error}");
    }

    #[test]
    fn rate_may_be_a_fraction() {
        for (text, number) in [("0.5", 0.5), ("1e6", 1e6), ("1_000_000", 1e6), ("2.5", 2.5)] {
            assert_eq!(rate(text), Ok(number));
        }
        for text in ["0", "-1", "inf", "NaN", "1_", "fast", ""] {
            assert!(rate(text).is_err(), "{text}");
        }
    }
}

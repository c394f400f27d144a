//! Numbers and curves in little room.

/// Curves are drawn with these: nothing, then something, up to the most.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A number that is not negative, in five characters, to three digits: `0.5`, `999`, `1.02k`, `123M`.
pub(super) fn short(number: f64) -> String {
    if number > 0.0 && number < 0.05 {
        return "<0.1".into();
    }
    let mut value = number;
    let mut unit = "";
    for next in ["k", "M", "G", "T", "P", "E"] {
        if value < 999.5 {
            break;
        }
        (value, unit) = (value / 1000.0, next);
    }
    let decimals = match unit {
        "" => usize::from(value < 9.95 && value.fract() != 0.0),
        _ => usize::from(value < 99.95) + usize::from(value < 9.995),
    };
    format!("{value:.decimals$}{unit}")
}

/// As [`short`], of a count.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
pub(super) fn short_count(count: u64) -> String {
    short(count as f64)
}

/// How many messages in a second, or how many bytes where `word_bytes` says what is counted.
#[expect(clippy::cast_precision_loss, reason = "a few bytes")]
pub(super) fn rate(in_a_second: f64, word_bytes: Option<u64>) -> String {
    match word_bytes {
        None => short(in_a_second),
        Some(bytes) => short(in_a_second * bytes as f64) + "B",
    }
}

/// The last `width` rates as a curve, the newest one at its right end. The highest bar is the highest of
/// them.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 1")]
pub(super) fn curve(rates: &[f64], width: usize) -> String {
    let rates = &rates[rates.len().saturating_sub(width)..];
    let most = rates.iter().copied().fold(0.0, f64::max);
    let bar = |&rate: &f64| match rate {
        rate if rate > 0.0 => BARS[((rate / most * 7.0).ceil() as usize).clamp(1, 7)],
        _ => BARS[0],
    };
    " ".repeat(width - rates.len()) + &rates.iter().map(bar).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_shown() {
        for (number, text) in [
            (0.0, "0"),
            (0.04, "<0.1"),
            (0.06, "0.1"),
            (0.5, "0.5"),
            (3.0, "3"),
            (9.94, "9.9"),
            (9.96, "10"),
            (999.4, "999"),
            (999.6, "1.00k"),
            (1024.0, "1.02k"),
            (9_994.0, "9.99k"),
            (9_996.0, "10.0k"),
            (65_536.0, "65.5k"),
            (99_960.0, "100k"),
            (999_600.0, "1.00M"),
            (123_456_789.0, "123M"),
            (1.8e19, "18.0E"),
        ] {
            assert_eq!(short(number), text);
            assert!(text.len() <= 5);
        }
        assert_eq!(short_count(54_250_945), "54.3M");
        assert_eq!((rate(1000.0, None), rate(1000.0, Some(8))), ("1.00k".into(), "8.00kB".into()));
    }

    #[test]
    fn curve_ends_with_the_newest() {
        assert_eq!(curve(&[], 3), "   ");
        assert_eq!(curve(&[0.0, 0.0], 3), " ▁▁");
        assert_eq!(curve(&[9.0, 0.0, 0.001, 3.5, 7.0], 4), "▁▂▅█");
        assert_eq!(curve(&[1.0], 0), "");
    }
}

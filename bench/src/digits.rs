//! How exact a figure is.

/// So many digits: the spread of the rounds is a hundred times what this takes away.
const DIGITS: i32 = 4;

/// `value` with so many digits.
pub fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let above = value.abs().log10().floor() as i32 + 1 - DIGITS;
    // Divided by a whole number, a whole number is what a reader of its digits makes of it.
    let (factor, divisor) = (10_f64.powi(above.max(0)), 10_f64.powi((-above).max(0)));
    (value / factor * divisor).round() / divisor * factor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_has_four_digits_and_is_the_one_that_they_say() {
        let values = [0.0, 0.730_689_75, 1.954_019_500_000_000_2, 26.461_51, 999.95, 12_548.3, 1.234_56e9];
        assert_eq!(values.map(rounded), [0.0, 0.7307, 1.954, 26.46, 1000.0, 12_550.0, 1.235e9]);
    }
}

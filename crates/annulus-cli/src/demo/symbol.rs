//! The name of what a file quotes, told from the file's name.

use std::path::Path;

use crate::text::printable;

/// Currencies (and gold and silver) by their ISO 4217 codes, so that `quotes-eurusd` is told to be about
/// `EURUSD`, not about `QUOTES`.
const CURRENCIES: [&str; 36] = [
    "AED", "AUD", "BRL", "CAD", "CHF", "CLP", "CNH", "CNY", "COP", "CZK", "DKK", "EUR", "GBP", "HKD", "HUF",
    "IDR", "ILS", "INR", "JPY", "KRW", "MXN", "MYR", "NOK", "NZD", "PHP", "PLN", "RON", "SEK", "SGD", "THB",
    "TRY", "TWD", "USD", "XAG", "XAU", "ZAR",
];

/// The symbol of the quotes in the file at `path`: a pair of currencies among the words of its stem, else the
/// stem, in upper case.
pub(super) fn of_file(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().to_uppercase();
    match stem.split(|character: char| !character.is_ascii_alphabetic()).find(|word| is_pair(word)) {
        Some(pair) => pair.to_owned(),
        None => printable(&stem),
    }
}

/// Whether `word` is two currencies, in upper case.
fn is_pair(word: &str) -> bool {
    word.split_at_checked(3)
        .is_some_and(|(base, counter)| CURRENCIES.contains(&base) && CURRENCIES.contains(&counter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_found_in_the_stem() {
        for (path, symbol) in [
            ("quotes-eurusd.csv", "EURUSD"),
            ("folder/DAT_ASCII_USDJPY_T_202001.csv", "USDJPY"),
            ("gbpusd2021", "GBPUSD"),
        ] {
            assert_eq!(of_file(Path::new(path)), symbol, "{path}");
        }
    }

    #[test]
    fn else_it_is_the_stem() {
        for (path, symbol) in [
            ("quotes.csv", "QUOTES"),
            ("my ticks.2020.csv", "MY TICKS.2020"),
            ("/", "/"),
            ("a\u{1b}b.csv", "A\\u{1b}B"),
            ("Größe.csv", "GRÖSSE"),
        ] {
            assert_eq!(of_file(Path::new(path)), symbol, "{path}");
        }
    }
}

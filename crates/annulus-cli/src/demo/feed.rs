//! What is replayed: files of quotes, or a random walk.

use std::path::{Path, PathBuf};

use super::input;
use super::walk::Walk;
use crate::messages::quote::Tick;
use crate::outcome::Failure;
use crate::text::{counted, printable};

/// Currencies (and gold and silver) by their ISO 4217 codes, so that `quotes-eurusd` is told to be about
/// `EURUSD`, not about `QUOTES`.
const CURRENCIES: [&str; 36] = [
    "AED", "AUD", "BRL", "CAD", "CHF", "CLP", "CNH", "CNY", "COP", "CZK", "DKK", "EUR", "GBP", "HKD", "HUF",
    "IDR", "ILS", "INR", "JPY", "KRW", "MXN", "MYR", "NOK", "NZD", "PHP", "PLN", "RON", "SEK", "SGD", "THB",
    "TRY", "TWD", "USD", "XAG", "XAU", "ZAR",
];

/// A sequence of quotes of known length.
pub(super) struct Feed {
    /// The names of the symbols, by the index that a quote carries.
    pub(super) symbols: Vec<String>,
    /// How many quotes there are.
    pub(super) total: u64,
    /// What may surprise in the files.
    pub(super) remarks: Vec<String>,
    source: Source,
}

/// Where the quotes come from.
enum Source {
    /// In memory, `repeat` times.
    Files { ticks: Vec<Tick>, files: u64, repeat: u64 },
    /// Made one by one, so that a walk of any length takes no memory.
    Walk { seed: u64 },
}

impl Feed {
    /// The random walk of `seed`, `total` quotes long.
    pub(super) fn walk(seed: u64, total: u64) -> Self {
        Self { symbols: Walk::symbols(), total, remarks: Vec::new(), source: Source::Walk { seed } }
    }

    /// All quotes of the files at `paths`, one after another, and all that `repeat` times. Files whose names
    /// give the same symbol are of the same symbol.
    ///
    /// # Errors
    ///
    /// One of the files cannot be read to its end or has a malformed line, or `repeat` makes too many quotes
    /// to count.
    pub(super) fn files(paths: &[PathBuf], repeat: u64) -> Result<Self, Failure> {
        let mut symbols: Vec<String> = Vec::new();
        let (mut ticks, mut remarks) = (Vec::new(), Vec::new());
        for path in paths {
            let name = symbol_of_file(path);
            let index = symbols.iter().position(|known| *known == name).unwrap_or_else(|| {
                symbols.push(name);
                symbols.len() - 1
            });
            let mut quotes = input::read(path, index as u32)?;
            ticks.append(&mut quotes.ticks);
            remarks.extend(quotes.remark);
        }
        let quotes = ticks.len() as u64;
        let total = quotes.checked_mul(repeat).ok_or_else(|| {
            let at_most = u64::MAX / quotes;
            Failure::new(format!("--repeat {repeat}: too often for {quotes} quotes: at most {at_most} times"))
        })?;
        let source = Source::Files { ticks, files: paths.len() as u64, repeat };
        Ok(Self { symbols, total, remarks, source })
    }

    /// The first `count` quotes, in order.
    pub(super) fn ticks(&self, count: u64) -> Box<dyn Iterator<Item = Tick> + '_> {
        let count = 0..count.min(self.total);
        match &self.source {
            Source::Files { ticks, .. } => {
                Box::new(count.zip(ticks.iter().copied().cycle()).map(|(_, tick)| tick))
            }
            Source::Walk { seed } => Box::new(count.zip(Walk::new(*seed)).map(|(_, tick)| tick)),
        }
    }

    /// What it is, in words: `9,500 quotes of 1 symbol, read from 1 file`.
    pub(super) fn describe(&self) -> String {
        let symbols = counted(self.symbols.len() as u64, "symbol");
        let source = match &self.source {
            Source::Files { files, repeat: 1, .. } => format!("read from {}", counted(*files, "file")),
            Source::Files { files, repeat, .. } => {
                format!("read from {} and replayed {}", counted(*files, "file"), counted(*repeat, "time"))
            }
            Source::Walk { seed } => format!("a random walk with seed {seed}"),
        };
        format!("{} of {symbols}, {source}", counted(self.total, "quote"))
    }
}

/// The symbol of the quotes in the file at `path`: a pair of currencies among the words of its stem, else the
/// stem, in upper case.
fn symbol_of_file(path: &Path) -> String {
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
    use crate::messages::quote::tests::tick;

    fn feed(ticks: Vec<Tick>, repeat: u64) -> Feed {
        let total = ticks.len() as u64 * repeat;
        Feed {
            symbols: vec!["A".into(), "B".into()],
            total,
            remarks: Vec::new(),
            source: Source::Files { ticks, files: 2, repeat },
        }
    }

    #[test]
    fn files_are_replayed_in_order() {
        let feed = feed(vec![tick(0, 1.0, 2.0), tick(1, 3.0, 4.0)], 3);
        let bids: Vec<f64> = feed.ticks(6).map(|tick| tick.bid).collect();
        assert_eq!(bids, [1.0, 3.0, 1.0, 3.0, 1.0, 3.0]);
        assert_eq!((feed.ticks(3).count(), feed.ticks(7).count()), (3, 6));
        assert_eq!(feed.describe(), "6 quotes of 2 symbols, read from 2 files and replayed 3 times");
    }

    #[test]
    fn walk_has_the_length_that_was_asked_for() {
        let feed = Feed::walk(5, 1_000);
        assert_eq!(feed.ticks(1_000).count(), 1_000);
        assert!(feed.ticks(1_000).eq(Walk::new(5).take(1_000)));
        assert_eq!(feed.describe(), "1,000 quotes of 8 symbols, a random walk with seed 5");
    }

    #[test]
    fn symbol_is_a_pair_in_the_stem() {
        for (path, symbol) in [
            ("quotes-eurusd.csv", "EURUSD"),
            ("folder/DAT_ASCII_USDJPY_T_202001.csv", "USDJPY"),
            ("gbpusd2021", "GBPUSD"),
        ] {
            assert_eq!(symbol_of_file(Path::new(path)), symbol, "{path}");
        }
    }

    #[test]
    fn stem_without_a_pair_is_the_symbol() {
        for (path, symbol) in [
            ("quotes.csv", "QUOTES"),
            ("my ticks.2020.csv", "MY TICKS.2020"),
            ("/", "/"),
            ("a\u{1b}b.csv", "A\\u{1b}B"),
            ("Größe.csv", "GRÖSSE"),
        ] {
            assert_eq!(symbol_of_file(Path::new(path)), symbol, "{path}");
        }
    }
}

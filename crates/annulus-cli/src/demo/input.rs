//! Files of quotes.
//!
//! A file is read and checked to its end before the first of its quotes is published, so a malformed line
//! stops the demo before it begins. The last line may lack its line break, as RFC 4180 allows; one that was
//! cut off is found wherever a field is missing or malformed.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::line::Form;
use crate::messages::quote::Tick;
use crate::outcome::Failure;
use crate::text::{grouped, printable, quoted};

/// No quote is nearly as long, and a file of something else may have no line breaks at all.
const LINE_BYTES_MAX: u64 = 1024;

/// What some editors put in front of a file in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The quotes of a file.
#[derive(Debug, Default)]
pub(super) struct Quotes {
    pub(super) ticks: Vec<Tick>,
    /// What may surprise in them: how many have a bid above their ask, if any has.
    pub(super) remark: Option<String>,
}

/// All quotes of the file at `path`, of the symbol with the index `symbol`.
///
/// # Errors
///
/// The file cannot be read, holds no quotes, or has a malformed line.
pub(super) fn read(path: &Path, symbol: u32) -> Result<Quotes, InputError> {
    let result = if path.is_dir() {
        Err(Problem::Directory)
    } else {
        File::open(path)
            .map_err(Problem::Unreadable)
            .and_then(|file| read_lines(BufReader::new(file), symbol))
    };
    let (ticks, crossed) = result.map_err(|problem| InputError { path: path.to_owned(), problem })?;
    let remark = |crossed: Crossed| format!("{}:{crossed}", printable(&path.to_string_lossy()));
    Ok(Quotes { ticks, remark: crossed.map(remark) })
}

/// Quotes whose bid is above their ask. There are such moments in a market.
#[derive(Debug, PartialEq)]
struct Crossed {
    /// Of the first one, counted from 1.
    line: u64,
    bid: f64,
    ask: f64,
    count: u64,
}

impl fmt::Display for Crossed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, bid, ask, count } = self;
        write!(f, "{line}: the bid {bid} is above the ask {ask}")?;
        if *count > 1 {
            write!(f, ", and so it is in {} more", grouped(count - 1))?;
        }
        f.write_str("; such quotes are published as they are")
    }
}

/// All quotes of `reader`.
fn read_lines(mut reader: impl BufRead, symbol: u32) -> Result<(Vec<Tick>, Option<Crossed>), Problem> {
    let (mut ticks, mut crossed) = (Vec::<Tick>::new(), None::<Crossed>);
    let mut form: Option<Form> = None;
    // The first of the empty lines that were seen; only the file's end may follow them.
    let mut empty_line = None;
    let mut bytes = Vec::new();
    for number in 1_u64.. {
        let malformed = |what| Problem::Malformed { line: number, what };
        bytes.clear();
        if (&mut reader)
            .take(LINE_BYTES_MAX + 1)
            .read_until(b'\n', &mut bytes)
            .map_err(Problem::Unreadable)?
            == 0
        {
            break;
        }
        let mark = if number == 1 { BYTE_ORDER_MARK } else { b"" };
        let line = text_of(bytes.strip_prefix(mark).unwrap_or(&bytes)).map_err(malformed)?;
        if line.is_empty() {
            empty_line.get_or_insert(number);
            continue;
        }
        if let Some(line) = empty_line {
            let what = "is empty: empty lines may stand after the last quote only".into();
            return Err(Problem::Malformed { line, what });
        }
        let is_first = form.is_none();
        let known = form.map_or_else(|| Form::of_first_line(line).map_err(malformed), Ok)?;
        form = Some(known);
        if is_first && known.has_header() {
            continue;
        }
        let tick = known.parse(line, symbol).map_err(malformed)?;
        if tick.bid > tick.ask {
            let Tick { bid, ask, .. } = tick;
            crossed.get_or_insert(Crossed { line: number, bid, ask, count: 0 }).count += 1;
        }
        ticks.push(tick);
    }
    if ticks.is_empty() { Err(Problem::NoQuotes) } else { Ok((ticks, crossed)) }
}

/// The text of the line that was read as `bytes`, without its line break.
fn text_of(bytes: &[u8]) -> Result<&str, String> {
    let bytes = match bytes.strip_suffix(b"\n") {
        Some(line) => line.strip_suffix(b"\r").unwrap_or(line),
        None => bytes,
    };
    let text = str::from_utf8(bytes).map_err(|error| {
        let place = error.valid_up_to();
        format!(
            "byte {} of the line, {:#04X}, is not UTF-8: quotes are digits and ASCII punctuation",
            place + 1,
            bytes[place]
        )
    })?;
    if bytes.len() as u64 > LINE_BYTES_MAX {
        return Err(format!(
            "{} is longer than {} bytes: a quote is not",
            quoted(text),
            grouped(LINE_BYTES_MAX)
        ));
    }
    Ok(text)
}

/// Why a file's quotes cannot be published.
#[derive(Debug)]
pub(super) struct InputError {
    path: PathBuf,
    problem: Problem,
}

/// What is wrong with a file.
#[derive(Debug)]
enum Problem {
    Directory,
    Unreadable(io::Error),
    NoQuotes,
    Malformed {
        /// Counted from 1.
        line: u64,
        what: String,
    },
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&printable(&self.path.to_string_lossy()))?;
        match &self.problem {
            Problem::Directory => f.write_str(": is a directory: --input takes a file of quotes"),
            Problem::Unreadable(error) => {
                write!(f, ": cannot be read: {error}; --input takes a file of quotes")
            }
            Problem::NoQuotes => f.write_str(": holds no quotes: --input takes a file with at least one"),
            Problem::Malformed { line, what } => write!(f, ":{line}: {what}"),
        }
    }
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        Self::new(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = "20200101 170000065,1.1,1.2,0\n";
    const HEADED: &str = "timestamp,bid,ask\n2013-01-01 22:00:00.295000+00:00,86.655,86.728\n";

    /// The bids of a file with this content, or the error as it is printed.
    fn bids(content: impl AsRef<[u8]>) -> Result<Vec<f64>, String> {
        match read_lines(content.as_ref(), 0) {
            Ok((ticks, _)) => Ok(ticks.iter().map(|tick| tick.bid).collect()),
            Err(problem) => Err(InputError { path: "q.csv".into(), problem }.to_string()),
        }
    }

    #[test]
    fn files_of_both_forms_are_read() {
        assert_eq!(bids(format!("{PLAIN}20200101 170000066,1.3,1.4,0\n")), Ok(vec![1.1, 1.3]));
        assert_eq!(bids(HEADED), Ok(vec![86.655]));
    }

    #[test]
    fn bid_above_its_ask_is_told_and_kept() {
        let crossed = PLAIN.replace("1.1,1.2", "1.3,1.2");
        let told = |content: &str| {
            let (ticks, crossed) = read_lines(content.as_bytes(), 0).unwrap();
            (ticks.len(), crossed.map(|crossed| crossed.to_string()))
        };
        assert_eq!(told(&PLAIN.repeat(2)), (2, None));
        let expected = "2: the bid 1.3 is above the ask 1.2; such quotes are published as they are";
        assert_eq!(told(&format!("{PLAIN}{crossed}{PLAIN}")), (3, Some(expected.into())));
        let (_, told) = told(&format!("{crossed}{PLAIN}{crossed}{crossed}"));
        assert!(told.unwrap().contains("is above the ask 1.2, and so it is in 2 more; "));
    }

    #[test]
    fn marks_line_breaks_and_empty_lines_at_the_end_do_not_matter() {
        for content in [PLAIN, HEADED] {
            let expected = bids(content);
            assert_eq!(bids(format!("\u{feff}{content}")), expected);
            assert_eq!(bids(content.replace('\n', "\r\n")), expected);
            assert_eq!(bids(format!("{content}\n\r\n\n")), expected);
        }
    }

    #[test]
    fn empty_line_elsewhere_is_malformed() {
        let message = "is empty: empty lines may stand after the last quote only";
        assert_eq!(bids(format!("{PLAIN}\n\n{PLAIN}")), Err(format!("q.csv:2: {message}")));
        assert_eq!(bids(format!("\n{PLAIN}")), Err(format!("q.csv:1: {message}")));
        assert_eq!(bids(HEADED.replace('\n', "\n\n")), Err(format!("q.csv:2: {message}")));
    }

    #[test]
    fn file_without_quotes_is_refused() {
        for content in ["", "\n\n", "timestamp,bid,ask\n", "timestamp,bid,ask", "\u{feff}"] {
            assert_eq!(
                bids(content),
                Err("q.csv: holds no quotes: --input takes a file with at least one".into())
            );
        }
    }

    #[test]
    fn malformed_line_is_named_by_its_number() {
        assert_eq!(
            bids(format!("{PLAIN}{PLAIN}20200101 170000065,1.1,x,0\n{PLAIN}")),
            Err("q.csv:3: ask `x` is not a number such as `1.12134`".into())
        );
        assert!(
            bids(format!("{HEADED}{HEADED}"))
                .unwrap_err()
                .starts_with("q.csv:3: `timestamp` is no ISO 8601 time")
        );
        assert!(bids("bid,ask\n").unwrap_err().starts_with("q.csv:1: `bid,ask` begins no file of quotes"));
    }

    #[test]
    fn last_line_that_was_cut_off_in_or_before_its_last_field_is_malformed() {
        for content in [PLAIN.repeat(2), format!("{HEADED}2013-01-01 22:35:13.494000+00:00,86.836,86.854\n")]
        {
            let last = content.trim_end().rfind('\n').unwrap() + 1;
            let line = content.lines().count();
            for end in last + 1..=content.rfind(',').unwrap() + 1 {
                let error = bids(&content[..end]).unwrap_err();
                assert!(error.starts_with(&format!("q.csv:{line}: ")), "{error}");
            }
        }
    }

    #[test]
    fn last_line_may_lack_its_line_break() {
        for content in [PLAIN, HEADED] {
            assert_eq!(bids(content.trim_end()), bids(content));
        }
    }

    #[test]
    fn text_that_is_not_utf_8_is_malformed() {
        let content = [PLAIN.as_bytes(), b"20200101 170000065,1.1,\xFF,0\n"].concat();
        let message = "byte 24 of the line, 0xFF, is not UTF-8: quotes are digits and ASCII punctuation";
        assert_eq!(bids(content), Err(format!("q.csv:2: {message}")));
    }

    #[test]
    fn file_of_something_else_is_refused_after_a_little_of_it() {
        let error = bids("7".repeat(1_000_000)).unwrap_err();
        assert_eq!(
            error,
            format!("q.csv:1: `{}…` is longer than 1,024 bytes: a quote is not", "7".repeat(48))
        );
        assert!(bids([0; 4096]).unwrap_err().starts_with("q.csv:1: `\\u{0}"));
    }

    #[test]
    fn file_that_is_not_there_and_a_directory_are_named() {
        let error = read(Path::new("no/such/file.csv"), 0).unwrap_err().to_string();
        assert!(error.starts_with("no/such/file.csv: cannot be read: "), "{error}");
        let error = read(Path::new("."), 0).unwrap_err().to_string();
        assert_eq!(error, ".: is a directory: --input takes a file of quotes");
    }
}

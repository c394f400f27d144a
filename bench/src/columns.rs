//! The rounds of a row as a file has them: a column for each figure of each entry, with a number for each round.
//!
//! A number has [`DIGITS`] digits from the beginning, so that what is read makes the same report as what was
//! written: the spread of the rounds is a hundred times as large.

use serde::{Deserialize, Serialize};
use serde_json::Number;

use crate::rounds::{Round, Rounds};
use crate::row::Sample;

/// That count.
pub const DIGITS: i32 = 4;

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

/// An entry's, in the order of the rounds; none where a round has no such figure.
type Column = Vec<Option<Number>>;

#[derive(Serialize, Deserialize)]
pub struct Columns {
    /// The fastest, the middle one, the slowest.
    #[serde(default, skip_serializing_if = "empty")]
    probes: Vec<Column>,
    /// Of each entry, as the following.
    ns: Vec<Column>,
    #[serde(default, skip_serializing_if = "empty")]
    cpu_ns: Vec<Column>,
    #[serde(default, skip_serializing_if = "empty")]
    share: Vec<Column>,
    #[serde(default, skip_serializing_if = "empty")]
    neighbour_lost: Vec<Column>,
}

/// Whether there is no figure in it.
fn empty(columns: &[Column]) -> bool {
    columns.iter().flatten().all(Option::is_none)
}

/// Without a point where it has nothing behind it.
fn number(value: f64) -> Option<Number> {
    let whole = value as u64;
    if whole as f64 == value { Some(whole.into()) } else { Number::from_f64(value) }
}

fn value(number: &Number) -> f64 {
    number.as_f64().expect("every number of a file is one of a machine")
}

impl From<Rounds> for Columns {
    fn from(Rounds(rounds): Rounds) -> Self {
        let entries = rounds.first().map_or(0, |round| round.samples.len());
        let of = |figure: fn(&Sample) -> Option<f64>| {
            let column = |entry: usize| {
                rounds.iter().map(|round| figure(&round.samples[entry]).and_then(number)).collect()
            };
            (0..entries).map(column).collect()
        };
        Self {
            probes: (0..3)
                .map(|which| rounds.iter().map(|round| number(round.probes?[which])).collect())
                .collect(),
            ns: of(|sample| Some(sample.ns)),
            cpu_ns: of(|sample| sample.cpu_ns),
            share: of(|sample| sample.share),
            neighbour_lost: of(|sample| sample.neighbour_lost),
        }
    }
}

impl From<Columns> for Rounds {
    fn from(columns: Columns) -> Self {
        let rounds = columns.ns.first().map_or(0, Vec::len);
        let figure =
            |of: &[Column], entry: usize, round: usize| of.get(entry)?.get(round)?.as_ref().map(value);
        let sample = |entry: usize, round: usize| Sample {
            ns: figure(&columns.ns, entry, round).unwrap_or(f64::NAN),
            cpu_ns: figure(&columns.cpu_ns, entry, round),
            share: figure(&columns.share, entry, round),
            neighbour_lost: figure(&columns.neighbour_lost, entry, round),
            latencies: vec![],
        };
        let probes = |round: usize| {
            let [fastest, middle, slowest] = [0, 1, 2].map(|which| figure(&columns.probes, which, round));
            Some([fastest?, middle?, slowest?])
        };
        let round = |round: usize| Round {
            samples: (0..columns.ns.len()).map(|entry| sample(entry, round)).collect(),
            probes: probes(round),
        };
        Self((0..rounds).map(round).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_four_digits_and_is_the_one_that_they_say() {
        let values = [0.0, 0.730_689_75, 1.954_019_500_000_000_2, 26.461_51, 999.95, 12_548.3, 1.234_56e9];
        assert_eq!(values.map(rounded), [0.0, 0.7307, 1.954, 26.46, 1000.0, 12_550.0, 1.235e9]);
        let text = serde_json::to_string(&values.map(rounded).map(number)).unwrap();
        assert_eq!(text, "[0,0.7307,1.954,26.46,1000,12550,1235000000]");
    }

    #[test]
    fn rounds_are_read_as_they_were_written() {
        let sample = |ns, share| Sample { ns, share, ..Sample::default() };
        let round = |ns, share| Round {
            samples: vec![sample(ns, share), 2.5.into()],
            probes: Some([ns, 100.0, 101.0]),
        };
        let rounds = Rounds(vec![round(1.25, None), round(1.5, Some(0.5))]);
        let text = serde_json::to_string(&rounds).unwrap();
        assert_eq!(
            text,
            r#"{"probes":[[1.25,1.5],[100,100],[101,101]],"ns":[[1.25,1.5],[2.5,2.5]],"share":[[null,0.5],[null,null]]}"#
        );
        let read: Rounds = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        assert_eq!((read.0.len(), read.0[1].samples[0].share, read.0[0].samples[1].ns), (2, Some(0.5), 2.5));
    }
}

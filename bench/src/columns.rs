//! The rounds of a row as a file has them: a column for each figure of each entry, with a number for each
//! round.
//!
//! What is read makes the same report as what was written, since a figure has few [digits](crate::digits)
//! from the beginning.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Number;

use crate::rounds::{Round, Rounds};
use crate::row::Sample;

/// An entry's, in the order of the rounds; none where a round has no such figure.
type Column = Vec<Option<Number>>;

#[derive(Serialize, Deserialize)]
struct Columns {
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

/// For serde, as [`deserialize`].
pub fn serialize<S: Serializer>(rounds: &Rounds, serializer: S) -> Result<S::Ok, S::Error> {
    Columns::of(rounds).serialize(serializer)
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Rounds, D::Error> {
    Columns::deserialize(deserializer).map(|columns| columns.rounds())
}

impl Columns {
    fn of(Rounds(rounds): &Rounds) -> Self {
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

    fn rounds(&self) -> Rounds {
        let rounds = self.ns.first().map_or(0, Vec::len);
        let figure =
            |of: &[Column], entry: usize, round: usize| of.get(entry)?.get(round)?.as_ref().map(value);
        let sample = |entry: usize, round: usize| Sample {
            ns: figure(&self.ns, entry, round).unwrap_or(f64::NAN),
            cpu_ns: figure(&self.cpu_ns, entry, round),
            share: figure(&self.share, entry, round),
            neighbour_lost: figure(&self.neighbour_lost, entry, round),
            latencies: vec![],
        };
        let probes = |round: usize| {
            let [fastest, middle, slowest] = [0, 1, 2].map(|which| figure(&self.probes, which, round));
            Some([fastest?, middle?, slowest?])
        };
        let round = |round: usize| Round {
            samples: (0..self.ns.len()).map(|entry| sample(entry, round)).collect(),
            probes: probes(round),
        };
        Rounds((0..rounds).map(round).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_number_has_no_point() {
        let text = serde_json::to_string(&[0.0, 0.7307, 26.46, 12_550.0, 1.235e9].map(number)).unwrap();
        assert_eq!(text, "[0,0.7307,26.46,12550,1235000000]");
    }

    #[test]
    fn rounds_are_read_as_they_were_written() {
        let sample = |ns, share| Sample { ns, share, ..Sample::default() };
        let round = |ns, share| Round {
            samples: vec![sample(ns, share), 2.5.into()],
            probes: Some([ns, 100.0, 101.0]),
        };
        let rounds = Rounds(vec![round(1.25, None), round(1.5, Some(0.5))]);
        let text = serde_json::to_string(&Columns::of(&rounds)).unwrap();
        assert_eq!(
            text,
            r#"{"probes":[[1.25,1.5],[100,100],[101,101]],"ns":[[1.25,1.5],[2.5,2.5]],"share":[[null,0.5],[null,null]]}"#
        );
        let read = serde_json::from_str::<Columns>(&text).unwrap().rounds();
        assert_eq!(serde_json::to_string(&Columns::of(&read)).unwrap(), text);
        assert_eq!((read.0.len(), read.0[1].samples[0].share, read.0[0].samples[1].ns), (2, Some(0.5), 2.5));
    }
}

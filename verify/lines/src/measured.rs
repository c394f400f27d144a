//! What was measured: the rows of many cores of a page of benchmarks.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::shapes::Shape;

/// The figures of the machine that was measured on sixteen cores.
pub const FILE: &str = "docs/benchmarks/intel-xeon-emerald-rapids.json";

pub struct Measured(Value);

impl Measured {
    /// # Panics
    ///
    /// If the file is not there, or no JSON.
    pub fn read(root: &Path) -> Self {
        let text = fs::read_to_string(root.join(FILE)).unwrap_or_else(|error| panic!("{FILE}: {error}"));
        Self(serde_json::from_str(&text).unwrap_or_else(|error| panic!("{FILE}: {error}")))
    }

    /// Of all rounds: the ping-pong of each is the one in the middle of those around its entries.
    ///
    /// # Panics
    ///
    /// If the file has none.
    pub fn ping_pong_ns(&self) -> f64 {
        let probes = |row: &Value| numbers(&row["rounds"]["probes"][1]);
        let all = self.rows().iter().flat_map(probes).flatten().collect();
        median(all).expect("results have a ping-pong")
    }

    /// The median of a row, in nanoseconds, over the rounds that count: in which the ping-pong was the same
    /// all the time, but for three tenths.
    pub fn ns(&self, shape: Shape, many: usize) -> Option<f64> {
        let (row, entry) = shape.row(many);
        let row = self.rows().iter().find(|value| value["name"] == row)?;
        let place = row["entries"].as_array()?.iter().position(|value| value["name"] == entry)?;
        let probes = &row["rounds"]["probes"];
        let [fastest, slowest] = [0, 2].map(|which| numbers(&probes[which]));
        let times = numbers(&row["rounds"]["ns"][place]);
        let rounds = times.into_iter().zip(fastest.into_iter().zip(slowest));
        let counting = rounds.filter(|(_, (fastest, slowest))| *slowest <= fastest.map(|ns| 1.3 * ns));
        median(counting.filter_map(|(ns, _)| ns).collect())
    }

    fn rows(&self) -> &[Value] {
        self.0["rows"].as_array().expect("results have rows")
    }
}

/// A column of a file: a number for each round, if it has one.
fn numbers(column: &Value) -> Vec<Option<f64>> {
    column.as_array().map(|values| values.iter().map(Value::as_f64).collect()).unwrap_or_default()
}

/// Between the two in the middle, where there are two.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some(f64::midpoint(values[last / 2], values[last.div_ceil(2)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::SHAPES;

    /// A row that has another name now would be missing on the page.
    #[test]
    fn numbers_up_to_fifteen_were_measured() {
        let measured = Measured::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
        for shape in SHAPES {
            for &many in shape.numbers() {
                assert_eq!(measured.ns(shape, many).is_some(), many < 16, "{shape:?} {many}");
            }
        }
    }
}

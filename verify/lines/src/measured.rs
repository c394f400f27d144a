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

    /// # Panics
    ///
    /// If the file has none.
    pub fn ping_pong_ns(&self) -> f64 {
        self.0["ping_pong_ns"]["median"].as_f64().expect("results have a ping-pong")
    }

    /// The median of a row, in nanoseconds.
    pub fn ns(&self, shape: Shape, many: usize) -> Option<f64> {
        let (row, entry) = shape.row(many);
        let named = |values: &Value, name: &str| {
            values.as_array()?.iter().find(|value| value["name"] == name).cloned()
        };
        named(&named(&self.0["rows"], &row)?["entries"], entry)?["ns"]["median"].as_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::SHAPES;

    /// A row that has another name now would be missing on the page.
    #[test]
    fn each_number_up_to_fifteen_was_measured() {
        let measured = Measured::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
        for shape in SHAPES {
            for &many in shape.numbers() {
                assert_eq!(measured.ns(shape, many).is_some(), many < 16, "{shape:?} {many}");
            }
        }
    }
}

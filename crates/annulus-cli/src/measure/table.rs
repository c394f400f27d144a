//! Tables, and how a rate is told.

use comfy_table::{CellAlignment, Table, presets};

use crate::text::grouped;

/// A table with this header, whose first `names` columns are names and whose others are numbers.
pub(crate) fn table(header: &[&str], names: usize) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_header(header);
    for column in table.column_iter_mut().skip(names) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// At which rate the publisher went.
#[expect(clippy::cast_sign_loss, reason = "a rate is positive")]
pub(crate) fn pace(rate: f64) -> String {
    if rate.fract() == 0.0 && rate < 1e15 {
        format!("at {} messages a second", grouped(rate as u64))
    } else {
        format!("at {rate:?} messages a second")
    }
}

/// How many messages a second came of it.
#[expect(clippy::cast_sign_loss, reason = "a rate is not negative")]
pub(crate) fn per_second(rate: f64) -> String {
    if rate < 10.0 { format!("{rate:.2}") } else { grouped(rate.round() as u64) }
}

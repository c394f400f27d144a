//! How a rate is told, and the columns of a latency.

use crate::table::Column;
use crate::text::grouped;

/// The columns of [`Latency::cells`](super::Latency::cells). The median and the maximum stay where there is
/// little room.
pub(crate) const LATENCY_COLUMNS: [Column; 5] = [
    Column::number("p50"),
    Column::number("p90").spared(5),
    Column::number("p99").spared(1),
    Column::number("p99.9").spared(3),
    Column::number("max"),
];

/// What a report says if one of the cells is empty.
pub(crate) const TOO_FEW: &str =
    "A percentile is left out (–) where fewer than ten messages took longer than that.";

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

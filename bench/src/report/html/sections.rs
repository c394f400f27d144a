//! The sections of rows, and their identifiers, which links name.

use crate::results::Results;
use crate::row::Group;

/// Those that have rows, in the order of the rows.
pub fn groups(results: &Results) -> Vec<Group> {
    let mut groups = vec![];
    for row in &results.rows {
        if !groups.contains(&row.group) {
            groups.push(row.group);
        }
    }
    groups
}

pub fn id(group: Group) -> String {
    format!("{group:?}").to_lowercase()
}

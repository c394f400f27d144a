//! A batch that goes out part by part: the loop of all verbs that send or publish a slice.

use crate::error::Refusal;

/// Hands all of `values` to `send`, which sends as many as it can, from the first on, and returns how many.
/// It is called with the rest until nothing is left, also where it returned 0. If it refuses, this returns
/// what is left and why.
#[inline]
pub(crate) fn in_parts<'v, T>(
    values: &'v [T],
    mut send: impl FnMut(&'v [T]) -> Result<usize, Refusal>,
) -> Result<(), (&'v [T], Refusal)> {
    let mut rest = values;
    while !rest.is_empty() {
        match send(rest) {
            Ok(sent) => rest = &rest[sent..],
            Err(refusal) => return Err((rest, refusal)),
        }
    }
    Ok(())
}

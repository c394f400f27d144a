//! Hints to the optimiser about which way a branch goes.

/// `condition`, with the note that it is rarely true: what follows is laid out off the straight path.
#[inline(always)]
pub(crate) fn unlikely(condition: bool) -> bool {
    if condition {
        cold();
    }
    condition
}

#[cold]
#[inline]
fn cold() {}

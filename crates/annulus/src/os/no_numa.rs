//! NUMA nodes, where nobody can be asked for them.

use super::mapping::Pages;

pub(crate) fn bind(_: &Pages, _: usize, _: bool) -> Result<(), i32> {
    Err(0)
}

pub(crate) fn elsewhere(_: &Pages, _: usize) -> Result<Option<usize>, i32> {
    Err(0)
}

#[cfg_attr(not(feature = "numa"), allow(dead_code, reason = "there is no verb for it"))]
pub(crate) fn here() -> Result<usize, i32> {
    Err(0)
}

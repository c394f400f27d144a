//! Small parts that need nothing of rings: numbers, links, lists, counts, allocations.

pub(crate) mod aligned;
pub(crate) mod allocation;
pub(crate) mod common;
pub(crate) mod drop_all;
pub(crate) mod free_list;
pub(crate) mod handle_count;
pub(crate) mod index;
pub(crate) mod link;
pub(crate) mod peer_liveness;
pub(crate) mod sequence;

//! The properties.
//!
//! ```text
//! laps      many laps, every capacity, every start, every verb
//! accounts  what was lost, what there is room for
//! order     threads: one order for all, nothing lost on a lossless ring, nothing twice anywhere
//! close     drains, late joiners, who is left alone
//! joining   where a subscriber begins, and that it misses nothing from there on
//! liveness  no call and no message waits for as long as others come, go and publish
//! panics    closures, handlers, threads
//! timeouts  and messages that come in time
//! written   what is claimed and not yet written; what stands is received
//! tasks     futures that wait, are woken, and are dropped (feature `async`)
//! runtime   the same in a runtime with threads: select, timeouts, tasks that move
//! numbers   what an observer sees of a ring
//! observers how long a ring with a name is in the list of all
//! idle      many that wait use no core, and one message wakes them all
//! ```

pub(crate) mod accounts;
pub(crate) mod close;
pub(crate) mod idle;
pub(crate) mod joining;
pub(crate) mod laps;
pub(crate) mod liveness;
pub(crate) mod numbers;
pub(crate) mod observers;
pub(crate) mod order;
pub(crate) mod panics;
#[cfg(all(feature = "async", not(miri)))]
pub(crate) mod runtime;
#[cfg(feature = "async")]
pub(crate) mod tasks;
pub(crate) mod timeouts;
pub(crate) mod written;

pub(crate) use crate::support::{
    STUCK, join, sleeping, spawn, time_on_a_core, time_on_a_core_since, without_standing_still,
};

/// Where rings begin: the ends of 32 and 62 bits, two primes, and four thousand million messages before the
/// last sequence there is.
pub(crate) const STARTS: &[u64] = if cfg!(miri) {
    &[0, 1 << 62]
} else {
    &[0, 1, (1 << 32) - 3, 1_000_000_007, (1 << 62) - 57, (1 << 62) - 1, 1 << 62, (1 << 63) - (1 << 32)]
};

/// Every way to find a slot: small ones, powers of two, primes.
pub(crate) const CAPACITIES: &[usize] =
    if cfg!(miri) { &[2, 3, 8] } else { &[2, 3, 4, 5, 6, 7, 8, 9, 64, 100] };

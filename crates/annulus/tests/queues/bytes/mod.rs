//! Queues of bytes: against a plain model, between threads, at their edges, and wherever a receiving handle
//! may stand.
#![allow(clippy::disallowed_types, reason = "what the tests count is none of the library's atomics")]

mod edges;
mod fits;
mod model;
mod reservations;
mod threads;
mod waitable;
mod waits;

/// The bytes of a record: its length and `seed` decide all of them.
fn pattern(len: usize, seed: u64) -> Vec<u8> {
    let start = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(17) ^ len as u64;
    (0..len as u64).map(|at| (start.wrapping_add(at).wrapping_mul(31) >> 3) as u8).collect()
}

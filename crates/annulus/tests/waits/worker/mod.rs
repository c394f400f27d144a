//! Workers: every message once, batches, ends of every kind, and stops beside everything else.
#![cfg(not(annulus_loom))]
#![allow(clippy::disallowed_types, reason = "what the tests count is none of the library's atomics")]

mod batches;
mod ends;
mod races;
mod rings;
mod settings;

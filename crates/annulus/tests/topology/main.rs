//! Pipelines: what comes out, how they end, and what is left.
#![cfg(feature = "std")]

#[path = "../support/hang.rs"]
mod hang;

mod building;
mod ends;
mod graphs;
mod numbers;

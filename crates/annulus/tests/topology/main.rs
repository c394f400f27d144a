//! Pipelines: what comes out, how they end, and what is left.
#![cfg(all(feature = "std", not(annulus_loom)))]

#[path = "../support/hang.rs"]
mod hang;

mod building;
mod ends;
mod graphs;
mod numbers;

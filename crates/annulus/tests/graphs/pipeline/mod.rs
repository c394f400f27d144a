//! Pipelines: what comes out, how they end, and what is left.
#![cfg(all(feature = "std", not(annulus_loom)))]

mod building;
mod cores;
mod dropped;
mod early;
mod ends;
mod graphs;
mod inputs;
mod joining;
mod mistakes;
mod numbers;
mod outputs;
mod running;
mod sources;
mod verbs;

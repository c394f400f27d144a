//! Several rings that belong together: buses and pipelines.

mod bus;
#[path = "../support/mod.rs"]
mod support;
mod topology;

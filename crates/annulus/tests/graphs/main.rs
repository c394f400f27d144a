//! Several rings that belong together: buses and pipelines.

mod bus;
mod pipeline;
#[path = "../support/mod.rs"]
mod support;

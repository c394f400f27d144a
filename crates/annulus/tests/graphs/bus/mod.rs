//! Buses: what each verb promises, against a model, and with other threads.

mod joins;
mod model;
mod patterns;
mod threads;
mod topics;
#[cfg(feature = "std")]
mod waits;
#[cfg(feature = "std")]
mod words;

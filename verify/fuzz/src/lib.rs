//! Sequences of operations from a fuzzer's bytes, against the models of the library's tests.
//!
//! ```text
//! models.rs        the models, and what any four bytes do: those of the tests, by path
//! case.rs          what the bytes before the steps mean
//! support.rs       futures that the models poll
//! attach.rs        memory that somebody else made, and files of names: no model, but nothing may happen
//! forged.rs        the same with rings of each kind, and what one does with them
//! schema.rs        the text of a schema
//! targets.rs       a function for each target; fuzz_targets/ hands them to libFuzzer
//! ```
//!
//! A test tries random steps, the fuzzer those that led it to new code.

mod attach;
mod case;
mod forged;
mod models;
mod schema;
mod support;
mod targets;

// Where the models look for it.
pub use attach::attach;
use models::{counted, rings};
pub use schema::schema;
pub use targets::*;

/// Lets a panic pass that a model asks for. Any other one ends the fuzzer, at once and where it stands.
///
/// And the process registers for barriers now. If it did so beside the first waits, a thread would keep their
/// wakers for some milliseconds, and the models count wakers.
pub fn init() {
    annulus::wait::prepare_process();
    let fatal = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !counted::is_expected() {
            fatal(panic);
        }
    }));
}

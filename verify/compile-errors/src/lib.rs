//! What the compiler says to who gets a type wrong: `tests/compile_errors.rs` compiles each of `cases/`.

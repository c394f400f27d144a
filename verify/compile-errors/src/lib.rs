//! What the compiler says to a program that gets a type wrong: `tests/compile_errors.rs` compiles each of
//! `cases/`.

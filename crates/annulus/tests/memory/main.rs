//! Memory options of every builder. The tests ask the kernel themselves whether an option took effect.
#![cfg(all(target_os = "linux", feature = "std", not(any(miri, annulus_loom, annulus_emulated))))]
#![allow(missing_docs, reason = "a test")]

mod asks;
mod drops;
#[path = "../support/hang.rs"]
mod hang;
mod huge;
mod joins;
mod locked;
#[cfg(feature = "numa")]
mod nodes;
mod rings;
#[cfg(feature = "shm")]
mod shared;
mod there;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// One test at a time: they look at the mappings of the whole process.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

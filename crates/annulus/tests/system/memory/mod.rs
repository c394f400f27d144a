//! Memory options of every builder. The tests ask the kernel themselves whether an option took effect; each
//! is alone, because they look at the mappings of the whole process.
#![cfg(all(target_os = "linux", feature = "std", not(any(miri, annulus_loom, annulus_emulated))))]

mod asks;
mod drops;
mod huge;
mod joins;
mod locked;
#[cfg(feature = "numa")]
mod nodes;
mod rings;
#[cfg(feature = "shm")]
mod shared;
mod there;

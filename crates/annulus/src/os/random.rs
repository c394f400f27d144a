//! Random numbers of the kernel (Linux). Those of `std` are drawn once for each thread, and a child that
//! `fork` made goes on with its parent's.

use std::io;

use rustix::io::retry_on_intr;
use rustix::rand::{GetRandomFlags, getrandom};

/// A number that no other process draws, in this one or in a child.
pub(crate) fn number() -> io::Result<u64> {
    let mut bytes = [0; size_of::<u64>()];
    // (The kernel gives so few bytes all at once.)
    retry_on_intr(|| getrandom(&mut bytes, GetRandomFlags::empty()))?;
    Ok(u64::from_ne_bytes(bytes))
}

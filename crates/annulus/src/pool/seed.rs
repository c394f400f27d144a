//! Where the generations of a pool's handles begin: at a number of its own for each slab.
//!
//! Memory comes back at the same address, so an address alone does not tell a pool from the one that was
//! there before it. With `std`, what each pool begins with is made of the random keys that std's hash maps
//! take, which differ for each pool and in each process. Without it nobody can be asked for a random number:
//! there it is how many pools this program made before, and the address. The numbers of one pool are then
//! splitmix64's (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).

use core::ptr::NonNull;

use crate::sync::seeded;

/// The generations that a pool's slabs begin with, one after the other.
pub(super) struct Seed(u64);

impl Seed {
    /// For a pool whose slabs begin at `start`.
    pub(super) fn new(start: NonNull<u8>) -> Self {
        let address = start.as_ptr().addr() as u64;
        if seeded!("pool_seed_by_address") {
            return Self(address);
        }
        // Decision 0038: random, not the address.
        Self(of_this_pool(address))
    }

    pub(super) fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        (mixed(self.0) >> 32) as u32
    }
}

#[cfg(feature = "std")]
fn of_this_pool(address: u64) -> u64 {
    use core::hash::BuildHasher;

    std::hash::RandomState::new().hash_one(address)
}

// Mutants: `with 0`, `with 1`: not in this build: without std.
#[cfg(not(feature = "std"))]
fn of_this_pool(address: u64) -> u64 {
    use crate::sync::{AtomicUsize, Ordering};

    static POOLS: AtomicUsize = AtomicUsize::new(0);
    // Relaxed: each gets another number, and nothing else hangs on it.
    // Mutants: `^ with |`, `^ with &`: not in this build: without std.
    mixed(POOLS.fetch_add(1, Ordering::Relaxed) as u64) ^ address
}

/// Splitmix64's last step: numbers that differ come out as other numbers, which look unrelated.
fn mixed(mut bits: u64) -> u64 {
    bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ bits >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers that its authors' program prints for 0.
    #[test]
    fn splitmix64_as_it_was_published() {
        let mut seed = Seed(0);
        let numbers = [(); 4].map(|()| seed.next());
        assert_eq!(numbers, [0xE220_A839, 0x6E78_9E6A, 0x06C4_5D18, 0xF88B_B8A8]);
        assert_eq!(mixed(0x9E37_79B9_7F4A_7C15), 0xE220_A839_7B1D_CDAF);
    }
}

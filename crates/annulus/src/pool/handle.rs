//! A slab's name in four bytes, how the four bytes are split, and where the generations of a pool's handles
//! begin: at a number of its own for each slab.
//!
//! Memory comes back at the same address, so an address alone does not tell a pool from the one that was
//! there before it. With `std`, what each pool begins with is made of the random keys that std's hash maps
//! take, which differ for each pool and in each process. Without it nobody can be asked for a random number:
//! there it is how many pools this program made before, and the address. The numbers of one pool are then
//! splitmix64's (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).

use core::ptr::NonNull;

use crate::sync::seeded;

/// A [`Buffer`](super::Buffer) on its way: 4 bytes that any [queue](crate::queue) carries, alone or as a part
/// of a message.
///
/// Made by [`Buffer::into_handle`](super::Buffer::into_handle), and good for one
/// [`BufferPool::redeem`](super::BufferPool::redeem). It owns nothing. If a handle is lost or never redeemed,
/// its slab stays out of the pool for as long as the pool lives.
///
/// # Not for broadcast rings
///
/// In a [broadcast ring](crate::broadcast) each subscriber would receive the handle. All but the first to
/// redeem it would get an error, and a lossy ring would lose slabs as well. So a handle is not a
/// [`Message`](trait@crate::Message), and this does not compile:
///
/// ```compile_fail,E0277
/// # use annulus::pool::Handle;
/// let (publisher, subscribable) = annulus::broadcast::lossless::<Handle>(16);
/// ```
///
/// For buffers that many threads read, use a ring of [events](crate::event#frames-for-many-readers): each
/// frame is an event, filled in place and read by reference. For buffers with one reader each, use a
/// [queue](crate::queue).
///
/// # As a number
///
/// Any four bytes make a handle, and none does harm: the pool checks each handle before it gives a slab away.
///
/// ```
/// use annulus::pool::{BufferPool, Handle};
///
/// let pool = BufferPool::new(256, 4);
/// let handle = pool.alloc().unwrap().into_handle();
///
/// // Anything that carries four bytes may carry it: a register, a file, a broadcast ring with one redeemer.
/// let bits: u32 = handle.to_bits();
/// assert!(pool.redeem(Handle::from_bits(bits)).is_ok());
/// assert!(pool.redeem(handle).is_err()); // good once
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
#[must_use = "a slab whose handle is lost stays out of its pool"]
// Decision 0025: not a `Message`.
pub struct Handle(u32);

impl Handle {
    /// The handle as a number. Only its pool knows what the bits mean.
    ///
    /// ```
    /// # use annulus::pool::Handle;
    /// assert_eq!(Handle::from_bits(7).to_bits(), 7);
    /// ```
    #[must_use]
    pub const fn to_bits(self) -> u32 {
        self.0
    }

    /// The handle with these bits, whether or not a pool ever made it. A pool refuses handles that it did not
    /// make.
    ///
    /// ```
    /// # use annulus::pool::{BufferPool, Handle};
    /// let pool = BufferPool::new(256, 4);
    /// assert!(pool.redeem(Handle::from_bits(0)).is_err());
    /// ```
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }
}

/// How a pool splits the bits of its handles: as many low ones as the last index takes name the slab, the
/// others are its generation.
///
/// ```text
///  31                index_bits                 0
/// ┌───────────────────┬──────────────────────────┐
/// │ generation        │ index                    │
/// └───────────────────┴──────────────────────────┘
/// ```
#[derive(Clone, Copy)]
pub(super) struct Split {
    index_bits: u32,
}

impl Split {
    /// Fewer would make a generation come round again too soon.
    const GENERATION_BITS_MIN: u32 = 8;

    /// The most slabs that leave a generation its bits.
    pub(super) const SLABS_MAX: usize = 1 << (u32::BITS - Self::GENERATION_BITS_MIN);

    /// For `count` slabs: at least one, and [`SLABS_MAX`](Self::SLABS_MAX) at most.
    pub(super) const fn of(count: usize) -> Self {
        debug_assert!(count >= 1 && count <= Self::SLABS_MAX);
        // The bits of the last index: 0 for one slab, up to 24.
        Self { index_bits: usize::BITS - (count - 1).leading_zeros() }
    }

    /// From 8, with the most slabs, to 32, with one.
    pub(super) const fn generation_bits(self) -> u32 {
        u32::BITS - self.index_bits
    }

    /// The generation that `number` stands for: its low bits.
    pub(super) const fn generation(self, number: u32) -> u32 {
        number & (u32::MAX >> self.index_bits)
    }

    pub(super) const fn join(self, index: u32, generation: u32) -> Handle {
        // Mutants: `| with ^`: no bit is in both.
        Handle(generation << self.index_bits | index)
    }

    /// The index, which may name a slab that is not there, and the generation.
    pub(super) const fn split(self, handle: Handle) -> (u32, u32) {
        (handle.0 & ((1 << self.index_bits) - 1), handle.0 >> self.index_bits)
    }
}

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

    #[test]
    fn index_has_as_many_bits_as_the_last_one_takes() {
        let cases =
            [(1, 32), (2, 31), (3, 30), (4, 30), (5, 29), (256, 24), (257, 23), (Split::SLABS_MAX, 8)];
        for (count, bits) in cases {
            let split = Split::of(count);
            assert_eq!(split.generation_bits(), bits, "{count} slabs");
            let last = (count - 1) as u32;
            for index in [0, last / 2, last] {
                for generation in [0, 1, split.generation(u32::MAX)] {
                    assert_eq!(split.split(split.join(index, generation)), (index, generation));
                }
            }
            assert_eq!(split.generation(split.generation(u32::MAX).wrapping_add(1)), 0, "it comes round");
        }
    }

    /// The numbers that its authors' program prints for 0.
    #[test]
    fn splitmix64_as_it_was_published() {
        let mut seed = Seed(0);
        let numbers = [(); 4].map(|()| seed.next());
        assert_eq!(numbers, [0xE220_A839, 0x6E78_9E6A, 0x06C4_5D18, 0xF88B_B8A8]);
        assert_eq!(mixed(0x9E37_79B9_7F4A_7C15), 0xE220_A839_7B1D_CDAF);
    }
}

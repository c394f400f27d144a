//! Buffers of one size, allocated once, for bytes that go from thread to thread without a copy.
//!
//! A message in a queue is moved in and out. What is too large for that goes into a [`Buffer`] of a [`BufferPool`], and only the
//! buffer's [`Handle`], 4 bytes, goes through the queue:
//!
//! ```
//! use annulus::pool::{BufferPool, Handle};
//!
//! let pool = BufferPool::new(9000, 64); // 64 slabs of 9,000 bytes
//! let (mut producer, mut consumer) = annulus::spsc::channel::<Handle>(64);
//!
//! let reader = std::thread::spawn({
//!     let pool = pool.clone();
//!     move || {
//!         let mut sum = 0;
//!         while let Ok(handle) = consumer.recv() {
//!             let frame = pool.redeem(handle).unwrap();
//!             sum += u64::from(frame[0]);
//!         } // the frame goes back to the pool
//!         sum
//!     }
//! });
//! for number in 1..=100 {
//!     let mut frame = loop {
//!         match pool.alloc() {
//!             Some(frame) => break frame,
//!             None => std::thread::yield_now(), // all are out
//!         }
//!     };
//!     frame[0] = number;
//!     producer.send(frame.into_handle()).unwrap();
//! }
//! drop(producer);
//! assert_eq!(reader.join().unwrap(), 5050);
//! assert_eq!(pool.available(), 64);
//! ```
//!
//! A handle reaches one consumer, who has the buffer to itself. In a broadcast ring each subscriber would receive it, and all but one get an error, so a [`Handle`] does not go
//! into one: that does not compile. Frames that many threads read are [events](crate::event#frames-for-many-readers).
//!
//! # What holds
//!
//! - **A slab has one owner.** It is free, or in one [`Buffer`], or in one handle. A use after free, or a second free, does not compile;
//!   a handle that is forged, stale, or of another pool is an error (see below for the odds).
//! - **Nothing waits.** Allocating and freeing are lock-free: a step is repeated only when another thread's succeeded. Making a
//!   handle and redeeming it are wait-free.
//! - **Nothing is allocated** but by [`BufferPool::new`], and no page of the slabs is touched for the first time later: they are written there.
//! - **No byte is uninitialised**: zeros at first, later what the slab's last owner left.
//! - Slabs lie one after the other, each on a cache line of its own (64 bytes).
//!
//! # How sure a handle is
//!
//! Of a handle's 32 bits as many as the last index takes name the slab; the others, 8 at least
//! ([`generation_bits`](BufferPool::generation_bits)), are its generation. Each redemption moves the slab on to the next.
//!
//! | a handle that | is taken for a true one |
//! | --- | --- |
//! | was redeemed | after its slab went through 2^`generation_bits` handles more, a multiple of that, and then only while that very handle is out: 2^22 with 1,024 slabs, 256 with the most there can be, 2^24. Before that never |
//! | is of another pool, also of one that is gone and whose memory this one has | by accident: while its slab is in a handle, with a chance of one in 2^`generation_bits` |
//! | is of another process, or of an earlier run | the same (without the feature `std`: if addresses are the same in each run, the first pool of one looks like the first of another) |
//! | was forged | if it was guessed right: one in 2^`generation_bits` for each attempt |
//!
//! The odds are those of one attempt. With a few slabs they are long, one in 2^28 with sixteen; with 2^24 slabs one stale handle of another pool in 256 is taken while
//! all slabs are in handles. Generations begin at random numbers, but they follow each other: who sees one handle of a slab knows the next. They find mistakes,
//! they keep no secrets.
//!
//! A wrong handle that is taken takes the slab away from who holds the true one, who then gets the error. Even then a slab has one owner: memory safety
//! does not hang on any of this.
//!
//! # How it is done
//!
//! The free list is a Treiber stack of indexes (R. K. Treiber, 1986) with a 32-bit tag beside the top, which each change increments, as
//! IBM's manuals taught for ABA: a thread would have to stand still inside one `alloc` while others make a multiple of 2^32 changes, to the
//! last one. Last in, first out, so a slab that is used again is often still in the cache.

mod buffer;
mod error;
mod handle;
#[expect(clippy::module_inception, reason = "it is the pool")]
mod pool;
mod seed;
mod shared;
mod slabs;
mod word;

pub use buffer::Buffer;
pub use error::{HandleError, PoolError};
pub use handle::Handle;
pub use pool::BufferPool;

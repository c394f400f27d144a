//! Buffers of one size, allocated once, for bytes that go from thread to thread without a copy.
//!
//! A message in a queue is moved in and moved out. For large blocks that is slow. Put a large block into a
//! [`Buffer`] of a [`BufferPool`] instead, and send the buffer's [`Handle`], which has 4 bytes, through the
//! queue:
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
//! A handle reaches one consumer, which then owns the buffer. In a broadcast ring every subscriber would
//! receive the handle, and all but one would get an error. So a [`Handle`] is not a message of a broadcast
//! ring: that does not compile. For frames that many threads read, use
//! [events](crate::event#frames-for-many-readers).
//!
//! # What holds
//!
//! - **A slab has one owner.** A *slab* is the memory of one buffer. It is free, or in one [`Buffer`], or in
//!   one handle. A use after free, or a second free, does not compile. A handle that is forged, stale, or of
//!   another pool is an error; see below for the odds.
//! - **Nothing waits.** Allocating and freeing are lock-free: a step is repeated only if another thread's
//!   step succeeded. Making a handle and redeeming it are wait-free.
//! - **Only [`BufferPool::new`] allocates.** It also writes every page of the slabs, so no page is touched
//!   for the first time later.
//! - **No byte is uninitialised.** A slab begins as zeros. Later it holds what its last owner left.
//! - Slabs lie one after the other. Each begins on a cache line of its own (64 bytes).
//!
//! # How sure a handle is
//!
//! A handle has 32 bits. Some of them name the slab: as many as the last index needs. The others are the
//! slab's *generation*; there are at least 8 of them ([`generation_bits`](BufferPool::generation_bits)). Each
//! redemption moves the slab on to its next generation.
//!
//! | a handle that | is accepted by mistake |
//! | --- | --- |
//! | was redeemed | never, until its slab has gone through 2^`generation_bits` more handles, or a multiple of that, and then only while that very handle is out. This is 2^22 handles with 1,024 slabs, and 256 with 2^24 slabs, the most there can be |
//! | is of another pool, even of one that is gone and whose memory this pool has | by accident: while its slab is in a handle, with a chance of one in 2^`generation_bits` |
//! | is of another process, or of an earlier run | the same. Without the feature `std`, if addresses are the same in each run, the first pool of one run looks like the first pool of another |
//! | was forged | if the guess was right: one in 2^`generation_bits` for each attempt |
//!
//! These are the odds of one attempt. With few slabs the odds are long: one in 2^28 with sixteen slabs. With
//! 2^24 slabs, one in 256 stale handles of another pool is accepted while all slabs are in handles.
//! Generations begin at random numbers, but they follow each other, so one handle of a slab tells what the
//! next one will be. They find mistakes. They do not keep secrets.
//!
//! A wrong handle that is accepted takes the slab away from the holder of the right one, which then gets the
//! error. Even then the slab has one owner: memory safety does not depend on any of this.
//!
//! # How it is done
//!
//! The free list is a Treiber stack of indexes (R. K. Treiber, 1986) with a 32-bit tag next to the top. Each
//! change increments the tag, as IBM's manuals taught against the ABA problem. To be fooled, a thread would
//! have to stand still inside one `alloc` while others make exactly a multiple of 2^32 changes. The list is
//! last in, first out, so a slab that is used again is often still in the cache.
//!
//! From one thread to another that is the wrong cache: the slab that was freed last is in the reader's, and
//! the writer has to fetch each line of it from there. So a pool of 1 MiB or more has a second list, first
//! in, first out, for the slabs of buffers that came out of a handle. [`alloc`](BufferPool::alloc) takes from
//! it when the first list is empty. The slab that it gets has waited longest, and has left the reader's cache
//! for the one that all cores share. In a smaller pool there is one list.

mod buffer;
mod error;
mod fifo;
mod handle;
#[expect(clippy::module_inception, reason = "it is the pool")]
mod pool;
mod state;

pub use buffer::Buffer;
pub use error::{HandleError, PoolError};
pub use handle::Handle;
pub use pool::BufferPool;

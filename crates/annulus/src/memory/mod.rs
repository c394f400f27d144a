//! Memory of rings: huge pages, pages that are there from the start, locked pages, NUMA nodes.
//!
//! Each builder has a verb `memory`, which takes a [`Memory`]. The slots of the ring (or the slabs of the
//! pool) then lie in pages that the kernel maps for them alone. Without options they come from the global
//! allocator. All other memory of a ring, such as its positions, comes from the allocator in any case.
//!
//! | option | what it does | what refuses it |
//! | --- | --- | --- |
//! | [`huge_pages`](Memory::huge_pages) | fewer entries of the processor's table of addresses (TLB) for a large ring | no huge pages are reserved, or transparent ones are switched off |
//! | [`prefault`](Memory::prefault) | each page is in memory when the builder returns | no memory is left |
//! | [`lock`](Memory::lock) | no page is written to a disk before the ring is dropped | the limit `RLIMIT_MEMLOCK` |
//! | `node` (feature `numa`) | the pages lie on this NUMA node | there is no such node, or a container hides it |
//! | `near_reader` (feature `numa`) | the pages go to the node of the reader, when the reader says so | as for `node` |
//!
//! An option is required ([`Memory::require`]), and then the builder returns a [`MemoryError`] if the option
//! can't be met. Or it is preferred ([`Memory::prefer`]), and then the ring does without it. The verb
//! `placement` of each handle returns a [`Placement`], which says what the ring has now and what was refused.
//! Each answer comes from the kernel.
//!
//! A ring between processes (module `shm`) has the same options, by the same builders. They are about all of
//! its memory, which its creator places: the numbers of its positions, too, but not the page where processes
//! sleep. Each process locks its own mapping (`shm::Invitation::with_memory`). Two options are refused there:
//! reserved huge pages, which another process could take away, and `near_reader`, because pages that several
//! processes have mapped stay where they are. Transparent huge pages have a switch of their own for such
//! memory, `/sys/kernel/mm/transparent_hugepage/shmem_enabled`, which is off on most systems.
//!
//! All options are for Linux. Other systems refuse them. Without the feature `std` no builder has the verb.
//!
//! # Examples
//!
//! ```
//! use annulus::memory::{HugePages, Memory};
//! use annulus::{Settings, spsc};
//!
//! let memory = Memory::prefer().huge_pages(HugePages::Any).lock();
//! let (mut producer, mut consumer) = spsc::with::<u64>(Settings::new(4096).memory(memory))?;
//! println!("{}", producer.placement());
//! for refusal in producer.placement().refusals() {
//!     eprintln!("{refusal}"); // for example, the lock limit and how to raise it
//! }
//! producer.send(1).unwrap();
//! assert_eq!(consumer.recv(), Ok(1));
//! # Ok::<(), annulus::CapacityError>(())
//! ```

#![cfg_attr(not(feature = "std"), allow(dead_code, reason = "no builder has the verb then"))]

mod block;
mod options;
mod outcome;
mod placed;
#[cfg(all(target_os = "linux", feature = "shm", not(annulus_loom)))]
mod placed_memory;
mod placement;
mod refused;
mod unit_block;

pub(crate) use block::Block;
pub use options::{HugePages, Memory};
#[cfg(feature = "numa")]
pub(crate) use placed::node_here;
#[cfg(all(target_os = "linux", feature = "shm", not(annulus_loom)))]
pub(crate) use placed_memory::{NoMemory, PlacedMemory};
pub use placement::{Grant, Placement};
pub(crate) use refused::NoBlock;
pub use refused::{MemoryError, MemoryOption, Reason};
pub(crate) use unit_block::UnitBlock;

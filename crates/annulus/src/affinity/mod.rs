//! CPUs: on which ones a thread may run, how it is kept on one, what they share, and which to choose.
//!
//! A *CPU* is what the operating system gives a number to and runs a thread on: a core, or one of the
//! hardware threads of a core. All numbers here are the operating system's. (`lscpu -e` prints them.)
//!
//! ```
//! use annulus::affinity;
//!
//! match affinity::spread(2) {
//!     Ok(cpus) => {
//!         // Two CPUs on cores of their own, near each other.
//!         affinity::pin_to(cpus[0])?;
//!         let other = std::thread::spawn(move || affinity::pin_to(cpus[1]));
//!         other.join().unwrap()?;
//!     }
//!     Err(error) => eprintln!("not pinned: {error}"),
//! }
//! # Ok::<(), affinity::PinError>(())
//! ```
//!
//! Threads of a [`Worker`](crate::Worker) and of a pipeline are pinned by their options `core` and
//! `cores`, which take the same numbers and give the same errors. The page
//! [pinning](crate::guide::pinning) of the guide says when to pin.
//!
//! # Which CPUs?
//!
//! | | what it is |
//! | --- | --- |
//! | [`allowed`] | where the calling thread may run now |
//! | [`available`] | where it could be pinned to: also isolated CPUs, and what `taskset` or a pin took away |
//! | [`Topology::read`] | all CPUs of the machine, and what they share |
//! | [`spread()`] | some of the allowed ones, on cores of their own |
//!
//! # Which call does what where
//!
//! | | Linux | FreeBSD | Windows | macOS and others |
//! | --- | --- | --- | --- | --- |
//! | [`pin_to`], [`pin_to_any`], [`Pinned`] | yes | yes | yes, in one group of 64 CPUs | [`PinReason::Unsupported`] |
//! | [`allowed`] | yes | yes | of the thread's group | an error: unsupported |
//! | [`available`] | yes | as `allowed`, or more | as the process may | an error: unsupported |
//! | [`current`] | yes | `None` | yes | `None` |
//! | [`Topology::read`] | yes | numbers only | numbers only | nothing |
//! | [`spread()`] | yes | [`SpreadError::Hidden`] | [`SpreadError::Hidden`] | [`SpreadError::Unknown`] |
//!
//! - **Linux** is where this is tested. CPUs from 1024 on can't be named ([`PinReason::TooLarge`]), and
//!   [`allowed`] fails on a machine that has more. What [`Topology`] says comes from `/sys`.
//! - **FreeBSD** and **Windows**: it compiles, and nobody has run it there. CPU `n` of Windows is number
//!   `n % 64` of the processor group `n / 64`.
//! - **macOS** has no call that keeps a thread on a CPU. There are hints, which Apple's own processors
//!   ignore.
//!
//! # Containers, virtual machines
//!
//! A container may have a part of the CPUs only: [`available`] says which, and [`Topology`] still shows the
//! whole machine, with the machine's numbers. (So no number can be taken from a count of CPUs.) Where `/sys`
//! is hidden, [`Topology::hidden`] says so. A virtual machine shows what its host made up: two of its cores
//! may be one real core.

mod cpu;
mod error;
mod pin;
mod spread;
mod sysfs;
mod topology;

pub use cpu::{Cpu, Detail, Hidden};
pub use error::{PinError, PinReason, SpreadError};
pub(crate) use pin::{NoThread, spawn, write_no_cpu};
pub use pin::{Pinned, allowed, available, current, pin_to, pin_to_any};
pub use spread::Spread;
pub use topology::{Topology, spread};

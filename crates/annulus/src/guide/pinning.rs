//! Pinning: on which cores threads run, and where memory lies.
//!
//! The library never pins a thread, and needs no pinning to be correct. Pin threads if you care about the
//! slowest messages, or if threads spin. Three things then matter:
//!
//! - **A core for each thread that spins.** Otherwise a thread can keep the thread that it waits for off the
//!   core.
//! - **Which cores.** A message passes between two cores as cache lines. This is fast between neighbours that
//!   share a cache, and several times slower between sockets. Two hardware threads of one core share its
//!   caches *and* its execution units: messages pass fast, but each thread computes more slowly.
//! - **Which memory.** The constructor of a ring writes all its slots. Systems such as Linux place a page
//!   near the thread that first writes it. So make a ring on a thread that is pinned already. The feature
//!   `numa` has `queue::Builder::numa_node`, which names the node instead.
//!
//! # From outside
//!
//! On Linux, `taskset` confines a whole program to some cores, and `lscpu -e` lists which of them share a
//! core, a cache or a socket:
//!
//! ```sh
//! lscpu -e
//! taskset -c 2,4 my-program
//! ```
//!
//! # From inside
//!
//! The standard library cannot pin a thread. A crate such as `rustix` can. Pin each thread first, then choose
//! the strategy by what you got:
//!
//! ```
//! use annulus::WaitStrategy;
//!
//! # #[cfg(target_os = "linux")]
//! mod pinning {
//!     use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
//!
//!     /// The cores that this program may use.
//!     pub fn allowed_cores() -> Vec<usize> {
//!         let Ok(allowed) = sched_getaffinity(None) else { return Vec::new() };
//!         (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core)).collect()
//!     }
//!
//!     /// Keeps this thread on `core`.
//!     pub fn pin(core: usize) -> bool {
//!         let mut set = CpuSet::new();
//!         set.set(core);
//!         sched_setaffinity(None, &set).is_ok()
//!     }
//! }
//! # #[cfg(not(target_os = "linux"))]
//! # mod pinning {
//! #     pub fn allowed_cores() -> Vec<usize> { Vec::new() }
//! #     pub fn pin(_: usize) -> bool { false }
//! # }
//!
//! let cores = pinning::allowed_cores();
//! // Spin only with two cores of our own. On one core, a spinning thread is in the way of the other.
//! let strategy = if cores.len() > 1 { WaitStrategy::BusySpin } else { WaitStrategy::default() };
//!
//! let (mut producer, mut consumer) = annulus::spsc::channel::<u64>(1024);
//! let reader = std::thread::spawn({
//!     let core = cores.get(1).copied();
//!     move || {
//!         core.map(pinning::pin);
//!         let mut sum = 0;
//!         while let Ok(number) = consumer.recv_by(strategy) {
//!             sum += number;
//!         }
//!         sum
//!     }
//! });
//! cores.first().copied().map(pinning::pin);
//! for number in 1..=1000 {
//!     producer.send(number).unwrap();
//! }
//! drop(producer);
//! assert_eq!(reader.join().unwrap(), 500_500);
//! ```
//!
//! The example `pinned_latency` measures a round trip between two pinned threads.
//!
//! # Take care
//!
//! - A pinned thread cannot move to another core. If another program runs on its core, the thread waits for
//!   it.
//! - Leave at least one core to the rest of the system.
//! - A virtual machine may place two of its cores on one real core, and may change this while the program
//!   runs.

//! Pinning: on which cores threads run, and where memory lies.
//!
//! The library pins no thread unless you ask for it, and needs no pinning to be correct. Pin threads if you
//! care about the slowest messages, or if threads spin. Three things then matter:
//!
//! - **A core for each thread that spins.** Otherwise a thread can keep the thread that it waits for off the
//!   core.
//! - **Which cores.** A message passes between two cores as cache lines. This is fast between neighbours that
//!   share a cache, and several times slower between sockets. Two hardware threads of one core share its
//!   caches *and* its execution units: messages pass fast, but each thread computes more slowly.
//! - **Which memory.** The constructor of a ring writes all its slots. Systems such as Linux place a page
//!   near the thread that first writes it. So make a ring on a thread that is pinned already. Or choose the
//!   memory by the verb `memory` of a builder: see [below](#memory).
//!
//! `annulus doctor` (the program of the package `annulus-cli`) shows what the machine has: which CPUs share
//! cores and caches, which are isolated, and what a virtual machine or a container takes away. It measures
//! how long a cache line takes between each pair of CPUs. It changes nothing.
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
//! The module `affinity` pins threads and chooses CPUs. (It says *CPU* for what the system gives a number
//! to: a core, or a hardware thread of one.) `spread` gives CPUs on cores of their own, near each other. Then
//! choose the strategy by what you got:
//!
//! ```
//! use annulus::{WaitStrategy, affinity};
//!
//! // Before any pin: a thread that is pinned may run on one CPU, and so has one to spread over.
//! let cpus = affinity::spread(2).unwrap_or_else(|error| {
//!     eprintln!("not pinned: {error}");
//!     vec![]
//! });
//! // Spin only with two cores of our own. On one core, a spinning thread is in the way of the other.
//! let strategy = if cpus.is_empty() { WaitStrategy::default() } else { WaitStrategy::BusySpin };
//! let pin = |cpu: Option<usize>| cpu.map_or(Ok(()), affinity::pin_to);
//!
//! pin(cpus.first().copied())?;
//! let (mut producer, mut consumer) = annulus::spsc::channel::<u64>(1024); // near this thread
//! let reader = std::thread::spawn({
//!     let cpu = cpus.get(1).copied();
//!     move || {
//!         pin(cpu).unwrap();
//!         let mut sum = 0;
//!         while let Ok(number) = consumer.recv_until(strategy) {
//!             sum += number;
//!         }
//!         sum
//!     }
//! });
//! for number in 1..=1000 {
//!     producer.send(number).unwrap();
//! }
//! drop(producer);
//! assert_eq!(reader.join().unwrap(), 500_500);
//! # Ok::<(), affinity::PinError>(())
//! ```
//!
//! Threads of a `Worker` and of a `Pipeline` have the options `core` and `cores` for that.
//!
//! The example `pinned` has three threads in a chain. The example `pinned_latency` measures a round trip
//! between two.
//!
//! # Isolated CPUs
//!
//! Linux can keep everything else away from some CPUs (`isolcpus=2-5` when it starts). A program begins
//! outside of them. Either give them to it from outside, and `spread` prefers them:
//!
//! ```sh
//! taskset -c 2-5 my-program
//! ```
//!
//! Or take them from inside, by number (`pin_to`), or by `Topology::spread_where`, which chooses among CPUs
//! of your choice.
//!
//! Give such a CPU one thread. With two, the scheduler does not move either of them away.
//!
//! # Memory
//!
//! Each builder has a verb `memory` (with `std`, on Linux). It takes options, which the module
//! [`memory`](crate::memory) explains:
//!
//! - **Huge pages**, for rings of many mebibytes. The processor finds a page by a table in memory, and keeps
//!   some hundred or thousand entries of it (the TLB). A ring of 64 MiB has 16,384 pages of 4 KiB, but 32 of
//!   2 MiB. A ring that fits into the caches gains nothing.
//! - **Prefault and lock**, for threads that may never wait for a page. A page that was written to a disk
//!   comes back by a page fault, which takes longer than thousands of messages.
//! - **A NUMA node** (feature `numa`), on a machine with several. A message crosses from one node to the
//!   other in any case. With the slots near the reader, the writer pays for the distance.
//!
//! Say what the ring can't do without by `require`, and what it should have if it can by `prefer`. Then look
//! at what it got:
//!
//! ```
//! use annulus::memory::{HugePages, Memory};
//! use annulus::{Settings, spsc};
//!
//! let memory = Memory::require().and(Memory::prefer().huge_pages(HugePages::Any).prefault().lock());
//! let (mut producer, mut consumer) = spsc::with(Settings::new(1 << 16).memory(memory))?;
//! for refusal in consumer.placement().refusals() {
//!     eprintln!("{refusal}"); // says what to change
//! }
//! producer.send(7).unwrap();
//! assert_eq!(consumer.recv(), Ok(7));
//! # Ok::<(), annulus::CapacityError>(())
//! ```
//!
//! The example `huge_pages` compares two such rings.
//!
//! # Take care
//!
//! - A pinned thread cannot move to another core. If another program runs on its core, the thread waits for
//!   it.
//! - Leave at least one core to the rest of the system.
//! - A virtual machine may place two of its cores on one real core, and may change this while the program
//!   runs.

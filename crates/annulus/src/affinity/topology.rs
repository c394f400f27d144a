//! [`Topology`]: the CPUs of the machine, and what they share.

use alloc::vec::Vec;
use std::path::Path;

use super::cpu::{Cpu, Detail, Hidden};
use super::error::SpreadError;
use super::pin::{allowed, available};
use super::spread::{Spread, choose};
use super::sysfs;
use crate::sync::seeded;

/// The CPUs of the machine, what they share, and what the system hides of that.
///
/// It is what the system said when it was [read](Self::read), from the point of view of the thread that read
/// it. CPUs that are switched on or off later, and pins, do not change it.
///
/// ```
/// use annulus::affinity::Topology;
///
/// let topology = Topology::read();
/// for cpu in topology.cpus() {
///     println!("CPU {}: node {:?}, shares its core with {:?}", cpu.number, cpu.node, cpu.same_core);
/// }
/// for hidden in topology.hidden() {
///     eprintln!("{hidden}");
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// In ascending order of their numbers.
    pub(super) cpus: Vec<Cpu>,
    pub(super) hidden: Vec<Hidden>,
}

impl Topology {
    /// Asks the system. It does not fail: what the system hides is [`None`] in a [`Cpu`], and
    /// [`hidden`](Self::hidden) has the reason.
    ///
    /// On Linux it reads some ten small files for each CPU, and asks for the [`available`]
    /// CPUs. So it takes about a millisecond on a small machine: do it once, at the beginning, on a thread
    /// that is not pinned yet. On other systems all but the CPUs' numbers is hidden.
    #[must_use]
    pub fn read() -> Self {
        let (cpus, hidden) = sysfs::read(allowed(), &available().unwrap_or_default());
        Self { cpus, hidden }
    }

    /// As [`read`](Self::read), with the files below `folder` in place of `/sys/devices/system`.
    ///
    /// For a program whose `/sys` is hidden, and that has the machine's elsewhere; and for tests. The CPUs on
    /// which this thread may run are still asked of the system.
    ///
    /// ```
    /// use annulus::affinity::{Detail, Topology};
    ///
    /// let topology = Topology::read_at("/no/such/folder");
    /// assert!(topology.hidden().iter().any(|hidden| hidden.detail == Detail::Core));
    /// ```
    #[must_use]
    pub fn read_at(folder: impl AsRef<Path>) -> Self {
        let available = available().unwrap_or_default();
        let (cpus, hidden) = sysfs::read_at(Some(folder.as_ref()), allowed(), &available);
        Self { cpus, hidden }
    }

    /// The CPUs of the machine, in ascending order, also those on which this thread may not run.
    #[must_use]
    pub fn cpus(&self) -> &[Cpu] {
        &self.cpus
    }

    /// The CPU with this number.
    #[must_use]
    pub fn cpu(&self, number: usize) -> Option<&Cpu> {
        let index = self.cpus.binary_search_by_key(&number, |cpu| cpu.number).ok()?;
        self.cpus.get(index)
    }

    /// What the system did not say, and why. Empty on a machine that hides nothing.
    #[must_use]
    pub fn hidden(&self) -> &[Hidden] {
        &self.hidden
    }

    /// As [`spread`](super::spread()), with a choice of how, and without reading everything again.
    ///
    /// # Errors
    ///
    /// As [`spread`](super::spread()).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::affinity::{Spread, Topology};
    ///
    /// let topology = Topology::read();
    /// // Programs that have nothing to say to each other: as far apart as can be.
    /// match topology.spread(2, Spread::Far) {
    ///     Ok(cpus) => assert_ne!(cpus[0], cpus[1]),
    ///     Err(error) => eprintln!("{error}"),
    /// }
    /// ```
    pub fn spread(&self, count: usize, how: Spread) -> Result<Vec<usize>, SpreadError> {
        if count > 0 && self.hidden.iter().any(|hidden| hidden.detail == Detail::Allowed) {
            return Err(SpreadError::Unknown);
        }
        self.spread_where(count, how, |cpu| cpu.is_allowed)
    }

    /// As [`spread`](Self::spread), among the CPUs that `is_wanted` accepts, in place of those on which this
    /// thread may run. For isolated CPUs that nobody gave the program by `taskset`, for example:
    ///
    /// ```
    /// use annulus::affinity::{Spread, Topology};
    ///
    /// let topology = Topology::read();
    /// let isolated = topology
    ///     .spread_where(2, Spread::Near, |cpu| cpu.is_available && cpu.is_isolated == Some(true))
    ///     .or_else(|error| {
    ///         eprintln!("no isolated CPUs: {error}");
    ///         topology.spread(2, Spread::Near)
    ///     });
    /// # drop(isolated);
    /// ```
    ///
    /// # Errors
    ///
    /// As [`spread`](super::spread()).
    pub fn spread_where(
        &self,
        count: usize,
        how: Spread,
        mut is_wanted: impl FnMut(&Cpu) -> bool,
    ) -> Result<Vec<usize>, SpreadError> {
        let wanted = self.cpus.iter().filter(|cpu| seeded!("spread_beyond") || is_wanted(cpu));
        choose(wanted.collect(), count, how)
    }
}

/// The CPUs for `count` threads: on cores of their own, near each other. As [`Topology::spread`] with
/// [`Spread::Near`], after [`Topology::read`].
///
/// They are among those on which the calling thread may run ([`allowed`]). These rules
/// choose; the first that makes a difference decides:
///
/// 1. As few as possible share a core: never two hardware threads of one core while another core is free.
/// 2. As many as possible are isolated, where the rest of the system does not run.
/// 3. The faster ones, where the system says which are.
/// 4. [`Spread::Near`]: as few packages, then NUMA nodes, then last-level caches, then level 2 caches as
///    possible. [`Spread::Far`]: as even as possible over each of these.
/// 5. Not the core of CPU 0, where most systems do their chores.
/// 6. Lower numbers.
///
/// In the list, neighbours share the most, for threads that are a chain. Those that share a core with an
/// earlier one come last.
///
/// Isolated CPUs that were not given to the program are not taken: they are there for somebody.
/// [`Topology::spread_where`] takes them. A thread that is pinned already may run on one CPU only, so call
/// this before. Where a cache, a node or a package is hidden, it counts as one.
///
/// # Errors
///
/// [`SpreadError`]: there are fewer CPUs, or the system hides what they share. It has their numbers.
///
/// # Examples
///
/// ```
/// use annulus::{WaitStrategy, affinity};
///
/// // Spin only if both have a core.
/// let (cpus, strategy) = match affinity::spread(2) {
///     Ok(cpus) => (cpus, WaitStrategy::BusySpin),
///     Err(error) => {
///         eprintln!("not pinned: {error}");
///         (vec![], WaitStrategy::default())
///     }
/// };
/// if let [here, _] = cpus[..] {
///     affinity::pin_to(here)?;
/// }
/// let (mut producer, mut consumer) = annulus::spsc::channel::<u64>(1024); // near this thread
/// let reader = std::thread::spawn(move || {
///     if let [_, there] = cpus[..] {
///         affinity::pin_to(there).unwrap();
///     }
///     consumer.recv_until(strategy)
/// });
/// producer.send(1).unwrap();
/// assert_eq!(reader.join().unwrap(), Ok(1));
/// # Ok::<(), affinity::PinError>(())
/// ```
pub fn spread(count: usize) -> Result<Vec<usize>, SpreadError> {
    Topology::read().spread(count, Spread::Near)
}

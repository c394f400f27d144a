//! Threads on cores of their own.
//!
//! By the kernel's numbers: a library that counts only the cores which the calling thread may use would, on a
//! thread that is pinned already, find one.

use std::fmt;
use std::str::FromStr;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The core of the thread that measures, that of the other one (the same where there is only one), and more
/// for rows that have a thread on each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cores {
    pub here: usize,
    pub there: usize,
    more: CpuSet,
}

impl Cores {
    /// All that this thread may use.
    pub fn all() -> Result<Self, String> {
        let allowed = allowed()?;
        let cores: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core)).collect();
        Self::of(&cores).ok_or_else(|| "this process may use no core".to_owned())
    }

    /// These, in their order.
    fn of(cores: &[usize]) -> Option<Self> {
        let (&here, others) = cores.split_first()?;
        let mut more = CpuSet::new();
        others.iter().skip(1).for_each(|&core| more.set(core));
        Some(Self { here, there: others.first().copied().unwrap_or(here), more })
    }

    /// These, if this thread may use them.
    pub fn check(self) -> Result<Self, String> {
        let allowed = allowed()?;
        match self.iter().find(|&core| !allowed.is_set(core)) {
            Some(core) => Err(format!("core {core} is not there, or this process may not use it")),
            None => Ok(self),
        }
    }

    pub fn iter(self) -> impl Iterator<Item = usize> {
        let first = [self.here, self.there].into_iter().take(if self.here == self.there { 1 } else { 2 });
        first.chain((0..CpuSet::MAX_CPU).filter(move |&core| self.more.is_set(core)))
    }

    pub fn count(self) -> usize {
        self.iter().count()
    }

    /// So many of them.
    pub fn first(self, count: usize) -> Self {
        let cores: Vec<usize> = self.iter().take(count.max(1)).collect();
        Self::of(&cores).expect("there is one")
    }

    /// The core of thread `number`, where each has its own.
    ///
    /// They begin again where the threads are more, as in a test on a machine with few cores.
    pub fn number(self, number: usize) -> usize {
        self.iter().nth(number % self.count()).expect("there are so many")
    }

    /// As the command line has it.
    pub fn argument(self) -> String {
        self.iter().map(|core| core.to_string()).collect::<Vec<_>>().join(",")
    }
}

impl FromStr for Cores {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| match text.trim().parse() {
            Ok(core) if core < CpuSet::MAX_CPU => Ok(core),
            _ => Err(format!("{text:?} is not the number of a core")),
        };
        let numbers = text.split(',').map(number).collect::<Result<Vec<usize>, _>>()?;
        match (1..numbers.len()).find(|&at| numbers[..at].contains(&numbers[at])) {
            Some(at) => Err(format!("core {} stands there twice", numbers[at])),
            None => Self::of(&numbers).ok_or_else(|| "there is no core in the list".to_owned()),
        }
    }
}

impl fmt::Display for Cores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.iter().map(|core| core.to_string()).collect();
        match names.split_last() {
            Some((last, others)) if !others.is_empty() => write!(f, "{} and {last}", others.join(", ")),
            _ => f.write_str(&names.concat()),
        }
    }
}

fn allowed() -> Result<CpuSet, String> {
    sched_getaffinity(None).map_err(|error| format!("which cores may be used: {error}"))
}

/// Keeps the calling thread on `core`.
///
/// # Panics
///
/// If the kernel refuses: what is measured then is not what the report says.
pub fn pin(core: usize) {
    keep_to(&[core]);
}

/// Leaves it to the scheduler on which of `cores` the calling thread runs.
///
/// # Panics
///
/// As [`pin`].
pub fn unpin(cores: Cores) {
    keep_to(&[cores.here, cores.there]);
}

/// Puts the calling thread on whichever of `cores` the scheduler gives it.
///
/// # Panics
///
/// As [`pin`].
pub fn keep_to(cores: &[usize]) {
    let mut set = CpuSet::new();
    cores.iter().for_each(|&core| set.set(core));
    if let Err(error) = sched_setaffinity(None, &set) {
        panic!("can't stay on the cores {cores:?}: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_two_different_numbers() {
        let of = |text: &str| text.parse::<Cores>().unwrap();
        for (text, count, shown) in [("2, 5", 2, "2 and 5"), ("3", 1, "3"), ("7,1,4,2", 4, "7, 1, 2 and 4")] {
            let cores = of(text);
            assert_eq!(of(&cores.argument()), cores);
            assert_eq!((cores.count(), cores.to_string().as_str()), (count, shown));
        }
        let four = of("7,1,4,2");
        assert_eq!((four.here, four.there, four.first(2)), (7, 1, of("7,1")));
        assert_eq!([0, 1, 2, 3, 4].map(|number| four.number(number)), [7, 1, 2, 4, 7]);
        for wrong in ["", "1,1", "1,2,1", "1,x", "0,100000"] {
            assert!(wrong.parse::<Cores>().is_err(), "{wrong}");
        }
        assert!(of(&format!("0,{}", CpuSet::MAX_CPU - 1)).check().is_err());
    }
}

//! Threads on cores of their own.
//!
//! By the kernel's numbers: a library that counts only the cores which the calling thread may use would, on a
//! thread that is pinned already, find one.

use std::fmt;
use std::str::FromStr;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The core of the thread that measures, and that of the other one. The same where there is only one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cores {
    pub here: usize,
    pub there: usize,
}

impl Cores {
    /// The first two that this thread may use, or the only one.
    pub fn first_two() -> Result<Self, String> {
        let allowed = allowed()?;
        let mut cores = (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core));
        match (cores.next(), cores.next()) {
            (Some(here), Some(there)) => Ok(Self { here, there }),
            (Some(only), None) => Ok(Self { here: only, there: only }),
            _ => Err("this process may use no core".to_owned()),
        }
    }

    /// These, if this thread may use them.
    pub fn check(self) -> Result<Self, String> {
        let allowed = allowed()?;
        match [self.here, self.there].into_iter().find(|&core| !allowed.is_set(core)) {
            Some(core) => Err(format!("core {core} is not there, or this process may not use it")),
            None => Ok(self),
        }
    }
}

impl Cores {
    pub fn count(self) -> usize {
        if self.here == self.there { 1 } else { 2 }
    }

    /// As the command line has it.
    pub fn argument(self) -> String {
        match self.count() {
            1 => self.here.to_string(),
            _ => format!("{},{}", self.here, self.there),
        }
    }
}

impl FromStr for Cores {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (here, there) = text.split_once(',').unwrap_or((text, text));
        let number = |text: &str| match text.trim().parse() {
            Ok(core) if core < CpuSet::MAX_CPU => Ok(core),
            _ => Err(format!("{text:?} is not the number of a core")),
        };
        match (number(here)?, number(there)?) {
            (here, there) if here == there && text.contains(',') => Err("the cores must differ".to_owned()),
            (here, there) => Ok(Self { here, there }),
        }
    }
}

impl fmt::Display for Cores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count() {
            1 => write!(f, "{}", self.here),
            _ => write!(f, "{} and {}", self.here, self.there),
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

fn keep_to(cores: &[usize]) {
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
        assert_eq!("2, 5".parse(), Ok(Cores { here: 2, there: 5 }));
        assert_eq!(Cores { here: 2, there: 5 }.argument().parse(), Ok(Cores { here: 2, there: 5 }));
        let only = Cores { here: 3, there: 3 };
        assert_eq!(only.argument().parse(), Ok(only));
        assert_eq!((only.count(), only.to_string().as_str()), (1, "3"));
        for wrong in ["", "1,1", "1,x", "0,100000"] {
            assert!(wrong.parse::<Cores>().is_err(), "{wrong}");
        }
        assert!(Cores { here: 0, there: CpuSet::MAX_CPU - 1 }.check().is_err());
    }
}

//! What else ran on the cores meanwhile.

use std::fs;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::cores::Cores;

/// Processor time since the machine, or this process, began, in ticks of the kernel's.
#[derive(Clone, Copy)]
struct Ticks {
    /// Of all the cores.
    busy: u64,
    idle: u64,
    /// Of this process, and of those that it started and that ended.
    own: u64,
}

/// What the cores did in a stretch of time, in ticks of the kernel's. Nothing where the kernel does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// For others than this program: for other programs, for the kernel in their service, or for other guests
    /// of a host (which a guest sees as stolen).
    others: u64,
    all: u64,
}

impl Spent {
    /// The part that others had, from 0 to 1.
    pub fn part_of_others(self) -> f64 {
        self.others as f64 / self.all.max(1) as f64
    }
}

impl AddAssign for Spent {
    fn add_assign(&mut self, more: Self) {
        self.others += more.others;
        self.all += more.all;
    }
}

/// Stretches of time, one after the other.
pub struct Load {
    cores: Cores,
    begun: Option<Ticks>,
}

impl Load {
    pub fn begin(cores: Cores) -> Self {
        Self { cores, begun: Ticks::now(cores) }
    }

    /// Ends a stretch, and begins the next.
    pub fn lap(&mut self) -> Spent {
        let now = Ticks::now(self.cores);
        let begun = std::mem::replace(&mut self.begun, now);
        begun.zip(now).map_or_else(Spent::default, |(begun, now)| now.spent_since(begun))
    }
}

impl Ticks {
    fn now(cores: Cores) -> Option<Self> {
        let stat = fs::read_to_string("/proc/stat").ok()?;
        let own = fs::read_to_string("/proc/self/stat").ok()?;
        Self::parse(&stat, &own, cores)
    }

    fn parse(stat: &str, own: &str, cores: Cores) -> Option<Self> {
        let (mut busy, mut idle) = (0, 0);
        for core in cores.iter() {
            let name = format!("cpu{core} ");
            let line = stat.lines().find_map(|line| line.strip_prefix(&name))?;
            let ticks =
                line.split_whitespace().map(|field| field.parse().ok()).collect::<Option<Vec<u64>>>()?;
            // user, nice, system, idle, iowait, irq, softirq, steal
            let of = |places: &[usize]| places.iter().map(|&place| ticks.get(place)).sum::<Option<u64>>();
            busy += of(&[0, 1, 2, 5, 6, 7])?;
            idle += of(&[3, 4])?;
        }
        // After the program's name, which may have spaces, the fields count from the third; user and system
        // time, and those of children that ended, are the 14th to the 17th.
        let (_, fields) = own.rsplit_once(')')?;
        let fields = fields.split_whitespace().skip(11).take(4);
        let own = fields.map(|field| field.parse::<u64>().ok()).sum::<Option<u64>>()?;
        Some(Self { busy, idle, own })
    }

    fn spent_since(self, begun: Self) -> Spent {
        let (busy, own) = (self.busy - begun.busy, self.own - begun.own);
        Spent { others: busy.saturating_sub(own), all: busy + self.idle - begun.idle }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_of_others_is_neither_idle_nor_ours() {
        let cores = "0,2".parse().unwrap();
        let stat = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 10 1 2 500 5 1 1 3 0 0\ncpu1 7 7 7 7 7 7 7 7 7 7\ncpu2 20 0 0 400 0 0 0 0 0 0\n";
        let own = "42 (a (strange) name) S 1 1 1 0 -1 4194304 80 0 0 0 3 4 5 6 20 0 1 0 99 5000 800";
        let ticks = Ticks::parse(stat, own, cores).unwrap();
        assert_eq!((ticks.busy, ticks.idle, ticks.own), (38, 905, 18));
        let later = Ticks { busy: 138, idle: 905, own: 68 };
        let mut spent = later.spent_since(ticks);
        assert_eq!((spent, spent.part_of_others()), (Spent { others: 50, all: 100 }, 0.5));
        spent += Spent { others: 0, all: 100 };
        assert_eq!(spent.part_of_others(), 0.25);
        assert_eq!(ticks.spent_since(ticks).part_of_others(), 0.0);
        assert!(Ticks::parse("cpu0 1 2 3\n", own, cores).is_none());
    }

    #[test]
    fn load_of_this_machine_is_known() {
        let cores = Cores::all().unwrap();
        assert!(Ticks::now(cores).is_some());
        let mut load = Load::begin(cores);
        assert!((0.0..=1.0).contains(&load.lap().part_of_others()));
    }
}

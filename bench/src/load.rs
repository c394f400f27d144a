//! What else ran on the cores meanwhile.

use std::fs;

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

/// A stretch of time.
pub struct Load {
    cores: Cores,
    begun: Option<Ticks>,
}

impl Load {
    pub fn begin(cores: Cores) -> Self {
        Self { cores, begun: Ticks::now(cores) }
    }

    /// The part of the cores' time that went to others than this program: to other programs, to the kernel
    /// for them, or to other guests of a host (which a guest sees as stolen). From 0 to 1; 0 where the kernel
    /// does not say.
    pub fn others(&self) -> f64 {
        match (self.begun, Ticks::now(self.cores)) {
            (Some(begun), Some(now)) => now.others_since(begun),
            _ => 0.0,
        }
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

    fn others_since(self, begun: Self) -> f64 {
        let (busy, own) = (self.busy - begun.busy, self.own - begun.own);
        let all = busy + self.idle - begun.idle;
        busy.saturating_sub(own) as f64 / all.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_are_what_is_neither_idle_nor_ours() {
        let cores = "0,2".parse().unwrap();
        let stat = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 10 1 2 500 5 1 1 3 0 0\ncpu1 7 7 7 7 7 7 7 7 7 7\ncpu2 20 0 0 400 0 0 0 0 0 0\n";
        let own = "42 (a (strange) name) S 1 1 1 0 -1 4194304 80 0 0 0 3 4 5 6 20 0 1 0 99 5000 800";
        let ticks = Ticks::parse(stat, own, cores).unwrap();
        assert_eq!((ticks.busy, ticks.idle, ticks.own), (38, 905, 18));
        let later = Ticks { busy: 138, idle: 905, own: 68 };
        assert_eq!(later.others_since(ticks), 0.5);
        assert_eq!(ticks.others_since(ticks), 0.0);
        assert!(Ticks::parse("cpu0 1 2 3\n", own, cores).is_none());
    }

    #[test]
    fn this_machine_says_what_it_does() {
        let cores = Cores::all().unwrap();
        assert!(Ticks::now(cores).is_some());
        assert!((0.0..=1.0).contains(&Load::begin(cores).others()));
    }
}

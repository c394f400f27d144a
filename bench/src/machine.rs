//! What the numbers were taken on, and when.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::stamps;

#[derive(Debug, Serialize, Deserialize)]
pub struct Machine {
    /// The day, by UTC.
    pub date: String,
    pub processor: String,
    /// Cores that are online.
    pub cores: usize,
    /// Whether a hypervisor says that it is there.
    pub is_virtual: bool,
    /// How the kernel sets the clock; none where it does not, as in most virtual machines.
    pub governor: Option<String>,
    /// Whether the time stamp counter runs at one speed and never stops.
    pub invariant_counter: bool,
    pub kernel: String,
    pub rustc: String,
    pub target: String,
    pub opt_level: String,
    /// Of the environment that this program was built in.
    pub rustflags: String,
}

impl Machine {
    pub fn here() -> Self {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let governor = fs::read_to_string("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").ok();
        let Processor { model, cores, is_virtual } = Processor::parse(&cpuinfo);
        Self {
            date: date_of(since_epoch.as_secs() / 86_400),
            processor: model,
            cores,
            is_virtual,
            governor: governor.map(|name| name.trim().to_owned()),
            invariant_counter: stamps::are_reliable(),
            kernel: format!("{} {}", std::env::consts::OS, kernel.trim()).trim().to_owned(),
            rustc: env!("BENCH_RUSTC").to_owned(),
            target: env!("BENCH_TARGET").to_owned(),
            opt_level: env!("BENCH_OPT_LEVEL").to_owned(),
            rustflags: env!("BENCH_RUSTFLAGS").to_owned(),
        }
    }
}

/// What `/proc/cpuinfo` says.
#[derive(Debug, PartialEq)]
struct Processor {
    model: String,
    cores: usize,
    is_virtual: bool,
}

impl Processor {
    fn parse(text: &str) -> Self {
        let values = |key: &'static str| {
            let fields = text.lines().filter_map(|line| line.split_once(':'));
            fields.filter(move |(name, _)| name.trim() == key).map(|(_, value)| value.trim())
        };
        let flags: Vec<&str> = values("flags").next().unwrap_or_default().split(' ').collect();
        Self {
            model: values("model name").next().unwrap_or("unknown").to_owned(),
            cores: values("processor").count(),
            is_virtual: flags.contains(&"hypervisor"),
        }
    }
}

/// The civil date of a day after 1970-01-01. After Howard Hinnant, "chrono-compatible low-level date
/// algorithms".
fn date_of(days: u64) -> String {
    // Years here begin in March, so that a leap day is the last of its year; eras are of 400 years.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let days = [0, 58, 59, 789, 790, 11_016, 20_454];
        let dates = [
            "1970-01-01",
            "1970-02-28",
            "1970-03-01",
            "1972-02-29",
            "1972-03-01",
            "2000-02-29",
            "2026-01-01",
        ];
        assert_eq!(days.map(date_of), dates);
    }

    #[test]
    fn a_processor_is_read() {
        let text = "processor\t: 0\nmodel name\t: A (R) B\nflags\t\t: fpu hypervisor\n\n\
                    processor\t: 1\nmodel name\t: A (R) B\n";
        let read = Processor { model: "A (R) B".to_owned(), cores: 2, is_virtual: true };
        assert_eq!(Processor::parse(text), read);
        let nothing = Processor { model: "unknown".to_owned(), cores: 0, is_virtual: false };
        assert_eq!(Processor::parse(""), nothing);
    }
}

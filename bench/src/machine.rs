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
    /// Its generation, which the name of a virtual one does not tell; none where it is not known here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<String>,
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
        let Processor { model, generation, cores, is_virtual } = Processor::parse(&cpuinfo);
        Self {
            date: date_of(since_epoch.as_secs() / 86_400),
            processor: model,
            generation: generation.map(str::to_owned),
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

    /// The processor in a few words.
    pub fn name(&self) -> String {
        let words = self.processor.replace("(R)", "").replace("(TM)", "");
        let words = words.split(' ').filter(|word| !word.is_empty() && *word != "Processor");
        let name = words.collect::<Vec<_>>().join(" ");
        match &self.generation {
            Some(generation) => format!("{name} ({generation})"),
            None => name,
        }
    }

    /// The name of its files.
    pub fn file(&self) -> String {
        let name = self.name().to_lowercase();
        let words =
            name.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join("-")
    }
}

/// What `/proc/cpuinfo` says.
#[derive(Debug, PartialEq)]
struct Processor {
    model: String,
    generation: Option<&'static str>,
    cores: usize,
    is_virtual: bool,
}

impl Processor {
    fn parse(text: &str) -> Self {
        let values = |key: &'static str| {
            let fields = text.lines().filter_map(|line| line.split_once(':'));
            fields.filter(move |(name, _)| name.trim() == key).map(|(_, value)| value.trim())
        };
        let number = |key| values(key).next().and_then(|text| text.parse().ok()).unwrap_or(0);
        let flags: Vec<&str> = values("flags").next().unwrap_or_default().split(' ').collect();
        Self {
            model: values("model name").next().unwrap_or("unknown").to_owned(),
            generation: generation(
                values("vendor_id").next().unwrap_or_default(),
                number("cpu family"),
                number("model"),
            ),
            cores: values("processor").count(),
            is_virtual: flags.contains(&"hypervisor"),
        }
    }
}

/// What goes by these numbers, of the makers' manuals.
fn generation(vendor: &str, family: u32, model: u32) -> Option<&'static str> {
    match (vendor, family, model) {
        ("AuthenticAMD", 23, 0x30..) => Some("Zen 2"),
        ("AuthenticAMD", 23, _) => Some("Zen"),
        ("AuthenticAMD", 25, 0x10..=0x1f | 0x60..) => Some("Zen 4"),
        ("AuthenticAMD", 25, _) => Some("Zen 3"),
        ("AuthenticAMD", 26, _) => Some("Zen 5"),
        ("GenuineIntel", 6, 0x55) => Some("Skylake or Cascade Lake"),
        ("GenuineIntel", 6, 0x6a | 0x6c) => Some("Ice Lake"),
        ("GenuineIntel", 6, 0x8f) => Some("Sapphire Rapids"),
        ("GenuineIntel", 6, 0xcf) => Some("Emerald Rapids"),
        ("GenuineIntel", 6, 0xad) => Some("Granite Rapids"),
        _ => None,
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
    fn files_have_the_name_of_the_processor() {
        let names = |processor: &str, generation: Option<&str>| {
            let machine = Machine {
                processor: processor.to_owned(),
                generation: generation.map(str::to_owned),
                ..Machine::here()
            };
            (machine.name(), machine.file())
        };
        let both = |name: &str, file: &str| (name.to_owned(), file.to_owned());
        assert_eq!(names("AMD EPYC", Some("Zen 5")), both("AMD EPYC (Zen 5)", "amd-epyc-zen-5"));
        assert_eq!(names("Intel(R) Xeon(R) Processor", None), both("Intel Xeon", "intel-xeon"));
        assert_eq!(names("Intel(R) Core(TM)  i7 @ 2.3GHz", None).1, "intel-core-i7-2-3ghz");
    }

    #[test]
    fn processor_is_read() {
        let text = "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t\t: 2\n\
                    model name\t: A (R) B\nflags\t\t: fpu hypervisor\n\n\
                    processor\t: 1\nmodel name\t: A (R) B\n";
        let model = "A (R) B".to_owned();
        let read = Processor { model, generation: Some("Zen 5"), cores: 2, is_virtual: true };
        assert_eq!(Processor::parse(text), read);
        let nothing =
            Processor { model: "unknown".to_owned(), generation: None, cores: 0, is_virtual: false };
        assert_eq!(Processor::parse(""), nothing);
    }
}

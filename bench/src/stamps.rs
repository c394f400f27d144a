//! Stamps of a counter that all cores have in common.

use std::fs;

use quanta::Clock;

/// Whether the processor's counter runs at one speed, whatever the core does. Without that, a stamp of one
/// core says nothing on another.
pub fn are_reliable() -> bool {
    // Not for x86 alone to decide: the system counter of aarch64 is such a counter by definition.
    if !cfg!(any(target_arch = "x86", target_arch = "x86_64")) {
        return cfg!(target_arch = "aarch64");
    }
    fs::read_to_string("/proc/cpuinfo").is_ok_and(|text| is_invariant(&text))
}

fn is_invariant(cpuinfo: &str) -> bool {
    let flags = |line: &str| -> bool {
        let has = |flag| line.split_whitespace().any(|word| word == flag);
        has("constant_tsc") && has("nonstop_tsc")
    };
    let mut cores = cpuinfo.lines().filter(|line| line.starts_with("flags")).peekable();
    cores.peek().is_some() && cores.all(flags)
}

/// The counter now, when all that this thread read before is there.
///
/// A processor reads the counter as soon as it can, even before a message whose value it takes for granted,
/// as it does with what a check says.
#[inline(always)]
#[allow(unsafe_code, reason = "what waits for loads is an instruction of its own on each processor")]
pub fn after_reads(clock: &Clock) -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every such processor has it.
    unsafe {
        std::arch::x86_64::_mm_lfence();
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: two barriers.
    unsafe {
        std::arch::asm!("dsb ishld", "isb", options(nostack, preserves_flags));
    }
    clock.raw()
}

/// How many stamps there are in so many nanoseconds.
pub fn in_ns(clock: &Clock, ns: u64) -> u64 {
    (ns as f64 / to_ns(clock, 1.0)) as u64
}

/// So many stamps in nanoseconds.
pub fn to_ns(clock: &Clock, stamps: f64) -> f64 {
    const MANY: u64 = 1 << 30;
    stamps * clock.delta_as_nanos(0, MANY) as f64 / MANY as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counter_is_invariant_where_every_core_says_so() {
        let good = "processor: 0\nflags\t\t: fpu constant_tsc nonstop_tsc\n";
        assert!(is_invariant(&good.repeat(2)));
        assert!(!is_invariant(&format!("{good}flags : fpu constant_tsc\n")));
        assert!(!is_invariant(""));
    }

    #[test]
    fn stamps_and_nanoseconds_are_turned_into_each_other() {
        let clock = Clock::new();
        let stamps = in_ns(&clock, 1_000_000);
        let ns = clock.delta_as_nanos(0, stamps);
        assert!((999_000..1_001_000).contains(&ns), "{ns}");
    }
}

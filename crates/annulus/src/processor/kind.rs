//! [`ProcessorWait`]: which instructions this processor waits by.

use core::fmt;

#[cfg(not(annulus_loom))]
use super::instructions;
#[cfg(not(annulus_loom))]
use crate::sync::{AtomicU32, Ordering};

/// How this processor can wait until a word changes: what [`WaitStrategy::Monitor`](crate::WaitStrategy)
/// uses.
///
/// Many hypervisors hide these instructions, even if the processor has them. Then `Monitor` does not use
/// them, because they may not be allowed: see [`Pause`](Self::Pause).
///
/// ```
/// use annulus::wait::ProcessorWait;
///
/// let here = ProcessorWait::of_this_processor();
/// if here == ProcessorWait::Pause {
///     println!("WaitStrategy::Monitor does what WaitStrategy::PauseSpin does");
/// } else {
///     println!("WaitStrategy::Monitor waits by {here}");
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProcessorWait {
    /// `UMONITOR` and `UMWAIT` (Intel, `WAITPKG`). Pauses between polls are made by `TPAUSE`. The operating
    /// system may bound a wait further (`IA32_UMWAIT_CONTROL`; on Linux in
    /// `/sys/devices/system/cpu/umwait_control/max_time`).
    Umwait,
    /// `MONITORX` and `MWAITX` (AMD).
    Mwaitx,
    /// `LDXR` and `WFET` (aarch64, `FEAT_WFxT`). Known on Linux, with `std`.
    Wfet,
    /// `LDXR` and `WFE` (aarch64). Used only if Linux sends all cores an event at least every 100
    /// microseconds, which ends such a wait. Known with `std`.
    Wfe,
    /// None of them: the processor has none, a hypervisor hides it, or there is nobody to ask (aarch64
    /// without `std`, or on another system than Linux). `Monitor` then waits as
    /// [`PauseSpin`](crate::WaitStrategy::PauseSpin) does. Miri is such a processor, too.
    Pause,
}

impl ProcessorWait {
    /// What the processor that runs this has, as it says itself, or as the operating system says. It is asked
    /// once, and the answer is the same from then on. Takes one load.
    ///
    /// All cores of a machine have the same instructions. (Where a virtual machine moves to another host, its
    /// hypervisor sees to that.)
    #[must_use]
    #[inline]
    pub fn of_this_processor() -> Self {
        #[cfg(annulus_loom)]
        return Self::Pause;
        #[cfg(not(annulus_loom))]
        {
            /// 0, or one more than the index in `ALL`.
            static ASKED: AtomicU32 = AtomicU32::new(0);
            // Relaxed: each thread that asks gets the same answer.
            match ASKED.load(Ordering::Relaxed).checked_sub(1) {
                Some(at) => ALL[at as usize],
                None => ask(&ASKED),
            }
        }
    }
}

/// In the order of their numbers.
#[cfg(not(annulus_loom))]
const ALL: [ProcessorWait; 5] = [
    ProcessorWait::Umwait,
    ProcessorWait::Mwaitx,
    ProcessorWait::Wfet,
    ProcessorWait::Wfe,
    ProcessorWait::Pause,
];

#[cfg(not(annulus_loom))]
#[cold]
fn ask(asked: &AtomicU32) -> ProcessorWait {
    let answer = instructions::ask();
    // Relaxed: as the load.
    asked.store(answer as u32 + 1, Ordering::Relaxed);
    answer
}

/// The names of the instructions that wait: `umwait`, `mwaitx`, `wfet`, `wfe`, `pause`.
impl fmt::Display for ProcessorWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Umwait => "umwait",
            Self::Mwaitx => "mwaitx",
            Self::Wfet => "wfet",
            Self::Wfe => "wfe",
            Self::Pause => "pause",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn answer_stays() {
        let answers = [(); 3].map(|()| ProcessorWait::of_this_processor());
        assert_eq!(answers, [instructions::ask(); 3]);
        for (at, answer) in ALL.into_iter().enumerate() {
            assert_eq!(answer as usize, at);
        }
    }

    #[test]
    fn waits_have_names_of_their_own() {
        let names = ALL.map(|wait| wait.to_string());
        for (at, name) in names.iter().enumerate() {
            assert!(!name.is_empty() && !names[..at].contains(name), "{name}");
        }
    }
}

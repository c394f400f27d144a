//! What the system says when it is asked by a call, and not in a file. No call changes anything.
#![cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "other systems give no such answers"))]

use annulus::wait::ProcessorWait;

/// The answers. `None` where this system has no such call.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers {
    /// `membarrier(MEMBARRIER_CMD_QUERY)`.
    pub(super) membarrier: Option<Membarrier>,
    /// Whether there is `futex_waitv`.
    pub(super) futex_waitv: Option<bool>,
    /// By how much a sleep of this thread may be late.
    pub(super) timer_slack_ns: Option<u64>,
    /// The highest priority that this process may ask for.
    pub(super) rtprio: Option<Limit>,
    /// How much memory it may lock, in bytes.
    pub(super) memlock: Option<Limit>,
    /// What `/dev/shm` holds.
    pub(super) dev_shm: Option<Room>,
    /// How `WaitStrategy::Monitor` waits. (The processor says so, on any system.)
    pub(super) processor_wait: Option<ProcessorWait>,
}

/// What `membarrier` has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Membarrier {
    /// The command that sleepers of the library's rings need.
    PrivateExpedited,
    /// Others only: the commands' bits.
    Others(u32),
    /// No command at all.
    Nothing,
}

/// A resource limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    Unlimited,
    AtMost(u64),
}

/// How much a folder in memory holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// There is no such folder.
    NoFolder,
    /// So many bytes, of which so many are free.
    Of { bytes: u64, free: u64 },
}

impl Answers {
    /// Asks.
    #[cfg(target_os = "linux")]
    pub(super) fn ask() -> Self {
        use rustix::io::Errno;
        use rustix::process::{Resource, getrlimit};
        use rustix::thread::{MembarrierQuery, current_timer_slack, futex, membarrier_query};

        let bits = membarrier_query();
        let limit = |resource| Some(getrlimit(resource).current.map_or(Limit::Unlimited, Limit::AtMost));
        // To wait for nothing is an error, but a different one.
        let waitv = futex::waitv(&[], futex::WaitvFlags::empty(), None, rustix::thread::ClockId::Monotonic);
        Self {
            membarrier: Some(match bits {
                _ if bits.contains(MembarrierQuery::PRIVATE_EXPEDITED) => Membarrier::PrivateExpedited,
                _ if bits.is_empty() => Membarrier::Nothing,
                _ => Membarrier::Others(bits.bits()),
            }),
            futex_waitv: Some(waitv == Err(Errno::INVAL)),
            timer_slack_ns: current_timer_slack().ok(),
            rtprio: limit(Resource::Rtprio),
            memlock: limit(Resource::Memlock),
            dev_shm: match rustix::fs::statvfs("/dev/shm") {
                Ok(told) => Some(Room::Of {
                    bytes: told.f_blocks.saturating_mul(told.f_frsize),
                    free: told.f_bavail.saturating_mul(told.f_frsize),
                }),
                Err(Errno::NOENT | Errno::NOTDIR) => Some(Room::NoFolder),
                Err(_) => None,
            },
            processor_wait: Some(ProcessorWait::of_this_processor()),
        }
    }

    /// There is only the processor to ask.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn ask() -> Self {
        Self { processor_wait: Some(ProcessorWait::of_this_processor()), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn linux_answers() {
        let answers = Answers::ask();
        assert!(answers.membarrier.is_some() && answers.futex_waitv.is_some(), "{answers:?}");
        assert!(answers.rtprio.is_some() && answers.memlock.is_some(), "{answers:?}");
        assert!(answers.dev_shm.is_some(), "{answers:?}");
        // As the file says it, where there is one.
        if let Ok(slack) = std::fs::read_to_string("/proc/thread-self/timerslack_ns") {
            assert_eq!(answers.timer_slack_ns, slack.trim().parse().ok());
        }
    }
}

//! [`Signals`]: how a user or another program ends a subcommand that has to put something in order first.
//!
//! A process that a signal ends is dead to the processes that share a ring with it. So the subcommand ends
//! its ring first, and takes its name back. It ends within a second, also if it hangs in a pipe that nobody
//! reads.

#[cfg(target_os = "linux")]
use std::{
    process::exit,
    sync::{OnceLock, mpsc},
    time::Duration,
};
#[cfg(unix)]
use std::{sync::Arc, thread};

#[cfg(target_os = "linux")]
use rustix::process::{Signal, getpid, kill_current_process_group, kill_process};
#[cfg(unix)]
use signal_hook::{consts, iterator};

use crate::outcome::{Failure, Outcome};

/// How long a subcommand may take to end by itself; `ANNULUS_PATIENCE_SECONDS` says otherwise.
#[cfg(target_os = "linux")]
const PATIENCE: Duration = Duration::from_secs(1);

/// How long the last words may take: standard error may be a pipe that nobody reads, too. It is longer where
/// `ANNULUS_PATIENCE_SECONDS` is.
#[cfg(target_os = "linux")]
const LAST_WORDS: Duration = Duration::from_millis(250);

/// How often a process that has stopped looks for the SIGCONT that ended the stop, and the time between.
#[cfg(target_os = "linux")]
const CONTINUE_LOOKS: u32 = 1_000;
#[cfg(target_os = "linux")]
const CONTINUE_INTERVAL: Duration = Duration::from_millis(1);

/// SIGXFSZ no longer ends the process: what exceeds the largest size of a file (`ulimit -f`) is an error of
/// the write. (Programs that this one starts have the signal as usual: they do not inherit a handler.)
///
/// # Errors
///
/// The system refuses it.
#[cfg(unix)]
pub(crate) fn survive_long_files() -> Result<(), Failure> {
    #[expect(clippy::disallowed_types, reason = "a signal's handler sets it, and nobody reads it")]
    let exceeded = Arc::<std::sync::atomic::AtomicBool>::default();
    signal_hook::flag::register(consts::SIGXFSZ, exceeded).map(drop).map_err(|error| refused(&error))
}

/// SIGINT (Ctrl-C), SIGTERM and SIGHUP, which no longer end the process.
///
/// SIGHUP stays ignored where it is, as `nohup` has it.
#[cfg(unix)]
pub(crate) struct Signals(iterator::Signals);

/// Ctrl-C.
#[cfg(not(unix))]
pub(crate) struct Signals;

impl Signals {
    /// From now on they are kept for [`each`](Self::each).
    ///
    /// # Errors
    ///
    /// The system refuses it.
    #[cfg(unix)]
    pub(crate) fn watch() -> Result<Self, Failure> {
        let mut signals = vec![consts::SIGINT, consts::SIGTERM];
        if !is_ignored(consts::SIGHUP) {
            signals.push(consts::SIGHUP);
        }
        iterator::Signals::new(signals).map(Self).map_err(|error| refused(&error))
    }

    /// Ctrl-C is for [`each`](Self::each).
    #[cfg(not(unix))]
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
    pub(crate) fn watch() -> Result<Self, Failure> {
        Ok(Self)
    }

    /// With each signal, also one that has come before this, a thread calls `on`.
    ///
    /// # Errors
    ///
    /// There is no thread for it.
    #[cfg(unix)]
    pub(crate) fn each(mut self, mut on: impl FnMut(Outcome) + Send + 'static) -> Result<(), Failure> {
        let body = move || {
            for signal in self.0.forever() {
                on(match signal {
                    consts::SIGINT => Outcome::Interrupted,
                    consts::SIGTERM => Outcome::Terminated,
                    _ => Outcome::HungUp,
                });
            }
        };
        let thread = thread::Builder::new().name("signals".into()).spawn(body);
        thread.map(drop).map_err(|error| refused(&error))
    }

    /// With each Ctrl-C a thread calls `on`.
    ///
    /// # Errors
    ///
    /// The system refuses it.
    #[cfg(not(unix))]
    #[expect(clippy::unused_self, reason = "elsewhere it has something")]
    pub(crate) fn each(self, mut on: impl FnMut(Outcome) + Send + 'static) -> Result<(), Failure> {
        ctrlc::set_handler(move || on(Outcome::Interrupted)).map_err(|error| refused(&error))
    }

    /// With the first signal, also one that has come before this, a thread calls `end`. The process ends when
    /// the main thread does. After [`PATIENCE`], or with a second signal, it ends without that, and
    /// `last_words` is called before.
    ///
    /// # Errors
    ///
    /// There is no thread for it.
    #[cfg(target_os = "linux")]
    pub(crate) fn then(
        self,
        end: impl FnOnce(Outcome) + Send + 'static,
        last_words: impl Fn() + Send + Sync + 'static,
    ) -> Result<(), Failure> {
        let (mut end, last_words) = (Some(end), Arc::new(last_words));
        self.each(move |outcome| {
            let words = Arc::clone(&last_words);
            let leave = move || leave(outcome, move || words());
            let Some(end) = end.take() else { return leave() };
            let patience = {
                let leave = leave.clone();
                move || {
                    thread::sleep(asked_patience().unwrap_or(PATIENCE));
                    leave();
                }
            };
            if thread::Builder::new().spawn(patience).is_err() {
                leave();
            }
            end(outcome);
        })
    }
}

/// What `ANNULUS_PATIENCE_SECONDS` says.
#[cfg(target_os = "linux")]
fn asked_patience() -> Option<Duration> {
    std::env::var("ANNULUS_PATIENCE_SECONDS").ok()?.parse().ok().map(Duration::from_secs)
}

/// Ends the process, after its last words: these may hang.
#[cfg(target_os = "linux")]
fn leave(outcome: Outcome, last_words: impl FnOnce() + Send + 'static) {
    let (said, are_said) = mpsc::channel();
    let say = move || {
        last_words();
        let _ = said.send(());
    };
    if thread::Builder::new().spawn(say).is_ok() {
        let _ = are_said.recv_timeout(asked_patience().map_or(LAST_WORDS, |asked| asked.max(LAST_WORDS)));
    }
    exit(outcome.code().into());
}

/// What the first signal says, once it has come: for a subcommand that looks now and then. If it does not
/// look, the process ends after `last_words`, as [`Signals::then`] says.
///
/// # Errors
///
/// The system refuses to tell of signals, or there is no thread for it.
#[cfg(target_os = "linux")]
pub(crate) fn first_signal(
    last_words: impl Fn() + Send + Sync + 'static,
) -> Result<Arc<OnceLock<Outcome>>, Failure> {
    let first = Arc::new(OnceLock::new());
    let told = Arc::clone(&first);
    Signals::watch()?.then(move |outcome| _ = told.set(outcome), last_words)?;
    Ok(first)
}

/// SIGTSTP and SIGCONT, for a subcommand that has changed its terminal: it puts the terminal in order before
/// the process stops, and changes it again when the process continues.
#[cfg(target_os = "linux")]
pub(crate) struct Stops(iterator::Signals);

/// What has come.
#[cfg(target_os = "linux")]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StopOrGo {
    /// The process is to [stop](Stops::stop).
    Stop,
    /// It had stopped, and continues.
    Go,
}

#[cfg(target_os = "linux")]
impl Stops {
    /// From now on SIGTSTP stops the process no more. (Where it is ignored, it stays so.)
    ///
    /// # Errors
    ///
    /// The system refuses it.
    pub(crate) fn watch() -> Result<Self, Failure> {
        let stop = Some(consts::SIGTSTP).filter(|&signal| !is_ignored(signal));
        let signals = iterator::Signals::new(stop.into_iter().chain([consts::SIGCONT]));
        signals.map(Self).map_err(|error| refused(&error))
    }

    /// What has come since this was asked before, if anything. A process that was to stop, and was told to
    /// continue since, continues.
    pub(crate) fn come(&mut self) -> Option<StopOrGo> {
        let signals = self.0.pending();
        signals.map(|signal| if signal == consts::SIGTSTP { StopOrGo::Stop } else { StopOrGo::Go }).max()
    }

    /// Sends SIGTSTP to all processes of the job, as the terminal does with Ctrl-Z.
    pub(crate) fn ask_all() {
        // Where it is refused, the job continues.
        let _ = kill_current_process_group(Signal::TSTP);
    }

    /// Stops the process, and returns when it continues; at once where nobody would make it continue.
    pub(crate) fn stop(&mut self) {
        if is_orphaned() || kill_process(getpid(), Signal::STOP).is_err() {
            return;
        }
        // Another thread may be about to receive the SIGCONT that has ended the stop. (A debugger can keep
        // both from the process.)
        for _ in 0..CONTINUE_LOOKS {
            if self.come() == Some(StopOrGo::Go) {
                return;
            }
            thread::sleep(CONTINUE_INTERVAL);
        }
    }
}

/// Whether the job of this process is an orphan: no shell that started it is there to make it continue. The
/// kernel does not let a terminal stop such a job either. (Where the system does not tell, it is none.)
#[cfg(target_os = "linux")]
fn is_orphaned() -> bool {
    let job = |process: &str| {
        Job::of(&String::from_utf8_lossy(&std::fs::read(format!("/proc/{process}/stat")).ok()?))
    };
    let is_orphaned = || {
        let own = job("self")?;
        let leader = job(&own.group.to_string())?;
        let shell = if leader.parent == OUTSIDE { OUTSIDE } else { job(&leader.parent.to_string())?.session };
        Some(shell != own.session)
    };
    is_orphaned().unwrap_or(false)
}

/// The number of a process, group or session that is outside of this process's PID namespace. (`rustix` has a
/// panic for it.)
#[cfg(target_os = "linux")]
const OUTSIDE: u32 = 0;

/// What a shell makes of a process that it starts, by `proc_pid_stat(5)`.
#[cfg(target_os = "linux")]
#[derive(Debug, PartialEq)]
struct Job {
    parent: u32,
    group: u32,
    session: u32,
}

#[cfg(target_os = "linux")]
impl Job {
    fn of(stat: &str) -> Option<Self> {
        // The name of the process may have any character. Behind it: the state, and then these.
        let mut words = stat.rsplit_once(')')?.1.split_whitespace().skip(1);
        let mut next = || words.next()?.parse().ok();
        Some(Self { parent: next()?, group: next()?, session: next()? })
    }
}

/// Whether the process began with this signal ignored. (Where the system does not tell, the signal is left as
/// it is.)
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    // (The name of the process is in it, which may be no text.)
    let status = std::fs::read("/proc/self/status").unwrap_or_default();
    let mask = String::from_utf8_lossy(&status);
    let mask = mask.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_none_or(|mask| mask >> (signal - 1) & 1 == 1)
}

fn refused(error: &dyn std::error::Error) -> Failure {
    Failure::new(format!("Ctrl-C and other signals cannot be watched for: {error}"))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn job_is_read() {
        let job = Job { parent: 7, group: 9, session: 0 };
        assert_eq!(Job::of("9 (a name) 1 (2) S 7 9 0 34816 9 4194304"), Some(job));
        assert_eq!(Job::of("9 (cut) S 7 9"), None);
    }
}

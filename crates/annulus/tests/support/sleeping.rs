//! Whether a thread sleeps: the system tells its state, and how often it has gone to sleep. No clock is
//! asked, so neither answer depends on how busy the machine is.
//!
//! On Linux only. Elsewhere, and under Miri, nobody tells; then a short pause is all that there is.

#![allow(dead_code, reason = "no program needs all of it")]

use std::boxed::Box;
use std::format;
use std::string::String;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::vec::Vec;

/// Longer than any thread takes to lie down.
const LONG: Duration = Duration::from_secs(120);

/// A thread of this process.
#[derive(Clone)]
pub(crate) struct Sleeper(String);

impl Sleeper {
    /// The thread that asks.
    pub(crate) fn this() -> Self {
        let link = std::fs::read_link("/proc/thread-self").unwrap_or_default();
        Self(link.file_name().map(|number| number.to_string_lossy().into_owned()).unwrap_or_default())
    }

    /// Every thread of this process but the one that asks, that of `support/hang.rs`, and the first one: the
    /// test program's own, which gets up when a test has run for a minute.
    pub(crate) fn others() -> Vec<Self> {
        let (this, first) = (Self::this(), format!("{}", std::process::id()));
        let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return Vec::new() };
        let all = threads.map(|thread| Self(thread.unwrap().file_name().into_string().unwrap()));
        let is_other = |thread: &Self| thread.0 != this.0 && thread.0 != first;
        all.filter(is_other)
            .filter(|thread| thread.read("comm").is_some_and(|name| name != "hang\n"))
            .collect()
    }

    fn read(&self, file: &str) -> Option<String> {
        if !cfg!(target_os = "linux") || cfg!(miri) || self.0.is_empty() {
            return None;
        }
        std::fs::read_to_string(format!("/proc/self/task/{}/{file}", self.0)).ok()
    }

    /// Whether it sleeps, and how often it has gone to sleep; `None` where nobody tells, or it has ended.
    pub(crate) fn look(&self) -> Option<(bool, u64)> {
        let status = self.read("status")?;
        let value = |name| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        Some((value("State:")?.starts_with('S'), value("voluntary_ctxt_switches:")?.parse().ok()?))
    }

    /// How often it has gone to sleep so far: not how often another thread was given its core.
    pub(crate) fn sleeps(&self) -> Option<u64> {
        Some(self.look()?.1)
    }

    /// [`await_all`] for this one.
    #[track_caller]
    pub(crate) fn await_sleep(&self) {
        await_all(std::slice::from_ref(self));
    }
}

/// Waits until each of them has slept for a moment without waking up. A thread that spins never does; nor
/// does one that wakes up more often than every twenty milliseconds. They need not sleep at the same moment:
/// where many wake up now and then, on a busy machine some of them always run.
#[track_caller]
pub(crate) fn await_all(sleepers: &[Sleeper]) {
    let moment = Duration::from_millis(if cfg!(miri) { 1 } else { 20 });
    let begun = Instant::now();
    let mut awake: Vec<_> = sleepers.iter().collect();
    while !awake.is_empty() {
        assert!(begun.elapsed() < LONG, "{} of {} never sleep", awake.len(), sleepers.len());
        let before: Vec<_> = awake.iter().map(|sleeper| sleeper.look()).collect();
        thread::sleep(moment);
        let mut before = before.into_iter();
        awake.retain(|sleeper| {
            let now = sleeper.look();
            before.next() != Some(now) || now.is_some_and(|(sleeps, _)| !sleeps)
        });
    }
}

/// Takes times until one is shorter than `limit`: a busy machine is not slow each time, but a thread that
/// waits for a timer is.
#[track_caller]
pub(crate) fn once_in_less_than(limit: Duration, mut take: impl FnMut() -> Duration) {
    let begun = Instant::now();
    while take() >= limit {
        assert!(begun.elapsed() < LONG, "never in less than {limit:?}");
    }
}

/// A thread that somebody watches.
pub(crate) fn spawn<T: Send + 'static>(
    action: impl FnOnce() -> T + Send + 'static,
) -> (JoinHandle<T>, Sleeper) {
    let (mut threads, mut sleepers) = spawn_all([action]);
    (threads.remove(0), sleepers.remove(0))
}

/// Some such threads. Nobody waits for one before the next begins.
pub(crate) fn spawn_all<T: Send + 'static>(
    actions: impl IntoIterator<Item = impl FnOnce() -> T + Send + 'static>,
) -> (Vec<JoinHandle<T>>, Vec<Sleeper>) {
    let (says, said) = std::sync::mpsc::channel();
    let threads = actions.into_iter().map(|action| {
        let (says, action): (_, Box<dyn FnOnce() -> T + Send>) = (says.clone(), Box::new(action));
        thread::spawn(move || {
            says.send(Sleeper::this()).unwrap();
            action()
        })
    });
    let threads: Vec<_> = threads.collect();
    let sleepers = said.iter().take(threads.len()).collect();
    (threads, sleepers)
}

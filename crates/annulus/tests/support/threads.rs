//! The threads of this process.

use std::thread;
use std::time::{Duration, Instant};

/// How many threads this process has whose name begins so.
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) fn threads(name: &str) -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|comm| comm.starts_with(name)).count()
}

#[cfg(not(all(target_os = "linux", not(miri))))]
pub(crate) fn threads(_: &str) -> usize {
    0
}

/// Waits for what comes soon.
pub(crate) fn soon(mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it takes too long");
        thread::sleep(Duration::from_millis(1));
    }
}

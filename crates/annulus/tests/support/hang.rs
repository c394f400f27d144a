//! A test that hangs fails. A thread of this program watches all others. Where one of them, a test's or of a
//! test's making, has been there for too long, it prints where each of them stands, and ends the program: the
//! first line names the test, the traces say what it waits for.
//!
//! The watch begins with the program, so no test has to ask for it: a test program needs nothing but this
//! module. On Linux only; elsewhere, and under Miri, a test that hangs hangs. So does one that runs on the
//! program's first thread (with `--test-threads=1`): how long that has been there says nothing of a test.
//!
//! `ANNULUS_HANG_SECONDS` says how long is too long; 0 means that nobody watches.
#![cfg(all(target_os = "linux", not(miri)))]

use std::backtrace::Backtrace;
use std::collections::HashMap;
use std::fs;
use std::io::{Write, stderr};
use std::process;
use std::string::String;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};
use std::vec::Vec;

/// Longer than any test takes. (An emulator asks for more.)
const LONG: u64 = 300;

/// What the system runs before `main`.
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

extern "C" fn begin() {
    let seconds = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    // A soak takes as long as it was told to.
    let most = seconds("ANNULUS_HANG_SECONDS")
        .unwrap_or_else(|| LONG.max(2 * seconds("ANNULUS_SOAK_SECONDS").unwrap_or(0)));
    if most > 0 {
        // Where there is no thread to be had, the tests will say so.
        let _ =
            thread::Builder::new().name(String::from("hang")).spawn(move || watch(Duration::from_secs(most)));
    }
}

/// A thread, as the system names it: numbers are used again, but not with the same start.
type Thread = (i32, String);

/// The threads of this program, but for its first one (which waits for the tests) and this one.
fn threads() -> Vec<Thread> {
    // SAFETY: it has no precondition.
    let others = [unsafe { libc::getpid() }, unsafe { libc::gettid() }];
    let Ok(folder) = fs::read_dir("/proc/self/task") else {
        return Vec::new();
    };
    let thread = |number: i32| {
        let stat = fs::read_to_string(std::format!("/proc/self/task/{number}/stat")).ok()?;
        // The name is in brackets, and may have spaces; the start is the twentieth after it.
        let start = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?;
        Some((number, String::from(start)))
    };
    folder
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|number| !others.contains(number))
        .filter_map(thread)
        .collect()
}

fn watch(most: Duration) {
    let mut seen = HashMap::<Thread, Instant>::new();
    loop {
        thread::sleep((most / 10).min(Duration::from_secs(5)));
        let now = Instant::now();
        seen = threads()
            .into_iter()
            .map(|thread| (seen.get(&thread).copied().unwrap_or(now), thread))
            .map(|(since, thread)| (thread, since))
            .collect();
        if seen.values().any(|&since| now - since >= most) {
            end(&seen, now, most);
        }
    }
}

/// How many threads have shown where they stand.
static SHOWN: Mutex<usize> = Mutex::new(0);

fn shown() -> usize {
    SHOWN.lock().map_or(0, |count| *count)
}

/// Has each thread that has been there for half of that time say where it stands, and ends the program.
fn end(seen: &HashMap<Thread, Instant>, now: Instant, most: Duration) -> ! {
    // SAFETY: the handler has the type that the system asks for, and comes back.
    unsafe { libc::signal(libc::SIGUSR2, show as extern "C" fn(libc::c_int) as libc::sighandler_t) };
    let mut hanging: Vec<_> = seen.iter().filter(|&(_, &since)| now - since >= most / 2).collect();
    // A test's own thread first, those that it made after it.
    hanging.sort_by_key(|&((number, _), &since)| (since, *number));
    let _ = writeln!(
        stderr(),
        "\nHANGS: a test has not come to its end for {most:?} (ANNULUS_HANG_SECONDS). Threads:"
    );
    for ((number, _), _) in hanging {
        let before = shown();
        // SAFETY: it sends a signal to a thread of this process, if that still is one.
        unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), *number, libc::SIGUSR2) };
        // One that is in the middle of an allocation may never answer.
        let asked = Instant::now();
        while shown() == before && asked.elapsed() < Duration::from_secs(5) {
            thread::sleep(Duration::from_millis(1));
        }
    }
    process::abort();
}

/// On the thread that hangs: its name, which is the test's, and where it stands. It may do what a signal's
/// handler may not, since the program ends in any case.
extern "C" fn show(_: libc::c_int) {
    let thread = thread::current();
    let name = thread.name().unwrap_or("a thread of its making");
    let trace = Backtrace::force_capture();
    let _ = writeln!(stderr(), "\nHANGS: {name}, at\n{trace}");
    if let Ok(mut count) = SHOWN.lock() {
        *count += 1;
    }
}

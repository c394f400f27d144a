//! What processes share: names, descriptors, memory that others made, and what is left when one is killed.
//!
//! ```text
//! child.rs         another process: this program once more, which does what it is told
//! names.rs         names in one process
//! numbers.rs       the numbers of a name, which outlive its publisher
//! directories.rs   which directories are used
//! races.rs         two processes and one name
//! deaths.rs        processes that are killed, stopped, or let go
//! waits.rs         either side may come first
//! descriptors.rs   descriptors through sockets
//! limits.rs        what a process may not have
//! headers.rs       memory that is no ring
//! ```
#![allow(clippy::disallowed_types, reason = "a test")]

mod child;
mod deaths;
mod descriptors;
mod directories;
mod groups;
mod headers;
mod limits;
mod names;
mod numbers;
mod races;
mod waits;

use annulus::shm::Directory;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

/// A folder that is gone with it.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("annulus-shm-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A directory for names in a folder of its own.
pub(crate) fn directory() -> (Scratch, Directory) {
    let scratch = Scratch::new();
    let directory = Directory::open(scratch.path("names")).unwrap();
    (scratch, directory)
}

/// The names of the files in it.
fn files(path: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<_> = fs::read_dir(path).unwrap().map(name).collect();
    names.sort();
    names
}

/// Something to publish: a file in memory with this text.
fn memory(text: &str) -> fs::File {
    use rustix::fs::{MemfdFlags, memfd_create};
    use std::io::Write;

    let mut file = fs::File::from(memfd_create("annulus test", MemfdFlags::CLOEXEC).unwrap());
    file.write_all(text.as_bytes()).unwrap();
    file
}

/// What such a file says, read through a descriptor.
fn text(fd: impl Into<fs::File>) -> String {
    use std::io::{Read, Seek};

    let (mut file, mut text) = (fd.into(), String::new());
    file.rewind().unwrap();
    file.read_to_string(&mut text).unwrap();
    text
}

/// Takes capabilities from this thread, where it has any.
fn forgo(these: rustix::thread::CapabilitySet) {
    use rustix::thread::{capabilities, set_capabilities};

    let mut sets = capabilities(None).unwrap();
    sets.effective.remove(these);
    sets.permitted.remove(these);
    set_capabilities(None, sets).unwrap();
}

/// Waits, and is interrupted by a signal each 100 ms meanwhile. It must end within a minute.
#[track_caller]
pub(crate) fn interrupted<T>(wait: impl FnOnce() -> T) -> T {
    extern "C" fn nothing(_: libc::c_int) {}

    let handler = nothing as extern "C" fn(libc::c_int);
    // SAFETY: it does nothing, and no other test has this signal.
    unsafe { libc::signal(libc::SIGUSR1, handler as libc::sighandler_t) };
    // SAFETY: it only asks.
    let waiting = unsafe { libc::pthread_self() };
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let signals = scope.spawn(|| {
            for _ in 0..600 {
                if is_over.load(Ordering::Relaxed) {
                    return true;
                }
                thread::sleep(Duration::from_millis(100));
                // SAFETY: that thread waits for this one before it ends.
                unsafe { libc::pthread_kill(waiting, libc::SIGUSR1) };
            }
            false
        });
        let told = wait();
        is_over.store(true, Ordering::Relaxed);
        assert!(signals.join().unwrap(), "it has waited for a minute");
        told
    })
}

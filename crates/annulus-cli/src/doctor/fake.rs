//! A machine that a test makes up: a folder with files in place of the system's.

use std::fs;
use std::path::PathBuf;
use std::process;
use std::sync::Mutex;

use super::answers::Answers;
use super::finding::{Finding, Read};
use super::machine::Machine;
use super::root::Root;

/// The folder, removed at the end.
pub(super) struct Fake(PathBuf);

/// How many there have been.
static COUNT: Mutex<usize> = Mutex::new(0);

impl Fake {
    /// A machine of which nothing is known.
    pub(super) fn new() -> Self {
        let mut count = COUNT.lock().unwrap();
        *count += 1;
        let folder = std::env::temp_dir().join(format!("annulus-doctor-{}-{}", process::id(), *count));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    /// And this file.
    pub(super) fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let place = self.root().place(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, content).unwrap();
        self
    }

    /// And a symbolic link.
    pub(super) fn link(self, path: &str, target: &str) -> Self {
        let place = self.root().place(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, place).unwrap();
        self
    }

    /// Where it is.
    pub(super) fn root(&self) -> Root {
        Root::new(Some(self.0.clone()))
    }

    /// The machine, where no call has an answer.
    pub(super) fn machine(&self) -> Machine {
        Machine { answers: Answers::default(), ..Machine::look(Some(self.0.clone())) }
    }

    /// What a check finds there, as one text: `verdict: what is here -> advice`.
    pub(super) fn check(&self, check: impl FnOnce(&Machine) -> Read) -> String {
        said(check(&self.machine()))
    }
}

/// What was read, as one text.
pub(super) fn said(read: Read) -> String {
    let Finding { here, verdict, advice, .. } = Finding::new("", "", read);
    let advice = advice.map(|advice| format!(" -> {advice}")).unwrap_or_default();
    format!("{}: {here}{advice}", verdict.text())
}

impl Drop for Fake {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

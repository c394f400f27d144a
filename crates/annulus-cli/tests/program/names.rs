//! A directory of names, and the commands that use it.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use annulus::shm::Directory;

use crate::support::{Folder, annulus};

/// A directory of names in a folder of the test's own.
pub(crate) struct Names {
    pub(crate) folder: Folder,
    pub(crate) path: PathBuf,
}

impl Names {
    pub(crate) fn new(test: &str) -> Self {
        let folder = Folder::new(test);
        let path = folder.0.join("names");
        Self { folder, path }
    }

    /// A subcommand in this directory, whose output the test reads.
    pub(crate) fn command(&self, subcommand: &str, arguments: &[&str]) -> Command {
        let mut command = annulus(subcommand);
        command.arg("--directory").arg(&self.path).args(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    #[track_caller]
    pub(crate) fn assert_empty(&self) {
        assert!(Directory::open(&self.path).unwrap().list().unwrap().is_empty(), "the name is given back");
    }
}

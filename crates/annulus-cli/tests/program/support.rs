//! What the tests of the program share: a folder of their own, and the command.

#![allow(clippy::disallowed_types, reason = "what it counts is none of the library's atomics")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder for the files of one test, removed at its end.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    /// One for the test of this name.
    pub(crate) fn new(test: &str) -> Self {
        // Tests of several modules have the same name.
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(format!("annulus-{test}-{process}-{number}"));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// A file in it.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// How many files are in it.
    pub(crate) fn count(&self) -> usize {
        fs::read_dir(&self.0).unwrap().count()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// `annulus demo`, to be given arguments.
pub(crate) fn demo() -> Command {
    annulus("demo")
}

/// A subcommand, to be given arguments.
pub(crate) fn annulus(subcommand: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_annulus"));
    // It comes to its end by itself, however busy the machine is.
    command.arg(subcommand).stdin(Stdio::null()).env("ANNULUS_PATIENCE_SECONDS", "60");
    // Nobody but the test says how wide its lines are, and whether they have colours.
    for variable in ["COLUMNS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(variable);
    }
    #[cfg(target_os = "linux")]
    default_signals(&mut command);
    command
}

/// All subcommands, by what the program says of itself.
pub(crate) fn subcommands() -> Vec<String> {
    let help = said(annulus("help"));
    let (_, list) = help.split_once("Commands:\n").unwrap();
    let all = list.lines().take_while(|line| line.starts_with("  "));
    // (What a command is goes on in the next lines, further to the right.)
    let all = all.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    let all: Vec<_> = all.filter(|&name| name != "help").map(String::from).collect();
    assert!(all.len() >= 4, "{all:?} of\n{help}");
    all
}

/// What a subcommand says of itself.
pub(crate) fn help(subcommand: &str) -> String {
    let mut command = annulus(subcommand);
    command.arg("--help");
    said(command)
}

fn said(mut command: Command) -> String {
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

/// Signals end the program, unless it says what else is to come of them: also where the tests run under
/// `nohup`.
#[cfg(target_os = "linux")]
fn default_signals(command: &mut Command) {
    use std::os::unix::process::CommandExt;

    let reset = || {
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM] {
            // SAFETY: the call is safe in a child before `exec`, and sets no handler.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Ok(())
    };
    // SAFETY: it does nothing but these calls.
    unsafe { command.pre_exec(reset) };
}

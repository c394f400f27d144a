//! A test in a process of its own: this program once more, and nothing else in it.

use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// The test that its process was begun for.
const ALONE: &str = "ANNULUS_TEST_ALONE";

/// Goes on where the test has its process to itself. Elsewhere it has the test run in such a process, fails
/// if that fails, and returns from the test.
///
/// For what asks for the state of the whole process, or changes it.
macro_rules! alone {
    () => {
        fn here() {}
        if !crate::support::alone::is_alone(std::any::type_name_of_val(&here)) {
            return;
        }
    };
}
pub(crate) use alone;

/// This program once more, with this test, also if it is ignored.
pub(crate) fn again(test: &str) -> Command {
    let mut program = Command::new(std::env::current_exe().unwrap());
    program.args(["--exact", test, "--include-ignored", "--nocapture"]);
    program
}

/// `here` is a function in the test, with the name of this program before it.
pub(crate) fn is_alone(here: &str) -> bool {
    // One at a time: some of them ask how much of a core they used, or for pages of which the system has few.
    static ONE: Mutex<()> = Mutex::new(());
    let test = here.split_once("::").unwrap().1.rsplit_once("::").unwrap().0;
    if std::env::var(ALONE).is_ok_and(|name| name == test) {
        // Nobody else would end it.
        #[cfg(target_os = "linux")]
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL)).unwrap();
        return true;
    }
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Ok(process) = again(test).env(ALONE, test).stdout(Stdio::piped()).spawn() else {
        return false; // an emulator, which can't begin another program
    };
    let output = process.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    print!("{said}");
    assert!(output.status.success() && said.contains("1 passed"), "{test} in a process of its own");
    false
}

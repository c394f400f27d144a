//! Another program that is busy on the same cores.

use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::cores::{Cores, unpin};

/// A process that spins until this is dropped. It is none of ours, so that its time is not counted as ours.
pub struct BusyProgram(Child);

impl BusyProgram {
    /// Begins one that runs on whichever of `cores` the scheduler gives it.
    ///
    /// # Panics
    ///
    /// If there is no shell: the row would say what was not so.
    pub fn begin(cores: Cores) -> Self {
        thread::scope(|scope| {
            // A process has the cores of the thread that starts it.
            let starter = scope.spawn(move || {
                unpin(cores);
                // The limit is for a bench that ends before its time: nobody would stop the program then.
                let spin = "ulimit -t 60; while :; do :; done";
                Command::new("sh").args(["-c", spin]).stdin(Stdio::null()).stdout(Stdio::null()).spawn()
            });
            let child = starter.join().expect("it does not panic").expect("there is a shell");
            // Until it spins.
            thread::sleep(Duration::from_millis(5));
            Self(child)
        })
    }
}

impl Drop for BusyProgram {
    fn drop(&mut self) {
        // It may have ended by its limit. Its time is counted among this process's children once it was
        // waited for, and so is not taken for that of other programs (`load`).
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

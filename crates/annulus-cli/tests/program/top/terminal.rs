//! In a terminal: what is on it, what keys do, and that it is left as it was.

use std::env::current_exe;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use annulus::Settings;
use annulus::shm::{Directory, Shared, broadcast};
use rustix::fs::{Mode, OFlags, open};
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use crate::foreign::Foreign;
use crate::names::Names;
use crate::running::Running;

/// To another screen and back; the cursor hidden and shown.
const ENTER: &str = "\x1b[?1049h";
const LEAVE: &str = "\x1b[?1049l";
const SHOW_CURSOR: &str = "\x1b[?25h";

/// A terminal of this test's own, and the program in it.
struct Terminal {
    keys: File,
    /// The program's end.
    device: File,
    screen: Receiver<String>,
    seen: String,
    program: Running,
}

impl Terminal {
    fn new(names: &Names, columns: u16, lines: u16) -> Self {
        Self::with(names, &["--interval", "0.2"], columns, lines)
    }

    fn with(names: &Names, arguments: &[&str], columns: u16, lines: u16) -> Self {
        let keys = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&keys).unwrap();
        unlockpt(&keys).unwrap();
        let path = ptsname(&keys, Vec::new()).unwrap();
        let device =
            File::from(open(path, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap());
        let keys = File::from(keys);
        resize(&keys, columns, lines);
        let mut command = names.command("top", arguments);
        let end = || Stdio::from(device.try_clone().unwrap());
        command.stdin(end()).stdout(end()).stderr(end()).env("TERM", "xterm-256color");
        // A job of its own, as a shell makes it: a signal for the job is none for the test.
        let program = Running(command.process_group(0).spawn().unwrap());
        let (sender, screen) = channel();
        let mut reads = keys.try_clone().unwrap();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reads.read(&mut bytes) {
                if sender.send(String::from_utf8_lossy(&bytes[..count]).into_owned()).is_err() {
                    return;
                }
            }
        });
        Self { keys, device, screen, seen: String::new(), program }
    }

    /// Waits until this word is written (only cells that change are). Returns what was written until then.
    #[track_caller]
    fn shows(&mut self, word: &str) -> String {
        let begun = Instant::now();
        while !self.seen.contains(word) {
            assert!(begun.elapsed() < Duration::from_secs(60), "{word:?} is not in {:?}", self.seen);
            if let Ok(more) = self.screen.recv_timeout(Duration::from_millis(100)) {
                self.seen += &more;
            }
        }
        std::mem::take(&mut self.seen)
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until the program has stopped.
    #[track_caller]
    fn stops(&self) {
        let path = format!("/proc/{}/stat", self.program.0.id());
        let begun = Instant::now();
        loop {
            let stat = std::fs::read_to_string(&path).unwrap();
            if stat.contains(") T ") {
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "it does not stop: {stat}");
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Whether lines are put together and echoed, as usual.
    fn is_as_usual(&self) -> bool {
        tcgetattr(&self.device).unwrap().local_modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }

    /// The program's exit code. The terminal is as it was.
    #[track_caller]
    fn ends(mut self) -> i32 {
        let code = self.program.0.wait().unwrap().code().unwrap();
        let is_left = |seen: &str| seen.contains(LEAVE) && seen.contains(SHOW_CURSOR);
        while !is_left(&self.seen) {
            self.seen += &self.screen.recv_timeout(Duration::from_secs(60)).expect("it leaves the screen");
        }
        assert!(self.is_as_usual());
        code
    }
}

fn resize(terminal: impl AsFd, columns: u16, lines: u16) {
    let size = Winsize { ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(terminal, size).unwrap();
}

/// Keys, a new size, and the end by `q`.
#[test]
fn table_is_live_and_leaves_the_terminal_as_it_was() {
    let names = Names::new("live");
    let directory = Directory::open(&names.path).unwrap();
    let mut terminal = Terminal::new(&names, 80, 24);
    assert!(terminal.shows("There").contains(ENTER));
    assert!(!terminal.is_as_usual());
    let Shared { handle: _publisher, invitation, .. } = broadcast::lossy::<u64>(Settings::new(1024)).unwrap();
    let _name = invitation.publish(&directory, "ticks").unwrap();
    terminal.shows("ticks");
    terminal.press("\r");
    // The last line, where the keys are, is written last: nothing of the page before is still to come.
    assert!(terminal.shows("Esc").contains("broadcast"));
    terminal.press("\x1b");
    assert!(terminal.shows("Enter").contains("NAME"));
    terminal.press("/nobody");
    terminal.shows("No");
    terminal.press("\x1b");
    terminal.shows("ticks");
    resize(&terminal.keys, 20, 3);
    terminal.program.signal(Signal::WINCH);
    terminal.shows("ticks");
    terminal.press("q");
    assert_eq!(terminal.ends(), 0);
}

/// The page of the ring that is named, and from there the table.
#[test]
fn name_begins_with_the_page() {
    let names = Names::new("named");
    let directory = Directory::open(&names.path).unwrap();
    let Shared { handle: _publisher, invitation, .. } = broadcast::lossy::<u64>(Settings::new(1024)).unwrap();
    let _name = invitation.publish(&directory, "ticks").unwrap();
    let mut terminal = Terminal::with(&names, &["ticks", "--interval", "0.2"], 80, 24);
    let page = terminal.shows("Esc");
    assert!(page.contains("broadcast") && !page.contains("NAME"), "{page:?}");
    terminal.press("\x1b");
    assert!(terminal.shows("Enter").contains("NAME"));
    terminal.press("q");
    assert_eq!(terminal.ends(), 0);
}

#[test]
fn signals_leave_it_as_it_was_too() {
    let names = Names::new("signals");
    drop(Directory::open(&names.path).unwrap());
    for (signal, code) in [(None, 130), (Some(Signal::INT), 130), (Some(Signal::TERM), 143)] {
        let mut terminal = Terminal::new(&names, 40, 10);
        terminal.shows("There");
        match signal {
            Some(signal) => terminal.program.signal(signal),
            // Ctrl-C.
            None => terminal.press("\x03"),
        }
        assert_eq!(terminal.ends(), code);
    }
}

/// Each look would take two minutes, and no key would be read meanwhile.
#[test]
fn rings_that_do_not_answer_keep_no_key_waiting() {
    let names = Names::new("top-no-answer");
    let Shared { handle: _publisher, invitation, .. } = broadcast::lossy::<u64>(Settings::new(8)).unwrap();
    let foreign = |number| Foreign::new(&names, &invitation, &format!("ring-{number}"), 1);
    let all: Vec<_> = (0..60).map(foreign).collect();
    let begun = Instant::now();
    let mut terminal = Terminal::new(&names, 80, 24);
    terminal.shows("ring-0");
    terminal.press("\r");
    terminal.shows("trouble");
    // It is listed as soon as its process answers.
    thread::spawn(move || {
        loop {
            // (Some have gone again.)
            _ = invitation.send(&all[0].socket.accept().unwrap().0);
        }
    });
    terminal.shows("broadcast");
    terminal.press("q");
    assert_eq!(terminal.ends(), 0);
    assert!(begun.elapsed() < Duration::from_secs(60));
}

/// Its main thread hangs, so it ends without that.
#[test]
fn signals_leave_it_as_it_was_where_it_hangs() {
    let names = Names::new("top-hangs");
    let directory = Directory::open(&names.path).unwrap();
    let Shared { handle: _publisher, invitation, .. } = broadcast::lossy::<u64>(Settings::new(8)).unwrap();
    let _name = invitation.publish(&directory, "ticks").unwrap();
    let mut terminal = Terminal::with(&names, &["ticks", "--interval", "3600"], 80, 24);
    // With the second look. From then on it waits for keys alone.
    terminal.shows("second,");
    let before = terminal.program.sleeps();
    while terminal.program.sleeps() < before + 3 {
        thread::yield_now();
    }
    if !terminal.program.stop_first_thread() {
        eprintln!("skipped: this process may not stop a thread of another one (ptrace)");
        return;
    }
    // With the second one that it notices it does not wait for the thread.
    while terminal.program.0.try_wait().unwrap().is_none() {
        terminal.program.signal(Signal::TERM);
        thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(terminal.ends(), 143);
}

/// A shell has the terminal in between. Of a stop that can't be seen it learns when it goes on.
#[test]
fn a_stop_gives_the_terminal_back() {
    let names = Names::new("stop");
    drop(Directory::open(&names.path).unwrap());
    let mut terminal = Terminal::new(&names, 40, 10);
    terminal.shows("There");
    for key in [true, false] {
        if key {
            terminal.press("\x1a");
        } else {
            terminal.program.signal(Signal::TSTP);
        }
        assert!(terminal.shows(LEAVE).contains(SHOW_CURSOR));
        terminal.stops();
        assert!(terminal.is_as_usual());
        terminal.program.signal(Signal::CONT);
        assert!(terminal.shows("There").contains(ENTER));
        assert!(!terminal.is_as_usual());
    }
    terminal.program.signal(Signal::STOP);
    terminal.stops();
    terminal.program.signal(Signal::CONT);
    assert!(terminal.shows("There").contains(ENTER));
    terminal.press("q");
    assert_eq!(terminal.ends(), 0);
}

/// In a container the shell's session may have no number: it began outside.
#[test]
fn stop_in_a_container_gives_the_terminal_back() {
    let unshared = || {
        let mut command = Command::new("unshare");
        command.args(["--pid", "--fork", "--mount-proc", "--kill-child"]);
        command
    };
    if !unshared().arg("true").status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: only root gives processes numbers of their own (unshare)");
        return;
    }
    let test = "top::terminal::a_stop_gives_the_terminal_back";
    let output = unshared().arg(current_exe().unwrap()).args(["--exact", test]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// It draws a part of it. (Each cell takes memory.)
#[test]
fn terminal_of_any_size_will_do() {
    let names = Names::new("top-large");
    Directory::open(&names.path).unwrap();
    for (columns, lines) in [(65_535, 65_535), (65_535, 1), (1, 65_535)] {
        let mut terminal = Terminal::with(&names, &["--interval", "60"], columns, lines);
        terminal.shows(ENTER);
        terminal.press("q");
        assert_eq!(terminal.ends(), 0, "{columns} × {lines}");
    }
    let mut terminal = Terminal::with(&names, &["--interval", "60"], 80, 24);
    terminal.shows("annulus top");
    resize(&terminal.keys, 65_535, 65_535);
    terminal.shows("annulus top");
    terminal.press("q");
    assert_eq!(terminal.ends(), 0);
}

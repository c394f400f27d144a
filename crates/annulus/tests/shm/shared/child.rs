//! Another process: this program once more, which does what it is told, line by line, and answers each.

use annulus::Settings;
use annulus::shm::{
    Directory, FindError, Fingerprint, Invitation, NameError, NamedRing, PeerState, Shared, ShmKind,
    WhenGone, broadcast, mp_broadcast, spsc,
};
use std::collections::HashMap;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Lines, Write, stdin};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child as Process, ChildStdin, ChildStdout, Command, Stdio, exit};
use std::thread;
use std::time::Duration;

const DIRECTORY: &str = "ANNULUS_SHM_CHILD";
const ANSWER: &str = "answer: ";

/// It is killed when this is dropped.
pub(crate) struct Child {
    process: Process,
    /// Until it is let go.
    orders: Option<ChildStdin>,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Child {
    pub(crate) fn new(directory: &Path) -> Self {
        Self::by(Command::new(env::current_exe().unwrap()), directory).unwrap()
    }

    /// As another user, where that can be.
    pub(crate) fn of_user(user: u32, directory: &Path) -> Option<Self> {
        let mut command = Command::new(env::current_exe().unwrap());
        command.uid(user);
        Self::by(command, directory)
    }

    /// As a user of this group, where that can be.
    pub(crate) fn of_group(user: u32, group: u32, directory: &Path) -> Option<Self> {
        let mut command = Command::new(env::current_exe().unwrap());
        command.uid(user).gid(group);
        Self::by(command, directory)
    }

    /// With process numbers of its own, as in a container, where that can be.
    pub(crate) fn of_container(directory: &Path) -> Option<Self> {
        Self::unshared(&["--pid", "--fork", "--mount-proc", "--kill-child"], directory)
    }

    /// The same, in sight of all processes.
    pub(crate) fn of_numbers(directory: &Path) -> Option<Self> {
        Self::unshared(&["--pid", "--fork", "--kill-child"], directory)
    }

    /// With a clock of its own since the system began, where that can be.
    pub(crate) fn of_time_namespace(directory: &Path) -> Option<Self> {
        Self::unshared(&["--time", "--boottime", "100000"], directory)
    }

    fn unshared(options: &[&str], directory: &Path) -> Option<Self> {
        if !Command::new("unshare").args(options).arg("true").status().is_ok_and(|status| status.success()) {
            return None;
        }
        let mut command = Command::new("unshare");
        command.args(options).arg(env::current_exe().unwrap());
        Self::by(command, directory)
    }

    /// With mounts of its own, which these commands of a shell change before, where that can be.
    pub(crate) fn with_mounts(change: &str, directory: &Path) -> Option<Self> {
        let shell = ["--mount", "sh", "-c"];
        let tried = Command::new("unshare").args(shell).arg(change).status();
        if !tried.is_ok_and(|status| status.success()) {
            return None;
        }
        let mut command = Command::new("unshare");
        command.args(shell).arg(format!("{change} && exec \"$0\" \"$@\"")).arg(env::current_exe().unwrap());
        Self::by(command, directory)
    }

    fn by(mut command: Command, directory: &Path) -> Option<Self> {
        command.args(["--exact", "shared::child::child_plays_its_role", "--nocapture", "--test-threads=1"]);
        command.env(DIRECTORY, directory).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().ok()?;
        let orders = process.stdin.take();
        let answers = BufReader::new(process.stdout.take().unwrap()).lines();
        Some(Self { process, orders, answers })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn tell(&mut self, order: &str) {
        writeln!(self.orders.as_ref().unwrap(), "{order}").unwrap();
    }

    /// `None` if it has ended.
    pub(crate) fn answer(&mut self) -> Option<String> {
        let mut lines = self.answers.by_ref().map_while(Result::ok);
        // The first one comes behind what the test program says of itself.
        lines.find_map(|line| Some(line.split_once(ANSWER)?.1.to_string()))
    }

    pub(crate) fn ask(&mut self, order: &str) -> String {
        self.tell(order);
        self.answer().unwrap_or_else(|| panic!("no answer to {order:?}"))
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(self.pid().try_into().unwrap()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// By `SIGSTOP`. It stands still when this returns.
    pub(crate) fn stop(&self) {
        crate::process::stop(&self.process);
    }

    /// By `SIGKILL`. It stays a zombie until this is dropped.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        // All that it had is closed when its end of the pipe is.
        assert_eq!(self.answer(), None);
    }

    /// The way in which processes usually end.
    pub(crate) fn end(mut self) {
        drop(self.orders.take());
        assert!(self.process.wait().unwrap().success());
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What the process does. In the test program itself it does nothing.
#[test]
fn child_plays_its_role() {
    let Some(path) = env::var_os(DIRECTORY) else { return };
    // (Not the first thread of the process, which may end before.)
    thread::spawn(move || play(&Directory::with_mode(&path, 0o777).unwrap())).join().unwrap();
}

/// Ends the first thread of the process, as `pthread_exit` in `main` does.
fn end_first_thread() {
    extern "C" fn end(_: libc::c_int) {
        // SAFETY: it ends the thread that has the signal, and frees nothing.
        unsafe { libc::syscall(libc::SYS_exit, 0) };
    }

    let first = std::process::id();
    let handler = end as extern "C" fn(libc::c_int);
    // SAFETY: it calls the system only. Nobody else in this process has this signal.
    unsafe { libc::signal(libc::SIGUSR2, handler as libc::sighandler_t) };
    // SAFETY: it sends a signal to the first thread.
    assert_eq!(unsafe { libc::syscall(libc::SYS_tgkill, first, first, libc::SIGUSR2) }, 0);
    // Then it has nothing open any more.
    while fs::read_dir("/proc/self/fd").is_ok_and(|mut open| open.next().is_some()) {
        thread::yield_now();
    }
}

fn play(directory: &Directory) {
    let (mut published, mut rings, mut fellows) = (HashMap::new(), Vec::new(), Vec::new());
    let mut is_first_over = false;
    for order in stdin().lines().map_while(Result::ok) {
        let (verb, name) = order.split_once(' ').unwrap();
        let answer = match verb {
            "publish" => match directory.publish(name, crate::shared::memory(name), fingerprint()) {
                Ok(guard) => {
                    published.insert(name.to_string(), guard);
                    "published".to_string()
                }
                Err(error) => said(&error),
            },
            "drop" => {
                published.remove(name);
                "dropped".to_string()
            }
            "read" => match directory.find(name).and_then(|ring| ring.open_read_only()) {
                Ok(fd) => crate::shared::text(fd),
                Err(error) => said(&error),
            },
            "threads" => {
                // Of this name, with a dash for a space.
                let name = name.replace('-', " ");
                let tasks = fs::read_dir("/proc/self/task").unwrap();
                let names = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok());
                format!("{} of them", names.filter(|comm| comm.trim() == name).count())
            }
            // Another process's ring, once more.
            "again" => {
                let again = directory.find(name).map_err(FindError::from);
                let again = again
                    .and_then(|ring| Invitation::find(&ring)?.publish(directory, &format!("{name}-again")));
                match again {
                    Ok(guard) => {
                        published.insert(format!("{name}-again"), guard);
                        "published".to_string()
                    }
                    Err(error) => format!("error: {error}"),
                }
            }
            // Rings of both kinds of memory, and joins to them.
            "lossy" => {
                let Shared { handle: mut publisher, invitation, .. } =
                    broadcast::lossy::<u64>(Settings::new(8)).unwrap();
                published.insert(name.to_string(), invitation.publish(directory, name).unwrap());
                publisher.publish(7);
                rings.push((Some(publisher), None));
                "published".to_string()
            }
            "mp_lossy" => {
                let builder = mp_broadcast::Builder::new(Settings::new(8)).publishers(2);
                let (mut publisher, name_given) = builder.publish_in::<u64>(directory, name).unwrap();
                published.extend(name_given.map(|guard| (name.to_string(), guard)));
                publisher.publish(9);
                fellows.push(publisher);
                "published".to_string()
            }
            "spsc" => {
                let Shared { handle: mut producer, invitation, .. } =
                    spsc::producer::<u64>(annulus::Settings::new(8), WhenGone::Close).unwrap();
                published.insert(name.to_string(), invitation.publish(directory, name).unwrap());
                producer.send(8).unwrap();
                rings.push((None, Some(producer)));
                "published".to_string()
            }
            "receive" => {
                match directory.find(name).map_err(FindError::from).and_then(|ring| receive(&ring)) {
                    Ok(number) => format!("received {number}"),
                    Err(error) => format!("error: {error}"),
                }
            }
            "protect" => {
                let behavior = rustix::process::DumpableBehavior::NotDumpable;
                rustix::process::set_dumpable_behavior(behavior).unwrap();
                name.to_string()
            }
            "outlive" => {
                end_first_thread();
                is_first_over = true;
                "outlived".to_string()
            }
            // All that it has open, for as long as it lives.
            "close" => {
                for number in 0..4096 {
                    // SAFETY: what has this descriptor is not used any more, nor dropped.
                    unsafe { libc::close(number) };
                }
                loop {
                    thread::park();
                }
            }
            "remove" => match directory.remove(name, false) {
                Ok(()) => "removed".to_string(),
                Err(error) => said(&error),
            },
            "numbers" => match directory.numbering(name) {
                Ok(numbering) => format!("next {}", numbering.next()),
                Err(error) => said(&error),
            },
            // A file, until there is no room for more.
            "fill" => {
                let mut file = fs::File::create(directory.path().join(name)).unwrap();
                while file.write_all(&[7; 512]).is_ok() {}
                "full".to_string()
            }
            "free" => {
                fs::remove_file(directory.path().join(name)).unwrap();
                "free".to_string()
            }
            // Another directory, of that path.
            "open" => match Directory::open(name) {
                Ok(_) => "opened".to_string(),
                Err(error) => format!("error: {error}"),
            },
            // It may not look at other processes any more.
            "weaken" => {
                crate::shared::forgo(rustix::thread::CapabilitySet::SYS_PTRACE);
                name.to_string()
            }
            "wait" => match directory.wait_for(name, Some(Duration::from_secs(60))) {
                Ok(ring) => format!("found {}", ring.process().pid()),
                Err(error) => said(&error),
            },
            // Until it is killed.
            "churn" => loop {
                if let Ok(guard) = directory.publish(name, crate::shared::memory(name), fingerprint()) {
                    drop(guard);
                }
            },
            "exec" => panic!("{}", Command::new("sleep").arg(name).exec()),
            other => panic!("{other}"),
        };
        // At the beginning of a line or behind what the test program says.
        println!("{ANSWER}{answer}");
    }
    if is_first_over {
        // It would wait for this thread, and end the process.
        drop((published, rings, fellows));
        exit(0);
    }
}

/// The first message of a ring, of either kind.
fn receive(ring: &NamedRing) -> Result<u64, FindError> {
    let invitation = Invitation::find(ring)?;
    if invitation.info()?.kind() == ShmKind::Spsc {
        return Ok(spsc::consumer::<u64>(&invitation)?.0.recv().unwrap());
    }
    let accepted = invitation.accept::<u64>()?;
    assert_eq!(accepted.state(), PeerState::Alive);
    Ok(accepted.subscribable().subscribe_from_oldest().recv().unwrap())
}

fn fingerprint() -> Fingerprint {
    Fingerprint::of::<u64>()
}

fn said(error: &NameError) -> String {
    format!("error: {error}")
}

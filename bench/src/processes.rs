//! Other processes of a row: this program, started again, at the two ends of a socket.
//!
//! A child is told what to do through the socket, which is its standard input. Descriptors go the same way,
//! by [`annulus::shm::send_fd`]. It is placed where the other thread would be.
//!
//! None outlives this program: the drop of a [`Child`] ends it, and the kernel does when this program ends in
//! any other way. A child that ends before its time ends this program, with a line that says so; one that
//! hangs is ended with the round (`measure`).

use std::any::type_name;
use std::env;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{self, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::process::{Signal, set_parent_process_death_signal};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::cores::keep_to;
use crate::row::Plan;

/// What this program calls itself with. A test program can't have arguments of its own: it runs one of its
/// tests.
const ARGUMENTS: &[&str] = if cfg!(test) {
    &["rows::tests::process_is_a_child", "--exact", "--ignored", "--nocapture"]
} else {
    &["--child"]
};

/// What a child does.
pub trait Work {
    fn run(parent: Parent);
}

/// How a child finds its work: the name of each, and what does it.
pub type Works = Vec<(&'static str, fn(Parent))>;

/// An entry of [`Works`].
pub fn work<W: Work>() -> (&'static str, fn(Parent)) {
    (type_name::<W>(), W::run)
}

/// What a child is told first.
#[derive(Serialize, Deserialize)]
pub struct Order {
    work: String,
    cores: Vec<usize>,
    pub capacity: usize,
    pub messages: u64,
    /// How many there are.
    pub children: usize,
}

/// A child, as its parent sees it.
pub struct Child {
    process: process::Child,
    pub socket: UnixStream,
    /// It may end.
    over: Arc<AtomicBool>,
}

impl Child {
    /// Starts one of so many that do this work, where the placement has them: mostly on the other core.
    ///
    /// # Panics
    ///
    /// If there is no process to be had.
    pub fn start<W: Work>(plan: &Plan, children: usize) -> Self {
        let order = Order {
            work: type_name::<W>().to_owned(),
            cores: plan.placement.beside(plan.cores),
            capacity: plan.capacity,
            messages: plan.messages,
            children,
        };
        let (socket, its) = UnixStream::pair().expect("there are sockets to be had");
        let mut process = Command::new(env::current_exe().expect("this program is a file"))
            .args(ARGUMENTS)
            .stdin(OwnedFd::from(its))
            .stdout(Stdio::piped())
            .spawn()
            .expect("there are processes to be had");
        let over = Arc::new(AtomicBool::new(false));
        watch(process.stdout.take().expect("it is piped"), Arc::clone(&over), order.work.clone());
        tell(&socket, &order);
        Self { process, socket, over }
    }

    /// Sends it something.
    pub fn tell(&self, what: &impl Serialize) {
        tell(&self.socket, what);
    }

    /// Waits for what it tells.
    pub fn hear<T: DeserializeOwned>(&self) -> T {
        hear(&self.socket).expect("it is there")
    }

    /// Waits for what it tells last, and for its end.
    pub fn last_words<T: DeserializeOwned>(mut self) -> T {
        let words = self.hear();
        self.over.store(true, Ordering::Release);
        self.tell(&());
        let status = self.process.wait().expect("it is a child");
        assert!(status.success(), "a process of the row ended with {status}");
        words
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        // An error where it has ended by itself.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// Ends this program if the child that has the other end of `output` ends too early: a program that polls its
/// messages would poll for ever. (It sleeps all the while.)
fn watch(mut output: ChildStdout, over: Arc<AtomicBool>, work: String) {
    thread::spawn(move || {
        _ = io::copy(&mut output, &mut io::sink());
        if !over.load(Ordering::Acquire) {
            eprintln!("error: a process of the row ended before its time ({work})");
            process::exit(1);
        }
    });
}

/// The parent, as its child sees it.
pub struct Parent {
    pub socket: UnixStream,
    pub order: Order,
}

impl Parent {
    /// Sends it something.
    pub fn tell(&self, what: &impl Serialize) {
        tell(&self.socket, what);
    }

    /// Waits for what it tells.
    pub fn hear<T: DeserializeOwned>(&self) -> T {
        hear(&self.socket).expect("the parent is there")
    }
}

/// What a child does: one of `works`, as its parent says.
pub fn be_a_child(works: &Works) -> Result<(), String> {
    let failed = |error: io::Error| format!("only this program itself starts it so: {error}");
    // First: if the parent has ended before, the socket has ended, too.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| failed(error.into()))?;
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned().map_err(failed)?);
    let order: Order = hear(&socket).map_err(failed)?;
    let found = works.iter().find(|(name, _)| *name == order.work);
    let (_, run) = found.ok_or_else(|| format!("no work {}", order.work))?;
    // As in a round's process.
    annulus::wait::prepare_process();
    keep_to(&order.cores);
    let parent = socket.try_clone().map_err(failed)?;
    run(Parent { socket, order });
    // Not before it has been heard: an end that nobody expects ends the parent.
    hear::<()>(&parent).map_err(failed)
}

/// Its length, and then that.
///
/// # Panics
///
/// If nobody is there any more.
pub fn tell(mut socket: &UnixStream, what: &impl Serialize) {
    let text = serde_json::to_vec(what).expect("it has no odd keys");
    let length = u32::try_from(text.len()).expect("it is short");
    let sent = socket.write_all(&length.to_ne_bytes()).and_then(|()| socket.write_all(&text));
    sent.expect("the other process is there");
}

/// What the other process tells. No byte more is read than that: descriptors may follow.
pub fn hear<T: DeserializeOwned>(mut socket: &UnixStream) -> io::Result<T> {
    let mut length = [0; 4];
    socket.read_exact(&mut length)?;
    let mut text = vec![0; u32::from_ne_bytes(length) as usize];
    socket.read_exact(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::cores::Cores;
    use crate::placement::Placement;
    use crate::rows;
    use std::collections::BTreeSet;
    use std::fs;
    use std::io::{BufRead, BufReader};
    use std::time::{Duration, Instant};

    struct Dies;

    impl Work for Dies {
        fn run(parent: Parent) {
            parent.tell(&process::id());
            panic!("this one dies");
        }
    }

    struct Waits;

    impl Work for Waits {
        fn run(parent: Parent) {
            parent.tell(&process::id());
            parent.tell(&parent.hear::<u64>());
            loop {
                thread::sleep(Duration::from_secs(1));
            }
        }
    }

    pub fn works() -> Works {
        vec![work::<Dies>(), work::<Waits>()]
    }

    fn start<W: Work>() -> (Child, u32) {
        let cores = Cores::all().unwrap();
        let (span, placement) = (Duration::ZERO, Placement::Apart);
        let child = Child::start::<W>(&Plan { capacity: 1, messages: 1, span, cores, placement }, 1);
        let number = child.hear();
        (child, number)
    }

    fn is_alive(process: u32) -> bool {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        // A zombie's parent may be slow.
        stat.rsplit_once(") ").is_some_and(|(_, fields)| !fields.starts_with('Z'))
    }

    fn ends(process: u32) -> bool {
        let begun = Instant::now();
        while is_alive(process) && begun.elapsed() < Duration::from_secs(10) {
            thread::sleep(Duration::from_millis(5));
        }
        !is_alive(process)
    }

    /// This test program once more, as a parent.
    fn parent(test: &str) -> Command {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args([test, "--exact", "--ignored", "--nocapture"]);
        command
    }

    #[test]
    fn child_does_as_it_is_told_and_ends_with_its_handle() {
        let (child, number) = start::<Waits>();
        child.tell(&7_u64);
        assert_eq!(child.hear::<u64>(), 7);
        assert!(is_alive(number));
        drop(child);
        assert!(!is_alive(number));
    }

    #[test]
    #[ignore = "started by the next one"]
    fn parent_has_a_child_that_dies() {
        let (_child, _) = start::<Dies>();
        thread::sleep(Duration::from_secs(60));
    }

    #[test]
    fn child_that_dies_ends_the_round_and_says_so() {
        let begun = Instant::now();
        let output = parent("processes::tests::parent_has_a_child_that_dies").output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("this one dies") && said.contains("before its time"), "{said}");
        assert!(begun.elapsed() < Duration::from_secs(30));
    }

    #[test]
    #[ignore = "started by the next one"]
    fn parent_is_killed() {
        let (_child, number) = start::<Waits>();
        println!("\nchild {number}");
        thread::sleep(Duration::from_secs(60));
    }

    #[test]
    fn no_child_outlives_its_parent() {
        let mut parent = parent("processes::tests::parent_is_killed").stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(parent.stdout.take().unwrap()).lines().map(Result::unwrap);
        let number = lines.find_map(|line| line.strip_prefix("child ")?.parse().ok()).unwrap();
        assert!(is_alive(number));
        parent.kill().unwrap();
        assert!(ends(number));
        parent.wait().unwrap();
    }

    #[test]
    fn no_two_works_have_the_same_name() {
        let works = rows::works();
        let names: BTreeSet<&str> = works.iter().map(|(name, _)| *name).collect();
        assert_eq!(names.len(), works.len());
    }
}

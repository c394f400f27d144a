//! Bridges and publishers that are processes of their own, and are killed.
#![allow(clippy::match_wildcard_for_single_variants, reason = "whatever else is told is a fault")]

mod common;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread;
use std::time::Duration;

use annulus::shm::{Invitation, NamedSubscriber, PeerState, Received, Shared, service, watch};
use annulus_zenoh::{Bridge, Direction};
use common::{Link, Machine, PATIENCE, Tick, is_open, listens_at, read_to_the_end, tick, until};
use rustix::process::{Pid, Signal, kill_process};

/// Is killed with the test.
struct Process(Child);

impl Process {
    fn kill(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// `annulus-bridge` of that machine, for all rings.
fn bridge(machine: &Machine, how: &str, at: SocketAddr) -> Process {
    bridge_with(machine, how, at, &[])
}

/// The same, with these options.
fn bridge_with(machine: &Machine, how: &str, at: SocketAddr, options: &[&str]) -> Process {
    let mut command = Command::new(env!("CARGO_BIN_EXE_annulus-bridge"));
    command.args(["*", "--host", &machine.host, how, &format!("tcp/{at}")]);
    command.args(options).arg("--directory").arg(&machine.path).stdout(Stdio::null());
    Process(command.spawn().unwrap())
}

/// An address where nobody listens.
fn free() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

const PUBLISH_IN: &str = "ANNULUS_ZENOH_PUBLISH_IN";

/// Not a test of its own: publishes in the directory that the variable names, until it is killed.
#[test]
fn publishes_if_the_variable_is_set() {
    let Ok(path) = std::env::var(PUBLISH_IN) else { return };
    let directory = annulus::shm::Directory::open(path).unwrap();
    let settings = annulus::Settings::new(256);
    let Shared { handle: mut publisher, invitation, .. } =
        annulus::shm::broadcast::lossy::<Tick>(settings).unwrap();
    let _name = invitation.publish(&directory, "quotes").unwrap();
    for number in 0.. {
        publisher.publish(tick(number));
        thread::sleep(Duration::from_micros(200));
    }
}

fn publisher(path: &Path) -> Process {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "publishes_if_the_variable_is_set"]).env(PUBLISH_IN, path).stdout(Stdio::null());
    Process(command.spawn().unwrap())
}

/// Receives a while: each message is the one of its number, and each number is received or lost.
fn receive_some(subscriber: &mut NamedSubscriber<Tick>, next: &mut u64, count: u64) {
    let mut left = count;
    while left > 0 {
        match subscriber.recv_timeout(PATIENCE).unwrap().expect("a message") {
            Received::Message(message) => {
                assert_eq!(message, tick(*next));
                *next += 1;
                left -= 1;
            }
            Received::Lagged { skipped, .. } => *next += skipped,
            told => panic!("after message {next}: {told:?}"),
        }
    }
}

/// Waits for the next publisher, and returns how the one before ended, if there was one, and the number of
/// the first message.
fn next_publisher(subscriber: &mut NamedSubscriber<Tick>) -> (Option<PeerState>, u64) {
    let mut end = None;
    loop {
        match subscriber.recv_timeout(PATIENCE).unwrap().expect("a publisher") {
            Received::Ended { state, .. } => end = Some(state),
            Received::Began { .. } => break,
            Received::Message(_) | Received::Lagged { .. } => {}
            told => panic!("{told:?}"),
        }
    }
    loop {
        match subscriber.recv_timeout(PATIENCE).unwrap().expect("a message") {
            Received::Message([number, ..]) => return (end, number + 1),
            // What came while no bridge was there.
            Received::Lagged { .. } => {}
            told => panic!("{told:?}"),
        }
    }
}

#[test]
fn processes_go_on_whichever_is_killed() {
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    let at = free();
    let link = Link::to(at);
    let mut near = bridge(&a, "--listen", at);
    let mut far = bridge(&b, "--connect", link.address);
    let mut publishing = publisher(&a.path);
    let directory = b.directory();
    let mut subscriber = NamedSubscriber::<Tick>::new(&directory, "quotes").unwrap().begin_with_oldest();
    let (_, mut next) = next_publisher(&mut subscriber);
    receive_some(&mut subscriber, &mut next, 200);

    // The bridge that sends: the ring goes on, with the same numbers.
    near.kill();
    thread::sleep(Duration::from_millis(100));
    near = bridge(&a, "--listen", at);
    receive_some(&mut subscriber, &mut next, 2000);

    // The bridge that receives: its ring died with it, and the next one begins.
    far.kill();
    far = bridge(&b, "--connect", link.address);
    let (end, number) = next_publisher(&mut subscriber);
    assert_eq!(end, Some(PeerState::Dead));
    assert!(number >= next, "{number} {next}");
    next = number;
    receive_some(&mut subscriber, &mut next, 200);

    // The publisher: its ring ends here, too, and a new one begins.
    publishing.kill();
    publishing = publisher(&a.path);
    let (end, number) = next_publisher(&mut subscriber);
    assert_eq!(end, Some(PeerState::Closed), "its bridge has told of the end");
    next = number;
    receive_some(&mut subscriber, &mut next, 200);

    // The link, in both directions.
    link.cut();
    thread::sleep(Duration::from_millis(100));
    link.mend();
    receive_some(&mut subscriber, &mut next, 1000);
    drop((near, far, publishing));
}

/// Newest values and a service: each bridge that is killed, and the next one.
#[test]
fn values_and_answers_come_again_whichever_process_is_killed() {
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    let (settings, directory) = (|count| annulus::Settings::new(count), b.directory());
    let Shared { handle: mut sender, invitation, .. } = watch::table::<u64>(settings(4)).unwrap();
    let _prices = invitation.publish(&a.directory(), "prices").unwrap();
    let made = service::Builder::new(settings(2)).build::<u32, u64>().unwrap();
    let (mut server, _service) = (made.handle, made.invitation.publish(&a.directory(), "doubles").unwrap());
    let closer = server.closer();
    let serving = thread::spawn(move || {
        while let Ok(request) = server.recv() {
            let question = u64::from(*request.question());
            _ = request.answer(2 * question);
        }
    });
    let find = |name| Invitation::wait_for(&directory, name, Some(PATIENCE)).unwrap();
    // (A question is refused while a bridge is not there.)
    let ask = |client: &mut service::Client<u32, u64>, question: u32| {
        until("it is answered", || {
            let asked = client.ask(question).ok();
            asked.is_some_and(|mut asked| asked.recv_timeout(PATIENCE) == Ok(2 * u64::from(question)))
        });
    };

    sender.send(1).unwrap();
    // It carries for both, and nothing for itself.
    let c = Machine::new("c");
    let router = Bridge::open(c.config().listen("tcp/127.0.0.1:0")).unwrap();
    let at = listens_at(&router);
    let near = bridge(&a, "--connect", at);
    let mut far = bridge(&b, "--connect", at);
    let values = find("prices").accept_watch::<u64>().unwrap();
    until("it comes", || values.get(0) == Ok(1));
    let mut client = service::client::<u32, u64>(&find("doubles")).unwrap().0;
    ask(&mut client, 1);

    // The bridge that sends. (What it has counted is in the table.)
    drop(near);
    sender.send(2).unwrap();
    let near = bridge(&a, "--connect", at);
    until("the next one sends it", || values.get(0) == Ok(2));
    ask(&mut client, 2);

    // The bridge that receives: what it has made dies with it.
    far.kill();
    until("its table has died", || values.state() == PeerState::Dead);
    assert_eq!(values.get(0), Ok(2), "the last value stays");
    sender.send(3).unwrap();
    let far = bridge(&b, "--connect", at);
    let values = find("prices").accept_watch::<u64>().unwrap();
    until("the next one has the newest", || values.get(0) == Ok(3));
    let mut client = service::client::<u32, u64>(&find("doubles")).unwrap().0;
    ask(&mut client, 3);
    drop((near, far, router));
    closer.close();
    serving.join().unwrap();
}

/// A lossless ring, through a router that is killed, to a bridge that is killed: nothing is missing.
#[test]
fn messages_are_complete_whichever_process_is_killed() {
    let (a, b, c) = (Machine::new("a"), Machine::new("b"), Machine::new("c"));
    let at = free();
    let mut router = bridge(&c, "--listen", at);
    let options = ["--reliable", "--when-down", "hold", "--window", "64KiB"];
    let near = bridge_with(&a, "--connect", at, &options);
    let mut far = bridge_with(&b, "--connect", at, &["--subscribers", "1"]);
    let Shared { handle: mut publisher, invitation, .. } =
        annulus::shm::broadcast::lossless::<Tick>(annulus::Settings::new(64), 4).unwrap();
    let name = invitation.publish(&a.directory(), "quotes").unwrap();
    let subscribe = || {
        let invitation =
            annulus::shm::Invitation::wait_for(&b.directory(), "quotes", Some(PATIENCE)).unwrap();
        invitation.accept_lossless::<Tick>().unwrap().subscribe_from_oldest().unwrap()
    };
    let mut subscriber = subscribe();
    assert!(publisher.wait_for_subscribers_timeout(1, PATIENCE), "the bridge");
    // (On the machine of the router the ring comes in, too, and nobody subscribes there.)
    let publishing = thread::spawn(move || {
        (0..6000).for_each(|number| publisher.publish(tick(number)).unwrap());
        drop((publisher, name));
    });
    (0..1000).for_each(|number| assert_eq!(subscriber.recv_timeout(PATIENCE), Ok(tick(number))));

    router.kill();
    thread::sleep(Duration::from_millis(100));
    router = bridge(&c, "--listen", at);
    (1000..3000).for_each(|number| assert_eq!(subscriber.recv_timeout(PATIENCE), Ok(tick(number))));

    // Its ring dies with it, and the next one begins with what it had not acknowledged, or before.
    far.kill();
    let last = std::iter::from_fn(|| subscriber.recv_timeout(PATIENCE).ok()).last();
    let next = last.map_or(3000, |[number, ..]| number + 1);
    drop(subscriber);
    far = bridge_with(&b, "--connect", at, &["--subscribers", "1"]);
    let mut subscriber = subscribe();
    let begin = subscriber.cursor();
    assert!(begin <= next, "{begin} {next}");
    (begin..6000).for_each(|number| assert_eq!(subscriber.recv_timeout(PATIENCE), Ok(tick(number))));
    assert_eq!(subscriber.recv_timeout(PATIENCE), Err(annulus::RecvTimeoutError::Closed));
    publishing.join().unwrap();
    drop((router, near, far));
}

#[test]
fn signal_ends_the_rings_as_their_end() {
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    let at = free();
    let _near = bridge(&a, "--listen", at);
    let mut command = Command::new(env!("CARGO_BIN_EXE_annulus-bridge"));
    command.args(["quotes", "--host", "b", "--connect", &format!("tcp/{at}"), "--directory"]).arg(&b.path);
    let mut far = Process(command.stderr(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(far.0.stderr.take().unwrap()).lines().map_while(Result::ok);
    let (mut publisher, _name) = a.publish("quotes", 64);
    publisher.publish(tick(0));
    let (mut subscriber, ring) = b.subscribe("quotes");
    assert_eq!(subscriber.recv_timeout(PATIENCE), Ok(tick(0)));
    assert!(lines.next().unwrap().starts_with("bridge of b"), "how it began");
    let mut missing = vec!["connected", "quotes ← a: open, from message "];
    while !missing.is_empty() {
        let line = lines.next().unwrap();
        missing.retain(|part| !line.contains(part));
    }
    _ = Command::new("kill").arg(far.0.id().to_string()).status().unwrap();
    let (received, lagged) = read_to_the_end(&mut subscriber);
    assert_eq!((received, lagged), (1, 0));
    assert_eq!(ring.state(), PeerState::Closed);
    let last = lines.last().unwrap();
    assert!(last.contains("1 messages in 1 samples, 0 lagged"), "{last}");
    until("it has ended", || far.0.try_wait().unwrap().is_some_and(|status| status.success()));
}

/// The threads of this process, by their numbers: the name, and the signals that it blocks (bit `n - 1` is
/// signal `n`).
fn threads() -> BTreeMap<u32, (String, u64)> {
    let read = |thread: std::io::Result<std::fs::DirEntry>| {
        let thread = thread.unwrap();
        // (It may end meanwhile.)
        let status = std::fs::read_to_string(thread.path().join("status")).ok()?;
        let of = |field: &str| status.lines().find_map(|line| line.strip_prefix(field)).map(str::trim);
        let blocked = u64::from_str_radix(of("SigBlk:")?, 16).unwrap();
        Some((thread.file_name().to_str()?.parse().unwrap(), (of("Name:")?.into(), blocked)))
    };
    std::fs::read_dir("/proc/self/task").unwrap().filter_map(read).collect()
}

/// SIGHUP, SIGINT, SIGUSR1 and SIGTERM.
const SIGNALS: u64 = 1 << 0 | 1 << 1 | 1 << 9 | 1 << 14;

/// A program may block them after it has opened a bridge, and wait for them by a descriptor. (It is a process
/// of its own: no other test begins threads there.)
#[test]
fn threads_of_a_bridge_take_no_signals() {
    const ALONE: &str = "ANNULUS_ZENOH_ALONE";
    if std::env::var_os(ALONE).is_none() {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "threads_of_a_bridge_take_no_signals", "--nocapture"]).env(ALONE, "");
        assert!(command.status().unwrap().success());
        return;
    }
    let before = threads();
    let check = || {
        let mut threads = threads();
        threads.retain(|number, _| !before.contains_key(number));
        let takes: Vec<_> = threads.values().filter(|(_, blocked)| blocked & SIGNALS != SIGNALS).collect();
        assert!(takes.is_empty(), "{takes:x?}");
        threads.into_values().map(|(name, _)| name).collect::<Vec<_>>()
    };
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    let Shared { handle: _publisher, invitation, .. } =
        annulus::shm::broadcast::lossless::<Tick>(annulus::Settings::new(64), 4).unwrap();
    let _quotes = invitation.publish(&a.directory(), "quotes").unwrap();
    let made = service::Builder::new(annulus::Settings::new(2)).build::<u32, u64>().unwrap();
    let _doubles = made.invitation.publish(&a.directory(), "doubles").unwrap();
    let near = Bridge::open(a.config().carry("*").listen("tcp/127.0.0.1:0").reliable(true)).unwrap();
    check();
    let far = b.connected(listens_at(&near));
    for name in ["quotes", "doubles"] {
        until("it is carried", || is_open(&far, Direction::In, name));
    }
    assert!(near.connections() > 0);
    let names = check();
    for name in ["annulus bridge", "annulus out", "annulus in", "annulus asks"] {
        assert!(names.iter().any(|found| found == name), "{name} is not in {names:?}");
    }
    drop((near, far));
    check();
}

#[test]
fn missing_arguments_are_named() {
    let said = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_annulus-bridge")).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(said(&["quotes"]).contains("--connect tcp/HOST:7447"));
    assert!(said(&["--scout"]).contains("NAMES"));
    assert!(said(&["quotes", "--connect", "nonsense"]).contains("tcp/192.168.1.7:7447"));
    assert!(said(&["quotes", "--connect", "tcp/a:1", "--linger", "soon"]).contains("--linger"));
    assert!(said(&["quotes", "--connect", "tcp/a:1", "--window", "1MiB"]).contains("--reliable"));
    assert!(said(&["quotes", "--connect", "tcp/a:1", "--reliable", "--window", "much"]).contains("--window"));
}

/// A help that a full disk swallows is no success, for whatever makes a page of it; and an error that can't
/// be said has its code.
#[test]
fn full_disk_is_an_error() {
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let program = || Command::new(env!("CARGO_BIN_EXE_annulus-bridge"));
    for asked in ["--help", "-h", "--version"] {
        let output = program().arg(asked).stdout(full()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{asked}: {said}");
        assert!(said.contains("standard output cannot be written: "), "{asked}: {said}");
    }
    let unsaid = program().arg("quotes").stderr(full()).status().unwrap();
    assert_eq!(unsaid.code(), Some(2));
}

/// A bridge that a shell starts after this, and its standard error.
fn bridge_after(script: &str, machine: &Machine, options: &[&str]) -> (Process, BufReader<ChildStderr>) {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{script}; exec \"$@\""), "sh", env!("CARGO_BIN_EXE_annulus-bridge")]);
    command
        .args(["*", "--listen", "tcp/127.0.0.1:0", "--host", &machine.host, "--directory"])
        .arg(&machine.path);
    let mut child = command.args(options).stderr(Stdio::piped()).spawn().unwrap();
    let said = BufReader::new(child.stderr.take().unwrap());
    (Process(child), said)
}

fn signal(process: &Process, signal: Signal) {
    kill_process(Pid::from_child(&process.0), signal).unwrap();
}

/// As `nohup` has it: the bridge stays when its terminal is gone.
#[test]
fn hangup_that_is_ignored_stays_ignored() {
    let a = Machine::new("a");
    let (mut bridge, mut said) = bridge_after("trap '' HUP", &a, &[]);
    said.read_line(&mut String::new()).unwrap();
    // (The kernel says so of the process itself: a signal that is taken would be no sooner seen.)
    let status = std::fs::read(format!("/proc/{}/status", bridge.0.id())).unwrap();
    let status = String::from_utf8_lossy(&status);
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    assert_eq!(u64::from_str_radix(ignored.trim(), 16).unwrap() & 1, 1, "SIGHUP is not ignored any more");
    signal(&bridge, Signal::HUP);
    signal(&bridge, Signal::TERM);
    assert_eq!(bridge.0.wait().unwrap().code(), Some(0));
}

/// A limit of the process does not kill it.
#[test]
fn bridge_outlives_a_file_that_may_be_no_larger() {
    let a = Machine::new("a");
    let log = a.path.with_extension("log");
    // As large as a file may be. (What the bridge makes in memory is smaller.)
    File::create(&log).unwrap().set_len(8 << 20).unwrap();
    let (mut bridge, _said) =
        bridge_after(&format!("ulimit -f 16384; exec >>'{}'", log.display()), &a, &["--json"]);
    until("it has begun or ended", || {
        bridge.0.try_wait().unwrap().is_some() || a.directory().find("bridge@a").is_ok()
    });
    signal(&bridge, Signal::TERM);
    let status = bridge.0.wait().unwrap();
    let length = log.metadata().unwrap().len();
    _ = std::fs::remove_file(&log);
    assert_eq!((status.code(), length), (Some(0), 8 << 20), "{status}");
}

//! A program in Rust and one in C, over one ring: each side of each kind, all messages by their sum, and what
//! is left when one of the two is killed.
#![cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::{env, fs};

use annulus::Settings;
use annulus::shm::{self, Invitation, PeerState, Shared, WhenGone, mpsc, spsc};
use annulus_c::annulus_status::{self, ANNULUS_CLOSED, ANNULUS_MISMATCH, ANNULUS_OK, ANNULUS_PEER_DIED};
use bytemuck::{Pod, Zeroable};

#[path = "../../annulus/tests/support/hang.rs"]
mod hang;

/// As the program in C has it.
#[derive(Clone, Copy, Debug, PartialEq, annulus::Message)]
#[repr(C)]
struct Quote {
    symbol: u32,
    number: u32,
    price: u32,
}

// SAFETY: three numbers, without padding.
unsafe impl Zeroable for Quote {}
// SAFETY: as above.
unsafe impl Pod for Quote {}

impl Quote {
    fn of(number: u32) -> Self {
        Self { symbol: number % 7, number, price: number.wrapping_mul(2_654_435_761) }
    }
}

const MESSAGES: u32 = 3000;

/// Of the first so many.
fn sum_of(count: u32) -> u64 {
    (0..count).map(Quote::of).fold(0, added)
}

fn added(sum: u64, quote: Quote) -> u64 {
    let all = u64::from(quote.symbol + quote.number) + u64::from(quote.price);
    sum.wrapping_mul(31).wrapping_add(all)
}

/// The program in C, compiled once.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("annulus-c-shared");
        fs::create_dir_all(&scratch).unwrap();
        let program = scratch.join("quotes");
        let libraries = env::current_exe().unwrap().parent().unwrap().to_owned();
        let mut compile = Command::new("cc");
        compile.args(["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-g"]);
        if env::var_os("ANNULUS_SANITIZE").is_some() {
            compile.args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
        }
        compile.arg("-I").arg(folder.join("include")).arg(folder.join("tests/peer/quotes.c"));
        compile.arg(libraries.join("libannulus_c.a")).args([
            "-lpthread",
            "-ldl",
            "-lm",
            "-Wl,-S,--gc-sections",
        ]);
        assert!(compile.arg("-o").arg(&program).status().unwrap().success());
        program
    })
}

/// The program in C, in a role.
struct Peer {
    child: Child,
    socket: UnixStream,
}

impl Peer {
    fn new(role: &str, count: u32, dies: bool) -> Self {
        let (here, there) = UnixStream::pair().unwrap();
        let mut command = Command::new(program());
        command.arg(role).arg(count.to_string()).args(dies.then_some("dies"));
        command.stdin(OwnedFd::from(there)).stdout(Stdio::piped());
        Self { child: command.spawn().unwrap(), socket: here }
    }

    fn invites(&self) -> Invitation {
        Invitation::receive(&self.socket).unwrap()
    }

    fn is_invited(&self, invitation: &Invitation) {
        invitation.send(&self.socket).unwrap();
    }

    /// What it says in the end.
    fn says(self) -> String {
        let output = self.child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// It has received so many messages, and then this.
    fn received(self, count: u32, end: annulus_status) {
        assert_eq!(self.says(), format!("{} {}\n", sum_of(count), end as i32));
    }

    fn was_killed(mut self) {
        use std::os::unix::process::ExitStatusExt;

        assert_eq!(self.child.wait().unwrap().signal(), Some(9));
    }
}

#[test]
fn queue_from_c() {
    let peer = Peer::new("produce", MESSAGES, false);
    let (mut consumer, other) = spsc::consumer::<Quote>(&peer.invites()).unwrap();
    let sum = consumer.iter().fold(0, added);
    assert_eq!((sum, other.state()), (sum_of(MESSAGES), PeerState::Closed));
    peer.received(0, ANNULUS_OK);
}

#[test]
fn queue_to_c() {
    let peer = Peer::new("consume", u32::MAX, false);
    let settings = annulus::Settings::new(10);
    let Shared { handle: mut producer, invitation, .. } =
        spsc::producer::<Quote>(settings, WhenGone::Close).unwrap();
    peer.is_invited(&invitation);
    (0..MESSAGES).for_each(|number| producer.send(Quote::of(number)).unwrap());
    drop(producer);
    peer.received(MESSAGES, ANNULUS_CLOSED);
}

/// Record `number`, as the program in C has it.
fn record_of(number: u32) -> Vec<u8> {
    (0..number * 37 % 201).map(|at| (number * 31 + at) as u8).collect()
}

#[test]
fn records_from_c() {
    for dies in [false, true] {
        let peer = Peer::new("produce records", MESSAGES, dies);
        let (mut consumer, other) = shm::bytes::consumer(&peer.invites()).unwrap();
        for number in 0..MESSAGES {
            assert_eq!(consumer.read().unwrap().to_vec(), record_of(number), "{number}");
        }
        assert!(consumer.read().is_err());
        assert_eq!(other.state(), if dies { PeerState::Dead } else { PeerState::Closed });
        if dies {
            peer.was_killed();
        } else {
            assert_eq!(peer.says(), "0 0\n");
        }
    }
}

#[test]
fn records_to_c() {
    let peer = Peer::new("consume records", u32::MAX, false);
    let settings = annulus::Settings::new(600);
    let Shared { handle: mut producer, invitation, .. } =
        shm::bytes::producer(settings.clone(), WhenGone::Close).unwrap();
    peer.is_invited(&invitation);
    (0..MESSAGES).for_each(|number| producer.write(&record_of(number)).unwrap());
    drop(producer);
    assert_eq!(peer.says(), format!("{MESSAGES} {}\n", ANNULUS_CLOSED as i32));

    // A next consumer goes on behind the last record that the one in C has received.
    let peer = Peer::new("consume records", 5, true);
    let Shared { handle: mut producer, invitation, .. } =
        shm::bytes::producer(settings, WhenGone::Wait).unwrap();
    peer.is_invited(&invitation);
    (0..8).for_each(|number| producer.write(&record_of(number)).unwrap());
    peer.was_killed();
    let (mut next, _) = shm::bytes::consumer(&invitation).unwrap();
    drop(producer);
    for number in 5..8 {
        assert_eq!(next.read().unwrap().to_vec(), record_of(number));
    }
    assert!(next.read().is_err());
}

#[test]
fn queue_of_several_to_c() {
    let peer = Peer::new("collect", 0, false);
    let (mut producer, _) = mpsc::producer::<Quote>(&peer.invites()).unwrap();
    (0..MESSAGES).for_each(|number| producer.send(Quote::of(number)).unwrap());
    drop(producer);
    peer.received(MESSAGES, ANNULUS_CLOSED);
}

#[test]
fn queue_of_several_from_c() {
    let builder = mpsc::Builder::new(annulus::Settings::new(10)).producers(2);
    let builder = builder.when_no_producer(WhenGone::Close);
    let Shared { handle: mut consumer, peers: places, invitation, .. } = builder.build::<Quote>().unwrap();
    // So the queue does not end with the first to leave.
    let (own, _) = mpsc::producer::<Quote>(&invitation).unwrap();
    for dies in [false, true] {
        let peer = Peer::new("join", MESSAGES, dies);
        peer.is_invited(&invitation);
        let sum = (0..MESSAGES).fold(0, |sum, _| added(sum, consumer.recv().unwrap()));
        assert_eq!(sum, sum_of(MESSAGES));
        if dies {
            peer.was_killed();
        } else {
            peer.received(0, ANNULUS_OK);
        }
        assert_eq!((places.taken(), places.died()), (1, u64::from(dies)));
    }
    drop(own);
    assert!(consumer.recv().is_err());
}

#[test]
fn broadcast_ring_from_c() {
    let peer = Peer::new("publish", MESSAGES, false);
    let ring = peer.invites().accept::<Quote>().unwrap();
    let mut subscriber = ring.subscribable().subscribe();
    std::io::Write::write_all(&mut &peer.socket, b"!").unwrap();
    let mut sum = 0;
    while let Ok(quote) = subscriber.recv() {
        sum = added(sum, quote);
    }
    assert_eq!((sum, ring.state()), (sum_of(MESSAGES), PeerState::Closed));
    peer.received(0, ANNULUS_OK);
}

#[test]
fn broadcast_ring_to_c() {
    let peer = Peer::new("subscribe", 0, false);
    let Shared { handle: mut publisher, invitation, .. } =
        shm::broadcast::lossy::<Quote>(Settings::new(4096)).unwrap();
    peer.is_invited(&invitation);
    std::io::Read::read_exact(&mut &peer.socket, &mut [0]).unwrap();
    (0..MESSAGES).for_each(|number| publisher.publish(Quote::of(number)));
    drop(publisher);
    peer.received(MESSAGES, ANNULUS_CLOSED);
}

/// What it had sent is received, what it was about to send is not, and then the death is told.
#[test]
fn program_in_c_is_killed() {
    let peer = Peer::new("produce", 10, true);
    let (mut consumer, other) = spsc::consumer::<Quote>(&peer.invites()).unwrap();
    assert_eq!(consumer.iter().fold(0, added), sum_of(10));
    assert_eq!(other.state(), PeerState::Dead);
    peer.was_killed();

    let peer = Peer::new("publish", 10, true);
    let ring = peer.invites().accept::<Quote>().unwrap();
    let mut subscriber = ring.subscribable().subscribe();
    std::io::Write::write_all(&mut &peer.socket, b"!").unwrap();
    let mut sum = 0;
    while let Ok(quote) = subscriber.recv() {
        sum = added(sum, quote);
    }
    assert_eq!((sum, ring.state()), (sum_of(10), PeerState::Dead));
    peer.was_killed();

    // The next consumer, in Rust, goes on behind what the one in C has received.
    let peer = Peer::new("consume", 4, true);
    let settings = annulus::Settings::new(10);
    let Shared { handle: mut producer, peers: other, invitation, .. } =
        spsc::producer::<Quote>(settings, WhenGone::Wait).unwrap();
    peer.is_invited(&invitation);
    (0..10).for_each(|number| producer.send(Quote::of(number)).unwrap());
    peer.was_killed();
    assert_eq!(other.state(), PeerState::Dead);
    let (mut next, _) = spsc::consumer::<Quote>(&invitation).unwrap();
    drop(producer);
    assert!(next.iter().eq((4..10).map(Quote::of)));
}

/// The other process of a ring that is killed is this program, once more.
const ROLE: &str = "ANNULUS_C_SHARED_ROLE";

/// This test by itself does nothing. As the other process, it sends or publishes some messages, and is
/// killed.
#[test]
fn child_plays_its_role() {
    let Ok(role) = env::var(ROLE) else { return };
    // SAFETY: the parent has made it a socket.
    let socket = UnixStream::from(unsafe { <OwnedFd as std::os::fd::FromRawFd>::from_raw_fd(0) });
    if role == "publish" {
        let Shared { handle: mut publisher, invitation, .. } =
            shm::broadcast::lossy::<Quote>(Settings::new(16)).unwrap();
        invitation.send(&socket).unwrap();
        std::io::Read::read_exact(&mut &socket, &mut [0]).unwrap();
        (0..10).for_each(|number| publisher.publish(Quote::of(number)));
        wait_to_be_killed(&socket);
    }
    let settings = annulus::Settings::new(16);
    let Shared { handle: mut producer, invitation, .. } =
        spsc::producer::<Quote>(settings, WhenGone::Close).unwrap();
    invitation.send(&socket).unwrap();
    (0..10).for_each(|number| producer.send(Quote::of(number)).unwrap());
    wait_to_be_killed(&socket);
}

fn wait_to_be_killed(socket: &UnixStream) -> ! {
    std::io::Write::write_all(&mut &*socket, b"!").unwrap();
    loop {
        std::thread::park();
    }
}

#[test]
fn program_in_rust_is_killed() {
    for (role, of_c) in [("produce", "consume"), ("publish", "subscribe")] {
        let (here, there) = UnixStream::pair().unwrap();
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "child_plays_its_role", "--nocapture"]).env(ROLE, role);
        command.stdin(OwnedFd::from(there)).stdout(Stdio::null());
        let mut rust = command.spawn().unwrap();
        let peer = Peer::new(of_c, u32::MAX, false);
        peer.is_invited(&Invitation::receive(&here).unwrap());
        if role == "publish" {
            std::io::Read::read_exact(&mut &peer.socket, &mut [0]).unwrap();
            std::io::Write::write_all(&mut &here, b"!").unwrap();
        }
        std::io::Read::read_exact(&mut &here, &mut [0]).unwrap();
        rust.kill().unwrap();
        rust.wait().unwrap();
        peer.received(10, ANNULUS_PEER_DIED);
    }
}

/// The program in C says what both sides have.
#[test]
fn mismatch_names_both_sides() {
    let says = |invitation: &Invitation| {
        let peer = Peer::new("mistake", 0, false);
        peer.is_invited(invitation);
        peer.says()
    };
    let ring = || Settings::new(4);
    let mismatch = ANNULUS_MISMATCH as i32;
    let Shared { handle: _type, invitation, .. } = shm::broadcast::lossy::<[u32; 3]>(ring()).unwrap();
    let [found, wanted] = [shm::Fingerprint::of::<[u32; 3]>(), shm::Fingerprint::of::<Quote>()];
    let told = says(&invitation);
    assert!(told.starts_with(&format!("{mismatch} {} {} ", found.to_u64(), wanted.to_u64())), "{told}");
    assert!(told.contains("the message: array of 3 at 0 / the message: struct at 0"), "{told}");
    let settings = annulus::Settings::new(4);
    let Shared { handle: _queue, invitation, .. } =
        spsc::producer::<Quote>(settings, WhenGone::Close).unwrap();
    assert!(says(&invitation).starts_with(&format!("{mismatch} 1 11 ")));
}

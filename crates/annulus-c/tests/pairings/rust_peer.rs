//! As `../peers/peer.c`, in Rust: this test program once more.

use std::io::{Write, stdin, stdout};
use std::path::Path;

use annulus::Settings;
use annulus::shm::{self, Directory, Invitation, PeerState, PublishedName, Shared, WhenGone};
use annulus::{Message, RecvError, Text};

/// What it is to do: its arguments, each in a line.
pub(crate) const ARGUMENTS: &str = "ANNULUS_PEER";

const CAPACITY: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Message)]
#[repr(u8)]
enum Side {
    #[message(name = "buy")]
    Buy,
    #[message(name = "sell")]
    Sell,
}

#[derive(Clone, Copy, Debug, PartialEq, Message)]
#[message(name = "tick")]
#[repr(C)]
struct Tick {
    number: u64,
    check: u64,
    name: Text<4>,
    side: Side,
    live: bool,
}

impl Tick {
    fn of(number: u64) -> Self {
        Self {
            number,
            check: mixed(number),
            name: Text::truncated(["", "EUR", "ßß"][number as usize % 3]),
            side: if number % 2 == 0 { Side::Buy } else { Side::Sell },
            live: number % 5 == 0,
        }
    }
}

pub(crate) fn mixed(number: u64) -> u64 {
    number.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1)
}

/// What the test program prints goes before, without an end of its line.
fn say(line: &str) {
    let mut out = stdout();
    out.write_all(format!("\n{line}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

fn wait_for_the_end() {
    std::io::copy(&mut stdin(), &mut std::io::sink()).unwrap();
}

fn given(invitation: &Invitation, directory: &str, name: &str) -> PublishedName {
    invitation.publish(&Directory::open(Path::new(directory)).unwrap(), name).unwrap()
}

fn send_queue(directory: &str, name: &str, count: u64) {
    let settings = Settings::new(CAPACITY);
    let Shared { handle: mut producer, peers: peer, invitation, .. } =
        shm::spsc::producer::<Tick>(settings, WhenGone::Close).unwrap();
    let _name = given(&invitation, directory, name);
    let refused = (0..count).find(|&number| producer.send(Tick::of(number)).is_err());
    if refused.is_some() {
        assert_eq!(peer.state(), PeerState::Dead);
    }
    say(if refused.is_some() { "died" } else { "sent" });
    wait_for_the_end();
}

fn send_lossy(directory: &str, name: &str, count: u64) {
    let settings = Settings::new(CAPACITY);
    let Shared { handle: mut publisher, peers: _ring, invitation, .. } =
        shm::broadcast::lossy::<Tick>(settings).unwrap();
    let _name = given(&invitation, directory, name);
    (0..count).for_each(|number| publisher.publish(Tick::of(number)));
    say("sent");
    wait_for_the_end();
}

/// Receives up to `count` messages (0: all), and says what came of it.
fn receive(count: u64, mut next: impl FnMut() -> Result<Tick, RecvError>, is_dead: impl FnOnce() -> bool) {
    say("joined");
    let (mut received, mut sum, mut end) = (0, 0_u64, "stopped");
    while count == 0 || received < count {
        let Ok(tick) = next() else {
            end = if is_dead() { "died" } else { "closed" };
            break;
        };
        assert_eq!(tick, Tick::of(received));
        (received, sum) = (received + 1, sum.wrapping_add(tick.check));
    }
    say(&format!("{end} {received} {sum}"));
    wait_for_the_end();
}

#[test]
#[ignore = "a side of the other test"]
fn peer() {
    let Ok(arguments) = std::env::var(ARGUMENTS) else { return };
    let arguments: Vec<_> = arguments.split('\n').collect();
    let [verb, kind, directory, name, count] = arguments[..] else { panic!("{arguments:?}") };
    let count = count.parse().unwrap();
    match (verb, kind) {
        ("send", "queue") => send_queue(directory, name, count),
        ("send", _) => send_lossy(directory, name, count),
        _ => {
            let named = Directory::open(Path::new(directory)).unwrap().wait_for(name, None).unwrap();
            let invitation = Invitation::find(&named).unwrap();
            if kind == "queue" {
                let (mut consumer, peer) = shm::spsc::consumer::<Tick>(&invitation).unwrap();
                receive(count, || consumer.recv(), || peer.state() == PeerState::Dead);
            } else {
                let ring = invitation.accept::<Tick>().unwrap();
                let mut subscriber = ring.subscribable().subscribe_from_oldest();
                receive(count, || subscriber.recv(), || ring.state() == PeerState::Dead);
            }
        }
    }
}

//! What the tests have in common: machines, and a link between them that can be cut.
#![allow(dead_code, unreachable_pub, reason = "each test program uses some of it")]

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use annulus::Settings;
use annulus::broadcast::{Publisher, Subscriber};
use annulus::shm::broadcast::Foreign;
use annulus::shm::{Accepted, Directory, Invitation, PublishedName, Shared, broadcast};
use annulus_zenoh::{Bridge, Config, Direction, Route, RouteState};

/// A message: its number, and what follows from it.
pub type Tick = [u64; 3];

pub fn tick(number: u64) -> Tick {
    [number, !number, number.wrapping_mul(0x9E37_79B9_7F4A_7C15)]
}

/// Long enough for anything that is to happen.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A machine: a name, and a directory of its own.
pub struct Machine {
    pub host: String,
    pub path: PathBuf,
}

impl Machine {
    pub fn new(host: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("annulus-zenoh-{}-{number}-{host}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let machine = Self { host: host.into(), path };
        machine.directory();
        machine
    }

    pub fn directory(&self) -> Directory {
        Directory::open(&self.path).unwrap()
    }

    pub fn config(&self) -> Config {
        Config::new().host(&self.host).directory(self.directory())
    }

    /// A bridge for all rings, which listens.
    pub fn listening(&self) -> (Bridge, SocketAddr) {
        let bridge = Bridge::open(self.config().carry("*").listen("tcp/127.0.0.1:0")).unwrap();
        let at = listens_at(&bridge);
        (bridge, at)
    }

    /// A bridge for all rings, which connects.
    pub fn connected(&self, to: SocketAddr) -> Bridge {
        Bridge::open(self.config().carry("*").connect(&format!("tcp/{to}"))).unwrap()
    }

    pub fn publish(&self, name: &str, capacity: usize) -> (Publisher<Tick>, PublishedName) {
        let Shared { handle: publisher, invitation, .. } =
            broadcast::lossy::<Tick>(Settings::new(capacity)).unwrap();
        let name = invitation.publish(&self.directory(), name).unwrap();
        (publisher, name)
    }

    /// Waits for the ring, and reads it from its first message on.
    pub fn subscribe(&self, name: &str) -> (Subscriber<Tick, Foreign>, Accepted<Tick>) {
        let invitation = Invitation::wait_for(&self.directory(), name, Some(PATIENCE)).unwrap();
        let ring = invitation.accept::<Tick>().unwrap();
        (ring.subscribable().subscribe_from_oldest(), ring)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.path);
    }
}

pub fn listens_at(bridge: &Bridge) -> SocketAddr {
    bridge.listens_at()[0].strip_prefix("tcp/").unwrap().parse().unwrap()
}

/// Waits until that is so.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "in vain: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

pub fn route(bridge: &Bridge, direction: Direction, name: &str) -> Option<Route> {
    bridge.routes().into_iter().find(|route| route.direction == direction && route.name == name)
}

/// Waits until the bridge says that of this route. (What it says may be a moment old.)
pub fn until_route(bridge: &Bridge, direction: Direction, name: &str, is_so: impl Fn(&Route) -> bool) {
    let begun = Instant::now();
    loop {
        let route = route(bridge, direction, name);
        if route.as_ref().is_some_and(&is_so) {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "in vain: {route:?}");
        thread::sleep(Duration::from_millis(5));
    }
}

pub fn is_open(bridge: &Bridge, direction: Direction, name: &str) -> bool {
    route(bridge, direction, name).is_some_and(|route| route.state == RouteState::Open)
}

/// Reads a ring to its end. Each message has the number that it says, and none is missing without a word.
/// Returns how many came, and how many were lost.
pub fn read_to_the_end(subscriber: &mut Subscriber<Tick, Foreign>) -> (u64, u64) {
    let begun = Instant::now();
    loop {
        match subscriber.recv_timeout(Duration::from_secs(5)) {
            Ok(message) => assert_eq!(message, tick(subscriber.cursor() - 1)),
            Err(annulus::RecvTimeoutError::Closed) => {
                return (subscriber.total_received(), subscriber.total_lagged());
            }
            Err(annulus::RecvTimeoutError::Timeout) => {
                assert!(begun.elapsed() < PATIENCE, "no end after message {}", subscriber.cursor());
            }
        }
    }
}

/// A link between two machines that can be cut: connections to `address` go on to another one.
pub struct Link {
    pub address: SocketAddr,
    open: Arc<Mutex<Vec<TcpStream>>>,
    is_cut: Arc<AtomicBool>,
    /// To the other address, and back.
    stands_still: [Arc<AtomicBool>; 2],
    /// In milliseconds.
    delay: Arc<AtomicU32>,
}

impl Link {
    pub fn to(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let open = Arc::new(Mutex::new(Vec::new()));
        let is_cut = Arc::new(AtomicBool::new(false));
        let (stands_still, delay) = ([Arc::default(), Arc::default()], Arc::default());
        let (ends, cut, still) = (Arc::clone(&open), Arc::clone(&is_cut), stands_still.clone());
        let late = Arc::clone(&delay);
        thread::spawn(move || {
            for near in listener.incoming() {
                let Ok(near) = near else { continue };
                if cut.load(Ordering::SeqCst) {
                    continue;
                }
                let Ok(far) = TcpStream::connect(target) else { continue };
                let mut ends = ends.lock().unwrap();
                for ((from, to), still) in [(&near, &far), (&far, &near)].into_iter().zip(&still) {
                    ends.push(from.try_clone().unwrap());
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    forward(from, to, Arc::clone(still), Arc::clone(&late));
                }
            }
        });
        Self { address, open, is_cut, stands_still, delay }
    }

    /// Ends all connections. New ones are refused until it is [mended](Self::mend).
    pub fn cut(&self) {
        self.is_cut.store(true, Ordering::SeqCst);
        for end in self.open.lock().unwrap().drain(..) {
            _ = end.shutdown(Shutdown::Both);
        }
    }

    /// Whether nothing comes through, although the connections are there: to the other address, and back.
    pub fn stand_still(&self, directions: [bool; 2]) {
        for (still, is_so) in self.stands_still.iter().zip(directions) {
            still.store(is_so, Ordering::SeqCst);
        }
    }

    /// From here on, what is read at once comes in two halves, each of them that late.
    pub fn delay(&self, milliseconds: u32) {
        self.delay.store(milliseconds, Ordering::SeqCst);
    }

    pub fn mend(&self) {
        self.is_cut.store(false, Ordering::SeqCst);
    }
}

fn forward(mut from: TcpStream, mut to: TcpStream, stands_still: Arc<AtomicBool>, delay: Arc<AtomicU32>) {
    thread::spawn(move || {
        let mut bytes = [0; 16 * 1024];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            while stands_still.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(1));
            }
            let delay = Duration::from_millis(delay.load(Ordering::SeqCst).into());
            let (first, second) =
                bytes[..count].split_at(if delay.is_zero() { count } else { count.div_ceil(2) });
            thread::sleep(delay);
            if to.write_all(first).is_err() {
                break;
            }
            thread::sleep(delay);
            // (An empty write does nothing.)
            if to.write_all(second).is_err() {
                break;
            }
        }
        _ = from.shutdown(Shutdown::Both);
        _ = to.shutdown(Shutdown::Both);
    });
}

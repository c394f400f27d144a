//! What a bridge costs beside Zenoh itself: one publisher and one subscriber of Zenoh, which wait for each
//! other (`Block`), and ring to ring through two bridges, in turns, on the loopback interface. The rings are
//! lossy ones, whose publisher waits for nobody; and lossless ones, with `reliable`. Latency at a thousand
//! messages a second, and the rate of as many as there can be; 64 bytes each. Each end is a process of its
//! own; the bridges are in the processes of the ends.
//!
//! ```sh
//! cargo run --release --example measure
//! ```
#![allow(
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "times since the machine began, and parts of how many there are"
)]

use std::any::Any;
use std::env::{args, current_exe};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use annulus::Settings;
use annulus::shm::{Directory, Invitation, Shared, broadcast};
use annulus_zenoh::{Bridge, Config};
use zenoh::Wait;
use zenoh::qos::CongestionControl;

/// A number, the time when it was published, and what makes it 64 bytes.
type Message = [u64; 8];

/// Each has so many.
const ROUNDS: usize = 7;
const PACED: u64 = 1000;
const CONTENDERS: [&str; 3] = ["zenoh", "lossy", "lossless"];
/// Of a ring.
const CAPACITY: usize = 65536;
/// Between two messages of a ring that is to be as fast as a bridge.
const PAUSES: u32 = 3;
const TIME: Duration = Duration::from_secs(1);

fn now() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

fn main() {
    let arguments: Vec<_> = args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("publish") => publish(&arguments[2], &arguments[3], arguments[4] == "flood"),
        _ => measure(),
    }
}

/// The publisher's process, until it is killed.
fn publish(what: &str, at: &str, flood: bool) {
    let mut put: Box<dyn FnMut(Message)>;
    let session;
    let bridge;
    if what == "zenoh" {
        let mut config = zenoh::Config::default();
        config.insert_json5("scouting/multicast/enabled", "false").unwrap();
        config.insert_json5("listen/endpoints", &format!("[\"{at}\"]")).unwrap();
        session = zenoh::open(config).wait().unwrap();
        let publisher =
            session.declare_publisher("measure").congestion_control(CongestionControl::Block).wait().unwrap();
        put = Box::new(move |message| publisher.put(bytemuck::bytes_of(&message)).wait().unwrap());
    } else if what == "lossless" {
        let path = std::env::temp_dir().join("annulus-measure-near");
        let directory = Directory::open(&path).unwrap();
        let Shared { handle: mut publisher, invitation, .. } =
            broadcast::lossless::<Message>(Settings::new(CAPACITY), 1).unwrap();
        let name = invitation.publish(&directory, "measure").unwrap();
        let config = Config::new().host("near").send("measure").reliable(true);
        bridge = Bridge::open(config.directory(directory).listen(at)).unwrap();
        assert!(publisher.wait_for_subscribers(1));
        put = Box::new(move |message| {
            let _ = (&name, &bridge);
            publisher.publish(message).unwrap();
        });
    } else {
        let path = std::env::temp_dir().join("annulus-measure-near");
        let directory = Directory::open(&path).unwrap();
        let Shared { handle: mut publisher, invitation, .. } =
            broadcast::lossy::<Message>(Settings::new(CAPACITY)).unwrap();
        let name = invitation.publish(&directory, "measure").unwrap();
        bridge =
            Bridge::open(Config::new().host("near").send("measure").directory(directory).listen(at)).unwrap();
        put = Box::new(move |message| {
            let _ = (&name, &bridge);
            publisher.publish(message);
        });
    }
    let begun = Instant::now();
    for number in 0.. {
        if !flood {
            let due = Duration::from_nanos(number * 1_000_000_000 / PACED);
            thread::sleep(due.saturating_sub(begun.elapsed()));
        } else if what == "lossy" {
            // A ring never waits: it would be lapped all the time.
            (0..PAUSES).for_each(|_| std::hint::spin_loop());
        }
        let mut message = [number; 8];
        message[1] = now();
        put(message);
    }
}

struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

fn publisher(what: &str, at: &str, how: &str) -> Process {
    let mut command = Command::new(current_exe().unwrap());
    Process(command.args(["publish", what, at, how]).stdout(Stdio::null()).spawn().unwrap())
}

fn measure() {
    println!("{:8} {:>10} {:>10} {:>14} {:>10}", "", "p50 µs", "p99 µs", "messages/s", "lost");
    let mut all = [const { Vec::new() }; CONTENDERS.len()];
    for _ in 0..ROUNDS {
        for (what, results) in CONTENDERS.into_iter().zip(&mut all) {
            let (mut latencies, ..) = receive(what, "paced");
            latencies.sort_unstable();
            let at = |part: f64| latencies[(latencies.len() as f64 * part) as usize] as f64 / 1000.0;
            let (_, rate, lost) = receive(what, "flood");
            println!("{what:8} {:10.1} {:10.1} {rate:14.0} {lost:10}", at(0.5), at(0.99));
            results.push([at(0.5), at(0.99), rate]);
        }
    }
    for (name, which) in ["p50", "p99", "messages/s"].into_iter().zip(0..) {
        let median = |results: &Vec<[f64; 3]>| {
            let mut values: Vec<_> = results.iter().map(|result| result[which]).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        for (what, results) in CONTENDERS.iter().zip(&all).skip(1) {
            println!("{name}: {what} ring to ring / zenoh = {:.2}", median(results) / median(&all[0]));
        }
    }
}

/// Latencies in ns, messages in a second, and how many were lost.
fn receive(what: &str, how: &str) -> (Vec<u64>, f64, u64) {
    let at = format!("tcp/{}", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
    let path = std::env::temp_dir().join("annulus-measure-near");
    _ = std::fs::remove_dir_all(&path);
    let _publisher = publisher(what, &at, how);
    let Reader { mut next, _rest } = match what {
        "zenoh" => of_zenoh(&at),
        what => of_ring(&at, what == "lossless"),
    };
    next();
    let warm = Instant::now();
    while warm.elapsed() < Duration::from_millis(200) {
        next();
    }
    let (mut latencies, mut count, mut lost) = (Vec::new(), 0_u64, 0);
    let mut expected = next()[0] + 1;
    let begun = Instant::now();
    while begun.elapsed() < TIME {
        let [number, time, ..] = next();
        latencies.push(now() - time);
        lost += number - expected;
        expected = number + 1;
        count += 1;
    }
    let rate = count as f64 / begun.elapsed().as_secs_f64();
    (latencies, rate, lost)
}

/// Reads messages.
struct Reader {
    next: Box<dyn FnMut() -> Message>,
    /// Keeps them coming.
    _rest: Box<dyn Any>,
}

fn of_zenoh(at: &str) -> Reader {
    let mut config = zenoh::Config::default();
    let mut set = |key: &str, value: &str| config.insert_json5(key, value).unwrap();
    set("scouting/multicast/enabled", "false");
    set("listen/endpoints", "[]");
    set("connect/endpoints", &format!("[\"{at}\"]"));
    set("connect/retry", "{ period_init_ms: 50, period_max_ms: 100, period_increase_factor: 1 }");
    let session = zenoh::open(config).wait().unwrap();
    let subscriber = session.declare_subscriber("measure").wait().unwrap();
    let next = move || {
        let sample = subscriber.recv().unwrap();
        bytemuck::pod_read_unaligned(&sample.payload().to_bytes())
    };
    Reader { next: Box::new(next), _rest: Box::new(session) }
}

fn of_ring(at: &str, is_lossless: bool) -> Reader {
    let path = std::env::temp_dir().join("annulus-measure-far");
    _ = std::fs::remove_dir_all(&path);
    let config = Config::new().host("far").receive("measure").directory(Directory::open(&path).unwrap());
    let config = config.subscribers(1);
    let bridge = Bridge::open(config.connect(at)).unwrap();
    let directory = Directory::open(&path).unwrap();
    let invitation = Invitation::wait_for(&directory, "measure", None).unwrap();
    if is_lossless {
        let ring = invitation.accept_lossless::<Message>().unwrap();
        let mut subscriber = ring.subscribe().unwrap();
        return Reader {
            next: Box::new(move || subscriber.recv().unwrap()),
            _rest: Box::new((ring, bridge)),
        };
    }
    let ring = invitation.accept::<Message>().unwrap();
    let mut subscriber = ring.subscribable().subscribe();
    Reader { next: Box::new(move || subscriber.recv().unwrap()), _rest: Box::new(bridge) }
}

//! What many rings cost, and many hosts: memory, bytes on the network, and the time until all are known.
//! First with sessions of Zenoh alone: each is a client of one router, declares what a bridge declares for
//! its rings, and listens to the tokens of the rings that it wants, as a bridge does. Then with two bridges.
//!
//! ```sh
//! cargo run --release --example scale    # or: -- zenoh, -- bridges
//! ```
#![allow(clippy::cast_precision_loss, reason = "sizes and times, to be divided")]

use std::env::{args, current_exe};
use std::fs::read_to_string;
use std::io::{BufRead, BufReader, Read, Write, stdin};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use annulus::Settings;
use annulus::shm::{Directory, Shared, broadcast};
use annulus_zenoh::{Bridge, Config, Direction, RouteState};
use zenoh::qos::CongestionControl;
use zenoh::sample::Sample;
use zenoh::{Session, Wait};

/// Of the messages of the rings that bridges carry, and how many a ring has.
type Message = [u64; 3];
const CAPACITY: usize = 64;
/// How long two bridges are watched while nothing is published.
const IDLE: Duration = Duration::from_secs(5);

fn main() {
    let arguments: Vec<_> = args().skip(1).collect();
    let texts: Vec<_> = arguments.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse().unwrap();
    match texts[..] {
        ["router"] => router(),
        ["hosts", at, count, rings, of, all] => {
            hosts(at, number(count), number(rings), number(of), number(all));
        }
        ["near", rings] => near(number(rings)),
        ["far", at, rings] => far(at, number(rings)),
        ["zenoh"] => zenoh_alone(),
        ["bridges"] => two_bridges(),
        _ => {
            zenoh_alone();
            two_bridges();
        }
    }
}

// The processes. Each says a line when it is ready, and then its memory, its threads and its time on
// processors as often as it is asked.

fn ready(said: &str) {
    println!("{said}");
    for _ in stdin().lines() {
        let status = read_to_string("/proc/self/status").unwrap();
        let of = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name)).unwrap();
            line.split_whitespace().nth(1).unwrap().to_string()
        };
        let stat = read_to_string("/proc/self/stat").unwrap();
        let times: Vec<_> = stat.rsplit_once(')').unwrap().1.split_whitespace().skip(11).take(2).collect();
        println!("{} {} {} {}", of("VmRSS"), of("Threads"), times[0], times[1]);
    }
}

fn open(mode: &str, what: &str, at: &str) -> Session {
    let mut config = zenoh::Config::default();
    let mut set = |key: &str, value: &str| config.insert_json5(key, value).unwrap();
    set("mode", &format!("\"{mode}\""));
    set("scouting/multicast/enabled", "false");
    set("scouting/delay", "0");
    set("timestamping/enabled", "false");
    set("listen/endpoints", "[]");
    // (Of the router. By default they are 1,000.)
    set("transport/unicast/max_sessions", "2000");
    set(&format!("{what}/endpoints"), &format!("[\"tcp/{at}\"]"));
    zenoh::open(config).wait().unwrap()
}

fn router() {
    let session = open("router", "listen", "127.0.0.1:0");
    ready(session.info().locators().wait()[0].to_string().strip_prefix("tcp/").unwrap());
}

/// So many hosts that have so many rings each, and want those `of` so many others, or all (0). It is ready
/// when each host has heard of all rings that it wants, which are so many.
fn hosts(at: &str, hosts: usize, rings: usize, of: usize, all: usize) {
    let begun = Instant::now();
    let (mut sessions, mut declared) = (Vec::new(), Vec::new());
    let heard: Vec<_> = (0..hosts).map(|_| Arc::new(AtomicUsize::new(0))).collect();
    for (host, heard) in heard.iter().enumerate() {
        let session = open("client", "connect", at);
        let hear = Arc::clone(heard);
        let own = format!("annulus/host-{host:04}/");
        let told = move |token: Sample| {
            if rings == 0 || !token.key_expr().as_str().starts_with(&own) {
                hear.fetch_add(1, Ordering::Relaxed);
            }
        };
        let keys = match of {
            0 => vec!["annulus/*/*/@live/*".to_string()],
            of => (1..=of)
                .map(|next| format!("annulus/host-{:04}/*/@live/*", (host + next) % hosts.max(of + 1)))
                .collect(),
        };
        for key in keys {
            let wanted = session.liveliness().declare_subscriber(key);
            wanted.history(true).callback(told.clone()).background().wait().unwrap();
        }
        for ring in 0..rings {
            let key = format!("annulus/host-{host:04}/ring-{ring:05}");
            let publisher =
                session.declare_publisher(key.clone()).congestion_control(CongestionControl::Drop);
            let publisher = publisher.wait().unwrap();
            let queryable =
                session.declare_queryable(format!("{key}/@ring")).callback(|_| ()).wait().unwrap();
            publisher.matching_listener().callback(|_| ()).background().wait().unwrap();
            let token =
                session.liveliness().declare_token(format!("{key}/@live/{ring:016x}")).wait().unwrap();
            declared.push((publisher, queryable, token));
        }
        sessions.push(session);
    }
    while heard.iter().any(|heard| heard.load(Ordering::Relaxed) < all) {
        assert!(begun.elapsed() < Duration::from_secs(300), "not all came: {heard:?} of {all}");
        thread::sleep(Duration::from_millis(1));
    }
    ready(&format!("{:.2}", begun.elapsed().as_secs_f64()));
}

fn directory(of: &str) -> Directory {
    let path = std::env::temp_dir().join(format!("annulus-scale-{of}"));
    _ = std::fs::remove_dir_all(&path);
    Directory::open(path).unwrap()
}

fn near(rings: usize) {
    let names = directory("near");
    let publish = |ring| {
        let Shared { handle: publisher, invitation, .. } =
            broadcast::lossy::<Message>(Settings::new(CAPACITY)).unwrap();
        (publisher, invitation.publish(&names, &format!("ring-{ring:05}")).unwrap())
    };
    let _rings: Vec<_> = (0..rings).map(publish).collect();
    let config = Config::new().host("near").send("*").listen("tcp/127.0.0.1:0");
    let bridge = Bridge::open(config.directory(Directory::open(names.path()).unwrap())).unwrap();
    while are_open(&bridge, Direction::Out) < rings {
        thread::sleep(Duration::from_millis(1));
    }
    ready(bridge.listens_at()[0].strip_prefix("tcp/").unwrap());
}

fn far(at: &str, rings: usize) {
    let config = Config::new().host("far").receive("*").most_rings(rings).directory(directory("far"));
    let begun = Instant::now();
    let bridge = Bridge::open(config.connect(&format!("tcp/{at}"))).unwrap();
    while are_open(&bridge, Direction::In) < rings {
        thread::sleep(Duration::from_millis(1));
    }
    ready(&format!("{:.3}", begun.elapsed().as_secs_f64()));
}

fn are_open(bridge: &Bridge, direction: Direction) -> usize {
    let is_it =
        |route: &&annulus_zenoh::Route| route.direction == direction && route.state == RouteState::Open;
    bridge.routes().iter().filter(is_it).count()
}

/// One of these processes, which ends with this value.
struct Host {
    child: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// What a process takes.
struct Usage {
    bytes: f64,
    threads: u64,
    /// In seconds.
    processor: f64,
}

impl Host {
    /// Begins it, and returns what it says when it is ready.
    fn begin(arguments: &[&str]) -> (Self, String) {
        let mut host = Self::start(arguments);
        let said = host.line();
        (host, said)
    }

    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(current_exe().unwrap());
        let mut child = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (ask, answers) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, ask, answers }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        line.trim_end().into()
    }

    fn usage(&mut self) -> Usage {
        writeln!(self.ask).unwrap();
        let line = self.line();
        let numbers: Vec<u64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        // (A tick of the kernel's clock is 10 ms on every machine that rings are on.)
        let processor = (numbers[2] + numbers[3]) as f64 / 100.0;
        Usage { bytes: numbers[0] as f64 * 1024.0, threads: numbers[1], processor }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// A link to that address, which counts the bytes of both directions.
struct Link {
    at: String,
    bytes: Arc<AtomicU64>,
}

impl Link {
    fn to(target: &str) -> Self {
        let target: SocketAddr = target.parse().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let link = Self { at: listener.local_addr().unwrap().to_string(), bytes: Arc::default() };
        let bytes = Arc::clone(&link.bytes);
        thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                let far = TcpStream::connect(target).unwrap();
                for (from, to) in [(&near, &far), (&far, &near)] {
                    forward(from.try_clone().unwrap(), to.try_clone().unwrap(), Arc::clone(&bytes));
                }
            }
        });
        link
    }

    fn bytes(&self) -> f64 {
        self.bytes.load(Ordering::Relaxed) as f64
    }
}

fn forward(mut from: TcpStream, mut to: TcpStream, bytes: Arc<AtomicU64>) {
    thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            bytes.fetch_add(count as u64, Ordering::Relaxed);
            if to.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
    });
}

fn say_machine() {
    let cpu = read_to_string("/proc/cpuinfo").unwrap();
    let cpu = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or(": unknown");
    println!(
        "{}, {} cores",
        cpu.trim_start_matches([' ', '\t', ':']),
        thread::available_parallelism().unwrap()
    );
}

fn zenoh_alone() {
    say_machine();
    println!(
        "\nZenoh alone: hosts that want the rings of all others or of some, and then one more host that only listens"
    );
    println!(
        "| hosts | rings | each wants those of | all know them, in s | of the router's processor, s | memory of the router, MB | of a host, MB | network, kB a host | one more host: knows them, in s | network, bytes a ring | memory, MB |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let cases = [
        (0, 0, 0),
        (1, 10, 0),
        (1, 100, 0),
        (1, 1000, 0),
        (10, 10, 0),
        (30, 10, 0),
        (60, 10, 0),
        (10, 10, 2),
        (30, 10, 2),
        (60, 10, 2),
        (120, 10, 2),
        (1000, 10, 2),
    ];
    for (hosts, rings_each, of) in cases {
        let rings = hosts * rings_each;
        let wanted = if of == 0 { "all".into() } else { of.to_string() };
        let (of_others, of_listener) =
            if of == 0 { (rings - rings_each, rings) } else { (of * rings_each, of * rings_each) };
        let [hosts, rings_each] = [hosts, rings_each].map(f64::from);
        let (mut router, at) = Host::begin(&["router"]);
        let (to, from) = (Link::to(&at), Link::to(&at));
        let begin = |at: &str, arguments: [f64; 4]| {
            let [hosts, rings, of, all] = arguments.map(|number| number.to_string());
            Host::begin(&["hosts", at, &hosts, &rings, &of, &all])
        };
        let (mut of_all, known) = begin(&to.at, [hosts, rings_each, f64::from(of), f64::from(of_others)]);
        let (usage, sent) = (router.usage(), to.bytes());
        let (mut listener, heard) = begin(&from.at, [1.0, 0.0, f64::from(of), f64::from(of_listener)]);
        println!(
            "| {hosts} | {rings} | {wanted} | {known} | {:.1} | {:.1} | {:.1} | {:.1} | {heard} | {:.0} | {:.1} |",
            usage.processor,
            usage.bytes / 1e6,
            of_all.usage().bytes / hosts.max(1.0) / 1e6,
            sent / hosts.max(1.0) / 1e3,
            from.bytes() / f64::from(of_listener).max(1.0),
            listener.usage().bytes / 1e6,
        );
    }
}

fn two_bridges() {
    say_machine();
    println!(
        "\nTwo bridges, from host to host; all rings of {CAPACITY} messages of {} bytes",
        size_of::<Message>()
    );
    println!(
        "| rings | until all are open, in s | network, bytes a ring | memory of the sender, MB | receiver | threads | receiver | processor while idle, % | receiver |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for rings in [1, 10, 50, 200] {
        let (mut near, at) = Host::begin(&["near", &rings.to_string()]);
        let link = Link::to(&at);
        let (mut far, took) = Host::begin(&["far", &link.at, &rings.to_string()]);
        let bytes = link.bytes();
        // (What follows the answers.)
        thread::sleep(Duration::from_secs(1));
        let before = [near.usage().processor, far.usage().processor];
        thread::sleep(IDLE);
        let after = [near.usage(), far.usage()];
        let percent = |which: usize| (after[which].processor - before[which]) / IDLE.as_secs_f64() * 100.0;
        println!(
            "| {rings} | {:.2} | {:.0} | {:.1} | {:.1} | {} | {} | {:.1} | {:.1} |",
            took.parse::<f64>().unwrap(),
            bytes / f64::from(rings),
            after[0].bytes / 1e6,
            after[1].bytes / 1e6,
            after[0].threads,
            after[1].threads,
            percent(0),
            percent(1),
        );
    }
}

//! `annulus-bridge`, which `annulus bridge` runs: carries rings between this machine and others until Ctrl-C.

use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use annulus::shm::Directory;
use annulus_zenoh::{Bridge, Config, Direction, Route, RouteState, WhenDown};
use bytesize::ByteSize;
use clap::{Parser, ValueEnum};
use serde::Serialize;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

/// The time between two looks at signals and connections.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// It connects within that time, or says that it could not yet.
const CONNECTS: Duration = Duration::from_secs(3);

/// Carries rings from machine to machine, over Zenoh.
///
/// Run it on each machine, with the names of the rings: those that are published here go out, and those that
/// are published on another machine come in. There they have the same names, messages of the same type, and
/// the same sequence numbers; what was lost on the way is counted as lagged. Newest values, services and
/// lossy rings of frames are carried, too.
#[derive(Parser)]
#[command(name = "annulus-bridge", bin_name = "annulus bridge", version, after_help = EXAMPLES)]
struct Arguments {
    /// Names of rings that may go out and come in; `*` stands for any characters, `?` for one
    #[arg(required_unless_present_any = ["send", "receive", "ros2"])]
    names: Vec<String>,

    /// Names of rings that may only go out
    #[arg(long, value_name = "NAME")]
    send: Vec<String>,

    /// Names of rings that may only come in, or HOST/NAME
    #[arg(long, value_name = "NAME")]
    receive: Vec<String>,

    #[arg(long, value_name = "RING=TOPIC:TYPE", value_parser = ros2_ring, help = ROS2)]
    ros2: Vec<[String; 3]>,

    #[arg(long, value_name = "RING:FIELD=TYPE", value_parser = ros2_type, requires = "ros2", help = ROS2_TYPE)]
    ros2_type: Vec<[String; 3]>,

    #[arg(long, value_name = "NUMBER", requires = "ros2", help = ROS2_DOMAIN)]
    ros2_domain: Option<u32>,

    /// Connect with a bridge or a Zenoh router, such as tcp/192.168.1.7:7447
    #[arg(long, value_name = "ENDPOINT")]
    connect: Vec<String>,

    /// Let others connect, such as at tcp/0.0.0.0:7447
    #[arg(long, value_name = "ENDPOINT")]
    listen: Vec<String>,

    /// Look for others by multicast in the local network
    #[arg(long)]
    scout: bool,

    /// What this machine is called on the network [default: what the system calls it]
    #[arg(long)]
    host: Option<String>,

    /// Where the names of this machine's rings are [default: the user's directory]
    #[arg(long, value_name = "PATH")]
    directory: Option<PathBuf>,

    /// How long a message may wait to travel with others, such as 200us
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = humantime::parse_duration)]
    linger: Duration,

    /// Send again what is lost on the way; the publisher of a lossless ring waits for the other bridges
    #[arg(long)]
    reliable: bool,

    /// With --reliable: how much of a ring is kept until the other bridges have it, such as 16MiB
    #[arg(long, value_name = "SIZE", default_value = "16MiB", requires = "reliable")]
    window: ByteSize,

    /// With --reliable: another bridge that said nothing for so long is down
    #[arg(long, value_name = "TIME", default_value = "10s", requires = "reliable", value_parser = humantime::parse_duration)]
    patience: Duration,

    /// With --reliable: when another bridge is down, hold its messages (a lossless ring's publisher waits
    /// when the window is full), drop them (the far side is told how many), or close the ring there
    #[arg(long, value_name = "POLICY", default_value = "drop", requires = "reliable")]
    when_down: Policy,

    /// A lossless ring that comes in begins with so many subscribers
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    subscribers: usize,

    /// End a ring that came in when its bridge could not be reached for so long, such as 30s
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    close_after: Option<Duration>,

    /// Refuse a question to a service of another machine that got no answer for so long
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = humantime::parse_duration)]
    answer_timeout: Duration,

    /// A configuration of Zenoh, as JSON5: for TLS, access control, and more
    #[arg(long, value_name = "FILE")]
    zenoh_config: Option<PathBuf>,

    /// Print each change as a line of JSON, and at the end what each ring came to
    #[arg(long)]
    json: bool,
}

/// What becomes of a ring when another bridge is down.
#[derive(Clone, Copy, ValueEnum)]
enum Policy {
    Hold,
    Drop,
    Close,
}

impl From<Policy> for WhenDown {
    fn from(policy: Policy) -> Self {
        match policy {
            Policy::Hold => Self::Hold,
            Policy::Drop => Self::Drop,
            Policy::Close => Self::Close,
        }
    }
}

// (With backticks, as comments have them, they would be read as a part of it.)
const ROS2: &str =
    "Send a ring to ROS 2 (rmw_zenoh), too, such as points=/robot1/point:geometry_msgs/msg/Point";
const ROS2_TYPE: &str =
    "What a field of such a ring is in ROS 2, such as poses:header.stamp=builtin_interfaces/msg/Time";
const ROS2_DOMAIN: &str = "The domain of ROS 2 [default: what ROS_DOMAIN_ID says, or 0]";

const EXAMPLES: &str = "\
EXAMPLES:
  annulus bridge 'quotes*' --listen tcp/0.0.0.0:7447      on one machine
  annulus bridge 'quotes*' --connect tcp/192.168.1.7:7447 on another
  annulus bridge orders --reliable --listen tcp/0.0.0.0:7447
                                                          nothing is lost on the way
  annulus bridge --receive 'feed-1/*' --connect tcp/192.168.1.7:7447
                                                          what feed-1 sends, and nothing goes out";

fn main() -> ExitCode {
    match parse_and_run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // (Where that is closed there is nobody to tell.)
            _ = writeln!(std::io::stderr(), "annulus bridge: {error}");
            ExitCode::from(2)
        }
    }
}

/// Does what the arguments say.
fn parse_and_run() -> Result<(), String> {
    let refused = |error: std::io::Error| error.to_string();
    // What exceeds the largest size of a file (`ulimit -f`) is an error of the write.
    signal_hook::flag::register(SIGXFSZ, Arc::default()).map_err(refused)?;
    match Arguments::try_parse() {
        Ok(arguments) => run(arguments),
        // The parser's own words go to standard error, with its exit code.
        Err(error) if error.use_stderr() => error.exit(),
        // A help or the version. A reader that has seen enough is no error.
        Err(text) => match text.print() {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(format!("standard output cannot be written: {error}; give it a place with room"))
            }
            _ => Ok(()),
        },
    }
}

fn run(arguments: Arguments) -> Result<(), String> {
    if !arguments.json {
        // What Zenoh says of connections, where RUST_LOG asks for it. (It goes where the JSON would.)
        zenoh::try_init_log_from_env();
    }
    if arguments.connect.is_empty()
        && arguments.listen.is_empty()
        && !arguments.scout
        && arguments.zenoh_config.is_none()
    {
        return Err(
            "nobody can be reached: say --connect tcp/HOST:7447, --listen tcp/0.0.0.0:7447, or --scout"
                .into(),
        );
    }
    // (From here on a signal ends the rings as their end.)
    let hangup = Some(SIGHUP).filter(|_| !is_ignored(SIGHUP));
    let signals = Signals::new([SIGINT, SIGTERM].into_iter().chain(hangup));
    let mut signals = signals.map_err(|error| error.to_string())?;
    let (is_json, to) = (arguments.json, arguments.connect.join(" "));
    let bridge = Bridge::open(config(arguments)?).map_err(|error| error.to_string())?;
    let at = bridge.listens_at().join(" ");
    tell(is_json, &Started { host: bridge.host(), listens_at: bridge.listens_at() }, || match at.as_str() {
        "" => format!("bridge of {}", bridge.host()),
        at => format!("bridge of {}, at {at}", bridge.host()),
    });
    let (begun, mut told) = (Instant::now(), None);
    while signals.pending().next().is_none() {
        let connections = bridge.connections();
        // (At first it has had no time to.)
        let is_late = !to.is_empty() && begun.elapsed() >= CONNECTS;
        if told != Some(connections > 0) && (connections > 0 || told.is_some() || is_late) {
            tell(is_json, &Connections { connections }, || connected(connections, &to));
            told = Some(connections > 0);
        }
        thread::sleep(LOOK_INTERVAL);
    }
    for route in &bridge.close() {
        tell(is_json, route, || sum(route));
    }
    Ok(())
}

/// Whether the process began with this signal ignored, as `nohup` has it: it stays so. (Where the system does
/// not tell, the signal is left as it is.)
fn is_ignored(signal: i32) -> bool {
    // (The name of the process is in it, which may be no text.)
    let status = std::fs::read("/proc/self/status").unwrap_or_default();
    let mask = String::from_utf8_lossy(&status);
    let mask = mask.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_none_or(|mask| mask >> (signal - 1) & 1 == 1)
}

/// How it began.
#[derive(Serialize)]
struct Started<'a> {
    host: &'a str,
    listens_at: Vec<String>,
}

/// How many other bridges and routers it is connected with, when that becomes none, or was.
#[derive(Serialize)]
struct Connections {
    connections: usize,
}

fn connected(connections: usize, to: &str) -> String {
    match (connections, to) {
        (0, "") => "no other bridge is connected".into(),
        (0, to) => format!("{to} can't be reached; it is tried again"),
        _ => "connected".into(),
    }
}

/// A ring, its topic and its type.
fn ros2_ring(said: &str) -> Result<[String; 3], String> {
    let parts = said.rsplit_once('=').and_then(|(ring, rest)| {
        let (topic, of) = rest.rsplit_once(':')?;
        Some([ring, topic, of].map(String::from))
    });
    parts.ok_or_else(|| "say it as points=/robot1/point:geometry_msgs/msg/Point".into())
}

/// A ring, the path of a field, and its type. (`<=` is a part of `string<=20`.)
fn ros2_type(said: &str) -> Result<[String; 3], String> {
    let parts = said.rsplit_once(':').and_then(|(ring, rest)| {
        let (field, of) = rest.split_once('=')?;
        Some([ring, field, of].map(String::from))
    });
    parts.ok_or_else(|| "say it as poses:header.stamp=builtin_interfaces/msg/Time".into())
}

/// What the nodes of ROS 2 on this machine are in, if nothing else is said.
fn ros2_domain() -> Result<u32, String> {
    match std::env::var("ROS_DOMAIN_ID") {
        Ok(said) if !said.is_empty() => {
            said.parse().map_err(|_| format!("ROS_DOMAIN_ID is {said:?}: no number of a domain"))
        }
        _ => Ok(0),
    }
}

fn config(arguments: Arguments) -> Result<Config, String> {
    let is_json = arguments.json;
    let mut config = Config::new()
        .scout(arguments.scout)
        .linger(arguments.linger)
        .reliable(arguments.reliable)
        .window_bytes(usize::try_from(arguments.window.as_u64()).unwrap_or(usize::MAX))
        .patience(arguments.patience)
        .when_down(arguments.when_down.into())
        .subscribers(arguments.subscribers)
        .answer_timeout(arguments.answer_timeout)
        .on_change(move |route| tell(is_json, route, || change(route)));
    config = arguments.names.iter().fold(config, |config, name| config.carry(name));
    config = arguments.send.iter().fold(config, |config, name| config.send(name));
    config = arguments.receive.iter().fold(config, |config, name| config.receive(name));
    config = arguments.connect.iter().fold(config, |config, endpoint| config.connect(endpoint));
    config = arguments.listen.iter().fold(config, |config, endpoint| config.listen(endpoint));
    if !arguments.ros2.is_empty() {
        config = config.ros2_domain(arguments.ros2_domain.map_or_else(ros2_domain, Ok)?);
    }
    config = arguments.ros2.iter().fold(config, |config, [ring, topic, of]| config.ros2(ring, topic, of));
    config = arguments
        .ros2_type
        .iter()
        .fold(config, |config, [ring, field, of]| config.ros2_type(ring, field, of));
    if let Some(host) = &arguments.host {
        config = config.host(host);
    }
    if let Some(path) = arguments.directory {
        config = config.directory(Directory::open(path).map_err(|error| error.to_string())?);
    }
    if let Some(time) = arguments.close_after {
        config = config.close_after(time);
    }
    if let Some(file) = arguments.zenoh_config {
        config = config.zenoh_file(file);
    }
    Ok(config)
}

/// Prints it as JSON, or in words. (A reader that has gone ends nothing: the bridge continues.)
fn tell(is_json: bool, what: &impl Serialize, words: impl FnOnce() -> String) {
    if is_json {
        let mut line = serde_json::to_string(what).expect("numbers and texts");
        line.push('\n');
        _ = std::io::stdout().write_all(line.as_bytes());
    } else {
        _ = writeln!(std::io::stderr(), "{}", words());
    }
}

/// What has become of a ring.
fn change(route: &Route) -> String {
    let ring = ring(route);
    match &route.state {
        RouteState::Asking => format!("{ring}: asking what it is"),
        RouteState::Open => match route.kind.as_str() {
            "watch" => format!("{ring}: open, newest values"),
            "service" => format!("{ring}: open, a service"),
            _ => format!("{ring}: open, from message {} on", route.next),
        },
        RouteState::Down => format!("{ring}: its bridge can't be reached; the ring stands still"),
        RouteState::Ended => format!("{}: ended", sum(route)),
        RouteState::Refused(why) => format!("{ring}: not carried: {why}"),
        other => format!("{ring}: {other:?}"),
    }
}

fn ring(route: &Route) -> String {
    match route.direction {
        Direction::Out => format!("{} → network", route.name),
        Direction::In => format!("{} ← {}", route.name, route.host),
    }
}

fn sum(route: &Route) -> String {
    let Route { messages, samples, again, lagged, corrupt, unanswered, .. } = route;
    let again = if *again > 0 { format!(" and {again} once more") } else { String::new() };
    let ring = ring(route);
    match route.kind.as_str() {
        "watch" => return format!("{ring}: {messages} changes, {corrupt} corrupt"),
        "service" => {
            return format!("{ring}: {messages} questions answered, {unanswered} not, {corrupt} corrupt");
        }
        _ => {}
    }
    format!("{ring}: {messages} messages in {samples} samples{again}, {lagged} lagged, {corrupt} corrupt")
}

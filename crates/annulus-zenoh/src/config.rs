//! [`Config`]: what a bridge carries, and where to.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use annulus::shm::Directory;
use wildmatch::WildMatch;

use crate::Route;
use crate::error::Error;
use crate::keys;
use crate::ros2;

/// What a bridge carries, and where to.
///
/// Patterns are names in which `*` stands for any characters, and `?` for one. A pattern of what comes in may
/// begin with a host's: `trading-*/quotes`.
#[derive(Clone)]
#[must_use]
pub struct Config {
    pub(crate) host: Option<String>,
    pub(crate) directory: Option<Arc<Directory>>,
    pub(crate) connect: Vec<String>,
    pub(crate) listen: Vec<String>,
    pub(crate) scout: bool,
    pub(crate) file: Option<PathBuf>,
    send: Vec<WildMatch>,
    receive: Vec<Receive>,
    pub(crate) linger: Duration,
    pub(crate) batch_bytes: usize,
    pub(crate) reliable: bool,
    pub(crate) window_bytes: usize,
    pub(crate) patience: Duration,
    pub(crate) when_down: WhenDown,
    pub(crate) subscribers: usize,
    pub(crate) most_rings: usize,
    pub(crate) most_bytes: u64,
    pub(crate) close_after: Option<Duration>,
    pub(crate) answer_timeout: Duration,
    pub(crate) on_change: Option<Arc<OnChange>>,
    pub(crate) ros2: ros2::Settings,
}

/// Which rings come in.
#[derive(Clone)]
struct Receive {
    hosts: WildMatch,
    names: WildMatch,
}

/// What becomes of a reliable ring when another bridge that gets it is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum WhenDown {
    /// The messages are kept until it is back. When the window is full, the publisher of a lossless ring
    /// waits for it, and of a lossy ring the oldest messages are dropped.
    Hold,
    /// Nothing is kept for it any more. When it is back, the messages that it did not get are counted as
    /// lagged; a lossless ring ends there, and the next one begins.
    #[default]
    Drop,
    /// The ring is not carried any more, to nobody. It ends on the other machines.
    Close,
}

pub(crate) type OnChange = dyn Fn(&Route) + Send + Sync;

impl Config {
    /// Nothing is carried, and nobody is reached.
    #[allow(clippy::new_without_default, reason = "a configuration that carries nothing is no good default")]
    pub fn new() -> Self {
        Self {
            host: None,
            directory: None,
            connect: Vec::new(),
            listen: Vec::new(),
            scout: false,
            file: None,
            send: Vec::new(),
            receive: Vec::new(),
            linger: Duration::ZERO,
            batch_bytes: 48 * 1024,
            reliable: false,
            window_bytes: 16 << 20,
            patience: Duration::from_secs(10),
            when_down: WhenDown::Drop,
            subscribers: 0,
            most_rings: 256,
            most_bytes: 256 << 20,
            close_after: None,
            answer_timeout: Duration::from_secs(10),
            on_change: None,
            ros2: ros2::Settings::default(),
        }
    }

    /// Rings of such names go out, and come in.
    pub fn carry(self, names: &str) -> Self {
        self.send(names).receive(names)
    }

    /// Rings of such names go out.
    pub fn send(mut self, names: &str) -> Self {
        self.send.push(WildMatch::new(names));
        self
    }

    /// Rings of such names come in; `HOST/NAME` for rings of such hosts only.
    pub fn receive(mut self, names: &str) -> Self {
        // (No name of a ring has this sign.)
        let (hosts, names) = names.rsplit_once('/').unwrap_or(("*", names));
        self.receive.push(Receive { hosts: WildMatch::new(hosts), names: WildMatch::new(names) });
        self
    }

    /// What this machine is called on the network; by default what the system calls it. Each machine has a
    /// name of its own.
    pub fn host(mut self, host: &str) -> Self {
        self.host = Some(host.into());
        self
    }

    /// Where the rings of this machine have their names; by default the user's directory.
    pub fn directory(mut self, directory: Directory) -> Self {
        self.directory = Some(Arc::new(directory));
        self
    }

    /// A bridge or a Zenoh router to be connected with, such as `tcp/192.168.1.7:7447`. It need not be there
    /// yet. Call it once for each. With one of them, and none that [listens](Self::listen), the bridge is a
    /// client of Zenoh; otherwise it is a router, and carries what others say to each other, too.
    pub fn connect(mut self, endpoint: &str) -> Self {
        self.connect.push(endpoint.into());
        self
    }

    /// Where others may connect, such as `tcp/0.0.0.0:7447`. Call it once for each.
    pub fn listen(mut self, endpoint: &str) -> Self {
        self.listen.push(endpoint.into());
        self
    }

    /// Looks for others by multicast in the local network. By default it does not.
    pub fn scout(mut self, scout: bool) -> Self {
        self.scout = scout;
        self
    }

    /// A configuration of Zenoh (`.json5`, `.json` or `.yaml`): for TLS, access control, and all else that
    /// Zenoh can. What it says has effect. What it leaves out is as without it, and what is said here besides
    /// is added to it.
    pub fn zenoh_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.file = Some(path.into());
        self
    }

    /// How long a message may wait for others, to travel with them. By default it does not wait: what is in
    /// the ring at that moment travels together.
    pub fn linger(mut self, linger: Duration) -> Self {
        self.linger = linger;
        self
    }

    /// So many bytes of messages travel together at most; 48 KiB by default. One message always travels.
    pub fn batch_bytes(mut self, bytes: usize) -> Self {
        self.batch_bytes = bytes;
        self
    }

    /// Messages that go out are kept until the other bridges have them, and those that are lost on the way
    /// are sent again. A lossless ring stays one: its publisher waits for the other bridges, and they wait
    /// for the subscribers there. By default no ring is carried so, and nothing is sent again.
    ///
    /// What is kept has bounds: [`window_bytes`](Self::window_bytes) and [`patience`](Self::patience).
    pub fn reliable(mut self, reliable: bool) -> Self {
        self.reliable = reliable;
        self
    }

    /// So many bytes of a [reliable](Self::reliable) ring are kept at most, until the other bridges have
    /// them; 16 MiB by default. When they are full, the publisher of a lossless ring waits, and of a lossy
    /// ring the oldest messages can't be sent again.
    pub fn window_bytes(mut self, bytes: usize) -> Self {
        self.window_bytes = bytes.max(1);
        self
    }

    /// After so long without a word from it, another bridge that gets a [reliable](Self::reliable) ring is
    /// taken to be down; 10 seconds by default. (It says something twice a second.)
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// What becomes of a [reliable](Self::reliable) ring when another bridge that gets it is down;
    /// [`WhenDown::Drop`] by default.
    pub fn when_down(mut self, policy: WhenDown) -> Self {
        self.when_down = policy;
        self
    }

    /// A lossless ring that comes in waits for so many subscribers before its first message; for none by
    /// default. The publisher on the other machine waits with it.
    pub fn subscribers(mut self, count: usize) -> Self {
        self.subscribers = count;
        self
    }

    /// So many rings come in at most; 256 by default. What other bridges say costs no more memory than these.
    pub fn most_rings(mut self, count: usize) -> Self {
        self.most_rings = count;
        self
    }

    /// A ring that comes in takes so much memory at most; 256 MiB by default.
    pub fn most_ring_bytes(mut self, bytes: u64) -> Self {
        self.most_bytes = bytes;
        self
    }

    /// Ends a ring that came in when its bridge could not be reached for so long. By default the ring stands
    /// still, and continues when the bridge is back.
    pub fn close_after(mut self, down: Duration) -> Self {
        self.close_after = Some(down);
        self
    }

    /// How long a question to a service of another machine waits for its answer; 10 seconds by default. Then
    /// it is refused here, and counted as [unanswered](Route::unanswered). (If the server there answers
    /// later, the answer is dropped.)
    pub fn answer_timeout(mut self, timeout: Duration) -> Self {
        self.answer_timeout = timeout;
        self
    }

    /// Is called when a route begins, changes its state, or ends, on a thread of the bridge. It must not
    /// wait. If it panics, the bridge goes on, and calls it with the next change.
    pub fn on_change(mut self, told: impl Fn(&Route) + Send + Sync + 'static) -> Self {
        self.on_change = Some(Arc::new(told));
        self
    }

    /// The ring of this name goes out, and each message once more, as a publisher of ROS 2 with `rmw_zenoh`
    /// sends it: in the topic of this whole name (`/robot1/pose`), of that type
    /// (`geometry_msgs/msg/Vector3`). The ring has to say what its messages are made of. Their fields have to
    /// be the type's: nodes find each other by the topic, the type's name, and a hash of its fields. A
    /// ring that ROS 2 can't have does not go out at all, and [`Bridge::routes`](crate::Bridge::routes) says
    /// why.
    ///
    /// A message that is no struct becomes one with the field `data`. A text is a `string`. For the types of
    /// structs in it, see [`ros2_type`](Self::ros2_type).
    pub fn ros2(mut self, ring: &str, topic: &str, of: &str) -> Self {
        self.ros2.rings.insert(ring.into(), (topic.into(), of.into()));
        self
    }

    /// What a field of such a ring is in ROS 2. The field is named by its path, such as `header.stamp`. Each
    /// struct needs its type. A `u8` may be a `byte`, and a text a `string<=20`. Of an array it is what each
    /// of its values is.
    pub fn ros2_type(mut self, ring: &str, field: &str, of: &str) -> Self {
        self.ros2.fields.entry(ring.into()).or_default().insert(field.into(), of.into());
        self
    }

    /// The domain of ROS 2: 0 by default. Nodes of two domains do not find each other.
    pub fn ros2_domain(mut self, domain: u32) -> Self {
        self.ros2.domain = domain;
        self
    }

    pub(crate) fn sends(&self, name: &str) -> bool {
        self.send.iter().any(|pattern| pattern.matches(name)) || self.ros2.rings.contains_key(name)
    }

    pub(crate) fn receives(&self, host: &str, name: &str) -> bool {
        self.receive.iter().any(|of| of.hosts.matches(host) && of.names.matches(name))
    }

    /// The keys of tokens that tell of all rings that come in.
    pub(crate) fn tokens_of_received(&self) -> BTreeSet<String> {
        let tokens = |of: &Receive| keys::ring_tokens(&of.hosts.to_string(), &of.names.to_string());
        self.receive.iter().map(tokens).collect()
    }

    /// Zenoh's own.
    pub(crate) fn zenoh(&self) -> Result<zenoh::Config, Error> {
        let mut config = match &self.file {
            Some(path) => zenoh::Config::from_file(path)
                .map_err(|error| Error::Network(format!("{}: {error}", path.display())))?,
            None => zenoh::Config::default(),
        };
        for (key, endpoints) in [("connect/endpoints", &self.connect), ("listen/endpoints", &self.listen)] {
            if endpoints.is_empty() {
                continue;
            }
            let list = serde_json::to_string(endpoints).expect("texts");
            config.insert_json5(key, &list).map_err(|error| {
                let list = endpoints.join(" ");
                Error::Network(format!(
                    "{list} can't be used: {error}; an endpoint is such as `tcp/192.168.1.7:7447`"
                ))
            })?;
        }
        if self.scout {
            config.insert_json5("scouting/multicast/enabled", "true")?;
        }
        complete(&mut config)?;
        find_certificates(&config)?;
        Ok(config)
    }
}

/// Whether it is a client, which waits for the router that it connects with.
pub(crate) fn is_client(config: &zenoh::Config) -> bool {
    config.get_json("mode").is_ok_and(|mode| mode == r#""client""#)
}

/// What is left as Zenoh has it becomes what is good for a bridge.
fn complete(config: &mut zenoh::Config) -> zenoh::Result<()> {
    let of_zenoh = zenoh::Config::default();
    let is_left = |config: &zenoh::Config, key: &str| Ok(config.get_json(key)? == of_zenoh.get_json(key)?);
    let set = |config: &mut zenoh::Config, key: &str, value: &str| match is_left(config, key) {
        Ok(true) => config.insert_json5(key, value),
        Ok(false) => Ok(()),
        Err(error) => Err(error),
    };
    set(config, "scouting/multicast/enabled", "false")?;
    let scouts = config.get_json("scouting/multicast/enabled")? != "false";
    if !scouts {
        // Nobody is waited for.
        set(config, "scouting/delay", "0")?;
    }
    // By itself it would listen on all addresses.
    set(config, "listen/endpoints", "[]")?;
    let count = |key: &str| -> zenoh::Result<usize> {
        // (Endpoints that depend on the mode are no list.)
        Ok(serde_json::from_str::<Vec<serde_json::Value>>(&config.get_json(key)?).map_or(2, |all| all.len()))
    };
    let only_connects = !scouts && count("listen/endpoints")? == 0 && count("connect/endpoints")? == 1;
    // A router also carries what others say to each other, in a network of any shape.
    set(config, "mode", if only_connects { r#""client""# } else { r#""router""# })?;
    if !is_client(config) {
        set(config, "connect/exit_on_failure", "false")?;
    }
    set(config, "listen/exit_on_failure", "true")?;
    // Soon again after a link was cut.
    set(config, "connect/retry", "{ period_init_ms: 100, period_max_ms: 2000, period_increase_factor: 2 }")?;
    // (A router would put one next to each message. Ours have numbers.)
    set(config, "timestamping/enabled", "false")
}

/// The files of certificates and keys can be read. (A client tries again for ever, whatever the reason is.)
fn find_certificates(config: &zenoh::Config) -> Result<(), Error> {
    for name in [
        "root_ca_certificate",
        "listen_certificate",
        "listen_private_key",
        "connect_certificate",
        "connect_private_key",
    ] {
        let named = config.get_json(&format!("transport/link/tls/{name}"))?;
        if let Some(path) = serde_json::from_str::<Option<PathBuf>>(&named).unwrap_or_default() {
            File::open(&path)
                .map_err(|error| Error::Network(format!("{name} {}: {error}", path.display())))?;
        }
    }
    Ok(())
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("host", &self.host)
            .field("connect", &self.connect)
            .field("listen", &self.listen)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Zenoh has under these keys, with a file of this text.
    fn with_file(text: &str, config: Config, keys: &[&str]) -> Vec<String> {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let name = format!("annulus-config-{}-{number}.json5", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).unwrap();
        let config = config.zenoh_file(&path).zenoh().unwrap();
        std::fs::remove_file(path).unwrap();
        keys.iter().map(|key| config.get_json(key).unwrap()).collect()
    }

    #[test]
    fn file_says_what_it_says_and_the_rest_is_as_without_it() {
        let keys = ["mode", "listen/endpoints", "scouting/multicast/enabled", "timestamping/enabled"];
        let one = Config::new().connect("tcp/127.0.0.1:7447");
        assert_eq!(with_file("{}", one.clone(), &keys), [r#""client""#, "[]", "false", "false"]);
        assert_eq!(with_file("{}", one.clone().scout(true), &keys)[..3], [r#""router""#, "[]", "true"]);
        let file = r#"{ mode: "peer", timestamping: { enabled: true }, scouting: { multicast: { enabled: true } } }"#;
        assert_eq!(with_file(file, one, &keys), [r#""peer""#, "[]", "true", "true"]);
        let file = r#"{ connect: { endpoints: ["tcp/127.0.0.1:7447"] } }"#;
        assert_eq!(with_file(file, Config::new(), &keys[..1]), [r#""client""#]);
        let file = r#"{ listen: { endpoints: ["tcp/127.0.0.1:7448"] }, connect: { endpoints: ["tcp/127.0.0.1:7447"] } }"#;
        let listens = [r#""router""#, r#"["tcp/127.0.0.1:7448"]"#];
        assert_eq!(with_file(file, Config::new(), &keys[..2]), listens);
    }
}

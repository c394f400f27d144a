//! [`Config`]: what a bridge carries, and where to.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use annulus::shm::Directory;
use wildmatch::WildMatch;

use crate::Route;
use crate::error::Error;

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
    receive: Vec<WildMatch>,
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
    pub(crate) on_change: Option<Arc<OnChange>>,
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
            on_change: None,
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

    /// Rings of such names come in; `HOST/NAME` for those of such hosts only.
    pub fn receive(mut self, names: &str) -> Self {
        self.receive.push(WildMatch::new(names));
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

    /// A configuration of Zenoh, as JSON5: for TLS, access control, and all else that Zenoh can. What is said
    /// here besides is added to it.
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
    /// still, and goes on when the bridge is back.
    pub fn close_after(mut self, down: Duration) -> Self {
        self.close_after = Some(down);
        self
    }

    /// Is called when a route begins, changes its state, or ends, on a thread of the bridge. It must not
    /// wait.
    pub fn on_change(mut self, told: impl Fn(&Route) + Send + Sync + 'static) -> Self {
        self.on_change = Some(Arc::new(told));
        self
    }

    /// Whether it is connected with one other only, and nobody connects with it.
    pub(crate) fn only_connects(&self) -> bool {
        self.file.is_none() && !self.scout && self.listen.is_empty() && self.connect.len() == 1
    }

    pub(crate) fn sends(&self, name: &str) -> bool {
        self.send.iter().any(|pattern| pattern.matches(name))
    }

    pub(crate) fn receives(&self, host: &str, name: &str) -> bool {
        let whole = format!("{host}/{name}");
        self.receive.iter().any(|pattern| pattern.matches(name) || pattern.matches(&whole))
    }

    /// That of Zenoh.
    pub(crate) fn zenoh(&self) -> Result<zenoh::Config, Error> {
        let mut config = if let Some(path) = &self.file {
            zenoh::Config::from_file(path)
                .map_err(|error| Error::Network(format!("{}: {error}", path.display())))?
        } else {
            by_default(self.scout, self.only_connects())?
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
        Ok(config)
    }
}

/// Where the user says no other.
fn by_default(scout: bool, is_client: bool) -> zenoh::Result<zenoh::Config> {
    let mut config = zenoh::Config::default();
    let mut set = |key: &str, value: &str| config.insert_json5(key, value);
    // A router also carries what others say to each other, in a network of any shape.
    set("mode", if is_client { r#""client""# } else { r#""router""# })?;
    // (A router would put one beside each message. Ours have numbers.)
    set("timestamping/enabled", "false")?;
    if scout {
        set("scouting/multicast/enabled", "true")?;
    } else {
        set("scouting/multicast/enabled", "false")?;
        // Nobody is waited for.
        set("scouting/delay", "0")?;
    }
    // Soon again after a link was cut.
    set("connect/retry", "{ period_init_ms: 100, period_max_ms: 2000, period_increase_factor: 2 }")?;
    if !is_client {
        set("connect/exit_on_failure", "false")?;
    }
    set("listen/exit_on_failure", "true")?;
    // By itself it would listen on all addresses.
    set("listen/endpoints", "[]")?;
    Ok(config)
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

//! [`Bridge`]: which rings it carries, and what it hears of others.

use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use annulus::__bridge::spawn;
use annulus::shm::{Directory, FindError, Invitation, NameError, NamedRing, PeerState, RingInfo, ShmKind};
use zenoh::sample::{Sample, SampleKind};
use zenoh::{Session, Wait};

use crate::config::{Config, is_client};
use crate::counters::{Counters, Direction, Route, RouteState};
use crate::description::{Description, Refused};
use crate::error::Error;
use crate::far_ring::{Made, Makes};
use crate::incoming::Incoming;
use crate::keys;
use crate::outgoing::Outgoing;
use crate::seen::{self, Seen};
use crate::wire::{Ack, Needs};

/// The time between two looks at the rings of this machine.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// How long an answer may take, and when it is asked again after one that could not be used.
const ANSWER: Duration = Duration::from_secs(2);

/// The last messages of a ring without loss come within that time, or the next ring begins without them.
const DELIVERED: Duration = Duration::from_secs(60);

/// A ring of which no token tells any more has ended, if its bridge is there for so long.
const SETTLED: Duration = Duration::from_secs(2);

/// So many words of other bridges are kept, of which nothing came.
const MOST_REMEMBERED: usize = 100_000;

/// Carries rings between this machine and others, until it is dropped.
///
/// Then the rings that came in end. The rings that went out stand still on the far side, until a bridge
/// carries them again.
pub struct Bridge {
    host: String,
    /// Once it is connected, where it only connects.
    session: Arc<OnceLock<Session>>,
    events: Sender<Event>,
    routes: Arc<Mutex<Vec<Route>>>,
    manager: Option<JoinHandle<()>>,
}

/// What the manager hears of.
pub(crate) enum Event {
    /// A token came, or went.
    Token(SampleKind, String),
    /// What another bridge says of the ring of this host and name.
    Described((String, String), Result<Description, Refused>),
    /// Not all values of the table of this host and name have come.
    Unanswered((String, String)),
    /// A ring that this bridge has made is gone.
    Unmade(u64),
    Stop,
}

impl Bridge {
    /// Opens a bridge. It need not reach any other one yet.
    ///
    /// Its threads, and those of Zenoh that begin with it, block the program's signals: a program that blocks
    /// `SIGTERM` after this, and waits for it (`sigwait`, a `signalfd`), gets it. (Threads of Zenoh that were
    /// there before are as they were.)
    ///
    /// # Errors
    ///
    /// [`Error`]: the host's name, the network's configuration, or the directory can't be used.
    pub fn open(config: Config) -> Result<Self, Error> {
        let host = match &config.host {
            Some(host) => host.clone(),
            None => rustix::system::uname().nodename().to_string_lossy().into_owned(),
        };
        if host.is_empty() {
            return Err(Error::Host(host));
        }
        config.ros2.check().map_err(Error::Ros2)?;
        let directory = match &config.directory {
            Some(directory) => Arc::clone(directory),
            None => Arc::new(Directory::of_user()?),
        };
        let (network, session) = (config.zenoh()?, Arc::new(OnceLock::new()));
        if !is_client(&network) {
            // (There, so that the threads that Zenoh begins handle none of the program's signals.)
            let network = network.clone();
            let opening = spawn("annulus bridge", move || zenoh::open(network).wait())?;
            _ = session.set(opening.join().unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        let (events, heard) = channel();
        let routes = Arc::new(Mutex::new(Vec::new()));
        let (told, shown, opened) = (events.clone(), Arc::clone(&routes), Arc::clone(&session));
        let name = host.clone();
        let manager = spawn("annulus bridge", move || {
            let session = match opened.get() {
                Some(session) => session.clone(),
                None => match connected(&network, &heard) {
                    Some(session) => opened.get_or_init(|| session).clone(),
                    None => return,
                },
            };
            let boot = boot().unwrap_or_else(|| name.clone());
            let makes = Makes { session, directory, host: name, boot, made: Made::default(), events: told };
            Manager::new(makes, config, shown).run(&heard);
        })?;
        Ok(Self { host, session, events, routes, manager: Some(manager) })
    }

    /// What this machine is called on the network.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Where it listens: with the port that the system has chosen, where none was said.
    #[must_use]
    pub fn listens_at(&self) -> Vec<String> {
        let locators = |session: &Session| session.info().locators().wait();
        self.session.get().map(locators).unwrap_or_default().iter().map(ToString::to_string).collect()
    }

    /// How many other bridges and routers it is connected with, directly.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.session.get().map_or(0, |session| session.info().transports().wait().count())
    }

    /// All rings that it carries, or has refused to; as they were a tenth of a second ago, at most.
    #[must_use]
    pub fn routes(&self) -> Vec<Route> {
        locked(&self.routes).clone()
    }

    /// Ends the bridge, as a drop does, and says what each ring came to.
    #[must_use]
    pub fn close(mut self) -> Vec<Route> {
        self.stop();
        self.routes()
    }

    fn stop(&mut self) {
        _ = self.events.send(Event::Stop);
        if let Some(manager) = self.manager.take() {
            _ = manager.join();
        }
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.stop();
        if let Some(session) = self.session.get() {
            _ = session.close().wait();
        }
    }
}

/// Which start of which machine this is.
fn boot() -> Option<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_string()).filter(|id| !id.is_empty())
}

/// Connects, as soon as it can be; `None` if the bridge ends before that.
fn connected(network: &zenoh::Config, heard: &Receiver<Event>) -> Option<Session> {
    loop {
        if let Ok(session) = zenoh::open(network.clone()).wait() {
            return Some(session);
        }
        // (Nothing else can be heard yet.)
        if !matches!(heard.recv_timeout(LOOK_INTERVAL), Err(RecvTimeoutError::Timeout)) {
            return None;
        }
    }
}

fn locked(routes: &Mutex<Vec<Route>>) -> MutexGuard<'_, Vec<Route>> {
    routes.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The host and the name of a ring that comes in.
type Key = (String, String);

struct Manager {
    /// The session, the directory, this host, and what bridges have made.
    makes: Makes,
    config: Config,
    /// Another number for each bridge that begins.
    life: u64,
    routes: Arc<Mutex<Vec<Route>>>,
    /// By their names and epochs.
    outgoing: BTreeMap<(String, u64), Outgoing>,
    incoming: BTreeMap<Key, Incoming>,
    /// The epochs of rings that come in when there is a place for them.
    crowded: BTreeMap<Key, u64>,
    /// Of rings that have ended, or were refused: what they came to.
    settled: BTreeMap<(Direction, Key), Route>,
    /// The rings of this machine that were looked at, and have their names.
    known: HashMap<String, NamedRing>,
    /// Those whose processes were asked for them, and have not answered yet.
    asked: HashMap<String, NamedRing>,
    /// The epochs of the rings that went out last and have ended, or can't go out, by their names.
    sent: HashMap<String, u64>,
    /// The hosts whose bridges are there, and since when.
    bridges: HashMap<String, Instant>,
}

impl Manager {
    fn new(makes: Makes, config: Config, routes: Arc<Mutex<Vec<Route>>>) -> Self {
        let [life @ .., _, _, _, _, _, _, _, _] = makes.session.zid().to_le_bytes();
        Self {
            makes,
            config,
            life: u64::from_le_bytes(life),
            routes,
            outgoing: BTreeMap::new(),
            incoming: BTreeMap::new(),
            crowded: BTreeMap::new(),
            settled: BTreeMap::new(),
            known: HashMap::new(),
            asked: HashMap::new(),
            sent: HashMap::new(),
            bridges: HashMap::new(),
        }
    }

    fn run(mut self, heard: &Receiver<Event>) {
        let mut keys = vec![keys::ALL_BRIDGES.to_string(), keys::made_tokens(&self.makes.boot)];
        keys.extend(self.config.tokens_of_received());
        for key in keys {
            let events = self.makes.events.clone();
            let told = move |sample: Sample| {
                // (Nobody hears it once the bridge ends.)
                _ = events.send(Event::Token(sample.kind(), sample.key_expr().to_string()));
            };
            let liveliness = self.makes.session.liveliness();
            // (It fails where the session is closed.)
            _ = liveliness.declare_subscriber(key).history(true).callback(told).background().wait();
        }
        self.look_at_rings();
        // After the tokens of the rings that are there: a ring of which no token tells then has ended.
        let token =
            self.makes.session.liveliness().declare_token(keys::bridge_token(&self.makes.host)).wait();
        let mut seen = Seen::begin(&self.makes.session, &self.makes.directory, &self.makes.host);
        let mut look_at = Instant::now();
        loop {
            let left = look_at.saturating_duration_since(Instant::now());
            match heard.recv_timeout(left) {
                Ok(Event::Stop) | Err(RecvTimeoutError::Disconnected) => break,
                Ok(Event::Token(kind, key)) => self.hear(kind, &key),
                Ok(Event::Described(key, described)) => self.learn(&key, described),
                Ok(Event::Unanswered(key)) => {
                    if let Some(table) = self.incoming.get_mut(&key) {
                        table.ask_at = Some(Instant::now() + ANSWER);
                    }
                }
                Ok(Event::Unmade(epoch)) => self.makes.made.remove(epoch),
                Err(RecvTimeoutError::Timeout) => {}
            }
            // (Also where there always is something to hear.)
            if look_at <= Instant::now() {
                look_at = Instant::now() + LOOK_INTERVAL;
                self.look_at_rings();
                self.look_at_incoming();
                let routes = self.all_routes(&seen);
                seen.tell(&routes);
                *locked(&self.routes) = routes;
            }
        }
        for ring in self.incoming.values() {
            ring.end(true);
        }
        *locked(&self.routes) = self.all_routes(&seen);
        self.incoming.clear();
        // Before the rings' own, which have not ended.
        drop(token);
        self.outgoing.values().for_each(Outgoing::stop);
        self.outgoing.clear();
    }

    /// Begins to send rings that are new, and ends with those that have ended.
    fn look_at_rings(&mut self) {
        let over = self.outgoing.iter().filter(|(_, ring)| ring.is_over());
        for key in over.map(|(key, _)| key.clone()).collect::<Vec<_>>() {
            let Some(ring) = self.outgoing.remove(&key) else { continue };
            self.sent.insert(key.0, key.1);
            self.settle(ring.route());
        }
        let Ok(entries) = self.makes.directory.list() else { return };
        self.sent.retain(|name, _| entries.iter().any(|entry| entry.name == *name));
        self.known.retain(|_, ring| ring.state() == PeerState::Alive);
        self.asked.retain(|_, ring| ring.state() == PeerState::Alive);
        for entry in entries {
            let name = &entry.name;
            if entry.state != PeerState::Alive || !self.config.sends(name) || self.known.contains_key(name) {
                continue;
            }
            match self.look_at(name) {
                // (It goes at this moment.)
                Ok(()) | Err(FindError::Name(NameError::NotFound { .. } | NameError::Dead { .. })) => {}
                Err(error) => self.refuse_once(name, error.to_string()),
            }
        }
    }

    /// Looks at a ring that is not known yet. It waits for nobody: a process that has to be asked for its
    /// ring is asked, and its answer is looked for with the next round. (An error may be another one then,
    /// or none.)
    fn look_at(&mut self, name: &str) -> Result<(), FindError> {
        let ring = match self.asked.remove(name) {
            Some(ring) => ring,
            None => self.makes.directory.find(name)?,
        };
        let invitation = match Invitation::find_timeout(&ring, Duration::ZERO) {
            Err(FindError::Name(NameError::TimedOut { .. })) => {
                self.asked.insert(name.into(), ring);
                return Ok(());
            }
            found => found?,
        };
        let info = invitation.info()?;
        if self.send(name, &invitation, &info) {
            self.known.insert(name.into(), ring);
        }
        Ok(())
    }

    /// Begins to send this ring, unless it was sent already, or comes from the network. False: it is to be
    /// looked at again.
    fn send(&mut self, name: &str, invitation: &Invitation, info: &RingInfo) -> bool {
        let epoch = info.identity();
        let key = (name.to_string(), epoch);
        let is_known = self.sent.get(name) == Some(&epoch) || self.outgoing.contains_key(&key);
        if is_known || seen::is_of_bridge(info) {
            return true;
        }
        if self.makes.made.contains(epoch) {
            // (From here on it is known, also where another bridge of this machine can't be heard.)
            self.sent.insert(name.into(), epoch);
            return true;
        }
        let begun =
            Outgoing::begin(&self.makes.session, &self.config, (&self.makes.host, name), invitation, info);
        match begun {
            Ok(ring) => {
                self.sent.remove(name);
                self.settled.remove(&(Direction::Out, (self.makes.host.clone(), name.into())));
                self.tell(&ring.route());
                self.outgoing.insert(key, ring);
            }
            Err(why) => {
                // A service may have no place for a client at the moment: it is looked at again.
                if info.kind() == ShmKind::Service {
                    self.refuse_once(name, why);
                    return false;
                }
                self.sent.insert(name.into(), epoch);
                self.refuse(name, why);
            }
        }
        true
    }

    /// The ring of this name does not go out.
    fn refuse(&mut self, name: &str, why: String) {
        let refused = RouteState::Refused(why);
        self.settle(Counters::new(Direction::Out, &self.makes.host, name, refused).route());
    }

    /// As above, of a ring that is looked at again and again: not told while it is so.
    fn refuse_once(&mut self, name: &str, why: String) {
        let place = (Direction::Out, (self.makes.host.clone(), name.into()));
        let was = self.settled.get(&place).map(|route| &route.state);
        if !matches!(was, Some(RouteState::Refused(known)) if *known == why) {
            self.refuse(name, why);
        }
    }

    /// A token of another bridge came, or went.
    fn hear(&mut self, kind: SampleKind, key: &str) {
        let came = kind == SampleKind::Put;
        if let Some(host) = keys::of_bridge_token(key) {
            if !came {
                self.bridges.remove(&host);
            } else if self.bridges.len() < MOST_REMEMBERED {
                let of_host = self.incoming.iter_mut().filter(|(key, _)| key.0 == host);
                for (_, ring) in of_host.filter(|(_, ring)| ring.down_since.is_some()) {
                    ring.ask_at = Some(Instant::now());
                }
                self.bridges.insert(host, Instant::now());
            }
        } else if let Some((host, epoch)) = keys::of_made_token(key) {
            // (What this bridge has made it knows. Where the link is cut, its own tokens go, too.)
            if host != self.makes.host {
                self.hear_of_made(epoch, came);
            }
        } else if let Some((host, name, epoch)) = keys::of_ring_token(key) {
            // (Ours are heard here, too.)
            if host != self.makes.host && self.config.receives(&host, &name) {
                self.hear_of_ring((host, name), epoch, came);
            }
        }
    }

    /// Another bridge has made a ring, or the ring is gone.
    fn hear_of_made(&mut self, epoch: u64, came: bool) {
        if !came {
            self.makes.made.remove(epoch);
        } else if self.makes.made.len() < MOST_REMEMBERED {
            self.makes.made.insert(epoch);
            // This bridge may have been faster than the word of it.
            self.outgoing.retain(|(_, sent), _| *sent != epoch);
        }
    }

    fn hear_of_ring(&mut self, key: Key, epoch: u64, came: bool) {
        let known = self.incoming.get(&key).map(Incoming::epoch);
        match (known, came) {
            (Some(known), false) if known == epoch => {
                let ring = self.incoming.get_mut(&key).expect("just seen");
                if ring.is_waiting() {
                    // There is nothing to be kept, and another ring may take its place.
                    return self.end(&key);
                }
                // It is asked for until it answers: a link that is back may bring no token anew.
                (ring.down_since, ring.ask_at) = (Some(Instant::now()), Some(Instant::now() + ANSWER));
                if !ring.is_over() && ring.set(RouteState::Down) {
                    let route = ring.route();
                    self.tell(&route);
                }
            }
            (_, false) => {
                if self.crowded.get(&key) == Some(&epoch) {
                    self.crowded.remove(&key);
                }
                if let Some(ring) = self.incoming.get_mut(&key) {
                    ring.next = ring.next.filter(|(next, _)| *next != epoch);
                }
            }
            (Some(known), true) if known == epoch => {
                let ring = self.incoming.get_mut(&key).expect("just seen");
                ring.down_since = None;
                // To learn what was lost last.
                ring.ask_at = Some(Instant::now());
            }
            (Some(_), true) => {
                let ring = self.incoming.get_mut(&key).expect("just seen");
                // Asked once more how far it was: its last messages may have been lost.
                let most = if ring.is_reliable() { DELIVERED } else { ANSWER };
                ring.next = Some((epoch, Instant::now() + most));
                ring.ask_at = Some(Instant::now());
            }
            (None, true) => self.receive(key, epoch),
        }
        self.look_at_incoming();
    }

    /// Begins to listen to a ring that is new.
    fn receive(&mut self, key: Key, epoch: u64) {
        let (host, name) = &key;
        let begun = if self.incoming.len() < self.config.most_rings {
            let begun =
                Incoming::begin(&self.makes.session, (host, name, epoch), (&self.makes.host, self.life));
            begun.map_err(|error| error.to_string())
        } else {
            if self.crowded.len() < MOST_REMEMBERED {
                self.crowded.insert(key.clone(), epoch);
            }
            Err(format!("{} rings come in already, and no more than these may", self.incoming.len()))
        };
        match begun {
            Ok(ring) => {
                self.settled.remove(&(Direction::In, key.clone()));
                self.incoming.insert(key, ring);
            }
            Err(why) => {
                let refused = RouteState::Refused(why);
                self.settle(Counters::new(Direction::In, host, name, refused).route());
            }
        }
    }

    /// Asks what rings are, and ends those that have ended.
    fn look_at_incoming(&mut self) {
        let mut over = Vec::new();
        for (key, ring) in &mut self.incoming {
            let has_ended = ring.is_over()
                || ring.next.is_some_and(|(_, at)| at <= Instant::now())
                || ring.is_down_for(SETTLED)
                    && self.bridges.get(&key.0).is_some_and(|since| since.elapsed() >= SETTLED)
                || self.config.close_after.is_some_and(|time| ring.is_down_for(time));
            if has_ended {
                over.push(key.clone());
            } else if ring.ask_at.is_some_and(|at| at <= Instant::now()) {
                ring.ask_at = Some(Instant::now() + ANSWER);
                let ack = Ack { epoch: ring.epoch(), life: self.life, next: 0, needs: Needs::Nothing };
                ask(&self.makes.session, &self.makes.events, key.clone(), (&self.makes.host, ack));
            }
            ring.say_how_far();
        }
        for key in over {
            self.end(&key);
        }
        while self.incoming.len() < self.config.most_rings {
            let Some((key, epoch)) = self.crowded.pop_first() else { break };
            self.receive(key, epoch);
        }
    }

    /// Another bridge has said what a ring is, or nothing that can be used.
    fn learn(&mut self, key: &Key, described: Result<Description, Refused>) {
        let Some(ring) = self.incoming.get_mut(key) else { return };
        let was_open = ring.route().state == RouteState::Open;
        let made = described.and_then(|described| ring.is(&self.makes, &self.config, &described));
        let is_new = match made {
            Ok(false) => false,
            Ok(true) => {
                (ring.ask_at, ring.down_since) = (None, None);
                ring.set(RouteState::Open) || !was_open
            }
            // (It is asked again: the name may be free then.)
            Err(why) => ring.is_waiting() && ring.set(RouteState::Refused(why)),
        };
        if is_new {
            let route = ring.route();
            self.tell(&route);
        }
    }

    /// A ring that came in ends here.
    fn end(&mut self, key: &Key) {
        let Some(ring) = self.incoming.remove(key) else { return };
        ring.end(false);
        self.settle(ring.route());
        if let Some((epoch, _)) = ring.next {
            self.receive(key.clone(), epoch);
            self.look_at_incoming();
        }
    }

    /// Keeps what a route came to.
    fn settle(&mut self, route: Route) {
        self.tell(&route);
        let key = (route.direction, (route.host.clone(), route.name.clone()));
        if self.settled.len() >= self.config.most_rings {
            self.settled.pop_first();
        }
        self.settled.insert(key, route);
    }

    fn tell(&self, route: &Route) {
        if let Some(told) = &self.config.on_change {
            of_the_user(|| told(route));
        }
    }

    /// What [`Bridge::routes`] says from here on.
    fn all_routes(&self, seen: &Seen) -> Vec<Route> {
        let out = self.outgoing.values().map(Outgoing::route);
        let into = self.incoming.values().map(|ring| {
            let route = ring.route();
            Route { round_trip_ns: seen.round_trip_ns(&route.host), ..route }
        });
        let settled = self.settled.values().cloned();
        out.chain(into).chain(settled).collect()
    }
}

/// Calls code of the user. A panic of it, which the hook has told, ends here: the bridge carries on.
pub(crate) fn of_the_user(call: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(call)) {
        // What it says is the user's, too.
        if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
            std::mem::forget(again);
        }
    }
}

/// Asks the bridge of this host what the ring of this name is. `reader`: this bridge, and which ring it
/// means.
fn ask(session: &Session, events: &Sender<Event>, key: Key, reader: (&str, Ack)) {
    let (events, asked) = (events.clone(), keys::description(&key.0, &key.1));
    let told = move |reply: zenoh::query::Reply| {
        let described = match reply.result() {
            Ok(sample) => Description::of_json(&sample.payload().to_bytes()),
            Err(error) => Err(String::from_utf8_lossy(&error.payload().to_bytes()).into_owned()),
        };
        _ = events.send(Event::Described(key.clone(), described));
    };
    // (Without an answer it is asked again.)
    let get = session.get(asked).payload(reader.0).attachment(reader.1.to_bytes().as_slice());
    _ = get.timeout(ANSWER).callback(told).wait();
}

//! [`Incoming`]: listens to a ring of another machine, and passes what comes on to a [`FarRing`].

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use annulus::__bridge::spawn;
use annulus::shm::blocks::MessageType;
use zenoh::bytes::Encoding;
use zenoh::pubsub::Subscriber;
use zenoh::query::{ConsolidationMode, Reply};
use zenoh::sample::{Sample, SampleKind};
use zenoh::{Session, Wait};

use crate::bridge::Event;
use crate::config::Config;
use crate::counters::{Counters, Direction, Route, RouteState};
use crate::description::{Description, Refused, Shape};
use crate::far_ring::{Acks, FarRing, Makes, Of, Plan};
use crate::keys;
use crate::services::FarService;
use crate::values::FarTable;
use crate::wire::{Change, Frame, Needs};

/// So many bytes that come before it is known what the ring is are kept.
const MOST_WAITING: usize = 1 << 20;

/// So many samples wait for the subscribers of a lossless ring.
const MOST_QUEUED: usize = 1024;

/// And so many bytes of them.
const MOST_QUEUED_BYTES: usize = 16 << 20;

/// The values of a table come within that time, or are asked for again.
const VALUES: Duration = Duration::from_secs(30);

/// A bridge that gets a ring without loss says how far it is at least so often.
const HEARTBEAT: Duration = Duration::from_millis(500);

/// A ring that comes from the network.
pub(crate) struct Incoming {
    shared: Arc<Shared>,
    /// Keeps the messages coming.
    _subscriber: Subscriber<()>,
    /// Keeps newest values coming, where it is a table.
    values: Option<Subscriber<()>>,
    acks: Acks,
    /// Whether lost messages can be asked for.
    is_reliable: bool,
    /// How far it has said that it is, and when.
    said: Option<(u64, Instant)>,
    /// Since when its bridge can't be reached.
    pub(crate) down_since: Option<Instant>,
    /// When to ask again what it is.
    pub(crate) ask_at: Option<Instant>,
    /// The next ring of that name, which waits for the end of this one, up to this time.
    pub(crate) next: Option<(u64, Instant)>,
}

/// What the network's thread has, too.
struct Shared {
    ring: Mutex<Ring>,
    counters: Arc<Counters>,
    /// No message is waited for any more. (Relaxed: it is seen soon enough.)
    is_over: AtomicBool,
}

/// The ring.
struct Ring {
    /// Which one of that name it is.
    epoch: u64,
    stage: Stage,
}

enum Stage {
    /// It is not known yet what it is. These came meanwhile.
    Waiting {
        samples: Vec<(Frame, Vec<u8>)>,
        bytes: usize,
    },
    Open {
        encoding: Encoding,
        to: To,
    },
    Over,
}

/// Where samples go.
enum To {
    /// To a lossy ring, at once.
    Ring(Box<FarRing>),
    /// To the thread of a lossless ring, which waits for subscribers.
    Thread(Queue),
    /// To a table, at once, under keys of their own.
    Values(Box<FarTable>),
    /// Nowhere: the service asks.
    Service(FarService),
}

/// Samples for the thread of a ring.
struct Queue {
    samples: SyncSender<(Frame, Vec<u8>)>,
    /// Of all samples that wait. (Relaxed: an amount, which orders nothing.)
    bytes: Arc<AtomicUsize>,
    thread: JoinHandle<()>,
}

impl Queue {
    /// Gives it to the thread, or forgets it where too much waits: it is asked for once more.
    fn push(&self, frame: Frame, payload: Vec<u8>) {
        let bytes = payload.len();
        if self.bytes.load(Ordering::Relaxed) + bytes > MOST_QUEUED_BYTES {
            return;
        }
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        if self.samples.try_send((frame, payload)).is_err() {
            self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
    }
}

impl Shared {
    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn goes_on(&self) -> bool {
        !self.is_over.load(Ordering::Relaxed)
    }

    /// On the network's thread.
    fn take(&self, sample: &Sample, acks: &Acks) {
        let frame = sample.attachment().and_then(|attachment| Frame::of_bytes(&attachment.to_bytes()));
        let Some(frame) = frame.filter(|_| sample.kind() == SampleKind::Put) else {
            return self.counters.corrupt();
        };
        let payload = sample.payload().to_bytes();
        let mut ring = self.ring();
        if frame.epoch != ring.epoch {
            // Of the ring before, or of the next, of which a token will tell.
            return;
        }
        match &mut ring.stage {
            Stage::Waiting { samples, bytes } => {
                if *bytes + payload.len() <= MOST_WAITING {
                    *bytes += payload.len() + size_of::<(Frame, Vec<u8>)>();
                    samples.push((frame, payload.into_owned()));
                }
            }
            Stage::Open { encoding, .. } if *sample.encoding() != *encoding => self.counters.corrupt(),
            Stage::Open { to, .. } => {
                if self.pass(to, frame, &payload) {
                    self.finish(&mut ring);
                }
            }
            // It had said that before, which may have been lost.
            Stage::Over if frame.after > 0 => acks.say(self.counters.next(), Needs::Out),
            Stage::Over => {}
        }
    }

    /// On the network's thread: the value of a cell, that changed or was asked for.
    fn take_value(&self, sample: &Sample) {
        let change = sample.attachment().and_then(|attachment| Change::of_bytes(&attachment.to_bytes()));
        let Some(change) = change.filter(|_| sample.kind() == SampleKind::Put) else {
            return self.counters.corrupt();
        };
        match &mut self.ring().stage {
            Stage::Open { encoding, .. } if *sample.encoding() != *encoding => self.counters.corrupt(),
            Stage::Open { to: To::Values(table), .. } => table.take(change, &sample.payload().to_bytes()),
            _ => {}
        }
    }

    /// Whether the ring ends behind these messages, and is not ended by its thread.
    fn pass(&self, to: &mut To, frame: Frame, payload: &[u8]) -> bool {
        match to {
            To::Ring(ring) => ring.take(frame, payload, &|| self.goes_on()),
            To::Thread(queue) => {
                queue.push(frame, payload.to_vec());
                false
            }
            To::Values(_) | To::Service(_) => {
                if !payload.is_empty() {
                    self.counters.corrupt();
                }
                frame.ends
            }
        }
    }

    /// The ring has ended, as it has there.
    fn finish(&self, ring: &mut Ring) {
        ring.stage = Stage::Over;
        // (One that could not be made anew is refused.)
        if self.counters.state() == RouteState::Open || self.counters.state() == RouteState::Down {
            self.counters.set(RouteState::Ended);
        }
    }
}

/// The thread of a lossless ring.
fn deliver(shared: &Shared, mut ring: FarRing, samples: &Receiver<(Frame, Vec<u8>)>, bytes: &AtomicUsize) {
    for (frame, payload) in samples {
        bytes.fetch_sub(payload.len(), Ordering::Relaxed);
        let ends = ring.take(frame, &payload, &|| shared.goes_on());
        if ends {
            shared.finish(&mut shared.ring());
        }
        if ends || !shared.goes_on() {
            break;
        }
    }
}

impl Incoming {
    /// Begins to listen to a ring of which a token tells. `reader` is this bridge's host, and its life.
    pub(crate) fn begin(
        session: &Session,
        (host, name, epoch): (&str, &str, u64),
        reader: (&str, u64),
    ) -> zenoh::Result<Self> {
        let counters = Arc::new(Counters::new(Direction::In, host, name, RouteState::Asking));
        let stage = Stage::Waiting { samples: Vec::new(), bytes: 0 };
        let ring = Mutex::new(Ring { epoch, stage });
        let shared = Arc::new(Shared { ring, counters, is_over: AtomicBool::new(false) });
        let acks = Acks::new(session, (host, name, epoch), reader);
        let (taking, saying) = (Arc::clone(&shared), acks.clone());
        let subscriber = session
            .declare_subscriber(keys::messages(host, name))
            .callback(move |sample| taking.take(&sample, &saying))
            .wait()?;
        Ok(Self {
            shared,
            _subscriber: subscriber,
            values: None,
            acks,
            is_reliable: false,
            said: None,
            down_since: None,
            ask_at: Some(Instant::now()),
            next: None,
        })
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.shared.ring().epoch
    }

    pub(crate) fn route(&self) -> Route {
        self.shared.counters.route()
    }

    pub(crate) fn is_over(&self) -> bool {
        matches!(self.shared.ring().stage, Stage::Over)
    }

    pub(crate) fn is_waiting(&self) -> bool {
        matches!(self.shared.ring().stage, Stage::Waiting { .. })
    }

    /// Whether lost messages can be asked for.
    pub(crate) fn is_reliable(&self) -> bool {
        self.is_reliable
    }

    /// Returns whether it was in another state.
    pub(crate) fn set(&self, state: RouteState) -> bool {
        self.shared.counters.set(state)
    }

    /// Its bridge has said what it is. Makes the ring, or learns how far it is. Whether the ring continues.
    pub(crate) fn is(
        &mut self,
        makes: &Makes,
        config: &Config,
        described: &Description,
    ) -> Result<bool, Refused> {
        let mut ring = self.shared.ring();
        if described.epoch() != Some(ring.epoch) {
            // Another token tells of that one.
            return Ok(false);
        }
        match &mut ring.stage {
            Stage::Over => return Ok(false),
            Stage::Open { to, .. } => {
                let after = if described.reliable { described.next } else { 0 };
                let told =
                    Frame { epoch: 0, first: described.next, after, ends: described.ended, is_one: false };
                if self.shared.pass(to, told, &[]) {
                    self.shared.finish(&mut ring);
                    return Ok(false);
                }
                drop(ring);
                self.ask_for_values(makes);
                return Ok(true);
            }
            Stage::Waiting { .. } => {}
        }
        drop(ring);
        self.is_reliable = described.reliable;
        self.open(makes, config, described).inspect_err(|_| {
            // Nothing is kept for this bridge, and nobody waits for it.
            if described.reliable {
                self.acks.say(0, Needs::Out);
            }
        })
    }

    /// Makes the ring.
    fn open(&mut self, makes: &Makes, config: &Config, described: &Description) -> Result<bool, Refused> {
        let is_lossless = described.reliable && described.kind == "lossless";
        let of = match described.shape(config.most_bytes)? {
            Shape::Messages(of, capacity) => Of::Messages(of, capacity),
            Shape::Frames(shape) => Of::Frames(shape),
            Shape::Values(of, cells) => return self.open_values(makes, (&of, cells), described),
            Shape::Service([question, answer], open) => {
                let Route { host, name, .. } = self.route();
                let asks = (keys::questions(&host, &name, self.epoch()), config.answer_timeout);
                let (of, counters) = (([&question, &answer], open), Arc::clone(&self.shared.counters));
                let service = FarService::begin(makes, &name, of, asks, counters)?;
                return Ok(self.opened(described, To::Service(service)));
            }
        };
        let plan = Plan {
            makes: makes.clone(),
            name: self.route().name,
            of,
            lossless: is_lossless.then_some(config.subscribers),
            acks: described.reliable.then(|| self.acks.clone()),
        };
        let mut ring = self.shared.ring();
        let Stage::Waiting { samples, .. } = &mut ring.stage else { return Ok(false) };
        // What came before the answer belongs to it.
        let first = samples.first().map_or(described.begin, |(frame, _)| frame.first.min(described.begin));
        let far = FarRing::begin(plan, first, Arc::clone(&self.shared.counters))?;
        let to = if is_lossless { self.spawn(far)? } else { To::Ring(Box::new(far)) };
        drop(ring);
        Ok(self.opened(described, to))
    }

    /// Makes the table, and asks for its values.
    fn open_values(
        &mut self,
        makes: &Makes,
        of: (&MessageType, usize),
        described: &Description,
    ) -> Result<bool, Refused> {
        let Route { host, name, .. } = self.route();
        let taking = Arc::clone(&self.shared);
        let subscriber = makes
            .session
            .declare_subscriber(keys::cells(&host, &name))
            .callback(move |sample| taking.take_value(&sample))
            .wait()
            .map_err(|error| error.to_string())?;
        let table = FarTable::begin(makes, &name, of, self.epoch(), Arc::clone(&self.shared.counters))?;
        self.values = Some(subscriber);
        let goes_on = self.opened(described, To::Values(Box::new(table)));
        self.ask_for_values(makes);
        Ok(goes_on)
    }

    /// Asks for the values of all cells, of a table that is there. It listens already.
    fn ask_for_values(&self, makes: &Makes) {
        if self.values.is_none() {
            return;
        }
        let Route { host, name, .. } = self.route();
        let (taking, events) = (Arc::clone(&self.shared), makes.events.clone());
        let key = (host, name);
        let asked = keys::cells(&key.0, &key.1);
        let told = move |reply: Reply| match reply.result() {
            Ok(sample) => taking.take_value(sample),
            // Not all have come: it is asked again.
            Err(_) => _ = events.send(Event::Unanswered(key.clone())),
        };
        let get = makes.session.get(asked).consolidation(ConsolidationMode::None).timeout(VALUES);
        _ = get.callback(told).wait();
    }

    /// What was made is there. What came before goes to it. Whether it goes on.
    fn opened(&self, described: &Description, mut to: To) -> bool {
        let mut ring = self.shared.ring();
        let Stage::Waiting { samples, .. } = &mut ring.stage else { return false };
        self.shared.counters.is(&described.kind);
        self.set(RouteState::Open);
        let mut is_over = false;
        for (frame, payload) in std::mem::take(samples) {
            is_over |= self.shared.pass(&mut to, frame, &payload);
        }
        ring.stage = Stage::Open { encoding: described.encoding(), to };
        if is_over {
            self.shared.finish(&mut ring);
        }
        !is_over
    }

    /// The thread of a lossless ring.
    fn spawn(&self, far: FarRing) -> Result<To, Refused> {
        let (samples, received) = sync_channel(MOST_QUEUED);
        let (shared, bytes) = (Arc::clone(&self.shared), Arc::new(AtomicUsize::new(0)));
        let queued = Arc::clone(&bytes);
        let thread = spawn("annulus in", move || deliver(&shared, far, &received, &queued))
            .map_err(|error| format!("no thread for it: {error}"))?;
        Ok(To::Thread(Queue { samples, bytes, thread }))
    }

    /// Says how far it is, from time to time.
    pub(crate) fn say_how_far(&mut self) {
        let next = self.shared.counters.next();
        let is_said = |(said, at): (u64, Instant)| said == next && at.elapsed() < HEARTBEAT;
        let is_open = || matches!(self.shared.ring().stage, Stage::Open { .. });
        if self.is_reliable && !self.said.is_some_and(is_said) && is_open() {
            self.said = Some((next, Instant::now()));
            self.acks.say(next, Needs::Nothing);
        }
    }

    /// The ring ends here: its publisher has ended, or its bridge is gone for too long. What came of a
    /// lossless ring is delivered before; but not if this bridge `stops`.
    pub(crate) fn end(&self, stops: bool) {
        if stops {
            self.shared.is_over.store(true, Ordering::Relaxed);
        }
        let stage = std::mem::replace(&mut self.shared.ring().stage, Stage::Over);
        match stage {
            Stage::Open { to: To::Thread(Queue { samples, thread, .. }), .. } => {
                drop(samples);
                if stops {
                    _ = thread.join();
                }
            }
            Stage::Open { to: To::Service(service), .. } if stops => service.join(),
            _ => {}
        }
        if self.is_reliable {
            self.acks.say(self.shared.counters.next(), Needs::Out);
        }
        if !matches!(self.shared.counters.state(), RouteState::Refused(_)) {
            self.set(RouteState::Ended);
        }
    }

    /// Whether its bridge can't be reached for so long.
    pub(crate) fn is_down_for(&self, time: Duration) -> bool {
        self.down_since.is_some_and(|since| since.elapsed() >= time)
    }
}

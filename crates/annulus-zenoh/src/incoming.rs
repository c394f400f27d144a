//! [`Incoming`]: makes a ring of this machine of what comes from the network.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use annulus::shm::{Directory, PublishedName};
use zenoh::bytes::Encoding;
use zenoh::liveliness::LivelinessToken;
use zenoh::pubsub::Subscriber;
use zenoh::sample::{Sample, SampleKind};
use zenoh::{Session, Wait};

use crate::config::Config;
use crate::counters::{Counters, Direction, Route, RouteState};
use crate::description::{Description, Refused};
use crate::frame::Frame;
use crate::keys;
use crate::local::{self, Sink};
use crate::outgoing::encoding_of;

/// So many bytes that come before it is known what the ring is are kept.
const MOST_WAITING: usize = 1 << 20;

/// A ring that comes from the network.
pub(crate) struct Incoming {
    shared: Arc<Shared>,
    /// Keeps the messages coming.
    _subscriber: Subscriber<()>,
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
    counters: Counters,
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
    Open(Open),
    Over,
}

struct Open {
    sink: Box<dyn Sink>,
    /// Of a message.
    bytes: usize,
    encoding: Encoding,
    /// In this order: the name goes before the word that a bridge made the ring.
    _name: PublishedName,
    _made: LivelinessToken,
}

impl Shared {
    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// On the network's thread.
    fn take(&self, sample: &Sample) {
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
            Stage::Open(open) if *sample.encoding() != open.encoding => self.counters.corrupt(),
            Stage::Open(open) => {
                if self.put(open, frame, &payload) {
                    ring.stage = Stage::Over;
                    self.counters.set(RouteState::Ended);
                }
            }
            Stage::Over => {}
        }
    }

    /// Publishes these messages. Whether the ring ends behind them.
    fn put(&self, open: &mut Open, frame: Frame, payload: &[u8]) -> bool {
        if !payload.len().is_multiple_of(open.bytes) {
            self.counters.corrupt();
            return false;
        }
        // (A number that is too large.)
        let Ok(put) = open.sink.put(frame.first, payload) else {
            self.counters.corrupt();
            return false;
        };
        self.counters.lagged(put.lagged);
        if put.published > 0 {
            self.counters.carried(put.published, put.published * open.bytes as u64);
        }
        self.counters.go_to(open.sink.next());
        if frame.ends {
            open.sink.close();
        }
        frame.ends
    }
}

impl Incoming {
    /// Begins to listen to a ring of which a token tells.
    pub(crate) fn begin(session: &Session, host: &str, name: &str, epoch: u64) -> zenoh::Result<Self> {
        let counters = Counters::new(Direction::In, host, name, RouteState::Asking);
        let stage = Stage::Waiting { samples: Vec::new(), bytes: 0 };
        let shared = Arc::new(Shared { ring: Mutex::new(Ring { epoch, stage }), counters });
        let taking = Arc::clone(&shared);
        let subscriber = session
            .declare_subscriber(keys::messages(host, name))
            .callback(move |sample| taking.take(&sample))
            .wait()?;
        Ok(Self {
            shared,
            _subscriber: subscriber,
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

    /// Returns whether it was in another state.
    pub(crate) fn set(&self, state: RouteState) -> bool {
        self.shared.counters.set(state)
    }

    /// Its bridge has said what it is. Makes the ring, or learns how far it is. Whether the ring goes on.
    pub(crate) fn is(
        &mut self,
        session: &Session,
        config: &Config,
        (directory, host): (&Directory, &str),
        described: &Description,
    ) -> Result<bool, Refused> {
        let mut ring = self.shared.ring();
        if described.epoch() != Some(ring.epoch) {
            // Another token tells of that one.
            return Ok(false);
        }
        let samples = match &mut ring.stage {
            Stage::Over => return Ok(false),
            Stage::Open(open) => {
                let told = Frame { epoch: 0, first: described.next, ends: described.ended };
                let is_over = self.shared.put(open, told, &[]);
                if is_over {
                    ring.stage = Stage::Over;
                }
                return Ok(!is_over);
            }
            Stage::Waiting { samples, .. } => samples,
        };
        let (of, capacity) = described.ring(config.most_bytes)?;
        // What came before the answer belongs to it.
        let first = samples.first().map_or(described.next, |(frame, _)| frame.first.min(described.next));
        let (sink, invitation) = local::sink(&of, capacity, first)?;
        let made = invitation.info().map_err(|error| error.to_string())?.identity();
        // Before it has a name: no other bridge of this machine sends it out.
        let made = session.liveliness().declare_token(keys::made_token(host, made)).wait();
        let made = made.map_err(|error| error.to_string())?;
        let name = self.shared.counters.route().name;
        let name = invitation.publish(directory, &name).map_err(|error| error.to_string())?;
        let encoding = encoding_of(&described.fingerprint);
        let mut open = Open { sink, bytes: of.bytes(), encoding, _name: name, _made: made };
        self.shared.counters.go_to(first);
        let mut is_over = false;
        for (frame, payload) in std::mem::take(samples) {
            is_over |= self.shared.put(&mut open, frame, &payload);
        }
        ring.stage = if is_over { Stage::Over } else { Stage::Open(open) };
        self.shared.counters.set(if is_over { RouteState::Ended } else { RouteState::Open });
        Ok(!is_over)
    }

    /// The ring ends here: its publisher has ended, or its bridge is gone for too long.
    pub(crate) fn end(&self) {
        let mut ring = self.shared.ring();
        if let Stage::Open(open) = &mut ring.stage {
            open.sink.close();
        }
        ring.stage = Stage::Over;
        self.shared.counters.set(RouteState::Ended);
    }

    /// Whether its bridge can't be reached for so long.
    pub(crate) fn is_down_for(&self, time: Duration) -> bool {
        self.down_since.is_some_and(|since| since.elapsed() >= time)
    }
}

//! [`Outgoing`]: carries the messages of one ring to the network, on a thread of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use annulus::shm::{Invitation, RingInfo};
use zenoh::bytes::Encoding;
use zenoh::liveliness::LivelinessToken;
use zenoh::matching::MatchingStatus;
use zenoh::qos::CongestionControl;
use zenoh::query::Queryable;
use zenoh::{Session, Wait};

use crate::config::Config;
use crate::counters::{Counters, Direction, Route, RouteState};
use crate::description::{Description, Refused};
use crate::frame::Frame;
use crate::keys;
use crate::local::{self, Gathered, Source};

/// How long it waits for a message without a look whether it is to stop, and before it says how far it is.
const PATIENCE: Duration = Duration::from_millis(100);

/// The time between two looks whether anybody wants the messages.
const UNWANTED: Duration = Duration::from_millis(5);

/// What is told to others that are there has arrived after so long.
const SETTLED: Duration = Duration::from_secs(2);

/// A ring that has ended is remembered for so long, for others that can't be reached.
const REMEMBERED: Duration = Duration::from_secs(60);

/// Of samples with messages of this fingerprint.
pub(crate) fn encoding_of(fingerprint: &str) -> Encoding {
    Encoding::APPLICATION_OCTET_STREAM.with_schema(format!("annulus={fingerprint}"))
}

/// A ring that is carried to the network.
pub(crate) struct Outgoing {
    counters: Arc<Counters>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    /// What tells others of it.
    told: Option<Queryable<()>>,
}

impl Outgoing {
    /// Begins to carry the ring of this invitation.
    pub(crate) fn begin(
        session: &Session,
        config: &Config,
        (host, name): (&str, &str),
        invitation: &Invitation,
        info: &RingInfo,
    ) -> Result<Self, Refused> {
        let described = Description::of(info)?;
        let source = local::source(invitation, info)?;
        let counters = Arc::new(Counters::new(Direction::Out, host, name, RouteState::Open));
        counters.go_to(source.next());
        let failed = |error: zenoh::Error| error.to_string();
        let (key, epoch) = (keys::messages(host, name), info.identity());
        let publisher = session
            .declare_publisher(key.clone())
            // A lossy ring waits for nobody.
            .congestion_control(CongestionControl::Drop)
            .encoding(encoding_of(&described.fingerprint))
            .wait()
            .map_err(failed)?;
        let (asked_for, counted) = (keys::description(host, name), Arc::clone(&counters));
        let encoding = encoding_of(&described.fingerprint);
        let queryable = session
            .declare_queryable(asked_for.clone())
            .callback(move |query| {
                // (In this order: the number of a ring that has ended is the last.)
                let ended = counted.state() == RouteState::Ended;
                let described = Description { next: counted.next(), ended, ..described.clone() };
                let reply = query.reply(asked_for.clone(), described.to_json());
                // (Without an answer, the other bridge asks again.)
                _ = reply.encoding(Encoding::APPLICATION_JSON).wait();
            })
            .wait()
            .map_err(failed)?;
        let is_matched = Arc::new(AtomicBool::new(false));
        let matched = Arc::clone(&is_matched);
        let told = move |status: MatchingStatus| matched.store(status.matching(), Ordering::Relaxed);
        publisher.matching_listener().callback(told).background().wait().map_err(failed)?;
        // Last: a bridge that sees it can ask.
        let token = session.liveliness().declare_token(keys::ring_token(host, name, epoch));
        let token = token.wait().map_err(failed)?;
        let stop = Arc::new(AtomicBool::new(false));
        let carrier = Carrier {
            session: session.clone(),
            publisher,
            key,
            encoding,
            source,
            epoch,
            counters: Arc::clone(&counters),
            is_matched,
            token: Some(token),
            stop: Arc::clone(&stop),
            linger: config.linger,
            most: config.batch_bytes,
        };
        let thread = thread::Builder::new().name("annulus out".into()).spawn(move || carrier.run());
        let thread = thread.map_err(|error| format!("no thread for it: {error}"))?;
        Ok(Self { counters, stop, thread: Some(thread), told: Some(queryable) })
    }

    pub(crate) fn route(&self) -> Route {
        self.counters.route()
    }

    /// Whether the ring has ended, and nobody is to be told of it any more.
    pub(crate) fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        // Relaxed: the thread sees it soon enough.
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
        // After the last message.
        drop(self.told.take());
    }
}

/// What the thread has.
struct Carrier {
    session: Session,
    publisher: zenoh::pubsub::Publisher<'static>,
    key: String,
    encoding: Encoding,
    source: Box<dyn Source>,
    epoch: u64,
    counters: Arc<Counters>,
    /// Whether anybody on the network wants the messages. (Relaxed: it is seen soon enough.)
    is_matched: Arc<AtomicBool>,
    /// Tells others that there is this ring.
    token: Option<LivelinessToken>,
    stop: Arc<AtomicBool>,
    linger: Duration,
    most: usize,
}

impl Carrier {
    fn run(mut self) {
        // Whether the others know how far it is, if nothing was lost on the way.
        let mut is_told = false;
        let mut expected = self.source.next();
        let mut ended = None;
        // Whether anything may have been sent.
        let mut has_begun = false;
        while !self.stops() {
            if !self.is_matched() {
                // The messages are kept where they are, as long as the ring has them.
                if self.source.is_closed() && ended.get_or_insert_with(Instant::now).elapsed() >= REMEMBERED {
                    self.counters.set(RouteState::Ended);
                    return;
                }
                if !has_begun {
                    expected = self.source.begin_again();
                    self.counters.go_to(expected);
                }
                thread::sleep(UNWANTED);
                is_told = false;
                continue;
            }
            has_begun = true;
            let mut batch = Vec::with_capacity(self.most.min(4096));
            match self.source.gather(&mut batch, self.most, PATIENCE) {
                Gathered::Messages { first, end } => {
                    self.counters.lagged(first - expected);
                    expected = self.send_all((first, end), batch);
                    is_told = false;
                }
                Gathered::Nothing if is_told => {}
                Gathered::Nothing => {
                    self.tell(false);
                    is_told = true;
                }
                Gathered::Closed => {
                    self.counters.lagged(self.source.next() - expected);
                    self.tell(true);
                    self.counters.go_to(self.source.next());
                    self.counters.set(RouteState::Ended);
                    drop(self.token.take());
                    return self.stay();
                }
            }
        }
    }

    /// The ring has ended, and the others were told. If the link was cut at that moment, they ask how far it
    /// was when it is back.
    fn stay(&self) {
        let (ended, mut matched) = (Instant::now(), Instant::now());
        while !self.stops() && matched.elapsed() < SETTLED && ended.elapsed() < REMEMBERED {
            if !self.is_matched() {
                matched = Instant::now();
            }
            thread::sleep(UNWANTED);
        }
    }

    fn stops(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn is_matched(&self) -> bool {
        self.is_matched.load(Ordering::Relaxed)
    }

    /// Sends these messages, and those that come while they may wait. Returns the number behind the last.
    fn send_all(&mut self, (mut first, mut end): (u64, u64), mut batch: Vec<u8>) -> u64 {
        let until = Instant::now() + self.linger;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || batch.len() >= self.most {
                break;
            }
            let gathered = batch.len();
            match self.source.gather(&mut batch, self.most, left) {
                Gathered::Messages { first: more, end: more_end } => {
                    if more != end {
                        // They don't follow: a sample of their own.
                        let rest = batch.split_off(gathered);
                        self.send(first, end, batch);
                        self.counters.lagged(more - end);
                        (first, batch) = (more, rest);
                    }
                    end = more_end;
                }
                // (What is at the end is found again.)
                Gathered::Nothing | Gathered::Closed => break,
            }
        }
        self.send(first, end, batch);
        end
    }

    /// Sends messages with the numbers from `first` on, and before `end`.
    fn send(&self, first: u64, end: u64, batch: Vec<u8>) {
        let (messages, bytes) = (end - first, batch.len() as u64);
        let frame = Frame { epoch: self.epoch, first, ends: false };
        // (What the network can't take is lost, and told by the number of what comes next.)
        _ = self.publisher.put(batch).attachment(frame.to_bytes().as_slice()).wait();
        self.counters.carried(messages, bytes);
        // Now: what has a smaller number has come before the answer that says this one, or is lost.
        self.counters.go_to(end);
    }

    /// Tells the others how far it is, so that they know what was lost last.
    fn tell(&self, ends: bool) {
        let frame = Frame { epoch: self.epoch, first: self.source.next(), ends };
        let put = self.session.put(&self.key, Vec::<u8>::new());
        let put = put.congestion_control(CongestionControl::Block).encoding(self.encoding.clone());
        _ = put.attachment(frame.to_bytes().as_slice()).wait();
    }
}

//! [`Outgoing`]: carries one ring to the network, on a thread of its own. For rings of messages and of frames
//! this is the [`Carrier`]; newest values and services have their own modules.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use annulus::__bridge::spawn;
use annulus::shm::{Invitation, RingInfo, ShmKind};
use zenoh::bytes::{Encoding, ZBytes};
use zenoh::liveliness::LivelinessToken;
use zenoh::matching::MatchingStatus;
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::qos::CongestionControl;
use zenoh::query::{Query, Queryable};
use zenoh::sample::Sample;
use zenoh::{Session, Wait};

use crate::config::{Config, WhenDown};
use crate::counters::{Counters, Direction, Route, RouteState};
use crate::description::{Description, Refused};
use crate::keys;
use crate::local::{Gathered, Source};
use crate::ros2::Ros2;
use crate::services::Asks;
use crate::values::Values;
use crate::window::{Batch, Window};
use crate::wire::{Ack, Frame};
use crate::words::Wake;

/// How long it waits for a message, or for a bridge that wants some, without a look at the rest.
const PATIENCE: Duration = Duration::from_millis(100);

/// The same, while a bridge may not have all messages.
const SOON: Duration = Duration::from_millis(5);

/// A bridge asks what a ring is as soon as it listens. A listener that has not asked for so long is none.
const LISTENS: Duration = Duration::from_secs(1);

/// The shortest time between two times that messages are sent again.
const BETWEEN: Duration = Duration::from_millis(50);

/// A ring that has ended, and of which all know it, is told of for so long.
const SETTLED: Duration = Duration::from_secs(2);

/// A ring that has ended is remembered for so long, for others that can't be reached.
const REMEMBERED: Duration = Duration::from_secs(60);

/// So many words of others wait at most. (What is lost is said again.)
const MOST_WORDS: usize = 1024;

fn is_of_messages(kind: ShmKind) -> bool {
    matches!(kind, ShmKind::Lossy | ShmKind::MpLossy | ShmKind::Lossless)
}

/// A ring that is carried to the network.
pub(crate) struct Outgoing {
    counters: Arc<Counters>,
    stop: Arc<AtomicBool>,
    /// Makes the thread look whether it is to stop.
    wake: Wake,
    thread: Option<JoinHandle<()>>,
}

/// What the thread hears.
enum Word {
    /// What the ring is.
    Asked(Query),
    /// How far the bridge of this host is.
    Ack(String, Ack),
    /// There is something to look at.
    Look,
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
        if config.ros2.rings.contains_key(name) && !is_of_messages(info.kind()) {
            return Err(format!("it is a {}; only rings of messages go to ROS 2", info.kind()));
        }
        let counters = Arc::new(Counters::new(Direction::Out, host, name, RouteState::Open));
        let stop = Arc::new(AtomicBool::new(false));
        let (stops, place) = (Arc::clone(&stop), (host, name));
        let (wake, run): (_, Box<dyn FnOnce() + Send>) = match info.kind() {
            ShmKind::Watch => {
                let (values, wake) = Values::begin(session, place, invitation, info, &counters)?;
                (wake, Box::new(move || values.run(&stops)))
            }
            ShmKind::Service => {
                let (asks, wake) = Asks::begin(session, place, invitation, info, &counters)?;
                (wake, Box::new(move || asks.run(&stops)))
            }
            _ => {
                let (carrier, wake) =
                    Carrier::new(session, config, place, (invitation, info), (&counters, stops))?;
                (wake, Box::new(move || carrier.run()))
            }
        };
        let thread = spawn("annulus out", run);
        let thread = thread.map_err(|error| format!("no thread for it: {error}"))?;
        Ok(Self { counters, stop, wake, thread: Some(thread) })
    }

    pub(crate) fn route(&self) -> Route {
        self.counters.route()
    }

    /// Whether the ring has ended, and nobody is to be told of it any more.
    pub(crate) fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Is to end, as a drop does, which waits until it has.
    pub(crate) fn stop(&self) {
        // Relaxed: the thread sees it soon enough.
        self.stop.store(true, Ordering::Relaxed);
        (self.wake)();
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}

/// What the network knows of the ring.
struct Network {
    session: Session,
    publisher: Publisher<'static>,
    key: String,
    encoding: Encoding,
    /// Whether a bridge wants the messages. (Relaxed: it is seen soon enough.)
    is_matched: Arc<AtomicBool>,
    /// Tells others that there is this ring.
    token: Option<LivelinessToken>,
    /// In this order: nobody is told of it before it can be asked for.
    _acks: Option<Subscriber<()>>,
    _asked: Queryable<()>,
}

impl Network {
    fn declare(
        session: &Session,
        config: &Config,
        (host, name, epoch): (&str, &str, u64),
        described: &Description,
        words: &SyncSender<Word>,
    ) -> zenoh::Result<Self> {
        let (key, encoding) = (keys::messages(host, name), described.encoding());
        // A lossy ring waits for nobody. (A frame is many packets, and one that is dropped is a frame: so its
        // thread waits, and the ring goes on.)
        let waits = config.reliable || described.kind == "frames";
        let congestion = if waits { CongestionControl::Block } else { CongestionControl::Drop };
        let publisher = session.declare_publisher(key.clone()).congestion_control(congestion);
        let publisher = publisher.encoding(encoding.clone()).wait()?;
        // (Here and below: what finds no room is asked or said again.)
        let to = words.clone();
        let asked = session
            .declare_queryable(keys::description(host, name))
            .callback(move |query| _ = to.try_send(Word::Asked(query)))
            .wait()?;
        let to = words.clone();
        let hear = move |sample: Sample| {
            let ack = Ack::of_bytes(&sample.payload().to_bytes()).filter(|ack| ack.epoch == epoch);
            if let (Some(ack), Some(reader)) = (ack, keys::reader_of_ack(sample.key_expr())) {
                _ = to.try_send(Word::Ack(reader, ack));
            }
        };
        let acks = config
            .reliable
            .then(|| session.declare_subscriber(keys::all_acks(host, name)).callback(hear).wait())
            .transpose()?;
        let is_matched = Arc::new(AtomicBool::new(false));
        let (matched, to) = (Arc::clone(&is_matched), words.clone());
        let told = move |status: MatchingStatus| {
            matched.store(status.matching(), Ordering::Relaxed);
            _ = to.try_send(Word::Look);
        };
        publisher.matching_listener().callback(told).background().wait()?;
        // Last: a bridge that sees it can ask.
        let token = session.liveliness().declare_token(keys::ring_token(host, name, epoch)).wait()?;
        let session = session.clone();
        Ok(Self {
            session,
            publisher,
            key,
            encoding,
            is_matched,
            token: Some(token),
            _acks: acks,
            _asked: asked,
        })
    }

    fn is_matched(&self) -> bool {
        self.is_matched.load(Ordering::Relaxed)
    }

    /// Sends messages.
    fn put(&self, frame: Frame, payload: ZBytes) {
        // (What the network can't take is lost, and told by the number of what comes next.)
        _ = self.publisher.put(payload).attachment(frame.to_bytes().as_slice()).wait();
    }

    /// Tells how far the ring is.
    fn tell(&self, frame: Frame) {
        let put = self.session.put(&self.key, Vec::<u8>::new());
        let put = put.congestion_control(CongestionControl::Block).encoding(self.encoding.clone());
        _ = put.attachment(frame.to_bytes().as_slice()).wait();
    }
}

/// What the thread has.
struct Carrier {
    network: Network,
    source: Source,
    is_lossless: bool,
    epoch: u64,
    described: Description,
    /// The number of the message that is to be read next.
    expected: u64,
    /// What can be sent again, if anything.
    window: Option<Window>,
    heard: Receiver<Word>,
    counters: Arc<Counters>,
    stop: Arc<AtomicBool>,
    config: Config,
    /// Whether a bridge counts on the messages from here on.
    has_begun: bool,
    has_ended: bool,
    /// Since when a bridge listens.
    matched: Option<Instant>,
    /// When the others were told how far it is, if nothing was sent since.
    told: Option<Instant>,
    /// When messages were sent again.
    sent_again: Option<Instant>,
    /// Sends the messages as ROS 2 has them, too.
    ros2: Option<Ros2>,
}

impl Carrier {
    /// Begins to carry a ring of messages or of frames. With it comes what wakes its thread.
    fn new(
        session: &Session,
        config: &Config,
        (host, name): (&str, &str),
        (invitation, info): (&Invitation, &RingInfo),
        (counters, stop): (&Arc<Counters>, Arc<AtomicBool>),
    ) -> Result<(Self, Wake), Refused> {
        let (described, source) = if info.kind() == ShmKind::Frames {
            let ring = invitation.accept_frames().map_err(|error| error.to_string())?;
            (Description::of_frames(info, &ring)?, Source::of_frames(ring))
        } else {
            (Description::of(info)?, Source::new(invitation, info, config.reliable)?)
        };
        let ros2 = Ros2::begin(session, &config.ros2, (host, name), info)?;
        counters.is(&described.kind);
        counters.go_to(described.next);
        let (words, heard) = sync_channel(MOST_WORDS);
        let epoch = info.identity();
        let network = Network::declare(session, config, (host, name, epoch), &described, &words);
        let carrier = Self {
            network: network.map_err(|error| error.to_string())?,
            source,
            is_lossless: info.kind() == ShmKind::Lossless,
            epoch,
            expected: described.next,
            described,
            window: config.reliable.then(|| Window::new(config.window_bytes)),
            heard,
            counters: Arc::clone(counters),
            stop,
            config: config.clone(),
            has_begun: false,
            has_ended: false,
            matched: None,
            told: None,
            sent_again: None,
            ros2,
        };
        Ok((carrier, Box::new(move || _ = words.try_send(Word::Look))))
    }

    fn run(mut self) {
        let mut ended = None;
        while !self.stops() {
            self.hear(Duration::ZERO);
            if self.is_given_up() {
                let why = format!("a bridge that gets it said nothing for {:?}", self.config.patience);
                self.source.leave();
                return self.finish(RouteState::Refused(why));
            }
            if !self.is_wanted() || !self.begin() {
                // The messages are kept where they are, as long as the ring has them.
                if self.source.is_closed() && ended.get_or_insert_with(Instant::now).elapsed() >= REMEMBERED {
                    self.counters.set(RouteState::Ended);
                    return;
                }
                if self.source.leave() {
                    self.has_begun = false;
                }
                self.told = None;
                self.hear(PATIENCE);
                continue;
            }
            self.send_again();
            if self.has_no_room() {
                self.remind();
                self.hear(PATIENCE);
                continue;
            }
            let most = self.config.batch_bytes;
            let mut batch = Vec::with_capacity(most.min(4096));
            let patience = if self.owes() { SOON } else { PATIENCE };
            match self.source.gather(&mut batch, most, patience) {
                Gathered::Messages { first, end } => self.send_all((first, end), batch),
                Gathered::Nothing => self.remind(),
                Gathered::Closed => {
                    self.skip_to(self.source.next());
                    return self.finish(RouteState::Ended);
                }
            }
        }
    }

    fn stops(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether a bridge gets the messages, or will.
    fn is_wanted(&mut self) -> bool {
        let is_matched = self.network.is_matched();
        let since = is_matched.then(|| self.matched.unwrap_or_else(Instant::now));
        self.matched = since;
        let is_listened_to = match &self.window {
            None => is_matched,
            // Nothing goes to a bridge before it is kept for that bridge.
            Some(window) => window.readers() > 0 || since.is_some_and(|since| since.elapsed() >= LISTENS),
        };
        is_listened_to || self.ros2.as_ref().is_some_and(Ros2::is_matched)
    }

    /// Whether a bridge may not have all messages.
    fn owes(&self) -> bool {
        self.window.as_ref().is_some_and(Window::owes)
    }

    /// Joins the ring, and counts on its messages from here on. Whether it has.
    fn begin(&mut self) -> bool {
        let joined = self.has_begun || self.join().is_ok();
        self.has_begun = joined;
        joined
    }

    /// Joins the ring.
    fn join(&mut self) -> Result<(), Refused> {
        let joined = self.source.join();
        let state = joined.as_ref().map_or_else(|why| RouteState::Refused(why.clone()), |_| RouteState::Open);
        self.counters.set(state);
        self.expected = joined?;
        self.counters.go_to(self.expected);
        if let Some(window) = &mut self.window {
            window.begin(self.expected);
        }
        Ok(())
    }

    /// Hears what others say, and waits that long for the first word.
    fn hear(&mut self, patience: Duration) {
        let mut word = if patience.is_zero() {
            self.heard.try_recv().ok()
        } else {
            self.heard.recv_timeout(patience).ok()
        };
        while let Some(heard) = word {
            match (heard, &mut self.window) {
                (Word::Asked(query), _) => self.answer(&query),
                (Word::Ack(host, ack), Some(window)) => window.hear(&host, &ack, Instant::now()),
                (Word::Ack(..), None) | (Word::Look, _) => {}
            }
            word = self.heard.try_recv().ok();
        }
        self.show();
    }

    /// What the route says of the window from here on.
    fn show(&self) {
        if let Some(window) = &self.window {
            self.counters.keeps(window.kept(), window.readers() as u64);
        }
    }

    /// Says what the ring is. From here on messages are kept for a bridge that asks.
    fn answer(&mut self, query: &Query) {
        let ack = query.attachment().and_then(|ack| Ack::of_bytes(&ack.to_bytes()));
        if ack.is_some_and(|ack| ack.epoch != self.epoch) {
            // It is another ring's to answer.
            return;
        }
        let begun = if self.has_begun || self.has_ended { Ok(()) } else { self.join() };
        let begin = begun.and_then(|()| {
            let Some((window, ack)) = self.window.as_mut().zip(ack) else { return Ok(self.expected) };
            let host = query.payload().and_then(|host| String::from_utf8(host.to_bytes().into_owned()).ok());
            self.has_begun = true;
            host.and_then(|host| window.join(&host, ack.life, Instant::now()))
                .ok_or_else(|| "too many bridges get it already".into())
        });
        let described = begin.map(|begin| Description {
            next: self.expected,
            begin,
            reliable: self.window.is_some(),
            ended: self.has_ended,
            ..self.described.clone()
        });
        // (Without an answer, it is asked again.)
        match described {
            Ok(described) => {
                let reply = query.reply(query.key_expr().clone(), described.to_json());
                _ = reply.encoding(Encoding::APPLICATION_JSON).wait();
            }
            Err(why) => _ = query.reply_err(why).wait(),
        }
    }

    /// Whether a bridge is down, and the ring is to end then.
    fn is_given_up(&mut self) -> bool {
        let (patience, now) = (self.config.patience, Instant::now());
        let Some(window) = self.window.as_mut().filter(|window| window.is_any_silent(patience, now)) else {
            return false;
        };
        if self.config.when_down == WhenDown::Drop {
            window.forget_silent(patience, now);
        }
        self.config.when_down == WhenDown::Close
    }

    /// Whether what comes next must wait, because nothing more can be kept.
    fn has_no_room(&mut self) -> bool {
        let Some(window) = self.window.as_mut().filter(|window| window.is_full()) else { return false };
        if !self.is_lossless {
            window.shed();
        }
        self.is_lossless
    }

    /// The messages before this number were lost before they could be read.
    fn skip_to(&mut self, first: u64) {
        self.counters.lagged(first - self.expected);
        self.go_to(first);
        if let Some(window) = &mut self.window {
            window.skip_to(first);
        }
    }

    fn go_to(&mut self, next: u64) {
        self.expected = next;
        self.counters.go_to(next);
    }

    /// Sends these messages, and those that come while they may wait.
    fn send_all(&mut self, (mut first, mut end): (u64, u64), mut batch: Vec<u8>) {
        self.skip_to(first);
        let until = Instant::now() + self.config.linger;
        // (A frame goes alone.)
        let most = if self.source.has_frames() { 0 } else { self.config.batch_bytes };
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || batch.len() >= most {
                break;
            }
            let gathered = batch.len();
            match self.source.gather(&mut batch, most, left) {
                Gathered::Messages { first: more, end: more_end } => {
                    if more != end {
                        // They don't follow: a sample of their own.
                        let rest = batch.split_off(gathered);
                        self.send(first, end, batch);
                        self.skip_to(more);
                        (first, batch) = (more, rest);
                    }
                    end = more_end;
                }
                // (What is at the end is found again.)
                Gathered::Nothing | Gathered::Closed => break,
            }
        }
        self.send(first, end, batch);
    }

    /// Sends messages with the numbers from `first` on, and before `end`.
    fn send(&mut self, first: u64, end: u64, batch: Vec<u8>) {
        let (messages, bytes) = (end - first, batch.len() as u64);
        if let Some(ros2) = &self.ros2 {
            (0..ros2.send(first, &batch)).for_each(|_| self.counters.corrupt());
        }
        let payload = ZBytes::from(batch);
        self.network.put(self.frame(first), payload.clone());
        self.counters.carried(messages, bytes);
        if let Some(window) = &mut self.window {
            window.push(Batch { first, end, payload });
            self.show();
        }
        // Now: what has a smaller number has come before the answer that says this one, or is lost.
        self.go_to(end);
        self.told = None;
    }

    /// Of messages behind those that can be sent again.
    fn frame(&self, first: u64) -> Frame {
        let after = self.window.as_ref().map_or(0, Window::kept_to);
        Frame { epoch: self.epoch, first, after, ends: false, is_one: self.source.has_frames() }
    }

    /// Sends again what was asked for; not too often, whatever is asked for.
    fn send_again(&mut self) {
        let Some(window) = &mut self.window else { return };
        if self.sent_again.is_some_and(|sent| sent.elapsed() < BETWEEN) {
            return;
        }
        let Some(number) = window.take_again() else { return };
        self.sent_again = Some(Instant::now());
        let is_one = self.source.has_frames();
        for (after, batch) in window.from(number) {
            let frame = Frame { epoch: self.epoch, first: batch.first, after, ends: false, is_one };
            self.network.put(frame, batch.payload.clone());
            self.counters.sent_again(batch.end - batch.first);
        }
        self.told = None;
    }

    /// Tells the others how far it is, so that they know what was lost last. Does it again from time to time
    /// while a bridge may not have all messages.
    fn remind(&mut self) {
        let owes = self.owes();
        if self.told.is_none_or(|told| owes && told.elapsed() >= PATIENCE) {
            let frame = Frame { ends: self.has_ended, is_one: false, ..self.frame(self.expected) };
            self.network.tell(frame);
            self.told = Some(Instant::now());
        }
    }

    /// The ring has ended, and the others are told. If the link is cut at that moment, they ask how far it
    /// was when it is back.
    fn finish(&mut self, state: RouteState) {
        (self.has_ended, self.told) = (true, None);
        self.remind();
        // Its node goes with the ring.
        self.ros2 = None;
        self.counters.set(state);
        let (ended, mut matched) = (Instant::now(), Instant::now());
        while !self.stops() && ended.elapsed() < REMEMBERED {
            if !self.network.is_matched() {
                matched = Instant::now();
            }
            if !self.owes() {
                drop(self.network.token.take());
                if matched.elapsed() >= SETTLED {
                    break;
                }
            }
            self.hear(if self.owes() { SOON } else { PATIENCE });
            self.send_again();
            self.remind();
            // (Whether it is to end is no question any more.)
            _ = self.is_given_up();
        }
    }
}

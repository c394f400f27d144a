//! Newest values: [`Values`] carries the cells of a table to the network, and [`FarTable`] is the table of
//! this machine that is made of what comes from there.
//!
//! Each change of a cell is a sample on a key of that cell. With the value goes how many values the cell has
//! had: the sender's memory counts them, so the count is the same for a bridge that begins anew, and the far
//! side keeps the greater one. A far side listens first, and then asks for all values. So it has each value
//! that is sent after the answer, and none older than the answer; a value that comes twice is known by its
//! count.
//!
//! Nothing is taken from the table while nobody listens or the network is full: what has changed meanwhile
//! is told of once, with the newest value.
// Decision 0175: what has no numbers of messages is carried by counts, or by questions of Zenoh.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use annulus::mpsc::{self, Consumer};
use annulus::shm::blocks::MessageType;
use annulus::shm::dynamic::watch::{self, AcceptedWatch, Changes};
use annulus::shm::{Invitation, PeerState, RingInfo, Shared};
use annulus::{Select, Settings, TryRecvError, WaitStrategy};
use zenoh::bytes::Encoding;
use zenoh::key_expr::KeyExpr;
use zenoh::matching::MatchingStatus;
use zenoh::pubsub::Publisher;
use zenoh::qos::CongestionControl;
use zenoh::query::{Query, Queryable};
use zenoh::{Session, Wait};

use crate::announced::Announced;
use crate::counters::{Counters, RouteState};
use crate::description::{Description, Refused};
use crate::far_ring::{Makes, Published};
use crate::keys;
use crate::local::message_type;
use crate::wire::Change;
use crate::words::{MOST_WORDS, Wake, Words};

/// How long it waits without a look at the rest.
const PATIENCE: Duration = Duration::from_millis(100);

/// After so many changes it looks whether it was asked for values.
const RUN: usize = 256;

/// What the thread hears.
enum Word {
    /// The values of these cells.
    Asked(Query),
    /// There is something to look at.
    Look,
}

/// A table that is carried to the network, by the thread that runs this.
pub(crate) struct Values {
    session: Session,
    /// Of its cells' keys.
    key: String,
    encoding: Encoding,
    epoch: u64,
    table: AcceptedWatch,
    changes: Changes,
    /// The others were told the keys of the cells before this one.
    told_keys: usize,
    /// A value.
    value: Vec<u8>,
    heard: Consumer<Word>,
    announced: Announced,
    /// Whether anybody listens. (Relaxed: it is seen soon enough.)
    is_matched: Arc<AtomicBool>,
    counters: Arc<Counters>,
    /// Only tells whether anybody listens: each cell has a key of its own.
    _publisher: Publisher<'static>,
    _asked: Queryable<()>,
}

impl Values {
    /// Begins to carry the table of this invitation. With it comes what wakes its thread.
    pub(crate) fn begin(
        session: &Session,
        (host, name): (&str, &str),
        invitation: &Invitation,
        info: &RingInfo,
        counters: &Arc<Counters>,
    ) -> Result<(Self, Wake), Refused> {
        let table = AcceptedWatch::accept(invitation, &message_type(info)?, WaitStrategy::default());
        let table = table.map_err(|error| error.to_string())?;
        let described = Description::of_values(info, table.cells())?;
        let (words, heard) = mpsc::channel(MOST_WORDS);
        let (words, is_matched) = (Words::new(words), Arc::new(AtomicBool::new(false)));
        let (to, matched, matched_to) = (words.clone(), Arc::clone(&is_matched), words.clone());
        let epoch = info.identity();
        let declare = || {
            let asked = move |query: Query| {
                if let Err(Word::Asked(query)) = to.say(Word::Asked(query)) {
                    // (It is asked again.)
                    _ = query.reply_err("busy: too many ask").wait();
                }
            };
            let asked = session.declare_queryable(keys::cells(host, name)).callback(asked).wait()?;
            let publisher = session.declare_publisher(keys::cells(host, name)).wait()?;
            let told = move |status: MatchingStatus| {
                matched.store(status.matching(), Ordering::Relaxed);
                _ = matched_to.say(Word::Look);
            };
            publisher.matching_listener().callback(told).background().wait()?;
            // Last: a bridge that sees its token can ask.
            let announced = Announced::declare(session, (host, name, epoch), &described)?;
            Ok((asked, publisher, announced))
        };
        let declared: zenoh::Result<_> = declare();
        let (asked, publisher, announced) = declared.map_err(|error| error.to_string())?;
        counters.is(&described.kind);
        let values = Self {
            session: session.clone(),
            key: keys::messages(host, name),
            encoding: described.encoding(),
            epoch,
            changes: table.changes(),
            told_keys: 0,
            value: vec![0; table.message_bytes()],
            table,
            heard,
            announced,
            is_matched,
            counters: Arc::clone(counters),
            _publisher: publisher,
            _asked: asked,
        };
        Ok((values, Box::new(move || _ = words.say(Word::Look))))
    }

    pub(crate) fn run(mut self, stops: &AtomicBool) {
        while !stops.load(Ordering::Relaxed) {
            let is_matched = self.is_matched.load(Ordering::Relaxed);
            let mut select = Select::new();
            select.recv(&mut self.heard);
            if is_matched {
                select.recv(&mut self.changes);
            }
            _ = select.ready_timeout(PATIENCE);
            drop(select);
            while let Ok(word) = self.heard.try_recv() {
                if let Word::Asked(query) = word {
                    self.answer(&query);
                }
            }
            let has_ended =
                if is_matched { self.send_changes() } else { self.table.state() != PeerState::Alive };
            if has_ended {
                self.counters.set(RouteState::Ended);
                return self.announced.end();
            }
        }
    }

    /// Sends what has changed. Whether nothing changes any more.
    fn send_changes(&mut self) -> bool {
        self.send_keys();
        for _ in 0..RUN {
            match self.changes.try_recv(&mut self.value) {
                Ok(cell) => {
                    // Cells are added in the order of their keys: none goes before the key of its cell.
                    self.send_keys();
                    if let Some(change) = self.newest(cell) {
                        self.put(&change);
                    }
                }
                Err(TryRecvError::Closed) => return true,
                Err(_) => return false,
            }
        }
        false
    }

    /// Sends the keys that cells have got, with their values.
    fn send_keys(&mut self) {
        while self.table.key(self.told_keys).is_some() {
            if let Some(change) = self.newest(self.told_keys) {
                self.put(&change);
            }
            self.told_keys += 1;
        }
    }

    /// What there is to say of a cell, whose [value](Self::value_of) it reads; nothing if it has no value and
    /// no key. (A cell whose value is replaced faster than it can be read changes again.)
    fn newest(&mut self, cell: usize) -> Option<Change> {
        // Before the value: what was sent under the key comes with it.
        let key = self.table.key(cell).map(|key| key.to_string()).unwrap_or_default();
        let count = self.table.get_counted(cell, &mut self.value).unwrap_or_default();
        let is_there = count > 0 || !key.is_empty();
        is_there.then_some(Change { cell: cell as u32, epoch: self.epoch, count, key })
    }

    /// The value that was read last, with this change.
    fn value_of(&self, change: &Change) -> &[u8] {
        if change.count == 0 { &[] } else { &self.value }
    }

    fn put(&self, change: &Change) {
        let value = self.value_of(change);
        // Waits for room: the newest value is not to be lost, and what changes meanwhile is one change.
        let put = self.session.put(keys::cell(&self.key, change.cell), value);
        let put = put.congestion_control(CongestionControl::Block).encoding(self.encoding.clone());
        _ = put.attachment(change.to_bytes()).wait();
        self.counters.carried(1, value.len() as u64);
    }

    /// Says what all cells have that this asks for.
    fn answer(&mut self, query: &Query) {
        let encoding = self.encoding.clone();
        let prefix = self.key.clone();
        for cell in 0..self.table.cells() {
            let Ok(key) = KeyExpr::try_from(keys::cell(&prefix, cell as u32)) else { continue };
            if !query.key_expr().intersects(&key) {
                continue;
            }
            if let Some(change) = self.newest(cell) {
                let reply = query.reply(key, self.value_of(&change)).encoding(encoding.clone());
                _ = reply.attachment(change.to_bytes()).wait();
            }
        }
    }
}

/// A table of this machine that is made of what comes from the network.
pub(crate) struct FarTable {
    published: Published<watch::Sender>,
    /// Which table of that name it is of.
    epoch: u64,
    counters: Arc<Counters>,
    /// The count of each cell's value.
    counts: Vec<u64>,
    /// So many cells have their keys. Keys are added in the order of the cells.
    keys: usize,
    /// What came of cells before the keys of the cells in front of them.
    early: BTreeMap<usize, (Change, Vec<u8>)>,
}

impl FarTable {
    /// Makes the table.
    pub(crate) fn begin(
        makes: &Makes,
        name: &str,
        (of, cells): (&MessageType, usize),
        epoch: u64,
        counters: Arc<Counters>,
    ) -> Result<Self, Refused> {
        let made = watch::table(Settings::new(cells), of).map_err(|error| error.to_string())?;
        let Shared { handle, invitation, .. } = made;
        let published = makes.publish(name, handle, &invitation)?;
        Ok(Self { published, epoch, counters, counts: vec![0; cells], keys: 0, early: BTreeMap::new() })
    }

    /// Takes what came of a cell, unless a newer value came before.
    pub(crate) fn take(&mut self, change: Change, value: &[u8]) {
        if change.epoch != self.epoch {
            // Of the table before, or of the next, of which a token will tell.
            return;
        }
        let cell = change.cell as usize;
        let has_value = change.count > 0;
        let bytes = if has_value { self.published.end.message_bytes() } else { 0 };
        if cell >= self.counts.len() || value.len() != bytes || !has_value && change.key.is_empty() {
            return self.counters.corrupt();
        }
        if change.key.is_empty() || cell < self.keys {
            return self.send(cell, change.count, value);
        }
        let known = self.early.get(&cell).map(|(known, _)| known.count);
        if known.is_none_or(|known| known < change.count) {
            self.early.insert(cell, (change, value.to_vec()));
        }
        while let Some((change, value)) = self.early.remove(&self.keys) {
            if self.published.end.cell(&change.key) != Ok(self.keys) {
                // There is no such key, or another cell has it.
                return self.counters.corrupt();
            }
            self.keys += 1;
            self.send(self.keys - 1, change.count, &value);
        }
    }

    fn send(&mut self, cell: usize, count: u64, value: &[u8]) {
        if count > self.counts[cell] && self.published.end.send_to(cell, value).is_ok() {
            self.counts[cell] = count;
            self.counters.carried(1, value.len() as u64);
        }
    }
}

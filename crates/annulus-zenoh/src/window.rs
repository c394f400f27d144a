//! [`Window`]: messages that were sent and may have to be sent again, and the bridges for which they are
//! kept.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use zenoh::bytes::ZBytes;

use crate::wire::{Ack, Needs};

/// What a batch takes in addition to its messages, in bytes, at most.
const BATCH_OVERHEAD: usize = 128;

/// Messages of a ring are kept for so many bridges at most.
const MOST_READERS: usize = 256;

/// Messages that were sent together, and follow each other.
pub(crate) struct Batch {
    /// The number of the first message.
    pub(crate) first: u64,
    /// The number behind the last one.
    pub(crate) end: u64,
    pub(crate) payload: ZBytes,
}

/// Messages that were sent, from the oldest on that a bridge may still ask for.
pub(crate) struct Window {
    batches: VecDeque<Batch>,
    /// What these take.
    bytes: usize,
    /// Messages in them.
    kept: u64,
    most_bytes: usize,
    /// The number of the next message.
    end: u64,
    /// By their hosts.
    readers: BTreeMap<String, Reader>,
    /// From which number on messages are to be sent again.
    again: Option<u64>,
}

/// A bridge that gets the messages.
struct Reader {
    life: u64,
    /// The number of the message that it has not yet, as far as is known.
    next: u64,
    /// When it said something last.
    heard: Instant,
}

impl Window {
    pub(crate) fn new(most_bytes: usize) -> Self {
        Self {
            batches: VecDeque::new(),
            bytes: 0,
            kept: 0,
            most_bytes,
            end: 0,
            readers: BTreeMap::new(),
            again: None,
        }
    }

    /// Begins anew, with a ring whose next message has this number.
    pub(crate) fn begin(&mut self, end: u64) {
        (self.bytes, self.kept, self.end, self.again) = (0, 0, end, None);
        self.batches.clear();
        self.readers.values_mut().for_each(|reader| reader.next = end);
    }

    /// Keeps these messages.
    pub(crate) fn push(&mut self, batch: Batch) {
        self.end = batch.end;
        self.bytes += batch.payload.len() + BATCH_OVERHEAD;
        self.kept += batch.end - batch.first;
        self.batches.push_back(batch);
        self.trim();
    }

    /// The messages before this number were lost before they could be sent.
    pub(crate) fn skip_to(&mut self, end: u64) {
        self.end = end;
    }

    /// Whether no message can be kept any more.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes >= self.most_bytes
    }

    /// Makes room: the oldest messages can't be asked for any more.
    pub(crate) fn shed(&mut self) {
        while self.is_full() && self.pop() {}
    }

    fn pop(&mut self) -> bool {
        let Some(batch) = self.batches.pop_front() else { return false };
        self.bytes -= batch.payload.len() + BATCH_OVERHEAD;
        self.kept -= batch.end - batch.first;
        true
    }

    /// A bridge asks for the messages. Returns the number of the first that it gets; `None` if there are too
    /// many bridges.
    pub(crate) fn join(&mut self, host: &str, life: u64, now: Instant) -> Option<u64> {
        if !self.has_place(host) {
            return None;
        }
        let begin = self.batches.front().map_or(self.end, |batch| batch.first);
        let reader = self.readers.entry(host.into()).or_insert(Reader { life, next: begin, heard: now });
        (reader.life, reader.heard) = (life, now);
        reader.next = reader.next.max(begin);
        Some(reader.next)
    }

    fn has_place(&self, host: &str) -> bool {
        self.readers.len() < MOST_READERS || self.readers.contains_key(host)
    }

    /// A bridge says how far it is.
    pub(crate) fn hear(&mut self, host: &str, ack: &Ack, now: Instant) {
        if !self.has_place(host) {
            return;
        }
        // (Also one that was forgotten, and is back.)
        let new = Reader { life: ack.life, next: ack.next.min(self.end), heard: now };
        let reader = self.readers.entry(host.into()).or_insert(new);
        // What was said in an earlier life comes late.
        if reader.life != ack.life {
            return;
        }
        reader.heard = now;
        reader.next = reader.next.max(ack.next).min(self.end);
        match ack.needs {
            Needs::Nothing => {}
            Needs::Again => self.again = Some(self.again.map_or(ack.next, |again| again.min(ack.next))),
            Needs::Out => _ = self.readers.remove(host),
        }
        self.trim();
    }

    /// Drops the messages that all bridges have.
    fn trim(&mut self) {
        let known = self.readers.values().map(|reader| reader.next).min().unwrap_or(self.end);
        while self.batches.front().is_some_and(|batch| batch.end <= known) {
            self.pop();
        }
    }

    /// Whether a bridge said nothing for so long.
    pub(crate) fn is_any_silent(&self, patience: Duration, now: Instant) -> bool {
        self.readers.values().any(|reader| now.duration_since(reader.heard) > patience)
    }

    /// Nothing is kept any more for bridges that said nothing for so long.
    pub(crate) fn forget_silent(&mut self, patience: Duration, now: Instant) {
        self.readers.retain(|_, reader| now.duration_since(reader.heard) <= patience);
        self.trim();
    }

    /// How many bridges it is kept for.
    pub(crate) fn readers(&self) -> usize {
        self.readers.len()
    }

    /// Whether a bridge may not have all messages.
    pub(crate) fn owes(&self) -> bool {
        self.readers.values().any(|reader| reader.next < self.end)
    }

    /// From which number on messages were asked for once more since the last call.
    pub(crate) fn take_again(&mut self) -> Option<u64> {
        self.again.take()
    }

    /// The batches with this number and higher ones. Before each: the number before which messages can be
    /// asked for.
    pub(crate) fn from(&self, number: u64) -> impl Iterator<Item = (u64, &Batch)> {
        let afters = std::iter::once(0).chain(self.batches.iter().map(|batch| batch.end));
        afters.zip(&self.batches).filter(move |(_, batch)| batch.end > number)
    }

    /// The number before which messages can be asked for.
    pub(crate) fn kept_to(&self) -> u64 {
        self.batches.back().map_or(0, |batch| batch.end)
    }

    /// Messages that some bridge may not have.
    pub(crate) fn kept(&self) -> u64 {
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = 4 * (BATCH_OVERHEAD + 10);

    fn window() -> Window {
        let mut window = Window::new(MOST);
        window.begin(100);
        window
    }

    fn push(window: &mut Window, first: u64) {
        window.push(Batch { first, end: first + 10, payload: vec![0; 10].into() });
    }

    fn ack(life: u64, next: u64, needs: Needs) -> Ack {
        Ack { epoch: 0, life, next, needs }
    }

    fn kept(window: &Window) -> Vec<(u64, u64)> {
        window.from(0).map(|(after, batch)| (after, batch.first)).collect()
    }

    #[test]
    fn keeps_what_a_bridge_may_not_have() {
        let (mut window, now) = (window(), Instant::now());
        push(&mut window, 100);
        assert_eq!(kept(&window), [], "for nobody");
        assert_eq!(window.join("b", 1, now), Some(110));
        push(&mut window, 110);
        assert_eq!(window.join("c", 1, now), Some(110));
        push(&mut window, 120);
        assert_eq!((kept(&window), window.owes()), (vec![(0, 110), (120, 120)], true));
        window.hear("b", &ack(1, 130, Needs::Nothing), now);
        window.hear("c", &ack(1, 119, Needs::Nothing), now);
        assert_eq!(kept(&window).len(), 2);
        window.hear("c", &ack(1, 120, Needs::Nothing), now);
        assert_eq!(kept(&window), [(0, 120)], "nothing before it can be asked for");
        window.hear("c", &ack(1, 130, Needs::Nothing), now);
        assert_eq!((kept(&window), window.owes(), window.kept_to()), (vec![], false, 0));
        // A gap, and what comes behind it.
        push(&mut window, 130);
        window.skip_to(150);
        push(&mut window, 150);
        assert_eq!(kept(&window), [(0, 130), (140, 150)]);
        assert_eq!(
            window.from(140).map(|(after, batch)| (after, batch.first)).collect::<Vec<_>>(),
            [(140, 150)]
        );
        window.hear("b", &ack(1, u64::MAX, Needs::Out), now);
        window.hear("c", &ack(1, u64::MAX, Needs::Nothing), now);
        assert!(!window.owes(), "no further than what was sent");
    }

    #[test]
    fn bridge_that_begins_anew_gets_what_it_had_not() {
        let (mut window, now) = (window(), Instant::now());
        window.join("b", 1, now);
        push(&mut window, 100);
        push(&mut window, 110);
        window.hear("b", &ack(1, 110, Needs::Nothing), now);
        assert_eq!(window.join("b", 2, now), Some(110));
        window.hear("b", &ack(1, 120, Needs::Nothing), now);
        assert!(window.owes(), "it was of the life before");
        window.hear("b", &ack(2, 115, Needs::Again), now);
        assert_eq!((window.take_again(), window.take_again()), (Some(115), None));
    }

    #[test]
    fn window_has_an_end() {
        let (mut window, now) = (window(), Instant::now());
        window.join("b", 1, now);
        (0..4).for_each(|number| push(&mut window, 100 + 10 * number));
        assert!(window.is_full());
        window.shed();
        assert_eq!(kept(&window), [(0, 110), (120, 120), (130, 130)]);
        assert_eq!(window.join("c", 1, now), Some(110), "that is the oldest");
        assert_eq!(window.join("b", 2, now), Some(110), "what was before is lost");
        for number in 2..MOST_READERS {
            assert!(window.join(&number.to_string(), 1, now).is_some());
        }
        assert_eq!(window.join("one more", 1, now), None);
        window.hear("one more", &ack(1, 0, Needs::Nothing), now);
        assert_eq!(window.readers.len(), MOST_READERS);
    }

    #[test]
    fn silent_bridges_are_forgotten_and_may_come_back() {
        let (mut window, now) = (window(), Instant::now());
        window.join("b", 1, now);
        push(&mut window, 100);
        let (patience, later) = (Duration::from_secs(1), now + Duration::from_secs(2));
        assert!(!window.is_any_silent(patience, now) && window.is_any_silent(patience, later));
        window.forget_silent(patience, later);
        assert!(window.readers() == 0 && kept(&window).is_empty());
        window.hear("b", &ack(1, 100, Needs::Again), later);
        assert!(window.owes(), "the far side is told of what it lost");
    }
}

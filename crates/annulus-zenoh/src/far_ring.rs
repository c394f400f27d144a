//! [`FarRing`]: the ring of this machine that is made of what comes from the network.

use std::collections::HashSet;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use annulus::shm::blocks::MessageType;
use annulus::shm::{Directory, Invitation, PublishedName};
use zenoh::liveliness::LivelinessToken;
use zenoh::{Session, Wait};

use crate::bridge::Event;
use crate::counters::{Counters, RouteState};
use crate::description::{Frames, Refused};
use crate::keys;
use crate::local::Sink;
use crate::wire::{Ack, Frame, Needs};

/// After so many bytes it says how far it is.
const ACK_BYTES: usize = 256 * 1024;

/// Messages that were asked for once more have come after so long, or are asked for again.
const ASKED: Duration = Duration::from_millis(100);

/// Says to the bridge that sends a ring how far this one is.
#[derive(Clone)]
pub(crate) struct Acks {
    session: Session,
    key: String,
    epoch: u64,
    life: u64,
}

impl Acks {
    /// Of the ring of this host, name and epoch; `reader` is this bridge's host, and its life.
    pub(crate) fn new(
        session: &Session,
        (host, name, epoch): (&str, &str, u64),
        reader: (&str, u64),
    ) -> Self {
        Self { session: session.clone(), key: keys::ack(host, name, reader.0), epoch, life: reader.1 }
    }

    pub(crate) fn say(&self, next: u64, needs: Needs) {
        let ack = Ack { epoch: self.epoch, life: self.life, next, needs };
        // (What is lost of these is said again.)
        _ = self.session.put(&self.key, ack.to_bytes().as_slice()).wait();
    }
}

/// The rings that bridges have made. No bridge sends these out.
#[derive(Clone, Default)]
pub(crate) struct Made(Arc<Mutex<HashSet<u64>>>);

impl Made {
    fn epochs(&self) -> MutexGuard<'_, HashSet<u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn insert(&self, epoch: u64) {
        self.epochs().insert(epoch);
    }

    pub(crate) fn remove(&self, epoch: u64) {
        self.epochs().remove(&epoch);
    }

    pub(crate) fn contains(&self, epoch: u64) -> bool {
        self.epochs().contains(&epoch)
    }

    pub(crate) fn len(&self) -> usize {
        self.epochs().len()
    }
}

/// What a ring is made with.
#[derive(Clone)]
pub(crate) struct Makes {
    pub(crate) session: Session,
    pub(crate) directory: Arc<Directory>,
    /// What this machine is called.
    pub(crate) host: String,
    /// Which machine it is: bridges that can have one directory of rings have the same one here.
    pub(crate) boot: String,
    pub(crate) made: Made,
    /// Hears that a ring is gone. (Between a look at the ring and one at what was made, none goes.)
    pub(crate) events: Sender<Event>,
}

/// What the messages of a ring are, and how many it has.
pub(crate) enum Of {
    Messages(MessageType, usize),
    Frames(Frames),
}

/// What ring is to be made.
pub(crate) struct Plan {
    pub(crate) makes: Makes,
    /// Of the ring.
    pub(crate) name: String,
    pub(crate) of: Of,
    /// Its publisher waits for subscribers, and begins with so many.
    pub(crate) lossless: Option<usize>,
    /// Lost messages can be asked for.
    pub(crate) acks: Option<Acks>,
}

impl Makes {
    /// Gives a name to what was made, and tells other bridges that a bridge has made it.
    pub(crate) fn publish<E>(
        &self,
        name: &str,
        end: E,
        invitation: &Invitation,
    ) -> Result<Published<E>, Refused> {
        let epoch = invitation.info().map_err(|error| error.to_string())?.identity();
        let Self { session, directory, host, boot, made, events } = self;
        // Before it has a name: no bridge of this machine sends it out.
        made.insert(epoch);
        let unmade = Unmade { epoch, events: events.clone() };
        let token = session.liveliness().declare_token(keys::made_token(host, boot, epoch)).wait();
        let token = token.map_err(|error| error.to_string())?;
        let name = invitation.publish(directory, name).map_err(|error| error.to_string())?;
        Ok(Published { _name: name, end, _token: token, _unmade: unmade })
    }
}

impl Plan {
    fn make(&self, first: u64) -> Result<Published<Sink>, Refused> {
        let (sink, invitation) = match &self.of {
            Of::Messages(of, capacity) => Sink::new(of, (*capacity, self.lossless.is_some()), first)?,
            Of::Frames(shape) => Sink::of_frames(shape, first)?,
        };
        self.makes.publish(&self.name, sink, &invitation)
    }
}

/// A ring that is there, by what writes to it.
pub(crate) struct Published<E> {
    /// In this order: its name goes, then the ring ends, so that a program which is told of the end finds the
    /// next ring at the name and not this one; and then the word that a bridge made it.
    _name: PublishedName,
    pub(crate) end: E,
    _token: LivelinessToken,
    _unmade: Unmade,
}

/// Says that a ring is gone, when it is dropped.
struct Unmade {
    epoch: u64,
    events: Sender<Event>,
}

impl Drop for Unmade {
    fn drop(&mut self) {
        // (Nobody hears it once the bridge ends.)
        _ = self.events.send(Event::Unmade(self.epoch));
    }
}

/// A ring of this machine that is made of what comes from the network.
pub(crate) struct FarRing {
    plan: Plan,
    /// `None` when it could not be made anew.
    published: Option<Published<Sink>>,
    counters: Arc<Counters>,
    /// Whether as many subscribers as it begins with were there.
    has_begun: bool,
    /// From which number on messages were asked for once more, and when.
    asked: Option<(u64, Instant)>,
    /// So many bytes came since it said how far it is.
    unsaid: usize,
}

impl FarRing {
    /// Makes the ring, whose first message has this number.
    pub(crate) fn begin(plan: Plan, first: u64, counters: Arc<Counters>) -> Result<Self, Refused> {
        let published = Some(plan.make(first)?);
        counters.go_to(first);
        Ok(Self { plan, published, counters, has_begun: false, asked: None, unsaid: 0 })
    }

    /// Publishes what a sample has. Waits for subscribers of a lossless ring, as long as `goes_on`. Whether
    /// the ring ends behind these messages.
    pub(crate) fn take(&mut self, frame: Frame, payload: &[u8], goes_on: &dyn Fn() -> bool) -> bool {
        let Some(published) = &mut self.published else { return true };
        let Some(count) = published.end.count(payload, frame.is_one) else {
            self.counters.corrupt();
            return false;
        };
        let next = published.end.next();
        if next < frame.after {
            self.ask(next);
            return false;
        }
        let Some(lagged) = self.skip_to(frame.first) else { return self.published.is_none() };
        let Some(published) = &mut self.published else { return true };
        self.counters.lagged(lagged);
        if let Some(subscribers) = self.plan.lossless.filter(|_| !self.has_begun && count > 0) {
            published.end.await_subscribers(subscribers, goes_on);
            self.has_begun = true;
        }
        let begin = published.end.next();
        // Those before it are there already.
        let bytes = published.end.put(payload, (begin.saturating_sub(frame.first), count), goes_on);
        let end = published.end.next();
        if end > begin {
            self.counters.carried(end - begin, bytes);
        }
        self.counters.go_to(end);
        self.say_how_far(end, payload.len(), count == 0 || frame.ends);
        if frame.ends {
            self.published = None;
        }
        frame.ends
    }

    /// The messages before this number are lost. How many; `None` if there can be no such number, or no such
    /// ring any more.
    fn skip_to(&mut self, next: u64) -> Option<u64> {
        let published = self.published.as_mut()?;
        let was = published.end.next();
        let skipped = published.end.skip_to(next);
        if skipped.is_some() {
            return skipped;
        }
        if self.plan.lossless.is_none() {
            self.counters.corrupt();
            return None;
        }
        // A lossless ring has no gap. It ends, and the next one begins behind it.
        (self.published, self.has_begun) = (None, false);
        match self.plan.make(next) {
            Ok(published) => self.published = Some(published),
            Err(why) => {
                self.counters.set(RouteState::Refused(why));
                return None;
            }
        }
        Some(next - was)
    }

    /// Asks for the messages from here on.
    fn ask(&mut self, next: u64) {
        let now = Instant::now();
        let is_new = |(asked, at): (u64, Instant)| asked != next || now.duration_since(at) >= ASKED;
        if let Some(acks) = self.plan.acks.as_ref().filter(|_| self.asked.is_none_or(is_new)) {
            self.asked = Some((next, now));
            acks.say(next, Needs::Again);
        }
    }

    /// Says how far it is, if it is asked, or for so many bytes more that came.
    fn say_how_far(&mut self, next: u64, bytes: usize, is_asked: bool) {
        let Some(acks) = &self.plan.acks else { return };
        self.unsaid += bytes;
        if is_asked || self.unsaid >= ACK_BYTES {
            self.unsaid = 0;
            acks.say(next, Needs::Nothing);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use annulus::Settings;
    use annulus::shm::{NameError, broadcast};

    use super::*;
    use crate::Config;

    /// Where a ring ends: nothing is found at its name any more.
    struct End(Arc<Directory>);

    impl Drop for End {
        fn drop(&mut self) {
            assert!(matches!(self.0.find("quotes"), Err(NameError::NotFound { .. })));
        }
    }

    #[test]
    fn name_goes_before_the_ring_ends() {
        let path = std::env::temp_dir().join(format!("annulus-zenoh-{}-end", std::process::id()));
        let directory = Arc::new(Directory::open(&path).unwrap());
        let session = zenoh::open(Config::new().zenoh().unwrap()).wait().unwrap();
        let (events, _heard) = channel();
        let (host, boot, made) = ("a".into(), "1".into(), Made::default());
        let makes = Makes { session, directory: Arc::clone(&directory), host, boot, made, events };
        let invitation = broadcast::lossy::<u64>(Settings::new(4)).unwrap().invitation;
        drop(makes.publish("quotes", End(directory), &invitation).unwrap());
        std::fs::remove_dir_all(path).unwrap();
    }
}

//! [`Sampler`]: looks at all rings of a directory, again and again, and leaves no trace.

use std::collections::HashMap;
use std::fs::File;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use annulus::shm::{Directory, Entry, FindError, NameError, NamedRing, PeerState, RingNumbers, RingObserver};

use super::bridges::{self, BridgeRoute};
use super::directory::{self, DirectoryOption};
use super::processes::{Processes, process};
use super::sample::{Header, Mark, Numbers, Process, Reader, Ring, Sample, Seat};
use crate::measure::now_ns;
use crate::messages::{Decoder, SentNs, clock, newest};
use crate::outcome::Failure;

/// A directory, and the rings in it that it watches.
pub(crate) struct Sampler {
    path: PathBuf,
    watched: HashMap<String, Watched>,
    /// By their names. They are asked once, however many samples there are until the answer.
    asked: HashMap<String, Asked>,
    next_identity: u64,
}

/// A ring whose process was asked for its descriptors, and has not answered.
struct Asked {
    named: NamedRing,
    /// What is said of it meanwhile.
    trouble: String,
}

/// Until the answer to the first question should have come.
const NO_ANSWER_YET: &str = "its process was asked for it, and has not answered yet";

/// A ring that had a name when it was last looked for.
struct Watched {
    named: NamedRing,
    identity: u64,
    /// Until the process is gone, and nobody else has the memory: it is not kept for this program.
    observer: Option<RingObserver>,
    header: Header,
    /// How to learn when a message was published, if these say so.
    clock: Option<SentNs>,
    /// How to learn what is in a message, if the ring says so.
    decoder: Option<Decoder>,
    /// What it said last.
    state: PeerState,
    numbers: Option<Numbers>,
    /// How long its publisher is silent at most.
    deadline: Option<Duration>,
    /// When its numbers were seen to change, or it was found.
    changed: Instant,
}

impl Sampler {
    /// # Errors
    ///
    /// The user has named a directory that is not there.
    pub(crate) fn new(option: &DirectoryOption) -> Result<Self, Failure> {
        let path = match option.path() {
            Some(_) => directory::open(option)?.path().to_path_buf(),
            None => Directory::path_of_user(),
        };
        Ok(Self { path, watched: HashMap::new(), asked: HashMap::new(), next_identity: 0 })
    }

    /// What is there now. It does not wait: a ring whose process has to be asked for it is known once that
    /// has answered.
    pub(crate) fn sample(&mut self) -> Sample {
        self.sample_of(Self::rings)
    }

    /// What is there now, with the answers of all processes that have to be asked for their rings. It waits
    /// for all of them together, for two seconds at most.
    pub(crate) fn sample_with_answers(&mut self) -> Sample {
        self.sample_of(Self::rings_with_answers)
    }

    fn sample_of(&mut self, rings: fn(&mut Self) -> Result<Vec<Ring>, String>) -> Sample {
        let directory = self.path.display().to_string();
        let (rings, trouble) = match rings(self) {
            Ok(rings) => (rings, None),
            Err(trouble) => (Vec::new(), Some(trouble)),
        };
        Sample { at: Instant::now(), directory, rings, routes: self.routes(), trouble }
    }

    /// What bridges say of the rings that they carry.
    fn routes(&self) -> Vec<BridgeRoute> {
        let of_bridges = self.watched.iter().filter_map(|(name, watched)| {
            let decoder = watched.decoder.as_ref().filter(|decoder| bridges::is_of_bridge(decoder))?;
            let observer = watched.observer.as_ref().filter(|_| watched.state == PeerState::Alive)?;
            Some(bridges::routes(name, observer, decoder))
        });
        let mut routes: Vec<_> = of_bridges.flatten().collect();
        routes.sort_by(|one, other| {
            (&one.name, one.direction, &one.host, &one.bridge).cmp(&(
                &other.name,
                other.direction,
                &other.host,
                &other.bridge,
            ))
        });
        routes
    }

    /// How far those readers of a ring are behind in time now that have seats, in nanoseconds. Nothing else
    /// is looked at, so it can be asked often.
    pub(crate) fn behind_ns(&self, name: &str) -> Vec<u64> {
        let watched = self.watched.get(name);
        let parts = watched.and_then(|watched| Some((watched.observer.as_ref()?, watched.clock?)));
        let Some((observer, clock)) = parts else { return Vec::new() };
        let readers = observer.numbers().map(|numbers| numbers.readers).unwrap_or_default();
        let alive = readers.iter().filter(|reader| reader.state == PeerState::Alive);
        alive.filter_map(|reader| behind_ns(observer, clock, reader.position, reader.lag)).collect()
    }

    /// All names that are there now. No ring is looked at.
    pub(crate) fn names(&self) -> Result<Vec<String>, String> {
        let entries = self.entries()?.map(|(_, entries)| entries).unwrap_or_default();
        Ok(entries.into_iter().map(|entry| entry.name).collect())
    }

    /// The directory, and what is in it; `None` if it is not there.
    fn entries(&self) -> Result<Option<(Directory, Vec<Entry>)>, String> {
        // It would be made.
        if !self.path.exists() {
            return Ok(None);
        }
        let directory = Directory::with_mode(&self.path, 0o777).map_err(|error| error.to_string())?;
        let entries = directory.list().map_err(|error| error.to_string())?;
        Ok(Some((directory, entries)))
    }

    fn rings(&mut self) -> Result<Vec<Ring>, String> {
        let Some((directory, entries)) = self.entries()? else {
            self.watched.clear();
            self.asked.clear();
            return Ok(Vec::new());
        };
        let is_there = |name: &String| entries.iter().any(|entry| entry.name == *name);
        self.watched.retain(|name, _| is_there(name));
        self.asked.retain(|name, _| is_there(name));
        let troubles = entries.iter().map(|entry| self.watch(&directory, entry, at_once).err());
        let troubles: Vec<_> = troubles.collect();
        let processes = Processes::now();
        let both = entries.into_iter().zip(troubles);
        Ok(both.map(|(entry, trouble)| self.ring(entry, trouble, &processes)).collect())
    }

    fn rings_with_answers(&mut self) -> Result<Vec<Ring>, String> {
        if let Some((directory, entries)) = self.entries()? {
            // All are asked first. So the time that the first one has to answer ends with that of the last.
            for entry in &entries {
                _ = self.watch(&directory, entry, at_once);
            }
            for entry in &entries {
                if self.asked.contains_key(&entry.name) {
                    _ = self.watch(&directory, entry, RingObserver::of);
                }
            }
        }
        self.rings()
    }

    /// Finds the ring that has the name, unless it is watched already.
    fn watch(
        &mut self,
        directory: &Directory,
        entry: &Entry,
        look: impl Fn(&NamedRing) -> Result<RingObserver, FindError>,
    ) -> Result<(), String> {
        let known = self.watched.get(&entry.name);
        if entry.state != PeerState::Alive || known.is_some_and(|ring| ring.named.state() == PeerState::Alive)
        {
            return Ok(());
        }
        self.watched.remove(&entry.name);
        let asked = self.asked.remove(&entry.name).filter(|asked| asked.named.state() == PeerState::Alive);
        let find = || {
            let named = directory.find(&entry.name).map_err(|error| error.to_string())?;
            Ok::<_, String>(Asked { named, trouble: NO_ANSWER_YET.into() })
        };
        let Asked { named, trouble } = asked.map_or_else(find, Ok)?;
        let observer = match look(&named) {
            Ok(observer) => observer,
            Err(FindError::Name(error @ (NameError::TimedOut { .. } | NameError::NoAnswer { .. }))) => {
                // (It is asked again where it has not answered in time.)
                let is_too_late = matches!(error, NameError::NoAnswer { .. });
                let trouble = if is_too_late { error.to_string() } else { trouble };
                self.asked.insert(entry.name.clone(), Asked { named, trouble: trouble.clone() });
                return Err(trouble);
            }
            Err(error) => return Err(error.to_string()),
        };
        let info = observer.info();
        let header = Header {
            kind: info.kind(),
            capacity: info.capacity() as u64,
            payload_bytes: info.payload_bytes() as u64,
            slot_bytes: info.slot_bytes() as u64,
        };
        self.next_identity += 1;
        let identity = self.next_identity;
        let state = PeerState::Alive;
        let (clock, decoder) = (clock(&info), Decoder::of(&info).ok().flatten());
        let observer = Some(observer);
        let (numbers, deadline, changed) = (None, info.deadline(), Instant::now());
        let watched =
            Watched { named, identity, observer, header, clock, decoder, state, numbers, deadline, changed };
        self.watched.insert(entry.name.clone(), watched);
        Ok(())
    }

    fn ring(&mut self, entry: Entry, trouble: Option<String>, processes: &Processes) -> Ring {
        let is_there = entry.state == PeerState::Alive;
        // (The number of a process in another container may be that of an unrelated one here.)
        let of_pid = |pid: Option<u32>| pid.filter(|_| is_there).map_or_else(|| Process::of(pid), process);
        let mut ring = Ring {
            name: entry.name,
            identity: 0,
            state: entry.state,
            overdue: None,
            process: entry.process.map(|_| of_pid(entry.pid_here)),
            header: None,
            numbers: None,
            frames: None,
            readers: Vec::new(),
            is_timed: false,
            message: None,
            newest: None,
            fingerprint: entry.fingerprint,
            trouble,
        };
        if let Some(watched) = self.watched.get_mut(&ring.name) {
            watched.look(&mut ring, processes);
        }
        ring
    }
}

impl Watched {
    /// Says what is known of the ring.
    fn look(&mut self, ring: &mut Ring, processes: &Processes) {
        if let Some(observer) = &self.observer {
            self.state = observer.state();
            let (numbers, before) = (observer.numbers(), self.numbers);
            self.numbers = numbers
                .as_ref()
                .map(|numbers| Numbers { published: numbers.published, pending: numbers.pending });
            if self.numbers.map(|now| now.published) != before.map(|before| before.published) {
                self.changed = Instant::now();
            }
            let publisher = ring.process.as_ref();
            ring.readers = readers(observer, numbers.as_ref(), publisher, processes, self.clock);
            ring.frames = observer.frames();
            ring.newest = self.decoder.as_ref().and_then(|decoder| newest(observer, decoder));
        }
        if ring.state == PeerState::Alive {
            ring.state = self.state;
            let silence = self.changed.elapsed();
            ring.overdue = self
                .deadline
                .filter(|_| self.state == PeerState::Alive)
                .and_then(|deadline| (silence > deadline).then_some(silence));
        }
        if ring.state != PeerState::Alive && ring.readers.iter().all(|reader| reader.process.is_none()) {
            self.observer = None;
        }
        ring.identity = self.identity;
        ring.is_timed = self.clock.is_some();
        ring.message = self.decoder.as_ref().map(|decoder| decoder.schema().to_string());
        ring.header = Some(self.header);
        ring.numbers = self.numbers;
    }
}

/// The readers: the processes that have seats, and then all others that have the ring, without its publisher
/// and programs that only look. The `clock` is the one of messages that carry their time.
pub(super) fn readers(
    observer: &RingObserver,
    numbers: Option<&RingNumbers>,
    publisher: Option<&Process>,
    processes: &Processes,
    clock: Option<SentNs>,
) -> Vec<Reader> {
    let seats = numbers.map(|numbers| &*numbers.readers).unwrap_or_default();
    let published = numbers.map_or(0, |numbers| numbers.published);
    let page = file_number(observer.sleepers());
    let owner = |seat: u64| processes.with_lock(page?, seat);
    let with_seat = seats.iter().map(|reader| {
        let number = reader.seat as u64;
        let seat = Seat { number, state: reader.state, position: reader.position, lag: reader.lag };
        Reader { seat: Some(seat), mark: None, process: owner(number).map(process), behind_ns: None }
    });
    let mut readers: Vec<_> = with_seat.collect();
    let mut shown: Vec<_> = readers.iter().filter_map(|reader| reader.process.as_ref()?.pid).collect();
    shown.extend(publisher.and_then(|process| process.pid));
    let all = page.map(|page| processes.writers(page)).unwrap_or_default();
    let without_seat = all.into_iter().filter(|pid| !shown.contains(pid));
    // A process may have several, each of which shows where it stands, or does not.
    let file = file_number(observer.ring());
    readers.extend(without_seat.flat_map(|pid| {
        let shown = file.map(|file| processes.positions(file, pid)).unwrap_or_default();
        let marks = shown.iter().map(|&position| Some(Mark::shown(position, published)));
        let marks: Vec<_> = if shown.is_empty() { vec![None] } else { marks.collect() };
        marks.into_iter().map(move |mark| Reader {
            seat: None,
            mark,
            process: Some(process(pid)),
            behind_ns: None,
        })
    }));
    for reader in &mut readers {
        let both = reader.position().zip(reader.lag()).zip(clock);
        reader.behind_ns =
            both.and_then(|((position, lag), clock)| behind_ns(observer, clock, position, lag));
    }
    readers
}

/// How long ago the message was published that a reader takes next which has this position and this lag, if
/// that message can still be read.
fn behind_ns(observer: &RingObserver, clock: SentNs, position: u64, lag: u64) -> Option<u64> {
    if lag == 0 {
        return Some(0);
    }
    let mut bytes = Vec::new();
    let sent_ns = observer.read(position, &mut bytes).then(|| clock(&bytes))??;
    Some(now_ns().saturating_sub(sent_ns))
}

/// Looks at a ring without waiting for its process.
fn at_once(ring: &NamedRing) -> Result<RingObserver, FindError> {
    RingObserver::of_timeout(ring, Duration::ZERO)
}

/// Which file it is.
fn file_number(fd: BorrowedFd<'_>) -> Option<u64> {
    let file = File::from(fd.try_clone_to_owned().ok()?);
    Some(file.metadata().ok()?.ino())
}

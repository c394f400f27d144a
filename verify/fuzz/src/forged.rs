//! Rings that another process has made, with anything in them: a program that attaches finds an error, or
//! a ring whose verbs all return, also while the other process writes there what it likes.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::sync::LazyLock;
use std::time::Duration;

use annulus::Message;
use annulus::Settings;
use annulus::broadcast::{Foreign, Mode, Subscriber};
use annulus::shm::{
    AttachError, Invitation, PeerState, Shared, WhenGone, broadcast, bytes, mp_broadcast, mpsc, recv_fd,
    send_fd, spsc,
};
use rustix::fs::{FlockOperation, MemfdFlags, SealFlags, fcntl_add_seals, flock, memfd_create};

/// Slots of the queue, and of the rings.
const SLOTS: usize = 6;
/// How many messages all places have at one moment, at most.
const ALL: usize = SLOTS * PLACES;
/// Records are of up to half of so many bytes.
const RECORD_BYTES: usize = 64;
/// Of the lossless rings.
const SEATS: usize = 2;
/// Of the queue of several producers.
const PLACES: usize = 3;
/// No cursor is further than some messages behind the largest number that is believed. (At its deadline a
/// wait looks a thousand times, and each look may find that one more message is lost.)
const LAST_CURSOR: u64 = (1 << 63) - (1 << 31) + 100_000;

/// Its payload lies on a line of its own, and is copied by vectors.
type Large = [u64; 40];

/// What lies in the two files of a ring.
struct Files {
    ring: Vec<u8>,
    page: Vec<u8>,
}

/// Attaches to these, and says what the verbs are.
type Attach = fn(&Invitation) -> Option<Verbs>;

/// Does one of them.
type Verbs = Box<dyn FnMut(u8)>;

/// As good rings have them, and the program that attaches to such a ring.
static GOOD: LazyLock<[(Files, Attach); 8]> = LazyLock::new(|| {
    let settings = Settings::new(SLOTS);
    let queue = {
        let Shared { handle: mut producer, invitation, .. } =
            spsc::producer::<u64>(settings.clone(), WhenGone::Close).unwrap();
        producer.try_send_batch(&[1, 2, 3]).unwrap();
        read(&invitation)
    };
    let records = {
        let Shared { handle: mut producer, invitation, .. } =
            bytes::producer(Settings::new(RECORD_BYTES), WhenGone::Close).unwrap();
        producer.try_write(b"a").unwrap();
        producer.try_write(b"nine bytes").unwrap();
        read(&invitation)
    };
    let lossy = {
        let Shared { handle: mut publisher, invitation, .. } =
            broadcast::lossy::<u64>(settings.clone()).unwrap();
        (0..9).for_each(|number| publisher.publish(number));
        read(&invitation)
    };
    let large = {
        let Shared { handle: mut publisher, invitation, .. } =
            broadcast::lossy::<Large>(Settings::new(2)).unwrap();
        (0..3).for_each(|number| publisher.publish([number; 40]));
        read(&invitation)
    };
    let lossless = {
        let Shared { handle: mut publisher, invitation, .. } =
            broadcast::lossless::<u64>(settings.headroom(1), SEATS).unwrap();
        (0..9).for_each(|number| publisher.publish(number).unwrap());
        let ring = invitation.accept_lossless::<u64>().unwrap();
        // The process that has it is dead where this is found.
        let _subscriber = ring.subscribe().unwrap();
        read(&invitation)
    };
    let large_lossless = {
        let Shared { handle: mut publisher, invitation, .. } =
            broadcast::lossless::<Large>(Settings::new(2), SEATS).unwrap();
        (0..3).for_each(|number| publisher.publish([number; 40]).unwrap());
        read(&invitation)
    };
    let several = {
        let Shared { handle: _consumer, invitation, .. } = several().build::<u64>().unwrap();
        let mut producers = [(); 2].map(|()| mpsc::producer::<u64>(&invitation).unwrap().0);
        producers.iter_mut().for_each(|producer| producer.try_send_batch(&[1, 2, 3]).unwrap());
        // The owners of the places, and the consumer, are dead where this is found.
        read(&invitation)
    };
    let fellows = {
        let Shared { handle: mut own, invitation, .. } = fellows().build::<u64>().unwrap();
        let mut other = mp_broadcast::publisher::<u64>(&invitation).unwrap();
        (0..9).for_each(|number| if number % 2 == 0 { own.publish(number) } else { other.publish(number) });
        read(&invitation)
    };
    [
        (queue, queue_verbs),
        (records, record_verbs),
        (lossy, lossy_verbs::<u64>),
        (large, lossy_verbs::<Large>),
        (lossless, lossless_verbs::<u64>),
        (large_lossless, lossless_verbs::<Large>),
        (several, several_verbs),
        (fellows, fellow_verbs),
    ]
});

/// A queue of several producers, which ends when all of them are gone.
pub(crate) fn several() -> mpsc::Builder {
    mpsc::Builder::new(annulus::Settings::new(SLOTS)).producers(PLACES).when_no_producer(WhenGone::Close)
}

/// A lossy ring of several publishers, which ends when all of them are gone.
pub(crate) fn fellows() -> mp_broadcast::Builder {
    mp_broadcast::Builder::new(Settings::new(SLOTS)).publishers(PLACES).when_no_publisher(WhenGone::Close)
}

/// The files of an invitation.
pub(crate) fn files(invitation: &Invitation) -> [File; 2] {
    let (here, there) = UnixStream::pair().unwrap();
    invitation.send(&here).unwrap();
    [(); 2].map(|()| File::from(recv_fd(&there).unwrap()))
}

fn read(invitation: &Invitation) -> Files {
    let [ring, page] = files(invitation).map(|file| {
        let mut bytes = vec![0; file.metadata().unwrap().len() as usize];
        file.read_exact_at(&mut bytes, 0).unwrap();
        bytes
    });
    Files { ring, page }
}

/// The first byte: which ring, and whether its publisher is alive. Then how many changes are made before
/// somebody attaches. Then changes of ten bytes each: in which file, and what is done then; at which word;
/// and the word. If two bytes are left, one of the files is cut off before anybody has it.
pub(crate) fn forged(bytes: &[u8]) {
    let [which, before, bytes @ ..] = bytes else { return };
    // (The last one came later. The cases that are kept mean what they meant before.)
    let last = GOOD.len() - 1;
    let (good, attach) = &GOOD[if which % 64 == 63 { last } else { usize::from(which % 64) % last }];
    let (changes, rest) = bytes.as_chunks::<10>();
    let cut = |file: &'static [u8], is_page: u8| match *rest {
        [words, page] if page % 2 == is_page => &file[..file.len().min(8 * usize::from(words))],
        _ => file,
    };
    let files = [cut(&good.ring, 0), cut(&good.page, 1)].map(memory);
    if *which < 128 {
        flock(&files[0], FlockOperation::NonBlockingLockExclusive).unwrap();
    }
    let (here, there) = UnixStream::pair().unwrap();
    for file in &files {
        send_fd(&here, file.as_fd()).unwrap();
    }
    let invitation = Invitation::receive(&there).unwrap();

    let (before, after) = changes.split_at(usize::from(*before).min(changes.len()));
    let change = |change: &[u8; 10]| {
        let file = &files[usize::from(change[0] >> 7)];
        let words = file.metadata().unwrap().len() / 8;
        if words > 0 {
            file.write_all_at(&number(change), 8 * (u64::from(change[1]) % words)).unwrap();
        }
    };
    before.iter().for_each(change);
    let Some(mut verb) = attach(&invitation) else { return };
    verb(0);
    for step in after.iter().take(30) {
        change(step);
        verb(step[0] % 128);
    }
}

/// What a change writes: its last eight bytes, or now and then a number at an edge.
pub(crate) fn number(change: &[u8; 10]) -> [u8; 8] {
    let [_, _, bytes @ ..] = *change;
    let low = u64::from(bytes[0]);
    match bytes[7] % 8 {
        0 => low,
        1 => u64::MAX - low,
        2 => (1 << 63) - low,
        _ => return bytes,
    }
    .to_ne_bytes()
}

/// Sealed memory with these bytes.
fn memory(bytes: &[u8]) -> File {
    let fd = memfd_create("annulus fuzz", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
    let mut file = File::from(fd);
    file.write_all(bytes).unwrap();
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW).unwrap();
    file
}

/// The value, or `None` and the error's words.
fn told<T>(result: Result<T, AttachError>) -> Option<T> {
    result.map_err(|error| drop(error.to_string())).ok()
}

fn queue_verbs(invitation: &Invitation) -> Option<Verbs> {
    let (mut consumer, peer) = told(spsc::consumer::<u64>(invitation))?;
    Some(Box::new(move |verb| {
        match verb % 8 {
            0 => drop(consumer.try_recv()),
            1 => assert!(consumer.consume(usize::MAX, drop) <= SLOTS),
            2 => assert!(consumer.readable_shared().len() <= SLOTS),
            3 => drop(consumer.recv_timeout(Duration::ZERO)),
            4 => assert!(consumer.try_recv_batch(&mut [0; 20]) <= SLOTS),
            5 => _ = (consumer.is_fully_drained(), consumer.stats()),
            6 => assert!(consumer.try_iter().take(100).count() < 100),
            // Not often: it ends there.
            _ if verb == 127 => consumer.close(),
            _ => {}
        }
        assert!(consumer.len() <= SLOTS && peer.state() != PeerState::NotYet);
    }))
}

fn several_verbs(invitation: &Invitation) -> Option<Verbs> {
    let mut queue =
        Several { consumer: told(mpsc::consumer(invitation)), producers: [const { None }; PLACES] };
    let invitation = again(invitation);
    queue.join(&invitation, 0);
    if queue.consumer.is_none() && queue.producers[0].is_none() {
        return None;
    }
    Some(Box::new(move |verb| queue.verb(&invitation, verb)))
}

fn fellow_verbs(invitation: &Invitation) -> Option<Verbs> {
    let mut fellows = Fellows::new(invitation);
    let invitation = again(invitation);
    fellows.verb(&invitation, 0);
    if fellows.seen.is_none() && fellows.publishers[0].is_none() {
        return None;
    }
    Some(Box::new(move |verb| fellows.verb(&invitation, verb)))
}

/// What this process has of a ring of several publishers.
pub(crate) struct Fellows {
    seen: Option<(broadcast::Accepted<u64>, Subscriber<u64, Foreign>)>,
    publishers: [Option<mp_broadcast::Publisher<u64>>; PLACES],
}

impl Fellows {
    pub(crate) fn new(invitation: &Invitation) -> Self {
        let seen = told(invitation.accept::<u64>()).map(|ring| {
            let subscriber = ring.subscribable().subscribe();
            (ring, subscriber)
        });
        Self { seen, publishers: [const { None }; PLACES] }
    }

    /// One verb of each side.
    pub(crate) fn verb(&mut self, invitation: &Invitation, verb: u8) {
        let who = usize::from(verb / 16) % PLACES;
        match (verb % 16, &mut self.publishers[who], &mut self.seen) {
            // The publisher that had been there leaves, and another one joins, if it can.
            (0, publisher, _) => {
                *publisher = None;
                *publisher = told(mp_broadcast::publisher(invitation));
            }
            (1, publisher, _) => *publisher = None,
            (2 | 3, Some(publisher), _) => publisher.publish(1),
            (4, Some(publisher), _) => assert!(publisher.publish_batch(&[2; 20]) <= 20),
            (5, Some(publisher), _) => {
                assert!(publisher.place() < PLACES && publisher.capacity() == SLOTS);
                _ = (publisher.published(), publisher.is_closed(), publisher.stats());
            }
            // Not often: it ends there.
            (6, Some(publisher), _) if verb > 112 => publisher.close(),
            (7, _, seen) => *seen = Self::new(invitation).seen,
            (8, _, Some((ring, subscriber))) => *subscriber = ring.subscribable().subscribe_from_oldest(),
            (9, _, Some((_, subscriber))) => drop(subscriber.latest()),
            (10, _, Some((_, subscriber))) => _ = subscriber.skip_to_latest(),
            (11, _, Some((_, subscriber))) => drop(subscriber.recv_timeout(Duration::ZERO)),
            (12, _, Some((ring, subscriber))) => {
                *subscriber = subscriber.clone();
                _ = (ring.state(), ring.subscribable().is_closed());
            }
            (_, _, Some((_, subscriber))) => common(subscriber, verb),
            _ => {}
        }
        let cursor = self.seen.as_ref().map_or(0, |(_, subscriber)| subscriber.cursor());
        assert!(cursor < LAST_CURSOR, "{cursor}");
    }
}

/// The same invitation once more.
fn again(invitation: &Invitation) -> Invitation {
    let (here, there) = UnixStream::pair().unwrap();
    invitation.send(&here).unwrap();
    Invitation::receive(&there).unwrap()
}

/// What this process has of a queue of several producers.
pub(crate) struct Several {
    pub(crate) consumer: Option<(mpsc::Consumer<u64>, mpsc::Places)>,
    producers: [Option<(mpsc::Producer<u64>, annulus::shm::Peer)>; PLACES],
}

impl Several {
    pub(crate) fn new(consumer: mpsc::Consumer<u64>, places: mpsc::Places) -> Self {
        Self { consumer: Some((consumer, places)), producers: [const { None }; PLACES] }
    }

    /// The producer that had been there leaves, and another one joins, if it can.
    fn join(&mut self, invitation: &Invitation, who: usize) {
        self.producers[who] = None;
        self.producers[who] = told(mpsc::producer(invitation));
    }

    /// One verb of each side.
    pub(crate) fn verb(&mut self, invitation: &Invitation, verb: u8) {
        let who = usize::from(verb / 16) % PLACES;
        match (verb % 16, &mut self.producers[who], &mut self.consumer) {
            (0, _, _) => self.join(invitation, who),
            (1, producer, _) => *producer = None,
            (2, Some((producer, _)), _) => drop(producer.try_send(1)),
            (3, Some((producer, _)), _) => {
                let left =
                    producer.try_send_batch(&[2; 20]).map_or_else(|error| error.into_inner().len(), |()| 0);
                assert!(20 - left <= SLOTS);
            }
            (4, Some((producer, _)), _) => {
                assert!(producer.try_reserve(20).map_or(true, |room| room.len() <= SLOTS));
            }
            (5, Some((producer, _)), _) => drop(producer.send_timeout(3, Duration::ZERO)),
            (6, Some((producer, peer)), _) => _ = (producer.stats(), producer.is_closed(), peer.state()),
            // Not often: it ends there.
            (7, Some((producer, _)), _) if verb > 112 => producer.close(),
            (8, _, Some((consumer, _))) => drop(consumer.try_recv()),
            (9, _, Some((consumer, _))) => assert!(consumer.consume(usize::MAX, drop) <= ALL),
            (10, _, Some((consumer, _))) => {
                let there = consumer.readable_shared().len();
                assert!(there <= SLOTS);
                consumer.advance(there);
            }
            (11, _, Some((consumer, _))) => drop(consumer.recv_timeout(Duration::ZERO)),
            (12, _, Some((consumer, _))) => assert!(consumer.try_recv_batch(&mut [0; 2 * ALL]) <= ALL),
            (13, _, Some((consumer, _))) => assert!(consumer.try_iter().take(100).count() < 100),
            (14, _, Some((consumer, places))) => {
                _ = (consumer.is_fully_drained(), consumer.stats(), places.joined(), places.died());
                assert!(places.taken() <= PLACES);
            }
            // As above. The next one goes on where it stood.
            (15, _, consumer) if verb > 112 => {
                *consumer = None;
                *consumer = told(mpsc::consumer(invitation));
            }
            _ => {}
        }
        assert!(self.consumer.as_ref().is_none_or(|(consumer, _)| consumer.len() <= ALL));
        assert!(self.producers.iter().flatten().all(|(producer, _)| producer.len() <= SLOTS));
    }
}

fn record_verbs(invitation: &Invitation) -> Option<Verbs> {
    let (mut consumer, peer) = told(bytes::consumer(invitation))?;
    Some(Box::new(move |verb| {
        let record =
            if verb % 2 == 0 { consumer.try_read().ok() } else { consumer.read_timeout(Duration::ZERO).ok() };
        // All its bytes are there.
        let len = record.map_or(0, |record| record.to_vec().len());
        assert!(len <= RECORD_BYTES + 8, "{len}");
        _ = (consumer.is_empty(), consumer.is_fully_drained(), consumer.stats(), peer.state());
    }))
}

fn lossy_verbs<T: Message + bytemuck::Pod>(invitation: &Invitation) -> Option<Verbs> {
    let ring = told(invitation.accept::<T>())?;
    let mut subscriber = ring.subscribable().subscribe();
    Some(Box::new(move |verb| {
        match verb % 8 {
            0 => drop(subscriber.latest()),
            1 => _ = subscriber.skip_to_latest(),
            2 => drop(subscriber.recv_timeout(Duration::ZERO)),
            3 => subscriber = ring.subscribable().subscribe_from_oldest(),
            4 => subscriber = subscriber.clone(),
            _ => common(&mut subscriber, verb),
        }
        assert!(subscriber.cursor() < LAST_CURSOR, "{}", subscriber.cursor());
        _ = (ring.state(), ring.subscribable().is_closed());
    }))
}

fn lossless_verbs<T: Message + bytemuck::Pod>(invitation: &Invitation) -> Option<Verbs> {
    let ring = told(invitation.accept_lossless::<T>())?;
    let mut awaited = ring.subscribe().ok();
    let mut tap = ring.subscribe_lossy();
    Some(Box::new(move |verb| {
        match verb % 8 {
            0 => {
                drop(awaited.take());
                awaited = ring.subscribe().ok();
            }
            1 => awaited = ring.subscribe_from_oldest().ok(),
            2 => common(&mut tap, verb / 8),
            3 => tap = ring.subscribe_lossy(),
            4 => drop(awaited.as_mut().map(|awaited| awaited.recv_timeout(Duration::ZERO))),
            verb => awaited.iter_mut().for_each(|awaited| common(awaited, verb)),
        }
        let cursor = awaited.as_ref().map_or(0, Subscriber::cursor).max(tap.cursor());
        assert!(cursor < LAST_CURSOR, "{cursor}");
        _ = (ring.state(), ring.is_closed());
    }))
}

/// What all subscribers have.
fn common<T: Message + bytemuck::Pod, M: Mode>(subscriber: &mut Subscriber<T, M>, verb: u8) {
    match verb % 8 {
        5 => drop(subscriber.try_recv()),
        6 => assert!(subscriber.try_recv_batch(&mut [T::zeroed(); 20]) <= SLOTS),
        _ => assert!(subscriber.try_iter().take(100).count() <= SLOTS),
    }
    _ = (subscriber.len(), subscriber.is_empty(), subscriber.is_closed(), subscriber.total_lagged());
    _ = subscriber.stats();
}

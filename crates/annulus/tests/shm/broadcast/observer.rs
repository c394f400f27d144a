//! What an observer sees: how far the publisher is, and which subscribers are behind.

use std::fs::{self, File};
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use annulus::Settings;
use annulus::shm::{
    AttachError, Directory, FindError, Fingerprint, Invitation, PeerState, PublishedName, RingObserver,
    Shared, ShmKind, broadcast, recv_fd,
};
use proptest::prelude::*;

use crate::broadcast::hostile::place;
use crate::broadcast::names::memory;
use crate::broadcast::processes::{Payload, payload};
use crate::process::Child;
use crate::slots_of;

/// A directory for names that is gone with it.
struct Names(PathBuf, Directory);

impl Names {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("annulus-observer-{}-{number}", std::process::id()));
        let directory = Directory::open(&path).unwrap();
        Self(path, directory)
    }

    fn observer(&self, name: &str) -> RingObserver {
        RingObserver::of(&self.1.find(name).unwrap()).unwrap()
    }
}

impl Drop for Names {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Messages of many sizes, beside their stamps and on the next line: each that is in the ring is read, and no
/// other one.
#[test]
fn observer_reads_whole_messages() {
    fn check<const BYTES: usize>(names: &Names) {
        let settings = Settings::new(4).first(5);
        let Shared { handle: mut publisher, invitation, .. } =
            broadcast::lossy::<[u8; BYTES]>(settings).unwrap();
        let name = invitation.publish(&names.1, "ring").unwrap();
        let observer = names.observer("ring");
        let message =
            |number: u64| std::array::from_fn::<u8, BYTES, _>(|index| (number as usize + index) as u8);
        let mut bytes = vec![9];
        assert!(!observer.read(0, &mut bytes) && bytes.is_empty());
        for published in 1..=9 {
            publisher.publish(message(published - 1));
            for number in 0..12 {
                let is_there = number < published && published - number <= 4;
                assert_eq!(observer.read(number, &mut bytes), is_there, "{number} of {published}");
                assert_eq!(bytes, if is_there { message(number).to_vec() } else { vec![] });
            }
        }
        assert!(!observer.read(u64::MAX, &mut bytes) && !observer.read(u64::MAX - 5, &mut bytes));
        drop(name);
    }
    let names = Names::new();
    check::<1>(&names);
    check::<8>(&names);
    check::<13>(&names);
    check::<56>(&names);
    check::<255>(&names);
    check::<256>(&names);
    check::<1001>(&names);
}

/// Rings of many sizes, after each message of some laps: the publisher shows its bound now and then only.
#[test]
fn messages_count_at_once() {
    let names = Names::new();
    for (capacity, first) in [(2, 0), (3, 7), (8, 0), (200, 1 << 40), (1000, 0)] {
        let settings = Settings::new(capacity).first(first);
        let Shared { handle: mut publisher, invitation, .. } = broadcast::lossy::<u64>(settings).unwrap();
        let name = invitation.publish(&names.1, "ring").unwrap();
        let observer = names.observer("ring");
        let info = observer.info();
        assert_eq!((info.kind(), info.capacity(), info.start()), (ShmKind::Lossy, capacity, first));
        let published = || observer.numbers().unwrap().published;
        assert_eq!(published(), 0);
        for number in 1..=2100 {
            publisher.publish(number);
            assert_eq!(published(), number, "of {capacity} slots");
        }
        publisher.publish_batch(&vec![0; 777]);
        let numbers = observer.numbers().unwrap();
        assert_eq!((numbers.published, numbers.pending, numbers.readers.len()), (2877, None, 0));
        assert_eq!(observer.state(), PeerState::Alive);
        assert_eq!(format!("{observer:?}"), "RingObserver { kind: Lossy, state: Alive, .. }");
        publisher.close();
        assert_eq!(observer.state(), PeerState::Closed);
        drop((publisher, name));
        assert_eq!((observer.state(), published()), (PeerState::Closed, 2877));
    }
}

/// Numbers that were left out count, and have no message.
#[test]
fn numbers_left_out_count_and_are_not_read() {
    let names = Names::new();
    for (capacity, gap) in [(2, 1), (2, 2), (8, 3), (8, 8), (8, 90), (1000, 700)] {
        let Shared { handle: mut publisher, invitation, .. } =
            broadcast::lossy::<u64>(Settings::new(capacity).first(5)).unwrap();
        let name = invitation.publish(&names.1, "ring").unwrap();
        let observer = names.observer("ring");
        let published = || observer.numbers().unwrap().published;
        publisher.publish(0);
        publisher.skip_to(6 + gap).unwrap();
        assert_eq!(published(), 1 + gap);
        publisher.publish(7);
        assert_eq!(published(), 2 + gap);
        let mut bytes = Vec::new();
        assert_eq!(observer.read(0, &mut bytes), 2 + gap <= capacity as u64);
        assert!((1..=gap).all(|number| !observer.read(number, &mut bytes)));
        assert!(observer.read(1 + gap, &mut bytes) && bytes == 7_u64.to_ne_bytes());
        drop(name);
    }
}

/// A subscriber that stands still, one that keeps up, and one that is killed.
#[test]
fn subscribers_with_seats_are_seen() {
    let names = Names::new();
    let settings = Settings::new(16).first(1000);
    let Shared { handle: mut publisher, invitation, .. } =
        broadcast::lossless::<Payload>(settings, 4).unwrap();
    let name = invitation.publish(&names.1, "ring").unwrap();
    let observer = names.observer("ring");
    // It has both files, and can write to neither.
    for file in [observer.ring(), observer.sleepers()] {
        let file = File::from(file.try_clone_to_owned().unwrap());
        assert!(file.metadata().unwrap().len() >= 256 && file.write_all_at(&[0], 0).is_err());
    }
    let readers = || observer.numbers().unwrap().readers;
    assert_eq!((readers(), observer.numbers().unwrap().pending), (vec![], None));

    let ring = invitation.accept_lossless::<Payload>().unwrap();
    let behind = ring.subscribe().unwrap();
    let mut close = ring.subscribe().unwrap();
    for number in 1000..1010 {
        publisher.publish(payload(number)).unwrap();
        close.recv().unwrap();
    }
    let of = |index: usize| {
        let reader = readers()[index];
        assert_eq!(reader.seat, index);
        (reader.state, reader.position, reader.lag)
    };
    assert_eq!((of(0), of(1)), ((PeerState::Alive, 0, 10), (PeerState::Alive, 10, 0)));
    assert_eq!(observer.numbers().unwrap().pending, Some(10), "that of the slowest");

    let mut child = Child::new("await block");
    invitation.send(&child.socket).unwrap();
    child.socket.read_exact(&mut [0]).unwrap();
    assert_eq!(of(2), (PeerState::Alive, 10, 0));
    child.kill();
    publisher.publish(payload(1010)).unwrap();
    assert_eq!(of(2), (PeerState::Dead, 10, 1));

    // A look takes nothing: the dead one's seat is for the next, and the publisher waits for the slow one.
    let third = ring.subscribe().unwrap();
    assert_eq!((readers().len(), of(2)), (3, (PeerState::Alive, 11, 0)));
    while publisher.try_publish(payload(0)).is_ok() {}
    let numbers = observer.numbers().unwrap();
    assert_eq!((numbers.pending, numbers.published), (Some(16), 16));
    drop(behind);
    assert_eq!(readers().iter().map(|reader| reader.seat).collect::<Vec<_>>(), [1, 2]);
    drop((close, third, ring, publisher));
    assert_eq!((readers(), observer.state()), (vec![], PeerState::Closed));
    drop(name);
}

/// Its memory is there as long as somebody has it.
#[test]
fn killed_publisher_is_dead_and_its_messages_stay() {
    let names = Names::new();
    let mut child = Child::new(&format!("publish-named 64 {}", names.0.display()));
    child.socket.read_exact(&mut [0]).unwrap();
    let observer = names.observer("a");
    while observer.numbers().unwrap().published < 10_000 {
        assert_eq!(observer.state(), PeerState::Alive);
    }
    child.kill();
    assert_eq!(observer.state(), PeerState::Dead);
    let last = observer.numbers().unwrap().published;
    assert!(last >= 10_000 && observer.numbers().unwrap().published == last, "{last}");
    let error = names.1.find("a").map(drop).unwrap_err();
    assert!(error.to_string().contains("has ended"), "{error}");
}

/// It has no page where processes sleep, or one that is too short.
#[test]
fn memory_without_a_whole_page_is_refused() {
    let names = Names::new();
    let plain = File::open("/proc/self/exe").unwrap();
    let name = names.1.publish("plain", &plain, Fingerprint::of::<u64>()).unwrap();
    let refused = |name: &str| match RingObserver::of(&names.1.find(name).unwrap()) {
        Err(FindError::Attach(error)) => error,
        other => panic!("{other:?}"),
    };
    assert!(matches!(refused("plain"), AttachError::NotMemory));
    drop(name);

    let Shared { handle: _publisher, invitation, .. } =
        broadcast::lossless::<u64>(Settings::new(CAPACITY), SEATS).unwrap();
    let forged = Forged::new(&invitation);
    let name = forged.publish(&names);
    let put = |at: u64, number: u64| forged.file.write_all_at(&number.to_ne_bytes(), at).unwrap();
    for seats in [SEATS as u64 + 1, u64::MAX] {
        put(144, seats);
        assert!(
            matches!(refused("forged"), AttachError::Damaged { field: "the seats", value } if value == seats)
        );
    }
    put(144, SEATS as u64);
    // The page of another ring, and one that is too short: a name that was forged, too.
    let page = |number: u64| forged.page.write_all_at(&number.to_ne_bytes(), 8).unwrap();
    let mut identity = [0; 8];
    forged.page.read_exact_at(&mut identity, 8).unwrap();
    page(7);
    assert!(matches!(refused("forged"), AttachError::Page { found: 7, .. }));
    page(u64::from_ne_bytes(identity));
    let (short, path) = (memory(&[], 100), names.0.join("forged.ring"));
    let text = fs::read_to_string(&path).unwrap();
    let last = text.lines().find(|line| line.starts_with("page ")).unwrap();
    fs::write(&path, text.replace(last, &format!("page {}", short.as_raw_fd()))).unwrap();
    assert!(matches!(refused("forged"), AttachError::Length { found: 100, needed: 256 }));
    drop(name);
    let _name = forged.publish(&names);
    // Nobody has a lock of it, whatever kind it says it is.
    for kind in [6, 9, 4] {
        forged.file.write_all_at(&u32::to_ne_bytes(kind), 16).unwrap();
        let known = names.observer("forged");
        let published = known.numbers().map(|numbers| numbers.published);
        assert_eq!((published, known.state()), (Some(0), PeerState::Dead), "{kind}");
    }
    let begin = slots_of(&forged.file);
    let (slots, start) = ((forged.len - begin) / 4, begin);
    // Slots of 4 bytes, for payloads of 4.
    for (at, number) in [(24, start + 4 * slots), (40, start), (48, 4), (56, slots), (64, 4), (72, 4)] {
        put(at, number);
    }
    assert!(matches!(refused("forged"), AttachError::Damaged { field: "the slots' size", value: 4 }));
    // Slots with no room for a stamp beside the payload: nothing can be read.
    for (at, number) in [(24, start + 64 * 2), (48, 64), (56, 2), (64, 64)] {
        put(at, number);
    }
    put(start, 2);
    let mut bytes = vec![9];
    assert!(!names.observer("forged").read(0, &mut bytes) && bytes.is_empty());
}

const CAPACITY: usize = 8;
const SEATS: usize = 3;

/// A copy of a ring that this process can write to as it likes.
struct Forged {
    file: File,
    len: u64,
    page: File,
}

impl Forged {
    fn new(invitation: &Invitation) -> Self {
        let (here, there) = UnixStream::pair().unwrap();
        invitation.send(&here).unwrap();
        let [good, page] = [0; 2].map(|_| File::from(recv_fd(&there).unwrap()));
        let len = good.metadata().unwrap().len();
        let mut bytes = vec![0; len.try_into().unwrap()];
        good.read_exact_at(&mut bytes, 0).unwrap();
        let file = memory(&bytes, len);
        // By a number, as another process opens it.
        let page = File::options()
            .read(true)
            .write(true)
            .open(format!("/proc/self/fd/{}", page.as_fd().as_raw_fd()));
        Self { file, len, page: page.unwrap() }
    }

    fn publish(&self, names: &Names) -> PublishedName {
        crate::broadcast::names::invitation(&self.file, &self.page).publish(&names.1, "forged").unwrap()
    }
}

/// Numbers at the edges, and any.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(u64::MAX), Just(u64::MAX - 1), Just(1 << 63), (0..40u64), any::<u64>()]
}

proptest! {
    /// Any words, where the numbers are, in the slots and in the seats: numbers that can be.
    #[test]
    fn words_of_any_value_are_numbers_that_can_be(
        writes in prop::collection::vec((0..4 + 2 * CAPACITY as u64 + SEATS as u64, number()), 1..40),
    ) {
        let names = Names::new();
        let Shared { handle: mut publisher, invitation, .. } =
            broadcast::lossless::<u64>(Settings::new(CAPACITY), SEATS).unwrap();
        (0..11).for_each(|number| publisher.publish(number).unwrap());
        let forged = Forged::new(&invitation);
        let _name = forged.publish(&names);
        let Forged { file, len, page } = forged;
        let observer = names.observer("forged");
        assert_eq!(observer.numbers().unwrap().published, 11);
        let slots = len - 16 * CAPACITY as u64;
        for (word, number) in writes {
            let (file, at) = match word.checked_sub(4 + 2 * CAPACITY as u64) {
                Some(seat) => (&page, 384 + 128 * seat),
                None => (&file, place(word, slots)),
            };
            file.write_all_at(&number.to_ne_bytes(), at).unwrap();
            let numbers = observer.numbers().unwrap();
            prop_assert!(numbers.published <= 1 << 63, "{}", numbers.published);
            for reader in &numbers.readers {
                prop_assert_eq!(reader.position + reader.lag, numbers.published);
                prop_assert!(reader.lag <= CAPACITY as u64 && reader.state == PeerState::Dead);
            }
            prop_assert_eq!(numbers.pending, numbers.readers.iter().map(|reader| reader.lag).max());
            prop_assert!(observer.state() != PeerState::Alive, "nobody has the copy's lock");
        }
    }
}

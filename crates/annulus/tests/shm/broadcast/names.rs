//! Rings by name, and what errors say.

use std::any::Any;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;

use annulus::Settings;
use annulus::memory::{HugePages, Memory};
use annulus::shm::{
    AttachError, Directory, FindError, Fingerprint, Invitation, NameError, PeerState, RingObserver,
    ShareError, Shared, WhenGone, broadcast, bytes, mp_broadcast, mpsc, recv_fd, send_fd, spsc,
};
use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, fstat, memfd_create};

/// A path, whose directory is removed at the end.
pub(crate) struct Scratch(pub(crate) std::path::PathBuf);

impl Scratch {
    pub(crate) fn new(test: &str) -> Self {
        Self(std::env::temp_dir().join(format!("annulus-names-{test}-{}", std::process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Sealed memory with these bytes at its beginning.
pub(crate) fn memory(bytes: &[u8], len: u64) -> File {
    let fd = memfd_create("annulus test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
    fallocate(&fd, FallocateFlags::empty(), 0, len).unwrap();
    fcntl_add_seals(&fd, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL).unwrap();
    let mut file = File::from(fd);
    file.write_all(bytes).unwrap();
    file
}

/// A sleepers' page of this ring, which nobody has made for it.
pub(crate) fn page_of(ring: &File) -> File {
    let mut page = [0; 16];
    page[..4].copy_from_slice(b"ANNW");
    ring.read_exact_at(&mut page[8..], 112).unwrap();
    memory(&page, 256)
}

/// The invitation of these two.
pub(crate) fn invitation(ring: impl AsFd, sleepers: impl AsFd) -> Invitation {
    let (here, there) = UnixStream::pair().unwrap();
    send_fd(&here, ring.as_fd()).unwrap();
    send_fd(&here, sleepers.as_fd()).unwrap();
    Invitation::receive(&there).unwrap()
}

#[test]
fn ring_is_found_by_its_name() {
    let scratch = Scratch::new("found");
    let directory = Directory::open(&scratch.0).unwrap();
    let Shared { handle: mut publisher, invitation, .. } = broadcast::lossy::<u64>(Settings::new(8)).unwrap();
    let name = invitation.publish(&directory, "a").unwrap();
    let found = directory.find("a").unwrap();
    let ring = Invitation::find(&found).unwrap().accept::<u64>().unwrap();
    assert!(format!("{ring:?}").contains("Accepted"));
    let mut subscriber = ring.subscribable().subscribe();
    publisher.publish(7);
    assert_eq!(subscriber.recv(), Ok(7));
    assert_eq!((found.state(), ring.state()), (PeerState::Alive, PeerState::Alive));

    let error = invitation.publish(&directory, "a").map(drop).unwrap_err();
    assert!(matches!(error, FindError::Name(NameError::Taken { .. })), "{error}");

    drop(name);
    let error = Invitation::find(&found).unwrap_err();
    assert!(matches!(error, FindError::Name(NameError::NotFound { .. })), "{error}");
    publisher.publish(8);
    assert_eq!(subscriber.recv(), Ok(8), "who has the ring goes on");
}

#[test]
fn name_of_other_memory_is_refused() {
    let scratch = Scratch::new("none");
    let directory = Directory::open(&scratch.0).unwrap();
    let _name = directory.publish("a", memory(b"something else", 4096), Fingerprint::of::<u64>()).unwrap();
    let error = Invitation::find(&directory.find("a").unwrap()).unwrap_err();
    assert!(matches!(error, FindError::Attach(AttachError::NoRing { .. })), "{error}");
}

/// The page where subscribers sleep may be anything, too.
#[test]
fn sleepers_pages_that_are_none() {
    let Shared { handle: _publisher, invitation: good, .. } =
        broadcast::lossy::<u64>(Settings::new(8)).unwrap();
    let (here, there) = UnixStream::pair().unwrap();
    good.send(&here).unwrap();
    let ring: OwnedFd = annulus::shm::recv_fd(&there).unwrap();
    let short = invitation(&ring, memory(b"ANNW", 128)).accept::<u64>().map(drop);
    assert!(matches!(short, Err(AttachError::Length { found: 128, needed: 256 })), "{short:?}");
    let other = invitation(&ring, memory(b"....", 4096)).accept::<u64>().map(drop);
    assert!(matches!(other, Err(AttachError::Damaged { .. })), "{other:?}");
    let socket = invitation(&ring, &here).accept::<u64>().map(drop);
    assert!(matches!(socket, Err(AttachError::NotMemory)), "{socket:?}");
    let nobodys = invitation(&ring, memory(b"ANNW", 256)).accept::<u64>().map(drop);
    assert!(matches!(nobodys, Err(AttachError::Page { found: 0, .. })), "{nobodys:?}");
    // As it should be.
    let page = page_of(&File::from(ring.try_clone().unwrap()));
    let forged = invitation(&ring, page).accept::<u64>().unwrap();
    assert_eq!(forged.state(), PeerState::Alive);
}

/// What is kept of a ring that was made, and an invitation to it.
type Made = (Box<dyn Any>, Invitation);

/// A ring of each kind.
const RINGS: [fn() -> Made; 6] = [
    || {
        let Shared { handle: publisher, peers: subscribable, invitation, .. } =
            broadcast::lossy::<u64>(Settings::new(8)).unwrap();
        (Box::new((publisher, subscribable)), invitation)
    },
    || {
        let Shared { handle: publisher, invitation, .. } =
            broadcast::lossless::<u64>(Settings::new(8), 1).unwrap();
        (Box::new(publisher), invitation)
    },
    || {
        let builder = mp_broadcast::Builder::new(Settings::new(8)).publishers(2);
        let Shared { handle: publisher, peers: places, invitation, .. } = builder.build::<u64>().unwrap();
        (Box::new((publisher, places)), invitation)
    },
    || {
        let builder = annulus::Settings::new(8);
        let Shared { handle: producer, peers: peer, invitation, .. } =
            spsc::producer::<u64>(builder, WhenGone::Wait).unwrap();
        (Box::new((producer, peer)), invitation)
    },
    || {
        let builder = mpsc::Builder::new(annulus::Settings::new(8)).producers(2);
        let Shared { handle: consumer, peers: places, invitation, .. } = builder.build::<u64>().unwrap();
        (Box::new((consumer, places)), invitation)
    },
    || {
        let builder = annulus::Settings::new(64);
        let Shared { handle: producer, peers: peer, invitation, .. } =
            bytes::producer(builder, WhenGone::Wait).unwrap();
        (Box::new((producer, peer)), invitation)
    },
];

/// What each way of joining says.
fn joined(invitation: &Invitation) -> [Result<(), AttachError>; 7] {
    [
        invitation.accept::<u64>().map(drop),
        invitation.accept_lossless::<u64>().map(drop),
        mp_broadcast::publisher::<u64>(invitation).map(drop),
        spsc::consumer::<u64>(invitation).map(drop),
        mpsc::producer::<u64>(invitation).map(drop),
        mpsc::consumer::<u64>(invitation).map(drop),
        bytes::consumer(invitation).map(drop),
    ]
}

/// The two descriptors that an invitation sends.
fn parts(invitation: &Invitation) -> [OwnedFd; 2] {
    let (here, there) = UnixStream::pair().unwrap();
    invitation.send(&here).unwrap();
    [recv_fd(&there).unwrap(), recv_fd(&there).unwrap()]
}

/// The ring of one, with the page of another: nobody joins, and it gets no name.
#[test]
fn ring_with_the_page_of_another_is_refused() {
    let scratch = Scratch::new("mixed");
    let directory = Directory::open(&scratch.0).unwrap();
    let (ones, others) = (RINGS.map(|make| make()), RINGS.map(|make| make()));
    for (index, (_, one)) in ones.iter().enumerate() {
        for (other, (_, of_another)) in others.iter().enumerate() {
            let ([ring, _], [_, page]) = (parts(one), parts(of_another));
            let mixed = invitation(&ring, &page);
            let said = joined(&mixed);
            assert!(said.iter().all(Result::is_err), "{index} with the page of {other}: {said:?}");
            let errors = said.iter().filter(|said| matches!(said, Err(AttachError::Page { .. }))).count();
            assert!(errors > 0, "{index} with the page of {other}: {said:?}");
            let unnamed = mixed.publish(&directory, "mixed").map(drop).unwrap_err();
            assert!(matches!(unnamed, FindError::Attach(AttachError::Page { .. })), "{unnamed}");
        }
        // Its own page is taken.
        assert!(joined(one).iter().any(Result::is_ok), "{index}");
    }
}

/// Pages in which a process wrote what it likes: the ring's identity, or none.
#[test]
fn forged_identity_is_refused_unless_it_matches_the_ring() {
    for make in RINGS {
        let (_kept, good) = make();
        let [ring, page] = parts(&good).map(File::from);
        let mut identity = [0; 8];
        page.read_exact_at(&mut identity, 8).unwrap();
        let mut of_the_ring = [0; 8];
        ring.read_exact_at(&mut of_the_ring, 112).unwrap();
        assert_eq!(identity, of_the_ring);
        let number = u64::from_ne_bytes(identity);
        for wrong in [0, 1, u64::MAX, number ^ 1, number ^ 1 << 63, number.swap_bytes() ^ 1 << 31] {
            page.write_all_at(&wrong.to_ne_bytes(), 8).unwrap();
            let said = joined(&good);
            let is_told = |said: &Result<(), _>| matches!(said, Err(AttachError::Page { found, wanted }) if (*found, *wanted) == (wrong, number));
            assert!(said.iter().all(Result::is_err) && said.iter().any(is_told), "{said:?}");
        }
        page.write_all_at(&identity, 8).unwrap();
        assert!(joined(&good).iter().any(Result::is_ok));
    }
}

/// The ring is closed, its handles are gone, and the numbers of its descriptors are used again.
#[test]
fn name_of_a_closed_ring_leads_to_its_own_page() {
    let scratch = Scratch::new("closed");
    let directory = Directory::open(&scratch.0).unwrap();
    for make in RINGS {
        let (kept, first) = make();
        let identity = |ring: &Invitation| parts(ring).map(|part| fstat(part).unwrap().st_ino);
        let own = identity(&first);
        let name = first.publish(&directory, "a").unwrap();
        drop((kept, first));
        let _others = RINGS.map(|make| make());
        let found = directory.find("a").unwrap();
        assert_eq!(identity(&Invitation::find(&found).unwrap()), own);
        assert_eq!(fstat(RingObserver::of(&found).unwrap().sleepers()).unwrap().st_ino, own[1]);
        drop(name);
    }
}

/// A name that was given to a ring without its invitation.
#[test]
fn name_without_a_page_says_how_to_give_it() {
    let scratch = Scratch::new("pageless");
    let directory = Directory::open(&scratch.0).unwrap();
    let (_kept, invitation) = RINGS[0]();
    let [ring, _] = parts(&invitation);
    let _name = directory.publish("a", &ring, Fingerprint::of::<u64>()).unwrap();
    let found = directory.find("a").unwrap();
    let error = Invitation::find(&found).unwrap_err();
    assert!(error.to_string().contains("by its invitation"), "{error}");
    let error = RingObserver::of(&found).unwrap_err();
    assert!(error.to_string().contains("by its invitation"), "{error}");
}

#[test]
fn errors_give_advice() {
    let lossy = |builder| broadcast::lossy::<u64>(builder).map(drop).unwrap_err();
    let error = lossy(Settings::new(1));
    assert_eq!(error.to_string(), "capacity 1 is too small: this ring needs at least 2 slots");
    let error = lossy(Settings::new(8).memory(Memory::require().huge_pages(HugePages::Size(2 << 20))));
    assert!(error.to_string().contains("ask for `HugePages::Transparent`"), "{error}");
    let error = ShareError::from(io::Error::from(io::ErrorKind::OutOfMemory));
    assert!(error.to_string().starts_with("the system refuses a ring between processes: "), "{error}");
}

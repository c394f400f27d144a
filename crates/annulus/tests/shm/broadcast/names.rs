//! Rings by name, and what errors say.

use std::error::Error;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use annulus::broadcast::Builder;
use annulus::memory::{HugePages, Memory};
use annulus::shm::{
    AttachError, Directory, FindError, Fingerprint, Invitation, NameError, PeerState, ShareError, broadcast,
    send_fd,
};
use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, memfd_create};

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

/// The invitation of these two.
pub(crate) fn invitation(ring: impl AsFd, sleepers: impl AsFd) -> Invitation {
    let (here, there) = UnixStream::pair().unwrap();
    send_fd(&here, ring.as_fd()).unwrap();
    send_fd(&here, sleepers.as_fd()).unwrap();
    Invitation::receive(&there).unwrap()
}

#[test]
fn a_ring_is_found_by_its_name() {
    let scratch = Scratch::new("found");
    let directory = Directory::open(&scratch.0).unwrap();
    let (mut publisher, _, invitation) = broadcast::lossy::<u64>(Builder::new(8)).unwrap();
    let name = invitation.publish(&directory, "a").unwrap();
    let found = directory.find("a").unwrap();
    let ring = Invitation::find(&found).unwrap().accept::<u64>().unwrap();
    assert!(format!("{ring:?}").contains("Accepted"));
    let mut subscriber = ring.subscribable().subscribe();
    publisher.publish(7);
    assert_eq!(subscriber.recv(), Ok(7));
    assert_eq!((found.state(), ring.publisher()), (PeerState::Alive, PeerState::Alive));

    let error = invitation.publish(&directory, "a").map(drop).unwrap_err();
    assert!(matches!(error, FindError::Name(NameError::Taken { .. })), "{error}");
    assert_eq!(error.to_string(), error.source().unwrap().to_string());

    drop(name);
    let error = Invitation::find(&found).unwrap_err();
    assert!(matches!(error, FindError::Name(NameError::NotFound { .. })), "{error}");
    publisher.publish(8);
    assert_eq!(subscriber.recv(), Ok(8), "who has the ring goes on");
}

#[test]
fn what_has_a_name_and_is_no_ring() {
    let scratch = Scratch::new("none");
    let directory = Directory::open(&scratch.0).unwrap();
    let _name = directory.publish("a", memory(b"something else", 4096), Fingerprint::of::<u64>()).unwrap();
    let error = Invitation::find(&directory.find("a").unwrap()).unwrap_err();
    assert!(matches!(error, FindError::Attach(AttachError::NoRing { .. })), "{error}");
    assert_eq!(error.to_string(), error.source().unwrap().to_string());
}

/// The page where subscribers sleep may be anything, too.
#[test]
fn sleepers_pages_that_are_none() {
    let (_publisher, _, good) = broadcast::lossy::<u64>(Builder::new(8)).unwrap();
    let (here, there) = UnixStream::pair().unwrap();
    good.send(&here).unwrap();
    let ring: OwnedFd = annulus::shm::recv_fd(&there).unwrap();
    let short = invitation(&ring, memory(b"ANNW", 128)).accept::<u64>().map(drop);
    assert!(matches!(short, Err(AttachError::Length { found: 128, needed: 256 })), "{short:?}");
    let other = invitation(&ring, memory(b"....", 4096)).accept::<u64>().map(drop);
    assert!(matches!(other, Err(AttachError::Damaged { .. })), "{other:?}");
    let socket = invitation(&ring, &here).accept::<u64>().map(drop);
    assert!(matches!(socket, Err(AttachError::NotMemory)), "{socket:?}");
    // As it should be.
    let forged = invitation(&ring, memory(b"ANNW", 256)).accept::<u64>().unwrap();
    assert_eq!(forged.publisher(), PeerState::Alive);
}

#[test]
fn errors_say_what_to_change() {
    let lossy = |builder| broadcast::lossy::<u64>(builder).map(drop::<(_, _, _)>).unwrap_err();
    let error = lossy(Builder::new(1));
    assert_eq!(error.to_string(), "capacity 1 is too small: this ring needs at least 2 slots");
    assert_eq!(error.source().unwrap().to_string(), error.to_string());
    let error = lossy(Builder::new(8).memory(Memory::require().huge_pages(HugePages::Size(2 << 20))));
    assert!(error.to_string().contains("ask for `HugePages::Transparent`"), "{error}");
    assert_eq!(error.source().unwrap().to_string(), error.to_string());
    let error = ShareError::from(io::Error::from(io::ErrorKind::OutOfMemory));
    assert!(error.to_string().starts_with("the system refuses a ring between processes: "), "{error}");
    assert!(error.source().is_some());
}

//! Tables and cells in which another process writes what it likes: errors, no crash, no endless loop, no
//! memory but that of the ring.

use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;

use annulus::shm::frames::{FrameError, SubscribeError};
use annulus::shm::{AttachError, Invitation, recv_fd, send_fd};
use proptest::prelude::*;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

use super::{publish_all, ring};

/// The ring's memory and its page, as another process has them.
fn files(invitation: &Invitation) -> [File; 2] {
    let (here, there) = UnixStream::pair().unwrap();
    invitation.send(&here).unwrap();
    [(); 2].map(|()| recv_fd(&there).unwrap().into())
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(u64::MAX), Just(1 << 63), 0..12_u64, any::<u64>()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// The most that it does is to keep the publisher from its own frames.
    #[test]
    fn entries_of_any_value_do_no_harm(writes in prop::collection::vec((0..3_u64, 0..4_u64, number()), 0..40)) {
        let (mut publisher, invitation) = ring(2, 64, 3, 2);
        let mut subscriber = invitation.accept_frames().unwrap().subscribe().unwrap();
        let [_, page] = files(&invitation);
        let mut held = None;
        for (table, entry, number) in writes {
            page.write_all_at(&number.to_ne_bytes(), 4096 * (table + 1) + 8 * entry).unwrap();
            publish_all(&mut publisher, 0..3);
            let _ = (subscriber.try_recv(), subscriber.len(), subscriber.total_lagged());
            held = subscriber.latest().ok().flatten().or(held);
            prop_assert!(publisher.held() <= 6);
            drop(invitation.accept_frames().unwrap().subscribe());
        }
    }
}

/// Cells of the header's kind that agree with nothing, or reach beyond the memory. (The copy is what a
/// process could make that says it is a ring: a ring's own memory can be written by its creator alone.)
#[test]
fn cells_that_cant_be() {
    let (_publisher, invitation) = ring(2, 64, 1, 2);
    let [ring, page] = files(&invitation);
    let mut bytes = Vec::new();
    (&ring).read_to_end(&mut bytes).unwrap();
    let attached = |bytes: &[u8]| {
        let copy = copy_of(bytes);
        let (here, there) = UnixStream::pair().unwrap();
        send_fd(&here, copy.as_fd()).unwrap();
        send_fd(&here, page.as_fd()).unwrap();
        Invitation::receive(&there).unwrap().accept_frames().map(drop)
    };
    attached(&bytes).unwrap();
    for (index, number, field) in [
        (0, 0, None),
        (0, 1000, None),
        (0, u64::MAX, Some("the number of frames")),
        (1, 65, Some("the frames' distance")),
        (1, u64::MAX, Some("the frames' distance")),
        (2, 0, Some("the frames' distance")),
        (2, 65, Some("the frames' distance")),
        (2, u64::MAX << 6, Some("the number of frames")),
        (3, 0, Some("the frames' alignment")),
        (3, 96, Some("the frames' alignment")),
        (3, 4 << 20, Some("the frames' alignment")),
        (4, 0, Some("the number of subscribers")),
        (4, 1025, Some("the number of subscribers")),
        (5, 0, Some("the number of frames held")),
        (5, 513, Some("the number of frames held")),
    ] {
        let mut changed = bytes.clone();
        changed[512 + 8 * index..][..8].copy_from_slice(&number.to_ne_bytes());
        match (attached(&changed), field) {
            (Err(AttachError::Damaged { field: found, .. }), Some(wanted)) => assert_eq!(found, wanted),
            (Err(AttachError::Length { .. }), None) => {}
            (Ok(()), None) if number == 0 => {}
            (told, _) => panic!("{index} {number}: {told:?}"),
        }
    }
}

/// Slots and stamps in which the publisher's process writes what it likes.
#[test]
fn frames_that_cant_be() {
    let (mut publisher, invitation) = ring(2, 64, 1, 2);
    publish_all(&mut publisher, 0..2);
    let [ring, page] = files(&invitation);
    let mut bytes = Vec::new();
    (&ring).read_to_end(&mut bytes).unwrap();
    let slots = usize::try_from(u64::from_ne_bytes(bytes[40..48].try_into().unwrap())).unwrap();
    for (frame, len) in [(0, 65), (0, u64::MAX), (5, 1), (u64::MAX, 1), (1 << 63, 0), (1, 8)] {
        let mut changed = bytes.clone();
        changed[slots + 8..][..8].copy_from_slice(&u64::to_ne_bytes(frame));
        changed[slots + 16..][..8].copy_from_slice(&len.to_ne_bytes());
        let copy = copy_of(&changed);
        let (here, there) = UnixStream::pair().unwrap();
        send_fd(&here, copy.as_fd()).unwrap();
        send_fd(&here, page.as_fd()).unwrap();
        let ring = Invitation::receive(&there).unwrap().accept_frames().unwrap();
        let mut subscriber = ring.subscribe_from_oldest().unwrap();
        // The second is as it was, and what is no frame is lost.
        assert_eq!(subscriber.recv().unwrap().sequence(), 1, "{frame} {len}");
        assert_eq!(subscriber.total_lagged(), 1);
        assert_eq!(subscriber.recv().unwrap_err(), FrameError::Closed);
    }
}

/// A page that ends in the table of a subscriber: it is refused, and its seat is free again.
#[test]
fn page_that_is_too_short() {
    let (_publisher, invitation) = ring(2, 64, 2, 2);
    let [ring, page] = files(&invitation);
    let mut bytes = Vec::new();
    (&page).read_to_end(&mut bytes).unwrap();
    let short = copy_of(&bytes[..2 * 4096 + 100]);
    let (here, there) = UnixStream::pair().unwrap();
    send_fd(&here, ring.as_fd()).unwrap();
    send_fd(&here, short.as_fd()).unwrap();
    let ring = Invitation::receive(&there).unwrap().accept_frames().unwrap();
    let _first = ring.subscribe().unwrap();
    for _ in 0..2 {
        let refused = ring.subscribe().unwrap_err();
        let SubscribeError::Attach(AttachError::Length { found, needed }) = refused else {
            panic!("{refused}")
        };
        assert_eq!((found, needed), (2 * 4096 + 100, 3 * 4096));
    }
}

/// Sealed memory with these bytes.
fn copy_of(bytes: &[u8]) -> File {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = File::from(memfd_create("copy", flags).unwrap());
    file.write_all_at(bytes, 0).unwrap();
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW).unwrap();
    file
}

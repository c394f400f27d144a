//! Headers, slots, keys and notices in which another process writes what it likes: errors, no crash, no
//! endless loop, no memory but that of the table.

use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use annulus::shm::blocks::MessageType;
use annulus::shm::watch::{self, AcceptedWatch, GetError};
use annulus::shm::{AttachError, Invitation, PeerState, Shared, dynamic, recv_fd, send_fd};
use annulus::{RecvError, Settings, TryRecvError, WaitStrategy};
use proptest::prelude::*;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

const CELLS: usize = 3;

/// The bytes of a table of `bool`s, of which two have values, and a key; and its page.
fn bytes() -> (Vec<u8>, File) {
    let Shared { handle: mut sender, invitation, .. } = watch::table::<bool>(Settings::new(CELLS)).unwrap();
    sender.cell("one").unwrap();
    sender.send(true).unwrap();
    sender.send_to(1, false).unwrap();
    sender.send_to(1, true).unwrap();
    let (here, there) = UnixStream::pair().unwrap();
    invitation.send(&here).unwrap();
    let [mut ring, page] = [(); 2].map(|()| File::from(recv_fd(&there).unwrap()));
    let mut bytes = Vec::new();
    ring.read_to_end(&mut bytes).unwrap();
    (bytes, page)
}

/// A process could make such memory, and say that it is a table. (A table's own can be written by its creator
/// alone.)
fn accepted(bytes: &[u8], page: &File) -> (File, Result<AcceptedWatch<bool>, AttachError>) {
    let (copy, invitation) = invited(bytes, page);
    (copy, invitation.accept_watch())
}

fn invited(bytes: &[u8], page: &File) -> (File, Invitation) {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let copy = File::from(memfd_create("copy", flags).unwrap());
    copy.write_all_at(bytes, 0).unwrap();
    fcntl_add_seals(&copy, SealFlags::SHRINK | SealFlags::GROW).unwrap();
    let (here, there) = UnixStream::pair().unwrap();
    send_fd(&here, copy.as_fd()).unwrap();
    send_fd(&here, page.as_fd()).unwrap();
    (copy, Invitation::receive(&there).unwrap())
}

fn slots_of(bytes: &[u8]) -> usize {
    u64::from_ne_bytes(bytes[40..48].try_into().unwrap()) as usize
}

/// The newest stamp of the first cell. (The slots of a `bool` are of 16 bytes.)
fn newest_of(bytes: &[u8]) -> usize {
    slots_of(bytes) + (16 * 4 * CELLS).next_multiple_of(64)
}

/// Every verb, once.
fn use_all(reader: &AcceptedWatch<bool>) {
    let _ = (reader.state(), reader.cell("one"), reader.keys().count());
    let mut changes = reader.changes();
    for cell in 0..=CELLS {
        let _ = (reader.get(cell), reader.key(cell));
        if let Some(mut receiver) = reader.receiver_of(cell) {
            let _ = (receiver.has_changed(), receiver.try_recv(), receiver.try_recv(), receiver.get());
            let _ = receiver.recv_timeout(Duration::ZERO);
        }
        let _ = (changes.try_recv(), changes.recv_timeout(Duration::ZERO), changes.total_corrupt());
    }
}

/// The same, of a reader that knows the schema only.
fn use_all_as_bytes(reader: &dynamic::watch::AcceptedWatch) {
    let _ = (reader.state(), reader.cell("one"), reader.keys().count());
    let (mut changes, mut value) = (reader.changes(), [0]);
    for cell in 0..=CELLS {
        let _ = (reader.get(cell, &mut value), reader.key(cell));
        if let Some(mut one) = reader.changes_of(cell) {
            let _ = (one.try_recv(&mut value), one.try_recv(&mut value), one.wait_timeout(Duration::ZERO));
        }
        let _ = (changes.try_recv(&mut value), changes.recv_timeout(&mut value, Duration::ZERO));
    }
}

#[test]
fn numbers_that_cant_be() {
    let (bytes, page) = bytes();
    use_all(&accepted(&bytes, &page).1.unwrap());
    for (offset, number, field) in [
        (512, 0, "the number of cells"),
        (512, 2, "the number of cells"),
        (512, 4, "the number of cells"),
        (512, 1 << 62, "the number of cells"),
        (512, u64::MAX, "the number of cells"),
        (520, 0, "the number of notices"),
        (520, 1, "the number of notices"),
        (520, u64::MAX, "the number of notices"),
        (520, 1 << 58, ""),
        (520, 1 << 40, ""),
        (520, 100_000, ""),
    ] {
        let mut changed = bytes.clone();
        changed[offset..offset + 8].copy_from_slice(&u64::to_ne_bytes(number));
        match accepted(&changed, &page).1.map(drop) {
            Err(AttachError::Damaged { field: found, .. }) => assert_eq!(found, field, "{number}"),
            Err(AttachError::Length { .. }) if field.is_empty() => {}
            told => panic!("{offset} {number}: {told:?}"),
        }
    }
    // The end is in the middle of the notices.
    let short = accepted(&bytes[..bytes.len() - 64], &page).1.map(drop);
    assert!(matches!(short, Err(AttachError::Length { .. })), "{short:?}");
}

/// What is no value is told, or passed and counted; what is no key is none.
#[test]
fn values_and_keys_that_are_none() {
    let (mut bytes, page) = bytes();
    let slots = slots_of(&bytes);
    // The value behind the first stamp.
    bytes[slots + 8] = 7;
    let keys = bytes.windows(4).position(|part| part == b"one\0").unwrap();
    bytes[keys] = 0xFF;
    let (_, reader) = accepted(&bytes, &page);
    let reader = reader.unwrap();
    let Err(GetError::Corrupt(bad)) = reader.get(0) else { panic!("{:?}", reader.get(0)) };
    assert_eq!(bad.number(), 7);
    let said = GetError::Corrupt(bad).to_string();
    assert_eq!(said, format!("the sender's process has written what is no value: {bad}"));
    let mut receiver = reader.receiver();
    assert!(receiver.recv().is_err());
    assert_eq!(receiver.total_corrupt(), 1);
    let mut changes = reader.changes();
    assert_eq!(changes.recv().map(|change| (change.cell, change.value)), Ok((1, true)));
    assert!(changes.recv().is_err());
    assert_eq!(changes.total_corrupt(), 1);
    assert_eq!((reader.keys().count(), reader.key(0), reader.cell("one")), (0, None, None));
}

/// A sender that dies after it has written a value, and before it has told of it: the value is received
/// before the end, also by a reader of all cells.
#[test]
fn value_that_was_not_told_is_received() {
    let (bytes, page) = bytes();
    let (file, reader) = accepted(&bytes, &page);
    let reader = reader.unwrap();
    let (mut changes, mut receiver) = (reader.changes(), reader.receiver_of(1).unwrap());
    assert_eq!([(); 2].map(|()| changes.try_recv().unwrap().cell), [0, 1]);
    assert_eq!(receiver.try_recv(), Ok(true));
    // Value 2 of cell 1, in its third slot.
    let slot = (slots_of(&bytes) + 16 * (4 + 2)) as u64;
    file.write_all_at(&[0; 8], slot + 8).unwrap();
    file.write_all_at(&6_u64.to_ne_bytes(), slot).unwrap();
    assert_eq!(receiver.has_changed(), Err(RecvError::CLOSED), "one that is not shown is not written");
    file.write_all_at(&6_u64.to_ne_bytes(), (newest_of(&bytes) + 8) as u64).unwrap();
    assert_eq!(changes.recv().map(|change| (change.cell, change.value)), Ok((1, false)));
    assert_eq!((receiver.recv(), reader.state()), (Ok(false), PeerState::Dead));
    assert!(changes.recv().is_err() && receiver.recv().is_err());
    // One that is being written is none.
    file.write_all_at(&7_u64.to_ne_bytes(), slot + 16).unwrap();
    assert_eq!((reader.get(1), changes.try_recv()), (Ok(false), Err(TryRecvError::Closed)));
}

/// Stamps that say that a value is there which is not: a read ends.
#[test]
fn stamps_that_cant_be() {
    let (bytes, page) = bytes();
    let slots = slots_of(&bytes);
    let newest = newest_of(&bytes);
    for (at, stamp, wanted) in [
        (newest, 8, Err(GetError::Overtaken)),
        (newest, u64::MAX, Err(GetError::Overtaken)),
        (newest, 1 << 63, Err(GetError::Overtaken)),
        (newest, 0, Err(GetError::Empty)),
        (newest, 1, Err(GetError::Empty)),
        (newest, 3, Ok(true)),
        (slots, 0, Err(GetError::Overtaken)),
        (slots, u64::MAX, Err(GetError::Overtaken)),
        (slots + 16, u64::MAX, Ok(true)),
    ] {
        let mut changed = bytes.clone();
        changed[at..][..8].copy_from_slice(&u64::to_ne_bytes(stamp));
        let reader = accepted(&changed, &page).1.unwrap();
        assert_eq!(reader.get(0), wanted, "{at} {stamp}");
        assert_eq!(reader.get(1), Ok(true));
        use_all(&reader);
    }
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(u64::MAX), Just(1 << 63), 0..12_u64, any::<u64>()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Any words anywhere behind the header.
    #[test]
    fn words_of_any_value_do_no_harm(writes in prop::collection::vec((any::<u32>(), number()), 0..60)) {
        let (bytes, page) = bytes();
        let (file, invitation) = invited(&bytes, &page);
        let (reader, words) = (invitation.accept_watch().unwrap(), (bytes.len() as u64 - 128) / 8);
        let of = MessageType::described("bool".parse().unwrap(), 1);
        let as_bytes = dynamic::watch::AcceptedWatch::accept(&invitation, &of, WaitStrategy::default()).unwrap();
        for (word, number) in writes {
            file.write_all_at(&number.to_ne_bytes(), 128 + u64::from(word) % words * 8).unwrap();
            use_all(&reader);
            use_all_as_bytes(&as_bytes);
        }
    }
}

/// A thread scribbles over all of it while others read.
#[test]
fn scribbler_beside_readers() {
    let (bytes, page) = bytes();
    let (file, reader) = accepted(&bytes, &page);
    let (reader, is_over) = (reader.unwrap(), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            let (mut random, words) = (1_u64, (bytes.len() as u64 - 128) / 8);
            while !is_over.load(Ordering::Relaxed) {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let number = if random % 3 == 0 { random } else { random >> 60 };
                let _ = file.write_all_at(&number.to_ne_bytes(), 128 + (random >> 20) % words * 8);
            }
        });
        (0..100).for_each(|_| use_all(&reader));
        is_over.store(true, Ordering::Relaxed);
    });
}

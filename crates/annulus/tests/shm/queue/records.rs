//! Queues of records between processes.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::Duration;

use annulus::Settings;
use annulus::queue::bytes::WriteError;
use annulus::shm::bytes::{self, Consumer, Producer};
use annulus::shm::{
    AttachError, Invitation, Peer, PeerState, ShareError, Shared, ShmKind, WhenGone, recv_fd, spsc,
};
use annulus::{CapacityError, TryRecvError};
use proptest::prelude::*;
use rustix::process::Signal;

use crate::process::{Child, moment, rounds};
use crate::queue::processes::what_was_said;

/// A queue, as two processes would have it, and its file.
fn queue_of(settings: Settings) -> (Producer, Consumer, Peer, File) {
    let Shared { handle: producer, invitation, .. } = bytes::producer(settings, WhenGone::Close).unwrap();
    let (here, there) = UnixStream::pair().unwrap();
    invitation.send(&here).unwrap();
    let file = File::from(recv_fd(&there).unwrap());
    let (consumer, peer) = bytes::consumer(&invitation).unwrap();
    (producer, consumer, peer, file)
}

/// Record `number`: of a length up to `most`, with bytes that follow from the number.
pub(crate) fn record(number: u64, most: usize) -> Vec<u8> {
    let len = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) as usize % (most + 1);
    (0..len as u64).map(|index| (number + index).wrapping_mul(31) as u8).collect()
}

#[test]
fn numbers_are_words() {
    let (mut producer, mut consumer, _peer, _file) = queue_of(Settings::new(64).name("log"));
    producer.write(&record(1, 9)).unwrap();
    let words = 1 + record(1, 9).len().div_ceil(8) as u64;
    let stats = consumer.stats();
    assert_eq!((stats.published, stats.received, stats.pending), (words, Some(0), Some(words)));
    assert_eq!((stats.name, producer.stats().name.as_deref()), (None, Some("log")), "of its own process");
    drop(consumer.read().unwrap());
    assert_eq!(producer.stats().received, Some(words));
}

#[derive(Clone, Debug)]
enum Step {
    Write(usize),
    Reserve(usize, usize),
    Read,
    Close(bool),
}

proptest! {
    /// As the queue in one process, step by step, also where the numbers wrap.
    #[test]
    fn ring_behaves_as_without_the_mapping(
        capacity in 2..200usize,
        first in prop_oneof![Just(0), Just(u64::MAX - 9)],
        steps in prop::collection::vec(prop_oneof![
            6 => (0..120usize).prop_map(Step::Write),
            2 => (0..120usize, 0..120usize).prop_map(|(len, used)| Step::Reserve(len, used)),
            8 => Just(Step::Read),
            1 => any::<bool>().prop_map(Step::Close),
        ], 1..80),
    ) {
        let settings = Settings::new(capacity).first(first);
        let (mut producer, mut consumer, ..) = queue_of(settings.clone());
        let (mut writes, mut reads) = annulus::queue::bytes::with(settings).unwrap();
        prop_assert_eq!((producer.capacity(), consumer.capacity()), (capacity, capacity));
        prop_assert_eq!(producer.max_len(), writes.max_len());
        for (step, number) in steps.into_iter().zip(0..) {
            match step {
                Step::Write(most) => {
                    let record = record(number, most);
                    prop_assert_eq!(producer.try_write(&record), writes.try_write(&record));
                }
                Step::Reserve(len, used) => {
                    let here = producer.try_reserve(len).map(|mut room| {
                        room.write_at(0, &vec![7; len]);
                        room.commit_len(used.min(len)).is_ok()
                    });
                    let there = writes.try_reserve(len).map(|mut room| {
                        room.fill(7);
                        room.commit_len(used.min(len)).is_ok()
                    });
                    prop_assert_eq!(here, there);
                }
                Step::Read => {
                    let here = consumer.try_read().map(|record| record.to_vec());
                    let there = reads.try_read().map(|record| record.to_vec());
                    prop_assert_eq!(here, there);
                }
                Step::Close(true) => {
                    producer.close();
                    writes.close();
                }
                Step::Close(false) => {
                    consumer.close();
                    reads.close();
                }
            }
            prop_assert_eq!((producer.is_empty(), consumer.is_empty()), (writes.is_empty(), reads.is_empty()));
        }
    }

    /// Any word where a length is: a record, or the end; and no byte of another place.
    #[test]
    fn lengths_of_any_value_do_no_harm(
        lengths in prop::collection::vec(prop_oneof![0..200u64, Just(u64::MAX), any::<u64>()], 1..4),
        at in 0..17u64,
    ) {
        let (mut producer, mut consumer, _, file) = queue_of(Settings::new(120));
        for length in lengths {
            while producer.try_write(&[7; 24]).is_ok() {}
            file.write_all_at(&length.to_ne_bytes(), 512 + 8 * at).unwrap();
            for _ in 0..40 {
                // All its bytes are there to be looked at.
                match consumer.try_read().map(|record| record.to_vec()) {
                    Ok(record) => prop_assert!(record.len() <= 17 * 8),
                    Err(error) => {
                        prop_assert!(consumer.is_empty());
                        prop_assert_eq!(error == TryRecvError::Closed, producer.is_closed());
                        break;
                    }
                }
            }
        }
    }
}

/// What a length that can't be does: the queue is closed, and nothing behind it is read.
#[test]
fn length_that_can_not_be_closes_the_queue() {
    let (mut producer, mut consumer, peer, file) = queue_of(Settings::new(120));
    producer.write(b"one").unwrap();
    producer.write(b"two").unwrap();
    file.write_all_at(&1000_u64.to_ne_bytes(), 512).unwrap();
    assert_eq!(consumer.try_read().unwrap_err(), TryRecvError::Closed);
    assert_eq!(producer.write(b"three"), Err(WriteError::Closed));
    assert_eq!(peer.state(), PeerState::Closed);
}

/// Another mapping of the ring writes to a record beside its reader. A copy that was checked stays as it was.
#[test]
fn record_that_is_changed_while_it_is_read() {
    let (mut producer, mut consumer, ..) = queue_of(Settings::new(1024));
    let text = "é".repeat(100);
    producer.write(text.as_bytes()).unwrap();
    // Behind it: its length, and 200 bytes.
    let mut room = producer.reserve(8).unwrap();
    // SAFETY: the first byte of the record, in the producer's mapping, which outlives the scope below.
    let first = unsafe { AtomicU8::from_ptr(room.as_mut_ptr().sub(208)) };
    let record = consumer.read().unwrap();
    thread::scope(|scope| {
        let scribbler = scope.spawn(|| {
            for _ in 0..10_000_000 {
                // That of a letter of two bytes, and that of one of four.
                first.store(0xF0, Ordering::Relaxed);
                first.store(0xC3, Ordering::Relaxed);
            }
        });
        while !scribbler.is_finished() {
            for copy in [record.to_vec(), record.shared().slice(..20).to_vec()] {
                let is_text = str::from_utf8(&copy).is_ok();
                assert_eq!(str::from_utf8(&copy).is_ok(), is_text, "the copy has changed");
            }
            assert!(matches!(record.shared().get(0), Some(0xC3 | 0xF0)));
        }
    });
    assert_eq!((record.len(), String::from_utf8(record.to_vec()).unwrap()), (200, text));
}

/// All records that it had written are read, each once and in order; then the queue is closed.
#[test]
fn producer_that_is_killed() {
    for round in 0..rounds() {
        let mut child = Child::new(["write 2", "write 100", "write 4096"][round as usize % 3]);
        let (mut consumer, peer) = bytes::consumer(&Invitation::receive(&child.socket).unwrap()).unwrap();
        let most = consumer.capacity() / 2;
        let killer = thread::spawn(move || {
            thread::sleep(moment(round));
            child.kill();
        });
        let mut next = 0;
        while let Ok(found) = consumer.read() {
            assert_eq!(found.to_vec(), record(next, most));
            next += 1;
        }
        killer.join().unwrap();
        assert_eq!(peer.state(), PeerState::Dead);
        assert!(consumer.read().unwrap_err().peer_died());
    }
}

/// Record `number`, which says so.
fn numbered(number: u64) -> Vec<u8> {
    let rest = (0..number % 50).map(|index| (number + index) as u8);
    number.to_ne_bytes().into_iter().chain(rest).collect()
}

/// Its number. It is whole.
pub(crate) fn number_of(record: &[u8]) -> u64 {
    let number = u64::from_ne_bytes(record[..8].try_into().unwrap());
    assert_eq!(record, numbered(number), "torn");
    number
}

/// A reader is killed again and again. The next one begins with the last record that was read, or behind it,
/// if that one was dropped.
#[test]
fn consumers_that_are_killed() {
    let Shared { handle: mut producer, peers: peer, invitation, .. } =
        bytes::producer(Settings::new(512), WhenGone::Wait).unwrap();
    let writer = thread::spawn(move || {
        let mut next = 0;
        while producer.write(&numbered(next)).is_ok() {
            next += 1;
        }
        next
    });
    let mut next = 0;
    let mut says = |said: &[u64]| {
        let Some(first) = said.first() else { return };
        assert!(*first == next || first + 1 == next, "{first} comes after {next} records");
        assert!(said.iter().zip(*first..).all(|(said, number)| *said == number), "{said:?}");
        next = first + said.len() as u64;
    };
    for round in 0..rounds() {
        let mut child = Child::new(["read block:0,0", "read pause-spin"][round as usize % 2]);
        invitation.send(&child.socket).unwrap();
        (&child.socket).read_exact(&mut [0]).unwrap();
        thread::sleep(moment(round));
        child.kill();
        assert_eq!(peer.state(), PeerState::Dead);
        says(&what_was_said(&child.socket));
    }
    let (mut consumer, _) = bytes::consumer(&invitation).unwrap();
    consumer.close();
    while let Ok(record) = consumer.read() {
        says(&[number_of(&record.to_vec())]);
    }
    assert_eq!(writer.join().unwrap(), next, "all that was written is read");
}

/// A producer dies while it writes a record: nothing of it is read.
#[test]
fn producer_that_dies_inside_a_write() {
    let mut child = Child::new("half-written records");
    let (mut consumer, peer) = bytes::consumer(&Invitation::receive(&child.socket).unwrap()).unwrap();
    assert_eq!(consumer.read().unwrap().to_vec(), record(0, 200));
    child.kill();
    (1..5).for_each(|number| assert_eq!(consumer.read().unwrap().to_vec(), record(number, 200)));
    assert!(consumer.read().unwrap_err().peer_died());
    assert_eq!((consumer.is_fully_drained(), peer.state()), (true, PeerState::Dead));
}

/// A producer that is stopped is alive: its reader waits for it, and goes on with it.
#[test]
fn producer_that_is_stopped() {
    let child = Child::new("write 100");
    let (mut consumer, peer) = bytes::consumer(&Invitation::receive(&child.socket).unwrap()).unwrap();
    child.stop();
    let mut next = 0;
    while let Ok(found) = consumer.read_timeout(Duration::from_millis(100)) {
        assert_eq!(found.to_vec(), record(next, 50));
        next += 1;
    }
    assert_eq!((peer.state(), consumer.is_closed()), (PeerState::Alive, false));
    child.signal(Signal::CONT);
    for number in next..next + 100 {
        assert_eq!(consumer.read().unwrap().to_vec(), record(number, 50));
    }
    drop(child);
}

#[test]
fn impossible_queues_are_refused() {
    let error = bytes::producer(Settings::new(1), WhenGone::Close).map(drop).unwrap_err();
    assert!(matches!(error, ShareError::Capacity(CapacityError::TooSmall { capacity: 1, minimum: 2 })));
    let Shared { handle: _producer, invitation: records, .. } =
        bytes::producer(Settings::new(64), WhenGone::Close).unwrap();
    let error = spsc::consumer::<u64>(&records).map(drop).unwrap_err();
    assert!(matches!(error, AttachError::Kind { found: ShmKind::Bytes, wanted: ShmKind::Spsc }), "{error}");
    let (here, there) = UnixStream::pair().unwrap();
    records.send(&here).unwrap();
    let file = File::from(recv_fd(&there).unwrap());
    // Another capacity than that of so many slots.
    for capacity in [0_u64, 1, 63 * 2, u64::MAX] {
        file.write_all_at(&capacity.to_ne_bytes(), 136).unwrap();
        let error = bytes::consumer(&records).map(drop).unwrap_err();
        assert!(
            matches!(error, AttachError::Damaged { field: "the capacity in bytes", value } if value == capacity),
            "{error}"
        );
    }
}

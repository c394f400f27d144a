//! What an observer sees of a queue: the messages that wait in it, and which processes are there.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;

use annulus::Settings;
use annulus::shm::{
    Directory, PeerState, ReaderNumbers, RingObserver, Shared, WhenGone, bytes, mpsc, recv_fd, spsc,
};

use crate::process::Child;
use crate::queue::processes::{Payload, payload};

/// Calls `look` with a directory for names, which is gone behind it.
fn with_names(test: &str, look: impl FnOnce(&Directory)) {
    let path = std::env::temp_dir().join(format!("annulus-queue-observer-{test}-{}", std::process::id()));
    look(&Directory::open(&path).unwrap());
    fs::remove_dir_all(path).unwrap();
}

fn observer(directory: &Directory) -> RingObserver {
    RingObserver::of(&directory.find("queue").unwrap()).unwrap()
}

/// What is published, what waits, and the consumer's state, position and lag.
type Seen = (u64, Option<u64>, Option<(PeerState, u64, u64)>);

fn seen(observer: &RingObserver) -> Seen {
    let numbers = observer.numbers().unwrap();
    let consumer = numbers.readers.first().map(|&ReaderNumbers { seat, state, position, lag, .. }| {
        assert_eq!((seat, numbers.readers.len()), (0, 1));
        (state, position, lag)
    });
    (numbers.published, numbers.pending, consumer)
}

/// Also where the numbers of messages wrap.
#[test]
fn observer_sees_waiting_messages_and_both_sides() {
    with_names("states", |directory| {
        for first in [0, u64::MAX - 1] {
            let settings = Settings::new(8).first(first);
            let Shared { handle: mut producer, invitation, .. } =
                spsc::producer::<Payload>(settings, WhenGone::Wait).unwrap();
            let name = invitation.publish(directory, "queue").unwrap();
            let observer = observer(directory);
            assert_eq!((seen(&observer), observer.state()), ((0, Some(0), None), PeerState::Alive));
            (0..3).for_each(|number| producer.send(payload(number)).unwrap());
            assert_eq!(seen(&observer), (3, Some(3), None), "no consumer has come");

            let mut child = Child::new("receive block");
            invitation.send(&child.socket).unwrap();
            child.socket.read_exact(&mut [0]).unwrap();
            while seen(&observer).1 != Some(0) {
                std::thread::yield_now();
            }
            assert_eq!(seen(&observer), (3, Some(0), Some((PeerState::Alive, 3, 0))));
            child.kill();
            (3..5).for_each(|number| producer.send(payload(number)).unwrap());
            assert_eq!(seen(&observer), (5, Some(2), Some((PeerState::Dead, 3, 2))));

            let (mut consumer, _) = spsc::consumer::<Payload>(&invitation).unwrap();
            consumer.recv().unwrap();
            assert_eq!(seen(&observer), (5, Some(1), Some((PeerState::Alive, 4, 1))));
            drop(producer);
            assert_eq!(observer.state(), PeerState::Closed);
            assert_eq!(seen(&observer), (5, Some(1), Some((PeerState::Closed, 4, 1))));
            drop(name);
        }
    });
}

/// A queue of records counts words: one for the length of each, and its bytes.
#[test]
fn records_count_as_words() {
    with_names("records", |directory| {
        let Shared { handle: mut producer, invitation, .. } =
            bytes::producer(Settings::new(1024), WhenGone::Close).unwrap();
        let _name = invitation.publish(directory, "queue").unwrap();
        let observer = observer(directory);
        producer.write(b"of 16 bytes, all").unwrap();
        producer.write(b"").unwrap();
        assert_eq!(seen(&observer), (4, Some(4), None));
        let (mut consumer, _) = bytes::consumer(&invitation).unwrap();
        drop(consumer.read().unwrap());
        assert_eq!(seen(&observer), (4, Some(1), Some((PeerState::Alive, 3, 1))));
    });
}

/// The consumer's process has such a queue. Its numbers are those of all producers together.
#[test]
fn queue_of_several_producers_is_seen_as_one() {
    with_names("several", |directory| {
        let builder = mpsc::Builder::new(annulus::Settings::new(4).first(u64::MAX)).producers(3);
        let Shared { handle: mut consumer, peers: _places, invitation, .. } = builder.build::<u64>().unwrap();
        let _name = invitation.publish(directory, "queue").unwrap();
        let observer = observer(directory);
        assert_eq!(
            (seen(&observer), observer.state()),
            ((0, Some(0), Some((PeerState::Alive, 0, 0))), PeerState::Alive)
        );
        let (mut one, _) = mpsc::producer::<u64>(&invitation).unwrap();
        let (mut other, _) = mpsc::producer::<u64>(&invitation).unwrap();
        one.send_batch(&[1, 2, 3, 4]).unwrap();
        other.send_batch(&[5, 6, 7]).unwrap();
        assert_eq!(seen(&observer), (7, Some(7), Some((PeerState::Alive, 0, 7))));
        consumer.recv().unwrap();
        drop(one);
        assert_eq!(seen(&observer), (7, Some(6), Some((PeerState::Alive, 1, 6))));
        drop(consumer);
        assert_eq!((seen(&observer).2.unwrap().0, observer.state()), (PeerState::Closed, PeerState::Closed));
    });
}

/// A process that can write to the queue writes numbers that can't be.
#[test]
fn no_number_is_believed() {
    with_names("hostile", |directory| {
        let Shared { handle: _producer, invitation, .. } =
            spsc::producer::<u64>(Settings::new(8), WhenGone::Close).unwrap();
        let _name = invitation.publish(directory, "queue").unwrap();
        let observer = observer(directory);
        let (here, there) = UnixStream::pair().unwrap();
        invitation.send(&here).unwrap();
        let file = File::from(recv_fd(&there).unwrap());
        let put = |at: u64, number: u64| file.write_all_at(&number.to_ne_bytes(), at).unwrap();
        put(264, 1);
        for (tail, head, waiting) in [
            (20, 12, 8),
            (20, 11, 0),
            (20, 21, 0),
            (3, u64::MAX, 0),
            (u64::MAX, u64::MAX - 8, 8),
            (u64::MAX, 0, 0),
        ] {
            put(128, tail);
            put(256, head);
            let expected = (tail, Some(waiting), Some((PeerState::Dead, tail - waiting, waiting)));
            assert_eq!(seen(&observer), expected, "tail {tail}, head {head}");
        }
    });
}

//! The ends of [`dynamic`](super), with typed handles on the other side.

use super::*;
use crate::error::Refusal;
use crate::message::encoded::Encoded;
use crate::schema::Schema;
use crate::settings::Settings;
use crate::shm::mpmc;
use crate::{Notifier, Readiness};
use rustix::event::{PollFd, PollFlags, poll};
use std::string::ToString;
use std::{format, vec};

type Quote = [u32; 3];

const BLOCK: WaitStrategy = WaitStrategy::Block { spin_iters: 0, pause_iters: 0 };

fn quotes() -> MessageType {
    MessageType::described("[u32;3]".parse().unwrap(), 4)
}

fn ring(capacity: usize) -> Settings {
    Settings::new(capacity).wait_strategy(BLOCK)
}

fn bytes_of(number: u32) -> [u8; 12] {
    bytemuck::cast([number, number + 1, number + 2])
}

fn number_of(message: &[u8]) -> u32 {
    bytemuck::pod_read_unaligned::<Quote>(message)[0]
}

fn received(receiver: &mut Receiver) -> u32 {
    let mut message = [0; 12];
    receiver.recv_timeout(&mut message, Duration::from_secs(10)).unwrap();
    number_of(&message)
}

/// Nothing is there; then this, in one piece and in a run; and then the end.
fn receives_all(sender: Sender, receiver: &mut Receiver) {
    let (mut sender, mut message) = (sender, [0; 12]);
    assert_eq!((sender.message_bytes(), receiver.message_bytes()), (12, 12));
    assert_eq!(receiver.try_recv(&mut message), Err(TryRecvError::Empty));
    assert_eq!(receiver.recv_timeout(&mut message, Duration::from_millis(1)), Err(RecvTimeoutError::Timeout));
    assert_eq!(receiver.state(), PeerState::Alive);
    sender.send(&bytes_of(1)).unwrap();
    sender.try_send(&bytes_of(2)).unwrap();
    sender.send_timeout(&bytes_of(3), Duration::ZERO).unwrap();
    sender.send(&bytes_of(4)).unwrap();
    assert_eq!(receiver.len(), 4);
    assert_eq!(received(receiver), 1);
    receiver.try_recv(&mut message).unwrap();
    assert_eq!(number_of(&message), 2);
    let mut run = vec![9];
    assert_eq!(receiver.recv_run(&mut run, 1), 1);
    assert_eq!(receiver.recv_run(&mut run, 5), 1);
    assert_eq!(run, [&[9][..], &bytes_of(3), &bytes_of(4)].concat());
    assert_eq!(receiver.recv_run(&mut run, 5), 0);
    sender.send(&bytes_of(5)).unwrap();
    sender.closer().close();
    assert!(sender.is_closed() && receiver.is_closed() && !receiver.is_empty());
    assert_eq!(sender.try_send(&bytes_of(6)), Err(TrySendError::Closed(())));
    assert_eq!(sender.send(&bytes_of(6)), Err(SendError(())));
    assert_eq!(receiver.recv(&mut message), Ok(()));
    assert_eq!(number_of(&message), 5);
    assert_eq!(receiver.try_recv(&mut message), Err(TryRecvError::Closed));
    assert_eq!(receiver.recv(&mut message), Err(RecvError::CLOSED));
    drop(sender);
    assert_eq!(receiver.state(), PeerState::Closed);
    assert_eq!(receiver.total_lagged(), 0);
}

#[test]
fn ends_of_each_kind_send_and_receive() {
    let of = &quotes();
    for start in [Start::Oldest, Start::Newest] {
        let join = |invitation: &Invitation| Receiver::join(invitation, of, BLOCK, start).unwrap();

        let Shared { handle: sender, invitation, .. } = Sender::lossy(ring(8), of).unwrap();
        let mut receiver = join(&invitation);
        assert!(receiver.mark().unwrap().is_ok());
        assert_eq!((sender.sequence(), receiver.cursor()), (Some(0), Some(0)));
        receives_all(sender, &mut receiver);
        assert_eq!(receiver.cursor(), Some(5));

        let Shared { handle: sender, invitation, .. } = Sender::lossless(ring(8), of, 2).unwrap();
        let mut receiver = join(&invitation.try_clone().unwrap());
        assert!(receiver.mark().is_none());
        assert!(sender.wait_for_subscribers_timeout(1, Duration::from_secs(10)));
        assert!(!sender.wait_for_subscribers_timeout(2, Duration::from_millis(1)));
        receives_all(sender, &mut receiver);

        let Shared { handle: first, invitation, .. } =
            Sender::mp_lossy(mp_broadcast::Builder::new(ring(8)), of).unwrap();
        let (mut receiver, second) = (join(&invitation), Sender::join(&invitation, of, BLOCK).unwrap());
        assert_eq!(second.sequence(), None);
        receives_all(second, &mut receiver);
        drop(first);

        let Shared { handle: first, invitation, .. } =
            Sender::mp_lossless(mp_broadcast::Builder::new(ring(8)), of, 1).unwrap();
        let (mut receiver, second) = (join(&invitation), Sender::join(&invitation, of, BLOCK).unwrap());
        assert!(second.wait_for_subscribers_timeout(1, Duration::from_secs(10)));
        receives_all(second, &mut receiver);
        drop(first);

        let builder = Settings::new(8).wait_strategy(BLOCK);
        let Shared { handle: sender, invitation, .. } = Sender::spsc(builder, of, WhenGone::Close).unwrap();
        assert_eq!(sender.consumer(), None, "its peer tells");
        receives_all(sender, &mut join(&invitation));

        let builder = mpsc::Builder::new(crate::Settings::new(8).wait_strategy(BLOCK));
        let Shared { handle: mut receiver, invitation, .. } = Receiver::mpsc(builder, of).unwrap();
        assert_eq!((receiver.state(), receiver.cursor()), (PeerState::NotYet, None));
        let sender = Sender::join(&invitation, of, BLOCK).unwrap();
        assert_eq!(sender.consumer(), Some(PeerState::Alive));
        receives_all(sender, &mut receiver);
    }
}

/// A binding moves them between threads.
const fn is_send<T: Send>() {}
const _: () = is_send::<(Sender, Receiver, Ring)>();

#[test]
fn ends_understand_handles_of_the_type() {
    let of = &quotes();
    let Shared { handle: mut sender, invitation, .. } = Sender::lossy(ring(8), of).unwrap();
    let mut typed = invitation.accept::<Quote>().unwrap().subscribable().subscribe();
    sender.send(&bytes_of(7)).unwrap();
    assert_eq!(typed.recv(), Ok([7, 8, 9]));

    let builder = crate::Settings::new(8);
    let Shared { handle: mut typed, invitation, .. } =
        crate::shm::spsc::producer::<Quote>(builder, WhenGone::Close).unwrap();
    let mut receiver = Receiver::join(&invitation, of, BLOCK, Start::Newest).unwrap();
    typed.send([7, 8, 9]).unwrap();
    assert_eq!(received(&mut receiver), 7);
}

#[test]
fn full_rings_refuse_messages() {
    let of = &quotes();
    let Shared { handle: mut sender, invitation, .. } = Sender::lossless(ring(4), of, 1).unwrap();
    let ring = Ring::accept(&invitation, of, BLOCK).unwrap();
    let mut receiver = ring.subscribe(Start::Newest).unwrap();
    assert!(ring.subscribe(Start::Newest).is_err(), "the only seat is taken");
    let mut refused = ring.subscribe_unawaited(Start::Oldest);
    let is_full = |sender: &mut Sender| {
        (1..=4).for_each(|number| sender.try_send(&bytes_of(number)).unwrap());
        assert_eq!(sender.try_send(&bytes_of(5)), Err(TrySendError::Full(())));
        let late = sender.send_timeout(&bytes_of(5), Duration::from_millis(1));
        assert_eq!(late, Err(SendTimeoutError::Timeout(())));
    };
    is_full(&mut sender);
    assert_eq!((received(&mut receiver), received(&mut refused)), (1, 1));
    sender.try_send(&bytes_of(5)).unwrap();

    let builder = Settings::new(4).wait_strategy(BLOCK);
    let Shared { handle: mut sender, invitation, .. } = Sender::spsc(builder, of, WhenGone::Close).unwrap();
    let mut receiver = Receiver::join(&invitation, of, BLOCK, Start::Newest).unwrap();
    is_full(&mut sender);
    assert_eq!(received(&mut receiver), 1);
    sender.try_send(&bytes_of(5)).unwrap();
}

/// A ring of each kind with messages of so many bytes, each time its two ends.
fn pairs(bytes: usize, capacity: usize) -> Vec<(Sender, Receiver)> {
    let of = &MessageType::of_bytes(bytes, 1);
    let join = |invitation: &Invitation| Receiver::join(invitation, of, BLOCK, Start::Oldest).unwrap();
    let lossy = Sender::lossy(ring(capacity), of).unwrap();
    let lossless = Sender::lossless(ring(capacity), of, 1).unwrap();
    let several = Sender::mp_lossy(mp_broadcast::Builder::new(ring(capacity)), of).unwrap();
    let waiting = Sender::mp_lossless(mp_broadcast::Builder::new(ring(capacity)), of, 1).unwrap();
    let queue = Sender::spsc(ring(capacity), of, WhenGone::Close).unwrap();
    let many = Receiver::mpsc(mpsc::Builder::new(ring(capacity)), of).unwrap();
    let mut pairs: Vec<_> = [lossy, lossless, several, waiting]
        .into_iter()
        .map(|made| (join(&made.invitation), made.handle))
        .map(|(receiver, sender)| (sender, receiver))
        .collect();
    pairs.push((queue.handle, join(&queue.invitation)));
    pairs.push((Sender::join(&many.invitation, of, BLOCK).unwrap(), many.handle));
    let shared = WorkQueue::new(mpmc::Builder::new(ring(capacity)), of).unwrap().invitation;
    pairs.push((Sender::join(&shared, of, BLOCK).unwrap(), join(&shared)));
    pairs
}

/// Messages of so many bytes, numbered from here on, each byte another one.
fn run_of(bytes: usize, first: usize, count: usize) -> Vec<u8> {
    (first * bytes..(first + count) * bytes).map(|at| (at % 251) as u8).collect()
}

/// What is sent by runs, one by one, and both: the bytes come as they were, at any address, and no byte of
/// the buffer changes behind them.
#[test]
fn runs_arrive_as_they_were_sent() {
    const COUNT: usize = 37;
    for bytes in [1, 7, 8, 24, 32, 64, 72, 200, 256, 300, 4096] {
        for (kind, (mut sender, mut receiver)) in pairs(bytes, 64).into_iter().enumerate() {
            for shift in [0, 1] {
                let what = format!("{bytes} bytes, kind {kind}, shift {shift}");
                let mut sent = vec![0; shift];
                sent.extend(run_of(bytes, 0, COUNT));
                let sent = &sent[shift..];
                sender.send_run(&sent[..20 * bytes]).unwrap();
                sender.send(&sent[20 * bytes..21 * bytes]).unwrap();
                sender.send_run_timeout(&sent[21 * bytes..30 * bytes], Duration::ZERO).unwrap();
                sender.try_send_run(&sent[30 * bytes..]).unwrap();
                sender.send_run(&[]).unwrap();
                let mut buffer = vec![9; shift + 40 * bytes];
                let buffer = &mut buffer[shift..];
                assert!(receiver.wait_timeout(Duration::from_secs(60)), "{what}");
                assert_eq!(receiver.recv_run_into(&mut []), 0, "{what}");
                assert_eq!(receiver.recv_run_into(&mut buffer[..5 * bytes]), 5, "{what}");
                assert_eq!(receiver.recv_run_into(&mut buffer[5 * bytes..]), COUNT - 5, "{what}");
                assert!(buffer[..COUNT * bytes] == *sent, "{what}");
                assert!(buffer[COUNT * bytes..].iter().all(|byte| *byte == 9), "{what}");
                assert_eq!(receiver.recv_run_into(buffer), 0, "{what}");
                assert!(!receiver.wait_timeout(Duration::ZERO), "{what}");
                sender.send_run(&sent[..3 * bytes]).unwrap();
                let mut run = vec![9];
                while run.len() <= 3 * bytes {
                    assert!(receiver.wait_timeout(Duration::from_secs(60)), "{what}");
                    assert!(receiver.recv_run(&mut run, 2) <= 2, "{what}");
                }
                assert!(run[1..] == sent[..3 * bytes], "{what}");
            }
            sender.closer().close();
            let sent = run_of(bytes, 0, 2);
            assert_eq!(sender.send_run(&sent), Err(SendError(&sent[..])));
            assert_eq!(sender.try_send_run(&sent), Err(TrySendError::Closed(&sent[..])));
            assert!(receiver.wait_timeout(Duration::from_secs(60)), "the end is something to receive");
            assert_eq!(receiver.recv_run_into(&mut [0; 2 * 4096][..2 * bytes]), 0);
        }
    }
}

#[test]
fn full_rings_give_the_rest_of_a_run_back() {
    for bytes in [12, 32, 80] {
        for (kind, (mut sender, mut receiver)) in pairs(bytes, 8).into_iter().enumerate() {
            if kind == 0 || kind == 2 {
                // It never waits: the first messages are lost.
                sender.send_run(&run_of(bytes, 0, 20)).unwrap();
                let mut buffer = vec![0; 20 * bytes];
                let count = receiver.recv_run_into(&mut buffer);
                let lost = receiver.total_lagged() as usize;
                assert!(lost >= 12 && lost + count == 20, "{lost} lost, and {count} there");
                assert_eq!(buffer[..count * bytes], run_of(bytes, lost, count));
                continue;
            }
            let sent = run_of(bytes, 0, 20);
            let rest = &sent[8 * bytes..];
            assert_eq!(
                sender.try_send_run(&sent),
                Err(TrySendError::Full(rest)),
                "{bytes} bytes, kind {kind}"
            );
            let late = sender.send_run_timeout(rest, Duration::from_millis(1));
            assert_eq!(late, Err(SendTimeoutError::Timeout(rest)));
            let mut buffer = vec![0; 20 * bytes];
            assert_eq!(receiver.recv_run_into(&mut buffer), 8);
            // A run that is longer than the ring waits for the receiver.
            std::thread::scope(|scope| {
                scope.spawn(|| sender.send_run(rest).unwrap());
                let mut count = 8;
                while count < 20 {
                    assert!(receiver.wait_timeout(Duration::from_secs(60)));
                    count += receiver.recv_run_into(&mut buffer[count * bytes..]);
                }
            });
            assert_eq!(buffer, sent);
        }
    }
}

/// The ends of queues with one consumer lend what lies beside each other; other rings lend nothing.
#[test]
fn queues_lend_messages_and_room() {
    const SOON: Duration = Duration::from_millis(1);
    for (kind, (mut sender, mut receiver)) in pairs(12, 4).into_iter().enumerate() {
        if kind < 4 || kind == 6 {
            assert!(sender.reserve_timeout(1, SOON).is_none());
            assert!(receiver.readable_timeout(1, SOON).is_none());
            receiver.advance(0);
            continue;
        }
        let empty = receiver.readable_timeout(9, SOON).unwrap();
        assert!(matches!(empty, Err(RecvTimeoutError::Timeout)), "kind {kind}");
        let first = sender.reserve_timeout(3, SOON).unwrap().unwrap().as_mut_ptr();
        let mut room = sender.reserve_timeout(3, SOON).unwrap().unwrap();
        assert_eq!((room.len(), room.as_mut_ptr()), (3, first), "a reservation that is dropped comes again");
        // SAFETY: so many messages have room there, and no other process has the ring.
        unsafe { core::ptr::copy_nonoverlapping(run_of(12, 0, 3).as_ptr(), first, 36) };
        room.commit(2).unwrap();
        let shown = receiver.readable_timeout(usize::MAX, SOON).unwrap().unwrap();
        assert_eq!(shown.to_vec(), run_of(12, 0, 2));
        receiver.advance(1);
        let shown = receiver.readable_timeout(usize::MAX, SOON).unwrap().unwrap();
        assert_eq!(shown.to_vec(), run_of(12, 1, 1), "it stays until it is received");
        // Up to the last slot, and then from the first one on.
        let room = sender.reserve_timeout(9, SOON).unwrap().unwrap();
        assert_eq!(room.len(), 2);
        room.commit(2).unwrap();
        let room = sender.reserve_timeout(9, SOON).unwrap().unwrap();
        assert_eq!(room.len(), 1);
        room.commit(1).unwrap();
        assert!(matches!(sender.reserve_timeout(9, SOON), Some(Err(SendTimeoutError::Timeout(())))));
        let mut received = 0;
        while received < 3 {
            let shown = receiver.readable_timeout(9, SOON).unwrap().unwrap().len() / 12;
            receiver.advance(shown);
            received += shown;
        }
        assert_eq!(received, 3);
        let room = sender.reserve_timeout(1, SOON).unwrap().unwrap();
        room.sender.closer().close();
        assert_eq!(room.commit(1), Err(SendError(())));
        assert!(matches!(sender.reserve_timeout(1, SOON), Some(Err(SendTimeoutError::Closed(())))));
        assert_eq!(receiver.readable_timeout(9, SOON).unwrap().unwrap().len(), 12);
        receiver.advance(1);
        assert!(matches!(receiver.readable_timeout(9, SOON), Some(Err(RecvTimeoutError::Closed))));
    }
}

/// The queue is closed after the look for room: what is in the room is not sent, and nothing panics.
#[test]
fn queue_that_is_closed_behind_a_reservation_refuses_the_message() {
    let of = &quotes();
    for begun in [0, 1] {
        let Shared { handle: mut producer, .. } =
            blocks::spsc_producer(ring(8), of, WhenGone::Close).unwrap();
        let Shared { handle: _consumer, invitation, .. } =
            blocks::mpsc_consumer(mpsc::Builder::new(ring(8)), of).unwrap();
        let (mut one_of_many, _) = blocks::mpsc_producer(&invitation, of, BLOCK).unwrap();
        let message = bytes_of(1);
        (0..begun).for_each(|_| {
            assert_eq!(ends::write(producer.try_reserve(12).unwrap(), &message), Ok(12));
            assert_eq!(ends::write(one_of_many.try_reserve(12).unwrap(), &message), Ok(12));
        });
        let (closer, of_many) = (producer.closer(), one_of_many.closer());
        let (room, other) = (producer.try_reserve(12).unwrap(), one_of_many.try_reserve(12).unwrap());
        closer.close();
        of_many.close();
        assert_eq!(ends::write(room, &message), Err(Refusal::Closed));
        assert_eq!(ends::write(other, &message), Err(Refusal::Closed));
        let send = |producer: &mut dyn DynSender| producer.send(&message, Patience::Endless);
        assert_eq!(
            (send(&mut producer), send(&mut one_of_many)),
            (Err(Refusal::Closed), Err(Refusal::Closed))
        );
    }
}

/// A lossy ring is closed inside a run: the rest comes back, whether the run passes over the stack or not.
#[test]
fn run_into_ring_that_is_closed_meanwhile_gives_the_rest_back() {
    // 8 bytes of each message are the whole block, and 5 are not.
    for (bytes, room) in [(8, 8), (5, 8)] {
        for closed_after in [0, 1, 17, 39, 40] {
            let of = &MessageType::of_bytes(room, 1);
            let Shared { handle: mut publisher, .. } = blocks::lossy::<1, false>(ring(64), of).unwrap();
            let closer = publisher.closer();
            let mut published = 0;
            let run = run_of(bytes, 0, 40);
            let result = ends::publish_in_blocks::<1, false>(&run, bytes, |blocks| {
                let (before, behind) = blocks.split_at(blocks.len().min(closed_after - published));
                let mut count = publisher.publish_batch(before);
                if published + count == closed_after {
                    closer.close();
                    count += publisher.publish_batch(behind);
                }
                published += count;
                count
            });
            assert_eq!((published, publisher.published()), (closed_after, closed_after as u64));
            let left = (40 - closed_after) * bytes;
            let expected = if left == 0 { Ok(()) } else { Err((left, Refusal::Closed)) };
            assert_eq!(result, expected, "{bytes} bytes, closed after {closed_after}");
        }
    }
}

/// Told by silence since a look that found nothing, and only while the process is there.
#[test]
fn silent_publisher_is_overdue() {
    const SOON: Duration = Duration::from_millis(1);
    let of = &quotes();
    let settings = ring(8).deadline(SOON);
    let several = mp_broadcast::Builder::new(settings.clone());
    let made = [
        Sender::lossy(settings.clone(), of),
        Sender::lossless(settings, of, 1),
        Sender::mp_lossy(several.clone(), of),
        Sender::mp_lossless(several, of, 1),
    ];
    for Shared { handle: mut sender, invitation, .. } in made.map(Result::unwrap) {
        let mut receiver = Receiver::join(&invitation, of, BLOCK, Start::Newest).unwrap();
        assert_eq!(Ring::accept(&invitation, of, BLOCK).unwrap().deadline(), Some(SOON));
        assert_eq!(receiver.deadline(), Some(SOON));
        assert_eq!(receiver.overdue(), None, "the first look");
        assert!(!receiver.wait_timeout(SOON));
        assert!(receiver.overdue() >= Some(SOON));
        sender.send(&bytes_of(1)).unwrap();
        assert_eq!(receiver.overdue(), None, "something waits");
        assert_eq!(received(&mut receiver), 1);
        let late = receiver.recv_timeout(&mut [0; 12], SOON);
        assert_eq!(late, Err(RecvTimeoutError::Timeout));
        assert!(receiver.overdue() >= Some(SOON) && receiver.overdue().is_some(), "more than once");
        receiver.overdue_after(Duration::from_secs(3600));
        assert!(!receiver.wait_timeout(SOON));
        assert_eq!(receiver.overdue(), None, "whatever it has promised");
        receiver.overdue_after(SOON);
        assert!(!receiver.wait_timeout(SOON));
        drop(sender);
        assert_eq!(receiver.overdue(), None, "it has left");
    }
    let Shared { handle: _sender, invitation, .. } = Sender::lossy(ring(8), of).unwrap();
    let mut receiver = Receiver::join(&invitation, of, BLOCK, Start::Newest).unwrap();
    assert!(!receiver.wait_timeout(SOON));
    assert_eq!((receiver.deadline(), receiver.overdue(), receiver.overdue()), (None, None, None));
}

#[test]
#[should_panic(expected = "the producers of a queue promise nothing")]
fn queue_has_no_deadline() {
    pairs(12, 8).pop().unwrap().1.overdue_after(Duration::ZERO);
}

/// The numbers of a name go on in a ring of such messages.
#[test]
fn numbers_of_a_name_go_on() {
    let path = std::env::temp_dir().join(format!("annulus-dynamic-numbering-{}", std::process::id()));
    let directory = crate::shm::Directory::open(&path).unwrap();
    let of = &quotes();
    for life in 0..4 {
        let numbering = directory.numbering("quotes").unwrap();
        assert_eq!(numbering.next(), 2 * life);
        let settings = blocks::continued(numbering, ring(8));
        let made =
            if life % 2 == 0 { Sender::lossy(settings, of) } else { Sender::lossless(settings, of, 1) };
        let Shared { handle: mut sender, invitation, .. } = made.unwrap();
        assert!(directory.numbering("quotes").is_err(), "one publisher at a time");
        assert_eq!((sender.sequence(), invitation.info().unwrap().start()), (Some(2 * life), 2 * life));
        sender.send_run(&[bytes_of(1), bytes_of(2)].concat()).unwrap();
    }
    std::fs::remove_dir_all(path).unwrap();
}

/// A claimed message is one consumer's until it is done, on any thread, or given back.
#[test]
fn claimed_message_comes_back_unless_it_is_done() {
    const LONG: Duration = Duration::from_secs(60);
    let of = &quotes();
    let builder = mpmc::Builder::new(ring(4)).producers(2).consumers(2);
    let Shared { handle: queue, invitation, .. } = WorkQueue::new(builder, of).unwrap();
    let mut sender = Sender::join(&invitation, of, BLOCK).unwrap();
    assert_eq!((sender.consumer(), queue.message_bytes()), (Some(PeerState::NotYet), 12));
    let mut workers = [(); 2].map(|()| Receiver::join(&invitation, of, BLOCK, Start::Newest).unwrap());
    let refused = Receiver::join(&invitation, of, BLOCK, Start::Newest).unwrap_err();
    assert!(matches!(refused, OpenError::Attach(AttachError::NoPlace { places: 2 })), "{refused:?}");
    assert_eq!((queue.producers().taken(), queue.consumers().taken()), (1, 2));
    assert_eq!(sender.consumer(), Some(PeerState::Alive));
    let said = format!("{queue:?}");
    assert!(said.starts_with("WorkQueue { message_bytes: 12, queue: Queue { len: 0, "), "{said}");

    (1..=3).for_each(|number| sender.send(&bytes_of(number)).unwrap());
    let looks_on = WorkQueue::join(&invitation, of).unwrap();
    assert_eq!((looks_on.len(), looks_on.capacity(), looks_on.is_closed()), (3, 4, false));
    let first = workers[0].claim_timeout(LONG).unwrap().unwrap();
    let second = workers[1].claim_timeout(LONG).unwrap().unwrap();
    assert_eq!([&first, &second].map(|job| number_of(job.message())), [1, 2]);
    assert_eq!((second.given_before(), second.producer()), (0, 0));
    let said = format!("Claimed {{ message: {:?}, given_before: 0, .. }}", bytes_of(2));
    assert_eq!(format!("{second:?}"), said);
    drop(second);
    let again = workers[0].claim_timeout(LONG).unwrap().unwrap();
    assert_eq!((number_of(again.message()), again.given_before()), (2, 1));
    std::thread::spawn(move || again.done()).join().unwrap();
    let mut other = Sender::join(&invitation, of, BLOCK).unwrap();
    other.send(&bytes_of(4)).unwrap();
    let mut both = [(); 2].map(|()| workers[0].claim_timeout(LONG).unwrap().unwrap());
    both.sort_by_key(|job| number_of(job.message()));
    let [third, fourth] = both;
    assert_eq!([&third, &fourth].map(|job| (number_of(job.message()), job.producer())), [(3, 0), (4, 1)]);
    fourth.done();
    drop(third);
    // The end comes when nothing can come back any more.
    looks_on.close();
    assert!(sender.is_closed() && queue.is_closed());
    assert_eq!(received(&mut workers[1]), 3);
    assert_eq!(workers[1].try_recv(&mut [0; 12]), Err(TryRecvError::Empty));
    first.done();
    assert_eq!(workers[1].recv(&mut [0; 12]), Err(RecvError::CLOSED));
    let end = workers[1].claim_timeout(LONG).unwrap();
    assert!(matches!(end, Err(RecvTimeoutError::Closed)));
    assert_eq!((queue.given_again(), queue.dropped(), queue.len()), (2, 0, 0));
}

/// Messages without a byte are received one at a time: no run has room for one.
#[test]
fn messages_without_bytes_are_received_one_at_a_time() {
    let of = &MessageType::of_bytes(0, 1);
    let Shared { handle: mut sender, invitation, .. } = Sender::lossy(ring(8), of).unwrap();
    let mut receiver = Receiver::join(&invitation, of, BLOCK, Start::Oldest).unwrap();
    sender.send(&[]).unwrap();
    assert_eq!(receiver.recv_run_into(&mut []), 0);
    assert_eq!((receiver.recv(&mut []), receiver.is_empty()), (Ok(()), true));
}

#[test]
fn queue_of_several_consumers_alone_has_claims() {
    for (kind, (mut sender, mut receiver)) in pairs(12, 8).into_iter().enumerate() {
        sender.send(&bytes_of(1)).unwrap();
        let claimed = receiver.claim_timeout(Duration::ZERO);
        assert_eq!(claimed.is_some(), kind == 6, "kind {kind}");
        drop(claimed);
        assert_eq!(received(&mut receiver), 1, "kind {kind}");
    }
    let of = MessageType::of_bytes(LONGEST + 8, 8);
    let refused = WorkQueue::new(mpmc::Builder::new(ring(8)), &of).unwrap_err();
    assert!(matches!(refused, OpenError::TooLong { bytes: 4104 }), "{refused}");
}

#[test]
#[should_panic(expected = "this ring shows none")]
fn advance_of_broadcast_ring_panics() {
    let (_sender, mut receiver) = pairs(12, 8).swap_remove(0);
    receiver.advance(1);
}

#[test]
fn newest_message_passes_the_others() {
    for (kind, (mut sender, mut receiver)) in pairs(12, 8).into_iter().enumerate() {
        let mut message = [0; 12];
        assert_eq!(receiver.latest(&mut message), Err(TryRecvError::Empty));
        (1..=5).for_each(|number| sender.send(&bytes_of(number)).unwrap());
        assert_eq!((receiver.latest(&mut message), number_of(&message)), (Ok(4), 5), "kind {kind}");
        assert_eq!(receiver.latest(&mut message), Err(TryRecvError::Empty));
        let lagged = if kind == 0 || kind == 2 { 4 } else { 0 };
        assert_eq!((receiver.total_lagged(), receiver.len()), (lagged, 0), "kind {kind}");
        // There is room again.
        (6..=13).for_each(|number| sender.try_send(&bytes_of(number)).unwrap());
        assert_eq!(received(&mut receiver), 6);
        sender.closer().close();
        assert_eq!((receiver.latest(&mut message), number_of(&message)), (Ok(6), 13), "kind {kind}");
        assert_eq!(receiver.latest(&mut message), Err(TryRecvError::Closed));
    }
}

/// A loop that polls descriptors receives from any ring.
#[test]
fn notifier_takes_receiver_of_each_kind() {
    for (mut sender, receiver) in pairs(12, 8) {
        let mut notifier = Notifier::new(receiver).unwrap();
        assert_eq!(notifier.arm(), Readiness::Armed);
        let sent = std::thread::spawn(move || sender.send(&bytes_of(3)).map(|()| sender).unwrap());
        let mut waited = [PollFd::new(&notifier, PollFlags::IN)];
        let timeout = rustix::fs::Timespec { tv_sec: 60, tv_nsec: 0 };
        assert_eq!(poll(&mut waited, Some(&timeout)), Ok(1));
        assert_eq!(received(notifier.get_mut()), 3);
        sent.join().unwrap().closer().close();
        assert_eq!(notifier.arm(), Readiness::Ready, "the end is something to receive");
        assert!(Waitable::is_closed(notifier.get_ref()));
    }
}

#[test]
#[should_panic(expected = "a run has the length of so many messages of 12 bytes, and not 13 bytes")]
fn run_of_a_part_of_a_message_panics() {
    let (_sender, mut receiver) = pairs(12, 8).pop().unwrap();
    receiver.recv_run_into(&mut [0; 13]);
}

#[test]
fn lag_ends_run_and_is_counted() {
    let of = &quotes();
    let Shared { handle: mut sender, invitation, .. } = Sender::lossy(ring(8), of).unwrap();
    let joined = Ring::accept(&invitation, of, BLOCK).unwrap();
    let mut receiver = joined.subscribe(Start::Oldest).unwrap();
    (0..20).for_each(|number| sender.send(&bytes_of(number)).unwrap());
    let mut run = Vec::new();
    assert_eq!(receiver.recv_run(&mut run, 20), 0);
    let lost = receiver.total_lagged();
    assert!(lost > 0 && receiver.cursor() == Some(lost));
    assert_eq!(receiver.recv_run(&mut run, 20) as u64, 20 - lost);
    assert_eq!(u64::from(number_of(&run[..12])), lost);

    assert_eq!(sender.skip_to(30), Some(10));
    assert_eq!((sender.sequence(), joined.is_closed()), (Some(30), false));
    assert_eq!(joined.state(), PeerState::Alive);
    drop(sender);
    assert!(joined.is_closed() && joined.state() == PeerState::Closed);
}

#[test]
fn schema_of_ring_is_compared() {
    let Shared { handle: _sender, invitation, .. } = Sender::lossy(ring(8), &quotes()).unwrap();
    let other: Schema = "{a:u32,b:u32,c:u32}".parse().unwrap();
    let other = MessageType::described(other, 4);
    let refused = Receiver::join(&invitation, &other, BLOCK, Start::Newest).unwrap_err();
    assert!(matches!(refused, OpenError::Attach(AttachError::Type { .. })), "{refused:?}");
    let refused = Receiver::join(&invitation, &MessageType::of_bytes(8, 4), BLOCK, Start::Newest);
    let refused = refused.unwrap_err();
    assert!(matches!(refused, OpenError::Attach(AttachError::PayloadSize { .. })), "{refused:?}");
    assert!(Receiver::join(&invitation, &MessageType::of::<Quote>(), BLOCK, Start::Newest).is_ok());
    assert_eq!(quotes().bytes(), size_of::<<Quote as Encoded>::Wire>());
}

#[test]
fn ends_that_cannot_be_are_refused() {
    let of = &quotes();
    let Shared { handle: _sender, invitation, .. } = Sender::lossy(ring(8), of).unwrap();
    let refused = Sender::join(&invitation, of, BLOCK).unwrap_err();
    assert_eq!(refused.to_string(), "a lossy broadcast ring has no such end");
    let long = MessageType::of_bytes(LONGEST + 8, 8);
    let refused = Sender::lossy(ring(8), &long).unwrap_err();
    assert!(matches!(refused, OpenError::TooLong { bytes: 4104 }), "{refused}");
    assert!(Sender::lossless(ring(8), of, 0).is_err());
    let builder = queue_of_records();
    let Shared { handle: _producer, invitation, .. } =
        crate::shm::bytes::producer(builder, WhenGone::Close).unwrap();
    let refused = Receiver::join(&invitation, of, BLOCK, Start::Newest).unwrap_err();
    assert!(matches!(refused, OpenError::Kind(ShmKind::Bytes)), "{refused}");
}

fn queue_of_records() -> Settings {
    crate::Settings::new(64)
}

//! The ends of [`dynamic`](super), with typed handles on the other side.

use super::*;
use crate::message::encoded::Encoded;
use crate::schema::Schema;
use crate::settings::Settings;
use std::string::ToString;
use std::vec;

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
        let mut receiver = join(&invitation);
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

        let builder = Settings::new(8).wait_strategy(BLOCK);
        let Shared { handle: sender, invitation, .. } = Sender::spsc(builder, of, WhenGone::Close).unwrap();
        receives_all(sender, &mut join(&invitation));

        let builder = mpsc::Builder::new(crate::Settings::new(8).wait_strategy(BLOCK));
        let Shared { handle: mut receiver, invitation, .. } = Receiver::mpsc(builder, of).unwrap();
        assert_eq!((receiver.state(), receiver.cursor()), (PeerState::NotYet, None));
        receives_all(Sender::join(&invitation, of, BLOCK).unwrap(), &mut receiver);
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

//! Handles that know the type of their messages by its schema only: what each says of itself, and what a kind
//! of ring answers to a verb that is for another one.

use std::time::Duration;

use annulus::shm::blocks::MessageType;
use annulus::shm::dynamic::watch::{self, AcceptedWatch};
use annulus::shm::dynamic::{Client, LONGEST, OpenError, Receiver, Ring, Sender, Server, Start};
use annulus::shm::{AttachError, PeerState, Shared, WhenGone, mp_broadcast, mpsc, service};
use annulus::{SendError, Settings, TryRecvError, WaitStrategy, Waitable};

const BLOCK: WaitStrategy = WaitStrategy::block_after(0, 0);

/// A hang, and no luck.
const LONG: Duration = Duration::from_secs(60);

fn four_bytes() -> MessageType {
    MessageType::of_bytes(4, 1)
}

fn settings() -> Settings {
    Settings::new(8).wait_strategy(BLOCK).first(0)
}

fn is_over(handle: &impl Waitable) -> bool {
    handle.is_closed()
}

#[test]
fn handles_of_a_ring_have_debug_forms() {
    let of = &four_bytes();
    let Shared { handle: mut sender, invitation, .. } =
        Sender::spsc(settings(), of, WhenGone::Close).unwrap();
    let receiver = Receiver::join(&invitation, of, BLOCK, Start::Newest).unwrap();
    sender.send(&[7; 4]).unwrap();
    let room = sender.reserve_timeout(3, Duration::ZERO).unwrap().unwrap();
    assert_eq!(format!("{room:?}"), "Reserved { len: 3, .. }");
    assert_eq!(format!("{sender:?}"), "Sender { message_bytes: 4, is_closed: false, .. }");
    assert_eq!(format!("{receiver:?}"), "Receiver { message_bytes: 4, len: 1, is_closed: false, .. }");
    sender.closer().close();
    assert_eq!(format!("{sender:?}"), "Sender { message_bytes: 4, is_closed: true, .. }");

    let Shared { handle: _sender, invitation, .. } = Sender::lossy(settings(), of).unwrap();
    let ring = Ring::accept(&invitation, of, BLOCK).unwrap();
    assert_eq!(format!("{ring:?}"), "Ring { message_bytes: 4, state: Alive, .. }");
}

#[test]
fn handles_of_a_service_have_debug_forms() {
    let builder = service::Builder::new(settings()).clients(2);
    let (question, answer) = (four_bytes(), MessageType::of_bytes(6, 1));
    let Shared { handle: mut server, invitation, .. } = Server::new(builder, &question, &answer).unwrap();
    let mut client = Client::join(&invitation, &question, &answer, BLOCK).unwrap();
    let mut pending = client.ask(&[1; 4]).unwrap();
    let said = "Server { question_bytes: 4, answer_bytes: 6, len: 1, is_closed: false, .. }";
    assert_eq!((format!("{server:?}"), is_over(&server)), (said.into(), false));
    let said = "Client { question_bytes: 4, answer_bytes: 6, open: 1, is_closed: false, .. }";
    assert_eq!(format!("{client:?}"), said);
    assert_eq!(format!("{pending:?}"), "PendingAnswer { answer_bytes: 6, .. }");
    let request = server.recv_timeout(LONG).unwrap();
    assert_eq!(format!("{request:?}"), format!("Request {{ client: {:?}, .. }}", request.client()));
    assert_eq!((request.question(), request.answer_bytes()), (&[1; 4][..], 6));
    request.answer(&[2; 6]).unwrap();
    assert!(!is_over(&pending), "its answer is there");
    let mut found = [0; 6];
    pending.recv(&mut found).unwrap();
    assert_eq!((found, is_over(&pending)), ([2; 6], true));
    server.closer().close();
    assert!(is_over(&server) && client.is_closed());
}

#[test]
fn handles_of_a_table_have_debug_forms() {
    let of = &four_bytes();
    let Shared { handle: mut sender, invitation, .. } = watch::table(settings(), of).unwrap();
    let reader = AcceptedWatch::accept(&invitation, of, BLOCK).unwrap();
    assert_eq!((sender.cells(), reader.cells()), (8, 8));
    assert_eq!(format!("{sender:?}"), "Sender { message_bytes: 4, cells: 8, is_closed: false, .. }");
    assert_eq!(format!("{reader:?}"), "AcceptedWatch { message_bytes: 4, cells: 8, .. }");
    assert_eq!(format!("{:?}", reader.changes()), format!("Changes {{ table: {reader:?}, .. }}"));
    sender.send(&[1; 4]).unwrap();
    sender.closer().close();
    assert_eq!(format!("{sender:?}"), "Sender { message_bytes: 4, cells: 8, is_closed: true, .. }");
}

/// Only a ring with one publisher says its number, and only a lossy one leaves numbers out.
#[test]
fn rings_answer_what_they_cannot_do() {
    let of = &four_bytes();
    let Shared { handle: mut lossy, .. } = Sender::lossy(settings(), of).unwrap();
    assert!(lossy.wait_for_subscribers_timeout(usize::MAX, LONG), "it waits for none");
    assert!(lossy.reserve_timeout(1, LONG).is_none());
    assert_eq!((lossy.skip_to(5), lossy.sequence()), (Some(5), Some(5)));

    let Shared { handle: mut lossless, invitation, .. } = Sender::lossless(settings(), of, 1).unwrap();
    let ring = Ring::accept(&invitation, of, BLOCK).unwrap();
    assert!(!lossless.wait_for_subscribers_timeout(1, Duration::ZERO));
    lossless.send(&[0; 4]).unwrap();
    assert_eq!((lossless.sequence(), lossless.skip_to(1), lossless.skip_to(2)), (Some(1), Some(0), None));
    assert!(!ring.is_closed());
    drop(lossless);
    assert!(ring.is_closed());

    let Shared { handle: mut several, .. } =
        Sender::mp_lossy(mp_broadcast::Builder::new(settings()), of).unwrap();
    assert_eq!((several.sequence(), several.skip_to(0), several.skip_to(9)), (None, None, None));

    let Shared { handle: mut queue, invitation, .. } = Sender::spsc(settings(), of, WhenGone::Close).unwrap();
    let mut receiver = Receiver::join(&invitation, of, BLOCK, Start::Newest).unwrap();
    assert_eq!((queue.sequence(), queue.skip_to(0)), (None, None));
    assert!(receiver.mark().is_none() && !receiver.is_closed());
    assert_eq!((receiver.total_lagged(), receiver.try_recv(&mut [0; 4])), (0, Err(TryRecvError::Empty)));
    drop(queue);
    assert!(receiver.is_closed());
}

/// A process that joins a queue of several producers becomes its next consumer. One that has left has closed
/// the queue.
#[test]
fn next_consumer_finds_what_the_last_one_left() {
    let of = &four_bytes();
    let Shared { handle: mut first, invitation, .. } =
        Receiver::mpsc(mpsc::Builder::new(settings()), of).unwrap();
    let refused = Receiver::join(&invitation, of, BLOCK, Start::Oldest).unwrap_err();
    assert!(matches!(refused, OpenError::Attach(AttachError::Occupied)), "{refused}");
    let mut sender = Sender::join(&invitation, of, BLOCK).unwrap();
    sender.send(&[1; 4]).unwrap();
    let mut message = [0; 4];
    first.recv(&mut message).unwrap();
    drop(first);
    assert_eq!(sender.send(&[2; 4]), Err(SendError(())));
    let mut next = Receiver::join(&invitation, of, BLOCK, Start::Oldest).unwrap();
    assert_eq!((next.len(), next.state(), next.mark().is_none()), (0, PeerState::Alive, true));
    assert_eq!(next.try_recv(&mut message), Err(TryRecvError::Closed));
}

/// Of each size that there are blocks for.
#[test]
fn messages_of_each_size_come_from_a_joined_sender() {
    for bytes in [1, 8, 24, 40, 100, 200, 400, 1000, 2000, LONGEST] {
        let of = &MessageType::of_bytes(bytes, 1);
        let builder = || mp_broadcast::Builder::new(settings());
        for made in [Sender::mp_lossy(builder(), of), Sender::mp_lossless(builder(), of, 1)] {
            let Shared { handle: first, invitation, .. } = made.unwrap();
            let mut receiver = Receiver::join(&invitation, of, BLOCK, Start::Newest).unwrap();
            let mut second = Sender::join(&invitation, of, BLOCK).unwrap();
            drop(first);
            let message: Vec<u8> = (0..bytes).map(|at| at as u8 ^ 0x5A).collect();
            second.send(&message).unwrap();
            let mut found = vec![0; bytes];
            receiver.recv(&mut found).unwrap();
            assert!(found == message, "{bytes}");
        }
    }
}

/// A reader that needs its messages at multiples of more than the ring's slots are at.
#[test]
fn alignment_of_messages_is_compared() {
    let loose = MessageType::of_bytes(1024, 1);
    let Shared { handle: _sender, invitation, .. } =
        Sender::spsc(settings(), &loose, WhenGone::Close).unwrap();
    let strict = MessageType::of_bytes(1024, 1024);
    let refused = Receiver::join(&invitation, &strict, BLOCK, Start::Newest).unwrap_err();
    let OpenError::Attach(AttachError::PayloadAlignment { found, wanted }) = refused else {
        panic!("{refused}")
    };
    assert_eq!((found, wanted), (1, 1024));
    drop(Receiver::join(&invitation, &loose, BLOCK, Start::Newest).unwrap());
}

#[test]
fn errors_say_what_would_be_right() {
    let of = &four_bytes();
    let long = MessageType::of_bytes(LONGEST + 1, 1);
    let refused = Sender::lossy(settings(), &long).unwrap_err().to_string();
    assert!(refused.contains("up to 4096 bytes here, and this one has 4097"), "{refused}");

    let refused = Sender::lossy(Settings::new(0), of).unwrap_err();
    let OpenError::Share(reason) = &refused else { panic!("{refused}") };
    assert_eq!(refused.to_string(), reason.to_string());

    let Shared { handle: _sender, invitation, .. } = Sender::lossless(settings(), of, 1).unwrap();
    let ring = Ring::accept(&invitation, of, BLOCK).unwrap();
    let _only = ring.subscribe(Start::Newest).unwrap();
    let refused = Receiver::join(&invitation, of, BLOCK, Start::Newest).unwrap_err();
    assert!(matches!(refused, OpenError::NoSeat(_)), "{refused}");
    assert!(refused.to_string().contains("all seats of the ring are taken"), "{refused}");
}

//! Sides that know the types of questions and answers by their schemas only, beside sides that know them.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use annulus::shm::blocks::MessageType;
use annulus::shm::dynamic::{Client, LONGEST, OpenError, PendingAnswer, Request, Server, service_types};
use annulus::shm::service::{self, AnswerError, AskError, Builder, ClientGone, Places};
use annulus::shm::{AttachError, Invitation, PeerState, Shared, ShmKind, recv_fd, spsc};
use annulus::{
    Message, Notifier, Readiness, RecvError, RecvTimeoutError, Settings, TryRecvError, WaitStrategy,
};
use bytemuck::Pod;

const BLOCK: WaitStrategy = WaitStrategy::block_after(0, 0);
const OPEN: usize = 3;

fn of<T: Message>() -> MessageType {
    MessageType::described(T::SCHEMA.clone(), 1)
}

fn builder() -> Builder {
    Builder::new(Settings::new(OPEN).wait_strategy(BLOCK)).clients(2)
}

fn served<Q: Message, A: Message>() -> (Server, Places, Invitation) {
    let Shared { handle, peers, invitation, .. } = Server::new(builder(), &of::<Q>(), &of::<A>()).unwrap();
    (handle, peers, invitation)
}

fn joined<Q: Message, A: Message>(invitation: &Invitation) -> Client {
    Client::join(invitation, &of::<Q>(), &of::<A>(), BLOCK).unwrap()
}

fn numbered<T: Pod>(number: u64) -> T {
    let mut message = T::zeroed();
    let bytes = bytemuck::bytes_of_mut(&mut message);
    bytes.iter_mut().enumerate().for_each(|(at, byte)| *byte = (number as u8).wrapping_mul(7) ^ (at as u8));
    message
}

/// The message, as bytes at an odd address.
fn with_bytes<R>(message: &impl Pod, look: impl FnOnce(&[u8]) -> R) -> R {
    let bytes = [&[0], bytemuck::bytes_of(message)].concat();
    look(&bytes[1..])
}

fn received<A: Pod>(mut pending: PendingAnswer) -> Result<A, AnswerError> {
    let mut answer = vec![0; pending.answer_bytes()];
    pending.recv(&mut answer)?;
    assert_eq!(pending.try_recv(&mut answer), Err(AnswerError::Taken));
    Ok(bytemuck::pod_read_unaligned(&answer))
}

/// Several laps; answers in another order than the questions, and one of seven is refused.
fn both_ways<Q, A>()
where
    Q: Message + Pod + PartialEq + std::fmt::Debug,
    A: Message + Pod + PartialEq + std::fmt::Debug,
{
    let wanted =
        |number: u64| if number % 7 == 6 { Err(AnswerError::Refused) } else { Ok(numbered::<A>(number + 1)) };
    let numbers = |round: u64| [0, 1, 2].map(|at| 3 * round + at);

    // The server knows the types.
    let Shared { handle: mut server, invitation, .. } = builder().build::<Q, A>().unwrap();
    let mut client = joined::<Q, A>(&invitation);
    assert_eq!((client.question_bytes(), client.answer_bytes()), (size_of::<Q>(), size_of::<A>()));
    assert_eq!((client.capacity(), client.server()), (OPEN, PeerState::Alive));
    for round in 0..20 {
        let asked = numbers(round).map(|n| with_bytes(&numbered::<Q>(n), |bytes| client.ask(bytes).unwrap()));
        assert_eq!(client.ask(&vec![0; size_of::<Q>()]).unwrap_err(), AskError::Full(()));
        let mut requests = numbers(round).map(|number| (number, server.recv().unwrap()));
        requests.rotate_left(round as usize % OPEN);
        for (number, request) in requests {
            assert_eq!(*request.question(), numbered::<Q>(number));
            if wanted(number).is_ok() {
                request.answer(numbered(number + 1)).unwrap();
            }
        }
        let found = asked.map(received::<A>);
        assert_eq!(found, numbers(round).map(wanted), "{} to {} bytes", size_of::<Q>(), size_of::<A>());
        assert_eq!(client.open(), 0);
    }
    assert_eq!(server.total_corrupt(), 0);

    // The client knows the types.
    let (mut server, places, invitation) = served::<Q, A>();
    let (mut client, _) = service::client::<Q, A>(&invitation).unwrap();
    assert_eq!((server.question_bytes(), server.answer_bytes()), (size_of::<Q>(), size_of::<A>()));
    assert_eq!((server.capacity(), places.taken()), (OPEN, 1));
    for round in 0..20 {
        let asked = numbers(round).map(|number| client.ask(numbered(number)).unwrap());
        assert_eq!(server.len(), OPEN);
        let mut requests = numbers(round).map(|number| (number, server.try_recv().unwrap()));
        assert_eq!(server.try_recv().unwrap_err(), TryRecvError::Empty);
        requests.rotate_left(round as usize % OPEN);
        for (number, request) in requests {
            assert_eq!(request.question(), bytemuck::bytes_of(&numbered::<Q>(number)));
            assert!(request.is_client_there() && request.client().place() == 0);
            if wanted(number).is_ok() {
                with_bytes(&numbered::<A>(number + 1), |bytes| request.answer(bytes)).unwrap();
            }
        }
        assert_eq!(asked.map(annulus::shm::service::PendingAnswer::recv), numbers(round).map(wanted));
    }
    assert_eq!((server.len(), server.total_corrupt()), (0, 0));
}

#[test]
fn sides_of_both_forms_understand_each_other() {
    both_ways::<u8, [u64; 512]>();
    both_ways::<[u8; 7], [u64; 25]>();
    both_ways::<[u32; 3], [u64; 3]>();
    both_ways::<[u64; 3], [u32; 3]>();
    both_ways::<[u64; 25], [u8; 7]>();
    both_ways::<[u64; 512], u8>();
    both_ways::<[u32; 64], [u32; 64]>();
    both_ways::<[u8; 255], [u8; 257]>();
}

/// The memory of a service after some questions, without the number that says which service it is.
fn memory(invitation: &Invitation, ask: &mut dyn FnMut(u64)) -> Vec<u8> {
    (0..11).for_each(ask);
    let (here, there) = UnixStream::pair().unwrap();
    invitation.send(&here).unwrap();
    let ring = File::from(recv_fd(&there).unwrap());
    let mut bytes = vec![0; ring.metadata().unwrap().len() as usize];
    ring.read_exact_at(&mut bytes, 0).unwrap();
    let identity = invitation.info().unwrap().identity().to_ne_bytes();
    let at = bytes[..128].windows(8).position(|word| word == identity).unwrap();
    bytes[at..at + 8].fill(0);
    bytes
}

/// Byte for byte.
#[test]
fn memory_is_the_one_of_the_types() {
    type Q = [u32; 3];
    type A = [u8; 41];
    let typed = || {
        let Shared { handle: mut server, invitation, .. } = builder().build::<Q, A>().unwrap();
        let (mut client, _) = service::client::<Q, A>(&invitation).unwrap();
        memory(&invitation, &mut |number| {
            let pending = client.ask(numbered(number)).unwrap();
            let request = server.recv().unwrap();
            if number % 4 == 3 {
                drop(request);
            } else {
                request.answer(numbered(number + 1)).unwrap();
            }
            drop(pending);
        })
    };
    let (mut server, _, invitation) = served::<Q, A>();
    let mut client = joined::<Q, A>(&invitation);
    let found = memory(&invitation, &mut |number| {
        let pending = client.ask(bytemuck::bytes_of(&numbered::<Q>(number))).unwrap();
        let request = server.recv().unwrap();
        if number % 4 == 3 {
            drop(request);
        } else {
            request.answer(bytemuck::bytes_of(&numbered::<A>(number + 1))).unwrap();
        }
        drop(pending);
    });
    let wanted = typed();
    let different = found.iter().zip(&wanted).position(|(found, wanted)| found != wanted);
    assert_eq!((found.len(), different), (wanted.len(), None));
}

/// The next client of a place gets no answer of the one before; numbers count questions, whatever their size.
#[test]
fn next_client_gets_no_answer_of_the_one_before() {
    let (mut server, _, invitation) = served::<[u32; 3], u64>();
    let _other = joined::<[u32; 3], u64>(&invitation);
    let question = |number: u64| numbered::<[u32; 3]>(number);
    for round in 0..10 {
        let mut client = service::client::<[u32; 3], u64>(&invitation).unwrap().0;
        let (first, second) = (client.ask(question(round)).unwrap(), client.ask(question(99)).unwrap());
        let old = server.recv().unwrap();
        assert_eq!(old.question(), bytemuck::bytes_of(&question(round)));
        drop((client, first, second));
        assert!(!old.is_client_there());
        let mut next = joined::<[u32; 3], u64>(&invitation);
        let pending = next.ask(bytemuck::bytes_of(&question(round + 50))).unwrap();
        let request = server.recv().unwrap();
        assert_eq!(request.question(), bytemuck::bytes_of(&question(round + 50)), "99 is passed over");
        assert_ne!(request.client(), old.client());
        assert_eq!(old.answer(&[1; 8]), Err(ClientGone(())));
        request.answer(&[2; 8]).unwrap();
        assert_eq!(received::<u64>(pending), Ok(u64::from_ne_bytes([2; 8])));
    }
}

/// As a client that knows the types: asks with so many open, without an end. `joins` is called once it has
/// joined.
pub(super) fn ask_as_bytes(invitation: &Invitation, client: u64, open: u64, mut joins: impl FnMut()) {
    let mut asks = joined::<super::Question, super::Answer>(invitation);
    joins();
    let mut waiting: Vec<(u64, PendingAnswer)> = Vec::new();
    for next in 0.. {
        match asks.ask(bytemuck::bytes_of(&super::question(client, next))) {
            Ok(pending) => waiting.push((next, pending)),
            Err(AskError::Full(())) => {}
            Err(_) => return,
        }
        if waiting.len() as u64 >= open {
            let (asked, pending) = waiting.swap_remove(next as usize % waiting.len());
            match received::<super::Answer>(pending) {
                Ok(answer) => assert_eq!(answer, super::answer_to(&super::question(client, asked))),
                Err(_) => return,
            }
        }
    }
}

/// As a server that knows the types: answers without an end, some at once, others later.
pub(super) fn serve_as_bytes(open: usize, invites: impl FnOnce(&Invitation)) {
    let builder = Builder::new(Settings::new(open)).clients(4);
    let (question, answer) = (of::<super::Question>(), of::<super::Answer>());
    let Shared { handle: mut server, invitation, .. } = Server::new(builder, &question, &answer).unwrap();
    invites(&invitation);
    let asked = |request: &Request| bytemuck::pod_read_unaligned::<super::Question>(request.question());
    let answer = |request: Request| {
        let answer = super::answer_to(&asked(&request));
        let _ = request.answer(bytemuck::bytes_of(&answer));
    };
    let mut kept = Vec::new();
    loop {
        match server.try_recv() {
            Ok(request) if asked(&request)[1] % 3 == 0 => kept.push(request),
            Ok(request) => answer(request),
            Err(_) => match kept.pop() {
                Some(request) => answer(request),
                None => kept.extend(server.recv()),
            },
        }
    }
}

#[test]
fn service_waits_and_ends() {
    let (mut server, _, invitation) = served::<u32, u64>();
    let mut client = joined::<u32, u64>(&invitation);
    assert_eq!(server.recv_timeout(Duration::from_millis(1)).unwrap_err(), RecvTimeoutError::Timeout);
    assert!(!server.wait_timeout(Duration::ZERO));
    let mut pending = client.ask(&[1; 4]).unwrap();
    let mut answer = [0; 8];
    assert_eq!(pending.recv_timeout(&mut answer, Duration::from_millis(1)), Err(AnswerError::Empty));
    assert!(!pending.wait_timeout(Duration::ZERO) && server.wait_timeout(Duration::from_secs(60)));
    let closer = server.closer();
    // Both sides sleep in turns.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while let Ok(request) = server.recv() {
                let answer = [request.question()[0]; 8];
                request.answer(&answer).unwrap();
            }
            assert_eq!(server.recv().unwrap_err(), RecvError::CLOSED);
        });
        assert!(pending.wait_timeout(Duration::from_secs(60)));
        assert_eq!(received::<[u8; 8]>(pending), Ok([1; 8]));
        for number in 0..100 {
            let pending = client.ask(&[number; 4]).unwrap();
            assert_eq!(received::<[u8; 8]>(pending), Ok([number; 8]));
        }
        closer.close();
    });
    assert!(client.is_closed() && server.is_closed());
    assert_eq!(client.ask(&[0; 4]).unwrap_err(), AskError::Closed(()));
    drop(server);
    assert_eq!(client.server(), PeerState::Closed);
}

#[test]
fn types_are_compared() {
    let (_server, _, invitation) = served::<u32, [f64; 2]>();
    let (question, answer) = service_types(&invitation).unwrap();
    assert_eq!((&question, &answer), (&of::<u32>(), &of::<[f64; 2]>()));
    drop(Client::join(&invitation, &question, &answer, BLOCK).unwrap());
    drop(Client::join(&invitation, &MessageType::of_bytes(4, 1), &answer, BLOCK).unwrap());
    drop(
        Client::join(&invitation, &MessageType::of_bytes(4, 1), &MessageType::of_bytes(16, 8), BLOCK)
            .unwrap(),
    );
    let refused = Client::join(&invitation, &of::<u64>(), &answer, BLOCK).unwrap_err();
    assert!(matches!(refused, OpenError::Attach(AttachError::Type { .. })), "{refused}");
    let text = refused.to_string();
    assert!(text.contains("question: u32 at 8 / question: u64 at 8"), "{text}");
    // As long in all.
    let refused = Client::join(&invitation, &of::<[f64; 2]>(), &of::<u32>(), BLOCK).unwrap_err();
    assert!(matches!(refused, OpenError::Attach(AttachError::Type { .. })), "{refused}");
    let refused =
        Client::join(&invitation, &MessageType::of_bytes(16, 1), &MessageType::of_bytes(4, 1), BLOCK);
    assert!(matches!(refused, Err(OpenError::Attach(AttachError::Type { .. }))));

    // Of bytes on both sides, and on one.
    let bytes = |count| MessageType::of_bytes(count, 1);
    let Shared { handle: _server, invitation, .. } = Server::new(builder(), &bytes(3), &bytes(5)).unwrap();
    assert_eq!(service_types(&invitation).unwrap(), (of::<[u8; 3]>(), of::<[u8; 5]>()));
    drop(Client::join(&invitation, &bytes(3), &bytes(5), BLOCK).unwrap());
    drop(service::client::<[u8; 3], [u8; 5]>(&invitation).unwrap());

    let long = MessageType::of_bytes(LONGEST + 1, 1);
    let refused = Server::new(builder(), &long, &long).unwrap_err();
    assert!(matches!(refused, OpenError::TooLong { bytes: 4097 }), "{refused}");
    drop(Server::new(builder(), &long, &bytes(1)).unwrap());

    let shared = spsc::producer::<u32>(Settings::new(2), annulus::shm::WhenGone::Close).unwrap();
    let refused = service_types(&shared.invitation).unwrap_err();
    let wanted = ShmKind::Service;
    assert!(matches!(refused, AttachError::Kind { found: ShmKind::Spsc, wanted: kind } if kind == wanted));
}

#[test]
#[should_panic(expected = "a question has the size of its schema")]
fn question_of_another_size_panics() {
    let (_server, _, invitation) = served::<u32, u64>();
    let _ = joined::<u32, u64>(&invitation).ask(&[0; 5]);
}

#[test]
#[should_panic(expected = "an answer has the size of its schema")]
fn answer_of_another_size_panics() {
    let (mut server, _, invitation) = served::<u32, u64>();
    let _pending = joined::<u32, u64>(&invitation).ask(&[0; 4]).unwrap();
    let _ = server.recv().unwrap().answer(&[0; 4]);
}

/// A loop that polls descriptors waits for a server, and for an answer.
#[test]
fn notifier_takes_server_and_answer() {
    let (server, _, invitation) = served::<u32, u64>();
    let mut client = joined::<u32, u64>(&invitation);
    let mut requests = Notifier::new(server).unwrap();
    assert_eq!(requests.arm(), Readiness::Armed);
    let pending = client.ask(&[1; 4]).unwrap();
    let mut answers = Notifier::new(pending).unwrap();
    assert_eq!(requests.arm(), Readiness::Ready);
    assert_eq!(answers.arm(), Readiness::Armed);
    let request: Request = requests.get_mut().recv().unwrap();
    drop(request);
    assert_eq!(answers.arm(), Readiness::Ready);
    let mut answer = [0; 8];
    assert_eq!(answers.get_mut().try_recv(&mut answer), Err(AnswerError::Refused));
}

/// Somebody writes any words into the memory: each verb returns, and stays within its memory.
#[test]
fn words_of_any_value_in_memory_do_no_harm() {
    let mut seed = 1_u64;
    let mut random = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for _ in 0..200 {
        let (mut server, _, invitation) = served::<[u8; 13], [u8; 300]>();
        let mut client = joined::<[u8; 13], [u8; 300]>(&invitation);
        let (here, there) = UnixStream::pair().unwrap();
        invitation.send(&here).unwrap();
        let ring = File::from(recv_fd(&there).unwrap());
        let words = (ring.metadata().unwrap().len() - 128) / 8;
        let (mut open, mut kept): (Vec<PendingAnswer>, Vec<Request>) = (Vec::new(), Vec::new());
        for _ in 0..16 {
            let number = match random(5) {
                0 => random(40),
                1 => u64::MAX - random(40),
                2 => (1 << 63) - random(40),
                3 => 21 * random(40),
                _ => random(1 << 31) << random(33),
            };
            // Mostly where numbers lie.
            let word = if random(3) == 0 { random(words) } else { random(words.min(160)) };
            ring.write_all_at(&number.to_ne_bytes(), 128 + 8 * word).unwrap();
            open.extend((0..OPEN).filter_map(|_| client.ask(&[7; 13]).ok()));
            kept.extend((0..2 * OPEN).filter_map(|_| server.try_recv().ok()));
            let _ = (
                server.len(),
                server.total_corrupt(),
                client.open(),
                server.recv_timeout(Duration::ZERO).is_ok(),
            );
            while kept.len() > 1 {
                let _ = kept.swap_remove(0).answer(&[9; 300]);
            }
            open.retain_mut(|pending| pending.try_recv(&mut [0; 300]) == Err(AnswerError::Empty));
            if let Ok(mut next) = Client::join(&invitation, &of::<[u8; 13]>(), &of::<[u8; 300]>(), BLOCK) {
                let _ = next.ask(&[1; 13]).map(drop);
            }
        }
    }
}

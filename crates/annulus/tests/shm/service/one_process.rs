//! All sides in one process.

use std::sync::mpsc as channel;
use std::thread;
use std::time::Duration;

use annulus::pipeline::Pipeline;
use annulus::shm::service::{self, AnswerError, AskError, Builder, ClientGone, PendingAnswer, Request};
use annulus::shm::{AttachError, Directory, Invitation, PeerState, RingObserver, ShareError, ShmKind, spsc};
use annulus::{Receive, RecvError, RecvTimeoutError, Settings, TryRecvError, WaitStrategy, Waitable, Worker};

use super::{Answer, Question, answer_all, answer_to, joined, new_service, question};

const BLOCK: WaitStrategy = WaitStrategy::block_after(0, 0);

#[test]
fn answers_come_in_any_order() {
    let (mut server, places, invitation) = new_service(4, 2);
    assert_eq!(invitation.info().unwrap().kind(), ShmKind::Service);
    let (mut one, mut other) = (joined(&invitation), joined(&invitation));
    assert_eq!((one.capacity(), server.capacity(), places.count(), places.taken()), (4, 4, 2, 2));
    for round in 0..50 {
        let asked: Vec<_> = (0..4).map(|number| one.ask(question(0, 4 * round + number)).unwrap()).collect();
        let others = other.ask(question(1, round)).unwrap();
        let mut requests: Vec<_> = (0..5).map(|_| server.recv().unwrap()).collect();
        assert_eq!(server.try_recv().unwrap_err(), TryRecvError::Empty);
        let shift = round as usize % 5;
        requests.rotate_left(shift);
        for request in requests {
            assert_eq!(request.client().place() as u64, request[0]);
            assert!(request.is_client_there());
            let answer = answer_to(request.question());
            request.answer(answer).unwrap();
        }
        assert_eq!((one.open(), other.open()), (4, 1));
        for (number, pending) in asked.into_iter().enumerate().rev() {
            assert_eq!(pending.recv(), Ok(answer_to(&question(0, 4 * round + number as u64))));
        }
        assert_eq!(others.recv(), Ok(answer_to(&question(1, round))));
        assert_eq!((one.open(), other.open()), (0, 0));
    }
}

/// A handle is open until the answer is there, and the handle is gone. Nothing else frees its place.
#[test]
fn open_questions_are_counted_exactly() {
    let (mut server, _, invitation) = new_service(2, 1);
    let mut client = joined(&invitation);
    let (first, mut second) = (client.ask(question(0, 0)).unwrap(), client.ask(question(0, 1)).unwrap());
    assert_eq!(client.ask(question(0, 2)).unwrap_err(), AskError::Full(question(0, 2)));
    drop(first); // given up, and still open
    assert_eq!(client.ask(question(0, 2)).unwrap_err().into_inner(), question(0, 2));
    assert_eq!(second.try_recv(), Err(AnswerError::Empty));
    assert_eq!(second.recv_timeout(Duration::from_millis(1)), Err(AnswerError::Empty));
    assert_eq!(answer_all(&mut server), 2);
    assert_eq!(client.open(), 1);
    let third = client.ask(question(0, 3)).unwrap();
    assert_eq!(second.try_recv(), Ok(answer_to(&question(0, 1))));
    assert_eq!(second.try_recv(), Err(AnswerError::Taken));
    assert_eq!(client.ask(question(0, 4)).unwrap_err(), AskError::Full(question(0, 4)));
    drop(second);
    let fourth = client.ask(question(0, 4)).unwrap();
    assert_eq!(answer_all(&mut server), 2);
    // What was given up is thrown away: the cell has the answer to its own question.
    assert_eq!(third.recv(), Ok(answer_to(&question(0, 3))));
    assert_eq!(fourth.recv(), Ok(answer_to(&question(0, 4))));
}

#[test]
fn request_that_is_dropped_is_refused() {
    let (mut server, _, invitation) = new_service(2, 1);
    let mut client = joined(&invitation);
    for number in 0..10 {
        let pending = client.ask(question(0, number)).unwrap();
        drop(server.recv().unwrap());
        assert_eq!(pending.recv(), Err(AnswerError::Refused));
    }
    assert_eq!(client.open(), 0);
}

/// What was asked before the close is refused if it was not received. A request that was received can be
/// answered when the server is gone.
#[test]
fn server_that_leaves() {
    let (mut server, _, invitation) = new_service(4, 2);
    let (mut client, peer) = service::client::<Question, Answer>(&invitation).unwrap();
    let [first, second, third] = [0, 1, 2].map(|number| client.ask(question(0, number)).unwrap());
    let (kept, dropped) = (server.recv().unwrap(), server.recv().unwrap());
    drop(server);
    assert_eq!(third.recv(), Err(AnswerError::Refused));
    assert_eq!(client.ask(question(0, 3)).unwrap_err(), AskError::Closed(question(0, 3)));
    assert!(client.is_closed());
    assert_eq!(peer.state(), PeerState::Closed);
    let refused = service::client::<Question, Answer>(&invitation).map(drop).unwrap_err();
    assert!(matches!(refused, AttachError::Closed), "{refused}");
    assert_eq!(kept.answer(answer_to(&question(0, 0))), Ok(()));
    drop(dropped);
    assert_eq!((first.recv(), second.recv()), (Ok(answer_to(&question(0, 0))), Err(AnswerError::Refused)));
}

/// After a close, the rest is received, and then the service has ended.
#[test]
fn server_that_closes_receives_the_rest() {
    let (mut server, _, invitation) = new_service(4, 1);
    let mut client = joined(&invitation);
    let pending = client.ask(question(0, 0)).unwrap();
    server.close();
    assert!(server.is_closed());
    assert_eq!(client.ask(question(0, 1)).unwrap_err(), AskError::Closed(question(0, 1)));
    assert_eq!(server.len(), 1);
    server.recv().unwrap().answer(answer_to(&question(0, 0))).unwrap();
    assert_eq!(server.recv().unwrap_err(), RecvError::CLOSED);
    assert_eq!(server.recv_timeout(Duration::ZERO).unwrap_err(), RecvTimeoutError::Closed);
    assert_eq!(pending.recv(), Ok(answer_to(&question(0, 0))));
}

/// The place is the client's until its last answer is received or given up.
#[test]
fn answer_keeps_the_place() {
    let (mut server, places, invitation) = new_service(2, 1);
    let mut client = joined(&invitation);
    let pending = client.ask(question(0, 0)).unwrap();
    drop(client);
    assert_eq!(places.taken(), 0, "nobody asks there any more");
    let refused = service::client::<Question, Answer>(&invitation).map(drop).unwrap_err();
    assert!(matches!(refused, AttachError::NoPlace { places: 1 }), "{refused}");
    assert_eq!(answer_all(&mut server), 1);
    assert_eq!(pending.recv(), Ok(answer_to(&question(0, 0))));
    assert_eq!((places.taken(), places.joined(), places.died()), (0, 1, 0));
    drop(joined(&invitation));
}

/// The next client of a place gets no answer to a question of the one before, and finds its cell free once
/// the server has let the request go.
#[test]
fn next_client_gets_no_answer_of_the_one_before() {
    let (mut server, _, invitation) = new_service(2, 1);
    for round in 0..10 {
        let mut client = joined(&invitation);
        let (received, unreceived) =
            (client.ask(question(0, round)).unwrap(), client.ask(question(1, round)).unwrap());
        let old = server.recv().unwrap();
        drop((client, received, unreceived));
        assert!(!old.is_client_there());

        let mut next = joined(&invitation);
        assert_eq!(next.open(), 2, "both are owed");
        assert_eq!(next.ask(question(2, round)).unwrap_err(), AskError::Full(question(2, round)));
        // The one that was not received is passed over.
        assert_eq!(server.try_recv().unwrap_err(), TryRecvError::Empty);
        assert_eq!(next.open(), 1);
        let pending = next.ask(question(2, round)).unwrap();
        let request = server.recv().unwrap();
        assert_ne!(request.client(), old.client());
        let answer = answer_to(&old);
        assert_eq!(old.answer(answer), Err(ClientGone(answer)));
        let other = next.ask(question(3, round)).unwrap();
        let answer = answer_to(&request);
        request.answer(answer).unwrap();
        assert_eq!(answer_all(&mut server), 1);
        assert_eq!(pending.recv(), Ok(answer_to(&question(2, round))));
        assert_eq!(other.recv(), Ok(answer_to(&question(3, round))));
    }
}

/// A client that is gone, in whose place is nobody: the kernel tells it within 10 ms.
#[test]
fn answer_to_a_client_that_left_comes_back() {
    let (mut server, _, invitation) = new_service(1, 1);
    let mut client = joined(&invitation);
    let pending = client.ask(question(0, 0)).unwrap();
    let request = server.recv().unwrap();
    drop((client, pending));
    assert!(!request.is_client_there());
    let answer = answer_to(&request);
    assert_eq!(request.answer(answer), Err(ClientGone(answer)));
}

/// Answers in another order than it gets requests. If none comes, it keeps none.
fn work(requests: &channel::Receiver<Request<Question, Answer>>) {
    let answer = |request: Request<Question, Answer>| {
        let answer = answer_to(&request);
        request.answer(answer).unwrap();
    };
    let mut kept = Vec::new();
    loop {
        match requests.recv_timeout(Duration::from_millis(1)) {
            Ok(request) => kept.push(request),
            Err(channel::RecvTimeoutError::Timeout) => kept.drain(..).rev().for_each(answer),
            Err(channel::RecvTimeoutError::Disconnected) => return kept.drain(..).for_each(answer),
        }
        while kept.len() > 3 {
            answer(kept.swap_remove(kept.len() / 2));
        }
    }
}

/// Asks, with up to eight open, and receives in another order.
fn ask_all(invitation: &Invitation, client: u64, count: u64) {
    let mut asks = joined(invitation);
    let mut open: Vec<(u64, PendingAnswer<Answer>)> = Vec::new();
    let mut next = 0;
    while next < count || !open.is_empty() {
        while next < count && open.len() < 8 {
            open.push((next, asks.ask(question(client, next)).unwrap()));
            next += 1;
        }
        let (number, pending) = open.swap_remove(next as usize * 7 % open.len());
        assert_eq!(pending.recv(), Ok(answer_to(&question(client, number))));
    }
}

/// Many clients in threads, each with several questions open; a server whose workers answer in any order.
#[test]
fn clients_and_workers_in_threads() {
    const CLIENTS: u64 = 3;
    let count: u64 = if cfg!(debug_assertions) { 5_000 } else { 100_000 };
    for strategy in [BLOCK, WaitStrategy::default()] {
        let (mut server, _, invitation) = new_service(8, CLIENTS as usize);
        server.set_wait_strategy(strategy);
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..2).map(|_| channel::channel()).unzip();
        let workers: Vec<_> =
            receivers.into_iter().map(|receiver| thread::spawn(move || work(&receiver))).collect();
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let invitation = invitation.try_clone().unwrap().with_wait_strategy(strategy);
                thread::spawn(move || ask_all(&invitation, client, count))
            })
            .collect();
        for number in 0..CLIENTS * count {
            let request = server.recv().unwrap();
            senders[number as usize % 2].send(request).unwrap();
        }
        for client in clients {
            client.join().unwrap();
        }
        drop(senders);
        for worker in workers {
            worker.join().unwrap();
        }
        assert_eq!((server.len(), server.total_corrupt()), (0, 0));
    }
}

/// A thread that sleeps is woken by the answer, by a refusal, and by the end of the server.
#[test]
fn sleeper_is_woken() {
    let (mut server, _, invitation) = new_service(4, 1);
    server.set_wait_strategy(BLOCK);
    let mut client = joined(&invitation.with_wait_strategy(BLOCK));
    let asks = thread::spawn(move || [0, 1, 2].map(|number| client.ask(question(0, number)).unwrap().recv()));
    let pause = || thread::sleep(Duration::from_millis(5));
    let request = server.recv().unwrap();
    pause();
    request.answer(answer_to(&question(0, 0))).unwrap();
    let request = server.recv().unwrap();
    pause();
    drop(request);
    while server.len() == 0 {
        thread::yield_now();
    }
    pause();
    drop(server);
    let answer = answer_to(&question(0, 0));
    assert_eq!(asks.join().unwrap(), [Ok(answer), Err(AnswerError::Refused), Err(AnswerError::Refused)]);
}

/// Selects, as a receiving handle of any kind does.
#[test]
fn answers_come_in_a_select() {
    let (mut server, _, invitation) = new_service(4, 1);
    let mut client = joined(&invitation);
    let (mut first, mut second) = (client.ask(question(0, 0)).unwrap(), client.ask(question(0, 1)).unwrap());
    let (a, b) = (server.recv().unwrap(), server.recv().unwrap());
    b.answer(answer_to(&question(0, 1))).unwrap();
    let which = annulus::select! {
        recv(first) -> answer => (0, answer),
        recv(second) -> answer => (1, answer),
    };
    assert_eq!(which, (1, Ok(Ok(answer_to(&question(0, 1))))));
    assert_eq!(Receive::try_recv(&mut second), Err(TryRecvError::Closed));
    drop(a);
    let which = annulus::select! {
        recv(first) -> answer => answer,
        recv(server) -> request => panic!("{request:?}"),
    };
    assert_eq!(which, Ok(Err(AnswerError::Refused)));
    let pending = client.ask(question(0, 2)).unwrap();
    annulus::select! {
        default(Duration::from_secs(60)) => panic!("it is there"),
        recv(server) -> request => request.unwrap().answer(answer_to(&question(0, 2))).unwrap(),
    }
    assert_eq!(pending.recv(), Ok(answer_to(&question(0, 2))));
}

/// An answer is one message, after which there is none: for a worker, and for a pipeline.
#[test]
fn answer_is_handed_out_once() {
    fn is_over(handle: &impl Waitable) -> bool {
        handle.is_closed()
    }
    type Found = Result<Answer, AnswerError>;
    let (mut server, _, invitation) = new_service(4, 1);
    let mut client = joined(&invitation);
    let worker = |pending: PendingAnswer<Answer>| {
        let handler = |seen: &mut Vec<Found>, found: Found, _: bool| seen.push(found);
        Worker::builder(pending, Vec::new()).spawn(handler).unwrap()
    };

    // Nothing was there before the stop.
    let unanswered = worker(client.ask(question(0, 0)).unwrap());
    unanswered.stop();
    assert_eq!(unanswered.join().unwrap().context, []);
    drop(server.recv().unwrap());

    let answered = worker(client.ask(question(0, 1)).unwrap());
    assert_eq!(answer_all(&mut server), 1);
    let wanted = Ok(answer_to(&question(0, 1)));
    assert_eq!(answered.join().unwrap().context, [wanted], "the worker ends behind it");

    let pending = client.ask(question(0, 2)).unwrap();
    let (output, pipeline) = Pipeline::builder().source(pending).then(|found: Found| found).build();
    assert_eq!(answer_all(&mut server), 1);
    assert_eq!(output.into_iter().collect::<Vec<_>>(), [Ok(answer_to(&question(0, 2)))]);
    let statistics = pipeline.stats();
    assert_eq!((statistics.edges[0].received, statistics.edges[0].depth), (1, 0));
    pipeline.join().unwrap();

    let mut pending = client.ask(question(0, 3)).unwrap();
    assert_eq!(answer_all(&mut server), 1);
    assert!(!is_over(&pending));
    assert_eq!(pending.try_recv(), Ok(answer_to(&question(0, 3))));
    assert!(is_over(&pending));
    assert_eq!(pending.try_recv(), Err(AnswerError::Taken));
}

#[test]
fn handles_have_debug_forms() {
    let (mut server, _, invitation) = new_service(4, 1);
    let mut client = joined(&invitation);
    let pending = client.ask(question(0, 7)).unwrap();
    assert_eq!(format!("{client:?}"), "Client { open: 1, closed: false, .. }");
    assert_eq!(format!("{server:?}"), "Server { len: 1, closed: false, .. }");
    assert_eq!(format!("{pending:?}"), "PendingAnswer { is_there: false, .. }");
    let request = server.recv().unwrap();
    let said = format!("Request {{ question: {:?}, client: {:?}, .. }}", *request, request.client());
    assert_eq!(format!("{request:?}"), said);
    drop(request);
    assert_eq!(format!("{pending:?}"), "PendingAnswer { is_there: true, .. }");
    #[cfg(feature = "async")]
    assert_eq!(format!("{:?}", std::future::IntoFuture::into_future(pending)), "AnswerFuture { .. }");
    server.close();
    assert_eq!(format!("{server:?}"), "Server { len: 0, closed: true, .. }");
    assert_eq!(format!("{client:?}"), "Client { open: 0, closed: true, .. }");
}

/// What a program shows of an error says what to do, or why there is nothing.
#[test]
fn errors_say_what_would_be_right() {
    let (mut server, _, invitation) = new_service(1, 1);
    let mut client = joined(&invitation);
    let mut pending = client.ask(question(0, 0)).unwrap();
    assert_eq!(pending.try_recv().unwrap_err().to_string(), "the answer is not there yet");
    let full = client.ask(question(0, 1)).unwrap_err();
    assert!(full.to_string().ends_with("has room for: receive an answer first"), "{full}");
    drop(server.recv().unwrap());
    assert_eq!(pending.try_recv().unwrap_err().to_string(), "the server has refused the question");
    assert_eq!(pending.try_recv().unwrap_err().to_string(), "the answer was received before");
    drop((pending, server));
    let closed = client.ask(question(0, 2)).unwrap_err();
    assert!(
        closed.to_string().ends_with("its server is gone (between processes: look for its name again)"),
        "{closed}"
    );
    let died = AnswerError::Died.to_string();
    assert!(died.contains("died before it answered") && died.ends_with("its name again"), "{died}");
    assert_eq!(ClientGone(7).to_string(), "the client that has asked is gone");
}

#[cfg(feature = "async")]
#[test]
fn answers_come_in_tasks() {
    let (mut server, _, invitation) = new_service(4, 1);
    let mut client = joined(&invitation);
    let serves = thread::spawn(move || {
        pollster::block_on(async {
            for number in 0..100 {
                let request = server.recv_async().await.unwrap();
                assert_eq!(request[1], number);
                if number % 10 != 9 {
                    let answer = answer_to(&request);
                    request.answer(answer).unwrap();
                }
            }
        });
    });
    pollster::block_on(async {
        for number in 0..100 {
            let answer = client.ask(question(0, number)).unwrap().await;
            let wanted = if number % 10 == 9 {
                Err(AnswerError::Refused)
            } else {
                Ok(answer_to(&question(0, number)))
            };
            assert_eq!(answer, wanted);
        }
    });
    serves.join().unwrap();
}

/// Both types are checked, and both may be any messages.
#[test]
fn types_of_both_sides() {
    let (_server, _, invitation) = new_service(4, 2);
    let wrong = service::client::<Question, [u64; 6]>(&invitation).map(drop).unwrap_err();
    assert!(matches!(wrong, AttachError::PayloadSize { .. } | AttachError::Type { .. }), "{wrong}");
    let wrong = service::client::<[i64; 3], Answer>(&invitation).map(drop).unwrap_err();
    assert!(matches!(wrong, AttachError::Type { .. }), "{wrong}");
    let wrong = spsc::consumer::<u64>(&invitation).map(drop).unwrap_err();
    assert!(matches!(wrong, AttachError::Kind { found: ShmKind::Service, wanted: ShmKind::Spsc }), "{wrong}");

    let made = Builder::new(Settings::new(1)).clients(1).build::<annulus::Text<13>, bool>().unwrap();
    let (mut server, invitation) = (made.handle, made.invitation);
    let (mut client, _) = service::client::<annulus::Text<13>, bool>(&invitation).unwrap();
    for word in ["", "yes", "no", "longer words"] {
        let pending = client.ask(annulus::Text::truncated(word)).unwrap();
        let request = server.recv().unwrap();
        assert_eq!(request.as_str(), word);
        let is_long = word.len() > 3;
        request.answer(is_long).unwrap();
        assert_eq!(pending.recv(), Ok(is_long));
    }
    // A large answer to nothing.
    let made = Builder::new(Settings::new(3)).clients(2).build::<(), [u64; 200]>().unwrap();
    let (mut server, invitation) = (made.handle, made.invitation);
    let (mut client, _) = service::client::<(), [u64; 200]>(&invitation).unwrap();
    for number in 0..20 {
        let pending = client.ask(()).unwrap();
        server.recv().unwrap().answer([number; 200]).unwrap();
        assert_eq!(pending.recv(), Ok([number; 200]));
    }
}

/// Wherever the numbers begin: the lane's wrap.
#[test]
fn numbers_that_wrap() {
    for first in [u64::MAX - 5, u64::MAX, 1 << 63] {
        let builder = Builder::new(Settings::new(3).first(first)).clients(1);
        let made = builder.build::<Question, Answer>().unwrap();
        let (mut server, invitation) = (made.handle, made.invitation);
        for round in 0..4 {
            let mut client = joined(&invitation);
            for number in 0..5 {
                let pending = client.ask(question(round, number)).unwrap();
                assert_eq!(answer_all(&mut server), 1);
                assert_eq!(pending.recv(), Ok(answer_to(&question(round, number))));
            }
            // One that is not received.
            drop(client.ask(question(9, 9)).unwrap());
        }
    }
}

#[test]
fn service_is_found_by_name() {
    let path = std::env::temp_dir().join(format!("annulus-service-{}", std::process::id()));
    let directory = Directory::open(&path).unwrap();
    let (mut server, _, invitation) = new_service(2, 2);
    let name = invitation.publish(&directory, "squares").unwrap();
    let found = Invitation::find(&directory.find("squares").unwrap()).unwrap();
    let mut client = joined(&found);
    let pending = client.ask(question(0, 1)).unwrap();
    let observer = RingObserver::of(&directory.find("squares").unwrap()).unwrap();
    assert_eq!(observer.state(), PeerState::Alive);
    let numbers = observer.numbers().unwrap();
    assert_eq!((numbers.published, numbers.pending), (1, Some(1)));
    assert_eq!(answer_all(&mut server), 1);
    assert_eq!(pending.recv(), Ok(answer_to(&question(0, 1))));
    drop(server);
    assert_eq!(observer.state(), PeerState::Closed);
    drop(name);
    std::fs::remove_dir_all(path).unwrap();
}

#[test]
fn service_that_cant_be_is_refused() {
    let error = Builder::new(Settings::new(4)).clients(1025).build::<u64, u64>().map(drop).unwrap_err();
    assert!(matches!(error, ShareError::Producers { producers: 1025, most: 1024 }), "{error}");
    for open in [0, usize::MAX, usize::MAX / 64, 1 << 50] {
        let error = Builder::new(Settings::new(open)).clients(2).build::<u64, u64>().map(drop).unwrap_err();
        assert!(matches!(error, ShareError::Capacity(_) | ShareError::System(_)), "{error}");
    }
}

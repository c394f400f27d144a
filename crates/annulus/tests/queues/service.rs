//! Questions in one process: what each side sees of the other, how many may be open, and that none is lost.

#![allow(clippy::disallowed_types, reason = "what the tests count is none of the library's atomics")]

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use annulus::service::{self, AnswerError, AskError, Client, ClientGone, PendingAnswer, Server};
use annulus::{CapacityError, Receive, RecvError, Settings, TryRecvError, WaitStrategy};

const BLOCK: WaitStrategy = WaitStrategy::block_after(0, 0);

/// A hang, and no luck.
const LONG: Duration = Duration::from_secs(60);

/// What can't be copied. A question of a client, by its number.
type Question = Box<(u64, u64)>;

fn new_service(open: usize) -> (Client<Question, Box<u64>>, Server<Question, Box<u64>>) {
    service::channel(open)
}

#[allow(clippy::unnecessary_box_returns, reason = "as answers are here")]
fn answer_to(question: &(u64, u64)) -> Box<u64> {
    Box::new(question.0.wrapping_mul(1_000_003) ^ question.1)
}

/// Answers all that is there. How many were answered.
fn answer_all(server: &mut Server<Question, Box<u64>>) -> usize {
    let mut count = 0;
    while let Ok(request) = server.try_recv() {
        let answer = answer_to(&request);
        count += usize::from(request.answer(answer).is_ok());
    }
    count
}

/// What a program shows of a handle; and of a refused question the kind alone, which need not be `Debug`.
#[test]
fn handles_and_errors_have_debug_forms() {
    let (mut client, mut server) = new_service(1);
    let pending = client.ask(Box::new((0, 0))).unwrap();
    assert_eq!(format!("{:?}", client.ask(Box::new((0, 1))).unwrap_err()), "Full(..)");
    let request = server.recv().unwrap();
    assert_eq!(format!("{request:?}"), "Request { question: (0, 0), .. }");
    #[cfg(feature = "async")]
    let pending = std::future::IntoFuture::into_future(pending);
    #[cfg(feature = "async")]
    assert_eq!(format!("{pending:?}"), "AnswerFuture { is_taken: false, .. }");
    drop(pending);
    assert_eq!(format!("{:?}", request.answer(Box::new(0)).unwrap_err()), "ClientGone(..)");
    drop(server);
    assert_eq!(format!("{:?}", client.ask(Box::new((0, 2))).unwrap_err()), "Closed(..)");
}

#[test]
fn answers_come_in_any_order() {
    let (mut one, mut server) = new_service(4);
    let mut other = one.clone();
    assert_eq!((one.capacity(), other.capacity(), server.capacity()), (4, 4, 4));
    for round in 0..50 {
        let asked: Vec<_> = (0..4).map(|number| one.ask(Box::new((0, number))).unwrap()).collect();
        let others = other.ask(Box::new((1, round))).unwrap();
        let mut requests: Vec<_> = (0..5).map(|_| server.recv().unwrap()).collect();
        assert_eq!(server.try_recv().unwrap_err(), TryRecvError::Empty);
        requests.rotate_left(round as usize % 5);
        for request in requests {
            assert!(request.is_client_there());
            let answer = answer_to(request.question());
            request.answer(answer).unwrap();
        }
        assert_eq!((one.open(), other.open()), (4, 1));
        for (number, pending) in (0..).zip(asked).collect::<Vec<_>>().into_iter().rev() {
            assert_eq!(pending.recv(), Ok(answer_to(&(0, number))));
        }
        assert_eq!(others.recv(), Ok(answer_to(&(1, round))));
        assert_eq!((one.open(), other.open()), (0, 0));
    }
}

#[test]
fn open_questions_are_counted_exactly() {
    let (mut client, mut server) = new_service(2);
    let (first, mut second) = (client.ask(Box::new((0, 0))).unwrap(), client.ask(Box::new((0, 1))).unwrap());
    assert_eq!(client.ask(Box::new((0, 2))).unwrap_err(), AskError::Full(Box::new((0, 2))));
    assert_eq!(client.clone().open(), 0, "another client has its own");
    drop(first); // given up, and still open
    assert_eq!(client.ask(Box::new((0, 2))).unwrap_err().into_inner(), Box::new((0, 2)));
    assert_eq!(second.try_recv(), Err(AnswerError::Empty));
    assert_eq!(second.recv_timeout(Duration::from_millis(1)), Err(AnswerError::Empty));
    let given_up = server.recv().unwrap();
    assert!(!given_up.is_client_there());
    assert_eq!(client.open(), 2);
    assert_eq!(given_up.answer(Box::new(7)), Err(ClientGone(Box::new(7))));
    assert_eq!(client.open(), 1);
    assert_eq!(answer_all(&mut server), 1);
    assert_eq!(client.open(), 1, "it was not received");
    assert_eq!(second.try_recv(), Ok(answer_to(&(0, 1))));
    assert_eq!(second.try_recv(), Err(AnswerError::Taken));
    assert_eq!(client.open(), 0);
    assert_eq!(second.recv(), Err(AnswerError::Taken));

    // An answer that came, and is given up.
    let pending = client.ask(Box::new((0, 3))).unwrap();
    assert_eq!(answer_all(&mut server), 1);
    assert_eq!(client.open(), 1);
    drop(pending);
    assert_eq!(client.open(), 0);

    // A refusal.
    let pending = client.ask(Box::new((0, 4))).unwrap();
    drop(server.recv().unwrap());
    assert_eq!(client.open(), 0);
    assert_eq!(pending.recv(), Err(AnswerError::Refused));
}

/// What was asked before is refused if it was not received. A request that was received can be answered when
/// the server is gone.
#[test]
fn server_that_leaves_refuses_what_it_did_not_receive() {
    let (mut client, mut server) = new_service(4);
    let mut other = client.clone();
    let [first, second, third] = [0, 1, 2].map(|number| client.ask(Box::new((0, number))).unwrap());
    let mut received: Vec<_> = (0..2).map(|_| server.recv().unwrap()).collect();
    let others = other.ask(Box::new((1, 0))).unwrap();
    drop(server);
    assert_eq!((third.recv(), others.recv()), (Err(AnswerError::Refused), Err(AnswerError::Refused)));
    assert!(client.is_closed());
    assert_eq!(client.ask(Box::new((0, 3))).unwrap_err(), AskError::Closed(Box::new((0, 3))));
    assert_eq!(client.clone().ask(Box::new((0, 3))).unwrap_err(), AskError::Closed(Box::new((0, 3))));
    received.swap_remove(0).answer(answer_to(&(0, 0))).unwrap();
    drop(received);
    assert_eq!((first.recv(), second.recv()), (Ok(answer_to(&(0, 0))), Err(AnswerError::Refused)));
    assert_eq!(client.open(), 0);
    // Also where so many are open as may be.
    let (mut client, server) = new_service(1);
    let pending = client.ask(Box::new((0, 0)));
    drop(server);
    assert_eq!(client.ask(Box::new((0, 1))).unwrap_err(), AskError::Closed(Box::new((0, 1))));
    assert_eq!(pending.unwrap().recv(), Err(AnswerError::Refused));
}

/// After a close, the rest is received, and then the service has ended.
#[test]
fn server_that_closes_receives_the_rest() {
    let (mut client, mut server) = new_service(4);
    let pending = client.ask(Box::new((0, 0))).unwrap();
    server.closer().close();
    assert_eq!(client.ask(Box::new((0, 1))).unwrap_err(), AskError::Closed(Box::new((0, 1))));
    assert_eq!((server.len(), server.is_closed()), (1, true));
    assert_eq!(answer_all(&mut server), 1);
    assert_eq!(server.recv().unwrap_err(), RecvError::CLOSED);
    assert_eq!(pending.recv(), Ok(answer_to(&(0, 0))));
}

/// Its answers come all the same, and the service ends with the last client.
#[test]
fn client_may_go_before_its_answers() {
    let (mut client, mut server) = new_service(4);
    let mut other = client.clone();
    let pending = client.ask(Box::new((0, 0))).unwrap();
    drop(client);
    let others = other.ask(Box::new((1, 0))).unwrap();
    drop(other);
    assert_eq!(answer_all(&mut server), 2);
    assert_eq!(server.recv().unwrap_err(), RecvError::CLOSED);
    assert_eq!((pending.recv(), others.recv()), (Ok(answer_to(&(0, 0))), Ok(answer_to(&(1, 0)))));
}

/// What a client that is gone has asked waits in the ring of the next one, which is told so.
#[test]
fn next_client_of_a_ring_has_its_room_once_the_rest_is_received() {
    let (mut client, mut server) = new_service(2);
    let keeps_open = client.clone();
    let before = [0, 1].map(|number| client.ask(Box::new((0, number))).unwrap());
    drop(client);
    let mut next = keeps_open.clone();
    assert_eq!(next.open(), 0);
    assert_eq!(next.ask(Box::new((1, 0))).unwrap_err(), AskError::Full(Box::new((1, 0))));
    assert_eq!(next.open(), 0, "what was not asked is not open");
    assert_eq!(answer_all(&mut server), 2);
    let asked = [0, 1].map(|number| next.ask(Box::new((1, number))).unwrap());
    assert_eq!(answer_all(&mut server), 2);
    assert_eq!(before.map(PendingAnswer::recv), [Ok(answer_to(&(0, 0))), Ok(answer_to(&(0, 1)))]);
    assert_eq!(asked.map(PendingAnswer::recv), [Ok(answer_to(&(1, 0))), Ok(answer_to(&(1, 1)))]);
}

#[test]
fn service_that_cant_be_is_an_error() {
    let error = service::with::<u8, u8>(Settings::new(0)).unwrap_err();
    assert_eq!(error, CapacityError::TooSmall { capacity: 0, minimum: 1 });
}

/// Counts its drops.
#[derive(Debug)]
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Each way that a question and its answer can go: both are dropped once.
#[test]
fn questions_and_answers_are_dropped_once() {
    let drops = Arc::<AtomicUsize>::default();
    let new = || Counted(Arc::clone(&drops));
    let dropped = |count| assert_eq!(drops.swap(0, Ordering::Relaxed), count);
    let (mut client, mut server) = service::channel::<Counted, Counted>(2);

    let pending = client.ask(new()).unwrap();
    server.recv().unwrap().answer(new()).unwrap();
    dropped(1);
    drop(pending.recv().unwrap());
    dropped(1);

    let pending = client.ask(new()).unwrap();
    let (question, request) = server.recv().unwrap().take_question();
    request.answer(question).unwrap();
    dropped(0);
    drop(pending);
    dropped(1);

    drop(client.ask(new()).unwrap());
    drop(server.recv().unwrap().answer(new()).unwrap_err());
    dropped(2);

    let pending = client.ask(new()).unwrap();
    drop(server);
    dropped(1);
    drop(client.ask(new()).unwrap_err());
    dropped(1);
    assert_eq!(pending.recv().err(), Some(AnswerError::Refused));
}

/// By threads that sleep: clients with several questions open, and helpers of the server that answer out of
/// order. Each question is answered or refused exactly once.
#[test]
fn threads_ask_and_answer() {
    let (clients, questions) = if cfg!(miri) { (2, 20) } else { (3, 5_000) };
    let (client, mut server) = service::with(Settings::new(8).wait_strategy(BLOCK)).unwrap();
    thread::scope(|threads| {
        for number in 0..clients {
            let client = client.clone();
            threads.spawn(move || ask_many(client, number, questions));
        }
        drop(client);
        threads.spawn(move || {
            let (mut kept, mut received) = (Vec::new(), 0);
            while let Ok(request) = server.recv() {
                received += 1;
                kept.push(request);
                // A client has at least one open that is not kept, or all are looked at here.
                if kept.len() > 3 || server.is_empty() {
                    kept.drain(..).rev().filter(|request| request.1 % 7 != 0).for_each(|request| {
                        let answer = answer_to(&request);
                        request.answer(answer).unwrap();
                    });
                }
            }
            assert_eq!(received, clients * questions);
        });
    });
}

fn ask_many(mut client: Client<Question, Box<u64>>, number: u64, questions: u64) {
    let mut open: Vec<(u64, PendingAnswer<Box<u64>>)> = Vec::new();
    let check = |(asked, pending): (u64, PendingAnswer<Box<u64>>)| {
        let expected =
            if asked % 7 == 0 { Err(AnswerError::Refused) } else { Ok(answer_to(&(number, asked))) };
        assert_eq!(pending.recv(), expected);
    };
    for next in 0..questions {
        if open.len() == client.capacity() {
            check(open.swap_remove(next as usize % open.len()));
        }
        open.push((next, client.ask(Box::new((number, next))).unwrap()));
    }
    open.into_iter().for_each(check);
    assert_eq!(client.open(), 0);
}

/// The server is dropped while clients ask: each question is refused, or was given back. None waits for ever.
#[test]
fn server_that_leaves_while_others_ask_leaves_none_waiting() {
    for round in 0..if cfg!(miri) { 3 } else { 200 } {
        let (client, mut server) = service::channel::<u64, u64>(4);
        thread::scope(|threads| {
            for _ in 0..2 {
                let mut client = client.clone();
                threads.spawn(move || {
                    let mut open = Vec::new();
                    loop {
                        match client.ask(round) {
                            Ok(pending) => open.push(pending),
                            Err(AskError::Full(_)) => {
                                let told = open.pop().unwrap().recv_until(LONG);
                                assert!(told == Ok(round) || told == Err(AnswerError::Refused), "{told:?}");
                            }
                            Err(_) => break,
                        }
                    }
                    for mut pending in open {
                        let told = pending.recv_until(LONG);
                        assert!(told == Ok(round) || told == Err(AnswerError::Refused), "{told:?}");
                    }
                });
            }
            for _ in 0..round {
                if let Ok(request) = server.recv() {
                    let question = *request;
                    request.answer(question).unwrap_or_else(|ClientGone(answer)| assert_eq!(answer, round));
                }
            }
            drop(server);
        });
    }
}

/// A pending answer is a receiving handle like any other, and a server is, too.
#[test]
fn answers_are_received_through_the_traits() {
    fn one<R: Receive>(receiver: &mut R) -> R::Item {
        receiver.recv().unwrap()
    }
    let (mut client, mut server) = service::channel::<Cell<u8>, Cell<u8>>(4);
    let (mut pending, mut refused) = (client.ask(Cell::new(1)).unwrap(), client.ask(Cell::new(2)).unwrap());
    one(&mut server).answer(Cell::new(10)).unwrap();
    drop(one(&mut server));
    assert_eq!(one(&mut pending), Ok(Cell::new(10)));
    assert_eq!(one(&mut refused), Err(AnswerError::Refused));
    assert_eq!(Receive::recv(&mut pending), Err(RecvError::CLOSED));
    assert!(annulus::Waitable::is_closed(&pending));
    let text = format!("{client:?} {pending:?} {server:?}");
    assert!(text.contains("open: 0") && text.contains("is_taken: true"), "{text}");
}

/// Where several things may come, and one of them is an answer.
#[cfg(feature = "std")]
#[test]
fn select_waits_for_questions_and_for_answers() {
    let (mut client, mut server) = service::channel::<u64, u64>(4);
    let (_other, mut others) = annulus::spsc::channel::<u64>(4);
    let mut pending = client.ask(6).unwrap();
    annulus::select! {
        recv(server) -> request => request.unwrap().answer(36).unwrap(),
        recv(others) -> other => panic!("{other:?}"),
    }
    annulus::select! {
        recv(pending) -> answer => assert_eq!(answer, Ok(Ok(36))),
        recv(others) -> other => panic!("{other:?}"),
    }
}

#[cfg(feature = "async")]
#[test]
fn tasks_ask_and_answer() {
    let (client, mut server) = service::channel::<u64, u64>(4);
    let mut asking = client.clone();
    drop(client);
    let thread = thread::spawn(move || {
        pollster::block_on(async move {
            while let Ok(request) = server.recv_async().await {
                let question = *request;
                if question % 3 != 0 {
                    request.answer(question * question).unwrap();
                }
            }
        });
    });
    pollster::block_on(async {
        for number in 0..if cfg!(miri) { 10 } else { 1_000 } {
            let expected = if number % 3 == 0 { Err(AnswerError::Refused) } else { Ok(number * number) };
            assert_eq!(asking.ask(number).unwrap().await, expected);
        }
        let mut pending = asking.ask(1).unwrap();
        assert_eq!(pending.recv_async().await, Ok(Ok(1)));
        assert_eq!(pending.await, Err(AnswerError::Taken));
    });
    drop(asking);
    thread.join().unwrap();
}

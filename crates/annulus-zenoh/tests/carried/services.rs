//! Questions to a service of another machine: answers in any order, and each other end of a question.

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use annulus::Settings;
use annulus::shm::service::{self, AnswerError, AskError, Client, Server};
use annulus::shm::{Directory, Invitation, PublishedName, Shared};
use annulus_zenoh::{Bridge, Direction, RouteState};
use zenoh::Wait;

use crate::common::{Machine, PATIENCE, is_open, listens_at, until, until_route};
use crate::{child, plain_session};

/// So many questions a client may have open.
const OPEN: usize = 4;

fn serve(directory: &Directory) -> (Server<u32, u64>, PublishedName) {
    let Shared { handle, invitation, .. } =
        service::Builder::new(Settings::new(OPEN)).build::<u32, u64>().unwrap();
    let name = invitation.publish(directory, "squares").unwrap();
    (handle, name)
}

/// A bridge that listens, and waits for answers for so long.
fn listening(machine: &Machine, answer_timeout: Duration) -> (Bridge, SocketAddr) {
    let config = machine.config().carry("*").listen("tcp/127.0.0.1:0");
    let bridge = Bridge::open(config.answer_timeout(answer_timeout)).unwrap();
    let at = listens_at(&bridge);
    (bridge, at)
}

/// A client of the service of that name, when there is one.
fn join(machine: &Machine) -> Client<u32, u64> {
    let invitation = Invitation::wait_for(&machine.directory(), "squares", Some(PATIENCE)).unwrap();
    service::client(&invitation).unwrap().0
}

fn square(of: u32) -> u64 {
    u64::from(of) * u64::from(of)
}

fn until_unanswered(bridge: &Bridge, direction: Direction, count: u64) {
    until_route(bridge, direction, "squares", |route| route.unanswered == count);
}

#[test]
fn answers_come_in_any_order_and_refusals_too() {
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    let (far, at) = listening(&b, PATIENCE);
    let near = a.connected(at);
    let (mut server, _name) = serve(&a.directory());
    let (mut one, mut other) = (join(&b), join(&b));
    let mut pending: Vec<_> = (1..=4).map(|question| one.ask(question).unwrap()).collect();
    let mut requests: Vec<_> = (0..4).map(|_| server.recv_timeout(PATIENCE).unwrap()).collect();
    // As many are open there as the bridge may have: these wait.
    pending.extend((5..=8).map(|question| other.ask(question).unwrap()));
    assert!(matches!(one.ask(9), Err(AskError::Full(9))));
    requests.sort_by_key(|request| *request.question());
    // The last one is answered while the others are open.
    requests.pop().unwrap().answer(square(4)).unwrap();
    assert_eq!(pending[3].recv_timeout(PATIENCE), Ok(square(4)));
    let third = requests.pop();
    for request in requests.into_iter().rev() {
        let question = *request.question();
        request.answer(square(question)).unwrap();
    }
    drop(third);
    for _ in 5..=8 {
        let request = server.recv_timeout(PATIENCE).unwrap();
        let question = *request.question();
        request.answer(square(question)).unwrap();
    }
    for (mut pending, question) in pending.into_iter().zip(1..) {
        let expected = match question {
            3 => Err(AnswerError::Refused),
            4 => Err(AnswerError::Taken),
            _ => Ok(square(question)),
        };
        assert_eq!(pending.recv_timeout(PATIENCE), expected, "{question}");
    }
    until_unanswered(&near, Direction::Out, 1);
    until_unanswered(&far, Direction::In, 1);

    // A client that goes: its answer is dropped, and the next one's comes.
    let lost = one.ask(20).unwrap();
    let request = server.recv_timeout(PATIENCE).unwrap();
    drop((lost, one));
    let mut kept = other.ask(30).unwrap();
    request.answer(400).unwrap();
    server.recv_timeout(PATIENCE).unwrap().answer(900).unwrap();
    assert_eq!(kept.recv_timeout(PATIENCE), Ok(900));
    drop(kept);
    // (One of those that were answered had no client any more.)
    until_route(&far, Direction::In, "squares", |route| {
        route.kind == "service" && (route.messages, route.unanswered, route.corrupt) == (9, 1, 0)
    });

    // A program without Annulus asks, and one asks what is no question.
    let session = plain_session(at);
    let ask = |question: &[u8]| {
        session.get("annulus/a/squares/@ask/*").payload(question).timeout(PATIENCE).wait().unwrap()
    };
    let replies = ask(&[1, 2, 3]);
    let error = replies.recv().unwrap().into_result().unwrap_err();
    let text = String::from_utf8(error.payload().to_bytes().into_owned()).unwrap();
    assert_eq!(text, "length: a question has 4 bytes here, and this one 3");
    // As many are open as may be: the next one waits, but not longer than it says that it does.
    let mut open: Vec<_> = (0..4).map(|question| other.ask(question).unwrap()).collect();
    let requests: Vec<_> = (0..4).map(|_| server.recv_timeout(PATIENCE).unwrap()).collect();
    let wait = [b"anq1", &[0; 4][..], &1_u64.to_le_bytes(), &[0; 16]].concat();
    let get = session.get("annulus/a/squares/@ask/*").payload(9_u32.to_ne_bytes()).attachment(wait);
    let replies = get.timeout(PATIENCE).wait().unwrap();
    for request in requests {
        request.answer(1).unwrap();
    }
    for pending in &mut open {
        assert_eq!(pending.recv_timeout(PATIENCE), Ok(1));
    }
    let error = replies.recv().unwrap().into_result().unwrap_err();
    assert!(error.payload().to_bytes().starts_with(b"late: it was to be asked within 1ns"), "{error:?}");
    let replies = ask(&7_u32.to_ne_bytes());
    server.recv_timeout(PATIENCE).unwrap().answer(49).unwrap();
    let reply = replies.recv().unwrap().into_result().unwrap();
    assert_eq!(&*reply.payload().to_bytes(), 49_u64.to_ne_bytes());
}

#[test]
fn question_without_an_answer_in_time_is_refused() {
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    let (far, at) = listening(&b, Duration::from_millis(300));
    let _near = a.connected(at);
    let (mut server, _name) = serve(&a.directory());
    let mut client = join(&b);
    let mut pending = client.ask(1).unwrap();
    let request = server.recv_timeout(PATIENCE).unwrap();
    assert_eq!(pending.recv_timeout(PATIENCE), Err(AnswerError::Refused));
    until_route(&far, Direction::In, "squares", |route| route.unanswered == 1);
    // The answer is dropped, and the next ones come. (On a busy machine, some of them too late.)
    request.answer(1).unwrap();
    drop(pending);
    let closer = server.closer();
    let serving = thread::spawn(move || {
        while let Ok(request) = server.recv() {
            let question = *request.question();
            _ = request.answer(square(question));
        }
    });
    until("one is answered", || {
        client.ask(2).is_ok_and(|mut pending| pending.recv_timeout(PATIENCE) == Ok(4))
    });
    closer.close();
    serving.join().unwrap();
}

#[test]
fn question_without_a_server_is_refused() {
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    let (far, at) = listening(&b, PATIENCE);
    let near = a.connected(at);
    let (mut server, name) = serve(&a.directory());
    let mut client = join(&b);

    // No bridge: the service is there, and refuses until the bridge is back.
    drop(near);
    until_route(&far, Direction::In, "squares", |route| route.state == RouteState::Down);
    assert_eq!(client.ask(3).unwrap().recv_timeout(PATIENCE), Err(AnswerError::Refused));
    let _near = a.connected(at);
    until("it is back", || is_open(&far, Direction::In, "squares"));
    let mut pending = client.ask(4).unwrap();
    server.recv_timeout(PATIENCE).unwrap().answer(16).unwrap();
    assert_eq!(pending.recv_timeout(PATIENCE), Ok(16));

    // The end of the server: the question that it has not answered is refused, and the service ends.
    let mut pending = client.ask(5).unwrap();
    let request = server.recv_timeout(PATIENCE).unwrap();
    drop((server, name));
    drop(request);
    assert_eq!(pending.recv_timeout(PATIENCE), Err(AnswerError::Refused));
    until("it ends there", || client.is_closed());
    assert!(matches!(client.ask(6), Err(AskError::Closed(6))));
}

#[test]
fn service_without_a_place_is_carried_when_there_is_one() {
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    let (_far, at) = listening(&b, PATIENCE);
    let near = a.connected(at);
    let builder = service::Builder::new(Settings::new(OPEN)).clients(1);
    let Shared { handle: mut server, invitation, .. } = builder.build::<u32, u64>().unwrap();
    let (own, _) = service::client::<u32, u64>(&invitation).unwrap();
    let _name = invitation.publish(&a.directory(), "squares").unwrap();
    until_route(&near, Direction::Out, "squares", |route| matches!(route.state, RouteState::Refused(_)));
    drop(own);
    let mut pending = join(&b).ask(3).unwrap();
    server.recv_timeout(PATIENCE).unwrap().answer(9).unwrap();
    assert_eq!(pending.recv_timeout(PATIENCE), Ok(9));
}

const SERVE_IN: &str = "ANNULUS_ZENOH_SERVE_IN";

/// Not a test of its own: serves in the directory that the variable names, and answers all but 13.
#[test]
fn serves_if_the_variable_is_set() {
    let Ok(path) = std::env::var(SERVE_IN) else { return };
    let (mut server, _name) = serve(&Directory::open(path).unwrap());
    let mut kept = Vec::new();
    while let Ok(request) = server.recv() {
        match *request.question() {
            13 => kept.push(request),
            question => request.answer(square(question)).unwrap(),
        }
    }
}

#[test]
fn question_whose_server_dies_is_refused_and_the_next_server_answers() {
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    let (far, at) = listening(&b, PATIENCE);
    let near = a.connected(at);
    let server = child("services::serves_if_the_variable_is_set", SERVE_IN, &a);
    let mut client = join(&b);
    let mut open = client.ask(13).unwrap();
    assert_eq!(client.ask(5).unwrap().recv_timeout(PATIENCE), Ok(25), "it has received both");
    drop(server);
    assert_eq!(open.recv_timeout(PATIENCE), Err(AnswerError::Refused));
    until_unanswered(&near, Direction::Out, 1);
    until_unanswered(&far, Direction::In, 1);
    until("it ends there", || client.is_closed());

    let _server = child("services::serves_if_the_variable_is_set", SERVE_IN, &a);
    until("the next one comes", || {
        let Ok(found) = b.directory().find("squares") else { return false };
        let Ok((mut client, _)) =
            Invitation::find(&found).and_then(|it| Ok(service::client::<u32, u64>(&it)?))
        else {
            return false;
        };
        client.ask(6).is_ok_and(|mut pending| pending.recv_timeout(PATIENCE) == Ok(36))
    });
}

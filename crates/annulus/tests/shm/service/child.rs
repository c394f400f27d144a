//! What another process does: it asks or answers.

use std::io::{Read, Write};
use std::path::Path;

use annulus::shm::service::{AskError, PendingAnswer, Server};
use annulus::shm::{Directory, Invitation};

use super::at_run_time::{ask_as_bytes, serve_as_bytes};
use super::named::numbered_at;
use super::{Answer, Question, answer_to, joined, new_service, question};
use crate::process::role;

/// `ask CLIENT OPEN`, `ask-some CLIENT COUNT`, `serve OPEN`, `serve-by-name PATH` or `hold OPEN`; the first
/// and the third also at run time: `ask-bytes`, `serve-bytes`. With a number behind the name:
/// `serve-numbered PATH`, `hold-numbered PATH`. In the test program itself it does nothing.
#[test]
fn child_plays_its_role() {
    let Some((role, mut socket)) = role() else { return };
    let words: Vec<_> = role.split(' ').collect();
    let number = |index: usize| words[index].parse::<u64>().unwrap();
    match words[0] {
        // With so many open, without an end.
        "ask" => {
            let mut client = joined(&Invitation::receive(&socket).unwrap());
            socket.write_all(b"\n").unwrap();
            let mut open: Vec<(u64, PendingAnswer<Answer>)> = Vec::new();
            for next in 0.. {
                match client.ask(question(number(1), next)) {
                    Ok(pending) => open.push((next, pending)),
                    Err(AskError::Full(_)) => {}
                    Err(_) => return,
                }
                if open.len() as u64 >= number(2) {
                    let (asked, pending) = open.swap_remove(next as usize % open.len());
                    match pending.recv() {
                        Ok(answer) => assert_eq!(answer, answer_to(&question(number(1), asked))),
                        Err(_) => return,
                    }
                }
            }
        }
        "ask-bytes" => {
            let invitation = Invitation::receive(&socket).unwrap();
            ask_as_bytes(&invitation, number(1), number(2), || socket.write_all(b"\n").unwrap());
        }
        // And waits for no answer.
        "ask-some" => {
            let mut client = joined(&Invitation::receive(&socket).unwrap());
            let _open: Vec<_> =
                (0..number(2)).map(|next| client.ask(question(number(1), next)).unwrap()).collect();
            socket.write_all(b"\n").unwrap();
            let _ = socket.read(&mut [0]);
        }
        "serve" => {
            let (server, _, invitation) = new_service(number(1) as usize, 4);
            invitation.send(&socket).unwrap();
            serve(server);
        }
        "serve-bytes" => serve_as_bytes(number(1) as usize, |invitation| invitation.send(&socket).unwrap()),
        "serve-by-name" => {
            let (server, _, invitation) = new_service(4, 2);
            let directory = Directory::open(Path::new(words[1])).unwrap();
            let _name = invitation.publish(&directory, "answers").unwrap();
            socket.write_all(b"\n").unwrap();
            serve(server);
        }
        "serve-numbered" => {
            let (server, _name) = numbered_at(Path::new(words[1]));
            socket.write_all(b"\n").unwrap();
            serve(server);
        }
        "hold-numbered" => {
            let (_server, _name) = numbered_at(Path::new(words[1]));
            socket.write_all(b"\n").unwrap();
            let _ = socket.read(&mut [0]);
        }
        "hold" => {
            let (_server, _, invitation) = new_service(number(1) as usize, 2);
            invitation.send(&socket).unwrap();
            let _ = socket.read(&mut [0]);
        }
        other => panic!("{other:?}"),
    }
}

/// Answers without an end: some at once, others when there is nothing else to do; it refuses none.
fn serve(mut server: Server<Question, Answer>) {
    let mut kept = Vec::new();
    loop {
        match server.try_recv() {
            Ok(request) if request[1] % 3 == 0 => kept.push(request),
            Ok(request) => {
                let answer = answer_to(&request);
                let _ = request.answer(answer);
            }
            Err(_) => match kept.pop() {
                Some(request) => {
                    let answer = answer_to(&request);
                    let _ = request.answer(answer);
                }
                None => kept.extend(server.recv()),
            },
        }
    }
}

//! Servers and clients that are processes of their own.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use annulus::WaitStrategy;
use annulus::shm::service::{self, AnswerError, AskError, Client, ClientGone, PendingAnswer};
use annulus::shm::{AttachError, Directory, Invitation, PeerState};
use rustix::process::Signal;

use super::{Answer, Question, answer_all, answer_to, joined, new_service, question};
use crate::process::{Child, moment, rounds};

/// A hang, and no luck.
const LONG: Duration = Duration::from_secs(60);

/// Clients of this process. The others have the numbers of their rounds.
const OTHER: u64 = 1 << 40;
const NEXT: u64 = OTHER + 1;

/// A process in this role, which has the invitation.
fn guest(role: &str, invitation: &Invitation) -> Child {
    let child = Child::new(role);
    invitation.send(&child.socket).unwrap();
    heard(&child);
    child
}

/// Until it has said something.
fn heard(child: &Child) {
    (&child.socket).read_exact(&mut [0]).unwrap();
}

/// One question, and its answer.
fn check(client: &mut Client<Question, Answer>, number: u64) {
    let answer = client.ask(question(OTHER, number)).unwrap().recv_until(LONG);
    assert_eq!(answer, Ok(answer_to(&question(OTHER, number))));
}

/// A client is killed at any moment. The server goes on, and so do other clients; the place of the dead is
/// free at once, with all of its cells as soon as the server has let the old requests go.
#[test]
fn clients_that_are_killed() {
    let (mut server, places, invitation) = new_service(4, 2);
    let mut other = joined(&invitation);
    for round in 0..rounds() {
        let form = if round % 2 == 0 { "" } else { "-bytes" };
        let mut child = guest(&format!("ask{form} {round} 3"), &invitation);
        assert_eq!(places.taken(), 2);
        let killer = thread::spawn(move || {
            thread::sleep(moment(round));
            child.kill();
        });
        let (mut kept, mut asked) = (Vec::new(), 0);
        while !killer.is_finished() {
            let mine = other.ask(question(OTHER, asked)).unwrap();
            let mut is_answered = false;
            while !is_answered {
                let request = server.recv_timeout(LONG).unwrap();
                is_answered = request[0] == OTHER;
                if request[1] % 5 == 4 && !is_answered && kept.len() < 2 {
                    kept.push(request);
                } else {
                    let answer = answer_to(&request);
                    assert!(request.answer(answer).is_ok() || !is_answered);
                }
                if kept.len() == 2 {
                    let request = kept.remove(0);
                    let answer = answer_to(&request);
                    let _ = request.answer(answer);
                }
            }
            assert_eq!(mine.recv(), Ok(answer_to(&question(OTHER, asked))));
            asked += 1;
        }
        killer.join().unwrap();
        assert_eq!((places.taken(), places.died()), (1, round + 1));
        assert!(kept.iter().all(|request| !request.is_client_there()));
        // The next one has that place. It owes nothing, and gets what is its own.
        let mut next = joined(&invitation);
        for request in kept {
            let answer = answer_to(&request);
            assert_eq!(request.answer(answer), Err(ClientGone(answer)));
        }
        assert_eq!(answer_all(&mut server), 0, "what the dead one had asked is passed over");
        assert_eq!(next.open(), 0);
        let open: Vec<_> = (0..4).map(|number| next.ask(question(NEXT, number)).unwrap()).collect();
        assert_eq!(answer_all(&mut server), 4);
        for (number, pending) in (0..).zip(open) {
            assert_eq!(pending.recv(), Ok(answer_to(&question(NEXT, number))));
        }
    }
    assert_eq!((places.joined(), server.total_corrupt()), (1 + 2 * rounds(), 0));
}

/// A server is killed at any moment. Each answer that it had given is received; each other question has the
/// exact error, for a thread that sleeps, one that spins, and one that asks now and then.
#[test]
fn servers_that_are_killed() {
    for round in 0..rounds() {
        let mut child = Child::new(if round % 2 == 0 { "serve 4" } else { "serve-bytes 4" });
        let invitation = Invitation::receive(&child.socket).unwrap();
        let strategies = [WaitStrategy::block_after(0, 0), WaitStrategy::default(), WaitStrategy::PauseSpin];
        let clients: Vec<_> = (0..)
            .zip(strategies)
            .map(|(client, strategy)| {
                let invitation = invitation.try_clone().unwrap().with_wait_strategy(strategy);
                thread::spawn(move || until_death(&invitation, client))
            })
            .collect();
        thread::sleep(moment(round));
        child.kill();
        for client in clients {
            client.join().unwrap();
        }
        let refused = service::client::<Question, Answer>(&invitation).map(drop).unwrap_err();
        assert!(matches!(refused, AttachError::Closed), "{refused}");
    }
}

/// Asks with three open, until the server has died.
fn until_death(invitation: &Invitation, number: u64) {
    let (mut client, peer) = match service::client::<Question, Answer>(invitation) {
        Ok(joined) => joined,
        Err(AttachError::Closed) => return,
        Err(error) => panic!("{error}"),
    };
    let mut open: Vec<(u64, PendingAnswer<Answer>)> = Vec::new();
    let mut died = 0;
    for next in 0.. {
        if died == 0 {
            match client.ask(question(number, next)) {
                Ok(pending) => open.push((next, pending)),
                // Another client has seen it.
                Err(error) => {
                    assert_eq!(error, AskError::Closed(question(number, next)));
                    died += 1;
                }
            }
        }
        if open.len() == 3 || died > 0 {
            let Some((asked, mut pending)) = open.pop() else { break };
            match pending.recv_until(LONG) {
                Ok(answer) => assert_eq!(answer, answer_to(&question(number, asked))),
                Err(error) => {
                    assert_eq!(error, AnswerError::Died);
                    died += 1;
                }
            }
        }
    }
    assert!(died > 0);
    assert_eq!(peer.state(), PeerState::Dead);
    // It may ask a dead one; at the latest where there is no room, it is told.
    for next in 0..=client.capacity() as u64 {
        match client.ask(question(number, next)) {
            Ok(pending) => assert_eq!(pending.recv(), Err(AnswerError::Died)),
            Err(AskError::Closed(asked)) => return assert_eq!(asked, question(number, next)),
            Err(error) => panic!("{error}"),
        }
    }
    panic!("it was never told");
}

/// A next server, under the same name: clients of the one before have the exact error, and join the new one.
#[test]
fn server_that_is_restarted() {
    let path = std::env::temp_dir().join(format!("annulus-restarts-{}", std::process::id()));
    let directory = Directory::open(&path).unwrap();
    let mut child: Option<Child> = None;
    let mut before: Option<PendingAnswer<Answer>> = None;
    for round in 0..rounds().min(200) {
        if let Some(mut dead) = child.take() {
            dead.stop();
            if let Some(pending) = &mut before {
                let _ = pending.try_recv();
            }
            dead.kill();
        }
        let next = Child::new(&format!("serve-by-name {}", path.display()));
        heard(&next);
        if let Some(mut pending) = before.take() {
            let told = pending.recv_until(LONG);
            let is_exact = [Err(AnswerError::Died), Err(AnswerError::Taken)].contains(&told);
            assert!(is_exact || told == Ok(answer_to(&question(0, round - 1))), "{told:?}");
        }
        let invitation = Invitation::wait_for(&directory, "answers", Some(LONG)).unwrap();
        let mut client = joined(&invitation);
        check(&mut client, round);
        before = Some(client.ask(question(0, round)).unwrap());
        child = Some(next);
    }
    drop(child);
    std::fs::remove_dir_all(path).unwrap();
}

/// A task that waits is told of the death, too.
#[cfg(feature = "async")]
#[test]
fn task_is_told_of_the_death() {
    for round in 0..rounds().min(100) {
        let mut child = Child::new("hold 2");
        let invitation = Invitation::receive(&child.socket).unwrap();
        let mut client = joined(&invitation);
        let pending = client.ask(question(0, 0)).unwrap();
        let killer = thread::spawn(move || {
            thread::sleep(moment(round));
            child.kill();
        });
        assert_eq!(pollster::block_on(pending.into_future()), Err(AnswerError::Died));
        killer.join().unwrap();
    }
}

/// A client that is stopped is alive, and holds up nobody: its answers are there when it goes on.
#[test]
fn client_that_is_stopped() {
    let (mut server, places, invitation) = new_service(4, 2);
    for round in 0..rounds().min(200) {
        let child = guest(&format!("ask {round} 3"), &invitation);
        let mut other = joined(&invitation);
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    if let Ok(request) = server.recv_timeout(Duration::from_millis(5)) {
                        let answer = answer_to(&request);
                        request.answer(answer).unwrap();
                    }
                }
            });
            thread::sleep(moment(round));
            child.stop();
            assert_eq!((places.taken(), places.died()), (2, round));
            (0..50).for_each(|number| check(&mut other, number));
            child.signal(Signal::CONT);
            check(&mut other, 50);
            is_over.store(true, Ordering::Relaxed);
        });
        drop(child);
        answer_all(&mut server);
    }
}

/// A server that is stopped is alive: a client waits until it goes on, or until its own timeout.
#[test]
fn server_that_is_stopped() {
    let child = Child::new("serve 4");
    let invitation = Invitation::receive(&child.socket).unwrap();
    let (mut client, peer) = service::client::<Question, Answer>(&invitation).unwrap();
    check(&mut client, 0);
    for round in 0..rounds().min(200) {
        child.stop();
        let mut open: Vec<_> = (0..4).map(|number| client.ask(question(0, number)).unwrap()).collect();
        assert_eq!(open[3].recv_timeout(Duration::from_millis(1)), Err(AnswerError::Empty));
        assert_eq!(client.ask(question(0, 4)).unwrap_err(), AskError::Full(question(0, 4)));
        assert_eq!(peer.state(), PeerState::Alive);
        child.signal(Signal::CONT);
        for (number, pending) in (0..).zip(&mut open) {
            assert_eq!(pending.recv_until(LONG), Ok(answer_to(&question(0, number))), "{round}");
        }
    }
}

/// The requests of a client that was killed in the same place again and again leave nothing behind, whether
/// the server has received them, or not.
#[test]
fn requests_of_a_dead_client_leave_nothing() {
    let (mut server, places, invitation) = new_service(3, 1);
    for round in 0..rounds() {
        let mut child = guest(&format!("ask-some {round} 3"), &invitation);
        let kept: Vec<_> = (0..round % 4).map(|_| server.recv_timeout(LONG).unwrap()).collect();
        child.kill();
        assert_eq!((places.taken(), places.died()), (0, round + 1));
        let mut next = joined(&invitation);
        assert_eq!(next.open(), 3);
        assert_eq!(server.try_recv().unwrap_err(), annulus::TryRecvError::Empty);
        assert_eq!(next.open(), kept.len());
        drop(kept);
        assert_eq!(next.open(), 0);
        let pending = next.ask(question(0, round)).unwrap();
        assert_eq!(answer_all(&mut server), 1);
        assert_eq!(pending.recv(), Ok(answer_to(&question(0, round))));
    }
}

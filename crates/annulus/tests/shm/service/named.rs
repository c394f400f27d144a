//! Several servers behind one name: which server is asked, and what a client is told when one of them dies,
//! stops or does not fit.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use annulus::shm::service::{
    AnswerError, Builder, NamedAskError, NamedClient, PendingAnswer, Places, Server,
};
use annulus::shm::{
    AttachError, Directory, FindError, Invitation, NameError, PublishedName, Shared, broadcast,
};
use annulus::{Settings, WaitStrategy};
use rustix::process::Signal;

use super::{Answer, Question, answer_all, answer_to, question};
use crate::process::{Child, rounds};

/// A hang, and no luck.
const LONG: Duration = Duration::from_secs(60);

/// How many questions a client may have open at each server.
pub(super) const OPEN: usize = 4;

/// A directory, which goes with this.
struct Place {
    path: PathBuf,
    directory: Directory,
}

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("annulus-named-{name}-{}", std::process::id()));
        Self { directory: Directory::open(&path).unwrap(), path }
    }

    fn client(&self) -> NamedClient<Question, Answer> {
        NamedClient::new(&self.directory, "answers").unwrap()
    }

    /// A server of this process.
    fn server(&self, clients: usize) -> (Server<Question, Answer>, Places, PublishedName) {
        numbered(&self.directory, clients)
    }

    /// A process that answers, or holds what it is asked. It has its name.
    fn child(&self, role: &str) -> Child {
        let child = Child::new(&format!("{role} {}", self.path.display()));
        (&child.socket).read_exact(&mut [0]).unwrap();
        child
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

fn numbered(directory: &Directory, clients: usize) -> (Server<Question, Answer>, Places, PublishedName) {
    let builder = Builder::new(Settings::new(OPEN)).clients(clients);
    let Shared { handle, peers, invitation, .. } = builder.build().unwrap();
    (handle, peers, invitation.publish_numbered(directory, "answers").unwrap())
}

/// For a process of its own.
pub(super) fn numbered_at(path: &Path) -> (Server<Question, Answer>, PublishedName) {
    let (server, _, name) = numbered(&Directory::open(path).unwrap(), 4);
    (server, name)
}

fn names(client: &NamedClient<Question, Answer>) -> Vec<String> {
    client.servers().map(|server| server.name().to_string()).collect()
}

/// The server with the fewest open questions is asked, and those with as few take turns. All of them full is
/// an error.
#[test]
fn questions_go_to_the_server_with_the_fewest_open() {
    let place = Place::new("turns");
    let mut servers = [place.server(1), place.server(1), place.server(1)];
    let mut client = place.client();
    assert_eq!(client.refresh().unwrap(), 3);
    assert_eq!(names(&client), ["answers.0", "answers.1", "answers.2"]);
    assert_eq!((client.open(), client.capacity()), (0, 3 * OPEN));
    let mut open: Vec<_> =
        (0..3 * OPEN as u64).map(|number| client.ask(question(0, number)).unwrap()).collect();
    let full = client.ask(question(0, 99)).unwrap_err();
    assert_eq!(format!("{full:?}"), "Full(..)");
    assert!(full.to_string().ends_with("receive an answer first, or start another server"), "{full}");
    assert_eq!(full.into_inner(), question(0, 99));
    for (server, _, _) in &servers {
        assert_eq!(server.len(), OPEN);
    }
    // One answers three, another one: the next four questions go where the fewest are open.
    for (index, count) in [(1, 3), (2, 1)] {
        for _ in 0..count {
            let request = servers[index].0.recv().unwrap();
            let answer = answer_to(&request);
            request.answer(answer).unwrap();
        }
    }
    let is_open = |(number, pending): (u64, PendingAnswer<Answer>)| {
        let mut pending = pending;
        match pending.try_recv() {
            Ok(answer) => {
                assert_eq!(answer, answer_to(&question(0, number)));
                None
            }
            Err(error) => {
                assert_eq!(error, AnswerError::Empty);
                Some(pending)
            }
        }
    };
    open = (0..).zip(open).filter_map(is_open).collect();
    assert_eq!((open.len(), client.open()), (3 * OPEN - 4, 3 * OPEN - 4));
    for (number, waiting) in [(0, [OPEN, 2, 3]), (1, [OPEN, 3, 3]), (2, [OPEN, 3, 4]), (3, [OPEN, 4, 4])] {
        open.push(client.ask(question(1, number)).unwrap());
        let mut there: Vec<_> = servers.iter().map(|(server, _, _)| server.len()).collect();
        assert_eq!(there.iter().sum::<usize>(), waiting.iter().sum::<usize>());
        // (Those with as few take turns, in an order of their own.)
        there[1..].sort_unstable();
        let mut waiting = waiting;
        waiting[1..].sort_unstable();
        assert_eq!(there, waiting);
    }
    let answered: usize = servers.iter_mut().map(|(server, _, _)| answer_all(server)).sum();
    assert_eq!(answered, 3 * OPEN);
    assert!(open.into_iter().all(|pending| pending.recv().is_ok()));
    assert_eq!(client.open(), 0);
}

/// A server that comes later is asked, and one that leaves is not.
#[test]
fn servers_come_and_go() {
    let place = Place::new("come");
    let mut client = place.client();
    let nobody = client.ask(question(0, 0)).unwrap_err();
    assert_eq!(format!("{nobody:?}"), "NoServer { name: \"answers\", without_place: 0, .. }");
    assert!(nobody.to_string().contains("there is no server of \"answers\""), "{nobody}");
    assert_eq!(nobody.into_inner(), question(0, 0));
    let timed_out = client.wait_for_server(Some(Duration::ZERO)).unwrap_err();
    assert!(matches!(timed_out.error, FindError::Name(NameError::TimedOut { .. })), "{timed_out}");
    assert_eq!(timed_out.to_string(), timed_out.error.to_string());

    // Without a number, as by `publish`.
    let Shared { handle: mut alone, invitation, .. } = Builder::new(Settings::new(OPEN)).build().unwrap();
    let name = invitation.publish(&place.directory, "answers").unwrap();
    let pending = client.ask(question(0, 1)).unwrap();
    assert_eq!(answer_all(&mut alone), 1);
    assert_eq!(pending.recv(), Ok(answer_to(&question(0, 1))));

    let (mut second, _, second_name) = place.server(1);
    assert_eq!(client.refresh().unwrap(), 2);
    assert_eq!(names(&client), ["answers", "answers.0"]);
    let (one, other) = (client.ask(question(0, 2)).unwrap(), client.ask(question(0, 3)).unwrap());
    assert_eq!((alone.len(), second.len()), (1, 1));
    // It has closed its service, and has its name: what it was asked is answered, and nothing more asked.
    second.close();
    let third = client.ask(question(0, 4)).unwrap();
    assert_eq!((alone.len(), names(&client)), (2, vec!["answers".to_string()]));
    assert_eq!(client.refresh().unwrap(), 1);
    assert_eq!(answer_all(&mut second), 1);
    drop((second, second_name));
    let request = alone.recv().unwrap();
    let answer = answer_to(&request);
    request.answer(answer).unwrap();
    drop((alone, name));
    assert_eq!((one.recv(), other.recv()), (Ok(answer_to(&question(0, 2))), Ok(answer_to(&question(0, 3)))));
    assert_eq!(third.recv(), Err(AnswerError::Refused));
    assert!(matches!(client.ask(question(0, 5)), Err(NamedAskError::NoServer { without_place: 0, .. })));
}

/// What does not fit is named, once, and the others are asked.
#[test]
fn server_of_another_type_is_named_once() {
    let place = Place::new("types");
    let (mut server, _, _name) = place.server(2);
    let wrong = Builder::new(Settings::new(OPEN)).build::<u8, u64>().unwrap();
    let wrong_name = wrong.invitation.publish_numbered(&place.directory, "answers").unwrap();
    let lossy = broadcast::lossy::<u64>(Settings::new(64)).unwrap();
    let _lossy_name = lossy.invitation.publish_numbered(&place.directory, "answers").unwrap();
    // No servers of this name.
    let _others = ["answers.x", "answers.07", "answersX", "answer"]
        .map(|name| lossy.invitation.publish(&place.directory, name).unwrap());
    let mut client = place.client();
    let refused = client.ask(question(0, 0)).unwrap_err();
    assert!(format!("{refused:?}").starts_with("Server { error: ServerError { server: \"answers.1\", "));
    let said = refused.to_string();
    let NamedAskError::Server { question: back, error } = refused else { panic!("{refused}") };
    assert_eq!(said, error.to_string());
    assert_eq!((back, error.server.as_str()), (question(0, 0), "answers.1"));
    assert!(matches!(error.error, FindError::Attach(AttachError::Type { .. })), "{error}");
    assert!(error.to_string().starts_with("the server \"answers.1\" can't be asked: "), "{error}");
    let error = client.refresh().unwrap_err();
    assert_eq!(error.server, "answers.2");
    assert!(matches!(error.error, FindError::Attach(AttachError::Kind { .. })), "{error}");
    for number in 0..3 {
        assert_eq!(client.refresh().unwrap(), 1);
        let pending = client.ask(question(0, number)).unwrap();
        assert_eq!(answer_all(&mut server), 1);
        assert_eq!(pending.recv(), Ok(answer_to(&question(0, number))));
    }
    // The next one under that name is looked at.
    drop((wrong, wrong_name));
    let (_next, _, next_name) = place.server(1);
    assert_eq!(next_name.name(), "answers.1");
    assert_eq!(client.refresh().unwrap(), 2);
}

/// The directory is removed, and made again: the servers that it has are asked all the time, and new ones are
/// found.
#[test]
fn directory_that_is_made_again_is_looked_at() {
    let place = Place::new("again");
    let (mut server, _, _name) = place.server(1);
    let mut client = place.client();
    assert_eq!(client.refresh().unwrap(), 1);
    std::fs::remove_dir_all(&place.path).unwrap();
    assert_eq!(client.refresh().unwrap(), 1);
    let pending = client.ask(question(0, 0)).unwrap();
    assert_eq!(answer_all(&mut server), 1);
    assert_eq!(pending.recv(), Ok(answer_to(&question(0, 0))));
    let (_next, _, _next_name) = numbered(&Directory::open(&place.path).unwrap(), 1);
    assert_eq!(client.refresh().unwrap(), 2);
    // What is there instead is no directory of ours: `refresh` says so, and its servers are asked.
    std::fs::remove_dir_all(&place.path).unwrap();
    std::fs::write(&place.path, "").unwrap();
    for number in 1..3 {
        let error = client.refresh().unwrap_err();
        assert!(matches!(error.error, FindError::Directory(_)) && error.server.is_empty(), "{error}");
        assert!(client.ask(question(0, number)).is_ok());
    }
    std::fs::remove_file(&place.path).unwrap();
}

/// A server all of whose places are taken is joined when one is free.
#[test]
fn server_without_a_place_is_joined_later() {
    let place = Place::new("places");
    let (_server, places, _name) = place.server(1);
    let mut first = place.client();
    assert_eq!((first.refresh().unwrap(), places.taken()), (1, 1));
    let mut second = place.client();
    let full = second.ask(question(0, 0)).unwrap_err();
    assert!(full.to_string().contains("all places of the 1 servers of \"answers\""), "{full}");
    assert!(matches!(full, NamedAskError::NoServer { without_place: 1, .. }));
    drop(first);
    assert_eq!(second.wait_for_server(Some(LONG)).unwrap(), 1);
    assert!(second.ask(question(0, 0)).is_ok());
}

/// A server in a directory that others may use, as if it were in another container: nobody answers for it
/// until the test does.
struct Silent {
    server: Server<Question, Answer>,
    invitation: Invitation,
    socket: UnixListener,
    _lock: fs::File,
}

impl Silent {
    fn new(directory: &Directory, name: &str) -> Self {
        let Shared { handle: server, invitation, .. } =
            Builder::new(Settings::new(OPEN)).clients(2).build().unwrap();
        let published = invitation.publish(directory, name).unwrap();
        let path = directory.path().join(format!("{name}.ring"));
        let text = fs::read_to_string(&path).unwrap();
        drop(published);
        let namespace = text.lines().find(|line| line.starts_with("namespace ")).unwrap();
        fs::write(&path, text.replace(namespace, "namespace 1")).unwrap();
        let lock = fs::File::open(path).unwrap();
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
        let socket = UnixListener::bind(directory.path().join(format!(".{name}.socket"))).unwrap();
        Self { server, invitation, socket, _lock: lock }
    }

    /// The connection of one question.
    fn asked(&self) -> UnixStream {
        self.socket.accept().unwrap().0
    }
}

/// Verbs wait for servers that do not answer only as long as they may, and go on with the same question.
#[test]
fn server_that_does_not_answer_is_waited_for_by_nobody() {
    let scratch = Place::new("silent");
    let path = scratch.path.join("names");
    let directory = Directory::with_mode(&path, 0o750).unwrap();
    let begun = Instant::now();
    // An answer may take two seconds: on a machine that is slower than that it is tried again.
    loop {
        let attempt = Instant::now();
        let mut silent = [Silent::new(&directory, "answers.0"), Silent::new(&directory, "answers.1")];
        let mut client = NamedClient::<Question, Answer>::new(&directory, "answers").unwrap();
        let waited: Vec<_> =
            [0, 0, 10].map(|timeout| client.wait_for_server(Some(Duration::from_millis(timeout)))).into();
        // Another one answers.
        let (mut server, _, name) = numbered(&directory, 2);
        let open = (0..3).map(|number| {
            thread::sleep(Duration::from_millis(20));
            client.ask(question(0, number))
        });
        let open: Vec<_> = open.collect();
        let is_slow = attempt.elapsed() > Duration::from_secs(1);
        if is_slow {
            assert!(begun.elapsed() < LONG, "it waits for answers");
            drop(name);
            silent.iter().zip(["answers.0", "answers.1"]).for_each(|(_, name)| {
                fs::remove_file(path.join(format!(".{name}.socket"))).unwrap();
            });
            continue;
        }
        for waited in waited {
            let error = waited.unwrap_err().error;
            assert!(matches!(error, FindError::Name(NameError::TimedOut { .. })), "{error}");
        }
        assert_eq!((names(&client), answer_all(&mut server)), (vec!["answers.2".to_string()], 3));
        assert!(open.into_iter().all(|pending| pending.unwrap().recv().is_ok()));
        // The first question is answered, and there was no other one.
        for silent in &silent {
            silent.invitation.send(&silent.asked()).unwrap();
            silent.socket.set_nonblocking(true).unwrap();
        }
        let joined = client.refresh();
        if attempt.elapsed() < Duration::from_secs(2) {
            assert_eq!(joined.unwrap(), 3);
            assert!(silent.iter().all(|silent| silent.socket.accept().is_err()), "they were asked again");
            (0..3).for_each(|number| drop(client.ask(question(1, number)).unwrap()));
            assert_eq!(silent.each_mut().map(|silent| answer_all(&mut silent.server)), [1, 1]);
        }
        break;
    }
}

/// Without any server to ask, a question waits for those that were asked for their descriptors.
#[test]
fn question_waits_for_the_only_server() {
    let scratch = Place::new("only");
    let directory = Directory::with_mode(scratch.path.join("names"), 0o750).unwrap();
    let mut silent = Silent::new(&directory, "answers.0");
    let mut client = NamedClient::<Question, Answer>::new(&directory, "answers").unwrap();
    thread::scope(|scope| {
        let Silent { server, invitation, socket, .. } = &mut silent;
        scope.spawn(|| invitation.send(&socket.accept().unwrap().0).unwrap());
        let pending = client.ask(question(0, 0)).unwrap();
        assert_eq!(answer_all(server), 1);
        assert_eq!(pending.recv(), Ok(answer_to(&question(0, 0))));
    });
}

/// The only server answers late, and is one of other questions.
#[test]
fn question_waits_for_a_server_that_does_not_fit() {
    let scratch = Place::new("late");
    let directory = Directory::with_mode(scratch.path.join("names"), 0o750).unwrap();
    let silent = Silent::new(&directory, "answers.0");
    let other = Builder::new(Settings::new(OPEN)).build::<u8, u64>().unwrap();
    let client = NamedClient::<Question, Answer>::new(&directory, "answers").unwrap();
    let mut client = client.with_wait_strategy(WaitStrategy::block_after(0, 0));
    thread::scope(|scope| {
        scope.spawn(|| other.invitation.send(&silent.asked()).unwrap());
        let error = client.ask(question(0, 0)).unwrap_err();
        assert!(error.to_string().starts_with("the server \"answers.0\" can't be asked: "), "{error}");
    });
    let said = "NamedClient { name: \"answers\", servers: 0, open: 0, .. }";
    assert_eq!((client.name(), format!("{client:?}").as_str()), ("answers", said));
}

/// A name that can't be looked at is told, and the others are asked.
#[test]
fn name_that_is_no_server_is_told() {
    let place = Place::new("in-the-way");
    let (_server, _, _name) = place.server(1);
    fs::create_dir(place.path.join("answers.1.ring")).unwrap();
    let mut client = place.client();
    assert!(client.ask(question(0, 0)).is_ok());
    assert_eq!(names(&client), ["answers.0"]);
    let error = client.refresh().unwrap_err();
    assert_eq!(error.server, "answers.1");
    assert!(matches!(error.error, FindError::Name(_)), "{error}");
}

/// Whatever names it has, and however often it was given one.
#[test]
fn server_is_joined_once() {
    let place = Place::new("once");
    let Shared { handle: _server, peers: places, invitation, .. } =
        Builder::new(Settings::new(OPEN)).clients(4).build::<Question, Answer>().unwrap();
    let publish = || invitation.publish_numbered(&place.directory, "answers").unwrap();
    let mut client = place.client();
    let names = [publish(), publish()];
    assert_eq!((client.refresh().unwrap(), places.taken()), (1, 1));
    assert_eq!((client.refresh().unwrap(), places.taken()), (1, 1));
    drop(names);
    assert_eq!((client.refresh().unwrap(), places.taken()), (1, 1), "it has no name, and is there");
    let _again = publish();
    assert_eq!((client.refresh().unwrap(), places.taken()), (1, 1));
    assert!(client.ask(question(0, 0)).is_ok());
}

/// The names are lowest first, and each number has one form.
#[test]
fn numbered_name_is_found() {
    let place = Place::new("find");
    let none = place.directory.find_numbered("answers").unwrap_err();
    assert!(matches!(none, NameError::NotFound { .. }), "{none}");
    let servers: Vec<_> = (0..11).map(|_| place.server(1)).collect();
    assert_eq!(place.directory.find_numbered("answers").unwrap().name(), "answers.0");
    assert_eq!(servers[10].2.name(), "answers.10");
    let mut client = place.client();
    assert_eq!(client.refresh().unwrap(), 11);
    assert_eq!(names(&client)[9..], ["answers.9", "answers.10"]);
    let too_long = "x".repeat(199);
    let Shared { invitation, .. } = Builder::new(Settings::new(1)).build::<u8, u8>().unwrap();
    let error = invitation.publish_numbered(&place.directory, &too_long).unwrap_err();
    assert!(matches!(error, FindError::Name(NameError::Bad { .. })), "{error}");
    let _alone = invitation.publish(&place.directory, "answers").unwrap();
    assert_eq!(place.directory.find_numbered("answers").unwrap().name(), "answers");
    fs::remove_dir_all(&place.path).unwrap();
    let none = place.directory.find_numbered("answers").unwrap_err();
    assert!(matches!(none, NameError::NotFound { .. }), "{none}");
}

/// Two servers in processes of their own. One is killed with questions open, and another one joins. Each
/// question is answered by the server that it was asked of, or `Died` with it, exactly; none is asked twice.
#[test]
fn server_that_is_killed_takes_its_own_questions_only() {
    let place = Place::new("killed");
    for round in 0..rounds().min(100) {
        let mut holds = place.child("hold-numbered");
        let answers = place.child("serve-numbered");
        let mut client = place.client();
        assert_eq!(client.refresh().unwrap(), 2);
        let mut open: BTreeMap<u64, _> = (0..2 * OPEN as u64)
            .map(|number| (number, client.ask(question(round, number)).unwrap()))
            .collect();
        // The one that answers has half of them.
        let answered: Vec<u64> = wait_for(&mut open, OPEN, |number, told| {
            assert_eq!(told, Ok(answer_to(&question(round, number))));
        });
        assert_eq!(client.open(), OPEN);
        holds.kill();
        let died: Vec<u64> = wait_for(&mut open, OPEN, |_, told| assert_eq!(told, Err(AnswerError::Died)));
        assert_eq!(answered.len() + died.len(), 2 * OPEN);
        // All has been told, so the dead one is asked nothing any more.
        for number in 0..3 * OPEN as u64 {
            let mut pending = client.ask(question(round, number)).unwrap();
            assert_eq!(pending.recv_until(LONG), Ok(answer_to(&question(round, number))));
        }
        assert_eq!(client.servers().count(), 1);
        // Another one comes, under the number of the dead one.
        let next = place.child("serve-numbered");
        assert_eq!(client.refresh().unwrap(), 2);
        let mut found = names(&client);
        found.sort();
        assert_eq!(found, ["answers.0", "answers.1"]);
        drop(answers);
        drop(next);
    }
}

/// Until so many have been told something. Which ones.
fn wait_for(
    open: &mut BTreeMap<u64, PendingAnswer<Answer>>,
    count: usize,
    mut told: impl FnMut(u64, Result<Answer, AnswerError>),
) -> Vec<u64> {
    let (begun, mut done) = (Instant::now(), Vec::new());
    while done.len() < count {
        assert!(begun.elapsed() < LONG, "only {done:?} of {count}");
        open.retain(|&number, pending| match pending.recv_timeout(Duration::from_millis(1)) {
            Err(AnswerError::Empty) => true,
            other => {
                told(number, other);
                done.push(number);
                false
            }
        });
    }
    done
}

/// A server that is stopped keeps what it was asked, and the others go on. It is no dead one.
#[test]
fn server_that_is_stopped_gets_no_more_than_its_room() {
    let place = Place::new("stopped");
    let (stopped, _answers) = (place.child("serve-numbered"), place.child("serve-numbered"));
    let mut client = place.client();
    assert_eq!(client.refresh().unwrap(), 2);
    stopped.stop();
    let mut open = BTreeMap::new();
    let mut next = 0;
    // Half of the first questions go there; then it has no room.
    while open.len() < OPEN || next < 50 {
        match client.ask(question(0, next)) {
            Ok(pending) => {
                open.insert(next, pending);
                next += 1;
            }
            Err(NamedAskError::Full(_)) => {}
            Err(error) => panic!("{error}"),
        }
        open.retain(|&number, pending| match pending.try_recv() {
            Err(AnswerError::Empty) => true,
            told => {
                assert_eq!(told, Ok(answer_to(&question(0, number))));
                false
            }
        });
    }
    assert_eq!(client.servers().count(), 2);
    stopped.signal(Signal::CONT);
    let left = open.len();
    wait_for(&mut open, left, |number, told| assert_eq!(told, Ok(answer_to(&question(0, number)))));
    assert_eq!(client.open(), 0);
}

//! Memory in which another process writes what it likes: no crash, no endless loop, no slot but those of the
//! service.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use annulus::Settings;
use annulus::shm::service::{self, AnswerError, Builder, Client, PendingAnswer, Request, Server};
use annulus::shm::{AttachError, Invitation, Shared, recv_fd};
use proptest::prelude::*;

use crate::scribbler::Scribbler;

const OPEN: usize = 3;
const PLACES: usize = 2;

type Asked = bool;

struct Made {
    server: Server<Asked, bool>,
    client: Client<Asked, bool>,
    open: Vec<PendingAnswer<bool>>,
    kept: Vec<Request<Asked, bool>>,
    /// That of all numbers, and that of the sleepers.
    files: [File; 2],
    invitation: Invitation,
    bytes: u64,
}

fn made() -> Made {
    let builder = Builder::new(Settings::new(OPEN)).clients(PLACES);
    let Shared { handle: server, invitation, .. } = builder.build().unwrap();
    let (here, there) = UnixStream::pair().unwrap();
    invitation.send(&here).unwrap();
    let files = [(); 2].map(|()| File::from(recv_fd(&there).unwrap()));
    let (client, _) = service::client(&invitation).unwrap();
    let bytes = files[0].metadata().unwrap().len();
    Made { server, client, open: Vec::new(), kept: Vec::new(), files, invitation, bytes }
}

/// Numbers at the edges, and any.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        Just(u64::MAX),
        Just(1 << 63),
        (0..40u64),
        (0..40u64).prop_map(|back| u64::MAX - back),
        (0..40u64).prop_map(|back| (1 << 63) - back),
        any::<u64>(),
    ]
}

impl Made {
    /// Every verb returns, and no more is open than there are cells.
    fn verbs(&mut self) {
        let begun = Instant::now();
        for _ in 0..2 * OPEN {
            self.open.extend(self.client.ask(true));
        }
        assert!(self.open.len() <= OPEN && self.client.open() <= OPEN);
        for _ in 0..3 * OPEN * PLACES {
            match self.server.try_recv() {
                Ok(request) if request.client().place() == 0 && *request => self.kept.push(request),
                Ok(request) => drop(request.answer(false)),
                Err(_) => {}
            }
        }
        assert!(self.kept.len() <= OPEN, "one request for each cell: {}", self.kept.len());
        let _ = self.server.recv_timeout(Duration::ZERO);
        let _ = (self.server.len(), self.server.total_corrupt(), self.server.is_closed());
        if self.kept.len() > 1 {
            let request = self.kept.remove(0);
            let _ = (request.is_client_there(), request.answer(true));
        }
        for pending in &mut self.open {
            let _ = pending.try_recv();
            let _ = pending.recv_timeout(Duration::ZERO);
        }
        if self.open.len() > 1 {
            drop(self.open.remove(0));
        }
        // It joins, or there is an error; and it leaves.
        if let Ok((mut client, peer)) = service::client::<Asked, bool>(&self.invitation) {
            let _ = (client.ask(true).map(drop), client.open(), peer.state());
        }
        assert!(begun.elapsed() < Duration::from_secs(60));
    }

    fn write(&self, offset: u64, number: u64) {
        self.files[0].write_all_at(&number.to_ne_bytes(), offset).unwrap();
    }

    /// Where the records begin: behind the lanes, which begin behind the schema.
    fn records(&self) -> u64 {
        let lane = (OPEN * 9).next_multiple_of(128) as u64;
        let slots = crate::slots_of(&self.files[0]);
        (slots + PLACES as u64 * lane).next_multiple_of(128)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Any words, from behind the header to the end.
    #[test]
    fn words_of_any_value_do_no_harm(writes in prop::collection::vec((any::<prop::sample::Index>(), number()), 0..24)) {
        let mut made = made();
        made.verbs();
        let words = (made.bytes - 128) / 8;
        for (word, number) in writes {
            made.write(128 + 8 * word.index(words as usize) as u64, number);
            made.verbs();
        }
    }

    /// Any bytes in the header: a service, or an error.
    #[test]
    fn header_of_any_bytes_does_no_harm(writes in prop::collection::vec((0..16u64, number()), 1..6)) {
        let made = made();
        for (word, number) in writes {
            made.write(8 * word, number);
        }
        if let Ok((mut client, _)) = service::client::<Asked, bool>(&made.invitation) {
            let _ = client.ask(true).map(drop);
        }
    }
}

/// Somebody scribbles all the time: calls return, and deadlines are kept.
#[test]
fn calls_beside_a_scribbler_return() {
    let mut made = made();
    let [ring, page] = made.files.each_ref().map(|file| file.try_clone().unwrap());
    let words = (made.bytes - 128) / 8;
    let scribbler = Scribbler::new(move |number| {
        let value = (number >> (number % 64)).to_ne_bytes();
        ring.write_all_at(&value, 128 + 8 * ((number >> 32) % words)).unwrap();
        let at = (number >> 40) % (128 * PLACES as u64 + 120);
        page.write_all_at(&value, (128 + at) & !7).unwrap();
    });
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(1) {
        made.verbs();
        let _ = made.server.recv_timeout(Duration::from_millis(1));
        for pending in &mut made.open {
            let _ = pending.recv_timeout(Duration::from_millis(1));
        }
    }
    // They are dropped beside it, too.
    drop((made.client, made.open, made.kept, made.server));
    drop(scribbler);
}

/// A question with the number of a cell of another place, of one that is open already, or of none: each is
/// thrown away, and counted. So is what is no question.
#[test]
fn wrong_numbers_are_thrown_away() {
    for number in [0, (OPEN * PLACES) as u64, OPEN as u64, u64::MAX, 1 << 63] {
        let mut made = made();
        made.open.extend(made.client.ask(true));
        made.kept.push(made.server.recv().unwrap());
        made.open.extend(made.client.ask(true));
        // The slots of the lane are packed: a number, and a byte.
        made.write(crate::slots_of(&made.files[0]) + 9, number);
        // Neither a deadline nor a look is missed by it.
        if number % 2 == 0 {
            let late = made.server.recv_timeout(Duration::ZERO).unwrap_err();
            assert_eq!(late, annulus::RecvTimeoutError::Timeout, "{number}");
        }
        assert_eq!(made.server.try_recv().unwrap_err(), annulus::TryRecvError::Empty, "{number}");
        assert_eq!(made.server.total_corrupt(), 1, "{number}");
        made.kept.pop().unwrap().answer(true).unwrap();
        assert_eq!(made.open[0].try_recv(), Ok(true));
        assert_eq!(made.open[1].try_recv(), Err(AnswerError::Empty));
    }
    let mut made = made();
    made.open.extend(made.client.ask(true));
    made.files[0].write_all_at(&[7], crate::slots_of(&made.files[0]) + 8).unwrap();
    assert_eq!(made.server.try_recv().unwrap_err(), annulus::TryRecvError::Empty);
    assert_eq!(made.server.total_corrupt(), 1);
}

/// What is no answer has an error, which says what it is.
#[test]
fn corrupt_answer() {
    let mut made = made();
    let mut pending = made.client.ask(true).unwrap();
    made.server.recv().unwrap().answer(true).unwrap();
    // The last line has the cells: a stamp, and a word.
    let cells = made.bytes - (OPEN * PLACES * 32).next_multiple_of(64) as u64;
    made.files[0].write_all_at(&[9], cells + 8).unwrap();
    let Err(AnswerError::Corrupt(bad)) = pending.try_recv() else { panic!("it is no bool") };
    assert_eq!(bad.number(), 9);
    assert_eq!(AnswerError::Corrupt(bad).to_string(), bad.to_string());
}

/// More questions than the memory has cells for.
#[test]
fn capacity_beyond_the_memory() {
    let made = made();
    let mut header = [0; 64];
    made.files[0].read_exact_at(&mut header, 0).unwrap();
    let word = |at: usize| u64::from_ne_bytes(header[at..at + 8].try_into().unwrap());
    let capacity = word(56);
    let told = |capacity: u64| {
        made.write(24, word(40) + word(48) * capacity);
        made.write(56, capacity);
        service::client::<Asked, bool>(&made.invitation).map(drop)
    };
    assert_eq!(capacity, (OPEN * PLACES) as u64);
    told(capacity).unwrap();
    let more = (capacity..).step_by(PLACES);
    let refused = more.map(told).find_map(Result::err).unwrap();
    let AttachError::Length { found, needed } = refused else { panic!("{refused}") };
    assert!(found == made.bytes && needed > found, "{found} {needed}");
    told(capacity).unwrap();
}

/// What a client before can't have noted refuses the next one. What it can have noted is an upper bound.
#[test]
fn notes_that_cant_be() {
    let made = made();
    let entry = made.records() + 128;
    // (The first place is taken: the next client has the second, whose first cell is number 3.)
    let second = entry + 256;
    for number in [1, 3, 4, u64::MAX, 1 << 63] {
        made.write(second, number);
        let refused = service::client::<Asked, bool>(&made.invitation).map(drop).unwrap_err();
        let is_damage = matches!(refused, AttachError::Damaged { field: "the questions of a place", .. });
        assert!(is_damage, "{number}: {refused}");
    }
    made.write(second, 9);
    let (client, _) = service::client::<Asked, bool>(&made.invitation).unwrap();
    assert_eq!(client.open(), 0, "question 3 was noted, and not sent");
}

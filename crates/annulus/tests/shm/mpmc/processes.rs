//! Producers and consumers that are processes of their own.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::thread;

use annulus::shm::mpmc::{Builder, Queue, Unreceived};
use annulus::shm::{Invitation, PeerState, WhenGone};
use annulus::{TrySendError, WaitStrategy};
use rustix::process::Signal;

use super::{Job, LONG, consumer, job, made, of_slots, producer, read};
use crate::process::{Child, moment, rounds};

/// What a child says of a message: its producer, its number, and how often it was given before.
type Told = [u64; 3];

/// A process in this role, which has joined.
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

/// All that it says, to its end.
fn all_told<const WORDS: usize>(mut socket: UnixStream) -> Vec<[u64; WORDS]> {
    let mut bytes = Vec::new();
    let _ = socket.read_to_end(&mut bytes);
    // (What it was just saying when it was killed may be cut off.)
    let said = bytes.chunks_exact(8 * WORDS);
    said.map(|chunk| {
        std::array::from_fn(|word| u64::from_ne_bytes(chunk[8 * word..][..8].try_into().unwrap()))
    })
    .collect()
}

/// What becomes of a child.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Killed,
    Stopped,
    Lives,
}

/// Sends so many messages beside consumers of these fates and one of this process. Returns the receipts of
/// all.
fn one_round(
    builder: Builder,
    role: &str,
    fates: [Fate; 2],
    round: u64,
    count: u64,
) -> (Queue<Job>, Vec<Told>) {
    let (queue, invitation) = made(builder.when_no_producer(WhenGone::Close).consumers(4));
    let mut sender = producer(&invitation);
    let mut children = fates.map(|_| guest(role, &invitation));
    let mut own = consumer(&invitation);
    let mut receipts = Vec::new();
    thread::scope(|scope| {
        let listening: Vec<_> = children
            .iter()
            .map(|child| {
                let socket = child.socket.try_clone().unwrap();
                scope.spawn(move || all_told::<3>(socket))
            })
            .collect();
        let sending = scope.spawn(move || (0..count).for_each(|number| sender.send(job(0, number)).unwrap()));
        let receiving = scope.spawn(move || {
            let mut receipts = Vec::new();
            while let Ok(claimed) = own.claim() {
                let (from, number) = read(&claimed);
                receipts.push([from, number, claimed.given_before()]);
                claimed.done();
            }
            receipts
        });
        for (at, (child, fate)) in (0..).zip(children.iter_mut().zip(fates)) {
            thread::sleep(moment(2 * round + at) / 4);
            match fate {
                Fate::Killed => child.kill(),
                Fate::Stopped => child.stop(),
                Fate::Lives => {}
            }
        }
        // Those that are stopped hold up nobody.
        sending.join().unwrap();
        for (child, fate) in children.iter().zip(fates) {
            if fate == Fate::Stopped {
                child.signal(Signal::CONT);
            }
        }
        receipts.extend(receiving.join().unwrap());
        for child in &children {
            child.socket.shutdown(Shutdown::Write).unwrap();
        }
        for told in listening {
            receipts.extend(told.join().unwrap());
        }
    });
    (queue, receipts)
}

/// Consumers are killed and stopped at any moment, while they hold messages, give some back, and look after
/// each other. Each message is received; again only if it was given again; and the count of that is exact.
#[test]
fn workers_that_are_killed() {
    const FATES: [[Fate; 2]; 4] = [
        [Fate::Killed, Fate::Killed],
        [Fate::Killed, Fate::Lives],
        [Fate::Stopped, Fate::Killed],
        [Fate::Stopped, Fate::Lives],
    ];
    for round in 0..rounds() {
        let fates = FATES[round as usize % 4];
        let slots = [8, 9, 64, 4096][(round / 4) as usize % 4];
        let count = 2000;
        let (queue, receipts) = one_round(of_slots(slots).producers(1), "work", fates, round, count);
        let mut given = BTreeMap::<u64, BTreeSet<u64>>::new();
        for [from, number, before] in receipts {
            let is_new = given.entry(number).or_default().insert(before);
            assert!(from == 0 && is_new, "{number} twice, {before}: round {round}");
        }
        assert_eq!(given.len() as u64, count, "round {round}");
        // The last time that each was given.
        let again: u64 = given.values().map(|before| before.last().unwrap()).sum();
        assert_eq!((queue.given_again(), queue.dropped()), (again, 0), "round {round}, {fates:?}");
        let killed = fates.iter().filter(|&&fate| fate == Fate::Killed).count() as u64;
        assert_eq!((queue.consumers().died(), queue.len()), (killed, 0));
    }
}

/// Consumers that receive at once are killed: no message is received twice. What they had claimed, and not
/// received, is dropped, or given again.
#[test]
fn receivers_that_are_killed() {
    for round in 0..rounds() {
        let policy = [Unreceived::Drop, Unreceived::GiveAgain][round as usize % 2];
        let builder = of_slots(16).producers(1).unreceived(policy);
        let fates = [Fate::Killed, [Fate::Killed, Fate::Stopped][round as usize / 2 % 2]];
        let (queue, receipts) = one_round(builder, "receive", fates, round, 2000);
        let received = receipts.len() as u64;
        let numbers: BTreeSet<_> = receipts.iter().map(|[_, number, _]| *number).collect();
        assert_eq!(numbers.len() as u64, received, "twice: round {round}");
        // Each that is killed may have received one that it did not say.
        let missing = 2000 - received - queue.dropped();
        assert!(missing <= 2, "{missing} are missing in round {round}, {policy:?}");
        assert!(queue.dropped() <= 2 && (policy == Unreceived::Drop || queue.dropped() == 0));
        assert!(queue.given_again() <= 2 && (policy == Unreceived::GiveAgain || queue.given_again() == 0));
    }
}

/// What a dead consumer held is dropped, and counted exactly.
#[test]
fn held_messages_are_dropped() {
    for round in 0..rounds().min(200) {
        let builder = of_slots(8).unreceived(Unreceived::Drop).when_no_producer(WhenGone::Close);
        let (queue, invitation) = made(builder);
        let mut sender = producer(&invitation);
        (0..6).for_each(|number| sender.send(job(0, number)).unwrap());
        let mut child = guest("hold 4", &invitation);
        let mut own = consumer(&invitation);
        child.kill();
        drop(sender);
        assert_eq!([own.recv(), own.recv()], [Ok(job(0, 4)), Ok(job(0, 5))]);
        assert!(own.recv().is_err(), "{round}");
        assert_eq!((queue.given_again(), queue.dropped(), queue.consumers().died()), (0, 4, 1));
    }
}

/// A thread that sleeps, and a task, have the message of a consumer that is killed.
#[test]
fn sleepers_are_told_of_a_death() {
    for round in 0..rounds().min(100) {
        let (queue, invitation) = made(of_slots(4));
        let invitation = invitation.with_wait_strategy(WaitStrategy::block_after(0, 0));
        let mut sender = producer(&invitation);
        sender.send(job(0, round)).unwrap();
        let mut child = guest("hold 1", &invitation);
        let mut own = consumer(&invitation);
        let killer = thread::spawn(move || {
            thread::sleep(moment(round));
            child.kill();
        });
        #[cfg(feature = "async")]
        let received = if round % 2 == 0 { pollster::block_on(own.claim_async()) } else { own.claim() };
        #[cfg(not(feature = "async"))]
        let received = own.claim();
        let received = received.unwrap();
        assert_eq!((*received, received.given_before()), (job(0, round), 1));
        received.done();
        killer.join().unwrap();
        assert_eq!(queue.given_again(), 1);
    }
}

/// The next consumer in the place of a dead one has what that one held.
#[test]
fn next_consumer_has_what_the_dead_one_held() {
    let (queue, invitation) = made(of_slots(4).consumers(1));
    let mut sender = producer(&invitation);
    for round in 0..rounds().min(200) {
        (0..3).for_each(|number| sender.send(job(round, number)).unwrap());
        let mut child = guest("hold 3", &invitation);
        assert_eq!(sender.try_send(job(9, 9)), Ok(()));
        assert_eq!(sender.try_send(job(9, 9)), Err(TrySendError::Full(job(9, 9))));
        child.kill();
        assert_eq!((queue.consumers().taken(), queue.consumers().state()), (0, PeerState::Dead));
        let mut next = consumer(&invitation);
        let all: BTreeSet<_> = (0..4).map(|_| next.try_recv().unwrap()).collect();
        assert_eq!(all, BTreeSet::from([job(round, 0), job(round, 1), job(round, 2), job(9, 9)]));
        assert_eq!((queue.given_again(), queue.consumers().died()), (3 * (round + 1), round + 1));
    }
}

/// Producers are killed and stopped at any moment: all that they had sent is received, once, in order, and
/// the next one in the place goes on behind it. Another one is not held up.
#[test]
fn producers_that_are_killed() {
    for round in 0..rounds() {
        let (queue, invitation) = made(of_slots(4).producers(2).when_no_producer(WhenGone::Close));
        let mut other = producer(&invitation);
        let mut receivers = [consumer(&invitation), consumer(&invitation)];
        let mut child = guest("send 1", &invitation);
        let (mut said, mut received) = (Vec::new(), Vec::new());
        thread::scope(|scope| {
            let receiving: Vec<_> = receivers
                .iter_mut()
                .map(|receiver| scope.spawn(move || receiver.into_iter().collect::<Vec<_>>()))
                .collect();
            for incarnation in 1..=2 {
                let socket = child.socket.try_clone().unwrap();
                let listening = scope.spawn(move || all_told::<1>(socket));
                thread::sleep(moment(round + incarnation) / 4);
                if round % 2 == 0 {
                    child.stop();
                    (0..20).for_each(|_| other.send_timeout(job(0, 0), LONG).unwrap());
                }
                child.kill();
                said.push((incarnation, listening.join().unwrap().len() as u64));
                if incarnation == 1 {
                    child = guest("send 2", &invitation);
                }
            }
            drop(other);
            received.extend(receiving.into_iter().map(|receiving| receiving.join().unwrap()));
        });
        for (from, sent) in said {
            let of: Vec<Vec<u64>> = received
                .iter()
                .map(|all| all.iter().filter(|job| job[0] == from).map(|job| read(job).1).collect())
                .collect();
            assert!(of.iter().all(|numbers: &Vec<u64>| numbers.is_sorted()));
            let mut all = of.concat();
            all.sort_unstable();
            // One more may be sent, and not be said.
            assert!([sent, sent + 1].contains(&(all.len() as u64)), "{} of {sent}", all.len());
            assert!(all.iter().copied().eq(0..all.len() as u64), "each once");
        }
        assert_eq!((queue.producers().died(), queue.given_again(), queue.len()), (2, 0, 0));
    }
}

/// When all consumers have died, producers are told, or wait for the next one.
#[test]
fn queue_whose_consumers_die_ends_or_waits() {
    for round in 0..rounds().min(100) {
        let policy = [WhenGone::Close, WhenGone::Wait][round as usize % 2];
        let (queue, invitation) = made(of_slots(2).when_no_consumer(policy));
        let mut sender = producer(&invitation);
        let mut child = guest("receive", &invitation);
        let killer = thread::spawn(move || {
            thread::sleep(moment(round) / 4);
            child.kill();
            child
        });
        let sending = thread::spawn(move || {
            let count = (0..u64::MAX).take_while(|&number| sender.send(job(0, number)).is_ok()).count();
            (count, sender)
        });
        drop(killer.join().unwrap());
        if policy == WhenGone::Wait {
            let mut next = consumer(&invitation);
            assert!((0..10).all(|_| next.recv_timeout(LONG).is_ok()));
            queue.close();
        }
        let (_, sender) = sending.join().unwrap();
        assert!(sender.is_closed() && queue.is_closed(), "{policy:?}");
    }
}

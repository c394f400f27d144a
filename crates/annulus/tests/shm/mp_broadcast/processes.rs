//! Publishers that are processes of their own.

use std::array;
use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use annulus::broadcast::{Foreign, Subscriber};
use annulus::shm::WhenGone;
use annulus::shm::{Invitation, PeerState, Shared, send_fd};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::Signal;

use crate::mp_broadcast::child::Large;
use crate::mp_broadcast::{Memory, Payload, check, joined, payload, ring};
use crate::process::{Child, moment, rounds};

/// A process that publishes, and the file where it says how many messages.
fn publishing(sender: u64, invitation: &Invitation) -> (Child, File) {
    let child = Child::new(&format!("publish {sender}"));
    let said = File::from(memfd_create("said", MemfdFlags::CLOEXEC).unwrap());
    said.set_len(8).unwrap();
    invitation.send(&child.socket).unwrap();
    send_fd(&child.socket, said.as_fd()).unwrap();
    heard(&child);
    (child, said)
}

/// Until it has said something.
pub(crate) fn heard(child: &Child) {
    (&child.socket).read_exact(&mut [0]).unwrap();
}

fn number_in(said: &File) -> u64 {
    let mut word = [0; 8];
    said.read_exact_at(&mut word, 0).unwrap();
    u64::from_ne_bytes(word)
}

/// Each message is whole, and comes once, and in the order of its publisher. At the end, all are received or
/// counted.
fn receive_all(mut subscriber: Subscriber<Payload, Foreign>) -> u64 {
    let first = subscriber.cursor();
    let mut next = std::collections::HashMap::new();
    while let Ok(message) = subscriber.recv() {
        check(&message);
        let next = next.entry(message[0]).or_insert(0);
        assert!(message[1] >= *next, "{} of {} comes after {next}", message[1], message[0]);
        *next = message[1] + 1;
    }
    assert_eq!(subscriber.total_received() + subscriber.total_lagged(), subscriber.cursor() - first);
    subscriber.cursor()
}

/// One of three publishers is killed at any moment. All that it had published is there, and the others and
/// the subscribers go on.
#[test]
fn publishers_that_are_killed() {
    const OWN: u64 = u64::MAX;
    let Shared { handle: mut own, peers: places, invitation, .. } = ring(256, 4).build::<Payload>().unwrap();
    let accepted = invitation.accept::<Payload>().unwrap();
    let reader = {
        let subscriber = accepted.subscribable().subscribe();
        thread::spawn(move || receive_all(subscriber))
    };
    let memory = Memory::of(&invitation);
    let (mut numbers, mut inside) = (0.., 0);
    let (survivor, said_by_survivor) = publishing(OWN - 1, &invitation);
    for round in 0..rounds() {
        let (mut child, said) = publishing(round, &invitation);
        assert_eq!((places.taken(), places.died()), (3, round));
        let is_over = Arc::new(AtomicBool::new(false));
        let killer = {
            let is_over = Arc::clone(&is_over);
            thread::spawn(move || {
                thread::sleep(moment(round));
                child.kill();
                is_over.store(true, Ordering::Release);
            })
        };
        while !is_over.load(Ordering::Acquire) {
            own.publish(payload(OWN, numbers.next().unwrap()));
        }
        killer.join().unwrap();
        assert_eq!((places.taken(), places.died(), places.joined()), (2, round + 1, round + 3));
        inside += u64::from(memory.open_claim_of(2).is_some());
        // The survivor goes on, while this one does, too.
        let before = number_in(&said_by_survivor);
        while number_in(&said_by_survivor) < before + 300 {
            own.publish(payload(OWN, numbers.next().unwrap()));
        }
        // It stands still, so what is left can be read at leisure.
        survivor.stop();
        let late = invitation.accept::<Payload>().unwrap();
        let mut late = late.subscribable().subscribe_from_oldest();
        // Of the last ring of numbers. (Of the one before, some may stand whose slots are claimed.)
        let oldest = memory.word(128) - 256;
        let mut left = Vec::new();
        while let Some(message) = late.try_iter().next() {
            left.extend((late.cursor() > oldest).then_some(message));
        }
        let of =
            |sender: u64| left.iter().filter(move |message| message[0] == sender).map(|message| message[1]);
        for sender in [OWN, OWN - 1, round] {
            let numbers: Vec<_> = of(sender).collect();
            assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1), "{sender} lacks one: {numbers:?}");
        }
        // What the dead one had published is there, if anything is left of it.
        assert!(
            of(round).next_back().is_none_or(|last| last + 1 >= number_in(&said)),
            "its last ones are missing"
        );
        survivor.signal(Signal::CONT);
    }
    own.close();
    let end = reader.join().unwrap();
    assert_eq!(accepted.state(), PeerState::Closed);
    assert!(end <= own.published());
    eprintln!("{} processes were killed, {inside} of them inside a publish", rounds());
}

/// The same in rings that are smaller than the batches: once the other one is dead, a batch is published to
/// its last message, and everything that was claimed is received or counted.
#[test]
fn publishers_of_small_rings_that_are_killed() {
    const OWN: u64 = u64::MAX;
    for capacity in [2, 3, 8, 16] {
        let Shared { handle: mut own, peers: places, invitation, .. } =
            ring(capacity, 3).build::<Payload>().unwrap();
        let accepted = invitation.accept::<Payload>().unwrap();
        let reader = {
            let subscriber = accepted.subscribable().subscribe();
            thread::spawn(move || receive_all(subscriber))
        };
        let mut numbers = 0..;
        let mut batch = || -> [Payload; 70] { array::from_fn(|_| payload(OWN, numbers.next().unwrap())) };
        for round in 0..rounds().min(10) {
            let (mut child, said) = publishing(round, &invitation);
            let before = number_in(&said);
            while number_in(&said) < before + 1_000 {
                let begun = own.published();
                own.publish_batch(&batch());
                assert!(own.published() - begun >= 70, "each message has a number");
            }
            child.kill();
            assert_eq!(places.taken(), 1);
            let last = batch();
            own.publish_batch(&last);
            let mut late = accepted.subscribable().subscribe_from_oldest();
            // (The slot of the dead may be passed over until the kernel is asked again. What was passed over
            // is seen a moment later.)
            let mut left = Vec::new();
            while late.cursor() < own.published() {
                left.extend(late.try_recv().ok());
            }
            assert!(!left.is_empty() && last.ends_with(&left), "{capacity}: {left:?}");
        }
        own.close();
        assert_eq!(reader.join().unwrap(), own.published());
    }
}

/// A publisher is killed in the middle of the copy of a large message, again and again: each time its message
/// alone is lost.
#[test]
fn publishers_that_are_killed_inside_a_write() {
    let Shared { handle: mut own, invitation, .. } = ring(64, 2).build::<Large>().unwrap();
    let ring = invitation.accept::<Large>().unwrap();
    let memory = Memory::of(&invitation);
    for round in 0..6 {
        // So far behind that, only its own messages are in the ring.
        let behind = own.published() + 64;
        let mut child = Child::new(&format!("publish-large {round}"));
        invitation.send(&child.socket).unwrap();
        heard(&child);
        let claimed = loop {
            child.stop();
            if let Some(message) = memory.open_claim_of(1).filter(|&message| message > behind) {
                break message;
            }
            child.signal(Signal::CONT);
        };
        // From here on it is the last one.
        child.kill();
        assert_eq!(memory.open_claim_of(1), Some(claimed));
        let mut subscriber = ring.subscribable().subscribe_from_oldest();
        let long = Duration::from_secs(60);
        let whole = |subscriber: &mut Subscriber<Large, Foreign>| {
            let message = subscriber.recv_timeout(long).unwrap();
            assert!(message.iter().all(|word| *word == message[0]), "torn");
            message[0]
        };
        while subscriber.cursor() < claimed {
            assert!(whole(&mut subscriber) >> 32 <= round);
        }
        assert_eq!(subscriber.cursor(), claimed);
        let lagged = subscriber.total_lagged();
        (0..3).for_each(|number| own.publish([1 << 40 | number; 2000]));
        assert_eq!([(); 3].map(|()| whole(&mut subscriber)), [0, 1, 2].map(|number| 1 << 40 | number));
        assert_eq!((subscriber.total_lagged(), subscriber.cursor()), (lagged + 1, own.published()));
        // The whole ring, and its slot, once more. Half of the rounds leave that to the next process.
        if round % 2 == 0 {
            (0..64).for_each(|number| own.publish([number; 2000]));
            assert_eq!((subscriber.try_iter().count(), subscriber.total_lagged()), (64, lagged + 1));
        }
    }
}

/// A publisher that is stopped inside a write: the others go on, and so do subscribers, a ring later.
#[test]
fn a_publisher_that_is_stopped_inside_a_write() {
    let Shared { handle: mut own, peers: places, invitation, .. } = ring(8, 2).build::<Large>().unwrap();
    let memory = Memory::of(&invitation);
    let child = Child::new("publish-large 1");
    invitation.send(&child.socket).unwrap();
    heard(&child);
    let claimed = loop {
        child.stop();
        if let Some(message) = memory.open_claim_of(1) {
            break message;
        }
        child.signal(Signal::CONT);
    };
    let ring = invitation.accept::<Large>().unwrap();
    let mut subscriber = ring.subscribable().subscribe();
    assert_eq!(subscriber.cursor(), claimed);
    (0..100).for_each(|number| own.publish([number; 2000]));
    // 7 slots of each 8 numbers.
    assert_eq!(own.published(), claimed + 1 + 100 + 100 / 7);
    assert_eq!(memory.open_claim_of(1), Some(claimed), "nobody takes it from who lives");
    let last = subscriber.recv_timeout(Duration::from_secs(60)).unwrap()[0];
    let left: Vec<_> = subscriber.try_iter().map(|message| message[0]).collect();
    assert!(last > 90 && left.last() == Some(&99), "{last} {left:?}");
    assert_eq!((places.taken(), places.died()), (2, 0));
    child.signal(Signal::CONT);
    let long = Duration::from_secs(60);
    while subscriber.recv_timeout(long).unwrap()[0] >> 32 != 1 {}
}

/// The process that made the ring dies. The others go on, and a subscriber does not end.
#[test]
fn creator_is_killed() {
    let mut child = Child::new("make 64");
    let invitation = Invitation::receive(&child.socket).unwrap();
    let ring = invitation.accept::<Payload>().unwrap();
    let mut subscriber = ring.subscribable().subscribe();
    check(&subscriber.recv().unwrap());
    let mut own = joined::<Payload>(&invitation);
    child.kill();
    own.publish(payload(1, 0));
    while subscriber.recv_timeout(Duration::from_secs(60)).unwrap() != payload(1, 0) {}
    let mut next = joined::<Payload>(&invitation);
    assert_eq!((own.place(), next.place()), (1, 0));
    next.publish(payload(2, 0));
    assert_eq!(subscriber.recv(), Ok(payload(2, 0)));
    assert_eq!(ring.state(), PeerState::Alive);
}

/// A ring that ends with its publishers ends when the last one dies, behind all that was published.
#[test]
fn ring_whose_publishers_die_ends() {
    for _ in 0..3 {
        let builder = ring(1 << 12, 4).when_no_publisher(WhenGone::Close);
        let Shared { handle: own, peers: places, invitation, .. } = builder.build::<Payload>().unwrap();
        let ring = invitation.accept::<Payload>().unwrap();
        let reader = {
            let subscriber = ring.subscribable().subscribe();
            thread::spawn(move || receive_all(subscriber))
        };
        let mut children = [0, 1].map(|sender| publishing(sender, &invitation));
        drop(own);
        for (child, _) in &mut children {
            child.kill();
        }
        let end = reader.join().unwrap();
        let memory = Memory::of(&invitation);
        assert!(end <= memory.word(128) + 1 && end + 2 >= memory.word(128), "{end}");
        assert_eq!((places.taken(), places.died(), ring.state()), (0, 2, PeerState::Dead));
    }
}

//! What an observer sees: how far the publishers are, and whether one is there.

use annulus::Settings as Ring;
use annulus::shm::WhenGone;
use annulus::shm::mp_broadcast::Builder;
use annulus::shm::{Directory, PeerState, RingObserver, Shared, ShmKind};

use crate::mp_broadcast::by_hand::{Hand, Step};
use crate::mp_broadcast::{Memory, joined, ring};
use crate::shared::directory;

fn observer(directory: &Directory) -> RingObserver {
    RingObserver::of(&directory.find("ring").unwrap()).unwrap()
}

/// The number of messages is that which each publisher says, after each message of some laps.
#[test]
fn messages_count_at_once() {
    let (_scratch, directory) = directory();
    for (capacity, first) in [(2, 0), (3, 7), (200, 1 << 40)] {
        let builder = Builder::new(Ring::new(capacity).first(first)).publishers(2);
        let Shared { handle: mut own, invitation, .. } = builder.build::<u64>().unwrap();
        let mut other = joined::<u64>(&invitation);
        let name = invitation.publish(&directory, "ring").unwrap();
        let observer = observer(&directory);
        let info = observer.info();
        assert_eq!((info.kind(), info.capacity(), info.start()), (ShmKind::MpLossy, capacity, first));
        for number in 0..300 {
            let numbers = observer.numbers().unwrap();
            assert_eq!((numbers.published, numbers.pending, numbers.readers.len()), (number, None, 0));
            if number % 2 == 0 {
                own.publish(number);
            } else {
                other.publish(number);
            }
            assert_eq!(own.published(), number + 1);
        }
        own.close();
        assert_eq!((observer.numbers().unwrap().published, observer.state()), (300, PeerState::Closed));
        drop(name);
    }
}

/// Whole messages that are in the ring, and no other ones: none of a publisher that has claimed one, or is in
/// the middle of it.
#[test]
fn observer_reads_whole_messages() {
    let (_scratch, directory) = directory();
    for step in Step::ALL {
        let Shared { handle: mut own, invitation, .. } = ring(4, 3).build::<u64>().unwrap();
        let _name = invitation.publish(&directory, "ring").unwrap();
        let observer = observer(&directory);
        let message = |number: u64| {
            let mut bytes = vec![9];
            let is_there = observer.read(number, &mut bytes);
            assert_eq!(bytes.len(), if is_there { 8 } else { 0 });
            is_there.then(|| u64::from_ne_bytes(bytes.try_into().unwrap()))
        };
        (100..102).for_each(|number| own.publish(number));
        let hand = Hand::at(step, &invitation);
        assert_eq!([0, 1, 2, 3].map(message), [Some(100), Some(101), None, None], "{step:?}");
        // As publishers say it: the message counts from where the head is past it.
        assert_eq!(observer.numbers().unwrap().published, own.published(), "{step:?}");
        let is_claimed = step >= Step::Claimed;
        if is_claimed {
            hand.goes_on(102);
        } else {
            own.publish(102);
        }
        assert_eq!(message(2), Some(102), "{step:?}");
        own.publish(103);
        assert_eq!([0, 3, 4].map(message), [Some(100), Some(103), None], "{step:?}");
        own.publish(104);
        assert_eq!([0, 4, u64::MAX].map(message), [None, Some(104), None], "{step:?}");
    }
}

/// It is alive as long as one publisher is, whichever; a close counts more.
#[test]
fn one_publisher_is_enough() {
    let (_scratch, directory) = directory();
    for policy in [WhenGone::Wait, WhenGone::Close] {
        let Shared { handle: first, invitation, .. } =
            ring(8, 3).when_no_publisher(policy).build::<u64>().unwrap();
        let name = invitation.publish(&directory, "ring").unwrap();
        let observer = observer(&directory);
        assert_eq!(observer.state(), PeerState::Alive);
        let [second, third] = [(); 2].map(|()| joined::<u64>(&invitation));
        drop((first, second));
        assert_eq!((third.place(), observer.state()), (2, PeerState::Alive), "the last place has one");
        drop(third);
        let end = if policy == WhenGone::Close { PeerState::Closed } else { PeerState::Dead };
        assert_eq!(observer.state(), end);
        if policy == WhenGone::Wait {
            let next = joined::<u64>(&invitation);
            assert_eq!(observer.state(), PeerState::Alive);
            next.close();
            assert_eq!(observer.state(), PeerState::Closed);
        }
        drop(name);
    }
}

/// Any numbers, where the head and the end are: numbers that can be.
#[test]
fn numbers_that_can_be() {
    let (_scratch, directory) = directory();
    let Shared { handle: mut own, invitation, .. } = ring(4, 3).build::<u64>().unwrap();
    let _name = invitation.publish(&directory, "ring").unwrap();
    let (observer, memory) = (observer(&directory), Memory::of(&invitation));
    (0..6).for_each(|number| own.publish(number));
    let edges = [0, 1, 5, 7, 1 << 63, 1 << 63 | 6, (1 << 63) - 1, u64::MAX];
    for head in edges {
        for end in edges {
            memory.put(128, head);
            memory.put(256, end);
            let numbers = observer.numbers().unwrap();
            assert!(numbers.published <= 1 << 63, "{head} {end}: {numbers:?}");
            assert_eq!(observer.state() == PeerState::Closed, end != 0);
            _ = observer.read(head, &mut Vec::new());
        }
    }
}

//! Frames of another machine: under their numbers, and what is lost is counted exactly.

use std::thread;
use std::time::Duration;

use annulus::Settings;
use annulus::shm::frames::{self, FrameError, Publisher, Subscriber};
use annulus::shm::{Invitation, PeerState, PublishedName, Shared, WhenGone, mp_broadcast, mpmc, spsc};
use annulus_zenoh::{Bridge, Direction, RouteState, WhenDown};

use crate::common::{Link, Machine, PATIENCE, is_open, listens_at, route, until, until_route};

fn publish(machine: &Machine, builder: frames::Builder) -> (Publisher, PublishedName) {
    let Shared { handle, invitation, .. } = builder.build().unwrap();
    let name = invitation.publish(&machine.directory(), "images").unwrap();
    (handle, name)
}

/// The frame of this number: its length and its bytes follow from it.
fn frame(number: u64) -> Vec<u8> {
    let len = (number * 379 % 3000) as usize;
    (0..len).map(|at| (number as usize + at) as u8).collect()
}

fn accept(machine: &Machine) -> frames::AcceptedFrames {
    let invitation = Invitation::wait_for(&machine.directory(), "images", Some(PATIENCE)).unwrap();
    invitation.accept_frames().unwrap()
}

/// Reads to the end: each frame is the one of its number. Returns how many came, and how many were lost.
fn read_to_the_end(subscriber: &mut Subscriber) -> (u64, u64) {
    let mut received = 0;
    loop {
        match subscriber.recv_timeout(PATIENCE) {
            Ok(found) => {
                assert!(found.to_vec() == frame(found.sequence()), "frame {}", found.sequence());
                received += 1;
            }
            Err(FrameError::Closed) => return (received, subscriber.total_lagged()),
            Err(error) => panic!("{error} after frame {}", subscriber.cursor()),
        }
    }
}

#[test]
fn frames_are_there_on_the_other_machine() {
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    // (Messages may wait for each other. A frame goes alone.)
    let config = a.config().carry("*").linger(Duration::from_millis(20)).listen("tcp/127.0.0.1:0");
    let near = Bridge::open(config).unwrap();
    let far = b.connected(listens_at(&near));
    let large = 600_000;
    let builder = frames::Builder::new(Settings::new(16), large).subscribers(3).held(5).alignment(4096);
    let (mut publisher, name) = publish(&a, builder.of::<[f32; 3]>());
    (0..8).for_each(|number| assert_eq!(publisher.publish(&frame(number)), Ok(number)));
    let ring = accept(&b);
    let settings = (ring.frame_bytes(), ring.most_held(), ring.most_subscribers(), ring.frame_alignment());
    assert_eq!(settings, (large, 5, 3, 4096));
    let ring = ring.of::<[f32; 3]>().unwrap();
    let mut subscriber = ring.subscribe_from_oldest().unwrap();
    let start = subscriber.cursor();
    assert!(start <= 8, "{start}");
    // (The first is empty, and comes as all others.)
    for number in start..8 {
        let found = subscriber.recv_timeout(PATIENCE).unwrap();
        assert!((found.sequence(), found.to_vec()) == (number, frame(number)), "{number}");
    }
    assert_eq!(publisher.publish(&[]), Ok(8));
    assert_eq!(publisher.publish(&vec![9; large]), Ok(9));
    let found = [subscriber.recv_timeout(PATIENCE).unwrap(), subscriber.recv_timeout(PATIENCE).unwrap()];
    assert_eq!(found.each_ref().map(|found| (found.sequence(), found.len())), [(8, 0), (9, large)]);
    assert!(found[1].to_vec().iter().all(|byte| *byte == 9));
    drop((publisher, name));
    assert_eq!(subscriber.recv_timeout(PATIENCE).unwrap_err(), FrameError::Closed);
    assert_eq!((subscriber.total_lagged(), ring.state()), (0, PeerState::Closed));
    for (bridge, direction) in [(&near, Direction::Out), (&far, Direction::In)] {
        until_route(bridge, direction, "images", |route| route.state == RouteState::Ended);
    }
    let counted = route(&far, Direction::In, "images").unwrap();
    assert_eq!((counted.kind.as_str(), counted.messages, counted.next), ("frames", 10 - start, 10));
    let bytes: usize = (start..8).map(|number| frame(number).len()).sum();
    assert_eq!(counted.bytes, (bytes + large) as u64);
}

#[test]
fn frame_comes_or_is_counted_although_the_link_is_cut() {
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    let (_near, at) = a.listening();
    let link = Link::to(at);
    let far = b.connected(link.address);
    let (mut publisher, name) = publish(&a, frames::Builder::new(Settings::new(8), 3000));
    publisher.publish(&frame(0)).unwrap();
    let mut subscriber = accept(&b).subscribe_from_oldest().unwrap();
    let start = subscriber.cursor();
    let reader = thread::spawn(move || read_to_the_end(&mut subscriber));
    let (mut next, cuts) = (1, 3);
    for _ in 0..cuts {
        link.cut();
        until("it is seen", || !is_open(&far, Direction::In, "images"));
        // (The ring keeps eight of these.)
        for _ in 0..50 {
            assert_eq!(publisher.publish(&frame(next)), Ok(next));
            next += 1;
        }
        link.mend();
        until_route(&far, Direction::In, "images", |route| {
            route.state == RouteState::Open && route.next == next
        });
    }
    drop((name, publisher));
    let (received, lagged) = reader.join().unwrap();
    assert_eq!(received + lagged, next - start, "{received} {lagged}");
    assert!(lagged >= cuts * 40, "fifty at once in a ring of 8: {lagged}");
    until_route(&far, Direction::In, "images", |route| route.messages + route.lagged == next - start);
}

/// Without loss: what was published while the link was cut comes, too.
#[test]
fn reliable_frames_are_sent_again() {
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    let (far, at) = b.listening();
    let link = Link::to(at);
    let config = a.config().carry("*").reliable(true).when_down(WhenDown::Hold);
    let near = Bridge::open(config.connect(&format!("tcp/{}", link.address))).unwrap();
    let (mut publisher, name) = publish(&a, frames::Builder::new(Settings::new(256), 3000));
    publisher.publish(&frame(0)).unwrap();
    let mut subscriber = accept(&b).subscribe_from_oldest().unwrap();
    assert_eq!(subscriber.cursor(), 0);
    link.cut();
    until("it is seen", || !is_open(&far, Direction::In, "images"));
    (1..100).for_each(|number| assert_eq!(publisher.publish(&frame(number)), Ok(number)));
    until_route(&near, Direction::Out, "images", |route| route.messages == 100);
    link.mend();
    drop((name, publisher));
    assert_eq!(read_to_the_end(&mut subscriber), (100, 0));
}

#[test]
fn ring_that_stays_on_its_machine_is_told_by_its_kind() {
    let a = Machine::new("a");
    let (near, _) = a.listening();
    let directory = a.directory();
    let builder = || frames::Builder::new(Settings::new(4), 100);
    let lossless = builder().build_lossless().unwrap();
    let queue = spsc::producer::<u64>(Settings::new(4), WhenGone::Close).unwrap();
    let several = mp_broadcast::Builder::new(Settings::new(4)).build_lossless::<u64>(2).unwrap();
    let many = mpmc::Builder::new(Settings::new(4)).build::<u64>().unwrap();
    let _names = [
        lossless.invitation.publish(&directory, "frames").unwrap(),
        queue.invitation.publish(&directory, "queue").unwrap(),
        several.invitation.publish(&directory, "several").unwrap(),
        many.invitation.publish(&directory, "many").unwrap(),
    ];
    for (name, kind, why) in [
        ("frames", "lossless broadcast ring of frames", "would have to for others"),
        ("queue", "queue of one producer", "has one consumer"),
        ("several", "lossless broadcast ring of several publishers", "would have to for others"),
        ("many", "queue of several consumers", "has one consumer"),
    ] {
        until("it is refused", || route(&near, Direction::Out, name).is_some());
        let state = route(&near, Direction::Out, name).unwrap().state;
        let RouteState::Refused(told) = &state else { panic!("{name}: {state:?}") };
        assert!(told.contains(kind) && told.contains(why), "{told}");
    }
}

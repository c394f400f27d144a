//! Rings of frames whose publisher waits for subscribers; what goes with each frame.

use std::fs::File;
use std::future::Future;
use std::io::ErrorKind;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::pin::pin;
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use annulus::broadcast::Lossless;
use annulus::shm::frames::{Builder, FrameError, Publisher, WriteError};
use annulus::shm::{AttachError, Invitation, PeerState, Shared, ShmKind, recv_fd, send_fd};
use annulus::{SendError, SendTimeoutError, Settings, TrySendError, Until};
use proptest::prelude::*;
use rustix::fs::{MemfdFlags, memfd_create};

use super::check;
use super::processes::{joined, publish_until_killed};
use crate::process::{Child, moment, rounds};

pub(super) fn ring(capacity: usize, subscribers: usize, held: usize) -> (Publisher<Lossless>, Invitation) {
    let builder = Builder::new(Settings::new(capacity), 1000).subscribers(subscribers).held(held);
    let Shared { handle, invitation, .. } = builder.build_lossless().unwrap();
    (handle, invitation)
}

/// The bytes of the next frame.
pub(super) fn content(number: u64) -> Vec<u8> {
    let mut bytes = vec![(number % 251) as u8; 8 + (number as usize * 97) % 900];
    bytes[..8].copy_from_slice(&number.to_ne_bytes());
    bytes
}

pub(super) fn publish(publisher: &mut Publisher<Lossless>) -> u64 {
    let number = publisher.published();
    assert_eq!(publisher.publish(&content(number)), Ok(number));
    number
}

/// All frames arrive, at each of two subscribers that hold some.
#[test]
fn frames_are_not_lost() {
    const COUNT: u64 = if cfg!(debug_assertions) { 3_000 } else { 30_000 };
    let (mut publisher, invitation) = ring(3, 2, 2);
    assert_eq!((publisher.frames(), publisher.subscriber_count()), (3 + 1 + 4 + 1, 0));
    let accepted = invitation.accept_lossless_frames().unwrap();
    thread::scope(|scope| {
        for holds in 1..=2 {
            let mut subscriber = accepted.subscribe().unwrap();
            scope.spawn(move || {
                let mut held = Vec::new();
                for number in 0..COUNT {
                    let frame = subscriber.recv().unwrap();
                    assert_eq!(frame.sequence(), number);
                    held.push(frame);
                    held.iter().for_each(check);
                    if held.len() == holds {
                        held.remove(0);
                    }
                }
                assert_eq!(subscriber.recv().unwrap_err(), FrameError::Closed);
                assert_eq!(subscriber.total_lagged(), 0);
            });
        }
        assert_eq!(publisher.subscriber_count(), 2);
        assert!(publisher.wait_for_subscribers_until(2, Until::FOREVER));
        for _ in 0..COUNT {
            publish(&mut publisher);
        }
        publisher.close();
        assert_eq!(publisher.publish(&[]), Err(WriteError::Closed));
    });
    assert_eq!((publisher.held(), accepted.state()), (0, PeerState::Closed));
}

/// A frame that is refused comes back as it is, and is free when it is dropped, however often.
#[test]
fn refused_frame_comes_back() {
    let (mut publisher, invitation) = ring(2, 1, 1);
    let mut subscriber = invitation.accept_lossless_frames().unwrap().subscribe().unwrap();
    publish(&mut publisher);
    publish(&mut publisher);
    for round in 0..20 {
        let mut frame = publisher.loan(300).unwrap();
        frame.fill(round);
        let Err(TrySendError::Full(frame)) = frame.try_publish() else { panic!("there is no room") };
        let Err(SendTimeoutError::Timeout(frame)) = frame.publish_timeout(Duration::from_millis(1)) else {
            panic!("none came")
        };
        assert!(frame.len() == 300 && frame.iter().all(|&byte| byte == round));
        // A task that gives up: nothing is published.
        let mut publishing = pin!(frame.publish_async());
        assert!(publishing.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    let too_long = publisher.loan(1001).unwrap_err();
    assert_eq!(publisher.publish(&[0; 1001]), Err(WriteError::TooLong(too_long)));
    check(&subscriber.recv().unwrap());
    publisher.wait_for_room_until(Until::FOREVER).unwrap();
    assert_eq!(publisher.loan(8).unwrap().try_publish().unwrap(), 2);
    let full = publisher.wait_for_room_until(Duration::from_millis(1));
    assert_eq!(full, Err(SendTimeoutError::Timeout(())));
    // It holds one, and may hold no more: so the publisher has no room.
    let held = subscriber.recv().unwrap();
    assert_eq!(publish(&mut publisher), 3);
    assert!(matches!(subscriber.recv(), Err(FrameError::TooManyHeld(_))));
    assert!(matches!(publisher.loan(1).unwrap().try_publish(), Err(TrySendError::Full(_))));
    drop(held);
    assert_eq!([(); 2].map(|()| subscriber.recv().unwrap().sequence()), [2, 3]);
    publisher.close();
    let Err(SendError(frame)) = publisher.loan(3).unwrap().publish() else { panic!("it is closed") };
    assert_eq!(frame.len(), 3);
    drop(frame);
    assert_eq!((publisher.published(), publisher.held()), (4, 0));
}

/// The publisher waits for no lossy subscriber, which counts what it lost, and takes a place as others do.
#[test]
fn lossy_subscriber_of_a_lossless_ring() {
    let (mut publisher, invitation) = ring(4, 2, 2);
    assert_eq!(invitation.info().unwrap().kind(), ShmKind::LosslessFrames);
    let accepted = invitation.accept_lossless_frames().unwrap();
    let (mut viewer, mut recorder) = (accepted.subscribe_lossy().unwrap(), accepted.subscribe().unwrap());
    assert_eq!(publisher.subscriber_count(), 1);
    accepted.subscribe().map(drop).unwrap_err();
    accepted.subscribe_lossy().map(drop).unwrap_err();
    publish(&mut publisher);
    let held = viewer.recv().unwrap();
    check(&recorder.recv().unwrap());
    for number in 1..50 {
        publish(&mut publisher);
        assert_eq!(recorder.recv().unwrap().sequence(), number);
    }
    check(&held);
    let newest = viewer.latest().unwrap().unwrap();
    assert_eq!((newest.sequence(), viewer.total_lagged(), recorder.total_lagged()), (49, 48, 0));
    drop((held, newest, viewer));
    let mut viewer = accepted.subscribe_lossy_from_oldest().unwrap();
    assert_eq!(viewer.recv().unwrap().sequence(), 46, "the ring has four slots");
    drop((recorder, viewer));
    let mut late = accepted.subscribe_from_oldest().unwrap();
    assert_eq!(late.recv().unwrap().sequence(), 46);
    let error = invitation.accept_frames().map(drop).unwrap_err();
    assert!(matches!(error, AttachError::Kind { found: ShmKind::LosslessFrames, .. }), "{error}");
}

/// One subscriber is killed at any moment, again and again: the publisher goes on, and another subscriber
/// loses nothing.
#[test]
fn lossless_subscribers_that_are_killed() {
    let (mut publisher, invitation) = ring(3, 2, 2);
    let survivor = joined("read-all", 2, &invitation);
    let begun = publisher.published();
    for round in 0..rounds() {
        let child = thread::scope(|scope| {
            // (It may find the seat of the dead one before it, which a publisher that has no room frees.)
            let joining = scope.spawn(|| joined("read-all", 2, &invitation));
            while !joining.is_finished() {
                publish(&mut publisher);
            }
            joining.join().unwrap()
        });
        publish_until_killed(child, round, || {
            publish(&mut publisher);
        });
    }
    let published = publisher.published() - begun;
    publisher.close();
    assert_eq!(survivor.said(), (published, 0));
    assert_eq!(publisher.held(), 0);
}

/// A subscriber that is stopped is waited for, and goes on.
#[test]
fn lossless_subscriber_that_is_stopped() {
    let (mut publisher, invitation) = ring(2, 1, 2);
    let child = joined("read-all", 1, &invitation);
    let begun = publisher.published();
    for _ in 0..rounds().min(10) {
        publish(&mut publisher);
        child.stop();
        loop {
            let bytes = content(publisher.published());
            let mut frame = publisher.loan(bytes.len()).unwrap();
            frame.copy_from_slice(&bytes);
            match frame.publish_timeout(Duration::from_millis(5)) {
                Ok(_) => {}
                Err(SendTimeoutError::Timeout(_)) => break,
                Err(SendTimeoutError::Closed(_)) => panic!("it is open"),
            }
        }
        child.signal(rustix::process::Signal::CONT);
    }
    let published = publisher.published() - begun;
    publisher.close();
    assert_eq!(child.said(), (published, 0));
}

/// A publisher is killed at any moment: all that it had published is received.
#[test]
fn lossless_publishers_that_are_killed() {
    for round in 0..rounds() {
        let mut child = Child::new("publish-all");
        let invitation = Invitation::receive(&child.socket).unwrap();
        let accepted = invitation.accept_lossless_frames().unwrap();
        let mut subscriber = accepted.subscribe().unwrap();
        let said = File::from(memfd_create("said", MemfdFlags::CLOEXEC).unwrap());
        said.set_len(8).unwrap();
        send_fd(&child.socket, said.as_fd()).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(moment(round));
                child.kill();
            });
            let mut next = 0;
            loop {
                match subscriber.recv() {
                    Ok(frame) => {
                        check(&frame);
                        assert_eq!(frame.sequence(), next);
                        next += 1;
                    }
                    Err(FrameError::Closed) => break,
                    Err(error) => panic!("{error}"),
                }
            }
        });
        assert_eq!((accepted.state(), subscriber.total_lagged()), (PeerState::Dead, 0));
        let mut word = [0; 8];
        said.read_exact_at(&mut word, 0).unwrap();
        let (published, received) = (u64::from_ne_bytes(word), subscriber.cursor());
        assert!((published..=published + 1).contains(&received), "{published} and {received}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Any numbers in the seats and the tables: the publisher has frames, and goes on.
    #[test]
    fn seats_of_any_value_do_no_harm(writes in prop::collection::vec((0..512_u64, any::<u64>()), 0..40)) {
        let (mut publisher, invitation) = ring(2, 3, 2);
        let accepted = invitation.accept_lossless_frames().unwrap();
        let mut subscriber = accepted.subscribe().unwrap();
        let (here, there) = UnixStream::pair().unwrap();
        invitation.send(&here).unwrap();
        let [_, page] = [(); 2].map(|()| File::from(recv_fd(&there).unwrap()));
        for (word, number) in writes {
            // From where the seats begin to the end of the tables, half of them in the seats.
            let offset = if word % 2 == 0 { 256 + 8 * (word % 96) } else { 4096 + 8 * (word * 3) };
            page.write_all_at(&number.to_ne_bytes(), offset).unwrap();
            for number in 0..3 {
                let _ = publisher.loan(number).unwrap().try_publish();
            }
            let _ = (subscriber.try_recv(), subscriber.len(), subscriber.total_lagged());
            prop_assert!(publisher.held() <= 6);
        }
    }
}

/// What goes with each frame has its number: here files in memory stand for buffers of a GPU.
#[test]
fn companions_go_with_frames() {
    let (mut publisher, invitation) = ring(2, 1, 1);
    let buffer = |index: usize| {
        let file = File::from(memfd_create(format!("buffer {index}"), MemfdFlags::CLOEXEC).unwrap());
        file.set_len(8).unwrap();
        file
    };
    let buffers: Vec<_> = (0..publisher.frames()).map(buffer).collect();
    let (here, there) = UnixStream::pair().unwrap();
    invitation.send(&here).unwrap();
    let error = publisher.send_companions(&here, &buffers[1..]).unwrap_err();
    assert_eq!(error.to_string(), "4 descriptors for 5 frames: each has one companion");
    publisher.send_companions(&here, &buffers).unwrap();

    let accepted = Invitation::receive(&there).unwrap().accept_lossless_frames().unwrap();
    let theirs = accepted.receive_companions(&there).unwrap();
    assert_eq!(theirs.len(), accepted.frames());
    let theirs: Vec<_> = theirs.into_iter().map(File::from).collect();
    let mut subscriber = accepted.subscribe().unwrap();
    for number in 0..20_u64 {
        let frame = publisher.loan(0).unwrap();
        buffers[frame.index()].write_all_at(&number.to_ne_bytes(), 0).unwrap();
        frame.publish().unwrap();
        let frame = subscriber.recv().unwrap();
        let mut found = [0; 8];
        theirs[frame.index()].read_exact_at(&mut found, 0).unwrap();
        assert_eq!(u64::from_ne_bytes(found), number);
    }
    drop(here);
    accepted.receive_companions(&there).unwrap_err();
}

/// The socket's timeout is for all of them together.
#[test]
fn companions_that_come_one_at_a_time_come_too_late() {
    let (publisher, invitation) = ring(500, 1, 1);
    let accepted = invitation.accept_lossless_frames().unwrap();
    let (here, there) = UnixStream::pair().unwrap();
    there.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let buffer = File::open("/dev/null").unwrap();
    thread::scope(|scope| {
        // All of them take five seconds.
        scope.spawn(|| {
            for _ in 0..publisher.frames() {
                thread::sleep(Duration::from_millis(10));
                if send_fd(&here, buffer.as_fd()).is_err() {
                    break;
                }
            }
        });
        let error = accepted.receive_companions(&there).map(drop).unwrap_err();
        drop(there);
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
    });
}

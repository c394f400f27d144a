//! What a frame is, who holds which, what is lost.

use std::thread;
use std::time::Duration;

use annulus::shm::blocks::MessageType;
use annulus::shm::frames::{FrameError, SubscribeError, TooManyHeld};
use annulus::shm::{
    AttachError, Directory, Invitation, PeerState, RingObserver, ShareError, Shared, ShmKind, frames,
};
use annulus::{Message, Receive, SendError, Settings, WaitStrategy, Waitable};

use super::{check, publish, publish_all, ring};

/// A camera that is started again; and a viewer that wants its last pictures.
#[test]
fn numbers_of_frames_go_on_and_joiner_has_the_last_ones() {
    let path = std::env::temp_dir().join(format!("annulus-frames-numbering-{}", std::process::id()));
    let directory = Directory::open(&path).unwrap();
    for life in 0..3 {
        let builder = frames::Builder::new(Settings::new(4), 100);
        let numbering = directory.numbering("camera").unwrap();
        let next = numbering.next();
        let builder = builder.continuing(numbering);
        let said = format!("{builder:?}");
        assert!(said.contains(&format!("KeptWord {{ number: {next}, .. }}")), "{said}");
        let (mut publisher, invitation) = if life == 1 {
            let Shared { handle, invitation, .. } = builder.build_lossless().unwrap();
            let mut handle = handle;
            (0..3_u8).for_each(|byte| _ = handle.publish(&[byte]).unwrap());
            drop(handle);
            assert!(invitation.info().unwrap().numbering().is_some());
            continue;
        } else {
            let Shared { handle, invitation, .. } = builder.build().unwrap();
            (handle, invitation)
        };
        let mut early = invitation.accept_frames().unwrap().subscribe().unwrap();
        for number in 0..3 {
            assert_eq!(publisher.publish(&[number]), Ok(3 * life + u64::from(number)));
        }
        let mut late = invitation.accept_frames().unwrap().subscribe_from_oldest().unwrap();
        assert_eq!(late.begin_with_last(2), 2);
        assert_eq!(late.recv().unwrap().sequence(), 3 * life + 1);
        assert_eq!(early.recv().unwrap().sequence(), 3 * life);
    }
    std::fs::remove_dir_all(path).unwrap();
}

#[test]
fn frames_come_in_order_and_in_place() {
    let (mut publisher, invitation) = ring(4, 1000, 2, 2);
    assert_eq!(invitation.info().unwrap().kind(), ShmKind::Frames);
    assert_eq!((publisher.frames(), publisher.capacity(), publisher.frame_bytes()), (9, 4, 1000));
    let ring = invitation.accept_frames().unwrap();
    let mut subscriber = ring.subscribe().unwrap();
    assert_eq!((ring.frame_bytes(), ring.most_held(), ring.state()), (1000, 2, PeerState::Alive));
    assert_eq!(subscriber.try_recv().unwrap_err(), FrameError::Empty);
    for number in 0..100 {
        publish(&mut publisher);
        let frame = subscriber.recv().unwrap();
        check(&frame);
        assert_eq!((frame.sequence(), subscriber.cursor(), frame.is_empty()), (number, number + 1, false));
    }
    // Empty, full, cut.
    assert_eq!(publisher.publish(&[]), Ok(100));
    assert_eq!(publisher.publish(&[7; 1000]), Ok(101));
    let mut cut = publisher.loan(1000).unwrap();
    cut.truncate(3);
    assert_eq!(cut.publish(), 102);
    let lengths: Vec<_> = (0..3).map(|_| subscriber.recv().unwrap().len()).collect();
    assert_eq!(lengths, [0, 1000, 3]);
    drop(publisher);
    assert_eq!(subscriber.recv().unwrap_err(), FrameError::Closed);
    assert_eq!((ring.state(), subscriber.total_lagged()), (PeerState::Closed, 0));
}

/// Messages that are not plain: what a frame has there is checked, each by itself.
#[test]
fn message_of_a_frame_is_checked() {
    let builder = frames::Builder::new(Settings::new(2), 40).of::<bool>();
    let Shared { handle: mut publisher, invitation, .. } = builder.build().unwrap();
    let mut subscriber = invitation.accept_frames().unwrap().of::<bool>().unwrap().subscribe().unwrap();
    let mut loan = publisher.loan_messages::<bool>(3).unwrap();
    loan.set_message(0, true);
    loan.set_message(2, false);
    loan[1] = 7;
    loan.publish();
    let frame = subscriber.recv().unwrap();
    assert_eq!(
        (frame.message(0), frame.message(2), frame.message::<bool>(3)),
        (Some(Ok(true)), Some(Ok(false)), None)
    );
    let bad = frame.message::<bool>(1).unwrap().unwrap_err();
    assert!(bad.to_string().contains('7'), "{bad}");
    let whole: Vec<_> = frame.messages().unwrap().map(Result::ok).collect();
    assert_eq!(whole, [Some(true), None, Some(false)]);
    // Three bytes are no whole number of these.
    assert!(frame.messages::<u16>().is_none());
    assert_eq!((frame.message::<u16>(0).is_some(), frame.message::<u16>(1)), (true, None));
    assert_eq!(frame.message::<u32>(usize::MAX), None);
    let refused = publisher.loan_messages::<u64>(usize::MAX).map(drop).unwrap_err();
    assert_eq!((refused.len, refused.max), (usize::MAX, 40));
    let mut loan = publisher.loan_messages::<u64>(5).unwrap();
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| loan.set_message(5, 1_u64)));
    let text = *panic.unwrap_err().downcast::<String>().unwrap();
    assert_eq!(text, "message 5 is not in this frame: it has 40 bytes, and each message 8");
}

/// A closed ring gives a frame back, and keeps all that it has told of.
#[test]
fn frame_of_closed_ring_comes_back() {
    let (mut publisher, invitation) = ring(4, 100, 1, 1);
    let mut subscriber = invitation.accept_frames().unwrap().subscribe_from_oldest().unwrap();
    publish_all(&mut publisher, 0..4);
    let closer = publisher.closer();
    for round in 0..3 {
        let mut frame = publisher.loan(50).unwrap();
        frame.fill(0xFF);
        // Behind the loan.
        closer.close();
        let Err(SendError(mut frame)) = frame.try_publish() else { panic!("it is closed") };
        frame.fill(0xEE);
        assert_eq!((frame.len(), frame.publish()), (50, 4), "round {round}");
        assert_eq!(publisher.publish(&[0xFF; 100]), Ok(4), "it is dropped");
    }
    assert_eq!((publisher.published(), publisher.sequence()), (4, 4));
    for number in 0..4 {
        let frame = subscriber.recv().unwrap();
        assert_eq!(frame.sequence(), number);
        check(&frame);
    }
    assert_eq!(subscriber.recv().unwrap_err(), FrameError::Closed);
}

/// Frames of values: the ring says of which, and refuses a process that takes them for others.
#[test]
fn frames_of_values() {
    let builder = frames::Builder::new(Settings::new(2), 40).of::<[u16; 2]>();
    let Shared { handle: mut publisher, invitation, .. } = builder.build().unwrap();
    let schema = invitation.info().unwrap().schema().unwrap().unwrap();
    assert_eq!(schema.to_string(), "[u16;2]");
    let refused = invitation.accept_frames().unwrap().of::<u32>().map(drop).unwrap_err();
    assert!(matches!(refused, AttachError::Type { found: Some(found), .. } if *found == schema));
    let mut subscriber = invitation.accept_frames().unwrap().of::<[u16; 2]>().unwrap().subscribe().unwrap();
    let mut frame = publisher.loan(12).unwrap();
    bytemuck::cast_slice_mut::<u8, [u16; 2]>(&mut frame).copy_from_slice(&[[1, 2], [3, 4], [5, 6]]);
    frame.publish();
    let frame = subscriber.recv().unwrap();
    assert_eq!(frame.values::<[u16; 2]>().unwrap().to_vec(), [[1, 2], [3, 4], [5, 6]]);
    assert_eq!(frame.values::<u32>().unwrap().len(), 3);
    assert!(frame.values::<[u8; 5]>().is_none() && frame.values::<()>().is_none());
    assert!(frame.shared().slice(1..5).cast::<u32>().is_none(), "no `u32` begins there");
    // A ring that says nothing.
    let (_publisher, invitation) = ring(2, 64, 1, 1);
    let refused = invitation.accept_frames().unwrap().of::<u8>().map(drop).unwrap_err();
    assert!(matches!(refused, AttachError::Type { found: None, .. }));
}

/// What is held stays, whatever is published: also when the subscriber and the publisher are gone.
#[test]
fn frame_that_is_held_stays() {
    let (mut publisher, invitation) = ring(2, 64, 1, 3);
    let mut subscriber = invitation.accept_frames().unwrap().subscribe().unwrap();
    let mut held = Vec::new();
    for _ in 0..3 {
        publish(&mut publisher);
        held.push(subscriber.recv().unwrap());
        publish_all(&mut publisher, 0..20);
        while subscriber.len() > 0 {
            match subscriber.try_recv() {
                Ok(frame) => check(&frame),
                Err(error) => {
                    assert_eq!(error, FrameError::TooManyHeld(TooManyHeld { most: 3 }));
                    break;
                }
            }
        }
    }
    assert_eq!(publisher.held(), 3);
    drop(subscriber);
    let held = thread::spawn(move || {
        held.iter().for_each(check);
        held
    });
    publish_all(&mut publisher, 0..20);
    drop(publisher);
    held.join().unwrap().iter().for_each(check);
}

/// Nothing is received while no more may be held, and nothing is lost by that alone.
#[test]
fn subscriber_holds_so_many() {
    let (mut publisher, invitation) = ring(4, 64, 1, 2);
    let mut subscriber = invitation.accept_frames().unwrap().subscribe().unwrap();
    publish_all(&mut publisher, 0..3);
    let (first, _second) = (subscriber.recv().unwrap(), subscriber.recv().unwrap());
    let full = TooManyHeld { most: 2 };
    assert_eq!(subscriber.try_recv().unwrap_err(), FrameError::TooManyHeld(full.clone()));
    assert_eq!(subscriber.recv().unwrap_err(), FrameError::TooManyHeld(full.clone()));
    assert_eq!(subscriber.latest().unwrap_err(), full);
    assert!(full.to_string().contains("2 frames"), "{full}");
    drop(first);
    assert_eq!(subscriber.recv().unwrap().sequence(), 2);
    assert_eq!(subscriber.total_lagged(), 0);
}

#[test]
fn loss_is_counted() {
    let (mut publisher, invitation) = ring(4, 64, 2, 1);
    let ring = invitation.accept_frames().unwrap();
    let mut slow = ring.subscribe().unwrap();
    let mut received = 0;
    for round in 1..40 {
        publish_all(&mut publisher, 0..round % 11);
        while let Ok(frame) = slow.try_recv() {
            check(&frame);
            received += 1;
            assert_eq!(frame.sequence() + 1, received + slow.total_lagged());
        }
        assert_eq!(received + slow.total_lagged(), publisher.published());
    }
    assert!(slow.total_lagged() > 0);
    // From the oldest that is there, and the newest.
    publish_all(&mut publisher, 0..10);
    let end = publisher.published();
    let mut oldest = ring.subscribe_from_oldest().unwrap();
    assert_eq!((oldest.len(), oldest.cursor()), (4, end - 4));
    assert_eq!(oldest.latest().unwrap().unwrap().sequence(), end - 1);
    assert!(oldest.latest().unwrap().is_none());
    assert_eq!(oldest.total_lagged(), 3);
}

/// Whatever numbers are left out: frames that are held stay as they are, and there is always one to write to.
#[test]
fn skipped_numbers_are_lost_and_take_no_frame() {
    let builder = frames::Builder::new(Settings::new(4), 8).subscribers(2).held(3);
    let Shared { handle: mut publisher, invitation, .. } = builder.build().unwrap();
    let ring = invitation.accept_frames().unwrap();
    let mut holds = ring.subscribe().unwrap();
    let mut held = Vec::new();
    for gap in [0, 1, 3, 4, 5, 1_000, 0, 2, 4, 0, 0, 7] {
        let next = publisher.sequence();
        assert_eq!(publisher.skip_to(next + gap).unwrap(), gap);
        let sequence = publisher.publish(&(next + gap).to_ne_bytes()).unwrap();
        assert_eq!((sequence, publisher.skip_to(0).unwrap()), (next + gap, 0), "it never goes back");
        let lost = holds.total_lagged();
        let frame = holds.recv().unwrap();
        assert_eq!((frame.sequence(), holds.total_lagged() - lost), (sequence, gap));
        held.push(frame);
        if held.len() == 3 {
            held.remove(0);
        }
        for frame in &held {
            assert_eq!(frame.to_vec(), frame.sequence().to_ne_bytes());
        }
    }
    // The three numbers before the last were left out, and the ring keeps four.
    let mut late = ring.subscribe_from_oldest().unwrap();
    let last = publisher.sequence() - 1;
    assert_eq!(late.recv().unwrap().sequence(), last);
    assert!(publisher.skip_to(u64::MAX).is_err());
    assert_eq!(publisher.sequence(), last + 1);
}

/// However many are held, the publisher finds one more, and what is let go comes back.
#[test]
fn frames_are_enough_for_all() {
    let (mut publisher, invitation) = ring(2, 64, 3, 2);
    let ring = invitation.accept_frames().unwrap();
    let mut subscribers: Vec<_> = (0..3).map(|_| ring.subscribe().unwrap()).collect();
    assert!(matches!(ring.subscribe(), Err(SubscribeError::Full(_))));
    let mut held = Vec::new();
    for subscriber in &mut subscribers {
        for _ in 0..2 {
            publish(&mut publisher);
            held.push(subscriber.latest().unwrap().unwrap());
        }
    }
    publish_all(&mut publisher, 0..100);
    held.iter().for_each(check);
    assert_eq!(publisher.held(), 6);
    held.truncate(2);
    assert_eq!(publisher.held(), 2);
    drop((held, subscribers));
    assert_eq!(publisher.held(), 0);
    (0..3).map(|_| ring.subscribe().unwrap()).for_each(drop);
}

/// A loan that is not published is free again; so a publisher may change its mind for ever.
#[test]
fn loan_that_is_dropped_is_free() {
    let (mut publisher, invitation) = ring(2, 64, 1, 1);
    let mut subscriber = invitation.accept_frames().unwrap().subscribe().unwrap();
    for _ in 0..100 {
        publisher.loan(64).unwrap().fill(1);
    }
    let too_long = publisher.loan(65).unwrap_err();
    assert_eq!((too_long.len, too_long.max), (65, 64));
    assert_eq!(publisher.publish(b"one"), Ok(0));
    assert_eq!(subscriber.recv().unwrap().to_vec(), b"one");
}

#[test]
fn rings_that_cant_be() {
    let builder = || frames::Builder::new(Settings::new(4), 100);
    let refused = |builder: frames::Builder| builder.build().map(drop).unwrap_err();
    for (builder, said) in [
        (builder().subscribers(0), "0 subscribers: take 1 to 1024"),
        (builder().subscribers(1025), "1025 subscribers"),
        (builder().held(513), "513 frames that a subscriber may hold: take 1 to 512"),
        (builder().held(0), "0 frames that a subscriber may hold"),
        (builder().alignment(100), "100 bytes of alignment (a power of two): take 64 to 2097152"),
        (frames::Builder::new(Settings::new(4), 0), "0 bytes of a frame"),
    ] {
        let error = refused(builder);
        assert!(matches!(error, ShareError::Frames { .. }) && error.to_string().contains(said), "{error}");
    }
    for (capacity, bytes) in [(1, 100), (4, usize::MAX / 4), (usize::MAX, 1), (4, usize::MAX)] {
        let error = refused(frames::Builder::new(Settings::new(capacity), bytes));
        assert!(matches!(error, ShareError::Capacity(_)), "{capacity} {bytes}: {error}");
    }
    let (_publisher, invitation) = ring(4, 100, 1, 1);
    let error = invitation.accept::<[u64; 2]>().map(drop).unwrap_err();
    assert!(matches!(error, AttachError::Kind { found: ShmKind::Frames, .. }), "{error}");
    let plain = annulus::shm::broadcast::lossy::<[u64; 2]>(Settings::new(4)).unwrap();
    let error = plain.invitation.accept_frames().map(drop).unwrap_err();
    assert!(matches!(error, AttachError::Kind { found: ShmKind::Lossy, .. }), "{error}");
}

#[test]
fn frames_are_aligned() {
    for alignment in [64, 256, 4096, 2 << 20] {
        let builder = frames::Builder::new(Settings::new(4), 100).subscribers(1).held(1).alignment(alignment);
        let shared = builder.build().unwrap();
        let (mut publisher, invitation) = (shared.handle, shared.invitation);
        let ring = invitation.accept_frames().unwrap();
        assert_eq!((ring.frame_alignment(), ring.most_subscribers()), (alignment, 1));
        let mut subscriber = ring.subscribe().unwrap();
        for _ in 0..10 {
            assert_eq!(publisher.loan(10).unwrap().as_ptr().addr() % alignment, 0);
            publish(&mut publisher);
            assert_eq!(subscriber.recv().unwrap().shared().as_ptr().addr() % alignment, 0);
        }
    }
}

/// A thread that waits is woken, by a frame and by the end.
#[test]
fn subscriber_sleeps_until_a_frame_comes() {
    let (mut publisher, invitation) = ring(4, 64, 1, 2);
    let mut subscriber = invitation.accept_frames().unwrap().subscribe().unwrap();
    assert_eq!(subscriber.recv_timeout(Duration::from_millis(1)).unwrap_err(), FrameError::Empty);
    let reader = thread::spawn(move || {
        let mut numbers = Vec::new();
        while let Ok(frame) = subscriber.recv() {
            check(&frame);
            numbers.push(frame.sequence());
        }
        numbers
    });
    for _ in 0..3 {
        thread::sleep(Duration::from_millis(20));
        publish(&mut publisher);
    }
    drop(publisher);
    assert_eq!(reader.join().unwrap(), [0, 1, 2]);
}

/// By the verbs of any receiving handle.
#[test]
fn subscriber_receives_as_any_handle() {
    let (mut publisher, invitation) = ring(4, 64, 1, 4);
    let mut subscriber = invitation.accept_frames().unwrap().subscribe().unwrap();
    publish_all(&mut publisher, 0..3);
    drop(publisher);
    let numbers: Vec<_> = subscriber.iter().map(|frame| frame.unwrap().sequence()).collect();
    assert_eq!(numbers, [0, 1, 2]);
    assert!(subscriber.is_closed());
}

/// Threads of one process, of which each holds what it likes: each frame is whole.
#[test]
fn threads_read_while_frames_are_written() {
    let (mut publisher, invitation) = ring(3, 600, 3, 2);
    let ring = invitation.accept_frames().unwrap();
    let counts = thread::scope(|scope| {
        let readers = [0, 1, 1].map(|holds| {
            let mut subscriber = ring.subscribe().unwrap();
            scope.spawn(move || {
                let (mut held, mut received) = (std::collections::VecDeque::new(), 0);
                loop {
                    match subscriber.recv() {
                        Ok(frame) => {
                            received += 1;
                            check(&frame);
                            held.push_back(frame);
                        }
                        Err(FrameError::Closed) => break,
                        Err(error) => panic!("{error}"),
                    }
                    if held.len() > holds {
                        check(&held.pop_front().unwrap());
                    }
                }
                received + subscriber.total_lagged()
            })
        });
        publish_all(&mut publisher, 0..20_000);
        drop(publisher);
        readers.into_iter().map(|reader| reader.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(counts, [20_000; 3]);
}

#[test]
fn handles_have_debug_forms() {
    fn is_over(handle: &impl Waitable) -> bool {
        handle.is_closed()
    }
    let strategy = WaitStrategy::block_after(0, 0);
    let builder = frames::Builder::new(Settings::new(4), 100).subscribers(1).held(2);
    let Shared { handle: mut publisher, invitation, .. } = builder.build().unwrap();
    let ring = invitation.with_wait_strategy(strategy).accept_frames().unwrap();
    let said = format!("{ring:?}");
    assert!(said.starts_with("AcceptedFrames { numbers: ") && said.contains("100"), "{said}");
    let mut subscriber = ring.subscribe_from_oldest().unwrap();
    assert_eq!(subscriber.wait_strategy(), strategy);
    let frames = publisher.frames();
    assert_eq!(format!("{publisher:?}"), format!("Publisher {{ frames: {frames}, frame_bytes: 100, .. }}"));
    assert_eq!(format!("{:?}", publisher.loan(9).unwrap()), "Loan { bytes: 9, .. }");
    publisher.publish(b"frame").unwrap();
    assert_eq!(format!("{:?}", subscriber.recv().unwrap()), "Frame { sequence: 0, len: 5, .. }");
    assert_eq!(format!("{subscriber:?}"), "Subscriber { cursor: 1, .. }");
    assert!(!is_over(&subscriber));
    drop(publisher);
    assert!(is_over(&subscriber));
}

/// The content is said by a type, or by its schema.
#[test]
fn content_is_described() {
    let builder = || frames::Builder::new(Settings::new(4), 64).subscribers(1);
    let of = MessageType::described(<[f32; 3] as Message>::SCHEMA.clone(), 4);
    for builder in [builder().of::<[f32; 3]>(), builder().described(&of)] {
        let shared = builder.build().unwrap();
        let ring = || shared.invitation.accept_frames().unwrap();
        assert!(ring().of::<[f32; 3]>().is_ok() && ring().of::<[f64; 3]>().is_err());
    }
}

#[test]
fn errors_say_why_there_is_no_frame() {
    let (mut publisher, invitation) = ring(4, 64, 1, 1);
    let ring = invitation.accept_frames().unwrap();
    let mut subscriber = ring.subscribe().unwrap();
    assert_eq!(subscriber.try_recv().unwrap_err().to_string(), "there is no new frame");
    publish_all(&mut publisher, 0..2);
    let held = subscriber.recv().unwrap();
    let full = subscriber.recv().unwrap_err();
    assert_eq!(full.to_string(), TooManyHeld { most: 1 }.to_string());
    drop(held);
    subscriber.recv().unwrap();
    let seats = ring.subscribe().unwrap_err();
    assert!(seats.to_string().contains("all seats of the ring are taken"), "{seats}");
    drop(publisher);
    let end = subscriber.recv().unwrap_err();
    assert_eq!(end.to_string(), "the ring is closed, and all frames are received");
    let other = SubscribeError::Attach(AttachError::NotSealed);
    assert_eq!(other.to_string(), AttachError::NotSealed.to_string());
    let other = SubscribeError::System(std::io::ErrorKind::OutOfMemory.into());
    assert_eq!(other.to_string(), std::io::Error::from(std::io::ErrorKind::OutOfMemory).to_string());
}

/// By a name, as other rings: a process that may only read the ring, and write the page.
#[test]
fn ring_has_a_name() {
    let path = std::env::temp_dir().join(format!("annulus-frames-{}", std::process::id()));
    let directory = Directory::open(&path).unwrap();
    let (mut publisher, invitation) = ring(4, 64, 1, 1);
    let name = invitation.publish(&directory, "camera").unwrap();
    let found = Invitation::find(&directory.find("camera").unwrap()).unwrap();
    let mut subscriber = found.accept_frames().unwrap().subscribe().unwrap();
    publish(&mut publisher);
    let frame = subscriber.recv().unwrap();
    check(&frame);
    let observer = RingObserver::of(&directory.find("camera").unwrap()).unwrap();
    let used = observer.frames().unwrap();
    assert_eq!((used.frames, used.frame_bytes, used.most_held, used.room), (6, 64, 1, 1));
    assert_eq!(used.held, [1]);
    drop(frame);
    assert_eq!(observer.frames().unwrap().held, [0]);
    drop(subscriber);
    assert!(observer.frames().unwrap().held.is_empty());
    assert_eq!((observer.numbers().unwrap().published, observer.state()), (1, PeerState::Alive));
    assert!(!observer.read(0, &mut Vec::new()), "it lies elsewhere");
    drop(name);
    std::fs::remove_dir_all(path).unwrap();
}

//! Stages: what counts as processed, what opens a stage's gate, and which subscribers it may follow.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;
use std::time::Duration;

use annulus::broadcast::{DependencyBarrier, Lossless, Lossy, Staged, Subscriber, Unstaged};
use annulus::{LossyTryRecvError, RecvError, RecvTimeoutError, TryRecvError, UpstreamError};

type Stage = Subscriber<u64, Staged<Lossless>>;

/// A message is processed when its stage comes back for the next one, by whichever verb: not when it was
/// read.
#[test]
fn read_is_not_processed() {
    /// Receives one message; then comes back, or says that it is done.
    type Receives = fn(&mut Stage);
    let receives: [Receives; 6] = [
        |stage| _ = stage.try_recv().unwrap(),
        |stage| _ = stage.recv().unwrap(),
        |stage| _ = stage.recv_timeout(Duration::ZERO).unwrap(),
        |stage| assert_eq!(stage.try_recv_batch(&mut [0; 1]), 1),
        |stage| _ = stage.try_iter().next().unwrap(),
        |stage| _ = stage.iter().next().unwrap(),
    ];
    let comes_back: [Receives; 6] = [
        |stage| assert!(stage.try_recv().is_err()),
        |stage| assert_eq!(stage.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout)),
        |stage| assert_eq!(stage.try_recv_batch(&mut [0; 1]), 0),
        |stage| assert_eq!(stage.try_iter().next(), None),
        Stage::done,
        |stage| [(); 3].iter().for_each(|()| stage.done()),
    ];
    for receive in receives {
        for come_back in comes_back {
            let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(4);
            let mut before = subscribable.subscribe_tracked();
            let mut stage = subscribable.subscribe().after(&[&before]);
            publisher.publish(7).unwrap();
            assert_eq!(stage.try_recv(), Err(TryRecvError::Empty), "not received yet");
            receive(&mut before);
            assert_eq!(stage.try_recv(), Err(TryRecvError::Empty), "not processed yet");
            assert_eq!((stage.len(), stage.try_recv_batch(&mut [0; 4]), stage.try_iter().count()), (0, 0, 0));
            come_back(&mut before);
            assert_eq!(stage.len(), 1);
            assert_eq!(stage.try_recv(), Ok(7));
        }
    }
}

/// A batch and a drain end where those before have come to, and count as processed message by message or at
/// the next call.
#[test]
fn batch_of_a_stage_ends_at_its_upstream() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(8);
    let mut before = subscribable.subscribe_tracked();
    let mut stage = subscribable.subscribe().after(&[&before]);
    publisher.publish_batch(&[0, 1, 2, 3, 4]);
    assert_eq!(before.try_recv_batch(&mut [0; 3]), 3);
    assert_eq!(stage.try_iter().count(), 0, "a batch is processed when its stage comes back");
    before.done();
    assert_eq!(stage.try_iter().collect::<Vec<_>>(), [0, 1, 2]);
    let mut drain = before.try_iter();
    assert_eq!(drain.next(), Some(3));
    assert_eq!(stage.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(drain.next(), Some(4));
    assert_eq!(stage.try_recv(), Ok(3), "a drain comes back at each turn");
    let mut buffer = [0; 8];
    assert_eq!(stage.try_recv_batch(&mut buffer), 0);
}

/// Events are processed when their handler returns; a reference, when it is passed; a batch, at its end.
#[test]
fn event_is_processed_when_its_handler_returns() {
    let (mut publisher, subscribable) = annulus::event::channel(8, || 0);
    let mut before = subscribable.subscribe_tracked();
    let mut stage = subscribable.subscribe().after(&[&before]);
    (0..6).for_each(|number| publisher.publish(|event| *event = number).unwrap());
    before.process(|_| assert_eq!(stage.try_process(|event| *event), Err(TryRecvError::Empty))).unwrap();
    assert_eq!(stage.try_process(|event| *event), Ok(0));
    let event = before.peek().unwrap();
    assert!(stage.peek().is_none());
    event.pass();
    assert_eq!(stage.peek().as_deref(), Some(&1));
    before.process_batch(2, |_, _| assert_eq!(stage.len(), 1)).unwrap();
    assert_eq!(stage.len(), 3);
    assert_eq!(stage.try_process_batch(usize::MAX, |_, _| ()), Ok(3), "and not what is published");
    // A handler that panics is done with its event all the same.
    let process = || before.process(|_| resume_unwind(Box::new("on purpose")));
    catch_unwind(AssertUnwindSafe(process)).unwrap_err();
    assert_eq!(stage.try_process(|event| *event), Ok(4));
    assert_eq!(stage.try_process(|event| *event), Err(TryRecvError::Empty));
}

/// The diamond: what is looked at was processed by all before, and publishers wait for the last stage.
#[test]
fn slowest_of_several_decides() {
    let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(4);
    let mut left = subscribable.subscribe_tracked();
    let mut right = subscribable.subscribe_tracked();
    let mut last = subscribable.subscribe().after(&[&left, &right]);
    publisher.publish_batch(&[0, 1, 2, 3]).unwrap();
    assert_eq!((left.try_iter().count(), right.try_recv()), (4, Ok(0)));
    left.done();
    assert!(last.try_recv().is_err());
    right.done();
    assert_eq!((last.try_recv(), last.try_recv()), (Ok(0), Err(TryRecvError::Empty)));
    publisher.try_publish(4).unwrap();
    assert!(publisher.try_publish(5).is_err(), "the diamond's end is a ring behind");
    right.try_iter().for_each(drop);
    left.try_iter().for_each(drop);
    assert_eq!(last.try_iter().collect::<Vec<_>>(), [1, 2, 3, 4]);
}

/// A stage has not processed messages that it lost: its followers lose the same messages, and count them.
#[test]
fn stage_loses_what_its_upstream_lost() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
    let mut before = subscribable.subscribe_tracked();
    let barrier = DependencyBarrier::new(&[&before]);
    let mut stage = subscribable.subscribe().after_barrier(&barrier);
    (0..4).for_each(|number| publisher.publish(number));
    assert_eq!((before.try_recv(), before.try_recv()), (Ok(0), Ok(1)));
    before.done();
    assert_eq!(stage.try_recv(), Ok(0));
    (4..7).for_each(|number| publisher.publish(number));
    // Messages 3 to 6 stand. The one before has lost message 2, so this one has lost 1 and 2.
    assert_eq!(before.try_recv_or_lag(), Err(LossyTryRecvError::Lagged { skipped: 1 }));
    assert_eq!(barrier.processed(), Some(3..3));
    assert_eq!(stage.try_recv_or_lag(), Err(LossyTryRecvError::Lagged { skipped: 2 }));
    assert_eq!(stage.try_recv(), Err(TryRecvError::Empty));
    assert_eq!((before.try_recv(), before.try_recv()), (Ok(3), Ok(4)));
    assert_eq!(stage.try_recv(), Ok(3));
    assert_eq!((stage.total_received(), stage.total_lagged(), stage.cursor()), (2, 2, 4));
}

/// Messages still stand in the ring: the upstream skips them, and its follower must not see them although
/// they are there.
#[test]
fn stage_skips_standing_messages_its_upstream_lost() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(64);
    let mut before = subscribable.subscribe_tracked();
    let mut stage = subscribable.subscribe().after(&[&before]);
    (0..100).for_each(|number| publisher.publish(number));
    assert_eq!(before.try_recv_or_lag(), Err(LossyTryRecvError::Lagged { skipped: 36 }));
    (100..200).for_each(|number| publisher.publish(number));
    // Lapped again at once: it goes on further from the edge, past messages that stand.
    let Err(LossyTryRecvError::Lagged { skipped }) = before.try_recv_or_lag() else {
        panic!("it was lapped")
    };
    assert!(skipped > 100);
    let floor = before.cursor();
    assert_eq!(stage.try_recv_or_lag(), Err(LossyTryRecvError::Lagged { skipped: floor }));
    assert_eq!(stage.try_recv(), Err(TryRecvError::Empty));
    before.try_iter().for_each(drop);
    before.done();
    assert_eq!(stage.try_iter().collect::<Vec<_>>(), (floor..200).collect::<Vec<_>>());
}

/// A stage that is gone holds nobody up: dropped, forgotten by a panic of its thread, or never made because
/// of an error.
#[test]
fn dropped_stage_opens() {
    let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(4);
    let first = subscribable.subscribe_tracked();
    let second = subscribable.subscribe_tracked();
    let barrier = DependencyBarrier::new(&[&first, &second]);
    let mut stage = subscribable.subscribe().after_barrier(&barrier);
    publisher.publish_batch(&[0, 1]).unwrap();
    assert!(stage.try_recv().is_err());
    drop(first);
    assert!(stage.try_recv().is_err(), "the other is still there");
    assert_eq!(barrier.processed(), Some(0..0));
    thread::spawn(move || {
        let _second = second;
        resume_unwind(Box::new("on purpose"));
    })
    .join()
    .unwrap_err();
    assert_eq!((barrier.processed(), barrier.upstream_count()), (None, 2));
    assert_eq!(stage.try_iter().collect::<Vec<_>>(), [0, 1]);
    drop(publisher);
    assert_eq!(stage.recv(), Err(RecvError::CLOSED));
}

/// The ring closes for a stage when it has seen everything, not when those before it have.
#[test]
fn stage_drains_before_it_closes() {
    let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(4);
    let mut before = subscribable.subscribe_tracked();
    let mut stage = subscribable.subscribe().after(&[&before]);
    publisher.publish_batch(&[0, 1]).unwrap();
    drop(publisher);
    assert_eq!(stage.try_recv(), Err(TryRecvError::Empty), "closed, but not drained");
    assert_eq!((before.recv(), before.recv(), before.recv()), (Ok(0), Ok(1), Err(RecvError::CLOSED)));
    assert_eq!((stage.recv(), stage.recv(), stage.recv()), (Ok(0), Ok(1), Err(RecvError::CLOSED)));
}

/// What was published before an upstream joined does not concern it.
#[test]
fn upstream_begins_where_it_joined() {
    let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(8);
    let early = subscribable.subscribe();
    publisher.publish_batch(&[0, 1]).unwrap();
    let mut before = subscribable.subscribe_tracked();
    let mut stage = early.after(&[&before]);
    publisher.publish(2).unwrap();
    assert_eq!(stage.try_iter().collect::<Vec<_>>(), [0, 1]);
    assert_eq!(before.try_recv(), Ok(2));
    before.done();
    assert_eq!(stage.try_recv(), Ok(2));
}

/// A subscriber can be cloned before it becomes a stage: each of the two is followed by those that were made
/// to follow it, and both may follow the same. (That a stage has no clone is said in `ends`.)
#[test]
fn two_stages_of_one_subscriber() {
    let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(8);
    let mut before = subscribable.subscribe_tracked();
    let barrier = DependencyBarrier::new(&[&before]);
    publisher.publish_batch(&[0, 1]).unwrap();
    let one = subscribable.subscribe_from_oldest();
    let mut two = one.clone().after_barrier(&barrier);
    let mut one = one.after_barrier(&barrier);
    let mut last = subscribable.subscribe_from_oldest().after(&[&one, &two]);
    assert!(one.try_recv().is_err());
    assert_eq!(before.try_iter().count(), 2);
    before.done();
    assert_eq!(two.try_iter().count(), 2);
    two.done();
    assert!(last.try_recv().is_err(), "the other one has processed nothing");
    assert_eq!(one.try_iter().collect::<Vec<_>>(), [0, 1]);
    one.done();
    assert_eq!(last.try_iter().count(), 2);
}

/// Stages of another ring can't be followed; the error says which one that is.
#[test]
fn stages_of_another_ring_are_refused() {
    let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(2);
    let (_other_publisher, other_subscribable) = annulus::broadcast::lossy::<u64>(2);
    let own = subscribable.subscribe_tracked();
    let other = other_subscribable.subscribe_tracked();
    let subscribe = || subscribable.subscribe();

    let error = DependencyBarrier::try_new(&[&own, &other]).unwrap_err();
    assert_eq!(error, UpstreamError::AnotherRing { index: 1 });
    assert_eq!(subscribe().try_after(&[&other]).unwrap_err(), UpstreamError::AnotherRing { index: 0 });
    assert_eq!(
        subscribe().try_after(&[&own, &own, &other]).unwrap_err(),
        UpstreamError::AnotherRing { index: 2 }
    );
    let barrier = DependencyBarrier::new(&[&other]);
    let error = subscribe().try_after_barrier(&barrier).unwrap_err();
    assert_eq!(error.to_string(), "upstream 0 is of another ring: all must be of the ring of the stage");
    let panic = catch_unwind(AssertUnwindSafe(|| subscribe().after_barrier(&barrier))).unwrap_err();
    let text = panic.downcast_ref::<String>().unwrap();
    assert!(text.starts_with("Subscriber::after: upstream 0 is of another ring"), "{text}");
    catch_unwind(AssertUnwindSafe(|| DependencyBarrier::new(&[&own, &other]))).unwrap_err();

    // A refused stage is gone, and holds no publisher up.
    drop(own);
    (0..9).for_each(|number| publisher.try_publish(number).unwrap());

    let (_publisher, events) = annulus::event::channel(2, || 0);
    let error = events.subscribe().try_after(&[&other]).unwrap_err();
    assert_eq!(error, UpstreamError::AnotherRing { index: 0 });
}

/// The index is that of the stranger, also where it comes first.
#[test]
fn error_names_the_one_of_another_ring() {
    let (_publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
    let (_other_publisher, other_subscribable) = annulus::broadcast::lossy::<u64>(2);
    let own = subscribable.subscribe_tracked();
    let other = other_subscribable.subscribe_tracked();
    let error = subscribable.subscribe().try_after(&[&other, &own]).unwrap_err();
    assert_eq!(
        error,
        UpstreamError::AnotherRing { index: 0 },
        "the first upstream is of another ring, the second is not"
    );
}

/// A barrier of nobody waits for nobody.
#[test]
fn empty_barrier_waits_for_no_stage() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
    let barrier = DependencyBarrier::new(&[]);
    assert_eq!((barrier.upstream_count(), barrier.processed()), (0, None));
    let mut stage = subscribable.subscribe().after_barrier(&barrier);
    let mut other = subscribable.subscribe().after(&[]);
    publisher.publish(1);
    assert_eq!((stage.recv(), other.recv()), (Ok(1), Ok(1)));
    assert_eq!(stage.try_recv(), Err(TryRecvError::Empty));
}

/// A stage follows those that it was made with. (That a second `after` does not compile is a test in its
/// documentation.)
#[test]
fn stage_becomes_one_once() {
    static_assertions::assert_impl_all!(Lossy: Unstaged);
    static_assertions::assert_impl_all!(Lossless: Unstaged);
    static_assertions::assert_not_impl_any!(Staged<Lossy>: Unstaged);
    static_assertions::assert_not_impl_any!(Staged<Lossless>: Unstaged);
}

/// A stage that loses nothing can't follow one that does; a tap can follow both.
#[test]
fn lossless_stage_does_not_follow_a_tap() {
    let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(2);
    let tap = subscribable.subscribe_lossy().after(&[]);
    let mut own = subscribable.subscribe_tracked();
    let error = subscribable.subscribe().try_after(&[&own, &tap]).unwrap_err();
    assert_eq!(error, UpstreamError::Lossy { index: 1 });
    let mut other_tap = subscribable.subscribe_lossy().after(&[&own, &tap]);
    (0..2).for_each(|number| publisher.try_publish(number).unwrap());
    assert_eq!(own.try_iter().count(), 2);
    own.done();
    assert_eq!(other_tap.try_recv(), Err(TryRecvError::Empty));
    drop(tap);
    assert_eq!(other_tap.try_iter().collect::<Vec<_>>(), [0, 1]);
    // A refused stage holds no publisher up.
    publisher.try_publish(2).unwrap();
}

/// With many publishers, one that joins while a message is being written begins behind that message; a
/// follower that waits for the message must be woken when it is whole, although no upstream will ever process
/// it.
#[test]
fn stage_is_woken_by_a_message_before_its_upstream_joined() {
    /// So large that writing one takes longer than falling asleep.
    type Large = [u64; if cfg!(miri) { 8 } else { 1 << 16 }];
    const ROUNDS: u64 = if cfg!(miri) { 3 } else { 300 };
    const STUCK: Duration = Duration::from_secs(120);
    #[allow(clippy::large_stack_arrays, reason = "the thread has a stack for it")]
    fn large(round: u64) -> Large {
        [round; size_of::<Large>() / 8]
    }
    fn race() -> u64 {
        let (publisher, subscribable) = annulus::broadcast::mp_lossy::<Large>(2);
        let mut in_the_middle = 0;
        for round in 0..ROUNDS {
            let waiting = subscribable.subscribe();
            let mut publisher = publisher.clone();
            let (start, started) = std::sync::mpsc::channel();
            let writer = with_a_large_stack(move || {
                start.send(()).unwrap();
                publisher.publish(large(round));
            });
            started.recv().unwrap();
            // From before the write until after it.
            (0..round * 40).for_each(|_| std::hint::spin_loop());
            let upstream = subscribable.subscribe_tracked();
            let joined_behind = upstream.cursor() > waiting.cursor();
            let mut stage = waiting.after(&[&upstream]);
            if joined_behind {
                let begun = std::time::Instant::now();
                if stage.try_recv().is_err() {
                    in_the_middle += 1;
                    stage.recv_timeout(2 * STUCK).unwrap();
                }
                assert!(begun.elapsed() < STUCK, "round {round}: nobody woke it");
            }
            writer.join().unwrap();
        }
        in_the_middle
    }
    let in_the_middle = with_a_large_stack(race).join().unwrap();
    println!("{in_the_middle} of {ROUNDS} joined in the middle of a write");
}

/// A thread on whose stack a few large messages have room.
fn with_a_large_stack<T: Send + 'static>(
    action: impl FnOnce() -> T + Send + 'static,
) -> thread::JoinHandle<T> {
    thread::Builder::new().stack_size(64 << 20).spawn(action).unwrap()
}

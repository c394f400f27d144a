//! What a stage says of itself, to the message: how much is pending, what it has processed; and what it does
//! by closure.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;
use std::time::{Duration, Instant};

use annulus::broadcast::{DependencyBarrier, Lossless, Lossy, Staged, Subscriber, Unstaged};
use annulus::{LossyTryRecvError, RecvError, RecvTimeoutError, TryRecvError, TrySendError, WaitStrategy};

/// The one before has processed messages that are overwritten before the stage comes to them: they are not
/// pending.
#[test]
fn overwritten_messages_are_not_pending() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
    let mut before = subscribable.subscribe_tracked();
    let mut stage = subscribable.subscribe().after(&[&before]);
    publisher.publish_batch(&[0, 1, 2, 3]);
    assert_eq!(before.try_iter().count(), 4);
    before.done();
    publisher.publish_batch(&[4, 5, 6]);
    let pending = stage.len();
    assert_eq!((pending, stage.try_iter().collect::<Vec<_>>()), (1, vec![3]));
}

/// What the one before lost is not pending either.
#[test]
fn losses_of_the_upstream_are_not_pending() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
    let mut before = subscribable.subscribe_tracked();
    let mut stage = subscribable.subscribe().after(&[&before]);
    (0..100).for_each(|number| publisher.publish(number));
    assert_eq!(before.try_recv_or_lag(), Err(LossyTryRecvError::Lagged { skipped: 96 }));
    assert_eq!(stage.len(), 0);
    assert_eq!((before.try_recv(), before.try_recv()), (Ok(96), Ok(97)));
    let pending = stage.len();
    assert_eq!((pending, stage.try_iter().collect::<Vec<_>>()), (1, vec![96]));
}

/// What a stage would pass over after a second lag in a row is not pending.
#[test]
fn messages_that_recovery_skips_are_not_pending() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(64);
    let mut subscriber = subscribable.subscribe();
    for lag in 0..8 {
        (0..100).for_each(|number| publisher.publish(number));
        let pending = subscriber.len();
        assert!(matches!(subscriber.try_recv_or_lag(), Err(LossyTryRecvError::Lagged { .. })));
        assert_eq!(subscriber.len(), pending, "lag {lag}");
        assert_eq!(pending as u64, publisher.published() - subscriber.cursor());
    }
}

/// A stage that went to where those before it lost something, although the one that lost it is gone: what it
/// saw counts.
#[test]
fn pending_after_one_before_is_gone() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(64);
    let mut slow = subscribable.subscribe_tracked();
    let mut fast = subscribable.subscribe_tracked();
    (0..100).for_each(|number| publisher.publish(number));
    assert!(slow.try_recv_or_lag().is_err());
    // At 100, behind the place of the slow one: that one is lapped twice more, and passes over messages that
    // stand.
    let waiting = subscribable.subscribe();
    let mut stage = waiting.after(&[&slow, &fast]);
    (100..150).for_each(|number| publisher.publish(number));
    fast.try_iter().for_each(drop);
    fast.done();
    slow.try_iter().for_each(drop);
    slow.done();
    drop(slow);
    let pending = stage.len();
    assert_eq!(stage.try_iter().count(), pending);
}

/// What a stage lost it has not processed: never received, lagged 96.
#[test]
fn lost_messages_are_not_processed() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
    let mut stage = subscribable.subscribe_tracked();
    let barrier = DependencyBarrier::new(&[&stage]);
    assert_eq!(barrier.processed(), Some(0..0));
    (0..100).for_each(|number| publisher.publish(number));
    assert_eq!(stage.try_recv_or_lag(), Err(LossyTryRecvError::Lagged { skipped: 96 }));
    assert_eq!(barrier.processed(), Some(96..96));
    assert_eq!((stage.try_recv(), stage.try_recv()), (Ok(96), Ok(97)));
    assert_eq!(barrier.processed(), Some(96..97));
    stage.done();
    assert_eq!(barrier.processed(), Some(96..98));
}

/// Of several, the messages that each of them has processed, and none from before one of them was a stage.
#[test]
fn barrier_of_several_has_their_common_messages() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
    let mut early = subscribable.subscribe_tracked();
    publisher.publish_batch(&[0, 1]);
    early.try_iter().for_each(drop);
    early.done();
    let mut late = subscribable.subscribe_tracked();
    let both = DependencyBarrier::new(&[&early, &late]);
    assert_eq!(both.processed(), Some(2..2), "the late one has processed nothing");
    publisher.publish_batch(&[2, 3, 4]);
    assert_eq!((early.process(|number| *number), late.process(|number| *number)), (Ok(2), Ok(2)));
    assert_eq!(both.processed(), Some(2..3));
    publisher.publish_batch(&[5, 6, 7]);
    // Messages 4 to 7 stand.
    assert_eq!(early.try_recv_or_lag(), Err(LossyTryRecvError::Lagged { skipped: 1 }));
    assert_eq!(both.processed(), Some(3..3), "one is behind what the other lost");
    late.try_iter().for_each(drop);
    late.done();
    assert_eq!(both.processed(), Some(4..4));
    early.try_iter().for_each(drop);
    early.done();
    assert_eq!(both.processed(), Some(4..8));
    drop(early);
    assert_eq!(both.processed(), Some(4..8), "the other lost it too");
    drop(late);
    assert_eq!(both.processed(), None);
}

/// Hands one message, the number 7, to a closure, by one verb each.
type Process<M> = fn(&mut Subscriber<u64, Staged<M>>, &mut dyn FnMut(u64));

fn processes<M: Unstaged>() -> [Process<M>; 10] {
    [
        |stage, look| stage.try_process(|number| look(*number)).unwrap(),
        |stage, look| stage.process(|number| look(*number)).unwrap(),
        |stage, look| stage.process_until(WaitStrategy::BusySpin, |number| look(*number)).unwrap(),
        |stage, look| stage.process_timeout(Duration::ZERO, |number| look(*number)).unwrap(),
        |stage, look| stage.process_until(Instant::now(), |number| look(*number)).unwrap(),
        |stage, look| assert_eq!(stage.try_process_batch(9, |number, _| look(*number)).unwrap(), 1),
        |stage, look| assert_eq!(stage.process_batch(9, |number, _| look(*number)), Ok(1)),
        |stage, look| {
            let strategy = WaitStrategy::BusySpin;
            assert_eq!(stage.process_batch_until(9, strategy, |number, _| look(*number)), Ok(1));
        },
        |stage, look| {
            assert_eq!(stage.process_batch_timeout(9, Duration::ZERO, |number, _| look(*number)), Ok(1));
        },
        |stage, look| {
            assert_eq!(stage.process_batch_until(9, Instant::now(), |number, _| look(*number)), Ok(1));
        },
    ]
}

/// A stage and one behind it: the message is processed when the closure returns, not before and not later,
/// also by a panic.
fn by_closure<M: Unstaged>(make: impl Fn() -> (Box<dyn FnMut(u64)>, [Subscriber<u64, Staged<M>>; 2])) {
    for panics in [false, true] {
        for process in processes() {
            let (mut publish, [mut before, mut stage]) = make();
            publish(7);
            let run = || {
                process(&mut before, &mut |number| {
                    assert_eq!((number, stage.len()), (7, 0));
                    assert_eq!(stage.try_recv(), Err(TryRecvError::Empty), "not processed yet");
                    if panics {
                        resume_unwind(Box::new("on purpose"));
                    }
                });
            };
            assert_eq!(catch_unwind(AssertUnwindSafe(run)).is_err(), panics);
            // The one before idles: it does not come back.
            assert_eq!((before.cursor(), before.total_received()), (1, 1));
            assert_eq!(stage.len(), 1);
            process(&mut stage, &mut |number| assert_eq!(number, 7));
        }
    }
}

#[test]
fn processed_when_the_closure_returns() {
    by_closure::<Lossy>(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
        let before = subscribable.subscribe_tracked();
        let stage = subscribable.subscribe().after(&[&before]);
        (Box::new(move |number| publisher.publish(number)), [before, stage])
    });
    by_closure::<Lossless>(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(4);
        let before = subscribable.subscribe_tracked();
        let stage = subscribable.subscribe().after(&[&before]);
        (Box::new(move |number| publisher.publish(number).unwrap()), [before, stage])
    });
}

/// One that received by `try_recv` and then idles holds up its followers; one that processes by closure does
/// not.
#[test]
fn idle_stage_holds_no_follower_up() {
    let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(4);
    let mut before = subscribable.subscribe_tracked();
    let mut stage = subscribable.subscribe().after(&[&before]);
    let reader = thread::spawn(move || stage.recv_timeout(Duration::from_secs(120)));
    publisher.publish(7).unwrap();
    assert_eq!(before.process(|number| *number), Ok(7));
    assert_eq!(reader.join().unwrap(), Ok(7));
    drop(before);
}

/// Nothing there, the end: the closure does not run, and the verbs say what those that receive say.
#[test]
fn closure_does_not_run_without_a_message() {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "what the verbs take")]
    fn runs(_: &u64) -> u64 {
        unreachable!()
    }
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
    let mut stage = subscribable.subscribe_tracked();
    let short = Duration::from_millis(1);
    assert_eq!(stage.try_process(runs), Err(TryRecvError::Empty));
    assert_eq!(stage.process_timeout(short, runs), Err(RecvTimeoutError::Timeout));
    assert_eq!(stage.try_process_batch(2, |_, _| unreachable!()), Err(TryRecvError::Empty));
    let timeout = stage.process_batch_timeout(2, short, |_, _| unreachable!());
    assert_eq!(timeout, Err(RecvTimeoutError::Timeout));
    publisher.publish_batch(&[0, 1, 2]);
    assert_eq!(stage.try_recv_or_lag(), Err(LossyTryRecvError::Lagged { skipped: 1 }));
    publisher.publish(3);
    // Nothing is asked for: nothing is taken.
    let cursor = stage.cursor();
    assert_eq!(stage.try_process_batch(0, |_, _| unreachable!()), Ok(0));
    assert_eq!(stage.process_batch(0, |_, _| unreachable!()), Ok(0));
    assert_eq!(stage.process_batch_timeout(0, short, |_, _| unreachable!()), Ok(0));
    assert_eq!(stage.process_batch_until(0, Instant::now(), |_, _| unreachable!()), Ok(0));
    assert_eq!(stage.cursor(), cursor);
    stage.try_iter().for_each(drop);
    drop(publisher);
    assert_eq!(stage.try_process(runs), Err(TryRecvError::Closed));
    assert_eq!(stage.process(runs), Err(RecvError::CLOSED));
    assert_eq!(stage.process_batch(2, |_, _| unreachable!()), Err(RecvError::CLOSED));
}

/// A lag is counted, and the closure runs for what is there; one that is told of it has none to count.
#[test]
fn closure_after_a_lag_gets_the_oldest_message() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
    let mut stage = subscribable.subscribe_tracked();
    publisher.publish_batch(&[0, 1, 2]);
    assert_eq!((stage.try_process(|number| *number), stage.total_lagged()), (Ok(1), 1));
    publisher.publish_batch(&[3, 4, 5]);
    let mut seen = Vec::new();
    let count = stage.try_process_batch(2, |number, is_last| seen.push((*number, is_last)));
    let lagged = stage.total_lagged();
    assert_eq!((count, stage.cursor()), (Ok(seen.len()), 6));
    assert_eq!(stage.total_received() + lagged, 6);
    assert_eq!(seen.last(), Some(&(5, true)));
    publisher.publish_batch(&[6, 7, 8]);
    let Err(LossyTryRecvError::Lagged { skipped }) = stage.try_recv_or_lag() else { panic!("it was lapped") };
    assert_eq!(stage.try_process(|number| *number), Ok(6 + skipped));
    assert_eq!(stage.total_lagged(), lagged + skipped);
}

/// Those that follow see a batch at its end, publishers get each slot back when its message is out of the
/// ring; the flag is true for the last message, whatever ends the batch.
#[test]
fn batch_is_processed_at_its_end() {
    let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(4);
    let mut before = subscribable.subscribe_tracked();
    publisher.publish_batch(&[0, 1, 2, 3]).unwrap();
    let asks = DependencyBarrier::new(&[&before]);
    let mut seen = Vec::new();
    let count = before.try_process_batch(3, |number, end| {
        assert_eq!(asks.processed(), Some(0..0));
        assert_eq!(publisher.try_publish(4 + number), Ok(()));
        assert_eq!(publisher.try_publish(9), Err(TrySendError::Full(9)));
        seen.push((*number, end));
    });
    assert_eq!((count, asks.processed()), (Ok(3), Some(0..3)));
    assert_eq!(seen, [(0, false), (1, false), (2, true)]);
    seen.clear();
    // It ends although each message brings another one.
    let count = before.process_batch(usize::MAX, |number, end| {
        assert_eq!(publisher.try_publish(4 + number), Ok(()));
        seen.push((*number, end));
    });
    assert_eq!((count, asks.processed()), (Ok(4), Some(0..7)));
    assert_eq!(seen, [(3, false), (4, false), (5, false), (6, true)]);
    assert_eq!(before.try_iter().collect::<Vec<_>>(), [7, 8, 9, 10]);
    assert_eq!(before.try_process_batch(1, |_, _| unreachable!()), Err(TryRecvError::Empty));
}

/// A handler that panics in a batch is done with the messages up to that one; the rest is still to come, also
/// the one that was copied ahead.
#[test]
fn panic_ends_a_batch_behind_its_message() {
    for at in 0..4 {
        let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(6);
        let mut stage = subscribable.subscribe_tracked();
        let asks = DependencyBarrier::new(&[&stage]);
        publisher.publish_batch(&[0, 1, 2, 3, 4, 5]).unwrap();
        let batch = || {
            stage.process_batch(5, |number, _| {
                if *number == at {
                    resume_unwind(Box::new("on purpose"));
                }
            })
        };
        catch_unwind(AssertUnwindSafe(batch)).unwrap_err();
        assert_eq!((stage.cursor(), stage.total_received()), (at + 1, at + 1));
        assert_eq!(asks.processed(), Some(0..at + 1));
        (0..=at).for_each(|number| publisher.try_publish(6 + number).unwrap());
        assert!(publisher.try_publish(0).is_err());
        assert!(stage.try_iter().eq(at + 1..7 + at));
    }
}

/// A publisher that laps a batch ends it: its last message has the flag, and the next call counts the lag.
#[test]
fn lagging_ends_a_batch() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4);
    let mut stage = subscribable.subscribe_tracked();
    publisher.publish_batch(&[0, 1, 2, 3]);
    let mut seen = Vec::new();
    let count = stage.try_process_batch(4, |number, end| {
        if *number == 0 {
            // Message 1 was copied ahead; 2 is overwritten.
            publisher.publish_batch(&[4, 5, 6]);
        }
        seen.push((*number, end));
    });
    assert_eq!((count, seen), (Ok(2), vec![(0, false), (1, true)]));
    assert_eq!((stage.total_lagged(), stage.try_process(|number| *number)), (0, Ok(3)));
    assert_eq!((stage.total_received(), stage.total_lagged(), stage.cursor()), (3, 1, 4));
}

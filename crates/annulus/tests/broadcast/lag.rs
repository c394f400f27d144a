//! One rule of loss: plain verbs count it and go on, verbs with `or_lag` report it, each lost message once.

use annulus::broadcast::{self, Lossless, Lossy, MayLose, Mode, Staged, Subscribable, Subscriber};
use annulus::{LossyRecvError, LossyTryRecvError, Receive, TryRecvError, WaitStrategy};

/// Of any mode: no bound says what the errors are.
fn all_there<M: Mode>(subscriber: &mut Subscriber<u64, M>) -> Vec<u64> {
    let mut messages = Vec::new();
    while let Ok(message) = subscriber.try_recv() {
        messages.push(message);
    }
    assert!(matches!(subscriber.try_recv(), Err(TryRecvError::Empty)));
    messages
}

fn all_received(receiver: &mut impl Receive<Item = u64>) -> Vec<u64> {
    std::iter::from_fn(|| receiver.try_recv().ok()).collect()
}

fn all_of_dyn(receiver: &mut dyn Receive<Item = u64>) -> Vec<u64> {
    std::iter::from_fn(|| receiver.try_recv().ok()).collect()
}

/// A ring of four slots in which messages 0 to 9 were published, and subscribers from before that.
fn lapped<const N: usize>() -> (broadcast::Publisher<u64>, Subscribable<u64>, [Subscriber<u64>; N]) {
    let (mut publisher, subscribable) = broadcast::lossy(4);
    let subscribers = [(); N].map(|()| subscribable.subscribe());
    publisher.publish_batch(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    (publisher, subscribable, subscribers)
}

/// The same, by itself, where only the bound of a trait is known, and where nothing is known.
#[test]
fn try_recv_after_a_lag_receives_all_that_is_there() {
    let (mut publisher, subscribable, [mut one, mut two, mut three]) = lapped();
    assert_eq!(all_there(&mut one), [6, 7, 8, 9]);
    assert_eq!(all_received(&mut two), [6, 7, 8, 9]);
    assert_eq!(all_of_dyn(&mut three), [6, 7, 8, 9]);
    for subscriber in [one, two, three] {
        assert_eq!((subscriber.total_received(), subscriber.total_lagged()), (4, 6));
    }
    let mut group = subscribable.subscribe_group::<2>();
    publisher.publish_batch(&[10, 11, 12, 13, 14]);
    assert_eq!(all_of_dyn(&mut group), [11, 12, 13, 14]);
    assert_eq!([0, 1].map(|member| group.total_lagged(member)), [1; 2]);
}

#[test]
fn try_recv_of_each_mode_has_one_signature() {
    let (mut publisher, subscribable) = broadcast::lossless::<u64>(4);
    let mut lossless: Subscriber<u64, Lossless> = subscribable.subscribe();
    let mut tap: Subscriber<u64, Lossy> = subscribable.subscribe_lossy();
    let mut stage: Subscriber<u64, Staged<Lossless>> = subscribable.subscribe_tracked();
    let mut staged_tap: Subscriber<u64, Staged<Lossy>> = subscribable.subscribe_lossy().after(&[&stage]);
    publisher.publish_batch(&[1, 2]).unwrap();
    assert_eq!(all_there(&mut lossless), [1, 2]);
    assert_eq!(all_there(&mut tap), [1, 2]);
    assert_eq!(all_there(&mut stage), [1, 2]);
    assert_eq!(all_there(&mut staged_tap), [1, 2]);
}

/// A verb that reports a lag.
type OrLag<M> = fn(&mut Subscriber<u64, M>) -> Result<u64, LossyTryRecvError<<M as Mode>::Corrupt>>;

fn or_lag_verbs<M: MayLose>() -> Vec<OrLag<M>> {
    vec![
        |subscriber| subscriber.try_recv_or_lag(),
        |subscriber| Ok(subscriber.recv_or_lag()?),
        |subscriber| subscriber.recv_or_lag_until(WaitStrategy::BusySpin),
        #[cfg(feature = "std")]
        |subscriber| subscriber.recv_or_lag_timeout(std::time::Duration::ZERO),
        #[cfg(feature = "std")]
        |subscriber| subscriber.recv_or_lag_until(std::time::Instant::now()),
        #[cfg(feature = "async")]
        |subscriber| Ok(pollster::block_on(subscriber.recv_or_lag_async())?),
    ]
}

/// What a verb reported is not reported again, and what a plain verb counted is not reported at all.
#[test]
fn lost_message_is_reported_once() {
    for verb in or_lag_verbs() {
        let (mut publisher, _subscribable, [mut reported, mut counted]) = lapped();
        assert_eq!(verb(&mut reported), Err(LossyTryRecvError::Lagged { skipped: 6 }));
        assert!((6..10).all(|number| verb(&mut reported) == Ok(number)));
        assert_eq!((reported.total_received(), reported.total_lagged()), (4, 6));

        assert_eq!((counted.try_recv(), counted.total_lagged()), (Ok(6), 6));
        assert!((7..10).all(|number| verb(&mut counted) == Ok(number)));
        publisher.publish_batch(&[10, 11, 12, 13, 14]);
        assert_eq!(verb(&mut counted), Err(LossyTryRecvError::Lagged { skipped: 1 }));
        assert_eq!(verb(&mut counted), Ok(11));
        drop(publisher);
        assert_eq!(counted.try_iter().count(), 3);
        assert_eq!(verb(&mut counted), Err(LossyTryRecvError::Closed));
    }
}

/// A stage reports what its upstreams lost, too, and has processed what it received before.
#[test]
fn stage_reports_what_its_upstream_lost() {
    for verb in or_lag_verbs() {
        let (mut publisher, subscribable) = broadcast::lossy::<u64>(4);
        let mut before = subscribable.subscribe_tracked();
        let mut stage = subscribable.subscribe().after(&[&before]);
        let mut last = subscribable.subscribe().after(&[&stage]);
        publisher.publish_batch(&[0, 1, 2, 3, 4, 5]);
        assert_eq!(verb(&mut before), Err(LossyTryRecvError::Lagged { skipped: 2 }));
        assert_eq!(verb(&mut before), Ok(2));
        assert_eq!(verb(&mut before), Ok(3));
        assert_eq!(verb(&mut stage), Err(LossyTryRecvError::Lagged { skipped: 2 }));
        assert_eq!(verb(&mut stage), Ok(2));
        assert_eq!((stage.total_received(), stage.total_lagged()), (1, 2));
        assert_eq!(last.try_recv(), Err(TryRecvError::Empty), "the stage has not come back");
        before.done();
        assert_eq!(verb(&mut stage), Ok(3));
        assert_eq!((last.try_recv(), last.total_lagged()), (Ok(2), 2));
    }
}

#[cfg(feature = "std")]
#[test]
fn ring_is_empty_when_the_time_has_passed() {
    let (publisher, subscribable) = broadcast::lossy::<u64>(4);
    let mut subscriber = subscribable.subscribe();
    let (short, now) = (std::time::Duration::from_millis(1), std::time::Instant::now());
    assert_eq!(subscriber.try_recv_or_lag(), Err(LossyTryRecvError::Empty));
    assert_eq!(subscriber.recv_or_lag_timeout(short), Err(LossyTryRecvError::Empty));
    assert_eq!(subscriber.recv_or_lag_until(now), Err(LossyTryRecvError::Empty));
    drop(publisher);
    assert_eq!(subscriber.recv_or_lag_timeout(short), Err(LossyTryRecvError::Closed));
    assert_eq!(subscriber.recv_or_lag(), Err(LossyRecvError::Closed));
}

/// Records have the same rule.
#[test]
fn records_are_counted_or_reported() {
    let (mut publisher, subscribable) = broadcast::bytes::lossy(64);
    let [mut counts, mut reports, mut waits] = [(); 3].map(|()| subscribable.subscribe());
    for byte in 0..5 {
        publisher.publish(&[byte; 32]).unwrap();
    }
    let mut buffer = Vec::new();
    let mut received = Vec::new();
    while counts.try_recv(&mut buffer).is_ok() {
        received.push(buffer[0]);
    }
    assert_eq!((received, counts.total_lagged()), (vec![3, 4], 3));
    assert_eq!(counts.try_recv_or_lag(&mut buffer), Err(LossyTryRecvError::Empty));

    let lagged = LossyTryRecvError::Lagged { skipped: 3 };
    assert_eq!(reports.try_recv_or_lag(&mut buffer), Err(lagged));
    assert_eq!(reports.try_recv_or_lag(&mut buffer), Ok(32));
    let spins = WaitStrategy::BusySpin;
    assert_eq!(waits.recv_or_lag_until(&mut buffer, spins), Err(lagged));
    assert_eq!(waits.recv_or_lag_until(&mut buffer, spins), Ok(32));
    #[cfg(feature = "std")]
    {
        let short = std::time::Duration::from_millis(1);
        assert_eq!(waits.recv_or_lag_timeout(&mut buffer, short), Ok(32));
        assert_eq!(waits.recv_or_lag_timeout(&mut buffer, short), Err(LossyTryRecvError::Empty));
        drop(publisher);
        assert_eq!(waits.recv_or_lag_timeout(&mut buffer, short), Err(LossyTryRecvError::Closed));
    }
}

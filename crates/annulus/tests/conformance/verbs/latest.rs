//! The newest message, beside publishers: there always is one.

use annulus::Shutdown;
use annulus::broadcast::{MpPublisher, Publisher, Subscribable};

use crate::every::{join, spawn};

/// Messages of a batch.
const LENGTH: usize = if cfg!(miri) { 20 } else { 1 << 18 };

const LOOKS: usize = if cfg!(miri) {
    5
} else if cfg!(debug_assertions) {
    1_000
} else {
    20_000
};

/// More slots than publishers, so that some message stands at every moment.
const CAPACITY: usize = 8;

/// `latest` finds something, and so does the receive after `skip_to_latest`, however much `publishers` have
/// claimed.
fn something_is_there<P: Send + 'static>(
    publishers: Vec<P>,
    publish_batch: fn(&mut P, &[u64]),
    subscribable: &Subscribable<u64>,
) {
    let stop = Shutdown::new();
    let writers: Vec<_> = publishers
        .into_iter()
        .map(|mut publisher| {
            let stop = stop.clone();
            spawn(move || {
                let batch = vec![7; LENGTH];
                while !stop.is_shutdown() {
                    publish_batch(&mut publisher, &batch);
                }
            })
        })
        .collect();
    for look in 0..LOOKS {
        let mut subscriber = subscribable.subscribe_from_oldest();
        assert_eq!(subscriber.latest(), Some(7), "look {look}");
        let before = subscriber.cursor();
        let (skipped, lagged) = (subscriber.skip_to_latest(), subscriber.total_lagged());
        assert_eq!(subscriber.cursor(), before + skipped);
        assert!(lagged >= skipped);
        if skipped > 0 {
            // Overwritten meanwhile, perhaps; but written.
            assert_ne!(subscriber.try_recv_or_lag(), Err(annulus::LossyTryRecvError::Empty), "look {look}");
        }
    }
    stop.trigger();
    join(writers);
}

#[test]
fn latest_finds_something_beside_two_publishers() {
    let (mut publisher, subscribable) = annulus::broadcast::mp_lossy::<u64>(CAPACITY);
    publisher.publish(7);
    let publishers = vec![publisher.clone(), publisher];
    let publish_batch: fn(&mut MpPublisher<u64>, &[u64]) =
        |publisher, batch| _ = publisher.publish_batch(batch);
    something_is_there(publishers, publish_batch, &subscribable);
}

#[test]
fn latest_finds_something_beside_one_publisher() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(CAPACITY);
    publisher.publish(7);
    let publish_batch: fn(&mut Publisher<u64>, &[u64]) =
        |publisher, batch| _ = publisher.publish_batch(batch);
    something_is_there(vec![publisher], publish_batch, &subscribable);
}

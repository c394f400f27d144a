//! What the front page says of `fork()`: a ring is copied, not shared.
#![cfg(all(target_os = "linux", not(miri)))]

use crate::support::fork::in_a_child;

/// A subscriber whose thread stayed behind moves no more, so the publisher's copy fills up for good; and what
/// it publishes reaches nobody.
#[test]
fn forked_process_has_a_ring_of_its_own() {
    let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(4);
    let mut subscriber = subscribable.subscribe();
    publisher.publish(1).unwrap();

    let published = || {
        let mut published = 0;
        while published < 100 && publisher.try_publish(0).is_ok() {
            published += 1;
        }
        published
    };
    // SAFETY: it only touches its memory, which neither allocates nor takes a lock.
    let published = unsafe { in_a_child(published) };
    assert_eq!(published, 3, "three more slots, and nobody reads");

    assert_eq!(subscriber.try_recv(), Ok(1));
    assert!(subscriber.try_recv().is_err(), "nothing came from there");
    (2..6).for_each(|number| publisher.publish(number).unwrap());
    assert_eq!(subscriber.try_iter().count(), 4);
}

//! Closes from elsewhere, at their edges.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use annulus::Settings;
use annulus::broadcast;
use annulus::queue::ordered;
use annulus::{
    LossyTryRecvError, RecvError, SendTimeoutError, Shutdown, Transmit, TryRecvError, TrySendError,
    WaitStrategy, mpmc, mpsc, spmc, spsc,
};

use crate::support::{join, spawn, without_standing_still};

static_assertions::assert_impl_all!(annulus::Closer: Clone, Send, Sync, std::fmt::Debug);

/// Whatever it closes: the handle of the ring, and the closer, say so.
#[test]
fn closer_says_whether_it_is_closed() {
    let (publisher, _subscribable) = annulus::broadcast::lossy::<u64>(4);
    let (producer, _consumer) = spsc::channel::<u64>(4);
    for (closer, is_closed) in [
        (publisher.closer(), Box::new(|| publisher.is_closed()) as Box<dyn Fn() -> bool>),
        (producer.closer(), Box::new(|| producer.is_closed())),
    ] {
        assert_eq!((format!("{closer:?}").as_str(), is_closed()), ("Closer { closed: false }", false));
        closer.close();
        assert_eq!((format!("{closer:?}").as_str(), is_closed()), ("Closer { closed: true }", true));
    }
}

/// An event whose closure panicked is not waited for, neither by a later close nor by one during the closure.
#[test]
fn event_whose_closure_panicked_is_not_the_last() {
    for during in [false, true] {
        let (mut publisher, subscribable) = annulus::event::channel(2, || 0);
        let mut subscriber = subscribable.subscribe();
        publisher.publish(|event| *event = 1).unwrap();
        let closer = publisher.closer();
        let panic = catch_unwind(AssertUnwindSafe(|| {
            let change = |_: &mut i32| {
                if during {
                    closer.close();
                }
                resume_unwind(Box::new("on purpose"))
            };
            publisher.publish(change).is_ok()
        }));
        panic.unwrap_err();
        if !during {
            assert_eq!(subscriber.len(), 1);
            closer.close();
        }
        assert!(publisher.publish(|event| *event = 2).is_err());
        assert_eq!((publisher.published(), subscriber.recv()), (1, Ok(1)));
        assert_eq!(subscriber.try_recv(), Err(TryRecvError::Closed), "closed during the closure: {during}");
        assert_eq!(subscribable.subscribe().cursor(), 1);
    }
}

/// After a panic the same place is used again.
#[test]
fn panic_ends_nothing() {
    let (mut publisher, subscribable) = annulus::event::channel(2, || 0);
    let mut subscriber = subscribable.subscribe();
    for lap in 0..5 {
        let panicking = |_: &mut i32| resume_unwind(Box::new("on purpose"));
        catch_unwind(AssertUnwindSafe(|| publisher.publish(panicking).is_ok())).unwrap_err();
        publisher.publish(|event| *event = lap).unwrap();
        assert_eq!(subscriber.recv(), Ok(lap));
    }
    publisher.close();
    assert_eq!(subscriber.recv(), Err(RecvError::CLOSED));
}

/// An event that is being changed when the ring is closed is published, and the last.
#[test]
fn event_that_is_being_changed_is_the_last() {
    let (mut publisher, subscribable) = annulus::event::channel(2, || 0);
    let mut subscriber = subscribable.subscribe();
    let closer = publisher.closer();
    let change = |event: &mut i32| {
        closer.close();
        *event = 7;
    };
    assert!(publisher.publish(change).is_ok());
    assert!(publisher.try_publish(|event| *event = 8).is_err());
    assert_eq!(publisher.send(9).unwrap_err().into_inner(), 9);
    assert_eq!((subscriber.recv(), subscriber.recv()), (Ok(7), Err(RecvError::CLOSED)));
}

/// What is refused takes its slot all the same: a lossy subscriber exactly a lap behind loses the oldest
/// message, and counts it.
#[test]
fn subscriber_a_lap_behind_a_close_loses_one_at_most() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy(4);
    let mut subscriber = subscribable.subscribe();
    publisher.publish_batch(&[0, 1, 2, 3]);
    subscribable.closer().close();
    assert!(subscribable.is_closed() && publisher.is_closed());
    publisher.publish_batch(&[4, 5]);
    publisher.publish(6);
    assert_eq!((publisher.published(), subscriber.len()), (4, 3));
    assert_eq!(subscriber.try_recv_or_lag(), Err(LossyTryRecvError::Lagged { skipped: 1 }));
    assert_eq!(subscriber.latest(), Some(3));
    assert_eq!(subscriber.try_recv(), Err(TryRecvError::Closed));
    let mut late = subscribable.subscribe_from_oldest();
    assert_eq!(late.try_iter().collect::<Vec<_>>(), [1, 2, 3]);
}

/// Each verb of a lossless publisher gives back what a closed ring does not take.
#[test]
fn verbs_give_messages_after_a_close_back() {
    let (mut one, _subscribable) = annulus::broadcast::lossless(4);
    let (many, _subscribable) = annulus::broadcast::mp_lossless(4);
    one.publish_batch(&[1, 2]).unwrap();
    one.close();
    many.close();
    let (spin, no_time) = (WaitStrategy::BusySpin, Duration::ZERO);
    assert_eq!(one.publish_until(7, spin).unwrap_err().into_inner(), 7);
    assert_eq!(one.publish_with(|| 7).unwrap_err().0, 7);
    assert!(one.try_publish(7) == Err(TrySendError::Closed(7)));
    assert!(one.publish_timeout(7, no_time) == Err(SendTimeoutError::Closed(7)));
    assert_eq!(one.publish_batch(&[7, 8]).unwrap_err().0, [7, 8]);
    assert!(one.publish_batch_timeout(&[7, 8], no_time) == Err(SendTimeoutError::Closed(&[7, 8][..])));
    assert_eq!(many.publish_until(7, spin).unwrap_err().into_inner(), 7);
    assert!(many.try_publish(7) == Err(TrySendError::Closed(7)));
    assert!(many.publish_timeout(7, no_time) == Err(SendTimeoutError::Closed(7)));
    assert_eq!(many.publish_batch(&[7, 8]).unwrap_err().0, [7, 8]);
    assert_eq!((one.published(), many.published()), (2, 0));

    let (mut lossy, _subscribable) = annulus::broadcast::mp_lossy(4);
    lossy.publish(1);
    lossy.close();
    lossy.publish(7);
    lossy.publish_batch(&[7; 9]);
    assert!(lossy.try_send(7) == Err(TrySendError::Closed(7)));
    assert!(lossy.is_closed() && lossy.published() == 1);

    let (mut events, _subscribable) = annulus::event::mp_channel(4, || 0);
    events.close();
    assert!(events.try_publish(|event| *event = 1).is_err() && events.publish(|event| *event = 1).is_err());
    assert_eq!(events.send(7).unwrap_err().0, 7);
}

/// Every sleeper of any attached ring is woken; what is attached later is closed at once.
#[test]
fn shutdown_wakes_all_sleepers_of_its_rings() {
    without_standing_still(|| {
        let shutdown = Shutdown::new();
        let mut asleep = Vec::new();
        let mut kept: Vec<Box<dyn std::any::Any>> = Vec::new();
        macro_rules! receiver {
            ($ends:expr) => {{
                let (publisher, source) = $ends;
                shutdown.attach(source.closer());
                let mut subscriber = source.subscribe();
                asleep.push(spawn(move || subscriber.recv().is_err()));
                kept.push(Box::new((publisher, source)));
            }};
            (queue $ends:expr) => {{
                #[allow(unused_mut, reason = "not of all kinds")]
                let (producer, mut consumer) = $ends;
                shutdown.attach(producer.closer());
                asleep.push(spawn(move || consumer.recv().is_err()));
                kept.push(Box::new(producer));
            }};
        }
        receiver!(annulus::broadcast::lossy::<u64>(8));
        receiver!(annulus::broadcast::lossless::<u64>(8));
        receiver!(annulus::broadcast::mp_lossy::<u64>(8));
        receiver!(annulus::broadcast::mp_lossless::<u64>(8));
        receiver!(annulus::event::channel(8, || 0));
        receiver!(annulus::event::mp_channel(8, || 0));
        receiver!(queue spsc::channel::<u64>(8));
        receiver!(queue mpsc::channel::<u64>(8));
        receiver!(queue spmc::channel::<u64>(8));
        receiver!(queue mpmc::channel::<u64>(8));
        receiver!(queue ordered::channel::<u64>(8));
        // A publisher that sleeps at the gate.
        let (mut publisher, source) = broadcast::lossless_with::<u64>(Settings::new(2)).unwrap();
        let _subscriber = source.subscribe();
        publisher.publish_batch(&[1, 2]).unwrap();
        shutdown.attach(publisher.closer());
        asleep.push(spawn(move || publisher.publish(3).is_err()));
        // Not a synchronisation: it lets them lie down, so that there is somebody to wake.
        thread::sleep(Duration::from_millis(5));
        shutdown.trigger();
        assert!(join(asleep).into_iter().all(|refused| refused));

        let (producer, consumer) = spsc::channel::<u64>(8);
        shutdown.clone().attach(consumer.closer());
        assert!(producer.is_closed());
    });
}

/// Neither a closer nor a shutdown keeps a ring, nor what is in it.
#[test]
fn shutdown_does_not_keep_attached_rings() {
    let shutdown = Shutdown::new();
    let message = Arc::new(());
    for _ in 0..100 {
        let (mut producer, consumer) = spsc::channel(8);
        let (sender, receiver) = ordered::channel(8);
        shutdown.attach(producer.closer());
        shutdown.attach(receiver.closer());
        producer.send(Arc::clone(&message)).unwrap();
        sender.send(Arc::clone(&message)).unwrap();
        drop((producer, consumer, sender, receiver));
        assert_eq!(Arc::strong_count(&message), 1);
    }
    drop(shutdown.clone());
    shutdown.trigger();
    shutdown.trigger();
}

/// Rings that come and go beside a trigger: each is closed by the time that both are over.
#[test]
fn rings_attached_beside_a_trigger_are_closed() {
    for _ in 0..if cfg!(miri) { 3 } else { 200 } {
        let shutdown = Shutdown::new();
        let attaching = [(); 2].map(|()| {
            let shutdown = shutdown.clone();
            spawn(move || {
                let rings: Vec<_> = (0..8).map(|_| annulus::broadcast::mp_lossy::<u64>(2)).collect();
                for (publisher, _) in &rings {
                    shutdown.attach(publisher.closer());
                }
                rings
            })
        });
        shutdown.trigger();
        assert!(join(attaching).iter().flatten().all(|(publisher, _)| publisher.is_closed()));
    }
}

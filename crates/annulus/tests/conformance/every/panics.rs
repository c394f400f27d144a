//! Panics: nothing is published by half, no handle is held up by one that is gone, and the others continue.

use std::panic::resume_unwind;

use annulus::{LossyTryRecvError, RecvError};

use super::spawn;
use crate::rings::{Publish, Receive, Ring};

/// Dies without a word on the terminal.
fn die() -> ! {
    resume_unwind(Box::new("on purpose"))
}

/// A closure that was to make or change a message, and panics: nothing is published, and both this publisher
/// and another one go on as if nothing had been.
pub(crate) fn closure_that_panics_publishes_nothing<R: Ring>() {
    let (mut publisher, source) = R::new(3);
    let mut subscriber = R::subscribe(&source);
    for lap in 0..4 {
        publisher.publish_panicking();
        assert_eq!(publisher.published(), 3 * lap);
        assert_eq!(subscriber.try_recv(), Err(LossyTryRecvError::Empty));
        publisher.publish(3 * lap).unwrap();
        publisher.publish_panicking();
        match publisher.another() {
            Some(mut other) => {
                other.publish_panicking();
                other.publish(3 * lap + 1).unwrap();
            }
            None => publisher.publish(3 * lap + 1).unwrap(),
        }
        publisher.publish(3 * lap + 2).unwrap();
        for number in 3 * lap..3 * lap + 3 {
            assert_eq!(subscriber.recv(), Ok(number));
        }
    }
    // In a full ring too, where it finds out about the room before or after.
    let mut behind = R::subscribe(&source);
    (0..3).for_each(|number| publisher.publish(number).unwrap());
    if !R::LOSSLESS {
        publisher.publish_panicking();
    }
    drop(publisher);
    (0..3).for_each(|number| assert_eq!(behind.recv(), Ok(number)));
    assert_eq!(behind.recv(), Err(RecvError::CLOSED));
}

/// What is read by reference counts as processed when its handler panics: it is not handed out again, and
/// publishers don't wait for it.
pub(crate) fn message_of_a_panicked_handler_is_processed<R: Ring>() {
    let (mut publisher, source) = R::new(2);
    let mut subscriber = R::subscribe(&source);
    for lap in 0..4 {
        publisher.publish(2 * lap).unwrap();
        publisher.publish(2 * lap + 1).unwrap();
        let panicked = subscriber.panic_on_next();
        if panicked {
            assert_eq!(subscriber.received(), 2 * lap + 1);
        } else {
            assert_eq!(subscriber.recv(), Ok(2 * lap));
        }
        assert_eq!(subscriber.recv(), Ok(2 * lap + 1));
    }
}

/// A subscriber whose thread dies leaves the gate: publishers and the other subscribers go on.
pub(crate) fn panicked_subscriber_holds_no_publisher_up<R: Ring>() {
    let (mut publisher, source) = R::new(2);
    let mut other = R::subscribe(&source);
    let mut victim = R::subscribe(&source);
    let thread = spawn(move || {
        victim.recv().unwrap();
        die();
    });
    publisher.publish(0).unwrap();
    assert_eq!(other.recv(), Ok(0));
    // The publisher may have to wait for the victim's end.
    for number in 1..20 {
        publisher.publish(number).unwrap();
        assert_eq!(other.recv(), Ok(number));
    }
    thread.join().unwrap_err();
}

/// A publisher whose thread dies is gone as if dropped: with the last one the ring closes, and not before.
pub(crate) fn publisher_that_panics_closes_if_it_was_the_last<R: Ring>() {
    let (publisher, source) = R::new(4);
    let mut subscriber = R::subscribe(&source);
    let survivor = publisher.another();
    let mut victim = publisher;
    let thread = spawn(move || {
        victim.publish(1).unwrap();
        die();
    });
    assert_eq!(subscriber.recv(), Ok(1));
    thread.join().unwrap_err();
    if let Some(mut survivor) = survivor {
        assert_eq!(subscriber.try_recv(), Err(LossyTryRecvError::Empty));
        survivor.publish(2).unwrap();
        drop(survivor);
        assert_eq!(subscriber.recv(), Ok(2));
    }
    assert_eq!(subscriber.recv(), Err(RecvError::CLOSED));
    assert!(R::is_closed(&source));
}

//! Which handles are `Clone`, `Send`, `Sync`, an error, and what they print.

use annulus::broadcast::{
    DependencyBarrier, Lossless, Lossy, MpPublisher, Publisher, Staged, Subscribable, Subscriber,
    SubscriberGroup,
};
use annulus::event::{self, Ref};
use annulus::{
    CapacityError, RecvError, SendError, SendTimeoutError, TryRecvError, TrySendError, UpstreamError,
};
use static_assertions::{assert_impl_all, assert_not_impl_any};
use std::cell::Cell;
use std::rc::Rc;

assert_impl_all!(Publisher<u64, Lossless>: Send);
assert_not_impl_any!(Publisher<u64, Lossless>: Clone);
assert_impl_all!(MpPublisher<u64>: Clone, Send, Sync);
assert_impl_all!(MpPublisher<u64, Lossless>: Clone, Send, Sync);
assert_impl_all!(event::Publisher<String>: Send);
assert_not_impl_any!(event::Publisher<String>: Clone);
assert_impl_all!(event::MpPublisher<String>: Clone, Send, Sync);
assert_impl_all!(event::Publisher<String, fn(&mut String)>: Send);
assert_impl_all!(event::MpPublisher<String, fn(&mut String)>: Clone, Send, Sync);

assert_impl_all!(Subscribable<u64, Lossless>: Clone, Send, Sync);
assert_impl_all!(event::Subscribable<String>: Clone, Send, Sync);

assert_impl_all!(Subscriber<u64, Lossless>: Clone, Send, IntoIterator);
assert_impl_all!(Subscriber<u64, Staged<Lossy>>: Send, IntoIterator);
assert_impl_all!(Subscriber<u64, Staged<Lossless>>: Send, IntoIterator);
assert_impl_all!(event::Subscriber<String>: Clone, Send, IntoIterator);
assert_impl_all!(event::Subscriber<String, Staged<Lossless>>: Send, IntoIterator);
// Only what is `Clone` comes out by value.
assert_not_impl_any!(event::Subscriber<std::sync::Mutex<u64>>: IntoIterator);
// Those that follow a stage would not follow its clone.
assert_not_impl_any!(Subscriber<u64, Staged<Lossy>>: Clone);
assert_not_impl_any!(Subscriber<u64, Staged<Lossless>>: Clone);
assert_not_impl_any!(event::Subscriber<String, Staged<Lossless>>: Clone);
assert_impl_all!(SubscriberGroup<u64, 3>: Send);
assert_impl_all!(SubscriberGroup<u64, 3, Lossless>: Send);
assert_impl_all!(DependencyBarrier: Clone, Send, Sync);
assert_impl_all!(Ref<'static, String>: std::ops::Deref<Target = String>);

// Values that must not be read, or moved, by several threads, must not go through a ring by reference.
assert_not_impl_any!(event::Subscriber<Cell<u64>>: Send);
assert_not_impl_any!(event::Publisher<Rc<u64>>: Send);
assert_not_impl_any!(event::MpPublisher<Rc<u64>>: Send);
assert_not_impl_any!(event::Subscribable<Cell<u64>>: Send, Sync);

assert_impl_all!(CapacityError: std::error::Error, Clone, Eq, Send, Sync);
assert_impl_all!(RecvError: std::error::Error, Copy, Eq, Send, Sync);
assert_impl_all!(TryRecvError: std::error::Error, Copy, Eq, Send, Sync);
assert_impl_all!(UpstreamError: std::error::Error, Copy, Eq, Send, Sync);
assert_impl_all!(SendError<u64>: std::error::Error, Copy, Eq, Send, Sync);
assert_impl_all!(TrySendError<u64>: std::error::Error, Copy, Eq, Send, Sync);
assert_impl_all!(SendTimeoutError<u64>: std::error::Error, Copy, Eq, Send, Sync);

/// An error says what happened, never the value: that may be a closure, or large, or secret.
#[test]
fn errors_give_advice_and_hide_the_value() {
    let secret = "a secret";
    for (debug, display, part) in [
        (format!("{:?}", SendError(secret)), SendError(secret).to_string(), "nobody is left"),
        (format!("{:?}", TrySendError::Full(secret)), TrySendError::Full(secret).to_string(), "full"),
        (
            format!("{:?}", TrySendError::Closed(secret)),
            TrySendError::Closed(secret).to_string(),
            "nobody is left",
        ),
        (
            format!("{:?}", SendTimeoutError::Timeout(secret)),
            SendTimeoutError::Timeout(secret).to_string(),
            "in time",
        ),
        (
            format!("{:?}", SendTimeoutError::Closed(secret)),
            SendTimeoutError::Closed(secret).to_string(),
            "nobody is left",
        ),
    ] {
        assert!(!debug.contains(secret) && !display.contains(secret), "{debug}: {display}");
        assert!(display.contains(part), "{display}");
    }
    assert_eq!(SendError(7).into_inner(), 7);
    assert_eq!([TrySendError::Full(7), TrySendError::Closed(7)].map(|error| error.is_full()), [true, false]);
    assert_eq!(TrySendError::from(SendError(7)), TrySendError::Closed(7));
    assert_eq!(TrySendError::Full(7).into_inner(), 7);
    assert_eq!(SendTimeoutError::from(SendError(7)).into_inner(), 7);
    assert_eq!(<TryRecvError>::Empty.to_string(), <annulus::LossyTryRecvError>::Empty.to_string());
    assert_eq!(<annulus::LossyTryRecvError>::from(TryRecvError::Closed), annulus::LossyTryRecvError::Closed);
}

#[test]
fn debug_output_says_how_far_each_end_is() {
    let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(4);
    let mut subscriber = subscribable.subscribe();
    let mut stage = subscribable.subscribe_tracked();
    let barrier = DependencyBarrier::new(&[&stage]);
    publisher.publish_batch(&[1, 2]).unwrap();
    subscriber.try_recv().unwrap();
    stage.try_recv().unwrap();
    stage.done();
    assert_eq!(format!("{publisher:?}"), "Publisher { published: 2, capacity: 4 }");
    assert_eq!(format!("{subscriber:?}"), "Subscriber { cursor: 1, received: 1, lagged: 0, .. }");
    assert_eq!(format!("{barrier:?}"), "DependencyBarrier { upstreams: 1, processed: Some(0..1) }");
    drop(stage);
    assert_eq!(format!("{barrier:?}"), "DependencyBarrier { upstreams: 1, processed: None }");

    let (mut publisher, subscribable) = annulus::broadcast::mp_lossy::<u64>(4);
    let mut group = subscribable.subscribe_group::<2>();
    group.pause(0);
    publisher.publish(1);
    assert_eq!(format!("{publisher:?}"), "MpPublisher { published: 1, capacity: 4 }");
    assert!(format!("{group:?}").starts_with("SubscriberGroup { members: 2, aligned: 1"), "{group:?}");

    let (mut publisher, subscribable) = annulus::event::channel(4, || 7);
    let mut subscriber = subscribable.subscribe();
    publisher.publish(|_| ()).unwrap();
    assert_eq!(format!("{publisher:?}"), "Publisher { published: 1, capacity: 4 }");
    assert_eq!(format!("{subscribable:?}"), "Subscribable { capacity: 4, closed: false }");
    assert_eq!(format!("{:?}", subscriber.peek()), "Some(7)");
    assert_eq!(format!("{subscriber:?}"), "Subscriber { cursor: 0, received: 0, .. }");

    let (mut publisher, _subscribable) = annulus::event::mp_channel(4, || 7);
    publisher.publish(|_| ()).unwrap();
    assert_eq!(format!("{publisher:?}"), "MpPublisher { published: 1, capacity: 4 }");
}

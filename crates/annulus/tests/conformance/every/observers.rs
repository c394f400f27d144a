//! Rings with a name, as `Observer::list` has them.

use annulus::Observer;

use crate::rings::{Publish, Ring};

/// A ring is in the list from its first handle to its last one, whichever side goes first, and also if a side
/// has gone and a handle of the other one brings it back.
pub(crate) fn side_that_comes_back_is_listed_again<R: Ring>() {
    // No other test has a ring of this name.
    let name = std::any::type_name::<R>();
    let listed = || Observer::named(name).len();

    let (publisher, source) = R::named(name);
    let subscriber = R::subscribe(&source);
    let observer = Observer::named(name).remove(0);
    drop(source);
    drop(subscriber);
    for _ in 0..3 {
        assert_eq!((listed(), observer.is_gone()), (1, false), "a publisher is there");
        drop(publisher.receiving_handle());
    }
    let back = publisher.receiving_handle();
    drop(publisher);
    assert_eq!(listed(), usize::from(back.is_some()), "a handle that receives is there");
    drop(back);
    assert_eq!((listed(), observer.is_gone()), (0, true));

    let (publisher, source) = R::named(name);
    let subscriber = R::subscribe(&source);
    drop(publisher);
    drop(source);
    assert_eq!(listed(), 1, "a subscriber is there");
    drop(subscriber);
    assert_eq!(listed(), 0);
}

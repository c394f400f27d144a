//! Owned values go exactly once, whoever goes last, and whatever panics on the way.

#![allow(clippy::disallowed_types, reason = "what the test counts is none of the library's atomics")]

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::every::join;

/// How many values were made, and how many are gone.
#[derive(Default)]
struct Count {
    made: AtomicUsize,
    gone: AtomicUsize,
}

impl Count {
    fn alive(&self) -> usize {
        self.made.load(Ordering::Relaxed) - self.gone.load(Ordering::Relaxed)
    }
}

/// A value that counts. What it owns would be freed twice, or never, where the count is wrong.
struct Counted {
    count: Arc<Count>,
    text: String,
    here: bool,
}

impl Counted {
    fn new(count: &Arc<Count>) -> Self {
        count.made.fetch_add(1, Ordering::Relaxed);
        Self { count: Arc::clone(count), text: String::new(), here: true }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        assert!(std::mem::replace(&mut self.here, false), "dropped twice");
        self.count.gone.fetch_add(1, Ordering::Relaxed);
    }
}

/// A factory of such values.
fn factory(count: &Arc<Count>) -> impl Fn() -> Counted + Send + Sync + use<> {
    let count = Arc::clone(count);
    move || Counted::new(&count)
}

#[test]
fn the_last_handle_takes_the_events_with_it() {
    for last in 0..3 {
        let count = Arc::default();
        let (mut publisher, subscribable) = annulus::event::channel(5, factory(&count));
        let subscriber = subscribable.subscribe();
        (0..5).for_each(|number| publisher.publish(|event| event.text = number.to_string()).unwrap());
        assert_eq!(count.alive(), 5);
        let mut handles: [Box<dyn Send>; 3] =
            [Box::new(publisher), Box::new(subscribable), Box::new(subscriber)];
        handles.rotate_left(last);
        for (left, handle) in (0..3).rev().zip(handles) {
            drop(handle);
            assert_eq!(count.alive(), if left == 0 { 0 } else { 5 });
        }
        assert_eq!(count.made.load(Ordering::Relaxed), 5);
    }
}

/// Each of many publishers has an event of its own, which goes with it; swapping loses none.
#[test]
fn spares_go_with_their_publishers() {
    let count = Arc::default();
    let (publisher, subscribable) = annulus::event::mp_channel(5, factory(&count));
    let mut subscriber = subscribable.subscribe();
    assert_eq!(count.alive(), 6);
    let publishers: Vec<_> = (0..3).map(|_| publisher.clone()).collect();
    assert_eq!(count.alive(), 9);
    let threads: Vec<_> = publishers
        .into_iter()
        .map(|mut publisher| {
            thread::spawn(move || {
                (0..50)
                    .for_each(|number| publisher.publish(|event| event.text = number.to_string()).unwrap());
            })
        })
        .collect();
    drop(publisher);
    let mut received = 0;
    while let Ok(length) = subscriber.process(|event| event.text.len()) {
        assert!(length > 0);
        received += 1;
    }
    join(threads);
    assert_eq!((received, count.alive()), (150, 5));
    drop((subscriber, subscribable));
    assert_eq!((count.alive(), count.made.load(Ordering::Relaxed)), (0, 9));
}

/// A value that a closure replaces goes at once; panics on either side lose none and free none twice.
#[test]
fn panics_lose_nothing_and_free_nothing_twice() {
    let count = Arc::default();
    let make = factory(&count);
    {
        let (mut publisher, subscribable) = annulus::event::channel(3, &make);
        let mut subscriber = subscribable.subscribe();
        publisher.publish(|event| *event = make()).unwrap();
        assert_eq!(count.alive(), 3);
        let panicking = |event: &mut Counted| {
            *event = make();
            resume_unwind(Box::new("on purpose"))
        };
        catch_unwind(AssertUnwindSafe(|| publisher.publish(panicking).unwrap())).unwrap_err();
        let process = || subscriber.process(|_| resume_unwind(Box::new("on purpose")));
        catch_unwind(AssertUnwindSafe(process)).unwrap_err();
        assert_eq!(count.alive(), 3);
    }
    assert_eq!(count.alive(), 0);
    {
        let (mut publisher, subscribable) = annulus::event::mp_channel(3, factory(&count));
        let _subscriber = subscribable.subscribe();
        let panicking = |_: &mut Counted| resume_unwind(Box::new("on purpose"));
        catch_unwind(AssertUnwindSafe(|| publisher.publish(panicking).unwrap())).unwrap_err();
        (0..3).for_each(|_| publisher.publish(|_| ()).unwrap());
        assert!(publisher.try_publish(|_| ()).is_err());
        assert_eq!(count.alive(), 4);
    }
    assert_eq!(count.alive(), 0);
}

/// Makes `most` values, then panics.
fn until(count: &Arc<Count>, most: usize) -> impl Fn() -> Counted + Send + Sync + use<> {
    let count = Arc::clone(count);
    move || {
        if count.made.load(Ordering::Relaxed) == most {
            resume_unwind(Box::new("on purpose"));
        }
        Counted::new(&count)
    }
}

/// A factory that panics: no ring, nothing left behind; a clone that can't be made leaves the original as it
/// was.
#[test]
fn a_factory_that_panics_leaves_nothing_behind() {
    let count = Arc::default();
    catch_unwind(|| drop(annulus::event::channel(5, until(&count, 3)))).unwrap_err();
    assert_eq!(count.alive(), 0);
    for most in [8, 10] {
        // In the middle of the slots, and at the publisher's own event.
        let most = count.made.load(Ordering::Relaxed) + most - 5;
        catch_unwind(|| drop(annulus::event::mp_channel(5, until(&count, most)))).unwrap_err();
        assert_eq!(count.alive(), 0);
    }
    let most = count.made.load(Ordering::Relaxed) + 6;
    let (mut publisher, subscribable) = annulus::event::mp_channel(5, until(&count, most));
    let mut subscriber = subscribable.subscribe();
    catch_unwind(AssertUnwindSafe(|| drop(publisher.clone()))).unwrap_err();
    assert!(!subscriber.is_closed());
    publisher.publish(|event| event.text.push('a')).unwrap();
    assert_eq!(subscriber.try_process(|event| event.text.len()), Ok(1));
    drop(publisher);
    assert!(subscriber.is_closed(), "the clone that was not made counts for nothing");
    drop((subscriber, subscribable));
    assert_eq!(count.alive(), 0);
}

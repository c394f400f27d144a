//! Topics that are made while a subscriber receives from all that match, and patterns that come while topics
//! are made.

use std::thread;

use annulus::bus::{Bus, TopicError};

#[cfg(all(feature = "async", feature = "std"))]
mod amid {
    //! What another thread sees while a topic is being made. A task that waits at the first of two patterns
    //! is woken by the thread that makes the topic, and its waker does what the other thread would do.

    use std::future::Future;
    use std::pin::pin;
    use std::sync::{Arc, Mutex};
    use std::task::{Context, Wake};

    use annulus::Worker;
    use annulus::bus::{Bus, MatchingSubscriber, TypedBus};

    type Action<R> = Box<dyn FnOnce() -> R + Send>;

    /// A waker that does something once, and keeps what comes of it.
    struct Amid<R>(Mutex<(Option<Action<R>>, Option<R>)>);

    impl<R: Send + 'static> Wake for Amid<R> {
        fn wake(self: Arc<Self>) {
            let action = self.0.lock().unwrap().0.take();
            if let Some(action) = action {
                let result = action();
                self.0.lock().unwrap().1 = Some(result);
            }
        }
    }

    /// What `action` returns, which is called while `makes` makes a topic of which `first` is told first.
    fn amid<R: Send + 'static>(
        mut first: MatchingSubscriber<u64>,
        action: impl FnOnce() -> R + Send + 'static,
        makes: impl FnOnce(),
    ) -> R {
        let amid = Arc::new(Amid(Mutex::new((Some(Box::new(action) as Action<R>), None))));
        {
            let waker = Arc::clone(&amid).into();
            let mut future = pin!(first.recv_async());
            assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            makes();
        }
        let result = amid.0.lock().unwrap().1.take();
        result.expect("the first one is told of the topic")
    }

    /// A thread that finds a topic finds it with all patterns that match: a message has come when its
    /// `publish` returns.
    #[test]
    fn a_message_comes_to_all_that_match() {
        let bus = Arc::new(Bus::<u64>::new(8));
        let first = bus.subscribe_matching("*").unwrap();
        let mut second = bus.subscribe_matching("*").unwrap();
        let finds = {
            let bus = Arc::clone(&bus);
            move || {
                bus.publisher("a").publish(7);
                let found = second.try_recv().map(|(topic, number)| (topic.to_owned(), number));
                (found, second)
            }
        };
        let (found, mut second) = amid(first, finds, || drop(bus.subscribe("a")));
        assert_eq!(found, Ok(("a".to_owned(), 7)));
        bus.publisher("a").publish(8);
        assert_eq!(second.try_recv(), Ok(("a", 8)));
        assert!(second.try_recv().is_err());
        assert_eq!(second.topics().collect::<Vec<_>>(), ["a"], "the one that came too late is left");
        assert_eq!(bus.topics().len(), 1);
    }

    /// The message comes before the stop, so the handler gets it.
    #[test]
    fn a_stop_comes_after_the_message() {
        let bus = Arc::new(Bus::<u64>::new(8));
        let first = bus.subscribe_matching("*").unwrap();
        let second = bus.subscribe_matching("*").unwrap();
        let handler = |sum: &mut u64, (_, number): (Arc<str>, u64), _| *sum += number;
        let worker = Worker::builder(second, 0).spawn(handler).unwrap();
        let stops = {
            let bus = Arc::clone(&bus);
            move || {
                bus.publisher("a").publish(7);
                worker.stop();
                worker.join().unwrap()
            }
        };
        let finished = amid(first, stops, || drop(bus.subscribe("a")));
        assert_eq!((finished.context, finished.messages), (7, 1));
    }

    /// A pattern for another type is no receiver of the topic, not for a moment.
    #[test]
    fn pattern_of_another_type_is_no_receiver() {
        let bus = Arc::new(TypedBus::new(8));
        let first = bus.subscribe_matching::<u64>("*").unwrap();
        let _second = bus.subscribe_matching::<u32>("*").unwrap();
        let counts = {
            let bus = Arc::clone(&bus);
            move || {
                let _ = bus.subscribable::<u64>("a");
                bus.topics()[0].subscribers
            }
        };
        assert_eq!(amid(first, counts, || drop(bus.subscribable::<u64>("a"))), 1);
    }
}

/// A pattern comes to its end while threads change the topics all the time: it looks at the many
/// topics once, and not again after each change.
#[allow(clippy::disallowed_types, reason = "of the test itself")]
#[test]
fn pattern_is_made_during_changes() {
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    let topics = if cfg!(miri) { 20 } else { 5_000 };
    let bus = Bus::<u64>::new(2);
    (0..topics).for_each(|number| drop(bus.subscribable(&format!("t.{number}"))));
    let (over, changes) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                drop(bus.subscribable("other"));
                bus.remove("other").unwrap();
                changes.fetch_add(2, Ordering::Relaxed);
            }
        });
        while changes.load(Ordering::Relaxed) < 10 {
            thread::yield_now();
        }
        let (before, began) = (changes.load(Ordering::Relaxed), std::time::Instant::now());
        let matching = bus.subscribe_matching("t.*").unwrap();
        let took = began.elapsed();
        println!("{took:?} during {} changes", changes.load(Ordering::Relaxed) - before);
        assert_eq!(matching.topics().count(), topics);
        over.store(true, Ordering::Relaxed);
    });
}

/// A thread that is handed a publisher may publish: only its holder closes the topic, and then gives it back.
/// (Loom `bus` has every order of the two.)
#[test]
fn closed_topic_has_no_publisher() {
    let bus = Bus::<u64>::new(4);
    for _ in 0..if cfg!(miri) { 5 } else { 500 } {
        let holder = bus.publisher("a");
        thread::scope(|scope| {
            scope.spawn(|| {
                holder.close();
                drop(holder);
            });
            loop {
                match bus.try_publisher("a").map(drop) {
                    Err(TopicError::Taken { .. }) => {}
                    found => break assert_eq!(found, Err(TopicError::Closed { topic: "a".into() })),
                }
            }
        });
        bus.remove("a").unwrap();
    }
}

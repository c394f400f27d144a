//! Events by value: what goes in whole, comes out as a clone, or is reset before a closure gets it.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use annulus::event;
use annulus::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};

const SHORT: Duration = Duration::from_millis(5);

/// Every verb that sends: the value arrives, whole, instead of what was there.
#[test]
fn sent_value_arrives_whole() {
    let (mut publisher, subscribable) = event::channel(2, || "old".to_owned());
    let (mut many, many_subscribable) = event::mp_channel(2, || "old".to_owned());
    let (mut subscriber, mut other) = (subscribable.subscribe(), many_subscribable.subscribe());
    for lap in 0..5 {
        let text = |verb: usize| format!("{lap} {verb}");
        for verb in 0..5 {
            let [one, two] = [(); 2].map(|()| text(verb));
            let strategy = annulus::WaitStrategy::PauseSpin;
            match verb {
                0 => assert_eq!((publisher.send(one), many.send(two)), (Ok(()), Ok(()))),
                1 => assert_eq!((publisher.try_send(one), many.try_send(two)), (Ok(()), Ok(()))),
                2 => {
                    assert_eq!(
                        (publisher.send_until(one, strategy), many.send_until(two, strategy)),
                        (Ok(()), Ok(()))
                    );
                }
                3 => {
                    let sent = (publisher.send_timeout(one, SHORT), many.send_timeout(two, SHORT));
                    assert_eq!(sent, (Ok(()), Ok(())));
                }
                _ => {
                    let now = Instant::now();
                    assert_eq!((publisher.send_until(one, now), many.send_until(two, now)), (Ok(()), Ok(())));
                }
            }
            assert_eq!(subscriber.recv(), Ok(text(verb)));
            assert_eq!(other.recv(), Ok(text(verb)));
        }
    }
    assert_eq!((publisher.published(), many.published()), (25, 25));
}

/// Each error gives the value back, and nothing was published.
#[test]
fn refused_value_comes_back() {
    let (mut publisher, subscribable) = event::channel(2, || 0);
    let (mut many, many_subscribable) = event::mp_channel(2, || 0);
    let subscribers = (subscribable.subscribe(), many_subscribable.subscribe());
    for number in 1..3 {
        publisher.send(number).unwrap();
        many.send(number).unwrap();
    }
    let now = Instant::now();
    assert_eq!(publisher.try_send(9), Err(TrySendError::Full(9)));
    assert_eq!(many.try_send(9), Err(TrySendError::Full(9)));
    assert_eq!(publisher.send_timeout(9, SHORT), Err(SendTimeoutError::Timeout(9)));
    assert_eq!(many.send_timeout(9, SHORT), Err(SendTimeoutError::Timeout(9)));
    assert_eq!(publisher.send_until(9, now), Err(SendTimeoutError::Timeout(9)));
    assert_eq!(many.send_until(9, now), Err(SendTimeoutError::Timeout(9)));
    drop((subscribers, subscribable, many_subscribable));
    let strategy = annulus::WaitStrategy::BusySpin;
    assert_eq!((publisher.send(9), many.send(9)), (Err(SendError(9)), Err(SendError(9))));
    assert_eq!(publisher.send_until(9, strategy), Err(SendTimeoutError::Closed(9)));
    assert_eq!(many.send_until(9, strategy), Err(SendTimeoutError::Closed(9)));
    assert_eq!(publisher.try_send(9), Err(TrySendError::Closed(9)));
    assert_eq!(many.try_send(9), Err(TrySendError::Closed(9)));
    assert_eq!(publisher.send_timeout(9, SHORT), Err(SendTimeoutError::Closed(9)));
    assert_eq!(many.send_timeout(9, SHORT), Err(SendTimeoutError::Closed(9)));
    assert_eq!((publisher.published(), many.published()), (2, 2));
}

/// A send drops the value a lap before, and no other: there are as many as the ring has places (and one in
/// the hand of each of many publishers).
#[test]
fn send_drops_the_value_of_a_lap_before() {
    let token = Arc::new(());
    let make = || Arc::clone(&token);
    // Without the one that counts.
    let count = || Arc::strong_count(&token) - 1;
    let (mut publisher, subscribable) = event::channel(4, make);
    for _ in 0..10 {
        publisher.send(make()).unwrap();
        assert_eq!(count(), 4);
    }
    drop((publisher, subscribable));
    assert_eq!(count(), 0);
    let factory = {
        let token = Arc::clone(&token);
        move || Arc::clone(&token)
    };
    let (mut publisher, subscribable) = event::mp_channel(4, factory);
    for _ in 0..10 {
        publisher.send(make()).unwrap();
        assert_eq!(count(), 4 + 2, "and that of the publisher, and that of its factory");
    }
    drop((publisher, subscribable));
    assert_eq!(count(), 0);
}

/// A value whose drop panics harms nobody: what replaced it was published before, and the publisher goes on.
#[test]
fn drop_that_panics_comes_after_its_successor_is_published() {
    struct Bomb(u64);
    impl Drop for Bomb {
        fn drop(&mut self) {
            if self.0 == 7 {
                resume_unwind(Box::new("on purpose"));
            }
        }
    }
    let (mut publisher, subscribable) = event::channel(2, || Bomb(0));
    let mut subscriber = subscribable.subscribe();
    for number in [7, 1] {
        publisher.send(Bomb(number)).unwrap();
        subscriber.process(|_| ()).unwrap();
    }
    catch_unwind(AssertUnwindSafe(|| publisher.send(Bomb(2)))).unwrap_err();
    assert_eq!(subscriber.process(|bomb| bomb.0), Ok(2));
    publisher.send(Bomb(3)).unwrap();
    assert_eq!(subscriber.process(|bomb| bomb.0), Ok(3));
}

thread_local! {
    /// What a clone asks whether there is room.
    static ROOM: RefCell<Option<event::Publisher<Slow>>> = const { RefCell::new(None) };
}

/// Looks for room in its own ring while it is cloned.
#[derive(Debug, PartialEq)]
struct Slow(u64);

impl Clone for Slow {
    fn clone(&self) -> Self {
        let before = self.0;
        ROOM.with_borrow_mut(|publisher| {
            let refused = publisher.as_mut().unwrap().try_send(Self(99));
            assert!(refused.is_err_and(|error| error.is_full()), "its place is not free yet");
        });
        assert_eq!(self.0, before);
        Self(self.0)
    }
}

/// The event is in place until it was cloned: its place is not free before.
#[test]
fn a_clone_is_made_before_the_place_is_free() {
    let (mut publisher, subscribable) = event::channel(2, || Slow(0));
    let mut subscriber = subscribable.subscribe();
    (0..2).for_each(|number| publisher.send(Slow(number)).unwrap());
    ROOM.set(Some(publisher));
    let refill =
        |number| ROOM.with_borrow_mut(|publisher| publisher.as_mut().unwrap().send(Slow(number)).unwrap());
    for (turn, number) in (2..11).enumerate() {
        let expected = Slow(turn as u64);
        match turn {
            0 => assert_eq!(subscriber.recv(), Ok(expected)),
            1 => assert_eq!(subscriber.try_recv(), Ok(expected)),
            2 => assert_eq!(subscriber.recv_timeout(SHORT), Ok(expected)),
            3 => assert_eq!(subscriber.recv_until(Instant::now()), Ok(expected)),
            4 => assert_eq!(subscriber.try_iter().next(), Some(expected)),
            5 => {
                let mut place = [Slow(0)];
                assert_eq!((subscriber.try_recv_batch(&mut place), place), (1, [expected]));
            }
            6 => {
                let mut place = [Slow(0)];
                assert_eq!((subscriber.recv_batch(&mut place), place), (Ok(1), [expected]));
            }
            7 => {
                let mut values = Vec::new();
                assert_eq!((subscriber.recv_many(&mut values, 1), values), (Ok(1), vec![expected]));
            }
            _ => assert_eq!(subscriber.iter().next(), Some(expected)),
        }
        refill(number);
    }
    ROOM.set(None);
}

/// A clone that panics is done with its event, by each verb.
#[test]
fn clone_that_panics_is_done_with_its_event() {
    #[derive(Debug, PartialEq)]
    struct Odd(u64);
    impl Clone for Odd {
        fn clone(&self) -> Self {
            if self.0 % 2 == 1 {
                resume_unwind(Box::new("on purpose"));
            }
            Self(self.0)
        }
    }
    let (mut publisher, subscribable) = event::channel(4, || Odd(0));
    let mut subscriber = subscribable.subscribe();
    (0..4).for_each(|number| publisher.send(Odd(number)).unwrap());
    assert_eq!(subscriber.recv(), Ok(Odd(0)));
    catch_unwind(AssertUnwindSafe(|| subscriber.recv())).unwrap_err();
    let mut there = subscriber.try_iter();
    assert_eq!((there.len(), there.next()), (2, Some(Odd(2))));
    catch_unwind(AssertUnwindSafe(|| there.next())).unwrap_err();
    assert_eq!((there.len(), there.next()), (0, None));
    assert_eq!(subscriber.try_recv(), Err(TryRecvError::Empty));
    // In a batch, those before it and itself.
    for _ in 0..2 {
        (0..4).for_each(|number| publisher.send(Odd(number)).unwrap());
        let mut values = Vec::new();
        catch_unwind(AssertUnwindSafe(|| subscriber.recv_many(&mut values, 4))).unwrap_err();
        assert_eq!((values, subscriber.len()), (vec![Odd(0)], 2));
        let mut places = [Odd(9), Odd(9)];
        catch_unwind(AssertUnwindSafe(|| subscriber.recv_batch(&mut places))).unwrap_err();
        assert_eq!((places, subscriber.len()), ([Odd(2), Odd(9)], 0));
    }
}

/// A batch brings as many clones as there is room for, or as there are events. It says how many, leaves the
/// places behind them as they were, and keeps the memory of those that it fills.
#[test]
fn a_batch_of_clones_says_how_many_came() {
    let (mut publisher, subscribable) = event::channel(8, String::new);
    let mut subscriber = subscribable.subscribe();
    let mut send = |texts: &[&str]| texts.iter().for_each(|&text| publisher.send(text.to_owned()).unwrap());
    send(&["a", "b", "c", "d", "e"]);
    let mut places = [(); 3].map(|()| String::with_capacity(100));
    let memory = places[0].as_ptr();
    assert_eq!((subscriber.recv_batch(&mut places), &places), (Ok(3), &["a", "b", "c"].map(String::from)));
    assert_eq!((places[0].as_ptr(), subscriber.total_received()), (memory, 3), "its memory stays");
    assert_eq!(subscriber.try_recv_batch(&mut places[..1]), 1);
    assert_eq!(subscriber.try_recv_batch(&mut places), 1);
    assert_eq!((subscriber.try_recv_batch(&mut places), places), (0, ["e", "b", "c"].map(String::from)));
    send(&["f", "g", "h", "i"]);
    let mut values = vec!["first".to_owned()];
    assert_eq!((subscriber.recv_many(&mut values, 0), values.len()), (Ok(0), 1));
    assert_eq!((subscriber.recv_many(&mut values, 3), values.concat()), (Ok(3), "firstfgh".to_owned()));
    assert_eq!((subscriber.recv_many_until(&mut values, 3, SHORT), values.len()), (Ok(1), 5));
    let timeout = Err(RecvTimeoutError::Timeout);
    assert_eq!((subscriber.recv_many_timeout(&mut values, 3, SHORT), values.len()), (timeout, 5));
    assert_eq!(subscriber.recv_many_timeout(&mut values, 0, SHORT), Ok(0));
    let mut places = [const { String::new() }; 2];
    assert_eq!(subscriber.recv_batch_timeout(&mut places, SHORT), timeout);
    assert_eq!(subscriber.recv_batch_until(&mut [], Instant::now()), Ok(0));
    send(&["j", "k", "l"]);
    assert_eq!(
        (subscriber.recv_batch_until(&mut places, Instant::now()), places.concat()),
        (Ok(2), "jk".into())
    );
    assert_eq!((subscriber.recv_batch_timeout(&mut places, SHORT), places.concat()), (Ok(1), "lk".into()));
    send(&["m"]);
    assert_eq!((subscriber.recv_many(&mut values, 9), values.concat()), (Ok(1), "firstfghim".to_owned()));
    drop(publisher);
    assert_eq!((subscriber.recv_many(&mut values, 9), values.len()), (Err(RecvError::CLOSED), 6));
    assert_eq!(subscriber.recv_many_timeout(&mut values, 9, SHORT), Err(RecvTimeoutError::Closed));
    assert_eq!(subscriber.recv_batch_timeout(&mut values, SHORT), Err(RecvTimeoutError::Closed));
    assert_eq!(
        (subscriber.recv_batch(&mut values), subscriber.recv_batch(&mut [])),
        (Err(RecvError::CLOSED), Ok(0))
    );
    assert_eq!(subscriber.recv_many(&mut values, 0), Ok(0), "at once");
}

/// An iterator over what is there ends there, and gives the rest back where it is dropped.
#[test]
fn iterator_over_present_messages_ends_with_them() {
    let (mut publisher, subscribable) = event::channel(8, || 0);
    let mut subscriber = subscribable.subscribe();
    (0..6).for_each(|number| publisher.send(number).unwrap());
    let mut there = subscriber.try_iter();
    publisher.send(6).unwrap();
    assert_eq!(there.by_ref().take(2).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(there.len(), 4);
    assert!(format!("{there:?}").ends_with("left: 4 }"), "{there:?}");
    drop(there);
    assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [2, 3, 4, 5, 6]);
    assert_eq!(subscriber.try_iter().next(), None);
    assert_eq!(subscriber.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
    (7..10).for_each(|number| publisher.send(number).unwrap());
    drop(publisher);
    assert!(format!("{:?}", subscriber.iter()).starts_with("Iter(Subscriber"));
    assert_eq!((&mut subscriber).into_iter().next(), Some(7));
    let mut rest = subscriber.into_iter();
    assert!(format!("{rest:?}").starts_with("Iter(Subscriber"));
    assert_eq!(rest.by_ref().collect::<Vec<_>>(), [8, 9]);
    assert_eq!(rest.next(), None);
}

/// A cloned-out event counts as processed: the next stage may have it.
#[test]
fn cloned_event_counts_as_processed() {
    let (mut publisher, subscribable) = event::channel(4, String::new);
    let mut first = subscribable.subscribe_tracked();
    let mut second = subscribable.subscribe().after(&[&first]);
    publisher.send("a".to_owned()).unwrap();
    publisher.send("b".to_owned()).unwrap();
    assert_eq!(second.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(second.try_iter().count(), 0);
    assert_eq!(first.recv().unwrap(), "a");
    assert_eq!(second.try_iter().collect::<String>(), "a");
    assert_eq!(first.iter().next().unwrap(), "b");
    drop((publisher, first));
    assert_eq!(second.into_iter().collect::<String>(), "b");
}

/// A closure finds each event as the reset left it: empty, with its memory; also after a closure that
/// panicked, or whose event was not published.
#[test]
fn reset_event_has_nothing_of_the_last_lap() {
    let text = || String::with_capacity(100);
    let (publisher, subscribable) = event::channel(2, text);
    let (many, many_subscribable) = event::mp_channel(2, text);
    let (mut publisher, mut many) = (publisher.with_reset(String::clear), many.with_reset(String::clear));
    let (mut subscriber, mut other) = (subscribable.subscribe(), many_subscribable.subscribe());
    for lap in 0..6 {
        let add = |text: &mut String| {
            assert!(text.is_empty() && text.capacity() >= 100);
            text.push_str(&lap.to_string());
        };
        let panic = |text: &mut String| {
            text.push_str("half");
            resume_unwind(Box::new("on purpose"))
        };
        catch_unwind(AssertUnwindSafe(|| publisher.publish(panic))).unwrap_err();
        catch_unwind(AssertUnwindSafe(|| many.publish(panic))).unwrap_err();
        publisher.publish(add).unwrap();
        many.clone().publish(add).unwrap();
        many.publish_timeout(SHORT, add).unwrap();
        // No room: the closure has run, and its event is the next one's.
        assert_eq!(many.publish_timeout(SHORT, add), Err(SendTimeoutError::Timeout(())));
        assert_eq!(subscriber.recv(), Ok(lap.to_string()));
        assert_eq!(other.try_iter().collect::<Vec<_>>(), [lap.to_string(), lap.to_string()]);
        assert!(publisher.try_publish(add).is_ok() && many.try_publish(add).is_ok());
        assert_eq!((subscriber.recv(), other.recv()), (Ok(lap.to_string()), Ok(lap.to_string())));
    }
    drop((publisher, many));
    assert_eq!((subscriber.recv(), other.recv()), (Err(RecvError::CLOSED), Err(RecvError::CLOSED)));
}

/// The reset of a ring that was never asked for takes no room in a publisher.
#[test]
fn no_reset_takes_no_room() {
    assert_eq!(
        size_of::<event::Publisher<u64>>() + size_of::<fn()>(),
        size_of::<event::Publisher<u64, fn(&mut u64)>>()
    );
    // What is not `Send` does not go through, by value either.
    static_assertions::assert_not_impl_any!(event::Publisher<Rc<u64>>: Send);
}

//! What a stage has in hand is not processed, whichever verb received it, until the stage comes back by
//! whichever verb, or says `done`.

use std::sync::mpsc as std_mpsc;
use std::time::{Duration, Instant};

use annulus::broadcast::{DependencyBarrier, Lossless, Lossy, Staged, Subscriber, Unstaged};
use annulus::pipeline::Pipeline;
use annulus::{Receive, WaitStrategy, Worker, broadcast, event, select};

use crate::support::without_standing_still;

/// Receives by one verb. Returns how many messages the stage has in hand afterwards: those of the last
/// receive.
type Verb<M> = fn(&mut Subscriber<u64, Staged<M>>) -> u64;

/// All verbs that receive.
fn verbs<M: Unstaged>() -> Vec<(&'static str, Verb<M>)> {
    const SOON: Duration = Duration::from_millis(1);
    #[cfg_attr(not(feature = "async"), expect(unused_mut, reason = "those of tasks come later"))]
    let mut verbs: Vec<(&'static str, Verb<M>)> = vec![
        ("try_recv", |stage| stage.try_recv().map(|_| 1).unwrap()),
        ("recv", |stage| stage.recv().map(|_| 1).unwrap()),
        ("recv_until", |stage| stage.recv_until(WaitStrategy::BusySpin).map(|_| 1).unwrap()),
        ("recv_timeout", |stage| stage.recv_timeout(SOON).map(|_| 1).unwrap()),
        ("recv_until", |stage| stage.recv_until(Instant::now() + SOON).map(|_| 1).unwrap()),
        ("try_recv_batch", |stage| stage.try_recv_batch(&mut [0; 3]) as u64),
        ("recv_batch", |stage| stage.recv_batch(&mut [0; 3]).unwrap() as u64),
        ("recv_batch of one", |stage| stage.recv_batch(&mut [0; 1]).unwrap() as u64),
        ("recv_many", |stage| stage.recv_many(&mut Vec::new(), 3).unwrap() as u64),
        ("recv_many of one", |stage| stage.recv_many(&mut Vec::new(), 1).unwrap() as u64),
        ("try_iter", |stage| stage.try_iter().take(2).count().min(1) as u64),
        ("iter", |stage| stage.iter().take(2).count().min(1) as u64),
        ("a borrowed iterator", |stage| stage.into_iter().take(2).count().min(1) as u64),
        ("a borrowed handle", |stage| {
            fn receive(mut stage: impl Receive<Item = u64>) -> u64 {
                select! { recv(stage) -> message => message.map(|_| 1).unwrap() }
            }
            receive(stage)
        }),
        ("select", |stage| select! { recv(stage) -> message => message.map(|_| 1).unwrap() }),
    ];
    #[cfg(feature = "async")]
    {
        use crate::support::tasks::block_on;
        use futures_util::StreamExt as _;

        verbs.extend([
            ("recv_async", (|stage| block_on(stage.recv_async()).map(|_| 1).unwrap()) as Verb<M>),
            ("recv_batch_async", |stage| block_on(stage.recv_batch_async(&mut [0; 3])).unwrap() as u64),
            ("recv_batch_async of one", |stage| {
                block_on(stage.recv_batch_async(&mut [0; 1])).unwrap() as u64
            }),
            ("stream", |stage| block_on(stage.stream().take(2).count()).min(1) as u64),
        ]);
    }
    verbs
}

/// Those that report a lag.
fn or_lag_verbs() -> Vec<(&'static str, Verb<Lossy>)> {
    let mut all = verbs::<Lossy>();
    let more: [(&'static str, Verb<Lossy>); 4] = [
        ("try_recv_or_lag", |stage| stage.try_recv_or_lag().map(|_| 1).unwrap()),
        ("recv_or_lag", |stage| stage.recv_or_lag().map(|_| 1).unwrap()),
        ("recv_or_lag_until", |stage| stage.recv_or_lag_until(WaitStrategy::BusySpin).map(|_| 1).unwrap()),
        ("select or lag", |stage| {
            select! { recv_or_lag(stage) -> message => message.map(|_| 1).unwrap() }
        }),
    ];
    all.extend(more);
    #[cfg(feature = "async")]
    all.push(("recv_or_lag_async", |stage| {
        crate::support::tasks::block_on(stage.recv_or_lag_async()).map(|_| 1).unwrap()
    }));
    all
}

/// Each verb after each other one.
fn in_hand<M: Unstaged>(
    verbs: fn() -> Vec<(&'static str, Verb<M>)>,
    make: impl Fn() -> (Box<dyn FnMut(u64)>, Subscriber<u64, Staged<M>>),
) {
    for (first, receive) in verbs() {
        for (second, come_back) in verbs() {
            let (mut publish, mut stage) = make();
            let asks = DependencyBarrier::new(&[&stage]);
            let processed = || asks.processed().unwrap();
            (0..16).for_each(&mut publish);
            for (verb, receive) in [(first, receive), (second, come_back)] {
                let in_hand = receive(&mut stage);
                assert!(in_hand > 0);
                assert_eq!(processed(), 0..stage.cursor() - in_hand, "{first}, {second}: {verb}");
            }
            assert!(!stage.is_empty());
            stage.done();
            assert_eq!(processed(), 0..stage.cursor(), "{first}, {second}: done");
            drop(stage);
            assert_eq!(asks.processed(), None);
        }
    }
}

#[test]
fn message_in_hand_of_a_stage_is_not_processed() {
    in_hand::<Lossless>(verbs, || {
        let (mut publisher, subscribable) = broadcast::lossless(16);
        (Box::new(move |number| publisher.publish(number).unwrap()), subscribable.subscribe_tracked())
    });
    in_hand::<Lossy>(or_lag_verbs, || {
        let (mut publisher, subscribable) = broadcast::lossy(16);
        (Box::new(move |number| publisher.publish(number)), subscribable.subscribe_tracked())
    });
    in_hand::<Lossless>(verbs, || {
        let (publisher, subscribable) = broadcast::mp_lossless(16);
        (Box::new(move |number| publisher.publish(number).unwrap()), subscribable.subscribe_tracked())
    });
}

/// What was lost within a verb is not processed, and what it received behind that neither.
#[test]
fn message_after_a_lag_is_in_hand() {
    for (verb, receive) in verbs::<Lossy>() {
        let (mut publisher, subscribable) = broadcast::lossy(8);
        let mut stage = subscribable.subscribe_tracked();
        let asks = DependencyBarrier::new(&[&stage]);
        (0..20).for_each(|number| publisher.publish(number));
        let in_hand = receive(&mut stage);
        assert_eq!(asks.processed(), Some(12..stage.cursor() - in_hand), "{verb}");
    }
}

/// A handler, or the function of a pipeline, has one message in hand while it runs, and those behind see none
/// that is in hand, and all others. An event by value, too: the receiver of the clone has still to work on
/// it.
#[test]
fn message_in_hand_of_a_handler_is_not_processed() {
    const COUNT: u64 = 20;
    type Looks = Box<dyn FnMut(u64) + Send>;

    /// What was processed while each message was handled.
    fn check(asks: DependencyBarrier, name: &'static str, run: impl FnOnce(Looks)) {
        let (seen, sees) = std_mpsc::channel();
        run(Box::new(move |number| seen.send((number, asks.processed())).unwrap()));
        let expected = (0..COUNT).map(|number| (number, Some(0..number)));
        assert!(sees.iter().eq(expected), "{name}");
    }
    let messages = || {
        let (mut publisher, subscribable) = broadcast::lossless(64);
        let stage = subscribable.subscribe_tracked();
        (0..COUNT).for_each(|number| publisher.publish(number).unwrap());
        (DependencyBarrier::new(&[&stage]), stage)
    };
    let events = || {
        let (mut publisher, subscribable) = event::channel(64, || 0);
        let stage = subscribable.subscribe_tracked();
        (0..COUNT).for_each(|number| publisher.send(number).unwrap());
        (DependencyBarrier::new(&[&stage]), stage)
    };
    without_standing_still(move || {
        let (asks, stage) = messages();
        check(asks, "spawn", |mut look| {
            let handler = move |(): &mut (), number, _| look(number);
            Worker::builder(stage, ()).spawn(handler).unwrap().join().unwrap();
        });
        let (asks, stage) = events();
        check(asks, "spawn with events", |mut look| {
            let handler = move |(): &mut (), number, _| look(number);
            Worker::builder(stage, ()).spawn(handler).unwrap().join().unwrap();
        });
        let (asks, stage) = events();
        check(asks, "spawn_ref", |mut look| {
            let handler = move |(): &mut (), number: &u64, _| look(*number);
            Worker::builder(stage, ()).spawn_ref(handler).unwrap().join().unwrap();
        });
        let (asks, stage) = messages();
        check(asks, "a pipeline", |look| {
            Pipeline::builder().source(stage).sink(look).build().join().unwrap();
        });
        let (asks, stage) = events();
        check(asks, "a pipeline of events", |look| {
            Pipeline::builder().source(stage).sink(look).build().join().unwrap();
        });
    });
}

//! The verbs of `Receive` and `Transmit`: one set of properties for the handles of every ring, by their own
//! types, borrowed and in boxes.

use std::any::Any;
use std::cell::RefCell;
use std::time::{Duration, Instant};

use annulus::bus::Bus;
use annulus::pipeline::Pipeline;
use annulus::{
    Receive, RecvError, RecvTimeoutError, SendError, SendTimeoutError, Transmit, TryRecvError, TrySendError,
    WaitStrategy, broadcast, event, mpmc, mpsc, oneshot, queue, select, spmc, spsc,
};

use crate::support::without_standing_still;

const CAPACITY: usize = 4;

/// What else keeps a ring open.
type Kept = Box<dyn Any>;

/// What no ring here needs to wait for.
const SOON: Duration = Duration::from_millis(1);

/// Receives by one verb.
type Receives<R> = fn(&mut R) -> Result<<R as Receive>::Item, RecvTimeoutError>;

/// Each verb that receives.
fn receiving<R: Receive>() -> Vec<(&'static str, bool, Receives<R>)> {
    fn not_waiting<T>(received: Result<T, TryRecvError>) -> Result<T, RecvTimeoutError> {
        received.map_err(|error| match error {
            TryRecvError::Empty => RecvTimeoutError::Timeout,
            TryRecvError::Closed => RecvTimeoutError::Closed,
        })
    }
    fn waiting<T>(received: Result<T, RecvError>) -> Result<T, RecvTimeoutError> {
        Ok(received?)
    }
    #[cfg_attr(not(feature = "async"), expect(unused_mut, reason = "those of tasks come later"))]
    let mut verbs: Vec<(_, _, Receives<R>)> = vec![
        ("try_recv", false, |receiver| not_waiting(receiver.try_recv())),
        ("recv_timeout", false, |receiver| receiver.recv_timeout(SOON)),
        ("recv_until", false, |receiver| receiver.recv_until(Instant::now())),
        ("recv", true, |receiver| waiting(receiver.recv())),
        ("recv_until", true, |receiver| receiver.recv_until(WaitStrategy::BusySpin)),
        ("iter", true, |receiver| receiver.iter().next().ok_or(RecvTimeoutError::Closed)),
        ("select", true, |receiver| select! { recv(receiver) -> message => waiting(message) }),
    ];
    #[cfg(feature = "async")]
    {
        use crate::support::tasks::block_on;
        use futures_util::StreamExt as _;

        let more: [(_, _, Receives<R>); 2] = [
            ("recv_async", true, |receiver| waiting(block_on(receiver.recv_async()))),
            ("stream", true, |receiver| block_on(receiver.stream().next()).ok_or(RecvTimeoutError::Closed)),
        ];
        verbs.extend(more);
    }
    verbs
}

/// Sends by one verb.
type Sends<S> = fn(&mut S, u64) -> Result<(), SendTimeoutError<u64>>;

/// Each verb that sends, and whether it waits for ever.
fn sending<S: Transmit<Item = u64>>() -> Vec<(&'static str, bool, Sends<S>)> {
    fn not_waiting(sent: Result<(), TrySendError<u64>>) -> Result<(), SendTimeoutError<u64>> {
        sent.map_err(|error| match error {
            TrySendError::Full(value) => SendTimeoutError::Timeout(value),
            TrySendError::Closed(value) => SendTimeoutError::Closed(value),
        })
    }
    fn waiting(sent: Result<(), SendError<u64>>) -> Result<(), SendTimeoutError<u64>> {
        Ok(sent?)
    }
    #[cfg_attr(not(feature = "async"), expect(unused_mut, reason = "those of tasks come later"))]
    let mut verbs: Vec<(_, _, Sends<S>)> = vec![
        ("try_send", false, |sender, value| not_waiting(sender.try_send(value))),
        ("send_timeout", false, |sender, value| sender.send_timeout(value, SOON)),
        ("send_until", false, |sender, value| sender.send_until(value, Instant::now())),
        ("send", true, |sender, value| waiting(sender.send(value))),
        ("send_until", true, |sender, value| sender.send_until(value, WaitStrategy::BusySpin)),
    ];
    #[cfg(feature = "async")]
    {
        use crate::support::tasks::block_on;

        let more: (_, _, Sends<S>) =
            ("send_async", true, |sender, value| waiting(block_on(sender.send_async(value))));
        verbs.push(more);
    }
    verbs
}

/// Every verb says that nothing is there, receives what is there, and tells the end. `close` ends the ring.
fn receives<R: Receive>(
    mut send: impl FnMut(u64),
    mut receiver: R,
    number: fn(R::Item) -> u64,
    close: impl FnOnce(),
) {
    assert!(!receiver.is_closed());
    for (next, (verb, waits, receive)) in (0..).step_by(2).zip(receiving::<R>()) {
        if !waits {
            assert_eq!(receive(&mut receiver).err(), Some(RecvTimeoutError::Timeout), "{verb}");
        }
        send(next);
        assert_eq!(receive(&mut receiver).map(number), Ok(next), "{verb}");
        send(next + 1);
        assert_eq!(receive(&mut receiver).map(number), Ok(next + 1), "{verb}");
    }
    send(7);
    close();
    assert_eq!(receiver.recv().map(number), Ok(7));
    for (verb, _, receive) in receiving::<R>() {
        assert_eq!(receive(&mut receiver).err(), Some(RecvTimeoutError::Closed), "{verb}");
    }
    assert!(receiver.is_closed());
}

/// Every verb sends, up to the ring's capacity, and gives back what it could not send.
/// `end` makes that nobody is left to receive.
fn sends<S: Transmit<Item = u64>>(mut sender: S, mut receive: impl FnMut() -> u64, end: impl FnOnce()) {
    assert!(!sender.is_closed());
    for (next, (verb, waits, send)) in (0..).step_by(CAPACITY).zip(sending::<S>()) {
        for offset in 0..CAPACITY as u64 {
            assert_eq!(send(&mut sender, next + offset), Ok(()), "{verb}");
        }
        if !waits {
            assert_eq!(send(&mut sender, 99), Err(SendTimeoutError::Timeout(99)), "{verb}");
        }
        for offset in 0..CAPACITY as u64 {
            assert_eq!(receive(), next + offset, "{verb}");
        }
    }
    end();
    for (verb, _, send) in sending::<S>() {
        assert_eq!(send(&mut sender, 7), Err(SendTimeoutError::Closed(7)), "{verb}");
    }
    assert!(sender.is_closed());
}

/// A thread on each side, each of which waits for the other.
fn meets(mut sender: impl Transmit<Item = u64>, mut receiver: impl Receive<Item = u64>) {
    const COUNT: u64 = if cfg!(miri) { 20 } else { 1_000 };
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for (turn, number) in (1..=COUNT).enumerate() {
                if turn % 2 == 0 {
                    sender.send(number).unwrap();
                } else {
                    sender.send_timeout(number, Duration::MAX).unwrap();
                }
            }
        });
        assert_eq!(receiver.iter().take(COUNT as usize).sum::<u64>(), COUNT * (COUNT + 1) / 2);
    });
}

/// All of it, with the ends of a ring, and what else keeps it open.
fn ends<S: Transmit<Item = u64>, R: Receive<Item = u64>>(
    waits_for_room: bool,
    make: impl Fn() -> (S, R, Kept),
) {
    let (sender, receiver, kept) = make();
    let sender = RefCell::new(Some(sender));
    let send = |number| sender.borrow_mut().as_mut().unwrap().send(number).unwrap();
    receives(send, receiver, |number| number, || drop((sender.take(), kept)));
    // (Nobody closes a lossy ring by going.)
    if waits_for_room {
        let (sender, receiver, kept) = make();
        let receiver = RefCell::new(Some(receiver));
        let receive = || receiver.borrow_mut().as_mut().unwrap().recv().unwrap();
        sends(sender, receive, || drop((receiver.take(), kept)));
        let (sender, receiver, _kept) = make();
        meets(sender, receiver);
    }
}

/// By their own types, borrowed, and in boxes.
fn ring<S: Transmit<Item = u64> + 'static, R: Receive<Item = u64> + 'static>(
    waits_for_room: bool,
    make: fn() -> (S, R, Kept),
) {
    without_standing_still(move || {
        ends(waits_for_room, make);
        ends(waits_for_room, || {
            let (sender, receiver, kept) = make();
            let sender: Box<dyn Transmit<Item = u64>> = Box::new(sender);
            let receiver: Box<dyn Receive<Item = u64>> = Box::new(receiver);
            (sender, receiver, kept)
        });
        let (mut sender, mut receiver, _kept) = make();
        let mut sender: Box<dyn Transmit<Item = u64> + '_> = Box::new(&mut sender);
        let mut receiver: Box<dyn Receive<Item = u64> + '_> = Box::new(&mut receiver);
        sender.send(1).unwrap();
        assert_eq!(receiver.recv(), Ok(1));
        #[cfg(feature = "async")]
        crate::support::tasks::block_on(async {
            sender.send_async(2).await.unwrap();
            assert_eq!(receiver.recv_async().await, Ok(2));
        });
    });
}

/// A pair, and nothing else.
fn alone<S, R>((sender, receiver): (S, R)) -> (S, R, Kept) {
    (sender, receiver, Box::new(()))
}

#[test]
fn queue_handles_work_through_the_traits() {
    ring(true, || alone(spsc::channel(CAPACITY)));
    ring(true, || alone(mpsc::channel(CAPACITY)));
    ring(true, || alone(spmc::channel(CAPACITY)));
    ring(true, || alone(mpmc::channel(CAPACITY)));
    ring(true, || alone(queue::ordered::channel(CAPACITY)));
}

#[test]
fn shared_handles_work_through_the_traits() {
    without_standing_still(|| {
        let (sender, receiver) = queue::ordered::channel(CAPACITY);
        meets(&sender, &receiver);
        let (publisher, subscribable) = broadcast::mp_lossless(CAPACITY);
        meets(&publisher, subscribable.subscribe());
    });
}

#[test]
fn broadcast_handles_work_through_the_traits() {
    ring(true, || {
        let (publisher, subscribable) = broadcast::lossless(CAPACITY);
        (publisher, subscribable.subscribe(), Box::new(subscribable))
    });
    ring(true, || {
        let (publisher, subscribable) = broadcast::mp_lossless(CAPACITY);
        (publisher, subscribable.subscribe_group::<3>(), Box::new(subscribable))
    });
    ring(true, || {
        let (publisher, subscribable) = broadcast::lossless(CAPACITY);
        (publisher, subscribable.subscribe_tracked(), Box::new(subscribable))
    });
    ring(false, || {
        let (publisher, subscribable) = broadcast::lossy(CAPACITY);
        (publisher, subscribable.subscribe(), Box::new(subscribable))
    });
    ring(false, || {
        let (publisher, subscribable) = broadcast::mp_lossy(CAPACITY);
        (publisher, subscribable.subscribe(), Box::new(subscribable))
    });
    ring(false, || {
        let bus = Bus::<u64>::new(CAPACITY);
        (bus.publisher("topic"), bus.subscribe("topic"), Box::new(bus))
    });
}

#[test]
fn event_handles_work_through_the_traits() {
    ring(true, || {
        let (publisher, subscribable) = event::channel(CAPACITY, || 0);
        (publisher, subscribable.subscribe(), Box::new(subscribable))
    });
    ring(true, || {
        let (publisher, subscribable) = event::mp_channel(CAPACITY, || 0);
        (publisher, subscribable.subscribe(), Box::new(subscribable))
    });
}

/// These receive what is no number.
#[test]
fn receivers_of_boxes_work_through_the_traits() {
    without_standing_still(|| {
        #[allow(clippy::boxed_local, clippy::needless_pass_by_value, reason = "what comes is boxed")]
        fn number(bytes: Box<[u8]>) -> u64 {
            u64::from(bytes[0])
        }
        let (mut producer, consumer) = queue::bytes::channel(64);
        let closer = producer.closer();
        receives(move |number| producer.write(&[number as u8]).unwrap(), consumer, number, || closer.close());

        let (mut publisher, subscribable) = broadcast::bytes::lossy(1024);
        let closer = publisher.closer();
        let subscriber = subscribable.subscribe();
        receives(
            move |number| publisher.publish(&[number as u8]).unwrap(),
            subscriber,
            number,
            || closer.close(),
        );

        let bus = RefCell::new(Some(Bus::<u64>::new(64)));
        let subscriber = bus.borrow().as_ref().unwrap().subscribe_matching("*").unwrap();
        let send = |number| bus.borrow().as_ref().unwrap().publisher("topic").publish(number);
        receives(
            send,
            subscriber,
            |(topic, number)| if &*topic == "topic" { number } else { 99 },
            || {
                bus.take();
            },
        );
    });
}

#[test]
fn oneshot_works_through_the_traits() {
    for (verb, waits, receive) in receiving::<oneshot::Receiver<u64>>() {
        let (sender, mut receiver) = oneshot::channel();
        if !waits {
            assert_eq!(receive(&mut receiver), Err(RecvTimeoutError::Timeout), "{verb}");
        }
        sender.send(7).unwrap();
        assert!(!receiver.is_closed());
        assert_eq!(receive(&mut receiver), Ok(7), "{verb}");
        assert_eq!(receive(&mut receiver), Err(RecvTimeoutError::Closed), "{verb}");
    }
}

/// `for` takes each receiving handle, by `&mut` and by value, and ends with the ring.
#[test]
fn for_loop_takes_each_receiving_handle() {
    fn all<T, R: IntoIterator<Item = T>>(mut receiver: R) -> Vec<T>
    where
        for<'r> &'r mut R: IntoIterator<Item = T>,
    {
        let mut all: Vec<T> = (&mut receiver).into_iter().take(1).collect();
        all.extend(receiver);
        all
    }

    let (mut publisher, subscribable) = broadcast::lossy(4);
    let (subscriber, group) = (subscribable.subscribe(), subscribable.subscribe_group::<2>());
    publisher.publish_batch(&[1, 2]);
    drop(publisher);
    assert_eq!((all(subscriber), all(group)), (vec![1, 2], vec![1, 2]));

    let (mut publisher, subscribable) = event::channel(4, String::new);
    let subscriber = subscribable.subscribe();
    for text in ["a", "b"] {
        publisher.send(text.to_owned()).unwrap();
    }
    drop(publisher);
    assert_eq!(all(subscriber), ["a", "b"]);

    let records = [Box::from(*b"one"), Box::from(*b"four")];
    let (mut publisher, subscribable) = broadcast::bytes::lossy(64);
    let subscriber = subscribable.subscribe();
    let (mut producer, consumer) = queue::bytes::channel(64);
    for record in &records {
        publisher.publish(record).unwrap();
        producer.write(record).unwrap();
    }
    drop((publisher, producer));
    assert_eq!((all(subscriber), all(consumer)), (records.to_vec(), records.to_vec()));

    let (mut producer, consumer) = spsc::channel(4);
    producer.send_batch(&[1, 2]).unwrap();
    drop(producer);
    assert_eq!(all(consumer), [1, 2]);
}

/// The newest value, whenever there is one, and the messages of a pattern with their topics.
#[test]
fn for_loop_takes_the_newest_value_and_a_pattern() {
    let (sender, mut receiver) = annulus::watch::channel(0);
    sender.send(1).unwrap();
    assert_eq!((&mut receiver).into_iter().next(), Some(1));
    sender.send(2).unwrap();
    drop(sender);
    assert_eq!(receiver.into_iter().collect::<Vec<_>>(), [2]);

    let bus = Bus::<u64>::new(4);
    let mut matching = bus.subscribe_matching("*").unwrap();
    let mut publisher = bus.publisher("a");
    publisher.publish_batch(&[1, 2]);
    assert_eq!((&mut matching).into_iter().next(), Some(("a".into(), 1)));
    drop((publisher, bus));
    assert_eq!(matching.into_iter().collect::<Vec<_>>(), [("a".into(), 2)]);
}

/// A lag is counted, and no error.
#[test]
fn lag_is_counted_and_no_error() {
    for (verb, _, receive) in receiving::<broadcast::Subscriber<u64>>() {
        let (mut publisher, subscribable) = broadcast::lossy(2);
        let mut subscriber = subscribable.subscribe();
        publisher.publish_batch(&[1, 2, 3]);
        assert_eq!(receive(&mut subscriber), Ok(2), "{verb}");
        assert_eq!(subscriber.total_lagged(), 1, "{verb}");
    }
}

/// A message to a lossy ring that is closed comes back.
#[test]
fn closed_lossy_ring_gives_back() {
    fn check<S: Transmit<Item = u64>>(mut sender: S, close: impl FnOnce()) {
        assert!(!sender.is_closed());
        close();
        assert!(sender.is_closed());
        for (verb, _, send) in sending::<S>() {
            assert_eq!(send(&mut sender, 7), Err(SendTimeoutError::Closed(7)), "{verb}");
        }
    }
    let (publisher, _subscribable) = broadcast::lossy(2);
    let closer = publisher.closer();
    check(publisher, || closer.close());
    let (publisher, _subscribable) = broadcast::mp_lossy(2);
    let closer = publisher.closer();
    check(publisher, || closer.close());
    let bus = Bus::<u64>::new(2);
    let publisher = bus.publisher("topic");
    let closer = publisher.closer();
    check(publisher, || closer.close());
}

/// Nobody is aligned: a verb that does not wait finds nothing.
#[test]
fn paused_group_has_nothing() {
    let (mut publisher, subscribable) = broadcast::lossy(2);
    let mut group = subscribable.subscribe_group::<1>();
    group.pause(0);
    publisher.publish(1);
    assert_eq!(Receive::try_recv(&mut group), Err(TryRecvError::Empty));
}

/// The input of a pipeline, before the build and after.
#[test]
fn pipeline_input_works_through_the_traits() {
    without_standing_still(|| {
        for (verb, waits, send) in sending() {
            let (mut input, stages) = Pipeline::builder().capacity(CAPACITY).input::<u64>();
            for number in 0..CAPACITY as u64 {
                assert_eq!(send(&mut input, number), Ok(()), "{verb}");
            }
            // Nobody waits before the build.
            let refused = send(&mut input, 99).map_err(SendTimeoutError::into_inner);
            assert_eq!(refused, Err(99), "{verb}");
            assert!(!input.is_closed());
            let (mut output, pipeline) = stages.then(|number| number).build();
            assert!((0..CAPACITY as u64).all(|number| output.recv() == Ok(number)), "{verb}");
            assert_eq!(Transmit::send(&mut input, 7), Ok(()), "{verb}");
            assert_eq!(output.recv(), Ok(7), "{verb}, {waits}");
            pipeline.shutdown();
            assert_eq!(send(&mut input, 8), Err(SendTimeoutError::Closed(8)), "{verb}");
            assert!(Transmit::is_closed(&input));
        }
    });
}

//! One ring of each kind, with its worker: the properties are the same for all.

use std::sync::mpsc as std_mpsc;
use std::time::Duration;

use annulus::queue::ordered;
use annulus::worker::{Builder, Finished};
use annulus::{Receive, ReceiveRef, WaitStrategy, Worker, broadcast, event, mpmc, mpsc, spmc, spsc};

use crate::support::without_standing_still;

/// Slots of most rings here.
pub(crate) const CAPACITY: usize = 64;

/// Sends a number, and says whether somebody can receive it.
pub(crate) type Send1 = Box<dyn FnMut(u64) -> bool + Send>;

/// Begins a worker that pushes what it gets, with the flag, and calls something before.
pub(crate) type Begin = Box<dyn FnOnce(&dyn Fn(Make) -> Make, Before) -> Worker<Seen>>;

pub(crate) type Seen = Vec<(u64, bool)>;
pub(crate) type Before = Box<dyn FnMut(&mut Seen, u64) + Send>;
pub(crate) type OnIdle = Box<dyn FnMut(&mut Seen) + Send>;

/// What a test sets before the worker begins; the same for every receiver.
#[derive(Default)]
pub(crate) struct Make {
    pub(crate) most: Option<usize>,
    pub(crate) strategy: Option<WaitStrategy>,
    pub(crate) idle: Option<(Duration, OnIdle)>,
}

impl Make {
    fn of<R>(self, receiver: R) -> Builder<R, Seen> {
        let mut builder = Worker::builder(receiver, Seen::new());
        if let Some(most) = self.most {
            builder = builder.max_batch(most);
        }
        if let Some(strategy) = self.strategy {
            builder = builder.wait_strategy(strategy);
        }
        if let Some((timeout, callback)) = self.idle {
            builder = builder.on_idle(timeout, callback);
        }
        builder
    }
}

/// A ring: its sending side, and its worker.
pub(crate) struct Ring {
    pub(crate) name: &'static str,
    pub(crate) send: Send1,
    pub(crate) begin: Begin,
    /// Whether others may take its messages, so that each is a batch.
    pub(crate) is_shared: bool,
}

pub(crate) fn by_value<R: Receive<Item = u64> + Send + 'static>(receiver: R) -> Begin {
    Box::new(|set, mut before| {
        let handler = move |seen: &mut Seen, number, end_of_batch| {
            before(seen, number);
            seen.push((number, end_of_batch));
        };
        set(Make::default()).of(receiver).spawn(handler).unwrap()
    })
}

pub(crate) fn by_ref<R: ReceiveRef<Item = u64> + Send + 'static>(receiver: R) -> Begin {
    Box::new(|set, mut before| {
        let handler = move |seen: &mut Seen, number: &u64, end_of_batch| {
            before(seen, *number);
            seen.push((*number, end_of_batch));
        };
        set(Make::default()).of(receiver).spawn_ref(handler).unwrap()
    })
}

/// One of each.
pub(crate) fn rings(capacity: usize) -> Vec<Ring> {
    let mut rings = Vec::new();
    let mut ring = |name, send, begin, is_shared| rings.push(Ring { name, send, begin, is_shared });
    {
        let (mut publisher, subscribable) = broadcast::lossy(capacity);
        let send = move |number| {
            publisher.publish(number);
            publisher.subscriber_count() > 0
        };
        ring("lossy", Box::new(send), by_value(subscribable.subscribe()), false);
    }
    {
        let (mut publisher, subscribable) = broadcast::mp_lossy(capacity);
        let send = move |number| {
            publisher.publish(number);
            publisher.subscriber_count() > 0
        };
        ring("mp_lossy", Box::new(send), by_value(subscribable.subscribe()), false);
    }
    let lossless = || {
        let (mut publisher, subscribable) = broadcast::lossless(capacity);
        let send = move |number| publisher.publish(number).is_ok() && publisher.subscriber_count() > 0;
        (Box::new(send), subscribable)
    };
    {
        let (send, subscribable) = lossless();
        ring("lossless", send, by_value(subscribable.subscribe()), false);
        let (send, subscribable) = lossless();
        ring("stage", send, by_value(subscribable.subscribe_tracked()), false);
        let (send, subscribable) = lossless();
        ring("group", send, by_value(subscribable.subscribe_group::<2>()), false);
    }
    {
        let (publisher, subscribable) = broadcast::mp_lossless(capacity);
        let send = move |number| publisher.publish(number).is_ok() && publisher.subscriber_count() > 0;
        ring("mp_lossless", Box::new(send), by_value(subscribable.subscribe()), false);
    }
    let events = || {
        let (mut publisher, subscribable) = event::channel(capacity, || 0);
        let send = move |number| publisher.send(number).is_ok() && publisher.subscriber_count() > 0;
        (Box::new(send), subscribable.subscribe())
    };
    {
        let (send, subscriber) = events();
        ring("events, cloned", send, by_value(subscriber), false);
        let (send, subscriber) = events();
        ring("events", send, by_ref(subscriber), false);
        let (mut publisher, subscribable) = event::mp_channel(capacity, || 0);
        let send = move |number| publisher.send(number).is_ok() && publisher.subscriber_count() > 0;
        ring("events of many", Box::new(send), by_ref(subscribable.subscribe()), false);
    }
    macro_rules! queues {
        ($($module:ident $is_shared:literal),*) => {$(
            let (mut producer, consumer) = $module::channel(capacity);
            let send = move |number| producer.send(number).is_ok();
            ring(stringify!($module), Box::new(send), by_value(consumer), $is_shared);
        )*};
    }
    queues!(spsc false, mpsc false, spmc true, mpmc true);
    {
        let (sender, receiver) = ordered::channel(capacity);
        let send = move |number| sender.send(number).is_ok();
        ring("shared", Box::new(send), by_value(receiver), true);
    }
    rings
}

/// Of each ring of so many slots: the ring.
pub(crate) fn for_each(capacity: usize, mut check: impl FnMut(Ring) + Send + 'static) {
    without_standing_still(move || {
        for ring in rings(capacity) {
            println!("{}", ring.name);
            check(ring);
        }
    });
}

pub(crate) fn plain(make: Make) -> Make {
    make
}

pub(crate) fn nothing() -> Before {
    Box::new(|_, _| {})
}

/// A handler that waits at its first message until the test lets it go on.
pub(crate) struct Gate {
    pub(crate) came: std_mpsc::Receiver<()>,
    pub(crate) go_on: std_mpsc::Sender<()>,
}

impl Gate {
    pub(crate) fn new() -> (Self, Before) {
        let (come, came) = std_mpsc::channel();
        let (go_on, may_go_on) = std_mpsc::channel();
        let before = move |seen: &mut Seen, _| {
            if seen.is_empty() {
                come.send(()).unwrap();
                may_go_on.recv().unwrap();
            }
        };
        (Self { came, go_on }, Box::new(before))
    }
}

pub(crate) fn numbers(finished: &Finished<Seen>) -> Vec<u64> {
    assert_eq!(finished.messages as usize, finished.context.len());
    finished.context.iter().map(|&(number, _)| number).collect()
}

/// The last message of each batch. None is longer than `most`. If nobody broke the worker off, the last one
/// has come to its end.
pub(crate) fn ends(seen: &Seen, most: usize, is_whole: bool) -> Vec<u64> {
    let batches = seen.split_inclusive(|&(_, end_of_batch)| end_of_batch);
    assert!(batches.clone().all(|batch| batch.len() <= most), "more than {most} in {seen:?}");
    assert!(!is_whole || seen.last().is_none_or(|&(_, end_of_batch)| end_of_batch), "{seen:?}");
    batches.filter_map(|batch| batch.last().filter(|last| last.1)).map(|last| last.0).collect()
}

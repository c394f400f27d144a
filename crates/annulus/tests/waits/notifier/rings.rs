//! Every kind of ring, with a thread that publishes to it and a notifier at its other end.

use std::os::fd::{AsFd, BorrowedFd};

use annulus::broadcast::{Lossless, Publisher};
use annulus::queue::kind::QueueKind;
use annulus::queue::{Consumer, Producer, ordered};
use annulus::{LossyTryRecvError, Notifier, Readiness, TryRecvError, Waitable};
use annulus::{broadcast, event, mpmc, mpsc, spmc, spsc};

use crate::support::Pauses;

/// Messages for each ring.
pub(crate) const COUNT: u64 = if cfg!(debug_assertions) { 3_000 } else { 20_000 };

const CAPACITY: usize = 8;

/// What a receiver of any kind finds.
pub(crate) enum Found {
    Message(u64),
    Lost(u64),
    Nothing,
    End,
}

impl From<Result<u64, TryRecvError>> for Found {
    fn from(result: Result<u64, TryRecvError>) -> Self {
        match result {
            Ok(number) => Self::Message(number),
            Err(TryRecvError::Empty) => Self::Nothing,
            Err(TryRecvError::Closed) => Self::End,
        }
    }
}

impl From<Result<u64, LossyTryRecvError>> for Found {
    fn from(result: Result<u64, LossyTryRecvError>) -> Self {
        match result {
            Ok(number) => Self::Message(number),
            Err(LossyTryRecvError::Lagged { skipped }) => Self::Lost(skipped),
            Err(LossyTryRecvError::Empty) => Self::Nothing,
            Err(LossyTryRecvError::Closed) => Self::End,
        }
    }
}

/// A ring's end in a loop, of whichever kind it is.
pub(crate) trait AtLoop: Send {
    fn name(&self) -> &'static str;

    fn fd(&self) -> BorrowedFd<'_>;

    /// Receives all that is there and arms. True at the end, where everything came in its order.
    fn turn(&mut self) -> bool;
}

struct Entry<R: Waitable, F> {
    name: &'static str,
    notifier: Notifier<R>,
    receive: F,
    /// The number that comes next.
    next: u64,
}

impl<R: Waitable + Send, F: FnMut(&mut R) -> Found + Send> AtLoop for Entry<R, F> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.notifier.as_fd()
    }

    fn turn(&mut self) -> bool {
        loop {
            loop {
                match (self.receive)(self.notifier.get_mut()) {
                    Found::Message(number) => {
                        assert_eq!(number, self.next, "{}", self.name);
                        self.next += 1;
                    }
                    Found::Lost(count) => self.next += count,
                    Found::Nothing => break,
                    Found::End => {
                        assert_eq!(self.next, COUNT, "{}", self.name);
                        return true;
                    }
                }
            }
            if self.notifier.arm() == Readiness::Armed {
                return false;
            }
        }
    }
}

fn entry<R: Waitable + Send + 'static>(
    name: &'static str,
    receiver: R,
    receive: impl FnMut(&mut R) -> Found + Send + 'static,
) -> Box<dyn AtLoop> {
    let notifier = Notifier::new(receiver).unwrap();
    Box::new(Entry { name, notifier, receive, next: 0 })
}

/// A thread's work: it publishes to one ring.
pub(crate) type Publishing = Box<dyn FnOnce() + Send>;

fn publishing(seed: u64, mut publish: impl FnMut(u64) + Send + 'static) -> Publishing {
    Box::new(move || {
        let mut random = Pauses::new(seed);
        for number in 0..COUNT {
            publish(number);
            random.rest();
        }
    })
}

fn queue<K: QueueKind>(
    name: &'static str,
    (mut producer, consumer): (Producer<u64, K>, Consumer<u64, K>),
) -> (Box<dyn AtLoop>, Publishing)
where
    Producer<u64, K>: Send + 'static,
    Consumer<u64, K>: Send + 'static,
{
    let publish = publishing(name.len() as u64, move |number| producer.send(number).unwrap());
    (entry(name, consumer, |consumer| consumer.try_recv().into()), publish)
}

fn lossless(mut publisher: Publisher<u64, Lossless>) -> Publishing {
    publishing(3, move |number| publisher.publish(number).unwrap())
}

/// One of each.
pub(crate) fn all() -> Vec<(Box<dyn AtLoop>, Publishing)> {
    let mut all = Vec::new();

    let (mut publisher, source) = broadcast::lossy(CAPACITY);
    let publish = publishing(1, move |number| publisher.publish(number));
    all.push((entry("lossy", source.subscribe(), |reader| reader.try_recv_or_lag().into()), publish));

    let (mut publisher, source) = broadcast::mp_lossy(CAPACITY);
    let publish = publishing(2, move |number| publisher.publish(number));
    all.push((entry("mp_lossy", source.subscribe(), |reader| reader.try_recv_or_lag().into()), publish));

    let (publisher, source) = broadcast::lossless(CAPACITY);
    let reader = entry("lossless", source.subscribe(), |reader| reader.try_recv().into());
    all.push((reader, lossless(publisher)));

    let (publisher, source) = broadcast::mp_lossless(CAPACITY);
    let publish = publishing(4, move |number| publisher.publish(number).unwrap());
    all.push((entry("mp_lossless", source.subscribe(), |reader| reader.try_recv().into()), publish));

    let (publisher, source) = broadcast::lossless(CAPACITY);
    let group = source.subscribe_group::<2>();
    let reader = entry("group", group, |group| group.try_recv().into());
    all.push((reader, lossless(publisher)));

    // The upstream's loop is a thread that blocks.
    let (publisher, source) = broadcast::lossless(CAPACITY);
    let mut first = source.subscribe_tracked();
    let last = source.subscribe().after(&[&first]);
    let reader = entry("stage", last, |reader| reader.try_recv().into());
    let publish = lossless(publisher);
    let publish_and_process = move || {
        let upstream = std::thread::spawn(move || while first.recv().is_ok() {});
        publish();
        upstream.join().unwrap();
    };
    all.push((reader, Box::new(publish_and_process)));

    let (mut publisher, source) = event::channel(CAPACITY, || 0);
    let publish = publishing(5, move |number| publisher.publish(|event| *event = number).unwrap());
    all.push((entry("events", source.subscribe(), |reader| reader.try_recv().into()), publish));

    let (mut publisher, source) = event::mp_channel(CAPACITY, || 0);
    let publish = publishing(6, move |number| publisher.publish(|event| *event = number).unwrap());
    all.push((entry("mp_events", source.subscribe(), |reader| reader.try_recv().into()), publish));

    all.push(queue("spsc", spsc::channel(CAPACITY)));
    all.push(queue("mpsc", mpsc::channel(CAPACITY)));
    all.push(queue("spmc", spmc::channel(CAPACITY)));
    all.push(queue("mpmc", mpmc::channel(CAPACITY)));

    let (sender, receiver) = ordered::channel(CAPACITY);
    let publish = publishing(7, move |number| sender.send(number).unwrap());
    all.push((entry("shared", receiver, |receiver| receiver.try_recv().into()), publish));
    all
}

//! What a lossy ring must do: a `VecDeque` of what stands in it, and a counter for what was lost.
//!
//! Publishing, batches, numbers that are left out, joins and every receiving verb, on one thread. The model
//! knows exactly what must come, so there is no tolerance anywhere.

#![allow(clippy::cast_precision_loss, reason = "counts here are small")]

use std::collections::VecDeque;

#[cfg(feature = "async")]
use annulus::LossyRecvError;
use annulus::broadcast::{MpPublisher, Publisher, Subscribable, Subscriber};
use annulus::{LossyTryRecvError, TryRecvError};

use crate::support::polled::Patience;
#[cfg(feature = "async")]
use crate::support::polled::Polled;

#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "async"), allow(dead_code, reason = "nobody awaits"))]
pub(crate) enum Step {
    Publish,
    PublishWith,
    PublishBatch(usize),
    /// Leaves out so many numbers; of a ring of one publisher.
    LeaveOut(u64),
    TryRecv,
    RecvBatch(usize),
    TryIter(usize),
    Latest,
    SkipToLatest,
    Subscribe,
    SubscribeFromOldest,
    CloneSubscriber,
    /// The last subscriber, in a task; the next steps are taken while it waits.
    Await(Patience),
    /// The same, and a lag is said.
    AwaitOrLag(Patience),
    // Where there may be many.
    AnotherPublisher,
    NextPublisher,
}

/// Any four bytes are a step.
impl From<[u8; 4]> for Step {
    fn from([kind, count, patience, laps]: [u8; 4]) -> Self {
        let count = usize::from(count);
        match kind % 38 {
            0..7 => Self::Publish,
            7 => Self::Await(Patience::from(patience)),
            8..10 => Self::PublishWith,
            10..12 => Self::PublishBatch(count),
            12..23 => Self::TryRecv,
            23 => Self::AwaitOrLag(Patience::from(patience)),
            24..26 => Self::RecvBatch(count % 40),
            26 => Self::TryIter(count % 40),
            27 => Self::Latest,
            28 => Self::SkipToLatest,
            29 => Self::Subscribe,
            30 => Self::SubscribeFromOldest,
            31 => Self::CloneSubscriber,
            32 => Self::AnotherPublisher,
            // A few, as many as a small ring has, or laps of a large one.
            33 => Self::LeaveOut(u64::from(laps) << (count % 4 * 2)),
            34 | 35 => Self::LeaveOut(u64::from(laps % 8)),
            _ => Self::NextPublisher,
        }
    }
}

/// Messages are told from their sequence.
pub(crate) fn message(sequence: u64) -> u64 {
    sequence.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// What must stand in the ring: what has the latest `capacity` numbers, and how many there were in all.
struct Model {
    capacity: usize,
    /// `None`: the number was left out.
    standing: VecDeque<Option<u64>>,
    published: u64,
}

impl Model {
    fn publish(&mut self) -> u64 {
        let value = message(self.published);
        self.push(Some(value));
        self.published += 1;
        value
    }

    fn leave_out(&mut self, count: u64) {
        (0..count.min(self.capacity as u64)).for_each(|_| self.push(None));
        self.published += count;
    }

    fn push(&mut self, value: Option<u64>) {
        self.standing.push_back(value);
        if self.standing.len() > self.capacity {
            self.standing.pop_front();
        }
    }

    fn oldest(&self) -> u64 {
        self.published - self.standing.len() as u64
    }

    fn at(&self, sequence: u64) -> Option<u64> {
        self.standing[(sequence - self.oldest()) as usize]
    }

    /// The first number from `sequence` on, which is not older than the oldest, that has a message; the head,
    /// if there is none.
    fn behind_left_out(&self, sequence: u64) -> u64 {
        (sequence..self.published).find(|&number| self.at(number).is_some()).unwrap_or(self.published)
    }

    /// The last number from `cursor` on that has a message.
    fn newest(&self, cursor: u64) -> Option<u64> {
        (self.oldest().max(cursor)..self.published).rev().find(|&number| self.at(number).is_some())
    }
}

/// A subscriber, and what it must see.
struct Reader {
    real: Subscriber<u64>,
    account: Account,
}

/// What a subscriber must say of itself.
struct Account {
    cursor: u64,
    received: u64,
    lagged: u64,
    /// Where it went on after its last lag, and how far from the edge that was.
    recovery: Option<(u64, u64)>,
}

impl Account {
    /// Where it goes on, and what its last recovery is then, by the documented rule for a subscriber that was
    /// lapped or whose number was left out, if it was.
    fn resume(&self, model: &Model) -> Option<(u64, Option<(u64, u64)>)> {
        if self.cursor >= model.oldest() {
            let resume = model.behind_left_out(self.cursor);
            let recovery = self.recovery.map(|(_, margin)| (resume, margin));
            return (resume > self.cursor).then_some((resume, recovery));
        }
        let half = model.capacity as u64 / 2;
        let again = self.recovery.filter(|(resumed, _)| self.cursor - resumed < half);
        let standing = model.behind_left_out(model.oldest());
        if standing > model.oldest() {
            return Some((standing, again.map(|(_, margin)| (standing, margin))));
        }
        let margin = again.map_or(0, |(_, margin)| (2 * margin).max(half / 32).clamp(1, half));
        let resume = model.behind_left_out(model.oldest() + margin);
        Some((resume, Some((resume, margin))))
    }

    /// Applies that rule; how many numbers it costs, or none.
    fn recover(&mut self, model: &Model) -> Option<u64> {
        let (resume, recovery) = self.resume(model)?;
        let skipped = resume - self.cursor;
        self.recovery = recovery;
        self.lagged += skipped;
        self.cursor = resume;
        Some(skipped)
    }

    /// The next message for a verb that goes on after a lag.
    fn next(&mut self, model: &Model) -> Option<u64> {
        self.recover(model);
        (self.cursor < model.published).then(|| {
            self.received += 1;
            self.cursor += 1;
            model.at(self.cursor - 1).expect("it has gone on behind what was left out")
        })
    }

    fn try_recv_or_lag(&mut self, model: &Model) -> Result<u64, LossyTryRecvError> {
        if let Some(skipped) = self.recover(model) {
            return Err(LossyTryRecvError::Lagged { skipped });
        }
        self.next(model).ok_or(LossyTryRecvError::Empty)
    }

    fn skip_to_latest(&mut self, model: &Model) -> u64 {
        let skipped = model.newest(self.cursor).map_or(0, |newest| newest - self.cursor);
        self.cursor += skipped;
        self.lagged += skipped;
        skipped
    }
}

impl Reader {
    fn new(real: Subscriber<u64>, cursor: u64) -> Self {
        Self { real, account: Account { cursor, received: 0, lagged: 0, recovery: None } }
    }

    fn apply(&mut self, step: &Step, model: &Model) {
        match *step {
            // One of the two verbs, and the other one.
            Step::TryRecv if self.account.received % 2 == 0 => {
                assert_eq!(self.real.try_recv_or_lag(), self.account.try_recv_or_lag(model));
            }
            Step::TryRecv => {
                assert_eq!(self.real.try_recv(), self.account.next(model).ok_or(TryRecvError::Empty));
            }
            Step::RecvBatch(length) => {
                let expected: Vec<u64> = (0..length).map_while(|_| self.account.next(model)).collect();
                let mut buffer = vec![0; length];
                let count = self.real.try_recv_batch(&mut buffer);
                assert_eq!(buffer[..count], expected);
                assert!(buffer[count..].iter().all(|&left| left == 0), "wrote behind its count");
            }
            Step::TryIter(most) => {
                let expected: Vec<u64> = (0..most).map_while(|_| self.account.next(model)).collect();
                assert_eq!(self.real.try_iter().take(most).collect::<Vec<_>>(), expected);
            }
            Step::Latest => {
                let any = model.newest(self.account.cursor);
                self.account.skip_to_latest(model);
                let expected = any.map(|_| self.account.next(model).unwrap());
                assert_eq!(self.real.latest(), expected);
            }
            Step::SkipToLatest => assert_eq!(self.real.skip_to_latest(), self.account.skip_to_latest(model)),
            _ => {}
        }
        self.check(model);
    }

    fn check(&self, model: &Model) {
        assert_eq!(self.real.cursor(), self.account.cursor);
        assert_eq!(self.real.total_received(), self.account.received);
        assert_eq!(self.real.total_lagged(), self.account.lagged);
        let next = self.account.resume(model).map_or(self.account.cursor, |(resume, _)| resume);
        assert_eq!(self.real.len() as u64, model.published - next);
    }
}

/// What publishes, alone or beside others.
pub(crate) trait Publish: Sized {
    fn publish(&mut self, message: u64);
    fn publish_with(&mut self, make: impl FnOnce() -> u64);
    fn publish_batch(&mut self, messages: &[u64]);
    fn published(&self) -> u64;
    /// Leaves out so many numbers, or none where others can publish, too. Returns how many.
    fn leave_out(&mut self, count: u64) -> u64;
    /// `None` where there can only be one.
    fn another(&self) -> Option<Self>;
}

macro_rules! publish {
    ($publisher:ty, |$original:ident| $another:expr, |$leaves:ident, $count:ident| $leave_out:expr) => {
        impl Publish for $publisher {
            fn publish(&mut self, message: u64) {
                (*self).publish(message);
            }

            fn publish_with(&mut self, make: impl FnOnce() -> u64) {
                (*self).publish_with(make);
            }

            fn publish_batch(&mut self, messages: &[u64]) {
                assert_eq!((*self).publish_batch(messages), messages.len());
            }

            fn published(&self) -> u64 {
                self.published()
            }

            fn leave_out(&mut self, $count: u64) -> u64 {
                let $leaves = self;
                $leave_out
            }

            fn another(&self) -> Option<Self> {
                let $original = self;
                $another
            }
        }
    };
}

publish!(Publisher<u64>, |_none| None, |publisher, count| {
    let to = publisher.published() + count;
    assert_eq!((publisher.skip_to(to), publisher.published()), (Ok(count), to));
    count
});
publish!(MpPublisher<u64>, |publisher| Some(publisher.clone()), |_publisher, _count| 0);

/// A ring beside its model.
struct Case<P> {
    model: Model,
    /// The first of them publishes.
    publishers: VecDeque<P>,
    subscribable: Subscribable<u64>,
    readers: Vec<Reader>,
}

impl<P: Publish> Case<P> {
    /// Takes steps one after the other. Where one of them awaits, some of those behind it come meanwhile.
    fn take(&mut self, mut steps: &[Step]) {
        while let Some((step, rest)) = steps.split_first() {
            steps = rest;
            #[cfg(feature = "async")]
            if let Step::Await(patience) | Step::AwaitOrLag(patience) = *step {
                let (meanwhile, rest) = rest.split_at(patience.steps.min(rest.len()));
                steps = rest;
                let (or_lag, mut meanwhile) = (matches!(step, Step::AwaitOrLag(_)), meanwhile.to_vec());
                // A task that waits for a message is woken for nothing where numbers are left out.
                meanwhile.retain(|step| or_lag || !matches!(step, Step::LeaveOut(_)));
                self.await_message(or_lag, patience, &meanwhile);
                continue;
            }
            self.publish(step);
            self.join(step);
            for reader in &mut self.readers {
                reader.apply(step, &self.model);
            }
        }
    }

    #[cfg(feature = "async")]
    fn await_message(&mut self, or_lag: bool, patience: Patience, meanwhile: &[Step]) {
        let Some(mut reader) = self.readers.pop() else { return };
        let Reader { real, account } = &mut reader;
        if !or_lag {
            // The first poll goes on, also where there is no message.
            account.recover(&self.model);
        }
        let cursor = account.cursor;
        let future = Box::pin(async {
            if or_lag { real.recv_or_lag_async().await } else { Ok(real.recv_async().await?) }
        });
        let found = Polled::new(future).wait(
            patience,
            self,
            |case| case.model.published > cursor,
            |case| case.take(meanwhile),
            |_, wakes, is_there| assert_eq!(wakes, usize::from(is_there)),
        );
        if let Some(found) = found {
            // Without a word about it, it goes on after a lag.
            let lag = if or_lag { account.recover(&self.model) } else { None };
            let expected = match lag {
                Some(skipped) => Err(LossyRecvError::Lagged { skipped }),
                None => Ok(account.next(&self.model).expect("a message is there")),
            };
            assert_eq!(found, expected);
        }
        reader.check(&self.model);
        self.readers.push(reader);
    }

    /// The first publisher publishes; those beside it must agree on how much that was.
    fn publish(&mut self, step: &Step) {
        let Self { model, publishers, .. } = self;
        match *step {
            Step::Publish => publishers[0].publish(model.publish()),
            Step::PublishWith => publishers[0].publish_with(|| model.publish()),
            Step::PublishBatch(length) => {
                let batch: Vec<u64> = (0..length).map(|_| model.publish()).collect();
                publishers[0].publish_batch(&batch);
            }
            Step::LeaveOut(count) => {
                let left_out = publishers[0].leave_out(count);
                model.leave_out(left_out);
            }
            Step::AnotherPublisher => {
                publishers.extend(publishers[0].another());
                publishers.truncate(3);
            }
            Step::NextPublisher => publishers.rotate_left(1),
            _ => {}
        }
        assert!(publishers.iter().all(|publisher| publisher.published() == model.published));
    }

    fn join(&mut self, step: &Step) {
        let Self { model, subscribable, readers, .. } = self;
        match step {
            Step::Subscribe => readers.push(Reader::new(subscribable.subscribe(), model.published)),
            Step::SubscribeFromOldest => {
                let oldest = model.behind_left_out(model.oldest());
                readers.push(Reader::new(subscribable.subscribe_from_oldest(), oldest));
            }
            Step::CloneSubscriber => {
                let Some(Reader { real, account }) = readers.first() else { return };
                readers.push(Reader::new(real.clone(), account.cursor));
            }
            _ => {}
        }
        if readers.len() > 4 {
            readers.remove(1);
        }
    }
}

/// Takes `steps` on a new ring of `capacity`, and receives what is left at its end.
pub(crate) fn run<P: Publish>(
    (publisher, subscribable): (P, Subscribable<u64>),
    capacity: usize,
    steps: &[Step],
) {
    let readers = vec![Reader::new(subscribable.subscribe(), 0)];
    let model = Model { capacity, standing: VecDeque::new(), published: 0 };
    let mut case = Case { model, publishers: VecDeque::from([publisher]), subscribable, readers };
    case.take(steps);
    let Case { model, publishers, readers, .. } = case;
    drop(publishers);
    for mut reader in readers {
        let rest: Vec<u64> = std::iter::from_fn(|| reader.account.next(&model)).collect();
        assert_eq!(reader.real.iter().collect::<Vec<_>>(), rest);
        assert_eq!(reader.real.try_recv(), Err(TryRecvError::Closed));
        reader.check(&model);
    }
}

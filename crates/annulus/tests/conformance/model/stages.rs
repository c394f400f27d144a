//! A graph of stages on one lossless ring, which grows and shrinks: a stage sees what all those before it
//! have processed, and publishers wait for the slowest.

use annulus::Settings;
use annulus::TryRecvError;
use annulus::broadcast::{DependencyBarrier, Lossless, Staged, Subscribable, Subscriber, Upstream};

use crate::rings::{Publish, Ring};
use crate::support::polled::Patience;
#[cfg(feature = "async")]
use crate::support::polled::Polled;

/// Which stage a step is about is its number, modulo how many there are.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "async"), allow(dead_code, reason = "nobody awaits"))]
pub(crate) enum Step {
    /// As many as there is room for, up to this many.
    Publish(usize),
    TryRecv(usize),
    RecvBatch(usize, usize),
    TryIter(usize, usize),
    Done(usize),
    /// A new stage, after those whose bits are set.
    Join(usize),
    TryProcess(usize),
    ProcessBatch(usize, usize),
    Leave(usize),
    /// In a task; the next steps are taken while it waits.
    Await(usize, Patience),
}

/// Any four bytes are a step.
impl From<[u8; 4]> for Step {
    fn from([kind, which, count, patience]: [u8; 4]) -> Self {
        let (which, count) = (usize::from(which), usize::from(count));
        match kind % 32 {
            0..8 => Self::Publish(count % 12),
            8..11 => Self::TryRecv(which),
            11..13 => Self::Await(which, Patience::from(patience)),
            13..16 => Self::TryProcess(which),
            16..20 => Self::RecvBatch(which, count % 8),
            20..23 => Self::TryIter(which, count % 8),
            23..27 => Self::Done(which),
            27..29 => Self::Join(which),
            29 => Self::ProcessBatch(which, count % 8),
            _ => Self::Leave(which),
        }
    }
}

/// The most stages at a time.
const STAGES: usize = 6;

struct Stage {
    /// `None` while it waits in a task.
    real: Option<Subscriber<u64, Staged<Lossless>>>,
    /// Asks how far it is, as those after it do.
    asks: DependencyBarrier,
    number: usize,
    /// The numbers of those before it; the ones that are gone no longer count.
    before: Vec<usize>,
    start: u64,
    cursor: u64,
    processed: u64,
}

struct Model<P> {
    room: u64,
    publisher: P,
    source: Subscribable<u64, Lossless>,
    published: u64,
    /// In the order in which they joined, so those before another stand before it.
    stages: Vec<Stage>,
    joined: usize,
}

impl<P: Publish> Model<P> {
    /// The end of what `stage` may see.
    fn end(&self, stage: &Stage) -> u64 {
        let before = self.stages.iter().filter(|before| stage.before.contains(&before.number));
        before.map(|before| before.processed).min().map_or(self.published, |end| end.min(self.published))
    }

    fn publish(&mut self, most: usize) {
        for _ in 0..most {
            let behind = self.stages.iter().map(|stage| self.published - stage.cursor).max().unwrap_or(0);
            let published = self.publisher.try_publish(self.published).is_ok();
            assert_eq!(
                published,
                behind < self.room,
                "the slowest stage is {behind} of {} behind",
                self.room
            );
            self.published += u64::from(published);
        }
    }

    fn push(&mut self, real: Subscriber<u64, Staged<Lossless>>, before: Vec<usize>, cursor: u64) {
        let asks = DependencyBarrier::new(&[&real]);
        self.stages.push(Stage {
            real: Some(real),
            asks,
            number: self.joined,
            before,
            start: cursor,
            cursor,
            processed: cursor,
        });
        self.joined += 1;
    }

    fn join(&mut self, mask: usize) {
        let chosen = self.stages.iter().enumerate().filter(|(place, _)| mask & 1 << place != 0);
        let (numbers, upstreams): (_, Vec<_>) = chosen
            .filter_map(|(_, stage)| Some((stage.number, stage.real.as_ref()? as &dyn Upstream)))
            .unzip();
        let real = self.source.subscribe().after(&upstreams);
        self.push(real, numbers, self.published);
    }

    /// Takes steps one after the other. Where one of them awaits, some of those behind it come meanwhile.
    fn take(&mut self, mut steps: &[Step]) {
        while let Some((step, rest)) = steps.split_first() {
            steps = rest;
            #[cfg(feature = "async")]
            if let Step::Await(which, patience) = *step {
                let (meanwhile, rest) = rest.split_at(patience.steps.min(rest.len()));
                steps = rest;
                self.await_message(which, patience, meanwhile);
                continue;
            }
            self.apply(step);
        }
    }

    #[cfg(feature = "async")]
    fn await_message(&mut self, which: usize, patience: Patience, meanwhile: &[Step]) {
        let place = which % self.stages.len().max(1);
        let Some(stage) = self.stages.get_mut(place) else { return self.take(meanwhile) };
        let Some(mut real) = stage.real.take() else { return self.take(meanwhile) };
        // The first poll comes back for more.
        stage.processed = stage.cursor;
        let (number, cursor) = (stage.number, stage.cursor);
        let find = move |model: &Self| {
            model.stages.iter().position(|stage| stage.number == number).expect("it can't leave meanwhile")
        };
        let found = Polled::new(real.recv_async()).wait(
            patience,
            self,
            |model| model.end(&model.stages[find(model)]) > cursor,
            |model| model.take(meanwhile),
            // Any stage that goes on may wake it, also one that is not the slowest of those before it.
            |_, wakes, is_there| assert!(wakes <= 1 && (wakes == 1 || !is_there)),
        );
        let place = find(self);
        let stage = &mut self.stages[place];
        if let Some(message) = found {
            assert_eq!(message, Ok(cursor));
            stage.cursor += 1;
        }
        stage.real = Some(real);
    }

    fn apply(&mut self, step: &Step) {
        let count = self.stages.len();
        match *step {
            Step::Publish(most) => self.publish(most),
            Step::Join(mask) if count < STAGES => self.join(mask),
            Step::Leave(which) if count > 0 && self.stages[which % count].real.is_some() => {
                drop(self.stages.remove(which % count));
            }
            Step::TryRecv(which)
            | Step::TryProcess(which)
            | Step::RecvBatch(which, _)
            | Step::ProcessBatch(which, _)
            | Step::TryIter(which, _)
            | Step::Done(which)
                if count > 0 =>
            {
                let place = which % count;
                let end = self.end(&self.stages[place]);
                self.stages[place].apply(step, end);
            }
            _ => {}
        }
        for stage in &self.stages {
            stage.check(self.end(stage));
        }
    }
}

impl Stage {
    /// What it does on its own, where it may see what lies before `end`.
    fn apply(&mut self, step: &Step, end: u64) {
        let Some(real) = &mut self.real else { return };
        let there = end.saturating_sub(self.cursor);
        let next = |most: usize| (self.cursor..self.cursor + there.min(most as u64)).collect::<Vec<_>>();
        // A stage that receives again has processed the messages before.
        self.processed = self.cursor;
        match *step {
            Step::TryRecv(_) => match real.try_recv() {
                Ok(number) => {
                    assert_eq!(vec![number], next(1));
                    self.cursor += 1;
                }
                Err(error) => assert_eq!((error, there), (TryRecvError::Empty, 0)),
            },
            Step::TryProcess(_) => match real.try_process(|number| *number) {
                Ok(number) => {
                    assert_eq!(vec![number], next(1));
                    self.cursor += 1;
                    self.processed = self.cursor;
                }
                Err(error) => assert_eq!((error, there), (TryRecvError::Empty, 0)),
            },
            Step::ProcessBatch(_, most) => {
                let mut seen = Vec::new();
                let most = most + 1;
                let count = real.try_process_batch(most, |number, _| seen.push(*number));
                assert_eq!(count, if there > 0 { Ok(seen.len()) } else { Err(TryRecvError::Empty) });
                assert_eq!(seen, next(most));
                self.cursor += seen.len() as u64;
                self.processed = self.cursor;
            }
            Step::RecvBatch(_, most) => {
                let mut buffer = vec![u64::MAX; most];
                let count = real.try_recv_batch(&mut buffer);
                assert_eq!(buffer[..count], next(most));
                self.cursor += count as u64;
            }
            Step::TryIter(_, most) => {
                let drained: Vec<_> = real.try_iter().take(most).collect();
                assert_eq!(drained, next(most));
                self.cursor += drained.len() as u64;
                // It came back for each message, and for the one that it did not get.
                self.processed = self.cursor - u64::from(most > 0 && drained.len() == most);
            }
            _ => real.done(),
        }
    }

    fn check(&self, end: u64) {
        if let Some(real) = &self.real {
            assert_eq!(real.cursor(), self.cursor);
            assert_eq!(real.len() as u64, end.saturating_sub(self.cursor));
        }
        assert_eq!(self.asks.processed(), Some(self.start..self.processed));
    }
}

/// Takes `steps` on a new ring; at the end each stage receives what is left, those before it first.
pub(crate) fn run<R: Ring<Source = Subscribable<u64, Lossless>>>(
    capacity: usize,
    headroom: usize,
    steps: &[Step],
) {
    let (publisher, source) = R::make(Settings::new(capacity).headroom(headroom)).unwrap();
    let room = (capacity - headroom) as u64;
    let mut model = Model { room, publisher, source, published: 0, stages: Vec::new(), joined: 0 };
    model.take(steps);
    let Model { publisher, published, stages, .. } = model;
    drop(publisher);
    for Stage { real, asks, start, cursor, .. } in stages {
        let mut real = real.expect("it waits no more");
        assert!(real.iter().eq(cursor..published));
        assert_eq!((real.try_recv(), asks.processed()), (Err(TryRecvError::Closed), Some(start..published)));
        drop(real);
        assert_eq!(asks.processed(), None, "it is gone");
    }
}

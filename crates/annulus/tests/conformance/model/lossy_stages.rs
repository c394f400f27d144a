//! A graph of stages on one lossy ring, in random steps: what a stage says is pending comes, what it says is
//! processed was, and it sees nothing that those before it have not processed.

use std::collections::BTreeSet;

use annulus::LossyTryRecvError;
use annulus::broadcast::{DependencyBarrier, Lossy, Staged, Subscribable, Subscriber, Upstream};

use super::stages::Step;
use crate::rings::{Publish, Ring};

/// The most stages at a time.
const STAGES: usize = 6;

struct Stage {
    real: Subscriber<u64, Staged<Lossy>>,
    /// Asks what it has processed, as those after it do.
    asks: DependencyBarrier,
    /// What all those before it have processed.
    before: DependencyBarrier,
    number: usize,
    /// The numbers of those before it; the ones that are gone no longer count.
    follows: Vec<usize>,
    start: u64,
    /// What it received and did not come back from, in the end.
    in_work: Vec<u64>,
    processed: BTreeSet<u64>,
    /// Where it was when it came back last.
    came_back: u64,
}

impl Stage {
    fn comes_back(&mut self) {
        self.processed.extend(self.in_work.drain(..));
        self.came_back = self.real.cursor();
    }

    /// What it receives by this step, and how much it could be; each verb says itself what it has processed.
    fn apply(&mut self, step: &Step) -> (Vec<u64>, u64) {
        self.comes_back();
        let before = self.real.len() as u64;
        let mut all = Vec::new();
        let (got, most) = match *step {
            Step::TryRecv(_) => {
                // One of the two verbs, and the other one.
                let got = if self.real.cursor() % 2 == 0 {
                    self.real.try_recv().ok()
                } else {
                    loop {
                        match self.real.try_recv_or_lag() {
                            Err(LossyTryRecvError::Lagged { .. }) => {}
                            result => break result.ok(),
                        }
                    }
                };
                self.came_back = got.unwrap_or(self.real.cursor());
                (Vec::from_iter(got), 1)
            }
            Step::TryProcess(_) => (Vec::from_iter(self.real.try_process(|number| *number).ok()), 1),
            Step::ProcessBatch(_, most) => {
                let _ = self.real.try_process_batch(most, |number, _| all.push(*number));
                (all, most)
            }
            Step::RecvBatch(_, most) => {
                let mut buffer = vec![u64::MAX; most];
                let count = self.real.try_recv_batch(&mut buffer);
                (buffer[..count].to_vec(), most)
            }
            Step::TryIter(_, most) => {
                // It comes back at each turn.
                let mut last = None;
                for number in self.real.try_iter().take(most) {
                    self.processed.extend(last.replace(number));
                    all.push(number);
                }
                if all.len() < most {
                    // Also at the one in which it got nothing.
                    self.processed.extend(last);
                }
                (all, most)
            }
            _ => {
                self.real.done();
                (all, 0)
            }
        };
        self.in_work.extend(got.iter().copied());
        if matches!(step, Step::TryProcess(_) | Step::ProcessBatch(..)) {
            self.comes_back();
        }
        (got, before.min(most as u64))
    }

    fn check(&self) {
        let processed = self.asks.processed().expect("it is there");
        assert!(processed.start >= self.start, "{processed:?} from {}", self.start);
        assert!(processed.clone().all(|number| self.processed.contains(&number)), "{processed:?}");
        // And no less: it begins behind a loss, or where the stage did; it ends where the stage came back, or
        // skipped to.
        let first = processed.start;
        assert!(first == self.start || !self.processed.contains(&(first - 1)), "{processed:?}");
        assert!((self.came_back..=self.real.cursor()).contains(&processed.end), "{processed:?}");
        assert!(!self.processed.contains(&processed.end));
        assert_eq!(self.real.cursor() - self.start, self.real.total_received() + self.real.total_lagged());
    }
}

/// Takes `steps` on a new ring.
pub(crate) fn run<R: Ring<Source = Subscribable<u64>>>(capacity: usize, steps: &[Step]) {
    let (mut publisher, source) = R::begin(capacity, 0);
    let (mut published, mut joined) = (0, 0);
    let mut stages: Vec<Stage> = Vec::new();
    for step in steps {
        let count = stages.len();
        match *step {
            Step::Publish(most) => {
                // Now and then more than a ring.
                let most = if most % 4 == 3 { 2 * most } else { most };
                for _ in 0..most {
                    publisher.publish(published).unwrap();
                    published += 1;
                }
            }
            Step::Join(mask) if count < STAGES => {
                let followed = || stages.iter().enumerate().filter(|(place, _)| mask & 1 << place != 0);
                let upstreams: Vec<_> = followed().map(|(_, stage)| &stage.real as &dyn Upstream).collect();
                let before = DependencyBarrier::new(&upstreams);
                let real = source.subscribe().after_barrier(&before);
                let follows = followed().map(|(_, stage)| stage.number).collect();
                let asks = DependencyBarrier::new(&[&real]);
                stages.push(Stage {
                    real,
                    asks,
                    before,
                    number: joined,
                    follows,
                    start: published,
                    in_work: Vec::new(),
                    processed: BTreeSet::new(),
                    came_back: published,
                });
                joined += 1;
            }
            Step::Leave(which) if count > 0 => drop(stages.remove(which % count)),
            Step::TryRecv(which)
            | Step::TryProcess(which)
            | Step::RecvBatch(which, _)
            | Step::ProcessBatch(which, _)
            | Step::TryIter(which, _)
            | Step::Done(which)
                if count > 0 =>
            {
                let stage = &mut stages[which % count];
                let (got, expected) = stage.apply(step);
                assert_eq!(got.len() as u64, expected, "{step:?}: {got:?}");
                let follows = stage.follows.clone();
                for before in stages.iter().filter(|stage| follows.contains(&stage.number)) {
                    for number in got.iter().filter(|&&number| number >= before.start) {
                        assert!(before.processed.contains(number), "{number} was not processed");
                    }
                }
            }
            _ => {}
        }
        for stage in &stages {
            stage.check();
            let Some(all) = stage.before.processed() else { continue };
            for before in stages.iter().filter(|before| stage.follows.contains(&before.number)) {
                assert!(all.clone().all(|number| before.processed.contains(&number)), "{all:?}");
            }
        }
    }
}

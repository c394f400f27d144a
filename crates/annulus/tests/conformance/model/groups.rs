//! Groups: each member is a reader of its own, whether it stands with the others or apart.

use annulus::broadcast::{Lossless, Lossy, Mode, Publisher, Subscribable, SubscriberGroup, Unstaged};
use annulus::{LossyTryRecvError, TryRecvError};

use crate::support::polled::Patience;
#[cfg(feature = "async")]
use crate::support::polled::Polled;

const MEMBERS: usize = 3;

#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "async"), allow(dead_code, reason = "nobody awaits"))]
pub(crate) enum Step {
    Publish(u64),
    TryRecv,
    RecvBatch(usize),
    Pause(usize),
    TryRecvMember(usize),
    /// In a task; as many messages are published while it waits.
    Await(Patience),
}

/// Any four bytes are a step.
impl From<[u8; 4]> for Step {
    fn from([kind, which, many, patience]: [u8; 4]) -> Self {
        let which = usize::from(which);
        match kind % 31 {
            5 => Self::Await(Patience::from(patience)),
            0..6 => Self::Publish(1 + u64::from(many % 7)),
            6 => Self::Publish(1 + u64::from(many)),
            7..15 => Self::TryRecv,
            15..17 => Self::RecvBatch(which % 10),
            17..19 => Self::Pause(which % MEMBERS),
            _ => Self::TryRecvMember(which % MEMBERS),
        }
    }
}

/// What a member must say of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Member {
    cursor: u64,
    received: u64,
    lagged: u64,
    detached: bool,
}

struct Model<M: Mode> {
    group: SubscriberGroup<u64, MEMBERS, M>,
    capacity: u64,
    published: u64,
    /// Where the aligned ones are, or were.
    lead: u64,
    members: [Member; MEMBERS],
}

impl<M: Unstaged> Model<M> {
    /// What one receive at `cursor` must return, where `result` tells how far a lag went; the member's new
    /// account.
    fn receive(&self, member: Member, result: Result<u64, LossyTryRecvError>) -> Member {
        let Member { cursor, received, lagged, .. } = member;
        let oldest = self.published.saturating_sub(self.capacity);
        match result {
            Ok(number) => {
                assert_eq!(number, cursor);
                assert!(oldest <= cursor && cursor < self.published);
                Member { cursor: cursor + 1, received: received + 1, ..member }
            }
            Err(LossyTryRecvError::Lagged { skipped }) => {
                assert!(cursor < oldest, "nothing it needs was overwritten");
                let resume = cursor + skipped;
                assert!((oldest..=oldest + self.capacity / 2).contains(&resume));
                Member { cursor: resume, lagged: lagged + skipped, ..member }
            }
            Err(error) => {
                assert_eq!((error, cursor), (LossyTryRecvError::Empty, self.published));
                member
            }
        }
    }

    /// What a receive of the group was to every aligned member.
    fn for_the_aligned(&mut self, result: Result<u64, LossyTryRecvError>) {
        for index in 0..MEMBERS {
            if !self.members[index].detached {
                self.members[index] = self.receive(self.members[index], result);
                self.lead = self.members[index].cursor;
            }
        }
    }

    /// The group has received this. What it lost on the way is counted in silence.
    fn received(&mut self, number: u64) {
        let skipped = number - self.lead;
        if skipped > 0 {
            self.for_the_aligned(Err(LossyTryRecvError::Lagged { skipped }));
        }
        self.for_the_aligned(Ok(number));
    }

    fn nobody_is_aligned(&self) -> bool {
        self.members.iter().all(|member| member.detached)
    }

    /// A member that stands where the others do goes on with them.
    fn align(&mut self, index: usize) {
        if self.members[index].cursor == self.lead {
            self.members[index].detached = false;
        }
    }

    fn try_recv(&mut self) {
        let result = self.group.try_recv();
        if self.nobody_is_aligned() {
            assert_eq!(result, Err(TryRecvError::Empty));
            return;
        }
        match result {
            Ok(number) => self.received(number),
            Err(error) => self.for_the_aligned(Err(error.into())),
        }
    }

    fn try_recv_batch(&mut self, length: usize) {
        let mut buffer = vec![u64::MAX; length];
        let count = self.group.try_recv_batch(&mut buffer);
        if self.nobody_is_aligned() {
            assert_eq!(count, 0);
            return;
        }
        buffer[..count].iter().for_each(|&number| self.received(number));
        assert!(count == length || self.lead == self.published, "{count} of {length}, at {}", self.lead);
    }

    fn try_recv_member(&mut self, index: usize) {
        self.align(index);
        let result = self.group.try_recv_member(index);
        let member = self.members[index];
        if !member.detached {
            assert_eq!(result, Err(TryRecvError::Empty));
            return;
        }
        self.members[index] = match result {
            Ok(number) => {
                let skipped = number - member.cursor;
                let lagged = Err(LossyTryRecvError::Lagged { skipped });
                let member = if skipped > 0 { self.receive(member, lagged) } else { member };
                self.receive(member, Ok(number))
            }
            // A lag never takes it past the other members, which have to lag too then.
            Err(error) => {
                assert_eq!(error, TryRecvError::Empty);
                assert!(member.cursor < self.published.saturating_sub(self.capacity));
                let skipped = self.lead - member.cursor;
                Member { cursor: self.lead, lagged: member.lagged + skipped, ..member }
            }
        };
        assert!(self.members[index].cursor <= self.lead);
        self.align(index);
    }

    #[cfg(feature = "async")]
    fn await_message(&mut self, patience: Patience, publish: &mut impl FnMut(u64) -> bool) {
        if self.nobody_is_aligned() {
            // It would wait for nobody.
            return;
        }
        let lead = self.lead;
        let found = Polled::new(self.group.recv_async()).wait(
            patience,
            &mut self.published,
            |&published| published > lead,
            |published| (0..patience.steps).for_each(|_| *published += u64::from(publish(*published))),
            |_, wakes, is_there| assert_eq!(wakes, usize::from(is_there)),
        );
        if let Some(message) = found {
            self.received(message.expect("the ring is open"));
        }
    }

    fn apply(&mut self, step: &Step, publish: &mut impl FnMut(u64) -> bool) {
        match *step {
            Step::Publish(count) => {
                (0..count).for_each(|_| self.published += u64::from(publish(self.published)));
            }
            Step::TryRecv => self.try_recv(),
            Step::RecvBatch(length) => self.try_recv_batch(length),
            Step::Pause(index) => {
                self.group.pause(index);
                self.members[index].detached = true;
            }
            Step::TryRecvMember(index) => self.try_recv_member(index),
            #[cfg(feature = "async")]
            Step::Await(patience) => self.await_message(patience, publish),
            #[cfg(not(feature = "async"))]
            Step::Await(_) => {}
        }
        self.check();
    }

    fn check(&self) {
        for (index, &member) in self.members.iter().enumerate() {
            let real = Member {
                cursor: self.group.cursor(index),
                received: self.group.total_received(index),
                lagged: self.group.total_lagged(index),
                detached: !self.group.is_aligned(index),
            };
            assert_eq!(real, member, "member {index}");
            assert_eq!(member.received + member.lagged, member.cursor);
            let (behind, pending) = (self.published - member.cursor, self.group.len(index) as u64);
            if behind <= self.capacity {
                assert_eq!(pending, behind);
            } else {
                // How far from the edge a lag goes on is told by the subscriber's own model.
                assert!((self.capacity - self.capacity / 2..=self.capacity).contains(&pending));
            }
        }
        let aligned = self.members.iter().filter(|member| !member.detached).count();
        assert_eq!(self.group.aligned_count(), aligned);
    }

    /// How far the slowest member is behind.
    fn behind(&self) -> u64 {
        // The lead holds its place too, for members that come back to it.
        let cursors = self.members.iter().map(|member| member.cursor);
        self.published - cursors.chain([self.lead]).min().unwrap_or(0)
    }
}

fn model<M: Mode>(capacity: usize, group: SubscriberGroup<u64, MEMBERS, M>) -> Model<M> {
    Model { group, capacity: capacity as u64, published: 0, lead: 0, members: [Member::default(); MEMBERS] }
}

/// Takes `steps` with a group of a lossy ring.
pub(crate) fn run_lossy(capacity: usize, steps: &[Step]) {
    let (mut publisher, subscribable): (Publisher<u64>, Subscribable<u64>) =
        annulus::broadcast::lossy(capacity);
    let mut model: Model<Lossy> = model(capacity, subscribable.subscribe_group());
    for step in steps {
        model.apply(step, &mut |number| {
            publisher.publish(number);
            true
        });
    }
}

/// Takes `steps` with a group of a lossless ring, and has its members receive what is left at the end.
pub(crate) fn run_lossless(capacity: usize, headroom: usize, steps: &[Step]) {
    let (mut publisher, subscribable) =
        annulus::broadcast::lossless_with(annulus::Settings::new(capacity).headroom(headroom)).unwrap();
    let room = (capacity - headroom) as u64;
    let mut model: Model<Lossless> = model(capacity, subscribable.subscribe_group());
    for step in steps {
        let mut behind = model.behind();
        model.apply(step, &mut |number| {
            let published = publisher.try_publish(number).is_ok();
            assert_eq!(published, behind < room, "the slowest member is {behind} of {room} behind");
            behind += u64::from(published);
            published
        });
    }
    let mut members = model.members;
    drop(publisher);
    for (index, member) in members.iter_mut().enumerate().filter(|(_, member)| member.detached) {
        while let Ok(number) = model.group.try_recv_member(index) {
            assert_eq!(number, member.cursor);
            member.cursor += 1;
        }
        let end = if model.group.is_aligned(index) { TryRecvError::Empty } else { TryRecvError::Closed };
        assert_eq!(model.group.try_recv_member(index), Err(end));
    }
}

//! [`Fork`]: the branches of a pipeline that is being built, and how they come together again.

#![allow(private_interfaces, reason = "a type in a method that has no name outside seals the trait")]

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use core::mem;

use super::draft::{Mistake, NOWHERE, Pending, SharedDraft};
use super::error::BuildError;
use super::graph::RingKind;
use super::handle::Pipeline;
use super::join::{Copies, JoinSide, Rows, Zip};
use super::kind::{EndKind, Free, InStep, Merged, OneForOne, PartSettings};
use super::stages::{Output, Stages, Sunk};
use crate::message::Message;
use crate::sync::seeded;

impl<T: Send + 'static, K: EndKind> Stages<T, K> {
    /// Branches in two: each branch gets every message. `left` and `right` add to their branch, and end it or
    /// return its end.
    ///
    /// The messages are copied into one lossless broadcast ring, which both branches read. Nothing is missed:
    /// a branch has its place in the ring before the first message. Messages that are no
    /// [`Message`](trait@Message) are [cloned](Self::fork_cloned).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().input::<u64>();
    /// let ((evens, texts), pipeline) = stages
    ///     .fork(|s| s.filter_map(|n| (n % 2 == 0).then_some(n)), |s| s.then(|n| n.to_string()))
    ///     .build();
    /// (1..=3).for_each(|n| input.send(n).unwrap());
    /// drop(input);
    /// assert_eq!(evens.into_iter().collect::<Vec<_>>(), [2]);
    /// assert_eq!(texts.into_iter().collect::<Vec<_>>(), ["1", "2", "3"]);
    /// pipeline.join().unwrap();
    /// ```
    pub fn fork<A: End, B: End>(
        mut self,
        left: impl FnOnce(Stages<T>) -> A,
        right: impl FnOnce(Stages<T>) -> B,
    ) -> Fork<(A, B), K::Behind>
    where
        T: Copyable,
    {
        let place = self.begin_fork();
        let mut branches = self.copies(2, false).into_iter();
        let (Some(first), Some(second)) = (branches.next(), branches.next()) else {
            unreachable!("there are two");
        };
        Fork::new(place, (left(first), right(second)))
    }

    /// Two branches of one stage each, for the shape of a diamond: short for [`fork`](Self::fork) and
    /// [`then`](Self::then).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().input::<u64>();
    /// let (mut output, pipeline) =
    ///     stages.fan_out(|x| x + 1, |x| x * 10).then_b(|x| x + 5).zip().then(|(a, b)| a + b).build();
    /// input.send(4).unwrap();
    /// assert_eq!(output.recv(), Ok(5 + 45));
    /// # drop(input);
    /// # pipeline.join().unwrap();
    /// ```
    pub fn fan_out<A: Send + 'static, B: Send + 'static>(
        self,
        a: impl FnMut(T) -> A + Send + 'static,
        b: impl FnMut(T) -> B + Send + 'static,
    ) -> Fork<(Stages<A>, Stages<B>), K::Behind>
    where
        T: Copyable,
    {
        self.fork(|stages| stages.then(a), |stages| stages.then(b))
    }

    /// As [`fork`](Self::fork), with `count` branches of one type. `add` gets the number of the branch, from
    /// 0.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().input::<usize>();
    /// let (outputs, pipeline) = stages.branches(3, |i, s| s.then(move |x| x * i)).build();
    /// input.send(7).unwrap();
    /// drop(input);
    /// let all: Vec<usize> = outputs.into_iter().flatten().collect();
    /// assert_eq!(all, [0, 7, 14]);
    /// pipeline.join().unwrap();
    /// ```
    pub fn branches<E: End>(
        self,
        count: usize,
        add: impl FnMut(usize, Stages<T>) -> E,
    ) -> Fork<Vec<E>, K::Behind>
    where
        T: Copyable,
    {
        self.branches_of(count, false, add)
    }

    /// As [`branches`](Self::branches), over one *lossy* ring: no branch holds up the others, or the stages
    /// in front of it. A branch that falls behind loses the oldest messages. The
    /// [statistics](Pipeline::stats) of its edge say how many.
    ///
    /// Branches lose different messages, so they can be merged, but not zipped.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::pipeline::{Pipeline, RingKind};
    ///
    /// let (mut input, stages) = Pipeline::builder().capacity(8).input::<u64>();
    /// let (outputs, pipeline) = stages.branches_lossy(2, |_, s| s.then(|x| x)).build();
    /// (0..1000).for_each(|n| input.send(n).unwrap()); // waits for no branch
    /// drop(input);
    /// let newest: Vec<_> = outputs.into_iter().map(|output| output.into_iter().last()).collect();
    /// assert_eq!(newest, [Some(999), Some(999)]);
    /// let to_branches: Vec<_> =
    ///     pipeline.stats().edges.into_iter().filter(|edge| edge.ring == RingKind::Lossy).collect();
    /// assert!(to_branches.iter().all(|edge| edge.received + edge.lost == 1000));
    /// # pipeline.join().unwrap();
    /// ```
    pub fn branches_lossy<E: End>(
        self,
        count: usize,
        add: impl FnMut(usize, Stages<T, Free>) -> E,
    ) -> Fork<Vec<E>, Free>
    where
        T: Copyable,
    {
        self.branches_of(count, true, add)
    }

    /// As [`branches`](Self::branches), for messages of any type that can be cloned: each branch has a queue
    /// of its own, and the stage before makes a clone for each branch but the last.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().input::<String>();
    /// let (outputs, pipeline) = stages.fork_cloned(2, |_, s| s.then(|text| text.len())).build();
    /// input.send("four".to_owned()).unwrap();
    /// drop(input);
    /// assert_eq!(outputs.into_iter().flatten().collect::<Vec<_>>(), [4, 4]);
    /// pipeline.join().unwrap();
    /// ```
    pub fn fork_cloned<E: End>(
        mut self,
        count: usize,
        mut add: impl FnMut(usize, Stages<T>) -> E,
    ) -> Fork<Vec<E>, K::Behind>
    where
        T: Clone,
    {
        let place = self.begin_fork();
        let (draft, settings) = (self.draft.clone(), self.settings);
        let writer = self.into_single(true);
        let mut locked = draft.lock();
        let count = locked.at_least_one(count, "branch");
        let queues: Vec<_> = (0..count)
            .map(|_| locked.new_queue::<T, InStep>(&[writer.from], NOWHERE, RingKind::Spsc, settings))
            .collect();
        let (mut outlets, mut branches) = (Vec::new(), Vec::new());
        for queue in queues {
            outlets.extend(queue.outlets);
            let inlet = Box::new(queue.inlet);
            branches.push(Stages::of_inlet(draft.clone(), settings, inlet, queue.edges, None));
        }
        (writer.give)(&mut locked, Box::new(Copies::new(outlets)));
        drop(locked);
        let branches = branches.into_iter().enumerate();
        Fork::new(place, branches.map(|(index, stages)| add(index, stages)).collect())
    }

    /// `count` branches over one broadcast ring.
    fn branches_of<Q: EndKind, E: End, P: EndKind>(
        mut self,
        count: usize,
        is_lossy: bool,
        mut add: impl FnMut(usize, Stages<T, Q>) -> E,
    ) -> Fork<Vec<E>, P>
    where
        T: Copyable,
    {
        let place = self.begin_fork();
        let count = place.draft.lock().at_least_one(count, "branch");
        let branches = self.copies(count, is_lossy).into_iter().enumerate();
        Fork::new(place, branches.map(|(index, stages)| add(index, stages)).collect())
    }

    /// What comes behind is in branches of a new fork.
    fn begin_fork(&mut self) -> ForkPlace {
        let fork = self.draft.lock().add_fork();
        let outer = mem::replace(&mut self.settings.fork, fork);
        ForkPlace { draft: self.draft.clone(), fork, outer }
    }
}

/// A message that can be copied to several branches: each [`Message`](trait@Message).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be copied to the branches of a pipeline: it is not an `annulus::Message`",
    label = "messages of this type come here, and each branch needs a copy",
    note = "`fork_cloned` gives each branch a clone of any message that is `Clone`",
    note = "a struct or an enum of your own: add `#[derive(Clone, Copy, annulus::Message)]` to it (feature `derive` of `annulus`)"
)]
#[doc(alias = "Copied")]
pub trait Copyable: Message {}

#[diagnostic::do_not_recommend]
impl<T: Message> Copyable for T {}

/// What a branch may end in: an end from which messages come ([`Stages`]), a [`Sunk`] one, or branches
/// ([`Fork`]). There are no others: the trait can't be implemented outside this crate.
#[diagnostic::on_unimplemented(
    message = "a branch ends in messages, a sink, or branches of its own, and not in `{Self}`",
    label = "this is no end of a branch",
    note = "let the closure of the branch return what its last verb returns"
)]
pub trait End: Sized {
    /// What comes out when the pipeline is built: a queue for each end from which messages come, and `()` for
    /// each other end.
    type Outputs;

    /// Notes a mistake if it is no end of `draft`.
    #[doc(hidden)]
    fn check_is_of(&self, draft: &SharedDraft);

    /// Makes the outputs.
    #[doc(hidden)]
    fn finish(self) -> Self::Outputs;
}

/// The end of a branch whose messages are of type `T`: a [`Stages`] of it, and nothing else. The trait can't
/// be implemented outside this crate.
#[diagnostic::on_unimplemented(
    message = "only branches that have messages of one type can be merged",
    label = "one of these branches has messages of type `{T}`, the other one is a `{Self}`",
    note = "let both end in messages of one type, of an enum for example; or `zip` them"
)]
pub trait BranchOf<T> {
    /// What a merge takes of the branch.
    #[doc(hidden)]
    fn writers(self) -> Vec<Pending<T>>;
}

impl<T: Send + 'static, K: EndKind> BranchOf<T> for Stages<T, K> {
    fn writers(self) -> Vec<Pending<T>> {
        self.into_writers()
    }
}

impl<T: Send + 'static, K: EndKind> End for Stages<T, K> {
    type Outputs = Output<T, K>;

    fn check_is_of(&self, draft: &SharedDraft) {
        self.draft.check_is(draft);
    }

    fn finish(self) -> Output<T, K> {
        self.output()
    }
}

impl End for Sunk {
    type Outputs = ();

    fn check_is_of(&self, draft: &SharedDraft) {
        self.draft.check_is(draft);
    }

    fn finish(self) {}
}

impl<A: End, B: End> End for (A, B) {
    type Outputs = (A::Outputs, B::Outputs);

    fn check_is_of(&self, draft: &SharedDraft) {
        self.0.check_is_of(draft);
        self.1.check_is_of(draft);
    }

    fn finish(self) -> Self::Outputs {
        (self.0.finish(), self.1.finish())
    }
}

impl<E: End> End for Vec<E> {
    type Outputs = Vec<E::Outputs>;

    fn check_is_of(&self, draft: &SharedDraft) {
        for end in self {
            end.check_is_of(draft);
        }
    }

    fn finish(self) -> Self::Outputs {
        self.into_iter().map(E::finish).collect()
    }
}

impl<E: End, P: EndKind> End for Fork<E, P> {
    type Outputs = E::Outputs;

    fn check_is_of(&self, draft: &SharedDraft) {
        self.place.draft.check_is(draft);
        self.ends.check_is_of(draft);
    }

    fn finish(self) -> E::Outputs {
        self.ends.finish()
    }
}

/// The branches of a pipeline that is being built; made by [`Stages::fork`], [`Stages::fan_out`],
/// [`Stages::branches`] and [`Stages::fork_cloned`].
///
/// Branches may end in outputs, or come together again:
///
/// - [`merge`](Self::merge): all messages of all branches, each as soon as it is there. All stages behind see
///   the same order.
/// - [`zip`](Self::zip): what the branches have made of the same message, as a pair. Of `branches` and
///   `fork_cloned` it is a vector.
///
/// A branch may branch again: a `Fork` is an end, too. `P` is what is known of the place where it branched.
#[doc(alias = "FanOutBuilder")]
#[must_use = "a pipeline is built by `build`"]
pub struct Fork<E, P = InStep> {
    place: ForkPlace,
    ends: E,
    before: PhantomData<fn() -> P>,
}

/// Where a pipeline branches.
struct ForkPlace {
    draft: SharedDraft,
    /// The number of the fork, and of the fork that it is in a branch of.
    fork: usize,
    outer: usize,
}

impl ForkPlace {
    // Decision 0076: a zip takes branches of one fork.
    /// The settings behind a zip of ends with these settings. There are at least one.
    fn zipped(&self, ends: &[PartSettings]) -> PartSettings {
        if ends.iter().any(|end| end.fork != self.fork) && !seeded!("zip_of_any_ends") {
            self.draft.lock().note(Mistake::Other(BuildError::AnotherFork));
        }
        PartSettings { fork: self.outer, ..ends[0] }
    }
}

impl<E: End, P: EndKind> Fork<E, P> {
    fn new(place: ForkPlace, ends: E) -> Self {
        ends.check_is_of(&place.draft);
        Self { place, ends, before: PhantomData }
    }

    /// Builds the pipeline: starts the thread of each stage. Returns the outputs of the branches, in the
    /// shape of the branches, and the [`Pipeline`].
    ///
    /// Keep each output, and receive from it: see [`Stages::build`]. When one is dropped, its branch ends.
    /// When all are, the pipeline does.
    ///
    /// # Panics
    ///
    /// If the pipeline can't be built; [`try_build`](Self::try_build) returns an error instead.
    #[track_caller]
    pub fn build(self) -> (E::Outputs, Pipeline) {
        self.try_build().unwrap_or_else(|error| panic!("annulus::pipeline: {error}"))
    }

    /// As [`build`](Self::build), but returns an error instead of panicking.
    ///
    /// # Errors
    ///
    /// [`BuildError`]. No thread is left. The input is closed: it gives back what is sent from now on.
    pub fn try_build(self) -> Result<(E::Outputs, Pipeline), BuildError> {
        let outputs = self.ends.finish();
        Ok((outputs, Pipeline::start(&self.place.draft)?))
    }
}

impl<A, B, K, L, P> Fork<(Stages<A, K>, Stages<B, L>), P>
where
    A: Send + 'static,
    B: Send + 'static,
    K: EndKind,
    L: EndKind,
    P: EndKind,
{
    /// Adds a stage to the first branch: see [`Stages::then`]. Other verbs, such as [`Stages::then_with`],
    /// are for the closures of a [`fork`](Stages::fork).
    #[allow(clippy::type_complexity, reason = "both branches")]
    pub fn then_a<U: Send + 'static>(
        self,
        f: impl FnMut(A) -> U + Send + 'static,
    ) -> Fork<(Stages<U, K::Behind>, Stages<B, L>), P> {
        Fork::new(self.place, (self.ends.0.then(f), self.ends.1))
    }

    /// Adds a stage to the second branch, as [`then_a`](Self::then_a) to the first.
    #[allow(clippy::type_complexity, reason = "both branches")]
    pub fn then_b<U: Send + 'static>(
        self,
        f: impl FnMut(B) -> U + Send + 'static,
    ) -> Fork<(Stages<A, K>, Stages<U, L::Behind>), P> {
        Fork::new(self.place, (self.ends.0, self.ends.1.then(f)))
    }

    /// Joins the two branches by pairs: what each branch has made of the same message.
    ///
    /// If a stage of one branch panics, what the other branch has made of later messages is dropped.
    ///
    /// A branch that drops, adds or reorders messages can't be zipped. Its pairs would not belong together,
    /// and the other branch could fill all rings while this one has nothing to show for it:
    ///
    /// ```compile_fail,E0277
    /// let (input, stages) = annulus::pipeline::Pipeline::builder().input::<u64>();
    /// stages.fork(|s| s.filter_map(|x| (x > 1).then_some(x)), |s| s.then(|x| x)).zip();
    /// ```
    ///
    /// For the same reason the build fails with [`AnotherFork`](BuildError::AnotherFork) where a closure has
    /// returned an end of another fork.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().input::<u64>();
    /// let (mut output, pipeline) = stages.fan_out(|x| x / 10, |x| x % 10).zip().build();
    /// input.send(42).unwrap();
    /// assert_eq!(output.recv(), Ok((4, 2)));
    /// # drop(input);
    /// # pipeline.join().unwrap();
    /// ```
    pub fn zip(self) -> Stages<(A, B), P>
    where
        K: OneForOne,
        L: OneForOne,
    {
        let settings = self.place.zipped(&[self.ends.0.settings, self.ends.1.settings]);
        let (left, mut edges) = self.ends.0.into_inlet();
        let (right, others) = self.ends.1.into_inlet();
        edges.extend(others);
        let inlet = Box::new(Zip { left: JoinSide::new(left), right: JoinSide::new(right) });
        Stages::of_inlet(self.place.draft, settings, inlet, edges, None)
    }
}

impl<T: Send + 'static, K: EndKind, B, P> Fork<(Stages<T, K>, B), P> {
    /// Joins the two branches in one order: all messages of both, each as soon as it is there. Messages of
    /// one branch stay in order.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().input::<u64>();
    /// let (output, pipeline) = stages.fan_out(|x| x, |x| x * 100).merge().build();
    /// (1..=2).for_each(|n| input.send(n).unwrap());
    /// drop(input);
    /// let mut all: Vec<_> = output.into_iter().collect();
    /// all.sort();
    /// assert_eq!(all, [1, 2, 100, 200]);
    /// pipeline.join().unwrap();
    /// ```
    pub fn merge(self) -> Stages<T, Merged>
    where
        B: BranchOf<T>,
    {
        let settings = self.ends.0.settings;
        let mut writers = self.ends.0.into_writers();
        writers.extend(self.ends.1.writers());
        Stages::of_writers(self.place.draft, settings, writers)
    }
}

impl<T: Send + 'static, K: EndKind, P> Fork<Vec<Stages<T, K>>, P> {
    /// Joins all branches in one order: all messages of all, each as soon as it is there. Messages of one
    /// branch stay in order.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().input::<usize>();
    /// let (output, pipeline) = stages.branches(3, |i, s| s.then(move |x| x + i)).merge().build();
    /// input.send(10).unwrap();
    /// drop(input);
    /// let mut all: Vec<_> = output.into_iter().collect();
    /// all.sort();
    /// assert_eq!(all, [10, 11, 12]);
    /// pipeline.join().unwrap();
    /// ```
    pub fn merge(self) -> Stages<T, Merged> {
        let settings = self.ends[0].settings;
        let writers = self.ends.into_iter().flat_map(Stages::into_writers).collect();
        Stages::of_writers(self.place.draft, settings, writers)
    }
}

impl<T: Send + 'static, K: EndKind, P: EndKind> Fork<Vec<Stages<T, K>>, P> {
    /// Joins all branches by rows: what each of them has made of the same message, in the order of the
    /// branches. Each row is a vector of its own, so it is allocated.
    ///
    /// A branch that drops, adds or reorders messages can't be zipped, and a panic in one branch ends the
    /// others: see the `zip` of two branches, which may also be of two types. (More branches of several types
    /// are a fork in a fork, whose pairs are zipped.)
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().input::<u32>();
    /// let powers = stages.branches(4, |i, s| s.then(move |x| x.pow(i as u32))).zip();
    /// let (mut output, pipeline) = powers.then(|row| row.iter().sum::<u32>()).build();
    /// input.send(10).unwrap();
    /// assert_eq!(output.recv(), Ok(1111));
    /// # drop(input);
    /// # pipeline.join().unwrap();
    /// ```
    pub fn zip(self) -> Stages<Vec<T>, P>
    where
        K: OneForOne,
    {
        let settings: Vec<_> = self.ends.iter().map(|end| end.settings).collect();
        let settings = self.place.zipped(&settings);
        let (mut sides, mut edges) = (Vec::new(), Vec::new());
        for end in self.ends {
            let (inlet, of_inlet) = end.into_inlet();
            sides.push(JoinSide::new(inlet));
            edges.extend(of_inlet);
        }
        Stages::of_inlet(self.place.draft, settings, Box::new(Rows::new(sides)), edges, None)
    }
}

impl<E, P> fmt::Debug for Fork<E, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fork").field("graph", &self.place.draft.graph()).finish_non_exhaustive()
    }
}

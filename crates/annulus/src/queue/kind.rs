//! What the four kinds of queue have in common, and what tells them apart. The public handles are written
//! once, over these.
//!
//! | kind | a producer's end | a consumer's end | its lanes |
//! | --- | --- | --- | --- |
//! | [`Spsc`] | [`WriteEnd`] | [`One`] | one to one, the only one |
//! | [`Mpsc`] | [`WriteEnd`] | [`FanIn`] | one to one |
//! | [`Spmc`] | [`WriteMany`] | [`ReadMany`] | one to many, the only one |
//! | [`Mpmc`] | [`WriteMany`] | [`ReadMany`] | one to many |

use core::convert::Infallible;
use core::fmt;

use super::ends::{Read, Write};
use super::fan_in::FanIn;
use super::lane_node::{NewLane, Plan, QueueLane};
use super::read::{One, ReadEnd};
use super::read_many::ReadMany;
use super::state::{LaneShare, QueueState};
use super::write::WriteEnd;
use super::write_many::WriteMany;
use crate::error::CapacityError;
use crate::lane::{ControlBlock, Lone, OneToMany, OneToOne, Own};

/// A kind of queue: who sends and who receives, and whether both are in one process. The kinds within one
/// process are those that are a [`QueueKind`]; the module `shm` has those between processes. There are no
/// others, because the trait can't be implemented outside this crate.
#[allow(private_bounds, reason = "this is what seals it")]
pub trait AnyKind: Parts<Bad = <Self as AnyKind>::Corrupt> {
    /// What is said of a corrupt message, which another process has sent: a
    /// [`BadValue`](crate::schema::BadValue). Within one process there is no such thing.
    type Corrupt: Copy + PartialEq + fmt::Debug + fmt::Display;
}

/// A kind of queue within one process, which a [`Builder`](super::Builder) makes:
/// [`Spsc`], [`Mpsc`] and so on.
#[diagnostic::on_unimplemented(
    message = "a queue of kind `{Self}` is one between processes",
    label = "not for queues between processes",
    note = "another process may write to its messages, so they are no slices: take them by value, or by the verbs whose names have `shared` in them",
    note = "no builder makes it: `annulus::shm::spsc::producer` makes such a queue, by the settings of an `annulus::spsc::Builder`",
    note = "`annulus::shm::mpsc::Builder` makes one of several producers"
)]
#[allow(private_bounds, reason = "this is what seals it")]
#[doc(alias = "Kind")]
pub trait QueueKind: AnyKind<Corrupt = Infallible> + Build {}

/// A kind of queue whose messages can be written and read in place: as slices within one process (where it is
/// a [`QueueKind`], too), and as a [`SharedSlice`](super::SharedSlice) between processes.
#[diagnostic::on_unimplemented(
    message = "messages of a queue of kind `{Self}` cannot be written or read in place: many consumers take them one by one",
    label = "not for queues with many consumers",
    note = "`spsc` and `mpsc` queues have it; here, receive messages by value, one by one or in batches"
)]
#[allow(private_bounds, reason = "this is what seals it")]
pub trait InPlace: AnyKind + Lanes {}

/// A kind of queue that producers can join while it runs.
#[diagnostic::on_unimplemented(
    message = "a producer of a queue of kind `{Self}` makes no other one",
    label = "it has one producer, or others join by an invitation",
    note = "`mpsc` and `mpmc` queues have many: their producers are cloned; those of `shm::mpsc` come from `shm::mpsc::producer`"
)]
#[allow(private_bounds, reason = "this is what seals it")]
pub trait Joinable: QueueKind + Join {}

/// A kind of queue that consumers can join while it runs.
#[diagnostic::on_unimplemented(
    message = "a queue of kind `{Self}` has one consumer",
    label = "no other consumer can join",
    note = "`spmc` and `mpmc` queues have many, each message for one of them; where all are to see every message, use a broadcast ring"
)]
#[allow(private_bounds, reason = "this is what seals it")]
#[doc(alias = "Shared")]
pub trait ManyConsumers: QueueKind + Divide {}

/// What a queue of a kind is made of.
// Decision 0043: the handles are written once.
pub(crate) trait Parts: Sized + 'static {
    /// As [`AnyKind::Corrupt`].
    type Bad;

    /// A producer's end.
    type Write<T: Send>: Write<T, Lane: QueueLane + Send + Sync> + Send + Sync;
    /// A consumer's end.
    type Read<T: Send>: Read<T, Lane: QueueLane + Send + Sync, Corrupt = Self::Bad> + Send + Sync;
    /// The control block of its lanes. (Here, and not in [`Lanes`], where it is used: so what has this type
    /// in its own needs no bound that a compiler would complain of beside the one that says what to do.)
    type ControlBlock: ControlBlock + Send + Sync;
    /// What lies in a slot of them.
    type Cell<T: Send>: Send;
    /// What its handles are called in debug output.
    const NAME: &'static str;
}

/// A kind of queue that a [`Builder`](super::Builder) makes.
pub(crate) trait Build: Parts {
    /// What its first lane lies in.
    type Slots<T: Send>;

    /// The slots of a new queue's first lane.
    fn slots<T: Send>(plan: &Plan) -> Result<Self::Slots<T>, CapacityError>;

    /// The ends of a new queue with these slots. Nothing can fail here, so all is made where it is to be.
    fn ends<T: Send>(slots: Self::Slots<T>, plan: &Plan) -> (Self::Write<T>, Self::Read<T>);
}

/// The lanes of a kind whose messages lie beside each other.
///
/// # Safety
///
/// A cell has the layout of a message, and what is there is one, unless another process has written something
/// else.
pub(crate) unsafe trait Lanes: Parts {
    fn write_end<T: Send>(write: &mut Self::Write<T>) -> &mut WriteEnd<Self::Cell<T>, Self::ControlBlock>;

    /// The lane to take from next. Where it has no message, no lane has.
    fn read_end<T: Send>(read: &mut Self::Read<T>) -> &mut ReadEnd<Self::Cell<T>, Self::ControlBlock>;

    /// The lane that the last look was at.
    fn current<T: Send>(read: &mut Self::Read<T>) -> &mut ReadEnd<Self::Cell<T>, Self::ControlBlock>;

    /// The lane that the last look was at has had its turn.
    fn end_turn<T: Send>(_read: &mut Self::Read<T>) {}
}

/// How a producer joins.
pub(crate) trait Join: Parts {
    /// Another producer, with a ring of its own.
    fn another<T: Send>(write: &Self::Write<T>) -> Result<Self::Write<T>, CapacityError>;
}

/// How a consumer joins.
pub(crate) trait Divide: Parts {
    /// Another consumer.
    fn another<T: Send>(read: &Self::Read<T>) -> Self::Read<T>;
}

/// One producer, one consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spsc {}

impl AnyKind for Spsc {
    type Corrupt = Infallible;
}

impl QueueKind for Spsc {}

impl InPlace for Spsc {}

impl Parts for Spsc {
    type Bad = Infallible;
    type Write<T: Send> = WriteEnd<T, Lone>;
    type Read<T: Send> = One<T>;
    type ControlBlock = Lone;
    type Cell<T: Send> = T;
    const NAME: &'static str = "spsc";
}

impl Build for Spsc {
    type Slots<T: Send> = <OneToOne<T, Lone> as NewLane>::Slots;

    #[inline(always)]
    fn slots<T: Send>(plan: &Plan) -> Result<Self::Slots<T>, CapacityError> {
        QueueState::<OneToOne<T, Lone>>::first_slots(plan)
    }

    #[inline(always)]
    fn ends<T: Send>(slots: Self::Slots<T>, plan: &Plan) -> (WriteEnd<T, Lone>, One<T>) {
        let [write, read] = LaneShare::first(slots, plan);
        (WriteEnd::at(write, plan.first), One::new(ReadEnd::at(read, plan.first)))
    }
}

// SAFETY: a cell is a message.
unsafe impl Lanes for Spsc {
    fn write_end<T: Send>(write: &mut WriteEnd<T, Lone>) -> &mut WriteEnd<T, Lone> {
        write
    }

    #[inline]
    fn read_end<T: Send>(read: &mut One<T>) -> &mut ReadEnd<T, Lone> {
        read.has_some();
        &mut read.end
    }

    #[inline]
    fn current<T: Send>(read: &mut One<T>) -> &mut ReadEnd<T, Lone> {
        &mut read.end
    }
}

/// Many producers, one consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mpsc {}

impl AnyKind for Mpsc {
    type Corrupt = Infallible;
}

impl QueueKind for Mpsc {}

impl InPlace for Mpsc {}

impl Joinable for Mpsc {}

impl Parts for Mpsc {
    type Bad = Infallible;
    type Write<T: Send> = WriteEnd<T>;
    type Read<T: Send> = FanIn<T>;
    type ControlBlock = Own;
    type Cell<T: Send> = T;
    const NAME: &'static str = "mpsc";
}

impl Build for Mpsc {
    type Slots<T: Send> = <OneToOne<T> as NewLane>::Slots;

    #[inline(always)]
    fn slots<T: Send>(plan: &Plan) -> Result<Self::Slots<T>, CapacityError> {
        QueueState::<OneToOne<T>>::first_slots(plan)
    }

    #[inline(always)]
    fn ends<T: Send>(slots: Self::Slots<T>, plan: &Plan) -> (WriteEnd<T>, FanIn<T>) {
        let [write, read] = LaneShare::first(slots, plan);
        (WriteEnd::at(write, plan.first), FanIn::new(ReadEnd::at(read, plan.first)))
    }
}

// SAFETY: a cell is a message.
unsafe impl Lanes for Mpsc {
    fn write_end<T: Send>(write: &mut WriteEnd<T>) -> &mut WriteEnd<T> {
        write
    }

    #[inline]
    fn read_end<T: Send>(read: &mut FanIn<T>) -> &mut ReadEnd<T> {
        read.look_in_place();
        &mut read.current
    }

    #[inline]
    fn current<T: Send>(read: &mut FanIn<T>) -> &mut ReadEnd<T> {
        &mut read.current
    }

    #[inline]
    fn end_turn<T: Send>(read: &mut FanIn<T>) {
        read.end_turn();
    }
}

impl Join for Mpsc {
    fn another<T: Send>(write: &WriteEnd<T>) -> Result<WriteEnd<T>, CapacityError> {
        write.another()
    }
}

/// One producer, many consumers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spmc {}

impl AnyKind for Spmc {
    type Corrupt = Infallible;
}

impl QueueKind for Spmc {}

impl ManyConsumers for Spmc {}

impl Parts for Spmc {
    type Bad = Infallible;
    type Write<T: Send> = WriteMany<T>;
    type Read<T: Send> = ReadMany<T>;
    type ControlBlock = Own;
    type Cell<T: Send> = T;
    const NAME: &'static str = "spmc";
}

impl Build for Spmc {
    type Slots<T: Send> = <OneToMany<T> as NewLane>::Slots;

    #[inline(always)]
    fn slots<T: Send>(plan: &Plan) -> Result<Self::Slots<T>, CapacityError> {
        QueueState::<OneToMany<T>>::first_slots(plan)
    }

    #[inline(always)]
    fn ends<T: Send>(slots: Self::Slots<T>, plan: &Plan) -> (WriteMany<T>, ReadMany<T>) {
        let [write, read] = LaneShare::first(slots, plan);
        (WriteMany::new(write), ReadMany::new(read))
    }
}

impl Divide for Spmc {
    fn another<T: Send>(read: &ReadMany<T>) -> ReadMany<T> {
        read.another()
    }
}

/// Many producers, many consumers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mpmc {}

impl AnyKind for Mpmc {
    type Corrupt = Infallible;
}

impl QueueKind for Mpmc {}

impl Joinable for Mpmc {}

impl ManyConsumers for Mpmc {}

impl Parts for Mpmc {
    type Bad = Infallible;
    type Write<T: Send> = WriteMany<T>;
    type Read<T: Send> = ReadMany<T>;
    type ControlBlock = Own;
    type Cell<T: Send> = T;
    const NAME: &'static str = "mpmc";
}

impl Build for Mpmc {
    type Slots<T: Send> = <OneToMany<T> as NewLane>::Slots;

    #[inline(always)]
    fn slots<T: Send>(plan: &Plan) -> Result<Self::Slots<T>, CapacityError> {
        QueueState::<OneToMany<T>>::first_slots(plan)
    }

    #[inline(always)]
    fn ends<T: Send>(slots: Self::Slots<T>, plan: &Plan) -> (WriteMany<T>, ReadMany<T>) {
        let [write, read] = LaneShare::first(slots, plan);
        (WriteMany::new(write), ReadMany::new(read))
    }
}

impl Divide for Mpmc {
    fn another<T: Send>(read: &ReadMany<T>) -> ReadMany<T> {
        read.another()
    }
}

impl Join for Mpmc {
    fn another<T: Send>(write: &WriteMany<T>) -> Result<WriteMany<T>, CapacityError> {
        write.another()
    }
}

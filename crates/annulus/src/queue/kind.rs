//! The kinds of queues, as traits: what a kind can do. The handles are written once, over these, and so are
//! functions that take a queue of any kind.
//!
//! ```
//! use annulus::queue::Producer;
//! use annulus::queue::kind::Joinable;
//! use annulus::{mpmc, mpsc};
//!
//! fn two<T: Send, K: Joinable>(first: Producer<T, K>) -> [Producer<T, K>; 2] {
//!     [first.clone(), first]
//! }
//!
//! let (producer, mut consumer) = mpsc::channel(4);
//! for mut producer in two(producer) {
//!     producer.send(7).unwrap();
//! }
//! assert_eq!(consumer.iter().sum::<u64>(), 14);
//!
//! let (producer, consumer) = mpmc::channel(4);
//! for mut producer in two(producer) {
//!     producer.send(7).unwrap();
//! }
//! assert_eq!(consumer.into_iter().sum::<u64>(), 14);
//! ```

// | kind | a producer's end | a consumer's end | its lanes |
// | --- | --- | --- | --- |
// | `Spsc` | `WriteEnd` | `SoleReader` | one to one, the only one |
// | `Mpsc` | `WriteEnd` | `FanIn` | one to one |
// | `Spmc` | `WriteMany` | `ReadMany` | one to many, the only one |
// | `Mpmc` | `WriteMany` | `ReadMany` | one to many |
//
// `Parts` says what a kind is made of. The public traits have the functions that only such a kind has.

#![allow(
    private_bounds,
    private_interfaces,
    reason = "this seals the traits, and their functions are for the crate"
)]

use core::convert::Infallible;
use core::fmt;

use super::ends::{Read, Write};
use super::fan_in::FanIn;
use super::lane_node::QueueLane;
use super::read::{ReadEnd, SoleReader};
use super::read_many::ReadMany;
use super::state::{LaneShare, QueueState};
use super::write::WriteEnd;
use super::write_many::WriteMany;
use crate::error::CapacityError;
use crate::lane::{Cells, ControlBlock, Number, OneToMany, OneToOne, Own, Sole, StampedSlot};
use crate::settings::Settings;

/// A kind of queue: how many handles send and receive, and whether all are in one process. The kinds within
/// one process are [`QueueKind`]s; the module `shm` has the kinds between processes. There are no others,
/// because the trait can't be implemented outside this crate.
pub trait AnyKind: Parts<Bad = <Self as AnyKind>::Corrupt> {
    /// What is said of a corrupt message, which another process has sent: a
    /// [`BadValue`](crate::schema::BadValue). Within one process there is no such thing.
    type Corrupt: Copy + PartialEq + fmt::Debug + fmt::Display;
}

/// A kind of queue within one process, which [`with`](super::with) makes:
/// [`Spsc`], [`Mpsc`] and so on.
#[diagnostic::on_unimplemented(
    message = "a queue of kind `{Self}` is one between processes",
    label = "not for queues between processes",
    note = "another process may write to its messages, so they are no slices: take them by value, or by the verbs whose names have `shared` in them",
    note = "nothing in a process makes it: `annulus::shm::spsc::producer` makes such a queue, by `annulus::Settings`",
    note = "`annulus::shm::mpsc::Builder` makes one of several producers"
)]
#[doc(alias = "Kind")]
pub trait QueueKind: AnyKind<Corrupt = Infallible> {
    /// The slots of a new queue's first lane.
    #[doc(hidden)]
    fn slots<T: Send>(plan: &Settings) -> Result<Cells<Self::Cell<T>>, CapacityError>;

    /// The ends of a new queue with these slots. Nothing can fail here, so all is made where it is to be.
    #[doc(hidden)]
    fn ends<T: Send>(slots: Cells<Self::Cell<T>>, plan: &Settings) -> (Self::Write<T>, Self::Read<T>);
}

/// A kind of queue whose messages can be written and read in place: as slices within one process (where it is
/// a [`QueueKind`], too), and as a [`SharedSlice`](super::SharedSlice) between processes.
#[diagnostic::on_unimplemented(
    message = "messages of a queue of kind `{Self}` cannot be written or read in place: many consumers take them one by one",
    label = "not for queues with many consumers",
    note = "`spsc` and `mpsc` queues have it; here, receive messages by value, one by one or in batches"
)]
pub trait InPlace: AnyKind {
    /// The producer's end of its lane.
    #[doc(hidden)]
    fn write_end<T>(write: &mut Self::Write<T>) -> &mut WriteEnd<Self::Cell<T>, Self::ControlBlock>;

    /// The lane to take from next. Where it has no message, no lane has.
    #[doc(hidden)]
    fn read_end<T>(read: &mut Self::Read<T>) -> &mut ReadEnd<Self::Cell<T>, Self::ControlBlock>;

    /// The lane that the last look was at.
    #[doc(hidden)]
    fn current<T>(read: &mut Self::Read<T>) -> &mut ReadEnd<Self::Cell<T>, Self::ControlBlock>;

    /// The lane that the last look was at has had its turn.
    #[doc(hidden)]
    fn end_turn<T>(read: &mut Self::Read<T>);
}

/// A kind of queue that producers can join while it runs.
#[diagnostic::on_unimplemented(
    message = "a producer of a queue of kind `{Self}` makes no other one",
    label = "it has one producer, or others join by an invitation",
    note = "`mpsc` and `mpmc` queues have many: their producers are cloned; those of `shm::mpsc` come from `shm::mpsc::producer`"
)]
pub trait Joinable: QueueKind {
    /// Another producer, with a ring of its own.
    #[doc(hidden)]
    fn another_producer<T>(write: &Self::Write<T>) -> Result<Self::Write<T>, CapacityError>;
}

/// A kind of queue that consumers can join while it runs.
#[diagnostic::on_unimplemented(
    message = "a queue of kind `{Self}` has one consumer",
    label = "no other consumer can join",
    note = "`spmc` and `mpmc` queues have many, each message for one of them; where all are to see every message, use a broadcast ring"
)]
#[doc(alias = "Shared")]
pub trait ManyConsumers: QueueKind {
    /// Another consumer.
    #[doc(hidden)]
    fn another_consumer<T>(read: &Self::Read<T>) -> Self::Read<T>;
}

/// What a queue of a kind is made of.
///
/// # Safety
///
/// Where the kind is [`InPlace`], a cell has the layout of a message. What is there is a message, unless
/// another process has written something else.
///
/// Where messages are `Send`, both ends are `Send` and `Sync`. (No bound says so, because handles of messages
/// that are not can be named. [`sendable!`] checks it.)
// Decision 0043: the handles are written once.
pub(crate) unsafe trait Parts: Sized + 'static {
    /// As [`AnyKind::Corrupt`].
    type Bad;

    /// A producer's end.
    type Write<T>: Write<T, Lane: QueueLane>;
    /// A consumer's end.
    type Read<T>: Read<T, Lane: QueueLane, Corrupt = Self::Bad>;
    /// The control block of its lanes.
    type ControlBlock: ControlBlock + Send + Sync;
    /// What lies in a slot of them.
    type Cell<T>;
    /// What its handles are called in debug output.
    const NAME: &'static str;
}

/// Checks that the ends of a kind are `Send` and `Sync` where its messages, called `T`, are `Send`.
macro_rules! sendable {
    ([$($generics:tt)*] $($End:ty),*) => {
        // Unreached: it is there to be compiled
        const _: () = {
            const fn is_sendable<E: Send + Sync>() {}
            #[allow(dead_code, reason = "it is there to be compiled")]
            const fn all<T: Send, $($generics)*>() {
                $(is_sendable::<$End>();)*
            }
        };
    };
}
#[cfg(feature = "shm")]
pub(super) use sendable;

/// The kinds of queue within one process, by their parts.
macro_rules! kinds {
    ($(
        $(#[$doc:meta])*
        $Kind:ident = $name:literal {
            Write: $Write:ty, Read: $Read:ty, Lane: $Lane:ty, Cell: $Cell:ty, ControlBlock: $ControlBlock:ty
        }
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $Kind {}

        sendable!([] $Write, $Read);

        // SAFETY: a cell of a kind in place is a message; the ends were checked.
        unsafe impl Parts for $Kind {
            type Bad = Infallible;
            type Write<T> = $Write;
            type Read<T> = $Read;
            type ControlBlock = $ControlBlock;
            type Cell<T> = $Cell;
            const NAME: &'static str = $name;
        }

        impl AnyKind for $Kind {
            type Corrupt = Infallible;
        }

        impl QueueKind for $Kind {
            #[inline(always)]
            fn slots<T: Send>(plan: &Settings) -> Result<Cells<$Cell>, CapacityError> {
                QueueState::<$Lane>::first_slots(plan)
            }

            #[inline(always)]
            fn ends<T: Send>(slots: Cells<$Cell>, plan: &Settings) -> ($Write, $Read) {
                let [write, read] = LaneShare::<$Lane>::first(slots, plan);
                let first = Number::new(plan.first);
                (<$Write>::at(write, first), <$Read>::at(read, first))
            }
        }
    )*};
}

kinds! {
    /// One producer, one consumer.
    Spsc = "spsc" {
        Write: WriteEnd<T, Sole>, Read: SoleReader<T>, Lane: OneToOne<T, Sole>, Cell: T, ControlBlock: Sole
    }

    /// Many producers, one consumer.
    Mpsc = "mpsc" {
        Write: WriteEnd<T>, Read: FanIn<T>, Lane: OneToOne<T>, Cell: T, ControlBlock: Own
    }

    /// One producer, many consumers.
    Spmc = "spmc" {
        Write: WriteMany<T>, Read: ReadMany<T>, Lane: OneToMany<T>, Cell: StampedSlot<T>, ControlBlock: Own
    }

    /// Many producers, many consumers.
    Mpmc = "mpmc" {
        Write: WriteMany<T>, Read: ReadMany<T>, Lane: OneToMany<T>, Cell: StampedSlot<T>, ControlBlock: Own
    }
}

/// Says that a kind is [`InPlace`]. Where the ends of lanes lie in ends that check messages, `$within` is
/// their field.
macro_rules! in_place {
    ([$($generics:tt)*] $Kind:ty $(, in $within:ident)?) => {
        #[allow(private_interfaces, reason = "as of the trait")]
        impl<$($generics)*> InPlace for $Kind {
            #[inline]
            fn write_end<T>(
                write: &mut Self::Write<T>,
            ) -> &mut WriteEnd<Self::Cell<T>, Self::ControlBlock> {
                &mut (*write)$(.$within)?
            }

            #[inline]
            fn read_end<T>(read: &mut Self::Read<T>) -> &mut ReadEnd<Self::Cell<T>, Self::ControlBlock> {
                read$(.$within)?.refresh_in_place();
                read$(.$within)?.current()
            }

            #[inline]
            fn current<T>(read: &mut Self::Read<T>) -> &mut ReadEnd<Self::Cell<T>, Self::ControlBlock> {
                read$(.$within)?.current()
            }

            #[inline]
            fn end_turn<T>(read: &mut Self::Read<T>) {
                read$(.$within)?.end_turn();
            }
        }
    };
}
#[cfg(feature = "shm")]
pub(super) use in_place;

in_place!([] Spsc);
in_place!([] Mpsc);

impl Joinable for Mpsc {
    fn another_producer<T>(write: &WriteEnd<T>) -> Result<WriteEnd<T>, CapacityError> {
        write.another()
    }
}

impl Joinable for Mpmc {
    fn another_producer<T>(write: &WriteMany<T>) -> Result<WriteMany<T>, CapacityError> {
        write.another()
    }
}

impl ManyConsumers for Spmc {
    fn another_consumer<T>(read: &ReadMany<T>) -> ReadMany<T> {
        read.another()
    }
}

impl ManyConsumers for Mpmc {
    fn another_consumer<T>(read: &ReadMany<T>) -> ReadMany<T> {
        read.another()
    }
}

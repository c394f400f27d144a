//! Many producers, one consumer: each producer has a ring of its own, so producers do not disturb each other.
//!
//! A producer can be cloned, or [registered](super::Producer::register), at any time, and this stops nobody.
//! When a producer is dropped, its messages are still received. The next producer that joins takes over its
//! ring, and sends behind those messages. Messages of one producer arrive in the order of sending. The
//! consumer takes from the rings in turn, and no message waits for ever: see
//! [`queue::Consumer`](super::Consumer).
//!
//! ```
//! let (producer, mut consumer) = annulus::mpsc::channel(64);
//! for worker in 0..4 {
//!     let mut producer = producer.clone();
//!     std::thread::spawn(move || producer.send(worker * 10).unwrap());
//! }
//! drop(producer); // the queue closes with its last producer
//! assert_eq!(consumer.iter().sum::<i32>(), 60);
//! ```

use core::convert::Infallible;

use super::channels::channels;
use super::fan_in::FanIn;
use super::kind::{AnyKind, Build, InPlace, Join, Joinable, Lanes, Parts, QueueKind};

use super::lane_node::{NewLane, Plan};
use super::read::ReadEnd;
use super::state::{LaneShare, QueueState};
use super::write::WriteEnd;
use crate::error::CapacityError;
use crate::lane::{OneToOne, Own};

/// Many producers, one consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mpsc {}

channels!(Mpsc, holds: "Makes a queue with a ring for each producer. Each ring holds exactly `capacity` messages.");

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

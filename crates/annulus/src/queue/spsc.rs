//! One producer, one consumer, one ring: the fastest way from one thread to another.
//!
//! ```
//! let (mut producer, mut consumer) = annulus::spsc::channel(64);
//! let reader = std::thread::spawn(move || consumer.iter().map(|s: String| s.len()).sum::<usize>());
//! producer.send("any type".to_string()).unwrap();
//! producer.send("that is Send".to_string()).unwrap();
//! drop(producer);
//! assert_eq!(reader.join().unwrap(), 20);
//! ```

use core::convert::Infallible;

use super::channels::channels;
use super::ends::Read;
use super::kind::{AnyKind, Build, InPlace, Lanes, Parts, QueueKind};

use super::lane_node::{NewLane, Plan};

use super::read::{One, ReadEnd};
use super::state::{LaneShare, QueueState};
use super::write::WriteEnd;
use crate::error::CapacityError;
use crate::lane::{Lone, OneToOne};

/// One producer, one consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spsc {}

channels!(Spsc, holds: "Makes a queue that holds exactly `capacity` messages.");

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

//! One producer, many consumers, one ring: for work that is shared out.
//!
//! A consumer can be cloned at any time. Each message reaches one consumer. A consumer claims a message
//! before it moves it out, so no other consumer touches that message, and any type will do. A consumer that
//! is held up between the claim and the move holds up only the slots that it has claimed, and no other
//! consumer. One message wakes one sleeping consumer.
//!
//! ```
//! let (mut producer, consumer) = annulus::spmc::channel(64);
//! let workers: Vec<_> = (0..3)
//!     .map(|_| {
//!         let mut consumer = consumer.clone();
//!         std::thread::spawn(move || consumer.iter().sum::<u64>())
//!     })
//!     .collect();
//! drop(consumer);
//! producer.send_batch(&[1; 100]).unwrap();
//! drop(producer);
//! assert_eq!(workers.into_iter().map(|worker| worker.join().unwrap()).sum::<u64>(), 100);
//! ```

use core::convert::Infallible;

use super::channels::channels;
use super::kind::{AnyKind, Build, Divide, ManyConsumers, Parts, QueueKind};

use super::lane_node::{NewLane, Plan};
use super::read_many::ReadMany;
use super::state::{LaneShare, QueueState};
use super::write_many::WriteMany;
use crate::error::CapacityError;
use crate::lane::{OneToMany, Own};

/// One producer, many consumers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spmc {}

channels!(Spmc, holds: "Makes a queue that holds exactly `capacity` messages.");

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

//! Many producers, many consumers: each producer has a ring of its own, and consumers take from all rings.
//!
//! Each consumer visits the rings in turn, so no message waits for ever: see
//! [`queue::Consumer`](super::Consumer). One message wakes one sleeping consumer. Producers and consumers can
//! be cloned at any time, and this stops nobody. When a producer is dropped, the next producer that joins
//! takes over its ring, with the messages in it. Messages of one producer are taken in the order of sending.
//! Two consumers may process what they took in any order.
//!
//! ```
//! let (producer, consumer) = annulus::mpmc::channel(64);
//! let workers: Vec<_> = (0..2)
//!     .map(|_| {
//!         let mut consumer = consumer.clone();
//!         std::thread::spawn(move || consumer.iter().sum::<u64>())
//!     })
//!     .collect();
//! drop(consumer);
//! for _ in 0..2 {
//!     let mut producer = producer.clone();
//!     std::thread::spawn(move || producer.send_batch(&[1; 100]).unwrap());
//! }
//! drop(producer);
//! assert_eq!(workers.into_iter().map(|worker| worker.join().unwrap()).sum::<u64>(), 200);
//! ```

use core::convert::Infallible;

use super::channels::channels;
use super::kind::{AnyKind, Build, Divide, Join, Joinable, ManyConsumers, Parts, QueueKind};

use super::lane_node::{NewLane, Plan};
use super::read_many::ReadMany;
use super::state::{LaneShare, QueueState};
use super::write_many::WriteMany;
use crate::error::CapacityError;
use crate::lane::{OneToMany, Own};

/// Many producers, many consumers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mpmc {}

channels!(Mpmc, holds: "Makes a queue with a ring for each producer. Each ring holds exactly `capacity` messages.");

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

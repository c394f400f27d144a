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

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::hub::{Plan, Start};
use super::kind::{InPlace, Kind, Lanes, Parts, channels};
use super::read::{One, ReadEnd};
use super::stats::ProducerStats;
use super::write::WriteEnd;
use crate::error::CapacityError;
use crate::ring::Lane;

/// One producer, one consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spsc {}

channels!(Spsc, "spsc", holds: "A queue that holds `capacity` messages, exactly.");

impl Kind for Spsc {}
impl InPlace for Spsc {}

impl Parts for Spsc {
    type Write<T: Send> = WriteEnd<T>;
    type Read<T: Send> = One<T>;
    const NAME: &'static str = "spsc";

    fn ends<T: Send>(plan: Plan) -> Result<(WriteEnd<T>, One<T>), CapacityError> {
        let Start { hub, member } = Start::new(plan, |plan| Lane::new(plan.capacity, plan.first, plan.node))?;
        // SAFETY: a member lives as long as its hub.
        unsafe { member.as_ref() }.relist();
        Ok((WriteEnd::new(Arc::clone(&hub), member), One { hub, end: ReadEnd::new(member) }))
    }
}

impl Lanes for Spsc {
    fn write_end<T: Send>(write: &mut WriteEnd<T>) -> &mut WriteEnd<T> {
        write
    }

    #[inline]
    fn read_end<T: Send>(read: &mut One<T>) -> &mut ReadEnd<T> {
        read.has_some();
        &mut read.end
    }

    #[inline]
    fn current<T: Send>(read: &mut One<T>) -> &mut ReadEnd<T> {
        &mut read.end
    }

    fn producers<T: Send>(read: &One<T>) -> Vec<ProducerStats> {
        read.hub.producers_now()
    }
}

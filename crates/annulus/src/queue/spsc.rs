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
use super::kind::{InPlace, Kind, Lanes, Parts};
use super::read::{One, ReadEnd};
use super::stats::ProducerStats;
use super::write::WriteEnd;
use crate::error::CapacityError;
use crate::ring::Lane;

/// One producer, one consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spsc {}

/// The producer of a queue with one producer.
pub type Producer<T> = super::Producer<T, Spsc>;

/// The consumer of a queue with one producer.
pub type Consumer<T> = super::Consumer<T, Spsc>;

/// How such a queue is to be.
pub type Builder = super::Builder<Spsc>;

/// A queue that holds `capacity` messages, exactly.
///
/// # Panics
///
/// If `capacity` is 0, or memory has no room for so many; [`try_channel`] says so instead.
#[must_use]
#[track_caller]
pub fn channel<T: Send>(capacity: usize) -> (Producer<T>, Consumer<T>) {
    Builder::new(capacity).build_or_panic()
}

/// As [`channel`], for a capacity that may not do.
///
/// # Errors
///
/// [`CapacityError`]: the capacity is 0, or memory has no room for so many.
///
/// # Examples
///
/// ```
/// use annulus::CapacityError;
///
/// let error = annulus::spsc::try_channel::<u8>(0).unwrap_err();
/// assert_eq!(error, CapacityError::TooSmall { capacity: 0, minimum: 1 });
/// ```
pub fn try_channel<T: Send>(capacity: usize) -> Result<(Producer<T>, Consumer<T>), CapacityError> {
    Builder::new(capacity).build()
}

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

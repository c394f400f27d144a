//! [`channel`] and [`with`]: they make ordered queues.

use super::state::State;
use super::{Receiver, Sender};
use crate::base::common::Common;
use crate::error::CapacityError;
use crate::lane::{Cells, Number, StampedSlot};
use crate::settings::Settings;

/// Makes an ordered queue with these settings. Allocates its slots and touches them. Capacities that are
/// powers of two are a little faster.
///
/// # Errors
///
/// [`CapacityError`]: the capacity is 0, or memory has no room for so many slots, or a required option of
/// their memory can't be met, or the settings have a headroom.
///
/// # Examples
///
/// ```
/// use annulus::queue::ordered;
/// use annulus::{CapacityError, Settings};
///
/// let (sender, receiver) = ordered::with(Settings::new(100).name("jobs"))?;
/// sender.send(1).unwrap();
/// assert_eq!(receiver.recv(), Ok(1));
///
/// let error = ordered::with::<u8>(Settings::new(0)).unwrap_err();
/// assert_eq!(error, CapacityError::TooSmall { capacity: 0, minimum: 1 });
/// # Ok::<(), CapacityError>(())
/// ```
#[allow(clippy::needless_pass_by_value, reason = "as the makers of all rings")]
#[doc(alias = "Builder")]
#[inline(always)]
pub fn with<T: Send>(settings: Settings) -> Result<(Sender<T>, Receiver<T>), CapacityError> {
    settings.without_headroom()?;
    Ok(made_of(slots(&settings)?, &settings))
}

#[inline(always)]
fn slots<T: Send>(settings: &Settings) -> Result<Cells<StampedSlot<T>>, CapacityError> {
    let first = Number::new(settings.first);
    StampedSlot::slots(settings.capacity, first, &settings.memory, Common::<State<T>>::BEFORE)
}

#[inline(always)]
fn made_of<T: Send>(slots: Cells<StampedSlot<T>>, settings: &Settings) -> (Sender<T>, Receiver<T>) {
    let [state, other] = State::made(slots, settings);
    (Sender { state }, Receiver { state: other, strategy: None })
}

/// Makes a queue that holds exactly `capacity` messages of all senders together.
///
/// # Panics
///
/// If `capacity` is 0, or memory has no room for so many slots. [`with`] returns an error instead.
#[doc(alias = "ArrayQueue")]
#[doc(alias = "SegQueue")]
#[doc(alias = "unbounded_channel")]
#[doc(alias = "bounded")]
#[doc(alias = "unbounded")]
#[must_use]
#[track_caller]
pub fn channel<T: Send>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let settings = Settings::new(capacity);
    // (Slots alone are what may not be there: two ends would be copied out of the result.)
    match slots(&settings) {
        Ok(slots) => made_of(slots, &settings),
        Err(error) => panic!("{error}"),
    }
}

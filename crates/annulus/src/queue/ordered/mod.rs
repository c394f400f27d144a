//! Many producers, many consumers, one ring: one order and one capacity.
//!
//! The other queues give each producer a ring of its own. This is faster, but each producer then has a
//! capacity of its own, and messages of two producers have no order. Here there is one ring. It holds
//! `capacity` messages of all senders together, and they are received in the order in which they were sent.
//!
//! All verbs take `&self`. Both handles are [`Clone`], [`Send`] and [`Sync`], and a clone only increments a
//! count. So a sender may be shared by reference, or cloned for each message, as with `crossbeam-channel` or
//! `std::sync::mpsc::sync_channel`.
//!
//! | | [`mpsc`](crate::mpsc), [`mpmc`](crate::mpmc) | `ordered` |
//! | --- | --- | --- |
//! | rings | one for each producer | one |
//! | the capacity | for each producer | for all of them |
//! | order | of each producer's messages | of all messages |
//! | memory | producers × capacity × message | capacity × (message and 8 bytes) |
//! | another producer | takes a ring that is free, or allocates one | allocates nothing |
//! | verbs | `&mut self` | `&self` |
//! | written and read in place | with one consumer | no |
//! | many producers at once | do not disturb each other | take turns at one counter |
//!
//! ```
//! use annulus::queue::ordered;
//!
//! let (sender, receiver) = ordered::channel(64);
//! std::thread::scope(|scope| {
//!     for number in 0..4_u64 {
//!         let sender = &sender; // no clone needed
//!         scope.spawn(move || sender.send(number));
//!     }
//! });
//! drop(sender);
//! assert_eq!(receiver.iter().sum::<u64>(), 6);
//! ```
//!
//! # One order
//!
//! If one send returns before another begins, on whichever threads, its message is received before the
//! other's. Several receivers also take messages in that order.
//!
//! # Which thread waits for which
//!
//! The algorithm follows Vyukov's bounded queue: a sender claims a number, and then writes its message into
//! the slot of that number. No verb takes a lock, and a claim fails only if another claim has succeeded. But
//! the system may stop a thread *between* its claim and the end of its write. (This is a very short time.)
//! Such a thread is in the way of others until it continues:
//!
//! - A sender that is stopped there holds up all receivers at its message: [`try_recv`](Receiver::try_recv)
//!   says that nothing is there, although later messages may be there, and [`recv`](Receiver::recv) waits.
//!   Other senders go on until the ring is full.
//! - A receiver that has claimed a message and not moved it out yet holds up senders when they come to its
//!   slot one lap later: [`try_send`](Sender::try_send) says that the queue is full, and
//!   [`send`](Sender::send) waits. Other receivers go on.
//!
//! Verbs that do not wait never wait for such a thread, either. Verbs that claim (`try_send`, `try_recv` and
//! similar ones) try again if another thread was faster, so they are lock-free, not wait-free. If that
//! matters (with real-time priorities, for example), use [`mpsc`](crate::mpsc), in which no producer can hold
//! up another producer's messages.
//!
//! # Close
//!
//! A queue is closed when its last sender is gone, when its last receiver is gone, or when somebody calls
//! `close`. From then on every send fails and gives its value back. A send that returned `Ok` came before the
//! close. Its message is received, or dropped if no receiver is left. It is dropped soon, not only with the
//! last sender, because a message may own something that its sender waits for.

mod receiver;
mod sender;
mod state;

pub use receiver::{Receiver, TryIter};
pub use sender::Sender;

use crate::base::common::Common;
use crate::error::CapacityError;
use crate::lane::{Cells, Number, StampedSlot};
use crate::settings::Settings;
use state::State;

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

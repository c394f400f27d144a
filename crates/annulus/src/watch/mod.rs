//! The newest value, for many readers: a configuration, a state, a price that only counts while it is new.
//!
//! A channel has one value, which is there from the beginning. Any [`Sender`] replaces it, or changes it in
//! place. Each [`Receiver`] reads it at any time, and waits for a change: [`changed`](Receiver::changed)
//! returns once for each value that is new to this receiver, and a receiver that is slow sees the newest one
//! only. The value may be of any type, and is read by reference, under a lock of its own.
//!
//! ```
//! use annulus::watch;
//!
//! let (sender, mut receiver) = watch::channel(String::from("starting"));
//! assert_eq!(*receiver.borrow(), "starting");
//!
//! let reader = std::thread::spawn(move || {
//!     let mut seen = Vec::new();
//!     while receiver.changed().is_ok() {
//!         seen.push(receiver.borrow_and_update().clone());
//!     }
//!     seen // the sender is gone
//! });
//! sender.send("working".to_owned()).unwrap();
//! sender.send_modify(|state| state.push_str(" hard"));
//! drop(sender);
//! assert_eq!(reader.join().unwrap().last().unwrap(), "working hard"); // always: it is the newest
//! ```
//!
//! | what | verbs |
//! | --- | --- |
//! | read the value | [`borrow`](Receiver::borrow), [`borrow_and_update`](Receiver::borrow_and_update), [`try_recv`](Receiver::try_recv) for a clone of a new one |
//! | wait for a new one | [`changed`](Receiver::changed), [`wait_for`](Receiver::wait_for), [`recv`](Receiver::recv) for a clone of it; each with a timeout, and in a task |
//! | wait for several things | arms of [`select!`](crate::select!): `recv(receiver)` and, without a clone, `wait(receiver)` |
//! | change it | [`send`](Sender::send), [`send_replace`](Sender::send_replace), [`send_modify`](Sender::send_modify), [`send_if_modified`](Sender::send_if_modified) |
//!
//! A receiver whose values can be cloned is a receiving handle like any other: an [event
//! loop](crate::Worker) or a pipeline reads from it.
//!
//! # The lock
//!
//! A borrow holds up senders, and a sender holds up borrows, for as long as it replaces or changes the value.
//! So keep a [`Ref`] for a moment only, not across an `.await`. A thread that has a `Ref` must not send into
//! the same channel, nor borrow once more: it would wait for itself. Nobody holds the lock while it waits for
//! a change.
//!
//! For values that are `Copy` and read very often, a [lossy ring](fn@crate::broadcast::lossy) has
//! [`latest`](crate::broadcast::Subscriber::latest), which takes no lock. Between processes (Linux) it is
//! `shm::watch`, which takes no lock either.

mod receiver;
mod sender;
mod state;

pub use receiver::Receiver;
pub use sender::Sender;
pub use state::Ref;

/// Makes a channel with this value, which the receiver has [seen](Receiver::changed).
///
/// # Examples
///
/// ```
/// let (sender, mut receiver) = annulus::watch::channel(1);
/// assert_eq!(receiver.has_changed(), Ok(false));
/// sender.send(2).unwrap();
/// assert_eq!(receiver.recv(), Ok(2));
/// ```
#[must_use]
pub fn channel<T: Send + Sync>(value: T) -> (Sender<T>, Receiver<T>) {
    let sender = Sender::new(value);
    let receiver = sender.subscribe();
    (sender, receiver)
}

//! One value from one thread or task to another: a reply.
//!
//! A channel has one [`Sender`] and one [`Receiver`], and one allocation. (When a thread has to wait, there
//! is another one. A task that receives has its place in the first.) The sender is used up by its value, and
//! never waits. The drop of either side is told to the other one.
//!
//! A receiver is a receiving handle like any other: it blocks, with a timeout or not, waits in a task or in a
//! `select!`, and can be read by a worker.
//!
//! # Examples
//!
//! A thread that answers questions, each with a channel for its reply:
//!
//! ```
//! use annulus::{mpsc, oneshot};
//!
//! let (mut questions, mut asked) = mpsc::channel::<(u64, oneshot::Sender<u64>)>(64);
//! let squares = std::thread::spawn(move || {
//!     for (number, reply) in asked.iter() {
//!         let _ = reply.send(number * number); // the thread that asked may be gone
//!     }
//! });
//! let (reply, answer) = oneshot::channel();
//! questions.send((12, reply)).unwrap();
//! assert_eq!(answer.recv(), Ok(144));
//! # drop(questions);
//! # squares.join().unwrap();
//! ```

mod block;
mod receiver;
mod sender;

use block::OneshotBlock;
pub use receiver::Receiver;
#[cfg(feature = "async")]
pub use receiver::RecvFuture;
pub use sender::Sender;

/// Makes a channel for one value. One allocation, which the side that goes last frees.
///
/// # Examples
///
/// ```
/// let (sender, receiver) = annulus::oneshot::channel();
/// sender.send("hello").unwrap();
/// assert_eq!(receiver.recv(), Ok("hello"));
/// ```
#[must_use]
pub fn channel<T: Send>() -> (Sender<T>, Receiver<T>) {
    let (of_sender, of_receiver) = OneshotBlock::shared();
    (Sender::new(of_sender), Receiver::new(of_receiver))
}

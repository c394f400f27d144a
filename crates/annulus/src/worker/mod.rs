//! A thread that receives from any ring and calls a handler: [`Worker`].
//!
//! ```
//! use annulus::Worker;
//!
//! let (mut producer, consumer) = annulus::spsc::channel(64);
//! let worker = Worker::builder(consumer, Vec::new())
//!     .name("orders")
//!     .spawn(|orders, order: u64, _end_of_batch| orders.push(order))?;
//!
//! producer.send(1).unwrap();
//! producer.send(2).unwrap();
//! worker.stop(); // after the two
//! let finished = worker.join().unwrap();
//! assert_eq!(finished.context, [1, 2]);
//! assert_eq!(finished.messages, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Batches
//!
//! The handler gets a flag with each message: whether it is the last one of its *batch*. Use it for what is
//! done better once for many messages: write to a file, send a packet, commit. With
//! [`spawn_numbered`](Builder::spawn_numbered) it also gets the number that the message has in its ring.
//!
//! - A batch ends with the last message that is there when the flag is made. If the flag is false, another
//!   message is there, and the handler gets it next. (After a lag, it gets a later one.)
//! - A batch ends after [`max_batch`](Builder::max_batch) messages, however fast the other side is.
//! - If several consumers share a queue, another one may take the next message at any time. So in
//!   [`spmc`](crate::spmc), [`mpmc`](crate::mpmc) and [`queue::ordered`](crate::queue::ordered) each message
//!   is a batch, and the flag is always true.
//! - [`stop_now`](Worker::stop_now) breaks a batch off. So does [`stop`](Worker::stop) in a lossy stage
//!   that lost the rest of the batch, if the stages before it have processed nothing later.
//!
//! # The end
//!
//! | what happens | messages that were sent | [`join`](Worker::join) |
//! | --- | --- | --- |
//! | the ring is closed (also by [`Shutdown`](crate::Shutdown)), or the other side is gone | the handler gets all of them | `Ok` |
//! | [`stop`](Worker::stop) | the handler gets those that were sent before | `Ok` |
//! | [`stop_now`](Worker::stop_now) | are dropped, if nobody else receives them | `Ok` |
//! | the handler or the callback panics | are dropped, if nobody else receives them | `Err`: the panic |
//! | the [`Worker`] is dropped | as `stop` | |
//! | [`detach`](Worker::detach) | the thread goes on until its ring is closed | |
//!
//! In each case the thread drops its receiver, so the other side is told: publishers no longer wait for it,
//! and the queue of a last consumer is closed. A panic can be seen before that, by
//! [`panicked`](Worker::panicked): a producer that is told asks this to learn why.
//!
//! # Signals
//!
//! The thread blocks the signals that the thread which spawned it blocked then, as a thread of `std` does.
//! So block those that your program waits for (by `sigwait`, or a `signalfd`) before you spawn. The threads
//! that the library has for itself, in which no handler of yours runs, block all signals except errors.
//!
//! # What it costs
//!
//! A message costs what it costs in a loop over `recv`, and one load that asks whether to stop. The thread
//! waits like any other reader of its ring: it sleeps without a timer, unless there is an [idle
//! callback](Builder::on_idle), and a stop wakes it at once.

mod builder;
mod feed;
mod handle;
mod run;
mod spawn;

pub use builder::Builder;
pub use feed::Delivery;
pub use handle::{Finished, Stopper, Worker};
pub use spawn::SpawnError;

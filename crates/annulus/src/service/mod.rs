//! Questions in one process: a server answers what any number of clients ask.
//!
//! A question, and an answer, is anything that is `Send`. A client may have several questions open, and
//! receives their answers in any order. The server may keep requests, and answers them in any order, from any
//! thread. The verbs and the errors are those of [services between processes](crate::shm::service).
//!
//! ```
//! use annulus::service::{self, AnswerError};
//!
//! let (mut client, mut server) = service::channel::<String, usize>(16);
//! let thread = std::thread::spawn(move || {
//!     for request in &mut server {
//!         let length = request.question().len(); // or of another thread, later
//!         if length > 0 {
//!             let _ = request.answer(length); // the thread that asked may be gone
//!         } // otherwise it is dropped: refused
//!     }
//! });
//! let (word, nothing) = (client.ask("hello".into())?, client.ask(String::new())?);
//! assert_eq!((nothing.recv(), word.recv()), (Err(AnswerError::Refused), Ok(5)));
//! drop(client); // the service closes with its last client
//! thread.join().unwrap();
//! # Ok::<(), service::AskError<String>>(())
//! ```
//!
//! # What it is made of
//!
//! Questions go through an [`mpsc`] queue, in which each client has a ring of its own. So
//! clients do not disturb each other, and the [`Server`] is its consumer: it has all verbs of one, waits in
//! tasks and in a `select!`, and can be read by a worker. An answer comes through a
//! [`oneshot`](crate::oneshot). So each question allocates one block, which the side that goes last frees.
//! (When a thread has to wait for the answer, there is another one. A task has its place in the first.) The
//! server never waits for a client.
//!
//! # How many questions
//!
//! The capacity of the service is how many questions *each client* may have open. A question is open until
//! it is refused, or its answer is received or given up. A clone of a client is another client, with a ring
//! of its own. It may take over the ring of one that is gone, and what that one has asked waits there before
//! its own questions. Until the server has received that, the client may have so many questions less open.
//!
//! # When a side is gone
//!
//! - *The server is dropped,* or [closes](crate::queue::Consumer::close) the service: clients can ask no more
//!   ([`Closed`](AskError::Closed)). What was asked before is received after a close. It is
//!   [refused](AnswerError::Refused) by the drop of the server. A request that was received can still be
//!   answered.
//! - *All clients are gone:* the server receives what they have asked, and then the service is closed.
//! - *A [`PendingAnswer`] is dropped:* [`Request::answer`] gives the answer back. (A client may go before its
//!   answers.)
// Decision 0178: a queue of requests, and nothing else that is shared.

mod client;
mod error;

#[cfg(feature = "async")]
pub use client::AnswerFuture;
pub use client::{Client, PendingAnswer, Request};
pub use error::{AnswerError, AskError, ClientGone};

use crate::error::CapacityError;
use crate::queue::mpsc;
use crate::settings::Settings;
use crate::wait::WaitStrategy;

/// Receives the questions of all clients: a consumer of requests, with all of its verbs.
///
/// Its drop closes the service, and refuses what was not received.
pub type Server<Q, A> = mpsc::Consumer<Request<Q, A>>;

/// Makes a service, and its first client, which may have `capacity` questions open. (So may each clone.)
///
/// # Panics
///
/// If `capacity` is 0, or memory has no room for so many. [`with`] returns an error instead.
#[must_use]
#[track_caller]
pub fn channel<Q: Send, A: Send>(capacity: usize) -> (Client<Q, A>, Server<Q, A>) {
    let (requests, server) = mpsc::channel(capacity);
    (Client::new(requests, WaitStrategy::default()), server)
}

/// Makes a service with these settings: the capacity is how many questions each client may have open, the
/// strategy is how the server waits for questions, and clients for answers.
///
/// # Errors
///
/// The errors of [`queue::with`](crate::queue::with).
///
/// # Examples
///
/// ```
/// use annulus::{Settings, WaitStrategy, service};
///
/// let settings = Settings::new(4).wait_strategy(WaitStrategy::BusySpin);
/// let (mut client, mut server) = service::with::<u32, u64>(settings)?;
/// let answer = client.ask(6).unwrap();
/// server.recv().unwrap().answer(36).unwrap();
/// assert_eq!(answer.recv(), Ok(36));
/// # Ok::<(), annulus::CapacityError>(())
/// ```
#[allow(clippy::type_complexity, reason = "a client and a server")]
pub fn with<Q: Send, A: Send>(settings: Settings) -> Result<(Client<Q, A>, Server<Q, A>), CapacityError> {
    let strategy = settings.strategy;
    let (requests, server) = mpsc::with(settings)?;
    Ok((Client::new(requests, strategy), server))
}

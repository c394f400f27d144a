//! [`Request`]: a question that is to be answered.

use alloc::sync::Arc;
use core::fmt;
use core::ops::Deref;

use super::error::ClientGone;
use crate::error::SendError;
use crate::oneshot;

/// Counts the open questions of a client: one for each, and the client's own. It goes with the question, and
/// then with the answer.
pub(super) type Open = Arc<()>;

/// An answer on its way, and the count of its question.
pub(super) type Answered<A> = (A, Open);

/// A question that is to be answered, once. Its drop refuses it.
///
/// It may be kept, and answered by another thread, in any order, also when the [`Server`](super::Server) is
/// gone.
#[must_use = "its drop refuses the question"]
pub struct Request<Q, A> {
    pub(super) question: Q,
    // Before the reply: a client that sees the refusal finds that the question is not open.
    open: Open,
    reply: oneshot::Sender<Answered<A>>,
}

impl<Q, A: Send> Request<Q, A> {
    pub(super) fn new(question: Q, open: Open, reply: oneshot::Sender<Answered<A>>) -> Self {
        Self { question, open, reply }
    }

    /// The question.
    pub fn question(&self) -> &Q {
        &self.question
    }

    /// The question, to have it, and the request without it, which is still to be answered.
    ///
    /// ```
    /// let (mut client, mut server) = annulus::service::channel::<Vec<u8>, Vec<u8>>(4);
    /// let answer = client.ask(vec![1, 2, 3]).unwrap();
    /// let (mut bytes, request) = server.recv().unwrap().take_question();
    /// bytes.reverse();
    /// request.answer(bytes).unwrap();
    /// assert_eq!(answer.recv().unwrap(), [3, 2, 1]);
    /// ```
    pub fn take_question(self) -> (Q, Request<(), A>) {
        let Self { question, open, reply } = self;
        (question, Request { question: (), open, reply })
    }

    /// Whether the answer can still be received. If not, this stays so: its
    /// [`PendingAnswer`](super::PendingAnswer) was dropped.
    pub fn is_client_there(&self) -> bool {
        !self.reply.is_closed()
    }

    /// Answers the question. Never waits, allocates nothing. O(1), and a system call if the thread that waits
    /// for the answer sleeps.
    ///
    /// # Errors
    ///
    /// [`ClientGone`] gives the answer back: nobody can receive it.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::service::{self, ClientGone};
    ///
    /// let (mut client, mut server) = service::channel::<u32, u64>(4);
    /// drop(client.ask(6).unwrap());
    /// let request = server.recv().unwrap();
    /// assert!(!request.is_client_there()); // so the answer need not be found
    /// assert_eq!(request.answer(36), Err(ClientGone(36)));
    /// ```
    #[inline]
    pub fn answer(self, answer: A) -> Result<(), ClientGone<A>> {
        let Self { question: _question, open, reply } = self;
        reply.send((answer, open)).map_err(|SendError((answer, _))| ClientGone(answer))
    }
}

impl<Q, A> Deref for Request<Q, A> {
    type Target = Q;

    fn deref(&self) -> &Q {
        &self.question
    }
}

impl<Q: fmt::Debug, A> fmt::Debug for Request<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("question", &self.question).finish_non_exhaustive()
    }
}

//! Lossless broadcast rings between processes: the publisher waits for subscribers of other processes.

use core::error::Error;
use core::fmt;

use super::broadcast::{Accepted, accept, share};
use super::error::AttachError;
use super::invitation::Invitation;
use super::kind::ShmKind;
use super::liveness::PeerState;
use super::message_type::MessageType;
use super::share_error::ShareError;
use crate::broadcast::{Awaited, Builder, Foreign, Lossless, Publisher, Subscribable, Subscriber};
use crate::message::Message;
use crate::wait::WaitStrategy;

/// How many seats a ring may have. A publisher looks at all of them once in half a ring.
const MOST_SEATS: usize = 1024;

/// Makes a lossless ring for subscribers of other processes.
///
/// The publisher is that of [`Builder::lossless`], with the same verbs. It waits for the slowest subscriber
/// that has one of the ring's `seats`, and never while nobody has one. The [`Invitation`] is for the
/// processes that subscribe: see [`accept_lossless`](Invitation::accept_lossless). (A subscriber of the
/// publisher's own process accepts it, too.)
///
/// When the process of a subscriber ends without a drop, its seat is free: the kernel tells that it is gone.
/// A publisher that has no room looks for that each 10 to 20 ms, or each 50 ms while it sleeps. A process
/// that is stopped (`SIGSTOP`) is alive, so the publisher waits for it.
///
/// A publish is refused only when the ring is closed, not when nobody is there: somebody may come.
/// [`wait_for_subscribers`](Publisher::wait_for_subscribers) waits until so many have a seat, and
/// [`subscriber_count`](Publisher::subscriber_count) says how many have one now, in all processes.
///
/// Subscribers can't write to the ring. But all of them write to the page where the seats are. A process that
/// writes there what it must not can make the publisher wait for nobody. It can also make another subscriber
/// lose messages; that subscriber is told how many.
///
/// # Errors
///
/// [`ShareError`]: no such ring can be, also with 0 seats or more than 1024; or the system refuses it.
///
/// # Examples
///
/// ```
/// use annulus::TryPublishError;
/// use annulus::broadcast::Builder;
/// use annulus::shm::{Invitation, broadcast};
/// use std::os::unix::net::UnixStream;
///
/// let (mut publisher, invitation) = broadcast::lossless::<u64>(Builder::new(2), 4)?;
/// let (here, there) = UnixStream::pair()?;
/// invitation.send(&here)?;
///
/// // Usually in another process.
/// let ring = Invitation::receive(&there)?.accept_lossless::<u64>()?;
/// let mut subscriber = ring.subscribe()?;
///
/// publisher.publish_batch(&[1, 2]).unwrap();
/// assert!(publisher.try_publish(3) == Err(TryPublishError::Full(3)));
/// assert_eq!(subscriber.recv(), Ok(1));
/// assert!(publisher.try_publish(3).is_ok());
/// drop(publisher);
/// assert_eq!(subscriber.iter().collect::<Vec<_>>(), [2, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn lossless<T: Message>(
    builder: Builder,
    seats: usize,
) -> Result<(Publisher<T, Lossless>, Invitation), ShareError> {
    share_with_seats(builder, &MessageType::of::<T>(), seats)
}

/// The same for any message.
pub(super) fn share_with_seats<T: Message>(
    builder: Builder,
    of: &MessageType,
    seats: usize,
) -> Result<(Publisher<T, Lossless>, Invitation), ShareError> {
    if !(1..=MOST_SEATS).contains(&seats) {
        return Err(ShareError::Seats { seats, most: MOST_SEATS });
    }
    let (across, invitation) = share(&builder, ShmKind::Lossless, seats, of)?;
    // SAFETY: new memory, all zero but for constants, to which only this mapping can write; and all processes
    // go by `docs/SHM-FORMAT.md`, which says that these words are accessed by atomic operations.
    let publisher = unsafe { builder.lossless_across(across) }?;
    Ok((publisher, invitation))
}

impl Invitation {
    /// Maps a [lossless ring](lossless), for subscribers that wait by the default [`WaitStrategy`].
    ///
    /// # Errors
    ///
    /// [`AttachError`]: it is no such ring, or of another type, size or version; or the system refuses it.
    pub fn accept_lossless<T: Message>(&self) -> Result<AcceptedLossless<T>, AttachError> {
        self.accept_lossless_by(WaitStrategy::default())
    }

    /// As [`accept_lossless`](Self::accept_lossless), for subscribers that wait by `strategy`.
    ///
    /// # Errors
    ///
    /// Those of [`accept_lossless`](Self::accept_lossless).
    pub fn accept_lossless_by<T: Message>(
        &self,
        strategy: WaitStrategy,
    ) -> Result<AcceptedLossless<T>, AttachError> {
        accept_for(self, &MessageType::of::<T>(), strategy)
    }
}

/// The same for any message, of which any bytes are one.
pub(super) fn accept_for<T: Message>(
    invitation: &Invitation,
    of: &MessageType,
    strategy: WaitStrategy,
) -> Result<AcceptedLossless<T>, AttachError> {
    Ok(AcceptedLossless(accept(invitation, &[ShmKind::Lossless], of, strategy, || false)?))
}

/// A lossless ring of another process.
pub struct AcceptedLossless<T>(Accepted<T>);

impl<T: Message> AcceptedLossless<T> {
    /// A subscriber for which the publisher waits, from the next message on. It takes a seat, which it gives
    /// up when it is dropped. O(seats), a system call for each that is taken. The publisher may wait a moment
    /// for it while it joins.
    ///
    /// # Errors
    ///
    /// [`NoSeat`]: all are taken. So is that of a process that has died, for the moment in which the
    /// publisher frees it: another try finds it.
    pub fn subscribe(&self) -> Result<Subscriber<T, Awaited>, NoSeat> {
        self.join(false)
    }

    /// As [`subscribe`](Self::subscribe), from the oldest message on that can be promised: half a ring before
    /// the next, or nearly so.
    ///
    /// # Errors
    ///
    /// Those of [`subscribe`](Self::subscribe).
    pub fn subscribe_from_oldest(&self) -> Result<Subscriber<T, Awaited>, NoSeat> {
        self.join(true)
    }

    /// A subscriber for which nobody waits. It takes no seat.
    #[must_use]
    pub fn subscribe_lossy(&self) -> Subscriber<T, Foreign> {
        self.0.subscribable().subscribe()
    }

    /// Whether the publisher has closed the ring, or its process is gone. Messages may still be left to
    /// receive.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.subscribable().is_closed()
    }

    /// Whether the publisher is there. Two system calls. See [`Accepted::publisher`].
    #[must_use]
    pub fn publisher(&self) -> PeerState {
        self.0.publisher()
    }

    /// What makes subscribers for which nobody waits.
    pub(super) fn subscribable(&self) -> &Subscribable<T, Foreign> {
        self.0.subscribable()
    }

    fn join(&self, from_oldest: bool) -> Result<Subscriber<T, Awaited>, NoSeat> {
        self.0.subscribable().subscribe_awaited(from_oldest).ok_or(NoSeat)
    }
}

impl<T: Message> Clone for AcceptedLossless<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> fmt::Debug for AcceptedLossless<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AcceptedLossless").field(&self.0).finish()
    }
}

/// All seats of a lossless ring are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NoSeat;

impl fmt::Display for NoSeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("all seats of the ring are taken: make it with more, or drop a subscriber")
    }
}

impl Error for NoSeat {}

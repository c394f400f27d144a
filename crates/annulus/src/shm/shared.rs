//! [`Shared`]: what each verb returns that makes a ring between processes. [`WhenGone`]: what becomes of the
//! ring when a side of it is gone.

use super::invitation::Invitation;

/// A new ring between processes: the handle of the process that makes it, what it knows of the others, and
/// what they need.
///
/// | made by | `handle` | `peers` |
/// | --- | --- | --- |
/// | [`broadcast::lossy`] | `Publisher` | [`Subscribable`] |
/// | [`broadcast::bytes::lossy`] | `Publisher` | `Subscribable` |
/// | [`broadcast::lossless`], [`broadcast::bytes::lossless`] | `Publisher` | `()`: the publisher counts subscribers |
/// | [`mp_broadcast::Builder::build`] | `Publisher` | [`Places`] |
/// | [`spsc::producer`], [`bytes::producer`] | `Producer` | [`Peer`] |
/// | [`mpsc::Builder::build`] | `Consumer` | [`Places`] |
/// | [`mpmc::Builder::build`] | `Queue` | `()`: the queue has the places |
/// | [`watch::sender`], [`watch::table`] | `Sender` | `()`: readers write nothing |
/// | [`service::Builder::build`] | [`Server`] | [`Places`] |
///
/// [`broadcast::lossy`]: super::broadcast::lossy
/// [`broadcast::lossless`]: super::broadcast::lossless
/// [`broadcast::bytes::lossy`]: super::broadcast::bytes::lossy
/// [`broadcast::bytes::lossless`]: super::broadcast::bytes::lossless
/// [`mp_broadcast::Builder::build`]: super::mp_broadcast::Builder::build
/// [`spsc::producer`]: super::spsc::producer
/// [`bytes::producer`]: super::bytes::producer
/// [`mpsc::Builder::build`]: super::mpsc::Builder::build
/// [`mpmc::Builder::build`]: super::mpmc::Builder::build
/// [`watch::sender`]: super::watch::sender
/// [`watch::table`]: super::watch::table
/// [`service::Builder::build`]: super::service::Builder::build
/// [`Server`]: super::service::Server
/// [`Subscribable`]: crate::broadcast::Subscribable
/// [`Places`]: super::mpsc::Places
/// [`Peer`]: super::Peer
///
/// A verb by which another process joins returns the handle, or the handle and the peers.
///
/// ```
/// use annulus::shm::{Shared, WhenGone, spsc};
///
/// let builder = annulus::Settings::new(64);
/// let Shared { handle: mut producer, peers, invitation, .. } =
///     spsc::producer::<u64>(builder, WhenGone::Close)?;
/// println!("the consumer is {}", peers.state()); // not there yet
///
/// let (mut consumer, _) = spsc::consumer::<u64>(&invitation)?; // usually in another process
/// producer.send(1)?;
/// assert_eq!(consumer.recv(), Ok(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
#[must_use = "the drop of the handle ends the ring"]
pub struct Shared<H, P = ()> {
    /// The handle of this process.
    pub handle: H,
    /// The others, as this process sees them.
    pub peers: P,
    /// For each process that joins, this one included.
    pub invitation: Invitation,
}

impl<H, P> Shared<H, P> {
    /// The same ring, by another handle, and with nothing said of the others.
    pub(super) fn alone<G>(self, wrap: impl FnOnce(H) -> G) -> Shared<G> {
        Shared { handle: wrap(self.handle), peers: (), invitation: self.invitation }
    }

    /// The same ring, by another handle.
    pub(super) fn map<G>(self, wrap: impl FnOnce(H) -> G) -> Shared<G, P> {
        Shared { handle: wrap(self.handle), peers: self.peers, invitation: self.invitation }
    }
}

/// What becomes of a ring when a side of it is gone: when the process of the only consumer has died, or when
/// all producers or publishers of a ring with [places](super::mpsc::Places) for several are gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WhenGone {
    /// It is closed.
    #[doc(alias = "WhenConsumerDies")]
    Close,
    /// It stays open for the next.
    #[doc(alias = "WaitForNext")]
    Wait,
}

//! [`Ring`]: what every handle of a ring knows of it.

use std::sync::Arc;

use annulus::{Closer, Observer};

use crate::options::Options;
use crate::status::Done;
use crate::status::annulus_status::{
    self, ANNULUS_CLOSED, ANNULUS_INVALID, ANNULUS_PEER_DIED, ANNULUS_UNSUPPORTED, ANNULUS_WRONG_SIZE,
};
use crate::tsan::{self, Order};

/// Whether the process on the other side of a ring is there, or one of several. The kernel tells it, by a
/// lock that ends with the process, however that ends. A process that is stopped is alive.
#[allow(non_camel_case_types, reason = "C's names")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum annulus_peer {
    /// Nobody has come yet.
    ANNULUS_PEER_NONE = 0,
    /// It is there.
    ANNULUS_PEER_ALIVE = 1,
    /// The ring was closed, by either side.
    ANNULUS_PEER_CLOSED = 2,
    /// Its process has ended without that.
    ANNULUS_PEER_DEAD = 3,
}

/// The ring of a handle.
#[derive(Clone)]
pub(crate) struct Ring {
    pub(crate) capacity: usize,
    pub(crate) message_size: usize,
    /// What one message is in the ring's own numbers.
    pub(crate) unit: u64,
    pub(crate) closer: Closer,
    /// Of a queue that several consumers of several processes share there is none.
    pub(crate) observer: Option<Observer>,
    /// Of a ring between processes: asks whether those on the other side are there.
    pub(crate) peer: Option<AskPeer>,
    pub(crate) order: Order,
}

/// Whether the processes on the other side are there.
pub(crate) type AskPeer = Arc<dyn Fn() -> annulus_peer + Send + Sync>;

impl Ring {
    /// A ring whose own numbers are messages.
    pub(crate) fn of(options: Options, closer: Closer, observer: Observer) -> Self {
        let Options { capacity, message_size, .. } = options;
        Self {
            capacity,
            message_size,
            unit: 1,
            closer,
            observer: Some(observer),
            peer: None,
            order: Order::new(),
        }
    }

    /// What every verb asks that takes a message: whether it is one of this ring.
    #[inline(always)]
    pub(crate) fn takes<T>(&self, message: *const T, size: usize) -> Done {
        if message.is_null() {
            Err(ANNULUS_INVALID)
        } else if size != self.message_size {
            Err(ANNULUS_WRONG_SIZE)
        } else {
            Ok(())
        }
    }

    /// What a verb says that has come to this: how the ring has ended, where it has.
    #[cold]
    pub(crate) fn told(&self, status: annulus_status) -> annulus_status {
        let has_died = || self.peer.as_ref().is_some_and(|peer| peer() == annulus_peer::ANNULUS_PEER_DEAD);
        if status == ANNULUS_CLOSED && has_died() { ANNULUS_PEER_DIED } else { status }
    }

    /// Whether the processes on the other side are there; a ring within one process has no other side.
    pub(crate) fn peer(&self) -> Done<annulus_peer> {
        self.peer.as_ref().map(|peer| peer()).ok_or(ANNULUS_UNSUPPORTED)
    }

    pub(crate) fn close(&self) {
        tsan::before_end();
        self.closer.close();
    }

    pub(crate) fn is_closed(&self) -> bool {
        let is_closed = self.closer.is_closed();
        if is_closed {
            tsan::after_end();
        }
        is_closed
    }

    /// How many messages wait in the ring; `None` where its handles tell.
    pub(crate) fn pending(&self) -> Option<usize> {
        let stats = self.observer.as_ref()?.stats();
        Some((stats.map_or(0, |stats| stats.depth()) / self.unit) as usize)
    }
}

//! [`Watched`]: a subscriber of another process's ring that tells by silence whether the publisher hangs. It
//! is for rings with a deadline; other handles have nothing of it.

use core::time::Duration;
use std::sync::Arc;

use annulus::shm::dynamic::Silence;

use crate::options::Patience;
use crate::ring::AskPeer;
use crate::ring::annulus_peer::ANNULUS_PEER_ALIVE;
use crate::status::Done;
use crate::status::annulus_status::{ANNULUS_CORRUPT, ANNULUS_EMPTY};
use crate::typed::{Counts, Get, LendsSubscriber};

/// What receives by `end`, and sees how long nothing came.
struct Watched {
    end: Box<dyn Get>,
    silence: Silence,
    peer: AskPeer,
}

/// A subscriber's end, which watches the publisher if there is a deadline.
pub(super) fn watched(end: Box<dyn Get>, deadline: Option<Duration>, peer: &AskPeer) -> Box<dyn Get> {
    if deadline.is_none() {
        return end;
    }
    Box::new(Watched { end, silence: Silence::after(deadline), peer: Arc::clone(peer) })
}

impl Get for Watched {
    unsafe fn get(&mut self, message: *mut u8, patience: Patience) -> Done {
        // SAFETY: the caller's promise.
        let mut received = unsafe { self.end.get(message, Patience::None) };
        if received == Err(ANNULUS_EMPTY) && !matches!(patience, Patience::None) {
            self.silence.begin();
            // SAFETY: the caller's promise.
            received = unsafe { self.end.get(message, patience) };
        }
        if matches!(received, Ok(()) | Err(ANNULUS_CORRUPT)) {
            self.silence.is_over();
        }
        received
    }

    fn another(&self) -> Done<Box<dyn Get>> {
        Ok(watched(self.end.another()?, self.silence.limit(), &self.peer))
    }

    fn lends(&mut self) -> Done<&mut dyn LendsSubscriber> {
        self.end.lends()
    }

    fn fd(&mut self) -> Done<i32> {
        self.end.fd()
    }

    /// (A program that waits for the descriptor waits for the publisher.)
    fn arm(&mut self) -> Done<bool> {
        let is_ready = self.end.arm()?;
        if !is_ready {
            self.silence.begin();
        }
        Ok(is_ready)
    }

    fn counts(&self) -> Counts {
        self.end.counts()
    }

    fn begin_with_last(&mut self, count: usize) -> Done<usize> {
        self.end.begin_with_last(count)
    }

    fn deadline(&self) -> Option<Duration> {
        self.silence.limit()
    }

    fn overdue(&mut self) -> Option<Duration> {
        if self.end.counts().pending > 0 {
            return None;
        }
        let silence = self.silence.look()?;
        ((self.peer)() == ANNULUS_PEER_ALIVE).then_some(silence)
    }
}

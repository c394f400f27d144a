//! What the handles of rings of frames have, over the module `shm::frames` of the Rust library.

use annulus::broadcast::{Awaited, Foreign, Lossless, Mode};
use annulus::shm::frames::{
    AcceptedFrames, Builder, Frame, FrameError, Publisher, SubscribeError, Subscriber,
};
use annulus::shm::{self, PeerState, ShmKind};
use annulus::{SendTimeoutError, Until};

use super::error::{Shared, Why};
use super::frame_types::{annulus_frame, annulus_frame_options};
use super::linux::{Invitation, state};
use super::options::SharedOptions;
use crate::either::{Either, either};
use crate::notified::Notified;
use crate::options::Patience;
use crate::ring::annulus_peer;
use crate::status::Done;
use crate::status::annulus_status::{
    ANNULUS_CLOSED, ANNULUS_EMPTY, ANNULUS_FULL, ANNULUS_INVALID, ANNULUS_OCCUPIED, ANNULUS_PEER_DIED,
    ANNULUS_TIMEOUT, ANNULUS_UNSUPPORTED, ANNULUS_VIEWED, ANNULUS_WRONG_SIZE,
};
use crate::tsan::Order;

/// A frame of so many bytes was lent, and has that index.
struct Lent {
    bytes: usize,
    index: usize,
}

pub(crate) struct FramePublisher {
    end: Either<Publisher, Publisher<Lossless>>,
    lent: Option<Lent>,
    order: Order,
}

pub(crate) struct FrameSubscriber {
    end: Either<Notified<Subscriber<Foreign>>, Notified<Subscriber<Awaited>>>,
    ring: Either<AcceptedFrames, AcceptedFrames<Awaited>>,
    order: Order,
}

pub(crate) struct HeldFrame(Frame);

impl Drop for HeldFrame {
    fn drop(&mut self) {
        // Its bytes are a frame to come.
        Order::across().before_advance();
    }
}

impl HeldFrame {
    pub(crate) fn shown(&self) -> annulus_frame {
        let frame = &self.0;
        annulus_frame {
            bytes: frame.shared().as_ptr().cast(),
            length: frame.len(),
            sequence: frame.sequence(),
            index: frame.index(),
            held: core::ptr::null_mut(),
        }
    }
}

pub(crate) fn frame_publisher(
    options: &SharedOptions,
    frames: &annulus_frame_options,
) -> Shared<(FramePublisher, Invitation)> {
    options.begin_anew()?;
    let builder = Builder::new(options.settings(), frames.frame_bytes).described(&options.messages());
    let builder = builder.subscribers(options.places).held(frames.held as usize).alignment(frames.alignment);
    let (end, invitation) = if frames.lossless {
        let shm::Shared { handle, invitation, .. } = builder.build_lossless()?;
        (Either::Lossless(handle), invitation)
    } else {
        let shm::Shared { handle, invitation, .. } = builder.build()?;
        (Either::Lossy(handle), invitation)
    };
    Ok((FramePublisher { end, lent: None, order: Order::across() }, Invitation(invitation)))
}

impl FramePublisher {
    pub(crate) fn loan(&mut self, length: usize) -> Done<*mut u8> {
        self.lent = None;
        either!(&mut self.end, publisher => {
            // Dropped, it is the frame that comes next.
            let mut frame = publisher.loan(length).map_err(|_| ANNULUS_WRONG_SIZE)?;
            self.order.after_room();
            self.lent = Some(Lent { bytes: length, index: frame.index() });
            Ok(frame.as_mut_ptr())
        })
    }

    pub(crate) fn publish(&mut self, length: usize, patience: Patience) -> Done<u64> {
        let lent = self.lent.as_ref().filter(|lent| length <= lent.bytes);
        lent.ok_or(ANNULUS_INVALID)?;
        self.order.before_send();
        let until = match patience {
            Patience::None => Until::from(core::time::Duration::ZERO),
            Patience::Endless => Until::FOREVER,
            Patience::For(timeout) => timeout.into(),
        };
        let sequence = match &mut self.end {
            Either::Lossy(publisher) => {
                let frame = publisher.loan(length).map_err(|_| ANNULUS_INVALID)?;
                frame.try_publish().map_err(|_| ANNULUS_CLOSED)?
            }
            Either::Lossless(publisher) => {
                let frame = publisher.loan(length).map_err(|_| ANNULUS_INVALID)?;
                frame.publish_until(until).map_err(|error| match error {
                    SendTimeoutError::Timeout(_) if matches!(patience, Patience::None) => ANNULUS_FULL,
                    SendTimeoutError::Timeout(_) => ANNULUS_TIMEOUT,
                    SendTimeoutError::Closed(_) => ANNULUS_CLOSED,
                })?
            }
        };
        self.order.after_room();
        self.lent = None;
        Ok(sequence)
    }

    pub(crate) fn lent(&self) -> usize {
        self.lent.as_ref().map_or(usize::MAX, |lent| lent.index)
    }

    pub(crate) fn frames(&self) -> usize {
        either!(&self.end, publisher => publisher.frames())
    }

    pub(crate) fn held(&mut self) -> usize {
        either!(&mut self.end, publisher => publisher.held())
    }
}

pub(crate) fn frame_subscriber(
    invitation: &Invitation,
    options: &SharedOptions,
    from_oldest: bool,
    awaited: bool,
) -> Shared<FrameSubscriber> {
    let invitation = invitation.0.try_clone()?.with_wait_strategy(options.ring.strategy);
    let content = options.messages();
    let (end, ring) = if invitation.info()?.kind() == ShmKind::LosslessFrames {
        let ring = invitation.accept_lossless_frames()?.described(&content)?;
        let end = match (awaited, from_oldest) {
            (true, true) => Either::Lossless(joined(ring.subscribe_from_oldest())?),
            (true, false) => Either::Lossless(joined(ring.subscribe())?),
            (false, true) => Either::Lossy(joined(ring.subscribe_lossy_from_oldest())?),
            (false, false) => Either::Lossy(joined(ring.subscribe_lossy())?),
        };
        (end, Either::Lossless(ring))
    } else {
        let ring = invitation.accept_frames()?.described(&content)?;
        let end = joined(if from_oldest { ring.subscribe_from_oldest() } else { ring.subscribe() })?;
        (Either::Lossy(end), Either::Lossy(ring))
    };
    Ok(FrameSubscriber { end, ring, order: Order::across() })
}

fn joined<M: Mode>(subscriber: Result<Subscriber<M>, SubscribeError>) -> Shared<Notified<Subscriber<M>>> {
    match subscriber {
        Ok(subscriber) => Ok(Notified::Not(subscriber)),
        Err(SubscribeError::Attach(error)) => Err(error.into()),
        Err(SubscribeError::System(error)) => Err(error.into()),
        Err(full) => Err(Why::new(ANNULUS_OCCUPIED, full.to_string())),
    }
}

impl Drop for FrameSubscriber {
    fn drop(&mut self) {
        // A publisher that waits for it has room.
        self.order.before_advance();
    }
}

impl FrameSubscriber {
    fn told(&self, received: Result<Frame, FrameError>, patience: Patience) -> Done<HeldFrame> {
        self.order.after_receive();
        received.map(HeldFrame).map_err(|error| match error {
            FrameError::Empty if matches!(patience, Patience::None) => ANNULUS_EMPTY,
            FrameError::Empty => ANNULUS_TIMEOUT,
            FrameError::TooManyHeld(_) => ANNULUS_VIEWED,
            _ if self.peer() == annulus_peer::ANNULUS_PEER_DEAD => ANNULUS_PEER_DIED,
            _ => ANNULUS_CLOSED,
        })
    }

    pub(crate) fn recv(&mut self, patience: Patience) -> Done<HeldFrame> {
        let received = either!(&mut self.end, subscriber => {
            let subscriber = subscriber.receiver();
            match patience {
                Patience::None => subscriber.try_recv(),
                Patience::Endless => subscriber.recv(),
                Patience::For(timeout) => subscriber.recv_timeout(timeout),
            }
        });
        self.told(received, patience)
    }

    pub(crate) fn latest(&mut self) -> Done<HeldFrame> {
        let Either::Lossy(subscriber) = &mut self.end else { return Err(ANNULUS_UNSUPPORTED) };
        let subscriber = subscriber.receiver();
        let received = match subscriber.latest() {
            Ok(Some(frame)) => Ok(frame),
            // Perhaps it is the end.
            Ok(None) => subscriber.try_recv(),
            Err(full) => Err(FrameError::TooManyHeld(full)),
        };
        self.told(received, Patience::None)
    }

    pub(crate) fn lagged(&self) -> u64 {
        either!(&self.end, subscriber => subscriber.look().total_lagged())
    }

    pub(crate) fn frames(&self) -> usize {
        either!(&self.ring, ring => ring.frames())
    }

    pub(crate) fn fd(&mut self) -> Done<i32> {
        either!(&mut self.end, subscriber => subscriber.fd())
    }

    pub(crate) fn arm(&mut self) -> Done<bool> {
        either!(&mut self.end, subscriber => subscriber.arm())
    }

    pub(crate) fn peer(&self) -> annulus_peer {
        let found: PeerState = either!(&self.ring, ring => ring.state());
        state(found)
    }
}

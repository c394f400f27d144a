//! Systems that have no rings between processes.

use super::error::Shared;
use super::frame_types::{annulus_frame, annulus_frame_options};
use super::options::SharedOptions;
use crate::broadcast::Subscribable;
use crate::bytes::{BytesConsumer, BytesProducer};
use crate::consumer::Consumer;
use crate::options::Patience;
use crate::producer::Producer;
use crate::publisher::Publisher;
use crate::ring::annulus_peer;
use crate::status::Done;
use crate::status::annulus_status::ANNULUS_UNSUPPORTED;

/// There is none.
pub(crate) enum Invitation {}

/// There is none.
pub(crate) enum Name {}

/// There is none.
pub(crate) enum FramePublisher {}

/// There is none.
pub(crate) enum FrameSubscriber {}

/// There is none.
pub(crate) enum HeldFrame {}

impl FramePublisher {
    pub(crate) fn loan(&mut self, _: usize) -> Done<*mut u8> {
        match *self {}
    }

    pub(crate) fn publish(&mut self, _: usize, _: Patience) -> Done<u64> {
        match *self {}
    }

    pub(crate) fn lent(&self) -> usize {
        match *self {}
    }

    pub(crate) fn frames(&self) -> usize {
        match *self {}
    }

    pub(crate) fn held(&mut self) -> usize {
        match *self {}
    }
}

impl FrameSubscriber {
    pub(crate) fn recv(&mut self, _: Patience) -> Done<HeldFrame> {
        match *self {}
    }

    pub(crate) fn latest(&mut self) -> Done<HeldFrame> {
        match *self {}
    }

    pub(crate) fn lagged(&self) -> u64 {
        match *self {}
    }

    pub(crate) fn frames(&self) -> usize {
        match *self {}
    }

    pub(crate) fn fd(&mut self) -> Done<i32> {
        match *self {}
    }

    pub(crate) fn arm(&mut self) -> Done<bool> {
        match *self {}
    }

    pub(crate) fn peer(&self) -> annulus_peer {
        match *self {}
    }
}

impl HeldFrame {
    pub(crate) fn shown(&self) -> annulus_frame {
        match *self {}
    }
}

pub(crate) fn frame_publisher(
    _: &SharedOptions,
    _: &annulus_frame_options,
) -> Shared<(FramePublisher, Invitation)> {
    none()
}

pub(crate) fn frame_subscriber(
    _: &Invitation,
    _: &SharedOptions,
    _: bool,
    _: bool,
) -> Shared<FrameSubscriber> {
    none()
}

fn none<T>() -> Shared<T> {
    Err(ANNULUS_UNSUPPORTED.into())
}

impl Invitation {
    pub(crate) fn send(&self, _: i32) -> Shared {
        none()
    }

    pub(crate) fn receive(_: i32) -> Shared<Self> {
        none()
    }

    pub(crate) fn publish(&self, _: Option<&str>, _: &str) -> Shared<Name> {
        none()
    }

    pub(crate) fn find(_: Option<&str>, _: &str, _: Patience) -> Shared<Self> {
        none()
    }
}

pub(crate) fn spsc_producer(_: &SharedOptions) -> Shared<(Producer, Invitation)> {
    none()
}

pub(crate) fn mpsc_consumer(_: &SharedOptions) -> Shared<(Consumer, Invitation)> {
    none()
}

pub(crate) fn publisher(_: u32, _: &SharedOptions) -> Shared<(Publisher, Invitation)> {
    none()
}

pub(crate) fn mpsc_producer(_: &Invitation, _: &SharedOptions) -> Shared<Producer> {
    none()
}

pub(crate) fn consumer(_: &Invitation, _: &SharedOptions) -> Shared<Consumer> {
    none()
}

pub(crate) fn mp_publisher(_: &Invitation, _: &SharedOptions) -> Shared<Publisher> {
    none()
}

pub(crate) fn subscribable(_: &Invitation, _: &SharedOptions) -> Shared<Subscribable> {
    none()
}

pub(crate) fn bytes_producer(_: &SharedOptions) -> Shared<(BytesProducer, Invitation)> {
    none()
}

pub(crate) fn bytes_consumer(_: &Invitation, _: &SharedOptions) -> Shared<BytesConsumer> {
    none()
}

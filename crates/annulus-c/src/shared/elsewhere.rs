//! Systems that have no rings between processes.

use super::error::Shared;
use super::options::SharedOptions;
use crate::broadcast::Subscribable;
use crate::bytes::{BytesConsumer, BytesProducer};
use crate::consumer::Consumer;
use crate::options::Patience;
use crate::producer::Producer;
use crate::publisher::Publisher;
use crate::status::annulus_status::ANNULUS_UNSUPPORTED;

/// There is none.
pub(crate) enum Invitation {}

/// There is none.
pub(crate) enum Name {}

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

//! Systems that have no rings between processes.

use core::ffi::CStr;

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

/// There is none.
pub(crate) enum Queue {}

/// There is none.
pub(crate) enum WatchSender {}

/// There is none.
pub(crate) enum WatchReader {}

/// There is none.
pub(crate) enum WatchChanges {}

impl WatchSender {
    pub(crate) unsafe fn send(&mut self, _: usize, _: *const u8, _: usize) -> Done {
        match *self {}
    }

    pub(crate) unsafe fn get(&mut self, _: usize, _: *mut u8, _: usize) -> Done {
        match *self {}
    }

    pub(crate) fn cell(&mut self, _: &str) -> Done<usize> {
        match *self {}
    }

    pub(crate) fn cells(&self) -> usize {
        match *self {}
    }
}

impl WatchReader {
    pub(crate) unsafe fn get(&mut self, _: usize, _: *mut u8, _: usize) -> Done {
        match *self {}
    }

    pub(crate) fn cell(&self, _: &str) -> Done<usize> {
        match *self {}
    }

    pub(crate) fn key(&self, _: usize) -> Done<String> {
        match *self {}
    }

    pub(crate) fn cells(&self) -> usize {
        match *self {}
    }

    pub(crate) fn peer(&self) -> annulus_peer {
        match *self {}
    }

    pub(crate) fn changes(&self, _: usize) -> Done<WatchChanges> {
        match *self {}
    }
}

impl WatchChanges {
    pub(crate) unsafe fn recv(&mut self, _: *mut u8, _: usize, _: Patience) -> Done<usize> {
        match *self {}
    }

    pub(crate) fn corrupt(&self) -> u64 {
        match *self {}
    }

    pub(crate) fn fd(&mut self) -> Done<i32> {
        match *self {}
    }

    pub(crate) fn arm(&mut self) -> Done<bool> {
        match *self {}
    }
}

pub(crate) fn watch_sender(_: &SharedOptions) -> Shared<(WatchSender, Invitation)> {
    none()
}

pub(crate) fn watch_reader(_: &Invitation, _: &SharedOptions) -> Shared<WatchReader> {
    none()
}

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

/// There is none.
pub(crate) enum Server {}

/// There is none.
pub(crate) enum Request {}

/// There is none.
pub(crate) enum Client {}

/// There is none.
pub(crate) enum PendingAnswer {}

impl Server {
    pub(crate) fn question_bytes(&self) -> usize {
        match *self {}
    }

    pub(crate) fn recv(&mut self, _: Patience) -> Done<Request> {
        match *self {}
    }

    pub(crate) fn clients(&self) -> usize {
        match *self {}
    }

    pub(crate) fn close(&self) {
        match *self {}
    }

    pub(crate) fn fd(&mut self) -> Done<i32> {
        match *self {}
    }

    pub(crate) fn arm(&mut self) -> Done<bool> {
        match *self {}
    }
}

impl Request {
    pub(crate) fn question(&self) -> &[u8] {
        match *self {}
    }

    pub(crate) fn answer_bytes(&self) -> usize {
        match *self {}
    }

    pub(crate) fn is_client_there(&self) -> bool {
        match *self {}
    }

    pub(crate) fn answer(self, _: &[u8]) -> bool {
        match self {}
    }
}

impl Client {
    pub(crate) fn question_bytes(&self) -> usize {
        match *self {}
    }

    pub(crate) fn ask(&mut self, _: &[u8]) -> Done<PendingAnswer> {
        match *self {}
    }

    pub(crate) fn open(&self) -> usize {
        match *self {}
    }

    pub(crate) fn peer(&self) -> annulus_peer {
        match *self {}
    }
}

impl PendingAnswer {
    pub(crate) fn answer_bytes(&self) -> usize {
        match *self {}
    }

    pub(crate) fn recv(&mut self, _: Patience) -> Done<&[u8]> {
        match *self {}
    }

    pub(crate) fn fd(&mut self) -> Done<i32> {
        match *self {}
    }

    pub(crate) fn arm(&mut self) -> Done<bool> {
        match *self {}
    }
}

impl Queue {
    pub(crate) fn producers(&self) -> usize {
        match *self {}
    }

    pub(crate) fn consumers(&self) -> usize {
        match *self {}
    }

    pub(crate) fn given_again(&self) -> u64 {
        match *self {}
    }

    pub(crate) fn dropped(&self) -> u64 {
        match *self {}
    }

    pub(crate) fn len(&self) -> usize {
        match *self {}
    }

    pub(crate) fn close(&self) {
        match *self {}
    }

    pub(crate) fn is_closed(&self) -> bool {
        match *self {}
    }
}

pub(crate) fn new_queue(_: &SharedOptions) -> Shared<(Queue, Invitation)> {
    none()
}

pub(crate) fn queue(_: &Invitation, _: &SharedOptions) -> Shared<Queue> {
    none()
}

pub(crate) fn server(_: &SharedOptions, _: &SharedOptions) -> Shared<(Server, Invitation)> {
    none()
}

pub(crate) fn client(_: &Invitation, _: &SharedOptions, _: &SharedOptions) -> Shared<Client> {
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

    pub(crate) fn publish(&self, _: Option<&CStr>, _: &str) -> Shared<Name> {
        none()
    }

    pub(crate) fn find(_: Option<&CStr>, _: &str, _: Patience) -> Shared<Self> {
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

pub(crate) fn join_as_producer(_: &Invitation, _: &SharedOptions) -> Shared<Producer> {
    none()
}

pub(crate) fn join_as_consumer(_: &Invitation, _: &SharedOptions) -> Shared<Consumer> {
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

//! A library whose messages are written and read where they lie: its publish-subscribe, between processes.
//!
//! Used in the fastest way that it documents: memory is loaned, filled and sent; a subscriber polls, and
//! reads the message in the publisher's memory.

use std::mem::MaybeUninit;
use std::os::unix::net::UnixStream;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use iceoryx2::node::Node;
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::*;
use iceoryx2::service::port_factory::publish_subscribe::PortFactory;

use super::between::{Between, In, Out};
use crate::processes::{hear, tell};

/// Its services for messages of so many words. `LOSES`: a subscriber's full buffer loses its oldest message,
/// as by default; otherwise the publisher waits.
pub enum Iceoryx2<const WORDS: usize, const LOSES: bool> {}

/// A publisher, and what it belongs to.
pub struct Iceoryx2Out<const WORDS: usize> {
    publisher: Publisher<ipc::Service, [u64; WORDS], ()>,
    _service: PortFactory<ipc::Service, [u64; WORDS], ()>,
    _node: Node<ipc::Service>,
}

/// A subscriber, likewise.
pub struct Iceoryx2In<const WORDS: usize> {
    subscriber: Subscriber<ipc::Service, [u64; WORDS], ()>,
    _service: PortFactory<ipc::Service, [u64; WORDS], ()>,
    _node: Node<ipc::Service>,
}

fn node() -> Node<ipc::Service> {
    set_log_level(LogLevel::Fatal);
    // Without its handlers of signals, so that Ctrl-C ends the bench.
    let builder = NodeBuilder::new().signal_handling_mode(SignalHandlingMode::Disabled);
    builder.create().expect("a node can be made")
}

fn name(name: &str) -> ServiceName {
    name.try_into().expect("it is a name")
}

impl<const WORDS: usize, const LOSES: bool> Between for Iceoryx2<WORDS, LOSES> {
    type Out = Iceoryx2Out<WORDS>;
    type In = Iceoryx2In<WORDS>;
    /// The service's name.
    type Offer = String;

    fn share(capacity: usize, readers: usize) -> (Self::Out, String) {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let offer = format!("annulus bench {} {}", process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let node = node();
        let service = node
            .service_builder(&name(&offer))
            .publish_subscribe::<[u64; WORDS]>()
            .max_publishers(1)
            .max_subscribers(readers)
            .history_size(0)
            // What its own benchmark has for round trips.
            .subscriber_max_buffer_size(if LOSES { 1 } else { capacity })
            .subscriber_max_borrowed_samples(1)
            .enable_safe_overflow(LOSES)
            .create()
            .expect("a service can be made");
        let publisher = service
            .publisher_builder()
            .max_loaned_samples(1)
            .backpressure_strategy(BackpressureStrategy::RetryUntilDelivered)
            .create()
            .expect("a publisher can be made");
        (Iceoryx2Out { publisher, _service: service, _node: node }, offer)
    }

    fn offer(offer: &String, socket: &UnixStream) {
        tell(socket, offer);
    }

    fn join(socket: &UnixStream) -> Self::In {
        let offer: String = hear(socket).expect("the other process sends it");
        let node = node();
        let service = node.service_builder(&name(&offer)).publish_subscribe::<[u64; WORDS]>();
        let service = service.open().expect("the service is there");
        let subscriber = service.subscriber_builder().create().expect("a subscriber can be made");
        Iceoryx2In { subscriber, _service: service, _node: node }
    }
}

#[allow(unsafe_code, reason = "what is loaned becomes a message by a function that is unsafe")]
impl<const WORDS: usize> Out for Iceoryx2Out<WORDS> {
    #[inline(always)]
    fn put(&mut self, value: u64) {
        let mut sample = self.publisher.loan_uninit().expect("there is memory to be loaned");
        let message: *mut [u64; WORDS] = sample.payload_mut().as_mut_ptr();
        // SAFETY: an array of words that need not be initialized is such words; it is borrowed from `sample`.
        unsafe { &mut *message.cast::<[MaybeUninit<u64>; WORDS]>() }.fill(MaybeUninit::new(value));
        // SAFETY: it was filled.
        let sample = unsafe { sample.assume_init() };
        sample.send().expect("the service is there");
    }
}

impl<const WORDS: usize> In for Iceoryx2In<WORDS> {
    #[inline(always)]
    fn poll(&mut self, look: impl FnOnce(&[u64])) -> bool {
        let sample = self.subscriber.receive().expect("it has no sample borrowed");
        sample.map(|sample| look(&*sample)).is_some()
    }
}

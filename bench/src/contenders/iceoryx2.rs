//! A library whose messages are written and read where they lie: its publish-subscribe, between processes.
//!
//! Used in the fastest way that it documents: memory is loaned, filled and sent; a subscriber polls, and
//! reads the message in the publisher's memory.

use std::mem::MaybeUninit;
use std::os::unix::net::UnixStream;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use iceoryx2::active_request::ActiveRequest;
use iceoryx2::node::Node;
use iceoryx2::pending_response::PendingResponse;
use iceoryx2::port::client::Client;
use iceoryx2::port::listener::Listener;
use iceoryx2::port::notifier::Notifier;
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::reader::{EntryHandle, Reader};
use iceoryx2::port::server::Server;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::port::writer::{EntryHandleMut, Writer};
use iceoryx2::prelude::*;
use iceoryx2::service::port_factory::{blackboard, publish_subscribe::PortFactory, request_response};

use super::between::{Between, In, Out, Sleeper, THERE};
use super::frames::{ends, fill};
use super::questions::{Answers, Asks, Questions};
use super::tables::{Reads, Table, Writes};
use crate::messages::is_all;
use crate::processes::{hear, tell};

/// Its services for messages of so many words. `LOSES`: a subscriber's full buffer loses its oldest message,
/// as by default; otherwise the publisher waits.
pub enum Iceoryx2<const WORDS: usize, const LOSES: bool> {}

/// The same with slices of so many bytes, of which the first `FILLED` are written. A full buffer loses its
/// oldest message. `WAKES`: the publisher notifies an event, for a subscriber that sleeps.
pub enum Iceoryx2Frames<const BYTES: usize, const FILLED: usize, const WAKES: bool> {}

/// Its request and response, of so many words each way.
pub enum Iceoryx2Service<const WORDS: usize> {}

/// Its blackboard, with one value.
pub enum Iceoryx2Blackboard {}

/// A publisher of messages `M`, and what it belongs to.
macro_rules! out {
    ($M:ty) => { (Publisher<ipc::Service, $M, ()>, PortFactory<ipc::Service, $M, ()>, Node<ipc::Service>) };
}

/// A subscriber, likewise.
macro_rules! input {
    ($M:ty) => { (Subscriber<ipc::Service, $M, ()>, PortFactory<ipc::Service, $M, ()>, Node<ipc::Service>) };
}

/// The publisher of words.
pub struct Iceoryx2Out<const WORDS: usize>(out!([u64; WORDS]));

/// Their subscriber.
pub struct Iceoryx2In<const WORDS: usize>(input!([u64; WORDS]));

/// The publisher of frames.
pub struct Iceoryx2FramesOut<const BYTES: usize, const FILLED: usize> {
    out: out!([u8]),
    notifier: Option<Notifier<ipc::Service>>,
}

/// Their subscriber.
pub struct Iceoryx2FramesIn<const FILLED: usize> {
    input: input!([u8]),
    listener: Option<Listener<ipc::Service>>,
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

/// A name that no other service has.
fn new_name() -> String {
    static MADE: AtomicU64 = AtomicU64::new(0);
    format!("annulus bench {} {}", process::id(), MADE.fetch_add(1, Ordering::Relaxed))
}

/// The builder of a service of messages `M` with one publisher.
macro_rules! service {
    ($M:ty, $node:ident, $offer:ident, $readers:ident) => {
        $node
            .service_builder(&name(&$offer))
            .publish_subscribe::<$M>()
            .max_publishers(1)
            .max_subscribers($readers)
            .history_size(0)
            .subscriber_max_borrowed_samples(1)
    };
}

/// Opens the service that the other process tells, and subscribes.
macro_rules! joined {
    ($M:ty, $node:ident, $offer:ident) => {{
        let service = $node.service_builder(&name(&$offer)).publish_subscribe::<$M>();
        let service = service.open().expect("the service is there");
        let subscriber = service.subscriber_builder().create().expect("a subscriber can be made");
        (subscriber, service, $node)
    }};
}

impl<const WORDS: usize, const LOSES: bool> Between for Iceoryx2<WORDS, LOSES> {
    type Out = Iceoryx2Out<WORDS>;
    type In = Iceoryx2In<WORDS>;
    /// The service's name.
    type Offer = String;

    fn share(capacity: usize, readers: usize) -> (Self::Out, String) {
        let (offer, node) = (new_name(), node());
        let service = service!([u64; WORDS], node, offer, readers)
            // What its own benchmark has for round trips.
            .subscriber_max_buffer_size(if LOSES { 1 } else { capacity })
            .enable_safe_overflow(LOSES)
            .create()
            .expect("a service can be made");
        let publisher = service
            .publisher_builder()
            .max_loaned_samples(1)
            .backpressure_strategy(BackpressureStrategy::RetryUntilDelivered)
            .create()
            .expect("a publisher can be made");
        (Iceoryx2Out((publisher, service, node)), offer)
    }

    fn offer(offer: &String, socket: &UnixStream) {
        tell(socket, offer);
    }

    fn join(socket: &UnixStream) -> Self::In {
        let offer: String = hear(socket).expect("the other process sends it");
        let node = node();
        Iceoryx2In(joined!([u64; WORDS], node, offer))
    }
}

#[allow(unsafe_code, reason = "what is loaned becomes a message by a function that is unsafe")]
impl<const WORDS: usize> Out for Iceoryx2Out<WORDS> {
    #[inline(always)]
    fn put(&mut self, value: u64) {
        let mut sample = self.0.0.loan_uninit().expect("there is memory to be loaned");
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
        let sample = self.0.0.receive().expect("it has no sample borrowed");
        sample.map(|sample| look(&*sample)).is_some()
    }
}

impl<const BYTES: usize, const FILLED: usize, const WAKES: bool> Between
    for Iceoryx2Frames<BYTES, FILLED, WAKES>
{
    type Out = Iceoryx2FramesOut<BYTES, FILLED>;
    type In = Iceoryx2FramesIn<FILLED>;
    type Offer = String;

    fn share(capacity: usize, readers: usize) -> (Self::Out, String) {
        let (offer, node) = (new_name(), node());
        let service = service!([u8], node, offer, readers)
            .payload_alignment(Alignment::new(64).expect("it is a power of two"))
            .subscriber_max_buffer_size(capacity)
            .enable_safe_overflow(true)
            .create()
            .expect("a service can be made");
        let publisher = service.publisher_builder().initial_max_slice_len(BYTES).max_loaned_samples(1);
        let publisher = publisher.create().expect("a publisher can be made");
        let notifier = WAKES.then(|| {
            let event = node.service_builder(&name(&offer)).event().create().expect("an event can be made");
            event.notifier_builder().create().expect("a notifier can be made")
        });
        (Iceoryx2FramesOut { out: (publisher, service, node), notifier }, offer)
    }

    fn offer(offer: &String, socket: &UnixStream) {
        tell(socket, offer);
    }

    fn join(socket: &UnixStream) -> Self::In {
        let offer: String = hear(socket).expect("the other process sends it");
        let node = node();
        let listener = WAKES.then(|| {
            let event = node.service_builder(&name(&offer)).event().open().expect(THERE);
            event.listener_builder().create().expect("a listener can be made")
        });
        Iceoryx2FramesIn { input: joined!([u8], node, offer), listener }
    }
}

#[allow(unsafe_code, reason = "what is loaned becomes a message by a function that is unsafe")]
impl<const BYTES: usize, const FILLED: usize> Out for Iceoryx2FramesOut<BYTES, FILLED> {
    #[inline(always)]
    fn put(&mut self, value: u64) {
        let sample = self.out.0.loan_slice_uninit(BYTES);
        let mut sample = sample.expect("there is memory to be loaned");
        fill(&mut sample.payload_mut()[..FILLED], value.to_ne_bytes().map(MaybeUninit::new));
        // SAFETY: the rest is shared memory, which is zeros or an earlier message.
        let sample = unsafe { sample.assume_init() };
        sample.send().expect(THERE);
        if let Some(notifier) = &self.notifier {
            notifier.notify().expect(THERE);
        }
    }
}

impl<const FILLED: usize> In for Iceoryx2FramesIn<FILLED> {
    #[inline(always)]
    fn poll(&mut self, look: impl FnOnce(&[u64])) -> bool {
        let sample = self.input.0.receive().expect("it has no sample borrowed");
        sample.map(|sample| look(&ends(&sample[..FILLED]))).is_some()
    }
}

impl<const FILLED: usize> Sleeper for Iceoryx2FramesIn<FILLED> {
    fn sleep(&mut self) -> u64 {
        let mut value = 0;
        while !self.poll(|message| value = message[0]) {
            self.listener.as_mut().expect("it wakes").blocking_wait(|_| ()).expect(THERE);
        }
        value
    }
}

/// What the ends of such a service belong to.
type Served<const WORDS: usize> =
    (request_response::PortFactory<ipc::Service, [u64; WORDS], (), [u64; WORDS], ()>, Node<ipc::Service>);

/// The end that answers.
pub struct Iceoryx2Server<const WORDS: usize> {
    server: Server<ipc::Service, [u64; WORDS], (), [u64; WORDS], ()>,
    _of: Served<WORDS>,
}

/// The one that asks.
pub struct Iceoryx2Client<const WORDS: usize> {
    client: Client<ipc::Service, [u64; WORDS], (), [u64; WORDS], ()>,
    _of: Served<WORDS>,
}

impl<const WORDS: usize> Questions for Iceoryx2Service<WORDS> {
    type Server = Iceoryx2Server<WORDS>;
    type Client = Iceoryx2Client<WORDS>;
    type Offer = String;

    fn serve(open: usize) -> (Self::Server, String) {
        let (offer, node) = (new_name(), node());
        let service = node
            .service_builder(&name(&offer))
            .request_response::<[u64; WORDS], [u64; WORDS]>()
            .max_servers(1)
            .max_clients(1)
            .max_active_requests_per_client(open)
            .max_response_buffer_size(1)
            .create()
            .expect("a service can be made");
        let server = service.server_builder().create().expect("a server can be made");
        (Iceoryx2Server { server, _of: (service, node) }, offer)
    }

    fn offer(offer: &String, socket: &UnixStream) {
        tell(socket, offer);
    }

    fn join(socket: &UnixStream) -> Self::Client {
        let offer: String = hear(socket).expect("the other process sends it");
        let node = node();
        let service = node.service_builder(&name(&offer));
        let service = service.request_response::<[u64; WORDS], [u64; WORDS]>().open().expect(THERE);
        let client = service.client_builder().create().expect("a client can be made");
        Iceoryx2Client { client, _of: (service, node) }
    }
}

impl<const WORDS: usize> Answers for Iceoryx2Server<WORDS> {
    #[inline(always)]
    fn poll(&mut self) -> bool {
        let request = self.server.receive().expect("it has no request borrowed");
        let Some(request): Option<ActiveRequest<_, [u64; WORDS], (), [u64; WORDS], ()>> = request else {
            return false;
        };
        let value = request[0];
        assert!(is_all(&*request, value));
        let answer = request.loan_uninit().expect("there is memory to be loaned");
        answer.write_payload([value; WORDS]).send().expect(THERE);
        true
    }
}

impl<const WORDS: usize> Asks for Iceoryx2Client<WORDS> {
    type Pending = PendingResponse<ipc::Service, [u64; WORDS], (), [u64; WORDS], ()>;

    #[inline(always)]
    fn ask(&mut self, value: u64) -> Self::Pending {
        let question = self.client.loan_uninit().expect("there is memory to be loaned");
        question.write_payload([value; WORDS]).send().expect(THERE)
    }

    #[inline(always)]
    fn is_answered(pending: &mut Self::Pending, value: u64) -> bool {
        let answer = pending.receive().expect("it has no answer borrowed");
        answer.is_some_and(|answer| {
            assert!(is_all(&*answer, value));
            true
        })
    }
}

/// The key of the one value.
const KEY: u64 = 0;

/// What the ends of a blackboard belong to.
type Board = (blackboard::PortFactory<ipc::Service, u64>, Node<ipc::Service>);

/// The end that writes.
pub struct Iceoryx2Writer<const WORDS: usize> {
    value: EntryHandleMut<ipc::Service, u64, [u64; WORDS]>,
    _of: (Writer<ipc::Service, u64>, Board),
}

/// The one that reads.
pub struct Iceoryx2Reader<const WORDS: usize> {
    value: EntryHandle<ipc::Service, u64, [u64; WORDS]>,
    _of: (Reader<ipc::Service, u64>, Board),
}

impl<const WORDS: usize> Table<WORDS> for Iceoryx2Blackboard {
    type Writer = Iceoryx2Writer<WORDS>;
    type Reader = Iceoryx2Reader<WORDS>;
    type Offer = String;

    fn make() -> (Self::Writer, String) {
        let (offer, node) = (new_name(), node());
        let board = node.service_builder(&name(&offer)).blackboard_creator::<u64>();
        let board = board.add(KEY, [0_u64; WORDS]).create().expect("a blackboard can be made");
        let writer = board.writer_builder().create().expect("a writer can be made");
        let value = writer.entry(&KEY).expect("it was added");
        (Iceoryx2Writer { value, _of: (writer, (board, node)) }, offer)
    }

    fn offer(offer: &String, socket: &UnixStream) {
        tell(socket, offer);
    }

    fn join(socket: &UnixStream) -> Self::Reader {
        let offer: String = hear(socket).expect("the other process sends it");
        let node = node();
        let board = node.service_builder(&name(&offer)).blackboard_opener::<u64>().open().expect(THERE);
        let reader = board.reader_builder().create().expect("a reader can be made");
        let value = reader.entry(&KEY).expect("it was added");
        Iceoryx2Reader { value, _of: (reader, (board, node)) }
    }
}

impl<const WORDS: usize> Writes for Iceoryx2Writer<WORDS> {
    #[inline(always)]
    fn put(&mut self, value: u64) {
        self.value.update_with_copy([value; WORDS]);
    }
}

impl<const WORDS: usize> Reads<WORDS> for Iceoryx2Reader<WORDS> {
    #[inline(always)]
    fn get(&self) -> [u64; WORDS] {
        *self.value.get()
    }
}

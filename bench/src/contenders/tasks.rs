//! Channels whose ends wait in tasks: by each library's async verbs.

use std::future::Future;

use annulus::broadcast::{self, Lossless};
use annulus::queue::ordered;
use annulus::{mpmc, mpsc, spsc};
use tokio::sync::{broadcast as tokio_broadcast, mpsc as tokio_mpsc};

use super::{Annulus, AsyncBroadcast, AsyncChannel, Crossfire, Flume, Kanal, Named};

/// An end that sends.
pub trait TaskSender: Send + 'static {
    /// Waits for room. False where nobody is left to receive.
    fn send(&mut self, message: u64) -> impl Future<Output = bool> + Send;
}

/// An end that receives.
pub trait TaskReceiver: Send + 'static {
    /// None where every sender is gone, and nothing is left.
    fn receive(&mut self) -> impl Future<Output = Option<u64>> + Send;
}

/// A channel of u64 with one receiver that loses nothing.
pub trait TaskChannel: Named {
    type Sender: TaskSender;
    type Receiver: TaskReceiver;
    fn channel(capacity: usize) -> (Self::Sender, Self::Receiver);
}

macro_rules! channel {
    ($(#[$doc:meta])* $channel:ident, $name:expr, $sender:ty, $receiver:ty, $make:expr) => {
        $(#[$doc])*
        pub struct $channel;

        impl Named for $channel {
            const NAME: &'static str = $name;
        }

        impl TaskChannel for $channel {
            type Sender = $sender;
            type Receiver = $receiver;

            fn channel(capacity: usize) -> (Self::Sender, Self::Receiver) {
                $make(capacity)
            }
        }
    };
}

/// The verb of a sender, and what its result is.
macro_rules! sends {
    ($sender:ty, $verb:ident) => {
        sends!($sender, $verb of $sender);
    };
    ($sender:ty, $verb:ident of $whose:ty) => {
        impl TaskSender for $sender {
            #[inline(always)]
            async fn send(&mut self, message: u64) -> bool {
                <$whose>::$verb(self, message).await.is_ok()
            }
        }
    };
}

/// The verb of a receiver, which returns a result.
macro_rules! receives {
    ($receiver:ty, $verb:ident) => {
        impl TaskReceiver for $receiver {
            #[inline(always)]
            async fn receive(&mut self) -> Option<u64> {
                <$receiver>::$verb(self).await.ok()
            }
        }
    };
}

channel!(AnnulusSpscTasks, Annulus::NAME, spsc::Producer<u64>, spsc::Consumer<u64>, spsc::channel);
sends!(spsc::Producer<u64>, send_async);
receives!(spsc::Consumer<u64>, recv_async);

channel!(
    /// With a ring for each producer.
    AnnulusMpscTasks, Annulus::NAME, mpsc::Producer<u64>, mpsc::Consumer<u64>, mpsc::channel
);
sends!(mpsc::Producer<u64>, send_async);
receives!(mpsc::Consumer<u64>, recv_async);

channel!(
    /// The same, for many consumers.
    AnnulusMpmcTasks, Annulus::NAME, mpmc::Producer<u64>, mpmc::Consumer<u64>, mpmc::channel
);
sends!(mpmc::Producer<u64>, send_async);
receives!(mpmc::Consumer<u64>, recv_async);

channel!(
    /// One ring for all producers.
    AnnulusOrderedTasks, Annulus::NAME, ordered::Sender<u64>, ordered::Receiver<u64>, ordered::channel
);
sends!(ordered::Sender<u64>, send_async);
receives!(ordered::Receiver<u64>, recv_async);

channel!(
    /// Lossless broadcast to one subscriber.
    AnnulusBroadcastTasks,
    Annulus::NAME,
    broadcast::Publisher<u64, Lossless>,
    broadcast::Subscriber<u64, Lossless>,
    |capacity| {
        let (publisher, subscribable) = broadcast::lossless(capacity);
        (publisher, subscribable.subscribe())
    }
);
sends!(broadcast::Publisher<u64, Lossless>, publish_async);
receives!(broadcast::Subscriber<u64, Lossless>, recv_async);

channel!(TokioTasks, "tokio mpsc", tokio_mpsc::Sender<u64>, tokio_mpsc::Receiver<u64>, tokio_mpsc::channel);
sends!(tokio_mpsc::Sender<u64>, send);

impl TaskReceiver for tokio_mpsc::Receiver<u64> {
    #[inline(always)]
    async fn receive(&mut self) -> Option<u64> {
        self.recv().await
    }
}

channel!(
    /// Its sender waits for nobody, so it is no channel for a stream.
    TokioBroadcastTasks,
    "tokio broadcast",
    tokio_broadcast::Sender<u64>,
    tokio_broadcast::Receiver<u64>,
    tokio_broadcast::channel
);
receives!(tokio_broadcast::Receiver<u64>, recv);

impl TaskSender for tokio_broadcast::Sender<u64> {
    #[inline(always)]
    async fn send(&mut self, message: u64) -> bool {
        Self::send(self, message).is_ok()
    }
}

channel!(
    AsyncBroadcastTasks,
    AsyncBroadcast::NAME,
    async_broadcast::Sender<u64>,
    async_broadcast::Receiver<u64>,
    async_broadcast::broadcast
);
sends!(async_broadcast::Sender<u64>, broadcast_direct);
receives!(async_broadcast::Receiver<u64>, recv_direct);

channel!(FlumeTasks, Flume::NAME, flume::Sender<u64>, flume::Receiver<u64>, flume::bounded);
sends!(flume::Sender<u64>, send_async);
receives!(flume::Receiver<u64>, recv_async);

channel!(KanalTasks, Kanal::NAME, kanal::AsyncSender<u64>, kanal::AsyncReceiver<u64>, kanal::bounded_async);
sends!(kanal::AsyncSender<u64>, send);
receives!(kanal::AsyncReceiver<u64>, recv);

channel!(
    AsyncChannelTasks,
    AsyncChannel::NAME,
    async_channel::Sender<u64>,
    async_channel::Receiver<u64>,
    async_channel::bounded
);
sends!(async_channel::Sender<u64>, send);
receives!(async_channel::Receiver<u64>, recv);

type CrossfireOneSender = crossfire::AsyncTx<crossfire::spsc::Array<u64>>;
type CrossfireOneReceiver = crossfire::AsyncRx<crossfire::spsc::Array<u64>>;
type CrossfireSender = crossfire::MAsyncTx<crossfire::mpsc::Array<u64>>;
type CrossfireReceiver = crossfire::AsyncRx<crossfire::mpsc::Array<u64>>;

channel!(
    /// For one producer.
    CrossfireOneTasks, Crossfire::NAME, CrossfireOneSender, CrossfireOneReceiver, crossfire::spsc::bounded_async
);
sends!(CrossfireOneSender, send);
receives!(CrossfireOneReceiver, recv);

channel!(
    /// For one consumer, the fastest that it has for many producers.
    CrossfireTasks, Crossfire::NAME, CrossfireSender, CrossfireReceiver, crossfire::mpsc::bounded_async
);
sends!(CrossfireSender, send of crossfire::AsyncTx<crossfire::mpsc::Array<u64>>);
receives!(CrossfireReceiver, recv);

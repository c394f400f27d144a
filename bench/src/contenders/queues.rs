//! Queues: each message reaches one consumer.
//!
//! Each library is used in the ways that it has: by verbs that try, which the loop repeats, and by verbs that
//! wait. The handles are wrapped in [`Tried`], [`Waiting`] and their like, which say which verbs are called.

use std::hint::spin_loop;
use std::sync::mpsc as std_mpsc;

use annulus::queue::ordered;
use annulus::{mpmc, mpsc, spsc};

use super::{Annulus, Look, Named, Tried, Waiting};
use crate::messages::BATCH;

pub trait Sender: Send {
    /// False where it does not wait, and there is no room now.
    fn send(&mut self, message: u64) -> bool;

    /// Tries until it is sent, or waits: as a user would write it.
    #[inline(always)]
    fn must_send(&mut self, message: u64) {
        while !self.send(message) {
            spin_loop();
        }
    }
}

pub trait Receiver: Send {
    /// None where it does not wait, and nothing is there now.
    fn receive(&mut self) -> Option<u64>;

    /// Tries until something is there, or waits.
    #[inline(always)]
    fn must_receive(&mut self) -> u64 {
        loop {
            match self.receive() {
                Some(message) => return message,
                None => spin_loop(),
            }
        }
    }
}

/// A receiver of which the verb is called that returns at once, and that tells whether more may come.
pub trait Looking: Send {
    fn look(&mut self) -> Look;
}

/// A queue of u64.
pub trait Queue: Named {
    type Sender: Send;
    type Receiver: Send;
    fn queue(capacity: usize) -> (Self::Sender, Self::Receiver);
}

pub trait BatchSender: Send {
    /// Tries until all of them are sent.
    fn send_batch(&mut self, messages: &[u64; BATCH]);
}

pub trait BatchReceiver: Send {
    /// The messages that are there, up to [`BATCH`] of them, by way of `buffer` where they are not read in
    /// place. How many they were.
    fn receive_batch(&mut self, buffer: &mut [u64; BATCH], each: impl FnMut(u64)) -> usize;
}

/// By verbs for batches, which are copied in, and out into a buffer.
pub struct Copied<H>(H);

/// By verbs for batches, which are written and read where they lie.
pub struct InPlace<H>(H);

/// A queue, with both its handles used in one of those ways.
macro_rules! queue {
    ($(#[$doc:meta])* $queue:ident, $name:expr, $way:ident<$sender:ty, $receiver:ty>, $make:expr) => {
        $(#[$doc])*
        pub struct $queue;

        impl Named for $queue {
            const NAME: &'static str = $name;
        }

        impl Queue for $queue {
            type Sender = $way<$sender>;
            type Receiver = $way<$receiver>;

            fn queue(capacity: usize) -> (Self::Sender, Self::Receiver) {
                let (sender, receiver) = $make(capacity);
                ($way(sender), $way(receiver))
            }
        }
    };
}

/// A verb of a wrapped handle. One that waits is called once.
macro_rules! sends {
    (Tried<$handle:ty>, |$sender:ident, $message:ident| $sent:expr) => {
        impl Sender for Tried<$handle> {
            #[inline(always)]
            fn send(&mut self, $message: u64) -> bool {
                let $sender = &mut self.0;
                $sent
            }
        }
    };
    (Waiting<$handle:ty>, |$sender:ident, $message:ident| $sent:expr) => {
        impl Sender for Waiting<$handle> {
            #[inline(always)]
            fn send(&mut self, $message: u64) -> bool {
                let $sender = &mut self.0;
                $sent
            }

            #[inline(always)]
            fn must_send(&mut self, message: u64) {
                assert!(self.send(message), "{THERE}");
            }
        }
    };
}

/// As `sends`.
macro_rules! receives {
    (Tried<$handle:ty>, |$receiver:ident| $received:expr) => {
        impl Receiver for Tried<$handle> {
            #[inline(always)]
            fn receive(&mut self) -> Option<u64> {
                let $receiver = &mut self.0;
                $received
            }
        }
    };
    (Waiting<$handle:ty>, |$receiver:ident| $received:expr) => {
        impl Receiver for Waiting<$handle> {
            #[inline(always)]
            fn receive(&mut self) -> Option<u64> {
                let $receiver = &mut self.0;
                $received
            }

            #[inline(always)]
            fn must_receive(&mut self) -> u64 {
                self.receive().expect(THERE)
            }
        }
    };
}

const THERE: &str = "the other side is there";

queue!(AnnulusTried, Annulus::NAME, Tried<spsc::Producer<u64>, spsc::Consumer<u64>>, spsc::channel);
sends!(Tried<spsc::Producer<u64>>, |sender, message| sender.try_send(message).is_ok());
receives!(Tried<spsc::Consumer<u64>>, |receiver| receiver.try_recv().ok());

queue!(AnnulusQueue, Annulus::NAME, Waiting<spsc::Producer<u64>, spsc::Consumer<u64>>, spsc::channel);
sends!(Waiting<spsc::Producer<u64>>, |sender, message| sender.send(message).is_ok());
receives!(Waiting<spsc::Consumer<u64>>, |receiver| receiver.recv().ok());

queue!(
    /// With a ring for each producer.
    AnnulusMany, Annulus::NAME, Waiting<mpsc::Producer<u64>, mpsc::Consumer<u64>>, mpsc::channel
);
sends!(Waiting<mpsc::Producer<u64>>, |sender, message| sender.send(message).is_ok());
receives!(Waiting<mpsc::Consumer<u64>>, |receiver| receiver.recv().ok());

queue!(
    /// With many consumers, too.
    AnnulusManyToMany, Annulus::NAME, Waiting<mpmc::Producer<u64>, mpmc::Consumer<u64>>, mpmc::channel
);
sends!(Waiting<mpmc::Producer<u64>>, |sender, message| sender.send(message).is_ok());
receives!(Waiting<mpmc::Consumer<u64>>, |receiver| receiver.recv().ok());

queue!(
    /// It has no verbs that wait.
    Rtrb, "rtrb", Tried<rtrb::Producer<u64>, rtrb::Consumer<u64>>, rtrb::RingBuffer::new
);
sends!(Tried<rtrb::Producer<u64>>, |sender, message| sender.push(message).is_ok());
receives!(Tried<rtrb::Consumer<u64>>, |receiver| receiver.pop().ok());

type CrossbeamSender = crossbeam_channel::Sender<u64>;
type CrossbeamReceiver = crossbeam_channel::Receiver<u64>;
const CROSSBEAM: &str = "crossbeam-channel";

queue!(CrossbeamTried, CROSSBEAM, Tried<CrossbeamSender, CrossbeamReceiver>, crossbeam_channel::bounded);
sends!(Tried<CrossbeamSender>, |sender, message| sender.try_send(message).is_ok());
receives!(Tried<CrossbeamReceiver>, |receiver| receiver.try_recv().ok());

queue!(Crossbeam, CROSSBEAM, Waiting<CrossbeamSender, CrossbeamReceiver>, crossbeam_channel::bounded);
sends!(Waiting<CrossbeamSender>, |sender, message| sender.send(message).is_ok());
receives!(Waiting<CrossbeamReceiver>, |receiver| receiver.recv().ok());

type KanalSender = kanal::Sender<u64>;
type KanalReceiver = kanal::Receiver<u64>;

queue!(KanalTried, "kanal", Tried<KanalSender, KanalReceiver>, kanal::bounded);
sends!(Tried<KanalSender>, |sender, message| sender.try_send(message).expect(THERE));
receives!(Tried<KanalReceiver>, |receiver| receiver.try_recv().expect(THERE));

queue!(Kanal, "kanal", Waiting<KanalSender, KanalReceiver>, kanal::bounded);
sends!(Waiting<KanalSender>, |sender, message| sender.send(message).is_ok());
receives!(Waiting<KanalReceiver>, |receiver| receiver.recv().ok());

queue!(
    /// One ring for all producers: as all the rivals with a bound.
    AnnulusOneOrder, Annulus::NAME, Waiting<ordered::Sender<u64>, ordered::Receiver<u64>>, ordered::channel
);
sends!(Waiting<ordered::Sender<u64>>, |sender, message| sender.send(message).is_ok());
receives!(Waiting<ordered::Receiver<u64>>, |receiver| receiver.recv().ok());

type CrossfireSender = crossfire::MTx<crossfire::mpsc::Array<u64>>;
type CrossfireReceiver = crossfire::Rx<crossfire::mpsc::Array<u64>>;
type CrossfireOneSender = crossfire::Tx<crossfire::spsc::Array<u64>>;
type CrossfireOneReceiver = crossfire::Rx<crossfire::spsc::Array<u64>>;
type CrossfireManySender = crossfire::MTx<crossfire::mpmc::Array<u64>>;
type CrossfireManyReceiver = crossfire::MRx<crossfire::mpmc::Array<u64>>;

queue!(
    /// Its queue for one consumer, the fastest that it has for many producers.
    Crossfire, "crossfire", Waiting<CrossfireSender, CrossfireReceiver>, crossfire::mpsc::bounded_blocking
);
sends!(Waiting<CrossfireSender>, |sender, message| sender.send(message).is_ok());
receives!(Waiting<CrossfireReceiver>, |receiver| receiver.recv().ok());

queue!(
    /// For one producer.
    CrossfireOne,
    "crossfire",
    Waiting<CrossfireOneSender, CrossfireOneReceiver>,
    crossfire::spsc::bounded_blocking
);
sends!(Waiting<CrossfireOneSender>, |sender, message| sender.send(message).is_ok());
receives!(Waiting<CrossfireOneReceiver>, |receiver| receiver.recv().ok());

queue!(
    /// For many consumers, too.
    CrossfireMany,
    "crossfire",
    Waiting<CrossfireManySender, CrossfireManyReceiver>,
    crossfire::mpmc::bounded_blocking
);
sends!(Waiting<CrossfireManySender>, |sender, message| sender.send(message).is_ok());
receives!(Waiting<CrossfireManyReceiver>, |receiver| receiver.recv().ok());

type AsyncSender = async_channel::Sender<u64>;
type AsyncReceiver = async_channel::Receiver<u64>;

queue!(
    /// By its verbs for threads.
    AsyncChannel, "async-channel", Waiting<AsyncSender, AsyncReceiver>, async_channel::bounded
);
sends!(Waiting<AsyncSender>, |sender, message| sender.send_blocking(message).is_ok());
receives!(Waiting<AsyncReceiver>, |receiver| receiver.recv_blocking().ok());

queue!(Flume, "flume", Waiting<flume::Sender<u64>, flume::Receiver<u64>>, flume::bounded);
sends!(Waiting<flume::Sender<u64>>, |sender, message| sender.send(message).is_ok());
receives!(Waiting<flume::Receiver<u64>>, |receiver| receiver.recv().ok());

queue!(
    StdSync,
    "std sync_channel",
    Waiting<std_mpsc::SyncSender<u64>, std_mpsc::Receiver<u64>>,
    std_mpsc::sync_channel
);
sends!(Waiting<std_mpsc::SyncSender<u64>>, |sender, message| sender.send(message).is_ok());
receives!(Waiting<std_mpsc::Receiver<u64>>, |receiver| receiver.recv().ok());

queue!(
    /// It never waits for room, and takes memory instead.
    StdUnbounded, "std channel, unbounded", Waiting<std_mpsc::Sender<u64>, std_mpsc::Receiver<u64>>, |_| std_mpsc::channel()
);
sends!(Waiting<std_mpsc::Sender<u64>>, |sender, message| sender.send(message).is_ok());

/// By the verb that returns at once, and its error.
macro_rules! looks {
    ($way:ident<$handle:ty>, $empty:path) => {
        impl Looking for $way<$handle> {
            #[inline(always)]
            fn look(&mut self) -> Look {
                match self.0.try_recv() {
                    Ok(message) => Look::Message(message),
                    Err($empty) => Look::Nothing,
                    Err(_) => Look::Closed,
                }
            }
        }
    };
}

looks!(Waiting<mpsc::Consumer<u64>>, annulus::TryRecvError::Empty);
looks!(Waiting<CrossbeamReceiver>, crossbeam_channel::TryRecvError::Empty);
looks!(Waiting<CrossfireReceiver>, crossfire::TryRecvError::Empty);
looks!(Waiting<flume::Receiver<u64>>, flume::TryRecvError::Empty);
looks!(Waiting<std_mpsc::Receiver<u64>>, std_mpsc::TryRecvError::Empty);
looks!(Waiting<AsyncReceiver>, async_channel::TryRecvError::Empty);
looks!(Tried<spsc::Consumer<u64>>, annulus::TryRecvError::Empty);
looks!(Tried<CrossbeamReceiver>, crossbeam_channel::TryRecvError::Empty);

#[inline(always)]
fn look_of_kanal(receiver: &KanalReceiver) -> Look {
    match receiver.try_recv() {
        Ok(Some(message)) => Look::Message(message),
        Ok(None) => Look::Nothing,
        Err(_) => Look::Closed,
    }
}

impl Looking for Waiting<KanalReceiver> {
    #[inline(always)]
    fn look(&mut self) -> Look {
        look_of_kanal(&self.0)
    }
}

impl Looking for Tried<KanalReceiver> {
    #[inline(always)]
    fn look(&mut self) -> Look {
        look_of_kanal(&self.0)
    }
}

impl Looking for Tried<rtrb::Consumer<u64>> {
    #[inline(always)]
    fn look(&mut self) -> Look {
        // In this order: what came before the producer went is found.
        let is_over = self.0.is_abandoned();
        match self.0.pop() {
            Ok(message) => Look::Message(message),
            Err(_) if is_over => Look::Closed,
            Err(_) => Look::Nothing,
        }
    }
}

queue!(AnnulusCopied, Annulus::NAME, Copied<spsc::Producer<u64>, spsc::Consumer<u64>>, spsc::channel);
queue!(RtrbCopied, Rtrb::NAME, Copied<rtrb::Producer<u64>, rtrb::Consumer<u64>>, rtrb::RingBuffer::new);
queue!(AnnulusInPlace, Annulus::NAME, InPlace<spsc::Producer<u64>, spsc::Consumer<u64>>, spsc::channel);
queue!(RtrbInPlace, Rtrb::NAME, InPlace<rtrb::Producer<u64>, rtrb::Consumer<u64>>, rtrb::RingBuffer::new);

impl BatchSender for Copied<spsc::Producer<u64>> {
    #[inline(always)]
    fn send_batch(&mut self, messages: &[u64; BATCH]) {
        let mut rest = &messages[..];
        while let Err(error) = self.0.try_send_batch(rest) {
            spin_loop();
            rest = error.into_inner();
        }
    }
}

impl BatchReceiver for Copied<spsc::Consumer<u64>> {
    #[inline(always)]
    fn receive_batch(&mut self, buffer: &mut [u64; BATCH], each: impl FnMut(u64)) -> usize {
        let count = self.0.try_recv_batch(buffer);
        buffer[..count].iter().copied().for_each(each);
        count
    }
}

impl BatchSender for Copied<rtrb::Producer<u64>> {
    #[inline(always)]
    fn send_batch(&mut self, messages: &[u64; BATCH]) {
        let (_, mut rest) = self.0.push_partial_slice(messages);
        while !rest.is_empty() {
            spin_loop();
            (_, rest) = self.0.push_partial_slice(rest);
        }
    }
}

impl BatchReceiver for Copied<rtrb::Consumer<u64>> {
    #[inline(always)]
    fn receive_batch(&mut self, buffer: &mut [u64; BATCH], each: impl FnMut(u64)) -> usize {
        let (received, _) = self.0.pop_partial_slice(buffer);
        received.iter().copied().for_each(each);
        received.len()
    }
}

impl BatchSender for InPlace<spsc::Producer<u64>> {
    #[inline(always)]
    fn send_batch(&mut self, messages: &[u64; BATCH]) {
        let mut sent = 0;
        while sent < BATCH {
            match self.0.try_reserve(BATCH - sent) {
                Ok(reservation) => sent += reservation.write_slice(&messages[sent..]),
                Err(_) => spin_loop(),
            }
        }
    }
}

impl BatchReceiver for InPlace<spsc::Consumer<u64>> {
    #[inline(always)]
    fn receive_batch(&mut self, _: &mut [u64; BATCH], each: impl FnMut(u64)) -> usize {
        let there = self.0.readable();
        let there = &there[..there.len().min(BATCH)];
        let count = there.len();
        there.iter().copied().for_each(each);
        self.0.advance(count);
        count
    }
}

impl BatchSender for InPlace<rtrb::Producer<u64>> {
    #[inline(always)]
    fn send_batch(&mut self, messages: &[u64; BATCH]) {
        loop {
            if let Ok(chunk) = self.0.write_chunk_uninit(BATCH) {
                chunk.fill_from_iter(messages.iter().copied());
                return;
            }
            spin_loop();
        }
    }
}

impl BatchReceiver for InPlace<rtrb::Consumer<u64>> {
    #[inline(always)]
    fn receive_batch(&mut self, _: &mut [u64; BATCH], mut each: impl FnMut(u64)) -> usize {
        // Whole batches, so that it need not ask first how many there are.
        let Ok(chunk) = self.0.read_chunk(BATCH) else {
            return 0;
        };
        let (first, second) = chunk.as_slices();
        first.iter().copied().for_each(&mut each);
        second.iter().copied().for_each(each);
        chunk.commit_all();
        BATCH
    }
}

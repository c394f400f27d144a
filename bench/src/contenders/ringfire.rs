//! A broadcast ring in a file that processes map by its name.

use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use ringfire::spmc::{FlowControl, RingConsumer, RingConsumerBuilder, RingProducer, RingProducerBuilder};
use ringfire::wait::FutexWait;

use super::between::{BatchIn, BatchOut, Between, In, Out, Sleeper, THERE};
use super::interface::Named;
use crate::messages::BATCH;
use crate::processes::{hear, tell};

/// Its ring for messages of so many words. `LOSES`: a reader that is too slow loses messages; otherwise the
/// publisher waits.
pub enum Ringfire<const WORDS: usize, const LOSES: bool> {}

impl<const WORDS: usize, const LOSES: bool> Named for Ringfire<WORDS, LOSES> {
    const NAME: &'static str = "ringfire";
}

impl<const WORDS: usize, const LOSES: bool> Between for Ringfire<WORDS, LOSES> {
    type Out = RingProducer<[u64; WORDS]>;
    type In = RingConsumer<[u64; WORDS]>;
    /// The ring's file, which is gone with its publisher.
    type Offer = PathBuf;

    fn share(capacity: usize, readers: usize) -> (Self::Out, PathBuf) {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = PathBuf::from(format!("/dev/shm/annulus-bench-{}-{number}", process::id()));
        let builder = RingProducerBuilder::new(capacity.next_power_of_two() as u64);
        let builder = if LOSES {
            builder
        } else {
            builder.flow_control(FlowControl::LosslessBackpressure).max_readers(readers)
        };
        (builder.build(&path).expect("such a ring can be made"), path)
    }

    fn offer(path: &PathBuf, socket: &UnixStream) {
        tell(socket, path);
    }

    fn join(socket: &UnixStream) -> Self::In {
        let path: PathBuf = hear(socket).expect(THERE);
        RingConsumerBuilder::new().start_from_oldest().attach(path).expect("it is such a ring")
    }
}

impl<const WORDS: usize> Out for RingProducer<[u64; WORDS]> {
    #[inline(always)]
    fn put(&mut self, value: u64) {
        self.push(&[value; WORDS]);
    }
}

impl<const WORDS: usize> BatchOut<WORDS> for RingProducer<[u64; WORDS]> {
    #[inline(always)]
    fn put_batch(&mut self, messages: &[[u64; WORDS]; BATCH]) {
        self.push_batch(messages);
    }
}

impl<const WORDS: usize> In for RingConsumer<[u64; WORDS]> {
    #[inline(always)]
    fn poll(&mut self, look: impl FnOnce(&[u64])) -> bool {
        self.try_recv().map(|message| look(&message)).is_some()
    }
}

impl<const WORDS: usize> BatchIn<WORDS> for RingConsumer<[u64; WORDS]> {
    #[inline(always)]
    fn poll_batch(&mut self, buffer: &mut [[u64; WORDS]; BATCH]) -> usize {
        self.recv_batch(buffer)
    }
}

impl<const WORDS: usize> Sleeper for RingConsumer<[u64; WORDS]> {
    fn sleep(&mut self) -> u64 {
        self.recv_blocking(&mut FutexWait::new(0, None))[0]
    }
}

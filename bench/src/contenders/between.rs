//! Rings whose ends are in two processes, and the same in one, behind the same verbs.
//!
//! A message is words that all have one value: a receiver looks at every one of them.

use std::hint::spin_loop;
use std::os::unix::net::UnixStream;

use annulus::Settings;
use annulus::broadcast::{self, Awaited, Foreign, Lossless, Lossy, MpPublisher, Publisher, Subscriber};
use annulus::queue;
use annulus::shm::mp_broadcast::Publisher as FellowPublisher;
use annulus::shm::{self, Invitation, Shared, WhenGone};
use annulus::{WaitStrategy, spsc};

use crate::messages::BATCH;

/// The end where messages go in.
pub trait Out {
    /// Sends words of this value. Waits for room, where the ring is not lossy.
    fn put(&mut self, value: u64);
}

/// The other end.
pub trait In {
    /// Shows the next message to `look`, if it is there, and says whether it was.
    fn poll(&mut self, look: impl FnOnce(&[u64])) -> bool;
}

/// A way in for messages of so many words, many at once.
pub trait BatchOut<const WORDS: usize> {
    fn put_batch(&mut self, messages: &[[u64; WORDS]; BATCH]);
}

/// A way out for them.
pub trait BatchIn<const WORDS: usize> {
    /// The messages that are there, up to [`BATCH`] of them, into the front of `buffer`.
    fn poll_batch(&mut self, buffer: &mut [[u64; WORDS]; BATCH]) -> usize;
}

/// An end that its thread can sleep at.
pub trait Sleeper {
    /// The first word of the next message. Sleeps at once where there is none.
    fn sleep(&mut self) -> u64;
}

/// Both ends in one process.
pub trait Within {
    type Out: Out + Send;
    type In: In + Send;
    fn within(capacity: usize) -> (Self::Out, Self::In);
}

/// An end here, and others in other processes.
pub trait Between {
    type Out: Out;
    type In: In;
    /// What the others need.
    type Offer;
    fn share(capacity: usize, readers: usize) -> (Self::Out, Self::Offer);
    fn offer(offer: &Self::Offer, socket: &UnixStream);
    /// In the process to which it was offered.
    fn join(socket: &UnixStream) -> Self::In;
}

/// A queue of messages of so many words.
pub enum Queue<const WORDS: usize> {}

/// A broadcast ring of them whose publisher waits for nobody.
pub enum LossyRing<const WORDS: usize> {}

/// One that several processes may publish to. One of them does.
pub enum MpLossyRing<const WORDS: usize> {}

/// One whose publisher waits for its subscribers.
pub enum LosslessRing<const WORDS: usize> {}

/// A waiter that sleeps at once.
pub(super) const ASLEEP: WaitStrategy = WaitStrategy::block_after(0, 0);

pub(super) const THERE: &str = "the other side is there";

impl<const WORDS: usize> Within for Queue<WORDS> {
    type Out = spsc::Producer<[u64; WORDS]>;
    type In = spsc::Consumer<[u64; WORDS]>;

    fn within(capacity: usize) -> (Self::Out, Self::In) {
        spsc::channel(capacity)
    }
}

impl<const WORDS: usize> Between for Queue<WORDS> {
    type Out = shm::spsc::Producer<[u64; WORDS]>;
    type In = shm::spsc::Consumer<[u64; WORDS]>;
    type Offer = Invitation;

    fn share(capacity: usize, _: usize) -> (Self::Out, Invitation) {
        let settings = Settings::new(capacity);
        let made = shm::spsc::producer(settings, WhenGone::Close);
        let Shared { handle: producer, invitation, .. } = made.expect("such a queue can be made");
        (producer, invitation)
    }

    fn offer(invitation: &Invitation, socket: &UnixStream) {
        invitation.send(socket).expect(THERE);
    }

    fn join(socket: &UnixStream) -> Self::In {
        shm::spsc::consumer(&receive(socket)).expect("it is such a queue").0
    }
}

pub(super) fn receive(socket: &UnixStream) -> Invitation {
    Invitation::receive(socket).expect(THERE)
}

/// The ends of a queue, in one process or in two.
macro_rules! queue_ends {
    ($kind:ty) => {
        impl<const WORDS: usize> Out for queue::Producer<[u64; WORDS], $kind> {
            #[inline(always)]
            fn put(&mut self, value: u64) {
                while self.try_send([value; WORDS]).is_err() {
                    spin_loop();
                }
            }
        }

        impl<const WORDS: usize> BatchOut<WORDS> for queue::Producer<[u64; WORDS], $kind> {
            #[inline(always)]
            fn put_batch(&mut self, messages: &[[u64; WORDS]; BATCH]) {
                let mut rest = &messages[..];
                while let Err(error) = self.try_send_batch(rest) {
                    spin_loop();
                    rest = error.into_inner();
                }
            }
        }

        impl<const WORDS: usize> In for queue::Consumer<[u64; WORDS], $kind> {
            #[inline(always)]
            fn poll(&mut self, look: impl FnOnce(&[u64])) -> bool {
                self.try_recv().map(|message| look(&message)).is_ok()
            }
        }

        impl<const WORDS: usize> BatchIn<WORDS> for queue::Consumer<[u64; WORDS], $kind> {
            #[inline(always)]
            fn poll_batch(&mut self, buffer: &mut [[u64; WORDS]; BATCH]) -> usize {
                self.try_recv_batch(buffer)
            }
        }

        impl<const WORDS: usize> Sleeper for queue::Consumer<[u64; WORDS], $kind> {
            fn sleep(&mut self) -> u64 {
                self.recv_until(ASLEEP).expect(THERE)[0]
            }
        }
    };
}

queue_ends!(spsc::Spsc);
queue_ends!(shm::spsc::Across<[u64; WORDS]>);

impl<const WORDS: usize> Within for LossyRing<WORDS> {
    type Out = Publisher<[u64; WORDS]>;
    type In = Subscriber<[u64; WORDS]>;

    fn within(capacity: usize) -> (Self::Out, Self::In) {
        let (publisher, subscribable) = broadcast::lossy(capacity);
        (publisher, subscribable.subscribe())
    }
}

impl<const WORDS: usize> Between for LossyRing<WORDS> {
    type Out = Publisher<[u64; WORDS]>;
    type In = Subscriber<[u64; WORDS], Foreign>;
    type Offer = Invitation;

    fn share(capacity: usize, _: usize) -> (Self::Out, Invitation) {
        let made = shm::broadcast::lossy(Settings::new(capacity));
        let Shared { handle: publisher, invitation, .. } = made.expect("such a ring can be made");
        (publisher, invitation)
    }

    fn offer(invitation: &Invitation, socket: &UnixStream) {
        invitation.send(socket).expect(THERE);
    }

    fn join(socket: &UnixStream) -> Self::In {
        receive(socket).accept().expect("it is such a ring").subscribable().subscribe()
    }
}

impl<const WORDS: usize> Within for MpLossyRing<WORDS> {
    type Out = MpPublisher<[u64; WORDS]>;
    type In = Subscriber<[u64; WORDS]>;

    fn within(capacity: usize) -> (Self::Out, Self::In) {
        let (publisher, subscribable) = broadcast::mp_lossy(capacity);
        (publisher, subscribable.subscribe())
    }
}

impl<const WORDS: usize> Between for MpLossyRing<WORDS> {
    type Out = FellowPublisher<[u64; WORDS]>;
    type In = Subscriber<[u64; WORDS], Foreign>;
    type Offer = Invitation;

    fn share(capacity: usize, _: usize) -> (Self::Out, Invitation) {
        let builder = shm::mp_broadcast::Builder::new(Settings::new(capacity));
        let made = builder.when_no_publisher(WhenGone::Close).build();
        let Shared { handle: publisher, invitation, .. } = made.expect("such a ring can be made");
        (publisher, invitation)
    }

    fn offer(invitation: &Invitation, socket: &UnixStream) {
        invitation.send(socket).expect(THERE);
    }

    fn join(socket: &UnixStream) -> Self::In {
        LossyRing::join(socket)
    }
}

/// A publisher that waits for nobody.
macro_rules! publisher {
    ($Publisher:ident) => {
        impl<const WORDS: usize> Out for $Publisher<[u64; WORDS]> {
            #[inline(always)]
            fn put(&mut self, value: u64) {
                self.publish_with(|| [value; WORDS]);
            }
        }

        impl<const WORDS: usize> BatchOut<WORDS> for $Publisher<[u64; WORDS]> {
            #[inline(always)]
            fn put_batch(&mut self, messages: &[[u64; WORDS]; BATCH]) {
                self.publish_batch(messages);
            }
        }
    };
}

publisher!(Publisher);
publisher!(MpPublisher);
publisher!(FellowPublisher);

impl<const WORDS: usize> Within for LosslessRing<WORDS> {
    type Out = Publisher<[u64; WORDS], Lossless>;
    type In = Subscriber<[u64; WORDS], Lossless>;

    fn within(capacity: usize) -> (Self::Out, Self::In) {
        let (publisher, subscribable) = broadcast::lossless(capacity);
        (publisher, subscribable.subscribe())
    }
}

impl<const WORDS: usize> Between for LosslessRing<WORDS> {
    type Out = Publisher<[u64; WORDS], Lossless>;
    type In = Subscriber<[u64; WORDS], Awaited>;
    type Offer = Invitation;

    fn share(capacity: usize, readers: usize) -> (Self::Out, Invitation) {
        let made = shm::broadcast::lossless(Settings::new(capacity), readers);
        let Shared { handle: publisher, invitation, .. } = made.expect("such a ring can be made");
        (publisher, invitation)
    }

    fn offer(invitation: &Invitation, socket: &UnixStream) {
        invitation.send(socket).expect(THERE);
    }

    fn join(socket: &UnixStream) -> Self::In {
        let ring = receive(socket).accept_lossless().expect("it is such a ring");
        ring.subscribe().expect("there is a seat for each")
    }
}

impl<const WORDS: usize> Out for Publisher<[u64; WORDS], Lossless> {
    #[inline(always)]
    fn put(&mut self, value: u64) {
        assert!(self.publish_with(|| [value; WORDS]).is_ok());
    }
}

impl<const WORDS: usize> BatchOut<WORDS> for Publisher<[u64; WORDS], Lossless> {
    #[inline(always)]
    fn put_batch(&mut self, messages: &[[u64; WORDS]; BATCH]) {
        assert!(self.publish_batch(messages).is_ok());
    }
}

/// A subscriber of any ring.
macro_rules! subscriber {
    ($mode:ty) => {
        impl<const WORDS: usize> In for Subscriber<[u64; WORDS], $mode> {
            #[inline(always)]
            fn poll(&mut self, look: impl FnOnce(&[u64])) -> bool {
                self.try_recv().map(|message| look(&message)).is_ok()
            }
        }

        impl<const WORDS: usize> BatchIn<WORDS> for Subscriber<[u64; WORDS], $mode> {
            #[inline(always)]
            fn poll_batch(&mut self, buffer: &mut [[u64; WORDS]; BATCH]) -> usize {
                self.try_recv_batch(buffer)
            }
        }

        impl<const WORDS: usize> Sleeper for Subscriber<[u64; WORDS], $mode> {
            fn sleep(&mut self) -> u64 {
                self.recv_until(ASLEEP).expect(THERE)[0]
            }
        }
    };
}

subscriber!(Lossy);
subscriber!(Lossless);
subscriber!(Awaited);
subscriber!(Foreign);

#[cfg(test)]
mod tests {
    use super::*;

    fn goes_through(out: &mut impl Out, input: &mut impl In, words: usize) {
        assert!(!input.poll(|_| ()));
        for value in [7, u64::MAX] {
            out.put(value);
            assert!(input.poll(|message| assert_eq!(message, vec![value; words])));
        }
    }

    #[test]
    fn messages_go_through_all_rings() {
        fn within<R: Within>(words: usize) {
            let (mut out, mut input) = R::within(4);
            goes_through(&mut out, &mut input, words);
        }
        fn between<R: Between>(words: usize) {
            let (here, there) = UnixStream::pair().unwrap();
            let (mut out, offer) = R::share(4, 1);
            R::offer(&offer, &here);
            goes_through(&mut out, &mut R::join(&there), words);
        }
        within::<Queue<1>>(1);
        within::<LossyRing<8>>(8);
        within::<MpLossyRing<8>>(8);
        within::<LosslessRing<8>>(8);
        between::<Queue<8>>(8);
        between::<LossyRing<8>>(8);
        between::<MpLossyRing<8>>(8);
        between::<LosslessRing<1>>(1);
        within::<super::super::broadcast_records::LosslessRecords<8>>(8);
        between::<super::super::broadcast_records::LosslessRecords<512>>(512);
        between::<super::super::shaq::Shaq<8>>(8);
        between::<super::super::ringfire::Ringfire<8, true>>(8);
        between::<super::super::ringfire::Ringfire<1, false>>(1);
        #[cfg(feature = "iceoryx2")]
        between::<super::super::records::Records<1024>>(1024);
    }

    #[test]
    fn batches_go_through_all_rings() {
        fn works<R: Between<Out: BatchOut<8>, In: BatchIn<8>>>() {
            let (here, there) = UnixStream::pair().unwrap();
            let (mut out, offer) = R::share(BATCH, 1);
            R::offer(&offer, &here);
            let mut input = R::join(&there);
            let sent = std::array::from_fn(|i| [i as u64; 8]);
            out.put_batch(&sent);
            let mut buffer = [[0; 8]; BATCH];
            assert_eq!(input.poll_batch(&mut buffer), BATCH);
            assert_eq!(buffer, sent);
        }
        works::<Queue<8>>();
        works::<LossyRing<8>>();
        works::<MpLossyRing<8>>();
        works::<LosslessRing<8>>();
        works::<super::super::shaq::Shaq<8>>();
        works::<super::super::ringfire::Ringfire<8, true>>();
        works::<super::super::ringfire::Ringfire<8, false>>();
    }
}

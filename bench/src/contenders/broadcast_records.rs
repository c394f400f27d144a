//! Our broadcast rings of records whose publishers wait, in one process and in two: each record is copied in
//! and out.

use std::hint::spin_loop;
use std::marker::PhantomData;
use std::os::unix::net::UnixStream;

use annulus::Settings;
use annulus::broadcast::bytes::{self, Publisher, Subscriber};
use annulus::broadcast::{Awaited, Lossless, Mode};
use annulus::shm::{self, Invitation, Shared};

use super::between::{Between, In, Out, THERE, Within, receive};

/// Of records of so many words.
pub enum LosslessRecords<const WORDS: usize> {}

/// The publisher.
pub struct RecordsOut<const WORDS: usize>(Publisher<Lossless>, PhantomData<[u64; WORDS]>);

/// A subscriber, and the words of the last record.
pub struct RecordsIn<M: Mode, const WORDS: usize> {
    subscriber: Subscriber<M>,
    buffer: Vec<u8>,
    words: [u64; WORDS],
}

impl<M: Mode, const WORDS: usize> RecordsIn<M, WORDS> {
    fn new(subscriber: Subscriber<M>) -> Self {
        Self { subscriber, buffer: Vec::with_capacity(8 * WORDS), words: [0; WORDS] }
    }
}

/// With room for so many records.
fn settings<const WORDS: usize>(capacity: usize) -> Settings {
    Settings::new(capacity * 8 * WORDS)
}

impl<const WORDS: usize> Within for LosslessRecords<WORDS> {
    type Out = RecordsOut<WORDS>;
    type In = RecordsIn<Lossless, WORDS>;

    fn within(capacity: usize) -> (Self::Out, Self::In) {
        let made = bytes::lossless_with(settings::<WORDS>(capacity));
        let (publisher, subscribable) = made.expect("such a ring can be made");
        (RecordsOut(publisher, PhantomData), RecordsIn::new(subscribable.subscribe()))
    }
}

impl<const WORDS: usize> Between for LosslessRecords<WORDS> {
    type Out = RecordsOut<WORDS>;
    type In = RecordsIn<Awaited, WORDS>;
    type Offer = Invitation;

    fn share(capacity: usize, readers: usize) -> (Self::Out, Invitation) {
        let made = shm::broadcast::bytes::lossless(settings::<WORDS>(capacity), readers);
        let Shared { handle: publisher, invitation, .. } = made.expect("such a ring can be made");
        (RecordsOut(publisher, PhantomData), invitation)
    }

    fn offer(invitation: &Invitation, socket: &UnixStream) {
        invitation.send(socket).expect(THERE);
    }

    fn join(socket: &UnixStream) -> Self::In {
        let ring = receive(socket).accept_lossless_bytes().expect("it is such a ring");
        RecordsIn::new(ring.subscribe().expect("there is a seat for each"))
    }
}

impl<const WORDS: usize> Out for RecordsOut<WORDS> {
    #[inline(always)]
    fn put(&mut self, value: u64) {
        let words = [value; WORDS];
        while self.0.try_publish(bytemuck::cast_slice(&words)).is_err() {
            spin_loop();
        }
    }
}

impl<M: Mode, const WORDS: usize> In for RecordsIn<M, WORDS> {
    #[inline(always)]
    fn poll(&mut self, look: impl FnOnce(&[u64])) -> bool {
        if self.subscriber.try_recv(&mut self.buffer).is_err() {
            return false;
        }
        bytemuck::cast_slice_mut(&mut self.words).copy_from_slice(&self.buffer);
        look(&self.words);
        true
    }
}

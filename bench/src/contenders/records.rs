//! Our queue of records between processes, which are written and read where they lie: beside a library that
//! does so, too.

use std::hint::spin_loop;
use std::marker::PhantomData;
use std::os::unix::net::UnixStream;

use annulus::Settings;
use annulus::queue::bytes::Record;
use annulus::shm::{Invitation, Shared, WhenGone, bytes};

use super::between::{Between, In, Out, THERE, receive};

/// Of records of so many words.
pub enum Records<const WORDS: usize> {}

/// The producer of [`Records`].
pub struct RecordsOut<const WORDS: usize>(bytes::Producer, PhantomData<[u64; WORDS]>);

/// Their consumer.
pub struct RecordsIn(bytes::Consumer);

impl<const WORDS: usize> Between for Records<WORDS> {
    type Out = RecordsOut<WORDS>;
    type In = RecordsIn;
    type Offer = Invitation;

    fn share(capacity: usize, _: usize) -> (Self::Out, Invitation) {
        // With what tells its length.
        let settings = Settings::new(capacity * 8 * (WORDS + 1));
        let made = bytes::producer(settings, WhenGone::Close);
        let Shared { handle: producer, invitation, .. } = made.expect("such a queue can be made");
        (RecordsOut(producer, PhantomData), invitation)
    }

    fn offer(invitation: &Invitation, socket: &UnixStream) {
        invitation.send(socket).expect(THERE);
    }

    fn join(socket: &UnixStream) -> Self::In {
        RecordsIn(bytes::consumer(&receive(socket)).expect("it is such a queue").0)
    }
}

#[allow(
    unsafe_code,
    reason = "a slice of memory that another process can write to is had by a function that is unsafe"
)]
impl<const WORDS: usize> Out for RecordsOut<WORDS> {
    #[inline(always)]
    fn put(&mut self, value: u64) {
        loop {
            if let Ok(mut record) = self.0.try_reserve(8 * WORDS) {
                // SAFETY: the other process writes to no record.
                let bytes = unsafe { record.as_mut_slice() };
                bytemuck::cast_slice_mut::<u8, u64>(bytes).fill(value);
                return record.commit().expect(THERE);
            }
            spin_loop();
        }
    }
}

#[allow(unsafe_code, reason = "as above")]
impl In for RecordsIn {
    #[inline(always)]
    fn poll(&mut self, look: impl FnOnce(&[u64])) -> bool {
        // SAFETY: the other process leaves a record that it has sent as it is.
        let shown = |record: Record<'_, _>| look(bytemuck::cast_slice(unsafe { record.shared().as_slice() }));
        self.0.try_read().map(shown).is_ok()
    }
}

//! Our frames between processes, which are written and read where they lie: beside a library that does so,
//! too.
//!
//! A frame is `BYTES` long. Its first `FILLED` bytes are written, and a reader looks at the first word of
//! these and at the last one. So what a frame costs by itself and what its content costs can be told apart.

use std::os::unix::net::UnixStream;

use annulus::shm::{Invitation, Shared, frames};
use annulus::{Receive, Settings};

use super::between::{ASLEEP, Between, In, Out, Sleeper, THERE, receive};

/// A ring of frames.
pub enum Frames<const BYTES: usize, const FILLED: usize> {}

/// The publisher of [`Frames`].
pub struct FramesOut<const BYTES: usize, const FILLED: usize>(frames::Publisher);

/// Their subscriber.
pub struct FramesIn<const FILLED: usize>(frames::Subscriber);

/// Writes one word all over.
#[inline(always)]
pub fn fill<T: Copy>(bytes: &mut [T], word: [T; 8]) {
    bytes.as_chunks_mut().0.fill(word);
}

/// The first word and the last one.
#[inline(always)]
pub fn ends(bytes: &[u8]) -> [u64; 2] {
    let words = bytes.as_chunks().0;
    [words[0], words[words.len() - 1]].map(u64::from_ne_bytes)
}

impl<const BYTES: usize, const FILLED: usize> Between for Frames<BYTES, FILLED> {
    type Out = FramesOut<BYTES, FILLED>;
    type In = FramesIn<FILLED>;
    type Offer = Invitation;

    fn share(capacity: usize, readers: usize) -> (Self::Out, Invitation) {
        let builder = frames::Builder::new(Settings::new(capacity), BYTES).subscribers(readers).held(1);
        let Shared { handle: publisher, invitation, .. } = builder.build().expect("such a ring can be made");
        (FramesOut(publisher), invitation)
    }

    fn offer(invitation: &Invitation, socket: &UnixStream) {
        invitation.send(socket).expect(THERE);
    }

    fn join(socket: &UnixStream) -> Self::In {
        let ring = receive(socket).accept_frames().expect("it is such a ring");
        FramesIn(ring.subscribe().expect("there is room for each"))
    }
}

impl<const BYTES: usize, const FILLED: usize> Out for FramesOut<BYTES, FILLED> {
    #[inline(always)]
    fn put(&mut self, value: u64) {
        let mut frame = self.0.loan(BYTES).expect("frames are so long");
        fill(&mut frame[..FILLED], value.to_ne_bytes());
        frame.publish();
    }
}

/// The frame's ends. `FILLED` bytes of it are looked at.
#[inline(always)]
#[allow(
    unsafe_code,
    reason = "a slice of memory that another process can write to is had by a function that is unsafe"
)]
fn ends_of<const FILLED: usize>(frame: &frames::Frame) -> [u64; 2] {
    // SAFETY: the other process leaves a frame that is held as it is.
    ends(unsafe { &frame.shared().as_slice()[..FILLED] })
}

impl<const FILLED: usize> In for FramesIn<FILLED> {
    #[inline(always)]
    fn poll(&mut self, look: impl FnOnce(&[u64])) -> bool {
        self.0.try_recv().map(|frame| look(&ends_of::<FILLED>(&frame))).is_ok()
    }
}

impl<const FILLED: usize> Sleeper for FramesIn<FILLED> {
    fn sleep(&mut self) -> u64 {
        let frame = self.0.recv_until(ASLEEP).expect(THERE).expect("it holds no other");
        ends_of::<FILLED>(&frame)[0]
    }
}

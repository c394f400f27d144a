//! [`Frame`], [`Change`] and [`Ack`]: what bridges tell each other in addition to messages.
//!
//! The payload of a sample is nothing but messages, one behind the other, so any program can read it. Which
//! messages they are is in the attachment, a [`Frame`]. The payload of a newest value is that value, and its
//! attachment a [`Change`]. An [`Ack`] goes back, as a payload. Each has 32 bytes, little-endian.
//!
//! | offset | size | of a frame |
//! | --- | --- | --- |
//! | 0 | 4 | `ann1` |
//! | 4 | 4 | 1: the ring ends behind these messages; 2: the payload is one frame; 3: both; 0: neither |
//! | 8 | 8 | the epoch: which ring of that name it is |
//! | 16 | 8 | the number of the first message; where there is none, of the next |
//! | 24 | 8 | messages before this number can be asked for; those from it on, and before the first, are lost |
//!
//! | offset | size | of a change |
//! | --- | --- | --- |
//! | 0 | 4 | `anv1` |
//! | 4 | 4 | the cell |
//! | 8 | 8 | the epoch: which table of that name it is |
//! | 16 | 8 | how many values the cell had, with this one; 0 (and no payload): it has a key, and no value yet |
//! | 24 | 8 | 0 |
//! | 32 | | its key, if it has one |
//!
//! | offset | size | of a question to a service |
//! | --- | --- | --- |
//! | 0 | 4 | `anq1` |
//! | 4 | 4 | 0 |
//! | 8 | 8 | so many nanoseconds it is waited for the answer |
//! | 16 | 16 | 0 |
//!
//! | offset | size | of an ack |
//! | --- | --- | --- |
//! | 0 | 4 | `ana1` |
//! | 4 | 4 | 0: nothing is needed; 1: what follows is to be sent again; 2: nothing more is wanted |
//! | 8 | 8 | the epoch |
//! | 16 | 8 | another number for each life of a bridge |
//! | 24 | 8 | the number of the next message |

use std::time::Duration;

/// How long each is.
const BYTES: usize = 32;

/// With what a frame begins.
const FRAME: [u8; 4] = *b"ann1";

/// With what a change begins.
const CHANGE: [u8; 4] = *b"anv1";

/// With what goes with a question begins.
const QUESTION: [u8; 4] = *b"anq1";

/// With what an ack begins.
const ACK: [u8; 4] = *b"ana1";

/// What goes with the messages of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Which ring of that name it is.
    pub(crate) epoch: u64,
    /// The number of the first message. Where there is none, of the next.
    pub(crate) first: u64,
    /// Messages with smaller numbers were sent before, and can be sent again. Those from here on, and before
    /// the first, are lost. (0: nothing can be sent again.)
    pub(crate) after: u64,
    /// Whether the ring ends behind these messages.
    pub(crate) ends: bool,
    /// Whether the payload is a frame: one message, of any length.
    pub(crate) is_one: bool,
}

impl Frame {
    pub(crate) fn to_bytes(self) -> [u8; BYTES] {
        let word = u32::from(self.ends) | u32::from(self.is_one) << 1;
        written(FRAME, word, [self.epoch, self.first, self.after])
    }

    /// `None` if that is none, or of a later version.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let (word, [epoch, first, after]) = read(FRAME, bytes)?;
        let (ends, is_one) = (word & 1 == 1, word & 2 == 2);
        (word <= 3).then_some(Self { epoch, first, after, ends, is_one })
    }
}

/// What goes with a newest value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) cell: u32,
    /// Which table of that name it is.
    pub(crate) epoch: u64,
    /// How many values the cell had, with this one: a greater count is newer.
    pub(crate) count: u64,
    /// Empty if it has none.
    pub(crate) key: String,
}

impl Change {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = written(CHANGE, self.cell, [self.epoch, self.count, 0]).to_vec();
        bytes.extend_from_slice(self.key.as_bytes());
        bytes
    }

    /// `None` if that is none, or of a later version.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let (bytes, key) = bytes.split_at_checked(BYTES)?;
        let (cell, [epoch, count, 0]) = read(CHANGE, bytes)? else { return None };
        Some(Self { cell, epoch, count, key: String::from_utf8(key.to_vec()).ok()? })
    }
}

/// What goes with a question: for how long it is waited for the answer.
pub(crate) fn wait_to_bytes(wait: Duration) -> [u8; BYTES] {
    written(QUESTION, 0, [u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX), 0, 0])
}

/// `None` if that is none, or of a later version.
pub(crate) fn wait_of_bytes(bytes: &[u8]) -> Option<Duration> {
    let (0, [nanoseconds, 0, 0]) = read(QUESTION, bytes)? else { return None };
    Some(Duration::from_nanos(nanoseconds))
}

/// How far a bridge is with a ring that it gets, and what it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ack {
    /// Which ring of that name it is.
    pub(crate) epoch: u64,
    /// Of the bridge: one that begins anew has another one.
    pub(crate) life: u64,
    /// The number of the message that it has not yet.
    pub(crate) next: u64,
    pub(crate) needs: Needs,
}

/// What a bridge needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    /// The messages from the next on are to be sent again.
    Again,
    /// No messages any more.
    Out,
}

impl Ack {
    pub(crate) fn to_bytes(self) -> [u8; BYTES] {
        written(ACK, self.needs as u32, [self.epoch, self.life, self.next])
    }

    /// `None` if that is none, or of a later version.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let (word, [epoch, life, next]) = read(ACK, bytes)?;
        let needs = match word {
            0 => Needs::Nothing,
            1 => Needs::Again,
            2 => Needs::Out,
            _ => return None,
        };
        Some(Self { epoch, life, next, needs })
    }
}

fn written(magic: [u8; 4], word: u32, numbers: [u64; 3]) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    bytes[..4].copy_from_slice(&magic);
    bytes[4..8].copy_from_slice(&word.to_le_bytes());
    for (to, number) in bytes[8..].chunks_exact_mut(8).zip(numbers) {
        to.copy_from_slice(&number.to_le_bytes());
    }
    bytes
}

/// `None` if there are more bytes or less, or they begin with something else.
fn read(magic: [u8; 4], bytes: &[u8]) -> Option<(u32, [u64; 3])> {
    let bytes: &[u8; BYTES] = bytes.try_into().ok()?;
    let (word, numbers) = bytes.strip_prefix(&magic)?.split_first_chunk::<4>()?;
    let ([first, second, third], []) = numbers.as_chunks::<8>() else { return None };
    let numbers = [first, second, third].map(|number| u64::from_le_bytes(*number));
    Some((u32::from_le_bytes(*word), numbers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_that_is_read_is_what_was_written() {
        for (ends, is_one) in [(false, false), (true, false), (false, true), (true, true)] {
            let frame = Frame { epoch: 0x0123_4567_89AB_CDEF, first: u64::MAX - 1, after: 7, ends, is_one };
            assert_eq!(Frame::of_bytes(&frame.to_bytes()), Some(frame));
            assert_eq!(Ack::of_bytes(&frame.to_bytes()), None);
        }
        for key in ["", "EURUSD", "ä"] {
            let change = Change { cell: 1 << 20, epoch: 7, count: u64::MAX, key: key.into() };
            assert_eq!(Change::of_bytes(&change.to_bytes()), Some(change));
        }
        for wait in [Duration::ZERO, Duration::from_nanos(u64::MAX)] {
            assert_eq!(wait_of_bytes(&wait_to_bytes(wait)), Some(wait));
        }
        for needs in [Needs::Nothing, Needs::Again, Needs::Out] {
            let ack = Ack { epoch: 0x0123_4567_89AB_CDEF, life: 3, next: u64::MAX, needs };
            assert_eq!(Ack::of_bytes(&ack.to_bytes()), Some(ack));
        }
    }

    #[test]
    fn bytes_that_are_no_frame_are_not_taken() {
        let frame = Frame { epoch: 1, first: 2, after: 0, ends: false, is_one: false }.to_bytes();
        let ack = Ack { epoch: 1, life: 2, next: 3, needs: Needs::Nothing }.to_bytes();
        assert_eq!(Frame::of_bytes(&frame[..31]), None);
        assert_eq!(Frame::of_bytes(&[&frame[..], &[0]].concat()), None);
        for (at, value) in [(0, b'b'), (3, b'2'), (4, 4), (7, 1)] {
            let (mut frame, mut ack) = (frame, ack);
            (frame[at], ack[at]) = (value, value);
            assert_eq!((Frame::of_bytes(&frame), Ack::of_bytes(&ack)), (None, None), "{at}");
        }
        let change = Change { cell: 1, epoch: 2, count: 3, key: "k".into() }.to_bytes();
        for (at, value) in [(0, b'b'), (3, b'1' + 1), (24, 1), (31, 1), (32, 0xFF)] {
            let mut change = change.clone();
            change[at] = value;
            assert_eq!(Change::of_bytes(&change), None, "{at}");
        }
        assert_eq!(Change::of_bytes(&change[..31]), None);
        assert_eq!(wait_of_bytes(&change[..32]), None);
    }
}

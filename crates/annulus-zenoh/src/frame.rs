//! [`Frame`]: what stands beside the messages of a sample, in its attachment.
//!
//! The payload of a sample is nothing but messages, one behind the other, so any program can read it. Which
//! messages they are is in the attachment: 32 bytes, little-endian.
//!
//! | offset | size | what |
//! | --- | --- | --- |
//! | 0 | 4 | `ann1` |
//! | 4 | 4 | 1: the ring ends behind these messages; 0: it goes on |
//! | 8 | 8 | the epoch: which ring of that name it is |
//! | 16 | 8 | the number of the first message; where there is none, of the next |
//! | 24 | 8 | messages before this number can be asked for; those from it on, and before the first, are lost |

/// With what it begins.
const MAGIC: [u8; 4] = *b"ann1";

/// How long it is.
pub(crate) const BYTES: usize = 32;

/// What stands beside the messages of a sample.
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
}

impl Frame {
    pub(crate) fn to_bytes(self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..8].copy_from_slice(&u32::from(self.ends).to_le_bytes());
        bytes[8..16].copy_from_slice(&self.epoch.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.first.to_le_bytes());
        bytes[24..].copy_from_slice(&self.after.to_le_bytes());
        bytes
    }

    /// `None` if that is none, or of a later version.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; BYTES] = bytes.try_into().ok()?;
        let (magic, rest) = bytes.split_first_chunk::<4>()?;
        let (ends, rest) = rest.split_first_chunk::<4>()?;
        let (epoch, rest) = rest.split_first_chunk::<8>()?;
        let (first, after) = rest.split_first_chunk::<8>()?;
        let ends = match u32::from_le_bytes(*ends) {
            0 => false,
            1 => true,
            _ => return None,
        };
        let (epoch, first) = (u64::from_le_bytes(*epoch), u64::from_le_bytes(*first));
        let after = u64::from_le_bytes(after.try_into().ok()?);
        (*magic == MAGIC).then_some(Self { epoch, first, after, ends })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_what_was_written() {
        for ends in [false, true] {
            let frame = Frame { epoch: 0x0123_4567_89AB_CDEF, first: u64::MAX - 1, after: 7, ends };
            assert_eq!(Frame::of_bytes(&frame.to_bytes()), Some(frame));
        }
    }

    #[test]
    fn what_is_none_is_not_taken() {
        let good = Frame { epoch: 1, first: 2, after: 0, ends: false }.to_bytes();
        assert_eq!(Frame::of_bytes(&good[..31]), None);
        assert_eq!(Frame::of_bytes(&[&good[..], &[0]].concat()), None);
        for (at, value) in [(0, b'b'), (3, b'2'), (4, 2), (7, 1)] {
            let mut bad = good;
            bad[at] = value;
            assert_eq!(Frame::of_bytes(&bad), None, "{at}");
        }
    }
}

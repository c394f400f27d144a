//! [`Ack`]: what a bridge says of a ring that it gets: how far it is, and what it needs.
//!
//! 32 bytes, little-endian.
//!
//! | offset | size | what |
//! | --- | --- | --- |
//! | 0 | 4 | `ana1` |
//! | 4 | 4 | 0: nothing is needed; 1: what follows is to be sent again; 2: nothing more is wanted |
//! | 8 | 8 | the epoch: which ring of that name it is |
//! | 16 | 8 | another number for each life of a bridge |
//! | 24 | 8 | the number of the next message |

/// With what it begins.
const MAGIC: [u8; 4] = *b"ana1";

/// How long it is.
pub(crate) const BYTES: usize = 32;

/// How far a bridge is with a ring.
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
        let mut bytes = [0; BYTES];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..8].copy_from_slice(&(self.needs as u32).to_le_bytes());
        bytes[8..16].copy_from_slice(&self.epoch.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.life.to_le_bytes());
        bytes[24..].copy_from_slice(&self.next.to_le_bytes());
        bytes
    }

    /// `None` if that is none, or of a later version.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; BYTES] = bytes.try_into().ok()?;
        let (magic, rest) = bytes.split_first_chunk::<4>()?;
        let (needs, rest) = rest.split_first_chunk::<4>()?;
        let needs = match u32::from_le_bytes(*needs) {
            0 => Needs::Nothing,
            1 => Needs::Again,
            2 => Needs::Out,
            _ => return None,
        };
        let mut numbers = rest.chunks_exact(8).map(|it| u64::from_le_bytes(it.try_into().expect("8 bytes")));
        let (epoch, life, next) = (numbers.next()?, numbers.next()?, numbers.next()?);
        (*magic == MAGIC).then_some(Self { epoch, life, next, needs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_what_was_written() {
        for needs in [Needs::Nothing, Needs::Again, Needs::Out] {
            let ack = Ack { epoch: 0x0123_4567_89AB_CDEF, life: 3, next: u64::MAX, needs };
            assert_eq!(Ack::of_bytes(&ack.to_bytes()), Some(ack));
        }
    }

    #[test]
    fn what_is_none_is_not_taken() {
        let good = Ack { epoch: 1, life: 2, next: 3, needs: Needs::Nothing }.to_bytes();
        assert_eq!(Ack::of_bytes(&good[..31]), None);
        for (at, value) in [(0, b'b'), (3, b'2'), (4, 3), (7, 1)] {
            let mut bad = good;
            bad[at] = value;
            assert_eq!(Ack::of_bytes(&bad), None, "{at}");
        }
    }
}

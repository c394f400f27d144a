//! [`Fingerprint`]: a number that tells message types of different processes apart.

use core::any::type_name;
use core::fmt;

/// A number that tells message types apart: two processes that share a ring must agree on it.
///
/// It protects from mistakes, not from malice. Equal fingerprints do not prove that two types are the same,
/// and a process that lies about its type can garble messages. It can do no more than that: bytes are checked
/// before they become a value, or any bytes are one.
///
/// ```
/// use annulus::shm::Fingerprint;
///
/// assert_ne!(Fingerprint::of::<u64>(), Fingerprint::of::<i64>());
/// // By a name that both sides choose, and change when the fields change.
/// assert_ne!(Fingerprint::named::<[u64; 3]>("quote 1"), Fingerprint::named::<[u64; 3]>("quote 2"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Of nothing.
    #[cfg(test)]
    pub(super) const NONE: Self = Self(0);

    /// Of the size, the alignment and the name of a type ([`core::any::type_name`]).
    ///
    /// It does not see the fields, so it is the same after a change that keeps the size. The name has the
    /// path of the type's crate and modules. Another version of the compiler may write it in another way, and
    /// then two processes do not meet. The rings of this library have it; [`named`](Self::named) gives the
    /// same number to programs that know the type's name alone, as those in C do.
    #[must_use]
    pub fn of<T>() -> Self {
        Self::named::<T>(type_name::<T>())
    }

    /// Of the size and the alignment of a type, and a name of the user's choice.
    ///
    /// Programs that are built by other compilers, or written in another language, agree on it by this name.
    #[must_use]
    pub fn named<T>(name: &str) -> Self {
        Self::of_parts(size_of::<T>(), align_of::<T>(), name)
    }

    /// The same, where the type has no name here.
    pub(super) fn of_parts(bytes: usize, alignment: usize, name: &str) -> Self {
        let numbers = [bytes as u64, alignment as u64];
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).chain(name.bytes());
        Self(bytes.fold(OFFSET_BASIS, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME)))
    }

    /// As it lies in the header.
    #[must_use]
    pub fn to_u64(self) -> u64 {
        self.0
    }

    /// From what [`to_u64`](Self::to_u64) returned.
    #[must_use]
    pub fn from_u64(number: u64) -> Self {
        Self(number)
    }
}

/// 16 hexadecimal digits.
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// FNV-1a, as its authors (Fowler, Noll, Vo) give it for 64 bits.
const OFFSET_BASIS: u64 = 0xCBF2_9CE4_8422_2325;
const PRIME: u64 = 0x100_0000_01B3;

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_same_on_every_machine() {
        assert_eq!(Fingerprint::named::<u8>("").to_u64(), 0x581C_D0FA_58D9_9645, "size, alignment");
        assert_ne!(Fingerprint::named::<u8>("a"), Fingerprint::named::<u16>("a"));
        assert_ne!(Fingerprint::named::<[u8; 8]>("a"), Fingerprint::named::<u64>("a"), "alignment");
    }
}

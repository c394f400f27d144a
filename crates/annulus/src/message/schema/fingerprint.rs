//! [`Fingerprint`]: a number that tells schemas apart.

use core::fmt::{self, Write};

use super::Schema;
use super::text::Written;

/// A number that is equal where names, kinds and places of a [`Schema`] are equal.
///
/// It is FNV-1a, as its authors (Fowler, Noll, Vo) give it for 64 bits, of the text without units and
/// comments, in which each field that begins with `_` is called `_` (`docs/SCHEMA.md`). So it does not depend
/// on the crate, the compiler or the language. A ring between processes has the fingerprint of its messages
/// in its header.
///
/// It protects from mistakes, not from malice: a process that lies about its type can garble messages. It can
/// do no more than that, because bytes are checked before they become a value, or any bytes are one.
///
/// ```
/// use annulus::schema::{Fingerprint, Schema};
///
/// assert_ne!(Fingerprint::of::<u64>(), Fingerprint::of::<i64>());
/// assert_eq!("[u64;3]".parse::<Schema>()?.fingerprint(), Fingerprint::of::<[u64; 3]>());
/// # Ok::<(), annulus::schema::SchemaError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Of no schema.
    #[cfg(all(target_os = "linux", feature = "shm", not(annulus_loom)))]
    pub(crate) const NONE: Self = Self(0);

    /// As it lies in the header of a ring between processes.
    #[must_use]
    pub const fn to_u64(self) -> u64 {
        self.0
    }

    /// From what [`to_u64`](Self::to_u64) returned.
    #[must_use]
    pub const fn from_u64(number: u64) -> Self {
        Self(number)
    }
}

/// 16 hexadecimal digits.
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl Schema {
    /// What tells it from others.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        let mut hash = Fnv(0xCBF2_9CE4_8422_2325);
        // (The hash refuses nothing.)
        let _ = self.write(&mut hash, Written::Layout);
        Fingerprint(hash.0)
    }
}

struct Fnv(u64);

impl Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 =
            text.bytes().fold(self.0, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3));
        Ok(())
    }
}

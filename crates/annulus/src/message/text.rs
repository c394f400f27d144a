//! [`Text`] of limited length, as a message or a field of one. [`TooLong`]: bytes that fit nowhere.

use core::error::Error;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::Deref;
use core::str::FromStr;

use crate::sync::seeded;

/// Text of up to `N` bytes of UTF-8, stored in place. It is [`Copy`] and has no padding, so it is a
/// [`Message`](trait@crate::Message), by itself or as a field. It dereferences to [`str`].
///
/// A text takes `N + 2` bytes, and all of them are copied. So choose `N` no larger than the longest text. `N`
/// is at most 65,535; a larger one does not compile.
///
/// ```
/// use annulus::Text;
///
/// let (mut publisher, subscribable) = annulus::broadcast::lossy::<Text<16>>(64);
/// let mut subscriber = subscribable.subscribe();
/// publisher.publish("XETR:SAP".try_into()?);
/// let symbol = subscriber.try_recv().unwrap();
/// assert_eq!(symbol, "XETR:SAP");
/// assert!(symbol.starts_with("XETR"));
///
/// let error = Text::<4>::try_from("XETR:SAP").unwrap_err();
/// assert_eq!(error.to_string(), "8 bytes are too many: there may be 4 at most");
/// assert_eq!(Text::<4>::truncated("naïve"), "naï");
/// # Ok::<(), annulus::TooLong>(())
/// ```
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Text<const N: usize> {
    /// The length in bytes, at most `N`, as the two bytes of a `u16`: so nothing has to be aligned.
    length: [u8; 2],
    /// `length` bytes of UTF-8, then zeros.
    bytes: [u8; N],
}

/// A record that is longer than any that its ring takes, or a text that is longer than its [`Text`]. To wait
/// does not help. Nothing was written.
///
/// ```
/// let error = annulus::Text::<4>::try_from("XETR:SAP").unwrap_err();
/// assert_eq!((error.len, error.max), (8, 4));
/// assert_eq!(error.to_string(), "8 bytes are too many: there may be 4 at most");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct TooLong {
    /// How many bytes it has.
    pub len: usize,
    /// How many it may have. For a record: half the capacity of its ring.
    pub max: usize,
}

impl TooLong {
    #[doc(hidden)]
    #[must_use]
    pub const fn new(len: usize, max: usize) -> Self {
        Self { len, max }
    }
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes are too many: there may be {} at most", self.len, self.max)
    }
}

impl Error for TooLong {}

impl<const N: usize> Text<N> {
    /// As many whole characters from the beginning of `text` as fit.
    #[must_use]
    pub fn truncated(text: &str) -> Self {
        const { assert!(N <= u16::MAX as usize, "a Text has at most 65,535 bytes") }
        let mut length = text.len().min(N);
        while !text.is_char_boundary(length) && !seeded!("text_cut_anywhere") {
            length -= 1;
        }
        let mut bytes = [0; N];
        bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
        Self { length: (length as u16).to_ne_bytes(), bytes }
    }

    /// Whether these bytes, which anybody may have written, are a text.
    pub(super) fn is_text(&self) -> bool {
        let length = usize::from(u16::from_ne_bytes(self.length));
        // (Most text is ASCII, which takes a tenth of the time.)
        self.bytes.get(..length).is_some_and(|bytes| bytes.is_ascii() || core::str::from_utf8(bytes).is_ok())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let length = usize::from(u16::from_ne_bytes(self.length));
        // SAFETY: `truncated` makes one of the whole characters of a `str` that fit into `N` bytes; nobody
        // else does, but of bytes of which `is_text` has said that they are such.
        unsafe { core::str::from_utf8_unchecked(self.bytes.get_unchecked(..length)) }
    }
}

impl<const N: usize> TryFrom<&str> for Text<N> {
    type Error = TooLong;

    fn try_from(text: &str) -> Result<Self, TooLong> {
        if text.len() > N {
            return Err(TooLong::new(text.len(), N));
        }
        Ok(Self::truncated(text))
    }
}

impl<const N: usize> FromStr for Text<N> {
    type Err = TooLong;

    fn from_str(text: &str) -> Result<Self, TooLong> {
        text.try_into()
    }
}

impl<const N: usize> Default for Text<N> {
    fn default() -> Self {
        Self::truncated("")
    }
}

impl<const N: usize> Deref for Text<N> {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl<const N: usize> AsRef<str> for Text<N> {
    fn as_ref(&self) -> &str {
        self
    }
}

impl<const N: usize, const M: usize> PartialEq<Text<M>> for Text<N> {
    fn eq(&self, other: &Text<M>) -> bool {
        **self == **other
    }
}

impl<const N: usize> Eq for Text<N> {}

impl<const N: usize> PartialEq<str> for Text<N> {
    fn eq(&self, other: &str) -> bool {
        **self == *other
    }
}

impl<const N: usize> PartialEq<&str> for Text<N> {
    fn eq(&self, other: &&str) -> bool {
        **self == **other
    }
}

impl<const N: usize> PartialOrd for Text<N> {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<const N: usize> Ord for Text<N> {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        (**self).cmp(&**other)
    }
}

impl<const N: usize> Hash for Text<N> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<const N: usize> fmt::Display for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}

impl<const N: usize> fmt::Debug for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;
    use alloc::format;
    use alloc::string::ToString;
    use core::hash::BuildHasher;
    use std::hash::RandomState;

    use super::*;

    #[test]
    fn text_holds_what_fits() {
        for text in ["", "a", "naïv", "12345"] {
            let held: Text<5> = text.parse().unwrap();
            assert_eq!(held, text);
            assert_eq!((&*held, held.as_ref(), held.to_string()), (text, text, text.to_string()));
            assert_eq!(format!("{held:?} {held:>7}"), format!("{text:?} {text:>7}"));
        }
        assert_eq!(Text::<0>::default(), "");
    }

    #[test]
    fn longer_one_is_refused_or_cut_between_characters() {
        let error = Text::<5>::try_from("123456").unwrap_err();
        assert_eq!(error, TooLong::new(6, 5));
        assert_eq!(error.to_string(), "6 bytes are too many: there may be 5 at most");
        assert_eq!(Text::<5>::truncated("123456"), "12345");
        assert_eq!(Text::<3>::truncated("naïve").as_bytes(), b"na");
        assert_eq!(Text::<2>::truncated("€").as_bytes(), b"");
    }

    #[test]
    fn texts_compare_as_their_strings() {
        let texts = ["b", "", "ab", "a"].map(Text::<2>::truncated);
        assert!(BTreeSet::from(texts).into_iter().eq(["", "a", "ab", "b"].map(Text::<2>::truncated)));
        assert_eq!(Text::<2>::truncated("ab"), Text::<9>::truncated("ab"));
        assert_ne!(Text::<2>::truncated("ab"), *"ac");
        let state = RandomState::new();
        assert_eq!(state.hash_one(Text::<2>::truncated("ab")), state.hash_one("ab"));
    }
}

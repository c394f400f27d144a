//! How records lie in a lane of words.
//!
//! ```text
//! word      0        1             n            n + 1
//!           length   8 bytes   …   up to 8     │ length   …        │ PADDING   anything │
//!           ─────────── a record ───────────── │ another           │ to the last slot   │
//! ```
//!
//! A record is one word with its length, and its bytes, in whole words; the bytes behind the last one are 0.
//! Where it would run over the last slot, a word [`PADDING`] takes its place, and the record begins in the
//! first slot. The two are sent together, by one store of the tail. So from the head to the tail there are
//! whole records only, and padding is always followed by its record.
//!
//! *A record always finds room in the end.* Let a ring have `w` slots, and a record take `n` of them. Where
//! `b` slots are left up to the last one, it takes `n` slots if `n <= b`. Otherwise it takes `b + n`, and
//! `b <= n - 1`. So it never takes more than `2 n - 1` slots, and [`ring_words`] makes no ring that has fewer
//! for its longest record. An empty ring has `w` free slots, wherever its head is.
// Decision 0083: records lie in a lane of words.

use core::ptr::NonNull;

use crate::sync::seeded;

/// Bytes in a word.
const WORD: usize = size_of::<u64>();

/// Where a record's bytes begin.
pub(super) const HEADER: usize = WORD;

/// In the place of a length: there is no record from here to the last slot.
pub(super) const PADDING: u64 = u64::MAX;

/// How many words a record of `len` bytes takes.
#[inline(always)]
pub(super) const fn words_of(len: usize) -> usize {
    HEADER / WORD + len.div_ceil(WORD)
}

/// How many slots a record of `words` words leaves out, where `left` slots are left up to the last one.
#[inline(always)]
pub(super) fn padding_before(words: usize, left: usize) -> usize {
    if words > left { left } else { 0 }
}

/// The longest record of a ring of `capacity` bytes.
pub(super) const fn max_len(capacity: usize) -> usize {
    capacity / 2
}

/// How many slots such a ring has: `capacity` bytes, and up to three words more.
pub(super) fn ring_words(capacity: usize) -> usize {
    let most = 2 * words_of(max_len(capacity)) - 1;
    if seeded!("ring_one_word_short") { most - 1 } else { most }
}

/// The bytes of a record of `len` bytes.
#[inline(always)]
pub(super) fn bytes_of(record: NonNull<[u64]>, len: usize) -> NonNull<[u8]> {
    assert!(words_of(len) <= record.len(), "the words end before the record");
    // SAFETY: they lie behind the header, in the words of the record (asserted).
    NonNull::slice_from_raw_parts(unsafe { record.cast::<u8>().add(HEADER) }, len)
}

/// Makes a record of `len` bytes of `record`, which has these bytes: writes its length, and clears what lies
/// behind them in its last word.
///
/// # Safety
///
/// The words are the caller's, but for another process that may write to them.
#[inline(always)]
pub(super) unsafe fn finish(record: NonNull<[u64]>, len: usize) {
    assert!(words_of(len) <= record.len(), "the words end before the record");
    let first = record.cast::<u64>();
    // SAFETY: the header, the caller's.
    unsafe { first.write(len as u64) };
    let used = len % WORD;
    if used != 0 {
        // SAFETY: the last word (asserted), the caller's.
        unsafe {
            let last = first.add(words_of(len) - 1);
            // The first bytes in memory, on every machine.
            last.write(last.read_volatile() & u64::from_le(u64::MAX >> (8 * (WORD - used))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_takes_whole_words() {
        assert_eq!([0, 1, 7, 8, 9, 16, 17].map(words_of), [1, 2, 2, 2, 3, 3, 4]);
        assert_eq!(words_of(usize::MAX), 2 + usize::MAX / WORD);
    }

    /// Room is enough for every record that is allowed, wherever it begins.
    #[test]
    fn no_record_takes_more_than_the_ring() {
        for capacity in 0..600 {
            let slots = ring_words(capacity);
            assert!(slots * WORD >= capacity && slots * WORD < capacity + 4 * WORD, "{capacity}");
            for len in 0..=max_len(capacity) {
                let words = words_of(len);
                for left in 1..=slots {
                    let padding = padding_before(words, left);
                    assert!(padding + words <= slots, "{len} of {capacity}, {left} left");
                    // In one piece, and the padding ends with the last slot.
                    assert!(if padding == 0 { words <= left } else { padding == left });
                }
            }
            if capacity >= 400 && cfg!(miri) {
                break;
            }
        }
    }

    #[test]
    fn bytes_behind_a_record_are_cleared() {
        for len in 0..=24 {
            let mut record = [u64::MAX; 4];
            // SAFETY: its own words.
            unsafe { finish(NonNull::from(&mut record[..]), len) };
            assert_eq!(record[0], len as u64);
            let bytes: &[u8] = bytemuck::cast_slice(&record);
            let end = words_of(len) * WORD;
            assert!(bytes[HEADER..HEADER + len].iter().all(|&byte| byte == 0xFF), "{len}");
            assert!(bytes[HEADER + len..end].iter().all(|&byte| byte == 0), "{len}");
            assert!(bytes[end..].iter().all(|&byte| byte == 0xFF), "{len}");
        }
    }
}

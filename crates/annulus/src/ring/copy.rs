//! A message, or a record of bytes, into relaxed atomic words and back.
//!
//! Small ones go word by word. Large ones go by vector instructions in an `asm!` block (`copy/x86_64.rs`,
//! `copy/aarch64.rs`): to the compiler the block may be a loop of relaxed atomic accesses to words, which is
//! all it has to be, so it is sound where a racy `memcpy` is not, and it costs what a `memcpy` costs. Loom,
//! Miri, other processors, and these two with pointers of 32 bits, take the words for every size.
//!
//! The block copies whole words only, and a last word that is not full goes by itself. So no word is accessed
//! with two sizes, whatever lies in it.

use core::mem::MaybeUninit;

use crate::message::plain::Filled;
use crate::sync::{AtomicU64, Ordering, seeded};

// A target without the feature (a kernel, say) must not find its vector registers changed. And where pointers
// are shorter than registers (x32, arm64_32) nobody says what is in the rest of a register that holds one, so
// an address made of the whole register may be anything: words serve there too. (`ci/other-targets` sees
// both: the seeded bug takes the processor's name for the width of its pointers.)
#[cfg(all(
    target_arch = "aarch64",
    target_feature = "neon",
    any(target_pointer_width = "64", annulus_seeded = "copy_by_processor"),
    not(any(annulus_loom, annulus_lines, miri))
))]
#[path = "copy/aarch64.rs"]
mod vector;
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "sse2",
    any(target_pointer_width = "64", annulus_seeded = "copy_by_processor"),
    not(any(annulus_loom, annulus_lines, miri))
))]
#[path = "copy/x86_64.rs"]
mod vector;
#[cfg(not(all(
    any(
        all(target_arch = "aarch64", target_feature = "neon"),
        all(target_arch = "x86_64", target_feature = "sse2")
    ),
    any(target_pointer_width = "64", annulus_seeded = "copy_by_processor"),
    not(any(annulus_loom, annulus_lines, miri))
)))]
mod vector {
    //! No vector copy here: words serve every size.

    pub(super) const AVAILABLE: bool = false;
    pub(super) const MIN_BYTES: usize = 1;

    /// # Safety
    ///
    /// Never called.
    pub(super) unsafe fn copy(_to: *mut u8, _from: *const u8, _bytes: usize) {
        unreachable!("no vector copy on this target")
    }
}

pub(crate) const WORD: usize = size_of::<u64>();

/// From this size on, in bytes, a vector copy pays.
pub(super) const VECTOR_FLOOR: usize = 256;
const _: () = assert!(VECTOR_FLOOR >= vector::MIN_BYTES);

/// The same for records, whose length the compiler does not know: a loop of words is slower then.
pub(super) const RECORD_FLOOR: usize = vector::MIN_BYTES;

/// Words that a `T` fills, the last one perhaps in part.
pub(super) const fn words_of<T>() -> usize {
    size_of::<T>().div_ceil(WORD)
}

// Mutants: `with false`: costs or saves time.
// Unreached: the compiler evaluates it
pub(super) const fn by_vector(bytes: usize) -> bool {
    vector::AVAILABLE && bytes >= VECTOR_FLOOR
}

/// Stores the bytes of `message` into `words`, with relaxed atomic accesses; the rest of the last word is
/// zero.
#[inline]
pub(super) fn store<T: Filled>(words: &[AtomicU64], message: &T) {
    debug_assert_eq!(words.len(), words_of::<T>());
    if seeded!("copy_allocates") {
        drop(core::hint::black_box(alloc::boxed::Box::new(*message)));
    }
    store_bytes::<VECTOR_FLOOR>(words, values_of(message));
}

/// Loads every byte of `message` from `words`, with relaxed atomic accesses.
#[inline]
pub(super) fn load<T: Filled>(words: &[AtomicU64], message: &mut MaybeUninit<T>) {
    debug_assert_eq!(words.len(), words_of::<T>());
    load_bytes::<VECTOR_FLOOR>(words, bytes_of(message));
}

/// As [`store`], of a message that fills so many words, or has more, which are left out.
#[inline]
pub(super) fn store_front<T: Filled>(words: &[AtomicU64], message: &T) {
    let bytes = values_of(message);
    match split_at_the_last::<T>(words) {
        // (Both lengths are constants to the optimiser.)
        Some((front, last)) => {
            let (front_bytes, last_bytes) = bytes.split_at(front.len() * WORD);
            store_bytes::<VECTOR_FLOOR>(front, front_bytes);
            if !last.is_empty() {
                store_bytes::<VECTOR_FLOOR>(last, last_bytes);
            }
        }
        None => store_bytes::<RECORD_FLOOR>(words, &bytes[..bytes.len().min(words.len() * WORD)]),
    }
}

/// As [`load`], of a message that fills so many words, or has more: these bytes are 0.
#[inline]
pub(super) fn load_front<T: Filled>(words: &[AtomicU64], message: &mut MaybeUninit<T>) {
    match split_at_the_last::<T>(words) {
        // (As above: so a small message stays in registers.)
        Some((front, last)) => {
            let (front_bytes, last_bytes) = bytes_of(message).split_at_mut(front.len() * WORD);
            load_bytes::<VECTOR_FLOOR>(front, front_bytes);
            if last.is_empty() {
                last_bytes.fill(MaybeUninit::new(0));
            } else {
                load_bytes::<VECTOR_FLOOR>(last, last_bytes);
            }
        }
        // Mutants: `<= with >`: costs time.
        None if size_of::<T>() <= SPLIT_BYTES => *message = load_few(words),
        None => load_some(words, message),
    }
}

/// As [`load_front`], of any number of words. By value: a message whose address goes to a function lives in
/// memory.
#[cold]
#[inline(never)]
fn load_few<T: Filled>(words: &[AtomicU64]) -> MaybeUninit<T> {
    let mut message = MaybeUninit::uninit();
    load_some(words, &mut message);
    message
}

/// As [`load_front`], of any number of words.
#[inline]
fn load_some<T: Filled>(words: &[AtomicU64], message: &mut MaybeUninit<T>) {
    let (front, rest) = bytes_of(message).split_at_mut(size_of::<T>().min(words.len() * WORD));
    load_bytes::<RECORD_FLOOR>(words, front);
    rest.fill(MaybeUninit::new(0));
}

/// Up to this size, in bytes, a slot has all words of a block or all but the last, if no smaller block would
/// do: for that is how long [slots](super::slots::stride_for) are.
const SPLIT_BYTES: usize = 128;

/// The words of a small message but its last, and the last, if it is there. `None`: more are missing, or the
/// message is not small.
// Mutants: `with None`: costs time.
#[inline(always)]
fn split_at_the_last<T>(words: &[AtomicU64]) -> Option<(&[AtomicU64], &[AtomicU64])> {
    // Mutants: `> with`: costs time.
    if size_of::<T>() > SPLIT_BYTES {
        return None;
    }
    words.split_at_checked(words_of::<T>().saturating_sub(1))
}

#[inline(always)]
fn values_of<T: Filled>(message: &T) -> &[u8] {
    // SAFETY: all bytes of a `Filled` type have a value, and none changes while it is borrowed, because a
    // type that is `Copy` has no cell in it.
    unsafe { core::slice::from_raw_parts((&raw const *message).cast::<u8>(), size_of::<T>()) }
}

#[inline(always)]
fn bytes_of<T>(message: &mut MaybeUninit<T>) -> &mut [MaybeUninit<u8>] {
    // SAFETY: the bytes of a `MaybeUninit<T>` are `size_of::<T>()` bytes that need no value, and the slice
    // borrows `message` mutably for as long as it lives.
    unsafe { core::slice::from_raw_parts_mut(message.as_mut_ptr().cast::<MaybeUninit<u8>>(), size_of::<T>()) }
}

/// Stores `bytes` into the front of `words`, with relaxed atomic accesses; the rest of the last word is
/// zero. From `FLOOR` bytes on, at least [`RECORD_FLOOR`], by vectors.
#[inline]
pub(super) fn store_bytes<const FLOOR: usize>(words: &[AtomicU64], bytes: &[u8]) {
    let words = &words[..bytes.len().div_ceil(WORD)];
    let (whole, tail) = bytes.split_at(bytes.len() / WORD * WORD);
    if vector::AVAILABLE && whole.len() >= FLOOR {
        // Decision 0009: what else was tried for large messages.
        // SAFETY: `words` is long enough for `whole`, which is at least `FLOOR` bytes, and so what the
        // vectors take; all accesses to words of payloads and of records go through this module, so they are
        // atomic on both sides.
        unsafe { vector::copy(words.as_ptr().cast_mut().cast(), whole.as_ptr(), whole.len()) };
    } else {
        for (word, chunk) in words.iter().zip(whole.chunks_exact(WORD)) {
            let mut value = [0; WORD];
            value.copy_from_slice(chunk);
            // Relaxed: part of slot.w3, and of area.w3.
            word.store(u64::from_ne_bytes(value), Ordering::Relaxed);
        }
    }
    if !tail.is_empty() {
        let mut value = [0; WORD];
        value[..tail.len()].copy_from_slice(tail);
        // Relaxed: part of slot.w3, and of area.w3.
        words[words.len() - 1].store(u64::from_ne_bytes(value), Ordering::Relaxed);
    }
}

/// Loads every one of `bytes` from the front of `words`, with relaxed atomic accesses. From `FLOOR` bytes on,
/// as in [`store_bytes`], by vectors.
#[inline]
pub(super) fn load_bytes<const FLOOR: usize>(words: &[AtomicU64], bytes: &mut [MaybeUninit<u8>]) {
    let words = &words[..bytes.len().div_ceil(WORD)];
    let (whole, tail) = bytes.split_at_mut(bytes.len() / WORD * WORD);
    if vector::AVAILABLE && whole.len() >= FLOOR {
        // SAFETY: as in `store_bytes`; `whole` is ours alone.
        unsafe { vector::copy(whole.as_mut_ptr().cast(), words.as_ptr().cast(), whole.len()) };
    } else {
        for (word, chunk) in words.iter().zip(whole.chunks_exact_mut(WORD)) {
            // Relaxed: part of slot.r2, and of area.r1.
            let value = word.load(Ordering::Relaxed).to_ne_bytes();
            chunk.copy_from_slice(&value.map(MaybeUninit::new));
        }
    }
    if !tail.is_empty() {
        // Relaxed: part of slot.r2, and of area.r1.
        let value = words[words.len() - 1].load(Ordering::Relaxed).to_ne_bytes();
        tail.copy_from_slice(&value.map(MaybeUninit::new)[..tail.len()]);
    }
}

/// Copies `bytes` bytes that another process may write meanwhile: each access is volatile, or in an `asm!`
/// block.
///
/// # Safety
///
/// `from` is readable and `to` writable for so many bytes, and they do not overlap. Nobody else accesses
/// `to`. No thread of this program writes to `from`.
#[inline]
pub(crate) unsafe fn copy_shared(to: *mut u8, from: *const u8, bytes: usize) {
    if vector::AVAILABLE && bytes >= RECORD_FLOOR {
        // SAFETY: the caller's promise, and so many bytes are at least what the vectors take.
        return unsafe { vector::copy(to, from, bytes) };
    }
    for at in 0..bytes {
        // SAFETY: the caller's promise.
        unsafe { to.add(at).write(from.add(at).read_volatile()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes bytes in, reads them back, and looks at the words around them.
    fn round_trip<const N: usize>() {
        let message: [u8; N] = core::array::from_fn(|i| (i * 7 + i / 256 + 1) as u8);
        let used = words_of::<[u8; N]>();
        let words: alloc::vec::Vec<AtomicU64> = (0..used + 2).map(|_| AtomicU64::new(u64::MAX)).collect();
        store(&words[1..=used], &message);
        let mut copy = MaybeUninit::<[u8; N]>::uninit();
        load(&words[1..=used], &mut copy);
        // SAFETY: `load` wrote every byte, and any byte is a `u8`.
        assert_eq!(unsafe { copy.assume_init() }, message, "{N} bytes");
        for edge in [0, used + 1] {
            assert_eq!(words[edge].load(Ordering::Relaxed), u64::MAX, "{N} bytes: wrote outside");
        }
    }

    /// A message in fewer words than it has, and in all.
    fn fronts<const N: usize>() {
        let message: [u64; N] = core::array::from_fn(|at| at as u64 + 1);
        for there in 0..=N {
            let words: alloc::vec::Vec<AtomicU64> =
                (0..there + 2).map(|_| AtomicU64::new(u64::MAX)).collect();
            store_front(&words[1..=there], &message);
            let mut copy = MaybeUninit::<[u64; N]>::uninit();
            load_front(&words[1..=there], &mut copy);
            let mut wanted = message;
            wanted[there..].fill(0);
            // SAFETY: `load_front` wrote every byte, and any bytes are words.
            assert_eq!(unsafe { copy.assume_init() }, wanted, "{there} of {N} words");
            for edge in [0, there + 1] {
                assert_eq!(words[edge].load(Ordering::Relaxed), u64::MAX, "{there} of {N}: wrote outside");
            }
        }
    }

    #[test]
    fn front_of_a_message_comes_back_and_the_rest_is_zero() {
        fronts::<1>();
        fronts::<2>();
        fronts::<4>();
        fronts::<8>();
        fronts::<16>();
        fronts::<32>();
    }

    /// Records of every length, into more words than they need.
    #[test]
    fn bytes_of_every_length_come_back_and_nothing_else_is_touched() {
        for length in 0_usize..if cfg!(miri) { 40 } else { 700 } {
            let record: alloc::vec::Vec<u8> = (0..length).map(|i| (i * 7 + i / 256 + 1) as u8).collect();
            let used = length.div_ceil(WORD);
            let words: alloc::vec::Vec<AtomicU64> = (0..used + 3).map(|_| AtomicU64::new(u64::MAX)).collect();
            store_bytes::<RECORD_FLOOR>(&words[1..], &record);
            let mut copy = alloc::vec![MaybeUninit::uninit(); length];
            load_bytes::<RECORD_FLOOR>(&words[1..], &mut copy);
            // SAFETY: `load_bytes` wrote every byte.
            assert!(copy.iter().map(|byte| unsafe { byte.assume_init() }).eq(record), "{length} bytes");
            for edge in [0, used + 1, used + 2] {
                assert_eq!(words[edge].load(Ordering::Relaxed), u64::MAX, "{length} bytes: wrote outside");
            }
        }
    }

    #[test]
    fn values_of_every_size_come_back_and_nothing_else_is_touched() {
        macro_rules! sizes {
            ($($size:literal)*) => { $(round_trip::<$size>();)* };
        }
        sizes!(0 1 2 3 4 5 6 7 8 9 15 16 17 23 24 31 32 33 55 56 57 63 64 65 127 128 129 199 200 201 255);
        sizes!(256 257 258 263 264 265 271 287 288 289 319 320 383 384 385 511 512 513 640 1000);
        // Miri takes its time for each word, and these are copied as the others.
        if !cfg!(miri) {
            sizes!(4095 4096 4097);
        }
    }
}

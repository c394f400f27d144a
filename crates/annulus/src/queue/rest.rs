//! Moving claimed messages out, all of them, also where a destructor panics meanwhile.

/// Puts messages into all of `buffer`: from number `first` on, one after the other, what `take` returns for
/// them. What was there before is dropped.
///
/// The caller has claimed as many. So `take` is called once for each number, whatever happens: if a
/// destructor panics, the messages that have no place then are dropped, so that no producer waits for ever
/// for a slot that nobody leaves.
#[inline]
pub(super) fn fill<T>(buffer: &mut [T], first: u64, take: impl FnMut(u64) -> T) {
    let rest = Rest { take, next: first, left: buffer.len() };
    for (slot, value) in buffer.iter_mut().zip(rest) {
        *slot = value;
    }
}

/// Messages that are claimed and not yet moved out.
struct Rest<T, F: FnMut(u64) -> T> {
    take: F,
    next: u64,
    left: usize,
}

impl<T, F: FnMut(u64) -> T> Iterator for Rest<T, F> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        let number = self.next;
        self.next = number.wrapping_add(1);
        Some((self.take)(number))
    }
}

impl<T, F: FnMut(u64) -> T> Drop for Rest<T, F> {
    fn drop(&mut self) {
        self.for_each(drop);
    }
}

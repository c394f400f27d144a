//! [`Common`]: what all handles of a ring have a share of.
//!
//! ```text
//!  the allocation: aligned for a word
//! ┌───────────┬──────────────────────────┬──────────────────────────────┬───────────────────────────────┐
//! │           │ CommonHead               │ T, at a multiple of its own  │ a block that T has, if small  │
//! └───────────┴──────────────────────────┴──────────────────────────────┴───────────────────────────────┘
//! ```
//!
//! It is an `Arc` with two differences. The value lies on lines of its own in an allocation that no allocator
//! aligns for it, as in [`OwnLines`](super::aligned::OwnLines). And a handle that is alone with it needs no
//! read-modify-write: both counts are in one word, so one load tells that nobody else has a share, or could
//! get one. A ring that is made and dropped pays for one subtraction in all.
//!
//! ```text
//! a share goes                                         another share, or what is weak
//! common.drop1  shares = (1, 1)?  alone   Acquire      common.add4      shares + 1         Relaxed
//! common.drop2  shares − 1, if not        AcqRel       common.upgrade5  shares + 1, not 0  Acquire
//! common.drop3  the last: drop the value;              common.weak6     weak ones ± 1      AcqRel
//!               the weak ones − 1, or free the allocation
//! ```
//!
//! *Why a handle that is alone may go on without a step.* A share is made from a share, or from what is weak.
//! The caller of common.drop1 gives its own share up, so nobody has it by reference. It sees one share, its
//! own, and one weak count, which all shares have together: so there is nothing weak. Those that were there
//! before are gone, and all changes of the word are read-modify-writes with Release, so the caller's Acquire
//! sees what they did.

use alloc::alloc::handle_alloc_error;
use core::alloc::Layout;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ops::Deref;
use core::ptr::NonNull;

use super::allocation::{Allocation, Before};
use crate::sync::{AtomicU64, Ordering, ordering, seeded};

/// What lies before the value.
struct CommonHead {
    /// The lower half: how many shares. The upper half: how many weak ones, and one more while there are
    /// shares.
    shares: AtomicU64,
    /// Where it is. Constant.
    allocation: Allocation,
}

/// In `shares`: one that is weak.
const WEAK: u64 = 1 << 32;
/// One share, and nothing weak.
const UNIQUE: u64 = WEAK | 1;
/// More than so many of a kind are a mistake: nobody can have them at once.
const MOST: u64 = 1 << 31;

/// How many shares there are.
fn strong(shares: u64) -> u64 {
    shares % WEAK
}

/// A share of a value that lies in an allocation of its own.
// Decision 0130: counts of its own.
pub(crate) struct Common<T: ?Sized> {
    /// In an allocation with a head before it.
    value: NonNull<T>,
    /// The last share drops it.
    owned: PhantomData<T>,
}

// SAFETY: as an `Arc`.
unsafe impl<T: ?Sized + Send + Sync> Send for Common<T> {}
// SAFETY: as an `Arc`.
unsafe impl<T: ?Sized + Send + Sync> Sync for Common<T> {}

/// The head of a value.
///
/// # Safety
///
/// The value is in such an allocation, which stays as long as `'h`.
#[inline(always)]
unsafe fn head_of<'h, T: ?Sized>(value: NonNull<T>) -> &'h CommonHead {
    // SAFETY: the caller's promise; the pointer may be used for the whole allocation.
    unsafe { value.cast::<CommonHead>().sub(1).as_ref() }
}

impl CommonHead {
    /// common.add4. Nobody makes so many that the halves run into each other: it panics long before.
    fn add(&self, one: u64) {
        // Relaxed: the thread that adds one has a share, or something weak, itself.
        let before = self.shares.fetch_add(one, Ordering::Relaxed);
        if strong(before).max(before / WEAK) >= MOST {
            // Unreached: after two thousand million handles
            self.shares.fetch_sub(one, Ordering::Relaxed);
            // Unreached: as above
            panic!("too many handles");
        }
    }
}

/// common.weak6: one weak count less. The last one frees the allocation.
///
/// # Safety
///
/// The caller has one, and gives it up.
unsafe fn weak_goes<T: ?Sized>(value: NonNull<T>) {
    // SAFETY: the allocation is there while the caller has a weak count.
    let head = unsafe { head_of(value) };
    // Acquire, twice: pairs with the Release here and in common.drop2 of shares that went before: the
    // allocation is freed after they have used it. (Alone: nothing is there that could come.)
    let is_last =
        head.shares.load(Ordering::Acquire) == WEAK || head.shares.fetch_sub(WEAK, Ordering::AcqRel) == WEAK;
    if is_last {
        // SAFETY: nobody has anything of it any more.
        unsafe { free_allocation(value) };
    }
}

/// # Safety
///
/// It is freed once, and nobody has anything of it any more.
#[inline(always)]
unsafe fn free_allocation<T: ?Sized>(value: NonNull<T>) {
    // SAFETY: the caller's promise. (The head needs no drop, except in models.)
    unsafe {
        let allocation = head_of(value).allocation;
        value.cast::<CommonHead>().sub(1).drop_in_place();
        allocation.free();
    }
}

impl<T> Common<T> {
    const ALIGNMENT: usize =
        if align_of::<T>() < align_of::<CommonHead>() { align_of::<CommonHead>() } else { align_of::<T>() };

    /// From the value to what lies behind it.
    const BYTES: usize = size_of::<T>().next_multiple_of(Self::ALIGNMENT);

    /// What has to be before a block that lies in one allocation with the value.
    pub(crate) const BEFORE: Before =
        Before { bytes: size_of::<CommonHead>() + Self::BYTES, alignment: Self::ALIGNMENT };

    /// An allocation for what is to be shared.
    #[inline(always)]
    pub(crate) fn allocation() -> CommonAllocation<T> {
        CommonAllocation::new()
    }

    /// The share that [`into_raw`](Self::into_raw) was called on.
    ///
    /// # Safety
    ///
    /// The pointer comes from there, and no other share was made of that one.
    #[inline]
    pub(crate) unsafe fn from_raw(value: NonNull<T>) -> Self {
        Self { value, owned: PhantomData }
    }

    /// The share as a pointer to the value, which nobody gives up unless it becomes a share again.
    #[inline]
    pub(crate) fn into_raw(self) -> NonNull<T> {
        ManuallyDrop::new(self).value
    }

    /// A share of a value of which somebody has one.
    ///
    /// # Safety
    ///
    /// The pointer is of a share, which is there until this returns.
    pub(crate) unsafe fn another(value: NonNull<T>) -> Self {
        // SAFETY: somebody has a share.
        unsafe { head_of(value) }.add(1);
        Self { value, owned: PhantomData }
    }

    /// What leads to the value as long as somebody has a share.
    pub(crate) fn downgrade(&self) -> Weak<T> {
        // SAFETY: this is a share.
        unsafe { head_of(self.value) }.add(WEAK);
        Weak { value: self.value }
    }
}

impl<T: ?Sized> Common<T> {
    /// common.drop1: whether nobody else has a share, or something weak. Of a share that nobody has by
    /// reference, this stays so, and the caller sees what all others did.
    #[inline(always)]
    pub(crate) fn is_unique(&self) -> bool {
        // SAFETY: this is a share.
        let head = unsafe { head_of(self.value) };
        // Acquire: pairs with common.drop2 and common.weak6 of all others.
        head.shares.load(ordering!(Acquire unless "common_alone_relaxed")) == UNIQUE
    }
}

impl<T: ?Sized> Deref for Common<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: this has a share of it, and nobody has it for himself before its drop.
        unsafe { self.value.as_ref() }
    }
}

impl<T> Clone for Common<T> {
    fn clone(&self) -> Self {
        // SAFETY: this is a share.
        unsafe { Self::another(self.value) }
    }
}

impl<T: ?Sized> Drop for Common<T> {
    #[inline]
    fn drop(&mut self) {
        let is_unique = self.is_unique();
        // SAFETY: this is a share.
        let head = unsafe { head_of(self.value) };
        // common.drop2. Release: pairs with the Acquire of the last one; Acquire: that one is this.
        let ordering = ordering!(AcqRel unless "common_share_relaxed");
        if is_unique || strong(head.shares.fetch_sub(1, ordering)) == 1 {
            // SAFETY: it was the last share, and the weak count of all shares is still there.
            unsafe { last_goes(self.value, is_unique) };
        }
    }
}

/// common.drop3.
///
/// # Safety
///
/// The last share is gone, or is about to, if it `is_unique`.
#[inline(never)]
unsafe fn last_goes<T: ?Sized>(value: NonNull<T>, is_unique: bool) {
    /// Frees the allocation also where a destructor panics.
    struct Leaving<T: ?Sized>(NonNull<T>, bool);
    impl<T: ?Sized> Drop for Leaving<T> {
        #[inline(always)]
        fn drop(&mut self) {
            let Self(value, is_unique) = *self;
            // SAFETY: the weak count of all shares is given up once. A handle that is alone has the only one.
            unsafe { if is_unique { free_allocation(value) } else { weak_goes(value) } };
        }
    }
    let _allocation = Leaving(value, is_unique);
    // SAFETY: nobody has a share, and nobody gets one from what is weak (common.upgrade5).
    unsafe { value.drop_in_place() };
}

/// What leads to a value as long as somebody has a share.
pub(crate) struct Weak<T: ?Sized> {
    /// In an allocation of which this has a weak count. The value may be dropped.
    value: NonNull<T>,
}

// SAFETY: as an `Arc`'s.
unsafe impl<T: ?Sized + Send + Sync> Send for Weak<T> {}
// SAFETY: as an `Arc`'s.
unsafe impl<T: ?Sized + Send + Sync> Sync for Weak<T> {}

impl<T: ?Sized> Weak<T> {
    /// The same by another type: `change` returns the same pointer.
    pub(crate) fn becoming<U: ?Sized>(self, change: impl FnOnce(NonNull<T>) -> NonNull<U>) -> Weak<U> {
        let value = change(ManuallyDrop::new(self).value);
        Weak { value }
    }

    fn head(&self) -> &CommonHead {
        // SAFETY: this has a weak count, so the allocation stays.
        unsafe { head_of(self.value) }
    }

    /// common.upgrade5: a share, if there still is one.
    pub(crate) fn upgrade(&self) -> Option<Common<T>> {
        let shares = &self.head().shares;
        let mut seen = shares.load(Ordering::Relaxed);
        loop {
            if strong(seen) == 0 && !seeded!("common_rises_again") {
                return None;
            }
            assert!(strong(seen) < MOST, "too many handles");
            // Acquire: pairs with the Release of the thread that made the other share.
            match shares.compare_exchange_weak(seen, seen + 1, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Some(Common { value: self.value, owned: PhantomData }),
                Err(now) => seen = now,
            }
        }
    }

    /// Whether all shares are gone, for good.
    pub(crate) fn is_gone(&self) -> bool {
        // Relaxed: a number, on which no order depends.
        strong(self.head().shares.load(Ordering::Relaxed)) == 0
    }

    /// Where the value is, or was. No other value is there as long as this is.
    pub(crate) fn address(&self) -> usize {
        self.value.addr().get()
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    fn clone(&self) -> Self {
        self.head().add(WEAK);
        Self { value: self.value }
    }
}

impl<T: ?Sized> Drop for Weak<T> {
    fn drop(&mut self) {
        // SAFETY: this has a weak count, which it gives up.
        unsafe { weak_goes(self.value) };
    }
}

/// An allocation for what is to be shared. It is there before that is made, so that it is made in there.
pub(crate) struct CommonAllocation<T> {
    allocation: Allocation,
    dst: NonNull<T>,
}

impl<T> CommonAllocation<T> {
    #[inline(always)]
    fn new() -> Self {
        let layout = Layout::new::<T>();
        let before = Before { bytes: size_of::<CommonHead>(), alignment: align_of::<CommonHead>() };
        let (allocation, start) =
            Allocation::new(layout, before, false).unwrap_or_else(|| handle_alloc_error(layout));
        Self { allocation, dst: start.cast() }
    }

    /// Before a block, in the allocation of both.
    ///
    /// # Safety
    ///
    /// The allocation is the caller's alone, and has [that](Common::BEFORE) before what starts there.
    #[inline(always)]
    pub(crate) unsafe fn before(start: NonNull<u8>, allocation: Allocation) -> Self {
        // SAFETY: the caller's promise.
        let dst = unsafe { start.sub(Common::<T>::BYTES) };
        Self { allocation, dst: dst.cast() }
    }

    /// Where it will be.
    #[inline(always)]
    pub(crate) fn dst(&self) -> NonNull<T> {
        self.dst
    }

    /// Puts it there, and returns so many shares.
    #[cfg_attr(not(feature = "std"), allow(dead_code, reason = "rings are written field by field"))]
    #[inline(always)]
    pub(crate) fn fill<const SHARES: usize>(self, value: T) -> [Common<T>; SHARES] {
        let dst = self.dst();
        // SAFETY: the allocation is new, and has space for it there.
        unsafe { dst.write(value) };
        // SAFETY: just written.
        unsafe { self.filled() }
    }

    /// The shares of what was put there.
    ///
    /// # Safety
    ///
    /// A value is at [`dst`](Self::dst).
    #[inline(always)]
    pub(crate) unsafe fn filled<const SHARES: usize>(self) -> [Common<T>; SHARES] {
        let value = self.dst();
        let shares = AtomicU64::new(WEAK + SHARES as u64);
        let head = CommonHead { shares, allocation: self.allocation };
        // SAFETY: the allocation is new, and has space for the head before the value.
        unsafe { value.cast::<CommonHead>().sub(1).write(head) };
        core::mem::forget(self);
        [(); SHARES].map(|()| Common { value, owned: PhantomData })
    }
}

/// Nothing is in there.
impl<T> Drop for CommonAllocation<T> {
    fn drop(&mut self) {
        // SAFETY: it is dropped once.
        unsafe { self.allocation.free() };
    }
}

/// A share of a value, for models: with nothing else by which threads meet, such as a count of handles.
#[cfg(annulus_loom)]
pub struct Share<T>(Common<T>);

#[cfg(annulus_loom)]
impl<T> Share<T> {
    /// All of a value: so many.
    #[must_use]
    pub fn all_of<const COUNT: usize>(value: T) -> [Self; COUNT] {
        Common::allocation().fill(value).map(Self)
    }
}

#[cfg(annulus_loom)]
impl<T> Deref for Share<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// A struct that is written where it stays, field by field: at `$dst`, which is a pointer to a `Self`. All
/// fields have to be named.
///
/// A large struct that is a function's value is made on the stack, and copied. The copy reads in pieces of 16
/// or 64 bytes what was just stored in pieces of 8, and the processor waits for each of them.
macro_rules! written {
    ($dst:expr, Self { $($(#[$attribute:meta])* $field:ident: $value:expr),* $(,)? }) => {{
        let dst: *mut Self = $dst;
        // Unreached: it is there to be compiled: the compiler refuses it where a field is missing
        let _ = |whole: &Self| { let Self { $($(#[$attribute])* $field: _),* } = whole; };
        $($(#[$attribute])* (&raw mut (*dst).$field).write($value);)*
    }};
}
pub(crate) use written;

#[cfg(test)]
mod tests {
    use alloc::sync::Arc;

    use super::*;

    #[repr(align(128))]
    struct OnLines(Arc<()>);

    #[test]
    fn value_lives_as_long_as_it_has_a_share() {
        let unit = Arc::new(());
        let allocation = Common::allocation();
        let dst = allocation.dst();
        let [first, other] = allocation.fill(OnLines(Arc::clone(&unit)));
        let (second, weak) = (first.clone(), first.downgrade());
        assert_eq!(dst, NonNull::from(&*first));
        assert_eq!(NonNull::from(&*second).addr().get() % 128, 0);
        drop((first, other));
        assert!(weak.upgrade().is_some_and(|allocation| Arc::ptr_eq(&allocation.0, &unit)));
        // SAFETY: the pointer comes from there.
        drop(unsafe { Common::from_raw(second.into_raw()) });
        assert!(weak.clone().upgrade().is_none() && weak.is_gone());
        assert_eq!(Arc::strong_count(&unit), 1, "the value was dropped once");
    }

    #[test]
    fn weak_share_keeps_the_room_and_not_the_value() {
        trait CountsShares: Send + Sync {
            fn count(&self) -> usize;
        }
        impl CountsShares for OnLines {
            fn count(&self) -> usize {
                Arc::strong_count(&self.0)
            }
        }

        let unit = Arc::new(());
        let [only] = Common::allocation().fill(OnLines(Arc::clone(&unit)));
        let weak: Weak<dyn CountsShares> =
            only.downgrade().becoming(|value| -> NonNull<dyn CountsShares> { value });
        assert_eq!(weak.address(), NonNull::from(&*only).addr().get());
        let upgraded = weak.upgrade().unwrap();
        drop(only);
        assert_eq!(upgraded.count(), 2);
        drop(upgraded);
        assert_eq!(Arc::strong_count(&unit), 1);
        drop(weak.clone());
        assert!(weak.is_gone());
    }

    #[test]
    fn destructor_that_panics_frees_the_allocation() {
        struct Panics(u64);
        impl Drop for Panics {
            fn drop(&mut self) {
                assert!(self.0 == 0, "on purpose");
            }
        }

        let [only] = Common::allocation().fill(Panics(7));
        let weak = only.downgrade();
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(only))).is_err());
        assert!(weak.upgrade().is_none());
    }

    #[test]
    fn empty_allocation_drops_nothing() {
        drop(Common::<OnLines>::allocation());
    }
}

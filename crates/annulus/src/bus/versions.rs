//! [`Versions`]: an immutable value that is read by borrowing it, and changed by putting another one in its
//! place. No thread waits, and the last one that borrows an old value frees it.
//!
//! Values lie in numbered cells. One word holds the number of the current cell, and how many borrow it
//! through the word. So one atomic step finds the value and keeps it:
//!
//! ```text
//! borrow                                                replace
//! bus.borrow1  word: count + 1           Acquire        bus.pop4  cell of the new value, from the free list
//!              read the cell                            bus.put5  word: its number, count 0      AcqRel
//! give back                                             bus.put6  old cell: owed + count         AcqRel
//! bus.borrow2  word: count − 1, if it is                give back, by bus.borrow3
//!              still that cell           Release
//! bus.borrow3  otherwise owed − 1        AcqRel
//!              (owed is 0 now? free the value)
//! ```
//!
//! *Which thread frees.* After bus.put5 no thread borrows the old cell any more. Each that still has it gives
//! it back by bus.borrow3, and bus.put6 adds all of them. The sum is 0 when bus.put6 and the last bus.borrow3
//! have been, and not before: without bus.put6 it is below 0 after a bus.borrow3, and with bus.put6 it is the
//! number of those that are still to come. So exactly one bus.borrow3 sees 0, and frees. (bus.put6 never
//! does: a thread that replaces a version borrows it, and gives it back afterwards.)
//!
//! *Why bus.borrow2 may trust the number.* A cell that is borrowed is not freed, so it is not used again. If
//! the word names it, it is the same value.
//!
//! The count is split in two as in A. Williams, *C++ Concurrency in Action*, 2nd ed., 2019, 7.2.4; there the
//! word holds a pointer.

use crate::base::free_list::{END, FreeList};
use crate::base::link::Link;
use crate::sync::{AtomicU32, AtomicU64, Ordering, UnsafeCell, ordering, seeded};

/// An immutable value with versions.
pub(super) struct Versions<V> {
    /// The number of the current cell in the upper half, how many borrow it in the lower.
    word: AtomicU64,
    /// The cells without a value.
    free: FreeList,
    cells: Page<V>,
}

/// Cells of a page. There is one cell more than values that are borrowed or being made at one time.
const PAGE: usize = if cfg!(annulus_loom) { 2 } else { 8 };

/// Some cells, and those that follow.
struct Page<V> {
    cells: [VersionCell<V>; PAGE],
    next: Link<Self>,
}

struct VersionCell<V> {
    value: UnsafeCell<Option<V>>,
    /// How many have still to give it back (bus.put6), less how many have done so (bus.borrow3). Wraps below
    /// 0.
    owed: AtomicU64,
    /// Of the free list.
    link: AtomicU32,
}

// SAFETY: a value is shared by those that borrow it, so it is `Sync`; any of them may drop it, so it is
// `Send`.
unsafe impl<V: Send + Sync> Sync for Versions<V> {}
// SAFETY: as above.
unsafe impl<V: Send + Sync> Send for Versions<V> {}

/// The cell that the word names.
fn cell_of(word: u64) -> u32 {
    (word >> 32) as u32
}

/// How many borrow it.
fn count_of(word: u64) -> u64 {
    word & u64::from(u32::MAX)
}

impl<V> Versions<V> {
    /// With its first version.
    pub(super) fn new(value: V) -> Self {
        let versions = Self { word: AtomicU64::new(0), free: FreeList::new(END), cells: Page::new() };
        // SAFETY: no other thread has it.
        unsafe { versions.cells.cells[0].put(value) };
        (1..PAGE).for_each(|index| versions.push(index as u32));
        versions
    }

    /// bus.borrow1: the current version, which lives until it is given back. Never waits.
    #[inline]
    pub(super) fn borrow(&self) -> Borrowed<'_, V> {
        // Acquire: pairs with bus.put5, so the value is seen. (The count takes 32 bits, and has one for each
        // thread that is in a look-up.)
        let word = self.word.fetch_add(1, ordering!(Acquire unless "versions_borrow_relaxed"));
        Borrowed { versions: self, cell: self.cell(cell_of(word)), index: cell_of(word), word: word + 1 }
    }

    /// The cell of that number.
    #[inline]
    fn cell(&self, index: u32) -> &VersionCell<V> {
        let (mut page, mut index) = (&self.cells, index as usize);
        while index >= PAGE {
            page = page.next.get().expect("a number comes from a page that is linked");
            index -= PAGE;
        }
        &page.cells[index]
    }

    /// bus.pop4: a cell without a value, for the caller alone.
    fn pop(&self) -> u32 {
        let mut seen = self.free.look_to_pop();
        loop {
            if seen.top() == END {
                if let Some(index) = self.grow() {
                    return index;
                }
                // Unreached: another thread adds cells at the same moment: two threads have to meet there;
                // loom bus
                seen = self.free.look_to_pop();
                // Unreached: another thread adds cells at the same moment: two threads have to meet there;
                // loom bus
                continue;
            }
            // list.pop2. Relaxed: list.push5 and list.pop1 order it.
            let link = self.cell(seen.top()).link.load(Ordering::Relaxed);
            match self.free.pop(seen, link) {
                Ok(()) => return seen.top(),
                // Unreached: another thread takes a cell at the same moment; loom bus
                Err(now) => seen = now,
            }
        }
    }

    /// Puts a cell without a value on the free list.
    fn push(&self, index: u32) {
        let mut seen = self.free.look_to_push();
        loop {
            // list.push4. Relaxed: list.push5 publishes it.
            self.cell(index).link.store(seen.top(), Ordering::Relaxed);
            match self.free.push(seen, index) {
                Ok(()) => return,
                // Unreached: another thread frees a cell at the same moment; loom bus
                Err(now) => seen = now,
            }
        }
    }

    /// Adds a page. Returns the number of its first cell, for the caller; `None` if another thread was
    /// faster.
    #[cold]
    fn grow(&self) -> Option<u32> {
        let (mut page, mut first) = (&self.cells, PAGE as u32);
        while let Some(next) = page.next.get() {
            page = next;
            first += PAGE as u32;
        }
        page.next.put(Page::new()).ok()?;
        (1..PAGE as u32).for_each(|index| self.push(first + index));
        Some(first)
    }

    /// No thread borrows the value of this cell any more, and none will.
    #[cold]
    fn free(&self, index: u32) {
        // SAFETY: by bus.borrow3 and bus.put6, the caller is the only one that has the cell.
        let value = unsafe { self.cell(index).take() };
        self.push(index);
        // Last: it may take long, and run code of a waker.
        drop(value);
    }
}

impl<V> Page<V> {
    fn new() -> Self {
        Self { cells: core::array::from_fn(|_| VersionCell::new()), next: Link::empty() }
    }
}

impl<V> VersionCell<V> {
    fn new() -> Self {
        Self { value: UnsafeCell::new(None), owed: AtomicU64::new(0), link: AtomicU32::new(END) }
    }

    /// # Safety
    ///
    /// The caller is the only one that has the cell.
    unsafe fn put(&self, value: V) {
        // SAFETY: the caller promises it.
        self.value.with_mut(|there| unsafe { *there = Some(value) });
    }

    /// # Safety
    ///
    /// The caller is the only one that has the cell.
    unsafe fn take(&self) -> Option<V> {
        // SAFETY: the caller promises it.
        self.value.with_mut(|there| unsafe { (*there).take() })
    }

    /// bus.borrow3 and bus.put6: adds to what is owed. Returns how much that makes.
    fn owe(&self, change: u64) -> u64 {
        // AcqRel: pairs with all others here. What was read before a bus.borrow3, or a bus.borrow2 that
        // bus.put5 saw, comes before the value is freed.
        let order = ordering!(AcqRel unless "versions_owed_relaxed");
        self.owed.fetch_add(change, order).wrapping_add(change)
    }
}

/// A version that is borrowed.
pub(super) struct Borrowed<'v, V> {
    versions: &'v Versions<V>,
    cell: &'v VersionCell<V>,
    index: u32,
    /// The word after bus.borrow1.
    word: u64,
}

impl<V> Borrowed<'_, V> {
    /// Looks at the value.
    // A closure, so that loom sees how long the look takes.
    #[inline]
    pub(super) fn look<R>(&self, look: impl FnOnce(&V) -> R) -> R {
        self.cell.value.with(|value| {
            // SAFETY: the cell has had its value since before bus.put5 (bus.borrow1 sees that), and keeps it
            // until the borrow is given back.
            look(unsafe { (*value).as_ref().unwrap_unchecked() })
        })
    }

    /// Puts `new` in the place of this version; gives it back if this is the current version no more.
    pub(super) fn replace(&self, new: V) -> Result<(), V> {
        let Self { versions, cell, index, .. } = *self;
        let mine = versions.pop();
        // SAFETY: popped from the free list, or of a page that this thread has made.
        unsafe { versions.cell(mine).put(new) };
        // Relaxed: only the number counts.
        let mut word = versions.word.load(Ordering::Relaxed);
        while cell_of(word) == index || seeded!("versions_replaced_blindly") {
            // bus.put5. Release: pairs with bus.borrow1, which sees the value. Acquire: pairs with
            // bus.borrow2, so that what was read before it comes before the value is freed.
            let order = ordering!(AcqRel unless "versions_replace_relaxed");
            let new = u64::from(mine) << 32;
            match versions.word.compare_exchange_weak(word, new, order, Ordering::Relaxed) {
                Ok(_) => {
                    // bus.put6. This borrow is among those that owe, so it frees nothing.
                    cell.owe(count_of(word));
                    if seeded!("versions_freed_at_once") {
                        versions.free(index);
                    }
                    return Ok(());
                }
                // Unreached: a reader borrows it at the same moment; loom bus
                Err(now) => word = now,
            }
        }
        // SAFETY: no other thread has seen it.
        let new = unsafe { versions.cell(mine).take() };
        versions.push(mine);
        Err(new.expect("it was put there above"))
    }
}

impl<V> Drop for Borrowed<'_, V> {
    #[inline]
    fn drop(&mut self) {
        let Self { versions, cell, index, mut word } = *self;
        // Relaxed where it fails: only the number counts. Mostly no other thread was there meanwhile.
        while cell_of(word) == index {
            // bus.borrow2. Release: pairs with bus.put5.
            let order = ordering!(Release unless "versions_return_relaxed");
            match versions.word.compare_exchange_weak(word, word - 1, order, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => word = now,
            }
        }
        // bus.borrow3.
        if cell.owe(u64::MAX) == 0 {
            versions.free(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::sync::Arc;
    use alloc::vec::Vec;

    use super::*;

    /// How many pages there are.
    fn pages<V>(versions: &Versions<V>) -> usize {
        core::iter::successors(Some(&versions.cells), |page| page.next.get()).count()
    }

    #[test]
    fn old_version_lives_until_it_is_given_back() {
        let shares = Arc::new(());
        let versions = Versions::new((0, Arc::clone(&shares)));
        let old = versions.borrow();
        for number in 1..100 {
            versions.borrow().replace((number, Arc::clone(&shares))).unwrap();
            assert_eq!(Arc::strong_count(&shares), 3, "the old one, the new one, and this");
            assert_eq!(old.look(|value| value.0), 0);
        }
        assert_eq!(old.replace((0, Arc::clone(&shares))).unwrap_err().0, 0, "it was replaced before");
        drop(old);
        assert_eq!(Arc::strong_count(&shares), 2);
        assert_eq!((versions.borrow().look(|value| value.0), pages(&versions)), (99, 1));
        drop(versions);
        assert_eq!(Arc::strong_count(&shares), 1);
    }

    #[test]
    fn cells_are_as_many_as_versions_at_one_time() {
        let versions = Versions::new(0);
        for _ in 0..3 {
            let old: Vec<_> = (0..20)
                .map(|number| {
                    let old = versions.borrow();
                    versions.borrow().replace(number).unwrap();
                    old
                })
                .collect();
            let seen: Vec<_> = old.iter().map(|old| old.look(|value| *value)).collect();
            assert_eq!(seen[1..], (0..19).collect::<Vec<_>>());
        }
        assert_eq!(pages(&versions), 21_usize.div_ceil(PAGE));
    }

    #[test]
    fn threads_count_with_it() {
        let (threads, each) = if cfg!(miri) { (3, 20) } else { (4, 20_000) };
        let versions = Versions::new(Arc::new(0));
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    for _ in 0..each {
                        loop {
                            let current = versions.borrow();
                            let next = current.look(|value| **value + 1);
                            if current.replace(Arc::new(next)).is_ok() {
                                break;
                            }
                        }
                    }
                });
            }
        });
        assert_eq!(versions.borrow().look(|value| **value), threads * each);
    }
}

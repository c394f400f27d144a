//! [`Block`]: where the slots of every ring lie, and the slabs of a pool. The one place that allocates them.

use alloc::boxed::Box;
use core::alloc::Layout;
use core::ptr::{self, NonNull};

use super::options::Memory;
use super::placed::Placed;
use super::placement::Placement;
#[cfg(feature = "numa")]
use super::refused::MemoryError;
use super::refused::NoBlock;
use crate::base::allocation::{Allocation, Before};
use crate::base::common::{Common, CommonAllocation};
use crate::sync::seeded;

// Decision 0079: no ring allocates its slots by itself.
/// A block of bytes: from the global allocator, or mapped as the options say. It does not know the contents.
pub(crate) struct Block {
    start: NonNull<u8>,
    /// What the allocator gave for it. `None` if its bytes are from elsewhere, or another one has the
    /// allocation.
    allocation: Option<Allocation>,
    /// `None` if there were no options.
    placed: Option<Box<Placed>>,
    /// Where it lies, and how many bytes, if other processes have it, too.
    #[cfg(feature = "shm")]
    shared: Option<(KeptMemory, usize)>,
}

// SAFETY: it is the only owner of its bytes, and a shared reference gives pointers only.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

/// Memory that other processes have, too.
#[cfg(all(target_os = "linux", feature = "shm", not(annulus_loom)))]
type KeptMemory = alloc::sync::Arc<super::placed_memory::PlacedMemory>;
/// There is none in models, nor elsewhere.
#[cfg(all(feature = "shm", any(annulus_loom, not(target_os = "linux"))))]
type KeptMemory = ();

/// What is in a new block.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// Zeroes. Every page is written, so none is touched for the first time while the ring runs.
    Zeroes,
    /// Anything, in pages that were all written.
    Touched,
    /// Anything: the caller writes every unit.
    Anything,
}

/// The smallest page there is.
const PAGE: usize = 4096;

impl Block {
    /// Bytes of this layout. Every page is written here.
    #[inline(always)]
    pub(crate) fn touched(layout: Layout, memory: &Memory, before: Before) -> Result<Self, NoBlock> {
        Self::new(layout, memory, Content::Touched, before)
    }

    /// Bytes of this layout, all zero. Every page is written here.
    #[inline(always)]
    pub(crate) fn zeroed(layout: Layout, memory: &Memory, before: Before) -> Result<Self, NoBlock> {
        Self::new(layout, memory, Content::Zeroes, before)
    }

    // (Inlined, as all that makes a ring: what is returned in memory is read again before it is written
    // there.)
    #[inline(always)]
    pub(super) fn new(
        layout: Layout,
        memory: &Memory,
        content: Content,
        before: Before,
    ) -> Result<Self, NoBlock> {
        if memory.asks() {
            // (By value: what has an address is in memory, and all that is copied with it.)
            Self::placed(layout, *memory, content)
        } else {
            Self::allocated(layout, content, before)
        }
    }

    #[cold]
    #[inline(never)]
    fn placed(layout: Layout, memory: Memory, content: Content) -> Result<Self, NoBlock> {
        let placed = Box::new(Placed::new(layout, memory)?);
        let mut block = match placed.start() {
            Some(start) => Self::of(start),
            None => Self::allocated(layout, content, Before::NOTHING)?,
        };
        block.placed = Some(placed);
        Ok(block)
    }

    #[inline(always)]
    fn allocated(layout: Layout, content: Content, before: Before) -> Result<Self, NoBlock> {
        let is_small = layout.size() <= PAGE && !seeded!("small_blocks_by_themselves");
        // Decision 0136: a small block lies in one allocation with its owner.
        let before = if is_small { before } else { Before::NOTHING };
        if layout.size() + before.bytes == 0 {
            let start = NonNull::new(ptr::without_provenance_mut(layout.align())).ok_or(NoBlock::TooLarge)?;
            return Ok(Self::of(start));
        }
        // (A small block of zeroes does not come from the stock of blocks that most allocators have at hand.)
        let is_zeroed = content == Content::Zeroes && !is_small;
        let (allocation, start) = Allocation::new(layout, before, is_zeroed).ok_or(NoBlock::TooLarge)?;
        if content == Content::Zeroes && is_small {
            // SAFETY: the block is new.
            unsafe { start.write_bytes(0, layout.size()) };
        } else if content != Content::Anything && layout.size() != 0 {
            // SAFETY: the block is new, and has a byte.
            unsafe { touch(start, layout.size()) };
        }
        let mut block = Self::of(start);
        block.allocation = Some(allocation);
        Ok(block)
    }

    /// Memory for the block's owner, before the block in the same allocation, if [such](Common::BEFORE) was
    /// asked for. From then on the block's bytes are there as long as that allocation is.
    #[inline(always)]
    pub(crate) fn allocation_before<T>(&mut self) -> CommonAllocation<T> {
        let start = self.start;
        match self.allocation.take_if(|allocation| allocation.has(Common::<T>::BEFORE, start)) {
            // SAFETY: it has, and the allocation is handed over.
            Some(allocation) => unsafe { CommonAllocation::before(start, allocation) },
            None => Common::allocation(),
        }
    }

    #[inline(always)]
    fn of(start: NonNull<u8>) -> Self {
        Self {
            start,
            allocation: None,
            placed: None,
            #[cfg(feature = "shm")]
            shared: None,
        }
    }

    /// A part of memory that other processes have, too.
    ///
    /// # Panics
    ///
    /// If it does not lie in the memory, or not at such an address.
    #[cfg(all(target_os = "linux", feature = "shm", not(annulus_loom)))]
    pub(crate) fn shared(memory: KeptMemory, offset: usize, layout: Layout) -> Self {
        assert!(memory.len().checked_sub(offset).is_some_and(|left| layout.size() <= left));
        // SAFETY: within the mapping.
        let start = unsafe { memory.base().add(offset) };
        assert!(start.addr().get() % layout.align() == 0);
        let mut block = Self::of(start);
        block.shared = Some((memory, layout.size()));
        block
    }

    /// What begins there, and outlives this: for models of such memory.
    #[cfg(all(feature = "shm", annulus_loom))]
    pub(crate) fn borrowed(start: NonNull<u8>) -> Self {
        let mut block = Self::of(start);
        block.shared = Some(((), 0));
        block
    }

    /// The first byte. There are as many as were asked for, for as long as this lives.
    #[inline(always)]
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// What the kernel says of it.
    pub(crate) fn placement(&self) -> Placement {
        #[cfg(all(target_os = "linux", feature = "shm", not(annulus_loom)))]
        if let Some((memory, bytes)) = self.shared.as_ref().filter(|_| !seeded!("shared_memory_unsaid")) {
            return memory.placement(*bytes);
        }
        self.placed.as_ref().map(|placed| placed.placement()).unwrap_or_default()
    }

    /// Moves it to `node`, on which the reader runs, where that was asked for.
    #[cfg(feature = "numa")]
    pub(crate) fn bring_to(&self, node: usize) -> Result<(), MemoryError> {
        #[cfg(feature = "shm")]
        if self.shared.is_some() {
            return Err(Placed::stays());
        }
        match &self.placed {
            Some(placed) => placed.bring_to(node),
            None => Err(Placed::not_requested()),
        }
    }
}

/// Writes to each page of a new block.
///
/// # Safety
///
/// There are so many bytes, one at least, which nobody else has.
#[inline(always)]
unsafe fn touch(start: NonNull<u8>, bytes: usize) {
    if bytes > PAGE {
        // SAFETY: the caller's promise.
        unsafe { touch_pages(start, bytes) };
    }
    // Volatile, so that the compiler keeps the stores.
    // SAFETY: within the block.
    unsafe {
        start.write_volatile(0);
        start.add(bytes - 1).write_volatile(0);
    }
}

/// As [`touch`], but for the last page. (Zeroes from the system may be one shared page until they are
/// written.)
#[cold]
#[inline(never)]
unsafe fn touch_pages(start: NonNull<u8>, bytes: usize) {
    for byte in (0..bytes).step_by(PAGE) {
        // SAFETY: within the block.
        unsafe { start.add(byte).write_volatile(0) };
    }
}

impl Drop for Block {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(allocation) = self.allocation {
            // SAFETY: nobody else has it, and nobody uses the block any more.
            unsafe { allocation.free() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(align(128))]
    struct State([u8; 300]);

    /// A small block lies in one allocation with its owner, right behind it; a large block in a separate
    /// allocation. In both cases the bytes can be written as long as the owner is there.
    #[test]
    fn small_block_lies_behind_its_owner() {
        for bytes in [0, 8, PAGE, PAGE + 1] {
            let layout = Layout::from_size_align(bytes, 64).unwrap();
            let mut block = Block::touched(layout, &Memory::default(), Common::<State>::BEFORE).unwrap();
            let allocation = block.allocation_before::<State>();
            let distance = block.start().addr().get().wrapping_sub(allocation.dst().addr().get());
            assert_eq!(distance == size_of::<State>(), bytes <= PAGE, "{bytes} bytes");
            assert_eq!(block.allocation.is_none(), bytes <= PAGE);
            let [state, other] = allocation.fill(State([7; 300]));
            drop(state);
            // SAFETY: so many bytes were asked for, and the state is there.
            unsafe { block.start().write_bytes(1, bytes) };
            assert_eq!(other.0, [7; 300]);
            drop(block);
            drop(other);
        }
    }

    /// Where something else was to be before it, or nothing, the block keeps its allocation.
    #[test]
    fn block_without_space_for_an_owner_keeps_its_allocation() {
        let layout = Layout::from_size_align(64, 64).unwrap();
        for before in [Before::NOTHING, Common::<u8>::BEFORE] {
            let mut block = Block::touched(layout, &Memory::default(), before).unwrap();
            let [state] = block.allocation_before().fill(State([7; 300]));
            assert!(block.allocation.is_some());
            drop((block, state));
        }
    }
}

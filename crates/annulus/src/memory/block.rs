//! [`Block`]: where the slots of every ring lie, and the slabs of a pool. The one place that allocates them.

use alloc::alloc::{alloc, alloc_zeroed, dealloc};
use alloc::boxed::Box;
use core::alloc::Layout;
use core::ptr::{self, NonNull};

use super::options::Memory;
use super::placed::Placed;
use super::placement::Placement;
#[cfg(feature = "numa")]
use super::refused::MemoryError;
use super::refused::NoBlock;
#[cfg(all(feature = "shm", not(annulus_loom)))]
use crate::sync::mutated;

// Decision 0079: no ring allocates its slots by itself.
/// A block of bytes: from the global allocator, or mapped as the options say. It does not know what is in it.
pub(crate) struct Block {
    start: NonNull<u8>,
    /// Where the allocator's room for it begins.
    origin: NonNull<u8>,
    layout: Layout,
    /// `None` if there were no options.
    placed: Option<Box<Placed>>,
    /// Where it lies, if other processes have it, too.
    #[cfg(feature = "shm")]
    shared: Option<KeptMemory>,
}

// SAFETY: it is the only owner of its bytes, and a shared reference gives pointers only.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

/// Memory that other processes have, too.
#[cfg(all(feature = "shm", not(annulus_loom)))]
type KeptMemory = alloc::sync::Arc<super::placed_memory::PlacedMemory>;
/// There is none in models.
#[cfg(all(feature = "shm", annulus_loom))]
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

/// What the allocator is asked for: room in which such a block lies somewhere.
#[inline]
fn room_for(layout: Layout) -> Result<Layout, NoBlock> {
    // Decision 0125: no allocation asks for the alignment of a line.
    let word = align_of::<usize>();
    if layout.align() <= word {
        return Ok(layout);
    }
    let bytes = layout.size().checked_add(layout.align() - word).ok_or(NoBlock::TooLarge)?;
    Layout::from_size_align(bytes, word).map_err(|_| NoBlock::TooLarge)
}

impl Block {
    /// Bytes of this layout. Every page is written here.
    #[inline(always)]
    pub(crate) fn touched(layout: Layout, memory: &Memory) -> Result<Self, NoBlock> {
        Self::new(layout, memory, Content::Touched)
    }

    /// Bytes of this layout, all zero. Every page is written here.
    #[inline(always)]
    pub(crate) fn zeroed(layout: Layout, memory: &Memory) -> Result<Self, NoBlock> {
        Self::new(layout, memory, Content::Zeroes)
    }

    // (Inlined, as all that makes a ring: what is returned in memory is read again before it is written
    // there.)
    #[inline(always)]
    pub(super) fn new(layout: Layout, memory: &Memory, content: Content) -> Result<Self, NoBlock> {
        if memory.asks() { Self::placed(layout, memory, content) } else { Self::allocated(layout, content) }
    }

    #[cold]
    #[inline(never)]
    fn placed(layout: Layout, memory: &Memory, content: Content) -> Result<Self, NoBlock> {
        let placed = Box::new(Placed::new(layout, *memory)?);
        let mut block = match placed.start() {
            Some(start) => Self::of(start, layout),
            None => Self::allocated(layout, content)?,
        };
        block.placed = Some(placed);
        Ok(block)
    }

    #[inline(always)]
    fn allocated(layout: Layout, content: Content) -> Result<Self, NoBlock> {
        if layout.size() == 0 {
            let start = NonNull::new(ptr::without_provenance_mut(layout.align())).ok_or(NoBlock::TooLarge)?;
            return Ok(Self::of(start, layout));
        }
        let room = room_for(layout)?;
        let is_small = layout.size() <= PAGE;
        // (A small block of zeroes does not come from the stock of blocks that most allocators have at hand.)
        let allocate = if content == Content::Zeroes && !is_small { alloc_zeroed } else { alloc };
        // SAFETY: the size is not 0.
        let origin = NonNull::new(unsafe { allocate(room) }).ok_or(NoBlock::TooLarge)?;
        let distance = origin.addr().get().next_multiple_of(layout.align()) - origin.addr().get();
        // SAFETY: the room has so many bytes more than the layout.
        let start = unsafe { origin.add(distance) };
        if content == Content::Zeroes && is_small {
            // SAFETY: the block is new.
            unsafe { start.write_bytes(0, layout.size()) };
        } else if content != Content::Anything {
            // Zeroes from the system may be one shared page until they are written. Volatile, so that the
            // compiler keeps the stores.
            for byte in (0..layout.size()).step_by(PAGE) {
                // SAFETY: within the block.
                unsafe { start.add(byte).write_volatile(0) };
            }
        }
        let mut block = Self::of(start, layout);
        block.origin = origin;
        Ok(block)
    }

    #[inline(always)]
    fn of(start: NonNull<u8>, layout: Layout) -> Self {
        Self {
            start,
            origin: start,
            layout,
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
    #[cfg(all(feature = "shm", not(annulus_loom)))]
    pub(crate) fn shared(memory: KeptMemory, offset: usize, layout: Layout) -> Self {
        assert!(memory.len().checked_sub(offset).is_some_and(|left| layout.size() <= left));
        // SAFETY: within the mapping.
        let start = unsafe { memory.base().add(offset) };
        assert!(start.addr().get() % layout.align() == 0);
        let mut block = Self::of(start, layout);
        block.shared = Some(memory);
        block
    }

    /// What begins there, and outlives this: for models of such memory.
    #[cfg(all(feature = "shm", annulus_loom))]
    pub(crate) fn borrowed(start: NonNull<u8>) -> Self {
        let mut block = Self::of(start, Layout::new::<()>());
        block.shared = Some(());
        block
    }

    /// Whether it is from the global allocator.
    fn is_allocated(&self) -> bool {
        #[cfg(feature = "shm")]
        if self.shared.is_some() {
            return false;
        }
        self.placed.as_ref().is_none_or(|placed| placed.start().is_none())
    }

    /// The first byte. There are as many as the layout says, for as long as this lives.
    #[inline(always)]
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// What the kernel says of it.
    pub(crate) fn placement(&self) -> Placement {
        #[cfg(all(feature = "shm", not(annulus_loom)))]
        if let Some(memory) = self.shared.as_ref().filter(|_| !mutated!("shared_memory_unsaid")) {
            return memory.placement(self.layout.size());
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

impl Drop for Block {
    fn drop(&mut self) {
        if self.is_allocated() && self.layout.size() != 0 {
            let room = room_for(self.layout).unwrap_or(self.layout);
            // SAFETY: allocated in `allocated` with this layout.
            unsafe { dealloc(self.origin.as_ptr(), room) };
        }
    }
}

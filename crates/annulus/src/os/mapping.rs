//! [`Mapping`]: memory that the kernel maps for one owner, and [`Pages`]: what it does with them and says of
//! them (Linux).

use core::ffi::c_void;
use core::ptr::{self, NonNull};
use core::slice;
use std::fs;
use std::io;
use std::string::String;

use rustix::io::{Errno, retry_on_intr};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mlock, mmap_anonymous, munmap};

pub(crate) use super::linux::{lock_limit, page_bytes};
use crate::sync::seeded;

/// Private pages, zero at first, between two pages that no code may touch.
///
/// Those two keep the kernel from joining this mapping with its neighbours, so what it says of the mapping is
/// about these pages and no others.
pub(crate) struct Mapping {
    _reserved: Reserved,
    pages: Pages,
}

/// Addresses that nothing else gets, and the mappings there, until the drop.
pub(super) struct Reserved {
    first: NonNull<c_void>,
    bytes: usize,
}

// SAFETY: it is the only owner of its addresses, and no page belongs to a thread.
unsafe impl Send for Reserved {}
// SAFETY: a shared reference does nothing.
unsafe impl Sync for Reserved {}

/// Consecutive pages that are mapped. Their owner lends them out.
pub(crate) struct Pages {
    start: NonNull<u8>,
    bytes: usize,
    /// The size of a page, but for those that the kernel joins.
    unit: usize,
    /// Whether a page may be missing where memory is short.
    may_miss: bool,
}

// SAFETY: no page belongs to a thread.
unsafe impl Send for Pages {}
// SAFETY: a shared reference changes where pages lie, and nothing that is in them.
unsafe impl Sync for Pages {}

/// What the kernel says of a mapping. All but the page size are sums over its pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The size of its pages (of the smallest of them).
    pub(crate) page_bytes: usize,
    /// The bytes that are in memory.
    pub(crate) resident: usize,
    /// The bytes in transparent huge pages.
    pub(crate) transparent: usize,
    /// The bytes in reserved huge pages, which the kernel never writes to a disk.
    pub(crate) reserved: usize,
    /// The bytes of those parts that are locked.
    pub(crate) locked: usize,
}

/// The system's error number.
type Code = i32;

/// Whether there are any.
pub(crate) const IS_SUPPORTED: bool = !cfg!(miri);

impl Reserved {
    /// Addresses for `bytes` bytes (a multiple of the size of a page), from a multiple of `alignment` on,
    /// which is a power of two and at least the size of a page. Before and after them is a page that nobody
    /// may touch. Returns where they begin. `None` is more than any address space has room for.
    pub(super) fn new(bytes: usize, alignment: usize) -> Result<(Self, NonNull<u8>), Option<Errno>> {
        let page = page_bytes();
        let reserved = bytes.checked_add(alignment).and_then(|bytes| bytes.checked_add(2 * page));
        let reserved = reserved.filter(|&bytes| isize::try_from(bytes).is_ok()).ok_or(None)?;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: at an address of the kernel's choice, so it replaces nothing.
        let first = unsafe { mmap_anonymous(ptr::null_mut(), reserved, ProtFlags::empty(), flags) };
        // From here on its drop unmaps it.
        let this = Self { first: NonNull::new(first?).ok_or(None)?, bytes: reserved };
        let start = this.first.as_ptr().cast::<u8>().wrapping_add(page);
        // At most `alignment` are skipped, so the bytes end a page or more before the end.
        let start = NonNull::new(start.wrapping_add(start.align_offset(alignment))).ok_or(None)?;
        Ok((this, start))
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        // SAFETY: mapped in `new`, and nobody has the bytes any more. This also undoes locks.
        let unmapped = unsafe { munmap(self.first.as_ptr(), self.bytes) };
        debug_assert_eq!(unmapped, Ok(()));
    }
}

impl Mapping {
    /// At least `bytes` bytes (not 0), from a multiple of `alignment` on, which is a power of two. In pages
    /// of `huge` bytes if that is given; there are enough of them then.
    ///
    /// `None` is more than any address space has room for.
    pub(crate) fn new(bytes: usize, alignment: usize, huge: Option<usize>) -> Result<Self, Option<Code>> {
        Self::with(bytes, alignment, huge, MapFlags::empty())
    }

    /// As [`new`](Self::new), with more flags.
    fn with(
        bytes: usize,
        alignment: usize,
        huge: Option<usize>,
        also: MapFlags,
    ) -> Result<Self, Option<Code>> {
        let page = page_bytes();
        let unit = huge.unwrap_or(page).max(page);
        let bytes = bytes.checked_next_multiple_of(unit).ok_or(None)?;
        let (reserved, start) = Reserved::new(bytes, alignment.max(unit)).map_err(|error| error.map(raw))?;
        let flags = also | MapFlags::PRIVATE | MapFlags::FIXED | huge.map_or(MapFlags::empty(), huge_flags);
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: it replaces a part of what was reserved.
        unsafe { mmap_anonymous(start.as_ptr().cast(), bytes, access, flags) }
            .map_err(|error| Some(raw(error)))?;
        Ok(Self { _reserved: reserved, pages: Pages { start, bytes, unit, may_miss: unit > page } })
    }

    pub(crate) fn pages(&self) -> &Pages {
        &self.pages
    }
}

impl Pages {
    /// The pages of a mapping of a file, of the usual size.
    ///
    /// # Safety
    ///
    /// So many bytes are mapped from there on, from the beginning of a page on, as long as this is lent out.
    #[cfg(feature = "shm")]
    pub(super) unsafe fn of_file(start: NonNull<u8>, bytes: usize) -> Self {
        let unit = page_bytes();
        Self { start, bytes: bytes.next_multiple_of(unit), unit, may_miss: true }
    }

    /// The first byte. All of them live as long as this.
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Asks for transparent huge pages.
    pub(crate) fn advise_huge(&self) -> Result<(), Code> {
        // SAFETY: its own pages; the advice changes no byte.
        unsafe { madvise(self.start.as_ptr().cast(), self.bytes, Advice::LinuxHugepage) }.map_err(raw)
    }

    /// Puts each page into memory. Where the kernel can't do that by itself, this writes to each of them, so
    /// nobody may use them yet.
    pub(crate) fn populate(&self) -> Result<(), Code> {
        // SAFETY: its own pages; the advice changes no byte.
        match unsafe { madvise(self.start.as_ptr().cast(), self.bytes, Advice::LinuxPopulateWrite) } {
            // Unreached: before Linux 5.14, here and below
            Err(Errno::INVAL) if self.may_miss => self.have_each_written(),
            // Unreached: as above
            Err(Errno::INVAL) => {
                for byte in (0..self.bytes).step_by(page_bytes()) {
                    // SAFETY: within the mapping, which nobody uses yet, and which is zero.
                    unsafe { self.start.add(byte).write_volatile(0) };
                }
                Ok(())
            }
            told => told.map_err(raw),
        }
    }

    /// Has the kernel write a zero to each page; no other code may use them yet.
    ///
    /// Reserved pages may have run out, on the node to which this is bound, or for the control group. A file
    /// in memory may get no more pages, either. A store to a page that is not there would end the process
    /// then (`SIGBUS`). To a call of the system it is an error (`EFAULT`).
    fn have_each_written(&self) -> Result<(), Code> {
        let code = |error: io::Error| error.raw_os_error().unwrap_or(0);
        let zeroes = fs::File::open("/dev/zero").map_err(code)?;
        for byte in (0..self.bytes).step_by(self.unit) {
            if seeded!("reserved_pages_stored_to") {
                // SAFETY: as below.
                unsafe { self.start.add(byte).write_volatile(0) };
            }
            // SAFETY: a byte within the mapping, which nobody else uses yet, and which is zero before and
            // after.
            let byte = unsafe { slice::from_raw_parts_mut(self.start.as_ptr().add(byte), 1) };
            retry_on_intr(|| rustix::io::read(&zeroes, &mut *byte)).map_err(raw)?;
        }
        Ok(())
    }

    /// Keeps its pages in memory until it is dropped.
    pub(crate) fn lock(&self) -> Result<(), Code> {
        // SAFETY: its own pages; no byte changes.
        unsafe { mlock(self.start.as_ptr().cast(), self.bytes) }.map_err(raw)
    }

    /// What the kernel says of it; `None` if it says nothing (there is no `/proc`).
    pub(crate) fn seen(&self) -> Option<Seen> {
        let start = self.start.as_ptr().addr();
        // (The path of a file that is mapped may be no text.)
        let smaps = fs::read("/proc/thread-self/smaps").ok()?;
        seen(&String::from_utf8_lossy(&smaps), start, start + self.bytes)
    }
}

/// How a size of huge pages is named.
fn huge_flags(bytes: usize) -> MapFlags {
    // `MAP_HUGE_SHIFT` is 26 on every architecture.
    MapFlags::HUGETLB | MapFlags::from_bits_retain(bytes.trailing_zeros() << 26)
}

fn raw(error: Errno) -> Code {
    error.raw_os_error()
}

/// What `smaps` says of the pages from `start` to `end`; `None` where it has none of them.
fn seen(smaps: &str, start: usize, end: usize) -> Option<Seen> {
    let mut seen = Seen { page_bytes: usize::MAX, ..Seen::default() };
    let (mut is_ours, mut found) = (false, 0);
    let mut resident = 0;
    for line in smaps.lines() {
        if let Some((from, to)) = range(line) {
            is_ours = start <= from && to <= end;
            if is_ours {
                (found, resident) = (found + (to - from), 0);
            }
        } else if let Some((name, value)) = line.split_once(':').filter(|_| is_ours) {
            let kib = || value.split_whitespace().next().and_then(|number| number.parse::<usize>().ok());
            let bytes = kib().unwrap_or(0) * 1024;
            match name {
                "KernelPageSize" => seen.page_bytes = seen.page_bytes.min(bytes),
                "Rss" => resident += bytes,
                // The second one is of files in memory.
                "AnonHugePages" | "ShmemPmdMapped" => seen.transparent += bytes,
                // These are not in `Rss`.
                "Private_Hugetlb" | "Shared_Hugetlb" => {
                    resident += bytes;
                    seen.reserved += bytes;
                }
                // The last line of each part.
                "VmFlags" => {
                    seen.resident += resident;
                    if value.split_whitespace().any(|flag| flag == "lo") {
                        seen.locked += resident;
                    }
                }
                _ => {}
            }
        }
    }
    (found == end - start && seen.page_bytes != usize::MAX).then_some(seen)
}

/// The range of addresses with which a part of `smaps` begins.
fn range(line: &str) -> Option<(usize, usize)> {
    let (from, rest) = line.split_once('-')?;
    let (to, _) = rest.split_once(' ')?;
    Some((usize::from_str_radix(from, 16).ok()?, usize::from_str_radix(to, 16).ok()?))
}

/// The size of reserved pages where no size is named.
pub(crate) fn reserved_page_bytes() -> Option<usize> {
    let info = fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find_map(|line| line.strip_prefix("Hugepagesize:"))?;
    line.split_whitespace().next()?.parse::<usize>().ok()?.checked_mul(1024)
}

/// How many reserved pages of `bytes` bytes are free; `None` if the system has none of this size.
pub(crate) fn free_reserved_pages(bytes: usize) -> Option<u64> {
    let path = std::format!("/sys/kernel/mm/hugepages/hugepages-{}kB/free_hugepages", bytes / 1024);
    read_number(&path)
}

/// The size of a transparent huge page; `None` if the system has none, or never gives one away.
pub(crate) fn transparent_page_bytes() -> Option<usize> {
    let enabled = read(TRANSPARENT, "enabled")?;
    let bytes = read(TRANSPARENT, "hpage_pmd_size")?.trim().parse::<usize>().ok()?;
    (!enabled.contains("[never]") && bytes.is_power_of_two()).then_some(bytes)
}

/// As [`transparent_page_bytes`], of files in memory, which have a switch of their own.
#[cfg(feature = "shm")]
pub(crate) fn transparent_file_page_bytes() -> Option<usize> {
    let enabled = read(TRANSPARENT, "shmem_enabled")?;
    let bytes = read(TRANSPARENT, "hpage_pmd_size")?.trim().parse::<usize>().ok()?;
    let is_off = ["[never]", "[deny]"].iter().any(|word| enabled.contains(word));
    (!is_off && bytes.is_power_of_two()).then_some(bytes)
}

const TRANSPARENT: &str = "/sys/kernel/mm/transparent_hugepage";

fn read(folder: &str, name: &str) -> Option<String> {
    fs::read_to_string(std::format!("{folder}/{name}")).ok()
}

fn read_number(path: &str) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    const SMAPS: &str = "\
1000-3000 rw-p 00000000 00:00 0
KernelPageSize:        4 kB
Rss:                   8 kB
AnonHugePages:         0 kB
VmFlags: rd wr mr mw me lo ac
3000-4000 ---p 00000000 00:00 0
KernelPageSize:        4 kB
Rss:                   4 kB
VmFlags: mr mw me
200000-400000 rw-p 00000000 00:0f 7    /anon_hugepage (deleted)
KernelPageSize:     2048 kB
Rss:                   0 kB
Private_Hugetlb:    2048 kB
VmFlags: rd wr mr mw me de ht
";

    #[test]
    fn reads_what_the_kernel_says() {
        let seen = |start, end| super::seen(SMAPS, start, end);
        let small = Seen { page_bytes: 4096, resident: 8192, transparent: 0, reserved: 0, locked: 8192 };
        assert_eq!(seen(0x1000, 0x3000), Some(small));
        assert_eq!(seen(0x1000, 0x4000), Some(Seen { resident: 12_288, ..small }), "of two parts");
        let huge = 2 << 20;
        let large = Seen { page_bytes: huge, resident: huge, transparent: 0, reserved: huge, locked: 0 };
        assert_eq!(seen(0x20_0000, 0x40_0000), Some(large));
        assert_eq!(seen(0x5000, 0x6000), None);
        assert_eq!(seen(0x1000, 0x2000), None, "a part that is not all its own");
    }

    #[test]
    fn mapping_begins_where_it_is_to() {
        for alignment in [1, 128, 4096, 1 << 16, 1 << 21] {
            let mapping = Mapping::new(5000, alignment, None).unwrap();
            assert_eq!(mapping.pages().start().as_ptr().addr() % alignment.max(page_bytes()), 0);
            assert_eq!(mapping.pages().bytes(), 5000_usize.next_multiple_of(page_bytes()));
            mapping.pages().populate().unwrap();
            let seen = mapping.pages().seen().unwrap();
            assert_eq!(seen.page_bytes, page_bytes());
            // (What answers in place of a kernel there counts no pages.)
            assert!(seen.resident == mapping.pages().bytes() || cfg!(annulus_emulated), "{seen:?}");
        }
        assert_eq!(Mapping::new(usize::MAX - 5, 1, None).err(), Some(None));
    }

    /// As before Linux 5.14, on a system whose reserved pages are used up, or that has none.
    #[test]
    fn a_reserved_page_that_is_not_there_is_an_error_and_no_signal() {
        let Some(page) = reserved_page_bytes() else { return };
        // Without a reservation the mapping is there, and its pages are not.
        let Ok(mapping) = Mapping::with(2 * page, 1, Some(page), MapFlags::NORESERVE) else { return };
        let told = mapping.pages().have_each_written();
        let seen = mapping.pages().seen().unwrap();
        assert_eq!(seen.page_bytes, page);
        if told.is_ok() {
            assert_eq!((seen.resident, seen.reserved), (2 * page, 2 * page));
        } else {
            assert_eq!(told, Err(raw(Errno::FAULT)));
            assert!(seen.resident < 2 * page, "{seen:?}");
        }
    }

    #[test]
    fn kernel_writes_each_page() {
        let mapping = Mapping::new(10 * page_bytes(), 1, None).unwrap();
        assert!(mapping.pages().seen().unwrap().resident == 0 || cfg!(annulus_emulated));
        mapping.pages().have_each_written().unwrap();
        assert!(
            mapping.pages().seen().unwrap().resident == mapping.pages().bytes() || cfg!(annulus_emulated)
        );
    }
}

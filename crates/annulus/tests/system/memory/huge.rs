//! Huge pages: reserved ones, transparent ones, and what refuses them.

use std::fs;

use annulus::Settings;
use annulus::memory::{Grant, HugePages, Memory, MemoryOption, Placement, Reason};
use annulus::{CapacityError, spsc};

use crate::memory::asks::part_of;
use crate::memory::rings::{KINDS, address_of, same};
use crate::support::alone;

/// How many words four huge pages of x86-64 have.
const SLOTS: usize = 1 << 20;

/// A ring of `SLOTS` words: what its handle says, and what the kernel says of the part that it is in.
fn ring(memory: Memory) -> Result<(Placement, crate::memory::asks::Part), CapacityError> {
    let (mut producer, mut consumer) = spsc::with::<u64>(Settings::new(SLOTS).memory(memory))?;
    for number in 0..100 {
        producer.send(number).unwrap();
    }
    let part = part_of(address_of(&consumer.readable()[0])).unwrap();
    let placement = consumer.placement();
    assert!(consumer.try_iter().eq(0..100));
    Ok((placement, part))
}

fn has_transparent() -> bool {
    let enabled = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    !enabled.is_empty() && !enabled.contains("[never]")
}

fn transparent(pages: HugePages) {
    let (placement, part) = ring(Memory::prefer().huge_pages(pages)).unwrap();
    if has_transparent() {
        assert_eq!(placement.huge_pages(), Grant::Granted, "{placement}");
        assert_eq!((part.transparent, part.bytes), (placement.huge_bytes(), placement.mapped_bytes()));
        assert_eq!(part.transparent, part.bytes);
        ring(Memory::require().huge_pages(pages)).unwrap();
    } else {
        let refusal = placement.huge_pages().refusal().unwrap();
        assert_eq!(refusal.option(), MemoryOption::HugePages);
        assert_eq!(placement.huge_bytes(), 0);
        ring(Memory::require().huge_pages(pages)).unwrap_err();
    }
}

#[test]
fn transparent_ones() {
    alone!();
    transparent(HugePages::Transparent);
}

/// The size of the pages that somebody may have reserved, and how many are free.
fn reserved() -> (usize, u64) {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let info = read("/proc/meminfo");
    let kib = info.lines().find_map(|line| line.strip_prefix("Hugepagesize:")).unwrap_or("2048 kB");
    let kib: usize = kib.trim().strip_suffix(" kB").unwrap().parse().unwrap();
    let free = read(&format!("/sys/kernel/mm/hugepages/hugepages-{kib}kB/free_hugepages"));
    (kib * 1024, free.trim().parse().unwrap_or(0))
}

/// Where the system says how many pages of the default size are reserved.
const RESERVED: &str = "/proc/sys/vm/nr_hugepages";

/// So many more pages are reserved while this lives.
struct MorePages {
    before: String,
}

impl MorePages {
    /// `None` where this process may not reserve any, or the system has no memory in one piece for them.
    fn reserve(count: usize) -> Option<Self> {
        let before = fs::read_to_string(RESERVED).ok()?;
        let pages = count as u64 + before.trim().parse::<u64>().ok()?;
        let more = Self { before };
        fs::write(RESERVED, pages.to_string()).ok()?;
        (fs::read_to_string(RESERVED).ok()?.trim() == pages.to_string()).then_some(more)
    }
}

impl Drop for MorePages {
    fn drop(&mut self) {
        let _ = fs::write(RESERVED, self.before.trim());
    }
}

/// Reserves the pages where it may (as root, for example). Elsewhere run it on a machine that has some:
/// `sysctl vm.nr_hugepages=8`.
#[test]
fn reserved_ones() {
    alone!();
    let (page_bytes, free) = reserved();
    let needed = (SLOTS * 8).div_ceil(page_bytes);
    let more = (free < needed as u64).then(|| MorePages::reserve(needed + 2)).flatten();
    let (_, free) = reserved();
    if free < needed as u64 {
        eprintln!("no reserved huge pages, and no right to reserve some: not tested");
        return;
    }
    for pages in [HugePages::Size(page_bytes), HugePages::Any] {
        let memory = Memory::require().huge_pages(pages);
        for (memory, is_there) in [(memory, false), (memory.prefault().lock(), true)] {
            let (placement, part) = ring(memory).unwrap();
            assert_eq!(placement.huge_bytes(), placement.mapped_bytes(), "{placement}");
            assert_eq!(part.page_bytes, page_bytes);
            assert!(!is_there || part.resident == placement.mapped_bytes(), "{part:?}");
        }
    }
    assert_eq!(reserved(), (page_bytes, free), "the drop gives them back");
    drop(more);
}

#[test]
fn pages_are_refused_where_too_few_are_reserved() {
    alone!();
    let (page_bytes, free) = reserved();
    let needed = (SLOTS * 8).div_ceil(page_bytes);
    if free >= needed as u64 {
        eprintln!("this machine has reserved huge pages: the refusal is not tested");
        return;
    }
    let memory = Memory::require().huge_pages(HugePages::Size(page_bytes));
    let Err(CapacityError::Memory(error)) = ring(memory).map(|_| ()) else { panic!("it has no pages") };
    assert_eq!(error.option(), MemoryOption::HugePages);
    assert_eq!(error.reason(), Reason::TooFewHugePages { page_bytes, needed, free });
    let text = error.to_string();
    assert!(text.contains(&format!("{free} are free")) && text.contains("nr_hugepages"), "{text}");

    let (placement, part) = ring(Memory::prefer().huge_pages(HugePages::Size(page_bytes))).unwrap();
    assert_eq!(placement.huge_pages(), Grant::Refused(error));
    assert_eq!((placement.huge_bytes(), part.transparent), (0, 0), "{placement}");
    transparent(HugePages::Any);
}

#[test]
fn no_system_has_such_sizes() {
    alone!();
    for page_bytes in [0, 3, 512, 8 << 10, 3 << 20, 1 << 60] {
        let memory = Memory::require().huge_pages(HugePages::Size(page_bytes));
        let Err(CapacityError::Memory(error)) = ring(memory).map(|_| ()) else { panic!("it has no pages") };
        assert_eq!(error.reason(), Reason::HugePageSize { page_bytes });
        assert!(error.to_string().contains("/sys/kernel/mm/hugepages"), "{error}");
        let (placement, _) = ring(Memory::prefer().huge_pages(HugePages::Size(page_bytes))).unwrap();
        assert_eq!(placement.huge_pages(), Grant::Refused(error));
    }
}

#[test]
fn builders_have_huge_pages() {
    alone!();
    if !has_transparent() {
        return;
    }
    for make in KINDS {
        let made = make(Memory::require().huge_pages(HugePages::Transparent)).unwrap();
        same(&made, made.placement().huge_bytes(), made.placement().mapped_bytes());
    }
}

#[test]
fn pool_says_which_option_it_lacks() {
    alone!();
    let memory = Memory::require().huge_pages(HugePages::Size(3));
    let error = annulus::pool::BufferPool::with_memory(1024, 4, memory).unwrap_err();
    assert!(error.to_string().contains("there are no pages of 3 bytes"), "{error}");
}

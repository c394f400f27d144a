//! Pages that are there from the start, and rings without options.

use annulus::Settings;
use annulus::bus::Bus;
use annulus::memory::{Grant, Memory, MemoryOption, Placement, Reason};
use annulus::spsc;

use crate::memory::asks::part_of;
use crate::memory::rings::{BYTES, KINDS, address_of, same};
use crate::support::alone;

#[test]
fn memory_without_options_is_the_allocators() {
    alone!();
    for make in KINDS {
        let made = make(Memory::require()).unwrap();
        same(&made, made.placement(), Placement::default());
    }
}

#[test]
fn pages_are_there() {
    alone!();
    for make in KINDS {
        let made = make(Memory::require().prefault()).unwrap();
        let placement = made.placement();
        same(&made, placement.prefault(), Grant::Granted);
        same(&made, placement.lock(), Grant::NotRequested);
        assert!(placement.mapped_bytes() >= BYTES, "{}: {placement}", made.name);
        if let Some(address) = made.address {
            let part = part_of(address).unwrap();
            same(&made, part.bytes, placement.mapped_bytes());
            same(&made, part.resident, part.bytes);
        }
    }
}

#[test]
fn page_that_went_away_shows() {
    alone!();
    let memory = Memory::require().prefault();
    let (mut producer, mut consumer) = spsc::with::<u64>(Settings::new(BYTES / 8).memory(memory)).unwrap();
    producer.send(7).unwrap();
    let part = part_of(address_of(&consumer.readable()[0])).unwrap();
    // SAFETY: the pages of the ring, of which the numbers in it become 0.
    let code = unsafe { libc::madvise(part.start as *mut _, part.bytes, libc::MADV_DONTNEED) };
    assert_eq!(code, 0);
    let refusal = consumer.placement().prefault().refusal().unwrap();
    assert_eq!(refusal.option(), MemoryOption::Prefault);
    assert_eq!(refusal.reason(), Reason::Partly { bytes: 0, of: part.bytes });
    assert!(consumer.placement().to_string().contains("only 0 bytes"), "{}", consumer.placement());
    assert_eq!(consumer.recv(), Ok(0), "and comes back with the next look");
}

#[test]
fn slots_without_a_size_need_no_page() {
    alone!();
    let memory = Memory::require().prefault().lock();
    let (mut producer, mut consumer) = spsc::with::<()>(Settings::new(5).memory(memory)).unwrap();
    producer.send(()).unwrap();
    assert_eq!(consumer.recv(), Ok(()));
    assert_eq!((producer.placement().mapped_bytes(), producer.placement().refusals().count()), (0, 0));
}

/// Some options are required and others preferred, each with its own answer.
#[test]
fn topic_of_a_bus_has_the_memory_options() {
    alone!();
    let bus = Bus::<u64>::new(8);
    let memory = Memory::require().prefault().and(Memory::prefer().lock());
    let subscriber = bus.topic("prices").capacity(1024).memory(memory).subscribe().unwrap();
    let placement = subscriber.placement();
    assert_eq!((placement.prefault(), placement.huge_pages()), (Grant::Granted, Grant::NotRequested));
    assert!(placement.prefault().is_granted() && !placement.huge_pages().is_granted());
    assert_eq!(placement.huge_pages().to_string(), "not requested");
    assert_ne!(placement.lock(), Grant::NotRequested);
    assert!(placement.mapped_bytes() >= 1024 * 16);
    assert!(
        placement.to_string().contains("bytes mapped, 0 of them in huge pages\nprefault: granted\nlock: ")
    );
    let plain = bus.try_subscribe("names").unwrap();
    assert_eq!(plain.placement().to_string(), "memory of the allocator");
}

#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(align(16384))]
struct Wide(u8);

#[test]
fn slot_may_have_a_large_alignment() {
    alone!();
    let memory = Memory::require().prefault();
    let (mut producer, mut consumer) = spsc::with::<Wide>(Settings::new(3).memory(memory)).unwrap();
    for round in 0..7 {
        producer.send(Wide(round)).unwrap();
        assert_eq!(address_of(&consumer.readable()[0]) % 16384, 0);
        assert_eq!(consumer.recv(), Ok(Wide(round)));
    }
}

#[test]
fn capacity_beyond_memory_is_too_large() {
    alone!();
    let memory = Memory::prefer().prefault().lock();
    let error = spsc::with::<u64>(Settings::new(usize::MAX / 16).memory(memory)).unwrap_err();
    assert!(matches!(error, annulus::CapacityError::TooLarge { slot_bytes: 8, .. }), "{error}");
}

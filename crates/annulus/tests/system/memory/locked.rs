//! Locked pages. (What a limit refuses: `tests/system/memory_limit.rs`.)

use annulus::Settings;
use annulus::memory::{Grant, Memory, Reason};
use annulus::spsc;

use crate::memory::asks::{part_of, status};
use crate::memory::rings::{BYTES, KINDS, address_of, same};
use crate::support::alone;

#[test]
fn pages_are_locked_until_the_drop() {
    alone!();
    let before = status("VmLck");
    for make in KINDS {
        let made = make(Memory::require().lock()).unwrap();
        let placement = made.placement();
        same(&made, placement.lock(), Grant::Granted);
        same(&made, status("VmLck"), before + placement.mapped_bytes());
        if let Some(address) = made.address {
            let part = part_of(address).unwrap();
            assert!(part.is_locked() && part.resident == part.bytes, "{}: {part:?}", made.name);
        }
        drop(made);
        assert_eq!(status("VmLck"), before);
    }
}

#[test]
fn lock_that_was_undone_shows() {
    alone!();
    let memory = Memory::require().lock();
    let (mut producer, mut consumer) = spsc::with::<u64>(Settings::new(BYTES / 8).memory(memory)).unwrap();
    producer.send(7).unwrap();
    let part = part_of(address_of(&consumer.readable()[0])).unwrap();
    // The call itself: a sanitizer has a `munlock` of its own, which does nothing.
    // SAFETY: the pages of the ring; no byte changes.
    assert_eq!(unsafe { libc::syscall(libc::SYS_munlock, part.start, part.bytes) }, 0);
    let refusal = producer.placement().lock().refusal().unwrap();
    assert_eq!(refusal.reason(), Reason::Partly { bytes: 0, of: part.bytes });
}

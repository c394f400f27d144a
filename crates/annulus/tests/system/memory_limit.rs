//! A process that may lock little memory, or none: what a builder says, and what a join says.
//!
//! One test, because the limit is that of the whole process.
#![cfg(all(target_os = "linux", feature = "std", not(any(miri, annulus_loom, annulus_emulated))))]

use std::fs;

use annulus::Settings;
use annulus::event;
use annulus::memory::{Grant, Memory, MemoryError, MemoryOption, Reason};
use annulus::{CapacityError, RegisterError, broadcast, mpsc, pool, spsc};

/// The calling thread loses the right to lock whatever it wants, if it has that.
fn become_nobody() {
    const NOBODY: libc::uid_t = 65_534;
    // SAFETY: numbers only. The bare call is for this thread alone; libc's would be for all of them.
    let code = unsafe { libc::syscall(libc::SYS_setresuid, NOBODY, NOBODY, NOBODY) };
    let status = fs::read_to_string("/proc/thread-self/status").unwrap();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap().trim();
    let capabilities = u64::from_str_radix(effective, 16).unwrap();
    // `CAP_IPC_LOCK`
    assert_eq!(capabilities >> 14 & 1, 0, "{code}");
}

fn limit(bytes: u64) {
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
    // SAFETY: it reads the two numbers.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_MEMLOCK, &raw const limit) }, 0);
}

#[allow(clippy::needless_pass_by_value, reason = "shorter calls")]
fn is_the_limit(error: MemoryError, bytes: usize, limit: u64) {
    assert_eq!(error.option(), MemoryOption::Lock);
    assert_eq!(error.reason(), Reason::LockLimit { bytes, limit });
    let text = error.to_string();
    assert!(text.contains(&format!("may lock {limit} in all")) && text.contains("ulimit -l"), "{text}");
}

#[test]
fn limit_is_in_the_error() {
    crate::support::alone!();
    become_nobody();
    // Two pages of any size.
    let page = page_bytes();
    let two = 2 * page as u64;
    limit(two);
    let required = Memory::require().lock();
    let slots = page / 8;

    // A lock is undone by the drop: else the third would fail.
    for _ in 0..3 {
        let (producer, _consumer) = spsc::with::<u64>(Settings::new(2 * slots).memory(required)).unwrap();
        assert_eq!(producer.placement().lock(), Grant::Granted);
    }
    // A ring for each producer: the third has no room.
    let (first, consumer) = mpsc::with::<u64>(Settings::new(slots).memory(required)).unwrap();
    let second = first.register().unwrap();
    match first.register().unwrap_err() {
        RegisterError::Capacity(CapacityError::Memory(error)) => is_the_limit(error, page, two),
        other => panic!("{other}"),
    }
    assert_eq!(consumer.placement().lock(), Grant::Granted, "there is no third ring");
    drop(second);
    let mut second = first.register().expect("it takes over the ring of the one that left");
    second.send(7).unwrap();
    drop((first, second, consumer));

    // Where it is only preferred, the ring says that it is not locked; one that is says that it is.
    let preferred = Memory::prefer().lock();
    let (first, consumer) = mpsc::with::<u64>(Settings::new(2 * slots).memory(preferred)).unwrap();
    let second = first.register().unwrap();
    assert_eq!(first.placement().lock(), Grant::Granted);
    is_the_limit(second.placement().lock().refusal().unwrap(), 2 * page, two);
    is_the_limit(consumer.placement().lock().refusal().unwrap(), 2 * page, two);
    drop((first, second, consumer));

    limit(0);
    let error = spsc::with::<u64>(Settings::new(slots).memory(required)).unwrap_err();
    assert!(matches!(error, CapacityError::Memory(error) if error.option() == MemoryOption::Lock));
    match event::with(Settings::new(slots).memory(required), || 0_u8).unwrap_err() {
        CapacityError::Memory(error) => assert!(matches!(error.reason(), Reason::LockLimit { limit: 0, .. })),
        other => panic!("{other}"),
    }
    match pool::BufferPool::with_memory(page, 1, required).unwrap_err() {
        pool::PoolError::Memory(error) => is_the_limit(error, page, 0),
        other => panic!("{other}"),
    }
    #[cfg(feature = "shm")]
    shared(page);
    let (_publisher, source) = broadcast::lossy_with::<u64>(Settings::new(64).memory(preferred)).unwrap();
    is_the_limit(source.placement().refusals().next().unwrap(), page, 0);
}

/// Memory that processes share: of its creator, and of a process that joins, neither of which may lock a
/// byte.
#[cfg(feature = "shm")]
fn shared(page: usize) {
    use annulus::shm::{self, AttachError, ShareError, Shared};

    // With the header, and the schema.
    let settings = Settings::new((page - 640) / 16);
    let lossy = |memory| shm::broadcast::lossy::<u64>(settings.clone().memory(memory));
    match lossy(Memory::require().lock()).map(drop).unwrap_err() {
        ShareError::Memory(error) => is_the_limit(error, page, 0),
        other => panic!("{other}"),
    }
    let Shared { handle: publisher, invitation, .. } = lossy(Memory::prefer().lock()).unwrap();
    is_the_limit(publisher.placement().lock().refusal().unwrap(), page, 0);
    let invitation = invitation.with_memory(Memory::require().lock());
    match invitation.accept::<u64>().map(drop).unwrap_err() {
        AttachError::Memory(error) => is_the_limit(error, page, 0),
        other => panic!("{other}"),
    }
    let invitation = invitation.with_memory(Memory::prefer().lock());
    let ring = invitation.accept::<u64>().unwrap();
    is_the_limit(ring.subscribable().placement().lock().refusal().unwrap(), page, 0);
}

fn page_bytes() -> usize {
    // SAFETY: it takes a number.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap()
}

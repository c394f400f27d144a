//! Memory that processes share: each option of each kind of ring, for its creator and for processes that
//! join.

use std::fs;
use std::os::fd::AsRawFd;

use annulus::memory::{Grant, HugePages, Memory, MemoryError, MemoryOption, Placement, Reason};
use annulus::shm::{AttachError, Invitation, ShareError, Shared, WhenGone, broadcast, bytes, mpsc, spsc};

use crate::memory::asks::{Part, status};
use crate::memory::rings::BYTES;
use crate::support::alone;

const SLOTS: usize = BYTES / 8;
const CLOSE: WhenGone = WhenGone::Close;

/// A ring between processes, as its creator has it.
struct Made {
    name: &'static str,
    placement: Box<dyn Fn() -> Placement>,
    /// Another handle, as other processes have it: what `look` finds while it is there.
    join: Join,
    invitation: Invitation,
}

type Join = fn(&Invitation, &mut dyn FnMut(Placement)) -> Result<(), AttachError>;

impl Made {
    /// What another process's handle says of the memory, and its mapping.
    fn joined(&self) -> Result<(Placement, Part), AttachError> {
        let before: Vec<_> = all_parts().iter().map(|part| part.start).collect();
        let mut found = None;
        (self.join)(&self.invitation, &mut |placement| {
            let is_new = |part: &Part| part.bytes >= BYTES && !before.contains(&part.start);
            found = Some((placement, all_parts().into_iter().find(is_new).unwrap()));
        })?;
        Ok(found.unwrap())
    }
}

fn made(
    name: &'static str,
    invitation: Invitation,
    placement: impl Fn() -> Placement + 'static,
    join: Join,
) -> Made {
    Made { name, placement: Box::new(placement), join, invitation }
}

type Make = fn(Memory) -> Result<Made, ShareError>;

const KINDS: [Make; 5] = [lossy, lossless, one_producer, producers, records];

fn lossy(memory: Memory) -> Result<Made, ShareError> {
    let settings = annulus::Settings::new(SLOTS).memory(memory);
    let Shared { handle: publisher, invitation, .. } = broadcast::lossy::<u64>(settings)?;
    Ok(made(
        "lossy",
        invitation,
        move || publisher.placement(),
        |invitation, look| {
            let ring = invitation.accept::<u64>()?;
            look(ring.subscribable().subscribe().placement());
            Ok(())
        },
    ))
}

fn lossless(memory: Memory) -> Result<Made, ShareError> {
    let settings = annulus::Settings::new(SLOTS).memory(memory);
    let Shared { handle: publisher, invitation, .. } = broadcast::lossless::<u64>(settings, 2)?;
    Ok(made(
        "lossless",
        invitation,
        move || publisher.placement(),
        |invitation, look| {
            let ring = invitation.accept_lossless::<u64>()?;
            look(ring.subscribe().unwrap().placement());
            Ok(())
        },
    ))
}

fn one_producer(memory: Memory) -> Result<Made, ShareError> {
    let settings = annulus::Settings::new(SLOTS).memory(memory);
    let Shared { handle: producer, invitation, .. } = spsc::producer::<u64>(settings, CLOSE)?;
    Ok(made(
        "spsc",
        invitation,
        move || producer.placement(),
        |invitation, look| {
            let (consumer, _) = spsc::consumer::<u64>(invitation)?;
            look(consumer.placement());
            Ok(())
        },
    ))
}

fn producers(memory: Memory) -> Result<Made, ShareError> {
    let settings = annulus::Settings::new(SLOTS / 2).memory(memory);
    let Shared { handle: consumer, invitation, .. } =
        mpsc::Builder::new(settings).producers(2).build::<u64>()?;
    Ok(made(
        "mpsc",
        invitation,
        move || consumer.placement(),
        |invitation, look| {
            let (producer, _) = mpsc::producer::<u64>(invitation)?;
            // Its own lane is half of all.
            assert_eq!(producer.placement().mapped_bytes(), BYTES / 2);
            look(producer.placement());
            Ok(())
        },
    ))
}

fn records(memory: Memory) -> Result<Made, ShareError> {
    let settings = annulus::Settings::new(BYTES).memory(memory);
    let Shared { handle: producer, invitation, .. } = bytes::producer(settings, CLOSE)?;
    Ok(made(
        "bytes",
        invitation,
        move || producer.placement(),
        |invitation, look| {
            let (consumer, _) = bytes::consumer(invitation)?;
            look(consumer.placement());
            Ok(())
        },
    ))
}

fn refused(made: Result<Made, ShareError>) -> MemoryError {
    match made.map(drop).unwrap_err() {
        ShareError::Memory(error) => error,
        other => panic!("{other}"),
    }
}

/// The mappings of memory that rings share.
fn all_parts() -> Vec<Part> {
    crate::memory::asks::parts().into_iter().filter(|part| part.name.contains("/memfd:annulus ")).collect()
}

#[test]
fn ring_without_options_says_so() {
    alone!();
    for make in KINDS {
        let made = make(Memory::require()).unwrap();
        let placement = (made.placement)();
        assert!(placement.is_shared() && placement.mapped_bytes() >= BYTES, "{}: {placement}", made.name);
        for grant in [placement.huge_pages(), placement.prefault(), placement.lock(), placement.node()] {
            assert_eq!(grant, Grant::NotRequested, "{}", made.name);
        }
    }
}

#[test]
fn pages_are_there_and_locked_until_the_drop() {
    alone!();
    let before = status("VmLck");
    for make in KINDS {
        let made = make(Memory::require().prefault().lock()).unwrap();
        let placement = (made.placement)();
        assert_eq!(placement.prefault(), Grant::Granted, "{}: {placement}", made.name);
        assert_eq!(placement.lock(), Grant::Granted, "{}: {placement}", made.name);
        let parts = all_parts();
        let locked: Vec<_> = parts.iter().filter(|part| part.is_locked()).collect();
        let [part] = locked[..] else { panic!("{}: {parts:?}", made.name) };
        assert!(part.bytes >= placement.mapped_bytes() && part.resident == part.bytes, "{part:?}");
        assert_eq!(status("VmLck"), before + part.bytes, "{}", made.name);

        // The lock of another process is its own.
        let (joined, part) = made.joined().unwrap();
        assert_eq!((joined.lock(), joined.prefault()), (Grant::NotRequested, Grant::NotRequested));
        assert!(!part.is_locked(), "{}", made.name);
        drop(made);
        assert_eq!(status("VmLck"), before);
        assert!(all_parts().is_empty(), "{:?}", all_parts());
    }
}

#[test]
fn joiner_may_lock_its_mapping() {
    alone!();
    for make in KINDS {
        let mut made = make(Memory::require()).unwrap();
        made.invitation = made.invitation.with_memory(Memory::require().lock());
        let (joined, part) = made.joined().unwrap();
        assert_eq!(joined.lock(), Grant::Granted, "{}: {joined}", made.name);
        assert!(joined.is_shared() && part.is_locked(), "{}", made.name);
        assert_eq!((made.placement)().lock(), Grant::NotRequested);
        assert_eq!(status("VmLck"), 0, "the drop undoes it");

        // What only the creator decides is told, and changed by nobody.
        let asked = Memory::require().huge_pages(HugePages::Size(3));
        made.invitation = made.invitation.with_memory(asked);
        let refused = made.joined().err().unwrap();
        let AttachError::Memory(error) = &refused else { panic!("{refused}") };
        assert_eq!(error.option(), MemoryOption::HugePages, "{}", made.name);
        assert_eq!(refused.to_string(), error.to_string());
    }
}

/// A lock that somebody has undone.
#[test]
fn shared_lock_that_was_undone_shows() {
    alone!();
    for make in KINDS {
        let made = make(Memory::require().lock()).unwrap();
        let parts = all_parts();
        let part = parts.iter().find(|part| part.is_locked()).unwrap();
        // SAFETY: the pages of the ring; no byte changes.
        assert_eq!(unsafe { libc::syscall(libc::SYS_munlock, part.start, part.bytes) }, 0);
        let refusal = (made.placement)().lock().refusal().unwrap();
        assert_eq!(refusal.reason(), Reason::Partly { bytes: 0, of: part.bytes }, "{}", made.name);
    }
}

/// The kernel's switch for transparent huge pages in memory that processes share.
const SWITCH: &str = "/sys/kernel/mm/transparent_hugepage/shmem_enabled";

/// The switch has this position while this lives.
struct Switched {
    before: String,
    /// Keeps other runs of these tests away.
    _lock: fs::File,
}

impl Switched {
    /// `None` where this process may not switch, or there is no such switch.
    fn to(word: &str) -> Option<Self> {
        let lock = fs::File::open(SWITCH).ok()?;
        // SAFETY: it takes two numbers.
        assert_eq!(unsafe { libc::flock(lock.as_raw_fd(), libc::LOCK_EX) }, 0);
        let words = fs::read_to_string(SWITCH).ok()?;
        let before = words.split_once('[')?.1.split_once(']')?.0.to_owned();
        if before != word {
            fs::write(SWITCH, word).ok()?;
        }
        Some(Self { before, _lock: lock })
    }
}

impl Drop for Switched {
    fn drop(&mut self) {
        // (Refused where nothing was switched.)
        let _ = fs::write(SWITCH, &self.before);
    }
}

fn huge() -> Memory {
    Memory::require().huge_pages(HugePages::Transparent)
}

#[test]
fn transparent_pages_that_are_off() {
    alone!();
    let Some(_off) = Switched::to("never") else {
        eprintln!("no right to switch transparent huge pages off: not tested");
        return;
    };
    for make in KINDS {
        let error = refused(make(huge()));
        assert_eq!((error.option(), error.reason()), (MemoryOption::HugePages, Reason::SharedTransparentOff));
        let made = make(Memory::prefer().huge_pages(HugePages::Any).prefault()).unwrap();
        let placement = (made.placement)();
        assert_eq!(placement.huge_pages().refusal(), Some(error), "{}", made.name);
        assert_eq!((placement.huge_bytes(), placement.prefault()), (0, Grant::Granted));
    }
}

/// Switches them on where it may (as root, for example).
#[test]
fn transparent_pages_that_are_on() {
    alone!();
    let Some(_on) = Switched::to("advise") else {
        eprintln!("no right to switch transparent huge pages on: not tested");
        return;
    };
    for make in KINDS {
        for pages in [HugePages::Transparent, HugePages::Any] {
            let made = make(Memory::require().huge_pages(pages).prefault().lock()).unwrap();
            let placement = (made.placement)();
            let bytes = placement.mapped_bytes();
            assert_eq!(placement.huge_bytes(), bytes, "{}: {placement}", made.name);
            let words =
                format!("{bytes} bytes in memory that processes share, {bytes} of them in huge pages\n");
            assert!(placement.to_string().starts_with(&words), "{placement}");
            let parts = all_parts();
            let part = parts.iter().find(|part| part.is_locked()).unwrap();
            assert_eq!((part.transparent, part.resident), (part.bytes, part.bytes), "{}", made.name);
            // So has a process that joins, at another address.
            let (_, part) = made.joined().unwrap();
            assert_eq!(part.transparent, part.bytes, "{}", made.name);
        }
    }
}

#[test]
fn reserved_pages_are_refused() {
    alone!();
    for make in KINDS {
        for page_bytes in [2 << 20, 3] {
            let error = refused(make(Memory::require().huge_pages(HugePages::Size(page_bytes))));
            assert_eq!(error.option(), MemoryOption::HugePages);
            assert_eq!(error.reason(), Reason::ReservedBetweenProcesses);
            let made = make(Memory::prefer().huge_pages(HugePages::Size(page_bytes))).unwrap();
            assert_eq!((made.placement)().huge_pages(), Grant::Refused(error), "{}", made.name);
        }
    }
}

#[cfg(feature = "numa")]
#[test]
fn shared_slots_are_on_their_node() {
    use crate::memory::nodes::{BIND, PREFERRED, node_of, policy_of};

    alone!();
    for make in KINDS {
        for (memory, mode) in [(Memory::require(), BIND), (Memory::prefer(), PREFERRED)] {
            let made = make(memory.node(0)).unwrap();
            assert_eq!((made.placement)().node(), Grant::Granted, "{}", made.name);
            // The policy is that of the memory: each process has it.
            (made.join)(&made.invitation, &mut |_| {
                let parts = all_parts();
                let rings = parts.iter().filter(|part| part.bytes >= BYTES);
                assert!(
                    rings.clone().count() == 2
                        && rings.into_iter().all(|part| policy_of(part.start) == (mode, 1))
                );
            })
            .unwrap();
            let address = all_parts().iter().find(|part| part.bytes >= BYTES).unwrap().start;
            assert_eq!((policy_of(address), node_of(address)), ((mode, 1), 0), "{}", made.name);
        }
        let error = refused(make(Memory::require().node(77)));
        assert!(matches!(error.reason(), Reason::NoSuchNode { node: 77, .. }), "{error}");
        let made = make(Memory::prefer().node(77)).unwrap();
        assert_eq!((made.placement)().node().refusal(), Some(error), "{}", made.name);
    }
}

#[cfg(feature = "numa")]
#[test]
fn shared_slots_do_not_move_to_a_reader() {
    alone!();
    for make in KINDS {
        let error = refused(make(Memory::require().near_reader()));
        assert_eq!(error.reason(), Reason::ReaderBetweenProcesses);
        let made = make(Memory::prefer().near_reader()).unwrap();
        assert_eq!((made.placement)().node(), Grant::Refused(error), "{}", made.name);
    }
    let settings = annulus::Settings::new(SLOTS).memory(Memory::prefer().near_reader());
    let Shared { handle: _producer, invitation, .. } = spsc::producer::<u64>(settings, CLOSE).unwrap();
    let (consumer, _) = spsc::consumer::<u64>(&invitation).unwrap();
    let error = consumer.bring_memory_here().unwrap_err();
    assert_eq!(error.reason(), Reason::ReaderBetweenProcesses);
}

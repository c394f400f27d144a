//! NUMA nodes. The node of a page, and the policy of its mapping, as the kernel says them.

use annulus::Settings;
use annulus::memory::{Grant, Memory, MemoryOption, Reason};
use annulus::queue;
use annulus::queue::kind::{InPlace, Joinable, QueueKind};
use annulus::queue::{Consumer, Producer};
use annulus::{CapacityError, RegisterError, mpmc, mpsc, spsc};

use crate::memory::rings::{KINDS, address_of, same};
use crate::support::alone;

/// `MPOL_DEFAULT`, `MPOL_PREFERRED` and `MPOL_BIND`.
const DEFAULT: i32 = 0;
pub(crate) const PREFERRED: i32 = 1;
pub(crate) const BIND: i32 = 2;

/// The policy at this address, and its nodes as bits.
pub(crate) fn policy_of(address: usize) -> (i32, usize) {
    let (mut mode, mut mask) = (-1_i32, [0_usize; 16]);
    // SAFETY: the mask has as many bits as are said; the last argument is `MPOL_F_ADDR`.
    let code = unsafe {
        libc::syscall(libc::SYS_get_mempolicy, &raw mut mode, mask.as_mut_ptr(), 1024_usize, address, 2)
    };
    assert_eq!(code, 0, "{}", std::io::Error::last_os_error());
    (mode, mask[0])
}

/// The node on which the page of this address lies: `MPOL_F_NODE` and `MPOL_F_ADDR`.
pub(crate) fn node_of(address: usize) -> usize {
    let mut node = -1_i32;
    let no_mask = std::ptr::null_mut::<usize>();
    // SAFETY: it writes one number.
    let code = unsafe { libc::syscall(libc::SYS_get_mempolicy, &raw mut node, no_mask, 0_usize, address, 3) };
    assert_eq!(code, 0, "{}", std::io::Error::last_os_error());
    usize::try_from(node).unwrap()
}

/// The node of the core on which this thread runs.
fn node_here() -> usize {
    let (mut core, mut node) = (0_u32, 0_u32);
    // SAFETY: it writes two numbers.
    let code = unsafe { libc::syscall(libc::SYS_getcpu, &raw mut core, &raw mut node, 0_usize) };
    assert_eq!(code, 0);
    node as usize
}

#[test]
fn slots_are_on_their_node() {
    alone!();
    for make in KINDS {
        for (memory, mode) in [(Memory::require(), BIND), (Memory::prefer(), PREFERRED)] {
            let made = make(memory.node(0)).unwrap();
            same(&made, made.placement().node(), Grant::Granted);
            if let Some(address) = made.address {
                same(&made, policy_of(address), (mode, 1));
                same(&made, node_of(address), 0);
            }
        }
    }
}

#[test]
fn a_node_that_is_not_there() {
    alone!();
    for (make, node) in KINDS.into_iter().zip([1023, 1_000_000].into_iter().cycle()) {
        let error = make(Memory::require().node(node)).err().expect("there is none");
        assert_eq!(error.option(), MemoryOption::Node);
        assert_eq!(error.reason(), Reason::NoSuchNode { node, os_error: libc::EINVAL });
        assert!(error.to_string().contains(&format!("no memory on node {node}")), "{error}");
        let made = make(Memory::prefer().node(node)).unwrap();
        same(&made, made.placement().node(), Grant::Refused(error));
    }
}

fn goes_to_the_reader<K: InPlace + QueueKind>() {
    let memory = Memory::require().near_reader();
    let (mut producer, mut consumer) = queue::with::<u64, K>(Settings::new(10_000).memory(memory)).unwrap();
    producer.send_batch(&vec![7; 10_000]).unwrap();
    assert_eq!(consumer.placement().node().refusal().unwrap().reason(), Reason::NoReader);
    let addresses = |values: &[u64]| (address_of(&values[0]), address_of(&values[9_999]));
    let (first, last) = addresses(consumer.readable());
    assert_eq!(policy_of(first).0, DEFAULT);

    consumer.bring_memory_here().unwrap();
    assert_eq!(consumer.placement().node(), Grant::Granted);
    let here = node_here();
    assert_eq!((policy_of(first), policy_of(last)), ((BIND, 1 << here), (BIND, 1 << here)));
    assert!(consumer.readable().iter().all(|&number| number == 7));
    assert_eq!(consumer.len(), 10_000);
}

#[test]
fn one_to_one() {
    alone!();
    goes_to_the_reader::<spsc::Spsc>();
    goes_to_the_reader::<mpsc::Mpsc>();
}

fn rings_that_join_go_there<K: Joinable>() -> (Producer<u64, K>, Consumer<u64, K>) {
    let memory = Memory::require().near_reader();
    let (first, consumer) = queue::with::<u64, K>(Settings::new(1000).memory(memory)).unwrap();
    let second = first.register().unwrap();
    consumer.bring_memory_here().unwrap();
    let third = first.register().unwrap();
    for producer in [&first, &second, &third] {
        assert_eq!(producer.placement().node(), Grant::Granted);
    }
    (third, consumer)
}

#[test]
fn joined_ones() {
    alone!();
    let (mut joined, mut consumer) = rings_that_join_go_there::<mpsc::Mpsc>();
    joined.send(7).unwrap();
    assert_eq!(policy_of(address_of(&consumer.readable()[0])), (BIND, 1 << node_here()));
    rings_that_join_go_there::<mpmc::Mpmc>();
}

#[test]
fn ring_without_the_option_says_not_requested() {
    alone!();
    let (_producer, consumer) = spsc::channel::<u64>(10);
    assert_eq!(consumer.bring_memory_here().unwrap_err().reason(), Reason::NotRequested);
    let memory = Memory::require().prefault();
    let (_producer, consumer) = spsc::with::<u64>(Settings::new(10).memory(memory)).unwrap();
    assert_eq!(consumer.bring_memory_here().unwrap_err().reason(), Reason::NotRequested);
}

#[test]
fn broadcast_and_the_others() {
    alone!();
    let memory = Memory::require().near_reader();
    let (publisher, source) =
        annulus::broadcast::lossy_with::<u64>(annulus::Settings::new(64).memory(memory)).unwrap();
    source.subscribe().bring_memory_here().unwrap();
    assert_eq!(publisher.placement().node(), Grant::Granted);

    let (publisher, source) =
        annulus::broadcast::lossy_with::<u64>(annulus::Settings::new(64).memory(memory)).unwrap();
    source.subscribe_group::<2>().bring_memory_here().unwrap();
    assert_eq!(publisher.placement().node(), Grant::Granted);

    let (publisher, source) =
        annulus::broadcast::bytes::lossy_with(annulus::Settings::new(64).memory(memory)).unwrap();
    assert_eq!(publisher.placement().node().refusal().unwrap().reason(), Reason::NoReader);
    source.subscribe().bring_memory_here().unwrap();
    assert_eq!(publisher.placement().node(), Grant::Granted, "of records and places");

    let (producer, consumer) =
        annulus::queue::bytes::with(annulus::Settings::new(64).memory(memory)).unwrap();
    consumer.bring_memory_here().unwrap();
    assert_eq!(producer.placement().node(), Grant::Granted);

    let settings = annulus::Settings::new(64).memory(memory);
    let (publisher, source) = annulus::event::with(settings, String::new).unwrap();
    source.subscribe().bring_memory_here().unwrap();
    assert_eq!(publisher.placement().node(), Grant::Granted);

    let (sender, receiver) =
        annulus::queue::ordered::with::<u64>(annulus::Settings::new(64).memory(memory)).unwrap();
    receiver.bring_memory_here().unwrap();
    assert_eq!(sender.placement().node(), Grant::Granted);

    let pool = annulus::pool::BufferPool::with_memory(64, 64, memory).unwrap();
    pool.bring_memory_here().unwrap();
    assert_eq!(pool.placement().node(), Grant::Granted);
}

#[test]
fn queue_and_broadcast_have_the_same_errors() {
    alone!();
    let memory = Memory::require().node(1023);
    let error = mpsc::with::<u64>(Settings::new(5).memory(memory)).unwrap_err();
    let CapacityError::Memory(ref of_memory) = error else { panic!("{error}") };
    assert_eq!(of_memory.option(), MemoryOption::Node);
    assert_eq!(error.to_string(), of_memory.to_string(), "it speaks for itself");
    assert!(matches!(RegisterError::from(error), RegisterError::Capacity(CapacityError::Memory(_))));
}

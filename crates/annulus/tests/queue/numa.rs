//! A queue's memory is on the NUMA node that was asked for.

use annulus::queue::{Builder, InPlace, Kind};
use annulus::{CapacityError, mpmc, mpsc, spmc, spsc};

/// Where the page lies in which this value is.
fn policy_of<T>(value: &T) -> (i32, usize) {
    let (mut mode, mut mask) = (-1_i32, [0_usize; 16]);
    let address = std::ptr::from_ref(value);
    // SAFETY: the mask has as many bits as are said; the last argument is `MPOL_F_ADDR`.
    let code = unsafe {
        libc::syscall(libc::SYS_get_mempolicy, &raw mut mode, mask.as_mut_ptr(), 1024_usize, address, 2)
    };
    assert_eq!(code, 0, "{}", std::io::Error::last_os_error());
    (mode, mask[0])
}

fn works<K: Kind>() {
    let (mut producer, mut consumer) = Builder::<K>::new(5).numa_node(0).build().unwrap();
    assert_eq!(producer.try_send_batch(&[1, 2, 3]), 3);
    assert_eq!(consumer.try_iter().sum::<i32>(), 6);
    let missing = Builder::<K>::new(5).numa_node(1023).build::<u64>().unwrap_err();
    assert!(matches!(missing, CapacityError::NumaNode { node: 1023, os_error: Some(_) }));
    assert!(missing.to_string().contains("NUMA node 1023"));
}

#[test]
fn every_kind() {
    works::<spsc::Spsc>();
    works::<mpsc::Mpsc>();
    works::<spmc::Spmc>();
    works::<mpmc::Mpmc>();
}

fn bound<K: InPlace>() {
    let (mut producer, mut consumer) = Builder::<K>::new(10_000).numa_node(0).build().unwrap();
    producer.send_batch(&vec![7_u64; 10_000]).unwrap();
    let values = consumer.readable();
    // `MPOL_BIND`, to node 0.
    assert_eq!((policy_of(&values[0]), policy_of(&values[9_999])), ((2, 1), (2, 1)));
}

#[test]
fn the_memory_is_where_it_was_asked_for() {
    bound::<spsc::Spsc>();
    bound::<mpsc::Mpsc>();
}

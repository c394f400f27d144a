//! A consumer that looks at quiet rings again and again takes them off its list in the end, and registers the
//! process for barriers then, not before (`registration.rs`). A process of its own, because a process
//! registers once.
#![cfg(all(target_os = "linux", feature = "std", not(miri)))]

use rustix::thread::{MembarrierCommand, MembarrierQuery, membarrier, membarrier_query};

#[test]
fn many_empty_polls_register_in_the_end() {
    const POLLS: usize = if cfg!(debug_assertions) { 100 } else { 2_000_000 };
    crate::support::alone!();
    if !membarrier_query().contains(MembarrierQuery::PRIVATE_EXPEDITED) {
        return; // an emulator: there is nothing to register for
    }
    let is_registered = || membarrier(MembarrierCommand::PrivateExpedited).is_ok();
    let (first, mut consumer) = annulus::mpsc::channel::<u64>(4);
    let mut producers: Vec<_> = (0..8).map(|_| first.clone()).collect();
    // A ring is on the list from its first message on.
    for producer in &mut producers {
        producer.try_send(1).unwrap();
    }
    (0..8).for_each(|_| assert_eq!(consumer.try_recv(), Ok(1)));
    assert!(!is_registered(), "at the start");
    for _ in 0..POLLS {
        assert!(consumer.try_recv().is_err());
    }
    assert!(is_registered(), "the rings are looked at for ever");
    // Each comes back with its next message.
    for producer in &mut producers {
        producer.try_send(7).unwrap();
    }
    assert_eq!(consumer.iter().take(8).collect::<Vec<_>>(), [7; 8]);
}

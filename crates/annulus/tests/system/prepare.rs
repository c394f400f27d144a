//! A process that says so in advance does not pay at its first sleep (see `registration.rs`).
#![cfg(all(target_os = "linux", feature = "std", not(miri)))]

use rustix::thread::{MembarrierCommand, MembarrierQuery, membarrier, membarrier_query};

#[test]
fn process_registers_when_it_says_so() {
    crate::support::alone!();
    if !membarrier_query().contains(MembarrierQuery::PRIVATE_EXPEDITED) {
        return; // an emulator: wakers pay for a fence of their own there
    }
    let barrier = || membarrier(MembarrierCommand::PrivateExpedited);
    assert!(barrier().is_err(), "the kernel refuses it to whoever has not registered");
    annulus::wait::prepare_process();
    assert_eq!(barrier(), Ok(()));
    annulus::wait::prepare_process();
    assert_eq!(barrier(), Ok(()));
}

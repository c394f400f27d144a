//! A test that hangs fails, and says where it stands: the watch of `support/hang.rs` at work.
#![cfg(all(target_os = "linux", feature = "std", not(miri)))]

use std::thread;

use crate::support::alone::again;

/// What a wake-up that was lost looks like. Run by the test below, and by nobody else.
#[test]
#[ignore = "hangs on purpose"]
fn reader_waits_for_a_message_that_never_comes() {
    let (_publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
    let mut subscriber = subscribable.subscribe();
    let reader = thread::spawn(move || subscriber.recv());
    reader.join().unwrap().unwrap();
}

#[test]
fn test_that_hangs_fails_and_says_where() {
    let test = "hang::reader_waits_for_a_message_that_never_comes";
    let Ok(output) = again(test).env("ANNULUS_HANG_SECONDS", "1").output() else {
        return; // an emulator, which can't begin another program
    };
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(text.contains(&format!("HANGS: {test}, at")), "the test: {text}");
    // The test waits for its thread, and that one for a message.
    assert!(text.contains("annulus::"), "where: {text}");
    assert_eq!(text.matches("HANGS: ").count(), 3, "how long, and the two threads: {text}");
}

//! A child that `fork` made.

/// Runs this in a child, and returns its exit code.
///
/// # Safety
///
/// It calls the system and the allocator only (which the C library makes ready for that): threads stayed
/// behind in the parent, and with them the locks that they had.
pub(crate) unsafe fn in_a_child(run: impl FnOnce() -> i32) -> i32 {
    // SAFETY: the caller's promise.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let code = run();
        // SAFETY: it ends the child, and runs nothing of the parent's.
        unsafe { libc::_exit(code) };
    }
    assert!(child > 0, "no second process");
    let mut status = 0;
    // SAFETY: it waits for the child, and `status` is there meanwhile.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert!(libc::WIFEXITED(status));
    libc::WEXITSTATUS(status)
}

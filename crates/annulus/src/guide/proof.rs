//! How it is proved.
//!
//! Code that shares memory between threads can be wrong in ways that no ordinary test finds. So each protocol
//! of this library is checked in several ways that have different weaknesses. The page
//! [`verify/README.md`](https://github.com/annulus-rs/annulus/blob/main/verify/README.md) lists every check
//! with its bounds, and says what is *not* covered. Two commands run them all: `ci/check` and `ci/proof`.
//!
//! | method | what it explores | what it cannot see |
//! | --- | --- | --- |
//! | [loom](https://docs.rs/loom) | every interleaving of small cases, on the real types | large cases; orderings that loom treats as stronger than they are |
//! | Promela models, checked by spin | every interleaving of larger cases, on a model | memory orderings |
//! | litmus tests | every outcome that C11, `AArch64` and RISC-V allow for a few accesses | anything larger |
//! | Miri | undefined behaviour, in some executions | most executions |
//! | stress, conformance, soaks | real threads on a real machine | what this machine does not do |
//! | model tests, fuzzing | each ring against a simple model, step by step | interleavings |
//! | sanitizers | use after free, leaks; data races in queues and the pool | what is not executed; fences |
//!
//! # A check that cannot fail proves nothing
//!
//! Each important check has a *seeded bug*: a small mistake in the code that a compiler flag turns on. An
//! ordering is too weak, a fence is missing, a second look is left out. `ci/seeded` turns on one after the
//! other and fails unless the check finds it. Litmus tests and Promela models have such seeded bugs as well.
//! Another program makes small changes all over the source. With each change, a test must fail.
//! Where none can, a comment says why.
//!
//! # Your program under `ThreadSanitizer`
//!
//! With `-Zsanitizer=thread -Zbuild-std` this library is compiled with it, too, and it understands queues and
//! the pool: they order by `Acquire` and `Release` alone. `ThreadSanitizer` knows no fences, so it
//! may report what hangs on one: the end of a pool, whose memory the last handle frees, and events of many
//! publishers. `ci/tsan` has the suppression for the pool. Programs in C, C++ and Zig are told by the library
//! of C what its rings order.
//!
//! # What the code promises to its reader
//!
//! - Every atomic access names the access that it pairs with. `docs/ORDERING.md` has a row for each, and
//!   `ci/tidy` compares that page with the code.
//! - Every `unsafe` block names the invariant that it relies on, and what keeps it.
//! - Your own code needs no `unsafe` to use a ring. The one exception is `Reservation::commit`, for slots
//!   that you write as uninitialized memory; `write_iter`, `write_slice` and `fill` do the same safely.
//!
//! # Try it
//!
//! The central promise of a lossy ring is easy to test from outside. A subscriber of a fast publisher never
//! sees a message that is half old and half new, and every message is either received or counted:
//!
//! ```
//! const MESSAGES: u64 = 20_000;
//!
//! let (mut publisher, subscribable) = annulus::broadcast::lossy::<[u64; 8]>(4); // overwritten all the time
//! let mut subscriber = subscribable.subscribe();
//! let reader = std::thread::spawn(move || {
//!     let mut last = None;
//!     while let Ok(words) = subscriber.recv() {
//!         assert!(words.iter().all(|&word| word == words[0]), "a torn message");
//!         assert!(last < Some(words[0]), "out of order, or twice");
//!         last = Some(words[0]);
//!     }
//!     subscriber.total_received() + subscriber.total_lagged()
//! });
//! for number in 0..MESSAGES {
//!     publisher.publish([number; 8]);
//! }
//! drop(publisher);
//! assert_eq!(reader.join().unwrap(), MESSAGES);
//! ```
//!
//! Such a test may also pass by luck. That is why the methods above exist.

//! Threads that must never be late.
//!
//! An audio callback has a few milliseconds for each buffer. A control loop has less. Such a thread must not
//! wait for a lock, because the thread that has it may not run just then. It must not ask the allocator for
//! memory, nor give memory back, because both may take a lock or enter the kernel. It must not make a system
//! call that may put it to sleep.
//!
//! # Verbs that ask nobody
//!
//! These verbs take no lock, allocate and free nothing, and make no system call, as long as nobody sleeps at
//! the ring (below). A test counts the allocations and the system calls of each of them:
//!
//! | ring | verbs |
//! | --- | --- |
//! | `spsc` | `try_send`, `try_recv`, `peek`, `advance`, `try_reserve`, `len`, `is_full`, `is_empty` |
//! | `mpsc`, `mpmc` | `try_send` |
//! | `spmc` | `try_send`, `try_recv` |
//! | `queue::ordered` | `try_send`, `try_recv` |
//! | `broadcast::lossy` | `publish`, `publish_batch`, `try_recv`, `latest`, `skip_to_latest`, `len` |
//! | `broadcast::lossless` | `try_publish`, `try_recv` |
//! | `event` | `try_publish`, `try_process`, `peek` |
//! | `pool` | `alloc`, `drop` |
//! | `oneshot` | `send`, `try_recv` |
//!
//! - The verbs of `spsc`, and of broadcast rings with one publisher, take a bounded number of steps.
//!   (`latest` and `skip_to_latest` look again if the publisher has gone round the whole ring meanwhile.) So
//!   does the `try_send` of an `mpsc` or `mpmc` producer, which has a ring of its own.
//! - With `queue::ordered`, `spmc` and a pool, a verb repeats a step if another thread was faster. That
//!   thread has then made progress, but there is no bound for this one.
//! - A publisher of a lossless ring looks at all subscribers' cursors twice in each lap, so its steps depend
//!   on how many there are.
//! - The value's own code is yours. A queue that moves a `Vec` allocates nothing, but the thread that drops
//!   the `Vec` frees it (below).
//!
//! The receiving side of `mpsc` and `mpmc` is not in the table: when it has looked at a quiet producer again
//! and again, it stops looking there, and asks the system for a barrier before it does. Take `spsc`, a ring
//! for each direction, or `queue::ordered`, for a real-time thread that receives.
//!
//! # Nobody sleeps at the ring
//!
//! If the other side sleeps in the ring (in `recv` or `send` with `Block`, in a
//! task, in a `select!`, at a descriptor), then the next message wakes it. That is a system call, or the code
//! of the waker. It does not wait, but the kernel's part of it has no bound that this library knows. The same
//! holds in the other direction: a `try_recv` that frees a slot wakes a sender that sleeps for room.
//!
//! So let the other side poll: with the `try_` verbs at a time of its own, or with a strategy that never
//! sleeps ([`BackoffSpin`](crate::WaitStrategy::BackoffSpin), [`PauseSpin`](crate::WaitStrategy::PauseSpin),
//! [`BusySpin`](crate::WaitStrategy::BusySpin)):
//!
//! ```
//! use annulus::{WaitStrategy, broadcast, spsc};
//! use std::time::Duration;
//!
//! // Changes go in, levels come out. Made before the callback runs: that allocates.
//! let (mut changes, mut changed) = spsc::channel::<f32>(64);
//! let (mut levels, subscribable) = broadcast::lossy::<f32>(8);
//! let mut meter = subscribable.subscribe();
//!
//! let mut gain = 1.0;
//! let mut callback = move |samples: &mut [f32]| {
//!     while let Ok(new) = changed.try_recv() {
//!         gain = new;
//!     }
//!     let mut peak = 0.0_f32;
//!     for sample in samples {
//!         *sample *= gain;
//!         peak = peak.max(sample.abs());
//!     }
//!     levels.publish(peak); // never waits: a meter that is slow misses some
//! };
//!
//! changes.try_send(0.5).unwrap();
//! let audio = std::thread::spawn(move || callback(&mut [0.25, -1.0, 0.5]));
//! // The window is drawn sixty times a second, and looks at the newest level each time.
//! let level = loop {
//!     if let Some(level) = meter.latest() {
//!         break level;
//!     }
//!     std::thread::sleep(Duration::from_millis(16));
//! };
//! assert_eq!(level, 0.5);
//! # audio.join().unwrap();
//! ```
//!
//! # Nothing is dropped on the real-time thread
//!
//! A buffer that a real-time thread receives has to go somewhere. Send it back, so that another thread drops
//! it or fills it again. If the way back is full, keep the buffer and try the next time:
//!
//! ```
//! use annulus::{TrySendError, spsc};
//!
//! let (mut filled, mut to_play) = spsc::channel::<Box<[f32]>>(4);
//! let (mut played, mut empty) = spsc::channel::<Box<[f32]>>(8); // as many as there may be buffers
//! let mut callback = move || {
//!     if let Ok(buffer) = to_play.try_recv() {
//!         // … play it …
//!         match played.try_send(buffer) {
//!             Ok(()) => {}
//!             Err(TrySendError::Full(buffer) | TrySendError::Closed(buffer)) => std::mem::forget(buffer),
//!         }
//!     }
//! };
//! filled.try_send(vec![0.0; 512].into()).unwrap();
//! callback();
//! assert_eq!(empty.try_recv().unwrap().len(), 512); // dropped here, or filled again
//! ```
//!
//! A [`pool`](crate::pool) does the same with handles: its buffers are allocated once, and a drop puts one
//! back on a list. (Let another thread keep the pool itself: the thread that drops the last `BufferPool` or
//! `Buffer` frees the memory.) In a ring of [events](crate::event) the buffers stay in the ring; change them
//! with `try_publish`, because `send` drops the value of a lap before.
//!
//! Handles are the other thing to drop elsewhere. To drop one may close the ring, wake sleepers, and free the
//! ring's memory. To make a ring, and most ways to join one, allocate. Give all handles that a callback needs
//! to it before it starts, and take them back (or let the callback's owner drop them) when it has stopped. Of
//! a `oneshot`, the side that leaves last frees the memory: `send` does if the receiver is gone. Each
//! question of a [`service`](crate::service) allocates one, so ask elsewhere.
//!
//! # Verbs to keep away from
//!
//! - `send`, `recv`, `publish` of a lossless ring, and all others that wait. (`recv` on a strategy that spins
//!   makes no system call, but it waits.)
//! - A borrow or a send of `watch`: the value has a lock. The `latest` of a lossy ring has
//!   none.
//! - Names: a [`bus`](crate::bus) looks up topics, and a ring with a name is in a list with a lock, at which
//!   it is made and dropped. Its messages take no lock.
//! - `close`, `Closer`, `Shutdown::trigger`: they wake all sleepers.
//! - [`clear_processed`](crate::event::Publisher::clear_processed) of an event ring, if what it clears
//!   is freed by that.
//!
//! # Before the thread starts
//!
//! - `prepare_process` registers the process for the barriers of the other threads' sleeps.
//!   Without it the first sleeper of the process does so, on a thread of the library. It is not for the
//!   real-time thread itself, whose verbs above ask for none; it keeps the others' first sleeps, and closes,
//!   from taking milliseconds. Call it first in `main`.
//! - Lock the ring's memory and touch it, so that no page is missing: `Memory::require().prefault().lock()`
//!   in the builder ([`memory`](crate::memory)). Without options a ring's slots are touched when it is made,
//!   but may be paged out later.
//! - Pin the thread to a core of its own ([pinning](super::pinning)), and let nothing that spins share it.
//!   Under a real-time priority (`SCHED_FIFO`), a thread that spins keeps the thread that it waits for off
//!   the core.
//!
//! ```
//! # #[cfg(not(miri))] {
//! use annulus::{Settings, memory::Memory, spsc};
//!
//! annulus::wait::prepare_process();
//! let memory = Memory::prefer().prefault().lock();
//! let (_producer, consumer) = spsc::with::<f32>(Settings::new(256).memory(memory))?;
//! println!("{}", consumer.placement()); // what the kernel says of it
//! # }
//! # Ok::<(), annulus::CapacityError>(())
//! ```
//!
//! # A priority that starves the other side
//!
//! No verb of the table waits for a thread that was stopped in the middle of one, with these exceptions. With
//! many publishers (`broadcast::mp_lossy`) or senders (`queue::ordered`), one that is stopped between its
//! claim and its write holds up the readers of that message. They find the ring empty until it runs again; on
//! a lossy ring, until the others have published a whole ring. Publishers of `mp_lossy` wait for nobody. With
//! one writer for each ring, there is no such case.

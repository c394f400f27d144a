//! What allocates, and what does not hold.
//!
//! # Which handles allocate
//!
//! Making a ring allocates its memory. Later, making another handle may allocate too:
//!
//! | what joins | what it allocates |
//! | --- | --- |
//! | lossy subscribers and taps; clones of other publishers, of consumers, of [`queue::ordered`](crate::queue::ordered) handles, of [`Subscribable`](crate::broadcast::Subscribable), of a pool, of [`Shutdown`](crate::Shutdown) | nothing |
//! | clones of a publisher of [`broadcast::mp_lossy`](crate::broadcast::mp_lossy) | a place for what it claims, unless one is free |
//! | lossless subscribers, subscribers of events, their clones, and members of a group that [pause](crate::broadcast::SubscriberGroup::pause) on a lossless ring | a place for the cursor, unless one is free |
//! | stages, [`subscribe_tracked`](crate::broadcast::Subscribable::subscribe_tracked), [`DependencyBarrier`](crate::broadcast::DependencyBarrier) | their progress |
//! | a [`SubscriberGroup`](crate::broadcast::SubscriberGroup) | its members |
//! | the first handle of a topic of a [`Bus`](crate::Bus) or a [`TypedBus`](crate::TypedBus) | the ring, and its place among the topics |
//! | producers of [`mpsc`](crate::mpsc) and [`mpmc`](crate::mpmc) | a ring, unless one is free, and what the queue keeps for each ring |
//!
//! The allocator may take locks of its own. `tests/system/allocation/joins.rs` checks this table.
//!
//! # What does not hold
//!
//! - **A thread that stops in the middle of a write** holds up the receivers of that message. (A debugger can
//!   stop it, or a priority that starves it.) On a lossy ring they wait until the others have published a
//!   whole ring, and then lose the message; publishers wait for nobody. On a lossless ring with many
//!   publishers these wait, too, if they come to the same slot one lap later.
//! - **Seqlocks are not wait-free**: a reader of a lossy ring makes no progress as long as publishers
//!   overwrite the *whole ring* during each copy of one message.
//! - **A subscriber that joins a lossless ring at the oldest message** finds at least half of those that are
//!   still in it, and not always all: publishers look at their subscribers only once in half a ring.
//! - **A lossless subscriber that is forgotten** (`mem::forget`) holds up its publishers for ever.
//! - **`fork()`** copies a ring; it does not share it. In the child, the other handles never move, so a
//!   lossless publisher waits for ever. Use no handle in the child before `exec`.
//! - **Real-time priorities**: a strategy that spins, even one that yields, can keep the thread it waits for
//!   off the core. See [`WaitStrategy`](crate::WaitStrategy).
//! - **Large messages by value** lie on the stacks of both threads, several times over in builds without
//!   optimization. See [`Message`](trait@crate::Message).
//!
